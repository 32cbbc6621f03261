/* What the laws of windows share: the source at hand, and access to the files of a window. */
#ifndef PROFMOUNT_TESTS_CONFORMANCE_WINDOWCHECK_H
#define PROFMOUNT_TESTS_CONFORMANCE_WINDOWCHECK_H

#include "sheet.h"

struct window_part {
	uint64_t start, end; /* since the run began */
	bool is_last;
};

struct window_check {
	struct pmfs_instance *in;
	const struct pm_profile *p;
	const char *source;
	const struct pm_tree *tree;
	const struct pm_threads *threads;
	uint64_t origin, run_ns;
	unsigned n_failed;
};

/* Counts a broken law; the first ones are printed. */
void window_fail(struct window_check *c, const char *window, const char *what);

void window_name(const struct window_part *part, char *out, size_t size);

/* The window's directory: the canonical name where the one at hand is a link to it. */
void window_canonical(struct window_check *c, char *name, size_t size);

/*
 * A table of a window; `folder` ends with a slash, or is empty. False if there is none, which
 * counts as a broken law.
 */
bool window_table(struct window_check *c, const char *window, const char *folder, const char *name,
	struct sheet *ret);

/* ---- windowrows.c ---- */

/*
 * A window's trace.csv has the rows of the thread's that lie inside, with their times cut off and
 * nothing else changed.
 */
void check_window_rows(struct window_check *c, const char *window, const struct window_part *part,
	const struct sheet *of_run, const struct sheet *cut);

/* ---- windowinstants.c: windows over samples that are instants with a weight ---- */

/*
 * Windows side by side have the costs of the run, if each of its samples has a time; their rows are
 * those of its traces.
 */
void check_window_instants(struct window_check *c);

/* The same of numbers that calls have, which count where their calls begin. */
void check_window_numbers(struct window_check *c);

/* ---- windowmethods.c: windows of the whole run and of its halves, where samples are calls ---- */

/* The window of the whole run has the calls of the run, whose own sums are made in another way. */
void check_window_whole(struct window_check *c);

/*
 * The window of the whole run takes what is known of the run's calls; windows of its halves count
 * theirs one by one.
 */
void check_window_halves(struct window_check *c);

#endif
