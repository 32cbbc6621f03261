/* From the directories of a database, only copied sources and metric files are served. */
#include "tests/unittest.h"

#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/hpctoolkit/fixtures.h"

static struct fixture_folder folder;
static int fd; /* of the folder */

static int make_folder(void **state)
{
	const struct hpctkw_style style = {.generation = HPCTKW_RELEASED};
	fixture_folder_make(&folder);
	fixture_folder_write(&folder, fixture_rich(&style));
	fd = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 || mkdirat(fd, "src", 0755) || mkdirat(fd, "metrics", 0755) ? -1 : 0;
}

static int remove_folder(void **state)
{
	static const char *const files[] = {
		"src/app.c", "metrics/b.yaml", "metrics/a.yaml", "metrics/METRICS.yaml.ex"};
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		unlinkat(fd, files[i], 0);
	unlinkat(fd, "src", AT_REMOVEDIR);
	unlinkat(fd, "metrics", AT_REMOVEDIR);
	close(fd);
	fixture_folder_done(&folder);
	return 0;
}

static void write_file(const char *path)
{
	int file = openat(fd, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_true(file >= 0);
	assert_int_equal(write(file, "text\n", 5), 5);
	close(file);
}

static size_t count_sources(void)
{
	struct pm_profile *p = fixture_open(&folder);
	const struct pm_source *sources;
	size_t n;
	assert_int_equal(pm_profile_sources(p, &sources, &n, NULL), 0);
	pm_profile_close(p);
	return n;
}

static void test_a_copied_file_is_served_below_source(void **state)
{
	write_file("src/app.c");
	struct pm_profile *p = fixture_open(&folder);
	const struct pm_source *sources;
	size_t n;
	assert_int_equal(pm_profile_sources(p, &sources, &n, NULL), 0);
	assert_int_equal(n, 1);
	assert_string_equal(sources[0].path, "app.c");
	assert_memory_equal(sources[0].file.p, "src/app.c", 9);
	assert_int_equal(sources[0].doc.kind, PM_DOC_FILE);
	assert_string_equal(sources[0].doc.file.path, "src/app.c");
	pm_profile_close(p);
}

static size_t count_damages(const char *file)
{
	struct pm_profile *p = fixture_open(&folder);
	const struct pm_damages *damages;
	assert_int_equal(pm_profile_damage(p, &damages, NULL), 0);
	size_t n = damages->n;
	for (size_t i = 0; i < n; i++)
		assert_string_equal(damages->rows[i].file, file);
	pm_profile_close(p);
	return n;
}

static void test_a_copied_file_that_is_missing_is_no_damage(void **state)
{
	assert_int_equal(count_damages(NULL), 0);
	assert_int_equal(count_sources(), 0);
}

static void test_sources_that_cannot_be_opened_are_damage(void **state)
{
	assert_int_equal(symlinkat("app.c", fd, "src/app.c"), 0); /* to itself */
	assert_int_equal(count_sources(), 0);
	assert_int_equal(count_damages("src/app.c"), 1);
	unlinkat(fd, "src/app.c", 0);
	assert_int_equal(unlinkat(fd, "src", AT_REMOVEDIR), 0);
	assert_int_equal(symlinkat("src", fd, "src"), 0);
	assert_int_equal(count_sources(), 0);
	assert_int_equal(count_damages("src/app.c"), 1);
	unlinkat(fd, "src", 0);
}

static void test_a_link_out_of_the_database_is_not_followed(void **state)
{
	assert_int_equal(symlinkat("/etc/passwd", fd, "src/app.c"), 0);
	assert_int_equal(count_sources(), 0);
	assert_int_equal(count_damages("src/app.c"), 1);
}

static void test_a_pipe_is_no_source(void **state)
{
	assert_int_equal(mkfifoat(fd, "src/app.c", 0600), 0);
	assert_int_equal(count_sources(), 0);
	assert_int_equal(count_damages("src/app.c"), 1);
}

static void test_metric_files_are_listed_in_order(void **state)
{
	write_file("metrics/b.yaml");
	write_file("metrics/a.yaml");
	write_file("metrics/METRICS.yaml.ex");
	struct pm_profile *p = fixture_open(&folder);
	const struct pm_named_doc *docs;
	size_t n;
	assert_int_equal(pm_profile_documents(p, &docs, &n, NULL), 0);
	assert_string_equal(docs[n - 2].path, "raw/metrics/a.yaml");
	assert_string_equal(docs[n - 1].path, "raw/metrics/b.yaml");
	assert_string_equal(docs[n - 1].doc.file.path, "metrics/b.yaml");
	assert_string_equal(docs[n - 3].path, "raw/summary.csv");
	pm_profile_close(p);
}

/* What cannot be opened for want of descriptors is neither missing nor damaged: it is there later.
 */
static void test_descriptors_that_run_out_leave_nothing_out(void **state)
{
	write_file("src/app.c");
	write_file("metrics/a.yaml");
	struct pm_profile *p = fixture_open(&folder);
	const struct pm_source *sources;
	const struct pm_named_doc *docs;
	const struct pm_damages *damages;
	struct rlimit limit, none;
	size_t n;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	int without[] = {pm_profile_documents(p, &docs, &n, NULL),
		pm_profile_sources(p, &sources, &n, NULL), pm_profile_damage(p, &damages, NULL)};
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(without[i], PM_NO_MEMORY);
	assert_int_equal(pm_profile_documents(p, &docs, &n, NULL), 0);
	assert_string_equal(docs[n - 1].path, "raw/metrics/a.yaml");
	assert_int_equal(pm_profile_sources(p, &sources, &n, NULL), 0);
	assert_int_equal(n, 1);
	assert_int_equal(pm_profile_damage(p, &damages, NULL), 0);
	assert_int_equal(damages->n, 0);
	pm_profile_close(p);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(test_a_copied_file_is_served_below_source),
		TEST(test_a_copied_file_that_is_missing_is_no_damage),
		TEST(test_sources_that_cannot_be_opened_are_damage),
		TEST(test_a_link_out_of_the_database_is_not_followed),
		TEST(test_a_pipe_is_no_source),
		TEST(test_metric_files_are_listed_in_order),
		TEST(test_descriptors_that_run_out_leave_nothing_out),
	};
	return cmocka_run_group_tests_name("hpctoolkit folders", tests, NULL, NULL);
}
