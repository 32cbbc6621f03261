/* Tests formats/common/input.c, with real files in a folder of its own. */
#include "tests/unittest.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/common/input.h"

#define SIZE 20000 /* several pages, the last one not full */

static char folder_name[] = "/tmp/profmount-test-input-XXXXXX";
static int folder;
static struct sigaction guard; /* as the first opening installed it */

/* cmocka takes SIGBUS over for each test; tests that lose pages give it back to the guard. */
static void use_guard(void)
{
	sigaction(SIGBUS, &guard, NULL);
}

static bool make_folder(void)
{
	folder = mkdtemp(folder_name) ? open(folder_name, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
	return folder >= 0;
}

static bool install_guard(void)
{
	struct pm_input in;
	bool opened = pm_input_open(&in, AT_FDCWD, "/proc/self/exe", NULL) == 0;
	pm_input_close(&in);
	return opened && sigaction(SIGBUS, NULL, &guard) == 0 && guard.sa_flags & SA_SIGINFO;
}

static int remove_folder(void **state)
{
	static const char *const names[] = {"file", "other", "empty", "pipe", "link"};
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		unlinkat(folder, names[i], 0);
	close(folder);
	return rmdir(folder_name);
}

static void write_file(const char *name, char fill, size_t size)
{
	char *bytes = malloc(size + 1);
	memset(bytes, fill, size);
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, size), size);
	close(fd);
	free(bytes);
}

static void truncate_file(const char *name, off_t size)
{
	int fd = openat(folder, name, O_WRONLY | O_CLOEXEC);
	assert_int_equal(ftruncate(fd, size), 0);
	close(fd);
}

static struct pm_input open_input(const char *name)
{
	struct pm_input in;
	struct pm_error err = {.code = 0};
	assert_int_equal(pm_input_open(&in, folder, name, &err), 0);
	assert_string_equal(in.name, name);
	return in;
}

static void test_file_is_mapped_whole(void **state)
{
	write_file("file", 'a', SIZE);
	struct pm_input in = open_input("file");
	assert_int_equal(in.bytes.len, SIZE);
	assert_int_equal(in.bytes.p[0], 'a');
	assert_int_equal(in.bytes.p[SIZE - 1], 'a');
	assert_true(in.mtime_ns > 0);
	assert_false(pm_input_changed(&in));
	pm_input_close(&in);
	pm_input_close(&in); /* harmless */
}

static void test_empty_file_is_an_empty_slice(void **state)
{
	write_file("empty", 0, 0);
	struct pm_input in = open_input("empty");
	assert_non_null(in.bytes.p);
	assert_int_equal(in.bytes.len, 0);
	assert_false(pm_input_changed(&in));
	write_file("empty", 'x', 1);
	assert_true(pm_input_changed(&in));
	pm_input_close(&in);
}

static void test_what_is_no_regular_file_is_refused(void **state)
{
	static const struct {
		const char *path;
		int code;
	} rows[] = {
		{"missing", -ENOENT}, {"file/below", -ENOENT},
		{"pipe", -EINVAL}, /* must not wait for a writer either */
		{".", -EINVAL}, {"/dev/null", -EINVAL}, {"link", -EIO}, /* points to itself */
	};
	write_file("file", 'a', 1);
	assert_int_equal(mkfifoat(folder, "pipe", 0600), 0);
	assert_int_equal(symlinkat("link", folder, "link"), 0);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct pm_error err = {.code = 0};
		struct pm_input in;
		assert_int_equal(pm_input_open(&in, folder, rows[i].path, &err), rows[i].code);
		assert_int_equal(err.code, rows[i].code);
		assert_true(strlen(err.text) > 0);
		pm_input_close(&in);
	}
}

static void test_closing_a_zeroed_input_leaves_descriptor_0_alone(void **state)
{
	struct pm_input in = {.name = NULL};
	bool was_open = fcntl(0, F_GETFD) >= 0;
	pm_input_close(&in);
	assert_int_equal(fcntl(0, F_GETFD) >= 0, was_open);
}

static void test_file_cut_under_the_mapping_reads_as_zeros(void **state)
{
	use_guard();
	write_file("file", 'a', SIZE);
	write_file("other", 'b', SIZE);
	struct pm_input in = open_input("file"), other = open_input("other");
	truncate_file("file", 0);
	for (size_t i = SIZE; i-- > 0;) /* from the end: each page is lost on its own */
		assert_int_equal(in.bytes.p[i], 0);
	close(in.fd); /* what is left to tell is the guard */
	in.fd = -1;
	assert_true(pm_input_changed(&in));
	assert_int_equal(other.bytes.p[SIZE - 1], 'b');
	assert_false(pm_input_changed(&other));
	pm_input_close(&in);
	pm_input_close(&other);
}

static void test_writes_stay_in_memory(void **state)
{
	use_guard();
	write_file("file", 'a', SIZE);
	struct pm_input in = open_input("file"), again = open_input("file");
	uint8_t *p = (uint8_t *)(uintptr_t)in.bytes.p;
	assert_int_equal(pm_input_allow_writes(&in), 0);
	p[0] = 'w';
	assert_int_equal(again.bytes.p[0], 'a');
	assert_false(pm_input_changed(&in));
	truncate_file("file", 0);
	p[SIZE - 1] = 'w'; /* a page that is lost */
	assert_int_equal(p[SIZE - 1], 'w');
	assert_int_equal(p[SIZE - 2], 0);
	assert_true(pm_input_changed(&in));
	pm_input_close(&in);
	pm_input_close(&again);
}

static void test_guard_serves_the_next_user_of_a_slot_anew(void **state)
{
	use_guard();
	for (int round = 0; round < 3; round++) {
		write_file("file", 'a', SIZE);
		struct pm_input in = open_input("file"), moved = in;
		assert_false(pm_input_changed(&moved));
		truncate_file("file", 4096);
		assert_int_equal(moved.bytes.p[4095], 'a');
		assert_int_equal(moved.bytes.p[4 * 4096], 0);
		assert_true(pm_input_changed(&moved));
		pm_input_close(&moved);
	}
}

static void *read_backwards(void *input)
{
	const struct pm_input *in = input;
	size_t sum = 0;
	for (size_t i = in->bytes.len; i-- > 0;)
		sum += in->bytes.p[i];
	assert_int_equal(sum, 0);
	return NULL;
}

static void test_several_threads_may_lose_pages_at_once(void **state)
{
	use_guard();
	pthread_t threads[4];
	write_file("file", 'a', 1 << 20);
	struct pm_input in = open_input("file");
	truncate_file("file", 0);
	for (size_t i = 0; i < 4; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, read_backwards, &in), 0);
	for (size_t i = 0; i < 4; i++)
		pthread_join(threads[i], NULL);
	assert_true(pm_input_changed(&in));
	pm_input_close(&in);
}

static void test_file_written_in_place_is_changed(void **state)
{
	write_file("file", 'a', SIZE);
	struct timespec times[2] = {{.tv_sec = 1}, {.tv_sec = 1}};
	assert_int_equal(utimensat(folder, "file", times, 0), 0);
	struct pm_input in = open_input("file");
	assert_true(in.mtime_ns == 1000000000u);
	times[1].tv_nsec = 1;
	assert_int_equal(utimensat(folder, "file", times, 0), 0);
	assert_true(pm_input_changed(&in));
	times[1].tv_nsec = 0;
	assert_int_equal(utimensat(folder, "file", times, 0), 0);
	assert_true(pm_input_changed(&in)); /* for ever */
	pm_input_close(&in);
}

static void test_replaced_file_keeps_its_old_bytes(void **state)
{
	write_file("file", 'a', SIZE);
	struct pm_input in = open_input("file");
	write_file("other", 'b', 10);
	assert_int_equal(renameat(folder, "other", folder, "file"), 0);
	assert_int_equal(in.bytes.p[SIZE - 1], 'a');
	assert_false(pm_input_changed(&in));
	pm_input_close(&in);
}

static void lose_a_page_nobody_guards(void)
{
	struct rlimit no_core = {0, 0};
	setrlimit(RLIMIT_CORE, &no_core);
	dup2(open("/dev/null", O_WRONLY | O_CLOEXEC), STDERR_FILENO); /* a sanitizer's report */
	alarm(300); /* whoever waits that long hangs */
	int fd = openat(folder, "file", O_RDWR | O_CLOEXEC);
	volatile uint8_t *p = mmap(NULL, SIZE, PROT_READ, MAP_SHARED, fd, 0);
	if (ftruncate(fd, 0) == 0)
		_exit(*p);
	_exit(0);
}

static void test_bus_error_elsewhere_kills_as_ever(void **state)
{
	use_guard();
	write_file("file", 'a', SIZE);
	write_file("other", 'b', SIZE);
	struct pm_input other = open_input("other");
	int status;
	pid_t child = fork();
	if (child == 0)
		lose_a_page_nobody_guards();
	assert_int_equal(waitpid(child, &status, 0), child);
	bool by_sanitizer = WIFEXITED(status) && WEXITSTATUS(status) != 0;
	assert_true(by_sanitizer || (WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS));
	pm_input_close(&other);
}

/* Pages of files and of shared memory that are mapped in. */
static size_t shared_pages(void)
{
	size_t all, resident, shared;
	FILE *f = fopen("/proc/self/statm", "r");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%zu %zu %zu", &all, &resident, &shared), 3);
	fclose(f);
	return shared;
}

static void test_what_was_passed_leaves_memory_and_comes_back(void **state)
{
	size_t len = (size_t)40 << 20, page = (size_t)sysconf(_SC_PAGESIZE);
	write_file("file", 'a', len);
	struct pm_input in = open_input("file");
	for (size_t i = 0; i < len; i += page)
		assert_int_equal(in.bytes.p[i], 'a');
	size_t before = shared_pages();
	pm_input_passed(&in, len + 1); /* no such place */
	pm_input_passed(&in, 1000);    /* too little */
	assert_int_equal(in.passed, 0);
	pm_input_passed(&in, len);
	assert_true(shared_pages() + ((size_t)30 << 20) / page < before);
	for (size_t i = 0; i < len; i += page)
		assert_int_equal(in.bytes.p[i], 'a');
	pm_input_close(&in);
}

static void test_files_beyond_the_table_are_read_up_to_a_size(void **state)
{
	enum { ENOUGH = 16385 };
	struct pm_input *inputs = calloc(ENOUGH, sizeof(*inputs)), in;
	struct pm_error err = {.code = 0};
	write_file("file", 'a', SIZE);
	write_file("other", 0, 0);
	truncate_file("other", (off_t)65 << 20);
	for (size_t i = 0; i < ENOUGH; i++) {
		inputs[i] = open_input("file");
		assert_int_equal(inputs[i].bytes.len, SIZE);
		assert_int_equal(inputs[i].bytes.p[SIZE - 1], 'a');
		close(inputs[i].fd);
		inputs[i].fd = -1;
	}
	assert_int_equal(inputs[ENOUGH - 1].slot, -1);
	assert_false(pm_input_changed(&inputs[ENOUGH - 1]));
	assert_int_equal(pm_input_open(&in, folder, "other", &err), -ENOMEM);
	assert_non_null(strstr(err.text, "cannot be mapped"));
	pm_input_close(&inputs[7]);
	in = open_input("other"); /* there is a place again */
	assert_true(in.slot >= 0);
	pm_input_close(&in);
	for (size_t i = 0; i < ENOUGH; i++)
		pm_input_close(&inputs[i]);
	free(inputs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_file_is_mapped_whole),
		cmocka_unit_test(test_empty_file_is_an_empty_slice),
		cmocka_unit_test(test_what_is_no_regular_file_is_refused),
		cmocka_unit_test(test_closing_a_zeroed_input_leaves_descriptor_0_alone),
		cmocka_unit_test(test_file_cut_under_the_mapping_reads_as_zeros),
		cmocka_unit_test(test_writes_stay_in_memory),
		cmocka_unit_test(test_guard_serves_the_next_user_of_a_slot_anew),
		cmocka_unit_test(test_several_threads_may_lose_pages_at_once),
		cmocka_unit_test(test_file_written_in_place_is_changed),
		cmocka_unit_test(test_replaced_file_keeps_its_old_bytes),
		cmocka_unit_test(test_bus_error_elsewhere_kills_as_ever),
		cmocka_unit_test(test_what_was_passed_leaves_memory_and_comes_back),
		cmocka_unit_test(test_files_beyond_the_table_are_read_up_to_a_size),
	};
	if (!make_folder() || !install_guard())
		return 1;
	return cmocka_run_group_tests(tests, NULL, remove_folder);
}
