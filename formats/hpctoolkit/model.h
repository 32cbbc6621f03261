/* A database as a pm_profile. */
#ifndef PROFMOUNT_FORMATS_HPCTOOLKIT_MODEL_H
#define PROFMOUNT_FORMATS_HPCTOOLKIT_MODEL_H

#include "formats/hpctoolkit/parts.h"

/* Fills `ret`; from then on it owns the database, which was made by malloc(). */
void hpctk_model_init(struct hpctk_parts *db, struct pm_profile *ret);

/* Gives everything back, the database too. */
void hpctk_model_done(struct pm_profile *p);

#endif
