/* Shared by the files of fs/runs/. */
#ifndef PROFMOUNT_FS_RUNS_RUNS_H
#define PROFMOUNT_FS_RUNS_RUNS_H

#include "formats/common/lazy.h"
#include "formats/common/map.h"
#include "formats/common/text.h"
#include "fs/compare/compare.h"
#include "fs/runs/ensemble.h"
#include "fs/runs/words.h"
#include "profmount/document.h"

/* Names of directories, legal and unique, by the index of what they stand for. */
struct pmfs_folders {
	const char **names;
	struct pm_strtab numbers; /* name → number */
};

struct pmfs_ensemble {
	struct pm_profile profile;
	struct pm_parts shown; /* by the profile */
	struct pmfs_ensemble_options options;
	struct pmfs_runs runs;                 /* of another ensemble, if it is a filter of that */
	const struct pmfs_ensemble *filter_of; /* or NULL */
	struct pmfs_filter_what filters[PMFS_MOST_FILTERS];
	struct pmfs_shelf *shelf;
	struct pm_lazy
		settled;   /* what depends on the baseline, which is chosen when it is needed */
	const char *title; /* of the profile */
	struct pm_bytes *names;                /* of the groups */
	uint32_t base;                         /* the baseline's group */
	uint32_t *others;                      /* the other groups; runs.n_groups - 1 of them */
	uint32_t *numbers;                     /* 0, 1, 2 …: the runs of a group as a list */
	struct pmfs_folders runs_of, compared; /* by group; by index in `others` */
	struct pm_arena arena;
	struct pm_collection *collections;
	uint32_t n_collections, n_documents;
	struct pm_named_doc documents[16];
	struct pm_part parts[5]; /* enum pmfs_ensemble_part */
};

enum pmfs_ensemble_part {
	PMFS_ENSEMBLE_FACTS,
	PMFS_ENSEMBLE_MATRIX,
	PMFS_ENSEMBLE_SCALING,
	PMFS_ENSEMBLE_DAMAGE,
	PMFS_ENSEMBLE_EFFICIENCY,
};

static inline struct pmfs_ensemble *pmfs_ensemble_of(const void *self)
{
	return (struct pmfs_ensemble *)(uintptr_t)self;
}

static inline int pmfs_ensemble_no_memory(struct pm_error *err)
{
	return pm_error_plain(err, -ENOMEM);
}

/* Appends the path of a run's directory from the root: runs/run=NAME/repetition=K. */
void pmfs_run_path(const struct pmfs_ensemble *e, uint32_t run, struct pm_text *out);

/*
 * The comparison with others[i], of values or of shares; with nothing if there is no other name.
 * `of_runs`: see struct pmfs_comparison. The caller frees it.
 */
int pmfs_ensemble_compare(const struct pmfs_ensemble *e, uint32_t other, bool normalize,
	const char *of_runs, struct pm_profile **ret, struct pm_error *err);

/* ---- collections.c ---- */

int pmfs_ensemble_collections(struct pmfs_ensemble *e);

/* ---- documents.c ---- */

void pmfs_ensemble_list_documents(struct pmfs_ensemble *e);

/* ---- facts.c: what runs.csv says of each run ---- */

/* The total of a quantity. */
struct pmfs_whole {
	uint32_t quantity; /* of pmfs_facts.quantities */
	double value;
};

struct pmfs_run_facts {
	bool is_sampled;   /* with time on processors and a known duration */
	bool broken;       /* it cannot be opened or read: only `error` is known */
	const char *error; /* why, as a line; NULL unless broken */
	bool is_unmatched; /* it is a filter, whose pattern matches nothing */
	uint32_t busy;     /* threads with costs; 0: the format has no threads */
	uint32_t contexts, n_totals, n_columns;
	uint32_t threads;     /* PM_NONE: not known to the format */
	uint64_t duration_ns; /* PM_NO_TIME */
	uint64_t time_ns;     /* of the measurement; 0: not recorded */
	const char *format;
	const char *host, *command; /* or NULL */
	const struct pmfs_whole *totals;
	const uint32_t *columns; /* of its tables: indexes into pmfs_facts.columns */
	uint32_t lead;           /* the primary quantity, or PM_NONE */
	const char *lead_export; /* of the primary quantity, as in struct pmfs_column */
	double lead_scale;
};

struct pmfs_facts {
	struct pmfs_run_facts *of;                           /* by run */
	struct pm_strtab quantities, columns;                /* names, in the order of the runs */
	const char *const *header, *const *functions_header; /* of runs.csv, of functions.csv */
	uint32_t n_header, n_functions_header;
};

/* Opens every run on the first call. */
int pmfs_facts(const struct pmfs_ensemble *e, const struct pmfs_facts **ret, struct pm_error *err);

/* ---- tables ---- */

/*
 * Column names of a table: `before`, then every name of `middle`, then `after`; the lists end with
 * NULL.
 */
const char *const *pmfs_header_of(struct pm_arena *arena, const char *const *before,
	const struct pm_strtab *middle, const char *const *after, uint32_t *ret_n);

struct pm_table pmfs_runs_table(const struct pmfs_ensemble *e);
struct pm_table pmfs_all_functions_table(const struct pmfs_ensemble *e);
struct pm_table pmfs_all_damage_table(const struct pmfs_ensemble *e);

/* Why runs are broken: the rows of the damage.csv of one run, or of two groups. */
struct pm_table pmfs_run_errors_table(const struct pmfs_ensemble *e, uint32_t run);
struct pm_table pmfs_pair_errors_table(const struct pmfs_ensemble *e, uint32_t other);

/* Builds pm_parts.damage: that of all runs, for --check. */
int pmfs_ensemble_damage(void *self, struct pm_error *err);

/*
 * ---- shelf.c ----
 *
 * The runs of an ensemble, opened when they are needed. Runs in use stay open, and so do the
 * most recently used ones within the cache's limit.
 */

struct pmfs_shelf;

/* The runs, and what the options point to, must outlive it. NULL if out of memory. */
struct pmfs_shelf *pmfs_shelf_new(
	const struct pmfs_runs *runs, const struct pmfs_shelf_options *options);

/* No run may be in use. Accepts NULL. */
void pmfs_shelf_free(struct pmfs_shelf *s);

/*
 * An open run, in use until it is released: see struct pmfs_lender. Opening is not retried after a
 * failure: `err` is the same each time.
 */
int pmfs_shelf_acquire(
	struct pmfs_shelf *s, uint32_t run, struct pmfs_model **ret, struct pm_error *err);
void pmfs_shelf_release(struct pmfs_shelf *s, uint32_t run);

/* No run that was opened has the quantity of options.metric. */
bool pmfs_shelf_lacks_metric(const struct pmfs_shelf *s);

/* No run that was opened has a column of that definition of options.derived. */
bool pmfs_shelf_lacks_derived(const struct pmfs_shelf *s, uint32_t definition);

/* Why the run could not be opened; NULL if it can be opened, or if that has not been tried. */
const struct pm_error *pmfs_shelf_error(struct pmfs_shelf *s, uint32_t run);

/* The bytes for which an open run counts in the cache. */
uint64_t pmfs_shelf_bytes(const struct pmfs_shelf *s, const struct pm_profile *p);

/* What all runs count that are open, or kept. */
uint64_t pmfs_shelf_memory(struct pmfs_shelf *s);

/* The same as a lender; lives as long as the shelf. */
struct pmfs_lender pmfs_shelf_lender(struct pmfs_shelf *s);

/* ---- facts.c: the quantity by which runs are compared at the root ---- */

/* The primary quantity of the baseline, else of the first run that has one; PM_NONE. */
uint32_t pmfs_lead(const struct pmfs_ensemble *e, const struct pmfs_facts *facts);

/* The total of a quantity; NaN if the run lacks it. */
double pmfs_whole_of(const struct pmfs_run_facts *f, uint32_t quantity);

/* The quantity as a column, with the unit that it has where it is a run's primary quantity. */
struct pmfs_column pmfs_lead_column(
	const struct pmfs_ensemble *e, const struct pmfs_facts *facts, uint32_t quantity);

/* ---- facts.c: a name, its threads and duration, and the cost that more threads should have ----
 */

/* Means over the runs of a name that can be opened and have the primary quantity. */
struct pmfs_group_facts {
	double whole;       /* of the primary quantity; NaN: none has it */
	double threads;     /* with costs; 0: unknown */
	double duration_ns; /* NaN: unknown of some run */
	uint32_t n;         /* runs */
};

struct pmfs_group_facts pmfs_group_facts(
	const struct pmfs_ensemble *e, const struct pmfs_facts *facts, uint32_t group);

/* Runs that have the primary quantity differ in their number of threads. */
bool pmfs_threads_differ(const struct pmfs_ensemble *e, const struct pmfs_facts *facts);

/*
 * The factor by which a cost of the baseline would grow in the group without any loss; false if the
 * threads of either are unknown.
 */
bool pmfs_loss_factor(const struct pmfs_ensemble *e, const struct pmfs_group_facts *base,
	const struct pmfs_group_facts *group, double *ret);

/*
 * ---- matrix.c ----
 *
 * The cost of each function in each run, in the primary quantity: for the tables that show all
 * runs side by side. Functions are matched as in compare/: what any comparison has in one row
 * is one function here.
 */

/* The name of the primary quantity of the ensemble, in the arena; NULL if it has none. */
int pmfs_lead_name(const struct pmfs_ensemble *e, struct pm_arena *arena, const char **ret,
	struct pm_error *err);

/* ---- Tables that show runs side by side: one column or one row per run ---- */

struct pm_table pmfs_wide_table(const struct pmfs_ensemble *e);
struct pm_table pmfs_noise_table(const struct pmfs_ensemble *e);

struct pm_table pmfs_scaling_table(const struct pmfs_ensemble *e);
struct pm_table pmfs_scaling_contexts_table(const struct pmfs_ensemble *e);

struct pm_table pmfs_efficiencies_table(const struct pmfs_ensemble *e);

/* The functions with the largest losses in a group, as lines: at most `most`. */
int pmfs_scaling_lines(const struct pmfs_ensemble *e, uint32_t group, unsigned most,
	const struct pmfs_column *column, struct pm_text *out, struct pm_error *err);

/* 1 if a run has sampled time on processors and several threads, else 0. */
int pmfs_has_efficiencies(const struct pmfs_ensemble *e, struct pm_error *err);

/* Runs that are opened to find out whether there are tables about threads. */
enum { PMFS_MOST_OPENED = 200 };

/*
 * 1 if runs differ in their number of threads, else 0. If very many runs would have to be opened to
 * find out, 1: the tables may then be empty.
 */
int pmfs_scales(const struct pmfs_ensemble *e, struct pm_error *err);

/* functions.txt at the root; doc->text.self is the ensemble. */
int pmfs_ensemble_functions(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err);

#endif
