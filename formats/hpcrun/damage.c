#include "formats/hpcrun/damage.h"

#include <stdarg.h>
#include <stdio.h>

void hpcrun_report_loss(
	const struct hpcrun_report *r, uint64_t offset, uint64_t bytes, const char *format, ...)
{
	char what[256];
	va_list args;
	if (!r->list)
		return;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	pm_damage_add(r->list, r->file, offset, bytes, "%s", what);
}

void hpcrun_report_file(const struct hpcrun_report *r, uint64_t size, const struct pm_error *err)
{
	uint64_t left = err->offset < size ? size - err->offset : size;
	hpcrun_report_loss(r, err->offset, left, "%s", err->text);
}
