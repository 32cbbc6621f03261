/*
 * No memory while calls are read again for percentiles (formats/common/percentiles.h): at the n-th
 * allocation, for n = 1, 2, 3 …, once and from there on, of a trace store in which methods,
 * attributes and statements need such a pass.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/percentiles.h"
#include "tests/faults/failing.h"
#include "tests/zts/drain.h"
#include "tests/zts/writer.h"

enum {
	CALLS = 40,  /* more than the smallest table of durations has room for */
	THINNED = 30 /* of the allocations from which on all fail, one in n / THINNED is tried */
};

static char folder[] = "/tmp/profmount-zts-XXXXXX";

static bool write_store(void)
{
	static const struct zts_entry entries[] = {{1, "sql"}, {2, "SELECT 1"}};
	struct pm_text texts = {0}, payload = {0}, traces = {0};
	zts_put_wal(&texts, entries, 2);
	zts_put_begin(&payload, 0, 100);
	zts_put_info(&payload, 0x05, 1558000000000ull);
	for (uint64_t i = 0; i < CALLS; i++) {
		zts_put_begin(&payload, 1000 * i, 101);
		zts_put_attr(&payload, 1, 2);
		zts_put_end(&payload, 1000 * i + 20 + i, 1);
	}
	zts_put_end(&payload, 1000 * CALLS, CALLS + 1);
	zts_put_file_header(&traces, 0x10);
	zts_put_chunk(&traces, 0x10, pm_text_view(&payload));
	bool written = zts_write_file(folder, "text-00000001.wal", pm_text_view(&texts)) &&
		zts_write_file(folder, "traces.dat", pm_text_view(&traces));
	pm_text_done(&texts);
	pm_text_done(&payload);
	pm_text_done(&traces);
	return written;
}

/* The tables with percentiles: 0, or why they cannot be had. */
static int read_tables(struct pm_text *ret)
{
	static const char *const paths[] = {"attributes.csv", "methods.csv", "statements.csv"};
	struct pm_profile *p;
	int r = pm_profile_open(folder, "zts", NULL, &p, NULL);
	if (r < 0)
		return r;
	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths) && r == 0; i++)
		r = zts_drain_path(p, paths[i], ret);
	pm_profile_close(p);
	return r < 0 ? r : ret->failed ? -ENOMEM : 0;
}

/* True while there are as many as n allocations. */
static bool try_without(size_t n, bool lasting, const struct pm_text *expected, unsigned *failures)
{
	struct pm_text got = {0};
	long before = failing_held();
	failing_start(n, lasting);
	int r = read_tables(&got);
	bool reached = failing_count() >= n;
	failing_start(0, false);
	bool same = pm_bytes_equal(pm_text_view(&got), pm_text_view(expected));
	pm_text_done(&got);
	if (failing_held() != before || (r == 0 ? !same : r != -ENOMEM)) {
		fprintf(stderr, "no memory %s allocation %zu: %d, %ld blocks are left\n",
			lasting ? "from" : "at", n, r, failing_held() - before);
		++*failures;
	}
	return reached;
}

int main(void)
{
	struct pm_text expected = {0}, passes = {0};
	unsigned failures = !mkdtemp(folder) || !write_store();
	failing_start(0, false);
	failures += read_tables(&expected) < 0;
	size_t without_passes = failing_count();
	pm_durations_most = 1;
	failing_start(0, false);
	failures += read_tables(&passes) < 0 || failing_count() <= without_passes ||
		!pm_bytes_equal(pm_text_view(&passes), pm_text_view(&expected));
	if (failures)
		fprintf(stderr, "no passes, or other percentiles by them\n");
	for (int lasting = 0; lasting < 2; lasting++)
		for (size_t n = 1; failures == 0 && try_without(n, lasting, &expected, &failures);)
			n += lasting ? 1 + n / THINNED : 1;
	pm_text_done(&expected);
	pm_text_done(&passes);
	zts_remove_folder(folder);
	return failures > 0;
}
