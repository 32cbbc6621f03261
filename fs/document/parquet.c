/*
 * A table as Parquet: row groups, made one by one to measure the file and then again where a
 * window of it is read.
 */
#include "fs/document/parquet.h"

#include <stdlib.h>
#include <string.h>

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/search.h"
#include "formats/common/work.h"
#include "fs/document/layout.h"
#include "fs/document/segments.h"

/* Makes row groups one after the other, in a build of the arena. */
struct group_maker {
	struct pm_arena *arena;
	const struct pmfs_parquet *p;
	struct pm_table_reader *reader;
	struct pmfs_chunk *chunks; /* by column */
	struct pm_error *err;
};

/* ---- one row group ---- */

enum {
	MOST_BYTES = 16 << 20, /* values and texts of a row group, approximately */
	CHECK_EVERY = 1024,    /* rows */
};

static struct group_maker group_maker_at(struct pm_arena *a, const struct pmfs_parquet *p,
	struct pm_table_reader *reader, struct pm_error *err)
{
	struct pmfs_chunk *chunks = pm_arena_array(a, p->n_columns, sizeof(*chunks));
	return (struct group_maker){a, p, reader, chunks, err};
}

static uint64_t chunk_bytes(const struct group_maker *m)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < m->p->n_columns; i++)
		bytes += m->chunks[i].bytes;
	return bytes;
}

/*
 * Reads rows below position `to` until the group is full: at `rows`, or by its size if that is 0.
 * Sets group->at and ->rows. False: the rows ended.
 */
static bool group_read(
	struct group_maker *m, struct pmfs_rowgroup *group, uint32_t rows, uint64_t to)
{
	struct pm_rows *cursor = &m->reader->rows;
	struct pm_cell *cells = m->reader->cells;
	for (uint32_t i = 0; i < m->p->n_columns; i++)
		pmfs_chunk_begin(m->arena, &m->chunks[i], m->p->storage[i]);
	group->at = cursor->at;
	for (group->rows = 0; group->rows < (rows ? rows : PMFS_GROUP_ROWS); group->rows++) {
		if (group->rows % CHECK_EVERY == 0) {
			pm_build_proceed(m->arena);
			if (rows == 0 && chunk_bytes(m) > MOST_BYTES)
				return true;
		}
		int r = pm_rows_next(cursor, cells, m->err);
		pm_build_check(m->arena, r);
		if (r == 0 || cursor->row >= to)
			return false;
		for (uint32_t i = 0; i < m->p->n_columns; i++)
			pmfs_chunk_add(&m->chunks[i], &cells[i]);
	}
	return true;
}

/*
 * Appends what was read; sets the facts of each column. -EFBIG if the text is too long for a row
 * group.
 */
static void group_render(struct group_maker *m, struct pmfs_chunk_facts *facts, struct pm_text *out)
{
	for (uint32_t i = 0; i < m->p->n_columns; i++) {
		pm_build_proceed(m->arena);
		pmfs_chunk_render(&m->chunks[i], out, &facts[i]);
	}
	if (out->full)
		pm_build_fail(m->arena,
			pm_error_set(m->err, -EFBIG, NULL, PM_NO_OFFSET,
				"%u rows have more text than a row group can hold",
				m->chunks[0].n));
	pm_build_check(m->arena, pm_text_status(out));
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

/* The row groups of a segment. */
struct measured {
	struct pmfs_segment segment;
	struct pmfs_rowgroup *groups;
	size_t n, room;
	struct pm_text text; /* of the last row group, or, while that is small, the only one */
};

static void end_text(void *text)
{
	pm_text_done(text);
}

/* Renders a row group, and leaves it in the cache unless it may be the only one. */
static void add_group(struct pmfs_parquet *p, struct measured *m, struct group_maker *maker,
	struct pmfs_rowgroup *group)
{
	struct pm_arena *a = &m->segment.arena;
	struct pm_text *text = &m->text;
	uint64_t bytes = 0; /* an upper bound of what it takes to render what was read */
	for (uint32_t i = 0; i < p->n_columns; i++)
		bytes += pmfs_chunk_most(&maker->chunks[i]);
	if (text->len > 0)
		made_keep(p, m->groups[0].at, text);
	pm_text_done(text);
	group->columns = pm_arena_array(a, p->n_columns, sizeof(*group->columns));
	(void)pm_text_reserve(text, bytes);
	group_render(maker, group->columns, text);
	group->bytes = text->len;
	pm_list_grow(a, &m->groups, m->n, &m->room, sizeof(*group));
	m->groups[m->n++] = *group;
	if (m->segment.all->n == 1 && m->n == 1 && text->len <= SMALL)
		return;
	made_keep(p, group->at, text);
	pm_text_done(text);
}

static void measure_segment(struct pmfs_segment *s, const void *parquet)
{
	struct pmfs_parquet *p = (struct pmfs_parquet *)(uintptr_t)parquet;
	struct measured *m = (struct measured *)s; /* its first member */
	struct group_maker maker = group_maker_at(&s->scratch, p, s->reader, s->err);
	pm_arena_owns(&s->arena, end_text, &m->text);
	for (bool more = true; more;) {
		struct pmfs_rowgroup group = {.at = 0};
		pmfs_segment_proceed(s);
		more = group_read(&maker, &group, 0, s->to);
		if (group.rows > 0)
			add_group(p, m, &maker, &group);
	}
}

static void measure(struct pm_arena *a, struct pmfs_parquet *p, const struct pm_table *table,
	struct pm_error *err)
{
	const struct pmfs_segments how = {.table = table,
		.piece = PMFS_GROUP_ROWS,
		.size = sizeof(struct measured),
		.measure = measure_segment,
		.context = p};
	struct pm_arena *scratch = pm_arena_scratch(a);
	p->key = p->of;
	for (uint32_t c = 0; c < p->n_columns; c++)
		p->key = pm_hash_u64(p->key + p->storage[c]);
	const struct pmfs_segments *all = pmfs_segments_measure(scratch, &how, err);
	struct measured *of = all->items;
	p->n = p->n_rows = 0;
	for (size_t i = 0; i < all->n; i++)
		p->n += of[i].n;
	p->groups = pm_arena_array(a, p->n, sizeof(*p->groups));
	struct pmfs_rowgroup *group = p->groups;
	for (size_t i = 0; i < all->n; i++)
		for (size_t k = 0; k < of[i].n; k++, group++) {
			*group = of[i].groups[k];
			group->columns = pm_arena_array(a, p->n_columns, sizeof(*group->columns));
			memcpy(group->columns, of[i].groups[k].columns,
				p->n_columns * sizeof(*group->columns));
			p->n_rows += group->rows;
		}
	pm_text_done(&p->first);
	p->first = of[0].text;
	of[0].text = (struct pm_text){.p = NULL};
	pm_arena_done(scratch);
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

struct pmfs_parquet *pmfs_parquet_build(struct pm_arena *a, const struct pm_doc *doc,
	struct pm_cache *cache, uint64_t key, struct pm_error *err)
{
	const struct pm_table *table = &doc->table;
	struct pmfs_parquet *p = pm_arena_alloc(a, sizeof(*p));
	pm_arena_owns(a, end_text, &p->first);
	p->cache = cache;
	p->of = p->key = key;
	p->n_columns = table->n_columns;
	p->storage = pm_arena_array(a, p->n_columns, sizeof(*p->storage));
	for (uint32_t c = 0; c < p->n_columns; c++)
		p->storage[c] = pmfs_storage_for(pm_table_type_of(table, c), 0);
	if (!pmfs_layout_make(a, p, doc, err)) {
		measure(a, p, table, err);
		if (widen(p, table))
			measure(a, p, table, err);
	}
	pmfs_parquet_end(a, p, doc, err);
	return p;
}

uint64_t pmfs_parquet_memory(const struct pmfs_parquet *p)
{
	return p->first.taken + (p->layout ? p->layout->arena.total : 0);
}

/*
 * Windows of a Parquet file. The unit of rendering is a row group, or one column of it if the
 * table is laid out. Units are kept in the cache, because readers read them in several steps.
 * Row groups that are not laid out are rendered as a whole, because the index of a text depends
 * on the dictionary before it.
 */

/* A unit of rendering. */
struct unit {
	const struct pmfs_parquet *p;
	const struct pm_doc *doc;
	struct pmfs_layout_part part;
	uint64_t at;            /* number in the cache; FOOTER: of a table laid out */
	uint64_t offset, bytes; /* in the file; the size of a footer is an upper bound */
};

#define FOOTER UINT64_MAX

struct build {
	const struct unit *unit;
	struct pm_arena arena;
	struct pm_text text;
	struct pm_error *err;
};

/* Appends a row group of a table that was measured; -EIO if it has changed. */
static void render_group(struct build *b)
{
	const struct pmfs_parquet *p = b->unit->p;
	const struct pmfs_rowgroup *group = &p->groups[b->unit->part.group];
	struct pmfs_rowgroup again = {.at = 0};
	struct group_maker m = group_maker_at(&b->arena, p,
		pm_table_read(&b->arena, &b->unit->doc->table, group->at, b->err), b->err);
	group_read(&m, &again, group->rows, UINT64_MAX);
	group_render(
		&m, pm_arena_array(&b->arena, p->n_columns, sizeof(*group->columns)), &b->text);
	if (again.rows != group->rows || b->text.len != group->bytes)
		pm_build_fail(&b->arena,
			pm_error_set(b->err, -EIO, NULL, PM_NO_OFFSET,
				"its rows differ from those that were measured"));
}

static void render_unit(void *build)
{
	struct build *b = build;
	const struct unit *u = b->unit;
	if (u->at == FOOTER) {
		pmfs_layout_footer(&b->arena, u->p, u->doc, &b->text, b->err);
		return;
	}
	if (!pm_text_reserve(&b->text, u->bytes))
		pm_build_fail(&b->arena, -ENOMEM);
	if (u->p->layout)
		pmfs_layout_chunks(&b->arena, u->p, &u->doc->table, &u->part, &b->text, b->err);
	else
		render_group(b);
}

static int made_build(void *unit, struct pm_cached **ret, struct pm_error *err)
{
	struct build b = {.unit = unit, .err = err};
	int r = pm_build(&b.arena, render_unit, &b);
	pm_arena_done(&b.arena);
	if (r == 0)
		r = pm_text_status(&b.text);
	if (r == 0)
		r = made_new(b.unit->p, b.unit->at, &b.text, ret, err);
	pm_text_done(&b.text);
	return r < 0 ? pm_error_plain(err, r) : 0;
}

static void add_slice(
	struct pm_text *out, struct pm_bytes text, uint64_t from, uint64_t *off, uint64_t until)
{
	uint64_t end = from + text.len < until ? from + text.len : until;
	pm_text_add(out, text.p + (*off - from), (size_t)(end - *off));
	*off = end;
}

/* Appends the part of a unit that is in the window, and advances `off`. */
static int add_made(
	struct unit *u, uint64_t *off, uint64_t until, struct pm_text *out, struct pm_error *err)
{
	struct pm_cache *cache = u->p->cache;
	struct pm_cached *cached;
	int r = pm_cache_get(cache, made_key(u->p, u->at), made_build, u, &cached, err);
	if (r < 0)
		return r;
	struct pmfs_made *made = (struct pmfs_made *)cached;
	bool same = made->document == u->p->key && made->at == u->at;
	if (same)
		add_slice(out, pm_text_view(&made->text), u->offset, off, until);
	pm_cache_release(cache, cached);
	if (same)
		return 0;
	r = made_build(u, &cached, err);
	if (r < 0)
		return r;
	add_slice(out, pm_text_view(&((struct pmfs_made *)cached)->text), u->offset, off, until);
	cached->free(cached);
	return 0;
}

/* One column; all columns if reading the rows is what takes the time. */
static void find_part(struct unit *u, uint64_t off)
{
	const struct pmfs_parquet *p = u->p;
	struct pmfs_layout_part *part = &u->part;
	pmfs_layout_find(p, off, &part->group, &part->from);
	part->to = part->from + 1;
	if (p->layout->per_block == 1)
		*part = (struct pmfs_layout_part){part->group, 0, p->n_columns};
	const struct pmfs_rowgroup *group = &p->groups[part->group];
	u->at = (uint64_t)part->group * p->n_columns + part->from;
	u->offset = pmfs_layout_offset(p, part->group, part->from);
	u->bytes = part->to - part->from > 1 ? group->bytes : group->columns[part->from].bytes;
}

static void find_group(struct unit *u, uint64_t off)
{
	const struct pmfs_parquet *p = u->p;
	u->part.group = PM_LOWER_BOUND(i, 1, p->n, p->groups[i].offset <= off) - 1;
	const struct pmfs_rowgroup *group = &p->groups[u->part.group];
	u->at = group->at;
	u->offset = group->offset;
	u->bytes = group->bytes;
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
	struct unit u = {.p = p, .doc = doc};
	if (off < until && off < p->footer_at && p->first.len > 0)
		add_slice(out, pm_text_view(&p->first), PMFS_PARQUET_BEGIN, &off, until);
	while (off < until && off < p->footer_at) {
		if (p->layout)
			find_part(&u, off);
		else
			find_group(&u, off);
		int r = add_made(&u, &off, until, out, err);
		if (r < 0)
			return r;
	}
	if (off < until && p->layout) {
		u.at = FOOTER;
		u.offset = p->footer_at;
		return add_made(&u, &off, until, out, err);
	}
	if (off < until)
		add_slice(out, p->footer, p->footer_at, &off, until);
	return 0;
}
