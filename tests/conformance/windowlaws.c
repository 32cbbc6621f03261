/*
 * Windows, compared with sums over the samples, which are cut off here by a simple independent
 * implementation.
 */
#include "windowlaws.h"

#include <stdio.h>
#include <stdlib.h>

#include "windowcheck.h"

/* Sources with more samples take too long for this. */
#define MOST_SAMPLES 300000

/* What a window must have, by context of the run's tree; behind them, where nothing runs. */
struct sums {
	double *ns, *calls;
	uint64_t rows;
	double all_ns; /* of known contexts */
};

static bool sums_init(const struct window_check *c, struct sums *s)
{
	*s = (struct sums){.ns = calloc((size_t)c->tree->n_contexts + 1, sizeof(double)),
		.calls = calloc((size_t)c->tree->n_contexts + 1, sizeof(double))};
	return s->ns && s->calls;
}

static void sums_done(struct sums *s)
{
	free(s->ns);
	free(s->calls);
}

/* Windows have a context where nothing runs if the run's tree can say so. */
static bool can_be_idle(const struct window_check *c)
{
	for (uint32_t i = 0; i < c->tree->n_frames && !c->p->traces_are_calls; i++)
		if (c->tree->frames[i].is_nothing)
			return true;
	return false;
}

/* ---- what must be there ---- */

static void add_sample(const struct window_check *c, const struct window_part *part,
	const struct pm_sample *s, struct sums *sums)
{
	__int128 begin = (__int128)s->time_ns - c->origin, end = begin;
	if (s->duration_ns != PM_NO_TIME)
		end += s->duration_ns;
	__int128 from = begin > part->start ? begin : part->start;
	__int128 to = end < part->end ? end : part->end;
	bool begins = begin >= part->start &&
		(begin < part->end || (part->is_last && begin == part->end));
	if (!begins && to <= from)
		return;
	sums->rows++;
	uint32_t context = s->context ? pm_tree_find(c->tree, s->context) : PM_NONE;
	double ns = to > from ? (double)(to - from) : 0;
	bool idle = s->context == 0 ||
		(context != PM_NONE && pm_tree_frame(c->tree, context)->is_nothing);
	if (idle && can_be_idle(c)) {
		sums->ns[c->tree->n_contexts] += ns;
		sums->all_ns += ns;
	}
	if (context == PM_NONE || idle)
		return;
	sums->ns[context] += ns;
	sums->all_ns += ns;
	sums->calls[context] += begins;
	if (!s->within)
		return;
	uint32_t around = pm_tree_find(c->tree, s->within);
	while ((context = c->tree->parent[context]) != around && context != PM_NONE) {
		sums->ns[context] += ns;
		sums->all_ns += ns;
	}
}

static bool add_thread(const struct window_check *c, const struct window_part *part,
	uint32_t thread, struct sums *sums)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pm_sample batch[512];
	uint64_t at = 0;
	int64_t n;
	while ((n = c->p->ops->samples(c->p, thread, at, batch, 512, &err)) > 0) {
		for (int64_t i = 0; i < n; i++)
			add_sample(c, part, &batch[i], sums);
		at += (uint64_t)n;
	}
	return n == 0;
}

/* ---- a window ---- */

/* Of processors, GPUs, work in flight, and samples beside calls, in a row (SIZE_MAX: in all). */
static double times_of(const struct sheet *t, size_t row, bool incl)
{
	static const char *const columns[2][4] = {
		{"time_ns_excl", "gpu_ns_excl", "async_ns_excl", "sampled_ns_excl"},
		{"time_ns_incl", "gpu_ns_incl", "async_ns_incl", "sampled_ns_incl"}};
	double sum = 0;
	for (unsigned i = 0; i < 4; i++) {
		int column = sheet_column(t, columns[incl][i]);
		if (column != SHEET_NONE)
			sum += row == SIZE_MAX ? sheet_sum(t, column)
					       : sheet_at(t, row, column)->number;
	}
	return sum;
}

/* contexts.csv of a window; adds it to `joined`, which may be NULL. */
static void check_contexts(struct window_check *c, const struct sheet *t, const char *window,
	const struct sums *must, struct sums *joined)
{
	bool calls = c->p->traces_are_calls;
	int id = sheet_column(t, "context_id"), n = sheet_column(t, "calls");
	int own = sheet_column(t, "time_ns_excl");
	double seen = 0, tops = 0;
	if (own != 3) /* behind context_id, parent_id, depth */
		window_fail(c, window, "time does not lead in contexts.csv");
	if (t->n == 0 && must->all_ns == 0)
		return;
	if (own == SHEET_NONE || (n == SHEET_NONE) == calls) {
		window_fail(c, window, "contexts.csv lacks its columns");
		return;
	}
	for (size_t i = 0; i < t->n; i++) {
		uint64_t number = (uint64_t)sheet_at(t, i, id)->number;
		uint32_t context = number == 0 && can_be_idle(c) ? c->tree->n_contexts
								 : pm_tree_find(c->tree, number);
		double is = times_of(t, i, calls);
		if (context == PM_NONE) {
			window_fail(c, window, "contexts.csv has a context that the run lacks");
			continue;
		}
		if (is != must->ns[context])
			window_fail(c, window, "a context's time is not that of the trace");
		if (calls && sheet_at(t, i, n)->number != must->calls[context])
			window_fail(c, window, "a context's calls are not those of the trace");
		if (joined)
			joined->ns[context] += is;
		seen += is;
		tops += times_of(t, i, false);
	}
	if (seen != must->all_ns)
		window_fail(c, window, "contexts.csv lacks time of the trace");
	if (!calls && tops != must->all_ns)
		window_fail(c, window, "own times do not add up");
}

/*
 * trace.csv of a thread that has `samples` rows in a window. One that cannot be read cannot be read
 * in windows.
 */
static uint64_t check_trace(struct window_check *c, const char *window,
	const struct window_part *part, struct pm_bytes thread, double samples)
{
	struct sheet trace, of_run;
	char path[1200], folder[900];
	uint64_t rows = 0;
	snprintf(folder, sizeof(folder), "%.*s/", (int)thread.len, (const char *)thread.p);
	snprintf(path, sizeof(path), "%.*s/trace.csv", (int)thread.len, (const char *)thread.p);
	if (!sheet_read(c->in, path, &of_run)) {
		snprintf(path, sizeof(path), "windows/%s/%strace.csv", window, folder);
		if (sheet_read(c->in, path, &trace)) {
			window_fail(c, window, "has a trace that cannot be read");
			sheet_done(&trace);
		}
		return 0;
	}
	if (window_table(c, window, folder, "trace.csv", &trace)) {
		if (trace.n != (size_t)samples)
			window_fail(c, window, "threads.csv and trace.csv differ");
		check_window_rows(c, window, part, &of_run, &trace);
		rows = trace.n;
		sheet_done(&trace);
	}
	sheet_done(&of_run);
	return rows;
}

static uint64_t check_threads(struct window_check *c, const char *window,
	const struct window_part *part, const struct sums *must)
{
	uint64_t rows = 0;
	struct sheet list;
	if (!window_table(c, window, "", "threads.csv", &list))
		return 0;
	int path = sheet_column(&list, "path"), samples = sheet_column(&list, "samples");
	const int own = sheet_column(&list, "time_ns_excl");
	if (own != SHEET_NONE && !c->p->traces_are_calls &&
		times_of(&list, SIZE_MAX, false) != must->all_ns)
		window_fail(c, window, "own times of threads do not add up");
	for (size_t i = 0; i < list.n && path != SHEET_NONE; i++)
		if (c->threads->threads[i].has_trace)
			rows += check_trace(c, window, part, sheet_at(&list, i, path)->text,
				sheet_at(&list, i, samples)->number);
	sheet_done(&list);
	return rows;
}

static void check_part(struct window_check *c, const struct window_part *part, struct sums *joined)
{
	struct sums must;
	struct sheet contexts;
	char window[200];
	if (!sums_init(c, &must)) {
		window_fail(c, "", "no memory");
		sums_done(&must);
		return;
	}
	window_name(part, window, sizeof(window));
	for (uint32_t i = 0; i < c->threads->n; i++)
		if (c->threads->threads[i].has_trace)
			add_thread(c, part, i, &must);
	window_canonical(c, window, sizeof(window));
	if (window_table(c, window, "", "contexts.csv", &contexts)) {
		check_contexts(c, &contexts, window, &must, joined);
		sheet_done(&contexts);
	}
	if (pm_profile_has(c->p, threads) && check_threads(c, window, part, &must) != must.rows)
		window_fail(c, window, "trace.csv has not the rows that lie inside");
	sums_done(&must);
}

/* ---- all ---- */

static void check_names(struct window_check *c)
{
	static const char *const absurd[] = {"", "-", "1s", "2s-1s", "5ns-5ns", "1s-2", "a-b", "--",
		"-1s-2s", "0.0000000001s-1s", "1e3ns-2s", "18446744073709551616ns-", "0-99999999s",
		"1s-2s-3s", "+1ns-2ns", " 0-1ns", "1.ns-2ns"};
	struct pmfs_entry e;
	char path[200];
	for (size_t i = 2; i < sizeof(absurd) / sizeof(*absurd); i++) {
		struct pm_error err = {.offset = PM_NO_OFFSET};
		snprintf(path, sizeof(path), "windows/%s", absurd[i]);
		if (pmfs_tree_walk(c->in->tree, path, &e, &err) != -ENOENT)
			window_fail(c, absurd[i], "is there");
	}
}

static uint64_t count_samples(const struct pm_threads *threads)
{
	uint64_t n = 0;
	for (uint32_t i = 0; i < threads->n; i++)
		n += threads->threads[i].has_trace ? threads->threads[i].n_samples : 0;
	return n;
}

/* Two windows side by side, and the one that joins them. */
static void check_joined(struct window_check *c, uint64_t start, uint64_t middle, uint64_t end)
{
	struct window_part left = {start, middle, false}, right = {middle, end, end == c->run_ns};
	struct window_part both = {start, end, end == c->run_ns};
	struct sums joined, all;
	if (!sums_init(c, &joined) || !sums_init(c, &all))
		return;
	check_part(c, &left, &joined);
	check_part(c, &right, &joined);
	check_part(c, &both, &all);
	for (uint32_t i = 0; i < c->tree->n_contexts; i++)
		if (joined.ns[i] != all.ns[i])
			window_fail(c, "", "windows side by side do not add up");
	sums_done(&joined);
	sums_done(&all);
}

/* Does every call begin while the run lasts? Damaged sources have times of any kind. */
static bool begin_inside(const struct window_check *c)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pm_sample batch[512];
	for (uint32_t i = 0; i < c->threads->n; i++) {
		uint64_t at = 0;
		int64_t n = 0;
		while (c->threads->threads[i].has_trace &&
			(n = c->p->ops->samples(c->p, i, at, batch, 512, &err)) > 0) {
			for (int64_t k = 0; k < n; k++)
				if (batch[k].time_ns - c->origin > c->run_ns)
					return false;
			at += (uint64_t)n;
		}
		if (n < 0)
			return false;
	}
	return true;
}

unsigned check_window_laws(struct pmfs_instance *in, const char *source)
{
	struct window_check c = {.in = in, .p = in->profile, .source = source};
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_entry e;
	if (pmfs_tree_walk(in->tree, "windows/README.txt", &e, &err) < 0)
		return 0;
	if (pm_profile_tree(c.p, &c.tree, &err) < 0 ||
		pm_profile_traces(c.p, &c.threads, &err) < 0 ||
		pm_profile_span(c.p, &c.origin, &c.run_ns, &err) < 0 || c.run_ns == PM_NO_TIME ||
		count_samples(c.threads) > MOST_SAMPLES)
		return 0;
	if (c.run_ns >> 52) /* sums are doubles here */
		return 0;
	check_names(&c);
	if (c.p->samples_are_weighed) {
		if (c.run_ns >= 3)
			check_window_instants(&c);
		return c.n_failed;
	}
	if (c.p->ops->amounts && c.p->n_events > 0 && c.run_ns >= 3 && begin_inside(&c))
		check_window_numbers(&c);
	if (c.p->traces_are_calls && !pm_profile_has(c.p, threads) && c.run_ns > 0 &&
		begin_inside(&c))
		check_window_whole(&c);
	if (c.p->traces_are_calls && !pm_profile_has(c.p, threads) && c.run_ns >= 2)
		check_window_halves(&c);
	uint64_t run = c.run_ns;
	if (run >= 2)
		check_joined(&c, 0, run / 2, run);
	if (run >= 9)
		check_joined(&c, run / 9, run / 9 + 1, run / 9 + run / 3);
	return c.n_failed;
}
