/*
 * The rules by which the name and the module of a function determine its category. They are data
 * (categoryrules.c) and are listed in docs/namespace.md.
 */
#ifndef PROFMOUNT_FS_VIEWS_MODEL_CATEGORYRULES_H
#define PROFMOUNT_FS_VIEWS_MODEL_CATEGORYRULES_H

#include "formats/common/map.h"
#include "fs/views/model/categories.h"

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

/* Caches the rules of long names, which many functions may share. Zeroed = empty. */
struct pmfs_rules_found {
	struct pm_strtab names;
	struct pm_map rules; /* name << 32 | text of the module → index of the rule */
};

/*
 * The same for a name of the tree and one of its texts, remembered if the name is long. If out of
 * memory, it is not remembered.
 */
const struct pmfs_rule *pmfs_rule_in_tree(struct pmfs_rules_found *found,
	const struct pm_tree *tree, struct pm_bytes name, uint32_t module);

void pmfs_rules_found_done(struct pmfs_rules_found *found);

#endif
