/*
 * The reason for a failure, for people: what, where (file and offset), what was expected.
 *
 * Functions that can fail return 0 or a negative errno from this short list:
 *   -EINVAL  the input breaks its format          -EIO     the input cannot be read (any more)
 *   -ENOMEM  no memory, or a limit of limits.h    -ENOENT  no such thing
 *   -ENOTSUP recognised, but not supported        -ENODATA this source does not carry it
 * The function that knows why fills the error; callers may prefix it. Only fs/ prints.
 */
#ifndef PROFMOUNT_ERROR_H
#define PROFMOUNT_ERROR_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * What has failed, and may not fail the next time: none of it is kept, remembered or replaced by an
 * alternative. These have one value, because code has to do exactly the same for each of them
 * (formats/common/work.h); who wants to know asks pm_work_cancelled.
 */
#define PM_NO_MEMORY   (-ENOMEM) /* or a limit of limits.h */
#define PM_CANCELLED   (-ENOMEM) /* nobody needs the result any more */
#define PM_WOULD_BUILD (-ENOMEM) /* it does not exist yet, and may not be built now */

static inline bool pm_is_passing(int r)
{
	return r == PM_NO_MEMORY;
}

/* A failure of what is read, which would be the same the next time. */
static inline bool pm_is_lasting(int r)
{
	return r < 0 && !pm_is_passing(r);
}

#define PM_NO_OFFSET UINT64_MAX

struct pm_error {
	int code;        /* 0 or a negative errno */
	uint64_t offset; /* in `file`, or PM_NO_OFFSET */
	char file[256];  /* the file's name without folders, or empty */
	char text[512];  /* one line, without a newline, not capitalised */
};

/*
 * Fills `err` unless it is NULL or already filled (the first writer wins) and returns `code`, so an
 * error path is just `return pm_error_set(…)`. `code` is a negative errno; `file` may be NULL;
 * characters that are not safe for terminals become U+FFFD (formats/common/utf8.h).
 */
int pm_error_set(struct pm_error *err, int code, const char *file, uint64_t offset,
	const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Sets a generic message for a failure without one, such as -ENOMEM. Returns `code`. */
int pm_error_plain(struct pm_error *err, int code);

/* `file+0xoffset: text`, omitting unknown parts, NUL-terminated in `out`. Returns `out`. */
char *pm_error_line(const struct pm_error *err, char *out, size_t size);

#endif
