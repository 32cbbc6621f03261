/*
 * Percentiles, histograms and the longest calls are computed from the same calls in different ways.
 * Traces have calls in pre-order.
 */
#include "calllaws.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/list.h"
#include "sheet.h"

/* Functions beyond these take too long for this. */
enum { MOST_FUNCTIONS = 300 };

struct checking {
	struct pmfs_instance *in;
	const char *source;
	struct sheet functions;
	size_t row; /* the function at hand */
	char directory[PMFS_NAME_SIZE + 1];
	uint64_t n_unended; /* calls of all functions; these are in no histogram */
	unsigned n_failed;
};

static void fail(struct checking *c, const char *what)
{
	if (c->n_failed++ < 20)
		fprintf(stderr, "%s: %s: %s\n", c->source, c->directory, what);
}

/* NULL: there is no such column, or the cell is empty. */
static const struct sheet_cell *cell_of(const struct checking *c, const char *column)
{
	int at = sheet_column(&c->functions, column);
	const struct sheet_cell *cell =
		at == SHEET_NONE ? NULL : sheet_at(&c->functions, c->row, at);
	return cell && !cell->is_empty ? cell : NULL;
}

enum { FROM, TO, CALLS, NS };

static void check_buckets(struct checking *c, const struct sheet *t)
{
	for (size_t i = 0; i < t->n; i++) {
		double from = sheet_at(t, i, FROM)->number, to = sheet_at(t, i, TO)->number;
		double calls = sheet_at(t, i, CALLS)->number, ns = sheet_at(t, i, NS)->number;
		bool is_open = sheet_at(t, i, TO)->is_empty;
		if (i > 0 && sheet_at(t, i - 1, TO)->number != from)
			fail(c, "a bucket does not begin where the one before it ends");
		if (ns < from * calls || (!is_open && calls > 0 && ns >= to * calls))
			fail(c, "the mean of a bucket's calls lies outside of it");
	}
	if (t->n > 0 &&
		(sheet_at(t, 0, CALLS)->number == 0 || sheet_at(t, t->n - 1, CALLS)->number == 0))
		fail(c, "there are empty buckets at an end");
}

/* The bucket in which that share of the calls is reached has the percentile. */
static void check_percentile(
	struct checking *c, const struct sheet *t, const char *column, double share)
{
	const struct sheet_cell *cell = cell_of(c, column);
	double calls = sheet_sum(t, CALLS), before = 0;
	size_t i = 0;
	if (!cell || t->n == 0)
		return;
	while (i + 1 < t->n && (before + sheet_at(t, i, CALLS)->number) * 100 < calls * share)
		before += sheet_at(t, i++, CALLS)->number;
	if (cell->number < sheet_at(t, i, FROM)->number ||
		(!sheet_at(t, i, TO)->is_empty && cell->number >= sheet_at(t, i, TO)->number))
		fail(c, column);
}

static void check_histogram(struct checking *c, const struct sheet *t)
{
	const struct sheet_cell *calls = cell_of(c, "calls"), *max = cell_of(c, "max_ns");
	double missing = max && calls ? calls->number - sheet_sum(t, CALLS) : 0;
	check_buckets(c, t);
	check_percentile(c, t, "p50_ns", 50);
	check_percentile(c, t, "p90_ns", 90);
	check_percentile(c, t, "p99_ns", 99);
	check_percentile(c, t, "max_ns", 100);
	if (max && t->n == 0)
		fail(c, "there are percentiles of no calls");
	if (missing < 0 || missing > (double)c->n_unended)
		fail(c, "the calls of histogram.csv are not those of functions.csv");
}

static void check_slowest(struct checking *c, const struct sheet *histogram, const struct sheet *t)
{
	const struct sheet_cell *max = cell_of(c, "max_ns");
	const int duration = sheet_column(t, "duration_ns");
	double calls = sheet_sum(histogram, CALLS);
	if ((double)t->n != (calls < 100 ? calls : 100))
		fail(c, "slowest.csv has not 100 calls, or all");
	if (max && t->n > 0 && sheet_at(t, 0, duration)->number != max->number)
		fail(c, "the first of slowest.csv does not take max_ns");
	for (size_t i = 1; i < t->n; i++)
		if (sheet_at(t, i, duration)->number > sheet_at(t, i - 1, duration)->number)
			fail(c, "slowest.csv is not in order");
}

static void check_function(struct checking *c)
{
	struct sheet histogram, slowest;
	char path[PMFS_NAME_SIZE + 40];
	snprintf(path, sizeof(path), "functions/%s/histogram.csv", c->directory);
	if (!sheet_read(c->in, path, &histogram)) {
		if (cell_of(c, "max_ns"))
			fail(c, "there are percentiles and no histogram.csv");
		return;
	}
	check_histogram(c, &histogram);
	snprintf(path, sizeof(path), "functions/%s/slowest.csv", c->directory);
	if (sheet_read(c->in, path, &slowest)) {
		check_slowest(c, &histogram, &slowest);
		sheet_done(&slowest);
	}
	sheet_done(&histogram);
}

static uint64_t count_unended(const struct pm_profile *p)
{
	const struct pm_threads *threads;
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pm_sample batch[512];
	uint64_t count = 0, at = 0;
	int64_t n;
	if (!p->traces_are_calls || pm_profile_traces(p, &threads, &err) < 0)
		return 0;
	for (uint32_t i = 0; i < threads->n; i++, at = 0)
		while (threads->threads[i].has_trace &&
			(n = p->ops->samples(p, i, at, batch, 512, &err)) > 0) {
			for (int64_t k = 0; k < n; k++)
				count += batch[k].duration_ns == PM_NO_TIME;
			at += (uint64_t)n;
		}
	return count;
}

/* ---- their order ---- */

/* The contexts of the calls that are open at some call, outermost first. */
struct open_calls {
	const struct pm_tree *tree;
	uint32_t *items;
	size_t n, room;
};

/* In pre-order, the caller of a call is one of those that were open at the one before it. */
static bool opens_in_order(struct open_calls *open, uint64_t number)
{
	uint32_t context = pm_tree_find(open->tree, number);
	if (context == PM_NONE)
		return true;
	while (open->n > 0 && open->items[open->n - 1] != open->tree->parent[context])
		open->n--;
	if (open->n == 0 && open->tree->parent[context] != PM_NONE)
		return false;
	if (pm_list_room(&open->items, open->n, &open->room, sizeof(*open->items)) == 0)
		open->items[open->n++] = context;
	return true;
}

static void check_order(struct checking *c, const struct pm_tree *tree, uint32_t thread)
{
	const struct pm_profile *p = c->in->profile;
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct open_calls open = {.tree = tree};
	struct pm_sample batch[512];
	uint64_t at = 0;
	int64_t n;
	while ((n = p->ops->samples(p, thread, at, batch, 512, &err)) > 0) {
		for (int64_t i = 0; i < n; i++)
			if (!opens_in_order(&open, batch[i].context))
				fail(c, "a call does not come behind its caller");
		at += (uint64_t)n;
	}
	free(open.items);
}

static void check_orders(struct checking *c)
{
	const struct pm_profile *p = c->in->profile;
	const struct pm_threads *threads;
	const struct pm_tree *tree;
	struct pm_error err = {.offset = PM_NO_OFFSET};
	if (!p->traces_are_calls || pm_profile_traces(p, &threads, &err) < 0 ||
		pm_profile_tree(p, &tree, &err) < 0)
		return;
	for (uint32_t i = 0; i < threads->n; i++)
		if (threads->threads[i].has_trace)
			check_order(c, tree, i);
}

unsigned check_call_laws(struct pmfs_instance *in, const char *source)
{
	struct checking c = {.in = in, .source = source};
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_entry directory, entry;
	uint64_t cookie = 0;
	check_orders(&c);
	if (pmfs_tree_walk(in->tree, "functions", &directory, &err) < 0 ||
		!sheet_read(in, "functions.csv", &c.functions))
		return c.n_failed;
	c.n_unended = count_unended(in->profile);
	/* functions/ is in the order of functions.csv. */
	for (; c.row < c.functions.n && c.row < MOST_FUNCTIONS; c.row++) {
		if (pmfs_tree_next(in->tree, directory.node, &cookie, &entry, &err) <= 0)
			break;
		memcpy(c.directory, entry.name, entry.len);
		c.directory[entry.len] = '\0';
		check_function(&c);
	}
	sheet_done(&c.functions);
	return c.n_failed;
}
