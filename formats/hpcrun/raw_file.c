#include "formats/hpcrun/raw_file.h"

#include <stdlib.h>

#include "formats/hpcrun/dialect.h"
#include "profmount/table.h"

/* 0 with the whole file in raw->in, or a negative errno. */
static int open_file(struct pm_rows *rows, bool is_trace, struct pm_error *err)
{
	struct hpcrun_raw *raw = calloc(1, sizeof(*raw));
	if (!raw)
		return pm_error_plain(err, -ENOMEM);
	raw->folder = (struct hpcrun_folder *)(uintptr_t)rows->table->self;
	rows->own = raw;
	const struct hpcrun_source *source = &raw->folder->sources[rows->table->a];
	int r = hpcrun_file_open(
		raw->folder, is_trace ? &source->trace : &source->profile, &raw->in, err);
	if (r == 0)
		hpcrun_file_use(&raw->in, 0, raw->in.bytes.len);
	return r;
}

int hpcrun_raw_profile_start(struct pm_rows *rows, struct pm_error *err)
{
	struct hpcrun_report silent = {.file = NULL};
	struct pm_error why = {.code = 0};
	int r = open_file(rows, false, err);
	if (r < 0)
		return r;
	struct hpcrun_raw *raw = rows->own;
	r = hpcrun_profile_read(&raw->profile, raw->in.bytes, HPCRUN_ALL, &silent, &why);
	if (r == -ENOMEM)
		return pm_error_set(err, r, raw->in.name, PM_NO_OFFSET, "no memory");
	raw->values = hpcrun_values_from(&raw->profile, rows->at);
	return 0;
}

int hpcrun_raw_trace_start(struct pm_rows *rows, struct pm_error *err)
{
	struct hpcrun_report silent = {.file = NULL};
	int r = open_file(rows, true, err);
	if (r < 0)
		return r;
	struct hpcrun_raw *raw = rows->own;
	if (hpcrun_trace_read(&raw->trace, raw->in.bytes, &silent, NULL) == 0)
		raw->records = hpcrun_trace_records(&raw->trace, raw->in.bytes);
	return 0;
}

void hpcrun_raw_done(struct pm_rows *rows)
{
	struct hpcrun_raw *raw = rows->own;
	hpcrun_profile_done(&raw->profile);
	hpcrun_file_close(raw->folder, &raw->in);
	free(raw);
}
