/* Gives access to runs, which are opened on request, to code that needs several of them. */
#ifndef PROFMOUNT_FS_COMPARE_LENDER_H
#define PROFMOUNT_FS_COMPARE_LENDER_H

#include "fs/views/model/model.h"

/* Functions are thread-safe. An acquired model lives until it is released. */
struct pmfs_lender {
	/*
	 * Opens the run unless it is open. A run that cannot be opened fails in the same way each
	 * time; -ENOMEM if there is no memory or the work was cancelled.
	 */
	int (*acquire)(void *self, uint32_t run, struct pmfs_model **ret, struct pm_error *err);
	/* May be called while the cache is locked, for example by ops->close. */
	void (*release)(void *self, uint32_t run);
	void *self;
};

#endif
