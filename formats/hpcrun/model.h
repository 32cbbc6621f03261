/* Measurement files as a pm_profile. */
#ifndef PROFMOUNT_FORMATS_HPCRUN_MODEL_H
#define PROFMOUNT_FORMATS_HPCRUN_MODEL_H

#include "formats/hpcrun/parts.h"

/* Describes the measurement in `ret`, which borrows it. */
void hpcrun_model_init(struct hpcrun_opened *o, struct pm_profile *ret);

#endif
