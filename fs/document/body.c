/*
 * The bodies of documents: whole, or measured, with marks from which any window can be
 * rendered.
 */
#include "fs/document/body.h"

#include <stdlib.h>
#include <string.h>

#include "formats/common/crew.h"
#include "formats/common/list.h"
#include "formats/common/search.h"
#include "formats/common/work.h"
#include "fs/document/parquet.h"
#include "profmount/limits.h"

/* Rows per mark: 16 bytes of memory for about 64 KiB of text. */
#define PMFS_ROWS_PER_MARK 1024

/*
 * Measuring cuts the positions of a table into segments. Each segment is measured separately,
 * with marks relative to its first byte; finally the segments are concatenated. A table whose
 * positions are not dense is a single segment.
 */

enum {
	SEGMENT = 1 << 16,            /* positions; takes much longer than starting a cursor */
	BYTES_PER_QUESTION = 1 << 20, /* rows may be long */
};

struct segment {
	uint64_t from, to; /* positions; to = UINT64_MAX for an open end */
	uint64_t bytes;
	struct pmfs_mark *marks;
	size_t n_marks, room;
	struct pmfs_failure failure;
};

struct job {
	const struct pm_table *table;
	enum pm_form form;
	struct segment *segments;
	size_t n;
	bool stop; /* atomic: one failed, so the others are not needed */
};

static int mark_add(struct segment *s, struct pmfs_mark mark)
{
	if (pm_list_room(&s->marks, s->n_marks, &s->room, sizeof(*s->marks)) < 0)
		return pm_error_plain(&s->failure.error, -ENOMEM);
	s->marks[s->n_marks++] = mark;
	return 0;
}

static int segment_rows(
	const struct job *job, struct segment *s, struct pm_rows *rows, struct pm_cell *cells)
{
	uint64_t asked = 0;
	for (uint64_t n = 0;; n++) {
		bool marks = n % PMFS_ROWS_PER_MARK == 0;
		if (marks || s->bytes - asked > BYTES_PER_QUESTION) {
			if (__atomic_load_n(&job->stop, __ATOMIC_RELAXED) || pm_work_cancelled())
				return PM_NO_MEMORY;
			asked = s->bytes;
		}
		int r = pm_rows_next(rows, cells, &s->failure.error);
		if (r <= 0 || rows->row >= s->to)
			return r < 0 ? r : 0;
		struct pmfs_mark mark = {.offset = s->bytes, .at = rows->row};
		if (marks && mark_add(s, mark) < 0)
			return -ENOMEM;
		s->bytes += pm_row_length(job->form, cells, job->table->n_columns);
	}
}

/* The same with the table's own measure function. */
static int segment_batches(const struct job *job, struct segment *s, struct pm_rows *rows)
{
	for (;;) {
		if (__atomic_load_n(&job->stop, __ATOMIC_RELAXED) || pm_work_cancelled())
			return PM_NO_MEMORY;
		struct pmfs_mark mark = {.offset = s->bytes, .at = rows->at};
		int64_t n = job->table->type->measure(
			rows, job->form, s->to, PMFS_ROWS_PER_MARK, &s->bytes, &s->failure.error);
		if (n <= 0)
			return (int)n;
		if (mark_add(s, mark) < 0)
			return -ENOMEM;
	}
}

static int segment_measure(void *context, size_t i)
{
	struct job *job = context;
	struct segment *s = &job->segments[i];
	struct pm_rows rows;
	struct pm_cell *cells = calloc(job->table->n_columns + 1, sizeof(*cells));
	s->failure.error.offset = PM_NO_OFFSET;
	s->failure.result = cells ? pm_rows_start(&rows, job->table, s->from, &s->failure.error)
				  : pm_error_plain(&s->failure.error, -ENOMEM);
	if (s->failure.result >= 0)
		s->failure.result = job->table->type->measure ? segment_batches(job, s, &rows)
							      : segment_rows(job, s, &rows, cells);
	if (cells)
		pm_rows_done(&rows);
	free(cells);
	if (s->failure.result < 0)
		__atomic_store_n(&job->stop, true, __ATOMIC_RELAXED);
	return s->failure.result;
}

static int put_in_a_row(struct pmfs_body *body, const struct job *job, struct pm_error *err)
{
	for (size_t i = 0; i < job->n; i++) {
		const struct segment *s = &job->segments[i];
		for (size_t k = 0; k < s->n_marks; k++) {
			if (pm_list_room(&body->marks, body->n_marks, &body->room,
				    sizeof(*body->marks)) < 0)
				return pm_error_plain(err, -ENOMEM);
			body->marks[body->n_marks++] = (struct pmfs_mark){
				.offset = body->size + s->marks[k].offset, .at = s->marks[k].at};
		}
		body->size += s->bytes;
	}
	return 0;
}

static int cut(struct job *job, uint64_t at, struct pm_error *err)
{
	const struct pm_table *table = job->table;
	uint64_t end = table->end;
	int r = table->type->end ? table->type->end(table, &end, err) : 0;
	if (r < 0)
		return r;
	uint64_t piece = table->piece ? table->piece : SEGMENT;
	bool whole = !table->type->dense || end <= at || (end - at) / 2 < piece;
	job->n = whole ? 1 : (size_t)((end - at - 1) / piece + 1);
	job->segments = calloc(job->n, sizeof(*job->segments));
	if (!job->segments)
		return pm_error_plain(err, -ENOMEM);
	for (size_t i = 0; i < job->n; i++) {
		job->segments[i].from = at + i * piece;
		job->segments[i].to = i + 1 < job->n ? at + (i + 1) * piece : UINT64_MAX;
	}
	return 0;
}

/*
 * Adds marks and size for the rows from position `at` on, whose text begins at body->size. -ENOMEM
 * if the work is cancelled.
 */
static int pmfs_measure(struct pmfs_body *body, const struct pm_table *table, enum pm_form form,
	uint64_t at, struct pm_error *err)
{
	struct job job = {.table = table, .form = form};
	int r = cut(&job, at, err);
	if (r < 0)
		return r;
	r = pmfs_failure_return(&job.segments->failure, job.n, sizeof(*job.segments),
		pm_crew_each(job.n, segment_measure, &job), err);
	if (r == 0)
		r = put_in_a_row(body, &job, err);
	for (size_t i = 0; i < job.n; i++)
		free(job.segments[i].marks);
	free(job.segments);
	return r;
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
	free(body->marks);
	pmfs_parquet_free(body->parquet);
	pthread_mutex_destroy(&body->lock);
	free(body);
}

static enum pm_form form_of(const struct pm_doc *doc)
{
	return doc->kind == PM_DOC_CSV ? PM_CSV : PM_TSV;
}

/* Renders rows until the table ends (1), or there are too many bytes (0). */
static int render_small(struct pmfs_body *body, const struct pm_doc *doc, struct pm_rows *rows,
	struct pm_cell *cells, struct pm_error *err)
{
	for (uint64_t n = 1;; n++) {
		if (pm_work_cancelled())
			return pm_error_plain(err, PM_CANCELLED);
		int r = pm_rows_next(rows, cells, err);
		if (r <= 0)
			return r < 0 ? r : 1;
		pm_row_render(&body->text, form_of(doc), cells, doc->table.n_columns);
		if (body->text.failed || body->text.len > (n < FEW_ROWS ? FEW_BYTES : SMALL))
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
			return pm_error_plain(err, PM_CANCELLED);
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
