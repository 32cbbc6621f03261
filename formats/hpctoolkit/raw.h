/* raw/: the database's own tables, uninterpreted. */
#ifndef PROFMOUNT_FORMATS_HPCTOOLKIT_RAW_H
#define PROFMOUNT_FORMATS_HPCTOOLKIT_RAW_H

#include "formats/hpctoolkit/parts.h"

/* The i-th table; its end is set if it is known without reading. False: there is no i-th. */
bool hpctk_raw_table(const struct hpctk_opened *db, uint32_t i, struct pm_named_doc *ret);

#endif
