/*
 * metrics/ of a context: a file for each value that exists.
 */
#include "fs/tree/internal.h"

#include <pthread.h>
#include <stdlib.h>

#include "fs/views/tables/metricfile.h"

static int value_entry(struct pmfs_entry *ret, const struct pmfs_columns *columns, uint32_t context,
	uint32_t column)
{
	return pmfs_entry_fill(ret, pm_bytes_of(columns->columns[column].name),
		pmfs_node(PMFS_CONTEXT_VALUE, context, column), PMFS_FILE);
}

/* The columns with values of a context, for the contexts that were requested last. */
enum { N_KEPT = 16, N_WORDS = PMFS_COLUMN_MOST / 64 };

struct presence {
	bool known;
	uint32_t context;
	uint64_t columns[N_WORDS];
};

struct pmfs_presences {
	pthread_mutex_t lock;
	struct presence of[N_KEPT]; /* by context */
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
	struct presence *ret, struct pm_error *err)
{
	double *cells = malloc(columns->n * sizeof(*cells) + 1);
	if (!cells)
		return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory");
	int r = pmfs_run_cells(t->model, context, false, cells, err);
	*ret = (struct presence){.known = true, .context = context};
	for (uint32_t i = 0; r == 0 && i < columns->n && i < PMFS_COLUMN_MOST; i++)
		if (cells[i] == cells[i])
			ret->columns[i / 64] |= (uint64_t)1 << i % 64;
	free(cells);
	return r;
}

/* Values are computed once per listing, not once per name. */
static int presence_of(struct pmfs_tree *t, uint32_t context, const struct pmfs_columns *columns,
	struct presence *ret, struct pm_error *err)
{
	struct presence *kept = &t->presences->of[context % N_KEPT];
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

static bool is_present(const struct presence *p, uint32_t column)
{
	return column < PMFS_COLUMN_MOST && (p->columns[column / 64] >> column % 64 & 1);
}

static int metrics_next(struct pmfs_tree *t, pm_node dir, uint64_t *cookie, struct pmfs_entry *ret,
	struct pm_error *err)
{
	const struct pmfs_columns *columns;
	struct presence present;
	int r = pmfs_model_columns(t->model, &columns, err);
	if (r < 0 || *cookie >= columns->n)
		return r;
	r = presence_of(t, pmfs_node_a(dir), columns, &present, err);
	for (uint32_t i = (uint32_t)*cookie; r == 0 && i < columns->n; i++) {
		if (!is_present(&present, i))
			continue;
		*cookie = (uint64_t)i + 1;
		r = value_entry(ret, columns, pmfs_node_a(dir), i);
	}
	return r;
}

/* Only the value of this name is needed. */
static int metrics_lookup(struct pmfs_tree *t, pm_node dir, struct pm_bytes name,
	struct pmfs_entry *ret, struct pm_error *err)
{
	const struct pmfs_columns *columns;
	struct presence present;
	uint32_t context = pmfs_node_a(dir);
	int r = pmfs_model_columns(t->model, &columns, err);
	for (uint32_t i = 0; r == 0 && i < columns->n; i++) {
		value_entry(ret, columns, context, i);
		if (ret->len != name.len || memcmp(ret->name, name.p, name.len) != 0)
			continue;
		r = presence_of(t, context, columns, &present, err);
		if (r == 0)
			r = is_present(&present, i);
	}
	return r == 0 ? pmfs_no_entry() : r;
}

static int metrics_parent(struct pmfs_tree *t, pm_node dir, pm_node *ret, struct pm_error *err)
{
	(void)t;
	(void)err;
	*ret = pmfs_node(
		pmfs_node_kind_of(dir) == PMFS_CONTEXT_METRICS ? PMFS_CONTEXT : PMFS_BY_ID_CONTEXT,
		pmfs_node_a(dir), 0);
	return 0;
}

const struct pmfs_dir pmfs_dir_context_metrics = {
	.check = pmfs_context_check,
	.lookup = metrics_lookup,
	.next = metrics_next,
	.parent = metrics_parent,
};

int pmfs_context_value_document(
	struct pmfs_tree *t, pm_node node, struct pm_doc *ret, struct pm_error *err)
{
	const struct pmfs_columns *columns;
	int r = pmfs_place_check(t, PMFS_PLACE_CONTEXT, pmfs_node_a(node), err);
	if (r == 0)
		r = pmfs_model_columns(t->model, &columns, err);
	if (r < 0)
		return r;
	if (pmfs_node_b(node) >= columns->n)
		return pmfs_no_entry();
	return pmfs_value_document(t->model, pmfs_node_a(node), pmfs_node_b(node), ret);
}
