/*
 * Names by the DWARF of real compilers, from files as they stand on a machine: those in symbols/,
 * whose README.md says how they were made.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <unistd.h>

#include "formats/hpcrun/symbols/dwarf.h"
#include "formats/hpcrun/symbols/symbols.h"

static const char *folder; /* symbols/ */
static const char *source; /* where work.c is */
static struct hpcrun_elsewhere elsewhere;

static int open_folder(void **state)
{
	(void)state;
	source = "/src/work.c";
	return hpcrun_elsewhere_open(&elsewhere, folder, NULL);
}

static int close_folder(void **state)
{
	(void)state;
	hpcrun_elsewhere_done(&elsewhere);
	return 0;
}

/* Scope i is one of a line, or is called `name`, in work.c. Returns its parent. */
static uint32_t check(const struct hpcrun_scopes *s, uint32_t i, enum hpcrun_scope_kind kind,
	uint32_t line, const char *name)
{
	const struct hpcrun_scope *scope = &s->items[i];
	assert_int_equal(scope->kind, kind);
	assert_int_equal(scope->line, line);
	assert_true(pm_bytes_equal(hpcrun_scopes_text_of(s, scope->name), pm_bytes_of(name)));
	assert_true(pm_bytes_equal(hpcrun_scopes_text_of(s, scope->file), pm_bytes_of(source)));
	return scope->parent;
}

/* `address` is one of `sum += p[i]`. */
static void check_module(const char *path, uint64_t address)
{
	const struct hpcrun_symbols_place place = {.folder = -1, .elsewhere = &elsewhere};
	struct pm_damage_list damage = {.n = 0};
	struct hpcrun_symbols *symbols;
	const struct hpcrun_scopes *s;
	uint32_t i;
	assert_int_equal(hpcrun_symbols_new(&symbols, &place, &damage), 0);
	assert_int_equal(hpcrun_symbols_find(symbols, pm_bytes_of(path), address, &s, &i), 0);
	assert_non_null(s);
	i = check(s, i, HPCRUN_SCOPE_LINE, 6, "");
	i = check(s, i, HPCRUN_SCOPE_INLINED, 2, "twice_the_sum_of_elements");
	i = check(s, i, HPCRUN_SCOPE_LINE, 12, "");
	i = check(s, i, HPCRUN_SCOPE_FUNCTION, 10, "work");
	assert_int_equal(i, UINT32_MAX);
	hpcrun_symbols_free(symbols);
}

static void clang_numbers_files_from_0(void **state)
{
	(void)state;
	check_module("/clang", 0x400160);
}

static void sections_are_compressed(void **state)
{
	(void)state;
	check_module("/compressed", 0x400157);
}

/* The folder of the compiler is relative, too; libdw has it in the path already. */
static void paths_are_relative(void **state)
{
	(void)state;
	source = "proj/work.c";
	check_module("/relative", 0x400157);
	source = "/src/work.c";
}

static void names_are_in_another_file(void **state)
{
	(void)state;
	check_module("/dwz", 0x400157);
}

/* Then libdw would look for it anywhere; functions have the names of their symbols. */
static void names_are_in_a_missing_file(void **state)
{
	const struct hpcrun_elsewhere nowhere = {.is_open = false};
	struct hpcrun_dwarf *d;
	struct pm_input file;
	(void)state;
	assert_int_equal(hpcrun_elsewhere_find(&elsewhere, pm_bytes_of("/dwz"), 0, &file), 1);
	assert_int_equal(hpcrun_dwarf_open(&d, &file, &nowhere), 0);
	assert_null(d);
	assert_int_equal(hpcrun_dwarf_open(&d, &file, &elsewhere), 0);
	assert_non_null(d);
	hpcrun_dwarf_free(d);
	pm_input_close(&file);
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clang_numbers_files_from_0),
		cmocka_unit_test(sections_are_compressed),
		cmocka_unit_test(paths_are_relative),
		cmocka_unit_test(names_are_in_another_file),
		cmocka_unit_test(names_are_in_a_missing_file),
	};
	if (argc < 2 || !hpcrun_dwarf_is_read())
		return 77;
	folder = argv[1];
	return cmocka_run_group_tests(tests, open_folder, close_folder);
}
