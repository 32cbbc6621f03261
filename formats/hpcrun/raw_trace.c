/* Raw tables of a trace. */
#include "formats/common/sheet.h"
#include "formats/hpcrun/raw.h"
#include "formats/hpcrun/raw_file.h"

#define OF_A_TRACE .start = hpcrun_raw_trace_start, .done = hpcrun_raw_done

/* ---- header ---- */

struct field {
	const char *key;
	struct pm_cell value;
};

static int header_record(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)
{
	(void)err;
	const struct hpcrun_trace *t = &((const struct hpcrun_raw *)rows->own)->trace;
	struct field *field = ret->room;
	if (rows->at > 3 || t->size == 0)
		return 0;
	switch (rows->at) {
	case 0: *field = (struct field){"magic", pm_cell_text(t->magic)}; break;
	case 1:
		*field = (struct field){
			"flags", t->has_flags ? pm_cell_hex(t->flags) : pm_cell_empty()};
		break;
	case 2: *field = (struct field){"records", pm_cell_u64(t->n)}; break;
	default: *field = (struct field){"leftover_bytes", pm_cell_u64(t->leftover)}; break;
	}
	return 1;
}

static const struct pm_column header_columns[] = {
	PM_COLUMN(struct field, key, "key"),
	PM_COLUMN(struct field, value, "value"),
};

/* ---- samples ---- */

struct sample {
	uint32_t node, metric;
	bool has_metric;
	struct pm_cell time;
};

static int trace_record(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)
{
	(void)err;
	const struct hpcrun_raw *raw = rows->own;
	struct hpcrun_sample from;
	if (rows->at >= raw->trace.n || raw->records.len == 0)
		return 0;
	hpcrun_trace_decode(&raw->trace, raw->records, rows->at, &from);
	*(struct sample *)ret->room = (struct sample){.node = from.node,
		.metric = from.metric,
		.has_metric = raw->trace.flags & 1,
		.time = raw->trace.is_real ? pm_cell_f64(pm_f64_of_bits(from.time))
					   : pm_cell_u64(from.time)};
	return 1;
}

static const struct pm_column trace_columns[] = {
	PM_COLUMN(struct sample, time, "time"),
	PM_COLUMN(struct sample, node, "cct_id"),
	PM_COLUMN_IF(struct sample, metric, "metric_id", has_metric),
};

struct pm_table hpcrun_raw_trace_header(struct hpcrun_folder *folder, uint32_t thread)
{
	static const struct pm_sheet sheet =
		PM_SHEET(NULL, header_columns, header_record, OF_A_TRACE);
	return pm_sheet_table(&sheet, folder, thread);
}

struct pm_table hpcrun_raw_trace(struct hpcrun_folder *folder, uint32_t thread, uint64_t n)
{
	static const struct pm_sheet sheet =
		PM_SHEET(NULL, trace_columns, trace_record, OF_A_TRACE, .dense = true);
	struct pm_table table = pm_sheet_table(&sheet, folder, thread);
	table.end = n;
	return table;
}
