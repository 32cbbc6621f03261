/* fs/resolve.c: links of a mount, followed as the kernel follows them. */
#include "tests/unittest.h"

#include <string.h>

#include "fake.h"
#include "fs/resolve.h"

static int render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	(void)err;
	pm_text_str(out, doc->text.self);
	return 0;
}

#define LINK(name, target)                                                                         \
	{                                                                                          \
		.path = name, .doc = {.kind = PM_DOC_LINK, .text = {render, target, 0, 0, 0, 1} }  \
	}

static const struct pm_named_doc documents[] = {
	{.path = "raw/text", .doc = {.kind = PM_DOC_TEXT, .text = {render, "text\n", 0, 0, 0, 1}}},
	LINK("raw/loop", "loop"),
	LINK("raw/around", "../raw/back"),
	LINK("raw/back", "../raw/around/"),
	LINK("raw/file", "./text"),
	LINK("raw/run", ".."),
	LINK("raw/above", "../../../../raw"),
	LINK("raw/absolute", "/etc/passwd"),
	LINK("raw/nowhere", "nosuch/text"),
};

/* What resolving needs of an instance. */
static struct pmfs_instance open_fake(void)
{
	struct fake *f = fake_new();
	f->parts.documents.it = documents;
	f->parts.documents.n = sizeof(documents) / sizeof(*documents);
	struct pmfs_instance in = {.profile = &f->profile,
		.model = pmfs_model_new(&f->profile),
		.cache = pm_cache_new(1 << 20)};
	in.tree = pmfs_tree_new(in.model, in.cache, PM_SHAPE_RUN);
	in.engine = pmfs_engine_new(in.profile, in.cache);
	return in;
}

static void close_fake(struct pmfs_instance *in)
{
	pmfs_tree_free(in->tree);
	pmfs_engine_free(in->engine);
	pm_cache_free(in->cache);
	pmfs_model_free(in->model);
	fake_free((struct fake *)in->profile);
}

static void expect(struct pmfs_instance *in, const char *path, int result, const char *at)
{
	struct pm_error err = {.code = 0};
	struct pmfs_resolved to;
	struct pmfs_entry entry;
	int r = pmfs_resolve(in, path, &to, &err);
	if (r != result || (r == 0 && strcmp(to.path.p, at) != 0))
		fail_msg("%s: %d at %s", path, r, r == 0 ? to.path.p : "no place");
	if (r == 0) {
		assert_int_equal(pmfs_tree_walk(in->tree, at, &entry, &err), 0);
		assert_int_equal(entry.node, to.entry.node);
		assert_int_equal(entry.type, to.entry.type);
	}
	pmfs_resolved_done(&to);
}

static void test_links_are_followed(void **state)
{
	struct pmfs_instance in = open_fake();
	(void)state;
	expect(&in, "raw/file", 0, "raw/text");
	expect(&in, "raw/run/raw/run/raw//./file", 0, "raw/text");
	expect(&in, "raw/run", 0, "");
	expect(&in, "raw/above/text", 0, "raw/text");
	expect(&in, "raw/run/../raw/../info.json", 0, "info.json");
	expect(&in, "../../info.json", 0, "info.json");
	expect(&in, "", 0, "");
	expect(&in, "/", 0, "");
	expect(&in, "raw/file/", 0, "raw/text");
	expect(&in, "raw/run/raw//", 0, "raw");
	expect(&in, "raw/file/.", -ENOTDIR, NULL);
	expect(&in, "raw/text/..", -ENOTDIR, NULL);
	expect(&in, "raw/nowhere", -ENOENT, NULL);
	close_fake(&in);
}

static void test_links_in_circles_end(void **state)
{
	struct pmfs_instance in = open_fake();
	char path[41 * 8 + 1] = "";
	(void)state;
	expect(&in, "raw/loop", -ELOOP, NULL);
	expect(&in, "raw/around/text", -ELOOP, NULL);
	for (int i = 0; i < 40; i++)
		strcat(path, "raw/run/");
	expect(&in, path, 0, "");
	strcat(path, "raw/run/");
	expect(&in, path, -ELOOP, NULL);
	close_fake(&in);
}

static void test_no_link_leads_out(void **state)
{
	struct pmfs_instance in = open_fake();
	(void)state;
	expect(&in, "raw/absolute", -EXDEV, NULL);
	expect(&in, "raw/above/../..", 0, "");
	close_fake(&in);
}

static void test_links_on_the_way_are_told(void **state)
{
	static const char links[] = "raw/run\0raw/file";
	struct pmfs_instance in = open_fake();
	struct pm_error err = {.code = 0};
	struct pmfs_resolved to;
	(void)state;
	assert_int_equal(pmfs_resolve(&in, "raw/run/raw/file", &to, &err), 0);
	assert_int_equal(to.links.len, sizeof(links));
	assert_memory_equal(to.links.p, links, sizeof(links));
	pmfs_resolved_done(&to);
	close_fake(&in);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_links_are_followed),
		cmocka_unit_test(test_links_in_circles_end),
		cmocka_unit_test(test_no_link_leads_out),
		cmocka_unit_test(test_links_on_the_way_are_told),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
