/* raw/: the database's own tables, uninterpreted. */
#ifndef PROFMOUNT_FORMATS_HPCTOOLKIT_RAW_H
#define PROFMOUNT_FORMATS_HPCTOOLKIT_RAW_H

#include "formats/hpctoolkit/parts.h"

/* As pm_profile_ops.documents. */
int hpctk_documents(const struct pm_profile *p, const struct pm_named_doc **ret, size_t *ret_n,
	struct pm_error *err);

#endif
