#include "profmount/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "formats/common/folder.h"
#include "formats/common/reason.h"
#include "formats/common/utf8.h"

static const char *without_folders(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
}

static uint64_t no_files_ns, limit_bytes; /* atomic; 0: not */

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return pm_time_ns(now);
}

void pm_reason_files(void)
{
	__atomic_store_n(&no_files_ns, now_ns(), __ATOMIC_RELAXED);
}

void pm_reason_limit(uint64_t bytes)
{
	__atomic_store_n(&limit_bytes, bytes, __ATOMIC_RELAXED);
}

/* Descriptors that ran out are passed on as memory that did: both may be there next time. */
static void tell_reason(char *text, size_t size)
{
	static const char none[] = "no memory", told[] = " within the limit of ";
	const uint64_t moment_ns = (uint64_t)2 * 1000000000u;
	uint64_t files = __atomic_load_n(&no_files_ns, __ATOMIC_RELAXED);
	uint64_t limit = __atomic_load_n(&limit_bytes, __ATOMIC_RELAXED);
	char rest[256];
	if (strncmp(text, none, sizeof(none) - 1) != 0)
		return;
	/* An error that is passed on in another one. */
	if (strncmp(text + sizeof(none) - 1, told, sizeof(told) - 1) == 0)
		return;
	snprintf(rest, sizeof(rest), "%.255s", text + sizeof(none) - 1);
	if (files && now_ns() - files < moment_ns)
		snprintf(text, size, "too many open files (see ulimit -n)%s", rest);
	else if (limit)
		snprintf(text, size, "%s%s%llu MiB (-o memory=SIZE)%s", none, told,
			(unsigned long long)(limit >> 20), rest);
}

int pm_error_set(
	struct pm_error *err, int code, const char *file, uint64_t offset, const char *format, ...)
{
	if (!err || err->code)
		return code;
	char text[sizeof(err->text)];
	va_list args;
	err->code = code;
	err->offset = offset;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (pm_is_passing(code))
		tell_reason(text, sizeof(text));
	/* Safe for a terminal or log, whatever bytes the input contains. */
	pm_shown_copy(err->file, sizeof(err->file), file ? without_folders(file) : "");
	pm_shown_copy(err->text, sizeof(err->text), text);
	return code;
}

int pm_error_plain(struct pm_error *err, int code)
{
	return pm_error_set(err, code, NULL, PM_NO_OFFSET,
		pm_is_passing(code) ? "no memory" : "cannot be read");
}

char *pm_error_line(const struct pm_error *err, char *out, size_t size)
{
	if (err->file[0] && err->offset != PM_NO_OFFSET)
		snprintf(out, size, "%s+0x%llx: %s", err->file, (unsigned long long)err->offset,
			err->text);
	else if (err->file[0])
		snprintf(out, size, "%s: %s", err->file, err->text);
	else
		snprintf(out, size, "%s", err->text);
	return out;
}
