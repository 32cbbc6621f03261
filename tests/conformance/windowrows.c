/* trace.csv of a window, compared with that of the run row by row. */
#include "windowcheck.h"

#include <string.h>

/* Where a window is and the trace of the run are read side by side. */
struct side_by_side {
	struct window_check *c;
	const char *window;
	const struct window_part *part;
	const struct sheet *of_run, *cut;
	int time, duration;
};

/* The part of a row of the run that is inside; false if it has no row in the window. */
static bool part_of_row(const struct side_by_side *s, size_t row, double *ret_from, double *ret_to)
{
	const double start = (double)s->part->start, end = (double)s->part->end;
	double begin = sheet_at(s->of_run, row, s->time)->number;
	double stop = begin + sheet_at(s->of_run, row, s->duration)->number;
	bool begins = begin >= start && (begin < end || (s->part->is_last && begin == end));
	*ret_from = begin > start ? begin : start;
	*ret_to = stop < end ? stop : end;
	*ret_to = *ret_to > *ret_from ? *ret_to : *ret_from;
	return begins || *ret_to > *ret_from;
}

static bool is_same(const struct sheet_cell *a, const struct sheet_cell *b)
{
	return a->number == b->number && a->is_empty == b->is_empty &&
		pm_bytes_equal(a->text, b->text);
}

/* The cut of one row, and the same in everything that is no time. */
static void check_row(const struct side_by_side *s, size_t row, size_t k, double from, double to)
{
	const struct sheet_cell *duration = sheet_at(s->cut, k, s->duration);
	if (sheet_at(s->cut, k, s->time)->number != from || duration->number != to - from ||
		duration->is_empty != sheet_at(s->of_run, row, s->duration)->is_empty)
		window_fail(s->c, s->window, "trace.csv has other times than the run, cut off");
	for (int i = 0; i < s->of_run->n_columns; i++) {
		const char *column = s->of_run->columns[i];
		if (i == s->time || i == s->duration || strcmp(column, "timestamp_ns") == 0 ||
			strcmp(column, "self_ns") == 0)
			continue;
		if (!is_same(sheet_at(s->of_run, row, i), sheet_at(s->cut, k, i)))
			window_fail(s->c, s->window, column);
	}
}

void check_window_rows(struct window_check *c, const char *window, const struct window_part *part,
	const struct sheet *of_run, const struct sheet *cut)
{
	struct side_by_side s = {c, window, part, of_run, cut, sheet_column(of_run, "time_ns"),
		sheet_column(of_run, "duration_ns")};
	double from, to;
	size_t k = 0;
	if (of_run->n_columns != cut->n_columns || s.time == SHEET_NONE ||
		s.duration == SHEET_NONE) {
		window_fail(c, window, "trace.csv has other columns than that of the run");
		return;
	}
	for (size_t row = 0; row < of_run->n; row++)
		if (part_of_row(&s, row, &from, &to)) {
			if (k < cut->n)
				check_row(&s, row, k, from, to);
			k++;
		}
	if (k != cut->n)
		window_fail(c, window, "trace.csv has not the rows of the run that lie inside");
}
