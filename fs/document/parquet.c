/*
 * A table as Parquet: row groups, made one by one to measure the file and then again where a
 * window of it is read.
 */
#include "fs/document/parquet.h"

#include <stdlib.h>

#include "formats/common/crew.h"
#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/search.h"
#include "formats/common/work.h"
#include "fs/document/layout.h"

/* Makes row groups one after the other. */
struct group_maker {
	const struct pm_table *table;
	const struct pmfs_parquet *p;
	struct pmfs_chunk *chunks;
	struct pm_cell *cells;
	struct pm_rows rows;
};

/* ---- one row group ---- */

enum {
	MOST_BYTES = 16 << 20, /* values and texts of a row group, approximately */
	CHECK_EVERY = 1024,    /* rows */
};

static void group_maker_done(struct group_maker *m)
{
	for (uint32_t i = 0; m->chunks && i < m->p->n_columns; i++)
		pmfs_chunk_done(&m->chunks[i]);
	free(m->chunks);
	free(m->cells);
	pm_rows_done(&m->rows);
}

/* Begins at that position. The caller calls group_maker_done also after a failure. */
static int group_maker_start(struct group_maker *m, const struct pmfs_parquet *p,
	const struct pm_table *table, uint64_t at, struct pm_error *err)
{
	*m = (struct group_maker){.table = table, .p = p};
	m->chunks = calloc((size_t)p->n_columns + 1, sizeof(*m->chunks));
	m->cells = calloc((size_t)p->n_columns + 1, sizeof(*m->cells));
	if (!m->chunks || !m->cells)
		return pm_error_plain(err, -ENOMEM);
	return pm_rows_start(&m->rows, table, at, err);
}

static uint64_t chunk_bytes(const struct group_maker *m)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < m->p->n_columns; i++)
		bytes += m->chunks[i].bytes;
	return bytes;
}

/* An upper bound of the bytes that it takes to render what was read. */
static uint64_t group_bytes(const struct group_maker *m)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < m->p->n_columns; i++)
		bytes += pmfs_chunk_most(&m->chunks[i]);
	return bytes;
}

static bool has_failed(const struct group_maker *m)
{
	for (uint32_t i = 0; i < m->p->n_columns; i++)
		if (m->chunks[i].failed)
			return true;
	return false;
}

/*
 * Reads rows below position `to` until the group is full: at `rows`, or by its size if that is 0.
 * Sets group->at and ->rows. 1, 0 if the rows ended, or a negative errno.
 */
static int group_read(struct group_maker *m, struct pmfs_rowgroup *group, uint32_t rows,
	uint64_t to, struct pm_error *err)
{
	for (uint32_t i = 0; i < m->p->n_columns; i++)
		if (pmfs_chunk_begin(&m->chunks[i], m->p->storage[i]) < 0)
			return pm_error_plain(err, -ENOMEM);
	group->at = m->rows.at;
	for (group->rows = 0; group->rows < (rows ? rows : PMFS_GROUP_ROWS); group->rows++) {
		if (group->rows % CHECK_EVERY == 0) {
			if (pm_work_cancelled() || has_failed(m))
				return pm_error_plain(err, -ENOMEM);
			if (rows == 0 && chunk_bytes(m) > MOST_BYTES)
				return 1;
		}
		int r = pm_rows_next(&m->rows, m->cells, err);
		if (r <= 0 || m->rows.row >= to)
			return r < 0 ? r : 0;
		for (uint32_t i = 0; i < m->p->n_columns; i++)
			pmfs_chunk_add(&m->chunks[i], &m->cells[i]);
	}
	return 1;
}

/*
 * Appends what was read; sets the facts of each column. -EFBIG if the text is too long for a row
 * group.
 */
static int group_render(struct group_maker *m, struct pmfs_chunk_facts *facts, struct pm_text *out,
	struct pm_error *err)
{
	for (uint32_t i = 0; i < m->p->n_columns; i++) {
		if (pm_work_cancelled())
			return pm_error_plain(err, PM_CANCELLED);
		pmfs_chunk_render(&m->chunks[i], out, &facts[i]);
	}
	if (out->full)
		return pm_error_set(err, -EFBIG, NULL, PM_NO_OFFSET,
			"%u rows have more text than a row group can hold", m->chunks[0].n);
	return out->failed || has_failed(m) ? pm_error_plain(err, -ENOMEM) : 0;
}

/* Appends a row group of a table that was measured; -EIO if it has changed. */
static int parquet_group(const struct pmfs_parquet *p, const struct pm_table *table, size_t i,
	struct pm_text *out, struct pm_error *err)
{
	const struct pmfs_rowgroup *group = &p->groups[i];
	struct pmfs_rowgroup again = {.at = 0};
	struct pmfs_chunk_facts *facts = calloc(p->n_columns, sizeof(*facts));
	size_t before = out->len;
	struct group_maker m;
	int r = facts ? group_maker_start(&m, p, table, group->at, err) : -ENOMEM;
	if (r >= 0)
		r = group_read(&m, &again, group->rows, UINT64_MAX, err);
	if (r >= 0)
		r = group_render(&m, facts, out, err);
	if (facts)
		group_maker_done(&m);
	free(facts);
	if (r >= 0 && (again.rows != group->rows || out->len - before != group->bytes))
		return pm_error_set(err, -EIO, NULL, PM_NO_OFFSET,
			"its rows differ from those that were measured");
	return r < 0 ? pm_error_plain(err, r) : 0;
}

/* ---- parts in the cache ---- */

enum { KEPT_SHARE = 4 }; /* a quarter of the limit is left for other objects */

static void made_free(struct pm_cached *cached)
{
	struct pmfs_made *made = (struct pmfs_made *)cached;
	pm_text_done(&made->text);
	free(made);
}

/* An object for the cache. Takes ownership of the contents of the text. 0 or -ENOMEM. */
static int made_new(const struct pmfs_parquet *p, uint64_t at, struct pm_text *text,
	struct pm_cached **ret, struct pm_error *err)
{
	struct pmfs_made *made = calloc(1, sizeof(*made));
	if (!made)
		return pm_error_plain(err, -ENOMEM);
	pm_text_shrink(text);
	*made = (struct pmfs_made){.cached.free = made_free,
		.cached.bytes = sizeof(*made) + text->taken,
		.document = p->key,
		.of = p->of,
		.at = at,
		.text = *text};
	*text = (struct pm_text){.p = NULL};
	*ret = &made->cached;
	return 0;
}

/*
 * Its key in the cache.
 *
 * Bits that are not set in nodes and keys of formats: formats/common/cache.h.
 */
static uint64_t made_key(const struct pmfs_parquet *p, uint64_t at)
{
	return pm_hash_u64(p->key + pm_hash_u64(at)) | (uint64_t)3 << 62;
}

bool pmfs_made_is(uint64_t key)
{
	return key >> 62 == 3;
}

struct leaving {
	const struct pmfs_parquet *p;
	uint64_t at;
	struct pm_text *text;
};

static int leave_made(void *context, struct pm_cached **ret, struct pm_error *err)
{
	const struct leaving *l = context;
	return made_new(l->p, l->at, l->text, ret, err);
}

/*
 * Puts a row group that was made while measuring into the cache, if there is room, so that reading
 * need not make it again. The caller frees the text, which may be empty then.
 */
static void made_keep(struct pmfs_parquet *p, uint64_t at, struct pm_text *text)
{
	struct leaving l = {.p = p, .at = at, .text = text};
	struct pm_cached *cached;
	if (!p->cache || text->len == 0)
		return;
	uint64_t limit = pm_cache_limit(p->cache);
	if (__atomic_add_fetch(&p->n_kept, text->len, __ATOMIC_RELAXED) >
		limit - limit / KEPT_SHARE)
		return;
	if (pm_cache_get(p->cache, made_key(p, at), leave_made, &l, &cached, NULL) == 0)
		pm_cache_release(p->cache, cached);
}

/*
 * ---- measuring ----
 *
 * All processors measure row groups if a cursor can start anywhere. The type of a column
 * determines how it is stored; if its cells turn out to be different (a damaged source, a
 * number that a double or int64 cannot represent), everything is measured again with a storage
 * that can represent them.
 */

enum { SMALL = 1 << 20 /* size up to which a single row group is kept */ };

struct segment {
	uint64_t from, to; /* positions; to = UINT64_MAX for an open end */
	struct pmfs_rowgroup *groups;
	size_t n, room;
	struct pm_text only; /* its row group, as long as it is small and the only one */
	struct pmfs_failure failure;
};

struct job {
	const struct pm_table *table;
	struct pmfs_parquet *p;
	struct segment *segments;
	size_t n;
	bool stop; /* atomic: one failed */
};

static void leave(const struct job *job, uint64_t at, struct pm_text *text)
{
	made_keep(job->p, at, text);
	pm_text_done(text);
}

static int segment_add(const struct job *job, struct segment *s, struct group_maker *m,
	struct pmfs_rowgroup *group)
{
	struct pm_text text = {.p = NULL};
	group->columns = calloc(m->p->n_columns, sizeof(*group->columns));
	int r = group->columns && pm_list_room(&s->groups, s->n, &s->room, sizeof(*group)) == 0
		? 0
		: -ENOMEM;
	if (r == 0) {
		(void)pm_text_reserve(&text, group_bytes(m));
		r = group_render(m, group->columns, &text, &s->failure.error);
	}
	group->bytes = text.len;
	if (r < 0) {
		free(group->columns);
		pm_text_done(&text);
		return r;
	}
	if (s->only.len > 0)
		leave(job, s->groups[0].at, &s->only);
	s->groups[s->n++] = *group;
	if (job->n == 1 && s->n == 1 && text.len <= SMALL)
		s->only = text;
	else
		leave(job, group->at, &text);
	return 0;
}

static int segment_groups(const struct job *job, struct segment *s, struct group_maker *m)
{
	for (int more = 1; more > 0;) {
		struct pmfs_rowgroup group = {.at = 0};
		if (__atomic_load_n(&job->stop, __ATOMIC_RELAXED))
			return -ENOMEM;
		more = group_read(m, &group, 0, s->to, &s->failure.error);
		int r = more < 0 ? more : 0;
		if (r == 0 && group.rows > 0)
			r = segment_add(job, s, m, &group);
		if (r < 0)
			return r;
	}
	return 0;
}

static int segment_measure(void *context, size_t i)
{
	struct job *job = context;
	struct segment *s = &job->segments[i];
	struct group_maker m;
	s->failure.error.offset = PM_NO_OFFSET;
	s->failure.result = group_maker_start(&m, job->p, job->table, s->from, &s->failure.error);
	if (s->failure.result >= 0)
		s->failure.result = segment_groups(job, s, &m);
	group_maker_done(&m);
	if (s->failure.result < 0)
		__atomic_store_n(&job->stop, true, __ATOMIC_RELAXED);
	return s->failure.result;
}

static int cut(struct job *job, struct pm_error *err)
{
	const struct pm_table *table = job->table;
	uint64_t end = table->end;
	int r = table->type->end ? table->type->end(table, &end, err) : 0;
	if (r < 0)
		return r;
	uint64_t piece = table->piece ? table->piece : PMFS_GROUP_ROWS;
	bool whole = !table->type->dense || (!table->piece && end < 2 * PMFS_GROUP_ROWS);
	job->n = whole || end <= piece ? 1 : (size_t)((end - 1) / piece + 1);
	job->segments = calloc(job->n, sizeof(*job->segments));
	if (!job->segments)
		return pm_error_plain(err, -ENOMEM);
	for (size_t i = 0; i < job->n; i++) {
		job->segments[i].from = (uint64_t)i * piece;
		job->segments[i].to = i + 1 < job->n ? (uint64_t)(i + 1) * piece : UINT64_MAX;
	}
	return 0;
}

static void job_done(struct job *job)
{
	for (size_t i = 0; job->segments && i < job->n; i++) {
		for (size_t k = 0; k < job->segments[i].n; k++)
			free(job->segments[i].groups[k].columns);
		free(job->segments[i].groups);
		pm_text_done(&job->segments[i].only);
	}
	free(job->segments);
}

static int put_in_a_row(struct pmfs_parquet *p, const struct job *job, struct pm_error *err)
{
	for (size_t i = 0; i < job->n; i++) {
		struct segment *s = &job->segments[i];
		for (size_t k = 0; k < s->n; k++) {
			struct pmfs_rowgroup *group = &s->groups[k];
			if (pm_list_room(&p->groups, p->n, &p->room, sizeof(*group)) < 0)
				return pm_error_plain(err, -ENOMEM);
			p->groups[p->n++] = *group;
			group->columns = NULL;
			p->n_rows += group->rows;
		}
	}
	if (p->n == 1) {
		p->first = job->segments[0].only;
		job->segments[0].only = (struct pm_text){.p = NULL};
	}
	return 0;
}

static void forget_groups(struct pmfs_parquet *p)
{
	for (size_t i = 0; !p->layout && i < p->n; i++)
		free(p->groups[i].columns);
	pm_text_done(&p->first);
	p->n = 0;
	p->n_rows = 0;
}

/* `key` is the document's. */
static int measure(
	struct pmfs_parquet *p, const struct pm_table *table, uint64_t key, struct pm_error *err)
{
	struct job job = {.table = table, .p = p};
	p->of = p->key = key;
	for (uint32_t c = 0; c < p->n_columns; c++)
		p->key = pm_hash_u64(p->key + p->storage[c]);
	int r = cut(&job, err);
	if (r == 0)
		r = pmfs_failure_return(&job.segments->failure, job.n, sizeof(*job.segments),
			pm_crew_each(job.n, segment_measure, &job), err);
	if (r == 0)
		r = put_in_a_row(p, &job, err);
	job_done(&job);
	return r;
}

/* Changes how columns are stored so that everything seen fits. True if that changed anything. */
static bool widen(struct pmfs_parquet *p, const struct pm_table *table)
{
	bool changed = false;
	for (uint32_t c = 0; c < p->n_columns; c++) {
		uint8_t seen = 0;
		for (size_t i = 0; i < p->n; i++)
			seen |= p->groups[i].columns[c].seen;
		enum pmfs_storage storage = pmfs_storage_for(pm_table_type_of(table, c), seen);
		changed |= storage != p->storage[c];
		p->storage[c] = storage;
	}
	return changed;
}

static int build(
	struct pmfs_parquet *p, const struct pm_doc *doc, uint64_t key, struct pm_error *err)
{
	const struct pm_table *table = &doc->table;
	p->n_columns = table->n_columns;
	p->storage = calloc((size_t)p->n_columns + 1, sizeof(*p->storage));
	if (!p->storage)
		return pm_error_plain(err, -ENOMEM);
	for (uint32_t c = 0; c < p->n_columns; c++)
		p->storage[c] = pmfs_storage_for(pm_table_type_of(table, c), 0);
	int r = pmfs_layout_make(p, doc, err);
	if (r < 0)
		return r;
	p->of = p->key = key;
	if (r > 0)
		return pmfs_parquet_end(p, doc, err);
	r = measure(p, table, key, err);
	if (r == 0 && widen(p, table)) {
		forget_groups(p);
		r = measure(p, table, key, err);
	}
	return r < 0 ? r : pmfs_parquet_end(p, doc, err);
}

int pmfs_parquet_build(const struct pm_doc *doc, struct pm_cache *cache, uint64_t key,
	struct pmfs_parquet **ret, struct pm_error *err)
{
	struct pmfs_parquet *p = calloc(1, sizeof(*p));
	if (!p)
		return pm_error_plain(err, -ENOMEM);
	p->cache = cache;
	int r = build(p, doc, key, err);
	if (r < 0)
		pmfs_parquet_free(p);
	else
		*ret = p;
	return r;
}

void pmfs_parquet_free(struct pmfs_parquet *p)
{
	if (!p)
		return;
	forget_groups(p);
	pmfs_layout_free(p->layout, p->n_columns);
	free(p->groups);
	free(p->storage);
	pm_text_done(&p->footer);
	free(p);
}

uint64_t pmfs_parquet_memory(const struct pmfs_parquet *p)
{
	uint64_t group = sizeof(*p->groups) + p->n_columns * sizeof(*p->groups->columns);
	uint64_t bytes = sizeof(*p) + p->footer.taken + p->first.taken;
	if (!p->layout)
		return bytes + p->room * group;
	for (uint32_t c = 0; c < p->n_columns; c++) {
		const struct pmfs_dictionary *d = &p->layout->dictionaries[c];
		bytes += 2 * d->page.taken + d->texts.room * sizeof(*d->texts.items) +
			d->texts.n_slots * sizeof(*d->texts.slots) + d->room * sizeof(*d->index_of);
	}
	return bytes + p->n * sizeof(*p->groups);
}

/*
 * Windows of a Parquet file. The unit of rendering is a row group, or one column of it if the
 * table is laid out. Units are kept in the cache, because readers read them in several steps.
 * Row groups that are not laid out are rendered as a whole, because the index of a text depends
 * on the dictionary before it.
 */

/* A unit of rendering. */
struct build {
	const struct pmfs_parquet *p;
	const struct pm_doc *doc;
	struct pmfs_layout_part part;
	uint64_t at;            /* number in the cache; FOOTER: of a table laid out */
	uint64_t offset, bytes; /* in the file; the size of a footer is an upper bound */
};

#define FOOTER UINT64_MAX

static int made_build(void *context, struct pm_cached **ret, struct pm_error *err)
{
	const struct build *b = context;
	const struct pm_table *table = &b->doc->table;
	struct pm_text text = {.p = NULL};
	int r = -ENOMEM;
	if (b->at == FOOTER)
		r = pmfs_layout_footer(b->p, b->doc, &text, err);
	else if (!pm_text_reserve(&text, b->bytes))
		r = -ENOMEM;
	else if (b->p->layout)
		r = pmfs_layout_chunks(b->p, table, &b->part, &text, err);
	else
		r = parquet_group(b->p, table, b->part.group, &text, err);
	if (r >= 0)
		r = made_new(b->p, b->at, &text, ret, err);
	pm_text_done(&text);
	return r < 0 ? pm_error_plain(err, r) : 0;
}

static void add_slice(struct pm_text *out, const struct pm_text *text, uint64_t from, uint64_t *off,
	uint64_t until)
{
	uint64_t end = from + text->len < until ? from + text->len : until;
	pm_text_add(out, text->p + (*off - from), (size_t)(end - *off));
	*off = end;
}

/* Appends the part of a unit that is in the window, and advances `off`. */
static int add_made(
	struct build *b, uint64_t *off, uint64_t until, struct pm_text *out, struct pm_error *err)
{
	struct pm_cache *cache = b->p->cache;
	struct pm_cached *cached;
	int r = pm_cache_get(cache, made_key(b->p, b->at), made_build, b, &cached, err);
	if (r < 0)
		return r;
	struct pmfs_made *made = (struct pmfs_made *)cached;
	bool same = made->document == b->p->key && made->at == b->at;
	if (same)
		add_slice(out, &made->text, b->offset, off, until);
	pm_cache_release(cache, cached);
	if (same)
		return 0;
	r = made_build(b, &cached, err);
	if (r < 0)
		return r;
	add_slice(out, &((struct pmfs_made *)cached)->text, b->offset, off, until);
	cached->free(cached);
	return 0;
}

/* One column; all columns if reading the rows is what takes the time. */
static void find_part(struct build *b, uint64_t off)
{
	const struct pmfs_parquet *p = b->p;
	struct pmfs_layout_part *part = &b->part;
	pmfs_layout_find(p, off, &part->group, &part->from);
	part->to = part->from + 1;
	if (p->layout->per_block == 1)
		*part = (struct pmfs_layout_part){part->group, 0, p->n_columns};
	const struct pmfs_rowgroup *group = &p->groups[part->group];
	b->at = (uint64_t)part->group * p->n_columns + part->from;
	b->offset = pmfs_layout_offset(p, part->group, part->from);
	b->bytes = part->to - part->from > 1 ? group->bytes : group->columns[part->from].bytes;
}

static void find_group(struct build *b, uint64_t off)
{
	const struct pmfs_parquet *p = b->p;
	b->part.group = PM_LOWER_BOUND(i, 1, p->n, p->groups[i].offset <= off) - 1;
	const struct pmfs_rowgroup *group = &p->groups[b->part.group];
	b->at = group->at;
	b->offset = group->offset;
	b->bytes = group->bytes;
}

int pmfs_parquet_window(const struct pmfs_parquet *p, const struct pm_doc *doc, uint64_t off,
	size_t len, struct pm_text *out, struct pm_error *err)
{
	static const char magic[] = "PAR1";
	if (off >= p->size)
		return 0;
	uint64_t until = len < p->size - off ? off + len : p->size;
	for (; off < until && off < PMFS_PARQUET_BEGIN; off++)
		pm_text_char(out, magic[off]);
	struct build b = {.p = p, .doc = doc};
	if (off < until && off < p->footer_at && p->first.len > 0)
		add_slice(out, &p->first, PMFS_PARQUET_BEGIN, &off, until);
	while (off < until && off < p->footer_at) {
		if (p->layout)
			find_part(&b, off);
		else
			find_group(&b, off);
		int r = add_made(&b, &off, until, out, err);
		if (r < 0)
			return r;
	}
	if (off < until && p->layout) {
		b.at = FOOTER;
		b.offset = p->footer_at;
		return add_made(&b, &off, until, out, err);
	}
	if (off < until)
		add_slice(out, &p->footer, p->footer_at, &off, until);
	return 0;
}
