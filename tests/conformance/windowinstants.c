/*
 * The laws of windows over samples that are instants with a weight: costs are sums of weights, so
 * windows side by side have what the run has, column by column.
 */
#include "windowcheck.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Columns of costs: `QUANTITY_excl` and `QUANTITY_incl`. Times are parts of calls in windows. */
static bool is_cost(const char *column)
{
	static const char *const times[] = {"time_ns_", "gpu_ns_", "async_ns_", "sampled_ns_"};
	size_t n = strlen(column);
	for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++)
		if (strncmp(column, times[i], strlen(times[i])) == 0)
			return false;
	return n > 5 && (!strcmp(column + n - 5, "_excl") || !strcmp(column + n - 5, "_incl"));
}

static bool is_number_of_samples(const char *column)
{
	size_t n = strlen(column);
	return !strncmp(column, "samples", 7) && !strcmp(column + n - 5, "_excl");
}

/* Adds the costs of a table, of which the first column is an id, to `sums`: by id and column. */
static void add_up(struct window_check *c, const char *window, const struct sheet *all,
	const struct sheet *part, double *sums)
{
	for (size_t i = 0, row = 0; i < part->n; i++) {
		double id = sheet_at(part, i, 0)->number;
		for (row = 0; row < all->n && sheet_at(all, row, 0)->number != id;)
			row++;
		for (int k = 0; row < all->n && k < part->n_columns; k++) {
			int column = sheet_column(all, part->columns[k]);
			if (is_cost(part->columns[k]) && column != SHEET_NONE)
				sums[row * (size_t)all->n_columns + (size_t)column] +=
					sheet_at(part, i, k)->number;
		}
		if (row == all->n)
			window_fail(c, window, "has a row that the run has not");
	}
}

static void check_sums(
	struct window_check *c, const char *table, const struct sheet *all, const double *sums)
{
	for (size_t row = 0; row < all->n; row++)
		for (int k = 0; k < all->n_columns; k++)
			if (is_cost(all->columns[k]) &&
				sheet_at(all, row, k)->number !=
					sums[row * (size_t)all->n_columns + (size_t)k])
				window_fail(c, table, all->columns[k]);
}

/* threads.csv of a window has as many samples as its columns of them add up to. */
static void check_samples(struct window_check *c, const char *window, const struct sheet *threads)
{
	double samples = 0;
	for (int k = 0; k < threads->n_columns; k++)
		if (is_number_of_samples(threads->columns[k]))
			samples += sheet_sum(threads, k);
	if (samples != sheet_sum(threads, sheet_column(threads, "samples")))
		window_fail(c, window, "costs are not those of the samples in it");
}

static void check_rows(struct window_check *c, const char *window, const struct window_part *part,
	const struct sheet *threads)
{
	int path = sheet_column(threads, "path"), samples = sheet_column(threads, "samples");
	for (size_t i = 0; i < threads->n && path != SHEET_NONE; i++) {
		struct sheet of_run, cut;
		char folder[900], name[1000];
		struct pm_bytes at = sheet_at(threads, i, path)->text;
		if (!c->threads->threads[i].has_trace)
			continue;
		snprintf(folder, sizeof(folder), "%.*s/", (int)at.len, (const char *)at.p);
		snprintf(name, sizeof(name), "%strace.csv", folder);
		if (!sheet_read(c->in, name, &of_run)) {
			window_fail(c, window, "a thread of the run has no trace");
			continue;
		}
		if (window_table(c, window, folder, "trace.csv", &cut)) {
			check_window_rows(c, window, part, &of_run, &cut);
			if ((double)cut.n != sheet_at(threads, i, samples)->number)
				window_fail(c, window, "threads.csv and trace.csv differ");
			sheet_done(&cut);
		}
		sheet_done(&of_run);
	}
}

/* A value that is not stored is empty, in the window of all time as in the run. */
static void check_empty(struct window_check *c, const char *table, const struct sheet *all)
{
	const struct window_part whole = {0, c->run_ns, true};
	struct sheet part;
	char window[200];
	window_name(&whole, window, sizeof(window));
	window_canonical(c, window, sizeof(window));
	if (!window_table(c, window, "", table, &part))
		return;
	for (size_t row = 0; row < part.n && part.n == all->n; row++)
		for (int k = 0; k < part.n_columns; k++) {
			int column = sheet_column(all, part.columns[k]);
			if (is_cost(part.columns[k]) && column != SHEET_NONE &&
				sheet_at(all, row, 0)->number == sheet_at(&part, row, 0)->number &&
				sheet_at(all, row, column)->is_empty !=
					sheet_at(&part, row, k)->is_empty)
				window_fail(c, table, part.columns[k]);
		}
	sheet_done(&part);
}

static void check_tables(struct window_check *c, bool instants)
{
	static const char *const tables[] = {"contexts.csv", "threads.csv"};
	uint64_t third = c->run_ns / 3;
	const struct window_part parts[] = {
		{0, third, false}, {third, third + 1, false}, {third + 1, c->run_ns, true}};
	for (size_t t = 0; t < 2; t++) {
		struct sheet all, part;
		if (!sheet_read(c->in, tables[t], &all)) {
			window_fail(c, "", tables[t]);
			continue;
		}
		double *sums = calloc(all.n * (size_t)all.n_columns + 1, sizeof(*sums));
		for (size_t i = 0; sums && i < 3; i++) {
			char window[200];
			window_name(&parts[i], window, sizeof(window));
			window_canonical(c, window, sizeof(window));
			if (!window_table(c, window, "", tables[t], &part))
				continue;
			add_up(c, window, &all, &part, sums);
			if (t == 1 && instants) {
				check_samples(c, window, &part);
				check_rows(c, window, &parts[i], &part);
			}
			sheet_done(&part);
		}
		if (sums)
			check_sums(c, tables[t], &all, sums);
		check_empty(c, tables[t], &all);
		free(sums);
		sheet_done(&all);
	}
}

void check_window_instants(struct window_check *c)
{
	check_tables(c, true);
}

void check_window_numbers(struct window_check *c)
{
	check_tables(c, false);
}
