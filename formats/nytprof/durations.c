/*
 * A log has 2 bytes for each call: the ticks, if they are an integer below ELSE, as for all clocks
 * and most calls; otherwise ELSE, followed by the stored double in 8 bytes.
 */
#include "formats/nytprof/nytprof.h"

#include <math.h>
#include <string.h>

#include "formats/common/buckets.h"
#include "formats/common/list.h"
#include "formats/common/percentiles.h"
#include "formats/common/sort.h"
#include "formats/common/work.h"
#include "formats/nytprof/limits.h"
#include "profmount/limits.h"

enum { ELSE = 0xffff, LONGEST = 10 /* bytes of a call */, FIRST_ROOM = 16, TOGETHER = 1024 };

/* ---- writing ---- */

static void grow(struct nytp *n, struct nytp_log *log)
{
	size_t room = log->room ? 2 * (size_t)log->room : FIRST_ROOM;
	if (n->log_bytes + room - log->room > NYTP_LIMIT_LOGS) {
		n->logs_full = true;
		return;
	}
	log->p = pm_arena_realloc(&n->logs, log->p, room);
	n->log_bytes += room - log->room;
	log->room = (uint32_t)room;
}

/* The log of a name in the current file. */
static struct nytp_log *log_of(struct nytp *n, struct nytp_file *f, uint32_t name)
{
	while (n->log_of_room <= name) {
		size_t before = n->log_of_room;
		pm_list_grow(&n->logs, &n->log_of, before, &n->log_of_room, sizeof(*n->log_of));
		memset(n->log_of + before, 0, (n->log_of_room - before) * sizeof(*n->log_of));
	}
	if (n->log_of[name])
		return &f->logs[n->log_of[name] - 1];
	pm_list_grow(&n->logs, &f->logs, f->n_logs, &f->logs_room, sizeof(*f->logs));
	f->logs[f->n_logs] = (struct nytp_log){.name = name};
	n->log_of[name] = (uint32_t)++f->n_logs;
	n->log_bytes += sizeof(*f->logs);
	return &f->logs[f->n_logs - 1];
}

void nytp_log_add(struct nytp *n, struct nytp_file *f, uint32_t name, double ticks)
{
	struct nytp_log *log = log_of(n, f, name);
	if (log->room - log->len < LONGEST)
		grow(n, log);
	if (n->logs_full)
		return;
	uint16_t whole = ticks >= 0 && ticks < ELSE ? (uint16_t)ticks : ELSE;
	bool is_whole = (double)whole == ticks && whole != ELSE;
	if (!is_whole)
		whole = ELSE;
	memcpy(log->p + log->len, &whole, sizeof(whole));
	log->len += sizeof(whole);
	if (is_whole)
		return;
	memcpy(log->p + log->len, &ticks, sizeof(ticks));
	log->len += sizeof(ticks);
}

void nytp_logs_end(struct nytp *n, const struct nytp_file *f)
{
	for (size_t i = 0; i < f->n_logs; i++)
		n->log_of[f->logs[i].name] = 0;
}

void nytp_logs_done(struct nytp *n)
{
	for (size_t i = 0; i < n->n_files; i++) {
		n->files[i].logs = NULL;
		n->files[i].n_logs = n->files[i].logs_room = 0;
	}
	pm_arena_done(&n->logs);
	n->log_of = NULL;
	n->log_bytes = n->log_of_room = 0;
}

void nytp_logs_settle(struct nytp *n)
{
	pm_arena_free(&n->logs, n->log_of);
	n->log_of = NULL;
	n->log_of_room = 0;
	if (n->logs_full)
		nytp_logs_done(n);
}

/* ---- reading ---- */

static const uint8_t *take(const uint8_t *p, double *ret_ticks)
{
	uint16_t whole;
	memcpy(&whole, p, sizeof(whole));
	*ret_ticks = whole;
	if (whole != ELSE)
		return p + sizeof(whole);
	memcpy(ret_ticks, p + sizeof(whole), sizeof(*ret_ticks));
	return p + LONGEST;
}

/* The duration of a call during which the clock was set back counts as 0. */
static uint64_t ns_of(double ticks, double ns_per_tick)
{
	double ns = ticks < 0 ? 0 : round(ticks * ns_per_tick);
	return ns < (double)INT64_MAX ? (uint64_t)ns : PM_NO_TIME;
}

static int count(struct pm_durations *d, const struct nytp_log *log, double ns_per_tick)
{
	struct pm_duration calls[TOGETHER];
	const uint8_t *p = log->p, *end = p + log->len;
	int r = 0;
	while (p < end && r == 0) {
		size_t n = 0;
		for (; p < end && n < TOGETHER; n++) {
			double ticks;
			p = take(p, &ticks);
			calls[n] = (struct pm_duration){ns_of(ticks, ns_per_tick), 0};
		}
		r = pm_work_cancelled() ? PM_CANCELLED : pm_durations_add_all(d, calls, n);
	}
	return r;
}

/* ---- by function ---- */

struct item {
	uint32_t function;
	const struct nytp_file *file;
	const struct nytp_log *log;
};

static int by_function(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	return (x->function > y->function) - (x->function < y->function);
}

/* Evals of one place are one function, and processes have functions in common. */
static struct item *list_items(
	struct pm_arena *a, const struct nytp *n, const struct nytp_model *m, size_t *ret_n)
{
	struct item *items = NULL;
	size_t room = 0;
	*ret_n = 0;
	for (size_t i = 0; i < n->n_files; i++) {
		const struct nytp_file *f = &n->files[i];
		for (size_t k = 0; k < f->n_logs; k++) {
			uint32_t function = m->function_of[nytp_sub_of(n, f, f->logs[k].name)];
			if (function == NYTP_NONE)
				continue;
			pm_list_grow(a, &items, *ret_n, &room, sizeof(*items));
			items[(*ret_n)++] = (struct item){function, f, &f->logs[k]};
		}
	}
	pm_build_check(a, pm_sort(items, *ret_n, sizeof(*items), by_function));
	return items;
}

/* The logs of a function. */
struct logs {
	const struct item *items;
	size_t n;
};

/* Adds the durations of all calls: a pm_pass. */
static int count_all(void *context, struct pm_durations *ret)
{
	const struct logs *logs = context;
	int r = 0;
	for (size_t i = 0; r == 0 && i < logs->n; i++)
		r = count(ret, logs->items[i].log, logs->items[i].file->ns_per_tick);
	return r;
}

/* The calls by bucket: PM_BUCKETS of them. */
static void fill_buckets(const struct logs *logs, struct pm_call_bucket *ret)
{
	for (size_t i = 0; i < logs->n; i++) {
		const struct nytp_log *log = logs->items[i].log;
		const uint8_t *p = log->p, *end = p + log->len;
		while (p < end) {
			double ticks;
			p = take(p, &ticks);
			uint64_t ns = ns_of(ticks, logs->items[i].file->ns_per_tick);
			struct pm_call_bucket *bucket = &ret[pm_bucket_of(ns)];
			bucket->calls++;
			bucket->ns += ns;
		}
	}
}

static void make_histogram(
	const struct logs *logs, struct pm_arena *arena, struct pm_call_times *ret)
{
	struct pm_call_bucket all[PM_BUCKETS] = {{.calls = 0}};
	uint32_t n = 0;
	fill_buckets(logs, all);
	for (uint32_t i = 0; i < PM_BUCKETS; i++)
		if (all[i].calls) {
			all[n] = all[i];
			all[n++].index = i;
		}
	struct pm_call_bucket *buckets = pm_arena_array(arena, n, sizeof(*buckets));
	memcpy(buckets, all, n * sizeof(*buckets));
	ret->buckets = buckets;
	ret->n_buckets = n;
}

static void end_durations(void *durations)
{
	pm_durations_done(durations);
}

struct pm_call_times *nytp_times_build(
	struct pm_arena *a, const struct nytp *n, const struct nytp_model *m)
{
	size_t n_items = 0, n_functions = m->tree->n_functions;
	struct pm_arena *scratch = pm_arena_scratch(a), *histograms = pm_arena_scratch(a);
	struct pm_durations *durations = pm_arena_alloc(scratch, sizeof(*durations));
	const struct item *items = n->logs_full ? NULL : list_items(scratch, n, m, &n_items);
	struct pm_call_times *ret = pm_arena_array(a, n_functions, sizeof(*ret));
	pm_arena_owns(scratch, end_durations, durations);
	for (size_t at = 0; at < n_items && histograms->total <= PM_LIMIT_DURATIONS;) {
		struct logs logs = {.items = items + at};
		struct pm_call_times *times = &ret[items[at].function];
		for (; at < n_items && items[at].function == logs.items[0].function; at++)
			logs.n++;
		pm_build_check(a, count_all(&logs, durations));
		pm_build_check(a, pm_percentiles(durations, times, 1, count_all, &logs));
		if (times->known)
			make_histogram(&logs, histograms, times);
		pm_durations_done(durations);
	}
	if (histograms->total > PM_LIMIT_DURATIONS) {
		memset(ret, 0, n_functions * sizeof(*ret));
		pm_arena_done(histograms);
	}
	pm_arena_done(scratch);
	return ret;
}
