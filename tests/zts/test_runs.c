/*
 * Runs of plain records change nothing: the scan finds the same in random payloads, damaged or not,
 * whether it takes runs or decides on each event alone.
 */
#include "tests/unittest.h"

#include <stdlib.h>
#include <string.h>

#include "formats/zts/scan.h"
#include "tests/zts/writer.h"

/* A second scanner, without runs. */
static bool take_no_run(struct zts_reader *reader)
{
	(void)reader;
	return true;
}

int scan_by_events(struct zts_scan_piece *piece, const struct zts_scan_source *from, uint32_t chunk,
	struct pm_bytes payload);

#define zts_reader_run(reader)       take_no_run(reader)
#define zts_scan_payload(a, b, c, d) scan_by_events(a, b, c, d)
#include "formats/zts/scan_payload.c"
#undef zts_reader_run
#undef zts_scan_payload

static uint32_t seed = 5;

static uint32_t roll(uint32_t sides)
{
	seed = seed * 1103515245 + 12345;
	return (seed >> 16) % sides;
}

/* ---- payloads ---- */

/* A whole number, sometimes longer than it needs to be, or too large for a time. */
static void put_number(struct pm_text *p, unsigned major)
{
	unsigned width = roll(12);
	if (width >= 4) {
		zts_put_head(p, major, roll(1000));
		return;
	}
	pm_text_char(p, (char)(major << 5 | (24 + width)));
	for (unsigned i = 0; i < 1u << width; i++)
		pm_text_char(p, (char)(roll(3) || i < 2 ? 0 : roll(256)));
}

static void put_numbers(struct pm_text *p)
{
	static const uint8_t keys[] = {5, 7, 9, 11, 12, 13, 14, 17, 18, 12, 13, 14, 0, 23, 24, 200};
	unsigned pairs = roll(8) ? 1 : roll(4);
	zts_put_head(p, 6, roll(8) ? ZTS_TAG_INFO : ZTS_TAG_INFO_DESCRIBED);
	zts_put_head(p, 5, pairs);
	for (; pairs; pairs--) {
		zts_put_head(p, 0, keys[roll(sizeof(keys))]);
		put_number(p, roll(40) == 0);
	}
}

static void put_record(struct pm_text *p, uint32_t depth)
{
	if (roll(20))
		zts_put_head(p, 6, ZTS_TAG_RECORD);
	else
		pm_text_bytes(p, pm_bytes_of("\xd8\x08")); /* the same, longer */
	pm_text_char(p, (char)0x9f);
	if (roll(4) == 0)
		zts_put_info(p, ZTS_TIMESTAMP, 1000 + roll(1000));
	for (uint32_t n = roll(7); n > 0; n--) {
		uint32_t what = roll(30);
		if (what == 0)
			zts_put_attr(p, 1 + roll(3), 1 + roll(3));
		else if (what == 1)
			zts_put_exception(p, roll(3));
		else if (what == 2)
			put_number(p, roll(2));
		else if (what < 12 && depth < 6)
			put_record(p, depth + 1);
		else
			put_numbers(p);
	}
	if (roll(50))
		zts_put_break(p);
}

static void damage(struct pm_text *p)
{
	for (uint32_t n = roll(2) ? 0 : roll(4); n > 0 && p->len; n--)
		p->p[roll((uint32_t)p->len)] = (char)(roll(2) ? roll(256) : 0xff);
	if (roll(4) == 0)
		p->len = roll((uint32_t)p->len + 1);
}

/* ---- what was found ---- */

static void expect_same_kept(const struct zts_kept *a, const struct zts_kept *b)
{
	const struct zts_texts none = {.n = 0};
	struct pm_text x = {.p = NULL}, y = {.p = NULL};
	zts_kept_text(a, &none, &x);
	zts_kept_text(b, &none, &y);
	assert_true(pm_bytes_equal(pm_text_view(&x), pm_text_view(&y)));
	pm_text_done(&x);
	pm_text_done(&y);
}

static void expect_same(const struct zts_scan_piece *a, const struct zts_scan_piece *b)
{
	assert_int_equal(a->n, b->n);
	for (size_t i = 0; i < a->n; i++) {
		const struct zts_found *x = &a->found[i], *y = &b->found[i];
		assert_int_equal(x->start_offset, y->start_offset);
		assert_int_equal(x->outer, y->outer);
		assert_int_equal(x->has, y->has);
		assert_int_equal(x->records, y->records);
		assert_int_equal(x->errors, y->errors);
		assert_int_equal(x->timestamp_ms, y->timestamp_ms);
		assert_int_equal(x->span_id, y->span_id);
		assert_int_equal(x->parent_id, y->parent_id);
		assert_int_equal(x->tstart, y->tstart);
		assert_int_equal(x->tstop, y->tstop);
		assert_int_equal(x->calls, y->calls);
		assert_int_equal(x->method, y->method);
		assert_int_equal(x->attr, y->attr);
		assert_int_equal(x->n_attrs, y->n_attrs);
		assert_int_equal(x->begins_trace, y->begins_trace);
	}
	assert_int_equal(a->n_attrs, b->n_attrs);
	for (size_t i = 0; i < a->n_attrs; i++) {
		expect_same_kept(&a->attrs[i].key, &b->attrs[i].key);
		expect_same_kept(&a->attrs[i].value, &b->attrs[i].value);
	}
	assert_int_equal(a->n_formless, b->n_formless);
	for (size_t i = 0; i < a->n_formless; i++)
		assert_string_equal(a->formless[i].why, b->formless[i].why);
}

static void done(struct zts_scan_piece *piece)
{
	pm_arena_done(&piece->arena);
	pm_arena_done(&piece->texts);
}

/* Returns how many records were found. */
static size_t compare(struct pm_bytes payload)
{
	const struct zts_store store = {.number = "000000"};
	const struct zts_scan_source from = {.store = &store};
	struct zts_scan_piece a = {.n = 0}, b = {.n = 0};
	uint8_t *exact = malloc(payload.len + 1); /* of exact size for sanitizers */
	exact = realloc(exact, payload.len ? payload.len : 1);
	assert_non_null(exact);
	if (payload.len)
		memcpy(exact, payload.p, payload.len);
	const struct pm_bytes bytes = {exact, payload.len};
	int r = zts_scan_payload(&a, &from, 0, bytes);
	assert_int_equal(scan_by_events(&b, &from, 0, bytes), r);
	expect_same(&a, &b);
	size_t found = a.n;
	done(&a);
	done(&b);
	free(exact);
	return found;
}

static void test_runs_find_what_events_find(void **state)
{
	size_t found = 0, damaged = 0;
	(void)state;
	for (int round = 0; round < 20000; round++) {
		struct pm_text p = {.p = NULL};
		for (uint32_t n = 1 + roll(3); n > 0; n--)
			put_record(&p, 0);
		found += compare(pm_text_view(&p));
		damage(&p);
		damaged += compare(pm_text_view(&p));
		pm_text_done(&p);
	}
	assert_true(found > 10000 && damaged > 5000); /* most payloads are of use */
}

/* Deeper than may be, within other arrays, and without an end. */
static void test_runs_end_at_the_limit_of_depth(void **state)
{
	(void)state;
	for (uint32_t outer = 0; outer < 80; outer += 13)
		for (uint32_t depth = PM_LIMIT_CALL_DEPTH - 2; depth < PM_LIMIT_CALL_DEPTH + 3;
			depth++) {
			struct pm_text p = {.p = NULL};
			for (uint32_t i = 0; i < outer; i++)
				zts_put_head(&p, 4, 1);
			for (uint32_t i = 0; i < depth; i++)
				zts_put_begin(&p, i, 1);
			zts_put_info(&p, ZTS_TIMESTAMP, 1);
			for (uint32_t i = 0; i < depth / 2; i++)
				zts_put_break(&p);
			compare(pm_text_view(&p));
			pm_text_done(&p);
		}
}

/* Longer than what is taken at once. */
static void test_long_runs(void **state)
{
	struct pm_text p = {.p = NULL};
	(void)state;
	zts_put_begin(&p, 0, 1);
	zts_put_info(&p, ZTS_TIMESTAMP, 1);
	for (uint32_t i = 0; p.len < 3 << 20; i++) {
		zts_put_begin(&p, i, roll(1000));
		zts_put_end(&p, i + roll(1 << 20), roll(100));
	}
	zts_put_end(&p, 1 << 20, 1);
	assert_int_equal(compare(pm_text_view(&p)), 1);
	pm_text_done(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_runs_find_what_events_find),
		cmocka_unit_test(test_runs_end_at_the_limit_of_depth),
		cmocka_unit_test(test_long_runs),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
