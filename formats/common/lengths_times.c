/* Percentiles and histograms: what was counted (lengths.c) is brought into order, then read. */
#include "formats/common/lengths.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/buckets.h"
#include "formats/common/crew.h"
#include "formats/common/sort.h"
#include "profmount/limits.h"

enum { BETWEEN_QUESTIONS = 1 << 16, FEW = 1 << 14 };

/* Items by function, and then by length. */
struct ordered {
	const struct pm_lengths *from;
	bool alone;    /* they are of one function, which is 0 here */
	uint32_t n;    /* functions; items of others are left out */
	size_t *start; /* of each function in items: n + 1 */
	struct pm_length *items;
	size_t n_different; /* atomic; lengths of each function */
};

/* ---- order ---- */

/* The next item from *at on, and its function; NULL at the end. */
static const struct pm_length *next_item(const struct ordered *o, size_t *at, uint32_t *ret_of)
{
	const struct pm_lengths *l = o->from;
	while (*at < l->room + l->n_joined) {
		size_t i = (*at)++;
		const struct pm_length *item = i < l->room ? &l->items[i] : &l->joined[i - l->room];
		*ret_of = o->alone ? 0 : item->of;
		if (item->calls && *ret_of < o->n)
			return item;
	}
	return NULL;
}

/* Moves items to their functions, of which `start` has the places. */
static int move_items(struct ordered *o)
{
	const struct pm_length *item;
	uint32_t of;
	o->items = malloc((o->start[o->n] + 1) * sizeof(*o->items));
	if (!o->items)
		return -ENOMEM;
	for (size_t at = 0, n = 0; (item = next_item(o, &at, &of)); n++) {
		if (n % BETWEEN_QUESTIONS == 0 && pm_work_cancelled())
			return -ENOMEM;
		o->items[o->start[of]++] = *item;
	}
	/* Each place is now that of the next function. */
	memmove(o->start + 1, o->start, o->n * sizeof(*o->start));
	o->start[0] = 0;
	return 0;
}

static int by_length(const void *a, const void *b)
{
	const struct pm_length *x = a, *y = b;
	return (x->length > y->length) - (x->length < y->length);
}

static int sort_function(void *context, size_t of)
{
	struct ordered *o = context;
	struct pm_length *items = o->items + o->start[of];
	size_t n = o->start[of + 1] - o->start[of], n_different = n > 0;
	if (n > 1 && pm_sort(items, n, sizeof(*items), by_length) < 0)
		return -ENOMEM;
	for (size_t i = 1; i < n; i++)
		n_different += items[i].length != items[i - 1].length;
	__atomic_add_fetch(&o->n_different, n_different, __ATOMIC_RELAXED);
	return 0;
}

static int order(struct ordered *o)
{
	uint32_t of;
	o->start = calloc((size_t)o->n + 2, sizeof(*o->start));
	if (!o->start)
		return -ENOMEM;
	for (size_t at = 0, n = 0; next_item(o, &at, &of); n++) {
		if (n % BETWEEN_QUESTIONS == 0 && pm_work_cancelled())
			return -ENOMEM;
		o->start[of + 1]++;
	}
	for (uint32_t i = 0; i < o->n; i++)
		o->start[i + 1] += o->start[i];
	int r = move_items(o);
	if (r == 0 && o->start[o->n] > FEW)
		return pm_crew_each(o->n, sort_function, o);
	for (uint32_t i = 0; i < o->n && r == 0; i++)
		r = sort_function(o, i);
	return r;
}

static void ordered_done(struct ordered *o)
{
	free(o->start);
	free(o->items);
}

/* Whether there are more than a table may have: those that were joined are not counted there. */
static bool has_too_many(const struct ordered *o)
{
	return o->from->full || o->n_different > PM_LIMIT_LENGTHS;
}

/* ---- percentiles ---- */

/* The length of the call at that share of the calls, shortest first. */
static uint64_t percentile(
	const struct pm_length *items, size_t n, uint64_t calls, unsigned percent)
{
	unsigned __int128 share = (unsigned __int128)calls * percent;
	uint64_t rank = (uint64_t)((share + 99) / 100), before = 0;
	size_t i = 0;
	while (i + 1 < n && before + items[i].calls < rank)
		before += items[i++].calls;
	return items[i].length;
}

/* Percentiles of the n lengths of a function, which are sorted. */
static struct pm_call_times times_of(const struct pm_length *items, size_t n)
{
	uint64_t calls = 0;
	for (size_t i = 0; i < n; i++)
		calls += items[i].calls;
	if (n == 0 || items[n - 1].length == PM_NO_TIME)
		return (struct pm_call_times){.known = false};
	return (struct pm_call_times){.known = true,
		.p50_ns = percentile(items, n, calls, 50),
		.p90_ns = percentile(items, n, calls, 90),
		.p99_ns = percentile(items, n, calls, 99),
		.max_ns = items[n - 1].length};
}

int pm_lengths_times(const struct pm_lengths *l, struct pm_call_times *ret, uint32_t n)
{
	struct ordered o = {.from = l, .n = n};
	int r = order(&o);
	bool known = r == 0 && !has_too_many(&o);
	for (uint32_t i = 0; i < n; i++)
		ret[i] = known ? times_of(o.items + o.start[i], o.start[i + 1] - o.start[i])
			       : (struct pm_call_times){.known = false};
	ordered_done(&o);
	return r;
}

/* ---- the histogram of a function ---- */

/* Of items in order; at most PM_BUCKETS. Returns how many. */
static uint32_t fill_buckets(
	const struct pm_length *items, size_t n_items, struct pm_call_bucket *ret)
{
	uint32_t n = 0;
	for (size_t i = 0; i < n_items; i++) {
		const struct pm_length *item = &items[i];
		uint32_t index = pm_bucket_of(item->length);
		if (n == 0 || ret[n - 1].index != index)
			ret[n++] = (struct pm_call_bucket){.index = index};
		ret[n - 1].calls += item->calls;
		ret[n - 1].ns += (unsigned __int128)item->length * item->calls;
	}
	return n;
}

static int fill_histogram(
	const struct ordered *o, struct pm_arena *arena, struct pm_call_times *ret)
{
	struct pm_call_bucket found[PM_BUCKETS];
	*ret = times_of(o->items, o->start[1]);
	if (!ret->known)
		return 0;
	uint32_t n = fill_buckets(o->items, o->start[1], found);
	struct pm_call_bucket *buckets = pm_arena_array(arena, n, sizeof(*buckets));
	if (!buckets)
		return -ENOMEM;
	memcpy(buckets, found, n * sizeof(*buckets));
	ret->buckets = buckets;
	ret->n_buckets = n;
	return 0;
}

int pm_lengths_histogram(
	const struct pm_lengths *l, struct pm_arena *arena, struct pm_call_times *ret)
{
	struct ordered o = {.from = l, .n = 1, .alone = true};
	*ret = (struct pm_call_times){.known = false};
	int r = order(&o);
	if (r == 0 && !has_too_many(&o))
		r = fill_histogram(&o, arena, ret);
	ordered_done(&o);
	return r;
}
