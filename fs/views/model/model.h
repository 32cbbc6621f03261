/*
 * A profile together with results that several views need, computed once: metric columns, names of
 * contexts, flat sums. Views access the profile through this and are independent of formats. All
 * functions are thread-safe; returned pointers are valid as long as the model.
 */
#ifndef PROFMOUNT_FS_VIEWS_MODEL_MODEL_H
#define PROFMOUNT_FS_VIEWS_MODEL_MODEL_H

#include <math.h>

#include "formats/common/arena.h"
#include "formats/common/formula.h"
#include "formats/common/tap.h"
#include "formats/common/text.h"
#include "profmount/limits.h"
#include "profmount/profile.h"

/* A metric column: a number that a context, function or thread can have. */
struct pmfs_column {
	const char *name;    /* cputime_sec_incl, calls */
	const char *base;    /* cputime_sec: without _incl, _excl */
	const char *export;  /* cputime_ns: the base in exports, where times are in ns */
	double export_scale; /* value × scale = the integer in exports */
	enum pm_role role;
	bool decreases; /* some costs are negative: differences, of which pictures and folded
			   stacks show the increases */
	bool fractions; /* folded stacks show them, too */
	bool hidden;    /* only an input of derived columns: no table shows it */
	bool minor;     /* of struct pm_metric */
	uint32_t group; /* of struct pm_metric */
	uint32_t pair;  /* the group's inclusive column for an exclusive one and vice versa, or
			   PM_NONE */
	const struct pm_metric *tree; /* metric with its values in tables of contexts */
	const struct pm_metric *flat; /* in flat tables, callers and exports */
};

/*
 * A column of contexts.csv and profile.csv alone: cputime_sec_self, what a context costs without
 * anything below it. It is stored for some contexts (struct pm_metric); of the others it is the
 * cost of their function without that of what is nested in them.
 */
struct pmfs_self_column {
	const char *name;
	uint32_t metric; /* id */
	uint32_t own;    /* the column of exclusive cost in flat tables */
};

/* A metric of -o derive. */
struct pmfs_definition {
	struct pm_bytes name, text;
	struct pm_formula formula; /* over stems of columns and names of earlier definitions */
};

/* What -o derive and -o metrics=all ask for beyond the columns of a profile. */
struct pmfs_definitions {
	bool all_metrics; /* those that are only inputs of derived metrics have columns, too */
	uint32_t n;
	struct pmfs_definition items[PM_LIMIT_DERIVED];
};

/*
 * A column whose cells are computed, where a row is rendered, from the other cells of the row:
 * ipc_excl from those of own costs and counts, ipc_incl from those of inclusive costs and counts.
 */
struct pmfs_derived {
	const char *name;     /* ipc_excl */
	const char *base;     /* ipc */
	struct pm_bytes text; /* ipc = papi_tot_ins/papi_tot_cyc */
	struct pm_bytes unit; /* as the source says, or empty */
	enum pm_role role;
	bool is_sum;   /* quantities with constant factors: what it is of parts adds up */
	bool is_count; /* it is one of counts */
	struct pm_formula formula; /* leaves: columns; from columns->n on: earlier derived ones */
};

/*
 * The columns of the primary quantity come first, then the others in database order; for each
 * quantity, exclusive before inclusive cost.
 */
struct pmfs_columns {
	uint32_t n;
	uint32_t n_shown; /* of them; hidden ones come last */
	const struct pmfs_column *columns;
	const char *lead;    /* the primary quantity: cputime_sec; NULL: none */
	uint32_t first_incl; /* its inclusive column, or PM_NONE */
	uint32_t first_excl; /* the column of its exclusive cost or count, or PM_NONE */
	bool has_counts;     /* some are plain counts */
	uint32_t calls;      /* the count column named `calls`, or PM_NONE */
	uint32_t n_self;
	const struct pmfs_self_column *self; /* in the order of the quantities */
	uint32_t n_derived;
	const struct pmfs_derived *derived;   /* behind those in tables */
	const struct pmfs_metric_slot *slots; /* see pmfs_column_of */
	uint32_t n_slots;
};

/*
 * Whether the column represents its metric in export/, which has one file per metric: the inclusive
 * column, or the only one.
 */
static inline bool pmfs_column_is_first(const struct pmfs_column *c)
{
	return !c->hidden && (c->role != PM_ROLE_EXCLUSIVE || c->pair == PM_NONE);
}

/*
 * The column of the inclusive cost of the primary quantity, or if there is none, of its exclusive
 * cost.
 */
static inline uint32_t pmfs_leading_column(const struct pmfs_columns *c)
{
	return c->first_incl != PM_NONE ? c->first_incl : c->first_excl;
}

struct pmfs_model;

/* `profile` outlives the model. NULL if out of memory. Opens and computes nothing. */
struct pmfs_model *pmfs_model_new(const struct pm_profile *profile);

/*
 * Makes the model part of `outer`, so that pictures have the same colours. `outer` outlives the
 * model. Call before any other function.
 */
void pmfs_model_set_outer(struct pmfs_model *m, struct pmfs_model *outer);

/* The model that it was made part of, or NULL. */
struct pmfs_model *pmfs_model_outer(const struct pmfs_model *m);

/*
 * The model of the profile that this one is a filter of: contexts with the same numbers have the
 * same categories. It outlives the model. NULL: it is none.
 */
void pmfs_model_set_unfiltered(struct pmfs_model *m, struct pmfs_model *unfiltered);
struct pmfs_model *pmfs_model_unfiltered(const struct pmfs_model *m);

/* The same if it has as many threads, which then are the same ones; else NULL. */
int pmfs_model_whole(struct pmfs_model *m, struct pmfs_model **ret, struct pm_error *err);

/*
 * Sets the primary quantity instead of choosing it by rule: a column (`gker_sec_incl`) or its stem
 * (`gker_sec`). Call before any other function of the model. An unknown name gives -EINVAL, and
 * `err` lists the valid ones.
 */
int pmfs_model_lead_with(struct pmfs_model *m, const char *name, struct pm_error *err);

/* The name that was given there, or NULL. */
const char *pmfs_model_wish(const struct pmfs_model *m);

/* What directories list; profiles within the profile do as it does. */
struct pmfs_listing {
	bool lean; /* -o lean: no directory for each context, function and iteration */
	bool tsv;  /* -o tsv: tables as TSV, which otherwise are found by name only */
};
void pmfs_model_set_listing(struct pmfs_model *m, struct pmfs_listing listing);
struct pmfs_listing pmfs_model_listing(const struct pmfs_model *m);

/*
 * Metrics that are derived: NULL, or outlives the model. Call before any other function. Columns
 * are there as far as all names in a definition are quantities of the profile.
 */
void pmfs_model_set_definitions(struct pmfs_model *m, const struct pmfs_definitions *definitions);
const struct pmfs_definitions *pmfs_model_definitions(const struct pmfs_model *m);

/* -EINVAL if one has no column among these; `err` then says why, and lists the valid names. */
int pmfs_definitions_check(
	const struct pmfs_definitions *all, const struct pmfs_columns *c, struct pm_error *err);

/* The function whose calls are iterations; see sums/iterations.h. NULL: none. Outlives the model.
 */
void pmfs_model_set_iterations(struct pmfs_model *m, const char *name);
const char *pmfs_model_iterations(const struct pmfs_model *m);

/*
 * Sets the receiver of samples read while traces are measured (NULL: none). Call before any other
 * function.
 */
void pmfs_model_set_tap(struct pmfs_model *m, const struct pm_tap *tap);
const struct pm_tap *pmfs_model_tap(const struct pmfs_model *m);

/* Accepts NULL. */
void pmfs_model_free(struct pmfs_model *m);

const struct pm_profile *pmfs_model_profile(const struct pmfs_model *m);

/*
 * Directory names of a context's children: provided by fs/tree, which sets this before any other
 * call. `take` prepares the names of one context's children until `release`; `name` appends the
 * name of a child.
 */
struct pmfs_entries {
	int (*take)(void *self, uint32_t parent, void **ret, struct pm_error *err);
	int (*name)(void *taken, const struct pm_tree *tree, uint32_t child, struct pm_text *out);
	void (*release)(void *self, void *taken);
	void *self;
};

void pmfs_model_set_entries(struct pmfs_model *m, const struct pmfs_entries *entries);

/* NULL before they are set. */
const struct pmfs_entries *pmfs_model_entries(const struct pmfs_model *m);

/*
 * Each fills `*ret` or returns a negative errno. Expensive on the first call only. Siblings in the
 * tree are in the order of the primary quantity, so context indexes may differ from those of the
 * format's tree; context numbers are the same.
 */
int pmfs_model_tree(struct pmfs_model *m, const struct pm_tree **ret, struct pm_error *err);
int pmfs_model_metrics(struct pmfs_model *m, const struct pm_metrics **ret, struct pm_error *err);
int pmfs_model_columns(struct pmfs_model *m, const struct pmfs_columns **ret, struct pm_error *err);

/* The same columns in another order, without one for the primary quantity: no costs are read. */
int pmfs_model_column_names(
	struct pmfs_model *m, const struct pmfs_columns **ret, struct pm_error *err);

/* For formats without threads, `*ret` is an empty list. */
int pmfs_model_threads(struct pmfs_model *m, const struct pm_threads **ret, struct pm_error *err);

/* For formats without flat costs of their own, all fields of `*ret` are NULL. */
int pmfs_model_flat(struct pmfs_model *m, const struct pm_flat **ret, struct pm_error *err);

/*
 * Column names of a table: `before`, then each metric column with every suffix of `suffixes` (only
 * `""` for plain columns), then `after`; each list ends with NULL. `skip` is a column that is left
 * out (PM_NONE: none). The same arguments give the same array.
 */
extern const char *const pmfs_suffixes_with_self[]; /* none, but _self columns follow */
int pmfs_model_header(struct pmfs_model *m, const char *const *before, const char *const *suffixes,
	const char *const *after, uint32_t skip, const char *const **ret, uint32_t *ret_n,
	struct pm_error *err);

/* The column for values of this metric id in context tables (or flat ones), or PM_NONE. */
uint32_t pmfs_column_of(const struct pmfs_columns *c, uint32_t metric_id, bool flat);

/* The index in the profile's own tree of a context of the model's tree. */
int pmfs_own_context(struct pmfs_model *m, uint32_t context, uint32_t *ret, struct pm_error *err);

/* Like run_costs of struct pm_profile_ops, for a context of the model's tree. */
int64_t pmfs_run_values(struct pmfs_model *m, uint32_t context, struct pm_value *ret, size_t room,
	struct pm_error *err);

/* `n` cells without a value, in a build of the arena. */
pm_number *pmfs_cells_new(struct pm_arena *a, size_t n);

/*
 * Values of the whole run at a context (index), by column; NaN = no stored value. `cells` has
 * columns->n items. With `flat`, the values for flat tables and exports.
 */
int pmfs_run_cells(
	struct pmfs_model *m, uint32_t context, bool flat, pm_number *cells, struct pm_error *err);

/*
 * Those that are shown, as cells, which are exact even for integers that do not fit into a double,
 * and the n_derived cells behind them.
 */
int pmfs_run_row(
	struct pmfs_model *m, uint32_t context, struct pm_cell *cells, struct pm_error *err);

/* The same, with those of the n_self columns before the derived ones. */
int pmfs_run_row_with_self(
	struct pmfs_model *m, uint32_t context, struct pm_cell *cells, struct pm_error *err);

/*
 * Like pmfs_run_cells for tables of contexts, but exclusive costs are those of _self columns, where
 * there are such: as they are in formats that have none.
 */
int pmfs_run_self_cells(
	struct pmfs_model *m, uint32_t context, pm_number *cells, struct pm_error *err);

/*
 * Sets a cell of a _self column, which has the stored value or none: `own` is the exclusive cost of
 * the context in flat tables, `nested` that of the contexts nested in it; NaN: none.
 */
void pmfs_set_self(struct pm_cell *cell, pm_number own, pm_number nested);

/* The place of a metric's values in a row of metric columns and _self columns, or PM_NONE. */
uint32_t pmfs_place_of(const struct pmfs_columns *c, uint32_t metric_id);

/* The same in a row that is shown, without the hidden ones, or PM_NONE. */
static inline uint32_t pmfs_shown_place(const struct pmfs_columns *c, uint32_t place)
{
	if (place < c->n_shown || place == PM_NONE)
		return place;
	return place < c->n ? PM_NONE : place - c->n + c->n_shown;
}

/* A stored value, for calculations. */
static inline pm_number pmfs_value_number(const struct pm_value *value)
{
	if (!value->whole)
		return value->f;
	return value->negative ? (pm_number)value->i : (pm_number)value->u;
}

/*
 * Whether what is left of costs, of which others were taken off, is an error of rounding: less than
 * this part of them. Whole numbers have none, where doubles that are none would have fractions.
 */
static inline bool pmfs_is_rounding(pm_number left, pm_number of, double part)
{
	bool exact = left == truncl(left) && fabsl(of) < 0x1p49L;
	return fabsl(left) <= fabsl(of) * part && (left == 0 || !exact);
}

/* A stored value exactly, for values.csv. */
static inline void pmfs_set_value(struct pm_cell *cell, const struct pm_value *value)
{
	if (!value->whole)
		pm_set_f64(cell, value->f);
	else if (value->negative)
		pm_set_i64(cell, value->i);
	else
		pm_set_u64(cell, value->u);
}

/* A cell of a metric column: F64, an integer that a double may not have, or EMPTY for NaN. */
static inline struct pm_cell pmfs_cell(pm_number value)
{
	if (isnan(value))
		return pm_cell_empty();
	struct pm_cell cell = pm_cell_f64((double)value);
	if (value > 0x1p53 && value < 0x1p64 && value == (pm_number)(uint64_t)value)
		pm_set_u64(&cell, (uint64_t)value);
	else if (value < -0x1p53 && value >= -0x1p63 && value == (pm_number)(int64_t)value)
		pm_set_i64(&cell, (int64_t)value);
	return cell;
}

/* The number in a cell, or NaN. */
pm_number pmfs_cell_number(const struct pm_cell *cell);

/* Fills the n_derived cells of a row from the numbers in all of its columns; NaN: none. */
void pmfs_derived_cells(
	const struct pmfs_columns *c, const pm_number *numbers, struct pm_cell *derived);

/*
 * The frame's name as shown in `name` columns (not a legal directory name): its own, or
 * loop@FILE:LINE, FILE:LINE, MODULE+0xOFFSET. A composed name is appended to `scratch`; the slice
 * is valid until scratch changes.
 */
struct pm_bytes pmfs_frame_name(
	const struct pm_tree *tree, const struct pm_frame *frame, struct pm_text *scratch);

/* Whether it is a loop or line: part of the frame above, whose exclusive cost includes it. */
static inline bool pmfs_is_part(const struct pm_tree *tree, uint32_t context)
{
	uint8_t kind = pm_tree_frame(tree, context)->kind;
	return kind == PM_KIND_LOOP || kind == PM_KIND_LINE;
}

/*
 * The name without return type, arguments and everything after them. `void a::b<int>(char) const
 * [libx.so]` gives `a::b<int>`. A part of `name`; all of it if it is not a signature.
 */
struct pm_bytes pmfs_name_bare(struct pm_bytes name);

/*
 * The bare name of the function of which a compiler made this one, and what tells it from others
 * that were made of it: `f`, ` [clone ._omp_fn.0]`, of C `f`, `._omp_fn.0`. Parts of `name`; the
 * mark is empty if it is no such name.
 */
struct pm_bytes pmfs_name_original(struct pm_bytes name, struct pm_bytes *ret_mark);

/*
 * The length of a suffix that compilers give to copies and parts of a function, with its numbers,
 * at a place of a name: `.isra.0`, `.cold`, `.part`. 0 if there is none.
 */
size_t pmfs_name_suffix(struct pm_bytes name, size_t at);

/*
 * The start of the last component of a bare name before `before`: the greatest position below
 * `before` that follows a `::`, `.` or `/` outside brackets; 0 if there is none. For an address,
 * MODULE+0xOFFSET, it is the offset; for a `<placeholder> number`, the number. The file's name of a
 * library is one component.
 */
size_t pmfs_name_component(struct pm_bytes bare, size_t before);

/* entry, function, inlined …; the number of an undefined kind. Valid as above. */
struct pm_bytes pmfs_frame_kind(const struct pm_frame *frame, struct pm_text *scratch);

/* The text after the last `/`: at most PM_LIMIT_BASE_NAME bytes, the end of a longer one. O(1). */
struct pm_bytes pmfs_base_name(struct pm_bytes path);

/* Names of threads: directories and identity columns. */
struct pmfs_thread_names {
	uint32_t n;
	const char *const *paths;  /* of each thread, from the root */
	const char *const *before; /* thread_id, the identity columns, NULL */
};

int pmfs_model_thread_names(
	struct pmfs_model *m, const struct pmfs_thread_names **ret, struct pm_error *err);

/* threads/node=0/rank=3: a thread's directory from the root. Owned by the model. */
int pmfs_thread_path(struct pmfs_model *m, uint32_t thread, const char **ret, struct pm_error *err);

/*
 * The directory of a call, from the root: that of its thread or, in formats without threads, that
 * of its trace, which is appended to `scratch`. `*ret` is valid until `scratch` changes.
 */
int pmfs_call_path(struct pmfs_model *m, uint32_t thread, uint64_t seq, struct pm_text *scratch,
	struct pm_bytes *ret, struct pm_error *err);

#endif
