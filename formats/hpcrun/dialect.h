/*
 * Determines the variant of a .hpcrun file by its magic number, regardless of its name, and reads
 * it.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_DIALECT_H
#define PROFMOUNT_FORMATS_HPCRUN_DIALECT_H

#include "formats/hpcrun/damage.h"
#include "formats/hpcrun/profile.h"
#include "profmount/error.h"

/* The family of a file, and its version as 0x0200, 0x019a …, by its first bytes. */
enum hpcrun_family hpcrun_family_of(struct pm_bytes head, unsigned *ret_version);

/*
 * Reads `file`, which must outlive `ret`, and reports losses to `report`. -EINVAL if it is not an
 * hpcrun profile, -ENOTSUP for an unknown version. Free with hpcrun_profile_done.
 */
int hpcrun_profile_read(struct hpcrun_profile *ret, struct pm_bytes file, enum hpcrun_extent extent,
	const struct hpcrun_report *report, struct pm_error *err);

#endif
