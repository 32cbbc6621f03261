/* Shared by the files of a comparison: its runs, its columns, and the parts that are built once. */
#ifndef PROFMOUNT_FS_COMPARE_INTERNAL_H
#define PROFMOUNT_FS_COMPARE_INTERNAL_H

#include "formats/common/lazy.h"
#include "fs/compare/compare.h"
#include "fs/compare/match.h"
#include "fs/compare/noise.h"

/* A column of costs or counts, as the tables of the runs have it. */
struct pmfs_cost {
	const char *name;   /* cputime_sec_excl */
	const char *stem;   /* cputime_sec */
	const char *export; /* of the stem, as in exports */
	double export_scale;
	enum pm_role role;
	uint32_t quantity; /* equal for columns with the same stem; 0 for the primary one */
	struct pm_bytes metric, unit;
	uint32_t n_having[PMFS_N_SIDES]; /* runs */
	bool has[PMFS_N_SIDES];          /* each run of the side has it, so there is a mean */
};

/* A derived column, as the tables of the runs have it; its leaves are costs. */
struct pmfs_compared_derived {
	const char *name, *base; /* ipc_excl, ipc */
	struct pm_formula formula;
};

/* In a leaf: it is a derived column, an earlier one. */
#define PMFS_LEAF_DERIVED 0x80000000u

struct pmfs_compared_run {
	uint32_t number; /* index for the lender */
	enum pmfs_side side;
	bool broken;    /* cannot be opened, and is left out */
	uint32_t *cost; /* by column of its model: index of the cost */
	uint32_t n_columns;
	double *whole; /* by quantity; 0 if it has none */
};

enum pmfs_compare_part {
	PMFS_COMPARE_COSTS,
	PMFS_COMPARE_FUNCTIONS,
	PMFS_COMPARE_LINES,
	PMFS_COMPARE_MODULES,
	PMFS_COMPARE_FILES,
	PMFS_COMPARE_CATEGORIES,
	PMFS_COMPARE_CALLERS,
	PMFS_COMPARE_UNION,
	PMFS_COMPARE_DOCUMENTS,
	PMFS_COMPARE_N_PARTS,
};

/* The columns of a comparison, by quantity: those of the primary one, which is 0, first. */
struct pmfs_costs {
	uint32_t n, n_quantities;
	struct pmfs_cost *costs;
	uint32_t n_derived; /* none if tables have shares, which formulas are not of */
	struct pmfs_compared_derived *derived;
	uint32_t own;   /* exclusive cost or count of the primary quantity, or PM_NONE */
	bool in_common; /* both sides have some column in common */
	bool shares;    /* tables have shares of the total, not values */
	uint32_t n_runs;
	struct pmfs_compared_run *runs;          /* runs, those of the baseline first */
	uint32_t n_good[PMFS_N_SIDES];           /* number of repetitions that can be opened */
	struct pmfs_sample *whole[PMFS_N_SIDES]; /* by quantity */
	bool has_lines, has_modules;             /* true for all runs */
	uint32_t n_self;                         /* runs that have _self columns */
	bool own_costs; /* not all have: exclusive costs of contexts are those, where there are */
	char why[512];  /* error of the last broken run */
	/* By part: the columns of its table. */
	const char *const *columns[PMFS_COMPARE_N_PARTS];
	uint32_t n_columns[PMFS_COMPARE_N_PARTS];
	struct pm_arena arena;
};

struct pmfs_compare {
	struct pm_profile profile; /* the profile that is handed out; its `self` is this struct */
	struct pmfs_comparison of;
	struct {
		struct pm_lazy lazy;
		void *built;
		void (*free)(void *part);
	} parts[PMFS_COMPARE_N_PARTS];
	uint64_t bytes; /* atomic: of the parts */
};

struct pmfs_compare_part_type {
	/* `*ret_bytes` is its size. On failure nothing is left allocated. */
	int (*build)(struct pmfs_compare *c, enum pmfs_compare_part which, void **ret,
		uint64_t *ret_bytes, struct pm_error *err);
	void (*free)(void *part);
};

/* The part, built by the first call, in a pointer at `ret`; NULL after a failure. */
int pmfs_compare_get(struct pmfs_compare *c, enum pmfs_compare_part which,
	const struct pmfs_compare_part_type *type, void *ret, struct pm_error *err);

static inline struct pmfs_compare *pmfs_compare_of(const void *self)
{
	return (struct pmfs_compare *)(uintptr_t)self;
}

static inline int pmfs_compare_no_memory(struct pm_error *err)
{
	return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory");
}

/* ---- borrow.c ---- */

/* The model of a run that is not broken; in use until pmfs_compare_release. */
int pmfs_compare_acquire(struct pmfs_compare *c, const struct pmfs_compared_run *run,
	struct pmfs_model **ret, struct pm_error *err);
void pmfs_compare_release(struct pmfs_compare *c, const struct pmfs_compared_run *run);

/*
 * Computes what the reader of a run will need. Failures are ignored, because they occur again when
 * it is read.
 */
typedef int pmfs_prepare_fn(void *self, struct pmfs_model *m, struct pm_error *err);

/*
 * Two runs that are about to be read one after the other: prepared on two processors, and in use
 * until they are returned. Other fields are zeroed.
 */
struct pmfs_borrowed {
	struct pmfs_compare *compare;
	pmfs_prepare_fn *prepare;
	void *self;
	const struct pmfs_compared_run *runs[2]; /* NULL: none */
	bool held[2];
};

/* The second run may be NULL. */
void pmfs_borrow(struct pmfs_borrowed *two, const struct pmfs_compared_run *first,
	const struct pmfs_compared_run *second);

/* May be called twice. */
void pmfs_return(struct pmfs_borrowed *two);

/* ---- costs.c ---- */

int pmfs_compare_costs(struct pmfs_compare *c, const struct pmfs_costs **ret, struct pm_error *err);

/* The first column of a quantity that there is, for its name and unit. O(log n). */
const struct pmfs_cost *pmfs_quantity_cost(const struct pmfs_costs *costs, uint32_t quantity);

/* Whether the side has a total of the quantity. It may have one of its columns and not another. */
bool pmfs_quantity_has(const struct pmfs_costs *costs, uint32_t quantity, enum pmfs_side side);

/* A value of the run as shown in tables: the value itself, or its share of the run's total. */
double pmfs_compare_value(const struct pmfs_costs *costs, const struct pmfs_compared_run *run,
	uint32_t cost, double value);

/* Some side has repetitions, so tables have deviations. */
static inline bool pmfs_compare_repeated(const struct pmfs_costs *k)
{
	return k->n_good[PMFS_BASE] > 1 || k->n_good[PMFS_OTHER] > 1;
}

/* Both sides have repetitions, so there are tests. */
static inline bool pmfs_compare_tested(const struct pmfs_costs *k)
{
	return k->n_good[PMFS_BASE] > 1 && k->n_good[PMFS_OTHER] > 1;
}

/* The name of a side in tables: `base`, or the exact name. */
static inline struct pm_bytes pmfs_compare_side(const struct pmfs_compare *c, uint8_t sides)
{
	if (sides == 1u << PMFS_BASE)
		return pm_bytes_of("base");
	return pm_bytes_of(sides == 1u << PMFS_OTHER ? c->of.name : "");
}

#endif
