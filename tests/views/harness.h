/* Views as plain text, for comparing with what is expected. */
#ifndef PROFMOUNT_TESTS_VIEWS_HARNESS_H
#define PROFMOUNT_TESTS_VIEWS_HARNESS_H

#include "tests/unittest.h"

#include <stdlib.h>

#include "fake.h"
#include "fs/views/model/views.h"

/* The view of that name at a place, or NULL; not whether it is present. */
const struct pmfs_view *view_named(enum pmfs_place place, const char *name);

/*
 * The document as text: tables with a header, cells joined by `|`, rows ended by LF and text cells
 * as they are; NUL-terminated, for free(). `!CODE` for an error.
 */
char *view_text(struct pmfs_model *m, enum pmfs_place place, const char *name, uint32_t item);

/* Fails the test unless the text is `want`. */
void assert_view(struct pmfs_model *m, enum pmfs_place place, const char *name, uint32_t item,
	const char *want);

/* The same for a model of the profile, which is freed. */
void assert_view_of(
	struct fake *f, enum pmfs_place place, const char *name, uint32_t item, const char *want);

/* Fails the test unless starting the table at every position gives what the rest of it gives. */
void assert_dense(struct pmfs_model *m, enum pmfs_place place, const char *name, uint32_t item);

/* Fails the test unless the table's own way of measuring comes to the bytes of its rows. */
void assert_measured(struct pmfs_model *m, enum pmfs_place place, const char *name, uint32_t item);

/* Frees a model of a profile, and the profile. */
void views_done(struct pmfs_model *m, struct fake *f);

/* Where columns of costs are wanted: f with the metric pair `time` in ns (ids 1 incl, 2 excl). */
struct fake *fake_with_time(void);

/* The same with main (1), which calls a (2), on two threads; context 99 is none of the tree's. */
struct fake *fake_with_two_threads(void);

#endif
