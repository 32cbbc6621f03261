/* What the tables of this format share. */
#ifndef PROFMOUNT_HTDUMP_TABLES_H
#define PROFMOUNT_HTDUMP_TABLES_H

#include "formats/htdump/source.h"

/* STRUCT, STRING …, or the number of a type that is not defined. */
struct pm_cell htd_data_type_cell(uint8_t data_type);

/* -EIO: an event is not where the scan found it. */
static inline int htd_source_changed(const struct htd_source *src, struct pm_error *err)
{
	return pm_error_set(
		err, -EIO, src->input.name, PM_NO_OFFSET, "has changed since it was opened");
}

#endif
