/* formats/common/work.c and lazy.c: waiting, cancellation, and the fate of builds. */
#include "tests/unittest.h"

#include <pthread.h>
#include <semaphore.h>

#include "formats/common/arena.h"
#include "formats/common/damage.h"
#include "formats/common/lazy.h"
#include "formats/common/map.h"
#include "formats/common/text.h"

/* A build that says when it has begun, and goes on when it is let, or cancelled. */
struct slow {
	struct pm_lazy lazy;
	struct pm_work work;
	sem_t begun, go;
	bool let; /* atomic */
	int builds, result;
	pthread_t thread;
};

static int build(void *context, struct pm_error *err)
{
	struct slow *s = context;
	(void)err;
	s->builds++;
	pm_work_progress(3, 8);
	sem_post(&s->begun);
	while (!__atomic_load_n(&s->let, __ATOMIC_SEQ_CST))
		if (pm_work_cancelled())
			return -ENOMEM;
	return s->result;
}

static void *get(void *context)
{
	struct slow *s = context;
	pm_work_enter(&s->work);
	int r = pm_lazy_get(&s->lazy, build, s, NULL);
	pm_work_enter(NULL);
	return (void *)(intptr_t)r;
}

static void begin(struct slow *s)
{
	sem_init(&s->begun, 0, 0);
	pthread_create(&s->thread, NULL, get, s);
	sem_wait(&s->begun);
}

static intptr_t end(struct slow *s)
{
	void *result;
	pthread_join(s->thread, &result);
	sem_destroy(&s->begun);
	return (intptr_t)result;
}

/* Another work that wants the same lazy. */
struct other {
	struct slow *slow;
	struct pm_work work;
	pthread_t thread;
};

static void *get_too(void *context)
{
	struct other *o = context;
	pm_work_enter(&o->work);
	int r = pm_lazy_get(&o->slow->lazy, build, o->slow, NULL);
	pm_work_enter(NULL);
	return (void *)(intptr_t)r;
}

static intptr_t end_other(struct other *o)
{
	void *result;
	pthread_join(o->thread, &result);
	return (intptr_t)result;
}

/* Starts it; returns when it waits for the slow one. */
static void begin_other_with(struct other *o, void *(*get_it)(void *context))
{
	unsigned waiters = 0;
	pthread_create(&o->thread, NULL, get_it, o);
	while (waiters == 0) {
		pm_turn_lock();
		waiters = o->slow->lazy.turn.waiters;
		pm_turn_unlock();
	}
}

static void begin_other(struct other *o)
{
	begin_other_with(o, get_too);
}

static void test_abandoned_work_ends_and_is_begun_anew(void **state)
{
	struct slow s = {.result = 0};
	begin(&s);
	pm_work_abandon(&s.work);
	assert_int_equal(end(&s), -ENOMEM);
	assert_true(s.work.gave_up);
	s.let = true;
	assert_int_equal(pm_lazy_get(&s.lazy, build, &s, NULL), 0);
	assert_int_equal(s.builds, 2);
}

static void test_what_others_need_goes_on(void **state)
{
	struct slow s = {.result = 0};
	struct other o = {.slow = &s};
	begin(&s);
	begin_other(&o);
	pm_work_abandon(&s.work);
	assert_false(__atomic_load_n(&s.work.cancelled, __ATOMIC_RELAXED));
	__atomic_store_n(&s.let, true, __ATOMIC_SEQ_CST);
	assert_int_equal(end(&s), 0);
	assert_int_equal(end_other(&o), 0);
	assert_int_equal(s.builds, 1);
}

static void test_the_last_who_needs_it_takes_it_along(void **state)
{
	struct slow s = {.result = 0};
	struct other o = {.slow = &s};
	begin(&s);
	begin_other(&o);
	pm_work_abandon(&s.work);
	pm_work_abandon(&o.work);
	assert_int_equal(end_other(&o), -ENOMEM);
	assert_int_equal(end(&s), -ENOMEM);
}

static void test_background_work_goes_on_until_who_needs_it_leaves(void **state)
{
	struct slow s = {.result = 0, .work = {.background = true}};
	struct other o = {.slow = &s}, p = {.slow = &s};
	begin(&s);
	begin_other(&o);
	begin_other(&p);
	pm_work_abandon(&o.work);
	pm_work_abandon(&p.work);
	assert_int_equal(end_other(&o), -ENOMEM);
	assert_int_equal(end_other(&p), -ENOMEM);
	assert_int_equal(end(&s), -ENOMEM);
}

static void test_background_work_leaves_what_others_build(void **state)
{
	struct slow s = {.result = 0};
	struct pm_work background = {.background = true};
	begin(&s);
	pm_work_enter(&background);
	assert_int_equal(pm_lazy_get(&s.lazy, build, &s, NULL), -ENOMEM);
	pm_work_enter(NULL);
	assert_true(background.cancelled);
	assert_int_equal(s.work.needed, 0);
	__atomic_store_n(&s.let, true, __ATOMIC_SEQ_CST);
	assert_int_equal(end(&s), 0);
}

static void test_background_work_goes_on_after_others_have_got_it(void **state)
{
	struct slow s = {.result = 0, .work = {.background = true}};
	struct other o = {.slow = &s};
	begin(&s);
	begin_other(&o);
	__atomic_store_n(&s.let, true, __ATOMIC_SEQ_CST);
	assert_int_equal(end_other(&o), 0);
	assert_int_equal(end(&s), 0);
	assert_false(s.work.cancelled);
	assert_false(s.work.abandoned);
}

static void test_abandoned_work_can_be_wanted_again(void **state)
{
	struct pm_work w = {.needed = 1};
	pm_work_abandon(&w);
	assert_true(pm_work_want(&w));
	w.needed = 0;
	pm_work_abandon(&w);
	assert_false(pm_work_want(&w));
	pm_work_enter(&w);
	assert_true(pm_work_cancelled());
	pm_work_enter(NULL);
}

/* A failure that comes of being cancelled is none of the source's. */
static void test_no_failure_of_cancelled_work_lasts(void **state)
{
	struct slow s = {.let = true, .result = -EINVAL};
	sem_init(&s.begun, 0, 0);
	s.work.cancelled = true;
	pm_work_enter(&s.work);
	assert_int_equal(pm_lazy_get(&s.lazy, build, &s, NULL), -ENOMEM);
	pm_work_enter(NULL);
	s.result = 0;
	assert_int_equal(pm_lazy_get(&s.lazy, build, &s, NULL), 0);
	sem_destroy(&s.begun);
}

static void test_nothing_is_built_at_once(void **state)
{
	struct slow s = {.let = true};
	struct pm_work now = {.at_once = true};
	sem_init(&s.begun, 0, 0);
	pm_work_enter(&now);
	assert_int_equal(pm_lazy_get(&s.lazy, build, &s, NULL), -ENOMEM);
	assert_true(now.refused);
	pm_work_enter(NULL);
	assert_int_equal(pm_lazy_get(&s.lazy, build, &s, NULL), 0);
	now.refused = false;
	pm_work_enter(&now);
	assert_int_equal(pm_lazy_get(&s.lazy, build, &s, NULL), 0);
	assert_false(now.refused);
	pm_work_enter(NULL);
	assert_int_equal(s.builds, 1);
	sem_destroy(&s.begun);
}

static void test_who_waits_is_as_far_as_what_he_waits_for(void **state)
{
	struct slow s = {.let = false};
	struct other o = {.slow = &s};
	uint64_t done = 1, total = 1;
	pm_work_how_far(&o.work, &done, &total);
	assert_int_equal(done, 0);
	assert_int_equal(total, 0);
	begin(&s);
	pm_work_how_far(&s.work, &done, &total);
	assert_int_equal(done, 3);
	assert_int_equal(total, 8);
	pthread_create(&o.thread, NULL, get_too, &o);
	do
		pm_work_how_far(&o.work, &done, &total);
	while (total == 0);
	assert_int_equal(done, 3);
	assert_int_equal(total, 8);
	__atomic_store_n(&s.let, true, __ATOMIC_SEQ_CST);
	assert_int_equal(end(&s), 0);
	assert_int_equal(end_other(&o), 0);
	/* What comes next is not as far as what was built. */
	pm_work_how_far(&o.work, &done, &total);
	assert_int_equal(total, 0);
	pm_work_how_far(&s.work, &done, &total);
	assert_int_equal(total, 0);
	s.work.done = 9;
	s.work.total = 8;
	pm_work_how_far(&s.work, &done, &total);
	assert_int_equal(done, 8);
}

static void *help_after_damage(void *context)
{
	struct other *o = context;
	struct pm_damage_list damage = PM_DAMAGE_LIST_INIT;
	pm_work_help(&o->work);
	pm_damage_add(&damage, "file", 0, 1, "is damaged");
	pm_damage_done(&damage);
	return (void *)(intptr_t)pm_lazy_get(&o->slow->lazy, build, o->slow, NULL);
}

/* A work is as far as its own thread, whatever its helpers wait for. */
static void test_helpers_remain_helpers_when_they_add_damage(void **state)
{
	struct slow s = {.result = 0};
	struct other o = {.slow = &s};
	uint64_t done, total;
	begin(&s);
	begin_other_with(&o, help_after_damage);
	pm_work_how_far(&o.work, &done, &total);
	assert_int_equal(total, 0);
	__atomic_store_n(&s.let, true, __ATOMIC_SEQ_CST);
	assert_int_equal(end(&s), 0);
	assert_int_equal(end_other(&o), 0);
}

/* Loops over names and places give up where these do. */
static void test_containers_take_nothing_for_cancelled_work(void **state)
{
	struct pm_work work = {.cancelled = true};
	struct pm_arena arena = {.block = NULL};
	struct pm_strtab names = {.arena = &arena};
	struct pm_map map = {.slots = NULL};
	struct pm_text text = {.p = NULL}, line = {.p = NULL};
	bool fresh;
	assert_int_equal(pm_strtab_add(&names, pm_bytes_of("a")), 0);
	assert_non_null(pm_map_put(&map, 1, 1, &fresh));
	pm_work_enter(&work);
	assert_int_equal(pm_strtab_add(&names, pm_bytes_of("a")), UINT32_MAX);
	assert_null(pm_map_put(&map, 1, 1, &fresh));
	assert_null(pm_arena_alloc(&arena, 1 << 20));
	pm_text_line(&line, pm_bytes_of("a"));
	assert_true(line.failed);
	for (unsigned i = 0; i < 2 << 20 && !text.failed; i++)
		pm_text_char(&text, 'x');
	assert_true(text.failed);
	assert_true(text.len <= 128 << 10);
	pm_work_enter(NULL);
	pm_text_done(&text);
	pm_text_done(&line);
	pm_map_done(&map);
	pm_strtab_done(&names);
	pm_arena_done(&arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_abandoned_work_ends_and_is_begun_anew),
		cmocka_unit_test(test_what_others_need_goes_on),
		cmocka_unit_test(test_the_last_who_needs_it_takes_it_along),
		cmocka_unit_test(test_background_work_goes_on_until_who_needs_it_leaves),
		cmocka_unit_test(test_background_work_leaves_what_others_build),
		cmocka_unit_test(test_background_work_goes_on_after_others_have_got_it),
		cmocka_unit_test(test_abandoned_work_can_be_wanted_again),
		cmocka_unit_test(test_no_failure_of_cancelled_work_lasts),
		cmocka_unit_test(test_nothing_is_built_at_once),
		cmocka_unit_test(test_who_waits_is_as_far_as_what_he_waits_for),
		cmocka_unit_test(test_helpers_remain_helpers_when_they_add_damage),
		cmocka_unit_test(test_containers_take_nothing_for_cancelled_work),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
