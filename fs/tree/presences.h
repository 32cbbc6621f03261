/* Which columns of a context have values; a listing asks for that of the same context repeatedly.
 */
#ifndef PROFMOUNT_FS_TREE_PRESENCES_H
#define PROFMOUNT_FS_TREE_PRESENCES_H

#include "fs/tree/tree.h"

struct pmfs_presence {
	bool known;
	uint32_t context;
	uint64_t columns[PMFS_COLUMN_MOST / 64]; /* one bit per column */
};

/* The contexts of a tree that were requested last. NULL if out of memory. Free accepts NULL. */
struct pmfs_presences *pmfs_presences_new(void);
void pmfs_presences_free(struct pmfs_presences *p);

/* `columns` are those of the tree's model. Thread-safe. */
int pmfs_presence_get(struct pmfs_tree *t, uint32_t context, const struct pmfs_columns *columns,
	struct pmfs_presence *ret, struct pm_error *err);

bool pmfs_presence_has(const struct pmfs_presence *p, uint32_t column);

#endif
