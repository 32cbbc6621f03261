/*
 * The records of hpcrun profiles of all versions (docs/formats/hpcrun.md §2). Differences between
 * versions are data: struct hpcrun_dialect.
 *
 * Text slices point into the input.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_RECORDS_H
#define PROFMOUNT_FORMATS_HPCRUN_RECORDS_H

#include "formats/common/cursor.h"

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
	struct hpcrun_pair *items; /* owned */
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
	struct hpcrun_metric *items; /* owned */
	size_t n, room;
};

struct hpcrun_module {
	struct pm_bytes name;
	uint32_t id; /* index in the table if the dialect has no ids */
	bool has_flags, has_addresses;
	uint64_t flags, vaddr, mapaddr;
};

struct hpcrun_modules {
	struct hpcrun_module *items; /* owned */
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
 * These read a count and this number of records. 0; -EINVAL if the input ends or is invalid: the
 * list then has the records before, and the cursor's position is undefined; -ENOMEM.
 */
int hpcrun_pairs_read(struct pm_cur *c, struct hpcrun_pairs *ret);
int hpcrun_metrics_read(
	struct pm_cur *c, const struct hpcrun_dialect *d, struct hpcrun_metrics *ret);
int hpcrun_modules_read(
	struct pm_cur *c, const struct hpcrun_dialect *d, struct hpcrun_modules *ret);

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

#endif
