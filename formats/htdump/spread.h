/*
 * How often the calls of each label took how long, counted while calls are walked: percentiles then
 * need only the calls in the parts that contain them (quantiles.c). Durations below 16 ns have
 * parts of their own; from each power of two to the next one there are 8 parts.
 */
#ifndef PROFMOUNT_HTDUMP_SPREAD_H
#define PROFMOUNT_HTDUMP_SPREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HTD_ROW_BITS = 3, HTD_ROW = 1 << HTD_ROW_BITS };

#define HTD_MIXED UINT32_MAX

struct htd_spread_part {
	uint32_t calls; /* UINT32_MAX: this many or more */
	/*
	 * The lower half of their duration if all of them took equally long, which is common
	 * because clocks have ticks. HTD_MIXED: they did not, or it is not known.
	 */
	uint32_t only;
};

/* The calls of a label: those of parts `first` to `first` + n - 1. */
struct htd_spread {
	struct htd_spread_part *parts; /* NULL: no calls */
	uint32_t first, n;             /* multiples of HTD_ROW */
};

/* Memory for the spreads of all threads: those of 8 threads with 2000 labels take 4 MB each. */
#define HTD_SPREAD_BYTES ((uint64_t)64 << 20)

/* Memory for tables of labels: there may be many labels, and many threads with few calls. */
#define HTD_TABLES_BYTES    ((uint64_t)1 << 20)
#define HTD_TABLES_PER_CALL 256

/*
 * Spent if all spreads together need more: each spread is dropped as soon as it needs memory or is
 * joined.
 */
struct htd_spread_budget {
	uint64_t left; /* bytes; atomic */
	uint64_t
		tables; /* bytes that tables may still be given, which they do not return; atomic */
	bool spent;     /* atomic */
};

static inline struct htd_spread_budget htd_spread_budget(uint64_t n_calls)
{
	return (struct htd_spread_budget){.left = HTD_SPREAD_BYTES,
		.tables = HTD_TABLES_BYTES + HTD_TABLES_PER_CALL * n_calls};
}

/* Set the first two. */
struct htd_spreads {
	struct htd_spread_budget *budget;
	uint32_t n_mapped;        /* labels that have the same numbers in all spreads */
	struct htd_spread *items; /* by label */
	size_t n;
	uint64_t bytes; /* taken from the budget */
};

/* ---- counting ---- */

static inline uint32_t htd_spread_part_of(uint64_t ns)
{
	uint32_t shift = 63 - HTD_ROW_BITS - (uint32_t)__builtin_clzll(ns | HTD_ROW);
	return (shift << HTD_ROW_BITS) + (uint32_t)(ns >> shift);
}

/* Without branches, which could not be foreseen: the bits of HTD_MIXED and UINT32_MAX are all 1. */
static inline void htd_spread_count(struct htd_spread_part *p, struct htd_spread_part more)
{
	uint32_t sum = p->calls + more.calls;
	uint32_t differ = (p->calls != 0) & (p->only != more.only);
	p->only = more.only | (0 - differ);
	p->calls = sum | (0 - (uint32_t)(sum < more.calls));
}

/* The part if there is memory for it, or NULL. */
static inline struct htd_spread_part *htd_spreads_part(
	const struct htd_spreads *s, uint32_t label, uint32_t part)
{
	if (label >= s->n || part - s->items[label].first >= s->items[label].n)
		return NULL;
	return &s->items[label].parts[part - s->items[label].first];
}

/* Prefetches what htd_spreads_add will access: there are many parts. */
static inline void htd_spreads_prefetch(const struct htd_spreads *s, uint32_t label, uint64_t ns)
{
	const struct htd_spread_part *p = htd_spreads_part(s, label, htd_spread_part_of(ns));
	if (p)
		__builtin_prefetch(p, 1);
}

/* htd_spread_count of a part that there may be no memory for yet. 0 or -ENOMEM. */
int htd_spreads_begin(
	struct htd_spreads *s, uint32_t label, uint32_t part, struct htd_spread_part calls);

/* Counts a call, unless there is no memory for it in the budget. 0 or -ENOMEM. */
static inline int htd_spreads_add(struct htd_spreads *s, uint32_t label, uint64_t ns)
{
	uint32_t part = htd_spread_part_of(ns);
	struct htd_spread_part *p = htd_spreads_part(s, label, part), call = {1, (uint32_t)ns};
	if (!p)
		return htd_spreads_begin(s, label, part, call);
	htd_spread_count(p, call);
	return 0;
}

/* Adds the spreads of a thread, whose label `n_mapped` + i is `labels[i]` here. 0 or -ENOMEM. */
int htd_spreads_join(struct htd_spreads *s, const struct htd_spreads *from, const uint32_t *labels);

/* Accepts zeroed spreads; gives the memory back to the budget. */
void htd_spreads_done(struct htd_spreads *s);

/* ---- finding ---- */

/* Durations from `low` to `high` and their calls; `before`: calls that took less time. */
struct htd_spread_range {
	uint64_t low, high, calls, before;
};

/*
 * The part with the call at place `rank`, from 0, if the calls were in order of their durations;
 * low = high where it is known exactly. `calls`: how many the label really has. False if not all of
 * them have been counted: the budget was spent, or a part has too many.
 */
bool htd_spreads_find(const struct htd_spreads *s, uint32_t label, uint64_t calls, uint64_t rank,
	struct htd_spread_range *ret);

#endif
