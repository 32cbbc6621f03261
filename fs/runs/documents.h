/* The documents at the root of an ensemble. */
#ifndef PROFMOUNT_FS_RUNS_DOCUMENTS_H
#define PROFMOUNT_FS_RUNS_DOCUMENTS_H

#include "profmount/profile.h"

int pmfs_ensemble_documents(const struct pm_profile *p, const struct pm_named_doc **ret,
	size_t *ret_n, struct pm_error *err);

#endif
