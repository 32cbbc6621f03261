/* raw/: the tables of one file, as stored. */
#ifndef PROFMOUNT_FORMATS_NYTPROF_RAW_H
#define PROFMOUNT_FORMATS_NYTPROF_RAW_H

#include "formats/nytprof/native.h"

/* The documents of one file. */
struct nytp_docs {
	struct pm_named_doc *docs;
	size_t n;
};

/*
 * Documents of a file of `n`, which need not be filled yet; made in `arena`. `blocks`: times of
 * blocks are recorded, or may be. -ENOMEM.
 */
int nytp_tables_make(struct pm_arena *arena, struct nytp *n, const struct nytp_file *f, bool blocks,
	struct nytp_docs *ret);

/*
 * The processes of all files in one table, at the root of sources with several files. The table
 * shows `all`, which nytp_processes_fill fills after the files have been read.
 */
int nytp_processes_make(struct pm_arena *arena, struct nytp *n, const struct nytp_file *all,
	struct pm_named_doc *ret);
int nytp_processes_fill(struct nytp *n, struct nytp_file *all);

#endif
