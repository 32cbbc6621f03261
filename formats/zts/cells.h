/* Cells used by several tables. */
#ifndef PROFMOUNT_FORMATS_ZTS_CELLS_H
#define PROFMOUNT_FORMATS_ZTS_CELLS_H

#include "formats/common/text.h"
#include "profmount/profile.h"
#include "profmount/table.h"

/* Empty where it is PM_NO_TIME. */
static inline struct pm_cell zts_known_u64(uint64_t u)
{
	return u == PM_NO_TIME ? pm_cell_empty() : pm_cell_u64(u);
}

/* 16 hex digits; empty where it is 0. */
static inline struct pm_cell zts_known_id(uint64_t id)
{
	return id ? pm_cell_id(id, 16) : pm_cell_empty();
}

/* Text of the row's scratch, from `from` up to `to`. */
static inline struct pm_cell zts_scratch_cell(const struct pm_rows *rows, size_t from, size_t to)
{
	if (rows->scratch->failed || from == to)
		return pm_cell_empty();
	return pm_cell_text((struct pm_bytes){(const uint8_t *)rows->scratch->p + from, to - from});
}

static inline void zts_add_trace_id(struct pm_text *out, const uint64_t id[2])
{
	pm_text_hex(out, id[0], 16);
	pm_text_hex(out, id[1], 16);
}

#endif
