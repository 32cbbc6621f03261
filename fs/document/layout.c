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

static bool is_storable(const struct pmfs_parquet *p)
{
	for (uint32_t c = 0; c < p->n_columns; c++)
		if (p->storage[c] != PMFS_STORE_I64 && p->storage[c] != PMFS_STORE_TEXT)
			return false;
	return true;
}

static int make_dictionaries(
	const struct pmfs_parquet *p, const struct pm_table *table, struct pm_error *err)
{
	struct gathering g = {p->layout->dictionaries, p->n_columns, 0};
	int r = table->type->texts(table, gather, &g, err);
	for (uint32_t c = 0; r == 0 && c < p->n_columns; c++)
		r = pmfs_dictionary_end(&g.dictionaries[c]);
	return r;
}

/* ---- row groups ---- */

/* The size of the chunks of so many rows. */
static int chunk_sizes(const struct pmfs_parquet *p, uint32_t rows, struct pmfs_chunk_facts *ret)
{
	struct pmfs_chunk *chunk = calloc(1, sizeof(*chunk));
	struct pm_text text = {.p = NULL};
	int r = chunk ? 0 : -ENOMEM;
	for (uint32_t c = 0; r == 0 && c < p->n_columns; c++) {
		chunk->laid_out = true;
		chunk->dictionary = &p->layout->dictionaries[c];
		r = pmfs_chunk_begin(chunk, p->storage[c]);
		chunk->n = chunk->n_nulls = rows;
		pm_text_clear(&text);
		if (r == 0)
			pmfs_chunk_render(chunk, &text, &ret[c]);
		ret[c].n_nulls = PMFS_UNKNOWN;
		if (r == 0 && text.failed)
			r = -ENOMEM;
	}
	if (chunk)
		pmfs_chunk_done(chunk);
	free(chunk);
	pm_text_done(&text);
	return r;
}

static int make_groups(struct pmfs_parquet *p, uint64_t n_rows)
{
	size_t n = (size_t)((n_rows - 1) / PMFS_GROUP_ROWS) + 1;
	struct pmfs_layout *layout = p->layout;
	uint32_t rest = (uint32_t)(n_rows - (uint64_t)(n - 1) * PMFS_GROUP_ROWS);
	int r = chunk_sizes(p, PMFS_GROUP_ROWS, layout->full);
	if (r == 0)
		r = chunk_sizes(p, rest, layout->last);
	p->groups = r == 0 ? calloc(n, sizeof(*p->groups)) : NULL;
	if (!p->groups)
		return -ENOMEM;
	p->n = p->room = n;
	p->n_rows = n_rows;
	for (size_t i = 0; i < n; i++) {
		struct pmfs_rowgroup *group = &p->groups[i];
		group->at = (uint64_t)i * PMFS_GROUP_ROWS;
		group->rows = i + 1 < n ? PMFS_GROUP_ROWS : rest;
		group->columns = i + 1 < n ? layout->full : layout->last;
		for (uint32_t c = 0; c < p->n_columns; c++)
			group->bytes += group->columns[c].bytes;
	}
	return 0;
}

/* ---- chunks ---- */

static void strips_free(struct pm_strip *strips, uint32_t n)
{
	for (uint32_t c = 0; strips && c < n; c++) {
		free(strips[c].values);
		free(strips[c].known);
	}
	free(strips);
}

/* Room for columns [from, to). */
static struct pm_strip *strips_new(uint32_t n, uint32_t from, uint32_t to, uint32_t rows)
{
	struct pm_strip *strips = calloc(n, sizeof(*strips));
	bool failed = !strips;
	for (uint32_t c = from; !failed && c < to; c++) {
		strips[c].values = malloc(rows * sizeof(*strips[c].values));
		strips[c].known = malloc(rows);
		failed = !strips[c].values || !strips[c].known;
	}
	if (!failed)
		return strips;
	strips_free(strips, n);
	return NULL;
}

static int add_chunk(const struct pmfs_parquet *p, const struct pmfs_rowgroup *group,
	uint32_t column, const struct pm_strip *strip, struct pm_text *out)
{
	struct pmfs_chunk chunk = {
		.laid_out = true, .dictionary = &p->layout->dictionaries[column]};
	struct pmfs_chunk_facts facts;
	if (pm_work_cancelled())
		return PM_CANCELLED;
	int r = pmfs_chunk_begin(&chunk, p->storage[column]);
	if (r == 0)
		r = pmfs_chunk_take(&chunk, strip, group->rows);
	if (r == 0)
		pmfs_chunk_render(&chunk, out, &facts);
	if (r == 0 && !out->failed && facts.bytes != group->columns[column].bytes)
		r = -EIO;
	chunk.values = NULL; /* the strip's */
	pmfs_chunk_done(&chunk);
	return r == 0 && out->failed ? -ENOMEM : r;
}

int pmfs_layout_chunks(const struct pmfs_parquet *p, const struct pm_table *table,
	const struct pmfs_layout_part *part, struct pm_text *out, struct pm_error *err)
{
	const struct pmfs_rowgroup *group = &p->groups[part->group];
	struct pm_strip *strips = strips_new(p->n_columns, part->from, part->to, group->rows);
	if (!strips)
		return pm_error_plain(err, -ENOMEM);
	int r = table->type->strips(table, group->at, group->at + group->rows, strips, err);
	for (uint32_t c = part->from; r == 0 && c < part->to; c++)
		r = add_chunk(p, group, c, &strips[c], out);
	strips_free(strips, p->n_columns);
	return r < 0 ? pm_error_plain(err, r) : 0;
}

void pmfs_layout_free(struct pmfs_layout *layout, uint32_t n_columns)
{
	if (!layout)
		return;
	for (uint32_t c = 0; layout->dictionaries && c < n_columns; c++)
		pmfs_dictionary_done(&layout->dictionaries[c]);
	free(layout->dictionaries);
	free(layout->full);
	free(layout->last);
	free(layout);
}

static struct pmfs_layout *layout_new(uint32_t n_columns)
{
	struct pmfs_layout *layout = calloc(1, sizeof(*layout));
	if (!layout)
		return NULL;
	layout->dictionaries = calloc(n_columns, sizeof(*layout->dictionaries));
	layout->full = calloc(n_columns, sizeof(*layout->full));
	layout->last = calloc(n_columns, sizeof(*layout->last));
	if (layout->dictionaries && layout->full && layout->last)
		return layout;
	pmfs_layout_free(layout, n_columns);
	return NULL;
}

int pmfs_layout_make(struct pmfs_parquet *p, const struct pm_doc *doc, struct pm_error *err)
{
	const struct pm_table *table = &doc->table;
	if (!table->type->texts || table->end < FEWEST_ROWS || !is_storable(p))
		return 0;
	p->layout = layout_new(p->n_columns);
	if (!p->layout)
		return pm_error_plain(err, -ENOMEM);
	p->layout->per_block = table->decoded ? 1 : PER_BLOCK;
	int r = make_dictionaries(p, table, err);
	if (r == 0)
		r = make_groups(p, table->end);
	if (r == 0)
		return 1;
	pmfs_layout_free(p->layout, p->n_columns);
	p->layout = NULL;
	return r == -E2BIG || r == -EFBIG ? 0 : pm_error_plain(err, r);
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

static int all_ranges(struct job *job, struct pm_error *err)
{
	if (!job->table->type->bounds)
		return 0;
	for (size_t i = 0; i < job->p->n; i++)
		job->errors[i].offset = PM_NO_OFFSET;
	int r = pm_crew_each(job->p->n, group_ranges, job);
	for (size_t i = 0; r < 0 && err && !err->code && i < job->p->n; i++)
		if (job->errors[i].code)
			*err = job->errors[i];
	return r < 0 ? pm_error_plain(err, r) : 0;
}

static int add_padded(const struct pmfs_parquet *p, const struct pm_text *footer,
	struct pm_text *out, struct pm_error *err)
{
	if (footer->failed || footer->len > p->size - p->footer_at)
		return pm_error_plain(err, footer->failed ? -ENOMEM : -EIO);
	size_t zeros = (size_t)(p->size - p->footer_at) - footer->len;
	char *room = pm_text_reserve(out, zeros);
	if (!room)
		return pm_error_plain(err, -ENOMEM);
	memset(room, 0, zeros);
	out->len += zeros;
	pm_text_bytes(out, pm_text_view(footer));
	return out->failed ? pm_error_plain(err, -ENOMEM) : 0;
}

int pmfs_layout_footer(const struct pmfs_parquet *p, const struct pm_doc *doc, struct pm_text *out,
	struct pm_error *err)
{
	struct pm_text footer = {.p = NULL};
	struct job job = {.p = p,
		.table = &doc->table,
		.ranges = calloc(p->n * p->n_columns, sizeof(*job.ranges)),
		.errors = calloc(p->n, sizeof(*job.errors))};
	int r = job.ranges && job.errors ? all_ranges(&job, err) : -ENOMEM;
	if (r == 0)
		pmfs_footer_add(p, doc, job.ranges, &footer);
	if (r == 0)
		r = add_padded(p, &footer, out, err);
	free(job.ranges);
	free(job.errors);
	pm_text_done(&footer);
	return r < 0 ? pm_error_plain(err, r) : 0;
}
