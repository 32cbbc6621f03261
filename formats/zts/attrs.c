/* References and integers, nearly all values, are decoded without a reader. */
#include "formats/zts/scan.h"

#include <errno.h>

#include "formats/common/cbor.h"
#include "formats/zts/names.h"
#include "formats/zts/records.h"
#include "profmount/profile.h"

enum { MAJOR_UINT = 0, MAJOR_TAG = 6, TAG_STRING = 6, NO_LENGTH = 31 };

static bool take_quickly(struct pm_cur *in, struct zts_kept *ret)
{
	struct pm_cbor_head head;
	size_t begin = in->at;
	uint32_t len = ZTS_KEPT_NUMBER;
	bool good = pm_cbor_read_head(in, &head);
	if (good && head.major == MAJOR_TAG && head.value == TAG_STRING) {
		len = ZTS_KEPT_REF;
		good = pm_cbor_read_head(in, &head);
	}
	if (good && head.major == MAJOR_UINT && head.low != NO_LENGTH) {
		*ret = (struct zts_kept){.len = len, .u = head.value};
		return true;
	}
	in->at = begin;
	in->bad = false;
	return false;
}

bool zts_kept_of_text(struct pm_bytes text, struct pm_arena *arena, struct zts_kept *ret)
{
	*ret = (struct zts_kept){.len = (uint32_t)text.len};
	if (text.len <= sizeof(ret->few)) {
		if (text.len)
			memcpy(ret->few, text.p, text.len);
		return true;
	}
	ret->p = pm_arena_copy(arena, text).p;
	return ret->p != NULL;
}

/* Any value: uses a separate reader, which starts at the value. */
static int take_slowly(struct pm_cur *in, const struct zts_texts *t, bool as_key,
	struct pm_arena *arena, struct zts_kept *ret)
{
	struct zts_records reader;
	struct pm_text text = {.p = NULL};
	struct pm_bytes rest;
	bool is_text;
	pm_bytes_sub(in->b, in->at, in->b.len - in->at, &rest);
	zts_records_init(&reader);
	zts_records_feed(&reader, rest);
	int r = zts_value_read(&reader, t, as_key, &text, &is_text, NULL);
	if (r == 0 && (text.failed || text.len >= ZTS_KEPT_NUMBER))
		r = text.full ? -EINVAL : -ENOMEM;
	if (r == 0 && !zts_kept_of_text(pm_text_view(&text), arena, ret))
		r = -ENOMEM;
	in->at += r == 0 ? reader.cbor.in.at : 0;
	zts_records_done(&reader);
	pm_text_done(&text);
	return r;
}

int zts_attr_meet(
	struct pm_cur *in, const struct zts_texts *t, struct pm_arena *arena, struct zts_met *ret)
{
	int r = take_quickly(in, &ret->key) ? 0 : take_slowly(in, t, true, arena, &ret->key);
	if (r == 0 && !take_quickly(in, &ret->value))
		r = take_slowly(in, t, false, arena, &ret->value);
	return r;
}

void zts_kept_text(const struct zts_kept *kept, const struct zts_texts *t, struct pm_text *out)
{
	if (kept->len == ZTS_KEPT_REF)
		zts_name_string(t, kept->u, out);
	else if (kept->len == ZTS_KEPT_NUMBER)
		pm_text_u64(out, kept->u);
	else
		pm_text_add(out,
			kept->len <= sizeof(kept->few) ? (const uint8_t *)kept->few : kept->p,
			kept->len);
}

uint32_t zts_attr_number(
	struct zts_attr_names *names, const struct zts_kept *key, const struct zts_texts *t)
{
	pm_text_clear(&names->scratch);
	zts_kept_text(key, t, &names->scratch);
	uint32_t known = pm_strtab_find(&names->texts, pm_text_view(&names->scratch));
	if (known != PM_NONE || names->texts.n >= ZTS_MOST_NAMES)
		return known;
	return pm_strtab_add(&names->texts, pm_text_view(&names->scratch));
}
