/* Names of metric columns: see columnnames.c. */
#ifndef PROFMOUNT_FS_VIEWS_MODEL_COLUMNNAMES_H
#define PROFMOUNT_FS_VIEWS_MODEL_COLUMNNAMES_H

#include "formats/common/map.h"
#include "fs/views/model/model.h"

enum { PMFS_N_ROLES = PM_ROLE_OTHER }; /* number of roles that have columns */

/* Data of each group while names are made. */
struct pmfs_column_naming {
	const struct pm_metrics *metrics;
	uint32_t n_groups;
	uint32_t *first;      /* group → its first metric */
	uint8_t *roles;       /* group → bits of the roles that its metrics have */
	const char **base;    /* group → name without _incl, _excl */
	const char **exports; /* group → name in exports, NULL before its first column */
	uint32_t *numbers;    /* slug → how many groups have it */
	struct pm_strtab slugs;
	struct pm_strtab bases;
	struct pm_strtab taken; /* every column, and every fixed column of a table */
	struct pm_strtab taken_exports;
	struct pm_text text;
	struct pm_arena *arena; /* of the final names */
	struct pm_arena scratch;
};

/* `metrics` and `arena` outlive it; the arena gets the names. */
void pmfs_naming_init(
	struct pmfs_column_naming *n, const struct pm_metrics *metrics, struct pm_arena *arena);
void pmfs_naming_done(struct pmfs_column_naming *n);

/* Gives each group a name. 0 or -ENOMEM. */
int pmfs_naming_groups(struct pmfs_column_naming *n);

/*
 * The column of a metric: `tree`, `flat` and `pair` are not set. pmfs_naming_groups was called
 * before. 0 or -ENOMEM.
 */
int pmfs_naming_column(
	struct pmfs_column_naming *n, const struct pm_metric *metric, struct pmfs_column *ret);

/* ---- derived.c ---- */

/* Fills c->derived: those of the source and those of -o derive that can be computed. 0 or -ENOMEM.
 */
int pmfs_derive(const struct pm_metrics *metrics, const struct pmfs_definitions *d,
	struct pm_arena *arena, struct pmfs_columns *c);

#endif
