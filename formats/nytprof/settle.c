/*
 * Puts the tables of a file into the order in which they are presented: lines by place, callers by
 * call place and name. Frees what was needed to find rows.
 */
#include "formats/nytprof/settle.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/sort.h"

/* pm_sort has no context argument, so each edge carries its sort key. */
struct edge_key {
	uint32_t site;
	struct pm_bytes caller;
	struct nytp_edge edge;
};

static int by_site_and_caller(const void *a, const void *b)
{
	const struct edge_key *x = a, *y = b;
	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	return pm_bytes_compare(x->caller, y->caller);
}

/* Edges in the order of their sites, callers by name; each site gets the range of its edges. */
static int sort_edges(const struct nytp *n, struct nytp_file *f)
{
	struct edge_key *keys = malloc((f->n_edges + 1) * sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	for (size_t i = 0; i < f->n_edges; i++)
		keys[i] = (struct edge_key){
			f->edges[i].site, nytp_name(n, f->edges[i].caller), f->edges[i]};
	int r = pm_sort(keys, f->n_edges, sizeof(*keys), by_site_and_caller);
	for (size_t i = 0; r == 0 && i < f->n_edges; i++) {
		struct nytp_site *site = &f->sites[keys[i].site];
		f->edges[i] = keys[i].edge;
		if (site->n_edges++ == 0)
			site->first_edge = (uint32_t)i;
	}
	free(keys);
	return r;
}

int nytp_file_settle(const struct nytp *n, struct nytp_file *f)
{
	for (size_t i = 0; i < NYTP_N_LEVELS; i++) {
		struct nytp_lines *lines = &f->levels[i];
		if (nytp_slots_take(&lines->slots, &lines->items, &lines->n) < 0)
			return -ENOMEM;
	}
	for (size_t i = 0; i < f->n_threads; i++)
		nytp_calls_settle(&f->threads[i].calls);
	pm_map_done(&f->by_site);
	pm_map_done(&f->by_edge);
	pm_map_done(&f->by_place);
	return sort_edges(n, f);
}
