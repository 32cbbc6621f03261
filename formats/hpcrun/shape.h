/* The shape of a stored tree: who is whose parent, and an order that has parents first. */
#ifndef PROFMOUNT_FORMATS_HPCRUN_SHAPE_H
#define PROFMOUNT_FORMATS_HPCRUN_SHAPE_H

#include "formats/hpcrun/damage.h"
#include "formats/hpcrun/numbers.h"
#include "formats/hpcrun/records.h"

struct hpcrun_shape {
	uint32_t n;
	uint32_t *parent; /* by place in the file: the parent's place, or UINT32_MAX */
	uint32_t *number; /* by place: its own, 0 where it has none or an earlier node has it */
	uint32_t *order;  /* places, parents before children; as stored where that is so */
	struct hpcrun_numbers by_number; /* node number → place of the first node that has it */
};

/*
 * Nodes whose parent cannot be told (missing, themselves, a cycle, too deep) are on top, and
 * reported. 0 or -ENOMEM. O(n), whatever the input.
 */
int hpcrun_shape_read(struct hpcrun_shape *ret, const struct hpcrun_nodes *nodes,
	const struct hpcrun_report *report);

/* Also for a zeroed one. */
void hpcrun_shape_done(struct hpcrun_shape *s);

#endif
