/* fs/document/engine.c: how often a document is rendered. */
#include "tests/unittest.h"

#include "formats/common/text.h"
#include "fs/document/engine.h"
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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_document_is_rendered_once_to_be_read_once),
	};
	return cmocka_run_group_tests_name("engine", tests, NULL, NULL);
}
