/*
 * requests.csv: traces by what was asked for. Parts of a path that identify one object are replaced
 * by `{n}`, so that all requests of one route are one row.
 */
#include <ctype.h>

#include "formats/common/text.h"
#include "formats/zts/names.h"
#include "formats/zts/zts.h"

/* The attributes that say what was asked for; the first one that a trace has counts. */
static const char *const telling[] = {
	"http.route", "http.target", "url.path", "http.url", "URI", "URL"};
enum { N_TELLING = sizeof(telling) / sizeof(*telling), BETWEEN_QUESTIONS = 4096 };

struct requests {
	struct zts_attributes sums;
	const struct zts_scope *scope;
	struct pm_text text; /* not in the arena: what names a method has texts of its own */
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

static void free_text(void *text)
{
	pm_text_done(text);
}

static void count_all(struct requests *q)
{
	const struct zts_opened *z = q->scope->z;
	const struct zts_survey *v = &z->survey;
	struct pm_arena *arena = q->sums.arena;
	uint32_t names[N_TELLING];
	pm_arena_owns(arena, free_text, &q->text);
	for (size_t i = 0; i < N_TELLING; i++)
		names[i] = pm_strtab_find(&v->attr_names.texts, pm_bytes_of(telling[i]));
	for (uint32_t i = q->scope->first; i < q->scope->end; i++) {
		const struct zts_trace *t = &v->traces[i];
		const struct zts_moment moment = {.trace = i, .error = t->error};
		if (i % BETWEEN_QUESTIONS == 0)
			pm_build_proceed(arena);
		pm_text_clear(&q->text);
		add_request(v, t, zts_texts_of(z, t->store), names, &q->text);
		pm_build_check(arena, pm_text_status(&q->text));
		zts_attributes_add_trace(&q->sums, pm_text_view(&q->text), t->duration_ns, &moment);
	}
	pm_text_done(&q->text);
}

struct again {
	struct requests q;
	const struct pm_strtab *texts;
	const struct pm_durations *found;
};

static void count_wanted(void *again)
{
	struct again *a = again;
	zts_attributes_init(&a->q.sums, a->q.sums.arena);
	zts_attributes_again(&a->q.sums, a->texts, a->found);
	count_all(&a->q);
}

/* Adds the durations of all requests once more: a pm_pass. */
static int count_again(void *context, struct pm_durations *ret)
{
	const struct requests *of = context;
	struct pm_arena arena = {.block = NULL};
	struct again a = {{.sums.arena = &arena, .scope = of->scope}, &of->sums.texts, ret};
	int r = pm_build(&arena, count_wanted, &a);
	if (r == 0)
		r = pm_durations_join(ret, &a.q.sums.durations, NULL);
	pm_arena_done(&arena);
	return r;
}

static void build(struct pm_arena *arena, void *owner, void *part, struct pm_error *err)
{
	struct requests *q = part;
	(void)err;
	q->scope = owner;
	zts_attributes_init(&q->sums, arena);
	count_all(q);
	zts_attributes_end(&q->sums, true, count_again, q);
	q->scope = NULL; /* the part may outlive it */
}

static const struct pm_part_type requests_part = {
	.size = sizeof(struct requests), .build = build, .what = "the requests"};

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
