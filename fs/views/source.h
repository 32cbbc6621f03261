#ifndef TMP_SOURCE_H
#define TMP_SOURCE_H
#include "fs/views/model.h"
static inline int pmfs_source_annotated(struct pmfs_model *m, const struct pm_source *s, struct pm_doc *ret, struct pm_error *err)
{(void)m;(void)s;(void)ret;(void)err;return -ENOENT;}
#endif
