/*
 * The kind of work of a context: waiting in MPI, allocating memory, input and output … Tables show
 * categories by name.
 */
#ifndef PROFMOUNT_FS_VIEWS_MODEL_CATEGORIES_H
#define PROFMOUNT_FS_VIEWS_MODEL_CATEGORIES_H

#include "formats/common/map.h"
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

/* enum pmfs_category by context; owned by the model. One pass over the tree on the first call. */
int pmfs_categories(struct pmfs_model *m, const uint8_t **ret, struct pm_error *err);

/* The text in the column `category`: idle, mpi … or empty. */
struct pm_bytes pmfs_category_name(enum pmfs_category category);

/* Is it time in which a thread waits, or may do so? */
static inline bool pmfs_is_waiting(enum pmfs_category category)
{
	return category == PMFS_MPI || category == PMFS_OPENMP || category == PMFS_THREAD ||
		category == PMFS_IDLE;
}

/* The category of a trace row: idle if nothing is running, empty for an unknown context. */
static inline enum pmfs_category pmfs_category_of(
	const uint8_t *categories, uint32_t context, uint64_t number)
{
	if (context != PM_NONE)
		return (enum pmfs_category)categories[context];
	return number == 0 ? PMFS_IDLE : PMFS_PROGRAM;
}

/*
 * ---- rules ----
 *
 * By which the name and the module of a function determine its category. They are data, and are
 * listed in docs/namespace.md.
 */

/* The property tested by a rule. */
enum pmfs_rule_of {
	PMFS_RULE_IS,     /* the whole function name */
	PMFS_RULE_BEGINS, /* how it begins */
	PMFS_RULE_CAMEL,  /* prefix followed by a capital letter: cuLaunchKernel */
	PMFS_RULE_HOLDS,  /* a part of it, as stored */
	PMFS_RULE_CORE,   /* a word of Perl: CORE:print */
	PMFS_RULE_MODULE, /* prefix of the load module's file name */
	PMFS_RULE_SUFFIX, /* how it ends */
};

/*
 * The first rule that matches a function determines its category. Rules for system functions do not
 * apply below a library with a category of its own: a lock within MPI_Wait is mpi.
 */
struct pmfs_rule {
	enum pmfs_category category;
	bool is_system;
	enum pmfs_rule_of of;
	const char *const *words; /* ends with NULL; any of them matches */
};

extern const struct pmfs_rule pmfs_rules[];
extern const size_t pmfs_n_rules;

/* The rule that matches a function, or NULL. `name` as stored; any module. */
const struct pmfs_rule *pmfs_rule_of_function(struct pm_bytes name, struct pm_bytes module);

/* Remembers the rules of long names, which many functions may share. In a build. */
struct pmfs_rules_found {
	struct pm_strtab names;
	struct pm_map rules; /* name << 32 | text of the module → index of the rule */
};

/* The same for a name of the tree and one of its texts, remembered if the name is long. */
const struct pmfs_rule *pmfs_rule_in_tree(struct pmfs_rules_found *found,
	const struct pm_tree *tree, struct pm_bytes name, uint32_t module);

#endif
