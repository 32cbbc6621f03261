/* Errors of work that several threads do on segments of a table. */
#ifndef PROFMOUNT_FS_DOCUMENT_FAILURE_H
#define PROFMOUNT_FS_DOCUMENT_FAILURE_H

#include "profmount/error.h"

struct pmfs_failure {
	int result; /* 0 or a negative errno */
	struct pm_error error;
};

/*
 * The result of work on n items, whose failures are `size` bytes apart: the most informative of
 * these, which is the first one that is not a consequence of another one; or `r`, which has no
 * message.
 */
static inline int pmfs_failure_return(
	const struct pmfs_failure *first, size_t n, size_t size, int r, struct pm_error *err)
{
	const struct pmfs_failure *found = NULL;
	for (size_t i = 0; i < n; i++) {
		const struct pmfs_failure *next = (const void *)((const char *)first + i * size);
		if (next->result < 0 && (!found || (!found->error.code && next->error.code)))
			found = next;
	}
	if (!found || !found->error.code)
		return r < 0 ? pm_error_plain(err, r) : 0;
	if (err && !err->code)
		*err = found->error;
	return found->result;
}

#endif
