/* formats/common/cbor.c: events of complete items and of truncated streams, and refused input. */
#include "formats/common/cbor.h"

#include "tests/unittest.h"

#include <stdio.h>
#include <stdlib.h>

#include "formats/common/text.h"

/* One letter an event; numbers and texts behind theirs. */
static void put_event(struct pm_text *out, const struct pm_cbor_event *e)
{
	static const char letters[] = "unbtaimg-+0?f";
	if (e->kind == PM_CBOR_BREAK) {
		pm_text_char(out, '!');
	} else if (e->kind == PM_CBOR_END) {
		pm_text_str(out, e->open ? ".." : ".");
	} else {
		pm_text_char(out, letters[e->kind]);
		if (e->kind == PM_CBOR_FLOAT)
			pm_text_f64(out, e->f);
		else if (e->kind == PM_CBOR_TEXT || e->kind == PM_CBOR_BYTES)
			pm_text_bytes(out, e->bytes);
		else if (e->kind <= PM_CBOR_TAG && e->kind != PM_CBOR_INDEF)
			pm_text_u64(out, e->u);
	}
	pm_text_char(out, ' ');
}

/* `hex` in a block of exact size. */
static struct pm_bytes bytes_of(const char *hex)
{
	size_t n = strlen(hex) / 2;
	uint8_t *p = malloc(n ? n : 1);
	assert_non_null(p);
	for (size_t i = 0; i < n; i++) {
		unsigned value;
		sscanf(hex + 2 * i, "%2x", &value);
		p[i] = (uint8_t)value;
	}
	return (struct pm_bytes){p, n};
}

/* A tag 8 with an array in it, told by its bytes: `*told` of them are open, in each other. */
static bool begin_quickly(struct pm_cbor *c, uint32_t *told)
{
	const uint8_t *heads = pm_cur_peek(&c->in, 2);
	if (!heads || heads[0] != 0xc8 || heads[1] != 0x9f || c->depth != 2 * *told ||
		c->depth + 2 > c->limit)
		return false;
	c->in.at += 2;
	assert_int_equal(pm_cbor_push_tagged(c, 1), 0);
	c->deepest = c->depth > c->deepest ? c->depth : c->deepest;
	++*told;
	return true;
}

/* One step, where it can be with a short cut that gives the events of two; `told` NULL: without. */
static int step(struct pm_cbor *c, uint32_t *told, struct pm_text *out)
{
	struct pm_cbor_event e;
	if (told && begin_quickly(c, told)) {
		pm_text_str(out, "g8 i ");
		return 1;
	}
	if (told && pm_cbor_end_tagged(c)) {
		*told -= c->depth < 2 * *told;
		pm_text_str(out, ". . ");
		return 1;
	}
	int n = pm_cbor_next(c, &e, NULL);
	if (n > 0)
		put_event(out, &e);
	return n;
}

static int read_events(const char *const *parts, size_t n_parts, uint32_t limit, bool short_cuts,
	struct pm_text *out)
{
	struct pm_cbor c;
	struct pm_cbor_event e;
	uint32_t told = 0;
	int n = 0;
	pm_cbor_init(&c, limit);
	for (size_t i = 0; i < n_parts && n >= 0; i++) {
		struct pm_bytes b = bytes_of(parts[i]);
		pm_cbor_feed(&c, b);
		do
			n = step(&c, short_cuts ? &told : NULL, out);
		while (n > 0);
		free((void *)(uintptr_t)b.p);
	}
	while (n >= 0 && (n = pm_cbor_finish(&c, &e, NULL)) > 0)
		put_event(out, &e);
	pm_cbor_done(&c);
	pm_text_char(out, '\0');
	return n;
}

static int events_of(const char *const *parts, size_t n_parts, uint32_t limit, struct pm_text *out)
{
	return read_events(parts, n_parts, limit, false, out);
}

static void test_items_give_their_events(void **state)
{
	static const struct {
		const char *hex, *events;
	} cases[] = {
		{"", ""},
		{"00", "u0 "},
		{"1818", "u24 "},
		{"1bffffffffffffffff", "u18446744073709551615 "},
		{"3b7fffffffffffffff", "n9223372036854775807 "},
		{"4161", "ba "},
		{"6161", "ta "},
		{"820102", "a2 u1 u2 . "},
		{"80", "a0 . "},
		{"a10102", "m1 u1 u2 . "},
		{"9f01ff", "i u1 . "},
		{"c19f80ff", "g1 i a0 . . . "},
		{"f4f5f6f7", "- + 0 ? "},
		{"f93c00", "f1 "},
		{"f90001", "f5.960464477539063e-8 "},
		{"fa40490fdb", "f3.1415927410125732 "},
		{"fb400921fb54442d18", "f3.141592653589793 "},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pm_text out = {0};
		assert_int_equal(events_of(&cases[i].hex, 1, 8, &out), 0);
		assert_string_equal(out.p, cases[i].events);
		pm_text_done(&out);
	}
}

static void test_a_cut_stream_is_no_error(void **state)
{
	static const char *const open[] = {"c89f01"};
	static const char *const stray[] = {"01ffff"};
	static const char *const parts[] = {"c89f01", "9f02", "ff03ff"};
	struct pm_text out = {0};
	assert_int_equal(events_of(open, 1, 8, &out), 0);
	assert_string_equal(out.p, "g8 i u1 .. . ");
	pm_text_clear(&out);
	assert_int_equal(events_of(stray, 1, 8, &out), 0);
	assert_string_equal(out.p, "u1 ! ! ");
	pm_text_clear(&out);
	assert_int_equal(events_of(parts, 3, 8, &out), 0);
	assert_string_equal(out.p, "g8 i u1 i u2 . u3 . . ");
	pm_text_done(&out);
}

static void test_what_is_no_cbor_is_refused(void **state)
{
	static const char *const cases[] = {
		"1c",
		"18",
		"1b00",
		"6261",
		"61ff",
		"8201",
		"9bffffffffffffffff00",
		"bb80000000000000"
		"0000",
		"bf0102ff",
		"5f4161ff",
		"7f6161ff",
		"82ff",
		"c1ff",
		"c1",
		"e0",
		"f800",
		"a101",
		"fc",
		"8181818181818181818181",
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pm_text out = {0};
		assert_int_equal(events_of(&cases[i], 1, 8, &out), -EINVAL);
		pm_text_done(&out);
	}
}

static void test_short_cuts_give_the_same(void **state)
{
	static const char *const cases[] = {
		"c89fff",
		"00c89f01c89fffc89f02ffff03",
		"82c89fff00",
		"81c89fff",
		"c1c89fc89fffff",
		"c89f81c89fffff",
		"c89f",
		"c8",
		"c89fc19fffff",
		"9fffff",
		"82c89fffff",
		"c89fc89fc89fc89fc89fffffffffff",
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pm_text slow = {0}, fast = {0};
		int n = read_events(&cases[i], 1, 8, false, &slow);
		assert_int_equal(read_events(&cases[i], 1, 8, true, &fast), n);
		assert_string_equal(fast.p, slow.p);
		pm_text_done(&slow);
		pm_text_done(&fast);
	}
}

/* However many levels there are already: room for one is not enough. */
static void test_levels_are_told_at_any_depth(void **state)
{
	for (uint32_t above = 0; above < 64; above++) {
		struct pm_cbor c;
		struct pm_cbor_event e;
		uint8_t arrays[64];
		memset(arrays, 0x9f, sizeof(arrays));
		pm_cbor_init(&c, 1000);
		pm_cbor_feed(&c, (struct pm_bytes){arrays, above});
		while (pm_cbor_next(&c, &e, NULL) > 0)
			;
		assert_int_equal(pm_cbor_push_tagged(&c, 40), 0);
		assert_int_equal(c.depth, above + 80);
		pm_cbor_done(&c);
	}
}

static void test_what_json_may_refuse_is_noted(void **state)
{
	static const struct {
		const char *hex;
		uint32_t deepest;
		bool not_finite;
	} cases[] = {
		{"818101", 2, false},
		{"c89fff8101", 2, false},
		{"f93c00", 0, false},
		{"f97e00f93c00", 0, true},
		{"81fa7f800000", 1, true},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pm_bytes b = bytes_of(cases[i].hex);
		struct pm_text out = {0};
		struct pm_cbor c;
		uint32_t told = 0;
		pm_cbor_init(&c, 8);
		pm_cbor_feed(&c, b);
		while (step(&c, &told, &out) > 0)
			;
		assert_int_equal(c.deepest, cases[i].deepest);
		assert_int_equal(c.not_finite, cases[i].not_finite);
		pm_cbor_done(&c);
		pm_text_done(&out);
		free((void *)(uintptr_t)b.p);
	}
}

/* Of what follows a first item, the bytes that are passed over. */
static void test_small_integers_are_passed_over(void **state)
{
	static const struct {
		const char *hex;
		size_t passed;
	} cases[] = {
		{"00", 0},
		{"0000172037", 4},
		{"00001800", 1},
		{"00003800", 1},
		{"000040", 1},
		{"0000ff", 1},
		{"9f0000ff", 2},
		{"820000", 0},
		{"a10000", 0},
		{"c100", 0},
		{"9f0000820000", 2},
	};
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct pm_bytes b = bytes_of(cases[i].hex);
		struct pm_cbor c;
		struct pm_cbor_event e;
		pm_cbor_init(&c, 8);
		pm_cbor_feed(&c, b);
		assert_int_equal(pm_cbor_next(&c, &e, NULL), 1);
		size_t at = c.in.at;
		pm_cbor_skip_small(&c);
		assert_int_equal(c.in.at - at, cases[i].passed);
		pm_cbor_done(&c);
		free((void *)(uintptr_t)b.p);
	}
}

/* However many there are, it is asked as often as without whether they are still wanted. */
static void test_passing_over_stops_to_ask(void **state)
{
	enum { MANY = 100000, MOST = 4096 };
	static const uint8_t zeros[MANY];
	struct pm_cbor c;
	struct pm_cbor_event e;
	pm_cbor_init(&c, 8);
	pm_cbor_feed(&c, (struct pm_bytes){zeros, MANY});
	for (size_t at = 0; pm_cbor_next(&c, &e, NULL) > 0; at = c.in.at) {
		pm_cbor_skip_small(&c);
		assert_true(c.in.at - at <= MOST);
	}
	assert_int_equal(c.in.at, MANY);
	pm_cbor_done(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_items_give_their_events),
		cmocka_unit_test(test_a_cut_stream_is_no_error),
		cmocka_unit_test(test_what_is_no_cbor_is_refused),
		cmocka_unit_test(test_short_cuts_give_the_same),
		cmocka_unit_test(test_levels_are_told_at_any_depth),
		cmocka_unit_test(test_what_json_may_refuse_is_noted),
		cmocka_unit_test(test_small_integers_are_passed_over),
		cmocka_unit_test(test_passing_over_stops_to_ask),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
