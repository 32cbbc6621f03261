/*
 * What a function is: identical functions, addresses, parts, placeholders, functions without a
 * name.
 */
#include "harness.h"

#define ROOT PMFS_PLACE_ROOT

#define HEADER "function_id|contexts|time_ns_excl|time_ns_incl|line|category|module|file|name\n"

static void cost(struct fake *f, uint32_t number, double inclusive, double exclusive)
{
	fake_value(f, 0, number, 1, inclusive);
	fake_value(f, 0, number, 2, exclusive);
}

static void instruction(struct fake *f, uint32_t number, uint32_t parent, const char *module,
	uint64_t offset, bool nested)
{
	struct pm_frame frame = {.kind = PM_KIND_INSTRUCTION,
		.has_offset = true,
		.nested = nested,
		.function = PM_NONE,
		.module = fake_text(f, module),
		.offset = offset};
	fake_context(f, number, parent, &frame);
}

static void entry(struct fake *f, uint32_t number, const char *name)
{
	struct pm_frame frame = {
		.kind = PM_KIND_ENTRY, .function = PM_NONE, .name = fake_text(f, name)};
	fake_context(f, number, 0, &frame);
}

static void assert_functions(struct fake *f, const char *rows)
{
	char want[2000] = HEADER;
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	strcat(want, rows);
	assert_view(m, ROOT, "functions.csv", 0, want);
	assert_view(m, PMFS_PLACE_THREAD, "functions.csv", 0, want);
	views_done(m, f);
}

/* libx+0x10 is reached twice on one path: inclusive cost counts once, an address in an address. */
static void test_code_without_a_function_is_an_address(void **state)
{
	struct fake *f = fake_with_time();
	fake_thread(f, 0, 0);
	entry(f, 1, "main thread");
	instruction(f, 2, 1, "/lib/libx", 0x10, false);
	instruction(f, 3, 2, "/lib/libx", 0x20, false);
	instruction(f, 4, 3, "/lib/libx", 0x10, false);
	cost(f, 1, 100, 0);
	cost(f, 2, 100, 10);
	cost(f, 3, 90, 30);
	cost(f, 4, 60, 60);
	assert_functions(f,
		"1|2|70|100|||/lib/libx||libx+0x10\n"
		"2|1|30|90|||/lib/libx||libx+0x20\n");
}

/* What the function's own cost holds already is not added again; what it does not hold is. */
static void test_code_below_its_function_is_part_of_it(void **state)
{
	struct fake *f = fake_with_time();
	fake_thread(f, 0, 0);
	fake_call(f, 1, 0, fake_function(f, "main", "/src/a.c", 1));
	instruction(f, 2, 1, "/bin/app", 0x10, false);
	fake_line(f, 3, 1, "/src/a.c", 2);
	instruction(f, 4, 3, "/bin/app", 0x20, true);
	cost(f, 1, 100, 60);
	cost(f, 2, 40, 40);
	cost(f, 3, 60, 60);
	cost(f, 4, 60, 60);
	assert_functions(f, "1|1|100|100|1||/bin/app|/src/a.c|main\n");
}

/* Called from a line, of another module, or below an address that is: each is an address. */
static void test_called_or_foreign_code_is_an_address(void **state)
{
	struct fake *f = fake_with_time();
	fake_thread(f, 0, 0);
	fake_call(f, 1, 0, fake_function(f, "main", "/src/a.c", 1));
	fake_line(f, 2, 1, "/src/a.c", 2);
	instruction(f, 3, 2, "/bin/app", 0x10, false);
	instruction(f, 4, 1, "/lib/libx", 0x20, true);
	instruction(f, 5, 4, "/bin/app", 0x30, true);
	cost(f, 1, 100, 50);
	cost(f, 2, 70, 30);
	cost(f, 3, 40, 40);
	cost(f, 4, 30, 20); /* nested: main's 50 holds these 20 */
	cost(f, 5, 5, 5);   /* and these 20 hold the 5 */
	assert_functions(f,
		"1|1|40|40|||/bin/app||app+0x10\n"
		"2|1|30|100|1||/bin/app|/src/a.c|main\n"
		"3|1|15|30|||/lib/libx||libx+0x20\n"
		"4|1|5|5|||/bin/app||app+0x30\n");
}

static void test_identical_functions_are_one(void **state)
{
	struct fake *f = fake_with_time();
	fake_thread(f, 0, 0);
	uint32_t first = fake_function(f, "work", "/src/a.c", 3);
	uint32_t other = fake_function(f, "work", "/src/a.c", 9);
	uint32_t second = fake_function(f, "work", "/src/a.c", 3);
	fake_call(f, 1, 0, first);
	fake_call(f, 2, 1, second);
	fake_call(f, 3, 2, other);
	cost(f, 1, 10, 1);
	cost(f, 2, 9, 2);
	cost(f, 3, 7, 7);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_view(m, ROOT, "callers.csv", 0,
		"caller_id|callee_id|calls|time_ns_excl|time_ns_incl|line|file|caller|callee\n"
		"|2||1|10||||work\n"
		"2|1||7|7|||work|work\n"
		"2|2||2|0|||work|work\n");
	pmfs_model_free(m);
	assert_functions(f,
		"1|1|7|7|9||/bin/app|/src/a.c|work\n"
		"2|2|3|10|3||/bin/app|/src/a.c|work\n");
}

/* The lowest of the database's numbers; functions that it has not are numbered behind its own. */
static void test_numbers_are_the_databases_own(void **state)
{
	struct fake *f = fake_with_time();
	const struct pm_tree *tree;
	struct pm_error err = {.offset = PM_NO_OFFSET};
	fake_thread(f, 0, 0);
	struct pm_function twin = {.name = fake_text(f, "twin"), .id = 7};
	pm_tree_function(f->builder, &twin);
	twin.id = 4;
	pm_tree_function(f->builder, &twin);
	fake_context(f, 1, 0, &(struct pm_frame){.kind = PM_KIND_FUNCTION, .function = 0});
	instruction(f, 2, 1, "/lib/libx", 0x10, false);
	cost(f, 1, 3, 1);
	cost(f, 2, 2, 2);
	assert_int_equal(pm_profile_tree(&f->profile, &tree, &err), 0);
	f->tree->n_function_ids = 50;
	assert_functions(f,
		"50|1|2|2|||/lib/libx||libx+0x10\n"
		"4|1|1|3|||||twin\n");
}

/* An entry is in no function; where it has own cost, that is an unknown one's, as a nameless is. */
static void test_what_has_no_name_is_unknown(void **state)
{
	struct fake *f = fake_with_time();
	fake_thread(f, 0, 0);
	entry(f, 1, "main thread");
	fake_line(f, 2, 1, "/src/a.c", 5);
	fake_context(f, 3, 1, &(struct pm_frame){.kind = PM_KIND_FUNCTION, .function = PM_NONE});
	fake_context(f, 4, 1,
		&(struct pm_frame){.kind = PM_KIND_PLACEHOLDER,
			.function = PM_NONE,
			.name = fake_text(f, "<gpu kernel>")});
	entry(f, 5, "other thread");
	cost(f, 1, 60, 10);
	cost(f, 2, 10, 10);
	cost(f, 3, 20, 20);
	cost(f, 4, 30, 30);
	cost(f, 5, 40, 0);
	assert_functions(f,
		"1|2|30|60|||||(unknown)\n"
		"2|1|30|30||gpu|||<gpu kernel>\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_code_without_a_function_is_an_address),
		cmocka_unit_test(test_code_below_its_function_is_part_of_it),
		cmocka_unit_test(test_called_or_foreign_code_is_an_address),
		cmocka_unit_test(test_identical_functions_are_one),
		cmocka_unit_test(test_numbers_are_the_databases_own),
		cmocka_unit_test(test_what_has_no_name_is_unknown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
