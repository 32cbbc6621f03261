/*
 * Hostile databases: every prefix of every file, every bit of headers flipped, every field of 8
 * bytes set to extremes, in every style. Nothing is asserted but that it ends, within its memory:
 * meant for sanitizers, and for the time limit of the test.
 */
#include "tests/unittest.h"

#include <string.h>

#include "tests/hpctoolkit/fixtures.h"
#include "tests/hpctoolkit/heap_input.h"

static const struct fixture_style *style;
static struct hpctkw_files files;

static void use_files(void)
{
	for (unsigned i = 0; i < HPCTK_N_FILES; i++)
		heap_files[i] = (struct pm_bytes){files.file[i].p, files.file[i].n};
}

static int write_rich(void **state)
{
	struct hpctkw_database *w = fixture_rich(&style->style);
	hpctkw_write(w, &files);
	hpctkw_free(w);
	use_files();
	return 0;
}

static int free_files(void **state)
{
	hpctkw_files_free(&files);
	return 0;
}

static void test_the_whole_is_accepted(void **state)
{
	assert_int_equal(heap_files_exercise(), 0);
}

/* Most of meta.db is one long name: prefixes that end within it are all alike. */
static bool is_within_name(const uint8_t *p, size_t n)
{
	return n > 40 && memcmp(p + n - 40, "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn", 40) == 0;
}

static void test_every_prefix_of_every_file(void **state)
{
	for (unsigned i = 0; i < HPCTK_N_FILES; i++) {
		for (size_t n = 0; n < files.file[i].n; n++) {
			if (is_within_name(files.file[i].p, n))
				continue;
			heap_files[i].len = n;
			heap_files_exercise();
		}
		use_files();
	}
}

/* Bytes that hold structure: all but the long name. */
static bool is_structure(const uint8_t *p, size_t n, size_t at)
{
	return p[at] != 'n' || at + 1 == n || p[at + 1] != 'n';
}

static void test_every_byte_with_a_bit_flipped(void **state)
{
	for (unsigned i = 0; i < HPCTK_N_FILES; i++)
		for (size_t at = 0; at < files.file[i].n; at++) {
			uint8_t *byte = &files.file[i].p[at];
			if (!is_structure(files.file[i].p, files.file[i].n, at))
				continue;
			*byte ^= (uint8_t)(1u << (at % 8));
			heap_files_exercise();
			*byte ^= (uint8_t)(1u << (at % 8));
		}
}

static void test_every_word_at_its_extremes(void **state)
{
	static const uint64_t extremes[] = {0, 0x10, 0x7fffffffffffffff, UINT64_MAX, UINT64_MAX - 7,
		0xffffffff, (uint64_t)0xffffffff << 32};
	for (unsigned i = 0; i < HPCTK_N_FILES; i++)
		for (size_t at = 0x10; at + 8 <= files.file[i].n; at += 8) {
			uint8_t *word = &files.file[i].p[at], before[8];
			if (is_within_name(files.file[i].p, at))
				continue;
			memcpy(before, word, 8);
			for (size_t k = 0; k < sizeof(extremes) / sizeof(extremes[0]); k++) {
				memcpy(word, &extremes[k], 8);
				heap_files_exercise();
			}
			memcpy(word, before, 8);
		}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_whole_is_accepted),
		cmocka_unit_test(test_every_prefix_of_every_file),
		cmocka_unit_test(test_every_byte_with_a_bit_flipped),
		cmocka_unit_test(test_every_word_at_its_extremes),
	};
	int failed = 0;
	for (size_t i = 0; i < n_fixture_styles; i++) {
		style = &fixture_styles[i];
		failed += cmocka_run_group_tests_name(style->name, tests, write_rich, free_files);
	}
	return failed;
}
