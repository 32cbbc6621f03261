/* Readers report here what they could not read. */
#ifndef PROFMOUNT_FORMATS_HPCRUN_DAMAGE_H
#define PROFMOUNT_FORMATS_HPCRUN_DAMAGE_H

#include "formats/common/damage.h"

struct hpcrun_report {
	struct pm_damage_list *list; /* NULL: reports are discarded */
	const char *file;
};

void hpcrun_report_loss(const struct hpcrun_report *r, uint64_t offset, uint64_t bytes,
	const char *format, ...) __attribute__((format(printf, 4, 5)));

/* A file that cannot be read at all, or not from err->offset on. */
void hpcrun_report_file(const struct hpcrun_report *r, uint64_t size, const struct pm_error *err);

#endif
