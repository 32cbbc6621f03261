/* The uniform model of a source: tree, costs, call edges, lines. */
#ifndef PROFMOUNT_FORMATS_NYTPROF_BUILT_H
#define PROFMOUNT_FORMATS_NYTPROF_BUILT_H

#include "formats/common/costs.h"
#include "formats/nytprof/metrics.h"
#include "formats/nytprof/threads.h"

/* Values are rows of NYTP_N_METRICS cells, NaN = none. */
struct nytp_model {
	struct pm_tree *tree;
	uint32_t *function_of; /* of the tree, by name; NYTP_NONE: none */
	double *run;           /* by context */
	double *functions;     /* by function */
	struct pm_costs costs;
	struct pm_edge *edges;
	double *edge_values;
	struct pm_edges edge_list;
	struct pm_line *lines;
	double *line_values;
	struct pm_lines line_list;
	struct pm_eval *evals, *joined;
	struct pm_evals eval_list;
	struct pm_statements statements;
	struct pm_flat flat;   /* refers to the above */
	bool times_statements; /* some function has statements with a time */
	/* Differences between callers and the calls of the tree. */
	struct {
		uint32_t subs; /* which count other calls */
		uint32_t name; /* the function with the largest difference */
		uint64_t name_in_tree, name_in_callers;
		double tree_ns, callers_ns; /* total exclusive time */
	} differ;
	double *thread_totals; /* by thread: inclusive time if the tree is made of edges, else NaN
				*/
};

#endif
