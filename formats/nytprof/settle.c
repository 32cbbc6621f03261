/*
 * Puts the tables of a file into the order in which they are presented: lines by place, callers by
 * call place and name. Frees what was needed to find rows.
 */
#include "formats/nytprof/settle.h"

#include <errno.h>

#include "formats/common/sort.h"

static int by_site_and_caller(const void *a, const void *b, void *n)
{
	const struct nytp_edge *x = a, *y = b;
	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	return pm_bytes_compare(nytp_name(n, x->caller), nytp_name(n, y->caller));
}

/* Edges in the order of their sites, callers by name; each site gets the range of its edges. */
static int sort_edges(const struct nytp *n, struct nytp_file *f)
{
	int r = pm_sort_with(
		f->edges, f->n_edges, sizeof(*f->edges), by_site_and_caller, (void *)(uintptr_t)n);
	for (size_t i = 0; r == 0 && i < f->n_edges; i++) {
		struct nytp_site *site = &f->sites[f->edges[i].site];
		if (site->n_edges++ == 0)
			site->first_edge = (uint32_t)i;
	}
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
