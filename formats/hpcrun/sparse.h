/* The section of metric values in 04.00: identity, values, and an index of the nodes that own them.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_SPARSE_H
#define PROFMOUNT_FORMATS_HPCRUN_SPARSE_H

#include "formats/hpcrun/damage.h"
#include "formats/hpcrun/profile.h"

/* Reads the section at the cursor. 0 or -ENOMEM. */
int hpcrun_sparse_read(struct hpcrun_profile *p, struct pm_cur *c, enum hpcrun_extent extent,
	const struct hpcrun_report *report);

#endif
