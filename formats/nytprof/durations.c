/*
 * A log has 2 bytes for each call: the ticks, if they are an integer below ELSE, as for all clocks
 * and most calls; otherwise ELSE, followed by the stored double in 8 bytes.
 */
#include "formats/nytprof/nytprof.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
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

static int grow(struct nytp *n, struct nytp_log *log)
{
	size_t room = log->room ? 2 * (size_t)log->room : FIRST_ROOM;
	if (n->log_bytes + room - log->room > NYTP_LIMIT_LOGS) {
		n->logs_full = true;
		return 0;
	}
	uint8_t *p = realloc(log->p, room);
	if (!p)
		return -ENOMEM;
	n->log_bytes += room - log->room;
	log->p = p;
	log->room = (uint32_t)room;
	return 0;
}

/* The log of a name in the current file; NULL if out of memory. */
static struct nytp_log *log_of(struct nytp *n, struct nytp_file *f, uint32_t name)
{
	while (n->log_of_room <= name) {
		size_t before = n->log_of_room;
		if (pm_list_room(&n->log_of, before, &n->log_of_room, sizeof(*n->log_of)) < 0)
			return NULL;
		memset(n->log_of + before, 0, (n->log_of_room - before) * sizeof(*n->log_of));
	}
	if (n->log_of[name])
		return &f->logs[n->log_of[name] - 1];
	if (pm_list_room(&f->logs, f->n_logs, &f->logs_room, sizeof(*f->logs)) < 0)
		return NULL;
	f->logs[f->n_logs] = (struct nytp_log){.name = name};
	n->log_of[name] = (uint32_t)++f->n_logs;
	n->log_bytes += sizeof(*f->logs);
	return &f->logs[f->n_logs - 1];
}

int nytp_log_add(struct nytp *n, struct nytp_file *f, uint32_t name, double ticks)
{
	struct nytp_log *log = log_of(n, f, name);
	if (!log || (log->room - log->len < LONGEST && grow(n, log) < 0))
		return -ENOMEM;
	if (n->logs_full)
		return 0;
	uint16_t whole = ticks >= 0 && ticks < ELSE ? (uint16_t)ticks : ELSE;
	bool is_whole = (double)whole == ticks && whole != ELSE;
	if (!is_whole)
		whole = ELSE;
	memcpy(log->p + log->len, &whole, sizeof(whole));
	log->len += sizeof(whole);
	if (is_whole)
		return 0;
	memcpy(log->p + log->len, &ticks, sizeof(ticks));
	log->len += sizeof(ticks);
	return 0;
}

void nytp_logs_end(struct nytp *n, const struct nytp_file *f)
{
	for (size_t i = 0; i < f->n_logs; i++)
		n->log_of[f->logs[i].name] = 0;
}

void nytp_logs_done(struct nytp *n)
{
	for (size_t i = 0; i < n->n_files; i++)
		nytp_file_logs_done(&n->files[i]);
	n->log_bytes = 0;
}

void nytp_logs_settle(struct nytp *n)
{
	free(n->log_of);
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
static int list_items(
	const struct nytp *n, const struct nytp_model *m, struct item **ret, size_t *ret_n)
{
	size_t count = 0;
	for (size_t i = 0; i < n->n_files; i++)
		count += n->files[i].n_logs;
	struct item *items = malloc((count + 1) * sizeof(*items)), *item = items;
	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < n->n_files; i++) {
		const struct nytp_file *f = &n->files[i];
		for (size_t k = 0; k < f->n_logs; k++) {
			uint32_t name = nytp_sub_of(n, f, f->logs[k].name);
			if (m->function_of[name] != NYTP_NONE)
				*item++ = (struct item){m->function_of[name], f, &f->logs[k]};
		}
	}
	*ret = items;
	*ret_n = (size_t)(item - items);
	return pm_sort(items, *ret_n, sizeof(*items), by_function);
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

static int make_histogram(
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
	if (!buckets)
		return -ENOMEM;
	memcpy(buckets, all, n * sizeof(*buckets));
	ret->buckets = buckets;
	ret->n_buckets = n;
	return 0;
}

/* Handles the function of items[*at], and moves *at to the next function. */
static int times_of(const struct item *items, size_t n, size_t *at, struct nytp_times *times)
{
	struct pm_durations durations = {.n = 0};
	struct logs logs = {.items = items + *at};
	struct pm_call_times *ret = &times->by_function[items[*at].function];
	for (; *at < n && items[*at].function == logs.items[0].function; ++*at)
		logs.n++;
	int r = count_all(&logs, &durations);
	if (r == 0)
		r = pm_percentiles(&durations, ret, 1, count_all, &logs);
	if (r == 0 && ret->known)
		r = make_histogram(&logs, &times->histograms, ret);
	pm_durations_done(&durations);
	return r;
}

static int fill(struct nytp_times *times, const struct item *items, size_t n, size_t n_functions)
{
	size_t at = 0;
	int r = 0;
	while (r == 0 && at < n && times->histograms.total <= PM_LIMIT_DURATIONS)
		r = times_of(items, n, &at, times);
	if (r == 0 && times->histograms.total > PM_LIMIT_DURATIONS) {
		memset(times->by_function, 0, n_functions * sizeof(*times->by_function));
		pm_arena_done(&times->histograms);
	}
	return r;
}

int nytp_times_build(const struct nytp *n, const struct nytp_model *m, struct nytp_times *ret)
{
	struct item *items = NULL;
	size_t n_items = 0, n_functions = m->tree->n_functions;
	*ret = (struct nytp_times){calloc(n_functions + 1, sizeof(*ret->by_function))};
	int r = ret->by_function ? 0 : -ENOMEM;
	if (r == 0 && !n->logs_full)
		r = list_items(n, m, &items, &n_items);
	if (r == 0)
		r = fill(ret, items, n_items, n_functions);
	free(items);
	if (r < 0)
		nytp_times_done(ret);
	return r;
}

void nytp_times_done(struct nytp_times *times)
{
	free(times->by_function);
	pm_arena_done(&times->histograms);
	*times = (struct nytp_times){NULL};
}
