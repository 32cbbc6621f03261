/* Names of threads: directories and identity columns. */
#ifndef PROFMOUNT_FS_VIEWS_MODEL_THREADNAMES_H
#define PROFMOUNT_FS_VIEWS_MODEL_THREADNAMES_H

#include "fs/views/model/model.h"

struct pmfs_thread_names {
	uint32_t n;
	const char *const *paths;  /* of each thread, from the root */
	const char *const *before; /* thread_id, the identity columns, NULL */
};

int pmfs_model_thread_names(
	struct pmfs_model *m, const struct pmfs_thread_names **ret, struct pm_error *err);

#endif
