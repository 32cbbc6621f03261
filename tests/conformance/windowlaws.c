/*
 * Windows, compared with sums over the samples, which are cut off here by a simple independent
 * implementation.
 */
#include "windowlaws.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sheet.h"

/* Sources with more samples take too long for this. */
#define MOST_SAMPLES 300000

struct part {
	uint64_t start, end; /* since the run began */
	bool is_last;
};

/* What a window must have, by context of the run's tree. */
struct sums {
	double *ns, *calls;
	uint64_t rows;
	double all_ns; /* of known contexts */
};

struct checking {
	struct pmfs_instance *in;
	const struct pm_profile *p;
	const char *source;
	const struct pm_tree *tree;
	const struct pm_threads *threads;
	uint64_t origin, run_ns;
	unsigned n_failed;
};

static void fail(struct checking *c, const char *window, const char *what)
{
	if (c->n_failed++ < 20)
		fprintf(stderr, "%s: windows/%s: %s\n", c->source, window, what);
}

static bool sums_init(const struct checking *c, struct sums *s)
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

/* ---- what must be there ---- */

static void add_sample(const struct checking *c, const struct part *part, const struct pm_sample *s,
	struct sums *sums)
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
	if (context == PM_NONE)
		return;
	sums->ns[context] += to > from ? (double)(to - from) : 0;
	sums->all_ns += to > from ? (double)(to - from) : 0;
	sums->calls[context] += begins;
}

static bool add_thread(
	const struct checking *c, const struct part *part, uint32_t thread, struct sums *sums)
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

/* ---- what is there ---- */

static void name_of(const struct part *part, char *out, size_t size)
{
	snprintf(out, size, "%lluns-%lluns", (unsigned long long)part->start,
		(unsigned long long)part->end);
}

/* The window's directory: the canonical name where the one at hand is a link to it. */
static void canonical(struct checking *c, char *name, size_t size)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pm_text target = {.p = NULL};
	struct pmfs_entry e;
	struct pm_doc doc;
	char path[240];
	snprintf(path, sizeof(path), "windows/%s", name);
	if (pmfs_tree_walk(c->in->tree, path, &e, &err) < 0) {
		fail(c, name, "is not there");
		return;
	}
	if (e.type != PMFS_LINK)
		return;
	if (pmfs_tree_document(c->in->tree, e.node, &doc, &err) < 0 ||
		doc.text.render(&doc, &target, &err) < 0)
		fail(c, name, "is a link that cannot be read");
	snprintf(name, size, "%.*s", (int)target.len, target.p);
	pm_text_done(&target);
}

/* A table of a window; `folder` ends with a slash, or is empty. */
static bool read_table(struct checking *c, const char *window, const char *folder, const char *name,
	struct sheet *ret)
{
	char path[1200];
	snprintf(path, sizeof(path), "windows/%s/%s%s", window, folder, name);
	if (sheet_read(c->in, path, ret))
		return true;
	fail(c, window, path);
	return false;
}

/* contexts.csv of a window; adds it to `joined`, which may be NULL. */
static void check_contexts(struct checking *c, const struct sheet *t, const char *window,
	const struct sums *must, struct sums *joined)
{
	bool calls = c->p->traces_are_calls;
	int id = sheet_column(t, "context_id"), n = sheet_column(t, "calls");
	int ns = sheet_column(t, calls ? "time_ns_incl" : "time_ns_excl");
	int own = sheet_column(t, "time_ns_excl");
	double seen = 0, tops = 0;
	if (t->n == 0 && must->all_ns == 0)
		return;
	if (ns == SHEET_NONE || own == SHEET_NONE || (n == SHEET_NONE) == calls) {
		fail(c, window, "contexts.csv lacks its columns");
		return;
	}
	for (size_t i = 0; i < t->n; i++) {
		uint32_t context = pm_tree_find(c->tree, (uint64_t)sheet_at(t, i, id)->number);
		double is = sheet_at(t, i, ns)->number;
		if (context == PM_NONE) {
			fail(c, window, "contexts.csv has a context that the run lacks");
			continue;
		}
		if (is != must->ns[context])
			fail(c, window, "a context's time is not that of the trace");
		if (calls && sheet_at(t, i, n)->number != must->calls[context])
			fail(c, window, "a context's calls are not those of the trace");
		if (joined)
			joined->ns[context] += is;
		seen += is;
		tops += sheet_at(t, i, own)->number;
	}
	if (seen != must->all_ns)
		fail(c, window, "contexts.csv lacks time of the trace");
	if (!calls && tops != must->all_ns)
		fail(c, window, "own times do not add up");
}

static uint64_t check_threads(
	struct checking *c, const char *window, const struct part *part, const struct sums *must)
{
	uint64_t rows = 0;
	struct sheet list;
	if (!read_table(c, window, "", "threads.csv", &list))
		return 0;
	int path = sheet_column(&list, "path"), samples = sheet_column(&list, "samples");
	const int own = sheet_column(&list, "time_ns_excl");
	if (own != SHEET_NONE && !c->p->traces_are_calls && sheet_sum(&list, own) != must->all_ns)
		fail(c, window, "own times of threads do not add up");
	for (size_t i = 0; i < list.n && path != SHEET_NONE; i++) {
		struct pm_bytes text = sheet_at(&list, i, path)->text;
		struct sheet trace;
		char thread[900];
		snprintf(thread, sizeof(thread), "%.*s/", (int)text.len, (const char *)text.p);
		if (!c->threads->threads[i].has_trace)
			continue;
		if (!read_table(c, window, thread, "trace.csv", &trace))
			continue;
		if (trace.n != (size_t)sheet_at(&list, i, samples)->number)
			fail(c, window, "threads.csv and trace.csv differ");
		double begin = (double)part->start, end = (double)part->end;
		for (size_t k = 0; k < trace.n; k++) {
			double at = sheet_at(&trace, k, 0)->number;
			if (at < begin || at + sheet_at(&trace, k, 1)->number > end)
				fail(c, window, "trace.csv goes beyond the window");
		}
		rows += trace.n;
		sheet_done(&trace);
	}
	sheet_done(&list);
	return rows;
}

static void check_part(struct checking *c, const struct part *part, struct sums *joined)
{
	struct sums must;
	struct sheet contexts;
	char window[200];
	if (!sums_init(c, &must)) {
		fail(c, "", "no memory");
		sums_done(&must);
		return;
	}
	name_of(part, window, sizeof(window));
	for (uint32_t i = 0; i < c->threads->n; i++)
		if (c->threads->threads[i].has_trace)
			add_thread(c, part, i, &must);
	canonical(c, window, sizeof(window));
	if (read_table(c, window, "", "contexts.csv", &contexts)) {
		check_contexts(c, &contexts, window, &must, joined);
		sheet_done(&contexts);
	}
	if (c->p->ops->threads && check_threads(c, window, part, &must) != must.rows)
		fail(c, window, "trace.csv has not the rows that lie inside");
	sums_done(&must);
}

/* ---- names ---- */

static void check_names(struct checking *c)
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
			fail(c, absurd[i], "is there");
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
static void check_joined(struct checking *c, uint64_t start, uint64_t middle, uint64_t end)
{
	struct part left = {start, middle, false}, right = {middle, end, end == c->run_ns};
	struct part both = {start, end, end == c->run_ns};
	struct sums joined, all;
	if (!sums_init(c, &joined) || !sums_init(c, &all))
		return;
	check_part(c, &left, &joined);
	check_part(c, &right, &joined);
	check_part(c, &both, &all);
	for (uint32_t i = 0; i < c->tree->n_contexts; i++)
		if (joined.ns[i] != all.ns[i])
			fail(c, "", "windows side by side do not add up");
	sums_done(&joined);
	sums_done(&all);
}

/* methods.csv of the whole run as a window is that of the run, but for time that ran backwards. */
static void check_methods(struct checking *c, const char *window)
{
	static const char *const same[] = {"calls", "errors", "time_ns_min", "time_ns_max",
		"p50_ns", "p90_ns", "p99_ns", "max_ns"};
	struct sheet run, all;
	if (!sheet_read(c->in, "methods.csv", &run))
		return;
	if (!read_table(c, window, "", "methods.csv", &all)) {
		sheet_done(&run);
		return;
	}
	int name = sheet_column(&run, "method");
	if (run.n != all.n)
		fail(c, window, "methods.csv has not the methods of the run");
	for (size_t i = 0; i < run.n; i++) {
		size_t k = 0;
		while (k < all.n &&
			!pm_bytes_equal(
				sheet_at(&run, i, name)->text, sheet_at(&all, k, name)->text))
			k++;
		for (size_t m = 0; k < all.n && m < sizeof(same) / sizeof(*same); m++) {
			const int column = sheet_column(&run, same[m]);
			const struct sheet_cell *must = sheet_at(&run, i, column);
			const struct sheet_cell *is = sheet_at(&all, k, column);
			if (must->number != is->number || must->is_empty != is->is_empty)
				fail(c, window, same[m]);
		}
	}
	sheet_done(&run);
	sheet_done(&all);
}

/* A column of methods.csv. */
struct figure {
	bool known;
	double value;
};

/* A method in one half of the run, in the other, and in the whole. */
struct halved {
	struct figure of[3];
};

static struct figure figure_of(const struct sheet *t, struct pm_bytes method, const char *column)
{
	int name = sheet_column(t, "method"), at = sheet_column(t, column);
	for (size_t i = 0; i < t->n && name != SHEET_NONE && at != SHEET_NONE; i++)
		if (pm_bytes_equal(sheet_at(t, i, name)->text, method))
			return (struct figure){
				!sheet_at(t, i, at)->is_empty, sheet_at(t, i, at)->number};
	return (struct figure){.known = false};
}

/* Does `law` hold: '+' sum, '<' smaller, '>' larger, '-' between the two? */
static bool halves_agree(const struct halved *h, char law)
{
	const struct figure *a = &h->of[0], *b = &h->of[1], *whole = &h->of[2];
	double low = !b->known || (a->known && a->value < b->value) ? a->value : b->value;
	double high = !b->known || (a->known && a->value > b->value) ? a->value : b->value;
	if (law == '+')
		return a->value + b->value == whole->value;
	if (!a->known && !b->known)
		return !whole->known;
	return whole->known &&
		(law == '<'                  ? whole->value == low
				: law == '>' ? whole->value == high
					     : whole->value >= low && whole->value <= high);
}

/* Calls begin in one half or in the other; what is known of them is known of the whole. */
static void check_half_methods(struct checking *c, const struct sheet halves[3])
{
	static const struct {
		const char *column;
		char law;
	} laws[] = {{"calls", '+'}, {"errors", '+'}, {"time_ns_incl", '+'}, {"time_ns_excl", '+'},
		{"time_ns_min", '<'}, {"time_ns_max", '>'}, {"max_ns", '>'}, {"p50_ns", '-'},
		{"p90_ns", '-'}, {"p99_ns", '-'}};
	const struct sheet *whole = &halves[2];
	int name = sheet_column(whole, "method");
	for (size_t i = 0; i < whole->n && name != SHEET_NONE; i++)
		for (size_t k = 0; k < sizeof(laws) / sizeof(*laws); k++) {
			struct halved h;
			for (int half = 0; half < 3; half++)
				h.of[half] = figure_of(&halves[half],
					sheet_at(whole, i, name)->text, laws[k].column);
			if (!halves_agree(&h, laws[k].law))
				fail(c, "methods.csv of two halves", laws[k].column);
		}
}

/*
 * The window of the whole run takes what is known of the run's calls; windows of its halves count
 * theirs one by one.
 */
static void check_halves(struct checking *c)
{
	uint64_t middle = c->run_ns / 2;
	const struct part parts[3] = {
		{0, middle, false}, {middle, c->run_ns, true}, {0, c->run_ns, true}};
	struct sheet halves[3];
	int n = 0;
	for (; n < 3; n++) {
		char name[200];
		name_of(&parts[n], name, sizeof(name));
		canonical(c, name, sizeof(name));
		if (!read_table(c, name, "", "methods.csv", &halves[n]))
			break;
	}
	if (n == 3)
		check_half_methods(c, halves);
	while (n-- > 0)
		sheet_done(&halves[n]);
}

/* Does every call begin while the run lasts? Damaged sources have times of any kind. */
static bool begin_inside(const struct checking *c)
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

/* The window of the whole run has the calls of the run, whose own sums are made in another way. */
static void check_whole(struct checking *c)
{
	struct sheet run, window;
	char name[200];
	name_of(&(struct part){0, c->run_ns, true}, name, sizeof(name));
	canonical(c, name, sizeof(name));
	if (!sheet_read(c->in, "contexts.csv", &run)) {
		fail(c, name, "the run has no contexts.csv");
		return;
	}
	if (read_table(c, name, "", "contexts.csv", &window)) {
		int calls = sheet_column(&run, "calls"), there = sheet_column(&window, "calls");
		double of_run = 0, of_window = 0;
		for (size_t i = 0; i < run.n && calls != SHEET_NONE; i++)
			of_run += sheet_at(&run, i, calls)->number;
		for (size_t i = 0; i < window.n && there != SHEET_NONE; i++)
			of_window += sheet_at(&window, i, there)->number;
		if (of_run != of_window)
			fail(c, name, "the whole run as a window has not the calls of the run");
		check_methods(c, name);
		sheet_done(&window);
	}
	sheet_done(&run);
}

unsigned check_window_laws(struct pmfs_instance *in, const char *source)
{
	struct checking c = {.in = in, .p = in->profile, .source = source};
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_entry e;
	if (pmfs_tree_walk(in->tree, "windows/README.txt", &e, &err) < 0)
		return 0;
	if (c.p->ops->tree(c.p, &c.tree, &err) < 0 ||
		pm_profile_traces(c.p, &c.threads, &err) < 0 ||
		c.p->ops->span(c.p, &c.origin, &c.run_ns, &err) < 0 || c.run_ns == PM_NO_TIME ||
		count_samples(c.threads) > MOST_SAMPLES)
		return 0;
	if (c.run_ns >> 52) /* sums are doubles here */
		return 0;
	check_names(&c);
	if (c.p->traces_are_calls && !c.p->ops->threads && c.run_ns > 0 && begin_inside(&c))
		check_whole(&c);
	if (c.p->traces_are_calls && !c.p->ops->threads && c.run_ns >= 2)
		check_halves(&c);
	uint64_t run = c.run_ns;
	if (run >= 2)
		check_joined(&c, 0, run / 2, run);
	if (run >= 9)
		check_joined(&c, run / 9, run / 9 + 1, run / 9 + run / 3);
	return c.n_failed;
}
