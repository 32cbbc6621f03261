/*
 * Every prefix of every file of a store, and every byte of it flipped: opening and reading all of
 * it must end, without sanitizer reports. Readers of whole files get their bytes in blocks of exact
 * size, so that one byte too many is seen.
 */
#include "tests/unittest.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/zts/chunks.h"
#include "formats/zts/meta.h"
#include "formats/zts/payload.h"
#include "formats/zts/texts.h"
#include "tests/zts/drain.h"
#include "tests/zts/writer.h"

static char folder[] = "/tmp/profmount-zts-XXXXXX";

/* ---- readers, on blocks of exact size ---- */

static void read_chunks(struct pm_bytes b)
{
	struct zts_chunks c;
	enum zts_status status;
	assert_int_equal(zts_chunks_walk(&c, b, NULL), 0);
	for (uint32_t i = 0; i < c.n; i++) {
		uint8_t *payload;
		if (zts_chunk_read(&c, i, &payload, &status) < 0)
			continue;
		struct pm_text out = {0};
		zts_payload_write((struct pm_bytes){payload, c.chunks[i].bytes}, &out, NULL);
		pm_text_done(&out);
		free(payload);
	}
	zts_chunks_done(&c);
}

static void read_texts(struct pm_bytes b)
{
	struct pm_damage_list damage = PM_DAMAGE_LIST_INIT;
	struct zts_texts t = {.n = 0};
	assert_int_equal(zts_texts_add_wal(&t, b, &damage, "wal"), 0);
	assert_int_equal(zts_texts_add_fm(&t, b, &damage, "fm"), 0);
	assert_int_equal(zts_texts_freeze(&t), 0);
	zts_texts_done(&t);
	pm_damage_done(&damage);
}

static void read_meta(struct pm_bytes b)
{
	struct zts_spans spans = {.n = 0};
	bool whole;
	assert_int_equal(zts_meta_carve(&spans, b, 0, 14, &whole), 0);
	assert_int_equal(zts_meta_read_old(&spans, b, 0, &whole), 0);
	assert_int_equal(zts_spans_unite(&spans), 0);
	free(spans.items);
}

static void on_copy(void (*read)(struct pm_bytes), struct pm_bytes b, size_t len, size_t flip)
{
	uint8_t *p = malloc(len ? len : 1);
	assert_non_null(p);
	memcpy(p, b.p, len);
	for (int bit = 0; bit < 8 && flip < len; bit += 3) {
		p[flip] = b.p[flip] ^ (uint8_t)(1 << bit);
		read((struct pm_bytes){p, len});
	}
	if (flip >= len)
		read((struct pm_bytes){p, len});
	free(p);
}

static void sweep_reader(void (*read)(struct pm_bytes), struct pm_bytes b)
{
	for (size_t n = 0; n <= b.len; n++)
		on_copy(read, b, n, SIZE_MAX);
	for (size_t i = 0; i < b.len; i++)
		on_copy(read, b, b.len, i);
}

static void test_readers_survive_every_cut_and_flip(void **state)
{
	for (uint32_t flags = 0x10; flags <= 0x12; flags++)
		for (int fm = 0; fm < 2; fm++) {
			struct zts_sample s;
			zts_sample_make(&s, flags, fm, fm ? ZTS_INDEX_OLD : ZTS_INDEX_NEW);
			sweep_reader(read_chunks, pm_text_view(&s.traces));
			sweep_reader(read_texts, pm_text_view(&s.texts));
			sweep_reader(read_meta, pm_text_view(&s.meta));
			zts_sample_done(&s);
		}
}

/* ---- whole stores ---- */

static void drain_folder(void)
{
	struct pm_text out = {0};
	struct pm_profile *p;
	struct pm_error err = {.offset = PM_NO_OFFSET};
	if (pm_profile_open(folder, "zts", NULL, &p, &err) < 0) {
		assert_true(err.code < 0 && err.text[0] != '\0');
		return;
	}
	zts_drain_all(p, &out);
	pm_profile_close(p);
	pm_text_done(&out);
}

static void sweep_file(const char *name, struct pm_bytes b, size_t step)
{
	uint8_t *p = malloc(b.len + 1);
	assert_non_null(p);
	memcpy(p, b.p, b.len);
	for (size_t n = 0; n < b.len; n += step) {
		assert_true(zts_write_file(folder, name, (struct pm_bytes){p, n}));
		drain_folder();
		p[n] ^= 0x21;
		assert_true(zts_write_file(folder, name, (struct pm_bytes){p, b.len}));
		drain_folder();
		p[n] = b.p[n];
	}
	assert_true(zts_write_file(folder, name, b));
	free(p);
}

/* Without checksums, so that damage reaches the readers behind them. */
static void test_stores_survive_cuts_and_flips(void **state)
{
	for (int old = 0; old < 2; old++) {
		struct zts_sample s;
		zts_sample_make(&s, old ? 0x02 : 0x00, old, old ? ZTS_INDEX_OLD : ZTS_INDEX_NEW);
		rmdir(folder);
		assert_true(zts_sample_write(&s, folder));
		sweep_file("traces.dat", pm_text_view(&s.traces), 1);
		sweep_file(zts_sample_text_name(&s), pm_text_view(&s.texts), 7);
		sweep_file(zts_sample_meta_name(&s), pm_text_view(&s.meta), 3);
		zts_remove_folder(folder);
		zts_sample_done(&s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_readers_survive_every_cut_and_flip),
		cmocka_unit_test(test_stores_survive_cuts_and_flips),
	};
	if (!mkdtemp(folder))
		return 1;
	return cmocka_run_group_tests(tests, NULL, NULL);
}
