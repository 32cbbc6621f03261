/*
 * The bodies of documents: whole, or measured, with marks from which any window can be
 * rendered.
 */
#include "fs/document/body.h"

#include <stdlib.h>
#include <string.h>

#include "formats/common/list.h"
#include "formats/common/search.h"
#include "fs/document/segments.h"
#include "profmount/limits.h"

/* Rows per mark: 16 bytes of memory for about 64 KiB of text. */
#define PMFS_ROWS_PER_MARK 1024

enum {
	SEGMENT = 1 << 16,            /* positions; takes much longer than starting a cursor */
	BYTES_PER_QUESTION = 1 << 20, /* rows may be long */
};

/* A segment, with marks relative to its first byte. */
struct measured {
	struct pmfs_segment segment;
	uint64_t bytes;
	struct pmfs_mark *marks;
	size_t n_marks, room;
};

static void add_mark(struct measured *m, uint64_t offset, uint64_t at)
{
	pm_list_grow(&m->segment.arena, &m->marks, m->n_marks, &m->room, sizeof(*m->marks));
	m->marks[m->n_marks++] = (struct pmfs_mark){.offset = offset, .at = at};
}

static void measure_rows(struct measured *m, enum pm_form form)
{
	struct pmfs_segment *s = &m->segment;
	struct pm_table_reader *reader = s->reader;
	uint64_t asked = 0;
	for (uint64_t n = 0;; n++) {
		bool marks = n % PMFS_ROWS_PER_MARK == 0;
		if (marks || m->bytes - asked > BYTES_PER_QUESTION) {
			pmfs_segment_proceed(s);
			asked = m->bytes;
		}
		int r = pm_rows_next(&reader->rows, reader->cells, s->err);
		pm_build_check(&s->arena, r);
		if (r == 0 || reader->rows.row >= s->to)
			return;
		if (marks)
			add_mark(m, m->bytes, reader->rows.row);
		m->bytes += pm_row_length(form, reader->cells, reader->table.n_columns);
	}
}

/* The same with the table's own measure function. */
static void measure_batches(struct measured *m, enum pm_form form)
{
	struct pmfs_segment *s = &m->segment;
	struct pm_rows *rows = &s->reader->rows;
	for (;;) {
		uint64_t offset = m->bytes, at = rows->at;
		pmfs_segment_proceed(s);
		int64_t n = rows->table->type->measure(
			rows, form, s->to, PMFS_ROWS_PER_MARK, &m->bytes, s->err);
		pm_build_check(&s->arena, (int)n);
		if (n == 0)
			return;
		add_mark(m, offset, at);
	}
}

static void measure(struct pmfs_segment *s, const void *form)
{
	struct measured *m = (struct measured *)s; /* its first member */
	(s->reader->table.type->measure ? measure_batches : measure_rows)(
		m, *(const enum pm_form *)form);
}

/* Adds marks and size of all rows, whose text begins at body->size. */
static void measure_table(struct pmfs_body *body, struct pm_arena *scratch,
	const struct pm_table *table, enum pm_form form, struct pm_error *err)
{
	const struct pmfs_segments how = {.table = table,
		.piece = SEGMENT,
		.size = sizeof(struct measured),
		.measure = measure,
		.context = &form};
	const struct pmfs_segments *all = pmfs_segments_measure(scratch, &how, err);
	const struct measured *of = all->items;
	size_t n = 0;
	for (size_t i = 0; i < all->n; i++)
		n += of[i].n_marks;
	body->marks = pm_arena_zeroed(&body->arena, n, sizeof(*body->marks));
	for (size_t i = 0; i < all->n; i++) {
		for (size_t k = 0; k < of[i].n_marks; k++)
			body->marks[body->n_marks++] =
				(struct pmfs_mark){.offset = body->size + of[i].marks[k].offset,
					.at = of[i].marks[k].at};
		body->size += of[i].bytes;
	}
	pm_arena_done(scratch);
}

/*
 * Building a body, and windows of one.
 *
 * A table is rendered until it ends or has more than SMALL bytes: most files of a mount are
 * tiny, and are then rendered only once for stat and read. Longer tables are measured instead,
 * unless it is a few rows that are long: each window would render one of them again.
 */

enum {
	SMALL = 64 << 10,
	FEW_ROWS = 16,
	FEW_BYTES = 2 << 20,
	ROW = 4 << 10, /* the last row of a window may end behind it; a longer one costs a copy */
};

static void body_free(struct pm_cached *cached)
{
	struct pmfs_body *body = (struct pmfs_body *)cached;
	pm_text_done(&body->text);
	pm_arena_done(&body->arena);
	pthread_mutex_destroy(&body->lock);
	free(body);
}

static enum pm_form form_of(const struct pm_doc *doc)
{
	return doc->kind == PM_DOC_CSV ? PM_CSV : PM_TSV;
}

struct build {
	struct pmfs_body *body;
	const struct pm_doc *doc;
	struct pm_cache *cache; /* see pmfs_parquet_build */
	uint64_t key;
	struct pm_arena scratch;
	struct pm_error *err;
};

/* Renders rows until the table ends; false: there are too many bytes. */
static bool render_small(struct build *b)
{
	struct pm_arena *a = &b->scratch;
	struct pm_text *text = &b->body->text;
	struct pm_table_reader *reader = pm_table_read(a, &b->doc->table, 0, b->err);
	uint64_t n = 1;
	bool more;
	for (; (more = pm_table_next(a, reader, b->err)); n++) {
		pm_build_proceed(a);
		pm_row_render(text, form_of(b->doc), reader->cells, reader->table.n_columns);
		pm_build_check(a, pm_text_status(text));
		if (text->len > (n < FEW_ROWS ? FEW_BYTES : SMALL))
			break;
	}
	pm_arena_done(a);
	return !more;
}

static void build_table(struct build *b)
{
	struct pmfs_body *body = b->body;
	pm_row_header(&body->text, form_of(b->doc), &b->doc->table);
	size_t header = body->text.len;
	body->whole = render_small(b);
	if (body->whole)
		return;
	body->text.len = header;
	body->size = header;
	measure_table(body, &b->scratch, &b->doc->table, form_of(b->doc), b->err);
}

int pmfs_body_too_long(const struct pm_text *text, struct pm_error *err)
{
	return pm_error_set(err, -EFBIG, NULL, PM_NO_OFFSET, "would have more than %zu bytes",
		text->limit ? text->limit : PM_LIMIT_TEXT);
}

static void build(void *context)
{
	struct build *b = context;
	struct pmfs_body *body = b->body;
	struct pm_arena *a = &body->arena;
	switch (b->doc->kind) {
	case PM_DOC_TEXT:
	case PM_DOC_LINK:
		pm_build_check(a, b->doc->text.render(b->doc, &body->text, b->err));
		body->whole = true;
		return;
	case PM_DOC_CSV:
	case PM_DOC_TSV: build_table(b); return;
	case PM_DOC_PARQUET:
		body->parquet = pmfs_parquet_build(a, b->doc, b->cache, b->key, b->err);
		body->size = body->parquet->size;
		return;
	case PM_DOC_BYTES:
	case PM_DOC_FILE:
	default:
		pm_build_fail(
			a, pm_error_set(b->err, -EINVAL, NULL, PM_NO_OFFSET, "is not rendered"));
	}
}

/* Accounts for the memory of a text that is being built. */
struct account {
	struct pm_cache *cache;
	int64_t bytes;
};

static void account_grown(void *context, size_t more)
{
	struct account *a = context;
	a->bytes += (int64_t)more;
	if (a->cache)
		pm_cache_reserve(a->cache, (int64_t)more);
}

int pmfs_body_build(const struct pm_doc *doc, struct pm_cache *cache, uint64_t key,
	struct pmfs_body **ret, struct pm_error *err)
{
	struct account account = {.cache = cache};
	struct pmfs_body *body = calloc(1, sizeof(*body));
	if (!body)
		return pm_error_plain(err, -ENOMEM);
	body->cached.free = body_free;
	pthread_mutex_init(&body->lock, NULL);
	body->text.grown = account_grown;
	body->text.grown_context = &account;
	struct build b = {body, doc, cache, key, {.of = &body->arena}, err};
	int r = pm_build(&body->arena, build, &b);
	pm_arena_done(&b.scratch);
	body->text.grown = NULL;
	if (cache && account.bytes)
		pm_cache_reserve(cache, -account.bytes);
	if (body->text.full)
		r = pmfs_body_too_long(&body->text, err);
	else if (r == 0)
		r = pm_text_status(&body->text);
	if (r < 0) {
		body_free(&body->cached);
		return pm_error_plain(err, r);
	}
	if (body->whole)
		body->size = body->text.len;
	pm_text_shrink(&body->text);
	body->cached.bytes = sizeof(*body) + body->arena.total + body->text.taken;
	if (body->parquet)
		body->cached.bytes += pmfs_parquet_memory(body->parquet);
	*ret = body;
	return 0;
}

/* The last mark at or before the offset; the header precedes every mark. */
static struct pmfs_mark mark_before(struct pmfs_body *body, uint64_t off)
{
	size_t next = PM_LOWER_BOUND(i, 1, body->n_marks, body->marks[i].offset <= off);
	struct pmfs_mark best = body->marks[next - 1];
	pthread_mutex_lock(&body->lock);
	for (unsigned i = 0; i < PMFS_N_RESUME; i++)
		if (body->resume[i].offset <= off && body->resume[i].offset > best.offset)
			best = body->resume[i];
	pthread_mutex_unlock(&body->lock);
	return best;
}

/* A window of the table's rows being rendered: bytes [off, until) of the document's text. */
struct window {
	struct pm_arena arena;
	struct pmfs_body *body;
	const struct pm_doc *doc;
	struct pm_text *out;
	struct pm_error *err;
	uint64_t off, until;
	uint64_t pos;          /* offset of the row that comes next */
	struct pmfs_mark last; /* the last row rendered */
	uint64_t first;        /* offset of the first row rendered, or UINT64_MAX */
};

/* Appends a row, or skips it by its length if it ends before the window. */
static void window_row(struct window *w, const struct pm_table_reader *reader)
{
	enum pm_form form = form_of(w->doc);
	uint32_t n = reader->table.n_columns;
	if (w->pos < w->off) {
		uint64_t bytes = pm_row_length(form, reader->cells, n);
		if (w->pos + bytes <= w->off) {
			w->pos += bytes;
			return;
		}
	}
	size_t before = w->out->len;
	pm_row_render(w->out, form, reader->cells, n);
	pm_build_check(&w->arena, pm_text_status(w->out));
	if (w->first == UINT64_MAX)
		w->first = w->pos;
	w->last = (struct pmfs_mark){.offset = w->pos, .at = reader->rows.row};
	w->pos += w->out->len - before;
}

/* Cuts what was rendered from `start` (in `out`) to the window, and remembers where it ended. */
static void window_cut(struct window *w, size_t start, uint64_t next_at)
{
	struct pm_text *out = w->out;
	if (w->first == UINT64_MAX)
		return;
	if (w->pos > w->until)
		out->len -= (size_t)(w->pos - w->until);
	if (w->first < w->off) {
		size_t cut = (size_t)(w->off - w->first);
		memmove(out->p + start, out->p + start + cut, out->len - start - cut);
		out->len -= cut;
	}
	struct pmfs_body *body = w->body;
	pthread_mutex_lock(&body->lock);
	body->resume[body->next_resume++ % PMFS_N_RESUME] =
		w->pos > w->until ? w->last : (struct pmfs_mark){.offset = w->pos, .at = next_at};
	pthread_mutex_unlock(&body->lock);
}

static void window_of_rows(void *window)
{
	struct window *w = window;
	struct pmfs_mark mark = mark_before(w->body, w->off);
	size_t start = w->out->len;
	struct pm_table_reader *reader = pm_table_read(&w->arena, &w->doc->table, mark.at, w->err);
	w->pos = mark.offset;
	w->first = UINT64_MAX;
	pm_text_expect(w->out, (size_t)(w->until - w->off) + ROW);
	while (w->pos < w->until && pm_table_next(&w->arena, reader, w->err))
		window_row(w, reader);
	window_cut(w, start, reader->rows.at);
}

int pmfs_body_window(struct pmfs_body *body, const struct pm_doc *doc, uint64_t off, size_t len,
	struct pm_text *out, struct pm_error *err)
{
	if (off >= body->size)
		return 0;
	uint64_t until = len < body->size - off ? off + len : body->size;
	if (off < body->text.len) {
		uint64_t end = until < body->text.len ? until : body->text.len;
		pm_text_add(out, body->text.p + off, (size_t)(end - off));
		off = end;
	}
	if (off == until || body->n_marks == 0)
		return 0;
	struct window w = {
		.body = body, .doc = doc, .out = out, .err = err, .off = off, .until = until};
	int r = pm_build(&w.arena, window_of_rows, &w);
	pm_arena_done(&w.arena);
	return r < 0 ? pm_error_plain(err, r) : 0;
}
