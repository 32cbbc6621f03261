/*
 * The call graph for callgrind.out.M and callgraph.dot: functions by name, file and module, their
 * costs by line, and the costs of their calls. In whole export units.
 */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_CALLGRAPH_H
#define PROFMOUNT_FS_VIEWS_SUMS_CALLGRAPH_H

#include "formats/common/map.h"
#include "fs/views/sums/stacks.h"

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
	struct pm_arena arena; /* of everything */
};

/*
 * The graph of a metric (any column of it) for the whole run (thread PM_NONE) or one thread. The
 * caller frees `ret`; a failure leaves nothing allocated. O(n log n) in contexts.
 */
int pmfs_graph_make(struct pmfs_model *m, uint32_t column, uint32_t thread, struct pmfs_graph *ret,
	struct pm_error *err);

/* Accepts a zeroed one. */
void pmfs_graph_done(struct pmfs_graph *g);

static inline struct pm_bytes pmfs_graph_text(const struct pmfs_graph *g, uint32_t text)
{
	return g->texts.items[text];
}

#endif
