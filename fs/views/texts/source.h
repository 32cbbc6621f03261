/* Source text with the cost of each line beside it. */
#ifndef PROFMOUNT_FS_VIEWS_TEXTS_SOURCE_H
#define PROFMOUNT_FS_VIEWS_TEXTS_SOURCE_H

#include "fs/views/model/model.h"

/* The document source/X.annotated.txt of one of the profile's sources. */
int pmfs_source_annotated(struct pmfs_model *m, const struct pm_source *source, struct pm_doc *ret,
	struct pm_error *err);

#endif
