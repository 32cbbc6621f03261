/* raw/: the database's own tables, in its own terms. */
#ifndef PROFMOUNT_FORMATS_HPCTOOLKIT_RAW_H
#define PROFMOUNT_FORMATS_HPCTOOLKIT_RAW_H

#include "formats/hpctoolkit/db.h"

/* The number of tables among them. */
#define HPCTK_N_RAW_TABLES 9

/* Table i, whose file is named by `ret->path`. */
void hpctk_raw_table(const struct hpctk_db *db, uint32_t i, struct pm_named_doc *ret);

/* As pm_profile_ops.documents. */
int hpctk_documents(const struct pm_profile *p, const struct pm_named_doc **ret, size_t *ret_n,
	struct pm_error *err);

void hpctk_documents_free(struct hpctk_documents *d);

#endif
