/* Reads the values of a thread or context, and samples of a thread, one by one, in small batches.
 */
#ifndef PROFMOUNT_FS_VIEWS_MODEL_VALUEREADER_H
#define PROFMOUNT_FS_VIEWS_MODEL_VALUEREADER_H

#include "formats/common/arena.h"
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

/* The next value, in a build of `a` that fails if it cannot be read; NULL at the end. */
static inline const struct pm_value *pmfs_values_take(
	struct pm_arena *a, struct pmfs_values *v, struct pm_error *err)
{
	const struct pm_value *value;
	int r = pmfs_values_peek(v, &value, err);
	pm_build_check(a, r);
	if (r == 0)
		return NULL;
	pmfs_values_step(v);
	return value;
}

/*
 * Calls each() for every context of the tree with values of a thread, in their order: its costs as
 * in flat tables, columns->n cells. In a build of `a`, which each() may leave.
 */
void pmfs_values_by_context(struct pm_arena *a, struct pmfs_model *m, uint32_t thread,
	void (*each)(void *self, uint32_t context, const pm_number *cells), void *self,
	struct pm_error *err);

/* A cursor in the trace of a thread: set the first two. Need not be freed. */
struct pmfs_samples {
	const struct pm_profile *profile;
	uint32_t thread;
	uint32_t n, i;
	uint64_t at; /* of the next batch */
	struct pm_sample batch[256];
};

/* Fetches the next batch, unless the work was cancelled: 1, 0 at the end, or a negative errno. */
int pmfs_samples_fetch(struct pmfs_samples *s, struct pm_error *err);

/* The next sample, without moving past it: `s->i++` does. As above. */
static inline int pmfs_samples_peek(
	struct pmfs_samples *s, const struct pm_sample **ret, struct pm_error *err)
{
	int r = s->i < s->n ? 1 : pmfs_samples_fetch(s, err);
	*ret = &s->batch[s->i];
	return r;
}

/* The same, moving past it. */
static inline int pmfs_samples_next(
	struct pmfs_samples *s, const struct pm_sample **ret, struct pm_error *err)
{
	int r = pmfs_samples_peek(s, ret, err);
	s->i += r > 0;
	return r;
}

#endif
