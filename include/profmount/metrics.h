/* Format interface: metrics, and single values of them. */
#ifndef PROFMOUNT_SEAM_METRICS_H
#define PROFMOUNT_SEAM_METRICS_H

#include "profmount/tree.h"

struct pm_formula;

enum pm_role {
	PM_ROLE_INCLUSIVE, /* inclusive cost of a context: column …_incl */
	PM_ROLE_EXCLUSIVE, /* exclusive cost of a context: column …_excl */
	PM_ROLE_COUNT,     /* a plain count: column without a suffix */
	PM_ROLE_OTHER,     /* has ids and values, but no column */
};

/* One row of metrics.csv: one kind of value that a context can have. */
struct pm_metric {
	uint32_t id;    /* metric_id */
	uint32_t group; /* metrics of one measured quantity share it; grows from 0, no gaps */
	enum pm_role role;
	bool in_tree;         /* fills its column in contexts.csv, profile.csv, imbalance.csv … */
	bool in_flat;         /* fills its column in functions, lines, callers and exports */
	bool has_values;      /* the source stores a value of this group somewhere */
	struct pm_bytes name; /* name of the quantity: CPUTIME (sec) */
	struct pm_bytes unit; /* sec, ns, bytes … or empty */
	struct pm_bytes scope;
	bool decreases; /* some costs are negative: they are differences */
	bool fractions; /* costs are decimals in the source, to be shown as they are */
	bool hidden;    /* only an input of derived metrics: has no column of its own */
	bool minor;     /* its columns follow those of others, if it does not lead */
	/*
	 * With PM_ROLE_OTHER: the cost of a context without anything below it, loops and lines
	 * included: column …_self of contexts.csv and profile.csv, where exclusive costs contain
	 * those.
	 */
	bool is_self;
};

/*
 * A metric that the source defines by a formula (formats/common/formula.h), whose leaves are groups
 * of metrics. It has no values of its own: it is computed from the costs of each row of a table.
 */
struct pm_derived {
	struct pm_bytes name, unit, description;
	const struct pm_formula *own,
		*inclusive; /* over costs of these roles; NULL: there is none */
};

struct pm_metrics {
	uint32_t n;
	const struct pm_metric *metrics; /* database order */
	uint32_t n_derived;
	const struct pm_derived *derived;
	uint32_t leads; /* the group, + 1, that the source says is primary; 0: the rule decides */
};

/* A sequence of values: of one thread, or of one context on all threads. */
struct pm_values_of {
	enum { PM_OF_THREAD, PM_OF_CONTEXT } what;
	uint32_t index; /* of the thread, or of the context in the profile's tree */
	bool stored;    /* exactly as stored, in stored order; else costs, as shown in columns */
};

/* A value of a context, for one thread or for the whole run. */
struct pm_value {
	uint64_t context; /* number; may be one that is not in the tree */
	uint32_t metric;  /* id */
	uint32_t thread;  /* index, see struct pm_threads; PM_NONE for the whole run */
	bool whole;       /* an integer: the value is in u or i, not in f */
	bool negative;    /* if whole: the value is in i */
	union {
		double f;
		uint64_t u; /* an integer, possibly too large for a double */
		int64_t i;
	};
};

#endif
