/* Reads the matrix: the cost of a function in a run, and means over groups of runs. */
#include <math.h>

#include "formats/common/search.h"
#include "fs/runs/matrix.h"
#include "fs/views/model/flat.h"

const struct pmfs_run_share *pmfs_matrix_at(
	const struct pmfs_matrix *m, uint32_t run, uint32_t function)
{
	const struct pmfs_run_share *of = m->of[run];
	uint32_t n = m->n_of[run];
	uint32_t at = PM_LOWER_BOUND(i, 0, n, of[i].function < function);
	return at < n && of[at].function == function ? &of[at] : NULL;
}

uint32_t pmfs_matrix_count(const struct pmfs_matrix *m, const struct pmfs_group *g)
{
	uint32_t n = 0;
	for (uint32_t i = g->first; i < g->first + g->n; i++)
		n += !isnan(m->totals[i]);
	return n;
}

double pmfs_matrix_mean(
	const struct pmfs_matrix *m, const struct pmfs_group *g, uint32_t function, bool incl)
{
	double sum = NAN;
	for (uint32_t i = g->first; i < g->first + g->n; i++) {
		const struct pmfs_run_share *share = pmfs_matrix_at(m, i, function);
		if (share)
			pmfs_add(&sum, incl ? share->incl : share->own);
	}
	return sum / pmfs_matrix_count(m, g);
}

double pmfs_matrix_whole(const struct pmfs_matrix *m, const struct pmfs_group *g)
{
	double sum = NAN;
	for (uint32_t i = g->first; i < g->first + g->n; i++)
		pmfs_add(&sum, m->totals[i]);
	return sum / pmfs_matrix_count(m, g);
}
