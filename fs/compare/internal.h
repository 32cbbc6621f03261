/* Shared by the files of a comparison: its runs, its columns, and the parts that are built once. */
#ifndef PROFMOUNT_FS_COMPARE_INTERNAL_H
#define PROFMOUNT_FS_COMPARE_INTERNAL_H

#include "formats/common/lazy.h"
#include "fs/compare/compare.h"
#include "fs/compare/match.h"
#include "fs/compare/noise.h"
#include "profmount/document.h"

/* A column of costs or counts, as the tables of the runs have it. */
struct pmfs_cost {
	const char *name;   /* cputime_sec_excl */
	const char *stem;   /* cputime_sec */
	const char *export; /* of the stem, as in exports */
	double export_scale;
	enum pm_role role;
	uint32_t quantity; /* equal for columns with the same stem; 0 for the primary one */
	struct pm_bytes metric, unit;
	bool hidden; /* only an input of derived columns, in all runs: no table shows it */
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
	pm_number *whole; /* by quantity; 0 if it has none */
};

enum pmfs_compare_part {
	PMFS_COMPARE_COSTS,
	PMFS_COMPARE_FUNCTIONS,
	PMFS_COMPARE_LINES,
	PMFS_COMPARE_MODULES,
	PMFS_COMPARE_FILES,
	PMFS_COMPARE_CATEGORIES,
	PMFS_COMPARE_CALLERS,
	PMFS_COMPARE_GPU_COSTS,
	PMFS_COMPARE_GPU,
	PMFS_COMPARE_UNION,
	PMFS_COMPARE_DOCUMENTS,
	PMFS_COMPARE_N_PARTS,
};

/* The columns of a comparison, by quantity: those of the primary one, which is 0, first. */
struct pmfs_costs {
	uint32_t n, n_quantities;
	uint32_t n_shown, n_shown_quantities; /* of them; hidden ones come last */
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
	bool has_lines, has_files, has_modules, has_gpu; /* true for all runs */
	uint32_t n_self;                                 /* runs that have _self columns */
	bool own_costs; /* not all have: exclusive costs of contexts are those, where there are */
	char why[512];  /* error of the last broken run */
	/* By part: the columns of its table. */
	const char *const *columns[PMFS_COMPARE_N_PARTS];
	uint32_t n_columns[PMFS_COMPARE_N_PARTS];
};

struct pmfs_compare {
	struct pm_parts shown;     /* by the profile */
	struct pm_profile profile; /* the profile that is handed out; its `self` is this struct */
	struct pmfs_comparison of;
	struct {
		struct pm_lazy lazy;
		void *built;
		struct pm_arena arena;
	} parts[PMFS_COMPARE_N_PARTS];
	uint64_t bytes; /* atomic: of the parts */
};

/* Makes a part in its arena, as a build of that (formats/common/arena.h). */
typedef void *pmfs_compare_part_fn(struct pm_arena *a, struct pmfs_compare *c,
	enum pmfs_compare_part which, struct pm_error *err);

/* The part, built by the first call, in a pointer at `ret`; NULL after a failure. */
int pmfs_compare_get(struct pmfs_compare *c, enum pmfs_compare_part which,
	pmfs_compare_part_fn *build, void *ret, struct pm_error *err);

static inline struct pmfs_compare *pmfs_compare_of(const void *self)
{
	return (struct pmfs_compare *)(uintptr_t)self;
}

/* ---- costs.c: runs, while they are read, and what is compared of them ---- */

/* The model of a run that is not broken; in use until pmfs_compare_release. */
int pmfs_compare_acquire(struct pmfs_compare *c, const struct pmfs_compared_run *run,
	struct pmfs_model **ret, struct pm_error *err);
void pmfs_compare_release(struct pmfs_compare *c, const struct pmfs_compared_run *run);

/*
 * Computes what the reader of a run will need. Failures are ignored, because they occur again when
 * it is read.
 */
typedef int pmfs_prepare_fn(void *self, struct pmfs_model *m, struct pm_error *err);

int pmfs_compare_costs(struct pmfs_compare *c, const struct pmfs_costs **ret, struct pm_error *err);

/*
 * gpu.c: the columns of gpu.csv as costs, of the same runs. Others that all tables share are empty:
 * lines, modules, exports.
 */
int pmfs_compare_gpu_costs(
	struct pmfs_compare *c, const struct pmfs_costs **ret, struct pm_error *err);

/* A run's gpu.csv; ret->type is NULL if it has none. */
int pmfs_compare_gpu_table(struct pmfs_model *m, struct pm_table *ret, struct pm_error *err);

/* The columns of a table of these costs, in a build. */
void pmfs_compare_header(
	struct pm_arena *a, struct pmfs_costs *costs, enum pmfs_compare_part which);

/* The first column of a quantity that there is, for its name and unit. O(log n). */
const struct pmfs_cost *pmfs_quantity_cost(const struct pmfs_costs *costs, uint32_t quantity);

/* Whether the side has a total of the quantity. It may have one of its columns and not another. */
bool pmfs_quantity_has(const struct pmfs_costs *costs, uint32_t quantity, enum pmfs_side side);

/* Whether the quantity has costs on some side, and on each side in all repetitions or in none. */
bool pmfs_quantity_is_shown(const struct pmfs_costs *costs, uint32_t quantity);

/* A value of the run as shown in tables: the value itself, or its share of the run's total. */
pm_number pmfs_compare_value(const struct pmfs_costs *costs, const struct pmfs_compared_run *run,
	uint32_t cost, pm_number value);

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

/*
 * ---- join.c ----
 *
 * Two lists of runs, joined row by row: the cost of a row on each side, whether a difference is
 * noise, and the order of rows. The caller defines what a row is.
 */

/* The rows of all runs as they are read, by keys: the caller's items, of `size` bytes each. */
struct pmfs_keyed {
	struct pm_arena *arena;
	const struct pmfs_costs *costs;
	struct pmfs_run_rows *runs; /* by run */
	struct pm_map known;        /* what tells keys apart → key */
	void *keys;
	size_t size, n, room;
};

/* A row, as it is shown. */
struct pmfs_joined_row {
	struct pm_bytes text[3];     /* as many as the table has columns for them */
	uint32_t line[PMFS_N_SIDES]; /* 0: unknown */
	uint8_t sides;
	uint8_t matched; /* enum pmfs_matched */
};

struct pmfs_joined {
	const struct pmfs_costs *costs;
	uint32_t n;
	struct pmfs_joined_row *rows;
	pm_number *mean[PMFS_N_SIDES];    /* costs->n per row, of the repetitions; NaN: none */
	pm_number *squares[PMFS_N_SIDES]; /* see struct pmfs_sample; NULL without repetitions */
	pm_number *p, *q;                 /* of `own`; NaN: not tested */
	uint32_t own; /* the cost in question: costs->own, or another of its unit if rows lack it */
	uint32_t *order; /* largest difference of that cost first */
	uint32_t n_tested, n_changed;
	struct pmfs_match match; /* of the texts */
	uint32_t **of;           /* of functions, by run and its identity: a spelling */
	uint32_t *n_of;
	uint32_t *row_of;   /* of functions: by row of the match; PM_NONE: it has no costs */
	pm_number **own_of; /* by run: the kept cost by row; NULL for each if none is kept */
	uint32_t kept;      /* the cost, or PM_NONE */
};

void pmfs_keyed_init(
	struct pmfs_keyed *k, struct pm_arena *a, const struct pmfs_costs *costs, size_t size);

/*
 * Adds a row of a run, which has `cells` in its own columns. The same `known` is the same key; a
 * new one is a copy of `key`.
 */
void pmfs_keyed_add(struct pmfs_keyed *k, uint32_t run, uint64_t known, const void *key,
	const pm_number *cells);

/* Fills everything except n, rows and match. `of_key` is the row of each key. */
void pmfs_joined_sum(struct pm_arena *a, struct pmfs_joined *j, const struct pmfs_keyed *keyed,
	const uint32_t *of_key);

/* A cell of a row on one side as a sample. */
struct pmfs_sample pmfs_joined_sample(
	const struct pmfs_joined *j, uint32_t row, uint32_t cost, enum pmfs_side side);

/* The difference of a cell; missing values count as 0. */
double pmfs_joined_difference(const struct pmfs_joined *j, uint32_t row, uint32_t cost);

/*
 * Whether the difference is beyond the noise; if there are no tests, whether there is a difference.
 */
bool pmfs_joined_changed(const struct pmfs_joined *j, uint32_t row);

/* Whether two costs differ by more than the order in which they were added up. */
bool pmfs_is_change(double base, double other, double whole);

/* ---- costs.c, too: the columns of costs in all tables of a comparison ---- */

/* A cost on both sides. */
struct pmfs_pair {
	pm_number value[PMFS_N_SIDES];
	double stddev[PMFS_N_SIDES];
};

/* Fills the cells of a cost; returns the cell after them. */
struct pm_cell *pmfs_pair_cells(const struct pmfs_costs *costs, uint32_t cost,
	const struct pmfs_pair *pair, struct pm_cell *cells);

/* value / base: 1 if they are equal, NaN if the result is not finite. */
double pmfs_ratio(double base, double value);

/* ---- flat.c: the tables of a comparison with one row per function, line, module … ---- */

/*
 * The data by which runs are joined, filled run by run, in a build. What is read of a run fails it
 * by pm_build_check.
 */
typedef void pmfs_read_run_fn(void *self, uint32_t run, struct pmfs_model *m, struct pm_error *err);

/* How runs are read: `read` for each in turn, after `prepare`, which may be NULL, for two at once.
 */
struct pmfs_reader {
	pmfs_prepare_fn *prepare;
	pmfs_read_run_fn *read;
};

/* Reads each run that can be opened; it is only open while it is read. In a build. */
void pmfs_compare_read(struct pm_arena *a, struct pmfs_compare *c, const struct pmfs_costs *costs,
	struct pmfs_reader reader, void *self, struct pm_error *err);

/* ---- flat.c: rows of runs that are joined by the names of functions, modules … ---- */

/* The rows of functions.csv, with the match of functions for all tables; see pmfs_joined_get. */
int pmfs_functions_get(
	struct pmfs_compare *c, const struct pmfs_joined **ret, struct pm_error *err);

struct pmfs_calls;

/* Prepares for what a run compiled (pmfs_match_evals), unless names are matched as they are. */
void pmfs_compare_evals(
	struct pmfs_match *m, struct pmfs_model *run, bool exact, struct pm_error *err);

/* Fails a build: a run was closed and has changed since. */
_Noreturn void pmfs_compare_changed(struct pm_arena *a, struct pm_error *err);

/* ---- flat.c: modules, files, categories, callers or operations of GPUs ---- */

/* The place of a column of a run's table, or PM_NONE. */
uint32_t pmfs_table_column(const struct pm_table *table, const char *name);

void pmfs_flat_join(struct pm_arena *a, struct pmfs_compare *c, enum pmfs_compare_part which,
	struct pmfs_joined *j, struct pm_error *err);

/* ---- lines.c ---- */

void pmfs_lines_join(
	struct pm_arena *a, struct pmfs_compare *c, struct pmfs_joined *j, struct pm_error *err);

/* ---- tables.c ---- */

/* The rows of a table, computed on the first call; owned by the comparison. */
int pmfs_joined_get(struct pmfs_compare *c, enum pmfs_compare_part which,
	const struct pmfs_joined **ret, struct pm_error *err);

/* Any of the tables above. */
struct pm_table pmfs_joined_table(struct pmfs_compare *c, enum pmfs_compare_part which);

/* names.csv: the names that functions.csv has joined. */
struct pm_table pmfs_joined_names_table(struct pmfs_compare *c);

/* metrics.csv: the total of each quantity. */
struct pm_table pmfs_totals_table(struct pmfs_compare *c);

/* ---- summary.c: summary.txt of a comparison: one screen of what changed ---- */

/*
 * summary.txt, and functions.txt, a hundred of its functions. As pm_doc.text.render;
 * doc->text.self is the comparison.
 */
int pmfs_compare_summary_render(
	const struct pm_doc *doc, struct pm_text *out, struct pm_error *err);

int pmfs_compare_functions_render(
	const struct pm_doc *doc, struct pm_text *out, struct pm_error *err);

/* ---- pictures.c ---- */

struct pm_text;

/* As pm_doc.text.render; doc->text.self is the comparison, .a the quantity. */
int pmfs_compare_folded_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err);
int pmfs_compare_pprof_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err);

/*
 * ---- pictures.c ----
 *
 * Differential flame graphs: widths from one run, colours by difference.
 */

struct pm_text;

/*
 * As pm_doc.text.render; doc->text.self is the comparison. The SVG has the leading quantity, with
 * widths of the other run; gone.svg has those of the baseline; the page has every quantity with
 * both.
 */
int pmfs_compare_flame_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err);
int pmfs_compare_gone_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err);
int pmfs_compare_page_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err);

/* ---- costs.c: derived columns ---- */

/*
 * Fills the cells of the derived columns, behind those of all costs. `mean` has the means of the
 * row, costs->n a side; NULL: those of the whole. Returns the cell after them.
 */
struct pm_cell *pmfs_compared_derived_cells(const struct pmfs_costs *costs,
	const pm_number *const mean[PMFS_N_SIDES], struct pm_cell *cells);
enum { PMFS_DERIVED_CELLS = 4 }; /* of each: baseline, other side, difference, ratio */

#endif
