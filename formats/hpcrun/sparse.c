/*
 * The section of metric values in 04.00: their threads, the values, and an index of the contexts
 * that own them (docs/formats/hpcrun.md §4).
 */
#include "formats/hpcrun/sparse.h"

#include "formats/common/list.h"

enum { IDENTITY_SIZE = 18 };

#define INDEX_END 0x656e6421u /* end! */

static int read_identity(struct hpcrun_profile *p, struct pm_cur *c)
{
	uint16_t n = pm_cur_u16(c);
	for (uint16_t i = 0; i < n && pm_cur_left(c) >= IDENTITY_SIZE; i++) {
		uint16_t kind = pm_cur_u16(c);
		struct hpcrun_identity level = {
			.kind = kind & 0x3fff, .interpret = (uint8_t)(kind >> 14)};
		level.physical = pm_cur_u64(c);
		level.logical = pm_cur_u64(c);
		if (pm_list_room(&p->identity, p->n_identity, &p->identity_room, sizeof(level)) < 0)
			return -ENOMEM;
		p->identity[p->n_identity++] = level;
	}
	if (p->n_identity < n)
		c->bad = true;
	return 0;
}

static bool index_ends(struct pm_bytes index, uint64_t n_blocks, uint64_t n_values)
{
	const uint8_t *end = pm_bytes_row(index, n_blocks, HPCRUN_BLOCK_SIZE);
	return pm_be32(end) == INDEX_END && pm_be64(end + 4) == n_values;
}

/* Values and index at `off`, if both fit and the index ends with its end mark. */
static bool place_values(struct hpcrun_profile *p, struct pm_bytes b, uint64_t off,
	uint64_t n_values, uint64_t n_blocks)
{
	struct hpcrun_sparse s = {.values_off = off, .n_values = n_values, .n_blocks = n_blocks};
	if (!pm_bytes_table(b, off, n_values, HPCRUN_VALUE_SIZE, HPCRUN_VALUE_SIZE, &s.values))
		return false;
	s.index_off = off + s.values.len;
	if (!pm_bytes_table(
		    b, s.index_off, n_blocks + 1, HPCRUN_BLOCK_SIZE, HPCRUN_BLOCK_SIZE, &s.index) ||
		!index_ends(s.index, n_blocks, n_values))
		return false;
	p->sparse = s;
	return true;
}

static void report_blocks(const struct hpcrun_sparse *s, const struct hpcrun_report *report)
{
	uint64_t covered = 0, start, end;
	for (uint64_t i = 0; i < s->n_blocks; i++) {
		if (!hpcrun_block_range(s, i, covered, &start, &end)) {
			hpcrun_report_loss(report, s->index_off + i * HPCRUN_BLOCK_SIZE,
				HPCRUN_BLOCK_SIZE,
				"this block of metric values is not contiguous with the one before");
			continue;
		}
		if (start > covered)
			hpcrun_report_loss(report, s->values_off + covered * HPCRUN_VALUE_SIZE,
				(start - covered) * HPCRUN_VALUE_SIZE,
				"metric values that belong to no context");
		covered = end;
	}
	if (covered < s->n_values)
		hpcrun_report_loss(report, s->values_off + covered * HPCRUN_VALUE_SIZE,
			(s->n_values - covered) * HPCRUN_VALUE_SIZE,
			"metric values that belong to no context");
}

/*
 * The index follows the values. If their number is damaged, it is computed from the size of the
 * section, which the footer has.
 */
static void read_values(
	struct hpcrun_profile *p, struct pm_cur *c, const struct hpcrun_report *report)
{
	uint64_t n_values = pm_cur_u64(c), n_blocks = pm_cur_u32(c), at = c->at;
	uint64_t index = (n_blocks + 1) * HPCRUN_BLOCK_SIZE, left = pm_cur_left(c);
	bool placed = !c->bad && place_values(p, c->b, at, n_values, n_blocks);
	if (!c->bad && !placed && index <= left) {
		uint64_t told = (left - index) / HPCRUN_VALUE_SIZE;
		placed = place_values(p, c->b, at, told, n_blocks);
		if (placed)
			hpcrun_report_loss(report, at - 12, 8,
				"%llu metric values declared, but there is only room for %llu",
				(unsigned long long)n_values, (unsigned long long)told);
	}
	if (placed)
		report_blocks(&p->sparse, report);
	else
		hpcrun_report_loss(report, at, c->b.len - at,
			"metric values without a valid index: their contexts are unknown");
}

int hpcrun_sparse_read(struct hpcrun_profile *p, struct pm_cur *c, enum hpcrun_extent extent,
	const struct hpcrun_report *report)
{
	uint64_t start = c->at;
	int code = read_identity(p, c);
	if (code < 0)
		return code;
	if (c->bad)
		hpcrun_report_loss(report, start, c->b.len - start,
			"the identity cannot be read to the end: no metric values");
	else if (extent == HPCRUN_ALL)
		read_values(p, c, report);
	return 0;
}
