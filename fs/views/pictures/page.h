/* HTML pages: files of assets/ with placeholders such as {{title}}. */
#ifndef PROFMOUNT_FS_VIEWS_PICTURES_PAGE_H
#define PROFMOUNT_FS_VIEWS_PICTURES_PAGE_H

#include "formats/common/text.h"

/*
 * Appends the text before the placeholder; returns the text after it. Placeholders are searched
 * only in the page itself, so no name can be mistaken for one.
 */
struct pm_bytes pmfs_page_until(struct pm_text *out, struct pm_bytes page, const char *mark);

#endif
