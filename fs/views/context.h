/* Documents of one context that are no views, and what their texts share. */
#ifndef PROFMOUNT_FS_VIEWS_CONTEXT_H
#define PROFMOUNT_FS_VIEWS_CONTEXT_H

#include "fs/views/model.h"

/*
 * metrics/<column>: the number in contexts.csv and a newline. It is there where pmfs_run_cells
 * (flat = false) gives a number.
 */
struct pm_doc pmfs_context_number(struct pmfs_model *m, uint32_t context, uint32_t column);

/* `FILE:LINE` on one line, as far as known. */
void pmfs_add_place(struct pm_text *out, struct pm_bytes file, uint32_t line);

#endif
