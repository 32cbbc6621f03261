/* What exports share: whose costs a document holds, and what things are called in it. */
#ifndef PROFMOUNT_FS_VIEWS_EXPORTS_EXPORT_H
#define PROFMOUNT_FS_VIEWS_EXPORTS_EXPORT_H

#include "fs/views/model/parts.h"
#include "fs/views/model/views.h"

#define PMFS_EXPORTER "profmount@" PMFS_VERSION

/* Whose costs a document of an export has: a thread, or PM_NONE for the whole run. */
static inline uint32_t pmfs_export_thread(const struct pm_doc *doc)
{
	return doc->text.c == PMFS_OF_THREAD ? (uint32_t)doc->text.a : PM_NONE;
}

static inline uint32_t pmfs_export_column(const struct pm_doc *doc)
{
	return (uint32_t)doc->text.b;
}

/* Is there anything to measure by? For views that are there once, not for each metric. */
int pmfs_export_has_metrics(struct pmfs_model *m, uint32_t item, struct pm_error *err);

/* The column of a view that exists once: the inclusive one if there is one. */
uint32_t pmfs_export_main_column(const struct pmfs_columns *c);

/* In what exports count: nanoseconds, bytes, or `other`. */
const char *pmfs_export_unit(const struct pmfs_column *c, const char *other);

/* What was measured, on one line: the run's title or its source, and the thread if it is one. */
int pmfs_export_title(
	struct pmfs_model *m, uint32_t thread, struct pm_text *out, struct pm_error *err);

/* Where stacks have more levels than are written (pmfs_stacks_cut), says so. */
void pmfs_export_levels(uint32_t levels, struct pm_text *out);

/*
 * Refuses a document of that many bytes where it would be too long: deep trees have gigabytes of
 * paths, and who writes them all out can know before.
 */
int pmfs_export_check_length(uint64_t bytes, struct pm_error *err);

/* rank=0/thread=1: a thread's directory below threads/. The model's. */
int pmfs_export_thread_name(
	struct pmfs_model *m, uint32_t thread, const char **ret, struct pm_error *err);

#endif
