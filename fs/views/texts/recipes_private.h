/* Shared by the files that make the commands of recipes.txt. */
#ifndef PROFMOUNT_FS_VIEWS_TEXTS_RECIPES_PRIVATE_H
#define PROFMOUNT_FS_VIEWS_TEXTS_RECIPES_PRIVATE_H

#include "fs/views/sums/functions.h"
#include "fs/views/sums/totals.h"

/* What the commands are made of. PM_NONE: there is no such thing here. */
struct pmfs_recipes {
	struct pmfs_model *model;
	const struct pm_profile *profile;
	const struct pmfs_functions *functions;
	const struct pmfs_columns *columns;
	const struct pm_threads *threads;
	struct pm_text *out;
	const struct pmfs_totals *totals;
	uint32_t context; /* the deepest of the hot path */
	bool has_loss[2]; /* some work, some waiting is spread unevenly */
};

static inline void pmfs_ask(const struct pmfs_recipes *c, const char *question)
{
	pm_text_printf(c->out, "  %s\n", question);
}

/* Whether there are exclusive costs, which are then in $3 of functions.tsv. */
static inline bool pmfs_recipes_have_cost(const struct pmfs_recipes *c)
{
	return c->columns->first_excl != PM_NONE && c->functions->n > 0 &&
		pmfs_function_cell(c->functions, 0, c->columns->first_excl) > 0;
}

/* The most expensive threads, and imbalance, if several threads have costs. */
void pmfs_add_thread_recipes(const struct pmfs_recipes *c);

/* Costs of functions by thread or rank, in SQL. */
void pmfs_add_sql_recipe(const struct pmfs_recipes *c);

/* The first idle thread, and the utilisation of GPUs; reads the beginnings of traces. */
int pmfs_add_trace_recipes(const struct pmfs_recipes *c, struct pm_error *err);

/* The longest iterations. */
int pmfs_add_iteration_recipes(const struct pmfs_recipes *c, struct pm_error *err);

#endif
