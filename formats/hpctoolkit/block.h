/*
 * Sparse value blocks. profile.db has one per profile, indexed by context, with values by metric;
 * cct.db has one per context, indexed by metric, with values by profile. Both consist of an array
 * of values and an index with the start of each key's values:
 *
 *   index   key | start    key | start    key | start          sorted by key
 *                   |             |             |
 *   values  [sub | f64, sub | f64][sub | f64 …][ … ]           n_values, sorted by sub
 */
#ifndef PROFMOUNT_FORMATS_HPCTOOLKIT_BLOCK_H
#define PROFMOUNT_FORMATS_HPCTOOLKIT_BLOCK_H

#include "formats/hpctoolkit/parts.h"

struct hpctk_block {
	const struct hpctk_layout *layout;
	enum hpctk_file file;
	struct pm_bytes values, index;
	uint64_t n_values, values_at, index_at; /* at: in the file */
	uint32_t n_index;
	uint8_t value_size, index_size;
};

/* One index entry: its key, and the values [first, end) that belong to it. */
struct hpctk_run {
	uint32_t key;
	uint64_t first, end;
};

struct hpctk_block_value {
	uint32_t sub; /* metric, or profile */
	double value;
};

/*
 * The values of profile `i` of profile.db (the caller ensures that i < db->profiles.n), or of the
 * context with this number in cct.db (an empty block beyond the table). -EINVAL if they are outside
 * the file, overlap those of another row, or if a context's index is out of order; -ENODATA if
 * cct.db is missing or ends before it. The first call determines which blocks overlap, and can fail
 * with -ENOMEM: O(rows) if they are in order, else O(rows log rows).
 */
int hpctk_profile_block(
	const struct hpctk_opened *db, uint32_t i, struct hpctk_block *ret, struct pm_error *err);
int hpctk_context_block(const struct hpctk_opened *db, uint64_t number, struct hpctk_block *ret,
	struct pm_error *err);

/* Determines the overlaps in advance, for all blocks of contexts or of profiles. */
int hpctk_blocks_ready(const struct hpctk_opened *db, bool of_context, struct pm_error *err);

/* Index entry i (< n_index). -EINVAL if its values are not in order. */
int hpctk_block_run(
	const struct hpctk_block *b, uint32_t i, struct hpctk_run *ret, struct pm_error *err);

/* Checks that all keys and values of the index are in order; otherwise -EINVAL. O(n_index). */
int hpctk_block_check(const struct hpctk_block *b, struct pm_error *err);

/* Value v (< n_values). */
struct hpctk_block_value hpctk_block_value(const struct hpctk_block *b, uint64_t v);

/*
 * The index entry with this key, or HPCTK_NONE. `next` is where a larger key is looked for first: 0
 * in the beginning. O(1) for ascending keys, else O(log n).
 */
uint32_t hpctk_block_find(const struct hpctk_block *b, uint32_t key, uint32_t *next);

/* The index entry that value v belongs to, 0 if none begins at or before it. O(log n). */
uint32_t hpctk_block_entry_of(const struct hpctk_block *b, uint64_t v);

#endif
