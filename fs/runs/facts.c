/*
 * Facts about each run: read from all of them, on all processors, and kept, since they are
 * small; means of the runs of one name; and runs.csv, which shows them.
 */
#include "fs/runs/runs.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

#include "formats/common/crew.h"
#include "formats/common/folder.h"
#include "fs/views/sums/efficiency.h"
#include "fs/views/sums/functions.h"
#include "fs/views/sums/threads.h"
#include "fs/views/sums/totals.h"

/* ---- names of columns that depend on the runs ---- */

const char *const *pmfs_header_of(struct pm_arena *arena, const char *const *before,
	const struct pm_strtab *middle, const char *const *after, uint32_t *ret_n)
{
	uint32_t n = 0, n_before = 0, n_after = 0;
	while (before[n_before])
		n_before++;
	while (after[n_after])
		n_after++;
	const char **names =
		pm_arena_array(arena, n_before + (size_t)middle->n + n_after, sizeof(*names));
	if (!names)
		return NULL;
	for (uint32_t i = 0; i < n_before; i++)
		names[n++] = before[i];
	for (uint32_t i = 0; i < middle->n; i++, n++) {
		struct pm_bytes name = middle->items[i];
		names[n] = pm_arena_printf(arena, "%.*s", (int)name.len, (const char *)name.p);
		if (!names[n])
			return NULL;
	}
	for (uint32_t i = 0; i < n_after; i++)
		names[n++] = after[i];
	*ret_n = n;
	return names;
}

/* Fills in the headers once all names are known; 0 or -ENOMEM. */
static int headers_make(struct pmfs_facts *facts)
{
	static const char *const run[] = {"run", "repetition", NULL};
	static const char *const facts_of[] = {"contexts", "threads", "duration_ns", "format",
		"time", "host", "command", "path", "source", "error", NULL};
	static const char *const function[] = {
		"run", "repetition", "function_id", "contexts", NULL};
	static const char *const place[] = {"line", "category", "module", "file", "name", NULL};
	struct pm_arena *arena = &facts->arena;
	facts->header = pmfs_header_of(arena, run, &facts->quantities, facts_of, &facts->n_header);
	facts->functions_header =
		pmfs_header_of(arena, function, &facts->columns, place, &facts->n_functions_header);
	return facts->header && facts->functions_header ? 0 : -ENOMEM;
}

/* Facts of one run, before names are numbered across runs; each list is allocated separately. */
struct found {
	struct pm_arena arena;
	uint32_t n_totals, n_columns, lead;
	const char *lead_export; /* or NULL; see struct pmfs_run_facts */
	double lead_scale;
	const char **quantities, **columns;
	double *totals;
	const char *format;
	bool read, is_folder;
};

struct reading {
	const struct pmfs_ensemble *e;
	struct pmfs_facts *facts;
	struct found *found; /* by run */
};

static int copy_of(
	struct pm_arena *arena, struct pm_bytes b, const char **ret, struct pm_error *err)
{
	struct pm_text line = {.p = NULL};
	pm_text_line(&line, b);
	pm_text_char(&line, 0);
	*ret = line.failed ? NULL : pm_arena_printf(arena, "%s", line.p);
	pm_text_done(&line);
	return *ret ? 0 : pmfs_ensemble_no_memory(err);
}

/* The value of the first of these facts that the run has, or NULL. */
static int find_fact(struct found *f, const struct pm_profile *p, const char *const *keys,
	const char **ret, struct pm_error *err)
{
	const struct pm_fact *facts = NULL;
	size_t n = 0;
	int r = pm_profile_facts(p, &facts, &n, err);
	for (; r >= 0 && *keys && !*ret; keys++)
		for (size_t i = 0; r >= 0 && i < n && !*ret; i++)
			if (strcmp(facts[i].key, *keys) == 0 &&
				facts[i].value.kind == PM_CELL_TEXT && facts[i].value.text.len > 0)
				r = copy_of(&f->arena, facts[i].value.text, ret, err);
	return r < 0 ? r : 0;
}

static int read_words(struct found *f, const struct pm_profile *p, struct pmfs_run_facts *ret,
	struct pm_error *err)
{
	static const char *const hosts[] = {"host", "hostname", "host_id", NULL};
	static const char *const commands[] = {
		"command", "command_line", "program_path", "program", "application", NULL};
	struct pm_bytes title;
	uint32_t thread;
	int r = find_fact(f, p, hosts, &ret->host, err);
	if (r == 0)
		r = find_fact(f, p, commands, &ret->command, err);
	if (r < 0 || ret->command ||
		(r = pm_profile_title(pmfs_filter_bottom(p, &thread), &title, err)) < 0)
		return r;
	/* For files without a title, their name. */
	if (title.len > 0 &&
		(f->is_folder || !pm_bytes_equal(title, pm_bytes_of(pm_path_name(p->source)))))
		return copy_of(&f->arena, title, &ret->command, err);
	return 0;
}

/* A cost that is not stored anywhere does not exist; otherwise it may be 0. */
static bool is_stored(const struct pmfs_column *c, double whole)
{
	const struct pm_metric *metric = c->flat ? c->flat : c->tree;
	return whole != 0 || metric->has_values;
}

static int keep_lead(struct found *f, const struct pmfs_column *column)
{
	f->lead = f->n_totals;
	f->lead_scale = column->export_scale;
	f->lead_export = pm_arena_printf(&f->arena, "%s", column->export);
	return f->lead_export ? 0 : -ENOMEM;
}

static int read_costs(struct found *f, struct pmfs_model *m, struct pm_error *err)
{
	/*
	 * Additional columns of functions.csv after the costs, if calls are recorded individually.
	 */
	static const char *const times[] = {"p50_ns", "p90_ns", "p99_ns", "max_ns"};
	const struct pmfs_totals *totals;
	int timed = 0, r = pmfs_totals(m, &totals, err);
	if (r == 0)
		timed = r = pmfs_functions_are_timed(m, err);
	if (r < 0)
		return r;
	const struct pmfs_columns *c = totals->columns;
	f->quantities = pm_arena_array(&f->arena, c->n + (size_t)1, sizeof(*f->quantities));
	f->columns =
		pm_arena_array(&f->arena, c->n + c->n_derived + (size_t)5, sizeof(*f->columns));
	f->totals = pm_arena_array(&f->arena, c->n + (size_t)1, sizeof(*f->totals));
	if (!f->quantities || !f->columns || !f->totals)
		return pmfs_ensemble_no_memory(err);
	f->lead = PM_NONE;
	for (uint32_t i = 0; i < c->n_shown; i++) {
		const struct pmfs_column *column = &c->columns[i];
		f->columns[f->n_columns] = pm_arena_printf(&f->arena, "%s", column->name);
		if (!f->columns[f->n_columns++])
			return pmfs_ensemble_no_memory(err);
		bool leads = c->lead && strcmp(column->base, c->lead) == 0;
		if (!pmfs_column_is_first(column) || (column->role == PM_ROLE_COUNT && !leads))
			continue;
		if (leads && keep_lead(f, column) < 0)
			return pmfs_ensemble_no_memory(err);
		f->totals[f->n_totals] = is_stored(column, totals->of[i]) ? totals->of[i] : NAN;
		f->quantities[f->n_totals] = pm_arena_printf(&f->arena, "%s", column->base);
		if (!f->quantities[f->n_totals++])
			return pmfs_ensemble_no_memory(err);
	}
	for (uint32_t i = 0; i < c->n_derived; i++) {
		f->columns[f->n_columns] = pm_arena_printf(&f->arena, "%s", c->derived[i].name);
		if (!f->columns[f->n_columns++])
			return pmfs_ensemble_no_memory(err);
	}
	for (size_t i = 0; timed && i < sizeof(times) / sizeof(*times); i++)
		f->columns[f->n_columns++] = times[i];
	return 0;
}

static int read_model(
	struct found *f, struct pmfs_model *m, struct pmfs_run_facts *ret, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	const struct pm_threads *threads;
	const struct pmfs_empty_threads *empty;
	const struct pm_tree *tree;
	uint64_t origin;
	int r;
	ret->threads = PM_NONE;
	ret->duration_ns = PM_NO_TIME;
	ret->time_ns = p->measured_ns;
	if ((r = pmfs_model_tree(m, &tree, err)) < 0 || (r = read_costs(f, m, err)) < 0 ||
		(r = pmfs_model_threads(m, &threads, err)) < 0 ||
		(r = read_words(f, p, ret, err)) < 0)
		return r;
	if ((r = pmfs_filter_matches(p, err)) < 0)
		return r;
	ret->is_unmatched = r == 0;
	ret->contexts = tree->n_contexts;
	if (pm_profile_has(p, threads)) {
		if ((r = pmfs_empty_threads(m, &empty, err)) < 0)
			return r;
		ret->threads = empty->n_threads;
		ret->busy = empty->n_threads - empty->n_empty;
	}
	if ((r = pmfs_efficiency_applies(m, err)) < 0)
		return r;
	ret->is_sampled = r > 0;
	ret->format = f->format = p->format;
	f->read = true;
	return pm_profile_span(p, &origin, &ret->duration_ns, err);
}

static int tell_broken(struct found *f, const struct pm_error *err, struct pmfs_run_facts *ret)
{
	char line[900];
	const char *error =
		pm_arena_printf(&f->arena, "%s", pm_error_line(err, line, sizeof(line)));
	*ret = (struct pmfs_run_facts){.broken = true, .error = error};
	return error ? 0 : -ENOMEM;
}

/* A run that cannot be read, for any reason, has no facts. */
static int read_run(void *context, size_t i)
{
	struct reading *reading = context;
	struct pmfs_run_facts *ret = &reading->facts->of[i];
	struct pmfs_shelf *shelf = reading->e->shelf;
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_model *m;
	int r = pmfs_shelf_acquire(shelf, (uint32_t)i, &m, &err);
	reading->found[i].is_folder = reading->e->runs.runs[i].is_folder;
	if (r == 0) {
		r = read_model(&reading->found[i], m, ret, &err);
		pmfs_shelf_release(shelf, (uint32_t)i);
	}
	if (!pm_is_lasting(r))
		return r;
	reading->found[i].read = false;
	return tell_broken(&reading->found[i], &err, ret);
}

/* ---- the names of all ---- */

static int number_run(struct pmfs_facts *facts, const struct found *f, struct pmfs_run_facts *run)
{
	struct pm_arena *arena = &facts->arena;
	struct pmfs_whole *totals = pm_arena_array(arena, f->n_totals + (size_t)1, sizeof(*totals));
	uint32_t *columns = pm_arena_array(arena, f->n_columns + (size_t)1, sizeof(*columns));
	if (!totals || !columns)
		return -ENOMEM;
	run->lead = PM_NONE;
	for (uint32_t k = 0; k < f->n_totals; k++) {
		totals[k].value = f->totals[k];
		totals[k].quantity =
			pm_strtab_add(&facts->quantities, pm_bytes_of(f->quantities[k]));
		if (totals[k].quantity == UINT32_MAX)
			return -ENOMEM;
		if (k == f->lead)
			run->lead = totals[k].quantity;
	}
	for (uint32_t k = 0; k < f->n_columns; k++) {
		columns[k] = pm_strtab_add(&facts->columns, pm_bytes_of(f->columns[k]));
		if (columns[k] == UINT32_MAX)
			return -ENOMEM;
	}
	run->totals = totals;
	run->columns = columns;
	run->n_totals = f->n_totals;
	run->n_columns = f->n_columns;
	run->lead_scale = f->lead_scale;
	if (f->lead_export) {
		run->lead_export = pm_arena_printf(arena, "%s", f->lead_export);
		if (!run->lead_export)
			return -ENOMEM;
	}
	if (run->host)
		run->host = pm_arena_printf(arena, "%s", run->host);
	if (run->command)
		run->command = pm_arena_printf(arena, "%s", run->command);
	return 0;
}

static int keep_error(struct pmfs_facts *facts, struct pmfs_run_facts *run)
{
	run->error = pm_arena_printf(&facts->arena, "%s", run->error);
	return run->error ? 0 : -ENOMEM;
}

static int read_all(struct reading *reading, struct pm_error *err)
{
	uint32_t n = reading->e->runs.n;
	struct pmfs_facts *facts = reading->facts;
	int r = pm_crew_each(n, read_run, reading);
	for (uint32_t i = 0; i < n && r == 0; i++)
		if (reading->found[i].read)
			r = number_run(facts, &reading->found[i], &facts->of[i]);
		else
			r = keep_error(facts, &facts->of[i]);
	if (r == 0)
		r = headers_make(facts);
	return r < 0 ? pmfs_ensemble_no_memory(err) : 0;
}

static int facts_fill(void *owner, void *part, struct pm_error *err)
{
	struct pmfs_facts *facts = part;
	struct reading reading = {.e = owner, .facts = facts};
	uint32_t n = reading.e->runs.n;
	facts->quantities.arena = facts->columns.arena = &facts->arena;
	facts->of = pm_arena_array(&facts->arena, n, sizeof(*facts->of));
	reading.found = calloc(n, sizeof(*reading.found));
	int r = facts->of && reading.found ? read_all(&reading, err) : pmfs_ensemble_no_memory(err);
	for (uint32_t i = 0; reading.found && i < n; i++)
		pm_arena_done(&reading.found[i].arena);
	free(reading.found);
	return r;
}

static void facts_done(void *part)
{
	struct pmfs_facts *facts = part;
	pm_strtab_done(&facts->quantities);
	pm_strtab_done(&facts->columns);
	pm_arena_done(&facts->arena);
}

int pmfs_facts(const struct pmfs_ensemble *e, const struct pmfs_facts **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {.size = sizeof(struct pmfs_facts),
		.fill = facts_fill,
		.done = facts_done,
		.what = "what is known of the runs"};
	struct pmfs_ensemble *owner = pmfs_ensemble_of(e);
	return pm_part_get(&owner->parts[PMFS_ENSEMBLE_FACTS], &type, owner, ret, err);
}

/* ---- the quantity by which runs are compared at the root ---- */

double pmfs_whole_of(const struct pmfs_run_facts *f, uint32_t quantity)
{
	for (uint32_t k = 0; k < f->n_totals; k++)
		if (f->totals[k].quantity == quantity)
			return f->totals[k].value;
	return NAN;
}

uint32_t pmfs_lead(const struct pmfs_ensemble *e, const struct pmfs_facts *facts)
{
	uint32_t first = e->runs.groups[e->base].first;
	if (!facts->of[first].broken && facts->of[first].lead != PM_NONE)
		return facts->of[first].lead;
	for (uint32_t i = 0; i < e->runs.n; i++)
		if (!facts->of[i].broken && facts->of[i].lead != PM_NONE)
			return facts->of[i].lead;
	return PM_NONE;
}

struct pmfs_column pmfs_lead_column(
	const struct pmfs_ensemble *e, const struct pmfs_facts *facts, uint32_t quantity)
{
	uint32_t i = 0;
	while (i < e->runs.n && (facts->of[i].broken || facts->of[i].lead != quantity))
		i++;
	struct pmfs_column column = {.export = "", .export_scale = 1};
	if (i < e->runs.n && facts->of[i].lead_export) {
		column.export = facts->of[i].lead_export;
		column.export_scale = facts->of[i].lead_scale;
	}
	return column;
}

/* ---- a name: means over its runs, and what they should cost ---- */

struct pmfs_group_facts pmfs_group_facts(
	const struct pmfs_ensemble *e, const struct pmfs_facts *facts, uint32_t group)
{
	const struct pmfs_group *g = &e->runs.groups[group];
	struct pmfs_group_facts ret = {.whole = NAN, .duration_ns = NAN};
	uint32_t lead = pmfs_lead(e, facts);
	double whole = 0, threads = 0, duration = 0;
	bool counted = true;
	for (uint32_t i = g->first; lead != PM_NONE && i < g->first + g->n; i++) {
		const struct pmfs_run_facts *f = &facts->of[i];
		double of_run = pmfs_whole_of(f, lead);
		if (f->broken || isnan(of_run))
			continue;
		ret.n++;
		whole += of_run;
		threads += f->busy;
		counted &= f->busy > 0;
		duration += f->duration_ns == PM_NO_TIME ? NAN : (double)f->duration_ns;
	}
	if (ret.n == 0)
		return ret;
	ret.whole = whole / ret.n;
	ret.threads = counted ? threads / ret.n : 0;
	ret.duration_ns = duration > 0 ? duration / ret.n : NAN;
	return ret;
}

bool pmfs_threads_differ(const struct pmfs_ensemble *e, const struct pmfs_facts *facts)
{
	uint32_t known = 0, lead = pmfs_lead(e, facts);
	for (uint32_t i = 0; lead != PM_NONE && i < e->runs.n; i++) {
		const struct pmfs_run_facts *f = &facts->of[i];
		uint32_t busy = f->broken || isnan(pmfs_whole_of(f, lead)) ? 0 : f->busy;
		if (busy && known && busy != known)
			return true;
		known = busy ? busy : known;
	}
	return false;
}

bool pmfs_loss_factor(const struct pmfs_ensemble *e, const struct pmfs_group_facts *base,
	const struct pmfs_group_facts *group, double *ret)
{
	*ret = e->options.weak && base->threads > 0 ? group->threads / base->threads : 1;
	return base->threads > 0 && group->threads > 0;
}

/* ---- runs.csv: a row for each run ---- */

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
