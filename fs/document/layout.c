#include "fs/document/layout.h"

#include <stdlib.h>
#include <string.h>

#include "formats/common/crew.h"

enum {
	FEWEST_ROWS = 2 * PMFS_GROUP_ROWS,
	MOST_TEXTS = 1 << 20, /* bytes: a fraction of what a row group takes otherwise */
	PER_BLOCK = 32, /* row groups: 32 MiB of numbers, several times the kernel's readahead */
};

/* ---- texts ---- */

struct gathering {
	struct pmfs_dictionary *dictionaries;
	uint32_t n_columns;
	uint64_t bytes;
};

/* -E2BIG if the texts are too many. */
static int gather(void *context, uint32_t column, uint32_t number, struct pm_bytes text)
{
	struct gathering *g = context;
	if (column >= g->n_columns)
		return -EINVAL;
	struct pmfs_dictionary *d = &g->dictionaries[column];
	uint64_t before = d->bytes + 4 * (uint64_t)d->texts.n;
	int r = pmfs_dictionary_add(d, number, text);
	g->bytes += d->bytes + 4 * (uint64_t)d->texts.n - before;
	return r == 0 && g->bytes > MOST_TEXTS ? -E2BIG : r;
}

/* ---- row groups ---- */

/* The size of the chunks of so many rows. */
static void chunk_sizes(struct pm_arena *a, const struct pmfs_parquet *p, uint32_t rows,
	struct pmfs_chunk_facts *ret)
{
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct pmfs_chunk *chunk = pm_arena_alloc(scratch, sizeof(*chunk));
	struct pm_text text = {.arena = scratch};
	chunk->laid_out = true;
	for (uint32_t c = 0; c < p->n_columns; c++) {
		chunk->dictionary = &p->layout->dictionaries[c];
		pmfs_chunk_begin(scratch, chunk, p->storage[c]);
		chunk->n = chunk->n_nulls = rows;
		pm_text_clear(&text);
		pmfs_chunk_render(chunk, &text, &ret[c]);
		ret[c].n_nulls = PMFS_UNKNOWN;
	}
	pm_arena_done(scratch);
}

static void make_groups(struct pm_arena *a, struct pmfs_parquet *p, uint64_t n_rows)
{
	struct pmfs_layout *layout = p->layout;
	p->n_rows = n_rows;
	p->n = (size_t)((n_rows - 1) / PMFS_GROUP_ROWS) + 1;
	uint32_t rest = (uint32_t)(n_rows - (uint64_t)(p->n - 1) * PMFS_GROUP_ROWS);
	layout->full = pm_arena_array(a, p->n_columns, sizeof(*layout->full));
	layout->last = pm_arena_array(a, p->n_columns, sizeof(*layout->last));
	chunk_sizes(a, p, PMFS_GROUP_ROWS, layout->full);
	chunk_sizes(a, p, rest, layout->last);
	p->groups = pm_arena_array(a, p->n, sizeof(*p->groups));
	for (size_t i = 0; i < p->n; i++) {
		struct pmfs_rowgroup *group = &p->groups[i];
		group->at = (uint64_t)i * PMFS_GROUP_ROWS;
		group->rows = i + 1 < p->n ? PMFS_GROUP_ROWS : rest;
		group->columns = i + 1 < p->n ? layout->full : layout->last;
		for (uint32_t c = 0; c < p->n_columns; c++)
			group->bytes += group->columns[c].bytes;
	}
}

static void free_texts(void *arena)
{
	pm_arena_done(arena);
}

bool pmfs_layout_make(
	struct pm_arena *a, struct pmfs_parquet *p, const struct pm_doc *doc, struct pm_error *err)
{
	const struct pm_table *table = &doc->table;
	if (!table->type->texts || table->end < FEWEST_ROWS)
		return false;
	for (uint32_t c = 0; c < p->n_columns; c++)
		if (p->storage[c] != PMFS_STORE_I64 && p->storage[c] != PMFS_STORE_TEXT)
			return false;
	struct pmfs_layout *layout = pm_arena_alloc(a, sizeof(*layout));
	pm_arena_owns(a, free_texts, &layout->arena);
	layout->per_block = table->decoded ? 1 : PER_BLOCK;
	layout->dictionaries = pm_arena_array(a, p->n_columns, sizeof(*layout->dictionaries));
	for (uint32_t c = 0; c < p->n_columns; c++) {
		layout->dictionaries[c].texts = pm_strtab_in(&layout->arena);
		layout->dictionaries[c].page.arena = &layout->arena;
	}
	struct gathering g = {layout->dictionaries, p->n_columns, 0};
	int r = table->type->texts(table, gather, &g, err);
	for (uint32_t c = 0; r == 0 && c < p->n_columns; c++)
		r = pmfs_dictionary_end(&g.dictionaries[c]);
	if (r == -E2BIG || r == -EFBIG) {
		pm_arena_done(&layout->arena);
		return false;
	}
	pm_build_check(a, r);
	p->layout = layout;
	make_groups(a, p, table->end);
	return true;
}

/* ---- chunks ---- */

static void add_chunk(struct pm_arena *a, const struct pmfs_parquet *p,
	const struct pmfs_rowgroup *group, uint32_t column, const struct pm_strip *strip,
	struct pm_text *out)
{
	struct pmfs_chunk chunk = {
		.laid_out = true, .dictionary = &p->layout->dictionaries[column]};
	struct pmfs_chunk_facts facts;
	pm_build_proceed(a);
	pmfs_chunk_begin(a, &chunk, p->storage[column]);
	pm_build_check(a, pmfs_chunk_take(&chunk, strip, group->rows));
	pmfs_chunk_render(&chunk, out, &facts);
	pm_build_check(a, pm_text_status(out));
	pm_build_check(a, facts.bytes != group->columns[column].bytes ? -EIO : 0);
}

void pmfs_layout_chunks(struct pm_arena *a, const struct pmfs_parquet *p,
	const struct pm_table *table, const struct pmfs_layout_part *part, struct pm_text *out,
	struct pm_error *err)
{
	const struct pmfs_rowgroup *group = &p->groups[part->group];
	struct pm_strip *strips = pm_arena_array(a, p->n_columns, sizeof(*strips));
	for (uint32_t c = part->from; c < part->to; c++) {
		strips[c].values =
			pm_arena_realloc(a, NULL, group->rows * sizeof(*strips[c].values));
		strips[c].known = pm_arena_realloc(a, NULL, group->rows);
	}
	pm_build_check(
		a, table->type->strips(table, group->at, group->at + group->rows, strips, err));
	for (uint32_t c = part->from; c < part->to; c++)
		add_chunk(a, p, group, c, &strips[c], out);
}

/* ---- footer ---- */

struct job {
	const struct pmfs_parquet *p;
	const struct pm_table *table;
	struct pmfs_range *ranges;
	struct pm_error *errors; /* by row group */
};

static int group_ranges(void *context, size_t i)
{
	const struct job *job = context;
	const struct pmfs_parquet *p = job->p;
	const struct pmfs_rowgroup *group = &p->groups[i];
	struct pm_cell *cells = calloc(2 * (size_t)p->n_columns, sizeof(*cells));
	struct pm_cell *greatest = cells + p->n_columns;
	if (!cells)
		return -ENOMEM;
	int r = job->table->type->bounds(
		job->table, group->at, group->at + group->rows, cells, greatest, &job->errors[i]);
	for (uint32_t c = 0; r == 0 && c < p->n_columns; c++) {
		struct pmfs_range *range = &job->ranges[i * p->n_columns + c];
		range->is_known = p->storage[c] != PMFS_STORE_TEXT &&
			pmfs_number_bits(p->storage[c], &cells[c], &range->min) &&
			pmfs_number_bits(p->storage[c], &greatest[c], &range->max);
	}
	free(cells);
	return r;
}

void pmfs_layout_footer(struct pm_arena *a, const struct pmfs_parquet *p, const struct pm_doc *doc,
	struct pm_text *out, struct pm_error *err)
{
	struct job job = {.p = p,
		.table = &doc->table,
		.ranges = pm_arena_array(a, p->n * p->n_columns, sizeof(*job.ranges)),
		.errors = pm_arena_array(a, p->n, sizeof(*job.errors))};
	for (size_t i = 0; i < p->n; i++)
		job.errors[i].offset = PM_NO_OFFSET;
	int r = doc->table.type->bounds ? pm_crew_each(p->n, group_ranges, &job) : 0;
	for (size_t i = 0; r < 0 && err && !err->code && i < p->n; i++)
		if (job.errors[i].code)
			*err = job.errors[i];
	pm_build_check(a, r);
	struct pm_text footer = {.arena = a};
	pmfs_footer_add(p, doc, job.ranges, &footer);
	pm_build_check(a, footer.len > p->size - p->footer_at ? -EIO : 0);
	size_t zeros = (size_t)(p->size - p->footer_at) - footer.len;
	char *room = pm_text_reserve(out, zeros);
	if (room) {
		memset(room, 0, zeros);
		out->len += zeros;
	}
	pm_text_bytes(out, pm_text_view(&footer));
}
