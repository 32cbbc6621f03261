/* Differential flame graphs: widths from one run, colours by difference. */
#ifndef PROFMOUNT_FS_COMPARE_PICTURES_H
#define PROFMOUNT_FS_COMPARE_PICTURES_H

#include "profmount/document.h"

struct pm_text;

/*
 * As pm_doc.text.render; doc->text.self is the comparison. The SVG has the leading quantity, with
 * widths of the other run; gone.svg has those of the baseline; the page has every quantity with
 * both.
 */
int pmfs_compare_flame_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err);
int pmfs_compare_gone_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err);
int pmfs_compare_page_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err);

#endif
