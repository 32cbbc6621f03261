/* Runs for whoever needs several of them: opened when they are asked for. */
#ifndef PROFMOUNT_FS_COMPARE_LENDER_H
#define PROFMOUNT_FS_COMPARE_LENDER_H

#include "fs/views/model/model.h"

/* Functions are thread-safe. A model that was acquired lives until it is released. */
struct pmfs_lender {
	/*
	 * Opens the run unless it is open. Fails each time in the same way where it cannot be
	 * opened; -ENOMEM where there is no memory or the work was cancelled.
	 */
	int (*acquire)(void *self, uint32_t run, struct pmfs_model **ret, struct pm_error *err);
	/* May be called while the cache is locked, as by ops->close. */
	void (*release)(void *self, uint32_t run);
	void *self;
};

#endif
