/* runs.csv: a row for each run. */
#include <time.h>

#include "fs/runs/internal.h"

enum { N_AFTER = 10 }; /* columns after the totals */

static void set_known(struct pm_cell *cell, uint64_t number, uint64_t none)
{
	*cell = number == none ? pm_cell_empty() : pm_cell_u64(number);
}

/* Appends 2026-11-22T18:00:00Z. */
static void add_time(struct pm_text *out, uint64_t ns)
{
	time_t seconds = (time_t)(ns / 1000000000);
	struct tm tm;
	if (gmtime_r(&seconds, &tm))
		pm_text_printf(out, "%04d-%02d-%02dT%02d:%02d:%02dZ", tm.tm_year + 1900,
			tm.tm_mon + 1, tm.tm_mday, tm.tm_hour, tm.tm_min, tm.tm_sec);
}

static void set_facts(const struct pmfs_run_facts *f, struct pm_cell *totals, struct pm_cell *rest)
{
	for (uint32_t k = 0; k < f->n_totals; k++)
		totals[f->totals[k].quantity] = pm_cell_f64(f->totals[k].value);
	rest[0] = pm_cell_u64(f->contexts);
	set_known(&rest[1], f->threads, PM_NONE);
	set_known(&rest[2], f->duration_ns, PM_NO_TIME);
	rest[3] = pm_cell_str(f->format);
	if (f->host)
		rest[5] = pm_cell_str(f->host);
	if (f->command)
		rest[6] = pm_cell_str(f->command);
}

/*
 * The time, the path and the error are built in the scratch buffer, so their cells are filled last.
 */
static void set_texts(struct pm_rows *rows, const struct pmfs_ensemble *e,
	const struct pmfs_run_facts *f, uint32_t run, struct pm_cell *rest)
{
	struct pm_text *scratch = rows->scratch;
	if (!f->broken && f->time_ns)
		add_time(scratch, f->time_ns);
	size_t time = scratch->len;
	pmfs_run_path(e, run, scratch);
	size_t path = scratch->len;
	if (f->broken)
		pm_text_str(scratch, f->error);
	struct pm_bytes all = pm_text_view(scratch);
	if (time > 0)
		rest[4] = pm_cell_text((struct pm_bytes){all.p, time});
	rest[7] = pm_cell_text((struct pm_bytes){all.p + time, path - time});
	if (all.len > path)
		rest[9] = pm_cell_text((struct pm_bytes){all.p + path, all.len - path});
}

static int runs_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pmfs_ensemble *e = pmfs_ensemble_of(rows->table->self);
	const struct pmfs_facts *facts;
	if (rows->at >= e->runs.n)
		return 0;
	int r = pmfs_facts(e, &facts, err);
	if (r < 0)
		return r;
	uint32_t i = (uint32_t)rows->at++;
	const struct pmfs_run *run = &e->runs.runs[i];
	struct pm_cell *rest = cells + 2 + facts->quantities.n;
	for (struct pm_cell *cell = cells; cell < rest + N_AFTER; cell++)
		*cell = pm_cell_empty();
	cells[0] = pm_cell_str(run->name);
	cells[1] = pm_cell_u64(run->repetition);
	if (!facts->of[i].broken)
		set_facts(&facts->of[i], cells + 2, rest);
	set_texts(rows, e, &facts->of[i], i, rest);
	rest[8] = pm_cell_str(run->source);
	return rows->scratch->failed ? pmfs_ensemble_no_memory(err) : 1;
}

static int runs_columns(struct pm_table *table, struct pm_error *err)
{
	const struct pmfs_ensemble *e = pmfs_ensemble_of(table->self);
	const struct pmfs_facts *facts;
	int r = pmfs_facts(e, &facts, err);
	if (r < 0)
		return r;
	table->columns = facts->header;
	table->n_columns = facts->n_header;
	return 0;
}

struct pm_table pmfs_runs_table(const struct pmfs_ensemble *e)
{
	static const struct pm_table_type type = {
		.next = runs_next, .columns = runs_columns, .dense = true};
	return (struct pm_table){.type = &type, .self = e, .end = e->runs.n};
}
