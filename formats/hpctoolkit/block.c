/*
 * Value blocks as they lie in the file; nothing is copied. A block is checked to lie in the file
 * when it is opened; that its index is in order is checked entry by entry as it is read.
 */
#include "formats/hpctoolkit/block.h"

/* Entries and values have 10 bytes with a key of 16 bits, 12 with one of 32. */
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

/* `d` is the description of the block, which stands at `at` in its file. */
static int block_open(const struct hpctk_db *db, const uint8_t *d, uint64_t at, bool of_context,
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
			"%llu values at 0x%llx do not lie in the file",
			(unsigned long long)ret->n_values, (unsigned long long)ret->values_at);
	if (ret->n_index &&
		!pm_bytes_table(file, ret->index_at, ret->n_index, ret->index_size, ret->index_size,
			&ret->index))
		return pm_error_set(err, -EINVAL, name, at,
			"an index of %u entries at 0x%llx does not lie in the file", ret->n_index,
			(unsigned long long)ret->index_at);
	if (ret->n_values && !ret->n_index)
		return pm_error_set(err, -EINVAL, name, at, "%llu values without an index",
			(unsigned long long)ret->n_values);
	return 0;
}

/* In the first layout row i holds a pointer to the description; 0 for an empty block. */
static int block_follow(const struct hpctk_db *db, const struct hpctk_rows *rows, uint64_t i,
	bool of_context, struct hpctk_block *ret, struct pm_error *err)
{
	static const uint8_t nothing[HPCTK_BLOCK];
	enum hpctk_file file = of_context ? HPCTK_CCT : HPCTK_PROFILE;
	struct pm_bytes d = {nothing, sizeof(nothing)};
	uint64_t at = hpctk_u64(&db->layout, hpctk_row(rows, i));
	if (at != 0 && !pm_bytes_sub(hpctk_bytes(db, file), at, HPCTK_BLOCK, &d))
		return pm_error_set(err, -EINVAL, hpctk_file_name(file), hpctk_row_at(rows, i),
			"a value block at 0x%llx does not lie in the file", (unsigned long long)at);
	return block_open(db, d.p, at, of_context, ret, err);
}

static int row_open(const struct hpctk_db *db, const struct hpctk_rows *rows, uint64_t i,
	bool of_context, struct hpctk_block *ret, struct pm_error *err)
{
	if (db->layout.generation == HPCTK_FIRST)
		return block_follow(db, rows, i, of_context, ret, err);
	return block_open(db, hpctk_row(rows, i), hpctk_row_at(rows, i), of_context, ret, err);
}

int hpctk_profile_block(
	const struct hpctk_db *db, uint32_t i, struct hpctk_block *ret, struct pm_error *err)
{
	return row_open(db, &db->profiles, i, false, ret, err);
}

int hpctk_context_block(
	const struct hpctk_db *db, uint64_t number, struct hpctk_block *ret, struct pm_error *err)
{
	*ret = (struct hpctk_block){.layout = &db->layout, .file = HPCTK_CCT};
	if (!db->present[HPCTK_CCT] || (number >= db->contexts.n && db->contexts.cut))
		return pm_error_set(err, -ENODATA, "cct.db", PM_NO_OFFSET,
			"does not reach to context %llu", (unsigned long long)number);
	if (number >= db->contexts.n)
		return 0;
	int r = row_open(db, &db->contexts, number, true, ret, err);
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

uint32_t hpctk_block_find(const struct hpctk_block *b, uint32_t key)
{
	uint32_t low = 0, high = b->n_index;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		uint32_t there = key_decode(
			b->layout, b->index_size, pm_bytes_row(b->index, middle, b->index_size));
		if (there == key)
			return middle;
		if (there < key)
			low = middle + 1;
		else
			high = middle;
	}
	return HPCTK_NONE;
}

uint32_t hpctk_block_entry_of(const struct hpctk_block *b, uint64_t v)
{
	uint32_t low = 0, high = b->n_index;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (start_decode(b, middle) <= v)
			low = middle + 1;
		else
			high = middle;
	}
	return low ? low - 1 : 0;
}
