/*
 * The JSON scanner: a text that is scanned in windows gives the values that it gives as a whole,
 * and what is passed over is as long as what is taken.
 */
#include "formats/common/json_scan.h"

#include <errno.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct feed {
	struct pm_bytes whole;
	size_t given, step;
	uint8_t *block;
};

/* Into a block of exact size. */
static int feed_more(struct pm_scan *s, size_t from)
{
	struct feed *f = s->source;
	size_t begin = f->given - s->b.len + from, left = f->whole.len - f->given;
	size_t n = f->given + (left < f->step ? left : f->step) - begin;
	uint8_t *block = malloc(n + !n);
	if (!block)
		return -ENOMEM;
	if (n)
		memcpy(block, f->whole.p + begin, n);
	free(f->block);
	f->block = block;
	f->given = begin + n;
	s->b = (struct pm_bytes){block, n};
	return 0;
}

/* Enters what is at the top, and takes what is in it; a line for each value. */
static void put_all(struct pm_scan *s, struct pm_text *out, struct pm_text *scratch)
{
	struct pm_scan_value v;
	struct pm_bytes key;
	int64_t n;
	while (pm_scan_top_item(s)) {
		bool object = pm_scan_peek(s) == PM_SCAN_OBJECT;
		if (!object && pm_scan_peek(s) != PM_SCAN_ARRAY) {
			pm_scan_value(s, &v);
			pm_text_printf(out, "%d\n", (int)v.kind);
			continue;
		}
		pm_scan_enter(s);
		while (object ? pm_scan_key(s, &key) : pm_scan_item(s)) {
			if (object)
				pm_text_bytes(out, key);
			pm_scan_value(s, &v);
			pm_text_printf(out, "%d %llu ", (int)v.kind, (unsigned long long)v.at);
			pm_text_bytes(out, pm_scan_unescape(&v, scratch));
			pm_text_printf(out, " %d %g\n", (int)pm_scan_decimal(v.text, 3, &n),
				pm_scan_double(v.text));
		}
	}
	pm_text_printf(out, "%d %d %llu", s->code, s->cut, (unsigned long long)pm_scan_where(s));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size == 0)
		return 0;
	struct feed f = {.whole = {data + 1, size - 1}, .step = 1 + data[0] % 100};
	struct pm_text whole = {NULL}, windows = {NULL}, scratch = {NULL};
	struct pm_scan s = {.b = f.whole};
	put_all(&s, &whole, &scratch);
	s = (struct pm_scan){.more = feed_more, .source = &f};
	put_all(&s, &windows, &scratch);
	if (pm_text_status(&whole) == 0 && pm_text_status(&windows) == 0 &&
		!pm_bytes_equal(pm_text_view(&whole), pm_text_view(&windows)))
		abort();
	s = (struct pm_scan){.b = f.whole};
	struct pm_scan taken = s;
	struct pm_scan_value v;
	bool skipped = pm_scan_skip(&s), took = pm_scan_value(&taken, &v) != PM_SCAN_NOTHING;
	if (skipped != took || s.at != taken.at)
		abort();
	free(f.block);
	pm_text_done(&whole);
	pm_text_done(&windows);
	pm_text_done(&scratch);
	return 0;
}
