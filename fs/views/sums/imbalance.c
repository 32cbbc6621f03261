/*
 * Load imbalance of contexts. Each column is compared over the threads with a value in it at the
 * context, and their peers: workers that never run main are not an imbalance of main. Uses the
 * population standard deviation.
 */
#include <math.h>
#include <stdlib.h>

#include "fs/views/model/parts.h"
#include "fs/views/model/valuereader.h"
#include "fs/views/sums/imbalance.h"

void pmfs_imbalance_free(struct pmfs_imbalance *s)
{
	if (!s)
		return;
	free(s->spreads);
	free(s->kinds);
	free(s);
}

int pmfs_imbalance_new(struct pmfs_model *m, struct pmfs_imbalance **ret, struct pm_error *err)
{
	struct pmfs_imbalance *s = calloc(1, sizeof(*s));
	if (!s)
		return pmfs_no_memory(err);
	s->model = m;
	int r = pmfs_model_tree(m, &s->tree, err);
	if (r == 0)
		r = pmfs_model_columns(m, &s->columns, err);
	if (r == 0)
		r = pmfs_model_threads(m, &s->threads, err);
	if (r == 0)
		r = pmfs_peers(m, &s->peers, err);
	if (r == 0) {
		size_t n = (size_t)s->columns->n + 1;
		s->spreads = calloc(n, sizeof(*s->spreads));
		s->kinds = calloc(n, (s->peers->n_words + 1) * sizeof(*s->kinds));
		if (!s->spreads || !s->kinds)
			r = pmfs_no_memory(err);
	}
	if (r == 0 && pmfs_model_profile(m)->costs_by_thread)
		r = pmfs_spreads(m, &s->all, err);
	if (r < 0) {
		pmfs_imbalance_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

static int read_context(struct pmfs_imbalance *s, uint32_t context, struct pm_error *err)
{
	const struct pmfs_columns *c = s->columns;
	size_t words = s->peers->n_words;
	struct pmfs_values values;
	const struct pm_value *v;
	int r;
	memset(s->spreads, 0, c->n * sizeof(*s->spreads));
	memset(s->kinds, 0, c->n * words * sizeof(*s->kinds));
	pmfs_values_start(
		&values, s->model, (struct pm_values_of){PM_OF_CONTEXT, context, false}, 0);
	for (; (r = pmfs_values_peek(&values, &v, err)) > 0; pmfs_values_step(&values)) {
		uint32_t column = pmfs_column_of(c, v->metric, false);
		double value = pmfs_value_number(v);
		if (v->thread < s->threads->n && column != PM_NONE && !isnan(value))
			pmfs_peers_add(s->peers, &s->spreads[column], s->kinds + column * words,
				value, v->thread);
	}
	for (uint32_t i = 0; i < c->n; i++)
		pmfs_peers_complete(s->peers, &s->spreads[i], s->kinds + i * words);
	return r;
}

int pmfs_imbalance_read(struct pmfs_imbalance *s, uint32_t context, struct pm_error *err)
{
	uint32_t n = s->columns->n;
	int r = 0;
	if (s->all)
		pmfs_spreads_of(s->all, s->peers, context, n, s->spreads);
	else
		r = read_context(s, context, err);
	for (uint32_t i = 0; r == 0 && i < n; i++)
		if (s->spreads[i].n > 0)
			return 1;
	return r;
}
