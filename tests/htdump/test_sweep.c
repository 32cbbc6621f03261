/*
 * Every prefix of a stream, every single bit flipped, and the corpus if it exists: either opening
 * fails, or everything can be read.
 */
#include "tests/htdump/test.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void drain_bytes(const uint8_t *p, size_t n, const char *name, size_t at)
{
	struct pm_profile profile;
	struct pm_error err;
	if (stream_open(p, n, &profile, &err) < 0) {
		assert_true(err.text[0]);
		return;
	}
	const char *wrong = stream_drain(&profile);
	if (wrong)
		fail_msg("%s, %zu: %s", name, at, wrong);
	stream_close(&profile);
}

static void test_every_prefix_is_readable_or_refused(void **state)
{
	for (int variant = 0; variant < 4; variant++) {
		struct htdw w = {.p = NULL};
		htdw_everything(&w, variant & 1, variant & 2);
		for (size_t n = 0; n <= w.len; n++)
			drain_bytes(w.p, n, "prefix", n);
		htdw_done(&w);
	}
}

static void test_every_flipped_bit_is_survived(void **state)
{
	struct htdw w = {.p = NULL};
	htdw_everything(&w, false, false);
	for (size_t i = 0; i < w.len; i++)
		for (int bit = 0; bit < 8; bit++) {
			w.p[i] ^= (uint8_t)(1 << bit);
			drain_bytes(w.p, w.len, "flipped byte", i);
			w.p[i] ^= (uint8_t)(1 << bit);
		}
	htdw_done(&w);
}

static void drain_file(const char *folder, const char *name)
{
	char path[4096 + 512];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *f = fopen(path, "rb");
	assert_non_null(f);
	assert_int_equal(fseek(f, 0, SEEK_END), 0);
	size_t size = (size_t)ftell(f);
	rewind(f);
	uint8_t *data = malloc(size + 1);
	assert_int_equal(fread(data, 1, size, f), size);
	fclose(f);
	drain_bytes(data, size, name, size);
	for (size_t n = 0; n < size; n += 1 + size / 60)
		drain_bytes(data, n, name, n);
	free(data);
}

static void test_recorded_streams_can_be_read(void **state)
{
	char folder[4096];
	const char *corpus = getenv("CORPUS");
	snprintf(folder, sizeof(folder), "%s/data", corpus ? corpus : "");
	DIR *dir = opendir(folder);
	if (!dir) {
		print_message("SKIPPED: no corpus at %s\n", folder);
		skip();
	}
	for (const struct dirent *e; (e = readdir(dir));)
		if (strstr(e->d_name, ".htdump"))
			drain_file(folder, e->d_name);
	closedir(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_prefix_is_readable_or_refused),
		cmocka_unit_test(test_every_flipped_bit_is_survived),
		cmocka_unit_test(test_recorded_streams_can_be_read),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
