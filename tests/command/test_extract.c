/* fs/extract.c where the system refuses what it allows nearly always. */
#include "tests/unittest.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "fake.h"
#include "formats/common/text.h"
#include "fs/commands.h"
#include "fs/log.h"

static int render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	(void)err;
	pm_text_str(out, doc->text.self);
	return 0;
}

#define TEXT(name)                                                                                 \
	{                                                                                          \
		.path = name,                                                                      \
		.doc = {.kind = PM_DOC_TEXT,                                                       \
			.text = {.render = render, .self = name} }                                 \
	}

static const struct pm_named_doc documents[] = {TEXT("raw/one/text"), TEXT("raw/two/text")};

/* ---- ld --wrap ---- */

static unsigned no_way_up; /* times */

int __wrap_openat64(int folder, const char *path, int flags, ...);
int __real_openat64(int folder, const char *path, int flags, ...);

int __wrap_openat64(int folder, const char *path, int flags, ...)
{
	va_list more;
	va_start(more, flags);
	mode_t mode = flags & O_CREAT ? va_arg(more, mode_t) : 0;
	va_end(more);
	if (no_way_up > 0 && strcmp(path, "..") == 0) {
		no_way_up--;
		errno = EACCES;
		return -1;
	}
	return __real_openat64(folder, path, flags, mode);
}

static unsigned logged;

void pmfs_log(const char *format, ...)
{
	(void)format;
	logged++;
}

void pmfs_log_error(const char *before, const struct pm_error *err)
{
	(void)before;
	(void)err;
	logged++;
}

/* Extracts these paths into `folder`. */
static int extract(const char *folder, const char *const paths[2])
{
	struct fake *f = fake_new();
	const char *const all[] = {"source", paths[0], paths[1]};
	const struct pmfs_options options = {.paths = all, .n_paths = 3};
	struct pmfs_instance in = {.profile = &f->profile,
		.model = pmfs_model_new(&f->profile),
		.cache = pm_cache_new(1 << 20)};
	f->parts.documents.it = documents;
	f->parts.documents.n = sizeof(documents) / sizeof(*documents);
	in.tree = pmfs_tree_new(in.model, in.cache, PM_SHAPE_RUN);
	in.engine = pmfs_engine_new(in.profile, in.cache);
	int r = pmfs_command_extract(
		&in, &options, pmfs_extract_target(folder, &(struct pmfs_source_paths){.n = 0}));
	pmfs_tree_free(in.tree);
	pmfs_engine_free(in.engine);
	pm_cache_free(in.cache);
	pmfs_model_free(in.model);
	fake_free(f);
	return r;
}

/* Entries of a directory; -1 if there is none. */
static int count(const char *folder, const char *name)
{
	char path[128];
	int n = 0;
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	DIR *dir = opendir(path);
	if (!dir)
		return -1;
	for (struct dirent *e; (e = readdir(dir));)
		n += e->d_name[0] != '.';
	closedir(dir);
	return n;
}

static void remove_all(const char *folder)
{
	char command[128];
	snprintf(command, sizeof(command), "rm -r %s", folder);
	assert_int_equal(system(command), 0);
}

/* Otherwise what follows would be written to another place than its own. */
static void test_extraction_ends_where_there_is_no_way_up(void **state)
{
	static const char *const paths[] = {"raw", "threads"};
	char folder[] = "/tmp/extract.XXXXXX";
	(void)state;
	assert_non_null(mkdtemp(folder));
	no_way_up = 1;
	assert_int_equal(extract(folder, paths), 1);
	assert_int_equal(no_way_up, 0);
	assert_int_equal(logged, 1);
	assert_int_equal(count(folder, "raw"), 1);
	assert_int_equal(count(folder, "raw/one"), 1);
	assert_int_equal(count(folder, ""), 1);
	assert_int_equal(extract(folder, paths), 0);
	assert_int_equal(count(folder, "raw"), 2);
	assert_int_equal(count(folder, ""), 2);
	remove_all(folder);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_extraction_ends_where_there_is_no_way_up),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
