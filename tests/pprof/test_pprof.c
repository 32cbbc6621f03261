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
	assert_int_equal(profile->ops->recipes(profile, &scratch, NULL), 0);
	pm_text_char(&scratch, '\0');
	assert_non_null(strstr(scratch.p, "\n$ head -n 6 labels.csv\n"));
	pm_text_clear(&scratch);
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

static const struct pm_doc *document(const char *path)
{
	const struct pm_named_doc *docs;
	size_t n;
	assert_int_equal(pm_profile_documents(profile, &docs, &n, NULL), 0);
	for (size_t i = 0; i < n; i++)
		if (strcmp(docs[i].path, path) == 0)
			return &docs[i].doc;
	fail_msg("no %s", path);
	return NULL;
}

/* A row at a position, as `cell,cell,…`. */
static void check_row(const char *path, uint64_t at, const char *expected)
{
	const struct pm_table *table = &document(path)->table;
	struct pm_rows rows;
	struct pm_cell cells[16];
	struct pm_text line = {.p = NULL};
	assert_true(table->n_columns <= 16);
	assert_int_equal(pm_rows_start(&rows, table, at, NULL), 0);
	assert_int_equal(pm_rows_next(&rows, cells, NULL), *expected ? 1 : 0);
	for (uint32_t i = 0; *expected && i < table->n_columns; i++) {
		if (i)
			pm_text_char(&line, ',');
		if (cells[i].kind == PM_CELL_TEXT)
			pm_text_add(&line, cells[i].text.p, cells[i].text.len);
		else if (cells[i].kind == PM_CELL_U64)
			pm_text_u64(&line, cells[i].u);
		else if (cells[i].kind == PM_CELL_I64)
			pm_text_i64(&line, cells[i].i);
	}
	pm_text_char(&line, '\0');
	assert_string_equal(line.p, expected);
	pm_text_done(&line);
	pm_rows_done(&rows);
}

static void check_columns(const char *path, const char *const *columns, uint32_t n)
{
	const struct pm_table *table = &document(path)->table;
	assert_int_equal(table->n_columns, n);
	for (uint32_t i = 0; i < n; i++)
		assert_string_equal(pm_table_column(table, i), columns[i]);
}

static void test_raw_labels_say_which_stand_together(void **state)
{
	static const char *const columns[] = {
		"sample", "key", "value", "unit", "cpu_ns", "alloc_bytes"};
	for (int packed = 0; packed < 2; packed++) {
		assert_int_equal(open_rich(true, packed), 0);
		check_columns("raw/labels.csv", columns, 6);
		check_row("raw/labels.csv", 0, "0,thread_id,7,,10000000,1024");
		check_row("raw/labels.csv", 2,
			"0,sql,select * from t where a = 1, b = 2,,10000000,1024");
		check_row("raw/labels.csv", 3, "0,bytes,48,kb,10000000,1024");
		check_row("raw/labels.csv", 7, "2,thread_name,,,5000000,4096");
		check_row("raw/labels.csv", 14, "5,thread_id,8,,3000000,-2048");
		check_row("raw/labels.csv", 16, "6,thread_id,8,,,"); /* values are missing */
		check_row("raw/labels.csv", 17, "6,thread_name,worker,,,");
		check_row("raw/labels.csv", 18, "");
		pm_profile_close(profile);
	}
}

/* Types of one name have the columns that they have in other tables; the leading one is first. */
static void test_columns_of_labels(void **state)
{
	static const char *const columns[] = {
		"key", "value", "unit", "records", "b", "cpu_ns", "cpu_ns_2", "cpu_ns_3"};
	static const char *const strings[] = {"", "cpu", "ns", "b", "k"};
	struct pm_text raw = {.p = NULL}, sample = {.p = NULL}, label = {.p = NULL};
	const uint64_t values[] = {1, 2, 3, 4};
	for (unsigned i = 0; i < 4; i++) {
		struct pm_text type = {.p = NULL};
		pprofw_number(&type, 1, i == 1 ? 3 : 1);
		pprofw_number(&type, 2, i == 1 ? 0 : 2);
		pprofw_message(&raw, 1, &type);
	}
	pprofw_packed(&sample, 2, values, 4);
	pprofw_number(&label, 1, 4);
	pprofw_message(&sample, 3, &label);
	pprofw_message(&raw, 2, &sample);
	for (unsigned i = 0; i < 5; i++)
		pprofw_bytes(&raw, 6, strings[i], strlen(strings[i]));
	pprofw_number(&raw, 14, 3);
	assert_int_equal(open_bytes(pm_text_view(&raw)), 0);
	check_columns("labels.csv", columns, 8);
	check_row("labels.csv", 0, "k,,,1,2,1,3,4");
	pm_profile_close(profile);
	pm_text_done(&raw);
}

/* More labels than there are between two places where reading may begin. */
static void test_raw_labels_begin_anywhere(void **state)
{
	enum { SAMPLES = 40000 };
	struct pm_text raw = {.p = NULL}, gz = {.p = NULL};
	const char *const strings[] = {"", "n", "k", "other"};
	struct pm_text type = {.p = NULL};
	pprofw_number(&type, 1, 1);
	pprofw_message(&raw, 1, &type);
	for (uint64_t i = 0; i < SAMPLES; i++) {
		struct pm_text sample = {.p = NULL};
		pprofw_number(&sample, 2, 1);
		for (unsigned k = 0; k < 2; k++) {
			struct pm_text label = {.p = NULL};
			pprofw_number(&label, 1, 2 + k);
			pprofw_number(&label, 3, k ? i : 1);
			pprofw_message(&sample, 3, &label);
		}
		pprofw_message(&raw, 2, &sample);
	}
	for (unsigned i = 0; i < 4; i++)
		pprofw_bytes(&raw, 6, strings[i], strlen(strings[i]));
	pm_gzip(&gz, pm_text_view(&raw));
	for (int packed = 0; packed < 2; packed++) {
		assert_int_equal(open_bytes(pm_text_view(packed ? &gz : &raw)), 0);
		assert_int_equal(pm_profile_ready(profile, NULL), 0);
		check_row("raw/labels.csv", 65535, "32767,other,32767,,1");
		check_row("raw/labels.csv", 65536, "32768,k,1,,1");
		check_row("raw/labels.csv", 70001, "35000,other,35000,,1");
		check_row("raw/labels.csv", 79999, "39999,other,39999,,1");
		check_row("raw/labels.csv", 80000, "");
		pm_profile_close(profile);
	}
	pm_text_done(&raw);
	pm_text_done(&gz);
}

/* Those of 7 bytes of a varint, and beyond what doubles have, to the last digit. */
static void test_numbers_of_each_length(void **state)
{
	static const char *const texts[] = {"", "samples", "count", "f"};
	struct pm_text out = {.p = NULL}, message = {.p = NULL}, inner = {.p = NULL};
	pprofw_number(&message, 1, 1);
	pprofw_number(&message, 2, 2);
	pprofw_message(&out, 1, &message);
	int64_t sum = 0;
	for (unsigned bits = 7; bits <= 56; bits += 7)
		for (int64_t by = -1; by <= 1; by++) {
			const int64_t value = (INT64_C(1) << bits) + by;
			pprofw_number(&message, 1, 1);
			pprofw_number(&message, 2, (uint64_t)value);
			pprofw_message(&out, 2, &message);
			sum += value;
		}
	pprofw_number(&message, 1, 1);
	pprofw_number(&inner, 1, 1);
	pprofw_message(&message, 4, &inner);
	pprofw_message(&out, 4, &message);
	pprofw_number(&message, 1, 1);
	pprofw_number(&message, 2, 3);
	pprofw_message(&out, 5, &message);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		pprofw_bytes(&out, 6, texts[i], strlen(texts[i]));
	assert_int_equal(open_bytes(pm_text_view(&out)), 0);
	assert_true(sum > INT64_C(1) << 57 && cost("f", 0) == sum);
	assert_int_equal(damages(), 0);
	pm_profile_close(profile);
	pm_text_done(&out);
	pm_text_done(&message);
	pm_text_done(&inner);
}

static void test_comments(void **state)
{
	struct pm_text out = {.p = NULL};
	assert_int_equal(open_rich(false, false), 0);
	const struct pm_doc *doc = document("raw/comments.txt");
	assert_int_equal(doc->text.render(doc, &out, NULL), 0);
	assert_true(pm_bytes_equal(pm_text_view(&out), pm_bytes_of("built from 2f7c\n")));
	pm_text_done(&out);
	pm_profile_close(profile);
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
		cmocka_unit_test(test_raw_labels_say_which_stand_together),
		cmocka_unit_test(test_columns_of_labels),
		cmocka_unit_test(test_raw_labels_begin_anywhere),
		cmocka_unit_test(test_numbers_of_each_length),
		cmocka_unit_test(test_comments),
		cmocka_unit_test(test_what_refers_to_nothing_is_left_out_and_said),
		cmocka_unit_test(test_two_profiles_in_one_file_are_refused),
		cmocka_unit_test(test_every_beginning_is_a_profile_or_refused),
		cmocka_unit_test(test_changed_bytes_do_no_harm),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
