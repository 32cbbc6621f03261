/*
 * requests.csv: traces by what was asked for. Parts of a path that identify one object are replaced
 * by `{n}`, so that all requests of one route are one row.
 */
#include <errno.h>
#include <stdlib.h>

#include "formats/common/lengths.h"
#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "formats/common/text.h"
#include "formats/common/work.h"
#include "formats/zts/cells.h"
#include "formats/zts/names.h"
#include "formats/zts/parts.h"

/* The attributes that say what was asked for; the first one that a trace has counts. */
static const char *const telling[] = {
	"http.route", "http.target", "url.path", "http.url", "URI", "URL"};
enum { N_TELLING = sizeof(telling) / sizeof(*telling), BETWEEN_QUESTIONS = 4096 };

struct request {
	uint64_t traces, errors;
	zts_sum time_ns; /* of those whose duration is known */
	uint64_t slowest_ns;
	uint32_t slowest; /* a trace; PM_NONE: no duration is known */
	struct pm_bytes text;
	struct pm_call_times times;
};

struct requests {
	struct pm_strtab texts;
	struct pm_arena arena;
	struct request *items; /* those that take longest first */
	size_t room;
};

/* ---- what was asked for ---- */

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static bool is_hex(uint8_t c)
{
	return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

static bool is_uuid(struct pm_bytes s)
{
	enum { UUID = 36 };
	if (s.len != UUID)
		return false;
	for (size_t i = 0; i < UUID; i++)
		if (i == 8 || i == 13 || i == 18 || i == 23 ? s.p[i] != '-' : !is_hex(s.p[i]))
			return false;
	return true;
}

/* A number, a UUID, or at least 8 hexadecimal digits. */
static bool is_of_one_object(struct pm_bytes segment)
{
	size_t digits = 0, hex = 0;
	while (digits < segment.len && is_digit(segment.p[digits]))
		digits++;
	while (hex < segment.len && is_hex(segment.p[hex]))
		hex++;
	return (digits > 0 && digits == segment.len) || (hex >= 8 && hex == segment.len) ||
		is_uuid(segment);
}

/* Without query and fragment. */
static void add_path(struct pm_text *out, struct pm_bytes path)
{
	size_t at = 0;
	while (at < path.len && path.p[at] != '?' && path.p[at] != '#')
		at++;
	path.len = at;
	for (at = 0; at <= path.len; at++) {
		size_t from = at;
		while (at < path.len && path.p[at] != '/')
			at++;
		struct pm_bytes segment = {path.p + from, at - from};
		if (is_of_one_object(segment))
			pm_text_str(out, "{n}");
		else
			pm_text_bytes(out, segment);
		if (at < path.len)
			pm_text_char(out, '/');
	}
}

/* The method of the trace and, behind a blank, its path; empty if neither is known. */
static void add_request(const struct zts_survey *v, const struct zts_trace *t,
	const struct zts_texts *texts, const uint32_t names[N_TELLING], struct pm_text *out)
{
	const struct zts_kept *attr = NULL;
	if (t->method)
		zts_name_method(texts, t->method, out);
	for (size_t i = 0; i < N_TELLING && !attr; i++)
		if (names[i] != PM_NONE)
			attr = zts_trace_attr(v, t, names[i]);
	if (!attr)
		return;
	struct pm_text path = {.p = NULL};
	zts_kept_text(attr, texts, &path);
	if (path.len && out->len)
		pm_text_char(out, ' ');
	add_path(out, pm_text_view(&path));
	pm_text_end(&path, out);
}

/* ---- all requests ---- */

static struct request *item_of(struct requests *q, struct pm_bytes text)
{
	uint32_t known = q->texts.n;
	uint32_t i = pm_strtab_add(&q->texts, text);
	if (i == PM_NONE || pm_list_room(&q->items, i, &q->room, sizeof(*q->items)) < 0)
		return NULL;
	if (i == known)
		q->items[i] = (struct request){.slowest = PM_NONE, .text = q->texts.items[i]};
	return &q->items[i];
}

static int count(struct requests *q, struct pm_lengths *lengths, const struct zts_trace *t,
	uint32_t trace, struct pm_bytes text)
{
	struct request *r = item_of(q, text);
	if (!r)
		return -ENOMEM;
	r->traces++;
	r->errors += t->error;
	if (t->duration_ns == PM_NO_TIME)
		return 0;
	r->time_ns += t->duration_ns;
	if (r->slowest == PM_NONE || t->duration_ns > r->slowest_ns) {
		r->slowest = trace;
		r->slowest_ns = t->duration_ns;
	}
	return pm_lengths_add(lengths, (uint32_t)(r - q->items), t->duration_ns, 1);
}

static int count_all(struct requests *q, struct zts_opened *z, const struct zts_survey *v,
	struct pm_lengths *lengths, struct pm_error *err)
{
	uint32_t names[N_TELLING];
	struct pm_text text = {.p = NULL};
	int r = 0;
	for (size_t i = 0; i < N_TELLING; i++)
		names[i] = pm_strtab_find(&v->attr_names.texts, pm_bytes_of(telling[i]));
	for (uint32_t i = 0; i < v->n && r == 0; i++) {
		const struct zts_trace *t = &v->traces[i];
		const struct zts_texts *texts;
		if (i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled())
			r = -ENOMEM;
		else if ((r = zts_store_texts(&z->stores.items[t->store], &texts, err)) == 0) {
			pm_text_clear(&text);
			add_request(v, t, texts, names, &text);
			r = text.failed ? -ENOMEM : count(q, lengths, t, i, pm_text_view(&text));
		}
	}
	pm_text_done(&text);
	return r;
}

static int by_time(const void *a, const void *b)
{
	const struct request *x = a, *y = b;
	if (x->time_ns != y->time_ns)
		return x->time_ns > y->time_ns ? -1 : 1;
	return pm_bytes_compare(x->text, y->text);
}

static int times_of(struct requests *q, const struct pm_lengths *lengths)
{
	uint32_t n = q->texts.n;
	struct pm_call_times *times = calloc((size_t)n + 1, sizeof(*times));
	int r = times ? pm_lengths_times(lengths, times, n) : -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < n; i++)
		q->items[i].times = times[i];
	free(times);
	return r;
}

static int fill(void *owner, void *part, struct pm_error *err)
{
	struct zts_opened *z = owner;
	struct requests *q = part;
	struct pm_lengths lengths = {.n = 0};
	const struct zts_survey *v;
	int r = zts_get_survey(z, &v, err);
	if (r < 0)
		return r;
	q->texts.arena = &q->arena;
	r = count_all(q, z, v, &lengths, err);
	if (r == 0 && (r = times_of(q, &lengths)) == 0 && q->texts.n)
		r = pm_sort(q->items, q->texts.n, sizeof(*q->items), by_time);
	pm_lengths_done(&lengths);
	return r;
}

static void done(void *part)
{
	struct requests *q = part;
	pm_strtab_done(&q->texts);
	pm_arena_done(&q->arena);
	free(q->items);
}

static const struct pm_part_type requests_part = {
	.size = sizeof(struct requests), .fill = fill, .done = done, .what = "the requests"};

/* ---- the table ---- */

static const char *const columns[] = {
	"traces", "errors", "time_ns_incl", "p50_ns", "p99_ns", "max_ns", "slowest", "request"};

static int requests_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct zts_opened *z = (struct zts_opened *)(uintptr_t)rows->table->self;
	const struct requests *q;
	int r = pm_part_get(&z->requests, &requests_part, z, &q, err);
	if (r < 0 || rows->at >= q->texts.n)
		return r;
	const struct request *item = &q->items[rows->at++];
	bool timed = item->slowest != PM_NONE;
	if (timed)
		zts_trace_path(z, &z->survey.traces[item->slowest], rows->scratch);
	cells[0] = pm_cell_u64(item->traces);
	cells[1] = pm_cell_u64(item->errors);
	cells[2] = timed ? zts_sum_cell(item->time_ns) : pm_cell_empty();
	cells[3] = item->times.known ? pm_cell_u64(item->times.p50_ns) : pm_cell_empty();
	cells[4] = item->times.known ? pm_cell_u64(item->times.p99_ns) : pm_cell_empty();
	cells[5] = timed ? pm_cell_u64(item->slowest_ns) : pm_cell_empty();
	cells[6] = zts_scratch_cell(rows, 0, rows->scratch->len);
	cells[7] = pm_cell_text(item->text);
	return 1;
}

struct pm_table zts_requests_table(const struct zts_opened *z)
{
	static const struct pm_table_type type = {.next = requests_next};
	return (struct pm_table){&type, columns, sizeof(columns) / sizeof(*columns), .self = z};
}
