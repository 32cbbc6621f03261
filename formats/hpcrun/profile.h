/*
 * The bytes of a .hpcrun file of any version (docs/formats/hpcrun.md): its records (records.c), and
 * where its parts are (profile.c). Nodes and values stay in the input and are decoded on request;
 * the short tables before them are decoded immediately. Text slices point into the input.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_PROFILE_H
#define PROFMOUNT_FORMATS_HPCRUN_PROFILE_H

#include "formats/common/cursor.h"
#include "formats/common/damage.h"
#include "profmount/error.h"

/*
 * ---- records (§2) ----
 * Differences between versions are data: struct hpcrun_dialect.
 */

enum hpcrun_map_form {
	HPCRUN_MAP_ID,           /* id{2} name flags{8} */
	HPCRUN_MAP_ID_ADDRESSES, /* id{2} name vaddr{8} mapaddr{8} flags{8} */
	HPCRUN_MAP_NAME,         /* name vaddr{8} mapaddr{8} */
	HPCRUN_MAP_ADDRESSES,    /* vaddr{8} mapaddr{8} name flags{4} */
};

/* Whether nodes have the fields of logical unwinding: as-info{4}, lip{16}. */
enum hpcrun_lush { HPCRUN_LUSH_IF_FLAGGED, HPCRUN_LUSH_ALWAYS };

struct hpcrun_dialect {
	enum hpcrun_map_form map;
	enum hpcrun_lush lush;
	bool has_description; /* of a metric */
	bool has_long_flags;  /* 16 bytes, then formula and format; else 8 bytes */
	uint8_t tail;         /* bytes at the end of a metric: 0, 20 or 28 */
	bool has_short_count; /* of nodes: 4 bytes, else 8 */
	bool has_module_ids;  /* nodes name their load module, else ip is an absolute address */
	bool has_node_flags;  /* nodes of 04.00: id parent module{2} ip{8} flags{1} */
};

struct hpcrun_pair {
	struct pm_bytes key, value;
};

struct hpcrun_pairs {
	struct hpcrun_pair *items;
	size_t n, room;
};

enum { HPCRUN_VALUE_REAL = 2 }; /* value_format */

struct hpcrun_metric {
	struct pm_bytes name, description, formula, format;
	bool has_flags; /* type … show_percent are known */
	uint8_t type, value_type, value_format, move_to_proc, show, show_percent;
	uint16_t partner;
	uint64_t period;
	bool has_formula; /* the dialect has formula and format */
	bool has_tail;
	uint16_t is_frequency, is_multiplexed;
	double threshold_mean;
	uint64_t n_samples;
};

struct hpcrun_metrics {
	struct hpcrun_metric *items;
	size_t n, room;
};

struct hpcrun_module {
	struct pm_bytes name;
	uint32_t id; /* index in the table if the dialect has no ids */
	bool has_flags, has_addresses;
	uint64_t flags, vaddr, mapaddr;
};

struct hpcrun_modules {
	struct hpcrun_module *items;
	size_t n, room;
};

struct hpcrun_node {
	int64_t id, parent; /* as stored: negative for leaves before 04.00 */
	uint32_t module;
	uint64_t ip;
	uint8_t flags;
	uint32_t as_info;
	uint64_t lip[2];
};

/* The calling-context tree of an epoch: n records of `size` bytes. */
struct hpcrun_nodes {
	struct pm_bytes table;
	uint64_t off; /* of the table, in the file */
	uint64_t n;
	size_t size;
	bool big;
	bool has_module, has_lush, has_flags;
	size_t n_values; /* at the end of each record */
};

/* Records of metric values in 04.00: bits{8} metric{2}, and node{4} first value{8}. */
enum { HPCRUN_VALUE_SIZE = 10, HPCRUN_BLOCK_SIZE = 12 };

/* Whether this value is a double. For unknown metrics, and before 2010, all are integers. */
static inline bool hpcrun_value_is_real(const struct hpcrun_metric *m)
{
	return m && m->has_flags && m->value_format == HPCRUN_VALUE_REAL;
}

/*
 * In a build (arena.h): these read a count and this number of records. False if the input ends or
 * is invalid: the list then has the records before, and the cursor's position is undefined.
 */
bool hpcrun_pairs_read(struct pm_arena *a, struct pm_cur *c, struct hpcrun_pairs *ret);
bool hpcrun_metrics_read(struct pm_arena *a, struct pm_cur *c, const struct hpcrun_dialect *d,
	struct hpcrun_metrics *ret);
bool hpcrun_modules_read(struct pm_arena *a, struct pm_cur *c, const struct hpcrun_dialect *d,
	struct hpcrun_modules *ret);

/* The first value of this key, or an empty slice with a NULL pointer. */
struct pm_bytes hpcrun_pairs_find(const struct hpcrun_pairs *pairs, const char *key);

/* Size of a node with this number of values. */
size_t hpcrun_node_size(const struct hpcrun_dialect *d, bool has_lush, size_t n_values);

/* Node i, below nodes->n. */
void hpcrun_node_decode(const struct hpcrun_nodes *nodes, uint64_t i, struct hpcrun_node *ret);

/* Value k of node i: its bits. */
uint64_t hpcrun_node_value(const struct hpcrun_nodes *nodes, uint64_t i, size_t k);

/* The number by which parents, values and traces name a node: the id without its sign. */
static inline uint32_t hpcrun_node_number(int64_t id)
{
	return (uint32_t)(id < 0 ? -id : id);
}

/* ---- what could not be read ---- */

struct hpcrun_report {
	struct pm_damage_list *list; /* NULL: reports are discarded */
	const char *file;
};

void hpcrun_report_loss(const struct hpcrun_report *r, uint64_t offset, uint64_t bytes,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

/* A file that cannot be read at all, or not from err->offset on. */
void hpcrun_report_file(const struct hpcrun_report *r, uint64_t size, const struct pm_error *err);

/* ---- the file ---- */

enum hpcrun_family {
	HPCRUN_FAMILY_NONE,     /* not an hpcrun profile */
	HPCRUN_FAMILY_EARLY,    /* HPCRUN____02.00l|b: epochs of 2009 */
	HPCRUN_FAMILY_EPOCHS,   /* HPCRUN-profile____01.98 … 03.10: epochs */
	HPCRUN_FAMILY_SECTIONS, /* HPCRUN-profile____04.00: sections and a footer */
};

struct hpcrun_epoch {
	uint64_t flags, granularity;
	uint32_t ra_to_callsite;
	struct hpcrun_pairs pairs;
	struct hpcrun_metrics metrics;
	struct hpcrun_modules modules;
	struct hpcrun_nodes nodes;
};

enum hpcrun_section_id {
	HPCRUN_SECTION_HEADER,
	HPCRUN_SECTION_MODULES,
	HPCRUN_SECTION_NODES,
	HPCRUN_SECTION_METRICS,
	HPCRUN_SECTION_DICTIONARY,
	HPCRUN_SECTION_SPARSE,
	HPCRUN_SECTION_FOOTER,
	HPCRUN_N_SECTIONS,
};

struct hpcrun_section {
	uint64_t start, end;
};

/* Names of kinds in the identity tuple: kind 3 is THREAD. */
struct hpcrun_kind {
	uint16_t kind;
	struct pm_bytes name;
};

/* A level of the identity tuple; `interpret` says which of the two ids are valid. */
struct hpcrun_identity {
	uint16_t kind;
	uint8_t interpret; /* 0 both, 1 logical, generated for this file only, 2 for all files, 3
			      logical */
	uint64_t physical, logical;
};

/* Metric values of 04.00: blocks of values, and an index of nodes that own them. */
struct hpcrun_sparse {
	struct pm_bytes values; /* n_values records of 10 bytes */
	struct pm_bytes index;  /* n_blocks + 1 records of 12 bytes */
	uint64_t values_off, index_off;
	uint64_t n_values, n_blocks;
};

/* How much to read. */
enum hpcrun_extent {
	HPCRUN_ALL,
	HPCRUN_WHO,    /* header, identity and dictionary */
	HPCRUN_METRICS /* these and the metric tables */
};

struct hpcrun_profile {
	struct pm_arena *arena; /* has its lists */
	struct pm_bytes file;
	enum hpcrun_family family;
	unsigned version;
	bool big;
	struct pm_bytes magic;
	struct hpcrun_pairs header;
	struct hpcrun_epoch *epochs; /* of SECTIONS always one */
	size_t n_epochs, epochs_room;

	/* Of SECTIONS only. */
	bool has_footer;
	struct hpcrun_section sections[HPCRUN_N_SECTIONS]; /* as stored */
	struct hpcrun_kind *kinds;                         /* the dictionary */
	size_t n_kinds, kinds_room;
	struct hpcrun_identity *identity;
	size_t n_identity, identity_room;
	struct hpcrun_sparse sparse;
};

/* The family of a file, and its version as 0x0200, 0x019a …, by its first bytes. */
enum hpcrun_family hpcrun_family_of(struct pm_bytes head, unsigned *ret_version);

/*
 * In a build: reads `file`, which must outlive `ret`, and reports losses to `report`. 0, -EINVAL if
 * it is not an hpcrun profile, or -ENOTSUP for an unknown version.
 */
int hpcrun_profile_read(struct hpcrun_profile *ret, struct pm_arena *a, struct pm_bytes file,
	enum hpcrun_extent extent, const struct hpcrun_report *report, struct pm_error *err);

/* ---- metric values ---- */

/* A stored value that is not zero. */
struct hpcrun_value {
	size_t epoch;
	int64_t node_id;
	uint64_t node;   /* index in the epoch's nodes; UINT64_MAX for SECTIONS, which have only the
			    id */
	uint32_t metric; /* may be beyond the table */
	uint64_t bits;
	uint64_t off; /* in the file */
};

/* Walks over the values in stored order. */
struct hpcrun_values {
	const struct hpcrun_profile *profile;
	uint64_t at;      /* position of the next value, an increasing number that can be stored */
	size_t epoch;     /* EPOCHS: the epoch that contains `at` … */
	uint64_t before;  /* … and the positions before it */
	uint64_t block;   /* SECTIONS: the block that contains `at` … */
	uint64_t covered; /* … and the end of the valid blocks before it */
};

/* Starts at an earlier value of `at`, or 0. O(epochs), or O(blocks) if `at` is not 0. */
struct hpcrun_values hpcrun_values_from(const struct hpcrun_profile *p, uint64_t at);

bool hpcrun_values_next(struct hpcrun_values *v, struct hpcrun_value *ret);

/* The value's metric, or NULL. */
const struct hpcrun_metric *hpcrun_value_metric(
	const struct hpcrun_profile *p, const struct hpcrun_value *v);

#endif
