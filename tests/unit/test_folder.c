/* Tests formats/common/folder.c. */
#include "formats/common/affix.h"
#include "tests/unittest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "formats/common/folder.h"

static void test_names(void **state)
{
	assert_string_equal(pm_path_name("a/b/c.db"), "c.db");
	assert_string_equal(pm_path_name("c.db"), "c.db");
	assert_string_equal(pm_path_name("/"), "");
	assert_true(pm_has_ending(pm_bytes_of("a.db"), ".db"));
	assert_false(pm_has_ending(pm_bytes_of(".db"), ".db"));
	assert_false(pm_has_ending(pm_bytes_of("b"), ".db"));
	assert_int_equal(pm_time_ns((struct timespec){3, 5}), 3000000005);
}

static unsigned count_names(int fd, const char *name)
{
	unsigned n = 0;
	DIR *dir = pm_folder_list(fd);
	assert_non_null(dir);
	for (struct dirent *e; (e = readdir(dir));)
		n += strcmp(e->d_name, name) == 0;
	closedir(dir);
	return n;
}

static void test_folders(void **state)
{
	char path[] = "/tmp/profmount-folder-XXXXXX/file";
	char *slash = path + strlen(path) - strlen("/file");
	*slash = '\0';
	assert_non_null(mkdtemp(path));
	*slash = '/';
	int file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_true(file >= 0);
	int fd = pm_folder_around(path);
	assert_true(fd >= 0);
	assert_int_equal(count_names(fd, "file"), 1);
	assert_int_equal(count_names(fd, "file"), 1); /* from the beginning again */
	assert_null(pm_folder_list(file));
	assert_int_equal(errno, ENOTDIR);
	close(fd);
	close(file);
	assert_int_equal(unlink(path), 0);
	*slash = '\0';
	assert_int_equal(rmdir(path), 0);
	*slash = '/';
	assert_int_equal(pm_folder_around(path), -1);
	assert_int_equal(errno, ENOENT);
	fd = pm_folder_around("file");
	assert_true(fd >= 0);
	close(fd);
}

static void test_no_descriptors_are_no_memory(void **state)
{
	struct rlimit limit, none;
	int fd = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	none.rlim_cur = 0;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
	DIR *dir = pm_folder_list(fd);
	int code = errno;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
	assert_null(dir);
	assert_int_equal(code, ENOMEM);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_folders),
		cmocka_unit_test(test_no_descriptors_are_no_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
