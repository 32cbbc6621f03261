/*
 * What kind of work a context is: waiting in MPI, allocating memory, input and output … The rules
 * are data (categoryrules.c) and listed in docs/namespace.md; the tables show a category by name.
 */
#ifndef PROFMOUNT_FS_VIEWS_MODEL_CATEGORIES_H
#define PROFMOUNT_FS_VIEWS_MODEL_CATEGORIES_H

#include "fs/views/model/model.h"

enum pmfs_category {
	PMFS_PROGRAM, /* the program's own code: an empty field */
	PMFS_IDLE,
	PMFS_MPI,
	PMFS_OPENMP,
	PMFS_GPU,
	PMFS_THREAD,
	PMFS_IO,
	PMFS_MEMORY,
	PMFS_GC,
	PMFS_SQL,
	PMFS_NET,
	PMFS_N_CATEGORIES,
};

/* What a rule looks at. */
enum pmfs_rule_of {
	PMFS_RULE_IS,     /* the function's name, whole */
	PMFS_RULE_BEGINS, /* how it begins */
	PMFS_RULE_CAMEL,  /* how it begins, before a capital letter: cuLaunchKernel */
	PMFS_RULE_HOLDS,  /* a part of it, as stored */
	PMFS_RULE_CORE,   /* a word of Perl: CORE:print */
	PMFS_RULE_MODULE, /* how the name of the load module's file begins */
	PMFS_RULE_SUFFIX, /* how it ends */
};

/*
 * The first rule that matches a function says its category. Those of the system below all
 * libraries do not hold below one that has a category of its own: a lock within MPI_Wait is mpi.
 */
struct pmfs_rule {
	enum pmfs_category category;
	bool is_system;
	enum pmfs_rule_of of;
	const char *const *words; /* ends with NULL; any of them matches */
};

extern const struct pmfs_rule pmfs_rules[];
extern const size_t pmfs_n_rules;

/* The rule that says what a function is, or NULL. `name` as it is stored, of any module. */
const struct pmfs_rule *pmfs_rule_of_function(struct pm_bytes name, struct pm_bytes module);

/* By context: enum pmfs_category. The model's. One pass over the tree on the first call. */
int pmfs_categories(struct pmfs_model *m, const uint8_t **ret, struct pm_error *err);

/* As the column `category` has it: idle, mpi … or nothing. */
struct pm_bytes pmfs_category_name(enum pmfs_category category);

/* Of a row of a trace: nothing that runs is idle, an unknown context nothing. */
static inline enum pmfs_category pmfs_category_of(
	const uint8_t *categories, uint32_t context, uint64_t number)
{
	if (context != PM_NONE)
		return (enum pmfs_category)categories[context];
	return number == 0 ? PMFS_IDLE : PMFS_PROGRAM;
}

#endif
