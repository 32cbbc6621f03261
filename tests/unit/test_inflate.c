/* formats/common/inflate.c: streams, their ends and errors, blocks, checksums, gzip. */
#include "formats/common/inflate.h"

#include "tests/unittest.h"

#include <stdlib.h>

#include "profmount/limits.h"

/* Long enough that a thread inflates the later part of what is consumed bit by bit. */
enum { PLAIN_LEN = 3 << 19 };

/* Text that deflates to about a third; the same on every run. */
static struct pm_bytes plain_new(void)
{
	uint8_t *p = malloc(PLAIN_LEN);
	uint32_t seed = 1;
	assert_non_null(p);
	for (size_t i = 0; i < PLAIN_LEN; i++) {
		seed = seed * 1103515245 + 12345;
		p[i] = (uint8_t)("abcdefgh"[seed >> 16 & 7]);
	}
	return (struct pm_bytes){p, PLAIN_LEN};
}

/* A copy in a block of its exact size, so that a sanitizer sees one byte too many. */
static struct pm_bytes exact(struct pm_bytes b, size_t off, size_t len)
{
	uint8_t *p = malloc(len ? len : 1);
	assert_non_null(p);
	memcpy(p, b.p + off, len);
	return (struct pm_bytes){p, len};
}

static void drop(struct pm_bytes b)
{
	free((void *)(uintptr_t)b.p);
}

static struct pm_bytes gzip_new(struct pm_bytes plain)
{
	struct pm_text out = {.p = NULL};
	pm_gzip(&out, plain);
	assert_int_equal(pm_text_status(&out), 0);
	struct pm_bytes b = exact(pm_text_view(&out), 0, out.len);
	pm_text_done(&out);
	return b;
}

/* The header that pm_gzip writes is 10 bytes, the trailer 8. */
static struct pm_bytes raw_new(struct pm_bytes plain)
{
	struct pm_bytes gzip = gzip_new(plain), raw = exact(gzip, 10, gzip.len - 18);
	drop(gzip);
	return raw;
}

/* RFC 1950 around a raw stream: two bytes of header, Adler-32 behind it. */
static struct pm_bytes zlib_new(struct pm_bytes plain)
{
	struct pm_bytes raw = raw_new(plain);
	uint32_t a = 1, b = 0;
	uint8_t *p = malloc(raw.len + 6);
	assert_non_null(p);
	for (size_t i = 0; i < plain.len; i++) {
		a = (a + plain.p[i]) % 65521;
		b = (b + a) % 65521;
	}
	const uint8_t check[] = {(uint8_t)(b >> 8), (uint8_t)b, (uint8_t)(a >> 8), (uint8_t)a};
	memcpy(p, "\x78\x9c", 2);
	memcpy(p + 2, raw.p, raw.len);
	memcpy(p + 2 + raw.len, check, sizeof(check));
	size_t len = raw.len + 6;
	drop(raw);
	return (struct pm_bytes){p, len};
}

/* Reads a stream to its end in windows of `step`; true if it gave `want` and nothing else. */
static bool gives(struct pm_inflate *s, struct pm_bytes want, size_t step)
{
	size_t at = 0;
	for (;;) {
		struct pm_bytes w = pm_inflate_peek(s, step);
		size_t n = w.len < step ? w.len : step;
		if (n == 0)
			return at == want.len;
		if (n > want.len - at || memcmp(w.p, want.p + at, n) != 0)
			return false;
		pm_inflate_consume(s, n);
		at += n;
		assert_int_equal(pm_inflate_status(s).out, at);
	}
}

static void test_stream_delivers_the_same_in_any_window(void **state)
{
	static const size_t steps[] = {1, 7, 4096, 300000, PLAIN_LEN, PLAIN_LEN + 1};
	struct pm_bytes plain = plain_new(), gzip = gzip_new(plain), raw = raw_new(plain);
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		struct pm_inflate *a = pm_inflate_new(PM_INFLATE_GZIP, gzip);
		struct pm_inflate *b = pm_inflate_new(PM_INFLATE_RAW, raw);
		struct pm_inflate *c = pm_inflate_new(PM_INFLATE_STORED, plain);
		assert_true(gives(a, plain, steps[i]));
		assert_true(gives(b, plain, steps[i]));
		assert_true(gives(c, plain, steps[i]));
		assert_int_equal(pm_inflate_status(a).state, PM_INFLATE_ENDED);
		assert_int_equal(pm_inflate_status(a).in, gzip.len);
		assert_int_equal(pm_inflate_status(b).in, raw.len);
		assert_int_equal(pm_inflate_status(c).in, plain.len);
		pm_inflate_free(a);
		pm_inflate_free(b);
		pm_inflate_free(c);
	}
	drop(raw);
	drop(gzip);
	drop(plain);
}

/* Whichever library inflates them, what is read and what is said is zlib's. */
static void test_zlib_streams_in_any_window(void **state)
{
	static const size_t steps[] = {1, 7, 4096, 300000, PLAIN_LEN + 1};
	struct pm_bytes plain = plain_new(), zlib = zlib_new(plain);
	uint8_t *longer = malloc(zlib.len + 100);
	memcpy(longer, zlib.p, zlib.len);
	memset(longer + zlib.len, 'x', 100);
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++) {
		size_t more = i % 2 ? 100 : 0;
		struct pm_inflate *s =
			pm_inflate_new(PM_INFLATE_ZLIB, (struct pm_bytes){longer, zlib.len + more});
		assert_true(gives(s, plain, steps[i]));
		assert_int_equal(pm_inflate_status(s).state, PM_INFLATE_ENDED);
		assert_int_equal(pm_inflate_status(s).in, zlib.len);
		pm_inflate_free(s);
	}
	free(longer);
	drop(zlib);
	drop(plain);
}

static void test_cut_zlib_stream_gives_what_zlib_gives(void **state)
{
	struct pm_bytes plain = plain_new(), zlib = zlib_new(plain);
	for (size_t len = 0; len < zlib.len; len += 1 + zlib.len / 40) {
		struct pm_bytes cut = exact(zlib, 0, len),
				raw = exact(zlib, 2, len < 2 ? 0 : len - 2);
		struct pm_inflate *s = pm_inflate_new(PM_INFLATE_ZLIB, cut);
		struct pm_inflate *by_zlib = pm_inflate_new(PM_INFLATE_RAW, raw);
		struct pm_bytes got = pm_inflate_peek(s, PLAIN_LEN + 1);
		struct pm_bytes want = pm_inflate_peek(by_zlib, PLAIN_LEN + 1);
		assert_int_equal(got.len, want.len);
		assert_memory_equal(got.p, plain.p, got.len);
		assert_int_equal(pm_inflate_status(s).state, PM_INFLATE_BROKEN);
		assert_string_equal(pm_inflate_status(s).why, "the compressed stream is cut");
		assert_int_equal(pm_inflate_status(s).in, len);
		pm_inflate_free(s);
		pm_inflate_free(by_zlib);
		drop(cut);
		drop(raw);
	}
	drop(zlib);
	drop(plain);
}

/* Of a damaged stream what precedes the damage is right, and it never ends as it should. */
static void test_damaged_zlib_stream_is_broken(void **state)
{
	struct pm_bytes plain = plain_new(), zlib = zlib_new(plain);
	uint8_t *p = (uint8_t *)(uintptr_t)zlib.p;
	for (size_t at = 0; at < zlib.len; at += 1 + zlib.len / 100) {
		p[at] ^= 0x10;
		struct pm_inflate *s = pm_inflate_new(PM_INFLATE_ZLIB, zlib);
		for (struct pm_bytes w; (w = pm_inflate_peek(s, 1)).len;)
			pm_inflate_consume(s, w.len);
		assert_int_equal(pm_inflate_status(s).state, PM_INFLATE_BROKEN);
		assert_non_null(pm_inflate_status(s).why);
		pm_inflate_free(s);
		p[at] ^= 0x10;
	}
	p[zlib.len - 1] ^= 1;
	struct pm_inflate *s = pm_inflate_new(PM_INFLATE_ZLIB, zlib);
	assert_true(gives(s, plain, 5000));
	assert_int_equal(pm_inflate_status(s).state, PM_INFLATE_BROKEN);
	assert_string_equal(pm_inflate_status(s).why, "incorrect data check");
	pm_inflate_free(s);
	drop(zlib);
	drop(plain);
}

static void test_stream_end_leaves_what_follows(void **state)
{
	/* zlib of "hi", then three bytes that are none of it. */
	static const uint8_t data[] = {
		0x78, 0x9c, 0xcb, 0xc8, 0x04, 0x00, 0x01, 0x3b, 0x00, 0xd2, '#', '\n', '#'};
	struct pm_inflate *s =
		pm_inflate_new(PM_INFLATE_ZLIB, (struct pm_bytes){data, sizeof(data)});
	assert_true(gives(s, pm_bytes_of("hi"), 1));
	assert_int_equal(pm_inflate_status(s).state, PM_INFLATE_ENDED);
	assert_int_equal(pm_inflate_status(s).in, 10);
	pm_inflate_free(s);
}

static void test_gzip_members_are_one_stream(void **state)
{
	struct pm_bytes a = gzip_new(pm_bytes_of("one")), b = gzip_new(pm_bytes_of("two"));
	uint8_t both[128];
	memcpy(both, a.p, a.len);
	memcpy(both + a.len, b.p, b.len);
	struct pm_inflate *s =
		pm_inflate_new(PM_INFLATE_GZIP, (struct pm_bytes){both, a.len + b.len});
	assert_true(gives(s, pm_bytes_of("onetwo"), 4));
	assert_int_equal(pm_inflate_status(s).state, PM_INFLATE_ENDED);
	pm_inflate_free(s);
	drop(a);
	drop(b);
}

static void test_cut_stream_gives_what_precedes_the_cut(void **state)
{
	struct pm_bytes plain = plain_new(), raw = raw_new(plain);
	size_t last = 0;
	for (size_t len = 0; len < raw.len; len += raw.len / 50) {
		struct pm_bytes cut = exact(raw, 0, len);
		struct pm_inflate *s = pm_inflate_new(PM_INFLATE_RAW, cut);
		struct pm_bytes w = pm_inflate_peek(s, PLAIN_LEN);
		struct pm_inflate_status status = pm_inflate_status(s);
		assert_true(w.len >= last && w.len < PLAIN_LEN);
		assert_memory_equal(w.p, plain.p, w.len);
		assert_int_equal(status.state, PM_INFLATE_BROKEN);
		assert_string_equal(status.why, "the compressed stream is cut");
		assert_int_equal(status.in, len);
		last = w.len;
		pm_inflate_free(s);
		drop(cut);
	}
	assert_true(last > PLAIN_LEN / 2);
	drop(raw);
	drop(plain);
}

static void test_damaged_stream_says_why_and_keeps_what_precedes(void **state)
{
	struct pm_bytes plain = plain_new(), gzip = gzip_new(plain);
	uint8_t *p = (uint8_t *)(uintptr_t)gzip.p;
	p[gzip.len - 8] ^= 1; /* the checksum: all of the text precedes it */
	struct pm_inflate *s = pm_inflate_new(PM_INFLATE_GZIP, gzip);
	assert_true(gives(s, plain, 1000));
	assert_int_equal(pm_inflate_status(s).state, PM_INFLATE_BROKEN);
	assert_non_null(pm_inflate_status(s).why);
	pm_inflate_free(s);
	p[0] = 0;
	s = pm_inflate_new(PM_INFLATE_GZIP, gzip);
	assert_int_equal(pm_inflate_peek(s, 1).len, 0);
	assert_string_equal(pm_inflate_status(s).why, "incorrect header check");
	pm_inflate_free(s);
	drop(gzip);
	drop(plain);
}

static void test_stream_can_be_left_before_its_end(void **state)
{
	struct pm_bytes plain = plain_new(), raw = raw_new(plain);
	for (size_t left = 0; left < PLAIN_LEN; left += PLAIN_LEN / 8) {
		struct pm_inflate *s = pm_inflate_new(PM_INFLATE_RAW, raw);
		for (size_t at = 0; at < left; at += 4096)
			pm_inflate_consume(s, pm_inflate_peek(s, 4096).len ? 4096 : 0);
		assert_int_equal(pm_inflate_peek(s, 1).p[0], plain.p[left]);
		pm_inflate_free(s);
	}
	drop(raw);
	drop(plain);
}

static void test_window_is_bounded(void **state)
{
	uint8_t *zeros = calloc(1, PM_LIMIT_WINDOW + 1000);
	struct pm_bytes raw = raw_new((struct pm_bytes){zeros, PM_LIMIT_WINDOW + 1000});
	struct pm_inflate *s = pm_inflate_new(PM_INFLATE_RAW, raw);
	assert_int_equal(pm_inflate_peek(s, SIZE_MAX).len, PM_LIMIT_WINDOW);
	assert_int_equal(pm_inflate_status(s).state, PM_INFLATE_MORE);
	pm_inflate_consume(s, PM_LIMIT_WINDOW);
	assert_int_equal(pm_inflate_peek(s, SIZE_MAX).len, 1000);
	assert_int_equal(pm_inflate_status(s).state, PM_INFLATE_ENDED);
	pm_inflate_free(s);
	drop(raw);
	free(zeros);
}

/* A frame of zstd with blocks of 128 KiB of one byte, which have four bytes each. */
static void test_zstd_stream_has_a_ratio(void **state)
{
	static const uint8_t head[] = {0x28, 0xb5, 0x2f, 0xfd, 0, 0x50};
	enum { SMALL = 400, LARGE = 800, BLOCK = 1 << 17 };
	static uint8_t frame[sizeof(head) + 4 * LARGE];
	for (uint32_t n = SMALL; n <= LARGE; n += LARGE - SMALL) {
		size_t len = sizeof(head);
		memcpy(frame, head, sizeof(head));
		for (uint32_t i = 1; i <= n; i++) {
			uint32_t block = BLOCK << 3 | 1 << 1 | (i == n);
			frame[len++] = (uint8_t)block;
			frame[len++] = (uint8_t)(block >> 8);
			frame[len++] = (uint8_t)(block >> 16);
			frame[len++] = 'x';
		}
		struct pm_inflate *s =
			pm_inflate_new(PM_INFLATE_ZSTD, (struct pm_bytes){frame, len});
		assert_non_null(s);
		for (size_t got; (got = pm_inflate_peek(s, 1).len) > 0;)
			pm_inflate_consume(s, got);
		struct pm_inflate_status status = pm_inflate_status(s);
		pm_inflate_free(s);
		if (status.why && strstr(status.why, "without libzstd"))
			skip();
		assert_int_equal(status.state, n == SMALL ? PM_INFLATE_ENDED : PM_INFLATE_BROKEN);
		if (n == SMALL)
			assert_int_equal(status.out, (uint64_t)SMALL * BLOCK);
		else
			assert_true(status.out < PM_LIMIT_ZSTD + 1032 * len + (2 << 20));
	}
}

static void test_block_wants_exactly_n_bytes(void **state)
{
	struct pm_bytes plain = plain_new(), raw = raw_new(plain), cut = exact(raw, 0, raw.len / 2);
	uint8_t *out = malloc(PLAIN_LEN + 1);
	struct pm_error err = {0};
	assert_int_equal(pm_inflate_block(raw, out, PLAIN_LEN, NULL), 0);
	assert_memory_equal(out, plain.p, PLAIN_LEN);
	assert_int_equal(pm_inflate_block(raw, out, 0, NULL), 0);
	assert_int_equal(pm_inflate_block(raw, out, 1000, NULL), 0);
	assert_int_equal(pm_inflate_block(cut, out, PLAIN_LEN / 3, NULL), 0);
	assert_int_equal(pm_inflate_block(raw, out, PLAIN_LEN + 1, &err), -EINVAL);
	assert_string_equal(
		err.text, "the compressed data ends too early: 1572864 of 1572865 bytes");
	err = (struct pm_error){0};
	assert_int_equal(pm_inflate_block(cut, out, PLAIN_LEN, &err), -EINVAL);
	assert_int_equal(err.offset, cut.len);
	assert_int_equal(pm_inflate_block((struct pm_bytes){NULL, 0}, out, 1, NULL), -EINVAL);
	free(out);
	drop(cut);
	drop(raw);
	drop(plain);
}

static void test_block_need_not_be_finished(void **state)
{
	static const uint8_t flushed[] = {0, 3, 0, 0xfc, 0xff, 'a', 'b', 'c', 0, 0, 0, 0xff, 0xff};
	struct pm_bytes in = exact((struct pm_bytes){flushed, sizeof(flushed)}, 0, sizeof(flushed));
	uint8_t out[4];
	struct pm_error err = {0};
	for (size_t n = 0; n <= 3; n++) {
		memset(out, 0, sizeof(out));
		assert_int_equal(pm_inflate_block(in, out, n, NULL), 0);
		assert_memory_equal(out, "abc", n);
		assert_int_equal(out[n], 0);
	}
	assert_int_equal(pm_inflate_block(in, out, 4, &err), -EINVAL);
	assert_string_equal(err.text, "the compressed data is cut: 3 of 4 bytes");
	drop(in);
}

static void test_block_refuses_damage(void **state)
{
	static const uint8_t bad[] = {0x07, 0x00}; /* block type 3 does not exist */
	uint8_t out[10];
	struct pm_error err = {0};
	assert_int_equal(pm_inflate_block((struct pm_bytes){bad, 2}, out, 10, &err), -EINVAL);
	assert_string_equal(err.text, "the compressed data is damaged: 0 of 10 bytes");
}

static void test_crc32_adds_up_over_pieces(void **state)
{
	struct pm_bytes whole = pm_bytes_of("123456789");
	uint32_t crc = pm_crc32(0, (struct pm_bytes){whole.p, 4});
	assert_int_equal(pm_crc32(0, whole), 0xcbf43926);
	assert_int_equal(pm_crc32(crc, (struct pm_bytes){NULL, 0}), crc);
	assert_int_equal(pm_crc32(crc, (struct pm_bytes){whole.p + 4, 5}), 0xcbf43926);
}

static void test_gzip_is_the_same_every_time(void **state)
{
	struct pm_bytes a = gzip_new(pm_bytes_of("text")), b = gzip_new(pm_bytes_of("text"));
	struct pm_bytes none = gzip_new((struct pm_bytes){NULL, 0});
	struct pm_inflate *s = pm_inflate_new(PM_INFLATE_GZIP, none);
	assert_true(pm_bytes_equal(a, b));
	assert_true(gives(s, (struct pm_bytes){NULL, 0}, 1));
	assert_int_equal(pm_inflate_status(s).state, PM_INFLATE_ENDED);
	pm_inflate_free(s);
	drop(none);
	drop(a);
	drop(b);
}

static void test_gzip_stops_at_the_limit_of_its_builder(void **state)
{
	struct pm_bytes plain = plain_new();
	struct pm_text out = {.limit = 1000};
	pm_gzip(&out, plain);
	assert_int_equal(pm_text_status(&out), -ENOMEM);
	pm_text_done(&out);
	drop(plain);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stream_delivers_the_same_in_any_window),
		cmocka_unit_test(test_zlib_streams_in_any_window),
		cmocka_unit_test(test_cut_zlib_stream_gives_what_zlib_gives),
		cmocka_unit_test(test_damaged_zlib_stream_is_broken),
		cmocka_unit_test(test_stream_end_leaves_what_follows),
		cmocka_unit_test(test_gzip_members_are_one_stream),
		cmocka_unit_test(test_cut_stream_gives_what_precedes_the_cut),
		cmocka_unit_test(test_damaged_stream_says_why_and_keeps_what_precedes),
		cmocka_unit_test(test_stream_can_be_left_before_its_end),
		cmocka_unit_test(test_window_is_bounded),
		cmocka_unit_test(test_zstd_stream_has_a_ratio),
		cmocka_unit_test(test_block_wants_exactly_n_bytes),
		cmocka_unit_test(test_block_need_not_be_finished),
		cmocka_unit_test(test_block_refuses_damage),
		cmocka_unit_test(test_crc32_adds_up_over_pieces),
		cmocka_unit_test(test_gzip_is_the_same_every_time),
		cmocka_unit_test(test_gzip_stops_at_the_limit_of_its_builder),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
