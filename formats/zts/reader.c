/* Payloads are held while neighbours need them; memory is used again. */
#include "formats/zts/reader.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/search.h"

/* ---- calls ---- */

struct pm_sample zts_reader_sample(
	const struct zts_trace *t, const struct zts_tree *tree, uint32_t i)
{
	const struct zts_call *root = &tree->calls[0], *call = &tree->calls[i];
	int64_t ns;
	bool ended = zts_call_duration(call, &ns);
	return (struct pm_sample){.time_ns = zts_call_time(t->timestamp_ns, root, call),
		.duration_ns = ended ? (uint64_t)(ns > 0 ? ns : 0) : PM_NO_TIME,
		.self_ns = PM_NO_SELF};
}

/* ---- payloads ---- */

static bool is_same(const struct zts_part *a, const struct zts_part *b)
{
	return a->store == b->store && a->chunk == b->chunk;
}

/*
 * Do other traces need the payload? Those before and after this one count as one visit, but what
 * comes after it may be read by another reader.
 */
static bool is_shared(const struct zts_reader *r, uint32_t place)
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

static void give_up(struct zts_reader *r)
{
	if (r->payload)
		zts_payload_release(r->s->visits.stores, r->payload);
	r->payload = NULL;
}

/*
 * Goes on to the payload of that part, which neighbours have, too: 0 or an error. What no other
 * trace needs is not worth its place in the cache: the caller frees `*ret_own`.
 */
static int hold(struct zts_reader *r, uint32_t place, const struct zts_payload **ret_own,
	struct pm_error *err)
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

/* ---- traces ---- */

static int read_tree(struct zts_reader *r, uint32_t place, struct pm_error *err)
{
	const struct zts_survey *v = &r->z->survey;
	const struct zts_trace *t = &v->traces[v->by_store[place]];
	uint64_t n = r->s->first[place + 1] - r->s->first[place];
	const struct zts_payload *own;
	int e = hold(r, place, &own, err);
	const struct zts_parts parts = {
		.items = v->parts + t->part, .n = t->n_parts, .first = own ? own : r->payload};
	if (e == 0)
		e = zts_tree_read(r->s->visits.stores, &parts, &r->tree, err);
	if (own)
		zts_payload_free(own);
	if (e == 0 && r->tree.n != n)
		e = pm_error_set(err, -EIO, "traces.dat", v->parts[t->part].data_offset,
			"the trace has changed");
	return e;
}

int zts_reader_read(struct zts_reader *r, uint32_t place, struct pm_error *err)
{
	int e = read_tree(r, place, err);
	if (e == 0 &&
		(pm_list_room(&r->found, r->tree.n, &r->room, sizeof(*r->found)) < 0 ||
			zts_samples_contexts(r->s, &r->z->stores, &r->tree, r->found) < 0))
		e = pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for a trace");
	return e;
}

int zts_reader_trace(struct zts_reader *r, uint32_t trace, struct pm_error *err)
{
	const struct zts_survey *v = &r->z->survey;
	uint32_t store = v->traces[trace].store;
	uint32_t place = PM_LOWER_BOUND(
		i, v->first_of[store], v->first_of[store + 1], v->by_store[i] < trace);
	if (r->s->first[place] == r->s->first[place + 1])
		return 0;
	int e = read_tree(r, place, err);
	return e < 0 ? e : 1;
}

int zts_reader_init(struct zts_reader *r, const struct zts_opened *z, struct pm_error *err)
{
	*r = (struct zts_reader){.z = z};
	return zts_get_samples(z, &r->s, err);
}

void zts_reader_done(struct zts_reader *r)
{
	give_up(r);
	zts_tree_done(&r->tree);
	free(r->found);
}
