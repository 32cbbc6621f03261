/* Cells of a column, and how they can be stored. */
#include "fs/document/chunk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/list.h"
#include "formats/common/row.h"
#include "formats/common/utf8.h"

#define MOST_EXACT ((double)((uint64_t)1 << 53))

enum { N_PLACES = 1 << 12 };

int pmfs_chunk_begin(struct pmfs_chunk *c, enum pmfs_storage storage)
{
	pm_strtab_done(&c->texts);
	pm_arena_done(&c->arena);
	c->texts = (struct pm_strtab){.arena = &c->arena};
	c->storage = storage;
	c->n = c->n_nulls = c->last = 0;
	c->seen = 0;
	c->bytes = 0;
	c->failed = false;
	if (!c->present)
		c->present = malloc(PMFS_GROUP_ROWS / 8);
	bool has_places = storage == PMFS_STORE_TEXT && !c->laid_out;
	if (has_places && !c->seen_at)
		c->seen_at = malloc(N_PLACES * sizeof(*c->seen_at));
	if (!c->present || (has_places && !c->seen_at))
		return -ENOMEM;
	memset(c->present, 0, PMFS_GROUP_ROWS / 8);
	if (has_places)
		memset(c->seen_at, 0, N_PLACES * sizeof(*c->seen_at));
	return 0;
}

void pmfs_chunk_done(struct pmfs_chunk *c)
{
	pm_strtab_done(&c->texts);
	pm_arena_done(&c->arena);
	pm_text_done(&c->scratch);
	free(c->values);
	free(c->present);
	free(c->seen_at);
	*c = (struct pmfs_chunk){.n = 0};
}

/* ---- cells ---- */

static bool is_exact(uint64_t u)
{
	double d = (double)u;
	return d < 0x1p64 && (uint64_t)d == u;
}

static uint8_t traits_of(const struct pm_cell *cell)
{
	uint8_t seen = PMFS_SEEN_NUMBER;
	switch (cell->kind) {
	case PM_CELL_U64:
		if (cell->u > INT64_MAX)
			seen |= PMFS_SEEN_BEYOND;
		return seen | (is_exact(cell->u) ? 0 : PMFS_SEEN_INEXACT);
	case PM_CELL_I64:
		seen |= cell->i < 0 ? PMFS_SEEN_NEGATIVE : 0;
		return seen |
			(is_exact(cell->i < 0 ? -(uint64_t)cell->i : (uint64_t)cell->i)
					? 0
					: PMFS_SEEN_INEXACT);
	case PM_CELL_F64:
		if (cell->f != trunc(cell->f) || fabs(cell->f) > MOST_EXACT)
			return seen | PMFS_SEEN_FRACTION;
		return seen | (cell->f < 0 ? PMFS_SEEN_NEGATIVE : 0);
	case PM_CELL_EMPTY:
	case PM_CELL_HEX:
	case PM_CELL_ID:
	case PM_CELL_TEXT: break;
	}
	return PMFS_SEEN_TEXT;
}

enum pmfs_storage pmfs_storage_for(enum pm_type type, uint8_t seen)
{
	bool whole = !(seen & PMFS_SEEN_FRACTION);
	if (type == PM_TYPE_TEXT || seen & PMFS_SEEN_TEXT || (type == PM_TYPE_ANY && !seen))
		return PMFS_STORE_TEXT;
	if (type == PM_TYPE_FLOAT && !(whole && seen & PMFS_SEEN_INEXACT))
		return PMFS_STORE_DOUBLE;
	if (!whole)
		return seen & PMFS_SEEN_INEXACT ? PMFS_STORE_TEXT : PMFS_STORE_DOUBLE;
	if (!(seen & PMFS_SEEN_BEYOND))
		return PMFS_STORE_I64;
	return seen & PMFS_SEEN_NEGATIVE ? PMFS_STORE_TEXT : PMFS_STORE_U64;
}

static uint64_t double_bits(double d)
{
	uint64_t u;
	memcpy(&u, &d, sizeof(u));
	return u;
}

static uint64_t number_bits(enum pmfs_storage storage, const struct pm_cell *cell)
{
	bool is_double = storage == PMFS_STORE_DOUBLE;
	switch (cell->kind) {
	case PM_CELL_U64: return is_double ? double_bits((double)cell->u) : cell->u;
	case PM_CELL_I64: return is_double ? double_bits((double)cell->i) : (uint64_t)cell->i;
	case PM_CELL_F64: return is_double ? double_bits(cell->f) : (uint64_t)(int64_t)cell->f;
	case PM_CELL_EMPTY:
	case PM_CELL_HEX:
	case PM_CELL_ID:
	case PM_CELL_TEXT: break;
	}
	return 0;
}

bool pmfs_number_bits(enum pmfs_storage storage, const struct pm_cell *cell, uint64_t *ret)
{
	if (cell->kind == PM_CELL_EMPTY || (cell->kind == PM_CELL_F64 && !isfinite(cell->f)))
		return false;
	enum pm_type type = storage == PMFS_STORE_DOUBLE ? PM_TYPE_FLOAT : PM_TYPE_INTEGER;
	*ret = number_bits(storage, cell);
	return pmfs_storage_for(type, traits_of(cell)) == storage;
}

static bool is_clean(struct pm_bytes text)
{
	return text.len == 0 || (pm_utf8_valid(text) && !memchr(text.p, 0, text.len));
}

/* The bytes of a cell as text as in CSV, before any quoting. */
static struct pm_bytes text_of(struct pmfs_chunk *c, const struct pm_cell *cell)
{
	if (cell->kind == PM_CELL_TEXT && is_clean(cell->text))
		return cell->text;
	pm_text_clear(&c->scratch);
	if (cell->kind == PM_CELL_TEXT) {
		pm_text_utf8(&c->scratch, cell->text);
	} else {
		pm_row_render(&c->scratch, PM_TSV, cell, 1);
		c->scratch.len -= c->scratch.len > 0; /* the line feed */
	}
	c->failed |= c->scratch.failed;
	return pm_text_view(&c->scratch);
}

static void add_value(struct pmfs_chunk *c, uint64_t value)
{
	uint32_t i = c->n - c->n_nulls;
	if (i == c->room && pm_list_room(&c->values, i, &c->room, sizeof(*c->values)) < 0) {
		c->failed = true;
		return;
	}
	c->present[c->n >> 3] |= (uint8_t)(1u << (c->n & 7));
	c->values[i] = value;
	c->n++;
	c->bytes += sizeof(value);
}

static void add_null(struct pmfs_chunk *c)
{
	c->n++;
	c->n_nulls++;
}

static void add_text(struct pmfs_chunk *c, struct pm_bytes text)
{
	if (text.len == 0) {
		add_null(c);
		return;
	}
	if (c->texts.n == 0 || !pm_bytes_equal(text, c->texts.items[c->last])) {
		uint32_t known = c->texts.n;
		c->last = pm_strtab_add(&c->texts, text);
		if (c->last == UINT32_MAX) {
			c->failed = true;
			c->last = 0;
		} else if (c->last == known) {
			c->bytes += text.len;
		}
	}
	add_value(c, c->last);
}

static struct pmfs_seen *seen_at(const struct pmfs_chunk *c, struct pm_bytes text)
{
	return &c->seen_at[pm_hash_u64((uint64_t)(uintptr_t)text.p) % N_PLACES];
}

/*
 * Most texts are at the same address as in an earlier row: comparing the bytes there is cheaper
 * than hashing them. Bytes of a text that lasts are not compared again, because it may be long, and
 * be that of all rows.
 */
static bool add_seen(struct pmfs_chunk *c, const struct pm_cell *cell)
{
	const struct pmfs_seen *seen = seen_at(c, cell->text);
	bool is_same = cell->lasts && cell->text.p == seen->lasting.p &&
		cell->text.len == seen->lasting.len;
	if (seen->index == 0 ||
		(!is_same && !pm_bytes_equal(cell->text, c->texts.items[seen->index - 1])))
		return false;
	add_value(c, seen->index - 1);
	return true;
}

static void add_text_cell(struct pmfs_chunk *c, const struct pm_cell *cell)
{
	bool is_text = cell->kind == PM_CELL_TEXT;
	if (is_text && cell->text.len > 0 && add_seen(c, cell))
		return;
	uint32_t n_nulls = c->n_nulls;
	add_text(c, text_of(c, cell));
	if (is_text && c->n_nulls == n_nulls && c->texts.n > 0)
		*seen_at(c, cell->text) = (struct pmfs_seen){
			.lasting = cell->lasts ? cell->text : (struct pm_bytes){NULL, 0},
			.index = c->last + 1};
}

void pmfs_chunk_add(struct pmfs_chunk *c, const struct pm_cell *cell)
{
	if (cell->kind == PM_CELL_EMPTY || (cell->kind == PM_CELL_F64 && !isfinite(cell->f))) {
		add_null(c);
		return;
	}
	uint8_t seen = traits_of(cell);
	c->seen |= seen;
	if (c->storage == PMFS_STORE_TEXT)
		add_text_cell(c, cell);
	else if (seen & PMFS_SEEN_TEXT ||
		(c->storage != PMFS_STORE_DOUBLE && seen & PMFS_SEEN_FRACTION))
		add_null(c);
	else
		add_value(c, number_bits(c->storage, cell));
}

/* ---- columns that are laid out ---- */

static int set_index(struct pmfs_dictionary *d, uint32_t number, uint32_t index)
{
	size_t before = d->room;
	if (pm_list_room(&d->index_of, number, &d->room, sizeof(*d->index_of)) < 0)
		return -ENOMEM;
	if (d->room > before)
		memset(d->index_of + before, 0, (d->room - before) * sizeof(*d->index_of));
	d->index_of[number] = index;
	return 0;
}

int pmfs_dictionary_add(struct pmfs_dictionary *d, uint32_t number, struct pm_bytes text)
{
	struct pm_text clean = {.p = NULL};
	if (number < d->room && d->index_of[number] != 0)
		return 0;
	if (text.len == 0)
		return set_index(d, number, 1);
	if (!is_clean(text)) {
		pm_text_utf8(&clean, text);
		text = pm_text_view(&clean);
	}
	d->texts.arena = &d->arena;
	uint32_t n = d->texts.n;
	uint32_t index = clean.failed ? UINT32_MAX : pm_strtab_add(&d->texts, text);
	if (index == n)
		d->bytes += text.len;
	pm_text_done(&clean);
	return index == UINT32_MAX ? -ENOMEM : set_index(d, number, index + 2);
}

void pmfs_dictionary_done(struct pmfs_dictionary *d)
{
	pm_strtab_done(&d->texts);
	pm_arena_done(&d->arena);
	pm_text_done(&d->page);
	free(d->index_of);
}

/* Replaces the table's numbers of texts by indexes. */
static int find_indexes(const struct pmfs_dictionary *d, const struct pm_strip *strip, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint64_t number = (uint64_t)strip->values[i];
		uint32_t index = !strip->known[i] ? 1 : number < d->room ? d->index_of[number] : 0;
		if (index == 0)
			return -EIO;
		strip->known[i] = index > 1;
		strip->values[i] = (int64_t)index - 2;
	}
	return 0;
}

int pmfs_chunk_take(struct pmfs_chunk *c, const struct pm_strip *strip, uint32_t n)
{
	uint64_t *values = (uint64_t *)strip->values;
	uint32_t n_known = 0;
	int r = c->storage == PMFS_STORE_TEXT ? find_indexes(c->dictionary, strip, n) : 0;
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < n; i++) {
		c->present[i >> 3] |= (uint8_t)(strip->known[i] << (i & 7));
		values[n_known] = values[i];
		n_known += strip->known[i];
	}
	c->values = values;
	c->n = n;
	c->n_nulls = n - n_known;
	return 0;
}
