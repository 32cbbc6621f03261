/* Shared by the files of fs/runs/. */
#ifndef PROFMOUNT_FS_RUNS_INTERNAL_H
#define PROFMOUNT_FS_RUNS_INTERNAL_H

#include "formats/common/lazy.h"
#include "formats/common/map.h"
#include "fs/compare/compare.h"
#include "fs/runs/ensemble.h"

/* Names of directories, legal and unique, by the index of what they stand for. */
struct pmfs_folders {
	const char **names;
	struct pm_strtab numbers; /* name → number */
};

struct pmfs_ensemble {
	struct pm_profile profile;
	struct pmfs_ensemble_options options;
	struct pmfs_runs runs;                 /* of another ensemble, if it is a filter of that */
	const struct pmfs_ensemble *filter_of; /* or NULL */
	struct pmfs_filter_what filters[PMFS_MOST_FILTERS];
	struct pmfs_shelf *shelf;
	struct pm_lazy
		settled;   /* what depends on the baseline, which is chosen when it is needed */
	const char *title; /* of the profile */
	uint32_t base;     /* the baseline's group */
	uint32_t *others;  /* the other groups; runs.n_groups - 1 of them */
	uint32_t *numbers; /* 0, 1, 2 …: the runs of a group as a list */
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

/* ---- item.c: a run as an item's profile ---- */

int pmfs_run_profile(
	const struct pmfs_ensemble *e, uint32_t run, struct pm_profile **ret, struct pm_error *err);

/* ---- facts.c: what runs.csv says of each run ---- */

/* The total of a quantity. */
struct pmfs_whole {
	uint32_t quantity; /* of pmfs_facts.quantities */
	double value;
};

struct pmfs_run_facts {
	bool is_sampled;             /* with time on processors and a known duration */
	bool broken;                 /* it cannot be opened or read: only `error` is known */
	const char *error;           /* why, as a line; NULL unless broken */
	bool has_modules, has_files; /* of functions */
	uint32_t busy;               /* threads with costs; 0: the format has no threads */
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
	struct pmfs_run_facts *of;            /* by run */
	struct pm_strtab quantities, columns; /* names, in the order of the runs */
	struct pm_arena arena;
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

/* Fills in the headers once all names are known; 0 or -ENOMEM. */
int pmfs_headers_make(struct pmfs_facts *facts);

struct pm_table pmfs_runs_table(const struct pmfs_ensemble *e);
struct pm_table pmfs_all_functions_table(const struct pmfs_ensemble *e);
struct pm_table pmfs_all_damage_table(const struct pmfs_ensemble *e);

/* Why runs are broken: the rows of the damage.csv of one run, or of two groups. */
struct pm_table pmfs_run_errors_table(const struct pmfs_ensemble *e, uint32_t run);
struct pm_table pmfs_pair_errors_table(const struct pmfs_ensemble *e, uint32_t other);

/* The damage of all runs as rows of --check. */
int pmfs_ensemble_damage(
	const struct pm_profile *p, const struct pm_damages **ret, struct pm_error *err);

#endif
