/* The laws of methods.csv and of calls in windows, compared with the run's own tables. */
#include "windowcheck.h"

/* methods.csv of the whole run as a window is that of the run, but for time that ran backwards. */
static void check_methods(struct window_check *c, const char *window)
{
	static const char *const same[] = {"calls", "errors", "time_ns_min", "time_ns_max",
		"p50_ns", "p90_ns", "p99_ns", "max_ns"};
	struct sheet run, all;
	if (!sheet_read(c->in, "methods.csv", &run))
		return;
	if (!window_table(c, window, "", "methods.csv", &all)) {
		sheet_done(&run);
		return;
	}
	int name = sheet_column(&run, "method");
	if (run.n != all.n)
		window_fail(c, window, "methods.csv has not the methods of the run");
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
				window_fail(c, window, same[m]);
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
static void check_half_methods(struct window_check *c, const struct sheet halves[3])
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
				window_fail(c, "methods.csv of two halves", laws[k].column);
		}
}

/* Traces begin in one half or in the other, and what is counted of them is that of the run. */
static void check_half_traces(struct window_check *c, char names[2][200])
{
	static const struct {
		const char *table, *column;
	} laws[] = {{"requests.csv", "traces"}, {"attributes.csv", "calls"},
		{"statements.csv", "calls"}, {"exceptions.csv", "count"}, {"spans.csv", "call"}};
	for (size_t i = 0; i < sizeof(laws) / sizeof(*laws); i++) {
		struct sheet run, half;
		if (!sheet_read(c->in, laws[i].table, &run))
			continue;
		double rest = sheet_sum(&run, sheet_column(&run, laws[i].column));
		for (int k = 0; k < 2; k++)
			if (window_table(c, names[k], "", laws[i].table, &half)) {
				rest -= sheet_sum(&half, sheet_column(&half, laws[i].column));
				sheet_done(&half);
			}
		if (rest != 0)
			window_fail(c, "of two halves", laws[i].table);
		sheet_done(&run);
	}
}

void check_window_halves(struct window_check *c)
{
	uint64_t middle = c->run_ns / 2;
	const struct window_part parts[3] = {
		{0, middle, false}, {middle, c->run_ns, true}, {0, c->run_ns, true}};
	struct sheet halves[3];
	char names[3][200];
	int n = 0;
	for (; n < 3; n++) {
		window_name(&parts[n], names[n], sizeof(names[n]));
		window_canonical(c, names[n], sizeof(names[n]));
		if (!window_table(c, names[n], "", "methods.csv", &halves[n]))
			break;
	}
	if (n == 3) {
		check_half_methods(c, halves);
		check_half_traces(c, names);
	}
	while (n-- > 0)
		sheet_done(&halves[n]);
}

void check_window_whole(struct window_check *c)
{
	struct sheet run, window;
	char name[200];
	window_name(&(struct window_part){0, c->run_ns, true}, name, sizeof(name));
	window_canonical(c, name, sizeof(name));
	if (!sheet_read(c->in, "contexts.csv", &run)) {
		window_fail(c, name, "the run has no contexts.csv");
		return;
	}
	if (window_table(c, name, "", "contexts.csv", &window)) {
		int calls = sheet_column(&run, "calls"), there = sheet_column(&window, "calls");
		double of_run = 0, of_window = 0;
		for (size_t i = 0; i < run.n && calls != SHEET_NONE; i++)
			of_run += sheet_at(&run, i, calls)->number;
		for (size_t i = 0; i < window.n && there != SHEET_NONE; i++)
			of_window += sheet_at(&window, i, there)->number;
		if (of_run != of_window)
			window_fail(
				c, name, "the whole run as a window has not the calls of the run");
		check_methods(c, name);
		sheet_done(&window);
	}
	sheet_done(&run);
}
