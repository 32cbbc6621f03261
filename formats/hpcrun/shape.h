/* The structure of a stored tree: parents, and an order with parents first. */
#ifndef PROFMOUNT_FORMATS_HPCRUN_SHAPE_H
#define PROFMOUNT_FORMATS_HPCRUN_SHAPE_H

#include "formats/hpcrun/damage.h"
#include "formats/hpcrun/numbers.h"
#include "formats/hpcrun/records.h"

struct hpcrun_shape {
	uint32_t n;
	uint32_t *parent; /* by index in the file: the parent's index, or UINT32_MAX */
	uint32_t *
		number; /* by index: its number, 0 if it has none or an earlier node has the same */
	uint32_t *order; /* indexes, parents before children; in stored order if possible */
	struct hpcrun_numbers by_number; /* node number → index of the first node with it */
};

/*
 * Nodes with an invalid parent (missing, the node itself, a cycle, too deep) are put at the top and
 * reported. 0 or -ENOMEM. O(n) for any input.
 */
int hpcrun_shape_read(struct hpcrun_shape *ret, const struct hpcrun_nodes *nodes,
	const struct hpcrun_report *report);

/* Also for a zeroed one. */
void hpcrun_shape_done(struct hpcrun_shape *s);

#endif
