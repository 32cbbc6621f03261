/*
 * Building a body, and windows of one.
 *
 * A table is rendered until it ends or has more than SMALL bytes: most files of a mount are tiny,
 * and are then rendered only once for stat and read. Longer tables are measured instead.
 */
#include "fs/document/body.h"

#include <stdlib.h>
#include <string.h>

#include "formats/common/search.h"
#include "formats/common/work.h"
#include "fs/document/measure.h"
#include "profmount/limits.h"

enum {
	SMALL = 64 << 10,
	ROW = 4 << 10, /* the last row of a window may end behind it; a longer one costs a copy */
};

static void body_free(struct pm_cached *cached)
{
	struct pmfs_body *body = (struct pmfs_body *)cached;
	pm_text_done(&body->text);
	free(body->marks);
	pmfs_parquet_free(body->parquet);
	pthread_mutex_destroy(&body->lock);
	free(body);
}

static enum pm_form form_of(const struct pm_doc *doc)
{
	return doc->kind == PM_DOC_CSV ? PM_CSV : PM_TSV;
}

/* Renders rows until the table ends (1), or there are more than SMALL bytes (0). */
static int render_small(struct pmfs_body *body, const struct pm_doc *doc, struct pm_rows *rows,
	struct pm_cell *cells, struct pm_error *err)
{
	for (;;) {
		if (pm_work_cancelled())
			return pm_error_plain(err, -ENOMEM);
		int r = pm_rows_next(rows, cells, err);
		if (r <= 0)
			return r < 0 ? r : 1;
		pm_row_render(&body->text, form_of(doc), cells, doc->table.n_columns);
		if (body->text.len > SMALL || body->text.failed)
			return pm_text_status(&body->text);
	}
}

static int try_small(struct pmfs_body *body, const struct pm_doc *doc, struct pm_error *err)
{
	struct pm_rows rows;
	struct pm_cell *cells = calloc(doc->table.n_columns + 1, sizeof(*cells));
	if (!cells)
		return pm_error_plain(err, -ENOMEM);
	int r = pm_rows_start(&rows, &doc->table, 0, err);
	if (r >= 0)
		r = render_small(body, doc, &rows, cells, err);
	pm_rows_done(&rows);
	free(cells);
	return r;
}

static int build_table(struct pmfs_body *body, const struct pm_doc *doc, struct pm_error *err)
{
	pm_row_header(&body->text, form_of(doc), &doc->table);
	size_t header = body->text.len;
	int r = try_small(body, doc, err);
	if (r < 0)
		return r;
	if (r > 0) {
		body->whole = true;
		return 0;
	}
	body->text.len = header;
	body->size = header;
	return pmfs_measure(body, &doc->table, form_of(doc), 0, err);
}

/* Additional data for building row groups: see pmfs_parquet_build. */
struct place {
	struct pm_cache *cache;
	uint64_t key;
};

int pmfs_body_too_long(const struct pm_text *text, struct pm_error *err)
{
	return pm_error_set(err, -EFBIG, NULL, PM_NO_OFFSET, "would have more than %zu bytes",
		text->limit ? text->limit : PM_LIMIT_TEXT);
}

static int build(struct pmfs_body *body, const struct pm_doc *doc, const struct place *place,
	struct pm_error *err)
{
	int r;
	switch (doc->kind) {
	case PM_DOC_TEXT:
	case PM_DOC_LINK:
		r = doc->text.render(doc, &body->text, err);
		body->whole = true;
		break;
	case PM_DOC_CSV:
	case PM_DOC_TSV: r = build_table(body, doc, err); break;
	case PM_DOC_PARQUET:
		r = pmfs_parquet_build(doc, place->cache, place->key, &body->parquet, err);
		break;
	case PM_DOC_BYTES:
	case PM_DOC_FILE:
	default: return pm_error_set(err, -EINVAL, NULL, PM_NO_OFFSET, "is not rendered");
	}
	if (body->text.full)
		return pmfs_body_too_long(&body->text, err);
	if (r == 0)
		r = pm_text_status(&body->text);
	if (r < 0)
		return pm_error_plain(err, r);
	if (body->whole)
		body->size = body->text.len;
	if (body->parquet)
		body->size = body->parquet->size;
	return 0;
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
	const struct place place = {.cache = cache, .key = key};
	struct account account = {.cache = cache};
	struct pmfs_body *body = calloc(1, sizeof(*body));
	if (!body)
		return pm_error_plain(err, -ENOMEM);
	body->cached.free = body_free;
	pthread_mutex_init(&body->lock, NULL);
	body->text.grown = account_grown;
	body->text.grown_context = &account;
	int r = build(body, doc, &place, err);
	body->text.grown = NULL;
	if (cache && account.bytes)
		pm_cache_reserve(cache, -account.bytes);
	if (r < 0) {
		body_free(&body->cached);
		return r;
	}
	pm_text_shrink(&body->text);
	body->cached.bytes = sizeof(*body) + body->text.taken + body->room * sizeof(*body->marks);
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

static void remember(struct pmfs_body *body, struct pmfs_mark mark)
{
	pthread_mutex_lock(&body->lock);
	body->resume[body->next_resume++ % PMFS_N_RESUME] = mark;
	pthread_mutex_unlock(&body->lock);
}

/* A window of the table's rows being rendered: bytes [off, until) of the document's text. */
struct window {
	uint64_t off, until;
	uint64_t pos;          /* offset of the row that comes next */
	struct pmfs_mark last; /* the last row rendered */
	uint64_t first;        /* offset of the first row rendered, or UINT64_MAX */
};

/* One row, skipped by its length if it ends before the window. 1, 0 at the end, or negative. */
static int window_row(struct window *w, const struct pm_doc *doc, struct pm_rows *rows,
	struct pm_cell *cells, struct pm_text *out, struct pm_error *err)
{
	enum pm_form form = form_of(doc);
	int r = pm_rows_next(rows, cells, err);
	if (r <= 0)
		return r;
	if (w->pos < w->off) {
		uint64_t n = pm_row_length(form, cells, doc->table.n_columns);
		if (w->pos + n <= w->off) {
			w->pos += n;
			return 1;
		}
	}
	size_t before = out->len;
	pm_row_render(out, form, cells, doc->table.n_columns);
	if (out->failed)
		return pm_error_plain(err, -ENOMEM);
	if (w->first == UINT64_MAX)
		w->first = w->pos;
	w->last = (struct pmfs_mark){.offset = w->pos, .at = rows->row};
	w->pos += out->len - before;
	return 1;
}

static int window_rows(struct window *w, const struct pm_doc *doc, struct pm_rows *rows,
	struct pm_cell *cells, struct pm_text *out, struct pm_error *err)
{
	int r = 1;
	for (uint64_t n = 0; r > 0 && w->pos < w->until; n++) {
		if (n % PMFS_ROWS_PER_MARK == 0 && pm_work_cancelled())
			return pm_error_plain(err, -ENOMEM);
		r = window_row(w, doc, rows, cells, out, err);
	}
	return r < 0 ? r : 0;
}

/* Cuts what was rendered from `start` (in `out`) to the window, and remembers where it ended. */
static void window_cut(struct window *w, struct pmfs_body *body, size_t start, uint64_t next_at,
	struct pm_text *out)
{
	if (w->first == UINT64_MAX)
		return;
	if (w->pos > w->until)
		out->len -= (size_t)(w->pos - w->until);
	if (w->first < w->off) {
		size_t cut = (size_t)(w->off - w->first);
		memmove(out->p + start, out->p + start + cut, out->len - start - cut);
		out->len -= cut;
	}
	remember(body,
		w->pos > w->until ? w->last : (struct pmfs_mark){.offset = w->pos, .at = next_at});
}

static int window_of_rows(struct pmfs_body *body, const struct pm_doc *doc, struct window *w,
	struct pm_text *out, struct pm_error *err)
{
	struct pm_rows rows;
	struct pm_cell *cells = calloc(doc->table.n_columns + 1, sizeof(*cells));
	if (!cells)
		return pm_error_plain(err, -ENOMEM);
	struct pmfs_mark mark = mark_before(body, w->off);
	size_t start = out->len;
	w->pos = mark.offset;
	w->first = UINT64_MAX;
	pm_text_expect(out, (size_t)(w->until - w->off) + ROW);
	int r = pm_rows_start(&rows, &doc->table, mark.at, err);
	if (r >= 0)
		r = window_rows(w, doc, &rows, cells, out, err);
	if (r >= 0)
		window_cut(w, body, start, rows.at, out);
	pm_rows_done(&rows);
	free(cells);
	return r;
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
	struct window w = {.off = off, .until = until};
	return window_of_rows(body, doc, &w, out, err);
}
