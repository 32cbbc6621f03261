/*
 * Defines functions, and assigns the exclusive cost of each context to one. Used by all flat
 * tables, call edges and exports, so that each cost is in exactly one row.
 *
 * Functions are those of the source (identical ones are merged), and those that exist only in
 * contexts: addresses of code without symbols, placeholders, and `(unknown)`.
 */
#ifndef PROFMOUNT_FS_VIEWS_MODEL_IDENTITY_H
#define PROFMOUNT_FS_VIEWS_MODEL_IDENTITY_H

#include "fs/views/model/model.h"

struct pmfs_function {
	struct pm_bytes name; /* never empty */
	uint32_t file;        /* text of the tree */
	uint32_t module;      /* text of the tree */
	uint32_t line;        /* of the definition; 0 = unknown */
	uint32_t id;          /* the lowest of the database's own numbers, or PM_NONE */
	uint64_t offset;      /* in the module */
	bool is_address;      /* only the address of the code is known */
};

struct pmfs_identity {
	uint32_t n;
	const struct pmfs_function
		*functions;   /* functions of the tree come first, with the same indexes */
	const uint32_t *same; /* index in the tree → the first identical function */
	const uint32_t *of;   /* by context: see below */
	const struct pm_tree *tree;
	uint32_t unknown; /* the function of entries and all that is in none; PM_NONE: no such */
};

/* Computed on the first call, 4 bytes per context; owned by the model. */
int pmfs_identity(struct pmfs_model *m, const struct pmfs_identity **ret, struct pm_error *err);

/* Flags in `of`, in addition to the function. */
#define PMFS_OF_CALL   0x80000000u
#define PMFS_OF_OUTER  0x40000000u
#define PMFS_OF_NESTED 0x20000000u
#define PMFS_OF_FLAGS  (PMFS_OF_CALL | PMFS_OF_OUTER | PMFS_OF_NESTED)

/* The function whose row has the context's exclusive cost. */
static inline uint32_t pmfs_function_of(const struct pmfs_identity *id, uint32_t context)
{
	return id->of[context] & ~PMFS_OF_FLAGS;
}

/* Whether the context is an instance of this function rather than part of one above it. */
static inline bool pmfs_is_call(const struct pmfs_identity *id, uint32_t context)
{
	return (id->of[context] & PMFS_OF_CALL) != 0;
}

/* Whether it is an outermost instance of its function. */
static inline bool pmfs_is_outer(const struct pmfs_identity *id, uint32_t context)
{
	return (id->of[context] & PMFS_OF_OUTER) != 0;
}

/*
 * Whether the stored exclusive cost of the parent includes that of this context. See struct
 * pm_frame.
 */
static inline bool pmfs_is_nested(const struct pmfs_identity *id, uint32_t context)
{
	return (id->of[context] & PMFS_OF_NESTED) != 0;
}

/* The first function identical to one of the tree; PM_NONE for PM_NONE. */
static inline uint32_t pmfs_same_function(const struct pmfs_identity *id, uint32_t function)
{
	return function == PM_NONE ? PM_NONE : id->same[function];
}

#endif
