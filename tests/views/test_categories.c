/* Categories of functions and contexts, and the part of a name that decides them and labels. */
#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fs/views/model/categories.h"
#include "fs/views/model/model.h"

static void test_bare_names_keep_who_is_meant(void **state)
{
	static const struct {
		const char *name, *bare;
	} cases[] = {
		{"main", "main"},
		{"", ""},
		{"void a::b<int>(char) const", "a::b<int>"},
		{"std::vector<int, std::allocator<int> >::~vector()",
			"std::vector<int, std::allocator<int> >::~vector"},
		{"opal_progress [libopen-pal.so.40.30.2]", "opal_progress"},
		{"CalcPressureForElems(double*, int) [clone .omp] [clone .1]",
			"CalcPressureForElems"},
		{"operator new(unsigned long)", "operator new"},
		{"void* operator new(unsigned long)", "operator new"},
		{"bool a::operator()(int)", "a::operator()"},
		{"(anonymous namespace)::f(int)", "(anonymous namespace)::f"},
		{"std::map<int, void (*)(int)> const& f<std::pair<int, int> >(int)",
			"f<std::pair<int, int> >"},
		{"void cudaLaunchKernel<char>", "cudaLaunchKernel<char>"},
		{"void com.shop.Cart.add(int, java.lang.String)", "com.shop.Cart.add"},
		{"void a::f(int) const::{lambda(int, b)#1}::operator()(int, b) const",
			"a::f(int) const::{lambda(int, b)#1}::operator()"},
		{"Mail::SpamAssassin::Conf::parse_rules", "Mail::SpamAssassin::Conf::parse_rules"},
		{"Draw scene (3)", "Draw scene (3)"},
		{"Load level", "Load level"},
		{")", ")"},
		{"a)", "a)"},
		{"()", "()"},
		{"] ]", "] ]"},
		{" ()", " ()"},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct pm_bytes bare = pmfs_name_bare(pm_bytes_of(cases[i].name));
		if (!pm_bytes_equal(bare, pm_bytes_of(cases[i].bare)))
			fail_msg("%s: %.*s, not %s", cases[i].name, (int)bare.len,
				(const char *)bare.p, cases[i].bare);
	}
}

static void test_components_end_with_the_most_telling(void **state)
{
	struct pm_bytes perl = pm_bytes_of("Mail::SpamAssassin::Conf::parse_rules");
	struct pm_bytes cpp = pm_bytes_of("a::b<c::d>::e");
	assert_int_equal(pmfs_name_component(perl, perl.len), strlen("Mail::SpamAssassin::Conf::"));
	assert_int_equal(pmfs_name_component(perl, 26), strlen("Mail::SpamAssassin::"));
	assert_int_equal(pmfs_name_component(cpp, cpp.len), strlen("a::b<c::d>::"));
	assert_int_equal(pmfs_name_component(cpp, 12), strlen("a::"));
	assert_int_equal(pmfs_name_component(cpp, 3), 0);
	assert_int_equal(pmfs_name_component(pm_bytes_of("main"), 4), 0);
	assert_int_equal(pmfs_name_component(pm_bytes_of(""), 0), 0);
}

static const char *category(const char *name, const char *module)
{
	const struct pmfs_rule *rule =
		pmfs_rule_of_function(pm_bytes_of(name), pm_bytes_of(module));
	return rule ? (const char *)pmfs_category_name(rule->category).p : "none";
}

static const struct {
	const char *name, *module, *category;
} rule_cases[] = {
	{"MPI_Allreduce", "/bin/app", "mpi"},
	{"PMPI_Wait", "", "mpi"},
	{"mpi_send_", "", "mpi"},
	{"MPI_File_write_all", "", "io"},
	{"var_destructor [libopen-pal.so.40.30.2]", "/lib/libopen-pal.so.40", "mpi"},
	{"", "/usr/lib64/libucp.so.0.0.0", "mpi"},
	{"<omp barrier wait>", "", "openmp"},
	{"__kmp_fork_barrier(int)", "/lib/libomp.so", "openmp"},
	{"__kmp_invoke_microtask", "/lib/libomp.so", ""},
	{"main._omp_fn.0", "/bin/app", ""},
	{"omp_get_num_threads@plt", "/bin/app", "openmp"},
	{"<gpu kernel>", "", "gpu"},
	{"cudaLaunchKernel<char>", "/bin/app", "gpu"},
	{"cuLaunchKernel", "", "gpu"},
	{"hipLaunchKernel", "", "gpu"},
	{"current", "/bin/app", "none"},
	{"clear", "/bin/app", "none"},
	{"clock", "/bin/app", "none"},
	{"zero", "/bin/app", "none"},
	{"hipster", "/bin/app", "none"},
	{"kernmain()", "/m/gpubins/36ed.gpubin", "gpu"},
	{"__GI___sched_yield", "/lib64/libc.so.6", "thread"},
	{"start_thread", "/lib64/libpthread.so.0", ""},
	{"pthread_mutex_lock", "", "thread"},
	{"__libc_malloc", "/lib64/libc.so.6", "memory"},
	{"malloc", "", "memory"},
	{"operator new(unsigned long)", "", "memory"},
	{"mallocate", "/bin/app", "none"},
	{"fread", "", "io"},
	{"readout", "/bin/app", "none"},
	{"main::CORE:print", "", "io"},
	{"main::CORE:select", "", "io"},
	{"main::CORE:sselect", "", "thread"},
	{"__GI___select", "/lib64/libc.so.6", "thread"},
	{"epoll_wait", "", "thread"},
	{"poll", "", "thread"},
	{"clock_nanosleep", "", "thread"},
	{"IO::Handle::flush", "", "io"},
	{"IO::Socket::INET::connect", "", "net"},
	{"Foo::CORE:accept", "", "net"},
	{"Foo::CORE:sort", "", "none"},
	{"Foo::CORE::bar", "", "none"},
	{"DBI::st::execute", "", "sql"},
	{"java.sql.ResultSet java.sql.Statement.executeQuery(java.lang.String)", "", "sql"},
	{"int java.net.SocketInputStream.read(byte[])", "", "net"},
	{"java.util.concurrent.ThreadPoolExecutor.runWorker", "", "none"},
	{"void java.lang.System.gc()", "", "gc"},
	{"(garbage collector)", "", "gc"},
	{"php::PDO->query", "php:internal", "sql"},
	{"php::file_get_contents", "php:internal", "io"},
	{"php::filter_var", "php:internal", "none"},
	{"php::array_map", "php:internal", "none"},
	{"V8.GCScavenger", "", "gc"},
	{"java/net/SocketInputStream.socketRead0", "", "net"},
	{"java/lang/Object.wait", "", "thread"},
	{"java.lang.ref.Finalizer$FinalizerThread.run", "", "gc"},
	{"java.lang.ref.ReferenceQueue.remove", "", "thread"},
	{"sun/nio/ch/EPoll.wait", "", "thread"},
	{"java/util/HashMap.put", "", "none"},
	{"WaitForVSync", "", "thread"},
	{"WaitForSingleObject", "/windows/kernel32.dll", "thread"},
	{"main", "/bin/app", ""},
	{"compute", "/bin/app", "none"},
	{"", "", "none"},
};

static void test_rules_tell_libraries_from_the_program(void **state)
{
	for (size_t i = 0; i < sizeof(rule_cases) / sizeof(*rule_cases); i++) {
		const char *got = category(rule_cases[i].name, rule_cases[i].module);
		if (strcmp(got, rule_cases[i].category) != 0)
			fail_msg("%s, %s: %s, not %s", rule_cases[i].name, rule_cases[i].module,
				got, rule_cases[i].category);
	}
}

/* What the column of contexts.csv says of contexts 1 to n, one letter each, `-` for none. */
static void assert_categories(struct fake *f, uint32_t n, const char *want)
{
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	const struct pm_tree *tree;
	const uint8_t *of;
	char got[16] = "";
	assert_int_equal(pmfs_model_tree(m, &tree, NULL), 0);
	assert_int_equal(pmfs_categories(m, &of, NULL), 0);
	for (uint32_t i = 0; i < n; i++) {
		struct pm_bytes name = pmfs_category_name(of[pm_tree_find(tree, i + 1)]);
		got[i] = name.len ? (char)name.p[0] : '-';
	}
	assert_string_equal(got, want);
	views_done(m, f);
}

/* What a function is called that a word of a rule means. */
static const struct pmfs_rule *rule_of_word(enum pmfs_rule_of of, const char *word)
{
	static const struct {
		const char *before, *after;
	} around[] = {[PMFS_RULE_IS] = {"", ""},
		[PMFS_RULE_BEGINS] = {"", "xyz"},
		[PMFS_RULE_CAMEL] = {"", "Xyz"},
		[PMFS_RULE_HOLDS] = {"xyz", "xyz"},
		[PMFS_RULE_CORE] = {"main::CORE:", ""},
		[PMFS_RULE_MODULE] = {"/lib/", "xyz"},
		[PMFS_RULE_SUFFIX] = {"/tmp/xyz", ""}};
	char text[256];
	snprintf(text, sizeof(text), "%s%s%s", around[of].before, word, around[of].after);
	bool is_module = of == PMFS_RULE_MODULE || of == PMFS_RULE_SUFFIX;
	return pmfs_rule_of_function(
		pm_bytes_of(is_module ? "xyz" : text), pm_bytes_of(is_module ? text : "xyz"));
}

static void test_every_word_finds_its_rule_or_one_before(void **state)
{
	for (size_t i = 0; i < pmfs_n_rules; i++)
		for (const char *const *word = pmfs_rules[i].words; *word; word++) {
			const struct pmfs_rule *rule = rule_of_word(pmfs_rules[i].of, *word);
			if (!rule || rule > &pmfs_rules[i])
				fail_msg("%s: %s", *word, rule ? "a later rule" : "no rule");
		}
	assert_null(pmfs_rule_of_function(pm_bytes_of(""), pm_bytes_of("")));
}

/* main, MPI_Wait, its loop, progress below it, a lock there; a lock of the program's own. */
static void test_what_a_library_calls_is_the_library(void **state)
{
	struct fake *f = fake_new();
	fake_call(f, 1, 0, fake_function(f, "main", NULL, 0));
	fake_call(f, 2, 1, fake_function(f, "MPI_Wait", NULL, 0));
	fake_context(f, 3, 2, &(struct pm_frame){.kind = PM_KIND_LOOP, .function = PM_NONE});
	fake_call(f, 4, 3, fake_function(f, "progress", NULL, 0));
	uint32_t lock = fake_function(f, "pthread_mutex_lock", NULL, 0);
	fake_call(f, 5, 4, lock);
	fake_call(f, 6, 1, lock);
	fake_call(f, 7, 6, fake_function(f, "malloc", NULL, 0));
	assert_categories(f, 7, "-mmmmtm");
}

/* A region's own code is the program's, also where the runtime that calls it is not. */
static void test_what_is_called_back_is_the_program(void **state)
{
	struct fake *f = fake_new();
	fake_call(f, 1, 0, fake_function(f, "__kmp_barrier", NULL, 0));
	fake_call(f, 2, 1, fake_function(f, "main._omp_fn.0", NULL, 0));
	fake_call(f, 3, 2, fake_function(f, "solve", NULL, 0));
	fake_call(f, 4, 3, fake_function(f, "cudaMemcpy", NULL, 0));
	assert_categories(f, 4, "o--g");
}

/* Without symbols: libgomp starts a region of the program, and waits. */
static struct fake *fake_addresses(void)
{
	static const char *const modules[] = {"/bin/app", "/lib/libgomp.so.1", "/bin/app",
		"/lib/libcuda.so", "/lib/libgomp.so.1", "/lib/libc.so.6"};
	static const uint32_t parents[] = {0, 1, 2, 3, 1, 5};
	struct fake *f = fake_new();
	for (uint32_t i = 0; i < 6; i++)
		fake_context(f, i + 1, parents[i],
			&(struct pm_frame){.kind = PM_KIND_INSTRUCTION,
				.function = PM_NONE,
				.module = fake_text(f, modules[i]),
				.has_offset = true,
				.offset = 16 * i});
	return f;
}

static void test_addresses_that_call_the_program_are_its_own(void **state)
{
	assert_categories(fake_addresses(), 6, "---goo");
}

/* A window in which the region does not run. */
static void test_a_part_of_a_tree_has_the_categories_of_the_whole(void **state)
{
	struct fake *f = fake_addresses();
	const double weight[6] = {0};
	const bool kept[6] = {true, true};
	const struct pm_tree *tree;
	uint32_t *from;
	assert_int_equal(pm_profile_tree(&f->profile, &tree, NULL), 0);
	struct pm_tree *whole = f->tree;
	assert_int_equal(pm_tree_prune(whole, weight, kept, &(struct pm_tree_extra){PM_NONE, 0},
				 &f->tree, &from, NULL),
		0);
	assert_categories(f, 2, "--");
	free(from);
	pm_tree_free(whole);
}

/* Idle is what the format says, whatever it is called; an instruction goes with its function. */
static void test_idle_comes_from_the_format(void **state)
{
	struct fake *f = fake_new();
	uint32_t pthread = fake_text(f, "/lib/libpthread.so.0");
	fake_call(f, 1, 0, fake_function(f, "idle", NULL, 0));
	fake_context(f, 2, 0,
		&(struct pm_frame){
			.kind = PM_KIND_PLACEHOLDER, .function = PM_NONE, .is_idle = true});
	fake_context(f, 3, 0,
		&(struct pm_frame){.kind = PM_KIND_FUNCTION,
			.function = PM_NONE,
			.name = fake_text(f, "read"),
			.module = pthread});
	fake_context(f, 4, 3,
		&(struct pm_frame){.kind = PM_KIND_INSTRUCTION,
			.function = PM_NONE,
			.module = pthread,
			.has_offset = true,
			.offset = 16});
	fake_context(f, 5, 0,
		&(struct pm_frame){.kind = PM_KIND_INSTRUCTION,
			.function = PM_NONE,
			.module = pthread,
			.has_offset = true,
			.offset = 32});
	assert_categories(f, 5, "-iiit");
}

/* Whatever a kernel is called; what it is called by has its own category. */
static void test_calls_on_gpus_are_of_gpus(void **state)
{
	struct fake *f = fake_new();
	uint32_t kernel = fake_function(f, "elementwise_kernel", NULL, 0);
	fake_call(f, 1, 0, fake_function(f, "main", NULL, 0));
	fake_context(f, 2, 1,
		&(struct pm_frame){.kind = PM_KIND_FUNCTION,
			.function = kernel,
			.name = f->functions[kernel].name,
			.on_gpu = true});
	assert_categories(f, 2, "-g");
}

/* progress runs below MPI_Wait for most of its time, and by itself. */
static void test_costs_add_up_by_category(void **state)
{
	struct fake *f = fake_with_time();
	fake_thread(f, 0, 0);
	uint32_t progress = fake_function(f, "progress", NULL, 0);
	fake_call(f, 1, 0, fake_function(f, "main", NULL, 0));
	fake_call(f, 2, 1, fake_function(f, "MPI_Wait", NULL, 0));
	fake_call(f, 3, 2, progress);
	fake_call(f, 4, 1, progress);
	fake_value(f, 0, 1, 1, 100);
	fake_value(f, 0, 1, 2, 30);
	fake_value(f, 0, 2, 1, 60);
	fake_value(f, 0, 2, 2, 20);
	fake_value(f, 0, 3, 1, 40);
	fake_value(f, 0, 3, 2, 40);
	fake_value(f, 0, 4, 1, 10);
	fake_value(f, 0, 4, 2, 10);
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	char *functions = view_text(m, PMFS_PLACE_ROOT, "functions.csv", 0);
	assert_view(m, PMFS_PLACE_ROOT, "categories.csv", 0,
		"contexts|time_ns_excl|time_ns_incl|share|category\n"
		"2|60|60|0.6|mpi\n"
		"2|40|100|0.4|\n");
	assert_non_null(strstr(functions, "|mpi|/bin/app||progress\n"));
	assert_non_null(strstr(functions, "||/bin/app||main\n"));
	free(functions);
	views_done(m, f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bare_names_keep_who_is_meant),
		cmocka_unit_test(test_components_end_with_the_most_telling),
		cmocka_unit_test(test_rules_tell_libraries_from_the_program),
		cmocka_unit_test(test_every_word_finds_its_rule_or_one_before),
		cmocka_unit_test(test_what_a_library_calls_is_the_library),
		cmocka_unit_test(test_what_is_called_back_is_the_program),
		cmocka_unit_test(test_addresses_that_call_the_program_are_its_own),
		cmocka_unit_test(test_a_part_of_a_tree_has_the_categories_of_the_whole),
		cmocka_unit_test(test_idle_comes_from_the_format),
		cmocka_unit_test(test_calls_on_gpus_are_of_gpus),
		cmocka_unit_test(test_costs_add_up_by_category),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
