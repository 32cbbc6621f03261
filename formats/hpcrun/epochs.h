/* Profiles with epochs: 01.98 to 03.10, and those of 2009. */
#ifndef PROFMOUNT_FORMATS_HPCRUN_EPOCHS_H
#define PROFMOUNT_FORMATS_HPCRUN_EPOCHS_H

#include "formats/hpcrun/damage.h"
#include "formats/hpcrun/profile.h"

/* Reads the data after the header pairs, at the cursor. 0 or -ENOMEM. */
int hpcrun_epochs_read(
	struct hpcrun_profile *p, struct pm_cur *c, const struct hpcrun_report *report);

#endif
