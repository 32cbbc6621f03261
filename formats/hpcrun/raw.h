/* The files' own tables, uninterpreted: raw/ of a thread (docs/namespace.md §7). */
#ifndef PROFMOUNT_FORMATS_HPCRUN_RAW_H
#define PROFMOUNT_FORMATS_HPCRUN_RAW_H

#include "formats/hpcrun/folder.h"
#include "formats/hpcrun/who.h"

/* Like pm_profile_ops.thread_document. Opens nothing; the tables open their file when read. */
int hpcrun_raw_document(struct hpcrun_folder *folder, const struct hpcrun_who *who, uint32_t thread,
	uint32_t k, struct pm_named_doc *ret);

/* raw/files.csv of the root (raw_files.c): the files of the source. */
struct hpcrun_file_list {
	struct hpcrun_folder *folder;
	/* Called when the table is read. */
	int (*who)(void *context, const struct hpcrun_who **ret, struct pm_error *err);
	void *context;
};

struct pm_named_doc hpcrun_raw_files(const struct hpcrun_file_list *list);

/* Of a trace (raw_trace.c): header and samples. */
struct pm_table hpcrun_raw_trace_header(struct hpcrun_folder *folder, uint32_t thread);
struct pm_table hpcrun_raw_trace(struct hpcrun_folder *folder, uint32_t thread, uint64_t n);

#endif
