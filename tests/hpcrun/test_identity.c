/* Tests formats/hpcrun/threadlist.c: identities, and the names that identities come from. */
#include "tests/unittest.h"

#include <stdio.h>

#include "formats/hpcrun/hpcrun.h"

enum { MOST = 4 };

static struct hpcrun_claim claim_of(uint64_t rank, uint64_t thread, uint64_t process)
{
	struct hpcrun_claim claim = {.has_process = process != 0, .process = process};
	hpcrun_claim_add(&claim, pm_bytes_of("RANK"))->logical = rank;
	hpcrun_claim_add(&claim, pm_bytes_of("THREAD"))->logical = thread;
	return claim;
}

static void check(const struct hpcrun_claim *claims, uint32_t n, const char *const *paths)
{
	struct pm_thread threads[MOST] = {{.id = 0}};
	struct pm_arena arena = {.block = NULL};
	struct pm_threads keys;
	hpcrun_identities_resolve(&arena, claims, n, threads, &keys);
	for (uint32_t i = 0; i < n; i++) {
		char path[256] = "";
		for (uint32_t k = 0; k < threads[i].n_identity; k++)
			snprintf(path + strlen(path), sizeof(path) - strlen(path), "/%s=%llu",
				keys.keys[threads[i].identity[k].key],
				(unsigned long long)threads[i].identity[k].value);
		assert_string_equal(path, paths[i]);
	}
	pm_arena_done(&arena);
}

static void test_claims_that_differ_stay_as_they_are(void **state)
{
	const struct hpcrun_claim claims[] = {claim_of(0, 0, 7), claim_of(0, 1, 7)};
	const char *const paths[] = {"/rank=0/thread=0", "/rank=0/thread=1"};
	check(claims, 2, paths);
}

static void test_claims_that_clash_get_process_then_profile(void **state)
{
	const struct hpcrun_claim claims[] = {
		claim_of(0, 0, 7), claim_of(0, 0, 8), claim_of(0, 0, 8), claim_of(0, 1, 8)};
	const char *const paths[] = {"/rank=0/thread=0/process=7",
		"/rank=0/thread=0/process=8/profile=2", "/rank=0/thread=0/process=8/profile=3",
		"/rank=0/thread=1"};
	check(claims, 4, paths);
}

static void test_no_directory_stands_inside_of_a_thread(void **state)
{
	struct hpcrun_claim claims[3] = {claim_of(0, 0, 0), claim_of(0, 1, 0), claim_of(0, 0, 0)};
	const char *const paths[] = {"/rank=0/profile=1", "/rank=0/thread=1", "/profile=3"};
	claims[0].n = 1;
	claims[2].n = 0;
	check(claims, 3, paths);
}

static void test_ids_made_by_files_are_numbered_by_physical_id(void **state)
{
	static const uint64_t hosts[] = {900, 300, 900, 500};
	struct hpcrun_claim claims[MOST];
	for (size_t i = 0; i < MOST; i++) {
		claims[i] = (struct hpcrun_claim){.n = 0};
		struct hpcrun_level *node = hpcrun_claim_add(&claims[i], pm_bytes_of("NODE"));
		node->renumber = true;
		node->physical = hosts[i];
		hpcrun_claim_add(&claims[i], pm_bytes_of("RANK"))->logical = i;
	}
	const char *const paths[] = {
		"/node=2/rank=0", "/node=0/rank=1", "/node=2/rank=2", "/node=1/rank=3"};
	check(claims, MOST, paths);
}

static void test_keys_are_legal_whatever_the_dictionary_says(void **state)
{
	static const struct {
		const char *name, *key;
	} names[] = {{"GPUSTREAM", "gpustream"}, {"../x y", "x_y"}, {"", "kind"}, {"12", "kind"},
		{"path", "kind"}, {"PROCESS", "kind"}, {"a2", "a2"}};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct hpcrun_claim claim = {.n = 0};
		assert_non_null(hpcrun_claim_add(&claim, pm_bytes_of(names[i].name)));
		assert_string_equal(claim.levels[0].key, names[i].key);
		assert_null(hpcrun_claim_add(&claim, pm_bytes_of(names[i].name)));
	}
}

static void test_file_names_are_parsed_from_the_right(void **state)
{
	struct hpcrun_file_name name =
		hpcrun_file_name_parse(pm_bytes_of("a-b.exe-000003-501-007f0101-4242-0"));
	assert_true(name.has_parts);
	assert_true(pm_bytes_equal(name.program, pm_bytes_of("a-b.exe")));
	assert_true(name.rank == 3 && name.thread == 501 && name.pid == 4242);
	static const char *const others[] = {"", "era-l", "a-1-2-x-4",
		"-000003-501-007f0101-4242-0", "a-b-501-007f0101-4242-0",
		"a-1-2-3-99999999999999999999-0"};
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
		name = hpcrun_file_name_parse(pm_bytes_of(others[i]));
		assert_false(name.has_parts);
		assert_true(pm_bytes_equal(name.program, pm_bytes_of(others[i])));
	}
}

static void test_special_nodes_have_names(void **state)
{
	static const struct {
		uint32_t module;
		uint64_t ip;
		const char *name;
	} nodes[] = {
		{0, 0, "<primary root>"},
		{0, 1, "<partial root>"},
		{0, 0x5e5072696d617279, "<primary root>"},
		{0, 0x7c204d61696e2020, "<program root>"},
		{0, 0x4e6f416374767479, "<no activity>"},
		{0, 0x4e65772043616c6c, "<New Call>"},
		{0, 0x1234, "<placeholder 0x1234>"},
		{65533, 0, "<gpu root>"},
		{65532, 7, "<gpu range 7>"},
		{65531, 2, "<gpu context 2>"},
	};
	struct pm_text t = {.p = NULL};
	for (size_t i = 0; i < sizeof(nodes) / sizeof(nodes[0]); i++) {
		pm_text_clear(&t);
		hpcrun_placeholder_name(&t, nodes[i].module, nodes[i].ip);
		assert_true(pm_bytes_equal(pm_text_view(&t), pm_bytes_of(nodes[i].name)));
	}
	pm_text_done(&t);
}

static void test_units_stand_in_parentheses(void **state)
{
	static const char *const names[][2] = {{"CPUTIME (sec)", "sec"}, {"GXCOPY:H2D (B)", "B"},
		{"cycles", ""}, {"", ""}, {")", ""}, {"a (b) c", ""}, {"f(x) (y)", "y"}};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		assert_true(pm_bytes_equal(
			hpcrun_metric_unit(pm_bytes_of(names[i][0])), pm_bytes_of(names[i][1])));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_claims_that_differ_stay_as_they_are),
		cmocka_unit_test(test_claims_that_clash_get_process_then_profile),
		cmocka_unit_test(test_no_directory_stands_inside_of_a_thread),
		cmocka_unit_test(test_ids_made_by_files_are_numbered_by_physical_id),
		cmocka_unit_test(test_keys_are_legal_whatever_the_dictionary_says),
		cmocka_unit_test(test_file_names_are_parsed_from_the_right),
		cmocka_unit_test(test_special_nodes_have_names),
		cmocka_unit_test(test_units_stand_in_parentheses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
