/* Reads the values of a thread or context one by one, in small batches. */
#ifndef PROFMOUNT_FS_VIEWS_MODEL_VALUEREADER_H
#define PROFMOUNT_FS_VIEWS_MODEL_VALUEREADER_H

#include "fs/views/model/model.h"
#include "profmount/table.h"

/* A cursor: a plain value that need not be freed. */
struct pmfs_values {
	struct pmfs_model *model;
	struct pm_values_of of;
	uint64_t at; /* position of the next value in the whole sequence */
	uint32_t n, i;
	struct pm_value batch[256];
};

/* Starts at value `at`. A context is one of the model's tree. */
void pmfs_values_start(
	struct pmfs_values *v, struct pmfs_model *m, struct pm_values_of of, uint64_t at);

/*
 * start() for a table of the model whose rows are values: sets rows->own to a cursor, to be freed,
 * at value rows->at. 0 or -ENOMEM.
 */
int pmfs_values_rows_start(struct pm_rows *rows, struct pm_values_of of, struct pm_error *err);

/* Fetches the next batch: 1, 0 at the end, or a negative errno. For pmfs_values_peek. */
int pmfs_values_fetch(struct pmfs_values *v, struct pm_error *err);

/* The next value, without moving past it: 1, 0 at the end, or a negative errno. */
static inline int pmfs_values_peek(
	struct pmfs_values *v, const struct pm_value **ret, struct pm_error *err)
{
	int r = v->i < v->n ? 1 : pmfs_values_fetch(v, err);
	*ret = &v->batch[v->i];
	return r;
}

/* Moves past the value returned by pmfs_values_peek. */
static inline void pmfs_values_step(struct pmfs_values *v)
{
	v->i++;
	v->at++;
}

/*
 * Calls each() for every context of the tree with values of a thread, in their order: its costs as
 * in flat tables, columns->n cells. each() fails for lack of memory alone. 0 or a negative
 * errno.
 */
int pmfs_values_by_context(struct pmfs_model *m, uint32_t thread,
	int (*each)(void *self, uint32_t context, const pm_number *cells), void *self,
	struct pm_error *err);

#endif
