/* Measurements with structure files beside them: contexts have names, and costs stay. */
#include "tests/unittest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profmount/format.h"
#include "tests/hpcrun/exercise.h"
#include "tests/hpcrun/fixture.h"

static char folder[SCRATCH_PATH];
static struct pm_profile *profile;

static int set_up(void **state)
{
	char path[SCRATCH_PATH + 16];
	scratch_new(folder);
	snprintf(path, sizeof(path), "%s/structs", folder);
	return mkdir(path, 0700);
}

static int tear_down(void **state)
{
	profile = pm_profile_close(profile);
	scratch_remove(folder);
	return 0;
}

/* main calls work twice, from one line; work has a loop and an inlined function; libx is unknown.
 */
static void save_run_of(bool moves)
{
	static const uint64_t primary = 0x5e5072696d617279, main_thread = 0x7c204d61696e2020;
	const struct fixture_metric metrics[] = {{"CYCLES", false, 1, moves}};
	const struct fixture_module modules[] = {
		{"/opt/app", 0}, {"/lib/libx.so", 0}, {"/tmp/elsewhere/gpubins/12.gpubin", 0}};
	const struct fixture_node nodes[] = {
		{.number = 2, .module = 0, .ip = primary},
		{.number = 4, .parent = 2, .module = 0, .ip = main_thread},
		{.number = 6, .parent = 4, .module = 1, .ip = 0x1005},
		{.number = 8, .parent = 6, .module = 1, .ip = 0x1044, .values = {1}},
		{.number = 10, .parent = 6, .module = 1, .ip = 0x1048, .values = {2}},
		{.number = 12, .parent = 6, .module = 1, .ip = 0x1051, .values = {4}},
		{.number = 14, .parent = 4, .module = 1, .ip = 0x1006},
		{.number = 16, .parent = 14, .module = 1, .ip = 0x1044, .values = {8}},
		{.number = 18, .parent = 14, .module = 2, .ip = 0x77, .values = {16}},
		{.number = 20, .parent = 14, .module = 3, .ip = 0x10, .values = {32}},
	};
	const struct fixture_profile p = {.version = FIXTURE_0400,
		.metrics = metrics,
		.n_metrics = 1,
		.modules = modules,
		.n_modules = 3,
		.nodes = nodes,
		.n_nodes = sizeof(nodes) / sizeof(*nodes),
		.n_epochs = 1};
	struct pm_text t = {.p = NULL};
	fixture_profile_write(&p, &t);
	assert_int_equal(fixture_save(&t, folder, "app-000000-000-007f0101-1-0.hpcrun"), 0);
	pm_text_done(&t);
}

static void save_run(void)
{
	save_run_of(false);
}

static const char app[] =
	"<?xml version=\"1.0\"?>\n<HPCToolkitStructure><LM i=\"2\" n=\"/opt/app\"><F n=\"/src/a.c\">"
	"<P n=\"main\" l=\"20\" v=\"{[0x1000-0x1001)}\"><S l=\"21\" v=\"{[0x1000-0x1010)}\"/></P>"
	"<P n=\"work\" l=\"5\" v=\"{[0x1040-0x1041)}\"><S l=\"5\" v=\"{[0x1040-0x1044)}\"/>"
	"<L l=\"6\" v=\"{[0x1044-0x1045)}\"><S l=\"7\" v=\"{[0x1044-0x1050)}\"/>"
	"<A l=\"8\" n=\"\" v=\"{}\"><A l=\"3\" f=\"/src/a.h\" n=\"get\" v=\"{}\">"
	"<S l=\"4\" v=\"{[0x1050-0x1060)}\"/></A></A></L></P></F></LM></HPCToolkitStructure>\n";

static const char gpu[] =
	"<HPCToolkitStructure><LM n=\"/home/me/run.m/gpubins/12.gpubin\"><F n=\"[12.gpubin]\">"
	"<P n=\"kernel()\" l=\"0\" v=\"{[0x0-0x1)}\"><S l=\"0\" v=\"{[0x0-0x100)}\"/></P></F></LM>"
	"</HPCToolkitStructure>\n";

static void save_struct(const char *text, size_t len, const char *name)
{
	struct pm_text t = {.p = NULL};
	pm_text_add(&t, text, len);
	assert_int_equal(fixture_save(&t, folder, name), 0);
	pm_text_done(&t);
}

static void open_run(bool no_symbols)
{
	const struct pm_open_options options = {.no_symbols = no_symbols};
	profile = pm_profile_close(profile);
	assert_int_equal(pm_profile_open(folder, NULL, &options, &profile, NULL), 0);
}

static void add_text(struct pm_text *out, const struct pm_tree *tree, uint32_t text)
{
	pm_text_bytes(out, tree->texts[text]);
}

/* A context a line: depth, kind, name, file:line, inclusive cost. */
static const char *describe(void)
{
	static char ret[1 << 16];
	struct pm_text out = {.p = NULL};
	const struct pm_tree *tree;
	assert_int_equal(pm_profile_tree(profile, &tree, NULL), 0);
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		static const char letters[] = "EFILSAPO";
		const struct pm_frame *frame = pm_tree_frame(tree, i);
		struct pm_value values[4];
		int64_t n = profile->ops->run_costs(profile, i, values, 4, NULL);
		pm_text_printf(&out, "%u%c ", (unsigned)tree->depth[i], letters[frame->kind]);
		if (frame->kind == PM_KIND_INSTRUCTION)
			pm_text_printf(&out, "0x%llx", (unsigned long long)frame->offset);
		add_text(&out, tree, frame->name);
		if (frame->file) {
			pm_text_str(&out, " ");
			add_text(&out, tree, frame->file);
			pm_text_printf(&out, ":%u", (unsigned)frame->line);
		}
		if (n > 0)
			pm_text_printf(&out, " =%g", values[n - 1].f);
		pm_text_str(&out, "\n");
	}
	assert_true(out.len < sizeof(ret));
	memcpy(ret, out.p, out.len);
	ret[out.len] = '\0';
	pm_text_done(&out);
	return ret;
}

static double whole(void)
{
	struct pm_value values[4];
	int64_t n = profile->ops->run_costs(profile, 0, values, 4, NULL);
	return n > 0 ? values[n - 1].f : 0;
}

static size_t damage_of(void)
{
	const struct pm_damages *damages;
	assert_int_equal(pm_profile_damage(profile, &damages, NULL), 0);
	return damages->n;
}

static void test_contexts_are_named(void **state)
{
	save_run();
	save_struct(app, strlen(app), "structs/app.hpcstruct");
	save_struct(gpu, strlen(gpu), "structs/12.gpubin-gpucfg-yes.hpcstruct");
	open_run(false);
	assert_string_equal(describe(),
		"0P <primary root> =63\n"
		"1P <program root> =63\n"
		"2F main /src/a.c:20 =63\n"
		"3S  /src/a.c:21 =63\n"
		"4F kernel() [12.gpubin]:0 =32\n"
		"5S  [12.gpubin]:0 =32\n"
		"4A 0x77 =16\n"
		"4F work /src/a.c:5 =15\n"
		"5L  /src/a.c:6 =15\n"
		"6S  /src/a.c:7 =11\n"
		"6S  /src/a.c:8 =4\n"
		"7I get /src/a.h:3 =4\n"
		"8S  /src/a.h:4 =4\n");
	assert_int_equal(damage_of(), 0);
	assert_true(profile->has_lines);
	exercise_profile(profile);
}

/* As those of GPUs, which are of kernels and not of their first lines. */
static void test_values_may_be_of_functions(void **state)
{
	save_run_of(true);
	save_struct(app, strlen(app), "structs/app.hpcstruct");
	open_run(false);
	assert_non_null(strstr(describe(), "4F work /src/a.c:5 =15\n5L  /src/a.c:6\n"));
	assert_true(whole() == 63);
	exercise_profile(profile);
}

static void test_symbols_can_be_left_out(void **state)
{
	save_run();
	save_struct(app, strlen(app), "structs/app.hpcstruct");
	open_run(true);
	assert_null(strchr(describe(), 'F'));
	assert_null(strchr(describe(), 'S'));
	assert_true(whole() == 63);
	assert_false(profile->has_lines);
}

/* Cut anywhere: costs are there, and every lost name is in damage.csv. */
static void test_damaged_structs_lose_names_alone(void **state)
{
	save_run();
	for (size_t len = 0; len < strlen(app) - 1; len += 7) {
		save_struct(app, len, "structs/app.hpcstruct");
		open_run(false);
		assert_true(whole() == 63);
		assert_true(damage_of() > 0);
	}
}

/* Root may read everything, so the folder is one that nobody can open. */
static void test_unreadable_structs_are_damage(void **state)
{
	char path[SCRATCH_PATH + 16];
	save_run();
	snprintf(path, sizeof(path), "%s/structs", folder);
	assert_int_equal(rmdir(path), 0);
	open_run(false);
	assert_int_equal(damage_of(), 0); /* none is no damage */
	profile = pm_profile_close(profile);
	assert_int_equal(symlink("structs", path), 0);
	open_run(false);
	assert_true(whole() == 63);
	assert_int_equal(damage_of(), 1);
	assert_int_equal(unlink(path), 0);
}

static void test_the_first_of_two_structs_counts(void **state)
{
	char again[sizeof(app)];
	save_run();
	memcpy(again, app, sizeof(app));
	memcpy(strstr(again, "n=\"main\""), "n=\"MAIN\"", 8);
	save_struct(again, strlen(again), "structs/b.hpcstruct");
	save_struct(app, strlen(app), "structs/a.hpcstruct");
	open_run(false);
	assert_non_null(strstr(describe(), "F main"));
	assert_null(strstr(describe(), "F MAIN"));
	assert_true(whole() == 63);
}

/* ---- symbols of a file of this machine: of this very program ---- */

extern const char __ehdr_start; /* the linker's: where the program begins */

__attribute__((always_inline)) static inline int put_in(int n)
{
	volatile int kept = n;
	return kept * 3;
}

__attribute__((noinline)) static int measured(int n)
{
	return put_in(n) + (int)getpid();
}

static void save_run_of_this(void)
{
	static char path[512];
	const char *name;
	ssize_t n = readlink("/proc/self/exe", path, sizeof(path) - 1);
	assert_true(n > 0);
	path[n] = '\0';
	name = strrchr(path, '/') + 1;
	uint64_t start = (uint64_t)(uintptr_t)&__ehdr_start;
	uint64_t address = (uint64_t)(uintptr_t)measured - (start >= 1 << 24 ? start : 0);
	const struct fixture_metric metrics[] = {{"CYCLES", false, 1}};
	const struct fixture_module modules[] = {{path, 0}};
	enum { BYTES = 160 }; /* what was inlined begins somewhere in there */
	struct fixture_node nodes[BYTES + 1] = {{.number = 2, .module = 1, .ip = 8, .values = {2}}};
	for (uint32_t i = 0; i < BYTES; i++)
		nodes[i + 1] = (struct fixture_node){
			.number = 2 * i + 4, .module = 1, .ip = address + i, .values = {5}};
	const struct fixture_profile p = {.version = FIXTURE_0400,
		.metrics = metrics,
		.n_metrics = 1,
		.modules = modules,
		.n_modules = 1,
		.nodes = nodes,
		.n_nodes = BYTES + 1,
		.n_epochs = 1};
	struct pm_text t = {.p = NULL};
	char file[600];
	fixture_profile_write(&p, &t);
	snprintf(file, sizeof(file), "%s-000000-000-007f0101-1-0.hpcrun", name);
	assert_int_equal(fixture_save(&t, folder, file), 0);
	pm_text_done(&t);
}

/* As if the program had been built again after the run. */
static void make_older(void)
{
	const struct timespec times[] = {{.tv_sec = 1000000000}, {.tv_sec = 1000000000}};
	char file[SCRATCH_PATH + 600];
	DIR *dir = opendir(folder);
	struct dirent *entry;
	assert_non_null(dir);
	while ((entry = readdir(dir)))
		if (strstr(entry->d_name, ".hpcrun")) {
			snprintf(file, sizeof(file), "%s/%s", folder, entry->d_name);
			assert_int_equal(utimensat(AT_FDCWD, file, times, 0), 0);
		}
	closedir(dir);
}

static void open_with_root(const char *root)
{
	const struct pm_open_options options = {.sysroot = root};
	profile = pm_profile_close(profile);
	assert_int_equal(pm_profile_open(folder, NULL, &options, &profile, NULL), 0);
}

/* qemu-user puts another folder in place of the root, in which this program is not. */
static void skip_without_root(void)
{
	if (getenv("EMULATOR"))
		skip();
}

static void test_symbols_of_the_program_are_found(void **state)
{
	skip_without_root();
	assert_int_equal(measured(1), 3 + (int)getpid());
	save_run_of_this();
	open_with_root(NULL);
	assert_non_null(strstr(describe(), "0F measured"));
	assert_non_null(strstr(describe(), "0A 0x8 =2\n"));
#ifdef HPCRUN_DWARF
	assert_non_null(strstr(describe(), "1S  "));
	assert_non_null(strstr(describe(), "test_names.c:"));
	assert_non_null(strstr(describe(), "2I put_in "));
#endif
	exercise_profile(profile);
}

static void test_another_file_names_nothing(void **state)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	skip_without_root();
	save_run_of_this();
	make_older();
	open_with_root(NULL);
	assert_null(strchr(describe(), 'F'));
	open_with_root("/");
	assert_non_null(strstr(describe(), "0F measured"));
	open_with_root(folder); /* there is no such path below it */
	assert_null(strchr(describe(), 'F'));
	const struct pm_open_options options = {.sysroot = "/nowhere/at/all"};
	profile = pm_profile_close(profile);
	assert_int_equal(pm_profile_open(folder, NULL, &options, &profile, &err), -EINVAL);
	assert_null(profile);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_contexts_are_named, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_values_may_be_of_functions, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_symbols_can_be_left_out, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_damaged_structs_lose_names_alone, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_unreadable_structs_are_damage, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_the_first_of_two_structs_counts, set_up, tear_down),
		cmocka_unit_test_setup_teardown(
			test_symbols_of_the_program_are_found, set_up, tear_down),
		cmocka_unit_test_setup_teardown(test_another_file_names_nothing, set_up, tear_down),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
