/* windows/README.txt: what windows are called, with commands for this run. */
#ifndef PROFMOUNT_FS_WINDOWS_README_H
#define PROFMOUNT_FS_WINDOWS_README_H

#include "profmount/profile.h"

/* Renders the document; its `self` is the profile of the run, its `a` is 1 if some are listed. */
int pmfs_windows_readme_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err);

#endif
