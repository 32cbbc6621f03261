/* All recorded calls as one trace of the run: their contexts. */
#include "formats/zts/zts.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
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

void zts_samples_done(struct zts_samples *s)
{
	free(s->first);
	free(s->slots);
	*s = (struct zts_samples){.first = NULL};
}

static int build_samples(void *opened, struct pm_error *err)
{
	struct zts_opened *z = opened;
	struct zts_samples *s = &z->samples;
	const struct zts_survey *v = &z->survey;
	const struct zts_aggregate *a;
	int r = zts_get_aggregate(z, &a, err);
	if (r < 0)
		return r;
	*s = (struct zts_samples){.first = malloc(((size_t)v->n + 1) * sizeof(*s->first)),
		.n_traces = v->n,
		.run = a,
		.tree = a->tree};
	if (!s->first || add_contexts(s, a->tree) < 0) {
		zts_samples_done(s);
		return pm_error_plain(err, -ENOMEM);
	}
	s->first[0] = 0;
	for (uint32_t i = 0; i < v->n; i++)
		s->first[i + 1] = s->first[i] + a->calls_of[v->by_store[i]];
	s->lane = (struct pm_thread){.has_trace = true, .n_samples = s->first[v->n]};
	s->traces = (struct pm_threads){.n = 1, .threads = &s->lane};
	return 0;
}

int zts_get_samples(const struct zts_opened *z, struct zts_samples **ret, struct pm_error *err)
{
	struct zts_opened *b = (struct zts_opened *)(uintptr_t)z;
	*ret = &b->samples;
	return pm_lazy_get(&b->samples_once, build_samples, b, err);
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
 * The contexts of a trace's calls, tree->n of them. 0 or -ENOMEM. A pipeline of three stages, STAGE
 * calls apart: compute the hash and prefetch its slot; read the slot and prefetch that context;
 * compare.
 */
static int find_contexts(const struct zts_samples *s, struct zts_stores *stores,
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

/* A call of the trace as a sample, without context. */
static struct pm_sample call_sample(
	const struct zts_trace *t, const struct zts_tree *tree, uint32_t i)
{
	const struct zts_call *root = &tree->calls[0], *call = &tree->calls[i];
	int64_t ns;
	bool ended = zts_call_duration(call, &ns);
	return (struct pm_sample){.time_ns = zts_call_time(t->timestamp_ns, root, call),
		.duration_ns = ended ? (uint64_t)(ns > 0 ? ns : 0) : PM_NO_TIME,
		.self_ns = PM_NO_SELF};
}

static int read_tree(struct zts_traces *r, uint32_t place, struct pm_error *err)
{
	const struct zts_survey *v = &r->z->survey;
	const struct zts_trace *t = &v->traces[v->by_store[place]];
	uint64_t n = r->s->first[place + 1] - r->s->first[place];
	struct zts_stores *stores = zts_stores_of(r->z);
	const struct zts_part *first = v->parts + t->part;
	/* What no other trace needs would be in the cache for nothing. */
	zts_hold(stores, first, v->scans[first->store].parts[first->chunk] > 1, &r->held);
	const struct zts_parts parts = {first, t->n_parts, r->held.payload};
	int e = zts_tree_read(stores, &parts, &r->tree, err);
	if (e == 0 && r->tree.n != n)
		e = pm_error_set(err, -EIO, "traces.dat", v->parts[t->part].data_offset,
			"the trace has changed");
	return e;
}

/* Reads the trace at that place of by_store: `tree` and `found` until the next one is read. */
static int find_trace(struct zts_traces *r, uint32_t place, struct pm_error *err)
{
	int e = read_tree(r, place, err);
	if (e == 0 &&
		(pm_list_room(&r->found, r->tree.n, &r->room, sizeof(*r->found)) < 0 ||
			find_contexts(r->s, zts_stores_of(r->z), &r->tree, r->found) < 0))
		e = pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for a trace");
	return e;
}

int zts_traces_get(struct zts_traces *r, uint32_t trace, struct pm_error *err)
{
	const struct zts_survey *v = &r->z->survey;
	uint32_t place = v->traces[trace].place;
	if (r->s->first[place] == r->s->first[place + 1])
		return 0;
	int e = read_tree(r, place, err);
	return e < 0 ? e : 1;
}

int zts_traces_init(struct zts_traces *r, const struct zts_opened *z, struct pm_error *err)
{
	*r = (struct zts_traces){.z = z};
	return zts_get_samples(z, &r->s, err);
}

void zts_traces_done(struct zts_traces *r)
{
	zts_hold(zts_stores_of(r->z), NULL, true, &r->held);
	zts_tree_done(&r->tree);
	free(r->found);
}

/* ==== all calls as one trace ==== */

#define UNKNOWN_CONTEXT UINT64_MAX

/* ---- a trace ---- */

/* pm_sample.within of a call; the samples before it are known. */
static uint64_t within(const struct zts_tree *tree, const struct pm_sample *samples, uint32_t i)
{
	uint32_t caller = tree->calls[i].parent;
	int64_t ns;
	if (caller == PM_NONE || (zts_call_duration(&tree->calls[caller], &ns) && ns >= 0))
		return 0;
	if (samples[caller].within)
		return samples[caller].within;
	caller = tree->calls[caller].parent;
	return caller == PM_NONE ? PM_IN_NO_CALL : samples[caller].context;
}

/* Reads the trace at that place and fills its samples. */
static int read_trace(
	struct zts_traces *r, uint32_t place, struct pm_sample *ret, struct pm_error *err)
{
	const struct zts_survey *v = &r->z->survey;
	const struct zts_trace *t = &v->traces[v->by_store[place]];
	int e = find_trace(r, place, err);
	for (uint32_t i = 0; e == 0 && i < r->tree.n; i++) {
		uint32_t context = r->found[i].context;
		ret[i] = call_sample(t, &r->tree, i);
		ret[i].context = context == PM_NONE ? UNKNOWN_CONTEXT
						    : pm_tree_number(r->z->aggregate.tree, context);
		ret[i].seq = r->s->first[place] + i;
		ret[i].within = within(&r->tree, ret, i);
	}
	return e;
}

/* ---- long traces ---- */

struct kept {
	struct pm_cached cached;
	struct pm_sample samples[];
};

struct wanted {
	struct zts_traces *r;
	uint32_t place;
	size_t n;
};

static void kept_free(struct pm_cached *c)
{
	free(c);
}

static int kept_build(void *context, struct pm_cached **ret, struct pm_error *err)
{
	const struct wanted *w = context;
	size_t bytes = sizeof(struct kept) + w->n * sizeof(struct pm_sample);
	struct kept *kept = malloc(bytes);
	if (!kept)
		return pm_error_plain(err, -ENOMEM);
	int r = read_trace(w->r, w->place, kept->samples, err);
	if (r < 0) {
		free(kept);
		return r;
	}
	kept->cached = (struct pm_cached){.bytes = bytes, .free = kept_free};
	*ret = &kept->cached;
	return 0;
}

/* From call `from` of the trace on, as many as there is room for. */
static int64_t read_part(struct zts_traces *r, uint32_t place, uint64_t from, struct pm_sample *ret,
	size_t room, struct pm_error *err)
{
	uint64_t key = (uint64_t)ZTS_KEPT_SAMPLES << 56 | place;
	size_t n = (size_t)(r->s->first[place + 1] - r->s->first[place]);
	struct wanted wanted = {r, place, n};
	struct pm_cached *cached;
	int e = pm_cache_get(r->z->stores.cache, key, kept_build, &wanted, &cached, err);
	if (e < 0)
		return e;
	size_t got = n - from < room ? n - (size_t)from : room;
	memcpy(ret, ((struct kept *)cached)->samples + from, got * sizeof(*ret));
	pm_cache_release(r->z->stores.cache, cached);
	return (int64_t)got;
}

/* ---- the run ---- */

int64_t zts_samples_read(const struct pm_profile *p, uint32_t lane, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err)
{
	struct zts_traces r;
	size_t n = 0;
	(void)lane;
	int e = zts_traces_init(&r, zts_opened_of(p), err);
	const struct zts_samples *s = r.s;
	if (e < 0 || first >= s->lane.n_samples)
		return e;
	uint32_t place = zts_samples_place(s, first);
	while (n < room && first + n < s->lane.n_samples && e >= 0) {
		uint64_t from = first + n - s->first[place];
		size_t calls = (size_t)(s->first[place + 1] - s->first[place]);
		int64_t got = (int64_t)calls;
		if (from == 0 && calls <= room - n)
			e = calls ? read_trace(&r, place, ret + n, err) : 0;
		else if ((got = read_part(&r, place, from, ret + n, room - n, err)) < 0)
			e = (int)got;
		n += e < 0 ? 0 : (size_t)got;
		place += e == 0 && from + (uint64_t)got == calls;
	}
	zts_traces_done(&r);
	return e < 0 ? e : (int64_t)n;
}

int zts_call_path(
	const struct pm_profile *p, uint64_t seq, struct pm_text *out, struct pm_error *err)
{
	const struct zts_opened *z = zts_opened_of(p);
	struct zts_samples *s;
	int r = zts_get_samples(z, &s, err);
	if (r < 0 || seq >= s->lane.n_samples)
		return r;
	uint32_t place = zts_samples_place(s, seq);
	zts_trace_path(z, &z->survey.traces[z->survey.by_store[place]], out);
	return 0;
}
