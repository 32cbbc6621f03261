/* Which columns of a context have values, for the contexts that were requested last. */
#include "fs/tree/presences.h"

#include <pthread.h>
#include <stdlib.h>

#include "fs/tree/internal.h"

enum { N_KEPT = 16 };

struct pmfs_presences {
	pthread_mutex_t lock;
	struct pmfs_presence of[N_KEPT]; /* by context */
};

struct pmfs_presences *pmfs_presences_new(void)
{
	struct pmfs_presences *p = calloc(1, sizeof(*p));
	if (p)
		pthread_mutex_init(&p->lock, NULL);
	return p;
}

void pmfs_presences_free(struct pmfs_presences *p)
{
	if (p)
		pthread_mutex_destroy(&p->lock);
	free(p);
}

static int find_present(struct pmfs_tree *t, uint32_t context, const struct pmfs_columns *columns,
	struct pmfs_presence *ret, struct pm_error *err)
{
	double *cells = malloc(columns->n * sizeof(*cells) + 1);
	if (!cells)
		return pm_error_plain(err, -ENOMEM);
	int r = pmfs_run_cells(t->model, context, false, cells, err);
	*ret = (struct pmfs_presence){.known = true, .context = context};
	for (uint32_t i = 0; r == 0 && i < columns->n && i < PMFS_COLUMN_MOST; i++)
		if (cells[i] == cells[i])
			ret->columns[i / 64] |= (uint64_t)1 << i % 64;
	free(cells);
	return r;
}

/* Values are computed once per listing, not once per name. */
int pmfs_presence_get(struct pmfs_tree *t, uint32_t context, const struct pmfs_columns *columns,
	struct pmfs_presence *ret, struct pm_error *err)
{
	struct pmfs_presence *kept = &t->presences->of[context % N_KEPT];
	pthread_mutex_lock(&t->presences->lock);
	bool known = kept->known && kept->context == context;
	if (known)
		*ret = *kept;
	pthread_mutex_unlock(&t->presences->lock);
	if (known)
		return 0;
	int r = find_present(t, context, columns, ret, err);
	if (r < 0)
		return r;
	pthread_mutex_lock(&t->presences->lock);
	*kept = *ret;
	pthread_mutex_unlock(&t->presences->lock);
	return 0;
}

bool pmfs_presence_has(const struct pmfs_presence *p, uint32_t column)
{
	return column < PMFS_COLUMN_MOST && (p->columns[column / 64] >> column % 64 & 1);
}
