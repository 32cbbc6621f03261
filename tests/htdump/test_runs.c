/*
 * Runs of plain calls change nothing: the scan finds the same in random streams, damaged or not,
 * whether it takes runs or decides on each event alone; walks that expect events of the same class
 * find those that others find.
 */
#include "tests/htdump/test.h"

#include <stdlib.h>
#include <string.h>

#include "formats/htdump/htdump.h"
#include "formats/htdump/scan.h"

/* A second scan, without runs. */
static void take_no_run(struct htd_scan *c, struct htd_event *waiting, uint64_t *at)
{
	(void)c;
	(void)waiting;
	(void)at;
}

int events_scan(struct htd_stream *s, const char *file, struct pm_damage_list *damage,
	struct pm_error *err);
int events_has_threads(struct pm_bytes bytes, const struct htd_dialect *dialect, uint64_t most);
void events_done(struct htd_stream *s);

#define htd_scan_run           take_no_run
#define htd_stream_scan        events_scan
#define htd_stream_has_threads events_has_threads
#define htd_stream_done        events_done
#include "formats/htdump/scan.c"
#undef htd_scan_run
#undef htd_stream_scan
#undef htd_stream_has_threads
#undef htd_stream_done

static uint32_t seed = 7;

static uint32_t roll(uint32_t sides)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 16) % sides;
}

/* ---- streams ---- */

static void put_call(struct htdw *w, uint32_t odd)
{
	static const uint64_t odd_times[] = {0, 1, UINT64_MAX, UINT64_MAX - 5};
	uint64_t start = w->time, duration = roll(400);
	w->time += roll(100);
	if (roll(odd) == 0)
		start = roll(2) ? start - roll(20000) : odd_times[roll(4)];
	if (roll(odd) == 0)
		duration = odd_times[roll(4)];
	htdw_call_int(w, 1 + (uint32_t)(w->len / 1000) % 5, start, duration, roll(9));
}

/* Events of a class that gets fields in between, as many as the stream has described so far. */
static void put_growing(struct htdw *w, uint32_t *n_fields)
{
	if (*n_fields == 0)
		htdw_klass(w, HTDW_OWN, "Growing", 1);
	if (*n_fields < 2 || roll(8) == 0) {
		htdw_field(w, HTDW_OWN, "uint64_t", "x", 8, HTDW_UNSIGNED);
		++*n_fields;
	}
	for (uint32_t n = roll(4); n > 0; n--) {
		htdw_event_at(w, HTDW_OWN, w->time, w->id++);
		for (uint32_t i = 0; i < *n_fields; i++)
			htdw_number(w, i, 8);
	}
}

static void put_other(struct htdw *w, bool big, uint32_t *n_growing)
{
	uint32_t what = roll(40);
	if (what == 0)
		htdw_begin(w, w->timestamp_first, big);
	else if (what == 1)
		htdw_klass(w, HTDW_CALL_BASE, w->timestamp_first ? "Calls" : "HT_Calls", 3);
	else if (what < 10)
		htdw_mapping(w, roll(9), roll(2) ? "a" : "b");
	else if (what < 18)
		put_growing(w, n_growing);
	else if (what < 22)
		htdw_event_at(w, HTDW_EVENT, roll(2) ? w->time : 0, 0);
	else
		htdw_call_text(w, 1 + roll(3), w->time, roll(400), "text");
}

static void damage(struct htdw *w)
{
	for (uint32_t n = roll(3) ? roll(5) : 0; n > 0; n--) {
		size_t at = 1000 + roll((uint32_t)w->len - 1000), most = w->len - at;
		size_t len = 1 + roll(60) < most ? 1 + roll(most < 60 ? (uint32_t)most : 60) : 1;
		uint32_t how = roll(4);
		if (how == 0)
			w->p[at] ^= (uint8_t)(1 << roll(8));
		else if (how == 1)
			memset(w->p + at, roll(2) ? 0 : 0xff, len);
		else if (how == 2 && w->len > 2000)
			memmove(w->p + at, w->p + at + len, most - len);
		else
			w->p[at] = (uint8_t)roll(256);
	}
	if (roll(3) == 0)
		w->len -= roll(100);
}

static void stream_put(struct htdw *w)
{
	bool big = roll(3) == 0;
	uint32_t odd = roll(2) ? 10 : 1000, others = roll(2) ? 20 : 500, n_growing = 0;
	htdw_begin(w, roll(3) == 0, big);
	w->time = 2000000000;
	for (uint32_t n = 100 + roll(3000); n > 0; n--) {
		if (roll(others) == 0)
			put_other(w, big, &n_growing);
		put_call(w, odd);
	}
	damage(w);
}

/* ---- what was found ---- */

static void expect_same_runs(const struct htd_runs *a, const struct htd_runs *b)
{
	assert_int_equal(a->n, b->n);
	assert_int_equal(a->n_events, b->n_events);
	if (a->n)
		assert_memory_equal(a->items, b->items, a->n * sizeof(*a->items));
}

static void expect_same_threads(const struct htd_stream *a, const struct htd_stream *b)
{
	assert_int_equal(a->n_threads, b->n_threads);
	for (size_t i = 0; i < a->n_threads; i++) {
		const struct htd_thread *x = &a->threads[i], *y = &b->threads[i];
		assert_int_equal(x->number, y->number);
		expect_same_runs(&x->calls, &y->calls);
		assert_int_equal(x->late.n_places, y->late.n_places);
		if (x->late.n_places)
			assert_memory_equal(x->late.places, y->late.places,
				x->late.n_places * sizeof(*x->late.places));
	}
}

static void expect_same(const struct htd_stream *a, const struct htd_stream *b)
{
	assert_int_equal(a->n_events, b->n_events);
	assert_int_equal(a->origin, b->origin);
	assert_int_equal(a->last, b->last);
	assert_int_equal(a->n_mappings, b->n_mappings);
	assert_int_equal(a->n_turns, b->n_turns);
	assert_int_equal(a->n_index, b->n_index);
	assert_memory_equal(a->index, b->index, a->n_index * sizeof(*a->index));
	assert_int_equal(a->n_gaps, b->n_gaps);
	for (size_t i = 0; i < a->n_gaps; i++) {
		assert_int_equal(a->gaps[i].from, b->gaps[i].from);
		assert_int_equal(a->gaps[i].to, b->gaps[i].to);
	}
	assert_int_equal(a->table.n_klasses, b->table.n_klasses);
	for (size_t i = 0; i < a->table.n_klasses; i++)
		expect_same_runs(&a->table.klasses[i].events, &b->table.klasses[i].events);
	expect_same_threads(a, b);
}

static void expect_same_walks(const struct htd_stream *s)
{
	struct htd_walk expecting, looking;
	struct htd_event a, b;
	uint64_t n = 0;
	htd_walk_start(&expecting, s, 0);
	htd_walk_start(&looking, s, 0);
	for (; htd_walk_next_any(&looking, &a); n++) {
		assert_true(htd_walk_next(&expecting, &b));
		assert_int_equal(a.header.klass_id, b.header.klass_id);
		assert_int_equal(a.header.timestamp, b.header.timestamp);
		assert_int_equal(a.header.id, b.header.id);
		assert_int_equal(a.big, b.big);
		assert_int_equal(a.at, b.at);
		assert_ptr_equal(a.bytes.p, b.bytes.p);
		assert_int_equal(a.bytes.len, b.bytes.len);
		assert_ptr_equal(a.plan, b.plan);
	}
	assert_false(htd_walk_next(&expecting, &b));
	assert_int_equal(n, s->n_events);
}

static void expect_same_scans(const struct htdw *w)
{
	struct pm_damage_list ones = PM_DAMAGE_LIST_INIT, twos = PM_DAMAGE_LIST_INIT;
	struct pm_error err = {.code = 0};
	uint8_t *exact = malloc(w->len); /* so that a sanitizer sees each byte beyond it */
	struct htd_stream one = {.bytes = {exact, w->len}};
	memcpy(exact, w->p, w->len);
	if (htd_dialect_detect(one.bytes, &one.dialect) > 0) {
		struct htd_stream two = one;
		assert_int_equal(events_scan(&one, "", &ones, &err), 0);
		assert_int_equal(htd_stream_scan(&two, "", &twos, &err), 0);
		expect_same(&one, &two);
		expect_same_walks(&two);
		htd_stream_done(&one);
		htd_stream_done(&two);
	}
	pm_damage_done(&ones);
	pm_damage_done(&twos);
	free(exact);
}

static void test_runs_change_nothing(void **state)
{
	for (int i = 0; i < 300; i++) {
		struct htdw w = {.p = NULL};
		stream_put(&w);
		expect_same_scans(&w);
		htdw_done(&w);
	}
}

static void test_a_cut_anywhere_changes_nothing(void **state)
{
	struct htdw w = {.p = NULL};
	stream_put(&w);
	for (size_t len = w.len; w.len > len - 200; w.len--)
		expect_same_scans(&w);
	htdw_done(&w);
}

/* Each run ends where it ended for the scan, even if no event is what it was. */
static void test_a_run_without_its_events_has_changed(void **state)
{
	struct pm_damage_list damage = PM_DAMAGE_LIST_INIT;
	struct pm_arena arena = {.block = NULL};
	struct htd_sorted cursor;
	const struct htd_sorted_event *e;
	struct htdw w = {.p = NULL};
	htdw_begin(&w, false, false);
	size_t described = w.len;
	for (unsigned i = 0; i < 10 * HTD_CHUNK; i++)
		htdw_call_int(&w, 1, 100 + i, 1, 7);
	struct htd_stream s = {.bytes = {w.p, w.len}};
	assert_true(htd_dialect_detect(s.bytes, &s.dialect));
	assert_int_equal(htd_stream_scan(&s, "", &damage, NULL), 0);
	const struct htd_order order = {.s = &s,
		.filter = {
			.runs = &s.threads[0].calls, .calls = true, .what = s.threads[0].number}};
	assert_int_equal(htd_sorted_start(&cursor, &arena, &order, NULL), 0);
	assert_int_equal(htd_sorted_next(&cursor, &e), 1);
	memset(w.p + described, 0, w.len - described);
	assert_int_equal(htd_sorted_start(&cursor, &arena, &order, NULL), 0);
	assert_int_equal(htd_sorted_next(&cursor, &e), -EIO);
	pm_arena_done(&arena);
	htd_stream_done(&s);
	pm_damage_done(&damage);
	htdw_done(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs_change_nothing),
		cmocka_unit_test(test_a_cut_anywhere_changes_nothing),
		cmocka_unit_test(test_a_run_without_its_events_has_changed),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
