/*
 * Names by the DWARF of real compilers, from files as they stand on a machine: those in symbols/,
 * whose README.md says how they were made.
 */
#include "tests/unittest.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "formats/symbols/internal.h"

static const char *folder; /* symbols/ */
static const char *source; /* where work.c is */
static struct sym_root root;

static int open_folder(void **state)
{
	source = "/src/work.c";
	return sym_root_open(&root, folder, NULL);
}

static int close_folder(void **state)
{
	sym_root_done(&root);
	return 0;
}

/* Scope i is one of a line, or is called `name`, in work.c. Returns its parent. */
static uint32_t check(const struct sym_scopes *s, uint32_t i, enum sym_scope_kind kind,
	uint32_t line, const char *name)
{
	const struct sym_scope *scope = &s->items[i];
	assert_int_equal(scope->kind, kind);
	assert_int_equal(scope->line, line);
	assert_true(pm_bytes_equal(sym_scopes_text_of(s, scope->name), pm_bytes_of(name)));
	assert_true(pm_bytes_equal(sym_scopes_text_of(s, scope->file), pm_bytes_of(source)));
	return scope->parent;
}

/* `address` is one of `sum += p[i]`. */
static void check_module(const char *path, uint64_t address)
{
	const struct sym_place place = {.folder = -1, .root = &root};
	struct pm_damage_list damage = {.n = 0};
	struct sym_names *symbols;
	const struct sym_scopes *s;
	uint32_t i, module;
	assert_int_equal(sym_names_new(&symbols, &place, &damage), 0);
	assert_int_equal(
		sym_names_module(symbols, &(struct sym_module){.path = pm_bytes_of(path)}, &module),
		0);
	assert_int_equal(sym_names_find(symbols, module, address, &s, &i), 0);
	assert_non_null(s);
	i = check(s, i, SYM_SCOPE_LINE, 6, "");
	i = check(s, i, SYM_SCOPE_INLINED, 2, "twice_the_sum_of_elements");
	i = check(s, i, SYM_SCOPE_LINE, 12, "");
	i = check(s, i, SYM_SCOPE_FUNCTION, 10, "work");
	assert_int_equal(i, UINT32_MAX);
	sym_names_free(symbols);
}

static void clang_numbers_files_from_0(void **state)
{
	check_module("/clang", 0x400160);
}

static void sections_are_compressed(void **state)
{
	check_module("/compressed", 0x400157);
}

/* The folder of the compiler is relative, too; libdw has it in the path already. */
static void paths_are_relative(void **state)
{
	source = "proj/work.c";
	check_module("/relative", 0x400157);
	source = "/src/work.c";
}

static void names_are_in_another_file(void **state)
{
	check_module("/dwz", 0x400157);
}

/* Then libdw would look for it anywhere; functions have the names of their symbols. */
static void names_are_in_a_missing_file(void **state)
{
	const struct sym_root nowhere = {.is_open = false};
	struct sym_dwarf *d;
	struct pm_input file;
	assert_int_equal(sym_root_find(&root, &(struct sym_module){.path = pm_bytes_of("/dwz")}, 0,
				 &file, NULL),
		1);
	assert_int_equal(sym_dwarf_open(&d, &file, &nowhere), 0);
	assert_null(d);
	assert_int_equal(sym_dwarf_open(&d, &file, &root), 0);
	assert_non_null(d);
	sym_dwarf_free(d);
	pm_input_close(&file);
}

/* ---- a folder of its own with copies of files ---- */

static char own[] = "/tmp/profmount-test-debug-XXXXXX";

/* The path of a file in the folder; valid until the next call. */
static const char *in_own(const char *name)
{
	static char path[128];
	snprintf(path, sizeof(path), "%s/%s", own, name);
	return path;
}

static void copy(const char *name)
{
	char path[4096], bytes[4096];
	size_t n;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	FILE *from = fopen(path, "rb"), *to = fopen(in_own(name), "wb");
	assert_non_null(from);
	assert_non_null(to);
	while ((n = fread(bytes, 1, sizeof(bytes), from)) > 0)
		assert_int_equal(fwrite(bytes, 1, n, to), n);
	fclose(from);
	assert_int_equal(fclose(to), 0);
}

static int make_own(void **state)
{
	strcpy(strrchr(own, '-'), "-XXXXXX");
	assert_non_null(mkdtemp(own));
	assert_int_equal(mkdir(in_own("debug"), 0700), 0);
	copy("clang");
	copy("dwz");
	return 0;
}

static int remove_own(void **state)
{
	unlink(in_own("debug/alternate"));
	rmdir(in_own("debug/alternate"));
	unlink(in_own("debug/pipe"));
	rmdir(in_own("debug"));
	unlink(in_own("clang"));
	unlink(in_own("dwz"));
	return rmdir(own);
}

/* The function has the name of its symbol, and damage has `n` rows, which name the module. */
static void check_symbols_alone(const char *path, uint64_t address, size_t n)
{
	struct sym_root here;
	const struct sym_place place = {.folder = -1, .root = &here};
	struct pm_damage_list damage = PM_DAMAGE_LIST_INIT;
	struct sym_names *symbols;
	const struct sym_scopes *s;
	uint32_t i, module;
	assert_int_equal(sym_root_open(&here, own, NULL), 0);
	assert_int_equal(sym_names_new(&symbols, &place, &damage), 0);
	for (int again = 0; again < 2; again++) {
		assert_int_equal(sym_names_module(symbols,
					 &(struct sym_module){.path = pm_bytes_of(path)}, &module),
			0);
		assert_int_equal(sym_names_find(symbols, module, address, &s, &i), 0);
		assert_non_null(s);
		assert_int_equal(s->items[i].kind, SYM_SCOPE_FUNCTION);
		assert_true(pm_bytes_equal(
			sym_scopes_text_of(s, s->items[i].name), pm_bytes_of("work")));
	}
	assert_int_equal(damage.n, n);
	for (size_t k = 0; k < n; k++)
		assert_string_equal(damage.rows[k].file, path);
	sym_names_free(symbols);
	sym_root_done(&here);
	pm_damage_done(&damage);
}

/* ---- limits ---- */

enum { SMALL = 256 << 20 };

/* What the limit counts of this process: the sixth number of this file, in pages. */
static size_t data_bytes(void)
{
	size_t pages = 0;
	FILE *f = fopen("/proc/self/statm", "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%*u %*u %*u %*u %*u %zu", &pages), 1);
	fclose(f);
	return pages * (size_t)sysconf(_SC_PAGESIZE);
}

/* A file is made too large for the limit by what it has at its end, which is not on the disk. */
static void check_refused(const char *large, const char *path, uint64_t address)
{
	struct rlimit was, limit;
	assert_int_equal(truncate(in_own(large), 4 * (off_t)SMALL), 0);
	assert_int_equal(getrlimit(RLIMIT_DATA, &was), 0);
	limit = (struct rlimit){data_bytes() + SMALL, was.rlim_max};
	assert_int_equal(setrlimit(RLIMIT_DATA, &limit), 0);
	check_symbols_alone(path, address, 1);
	assert_int_equal(setrlimit(RLIMIT_DATA, &was), 0);
}

static void a_mapping_that_may_not_be_written_has_symbols(void **state)
{
	check_refused("clang", "/clang", 0x400160);
}

static void an_alternate_that_may_not_be_written_is_said(void **state)
{
	copy("debug/alternate");
	check_refused("debug/alternate", "/dwz", 0x400157);
}

/* ---- what is no file ---- */

static void put_socket(const char *path)
{
	struct sockaddr_un name = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_true(fd >= 0);
	snprintf(name.sun_path, sizeof(name.sun_path), "%s", path);
	assert_int_equal(bind(fd, (struct sockaddr *)&name, sizeof(name)), 0);
	close(fd);
}

static void put_pipe(const char *path)
{
	assert_int_equal(mkfifo(path, 0600), 0);
}

static void put_link_to_pipe(const char *path)
{
	assert_int_equal(symlink("pipe", path), 0);
	put_pipe(in_own("debug/pipe"));
}

static void put_dangling_link(const char *path)
{
	assert_int_equal(symlink("nothing", path), 0);
}

static void put_link_to_itself(const char *path)
{
	assert_int_equal(symlink("alternate", path), 0);
}

/* Which is endless; only root can make one. */
static void put_device(const char *path)
{
	if (mknod(path, S_IFCHR | 0600, 0x105) != 0)
		assert_int_equal(symlink("/dev/zero", path), 0);
}

static void put_folder(const char *path)
{
	assert_int_equal(mkdir(path, 0700), 0);
}

static void put_nothing(const char *path)
{
	FILE *f = fopen(path, "wb");
	assert_non_null(f);
	fclose(f);
}

static void an_alternate_that_is_no_file_is_not_waited_for(void **state)
{
	static void (*const kinds[])(const char *) = {put_pipe, put_link_to_pipe, put_socket,
		put_device, put_dangling_link, put_link_to_itself, put_folder, put_nothing};
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		kinds[i](in_own("debug/alternate"));
		alarm(60); /* ends the test where it is waited for */
		check_symbols_alone("/dwz", 0x400157, 0);
		alarm(0);
		if (unlink(in_own("debug/alternate")) != 0)
			assert_int_equal(rmdir(in_own("debug/alternate")), 0);
	}
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(clang_numbers_files_from_0),
		cmocka_unit_test(sections_are_compressed),
		cmocka_unit_test(paths_are_relative),
		cmocka_unit_test(names_are_in_another_file),
		cmocka_unit_test(names_are_in_a_missing_file),
		cmocka_unit_test_setup_teardown(
			a_mapping_that_may_not_be_written_has_symbols, make_own, remove_own),
		cmocka_unit_test_setup_teardown(
			an_alternate_that_may_not_be_written_is_said, make_own, remove_own),
		cmocka_unit_test_setup_teardown(
			an_alternate_that_is_no_file_is_not_waited_for, make_own, remove_own),
	};
	if (argc < 2 || !sym_dwarf_is_read())
		return 77;
	folder = argv[1];
	return cmocka_run_group_tests(tests, open_folder, close_folder);
}
