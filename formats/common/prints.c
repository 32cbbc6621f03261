/* The salt is the address of the first table, so the hashes stay the same when the table grows. */
#include "formats/common/prints.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/zeroed.h"

enum { FIRST_SLOTS = 64 };

int pm_prints_grow(struct pm_prints *p)
{
	struct pm_prints grown = *p;
	grown.n_slots = p->n_slots ? 2 * p->n_slots : FIRST_SLOTS;
	grown.slots = pm_zeroed(grown.n_slots, sizeof(*grown.slots));
	if (!grown.slots)
		return -ENOMEM;
	if (!p->slots)
		grown.salt = (uintptr_t)grown.slots;
	for (size_t i = 0; i < p->n_slots; i++) {
		struct pm_print print = p->slots[i];
		size_t at = pm_prints_first(&grown, print.hash);
		while (grown.slots[at].item)
			at = (at + 1) & (grown.n_slots - 1);
		if (print.item)
			grown.slots[at] = print;
	}
	free(p->slots);
	*p = grown;
	return 0;
}

void pm_prints_done(struct pm_prints *p)
{
	free(p->slots);
	*p = (struct pm_prints){.slots = NULL};
}
