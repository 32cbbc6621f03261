/* Tests the readers of formats/hpcrun: bytes of every version → native structs. */
#include "tests/unittest.h"

#include <stdlib.h>

#include "formats/hpcrun/profile.h"
#include "tests/hpcrun/fixture.h"

/* A file in a block of exactly its size, so that reading beyond it shows. */
struct made {
	struct pm_bytes bytes;
	struct pm_arena arena;
	struct hpcrun_profile profile;
	struct pm_damage_list list;
	struct hpcrun_report report;
};

static void open_bytes(struct made *m, const void *p, size_t len)
{
	uint8_t *copy = malloc(len ? len : 1);
	assert_non_null(copy);
	if (len)
		memcpy(copy, p, len);
	*m = (struct made){.bytes = {copy, len}, .list = PM_DAMAGE_LIST_INIT};
	m->report = (struct hpcrun_report){.list = &m->list, .file = "made.hpcrun"};
	struct pm_error err = {0};
	assert_int_equal(
		hpcrun_profile_read(&m->profile, &m->arena, m->bytes, HPCRUN_ALL, &m->report, &err),
		0);
}

static void open_small(struct made *m, enum fixture_version version, size_t cut)
{
	struct pm_text t = {.p = NULL};
	struct fixture_profile p = fixture_small(version);
	fixture_profile_write(&p, &t);
	assert_true(cut <= t.len);
	open_bytes(m, t.p, t.len - cut);
	pm_text_done(&t);
}

static void close_made(struct made *m)
{
	pm_arena_done(&m->arena);
	pm_damage_done(&m->list);
	free((void *)(uintptr_t)m->bytes.p);
}

static size_t count_values(const struct hpcrun_profile *p)
{
	struct hpcrun_values v = hpcrun_values_from(p, 0);
	struct hpcrun_value value;
	size_t n = 0;
	while (hpcrun_values_next(&v, &value))
		n++;
	return n;
}

static void test_every_version_is_read_whole(void **state)
{
	for (enum fixture_version v = 0; v < FIXTURE_N_VERSIONS; v++) {
		struct made m;
		open_small(&m, v, 0);
		print_message("%s\n", fixture_version_names[v]);
		assert_int_equal(pm_damage_rows(&m.list).n, 0);
		assert_int_equal(m.profile.header.n, 5);
		assert_int_equal(m.profile.n_epochs, 1);
		const struct hpcrun_epoch *e = &m.profile.epochs[0];
		assert_int_equal(e->metrics.n, 2);
		assert_int_equal(e->metrics.items[1].period, 1000);
		assert_int_equal(e->modules.n, 2);
		assert_int_equal(e->nodes.n, FIXTURE_NODES);
		assert_int_equal(count_values(&m.profile), FIXTURE_VALUES);
		close_made(&m);
	}
}

static void test_snapshots_of_0400_are_named(void **state)
{
	for (enum fixture_footer f = FIXTURE_FOOTER_STARTS; f <= FIXTURE_FOOTER_FIVE; f++) {
		struct fixture_profile p = fixture_small(FIXTURE_0400);
		struct pm_text t = {.p = NULL};
		struct made m;
		p.footer = f;
		fixture_profile_write(&p, &t);
		assert_int_equal(t.len % 1024, f == FIXTURE_FOOTER_STARTS ? 56 : 96);
		open_bytes(&m, t.p, t.len);
		/* What it is of can be told; its sections are others than those of releases. */
		assert_int_equal(m.profile.header.n, 5);
		assert_int_equal(count_values(&m.profile), 0);
		struct pm_damages rows = pm_damage_rows(&m.list);
		assert_int_equal(rows.n, 1);
		assert_int_equal(rows.rows[0].offset, t.len - 16);
		assert_non_null(strstr(rows.rows[0].what, "a snapshot version of 2020 or 2021"));
		close_made(&m);
		pm_text_done(&t);
	}
}

/* Their footer is that of releases, and so is all but the nodes: values are there, in no context.
 */
static void test_short_nodes_of_2021_are_named(void **state)
{
	struct fixture_profile p = fixture_small(FIXTURE_0400);
	struct pm_text t = {.p = NULL};
	struct made m;
	p.short_nodes = true;
	fixture_profile_write(&p, &t);
	open_bytes(&m, t.p, t.len);
	struct pm_damages rows = pm_damage_rows(&m.list);
	assert_int_equal(rows.n, 1);
	assert_int_equal(rows.rows[0].bytes, 18 * FIXTURE_NODES);
	assert_non_null(strstr(
		rows.rows[0].what, "contexts of 18 bytes, written only by snapshot versions"));
	assert_int_equal(m.profile.epochs[0].nodes.n, 0);
	assert_int_equal(m.profile.epochs[0].metrics.n, 2);
	assert_int_equal(m.profile.epochs[0].modules.n, 2);
	assert_int_equal(count_values(&m.profile), FIXTURE_VALUES);
	close_made(&m);
	pm_text_done(&t);
}

static void test_nodes_are_as_written(void **state)
{
	static const struct {
		enum fixture_version version;
		int64_t id;
		uint64_t ip;
	} leaves[] = {
		{FIXTURE_ERA_LITTLE, 23, 0x7f0000000900},
		{FIXTURE_0200_2009, 23, 0x7f0000000900},
		{FIXTURE_SEED, -23, 0x7f0000000900},
		{FIXTURE_0198, -23, 0x7f0000000900},
		{FIXTURE_0200, -23, 0x900},
		{FIXTURE_0400, 23, 0x900},
	};
	for (size_t i = 0; i < sizeof(leaves) / sizeof(leaves[0]); i++) {
		struct made m;
		struct hpcrun_node node;
		open_small(&m, leaves[i].version, 0);
		hpcrun_node_decode(&m.profile.epochs[0].nodes, 5, &node);
		assert_true(node.id == leaves[i].id);
		assert_true(node.parent == 20);
		assert_true(node.ip == leaves[i].ip);
		close_made(&m);
	}
}

static void test_logical_unwinding_widens_nodes(void **state)
{
	static const enum fixture_version versions[] = {FIXTURE_SEED, FIXTURE_0198, FIXTURE_0300};
	for (size_t i = 0; i < 3; i++) {
		struct fixture_profile p = fixture_small(versions[i]);
		struct pm_text t = {.p = NULL};
		struct hpcrun_node node;
		struct made m;
		p.lush = true;
		p.n_epochs = 2;
		fixture_profile_write(&p, &t);
		open_bytes(&m, t.p, t.len);
		assert_int_equal(pm_damage_rows(&m.list).n, 0);
		assert_int_equal(m.profile.n_epochs, 2);
		hpcrun_node_decode(&m.profile.epochs[1].nodes, 5, &node);
		assert_int_equal(node.as_info, 0x101);
		assert_true(node.lip[1] == 23);
		close_made(&m);
		pm_text_done(&t);
	}
}

static void test_values_begin_at_any_position(void **state)
{
	static const enum fixture_version versions[] = {FIXTURE_0200, FIXTURE_0400};
	for (size_t i = 0; i < 2; i++) {
		struct made m;
		open_small(&m, versions[i], 0);
		struct hpcrun_values v = hpcrun_values_from(&m.profile, 0);
		struct hpcrun_value value, again;
		for (uint64_t at = v.at; hpcrun_values_next(&v, &value); at = v.at) {
			struct hpcrun_values from = hpcrun_values_from(&m.profile, at);
			assert_true(hpcrun_values_next(&from, &again));
			assert_true(again.off == value.off && again.node_id == value.node_id &&
				again.metric == value.metric && again.bits == value.bits);
		}
		close_made(&m);
	}
}

static void test_a_file_without_footer_is_walked(void **state)
{
	struct made m;
	open_small(&m, FIXTURE_0400, 112);
	assert_int_equal(pm_damage_rows(&m.list).n, 1);
	assert_false(m.profile.has_footer);
	assert_int_equal(m.profile.epochs[0].nodes.n, FIXTURE_NODES);
	assert_int_equal(m.profile.n_identity, 3);
	assert_int_equal(m.profile.n_kinds, 8);
	assert_int_equal(count_values(&m.profile), FIXTURE_VALUES);
	close_made(&m);
}

static void test_a_cut_tree_keeps_its_whole_nodes(void **state)
{
	struct made m;
	open_small(&m, FIXTURE_0300, 34 + 5); /* a node and a bit */
	assert_int_equal(m.profile.epochs[0].nodes.n, FIXTURE_NODES - 2);
	assert_int_equal(m.profile.epochs[0].metrics.n, 2);
	assert_int_equal(pm_damage_rows(&m.list).n, 1);
	close_made(&m);
}

/* Footer words, by place. */
enum { LOADMAP_START = 2, NODES_START = 4, NODES_END = 5 };

static void open_with_footer_word(struct made *m, size_t word, uint8_t byte)
{
	struct pm_text t = {.p = NULL};
	struct fixture_profile p = fixture_small(FIXTURE_0400);
	fixture_profile_write(&p, &t);
	t.p[t.len - 112 + 8 * word] = (char)byte;
	open_bytes(m, t.p, t.len);
	pm_text_done(&t);
}

static void test_a_section_lost_by_the_footer_is_found(void **state)
{
	static const size_t words[] = {LOADMAP_START, NODES_START, NODES_END};
	for (size_t i = 0; i < 3; i++) {
		struct made m;
		open_with_footer_word(&m, words[i], 0x7f);
		assert_int_equal(pm_damage_rows(&m.list).n, 1);
		assert_int_equal(m.profile.epochs[0].modules.n, 2);
		assert_int_equal(m.profile.epochs[0].nodes.n, FIXTURE_NODES);
		assert_int_equal(count_values(&m.profile), FIXTURE_VALUES);
		close_made(&m);
	}
}

static void test_what_is_no_profile_is_refused(void **state)
{
	static const struct {
		const char *bytes;
		int code;
	} files[] = {
		{"", -EINVAL},
		{"HPCRUN", -EINVAL},
		{"HPCRUN____02.00x", -EINVAL},
		{"HPCRUN-trace______01.01b", -EINVAL},
		{"HPCRUN-profile____05.00b", -ENOTSUP},
		{"HPCRUN-profile____zz.00b", -ENOTSUP},
	};
	struct hpcrun_report report = {.file = "x"};
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		struct pm_arena arena = {.block = NULL};
		struct hpcrun_profile p;
		struct pm_error err = {0};
		assert_int_equal(hpcrun_profile_read(&p, &arena, pm_bytes_of(files[i].bytes),
					 HPCRUN_ALL, &report, &err),
			files[i].code);
		assert_int_equal(err.code, files[i].code);
		pm_arena_done(&arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_version_is_read_whole),
		cmocka_unit_test(test_snapshots_of_0400_are_named),
		cmocka_unit_test(test_short_nodes_of_2021_are_named),
		cmocka_unit_test(test_nodes_are_as_written),
		cmocka_unit_test(test_logical_unwinding_widens_nodes),
		cmocka_unit_test(test_values_begin_at_any_position),
		cmocka_unit_test(test_a_file_without_footer_is_walked),
		cmocka_unit_test(test_a_cut_tree_keeps_its_whole_nodes),
		cmocka_unit_test(test_a_section_lost_by_the_footer_is_found),
		cmocka_unit_test(test_what_is_no_profile_is_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
