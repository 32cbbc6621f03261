#include "formats/zts/samples.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/search.h"
#include "formats/common/work.h"
#include "formats/zts/names.h"

enum { ID_BITS = 40, RECENT = 64 };

/* ---- contexts by caller and method ---- */

static uint64_t child_key(uint32_t parent, uint32_t frame)
{
	return (uint64_t)(uint32_t)(parent + 1) << 32 | frame;
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

static int add_children(struct zts_samples *s, const struct pm_tree *tree)
{
	bool is_new;
	for (uint32_t i = 0; i < tree->n_contexts; i++)
		if (!pm_map_put(
			    &s->children, child_key(tree->parent[i], tree->frame[i]), i, &is_new) ||
			(i % 4096 == 0 && pm_work_cancelled()))
			return -ENOMEM;
	return 0;
}

int zts_samples_build(struct zts_samples *s, const struct zts_aggregate *a, uint32_t n_traces)
{
	*s = (struct zts_samples){
		.first = malloc(((size_t)n_traces + 1) * sizeof(*s->first)), .n_traces = n_traces};
	pthread_mutex_init(&s->lock, NULL);
	if (!s->first || add_names(s, a->tree) < 0 || add_children(s, a->tree) < 0)
		return -ENOMEM;
	s->first[0] = 0;
	for (uint32_t i = 0; i < n_traces; i++)
		s->first[i + 1] = s->first[i] + a->calls_of[i];
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
	pm_map_done(&s->children);
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

static uint32_t frame_of(struct naming *n, const struct zts_call *call)
{
	if (call->method >> ID_BITS)
		return frame_by_name(n, call);
	uint64_t id = ((uint64_t)call->store << ID_BITS | call->method) + 1;
	struct recent *recent = &n->recent[id % RECENT];
	if (recent->id != id)
		*recent = (struct recent){id, find_frame(n, call, id)};
	return recent->frame;
}

int zts_samples_contexts(struct zts_samples *s, const struct zts_stores *stores,
	const struct zts_tree *tree, uint32_t *ret)
{
	struct naming n = {.s = s, .stores = stores};
	for (uint32_t i = 0; i < tree->n; i++) {
		const struct zts_call *call = &tree->calls[i];
		uint32_t parent = call->parent == PM_NONE ? PM_NONE : ret[call->parent];
		uint32_t frame = frame_of(&n, call);
		bool known = frame != PM_NONE && (call->parent == PM_NONE || parent != PM_NONE);
		const uint32_t *context =
			known ? pm_map_find(&s->children, child_key(parent, frame)) : NULL;
		ret[i] = context ? *context : PM_NONE;
	}
	return n.no_memory ? -ENOMEM : 0;
}

uint32_t zts_samples_place(const struct zts_samples *s, uint64_t call)
{
	return PM_LOWER_BOUND(i, 0, s->n_traces, s->first[i + 1] <= call);
}
