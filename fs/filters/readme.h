/* focus/README.txt and its like: what the filter is, with examples out of the profile. */
#ifndef PROFMOUNT_FS_FILTERS_README_H
#define PROFMOUNT_FS_FILTERS_README_H

#include "profmount/document.h"

/* doc->text.self is the model, .a enum pmfs_filter_kind. */
int pmfs_filters_readme_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err);

#endif
