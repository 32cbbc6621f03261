/* All recorded calls as one trace of the run: their contexts. */
#include "formats/zts/samples.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/search.h"
#include "formats/common/work.h"
#include "profmount/profile.h"

enum { STAGE = 16 };

/* ---- what is known of contexts and frames ---- */

/* Of a step from a path to the one below it; the hash of the top is that of the table. */
static inline uint64_t hash_below(uint64_t above, uint32_t frame)
{
	return pm_hash_u64(above + frame + 1);
}

static inline uint64_t hash_of_top(const struct zts_samples *s)
{
	return (uintptr_t)s->slots;
}

/* In pre-order, a context comes after its parent. */
static int add_contexts(struct zts_samples *s, const struct pm_tree *tree)
{
	uint64_t *hash = malloc((size_t)tree->n_contexts * sizeof(*hash) + 1);
	for (s->n_slots = 64; s->n_slots < 2 * (size_t)tree->n_contexts;)
		s->n_slots *= 2;
	s->slots = calloc(s->n_slots, sizeof(*s->slots));
	bool made = hash && s->slots;
	for (uint32_t i = 0; made && i < tree->n_contexts; i++) {
		uint64_t above =
			tree->parent[i] == PM_NONE ? hash_of_top(s) : hash[tree->parent[i]];
		uint64_t at = hash[i] = hash_below(above, tree->frame[i]);
		while (s->slots[at & (s->n_slots - 1)])
			at++;
		s->slots[at & (s->n_slots - 1)] = i + 1;
		made = i % 4096 != 0 || !pm_work_cancelled();
	}
	free(hash);
	return made ? 0 : -ENOMEM;
}

int zts_samples_build(
	struct zts_samples *s, const struct zts_aggregate *a, const struct zts_survey *survey)
{
	const uint32_t n_traces = survey->n;
	*s = (struct zts_samples){.first = malloc(((size_t)n_traces + 1) * sizeof(*s->first)),
		.n_traces = n_traces,
		.run = a,
		.tree = a->tree};
	if (!s->first || add_contexts(s, a->tree) < 0)
		return -ENOMEM;
	s->first[0] = 0;
	for (uint32_t i = 0; i < n_traces; i++)
		s->first[i + 1] = s->first[i] + a->calls_of[survey->by_store[i]];
	s->lane = (struct pm_thread){.has_trace = true, .n_samples = s->first[n_traces]};
	s->traces = (struct pm_threads){.n = 1, .threads = &s->lane};
	return 0;
}

void zts_samples_done(struct zts_samples *s)
{
	free(s->first);
	free(s->slots);
	*s = (struct zts_samples){.first = NULL};
}

/* ---- contexts of calls ---- */

static inline bool is_child(
	const struct pm_tree *tree, uint32_t context, uint32_t parent, uint32_t frame)
{
	return tree->parent[context] == parent && tree->frame[context] == frame;
}

static uint32_t find_context(
	const struct zts_samples *s, const struct zts_finding *f, uint32_t parent)
{
	for (uint64_t at = f->hash;; at++) {
		uint32_t slot = s->slots[at & (s->n_slots - 1)];
		if (!slot || is_child(s->tree, slot - 1, parent, f->frame))
			return slot ? slot - 1 : PM_NONE;
	}
}

static inline void settle(const struct zts_samples *s, const struct zts_tree *tree,
	struct zts_finding *all, uint32_t i)
{
	struct zts_finding *f = &all[i];
	uint32_t caller = tree->calls[i].parent;
	uint32_t parent = caller == PM_NONE ? PM_NONE : all[caller].context;
	if (f->frame == PM_NONE || (caller != PM_NONE && parent == PM_NONE))
		f->context = PM_NONE;
	else if (f->context == PM_NONE || !is_child(s->tree, f->context, parent, f->frame))
		f->context = find_context(s, f, parent);
}

/*
 * A pipeline of three stages, STAGE calls apart: compute the hash and prefetch its slot; read the
 * slot and prefetch that context; compare.
 */
int zts_samples_contexts(const struct zts_samples *s, struct zts_stores *stores,
	const struct zts_tree *tree, struct zts_finding *ret)
{
	const struct zts_aggregate *run = s->run;
	for (uint32_t i = 0; i < tree->n + 2 * STAGE; i++) {
		if (i < tree->n) {
			const struct zts_call *call = &tree->calls[i];
			uint32_t above = call->parent;
			uint32_t method = zts_method_of(stores, call->store, call->method);
			if (method == PM_NONE)
				return -ENOMEM;
			ret[i].frame = method < run->n_frames ? run->frames[method] : PM_NONE;
			ret[i].hash = hash_below(
				above == PM_NONE ? hash_of_top(s) : ret[above].hash, ret[i].frame);
			__builtin_prefetch(&s->slots[ret[i].hash & (s->n_slots - 1)]);
		}
		if (i >= STAGE && i - STAGE < tree->n) {
			struct zts_finding *f = &ret[i - STAGE];
			f->context = s->slots[f->hash & (s->n_slots - 1)] - 1; /* 0: PM_NONE */
			if (f->context != PM_NONE) {
				__builtin_prefetch(&s->tree->parent[f->context]);
				__builtin_prefetch(&s->tree->frame[f->context]);
			}
		}
		if (i >= 2 * STAGE)
			settle(s, tree, ret, i - 2 * STAGE);
	}
	return 0;
}

uint32_t zts_samples_place(const struct zts_samples *s, uint64_t call)
{
	return PM_LOWER_BOUND(i, 0, s->n_traces, s->first[i + 1] <= call);
}
