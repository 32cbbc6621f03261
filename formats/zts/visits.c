/* Counts visits by walking the parts of all traces in the order in which they will be read. */
#include "formats/zts/visits.h"

#include <errno.h>
#include <stdlib.h>

#include "profmount/profile.h"

enum { MANY = 2 };

static bool is_same(const struct zts_part *a, const struct zts_part *b)
{
	return a && a->store == b->store && a->chunk == b->chunk;
}

/* Parts after the first always come from the cache. */
static void count(
	struct zts_visits *v, const struct zts_survey *survey, const struct zts_early *early)
{
	const struct zts_part *before = NULL;
	for (uint32_t i = 0; i < survey->n; i++) {
		const struct zts_trace *t = &survey->traces[survey->by_store[i]];
		for (uint32_t k = 0; zts_trace_remains(t, early) && k < t->n_parts; k++) {
			const struct zts_part *part = &survey->parts[t->part + k];
			if (part->chunk == PM_NONE || (k == 0 && is_same(before, part)))
				continue;
			uint8_t *n = &v->n[v->first_of[part->store] + part->chunk];
			*n = k > 0 || *n > 0 ? MANY : 1;
			before = k == 0 ? part : before;
		}
	}
}

int zts_visits_init(struct zts_visits *v, struct zts_stores *stores,
	const struct zts_survey *survey, const struct zts_early *early)
{
	size_t n = 0;
	*v = (struct zts_visits){.stores = stores,
		.first_of = malloc(((size_t)stores->n + 1) * sizeof(*v->first_of))};
	for (uint32_t i = 0; v->first_of && i < stores->n; i++) {
		v->first_of[i] = n;
		n += stores->items[i].chunks.n;
	}
	v->n = calloc(n + 1, sizeof(*v->n));
	if (!v->first_of || !v->n)
		return -ENOMEM;
	count(v, survey, early);
	return 0;
}

void zts_visits_done(struct zts_visits *v)
{
	free(v->first_of);
	free(v->n);
	*v = (struct zts_visits){.n = NULL};
}

static void give_up(const struct zts_visits *v, struct zts_held *held)
{
	if (held->payload && held->cached)
		zts_payload_release(v->stores, held->payload);
	else if (held->payload)
		zts_payload_free(held->payload);
	held->payload = NULL;
}

void zts_visits_hold(const struct zts_visits *v, const struct zts_part *part, struct zts_held *held)
{
	if (part && held->payload && held->store == part->store && held->chunk == part->chunk)
		return;
	give_up(v, held);
	if (!part || part->chunk == PM_NONE)
		return;
	held->store = part->store;
	held->chunk = part->chunk;
	held->cached = v->n[v->first_of[part->store] + part->chunk] >= MANY;
	if (held->cached)
		zts_payload_get(v->stores, part->store, part->chunk, &held->payload, NULL);
	else
		zts_payload_read(v->stores, part->store, part->chunk, &held->payload, NULL);
}
