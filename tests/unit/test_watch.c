/*
 * formats/common/watch.c: files that have grown are still valid, files that were rewritten are not.
 */
#include "tests/unittest.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/common/input.h"

enum { SIZE = 200000 };

static char path[64];

static void write_at(off_t at, char fill, size_t n)
{
	char *bytes = malloc(n + 1);
	memset(bytes, fill, n);
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(pwrite(fd, bytes, n, at), n);
	close(fd);
	free(bytes);
}

/* As whoever hides a change does. */
static void write_and_restore_time(off_t at, char fill, size_t n)
{
	struct stat st;
	assert_int_equal(stat(path, &st), 0);
	write_at(at, fill, n);
	struct timespec times[2] = {st.st_atim, st.st_mtim};
	assert_int_equal(utimensat(AT_FDCWD, path, times, 0), 0);
}

static struct pm_watch watch_bytes(size_t size, bool sums)
{
	struct stat st;
	struct pm_watch w;
	unlink(path);
	write_at(0, 'a', size);
	assert_int_equal(stat(path, &st), 0);
	struct pm_stamp was = pm_stamp_of(&st);
	assert_int_equal(pm_watch_init(&w, &was, sums), 0);
	usleep(20000); /* the clock that stamps files may be as coarse as that */
	return w;
}

static struct pm_watch watch_file(bool sums)
{
	return watch_bytes(SIZE, sums);
}

static struct pm_input open_watched(struct pm_watch *w)
{
	struct pm_input in;
	assert_int_equal(pm_input_open_watched(&in, AT_FDCWD, path, w, NULL), 0);
	assert_int_equal(in.bytes.len, SIZE);
	return in;
}

static void test_stamps_are_compared(void **state)
{
	static const struct pm_stamp was = {
		.device = 1, .inode = 2, .links = 1, .size = 10, .mtime_ns = 5, .ctime_ns = 6};
	static const struct {
		struct pm_stamp is;
		enum pm_change change;
	} rows[] = {
		{{1, 2, 1, 10, 5, 6}, PM_UNCHANGED},
		{{1, 2, 1, 11, 5, 6}, PM_GROWN},
		{{1, 2, 1, 11, 9, 9}, PM_GROWN},
		{{1, 2, 1, 9, 5, 6}, PM_CHANGED},
		{{1, 2, 1, 10, 7, 6}, PM_CHANGED},
		{{1, 2, 1, 10, 5, 7}, PM_CHANGED},
		{{1, 2, 0, 10, 5, 7}, PM_UNCHANGED},
		{{1, 2, 0, 10, 6, 7}, PM_CHANGED},
		{{1, 3, 1, 10, 5, 6}, PM_CHANGED},
		{{2, 2, 1, 11, 5, 6}, PM_CHANGED},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		assert_int_equal(pm_stamp_compare(&was, &rows[i].is), rows[i].change);
}

static void test_file_that_must_not_grow_is_changed(void **state)
{
	struct pm_watch w = watch_file(false);
	struct pm_input in;
	assert_int_equal(pm_input_open(&in, AT_FDCWD, path, NULL), 0);
	write_at(SIZE, 'b', 1);
	assert_true(pm_input_changed(&in));
	pm_input_close(&in);
	pm_watch_done(&w);
}

static void test_change_is_seen_though_its_time_was_restored(void **state)
{
	struct pm_watch w = watch_file(false);
	struct pm_input in;
	assert_int_equal(pm_input_open(&in, AT_FDCWD, path, NULL), 0);
	write_and_restore_time(100, 'b', 1);
	assert_true(pm_input_changed(&in));
	pm_input_close(&in);
	pm_watch_done(&w);
}

static void test_grown_file_is_what_it_was(void **state)
{
	struct pm_watch w = watch_file(true);
	struct pm_input in = open_watched(&w);
	assert_true(pm_watch_use(&w, in.bytes, 0, SIZE));
	for (int i = 0; i < 5; i++) {
		write_at(SIZE + i * 70000, 'b', 70000);
		assert_false(pm_input_changed(&in));
		assert_true(pm_watch_use(&w, in.bytes, 65535, 2));
	}
	assert_true(w.generation > 1);
	struct pm_input later = open_watched(&w); /* as much of it as there was */
	assert_false(pm_input_changed(&later));
	pm_input_close(&later);
	pm_input_close(&in);
	pm_watch_done(&w);
}

/* Of a file that has grown, whatever is used again is what it was at first. */
static void test_grown_and_rewritten_file_is_changed(void **state)
{
	for (int use = 0; use < 3; use++) {
		struct pm_watch w = watch_file(true);
		struct pm_input in = open_watched(&w);
		assert_true(pm_watch_use(&w, in.bytes, 0, SIZE));
		for (int i = 0; i < use; i++) { /* generations ago */
			write_at(SIZE + i, 'b', 1);
			assert_false(pm_input_changed(&in));
		}
		write_and_restore_time(150000, 'b', 1);
		write_at(SIZE + use, 'b', 1);
		bool noticed = pm_input_changed(&in);
		assert_true(use > 1 || noticed);
		assert_false(pm_watch_use(&w, in.bytes, 150000, 1));
		assert_true(pm_input_changed(&in)); /* for ever */
		pm_input_close(&in);
		assert_int_equal(pm_input_open_watched(&in, AT_FDCWD, path, &w, NULL), 0);
		assert_true(pm_input_changed(&in));
		pm_input_close(&in);
		pm_watch_done(&w);
	}
}

/* Nothing was used before. */
static void test_other_ends_of_a_grown_file_are_noticed(void **state)
{
	static const off_t places[] = {0, SIZE / 2, SIZE - 1};
	for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
		struct pm_watch w = watch_file(true);
		struct pm_input in = open_watched(&w);
		pm_watch_ends(&w, in.bytes);
		write_at(SIZE, 'b', 1);
		assert_false(pm_input_changed(&in));
		write_at(places[i], 'b', 1);
		write_at(SIZE + 1, 'b', 1);
		assert_int_equal(pm_input_changed(&in), places[i] != SIZE / 2);
		pm_input_close(&in);
		pm_watch_done(&w);
	}
}

/* What is not longer than its ends is remembered as a whole. */
static void test_other_bytes_of_a_short_file_are_noticed(void **state)
{
	static const size_t sizes[] = {1, 1000, 16 << 10, 20000, 32 << 10};
	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		struct pm_watch w = watch_bytes(sizes[i], true);
		struct pm_input in;
		assert_int_equal(pm_input_open_watched(&in, AT_FDCWD, path, &w, NULL), 0);
		pm_watch_ends(&w, in.bytes);
		write_at((off_t)sizes[i], 'b', 1);
		assert_false(pm_input_changed(&in));
		write_at((off_t)sizes[i] / 2, 'b', 1);
		write_at((off_t)sizes[i] + 1, 'b', 1);
		assert_true(pm_input_changed(&in));
		pm_input_close(&in);
		pm_watch_done(&w);
	}
}

static void test_rewritten_truncated_and_replaced_files_are_changed(void **state)
{
	struct pm_input in;
	struct pm_watch w = watch_file(true);
	in = open_watched(&w);
	write_and_restore_time(100, 'b', 1);
	assert_true(pm_input_changed(&in));
	pm_input_close(&in);
	pm_watch_done(&w);
	w = watch_file(true);
	in = open_watched(&w);
	assert_int_equal(truncate(path, SIZE / 2), 0);
	assert_true(pm_input_changed(&in));
	pm_input_close(&in);
	assert_int_equal(pm_input_open_watched(&in, AT_FDCWD, path, &w, NULL), -EIO);
	pm_watch_done(&w);
	w = watch_file(true);
	in = open_watched(&w);
	unlink(path);
	write_at(0, 'b', SIZE);
	assert_false(pm_input_changed(&in)); /* what is mapped is what was replaced */
	pm_input_close(&in);
	assert_int_equal(pm_input_open_watched(&in, AT_FDCWD, path, &w, NULL), -EIO);
	pm_watch_done(&w);
}

static void test_places_beyond_the_end_are_not_there(void **state)
{
	struct pm_watch w = watch_file(true);
	struct pm_input in = open_watched(&w);
	assert_false(pm_watch_use(&w, in.bytes, SIZE, 1));
	assert_false(pm_watch_use(&w, in.bytes, SIZE - 1, 2));
	assert_false(pm_watch_use(&w, in.bytes, 1, UINT64_MAX));
	assert_true(pm_watch_use(&w, in.bytes, SIZE - 1, 1));
	assert_true(pm_watch_use(&w, in.bytes, 5, 0));
	assert_false(pm_input_changed(&in));
	pm_input_close(&in);
	pm_watch_done(&w);
	pm_watch_done(&w);
}

static int set_up(void **state)
{
	snprintf(path, sizeof(path), "/tmp/test_watch.XXXXXX");
	int fd = mkstemp(path);
	return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
	return unlink(path);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stamps_are_compared),
		cmocka_unit_test(test_file_that_must_not_grow_is_changed),
		cmocka_unit_test(test_change_is_seen_though_its_time_was_restored),
		cmocka_unit_test(test_grown_file_is_what_it_was),
		cmocka_unit_test(test_grown_and_rewritten_file_is_changed),
		cmocka_unit_test(test_other_ends_of_a_grown_file_are_noticed),
		cmocka_unit_test(test_other_bytes_of_a_short_file_are_noticed),
		cmocka_unit_test(test_rewritten_truncated_and_replaced_files_are_changed),
		cmocka_unit_test(test_places_beyond_the_end_are_not_there),
	};
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
