/* export/ of a comparison: stacks of both runs for viewers. */
#ifndef PROFMOUNT_FS_COMPARE_EXPORTS_H
#define PROFMOUNT_FS_COMPARE_EXPORTS_H

#include "profmount/document.h"

struct pm_text;

/* As pm_doc.text.render; doc->text.self is the comparison, .a the quantity. */
int pmfs_compare_folded_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err);
int pmfs_compare_pprof_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err);

#endif
