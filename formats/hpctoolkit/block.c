/*
 * Value blocks, read in place. When a block is opened, it is checked to be within the file; the
 * order of its index is checked entry by entry as it is read.
 */
#include "formats/hpctoolkit/hpctoolkit.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/search.h"
#include "formats/common/sort.h"

/*
 * ==== overlaps ====
 * Finds value blocks, or samples of threads, that overlap others. In a valid database they are
 * disjoint; a hostile file could make all of them refer to the same large block, which would then
 * be read once for each.
 */

static int by_end(const void *a, const void *b)
{
	const struct hpctk_stretch *x = a, *y = b;
	if (x->end != y->end)
		return x->end < y->end ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

int hpctk_sharing_mark(struct hpctk_stretch *stretches, size_t n, uint8_t *marks)
{
	uint64_t reach = 0;
	if (pm_sort(stretches, n, sizeof(*stretches), by_end) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (stretches[i].at >= reach)
			reach = stretches[i].end;
		else
			marks[stretches[i].row / 8] |= (uint8_t)(1u << stretches[i].row % 8);
	}
	return 0;
}

/* ==== blocks ==== */

/* Entries and values have 10 bytes with a 16-bit key, 12 with a 32-bit key. */
enum { SHORT_KEY = 0x0a, LONG_KEY = 0x0c };

static uint32_t key_decode(const struct hpctk_layout *l, unsigned size, const uint8_t *d)
{
	return size == LONG_KEY ? hpctk_u32(l, d) : hpctk_u16(l, d);
}

static uint64_t start_decode(const struct hpctk_block *b, uint32_t i)
{
	const uint8_t *d = pm_bytes_row(b->index, i, b->index_size);
	return hpctk_u64(b->layout, d + b->index_size - 8);
}

/* `d` is the description of the block, which is at `at` in its file. */
static int block_open(const struct hpctk_opened *db, const uint8_t *d, uint64_t at, bool of_context,
	struct hpctk_block *ret, struct pm_error *err)
{
	bool turned = of_context && db->layout.generation != HPCTK_FIRST;
	struct hpctk_block_record record;
	hpctk_block_decode(&db->layout, of_context, d, &record);
	*ret = (struct hpctk_block){
		.layout = &db->layout,
		.file = of_context ? HPCTK_CCT : HPCTK_PROFILE,
		.n_values = record.n_values,
		.values_at = record.values_at,
		.index_at = record.index_at,
		.n_index = record.n_index,
		.value_size = turned ? LONG_KEY : SHORT_KEY,
		.index_size = turned ? SHORT_KEY : LONG_KEY,
	};
	struct pm_bytes file = hpctk_bytes(db, ret->file);
	const char *name = hpctk_file_name(ret->file);
	if (ret->n_values &&
		!pm_bytes_table(file, ret->values_at, ret->n_values, ret->value_size,
			ret->value_size, &ret->values))
		return pm_error_set(err, -EINVAL, name, at,
			"%llu values at 0x%llx are outside the file",
			(unsigned long long)ret->n_values, (unsigned long long)ret->values_at);
	if (ret->n_index &&
		!pm_bytes_table(file, ret->index_at, ret->n_index, ret->index_size, ret->index_size,
			&ret->index))
		return pm_error_set(err, -EINVAL, name, at,
			"an index of %u entries at 0x%llx is outside the file", ret->n_index,
			(unsigned long long)ret->index_at);
	if (ret->n_values && !ret->n_index)
		return pm_error_set(err, -EINVAL, name, at, "%llu values without an index",
			(unsigned long long)ret->n_values);
	return 0;
}

/* The block of row i; it may share bytes with other blocks. */
static int row_follow(const struct hpctk_opened *db, uint64_t i, bool of_context,
	struct hpctk_block *ret, struct pm_error *err)
{
	static const uint8_t nothing[HPCTK_BLOCK];
	const struct hpctk_rows *rows = of_context ? &db->contexts : &db->profiles;
	enum hpctk_file file = of_context ? HPCTK_CCT : HPCTK_PROFILE;
	struct pm_bytes d = {nothing, sizeof(nothing)};
	if (db->layout.generation != HPCTK_FIRST)
		return block_open(
			db, hpctk_row(rows, i), hpctk_row_at(rows, i), of_context, ret, err);
	/* In the first layout, row i has a pointer to the description; 0 for an empty block. */
	uint64_t at = hpctk_u64(&db->layout, hpctk_row(rows, i));
	if (at != 0 && !pm_bytes_sub(hpctk_bytes(db, file), at, HPCTK_BLOCK, &d))
		return pm_error_set(err, -EINVAL, hpctk_file_name(file), hpctk_row_at(rows, i),
			"a value block at 0x%llx is outside the file", (unsigned long long)at);
	return block_open(db, d.p, at, of_context, ret, err);
}

/* ---- blocks that share bytes ---- */

/* The non-empty parts of row i, values and index: up to two ranges of the file. */
static size_t stretches_of(
	const struct hpctk_opened *db, uint32_t i, bool of_context, struct hpctk_stretch ret[2])
{
	struct hpctk_block b;
	size_t n = 0;
	if (row_follow(db, i, of_context, &b, NULL) < 0)
		return 0;
	if (b.values.len)
		ret[n++] = (struct hpctk_stretch){b.values_at, b.values_at + b.values.len, i};
	if (b.index.len)
		ret[n++] = (struct hpctk_stretch){b.index_at, b.index_at + b.index.len, i};
	return n;
}

/* Whether each block ends before the next one begins, as hpcprof writes those of contexts. */
static bool are_in_order(const struct hpctk_opened *db, uint32_t n_rows, bool of_context)
{
	uint64_t reach = 0;
	for (uint32_t i = 0; i < n_rows; i++) {
		struct hpctk_stretch s[2];
		size_t n = stretches_of(db, i, of_context, s);
		bool turned = n == 2 && s[1].at < s[0].at;
		for (size_t k = 0; k < n; k++) {
			const struct hpctk_stretch *next = &s[turned ? n - 1 - k : k];
			if (next->at < reach)
				return false;
			reach = next->end;
		}
	}
	return true;
}

static int sharing_find(struct hpctk_opened *db, bool of_context, struct pm_error *err)
{
	uint32_t n_rows = of_context ? db->contexts.n : db->profiles.n;
	if (are_in_order(db, n_rows, of_context))
		return 0;
	size_t n = 0;
	struct hpctk_stretch *all = malloc(2 * (size_t)n_rows * sizeof(*all));
	uint8_t *marks = calloc(n_rows / 8 + 1, 1);
	for (uint32_t i = 0; all && i < n_rows; i++)
		n += stretches_of(db, i, of_context, all + n);
	bool marked = all && marks && hpctk_sharing_mark(all, n, marks) == 0;
	free(all);
	if (!marked) {
		free(marks);
		return pm_error_plain(err, -ENOMEM);
	}
	db->sharing[of_context] = marks;
	return 0;
}

static int profiles_sharing(void *db, struct pm_error *err)
{
	return sharing_find(db, false, err);
}

static int contexts_sharing(void *db, struct pm_error *err)
{
	return sharing_find(db, true, err);
}

/* ---- blocks ---- */

int hpctk_blocks_ready(const struct hpctk_opened *db, bool of_context, struct pm_error *err)
{
	struct hpctk_opened *own = hpctk_opened_of(db->profile);
	return pm_lazy_get(&own->sharing_lazy[of_context],
		of_context ? contexts_sharing : profiles_sharing, own, err);
}

static int row_open(const struct hpctk_opened *db, uint64_t i, bool of_context,
	struct hpctk_block *ret, struct pm_error *err)
{
	int r = hpctk_blocks_ready(db, of_context, err);
	if (r == 0)
		r = row_follow(db, i, of_context, ret, err);
	if (r == 0 && hpctk_sharing_marked(db->sharing[of_context], i))
		return pm_error_set(err, -EINVAL, hpctk_file_name(ret->file),
			ret->n_values ? ret->values_at : ret->index_at,
			"its values overlap those of another one");
	return r;
}

int hpctk_profile_block(
	const struct hpctk_opened *db, uint32_t i, struct hpctk_block *ret, struct pm_error *err)
{
	return row_open(db, i, false, ret, err);
}

int hpctk_context_block(const struct hpctk_opened *db, uint64_t number, struct hpctk_block *ret,
	struct pm_error *err)
{
	*ret = (struct hpctk_block){.layout = &db->layout, .file = HPCTK_CCT};
	if (!db->folder.present[HPCTK_CCT] || (number >= db->contexts.n && db->contexts.cut))
		return pm_error_set(err, -ENODATA, "cct.db", PM_NO_OFFSET,
			"ends before context %llu", (unsigned long long)number);
	if (number >= db->contexts.n)
		return 0;
	int r = row_open(db, number, true, ret, err);
	return r < 0 ? r : hpctk_block_check(ret, err);
}

int hpctk_block_run(
	const struct hpctk_block *b, uint32_t i, struct hpctk_run *ret, struct pm_error *err)
{
	ret->key = key_decode(b->layout, b->index_size, pm_bytes_row(b->index, i, b->index_size));
	ret->first = start_decode(b, i);
	ret->end = i + 1 < b->n_index ? start_decode(b, i + 1) : b->n_values;
	if (ret->first <= ret->end && ret->end <= b->n_values && (i > 0 || ret->first == 0))
		return 0;
	return pm_error_set(err, -EINVAL, hpctk_file_name(b->file),
		b->index_at + (uint64_t)i * b->index_size,
		"index entry %u has values %llu to %llu of %llu", i, (unsigned long long)ret->first,
		(unsigned long long)ret->end, (unsigned long long)b->n_values);
}

int hpctk_block_check(const struct hpctk_block *b, struct pm_error *err)
{
	uint32_t before = 0;
	for (uint32_t i = 0; i < b->n_index; i++) {
		struct hpctk_run run;
		int r = hpctk_block_run(b, i, &run, err);
		if (r < 0)
			return r;
		if (i > 0 && run.key <= before)
			return pm_error_set(err, -EINVAL, hpctk_file_name(b->file),
				b->index_at + (uint64_t)i * b->index_size,
				"index entry %u has key %u after %u", i, run.key, before);
		before = run.key;
	}
	return 0;
}

struct hpctk_block_value hpctk_block_value(const struct hpctk_block *b, uint64_t v)
{
	const uint8_t *d = pm_bytes_row(b->values, v, b->value_size);
	return (struct hpctk_block_value){
		.sub = key_decode(b->layout, b->value_size, d),
		.value = hpctk_f64(b->layout, d + b->value_size - 8),
	};
}

static uint32_t index_key(const struct hpctk_block *b, uint32_t i)
{
	return key_decode(b->layout, b->index_size, pm_bytes_row(b->index, i, b->index_size));
}

uint32_t hpctk_block_find(const struct hpctk_block *b, uint32_t key, uint32_t *next)
{
	uint32_t i = *next;
	if (i > b->n_index || (i > 0 && index_key(b, i - 1) >= key) ||
		(i < b->n_index && index_key(b, i) < key))
		i = PM_LOWER_BOUND(k, 0, b->n_index, index_key(b, k) < key);
	bool found = i < b->n_index && index_key(b, i) == key;
	*next = i + found;
	return found ? i : HPCTK_NONE;
}

uint32_t hpctk_block_entry_of(const struct hpctk_block *b, uint64_t v)
{
	uint32_t next = PM_LOWER_BOUND(i, 0, b->n_index, start_decode(b, i) <= v);
	return next ? next - 1 : 0;
}
