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
#include <stddef.h>
#include <stdint.h>

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
