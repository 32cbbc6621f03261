#include "formats/htdump/spread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/work.h"

/* ---- the budget ---- */

static bool is_spent(const struct htd_spreads *s)
{
	return __atomic_load_n(&s->budget->spent, __ATOMIC_RELAXED);
}

static void give_back(struct htd_spreads *s)
{
	if (s->budget)
		__atomic_add_fetch(&s->budget->left, s->bytes, __ATOMIC_RELAXED);
	s->bytes = 0;
}

/* Subtracts from *left; false if there is not so much. */
static bool subtract(uint64_t *left, uint64_t bytes)
{
	uint64_t now = __atomic_load_n(left, __ATOMIC_RELAXED);
	do {
		if (now < bytes)
			return false;
	} while (!__atomic_compare_exchange_n(
		left, &now, now - bytes, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
	return true;
}

/* False if the budget does not have so many bytes: it is spent from then on. */
static bool take(struct htd_spreads *s, uint64_t bytes, bool for_table)
{
	if ((for_table && !subtract(&s->budget->tables, bytes)) ||
		!subtract(&s->budget->left, bytes)) {
		__atomic_store_n(&s->budget->spent, true, __ATOMIC_RELAXED);
		return false;
	}
	s->bytes += bytes;
	return true;
}

/* ---- counting ---- */

static void drop(struct htd_spreads *s)
{
	for (size_t i = 0; i < s->n; i++)
		free(s->items[i].parts);
	free(s->items);
	give_back(s);
	s->items = NULL;
	s->n = 0;
}

/* Makes room for the label: 1; 0 if the budget is spent. */
static int add_label(struct htd_spreads *s, uint32_t label)
{
	size_t n =
		label < s->n_mapped ? s->n_mapped : label + (size_t)(label - s->n_mapped) / 2 + 16;
	if (label < s->n)
		return 1;
	if (!take(s, (n - s->n) * sizeof(*s->items), true))
		return 0;
	struct htd_spread *items = realloc(s->items, n * sizeof(*items));
	if (!items)
		return -ENOMEM;
	memset(items + s->n, 0, (n - s->n) * sizeof(*items));
	s->items = items;
	s->n = n;
	return 1;
}

/* Makes room for the part and its neighbours: 1; 0 if the budget is spent. */
static int add_part(struct htd_spreads *s, struct htd_spread *spread, uint32_t part)
{
	uint32_t first = part / HTD_ROW * HTD_ROW, end = first + HTD_ROW;
	if (spread->n) {
		uint32_t old_end = spread->first + spread->n;
		first = spread->first < first ? spread->first : first;
		end = old_end > end ? old_end : end;
	}
	if (!take(s, (end - first - spread->n) * sizeof(*spread->parts), false))
		return 0;
	struct htd_spread_part *parts = calloc(end - first, sizeof(*parts));
	if (!parts)
		return -ENOMEM;
	if (spread->n)
		memcpy(parts + (spread->first - first), spread->parts, spread->n * sizeof(*parts));
	free(spread->parts);
	*spread = (struct htd_spread){parts, first, end - first};
	return 1;
}

int htd_spreads_begin(
	struct htd_spreads *s, uint32_t label, uint32_t part, struct htd_spread_part calls)
{
	int r = is_spent(s) ? 0 : add_label(s, label);
	if (r > 0 && !htd_spreads_part(s, label, part))
		r = add_part(s, &s->items[label], part);
	struct htd_spread_part *p = r > 0 ? htd_spreads_part(s, label, part) : NULL;
	if (p)
		htd_spread_count(p, calls);
	if (r == 0)
		drop(s);
	return r < 0 ? r : 0;
}

static int join(struct htd_spreads *s, uint32_t label, const struct htd_spread *from)
{
	int r = 0;
	for (uint32_t i = 0; i < from->n && r == 0; i++)
		if (from->parts[i].calls)
			r = htd_spreads_begin(s, label, from->first + i, from->parts[i]);
	return r;
}

int htd_spreads_join(struct htd_spreads *s, const struct htd_spreads *from, const uint32_t *labels)
{
	int r = 0;
	if (is_spent(s))
		drop(s);
	for (uint32_t i = 0; i < from->n && r == 0; i++) {
		if (from->items[i].n && pm_work_cancelled())
			return -ENOMEM;
		if (from->items[i].n)
			r = join(s, i < from->n_mapped ? i : labels[i - from->n_mapped],
				&from->items[i]);
	}
	return r;
}

void htd_spreads_done(struct htd_spreads *s)
{
	drop(s);
}

/* ---- finding ---- */

static struct htd_spread_range range_of(uint32_t part, const struct htd_spread_part *p)
{
	uint32_t row = part / HTD_ROW, shift = row ? row - 1 : 0;
	uint64_t low = (uint64_t)(part - shift * HTD_ROW) << shift;
	uint64_t high = low + (((uint64_t)1 << shift) - 1);
	if (p->only != HTD_MIXED && low >> 32 == high >> 32)
		low = high = low >> 32 << 32 | p->only;
	return (struct htd_spread_range){.low = low, .high = high, .calls = p->calls};
}

bool htd_spreads_find(const struct htd_spreads *s, uint32_t label, uint64_t calls, uint64_t rank,
	struct htd_spread_range *ret)
{
	const struct htd_spread *spread = label < s->n ? &s->items[label] : NULL;
	uint64_t before = 0;
	bool found = false;
	for (uint32_t i = 0; spread && i < spread->n; i++) {
		uint32_t here = spread->parts[i].calls;
		if (!found && rank < before + here) {
			*ret = range_of(spread->first + i, &spread->parts[i]);
			ret->before = before;
			found = true;
		}
		before += here;
	}
	return found && before == calls;
}
