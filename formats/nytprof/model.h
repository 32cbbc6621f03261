/* The uniform model of a source: tree, costs, call edges, lines. Built whole, on first need. */
#ifndef PROFMOUNT_FORMATS_NYTPROF_MODEL_H
#define PROFMOUNT_FORMATS_NYTPROF_MODEL_H

#include "formats/common/costs.h"
#include "formats/nytprof/threads.h"

/* Index and metric_id at once. Times are in ns. */
enum nytp_metric {
	NYTP_INCL,
	NYTP_EXCL,
	NYTP_CALLS,
	NYTP_STATEMENTS,
	NYTP_STATEMENTS_NS, /* by line, and so by function; subs' own time is measured apart */
	NYTP_N_METRICS,
};

extern const struct pm_metrics nytp_metrics;
extern const struct pm_metrics nytp_metrics_untimed; /* where no statement's time is known */

/* Values are rows of NYTP_N_METRICS cells, NaN = none. */
struct nytp_model {
	struct pm_tree *tree;
	double *run;       /* by context */
	double *functions; /* by function */
	struct pm_costs costs;
	struct pm_edge *edges;
	double *edge_values;
	struct pm_edges edge_list;
	struct pm_line *lines;
	double *line_values;
	struct pm_lines line_list;
	struct pm_statements statements;
	bool times_statements; /* some function has statements with a time */
	/* How callers differ from the calls of the tree. */
	struct {
		uint32_t subs; /* which count other calls */
		uint32_t name; /* the one of which they differ most */
		uint64_t name_in_tree, name_in_callers;
		double tree_ns, callers_ns; /* own time of all */
	} differ;
	double *thread_totals; /* by thread: inclusive time where the tree is of edges, else NaN */
};

/* Are there sub returns to build the calling-context tree from? Else it is made of edges. */
bool nytp_has_calls(const struct nytp *n);

/* -ENOMEM. Give back with nytp_model_done, also after a failure. */
int nytp_model_build(struct nytp_model *m, const struct nytp *n, const struct nytp_threads *threads,
	struct pm_error *err);

void nytp_model_done(struct nytp_model *m);

#endif
