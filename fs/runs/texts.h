/* The texts at the root of an ensemble; doc->text.self is the ensemble. */
#ifndef PROFMOUNT_FS_RUNS_TEXTS_H
#define PROFMOUNT_FS_RUNS_TEXTS_H

#include "formats/common/text.h"
#include "profmount/document.h"

int pmfs_ensemble_readme(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err);
int pmfs_ensemble_summary(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err);
int pmfs_ensemble_functions(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err);
int pmfs_ensemble_info(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err);

/* Appends a line with the filters of an ensemble, if it has any. */
struct pmfs_ensemble;
void pmfs_ensemble_filters(struct pm_text *out, const struct pmfs_ensemble *e, const char *before);

#endif
