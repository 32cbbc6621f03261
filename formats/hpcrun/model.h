/* Measurement files as a pm_profile. */
#ifndef PROFMOUNT_FORMATS_HPCRUN_MODEL_H
#define PROFMOUNT_FORMATS_HPCRUN_MODEL_H

#include "formats/hpcrun/folder.h"
#include "profmount/profile.h"

/* Fills `ret`; takes the folder over, on failure too. */
int hpcrun_model_init(struct hpcrun_folder *folder, const char *path, struct pm_profile *ret,
	struct pm_error *err);

void hpcrun_model_done(struct pm_profile *p);

#endif
