/* pprof: what a profile.proto says, whole and broken. */
#include "tests/unittest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/common/inflate.h"
#include "profmount/format.h"
#include "tests/pprof/writer.h"

static struct pm_profile *profile;
static struct pm_error why;

static int open_bytes(struct pm_bytes b)
{
	static const struct pm_open_options options = {.no_symbols = true};
	char path[] = "/tmp/test_pprof-XXXXXX";
	int fd = mkstemp(path);
	assert_true(fd >= 0 && write(fd, b.p, b.len) == (ssize_t)b.len);
	close(fd);
	why = (struct pm_error){.offset = PM_NO_OFFSET};
	int r = pm_profile_open(path, NULL, &options, &profile, &why);
	unlink(path);
	return r;
}

static int open_rich(bool odd, bool packed)
{
	struct pm_text raw = {.p = NULL}, gz = {.p = NULL};
	pprofw_rich(&raw, odd);
	if (packed)
		pm_gzip(&gz, pm_text_view(&raw));
	int r = open_bytes(pm_text_view(packed ? &gz : &raw));
	pm_text_done(&raw);
	pm_text_done(&gz);
	return r;
}

/* The context at a path of names `a/b`; PM_NONE if there is none. */
static uint32_t at(const char *path)
{
	const struct pm_tree *t;
	assert_int_equal(pm_profile_tree(profile, &t, NULL), 0);
	uint32_t parent = PM_NONE;
	while (*path) {
		size_t n = strcspn(path, "/");
		uint32_t found = PM_NONE;
		for (uint32_t i = 0; i < t->n_contexts && found == PM_NONE; i++) {
			const struct pm_frame *f = pm_tree_frame(t, i);
			struct pm_bytes name = t->texts[f->name];
			char line[24];
			if (f->kind == PM_KIND_LINE) {
				snprintf(line, sizeof(line), ":%u", f->line);
				name = pm_bytes_of(line);
			}
			if (t->parent[i] == parent && name.len == n && memcmp(name.p, path, n) == 0)
				found = i;
		}
		if (found == PM_NONE)
			return PM_NONE;
		parent = found;
		path += n + (path[n] == '/');
	}
	return parent;
}

static int64_t cost(const char *path, uint32_t metric)
{
	struct pm_value v[8];
	uint32_t context = at(path);
	assert_int_not_equal(context, PM_NONE);
	int64_t n = profile->ops->run_costs(profile, context, v, 8, NULL);
	for (int64_t i = 0; i < n; i++)
		if (v[i].metric == metric)
			return v[i].i;
	fail();
	return 0;
}

static size_t damages(void)
{
	const struct pm_damages *d;
	assert_int_equal(pm_profile_damage(profile, &d, NULL), 0);
	return d->n;
}

static void check_whole(void)
{
	const struct pm_tree *t;
	const struct pm_metrics *m;
	assert_int_equal(pm_profile_tree(profile, &t, NULL), 0);
	assert_int_equal(pm_profile_metrics(profile, &m, NULL), 0);
	assert_int_equal(m->leads, 1); /* default_sample_type, not the last */
	assert_int_equal(cost("main", 0), 35000000);
	assert_int_equal(cost("main/:9/work/:22/inner/:31", 1), 10000000);
	assert_int_equal(cost("main/:9/app+0x1123", 0), 20000000);
	assert_int_equal(cost("(no stack)", 1), 2000000);
	assert_int_equal(cost("main", 3), 5 * 1024);
	uint32_t inner = at("main/:9/work/:22/inner");
	assert_int_equal(pm_tree_frame(t, inner)->kind, PM_KIND_INLINED);
	assert_int_equal(pm_tree_frame(t, at("main"))->line, 5);
}

static void test_types_lines_inlining_and_addresses(void **state)
{
	assert_int_equal(open_rich(false, false), 0);
	assert_string_equal(profile->format, "pprof");
	check_whole();
	assert_int_equal(damages(), 0);
	pm_profile_close(profile);
	assert_int_equal(open_rich(false, true), 0);
	check_whole();
	assert_int_equal(damages(), 0);
	pm_profile_close(profile);
}

static void test_labels_that_all_samples_have_are_threads(void **state)
{
	const struct pm_threads *t;
	assert_int_equal(open_rich(false, false), 0);
	assert_int_equal(pm_profile_threads(profile, &t, NULL), 0);
	assert_int_equal(t->n, 2);
	assert_int_equal(t->threads[0].identity[0].value, 7);
	assert_true(pm_bytes_equal(t->threads[0].name, pm_bytes_of("worker")));
	assert_int_equal(t->threads[1].name.len, 0);
	pm_profile_close(profile);
}

static void test_a_label_is_a_profile_of_its_samples(void **state)
{
	const struct pm_collection *c;
	struct pm_text scratch = {.p = NULL};
	size_t n;
	assert_int_equal(open_rich(false, true), 0);
	assert_int_equal(pm_profile_collections(profile, &c, &n, NULL), 0);
	assert_int_equal(n, 4);
	assert_string_equal(c[1].path, "labels/sql");
	assert_int_equal(c[1].n, 1);
	assert_true(pm_bytes_equal(
		c[1].name(&c[1], 0, &scratch), pm_bytes_of("select * from t where a = 1, b = 2")));
	struct pm_profile *whole = profile;
	assert_int_equal(c[1].profile(&c[1], 0, &profile, NULL), 0);
	assert_int_equal(pm_profile_ready(profile, NULL), 0);
	assert_int_equal(cost("main", 0), 15000000);
	assert_int_equal(at("(no stack)"), PM_NONE);
	profile->ops->close(profile);
	pm_profile_close(whole);
	pm_text_done(&scratch);
}

static void test_what_refers_to_nothing_is_left_out_and_said(void **state)
{
	assert_int_equal(open_rich(true, false), 0);
	assert_int_equal(damages(), 4);
	assert_int_equal(cost("main", 0), 38000000);
	assert_int_equal(cost("main/:9/0x77", 3), -2048);
	pm_profile_close(profile);
}

static void test_two_profiles_in_one_file_are_refused(void **state)
{
	struct pm_text raw = {.p = NULL};
	pprofw_rich(&raw, false);
	pprofw_rich(&raw, false);
	assert_int_equal(open_bytes(pm_text_view(&raw)), -EINVAL);
	assert_non_null(strstr(why.text, "two profiles"));
	pm_text_done(&raw);
}

/* Each beginning of a profile is opened or refused, and is damaged where it is not between fields.
 */
static void test_every_beginning_is_a_profile_or_refused(void **state)
{
	struct pm_text raw = {.p = NULL};
	pprofw_rich(&raw, true);
	size_t opened = 0;
	for (size_t n = 1; n < raw.len; n++) {
		if (open_bytes((struct pm_bytes){(const uint8_t *)raw.p, n}) < 0)
			continue;
		opened++;
		pm_profile_close(profile);
	}
	assert_true(opened > 100);
	pm_text_done(&raw);
}

/* Each byte set to each of some values: no crash; sanitizers look. */
static void test_changed_bytes_do_no_harm(void **state)
{
	static const uint8_t values[] = {0x00, 0x7f, 0x80, 0xff};
	struct pm_text raw = {.p = NULL};
	pprofw_rich(&raw, false);
	for (size_t i = 0; i < raw.len; i++) {
		char was = raw.p[i];
		raw.p[i] = (char)values[i % 4];
		if (open_bytes(pm_text_view(&raw)) == 0)
			pm_profile_close(profile);
		raw.p[i] = was;
	}
	pm_text_done(&raw);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_types_lines_inlining_and_addresses),
		cmocka_unit_test(test_labels_that_all_samples_have_are_threads),
		cmocka_unit_test(test_a_label_is_a_profile_of_its_samples),
		cmocka_unit_test(test_what_refers_to_nothing_is_left_out_and_said),
		cmocka_unit_test(test_two_profiles_in_one_file_are_refused),
		cmocka_unit_test(test_every_beginning_is_a_profile_or_refused),
		cmocka_unit_test(test_changed_bytes_do_no_harm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
