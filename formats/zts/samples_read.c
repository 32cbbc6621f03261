/*
 * All recorded calls as one trace. A trace that fits into a batch is read, turned into samples and
 * dropped. A longer one is read in many batches: its samples are kept in the cache meanwhile.
 */
#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/zts/parts.h"

#define UNKNOWN_CONTEXT UINT64_MAX

struct reading {
	const struct zts *z;
	struct zts_samples *s;
	struct zts_tree tree;      /* the trace at hand */
	struct zts_finding *found; /* the contexts of its calls */
	size_t room;
	const struct zts_part *held; /* the part whose payload this is */
	const struct zts_payload *payload;
};

/* ---- a trace ---- */

static uint64_t moved(uint64_t time_ns, int64_t by_ns)
{
	if (by_ns < 0)
		return time_ns > -(uint64_t)by_ns ? time_ns + (uint64_t)by_ns : 0;
	return (uint64_t)by_ns > UINT64_MAX - time_ns ? UINT64_MAX : time_ns + (uint64_t)by_ns;
}

static struct pm_sample sample_of(
	const struct zts_trace *t, const struct zts_call *root, const struct zts_call *call)
{
	int64_t ns;
	bool ended = zts_call_duration(call, &ns);
	struct pm_sample s = {.time_ns = t->timestamp_ns,
		.duration_ns = ended ? (uint64_t)(ns > 0 ? ns : 0) : PM_NO_TIME,
		.self_ns = PM_NO_SELF};
	if (call->has & root->has & ZTS_HAS_TSTART)
		s.time_ns = moved(s.time_ns,
			((int64_t)call->tstart - (int64_t)root->tstart) * (int64_t)ZTS_TICK_NS);
	return s;
}

/* Fills the samples of the trace at that place, n of them. */
static int convert(struct reading *r, uint32_t place, struct pm_sample *ret, size_t n)
{
	const struct zts_survey *v = &r->z->survey;
	const struct zts_trace *t = &v->traces[v->by_store[place]];
	const struct zts_tree *tree = &r->tree;
	if (tree->n != n)
		return -EIO; /* it has changed */
	if (pm_list_room(&r->found, n, &r->room, sizeof(*r->found)) < 0 ||
		zts_samples_contexts(r->s, &r->z->stores, tree, r->found) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < tree->n; i++) {
		uint32_t context = r->found[i].context;
		ret[i] = sample_of(t, &tree->calls[0], &tree->calls[i]);
		ret[i].context = context == PM_NONE ? UNKNOWN_CONTEXT
						    : pm_tree_number(r->z->aggregate.tree, context);
		ret[i].seq = r->s->first[place] + i;
	}
	return 0;
}

static bool is_same(const struct zts_part *a, const struct zts_part *b)
{
	return a->store == b->store && a->chunk == b->chunk;
}

/*
 * Do other traces need the payload? Those before and after this one count as one visit, but what
 * comes after it may be read by another reader.
 */
static bool is_shared(const struct reading *r, uint32_t place)
{
	const struct zts_survey *v = &r->z->survey;
	const struct zts_part *part = v->parts + v->traces[v->by_store[place]].part;
	const struct zts_visits *visits = &r->s->visits;
	if (part->chunk == PM_NONE || visits->n[visits->first_of[part->store] + part->chunk] > 1)
		return true;
	for (uint32_t k = place > 0 ? place - 1 : 1; k <= place + 1 && k < v->n; k += 2)
		if (is_same(part, v->parts + v->traces[v->by_store[k]].part))
			return true;
	return false;
}

static void give_up(struct reading *r)
{
	if (r->payload)
		zts_payload_release(r->s->visits.stores, r->payload);
	r->payload = NULL;
}

/*
 * Goes on to the payload of that part, which neighbours have, too: 0 or an error. What no other
 * trace needs is not worth its place in the cache: the caller frees `*ret_own`.
 */
static int hold(
	struct reading *r, uint32_t place, const struct zts_payload **ret_own, struct pm_error *err)
{
	const struct zts_survey *v = &r->z->survey;
	const struct zts_part *part = v->parts + v->traces[v->by_store[place]].part;
	struct zts_stores *stores = r->s->visits.stores;
	*ret_own = NULL;
	if (r->payload && is_same(r->held, part))
		return 0;
	give_up(r);
	r->held = part;
	if (part->chunk == PM_NONE)
		return 0; /* reading the trace tells why it cannot be read */
	return is_shared(r, place)
		? zts_payload_get(stores, part->store, part->chunk, &r->payload, err)
		: zts_payload_read(stores, part->store, part->chunk, ret_own, err);
}

/* Reads the trace at that place, all of it. */
static int read_trace(
	struct reading *r, uint32_t place, struct pm_sample *ret, size_t n, struct pm_error *err)
{
	const struct zts_survey *v = &r->z->survey;
	const struct zts_trace *t = &v->traces[v->by_store[place]];
	const struct zts_payload *own;
	int e = hold(r, place, &own, err);
	const struct zts_parts parts = {
		.items = v->parts + t->part, .n = t->n_parts, .first = own ? own : r->payload};
	if (e == 0)
		e = zts_tree_read(r->s->visits.stores, &parts, &r->tree, err);
	if (own)
		zts_payload_free(own);
	if (e == 0 && (e = convert(r, place, ret, n)) < 0)
		pm_error_set(err, e, "traces.dat", v->parts[t->part].data_offset,
			e == -EIO ? "the trace has changed" : "no memory for a trace");
	return e;
}

/* ---- long traces ---- */

struct kept {
	struct pm_cached cached;
	struct pm_sample samples[];
};

struct wanted {
	struct reading *r;
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
	int r = read_trace(w->r, w->place, kept->samples, w->n, err);
	if (r < 0) {
		free(kept);
		return r;
	}
	kept->cached = (struct pm_cached){.bytes = bytes, .free = kept_free};
	*ret = &kept->cached;
	return 0;
}

/* From call `from` of the trace on, as many as there is room for. */
static int64_t read_part(struct reading *r, uint32_t place, uint64_t from, struct pm_sample *ret,
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
	struct zts_samples *s;
	struct reading r = {.z = zts_of(p)};
	size_t n = 0;
	(void)lane;
	int e = zts_get_samples(r.z, &s, err);
	if (e < 0 || first >= s->lane.n_samples)
		return e;
	r.s = s;
	uint32_t place = zts_samples_place(s, first);
	while (n < room && first + n < s->lane.n_samples && e >= 0) {
		uint64_t from = first + n - s->first[place];
		size_t calls = (size_t)(s->first[place + 1] - s->first[place]);
		int64_t got = (int64_t)calls;
		if (from == 0 && calls <= room - n)
			e = calls ? read_trace(&r, place, ret + n, calls, err) : 0;
		else if ((got = read_part(&r, place, from, ret + n, room - n, err)) < 0)
			e = (int)got;
		n += e < 0 ? 0 : (size_t)got;
		place += e == 0 && from + (uint64_t)got == calls;
	}
	give_up(&r);
	zts_tree_done(&r.tree);
	free(r.found);
	return e < 0 ? e : (int64_t)n;
}

int zts_traces(const struct pm_profile *p, const struct pm_threads **ret, struct pm_error *err)
{
	struct zts_samples *s;
	int r = zts_get_samples(zts_of(p), &s, err);
	*ret = r < 0 ? NULL : &s->traces;
	return r;
}

int zts_call_path(
	const struct pm_profile *p, uint64_t seq, struct pm_text *out, struct pm_error *err)
{
	const struct zts *z = zts_of(p);
	struct zts_samples *s;
	int r = zts_get_samples(z, &s, err);
	if (r < 0 || seq >= s->lane.n_samples)
		return r;
	uint32_t place = zts_samples_place(s, seq);
	zts_trace_path(z, &z->survey.traces[z->survey.by_store[place]], out);
	return 0;
}
