/*
 * Reads entries, `id 01 text 02 id 03`, and keeps them by id. An entry is only used if both numbers
 * agree, so bytes that were damaged or cut off are skipped up to the next 03. Does not interpret
 * entries.
 */
#include "formats/zts/texts.h"

#include <stdlib.h>

#include "formats/common/cursor.h"
#include "formats/common/list.h"
#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "formats/common/work.h"
#include "formats/zts/fm.h"

enum { WAL_HEADER_SIZE = 4, MOST_DIGITS = 6 };

size_t zts_wal_length(struct pm_bytes file)
{
	struct pm_bytes entries;
	if (!pm_bytes_sub(file, WAL_HEADER_SIZE, file.len - WAL_HEADER_SIZE, &entries))
		return file.len;
	const uint8_t *zero = memchr(entries.p, 0, entries.len);
	return zero ? WAL_HEADER_SIZE + (size_t)(zero - entries.p) : file.len;
}

bool zts_number_read(struct pm_bytes digits, uint64_t *ret)
{
	uint64_t value = 0;
	if (digits.len == 0 || digits.len > MOST_DIGITS)
		return false;
	for (size_t i = 0; i < digits.len; i++) {
		if (digits.p[i] < 0x30 || digits.p[i] > 0x6f)
			return false;
		value = value << 6 | (uint64_t)(digits.p[i] - 0x30);
	}
	*ret = value;
	return true;
}

/* The entry within the bytes before a 03. */
static bool entry_decode(struct pm_bytes b, struct zts_text *ret)
{
	struct pm_bytes first, second;
	const uint8_t *begin = memchr(b.p, 1, b.len);
	const uint8_t *end = memrchr(b.p, 2, b.len);
	if (!begin || !end || end < begin)
		return false;
	size_t text_off = (size_t)(begin - b.p) + 1, text_end = (size_t)(end - b.p);
	pm_bytes_sub(b, 0, text_off - 1, &first);
	pm_bytes_sub(b, text_end + 1, b.len - text_end - 1, &second);
	return pm_bytes_equal(first, second) && zts_number_read(first, &ret->id) &&
		pm_bytes_sub(b, text_off, text_end - text_off, &ret->raw);
}

struct loss {
	uint64_t n, offset, bytes; /* of the first */
};

/*
 * Adds the entries of `b`; 00 and 03 separate them. Bytes outside of entries are counted in `loss`.
 */
static int add_entries(struct zts_texts *t, struct pm_bytes b, struct loss *loss)
{
	for (size_t at = 0; at < b.len;) {
		struct zts_text entry;
		struct pm_bytes rest, one;
		if (pm_work_cancelled())
			return -ENOMEM;
		pm_bytes_sub(b, at, b.len - at, &rest);
		if (rest.p[0] == 0 || rest.p[0] == 3) {
			at++;
			continue;
		}
		const uint8_t *end = memchr(rest.p, 3, rest.len);
		size_t len = end ? (size_t)(end - rest.p) : rest.len;
		pm_bytes_sub(rest, 0, len, &one);
		if (end && entry_decode(one, &entry)) {
			if (pm_list_room(&t->items, t->n, &t->room, sizeof(entry)) < 0)
				return -ENOMEM;
			t->items[t->n++] = entry;
		} else if (loss->n++ == 0) {
			loss->offset = at;
			loss->bytes = len;
		}
		at += len;
	}
	return 0;
}

int zts_texts_add_wal(
	struct zts_texts *t, struct pm_bytes data, struct pm_damage_list *damage, const char *file)
{
	struct pm_bytes magic, entries;
	struct loss loss = {0};
	if (data.len == 0)
		return 0;
	if (!pm_bytes_sub(data, 0, WAL_HEADER_SIZE, &magic) || memcmp(magic.p, "WAL\3", 4) != 0)
		pm_damage_add(damage, file, 0, PM_NO_OFFSET, "has no WAL header");
	if (!pm_bytes_sub(data, WAL_HEADER_SIZE, data.len - WAL_HEADER_SIZE, &entries))
		return 0;
	int r = add_entries(t, entries, &loss);
	if (loss.n > 0)
		pm_damage_add(damage, file, WAL_HEADER_SIZE + loss.offset, loss.bytes,
			"%llu entries of the text index are cut or damaged",
			(unsigned long long)loss.n);
	return r;
}

int zts_texts_add_fm(
	struct zts_texts *t, struct pm_bytes data, struct pm_damage_list *damage, const char *file)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct zts_fm fm;
	struct loss loss = {0};
	if (pm_list_room(&t->decoded, t->n_decoded, &t->decoded_room, sizeof(*t->decoded)) < 0)
		return -ENOMEM;
	int r = zts_fm_read(data, &fm, &err);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		pm_damage_add(damage, file, err.offset, PM_NO_OFFSET, "%s", err.text);
		return 0;
	}
	size_t before = t->n;
	r = add_entries(t, (struct pm_bytes){fm.data, fm.len}, &loss);
	if (t->n > before)
		t->decoded[t->n_decoded++] = fm.data;
	else
		free(fm.data);
	if (loss.n > 0)
		pm_damage_add(damage, file, PM_NO_OFFSET, PM_NO_OFFSET,
			"%llu entries of the text index are damaged", (unsigned long long)loss.n);
	return r;
}

static int by_id(const void *a, const void *b)
{
	const struct zts_text *x = a, *y = b;
	if (x->id != y->id)
		return x->id < y->id ? -1 : 1;
	return pm_bytes_compare(x->raw, y->raw);
}

int zts_texts_freeze(struct zts_texts *t)
{
	size_t kept = 0;
	if (pm_sort(t->items, t->n, sizeof(*t->items), by_id) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < t->n; i++) /* several files may contain a copy; any will do */
		if (kept == 0 || t->items[kept - 1].id != t->items[i].id)
			t->items[kept++] = t->items[i];
	t->n = kept;
	return 0;
}

const struct zts_text *zts_texts_find(const struct zts_texts *t, uint64_t id)
{
	if (t->n == 0 || id < t->items[0].id)
		return NULL;
	/* Ids are assigned in ascending order: an entry is at its id, or before it. */
	uint64_t place = id - t->items[0].id;
	if (place < t->n && t->items[place].id == id)
		return &t->items[place];
	size_t end = place < t->n ? (size_t)place : t->n;
	size_t at = PM_LOWER_BOUND(i, 0, end, t->items[i].id < id);
	return at < t->n && t->items[at].id == id ? &t->items[at] : NULL;
}

void zts_texts_done(struct zts_texts *t)
{
	for (size_t i = 0; i < t->n_decoded; i++)
		free(t->decoded[i]);
	free(t->decoded);
	free(t->items);
	*t = (struct zts_texts){.n = 0};
}
