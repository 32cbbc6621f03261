#include "profmount/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* One line for a terminal or syslog, whatever bytes the input brought into the text. */
static void make_printable(char *s)
{
	for (; *s; s++)
		if ((unsigned char)*s < 0x20 || *s == 0x7f)
			*s = '?';
}

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
	va_list args;
	err->code = code;
	err->offset = offset;
	snprintf(err->file, sizeof(err->file), "%s", file ? without_folders(file) : "");
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	make_printable(err->file);
	make_printable(err->text);
	return code;
}

int pm_error_plain(struct pm_error *err, int code)
{
	return pm_error_set(
		err, code, NULL, PM_NO_OFFSET, code == -ENOMEM ? "no memory" : "cannot be read");
}

int pm_error_prefix(struct pm_error *err, const char *format, ...)
{
	char before[sizeof(err->text)], all[2 * sizeof(err->text) + 2];
	if (!err)
		return -EIO;
	va_list args;
	va_start(args, format);
	vsnprintf(before, sizeof(before), format, args);
	va_end(args);
	make_printable(before);
	snprintf(all, sizeof(all), "%s: %s", before, err->text);
	snprintf(err->text, sizeof(err->text), "%.*s", (int)sizeof(err->text) - 1, all);
	return err->code;
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
