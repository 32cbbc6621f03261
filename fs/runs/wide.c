/* Tables of functions side by side: functions-wide.csv, and noise.csv of names with repetitions. */
#include <math.h>

#include "formats/common/search.h"
#include "fs/compare/noise.h"
#include "fs/runs/lead.h"
#include "fs/runs/matrix.h"
#include "fs/runs/sides.h"
#include "fs/runs/texts.h"
#include "fs/views/model/screen.h"

/* The cost of a function in a run; NULL if the run does not have it. O(log n). */
static const struct pmfs_run_share *share_at(
	const struct pmfs_matrix *m, uint32_t run, uint32_t function)
{
	const struct pmfs_run_share *of = m->of[run];
	uint32_t n = m->n_of[run];
	uint32_t at = PM_LOWER_BOUND(i, 0, n, of[i].function < function);
	return at < n && of[at].function == function ? &of[at] : NULL;
}

/* ---- functions-wide.csv ---- */

static int wide_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pmfs_ensemble *e = pmfs_ensemble_of(rows->table->self);
	const struct pmfs_matrix *m;
	int r = pmfs_matrix(e, &m, err);
	if (r < 0 || rows->at >= m->n)
		return r;
	uint32_t i = (uint32_t)rows->at++;
	for (uint32_t run = 0; run < e->runs.n; run++) {
		const struct pmfs_run_share *share = share_at(m, run, i);
		cells[run] = share ? pm_cell_f64(share->own) : pm_cell_empty();
	}
	cells += e->runs.n;
	cells[0] = pm_cell_lasting(m->functions[i].module);
	cells[1] = pm_cell_lasting(m->functions[i].file);
	cells[2] = pm_cell_lasting(m->functions[i].name);
	return 1;
}

static int wide_columns(struct pm_table *table, struct pm_error *err)
{
	const struct pmfs_matrix *m;
	int r = pmfs_matrix(pmfs_ensemble_of(table->self), &m, err);
	if (r < 0)
		return r;
	table->columns = m->wide_header;
	table->n_columns = m->n_wide_header;
	return 0;
}

struct pm_table pmfs_wide_table(const struct pmfs_ensemble *e)
{
	static const struct pm_table_type type = {
		.next = wide_next, .columns = wide_columns, .dense = true};
	return (struct pm_table){.type = &type, .self = e};
}

/* ---- functions.txt ---- */

int pmfs_ensemble_functions(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	enum { MOST_RUNS = 4, MOST_ROWS = 100, WIDTH = PMFS_AMOUNT_WIDTH };
	const struct pmfs_ensemble *e = pmfs_ensemble_of(doc->text.self);
	struct pm_bytes names[MOST_ROWS];
	const struct pmfs_facts *facts;
	const struct pmfs_matrix *m;
	int r = pmfs_facts(e, &facts, err);
	if (r < 0 || (r = pmfs_matrix(e, &m, err)) < 0)
		return r;
	struct pmfs_column column = pmfs_lead_column(e, facts, pmfs_lead(e, facts));
	uint32_t runs = e->runs.n < MOST_RUNS ? e->runs.n : MOST_RUNS;
	uint32_t n = m->n < MOST_ROWS ? m->n : MOST_ROWS;
	if (m->quantity)
		pm_text_printf(out, "Functions by own cost, %s\n", m->quantity);
	for (uint32_t run = 0; run < runs; run++) {
		pm_text_char(out, ' ');
		pmfs_add_right(out, pm_bytes_of(m->wide_header[run]), WIDTH - 1);
	}
	pm_text_str(out, "  function\n");
	for (uint32_t i = 0; i < n; i++)
		names[i] = m->functions[i].name;
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t run = 0; run < runs; run++) {
			const struct pmfs_run_share *share = share_at(m, run, i);
			pmfs_add_amount(out, &column, share ? share->own : NAN);
		}
		pm_text_str(out, "  ");
		pmfs_add_told_apart(out, names, n, i, PMFS_SCREEN_WIDTH - 2 - runs * WIDTH);
		pm_text_char(out, '\n');
	}
	if (m->n > n)
		pm_text_printf(out, "  … %u more: see functions-wide.csv\n", m->n - n);
	if (e->runs.n > runs)
		pm_text_printf(out, "  … %u more runs: see functions-wide.csv\n", e->runs.n - runs);
	return pm_text_status(out);
}

/* ---- noise.csv ---- */

/* The exclusive costs of a function in the runs of a group. */
struct spread {
	uint32_t n;
	double mean, stddev, min, max;
};

/* Over the runs that have the quantity; false if none of them has the function. */
static bool spread_of(const struct pmfs_matrix *m, const struct pmfs_group *g, uint32_t function,
	struct spread *ret)
{
	bool found = false;
	struct pmfs_sample sample = {.n = 0};
	*ret = (struct spread){.min = INFINITY, .max = -INFINITY};
	for (uint32_t i = g->first; i < g->first + g->n; i++) {
		if (isnan(m->totals[i]))
			continue;
		const struct pmfs_run_share *share = share_at(m, i, function);
		double own = share ? share->own : 0;
		found |= share != NULL;
		pmfs_sample_add(&sample, own);
		ret->min = fmin(ret->min, own);
		ret->max = fmax(ret->max, own);
	}
	ret->n = sample.n;
	ret->mean = sample.mean;
	ret->stddev = pmfs_sample_stddev(&sample);
	return found && isfinite(ret->mean);
}

static int noise_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pmfs_ensemble *e = pmfs_ensemble_of(rows->table->self);
	const struct pmfs_matrix *m;
	struct spread s;
	int r = pmfs_matrix(e, &m, err);
	if (r < 0)
		return r;
	for (; rows->at < (uint64_t)m->n * e->runs.n_groups; rows->at++) {
		const struct pmfs_group *g = &e->runs.groups[rows->at / m->n];
		uint32_t i = (uint32_t)(rows->at % m->n);
		if (pm_work_cancelled())
			return pm_error_plain(err, -ENOMEM);
		if (!spread_of(m, g, i, &s))
			continue;
		rows->row = rows->at++;
		cells[0] = pm_cell_str(g->name);
		cells[1] = pm_cell_u64(s.n);
		cells[2] = pm_cell_f64(s.mean);
		cells[3] = pm_cell_f64(s.stddev);
		cells[4] = pm_cell_f64(s.min);
		cells[5] = pm_cell_f64(s.max);
		cells[6] = pm_cell_lasting(m->functions[i].module);
		cells[7] = pm_cell_lasting(m->functions[i].file);
		cells[8] = pm_cell_lasting(m->functions[i].name);
		return 1;
	}
	return 0;
}

struct pm_table pmfs_noise_table(const struct pmfs_ensemble *e)
{
	static const struct pm_table_type type = {.next = noise_next};
	static const char *const columns[] = {
		"run", "repetitions", "mean", "stddev", "min", "max", "module", "file", "name"};
	return (struct pm_table){.type = &type, .columns = columns, .n_columns = 9, .self = e};
}
