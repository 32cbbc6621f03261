/*
 * Format interface: flat costs stored by the format; otherwise views derive them from the contexts.
 */
#ifndef PROFMOUNT_SEAM_FLAT_H
#define PROFMOUNT_SEAM_FLAT_H

#include "profmount/tree.h"

/* A call edge: caller → callee at one place. Values: see pm_edges. */
struct pm_edge {
	uint32_t caller; /* function index, or PM_NONE */
	uint32_t callee;
	uint32_t file; /* text; of the call site */
	uint32_t line; /* 0 = unknown */
	uint64_t calls;
};

struct pm_edges {
	uint64_t n;
	const struct pm_edge *edges;
	const pm_number *values; /* n rows of pm_metrics.n cells, metric order; NaN = none */
};

struct pm_line {
	uint32_t file; /* text */
	uint32_t line;
	uint32_t function; /* index of the enclosing function, or PM_NONE */
};

struct pm_lines {
	uint64_t n;
	const struct pm_line *lines;
	const pm_number *values; /* as in pm_edges */
};

/*
 * Time measured by a line profiler, statement by statement: independent of the time of calls, and
 * including code outside functions. It has a metric of its own, with values for lines, functions
 * and threads; contexts have none.
 */
struct pm_statements {
	uint32_t metric;   /* index */
	double whole_ns;   /* of all threads */
	double outside_ns; /* part of it in code outside functions (main code); NAN: not known */
};

/*
 * Functions that call one another in circles, where only call edges are known: the inclusive cost
 * of a member is not, only that of all of them together, which is the cost of a function
 * `<cycle N>`.
 */
struct pm_cycles {
	uint32_t n;                /* heaviest first */
	const uint32_t *functions; /* n functions `<cycle N>` */
	const uint32_t *first;     /* n + 1 places in `members` */
	const uint32_t *members;   /* functions */
};

/* A text that a line compiled while the program ran: a file with lines of its own. */
struct pm_eval {
	uint32_t file, line; /* where; file: text */
	uint32_t text;       /* name of the compiled text as a file */
	uint32_t texts;      /* that share this name: different ones, or not known; usually 1 */
	uint32_t digits;     /* of the text's checksum, as names of several have them; 0: unknown */
	uint64_t n;          /* how often; 0: before the measurement of any process */
};

struct pm_evals {
	uint64_t n;
	const struct pm_eval *evals; /* by file, line, text; none twice */
	uint64_t n_joined;
	const struct pm_eval *joined; /* those with several texts, by text */
};

/* What the format stores; NULL: not stored. */
struct pm_flat {
	const struct pm_edges *edges;
	const struct pm_lines *lines;
	const pm_number *functions; /* n_functions rows of pm_metrics.n cells, NaN = none */
	const struct pm_statements *statements; /* if time is also measured by statement */
	const struct pm_evals *evals;
	const struct pm_cycles *cycles;
};

#endif
