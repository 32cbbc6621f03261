/* A database as a pm_profile. */
#ifndef PROFMOUNT_FORMATS_HPCTOOLKIT_MODEL_H
#define PROFMOUNT_FORMATS_HPCTOOLKIT_MODEL_H

#include "formats/hpctoolkit/parts.h"

/* Fills `ret`, which takes ownership of the database (allocated by malloc()). */
void hpctk_model_init(struct hpctk_opened *db, struct pm_profile *ret);

/* Frees everything, including the database. */
void hpctk_model_done(struct pm_profile *p);

#endif
