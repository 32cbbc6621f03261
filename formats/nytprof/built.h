/* The uniform model of a source: tree, costs, call edges, lines. */
#ifndef PROFMOUNT_FORMATS_NYTPROF_BUILT_H
#define PROFMOUNT_FORMATS_NYTPROF_BUILT_H

#include "formats/common/costs.h"
#include "formats/nytprof/metrics.h"
#include "formats/nytprof/threads.h"

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

#endif
