/* fs/document/engine.c: how often a document is rendered. */
#include "tests/unittest.h"

#include <errno.h>

#include "formats/common/text.h"
#include "fs/document/engine.h"
#include "profmount/limits.h"
#include "profmount/profile.h"

enum { LINES = 50000, LINE = 10 };

static unsigned n_renders;

static int render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	(void)doc;
	(void)err;
	n_renders++;
	for (unsigned i = 0; i < LINES; i++)
		pm_text_printf(out, "%09u\n", i);
	return pm_text_status(out);
}

/* As cat reads: the size, then one window after the other. */
static void read_all(struct pmfs_engine *e, const struct pm_doc *doc)
{
	uint64_t size;
	struct pmfs_piece piece;
	assert_int_equal(pmfs_engine_size(e, 1, doc, &size, NULL), 0);
	assert_int_equal(size, LINES * LINE);
	for (uint64_t at = 0; at < size; at += piece.len) {
		assert_int_equal(pmfs_engine_read(e, 1, doc, at, 4096, &piece, NULL), 0);
		assert_true(piece.len > 0);
		size_t len = piece.len;
		pmfs_engine_release(e, &piece);
		piece.len = len;
	}
}

static void check_renders(uint64_t limit)
{
	static const struct pm_profile_ops ops = {.changed = NULL};
	struct pm_profile profile = {.ops = &ops, .source = "source"};
	struct pm_doc doc = {.kind = PM_DOC_TEXT, .text = {.render = render}};
	struct pm_cache *cache = pm_cache_new(limit);
	struct pmfs_engine *e = pmfs_engine_new(&profile, cache);
	assert_non_null(cache);
	assert_non_null(e);
	n_renders = 0;
	read_all(e, &doc);
	assert_int_equal(n_renders, 1);
	pmfs_engine_free(e);
	pm_cache_free(cache);
}

static void test_a_document_is_rendered_once_to_be_read_once(void **state)
{
	check_renders(1 << 20);
	check_renders(1); /* larger than the cache */
}

/* ---- texts that flow ---- */

/* Lines without end: the limit of texts ends them. */
static int render_endlessly(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	static const char zeros[1 << 16];
	(void)doc;
	(void)err;
	while (!out->failed)
		pm_text_add(out, zeros, sizeof(zeros));
	return pm_text_status(out);
}

static int render_half(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	render(doc, out, err);
	return pm_error_set(err, -EINVAL, NULL, PM_NO_OFFSET, "broken on purpose");
}

struct taken {
	uint64_t bytes, most; /* -ENOSPC beyond `most` */
	size_t longest;
};

static bool take(void *context, struct pm_bytes piece, struct pm_error *err)
{
	struct taken *t = context;
	t->bytes += piece.len;
	t->longest = piece.len > t->longest ? piece.len : t->longest;
	if (t->bytes > t->most)
		pm_error_set(err, -ENOSPC, NULL, PM_NO_OFFSET, "too much");
	return t->bytes <= t->most;
}

static void expect_flow(int (*renders)(const struct pm_doc *, struct pm_text *, struct pm_error *),
	bool (*changed)(const struct pm_profile *p), struct taken *t, int result, const char *why)
{
	const struct pm_profile_ops ops = {.changed = changed};
	struct pm_profile profile = {.ops = &ops, .source = "source"};
	struct pm_doc doc = {.kind = PM_DOC_TEXT, .text = {.render = renders, .flows = true}};
	struct pm_cache *cache = pm_cache_new(1 << 20);
	struct pmfs_engine *e = pmfs_engine_new(&profile, cache);
	struct pm_error err = {.offset = PM_NO_OFFSET};
	assert_true(pmfs_engine_flows(&doc));
	assert_int_equal(pmfs_engine_flow(e, &doc, take, t, &err), result);
	assert_int_equal(err.code, result);
	assert_string_equal(err.text, why);
	assert_true(t->longest <= 2 << 20);
	pmfs_engine_free(e);
	pm_cache_free(cache);
}

static bool has_changed(const struct pm_profile *p)
{
	(void)p;
	return true;
}

static void test_a_text_flows_whole(void **state)
{
	struct taken t = {.most = UINT64_MAX};
	(void)state;
	expect_flow(render, NULL, &t, 0, "");
	assert_int_equal(t.bytes, LINES * LINE);
}

static void test_a_text_that_flows_has_a_limit(void **state)
{
	struct taken t = {.most = UINT64_MAX};
	(void)state;
	expect_flow(render_endlessly, NULL, &t, -EFBIG, "would have more than 1073741824 bytes");
	assert_true(t.bytes <= PM_LIMIT_TEXT);
}

static void test_a_flow_ends_with_the_first_error(void **state)
{
	struct taken none = {.most = 0}, some = {.most = 5 << 20}, any = {.most = UINT64_MAX};
	(void)state;
	expect_flow(render, NULL, &none, -ENOSPC, "too much");
	expect_flow(render_endlessly, NULL, &some, -ENOSPC, "too much");
	expect_flow(render_half, NULL, &any, -EINVAL, "broken on purpose");
	assert_int_equal(any.bytes, 0);
	expect_flow(render, has_changed, &any, -EIO,
		"has changed since it was opened, or cannot be read");
	assert_int_equal(any.bytes, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_document_is_rendered_once_to_be_read_once),
		cmocka_unit_test(test_a_text_flows_whole),
		cmocka_unit_test(test_a_text_that_flows_has_a_limit),
		cmocka_unit_test(test_a_flow_ends_with_the_first_error),
	};
	return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
