/* Shared by tests of stacks and exports: a small program, and documents as bytes. */
#ifndef PROFMOUNT_TESTS_VIEWS_EXPORTS_H
#define PROFMOUNT_TESTS_VIEWS_EXPORTS_H

#include "harness.h"

/*
 * rank 3, thread 0 and 1; times in ns as inclusive (thread 0 + thread 1), in brackets the own ones:
 *
 *	1 main  /src/a.c:3            100 (16)   90 + 10
 *	  2 loop /src/a.c:10           90        80 + 10
 *	    3 line /src/a.c:12         85        75 + 10
 *	      4 solve  /src/b.c:7      60 (30)   50 + 10
 *	        5 line /src/b.c:20     50        40 + 10
 *	          6 solve              30 (30)   20 + 10
 *	      7 io                     20 (20)   20
 *	  8 init  /src/a.c:40           4 (4)     4
 *	  9 idle                        0
 */
struct fake *fake_program(void);

/* Renders an export: thread `item` below PMFS_PLACE_THREAD_EXPORT. `ret` is for pm_text_done. */
int render_export(struct pmfs_model *m, enum pmfs_place place, const char *name, uint32_t item,
	uint32_t column, struct pm_text *ret);

/* Fails the test unless the root's export of that column is `want`. */
void assert_export(struct pmfs_model *m, const char *name, uint32_t column, const char *want);

/* The same of a thread's. */
void assert_thread_export(
	struct pmfs_model *m, const char *name, uint32_t thread, uint32_t column, const char *want);

/* A profile of one metric (id 1) with one thread, for those who add contexts themselves. */
struct fake *fake_with_thread(void);

/* A call of a function that is new; of `time` ns with all below it. */
void fake_timed(struct fake *f, uint32_t number, uint32_t parent, const char *name, double time);

#endif
