/* Shared by exports: the thread whose costs a document contains, and names. */
#ifndef PROFMOUNT_FS_VIEWS_EXPORTS_EXPORT_H
#define PROFMOUNT_FS_VIEWS_EXPORTS_EXPORT_H

#include "fs/views/model/parts.h"
#include "fs/views/model/views.h"
#include "fs/views/sums/stacks.h"

#define PMFS_EXPORTER "profmount@" PMFS_VERSION

/* The thread whose costs an export contains, or PM_NONE for the whole run. */
static inline uint32_t pmfs_export_thread(const struct pm_doc *doc)
{
	return doc->text.c == PMFS_OF_THREAD ? (uint32_t)doc->text.a : PM_NONE;
}

static inline uint32_t pmfs_export_column(const struct pm_doc *doc)
{
	return (uint32_t)doc->text.b;
}

/* Whether there is a metric to use. For views that exist once rather than for each metric. */
int pmfs_export_has_metrics(struct pmfs_model *m, uint32_t item, struct pm_error *err);

/* The column of a view that exists once: the inclusive one if there is one. */
uint32_t pmfs_export_main_column(const struct pmfs_columns *c);

/* The unit of an export: nanoseconds, bytes, or `other`. */
const char *pmfs_export_unit(const struct pmfs_column *c, const char *other);

/* A title on one line: the run's title or source, and the thread, if any. */
int pmfs_export_title(
	struct pmfs_model *m, uint32_t thread, struct pm_text *out, struct pm_error *err);

/* Appends a note if stacks have more levels than are written (pmfs_stacks_cut). */
void pmfs_export_levels(uint32_t levels, struct pm_text *out);

/*
 * Fails if a document of this many bytes would be too long: deep trees have gigabytes of paths, and
 * exports that write all paths can compute the length in advance.
 */
int pmfs_export_check_length(uint64_t bytes, struct pm_error *err);

/* rank=0/thread=1: a thread's directory below threads/. The model's. */
int pmfs_export_thread_name(
	struct pmfs_model *m, uint32_t thread, const char **ret, struct pm_error *err);

/*
 * ---- export_folded.c, export_pprof.c ----
 *
 * Files of stacks for viewers, of one run or of two. Two stacks have one tree and one column,
 * and the same frames: only their costs differ. `before` is of the run that is compared with,
 * or NULL.
 */

/* Folded stacks: `path cost`, or `path before cost`. */
int pmfs_folded_write(const struct pmfs_stacks *before, const struct pmfs_stacks *stacks,
	struct pm_text *out, struct pm_error *err);

struct pmfs_pprof_about {
	struct pm_bytes comment;
	const char *unit;
	uint64_t time_ns;     /* since the epoch */
	uint64_t duration_ns; /* of the run; 0 = unknown */
};

/* profile.proto of pprof, gzipped: costs, or differences, which may be negative. */
int pmfs_pprof_write(const struct pmfs_stacks *before, const struct pmfs_stacks *stacks,
	const struct pmfs_pprof_about *about, struct pm_text *out, struct pm_error *err);

#endif
