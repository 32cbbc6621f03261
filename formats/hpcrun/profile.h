/*
 * A .hpcrun file: where everything stands in it, whatever its version. Nodes and values stay in
 * the input and are decoded when asked for; the short tables before them are decoded at once.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_PROFILE_H
#define PROFMOUNT_FORMATS_HPCRUN_PROFILE_H

#include "formats/hpcrun/records.h"
#include "formats/hpcrun/report.h"
#include "profmount/error.h"

enum hpcrun_family {
	HPCRUN_FAMILY_NONE,     /* not an hpcrun profile */
	HPCRUN_FAMILY_EARLY,    /* HPCRUN____02.00l|b: epochs of 2009 */
	HPCRUN_FAMILY_EPOCHS,   /* HPCRUN-profile____01.98 … 03.10: epochs */
	HPCRUN_FAMILY_SECTIONS, /* HPCRUN-profile____04.00: sections and a footer */
};

/* Which family a file is of, and its version as 0x0200, 0x019a …, by its first bytes. */
enum hpcrun_family hpcrun_family_of(struct pm_bytes head, unsigned *ret_version);

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

/* What numbers of the identity tuple mean: kind 3 is THREAD. */
struct hpcrun_kind {
	uint16_t kind;
	struct pm_bytes name;
};

/* A level of the identity tuple; `interpret` says which of the two ids count. */
struct hpcrun_identity {
	uint16_t kind;
	uint8_t interpret; /* 0 both, 1 logical made by this file alone, 2 for all, 3 logical */
	uint64_t physical, logical;
};

/* Metric values of 04.00: blocks of values, and an index of nodes that own them. */
struct hpcrun_sparse {
	struct pm_bytes values; /* n_values records of 10 bytes */
	struct pm_bytes index;  /* n_blocks + 1 records of 12 bytes */
	uint64_t values_off, index_off;
	uint64_t n_values, n_blocks;
};

struct hpcrun_profile {
	struct pm_bytes file;
	enum hpcrun_family family;
	unsigned version;
	bool big;
	struct pm_bytes magic;
	struct hpcrun_pairs header;
	struct hpcrun_epoch *epochs; /* owned; of SECTIONS always one */
	size_t n_epochs, epochs_room;

	/* Of SECTIONS only. */
	bool has_footer;
	struct hpcrun_section sections[HPCRUN_N_SECTIONS]; /* as stored */
	struct hpcrun_kind *kinds;                         /* the dictionary; owned */
	size_t n_kinds, kinds_room;
	struct hpcrun_identity *identity; /* owned */
	size_t n_identity, identity_room;
	struct hpcrun_sparse sparse;
};

/* How much of it. */
enum hpcrun_extent { HPCRUN_ALL, HPCRUN_WHO /* header, identity and dictionary */ };

/*
 * Reads `file`, which must outlive `ret`, and tells `report` what is lost. -EINVAL for what is
 * not an hpcrun profile, -ENOTSUP for an unknown version. End with hpcrun_profile_done.
 */
int hpcrun_profile_read(struct hpcrun_profile *ret, struct pm_bytes file, enum hpcrun_extent extent,
	const struct hpcrun_report *report, struct pm_error *err);

/* Also after a failed read. */
void hpcrun_profile_done(struct hpcrun_profile *p);

/* The parts of hpcrun_profile_read, after the magic: everything but the header pairs (epochs.c) …
 */
int hpcrun_epochs_read(
	struct hpcrun_profile *p, struct pm_cur *c, const struct hpcrun_report *report);

/* … and everything (sections.c). 0 or -ENOMEM. */
int hpcrun_sections_read(
	struct hpcrun_profile *p, enum hpcrun_extent extent, const struct hpcrun_report *report);

/* The last section, in which the cursor stands (sparse.c). 0 or -ENOMEM. */
int hpcrun_sparse_read(struct hpcrun_profile *p, struct pm_cur *c, enum hpcrun_extent extent,
	const struct hpcrun_report *report);

/* Adds an empty epoch; NULL without memory. */
struct hpcrun_epoch *hpcrun_epoch_add(struct hpcrun_profile *p);
void hpcrun_epochs_done(struct hpcrun_profile *p);

/* ---- values ---- */

/* A stored value that is not zero. */
struct hpcrun_value {
	size_t epoch;
	int64_t node_id;
	uint64_t node; /* its place in the epoch's nodes; SECTIONS name the id alone: UINT64_MAX */
	uint32_t metric; /* may be beyond the table */
	uint64_t bits;
	uint64_t off; /* in the file */
};

/* Walks over the values in stored order. */
struct hpcrun_values {
	const struct hpcrun_profile *profile;
	uint64_t at;      /* position of the next: a number that grows, and may be kept */
	size_t epoch;     /* EPOCHS: the one that `at` lies in … */
	uint64_t before;  /* … and the positions before it */
	uint64_t block;   /* SECTIONS: the block that `at` lies in … */
	uint64_t covered; /* … and where the sound blocks before it end */
};

/* Begins at a position that `at` had, or 0. O(epochs), or O(blocks) where `at` is not 0. */
struct hpcrun_values hpcrun_values_from(const struct hpcrun_profile *p, uint64_t at);

bool hpcrun_values_next(struct hpcrun_values *v, struct hpcrun_value *ret);

/* The values [*ret_start, *ret_end) of a block; false where they are not its own. */
bool hpcrun_block_range(const struct hpcrun_sparse *s, uint64_t block, uint64_t covered,
	uint64_t *ret_start, uint64_t *ret_end);

/* Is this value a double? Of an unknown metric, and before 2010, all are integers. */
static inline bool hpcrun_value_is_real(const struct hpcrun_metric *m)
{
	return m && m->has_flags && m->value_format == HPCRUN_VALUE_REAL;
}

/* The value's metric, or NULL. */
const struct hpcrun_metric *hpcrun_value_metric(
	const struct hpcrun_profile *p, const struct hpcrun_value *v);

#endif
