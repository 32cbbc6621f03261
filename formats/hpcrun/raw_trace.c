/* Raw tables of a trace, read from its file by cursors as those of profiles are. */
#include <stdlib.h>

#include "formats/common/text.h"
#include "formats/hpcrun/raw.h"

struct raw {
	struct hpcrun_folder *folder;
	struct pm_input in;
	struct hpcrun_trace trace;
	struct pm_bytes records;
};

static void raw_done(struct pm_rows *rows)
{
	struct raw *raw = rows->own;
	hpcrun_file_close(raw->folder, &raw->in);
	free(raw);
}

/* A file that is no trace has tables without rows; damage.csv says why. */
static int raw_start(struct pm_rows *rows, struct pm_error *err)
{
	struct hpcrun_report silent = {.file = NULL};
	struct raw *raw = calloc(1, sizeof(*raw));
	if (!raw)
		return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory");
	raw->folder = (struct hpcrun_folder *)(uintptr_t)rows->table->self;
	rows->own = raw;
	const struct hpcrun_file *file = &raw->folder->sources[rows->table->a].trace;
	int r = hpcrun_file_open(raw->folder, file, &raw->in, err);
	if (r == 0)
		hpcrun_file_use(&raw->in, 0, raw->in.bytes.len);
	if (r == 0 && hpcrun_trace_read(&raw->trace, raw->in.bytes, &silent, NULL) == 0)
		raw->records = hpcrun_trace_records(&raw->trace, raw->in.bytes);
	return r;
}

static int header_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	static const char *const keys[] = {"magic", "flags", "records", "leftover_bytes"};
	(void)err;
	const struct raw *raw = rows->own;
	const struct hpcrun_trace *trace = &raw->trace;
	uint64_t at = rows->at++;
	if (at >= sizeof(keys) / sizeof(keys[0]) || trace->size == 0)
		return 0;
	cells[0] = pm_cell_str(keys[at]);
	switch (at) {
	case 0: cells[1] = pm_cell_text(trace->magic); break;
	case 1: cells[1] = trace->has_flags ? pm_cell_hex(trace->flags) : pm_cell_empty(); break;
	case 2: cells[1] = pm_cell_u64(trace->n); break;
	case 3: cells[1] = pm_cell_u64(trace->leftover); break;
	}
	return 1;
}

static int trace_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	(void)err;
	const struct raw *raw = rows->own;
	if (rows->at >= raw->trace.n || raw->records.len == 0)
		return 0;
	struct hpcrun_sample sample;
	hpcrun_trace_decode(&raw->trace, raw->records, rows->at++, &sample);
	cells[0] = raw->trace.is_real ? pm_cell_f64(pm_f64_of_bits(sample.time))
				      : pm_cell_u64(sample.time);
	cells[1] = pm_cell_u64(sample.node);
	cells[2] = raw->trace.flags & 1 ? pm_cell_u64(sample.metric) : pm_cell_empty();
	return 1;
}

struct pm_table hpcrun_raw_trace_header(struct hpcrun_folder *folder, uint32_t thread)
{
	static const char *const columns[] = {"key", "value"};
	static const struct pm_table_type type = {
		.start = raw_start, .next = header_next, .done = raw_done};
	return (struct pm_table){
		.type = &type, .columns = columns, .n_columns = 2, .self = folder, .a = thread};
}

struct pm_table hpcrun_raw_trace(struct hpcrun_folder *folder, uint32_t thread, uint64_t n)
{
	static const char *const columns[] = {"time", "cct_id", "metric_id"};
	static const struct pm_table_type type = {
		.start = raw_start, .next = trace_next, .done = raw_done, .dense = true};
	return (struct pm_table){.type = &type,
		.columns = columns,
		.n_columns = 3,
		.self = folder,
		.a = thread,
		.end = n};
}
