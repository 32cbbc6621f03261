/* The documents of a comparison: the contents of compare/NAME/. */
#ifndef PROFMOUNT_FS_COMPARE_DOCUMENTS_H
#define PROFMOUNT_FS_COMPARE_DOCUMENTS_H

#include "profmount/profile.h"

/* As pm_profile_ops.documents. */
int pmfs_compare_documents(const struct pm_profile *p, const struct pm_named_doc **ret,
	size_t *ret_n, struct pm_error *err);

#endif
