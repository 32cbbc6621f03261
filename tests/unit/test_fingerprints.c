/* Tests formats/common/map.h, prints: items are found by hash, even if many have the same one. */
#include "formats/common/map.h"

#include "tests/unittest.h"

enum { ITEMS = 5000 };

static uint32_t find(const struct pm_fingerprints *p, const uint32_t *keys, uint32_t key,
	uint32_t hash, size_t *ret_at)
{
	uint32_t item;
	*ret_at = pm_fingerprints_first(p, hash);
	while ((item = pm_fingerprints_at(p, hash, ret_at)) != UINT32_MAX && keys[item] != key)
		++*ret_at;
	return item;
}

/* `mask` leaves that many different hashes. */
static void try_hashes(uint32_t n, uint32_t mask)
{
	struct pm_fingerprints p = {.slots = NULL};
	uint32_t keys[ITEMS] = {0};
	size_t at;
	pm_fingerprints_prefetch(&p, 7);
	assert_int_equal(find(&p, keys, 7, 7, &at), UINT32_MAX);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t hash = (uint32_t)pm_hash_u64(i ^ p.salt) & mask;
		keys[i] = i;
		assert_int_equal(pm_fingerprints_room(&p), 0);
		if (p.n_taken == 0) /* the salt is made with the first room */
			hash = (uint32_t)pm_hash_u64(i ^ p.salt) & mask;
		assert_int_equal(find(&p, keys, i, hash, &at), UINT32_MAX);
		pm_fingerprints_put(&p, at, hash, i);
	}
	for (uint32_t i = 0; i < n; i++)
		assert_int_equal(
			find(&p, keys, i, (uint32_t)pm_hash_u64(i ^ p.salt) & mask, &at), i);
	assert_int_equal(p.n_taken, n);
	assert_true(p.n_slots > n && p.n_slots < 4 * (size_t)n + 128);
	pm_fingerprints_done(&p);
}

static void test_items_are_found(void **state)
{
	try_hashes(ITEMS, UINT32_MAX);
	try_hashes(ITEMS, 0xffff0000); /* all begin at the same slot */
	try_hashes(300, 3);
	try_hashes(300, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_items_are_found),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
