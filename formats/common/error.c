#include "profmount/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "formats/common/utf8.h"

static const char *without_folders(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash && slash[1] ? slash + 1 : path;
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
	/* Safe for a terminal or log, whatever bytes the input contains. */
	pm_shown_copy(err->file, sizeof(err->file), file ? without_folders(file) : "");
	pm_shown_copy(err->text, sizeof(err->text), text);
	return code;
}

int pm_error_plain(struct pm_error *err, int code)
{
	return pm_error_set(
		err, code, NULL, PM_NO_OFFSET, code == -ENOMEM ? "no memory" : "cannot be read");
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
