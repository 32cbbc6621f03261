/*
 * Load imbalance of contexts. Each column is compared over the threads with a value in it at the
 * context: workers that never run main are not an imbalance of main. Uses the population standard
 * deviation.
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
	free(s->own);
	free(s->seen);
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
	if (r == 0) {
		s->own = calloc((size_t)s->columns->n + 1, sizeof(*s->own));
		s->seen = calloc((size_t)s->threads->n + 1, sizeof(*s->seen));
		s->spreads = s->own;
		if (!s->own || !s->seen)
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

int pmfs_imbalance_read(struct pmfs_imbalance *s, uint32_t context, struct pm_error *err)
{
	const struct pmfs_columns *c = s->columns;
	struct pmfs_values values;
	const struct pm_value *v;
	int r;
	if (s->all) {
		s->n_threads = s->all->n_threads[context];
		s->spreads = pmfs_spreads_of(s->all, context, c->n, s->own);
		return 0;
	}
	s->round++;
	s->n_threads = 0;
	memset(s->own, 0, c->n * sizeof(*s->own));
	pmfs_values_start(
		&values, s->model, (struct pm_values_of){PM_OF_CONTEXT, context, false}, 0);
	for (; (r = pmfs_values_peek(&values, &v, err)) > 0; pmfs_values_step(&values)) {
		uint32_t column = pmfs_column_of(c, v->metric, false);
		double value = pmfs_value_number(v);
		if (v->thread >= s->threads->n || column == PM_NONE || isnan(value))
			continue;
		if (s->seen[v->thread] != s->round) {
			s->seen[v->thread] = s->round;
			s->n_threads++;
		}
		pmfs_spread_add(&s->own[column], value, v->thread);
	}
	return r;
}
