#include "formats/hpcrun/profile.h"

#include <stdlib.h>

#include "formats/common/list.h"

void hpcrun_profile_done(struct hpcrun_profile *p)
{
	hpcrun_epochs_done(p);
	free(p->header.items);
	free(p->kinds);
	free(p->identity);
	*p = (struct hpcrun_profile){.family = HPCRUN_FAMILY_NONE};
}

struct hpcrun_epoch *hpcrun_epoch_add(struct hpcrun_profile *p)
{
	if (pm_list_room(&p->epochs, p->n_epochs, &p->epochs_room, sizeof(*p->epochs)) < 0)
		return NULL;
	p->epochs[p->n_epochs] = (struct hpcrun_epoch){.flags = 0};
	return &p->epochs[p->n_epochs++];
}

void hpcrun_epochs_done(struct hpcrun_profile *p)
{
	for (size_t i = 0; i < p->n_epochs; i++) {
		free(p->epochs[i].pairs.items);
		free(p->epochs[i].metrics.items);
		free(p->epochs[i].modules.items);
	}
	free(p->epochs);
	p->epochs = NULL;
	p->n_epochs = p->epochs_room = 0;
}

bool hpcrun_block_range(const struct hpcrun_sparse *s, uint64_t block, uint64_t covered,
	uint64_t *ret_start, uint64_t *ret_end)
{
	*ret_start = pm_be64(pm_bytes_row(s->index, block, HPCRUN_BLOCK_SIZE) + 4);
	*ret_end = pm_be64(pm_bytes_row(s->index, block + 1, HPCRUN_BLOCK_SIZE) + 4);
	return *ret_start >= covered && *ret_start <= *ret_end && *ret_end <= s->n_values;
}
