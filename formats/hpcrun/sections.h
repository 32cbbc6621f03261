/* Profiles of 04.00: sections and a footer. */
#ifndef PROFMOUNT_FORMATS_HPCRUN_SECTIONS_H
#define PROFMOUNT_FORMATS_HPCRUN_SECTIONS_H

#include "formats/hpcrun/damage.h"
#include "formats/hpcrun/profile.h"

/* Reads everything after the magic number. 0 or -ENOMEM. */
int hpcrun_sections_read(
	struct hpcrun_profile *p, enum hpcrun_extent extent, const struct hpcrun_report *report);

#endif
