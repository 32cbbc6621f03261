/* fs/tree/names.c, paths.c: legal names, unique among siblings; trees made from paths. */
#include "tests/unittest.h"

#include <stdio.h>
#include <stdlib.h>

#include "fs/tree/names.h"
#include "fs/tree/paths.h"

static void expect_legal(struct pm_bytes raw, const char *want)
{
	char name[PMFS_NAME_SIZE];
	size_t len = pmfs_name_legal(raw, name);
	assert_int_equal(len, strlen(want));
	assert_memory_equal(name, want, len);
}

static void test_hostile_names_become_legal(void **state)
{
	static const struct {
		const char *raw, *want;
	} rows[] = {
		{"main", "main"},
		{"", "(unknown)"},
		{"operator/", "operator\u2215"},
		{".hidden", "_.hidden"},
		{"..", "_.."},
		{"-rf", "_-rf"},
		{"a\nb\tc\x7f", "a\ufffdb\ufffdc\ufffd"},
		{"gr\xf6\xdf", "gr\ufffd\ufffd"},
		{"\xc2\x85next line", "\ufffdnext line"},
		{"<gpu kernel>", "<gpu kernel>"},
		{"\xe2\x82\xac", "\u20ac"},
		{"\u202egpj.exe", "\ufffdgpj.exe"},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect_legal(pm_bytes_of(rows[i].raw), rows[i].want);
	expect_legal((struct pm_bytes){(const uint8_t *)"a\0b", 3}, "a\ufffdb");
}

static void test_long_names_are_cut_at_a_character_with_a_hash(void **state)
{
	char raw[3001], other[3001], name[PMFS_NAME_SIZE], second[PMFS_NAME_SIZE];
	memset(raw, 'x', 200);
	raw[200] = 0;
	assert_int_equal(pmfs_name_legal(pm_bytes_of(raw), name), 200);
	assert_memory_equal(name, raw, 200);
	memset(raw, 'x', 3000);
	raw[3000] = 0;
	memcpy(other, raw, sizeof(raw));
	other[2999] = 'y';
	assert_int_equal(pmfs_name_legal(pm_bytes_of(raw), name), 200);
	assert_int_equal(name[191], '~');
	assert_int_equal(pmfs_name_legal(pm_bytes_of(other), second), 200);
	assert_memory_equal(name, second, 192);
	assert_memory_not_equal(name + 192, second + 192, 8);
	for (size_t i = 0; i < 3000; i++)
		raw[i] = i % 2 ? '\xa9' : '\xc3'; /* é */
	size_t len = pmfs_name_legal(pm_bytes_of(raw), name);
	assert_int_equal(len, 199); /* 95 characters of two bytes, and the hash */
	assert_int_equal(name[190], '~');
}

/* ---- siblings ---- */

static struct pm_bytes raw_of(void *context, uint32_t item, struct pm_text *scratch)
{
	(void)scratch;
	return pm_bytes_of(((const char *const *)context)[item]);
}

static uint32_t same(void *context, uint32_t k)
{
	(void)context;
	return k;
}

static const char *const reserved[] = {"metrics.csv", "metrics", NULL};

static void check_siblings(const char *const *raw, const char *const *want, uint32_t n)
{
	struct pmfs_naming naming = {.n = n,
		.item = same,
		.raw = raw_of,
		.reserved = reserved,
		.context = (void *)(uintptr_t)raw};
	struct pmfs_siblings *s;
	assert_int_equal(pmfs_siblings_build(&naming, &s, NULL), 0);
	for (uint32_t i = 0; i < n; i++) {
		char name[PMFS_NAME_SIZE];
		uint32_t item = 1000;
		size_t len = pmfs_siblings_name(s, &naming, i, name);
		name[len] = 0;
		assert_string_equal(name, want[i]);
		assert_true(pmfs_siblings_find(s, &naming, pm_bytes_of(want[i]), &item));
		assert_int_equal(item, i);
	}
	uint32_t item;
	static const char *const absent[] = {"metrics", "nobody", "f~1", "f~9", "f~02", ""};
	for (size_t i = 0; i < sizeof(absent) / sizeof(absent[0]); i++)
		assert_false(pmfs_siblings_find(s, &naming, pm_bytes_of(absent[i]), &item));
	s->cached.free(&s->cached);
}

static void test_siblings_of_one_name_are_numbered_in_database_order(void **state)
{
	static const char *const raw[] = {"f", "g", "f", "", "f", "metrics", ""};
	static const char *const want[] = {
		"f", "g", "f~2", "(unknown)", "f~3", "metrics~2", "(unknown)~2"};
	check_siblings(raw, want, 7);
}

static void test_siblings_share_a_long_name(void **state)
{
	enum { LONG = 3000 };
	static char raw[LONG + 1];
	static char want[3][PMFS_NAME_SIZE];
	memset(raw, 'n', LONG);
	size_t len = pmfs_name_legal(pm_bytes_of(raw), want[0]);
	want[0][len] = 0;
	memcpy(want[1], want[0], len);
	memcpy(want[2], want[0], len);
	memcpy(want[1] + len, "~2", 3);
	memcpy(want[2] + len, "~3", 3);
	check_siblings((const char *const[]){raw, "f", raw, raw},
		(const char *const[]){want[0], "f", want[1], want[2]}, 4);
}

static void test_a_name_that_looks_numbered_stays_unique(void **state)
{
	static const char *const raw[] = {"f", "f", "f~2", "f", "f~3"};
	static const char *const want[] = {"f", "f~2", "f~2~2", "f~3", "f~3~2"};
	check_siblings(raw, want, 5);
}

static void test_many_siblings_are_found(void **state)
{
	enum { N = 100000 };
	char **raw = calloc(N, sizeof(*raw));
	struct pmfs_naming naming = {.n = N, .item = same, .raw = raw_of, .context = raw};
	struct pmfs_siblings *s;
	for (int i = 0; i < N; i++)
		assert_true(asprintf(&raw[i], "function %d", i / 10) > 0);
	assert_int_equal(pmfs_siblings_build(&naming, &s, NULL), 0);
	for (uint32_t i = 0; i < N; i += 997) {
		char name[PMFS_NAME_SIZE];
		uint32_t item = N;
		size_t len = pmfs_siblings_name(s, &naming, i, name);
		struct pm_bytes bytes = {(const uint8_t *)name, len};
		assert_true(pmfs_siblings_find(s, &naming, bytes, &item));
		assert_int_equal(item, i);
	}
	s->cached.free(&s->cached);
	for (int i = 0; i < N; i++)
		free(raw[i]);
	free(raw);
}

/* ---- paths ---- */

static uint32_t find(const struct pmfs_paths *p, uint32_t node, const char *name)
{
	return pmfs_paths_find(p, node, pm_bytes_of(name));
}

static void test_paths_become_a_tree_in_order_of_addition(void **state)
{
	struct pm_arena arena = {.block = NULL};
	struct pmfs_paths p = pmfs_paths_in(&arena);
	assert_true(pmfs_paths_add(&p, "raw/b.csv", PMFS_PAYLOAD_DOCUMENT, 0));
	assert_true(pmfs_paths_add(&p, "raw/a.csv", PMFS_PAYLOAD_DOCUMENT, 1));
	assert_true(pmfs_paths_add(&p, "raw/metrics/x.yaml", PMFS_PAYLOAD_DOCUMENT, 2));
	assert_false(pmfs_paths_add(&p, "raw/b.csv", PMFS_PAYLOAD_DOCUMENT, 3));
	assert_true(pmfs_paths_add(&p, "top.csv", PMFS_PAYLOAD_DOCUMENT, 4));
	pmfs_paths_freeze(&p);
	uint32_t raw = find(&p, 0, "raw");
	assert_int_not_equal(raw, PM_NONE);
	assert_int_equal(p.nodes[raw].n, 3);
	assert_int_equal(p.nodes[pmfs_paths_child(&p, raw, 0)].index, 0);
	assert_int_equal(p.nodes[pmfs_paths_child(&p, raw, 1)].index, 1);
	assert_int_equal(p.nodes[find(&p, find(&p, raw, "metrics"), "x.yaml")].index, 2);
	assert_int_equal(p.nodes[find(&p, 0, "top.csv")].index, 4);
	assert_int_equal(find(&p, raw, "c.csv"), PM_NONE);
	assert_int_equal(find(&p, raw, ""), PM_NONE);
	pm_arena_done(&arena);
}

static void test_a_tree_without_paths_has_a_root(void **state)
{
	struct pm_arena arena = {.block = NULL};
	struct pmfs_paths p = pmfs_paths_in(&arena);
	pmfs_paths_freeze(&p);
	assert_int_equal(p.n, 1);
	assert_int_equal(p.nodes[0].n, 0);
	pm_arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hostile_names_become_legal),
		cmocka_unit_test(test_long_names_are_cut_at_a_character_with_a_hash),
		cmocka_unit_test(test_siblings_of_one_name_are_numbered_in_database_order),
		cmocka_unit_test(test_siblings_share_a_long_name),
		cmocka_unit_test(test_a_name_that_looks_numbered_stays_unique),
		cmocka_unit_test(test_many_siblings_are_found),
		cmocka_unit_test(test_paths_become_a_tree_in_order_of_addition),
		cmocka_unit_test(test_a_tree_without_paths_has_a_root),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
