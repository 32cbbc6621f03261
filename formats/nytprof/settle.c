/*
 * Puts the tables of a file into the order in which they are presented: lines by place, callers by
 * call place and name. Frees what was needed to find rows.
 */
#include "formats/nytprof/settle.h"

#include <errno.h>
#include <stdlib.h>

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

static int by_line(const void *a, const void *b, void *lines)
{
	uint32_t i = *(const uint32_t *)a, k = *(const uint32_t *)b;
	const struct nytp_text_line *all = lines, *x = &all[i], *y = &all[k];
	if (x->fid != y->fid)
		return x->fid < y->fid ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return (i > k) - (i < k);
}

static int order_texts(struct nytp_file *f)
{
	f->text_order = malloc((f->n_texts + 1) * sizeof(*f->text_order));
	for (uint32_t i = 0; f->text_order && i < f->n_texts; i++)
		f->text_order[i] = i;
	return f->text_order
		? pm_sort_with(f->text_order, f->n_texts, sizeof(*f->text_order), by_line, f->texts)
		: -ENOMEM;
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
	int r = order_texts(f);
	return r < 0 ? r : sort_edges(n, f);
}
