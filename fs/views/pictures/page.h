/* Pages of a browser: files of assets/ with marks like {{title}} for what is put in. */
#ifndef PROFMOUNT_FS_VIEWS_PICTURES_PAGE_H
#define PROFMOUNT_FS_VIEWS_PICTURES_PAGE_H

#include "formats/common/text.h"

/*
 * Appends what is before the mark; returns what is behind it. Marks are looked for in the page
 * alone, so no name can be mistaken for one.
 */
struct pm_bytes pmfs_page_until(struct pm_text *out, struct pm_bytes page, const char *mark);

#endif
