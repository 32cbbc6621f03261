/*
 * requests.csv: traces by what was asked for. Parts of a path that identify one object are replaced
 * by `{n}`, so that all requests of one route are one row.
 */
#include <ctype.h>
#include <errno.h>

#include "formats/common/text.h"
#include "formats/common/work.h"
#include "formats/zts/cells.h"
#include "formats/zts/names.h"
#include "formats/zts/parts.h"

/* The attributes that say what was asked for; the first one that a trace has counts. */
static const char *const telling[] = {
	"http.route", "http.target", "url.path", "http.url", "URI", "URL"};
enum { N_TELLING = sizeof(telling) / sizeof(*telling), BETWEEN_QUESTIONS = 4096 };

struct requests {
	struct pm_arena arena;
	struct zts_attributes sums;
};

/* For a pass over all requests. */
struct again {
	const struct zts_scope *scope;
	const struct requests *of;
};

/* ---- what was asked for ---- */

static bool is_uuid(struct pm_bytes s)
{
	enum { UUID = 36 };
	if (s.len != UUID)
		return false;
	for (size_t i = 0; i < UUID; i++)
		if (i == 8 || i == 13 || i == 18 || i == 23 ? s.p[i] != '-' : !isxdigit(s.p[i]))
			return false;
	return true;
}

/* A number, a UUID, or at least 8 hexadecimal digits. */
static bool is_of_one_object(struct pm_bytes segment)
{
	size_t digits = 0, hex = 0;
	while (digits < segment.len && isdigit(segment.p[digits]))
		digits++;
	while (hex < segment.len && isxdigit(segment.p[hex]))
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

static int count_all(struct requests *q, const struct zts_scope *scope, struct pm_error *err)
{
	const struct zts_survey *v = &scope->z->survey;
	uint32_t names[N_TELLING];
	struct pm_text text = {.p = NULL};
	int r = 0;
	for (size_t i = 0; i < N_TELLING; i++)
		names[i] = pm_strtab_find(&v->attr_names.texts, pm_bytes_of(telling[i]));
	for (uint32_t i = scope->first; i < scope->end && r == 0; i++) {
		const struct zts_trace *t = &v->traces[i];
		const struct zts_texts *texts;
		if (i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled())
			r = PM_CANCELLED;
		else if ((r = zts_store_texts(&scope->z->stores.items[t->store], &texts, err)) ==
			0) {
			pm_text_clear(&text);
			add_request(v, t, texts, names, &text);
			const struct zts_moment moment = {.trace = i, .error = t->error};
			r = text.failed ? -ENOMEM
					: zts_attributes_add_trace(&q->sums, pm_text_view(&text),
						  t->duration_ns, &moment, &q->arena);
		}
	}
	pm_text_done(&text);
	return r;
}

static void done(void *part)
{
	struct requests *q = part;
	zts_attributes_done(&q->sums);
	pm_arena_done(&q->arena);
}

/* Adds the durations of all requests once more: a pm_pass. */
static int count_again(void *context, struct pm_durations *ret)
{
	const struct again *a = context;
	struct requests q = {.arena = {.block = NULL}};
	int r = zts_attributes_again(&q.sums, &a->of->sums.texts, ret, &q.arena);
	if (r == 0)
		r = count_all(&q, a->scope, NULL);
	if (r == 0)
		r = pm_durations_join(ret, &q.sums.durations, NULL);
	done(&q);
	return r;
}

static int fill(void *owner, void *part, struct pm_error *err)
{
	struct again again = {.scope = owner, .of = part};
	struct requests *q = part;
	int r = count_all(q, again.scope, err);
	return r < 0 ? r : zts_attributes_end(&q->sums, true, count_again, &again);
}

static const struct pm_part_type requests_part = {
	.size = sizeof(struct requests), .fill = fill, .done = done, .what = "the requests"};

/* ---- the table ---- */

static const char *const columns[] = {
	"traces", "errors", "time_ns_incl", "p50_ns", "p99_ns", "max_ns", "slowest", "request"};

static int requests_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct zts_scope *scope;
	const struct requests *q;
	int r = zts_scope_of(rows->table->self, rows->table->a, &scope, err);
	if (r == 0)
		r = pm_part_get(scope->requests, &requests_part, (void *)(uintptr_t)scope, &q, err);
	if (r < 0 || rows->at >= q->sums.texts.n)
		return r;
	const struct zts_attr_sums *sums = &q->sums.items[rows->at++];
	cells[0] = pm_cell_u64(sums->traces);
	cells[1] = pm_cell_u64(sums->trace_errors);
	*zts_put_times(scope->z, sums, rows, &cells[2]) = pm_cell_text(sums->value);
	return 1;
}

struct pm_table zts_requests_table(const void *self, enum zts_of of)
{
	static const struct pm_table_type type = {.next = requests_next};
	return (struct pm_table){
		&type, columns, sizeof(columns) / sizeof(*columns), .self = self, .a = of};
}
