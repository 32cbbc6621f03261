/* All recorded calls as one trace of the run: their contexts. */
#include "formats/zts/samples.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/search.h"
#include "formats/common/work.h"
#include "formats/zts/names.h"
#include "profmount/profile.h"

enum { ID_BITS = 40, RECENT = 64, STAGE = 16 };

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

static int add_names(struct zts_samples *s, const struct pm_tree *tree)
{
	for (uint32_t i = 0; i < tree->n_frames; i++) {
		uint32_t name = pm_strtab_add(&s->names, tree->texts[tree->frames[i].name]);
		if (name == PM_NONE ||
			pm_list_room(&s->frames, name, &s->frame_room, sizeof(*s->frames)) < 0)
			return -ENOMEM;
		s->frames[name] = i;
	}
	return 0;
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

static int make_texts(struct zts_samples *s, const struct zts_stores *stores)
{
	s->of_text = calloc((size_t)stores->n + 1, sizeof(uint32_t *));
	s->n_texts = calloc((size_t)stores->n + 1, sizeof(*s->n_texts));
	bool made = s->of_text && s->n_texts;
	for (s->n_stores = 0; made && s->n_stores < stores->n; s->n_stores++) {
		size_t n = s->n_texts[s->n_stores] = stores->items[s->n_stores].texts.n;
		s->of_text[s->n_stores] = calloc(n + 1, sizeof(uint32_t));
		made = s->of_text[s->n_stores];
	}
	return made ? 0 : -ENOMEM;
}

int zts_samples_build(struct zts_samples *s, const struct zts_aggregate *a,
	struct zts_stores *stores, const struct zts_survey *survey)
{
	const uint32_t n_traces = survey->n;
	*s = (struct zts_samples){.first = malloc(((size_t)n_traces + 1) * sizeof(*s->first)),
		.n_traces = n_traces,
		.tree = a->tree};
	pthread_mutex_init(&s->lock, NULL);
	if (!s->first || add_names(s, a->tree) < 0 || add_contexts(s, a->tree) < 0 ||
		make_texts(s, stores) < 0)
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
	if (s->first)
		pthread_mutex_destroy(&s->lock);
	free(s->first);
	free(s->frames);
	free(s->slots);
	for (uint32_t i = 0; s->of_text && i < s->n_stores; i++)
		free(s->of_text[i]);
	free(s->of_text);
	free(s->n_texts);
	pm_map_done(&s->ids);
	pm_strtab_done(&s->names);
	*s = (struct zts_samples){.first = NULL};
}

/* ---- frames of methods ---- */

struct recent {
	uint64_t id;
	uint32_t frame;
};

struct naming {
	struct zts_samples *s;
	const struct zts_stores *stores;
	bool no_memory; /* for a name: what it would be is not known */
	struct recent recent[RECENT];
};

/* The frame of a name; PM_NONE if no context has it, or without memory. */
static uint32_t frame_by_name(struct naming *n, const struct zts_call *call)
{
	struct pm_text name = {.p = NULL};
	zts_name_method(&n->stores->items[call->store].texts, call->method, &name);
	n->no_memory |= name.failed;
	uint32_t i = name.failed ? PM_NONE : pm_strtab_find(&n->s->names, pm_text_view(&name));
	pm_text_done(&name);
	return i == PM_NONE ? PM_NONE : n->s->frames[i];
}

static uint32_t find_frame(struct naming *n, const struct zts_call *call, uint64_t id)
{
	bool is_new;
	pthread_mutex_lock(&n->s->lock);
	uint32_t *known = pm_map_find(&n->s->ids, id);
	uint32_t frame = known ? *known : PM_NONE;
	pthread_mutex_unlock(&n->s->lock);
	if (frame != PM_NONE)
		return frame;
	frame = frame_by_name(n, call);
	pthread_mutex_lock(&n->s->lock);
	if (frame != PM_NONE)
		pm_map_put(&n->s->ids, id, frame, &is_new);
	pthread_mutex_unlock(&n->s->lock);
	return frame;
}

/* Of a method that no text index has. */
static uint32_t frame_of_unknown(struct naming *n, const struct zts_call *call)
{
	if (call->method >> ID_BITS)
		return frame_by_name(n, call);
	uint64_t id = ((uint64_t)call->store << ID_BITS | call->method) + 1;
	struct recent *recent = &n->recent[id % RECENT];
	if (recent->id != id)
		*recent = (struct recent){id, find_frame(n, call, id)};
	return recent->frame;
}

static inline uint32_t frame_of(struct naming *n, const struct zts_call *call)
{
	const struct zts_texts *texts = &n->stores->items[call->store].texts;
	const struct zts_text *text = zts_texts_find(texts, call->method);
	size_t i = text ? (size_t)(text - texts->items) : SIZE_MAX;
	if (i >= n->s->n_texts[call->store])
		return frame_of_unknown(n, call);
	uint32_t *known = &n->s->of_text[call->store][i];
	uint32_t frame = __atomic_load_n(known, __ATOMIC_RELAXED);
	if (frame)
		return frame - 1;
	frame = frame_by_name(n, call);
	if (frame != PM_NONE)
		__atomic_store_n(known, frame + 1, __ATOMIC_RELAXED);
	return frame;
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
int zts_samples_contexts(struct zts_samples *s, const struct zts_stores *stores,
	const struct zts_tree *tree, struct zts_finding *ret)
{
	struct naming n = {.s = s, .stores = stores};
	for (uint32_t i = 0; i < tree->n + 2 * STAGE; i++) {
		if (i < tree->n) {
			uint32_t above = tree->calls[i].parent;
			ret[i].frame = frame_of(&n, &tree->calls[i]);
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
	return n.no_memory ? -ENOMEM : 0;
}

uint32_t zts_samples_place(const struct zts_samples *s, uint64_t call)
{
	return PM_LOWER_BOUND(i, 0, s->n_traces, s->first[i + 1] <= call);
}
