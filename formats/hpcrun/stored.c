/*
 * Values stand thread after thread in memory; for contexts there is a list of places beside them,
 * made by counting when somebody first asks.
 */
#include "formats/hpcrun/stored.h"

#include <stdlib.h>

#include "formats/common/search.h"

static struct pm_value value_of(
	const struct hpcrun_merged *m, const struct hpcrun_stored *v, uint32_t thread)
{
	const struct hpcrun_scale *scale = &m->scales[v->scale];
	struct pm_value value = {.context = pm_tree_number(m->tree, v->context),
		.metric = 2 * scale->group,
		.thread = thread,
		.whole = !scale->real};
	if (value.whole)
		value.u = v->bits;
	else
		value.f = pm_f64_of_bits(v->bits);
	return value;
}

int64_t hpcrun_stored_of_thread(const struct hpcrun_merged *m, uint32_t thread, uint64_t first,
	struct pm_value *ret, size_t room)
{
	uint64_t start = m->value_start[thread], n = m->value_start[thread + 1] - start;
	size_t filled = 0;
	for (uint64_t i = first; i < n && filled < room; i++)
		ret[filled++] = value_of(m, &m->values[start + i], thread);
	return (int64_t)filled;
}

int hpcrun_by_context_make(
	struct hpcrun_by_context *ret, const struct hpcrun_merged *m, uint32_t n_threads)
{
	uint64_t n = m->value_start[n_threads];
	uint32_t n_contexts = m->tree->n_contexts;
	uint64_t *start = calloc((size_t)n_contexts + 2, sizeof(*start));
	uint64_t *places = malloc((size_t)(n + 1) * sizeof(*places));
	if (!start || !places) {
		free(start);
		free(places);
		return -ENOMEM;
	}
	/* Counted two places on: distributing moves each start to its end, which is the next's. */
	for (uint64_t i = 0; i < n; i++)
		start[m->values[i].context + 2]++;
	for (uint32_t i = 2; i < n_contexts + 2; i++)
		start[i] += start[i - 1];
	for (uint64_t i = 0; i < n; i++)
		places[start[m->values[i].context + 1]++] = i;
	*ret = (struct hpcrun_by_context){
		.merged = m, .n_threads = n_threads, .places = places, .start = start};
	return 0;
}

/* The thread whose values the i-th is one of: the first that ends beyond it. */
static uint32_t thread_of(const struct hpcrun_by_context *b, uint64_t i)
{
	return PM_LOWER_BOUND(t, 0, b->n_threads, b->merged->value_start[t + 1] <= i);
}

int64_t hpcrun_stored_of_context(const struct hpcrun_by_context *b, uint32_t context,
	uint64_t first, struct pm_value *ret, size_t room)
{
	uint64_t start = b->start[context], n = b->start[context + 1] - start;
	size_t filled = 0;
	for (uint64_t k = first; k < n && filled < room; k++) {
		uint64_t i = b->places[start + k];
		ret[filled++] = value_of(b->merged, &b->merged->values[i], thread_of(b, i));
	}
	return (int64_t)filled;
}

void hpcrun_by_context_done(struct hpcrun_by_context *b)
{
	free(b->places);
	free(b->start);
	*b = (struct hpcrun_by_context){.places = NULL};
}
