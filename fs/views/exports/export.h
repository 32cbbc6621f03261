/* Shared by exports: the thread whose costs a document contains, and names. */
#ifndef PROFMOUNT_FS_VIEWS_EXPORTS_EXPORT_H
#define PROFMOUNT_FS_VIEWS_EXPORTS_EXPORT_H

#include "formats/common/map.h"
#include "fs/views/model/model.h"
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

/* Appends a title on one line: the run's title or source, and the thread, if any. */
void pmfs_export_title(const struct pmfs_writing *w, uint32_t thread, struct pm_text *out);

/* Appends a note if stacks have more levels than are written (pmfs_stacks_cut). */
void pmfs_export_levels(uint32_t levels, struct pm_text *out);

/*
 * Fails if a document of this many bytes would be too long: deep trees have gigabytes of paths, and
 * exports that write all paths can compute the length in advance.
 */
void pmfs_export_check_length(const struct pmfs_writing *w, uint64_t bytes);

/* rank=0/thread=1: a thread's directory below threads/. The model's. */
const char *pmfs_export_thread_name(const struct pmfs_writing *w, uint32_t thread);

/*
 * ---- export_folded.c, export_pprof.c ----
 *
 * Files of stacks for viewers, of one run or of two. Two stacks have one tree and one column,
 * and the same frames: only their costs differ. `before` is of the run that is compared with,
 * or NULL.
 */

/* Folded stacks: `path cost`, or `path before cost`. */
void pmfs_folded_write(const struct pmfs_writing *w, const struct pmfs_stacks *before,
	const struct pmfs_stacks *stacks);

struct pmfs_pprof_about {
	struct pm_bytes comment;
	const char *unit;
	uint64_t time_ns;     /* since the epoch */
	uint64_t duration_ns; /* of the run; 0 = unknown */
};

/* profile.proto of pprof, gzipped: costs, or differences, which may be negative. */
void pmfs_pprof_write(const struct pmfs_writing *w, const struct pmfs_stacks *before,
	const struct pmfs_stacks *stacks, const struct pmfs_pprof_about *about);

/*
 * ---- callgraph.c ----
 *
 * The call graph for callgrind.out.M and callgraph.dot: functions by name, file and module, their
 * costs by line, and the costs of their calls. In whole export units.
 */

struct pmfs_graph_function {
	uint32_t name, file, module; /* into texts, on one line each; 0 is the empty text */
	uint32_t line;               /* of the definition; 0 = unknown */
	uint64_t self;
	uint64_t total; /* of the outermost frames */
};

/*
 * A function's exclusive cost at a line, or the cost of its calls of another function from that
 * line.
 */
struct pmfs_graph_cost {
	uint32_t function;
	uint32_t callee; /* PM_NONE: exclusive cost */
	uint32_t line;   /* in the function's file; 0 = unknown */
	uint64_t units;  /* of calls: only those that are not inside another call of this edge */
	uint64_t calls;
};

struct pmfs_graph {
	uint32_t n_functions; /* in the order of the tree */
	struct pmfs_graph_function *functions;
	size_t n_costs;
	struct pmfs_graph_cost
		*costs; /* by function (exclusive costs first), callee, line; unique */
	uint64_t total; /* sum of all exclusive costs */
	const struct pmfs_column *column;
	struct pm_strtab texts;
};

/*
 * The graph of a metric (any column of it) for the whole run (thread PM_NONE) or one thread.
 * O(n log n) in contexts.
 */
struct pmfs_graph *pmfs_graph_make(const struct pmfs_writing *w, uint32_t column, uint32_t thread);

static inline struct pm_bytes pmfs_graph_text(const struct pmfs_graph *g, uint32_t text)
{
	return g->texts.items[text];
}

/* ---- slices.c: traces as nested slices of time, for timeline viewers ---- */

/* A frame that was on a thread's stack from start to end. Times are relative to the time origin. */
struct pmfs_slice {
	uint64_t start_ns, end_ns; /* equal for calls without duration */
	uint64_t seq;              /* of a call: see struct pm_sample */
	uint32_t thread;
	uint32_t frame; /* of the tree */
	uint32_t depth; /* frames above it */
	uint32_t lane;  /* slices with the same thread and lane nest; 0 unless calls overlap */
};

struct pmfs_slices {
	size_t n;
	struct pmfs_slice *slices; /* by thread; by start, outer slices first */
	uint32_t max_depth;        /* frames deeper than that are left out; PM_NONE: none are */
	uint64_t n_left_out;       /* number of other slices left out */
};

/*
 * The slices of a thread, or of all threads (PM_NONE): at most PM_LIMIT_TRACE_SLICES, those of the
 * topmost frames if there are more. Reads the traces twice.
 */
struct pmfs_slices *pmfs_slices_make(const struct pmfs_writing *w, uint32_t thread);

enum { PMFS_MAX_LANES = 64 /* of a thread; calls for which there is none are left out */ };

#endif
