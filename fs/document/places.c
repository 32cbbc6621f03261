/* Positions of the columns of row groups in a file that is laid out: see layout.h. */
#include "fs/document/layout.h"

/* The row groups of a block: full ones, and possibly the last one. */
struct block {
	uint64_t offset;
	size_t first, n_full;
	bool has_last;
};

static struct block block_at(const struct pmfs_parquet *p, size_t group)
{
	uint32_t per_block = p->layout->per_block;
	struct block b = {.first = group - group % per_block};
	bool is_end = p->n - b.first <= per_block;
	b.n_full = is_end ? p->n - b.first - 1 : per_block;
	b.has_last = is_end;
	b.offset = PMFS_PARQUET_BEGIN + b.first * p->groups[0].bytes;
	return b;
}

/* The size of a column in a block. */
static uint64_t run_bytes(const struct pmfs_layout *layout, const struct block *b, uint32_t column)
{
	return (uint64_t)b->n_full * layout->full[column].bytes +
		(b->has_last ? layout->last[column].bytes : 0);
}

uint64_t pmfs_layout_offset(const struct pmfs_parquet *p, size_t group, uint32_t column)
{
	struct block b = block_at(p, group);
	uint64_t offset = b.offset + (group - b.first) * (uint64_t)p->layout->full[column].bytes;
	for (uint32_t c = 0; c < column; c++)
		offset += run_bytes(p->layout, &b, c);
	return offset;
}

void pmfs_layout_find(
	const struct pmfs_parquet *p, uint64_t offset, size_t *ret_group, uint32_t *ret_column)
{
	uint64_t group = (offset - PMFS_PARQUET_BEGIN) / p->groups[0].bytes;
	struct block b = block_at(p, group < p->n ? (size_t)group : p->n - 1);
	uint64_t rest = offset - b.offset;
	uint32_t c = 0;
	for (; c + 1 < p->n_columns && rest >= run_bytes(p->layout, &b, c); c++)
		rest -= run_bytes(p->layout, &b, c);
	uint64_t in_block = rest / p->layout->full[c].bytes;
	*ret_group = b.first + (size_t)(in_block < b.n_full ? in_block : b.n_full - !b.has_last);
	*ret_column = c;
}
