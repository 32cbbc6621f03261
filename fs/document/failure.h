/* Errors of work that several threads do on segments of a table. */
#ifndef PROFMOUNT_FS_DOCUMENT_FAILURE_H
#define PROFMOUNT_FS_DOCUMENT_FAILURE_H

#include "profmount/error.h"

struct pmfs_failure {
	int result; /* 0 or a negative errno */
	struct pm_error error;
};

/* The more informative of two failures: the first one that is not a consequence of another one. */
static inline const struct pmfs_failure *pmfs_failure_pick(
	const struct pmfs_failure *known, const struct pmfs_failure *next)
{
	if (next->result < 0 && (!known || (!known->error.code && next->error.code)))
		return next;
	return known;
}

/* The result of the whole work: that failure (NULL: none), or `r`, which has no message. */
static inline int pmfs_failure_return(
	const struct pmfs_failure *failed, int r, struct pm_error *err)
{
	if (!failed || !failed->error.code)
		return r < 0 ? pm_error_plain(err, r) : 0;
	if (err && !err->code)
		*err = failed->error;
	return failed->result;
}

#endif
