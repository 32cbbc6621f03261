/* The documents of a database. */
#ifndef PROFMOUNT_FORMATS_HPCTOOLKIT_DOCUMENTS_H
#define PROFMOUNT_FORMATS_HPCTOOLKIT_DOCUMENTS_H

#include "profmount/profile.h"

/* As pm_profile_ops.documents. */
int hpctk_documents(const struct pm_profile *p, const struct pm_named_doc **ret, size_t *ret_n,
	struct pm_error *err);

#endif
