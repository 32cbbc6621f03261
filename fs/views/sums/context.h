/* What texts about contexts share. */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_CONTEXT_H
#define PROFMOUNT_FS_VIEWS_SUMS_CONTEXT_H

#include "fs/views/model/model.h"

/* `FILE:LINE` on one line, as far as known. */
void pmfs_add_place(struct pm_text *out, struct pm_bytes file, uint32_t line);

#endif
