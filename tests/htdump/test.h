/* Shared by the tests of this format. */
#ifndef PROFMOUNT_TESTS_HTDUMP_TEST_H
#define PROFMOUNT_TESTS_HTDUMP_TEST_H

#include "tests/unittest.h"

#include "tests/htdump/drain.h"
#include "tests/htdump/writer.h"

/* Opens what was written. */
static inline struct pm_profile written_open(const struct htdw *w)
{
	struct pm_profile p;
	struct pm_error err;
	if (stream_open(w->p, w->len, &p, &err) < 0)
		fail_msg("%s", err.text);
	return p;
}

static inline void assert_row(
	const struct pm_profile *p, const char *path, uint64_t row, const char *want)
{
	struct pm_doc doc;
	char got[1024];
	assert_true(stream_document(p, path, &doc));
	assert_true(stream_row(&doc.table, row, got, sizeof(got)));
	assert_string_equal(got, want);
}

static inline void assert_rows(const struct pm_profile *p, const char *path, uint64_t n)
{
	struct pm_doc doc;
	char got[1024];
	assert_true(stream_document(p, path, &doc));
	assert_true(n == 0 || stream_row(&doc.table, n - 1, got, sizeof(got)));
	assert_false(stream_row(&doc.table, n, got, sizeof(got)));
}

static inline struct pm_damages damages_of(const struct pm_profile *p)
{
	const struct pm_damages *d;
	assert_int_equal(pm_profile_damage(p, &d, NULL), 0);
	return *d;
}

#endif
