/*
 * Runs: one packed word for each part of the stream that contains events of a kind. The library
 * flushes whole buffers of one thread, about 25 calls, so a run rarely contains much else.
 */
#include "formats/htdump/runs.h"

#include <stdlib.h>

#include "formats/common/list.h"

int htd_runs_begin(struct htd_runs *r, uint64_t offset, uint64_t seq)
{
	int failed = pm_list_room(&r->items, r->n, &r->room, sizeof(*r->items));
	if (failed < 0)
		return failed;
	r->items[r->n++] = htd_place_of(offset, seq);
	r->last = seq / HTD_RUN;
	r->n_events++;
	return 0;
}

void htd_runs_done(struct htd_runs *r)
{
	free(r->items);
	*r = (struct htd_runs){.items = NULL};
}
