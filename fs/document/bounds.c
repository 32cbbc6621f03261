/*
 * Bounds of a column's values in a row group, which let engines skip it:
 * https://github.com/apache/parquet-format, parquet.thrift (Statistics, ColumnOrder).
 */
#include <string.h>

#include "fs/document/chunk.h"

/* ---- numbers ---- */

static bool is_less(enum pmfs_storage storage, uint64_t a, uint64_t b)
{
	double x, y;
	switch (storage) {
	case PMFS_STORE_I64: return (int64_t)a < (int64_t)b;
	case PMFS_STORE_U64: return a < b;
	case PMFS_STORE_DOUBLE:
		memcpy(&x, &a, sizeof(x));
		memcpy(&y, &b, sizeof(y));
		return x < y;
	case PMFS_STORE_TEXT: break;
	}
	return false;
}

/* For doubles, a zero as minimum is -0 and as maximum +0, as required by parquet.thrift. */
static uint64_t signed_zero(enum pmfs_storage storage, uint64_t bits, bool negative)
{
	uint64_t sign = (uint64_t)1 << 63;
	if (storage != PMFS_STORE_DOUBLE || (bits & ~sign) != 0)
		return bits;
	return negative ? sign : 0;
}

void pmfs_chunk_range(
	enum pmfs_storage storage, uint64_t min, uint64_t max, struct pmfs_chunk_facts *ret)
{
	ret->min = signed_zero(storage, min, true);
	ret->max = signed_zero(storage, max, false);
	ret->has_range = true;
}

static void find_bounds(const struct pmfs_chunk *c, struct pmfs_chunk_facts *ret)
{
	uint32_t n = c->n - c->n_nulls;
	if (n == 0)
		return;
	uint64_t min = c->values[0], max = min;
	for (uint32_t i = 1; i < n; i++) {
		if (is_less(c->storage, c->values[i], min))
			min = c->values[i];
		else if (is_less(c->storage, max, c->values[i]))
			max = c->values[i];
	}
	pmfs_chunk_range(c->storage, min, max, ret);
}

/* ---- texts: long ones are truncated ---- */

/* As many complete characters of a text as fit. */
static struct pmfs_bound beginning_of(struct pm_bytes text)
{
	struct pmfs_bound ret = {.is_exact = text.len <= PMFS_BOUND_ROOM};
	size_t n = ret.is_exact ? text.len : PMFS_BOUND_ROOM;
	while (!ret.is_exact && n > 0 && (text.p[n] & 0xc0) == 0x80)
		n--;
	memcpy(ret.p, text.p, n);
	ret.n = (uint8_t)n;
	return ret;
}

/* Greater than all texts with this prefix: its last ASCII character is replaced by the next one. */
static void round_up(struct pmfs_bound *b)
{
	while (b->n > 0 && !((uint8_t)b->p[b->n - 1] < 0x7f))
		b->n--;
	if (b->n > 0)
		b->p[b->n - 1]++;
}

static void find_text_bounds(const struct pmfs_chunk *c, struct pmfs_chunk_facts *ret)
{
	struct pm_bytes least = c->texts.items[0], greatest = least;
	for (uint32_t i = 1; i < c->texts.n; i++) {
		struct pm_bytes text = c->texts.items[i];
		if (pm_bytes_compare(text, least) < 0)
			least = text;
		else if (pm_bytes_compare(greatest, text) < 0)
			greatest = text;
	}
	ret->least = beginning_of(least);
	ret->greatest = beginning_of(greatest);
	if (!ret->greatest.is_exact)
		round_up(&ret->greatest);
}

void pmfs_chunk_bounds(const struct pmfs_chunk *c, struct pmfs_chunk_facts *ret)
{
	if (c->storage != PMFS_STORE_TEXT)
		find_bounds(c, ret);
	else if (c->texts.n > 0)
		find_text_bounds(c, ret);
}
