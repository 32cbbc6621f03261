/* fs/tree/nested.c, node.c: profiles that are items of a profile, each with a tree of its own. */
#include "tests/unittest.h"

#include <stdio.h>
#include <stdlib.h>

#include "fake.h"
#include "fs/document/engine.h"
#include "fs/filters/filter.h"
#include "fs/tree/tree.h"

/* ---- a profile of runs, and runs that have another one below them ---- */

enum { RUN_A, RUN_B, RUN_BROKEN, N_LISTED, RUN_HIDDEN = N_LISTED };

static const char *const names[] = {"run=a", "run=b", "run=broken", "1s-2s"};
static unsigned n_open, n_opened;

static void set_collections(struct fake *f);

static void run_close(struct pm_profile *p)
{
	n_open--;
	fake_free((struct fake *)p);
}

static uint64_t run_memory(const struct pm_profile *p)
{
	(void)p;
	return 100000;
}

/* Run i: `work` costs 1 + i. */
static struct fake *run_new(uint32_t i)
{
	struct fake *f = fake_new();
	uint32_t incl = fake_metric(f, PM_ROLE_INCLUSIVE, 0, "CPUTIME", "sec");
	uint32_t excl = fake_metric(f, PM_ROLE_EXCLUSIVE, 0, "CPUTIME", "sec");
	uint32_t thread = fake_thread(f, 0, 0);
	fake_call(f, 1, 0, fake_function(f, "main", "main.c", 1));
	fake_call(f, 2, 1, fake_function(f, "work", "work.c", 2));
	fake_value(f, thread, 1, incl, 1.0 + i);
	fake_value(f, thread, 2, incl, 1.0 + i);
	fake_value(f, thread, 2, excl, 1.0 + i);
	f->ops.close = run_close;
	f->ops.memory = run_memory;
	if (i == RUN_B)
		set_collections(f);
	return f;
}

static struct pm_bytes run_name(const struct pm_collection *c, uint32_t i, struct pm_text *scratch)
{
	(void)c;
	(void)scratch;
	return pm_bytes_of(names[i]);
}

static int run_find(const struct pm_collection *c, struct pm_bytes name, uint32_t *ret_i)
{
	(void)c;
	for (*ret_i = 0; *ret_i <= RUN_HIDDEN; ++*ret_i)
		if (pm_bytes_equal(name, pm_bytes_of(names[*ret_i])))
			return true;
	return false;
}

static int run_has(const struct pm_collection *c, uint32_t i, struct pm_error *err)
{
	(void)c;
	(void)err;
	return i <= RUN_HIDDEN;
}

static int render_why(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	(void)doc;
	(void)err;
	pm_text_str(out, "why\n");
	return 0;
}

static int run_document(
	const struct pm_collection *c, uint32_t i, uint32_t k, struct pm_named_doc *ret)
{
	(void)c;
	*ret = (struct pm_named_doc){"why.txt", {.kind = PM_DOC_TEXT, .text = {render_why}}};
	return i == RUN_BROKEN && k == 0;
}

static int run_profile(
	const struct pm_collection *c, uint32_t i, struct pm_profile **ret, struct pm_error *err)
{
	(void)c;
	if (i == RUN_BROKEN)
		return pm_error_set(err, -EIO, "broken", PM_NO_OFFSET, "cannot be opened");
	n_open++;
	n_opened++;
	*ret = &run_new(i)->profile;
	return 0;
}

static void set_collections(struct fake *f)
{
	static const struct pm_collection runs = {.path = "runs",
		.n = N_LISTED,
		.name = run_name,
		.find = run_find,
		.has = run_has,
		.document = run_document,
		.profile = run_profile,
		.shape = PM_SHAPE_RUN};
	f->parts.collections.it = &runs;
	f->parts.collections.n = 1;
}

/* ---- a mount of it ---- */

struct mount {
	struct fake *fake;
	struct pmfs_model *model;
	struct pm_cache *cache;
	struct pmfs_tree *tree;
	struct pmfs_engine *engine;
};

static struct mount mount_new(struct fake *f, uint64_t cache)
{
	struct mount m = {
		.fake = f, .model = pmfs_model_new(&f->profile), .cache = pm_cache_new(cache)};
	m.tree = pmfs_tree_new(m.model, m.cache, PM_SHAPE_RUN);
	m.engine = pmfs_engine_new(&f->profile, m.cache);
	n_open = n_opened = 0;
	return m;
}

static struct mount mount_runs(uint64_t cache)
{
	struct fake *f = run_new(RUN_A);
	set_collections(f);
	return mount_new(f, cache);
}

static void mount_done(struct mount *m)
{
	pmfs_tree_free(m->tree);
	pmfs_engine_free(m->engine);
	pm_cache_free(m->cache);
	pmfs_model_free(m->model);
	fake_free(m->fake);
	assert_int_equal(n_open, 0);
}

static pm_node walk(struct mount *m, const char *path)
{
	struct pmfs_entry entry;
	struct pm_error err = {.code = 0};
	int r = pmfs_tree_walk(m->tree, path, &entry, &err);
	if (r < 0)
		fail_msg("%s: %d %s", path, r, err.text);
	return entry.node;
}

static void expect_absent(struct mount *m, const char *path)
{
	struct pmfs_entry entry;
	assert_int_equal(pmfs_tree_walk(m->tree, path, &entry, NULL), -ENOENT);
}

/* The whole document, for free(). */
static char *cat(struct mount *m, pm_node node)
{
	struct pm_doc doc;
	struct pmfs_piece piece;
	assert_int_equal(pmfs_tree_document(m->tree, node, &doc, NULL), 0);
	assert_int_equal(pmfs_engine_read(m->engine, node, &doc, 0, 1 << 20, &piece, NULL), 0);
	pmfs_tree_release(m->tree, node);
	char *text = strndup(piece.p, piece.len);
	pmfs_engine_release(m->engine, &piece);
	return text;
}

/* Filters are listed at the root of the mount alone. */
static bool is_filter(const struct pmfs_entry *entry)
{
	bool is = false;
	for (unsigned i = 0; i < PMFS_N_FILTERS; i++)
		is |= pm_bytes_equal(pm_bytes_of(pmfs_filter_names[i]),
			(struct pm_bytes){(const uint8_t *)entry->name, entry->len});
	return is;
}

static char *list(struct mount *m, pm_node dir)
{
	struct pm_text out = {.p = NULL};
	struct pmfs_entry entry;
	uint64_t cookie = 0;
	int r;
	while ((r = pmfs_tree_next(m->tree, dir, &cookie, &entry, NULL)) > 0) {
		if (is_filter(&entry))
			continue;
		pm_text_add(&out, entry.name, entry.len);
		pm_text_char(&out, '\n');
	}
	assert_int_equal(r, 0);
	pm_text_char(&out, '\0');
	return out.p;
}

static void expect_same(char *a, char *b)
{
	assert_string_equal(a, b);
	free(a);
	free(b);
}

/* ---- tests ---- */

static void test_an_item_has_the_tree_of_its_profile(void **state)
{
	static const char *const paths[] = {"functions.csv", "contexts.csv", "info.json",
		"contexts/main/work/metrics/cputime_sec_incl", "by-id/2/info.csv",
		"functions/work/callers.csv", "threads/rank=0/thread=0/profile.csv",
		"export/callgrind.out"};
	for (uint32_t i = 0; i < 2; i++) {
		struct mount m = mount_runs(1 << 24), alone = mount_new(run_new(i), 1 << 24);
		char path[200];
		for (size_t k = 0; k < sizeof(paths) / sizeof(*paths); k++) {
			struct pmfs_entry entry;
			if (pmfs_tree_walk(alone.tree, paths[k], &entry, NULL) < 0)
				continue;
			snprintf(path, sizeof(path), "runs/%s/%s", names[i], paths[k]);
			expect_same(cat(&m, walk(&m, path)), cat(&alone, entry.node));
		}
		snprintf(path, sizeof(path), "runs/%s", names[i]);
		expect_same(list(&m, walk(&m, path)), list(&alone, PMFS_NODE_ROOT));
		assert_int_equal(n_opened, 1);
		pmfs_tree_free(alone.tree);
		pmfs_engine_free(alone.engine);
		pm_cache_free(alone.cache);
		pmfs_model_free(alone.model);
		fake_free(alone.fake);
		mount_done(&m);
	}
}

static void test_parents_lead_out_of_it(void **state)
{
	struct mount m = mount_runs(1 << 24);
	pm_node parent, dir = walk(&m, "runs/run=b/contexts/main");
	static const char *const up[] = {"runs/run=b/contexts", "runs/run=b", "runs", "."};
	for (size_t i = 0; i < sizeof(up) / sizeof(*up); i++) {
		assert_int_equal(pmfs_tree_parent(m.tree, dir, &parent, NULL), 0);
		assert_true(parent == walk(&m, up[i]));
		dir = parent;
	}
	mount_done(&m);
}

static void test_profiles_nest(void **state)
{
	struct mount m = mount_runs(1); /* nothing stays that is not used */
	char *deep = cat(&m, walk(&m, "runs/run=b/runs/run=b/runs/run=a/functions.csv"));
	expect_same(deep, cat(&m, walk(&m, "functions.csv")));
	assert_int_equal(n_open, 0);
	mount_done(&m);
}

static void test_the_cache_bounds_what_is_open(void **state)
{
	struct mount m = mount_runs(250000); /* two of them */
	for (unsigned i = 0; i < 20; i++) {
		free(cat(&m, walk(&m, "runs/run=a/metrics.csv")));
		free(cat(&m, walk(&m, "runs/run=b/metrics.csv")));
		free(cat(&m, walk(&m, "runs/1s-2s/metrics.csv")));
		assert_in_range(n_open, 1, 2);
	}
	mount_done(&m);
}

static void test_a_document_in_use_keeps_its_profile(void **state)
{
	struct mount m = mount_runs(1);
	pm_node node = walk(&m, "runs/run=a/functions.csv");
	struct pm_doc doc;
	assert_int_equal(n_open, 0);
	assert_int_equal(pmfs_tree_document(m.tree, node, &doc, NULL), 0);
	assert_int_equal(n_open, 1);
	pmfs_tree_release(m.tree, node);
	assert_int_equal(n_open, 0);
	mount_done(&m);
}

static void test_one_that_cannot_be_opened_says_why(void **state)
{
	struct mount m = mount_runs(1 << 20);
	expect_same(list(&m, walk(&m, "runs/run=broken")), strdup("why.txt\n"));
	expect_same(cat(&m, walk(&m, "runs/run=broken/why.txt")), strdup("why\n"));
	expect_absent(&m, "runs/run=broken/functions.csv");
	expect_absent(&m, "runs/run=c");
	mount_done(&m);
}

static void test_what_is_not_listed_is_found_by_name(void **state)
{
	struct mount m = mount_runs(1 << 20);
	expect_same(list(&m, walk(&m, "runs")), strdup("run=a\nrun=b\nrun=broken\n"));
	char *text = cat(&m, walk(&m, "runs/1s-2s/functions.csv"));
	assert_non_null(strstr(text, "work"));
	free(text);
	mount_done(&m);
}

static void test_invalid_nodes_are_refused(void **state)
{
	struct mount m = mount_runs(1 << 20);
	pm_node good = walk(&m, "runs/run=a/contexts/main/work/metrics/cputime_sec_incl");
	for (unsigned bit = 0; bit < 64; bit++) {
		pm_node parent, node = good ^ (pm_node)1 << bit;
		struct pmfs_entry entry;
		enum pmfs_type type;
		struct pm_doc doc;
		uint64_t cookie = 0;
		pmfs_tree_type(m.tree, node, &type, NULL);
		pmfs_tree_parent(m.tree, node, &parent, NULL);
		pmfs_tree_next(m.tree, node, &cookie, &entry, NULL);
		if (pmfs_tree_document(m.tree, node, &doc, NULL) == 0)
			pmfs_tree_release(m.tree, node);
	}
	mount_done(&m);
}

static void test_nodes_are_packed_and_unpacked(void **state)
{
	const struct {
		pm_node node;
		bool fits;
	} rows[] = {
		{pmfs_node(PMFS_CONTEXT, 0xfffffff0, 0), true},
		{pmfs_node(PMFS_CONTEXT_VALUE, (1u << 29) - 1, 4095), true},
		{pmfs_node(PMFS_CONTEXT_VALUE, 1u << 29, 0), false},
		{pmfs_node(PMFS_VIEW, 0x3fffffff, pmfs_view_b(5, 63, 0)), true},
		{pmfs_node(PMFS_VIEW, 1, pmfs_view_b(5, 64, 0)), false},
		{pmfs_node(PMFS_VIEW, (1u << 18) - 1, pmfs_view_b(15, 63, 4095)), true},
		{pmfs_node(PMFS_VIEW, 1u << 18, pmfs_view_b(15, 63, 4095)), false},
		{pmfs_node(PMFS_ITEM_DOC, (1u << 21) - 1, pmfs_item_b(4095, 255)), true},
		{pmfs_node(PMFS_ITEM_DOC, 0, pmfs_item_b(4096, 0)), false},
		{pmfs_node(PMFS_THREAD_DOC, 0xffffffff, 511), true},
		{pmfs_node(PMFS_THREAD_DOC, 0, 512), false},
		{pmfs_node(PMFS_REPORT_DATA, 0xffffffff, 15u << 20), true},
		{pmfs_node(PMFS_REPORT_DATA, 0xffffffff, 9u << 20 | 1), false},
		{pmfs_node(PMFS_REPORT_DATA, (1u << 27) - 1, 2u << 20 | 127), true},
		{pmfs_node(PMFS_REPORT_DATA, (1u << 22) - 1, 15u << 20 | 4095), true},
		{pmfs_node(PMFS_REPORT_DATA, 1u << 22, 15u << 20 | 128), false},
		{pmfs_node(PMFS_REPORT_DATA, (1u << 14) - 1, 3u << 20 | 0xfffff), true},
	};
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		pm_node nested;
		for (uint32_t space = 1; space <= PMFS_SPACE_MOST; space += PMFS_SPACE_MOST - 1) {
			assert_int_equal(
				pmfs_node_nest(space, rows[i].node, &nested), rows[i].fits);
			if (!rows[i].fits)
				continue;
			assert_true(pmfs_node_unnest(nested) == rows[i].node);
			assert_int_equal(pmfs_node_space(nested), space);
		}
		assert_false(pmfs_node_nest(0, rows[i].node, &nested));
		assert_false(pmfs_node_nest(PMFS_SPACE_MOST + 1, rows[i].node, &nested));
		assert_int_equal(pmfs_node_space(rows[i].node), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_an_item_has_the_tree_of_its_profile),
		cmocka_unit_test(test_parents_lead_out_of_it),
		cmocka_unit_test(test_profiles_nest),
		cmocka_unit_test(test_the_cache_bounds_what_is_open),
		cmocka_unit_test(test_a_document_in_use_keeps_its_profile),
		cmocka_unit_test(test_one_that_cannot_be_opened_says_why),
		cmocka_unit_test(test_what_is_not_listed_is_found_by_name),
		cmocka_unit_test(test_invalid_nodes_are_refused),
		cmocka_unit_test(test_nodes_are_packed_and_unpacked),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
