/* Tests formats/common/lazy.c: parts of a source, built on first need. */
#include "tests/unittest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/lazy.h"

struct owner {
	struct pm_part part;
	unsigned built;
	int fails;
	const char *why;
};

static unsigned freed;

struct thing {
	char *memory;
	unsigned nth;
};

static void thing_free(void *thing)
{
	struct thing *t = thing;
	free(t->memory);
	freed++;
}

static void thing_build(struct pm_arena *a, void *owner, void *part, struct pm_error *err)
{
	struct owner *o = owner;
	struct thing *t = part;
	assert_null(t->memory);
	pm_arena_owns(a, thing_free, t);
	t->memory = malloc(8);
	t->nth = ++o->built;
	if (o->why)
		pm_error_set(err, o->fails, "a.db", 8, "%s", o->why);
	pm_build_check(a, o->fails);
}

static const struct pm_part_type type = {
	.size = sizeof(struct thing), .build = thing_build, .file = "b.db", .what = "things"};

static void test_is_built_once(void **state)
{
	struct owner o = {.built = 0};
	const struct thing *first, *second;
	freed = 0;
	assert_int_equal(pm_part_get(&o.part, &type, &o, &first, NULL), 0);
	assert_int_equal(pm_part_get(&o.part, &type, &o, &second, NULL), 0);
	assert_ptr_equal(first, second);
	assert_int_equal(first->nth, 1);
	assert_int_equal(freed, 0);
	pm_part_done(&o.part);
	pm_part_done(&o.part);
	assert_int_equal(freed, 1);
}

static void test_failures(void **state)
{
	struct owner o = {.fails = -ENOMEM};
	struct thing *t = (void *)state;
	struct pm_error err = {.code = 0};
	freed = 0;
	assert_int_equal(pm_part_get(&o.part, &type, &o, &t, &err), -ENOMEM);
	assert_null(t);
	assert_string_equal(err.text, "no memory for things");
	assert_string_equal(err.file, "b.db");
	o.fails = -EINVAL;
	o.why = "is cut";
	err = (struct pm_error){.code = 0};
	assert_int_equal(pm_part_get(&o.part, &type, &o, &t, &err), -EINVAL);
	assert_string_equal(err.text, "is cut");
	assert_int_equal(pm_part_get(&o.part, &type, &o, &t, &err), -EINVAL);
	assert_int_equal(o.built, 2); /* what lacked memory was tried again, the rest lasts */
	assert_int_equal(freed, 2);
	pm_part_done(&o.part);
	assert_int_equal(freed, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_is_built_once),
		cmocka_unit_test(test_failures),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
