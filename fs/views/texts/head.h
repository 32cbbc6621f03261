/* The head of summary.txt. */
#ifndef PROFMOUNT_FS_VIEWS_TEXTS_HEAD_H
#define PROFMOUNT_FS_VIEWS_TEXTS_HEAD_H

#include "formats/common/text.h"
#include "fs/views/sums/counts.h"

/*
 * The source and the run; of sampled threads, what part of their time they were busy; the totals of
 * quantities, the shares of kinds of work, the part that has no names, and what a reader must know.
 */
int pmfs_add_head(struct pm_text *out, struct pmfs_model *m, const struct pmfs_counts *counts,
	struct pm_error *err);

/* The part of it about code without names; nothing if all of it has. */
int pmfs_add_missing(struct pm_text *out, struct pmfs_model *m, struct pm_error *err);

/* `3 threads` or `1 thread` with a separator before it; nothing if it is unknown. */
void pmfs_add_count(struct pm_text *out, uint64_t n, const char *one);

/* A line `key      value`, cut; nothing if the value is empty. */
void pmfs_add_cut_line(struct pm_text *out, const char *key, struct pm_bytes value);

#endif
