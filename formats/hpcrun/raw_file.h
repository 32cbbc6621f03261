/*
 * The file of a raw table. It is open only while a cursor reads it, since there can be thousands of
 * files.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_RAW_FILE_H
#define PROFMOUNT_FORMATS_HPCRUN_RAW_FILE_H

#include "formats/hpcrun/folder.h"
#include "formats/hpcrun/stream.h"
#include "formats/hpcrun/trace.h"

/* rows->own of a table whose `self` is the folder and `a` the thread. */
struct hpcrun_raw {
	struct hpcrun_folder *folder;
	struct pm_input in;
	struct hpcrun_profile profile; /* of a profile's tables … */
	struct hpcrun_values values;   /* … from rows->at on, for the table of values */
	struct hpcrun_trace trace;     /* of a trace's */
	struct pm_bytes records;
};

/* Like pm_table_type.start. An unreadable file has no rows; damage.csv has the reason. */
int hpcrun_raw_profile_start(struct pm_rows *rows, struct pm_error *err);
int hpcrun_raw_trace_start(struct pm_rows *rows, struct pm_error *err);

/* Like pm_table_type.done. */
void hpcrun_raw_done(struct pm_rows *rows);

#endif
