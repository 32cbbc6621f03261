/* fs/tree/contexts.c: listing metrics/ asks the format for the context's costs once, not per
 * name. */
#include "tests/unittest.h"

#include <stdio.h>

#include "fs/tree/tree.h"
#include "tests/fake/fake.h"

enum { N_METRICS = 40 };

static unsigned n_asked;
static int64_t (*costs)(const struct pm_profile *p, uint32_t context, struct pm_value *ret,
	size_t room, struct pm_error *err);

static int64_t counted_costs(const struct pm_profile *p, uint32_t context, struct pm_value *ret,
	size_t room, struct pm_error *err)
{
	n_asked++;
	return costs(p, context, ret, room, err);
}

/* Two contexts with a value of every other metric, the second one with the first one's others. */
static struct fake *make_fake(void)
{
	struct fake *f = fake_new();
	uint32_t thread = fake_thread(f, 0, 0), function = fake_function(f, "f", NULL, 0);
	static char names[N_METRICS][16]; /* metrics refer to them */
	fake_call(f, 1, 0, function);
	fake_call(f, 2, 1, function);
	for (unsigned i = 0; i < N_METRICS; i++) {
		snprintf(names[i], sizeof(names[i]), "m%u", i);
		uint32_t id = fake_metric(f, PM_ROLE_INCLUSIVE, i, names[i], "ns");
		fake_value(f, thread, 1 + i % 2, id, 1);
	}
	costs = f->ops.run_costs;
	f->ops.run_costs = counted_costs;
	return f;
}

static unsigned list(struct pmfs_tree *t, pm_node dir)
{
	struct pmfs_entry entry;
	uint64_t cookie = 0;
	unsigned n = 0;
	while (pmfs_tree_next(t, dir, &cookie, &entry, NULL) > 0) {
		struct pm_bytes name = {(const uint8_t *)entry.name, entry.len};
		struct pmfs_entry found;
		assert_int_equal(pmfs_tree_lookup(t, dir, name, &found, NULL), 0);
		assert_true(found.node == entry.node);
		n++;
	}
	return n;
}

static void test_listing_asks_for_the_costs_once(void **state)
{
	struct fake *f = make_fake();
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	struct pm_cache *cache = pm_cache_new(1 << 20);
	struct pmfs_tree *t = pmfs_tree_new(m, cache, PM_SHAPE_RUN);
	for (uint32_t context = 0; context < 2; context++) {
		pm_node dir = pmfs_node(PMFS_CONTEXT_METRICS, context, 0);
		n_asked = 0;
		assert_true(list(t, dir) >= N_METRICS / 2);
		assert_in_range(n_asked, 1, 2); /* once, and where the model needs them itself */
	}
	pmfs_tree_free(t);
	pm_cache_free(cache);
	pmfs_model_free(m);
	fake_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_listing_asks_for_the_costs_once),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
