/*
 * Facts about each run: read from all of them, on all processors, and kept, since they are
 * small; means of the runs of one name; and runs.csv, which shows them.
 */
#include "fs/runs/runs.h"

#include <math.h>
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
	for (uint32_t i = 0; i < n_before; i++)
		names[n++] = before[i];
	for (uint32_t i = 0; i < middle->n; i++, n++) {
		struct pm_bytes name = middle->items[i];
		names[n] = pm_arena_printf(arena, "%.*s", (int)name.len, (const char *)name.p);
	}
	for (uint32_t i = 0; i < n_after; i++)
		names[n++] = after[i];
	*ret_n = n;
	return names;
}

/* Fills in the headers once all names are known. */
static void headers_make(struct pm_arena *arena, struct pmfs_facts *facts)
{
	static const char *const run[] = {"run", "repetition", NULL};
	static const char *const facts_of[] = {"contexts", "threads", "duration_ns", "format",
		"time", "host", "command", "path", "source", "error", NULL};
	static const char *const function[] = {
		"run", "repetition", "function_id", "contexts", NULL};
	static const char *const place[] = {"line", "category", "module", "file", "name", NULL};
	facts->header = pmfs_header_of(arena, run, &facts->quantities, facts_of, &facts->n_header);
	facts->functions_header =
		pmfs_header_of(arena, function, &facts->columns, place, &facts->n_functions_header);
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

/* Of one run. */
struct reading_one {
	struct found *f;
	struct pmfs_model *m;
	struct pmfs_run_facts *ret;
	struct pm_error *err;
};

static const char *copy_of(struct pm_arena *arena, struct pm_bytes b)
{
	struct pm_text line = {.arena = arena};
	pm_text_line(&line, b);
	pm_text_char(&line, 0);
	return line.p;
}

/* The value of the first of these facts that the run has, or NULL. */
static const char *find_fact(const struct reading_one *one, const char *const *keys)
{
	const struct pm_fact *facts = NULL;
	size_t n = 0;
	pm_build_check(
		&one->f->arena, pm_profile_facts(pmfs_model_profile(one->m), &facts, &n, one->err));
	for (; *keys; keys++)
		for (size_t i = 0; i < n; i++)
			if (strcmp(facts[i].key, *keys) == 0 &&
				facts[i].value.kind == PM_CELL_TEXT && facts[i].value.text.len > 0)
				return copy_of(&one->f->arena, facts[i].value.text);
	return NULL;
}

static void read_words(const struct reading_one *one)
{
	static const char *const hosts[] = {"host", "hostname", "host_id", NULL};
	static const char *const commands[] = {
		"command", "command_line", "program_path", "program", "application", NULL};
	const struct pm_profile *p = pmfs_model_profile(one->m);
	struct pm_bytes title;
	uint32_t thread;
	one->ret->host = find_fact(one, hosts);
	one->ret->command = find_fact(one, commands);
	if (one->ret->command)
		return;
	pm_build_check(
		&one->f->arena, pm_profile_title(pmfs_filter_bottom(p, &thread), &title, one->err));
	/* For files without a title, their name. */
	if (title.len > 0 &&
		(one->f->is_folder || !pm_bytes_equal(title, pm_bytes_of(pm_path_name(p->source)))))
		one->ret->command = copy_of(&one->f->arena, title);
}

/* A cost that is not stored anywhere does not exist; otherwise it may be 0. */
static bool is_stored(const struct pmfs_column *c, double whole)
{
	const struct pm_metric *metric = c->flat ? c->flat : c->tree;
	return whole != 0 || metric->has_values;
}

static void read_costs(struct found *f, struct pmfs_model *m, struct pm_error *err)
{
	/*
	 * Additional columns of functions.csv after the costs, if calls are recorded individually.
	 */
	static const char *const times[] = {"p50_ns", "p90_ns", "p99_ns", "max_ns"};
	struct pm_arena *a = &f->arena;
	const struct pmfs_totals *totals;
	pm_build_check(a, pmfs_totals(m, &totals, err));
	int timed = pmfs_functions_are_timed(m, err);
	pm_build_check(a, timed);
	const struct pmfs_columns *c = totals->columns;
	f->quantities = pm_arena_array(a, c->n, sizeof(*f->quantities));
	f->columns = pm_arena_array(a, c->n + c->n_derived + (size_t)4, sizeof(*f->columns));
	f->totals = pm_arena_array(a, c->n, sizeof(*f->totals));
	f->lead = PM_NONE;
	for (uint32_t i = 0; i < c->n_shown; i++) {
		const struct pmfs_column *column = &c->columns[i];
		f->columns[f->n_columns++] = pm_arena_printf(a, "%s", column->name);
		bool leads = c->lead && strcmp(column->base, c->lead) == 0;
		if (!pmfs_column_is_first(column) || (column->role == PM_ROLE_COUNT && !leads))
			continue;
		if (leads) {
			f->lead = f->n_totals;
			f->lead_scale = column->export_scale;
			f->lead_export = pm_arena_printf(a, "%s", column->export);
		}
		f->totals[f->n_totals] = is_stored(column, totals->of[i]) ? totals->of[i] : NAN;
		f->quantities[f->n_totals++] = pm_arena_printf(a, "%s", column->base);
	}
	for (uint32_t i = 0; i < c->n_derived; i++)
		f->columns[f->n_columns++] = pm_arena_printf(a, "%s", c->derived[i].name);
	for (size_t i = 0; timed && i < sizeof(times) / sizeof(*times); i++)
		f->columns[f->n_columns++] = times[i];
}

static void read_model(void *context)
{
	const struct reading_one *one = context;
	struct pm_arena *a = &one->f->arena;
	struct pmfs_run_facts *ret = one->ret;
	const struct pm_profile *p = pmfs_model_profile(one->m);
	const struct pmfs_empty_threads *empty;
	const struct pm_tree *tree;
	uint64_t origin;
	ret->threads = PM_NONE;
	ret->time_ns = p->measured_ns;
	pm_build_check(a, pmfs_model_tree(one->m, &tree, one->err));
	read_costs(one->f, one->m, one->err);
	read_words(one);
	int matches = pmfs_filter_matches(p, one->err);
	pm_build_check(a, matches);
	ret->is_unmatched = !matches;
	ret->contexts = tree->n_contexts;
	if (pm_profile_has(p, threads)) {
		pm_build_check(a, pmfs_empty_threads(one->m, &empty, one->err));
		ret->threads = empty->n_threads;
		ret->busy = empty->n_threads - empty->n_empty;
	}
	int applies = pmfs_efficiency_applies(one->m, one->err);
	pm_build_check(a, applies);
	ret->is_sampled = applies > 0;
	ret->format = one->f->format = p->format;
	pm_build_check(a, pm_profile_span(p, &origin, &ret->duration_ns, one->err));
	one->f->read = true;
}

static void tell_broken(void *context)
{
	const struct reading_one *one = context;
	char line[900];
	*one->ret = (struct pmfs_run_facts){.broken = true,
		.error = pm_arena_printf(
			&one->f->arena, "%s", pm_error_line(one->err, line, sizeof(line)))};
}

/* A run that cannot be read, for any reason, has no facts. */
static int read_run(void *context, size_t i)
{
	struct reading *reading = context;
	struct pmfs_shelf *shelf = reading->e->shelf;
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct reading_one one = {
		.f = &reading->found[i], .ret = &reading->facts->of[i], .err = &err};
	int r = pmfs_shelf_acquire(shelf, (uint32_t)i, &one.m, &err);
	one.f->is_folder = reading->e->runs.runs[i].is_folder;
	if (r == 0) {
		r = pm_build(&one.f->arena, read_model, &one);
		pmfs_shelf_release(shelf, (uint32_t)i);
	}
	return pm_is_lasting(r) ? pm_build(&one.f->arena, tell_broken, &one) : r;
}

/* ---- the names of all ---- */

static void number_run(struct pm_arena *a, struct pmfs_facts *facts, const struct found *f,
	struct pmfs_run_facts *run)
{
	struct pmfs_whole *totals = pm_arena_array(a, f->n_totals, sizeof(*totals));
	uint32_t *columns = pm_arena_array(a, f->n_columns, sizeof(*columns));
	run->lead = PM_NONE;
	for (uint32_t k = 0; k < f->n_totals; k++) {
		totals[k].value = f->totals[k];
		totals[k].quantity =
			pm_strtab_add(&facts->quantities, pm_bytes_of(f->quantities[k]));
		if (k == f->lead)
			run->lead = totals[k].quantity;
	}
	for (uint32_t k = 0; k < f->n_columns; k++)
		columns[k] = pm_strtab_add(&facts->columns, pm_bytes_of(f->columns[k]));
	run->totals = totals;
	run->columns = columns;
	run->n_totals = f->n_totals;
	run->n_columns = f->n_columns;
	run->lead_scale = f->lead_scale;
	if (f->lead_export)
		run->lead_export = pm_arena_printf(a, "%s", f->lead_export);
	if (run->host)
		run->host = pm_arena_printf(a, "%s", run->host);
	if (run->command)
		run->command = pm_arena_printf(a, "%s", run->command);
}

static void end_found(void *context)
{
	struct reading *reading = context;
	for (uint32_t i = 0; reading->found && i < reading->e->runs.n; i++)
		pm_arena_done(&reading->found[i].arena);
}

static void facts_build(struct pm_arena *a, void *owner, void *part, struct pm_error *err)
{
	struct pmfs_facts *facts = part;
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct reading *reading = pm_arena_alloc(scratch, sizeof(*reading));
	(void)err;
	reading->e = owner;
	reading->facts = facts;
	uint32_t n = reading->e->runs.n;
	facts->quantities = pm_strtab_in(a);
	facts->columns = pm_strtab_in(a);
	facts->of = pm_arena_array(a, n, sizeof(*facts->of));
	reading->found = pm_arena_array(scratch, n, sizeof(*reading->found));
	pm_arena_owns(scratch, end_found, reading);
	for (uint32_t i = 0; i < n; i++)
		facts->of[i].duration_ns = PM_NO_TIME;
	pm_build_check(a, pm_crew_each(n, read_run, reading));
	for (uint32_t i = 0; i < n; i++)
		if (reading->found[i].read)
			number_run(a, facts, &reading->found[i], &facts->of[i]);
		else
			facts->of[i].error = pm_arena_printf(a, "%s", facts->of[i].error);
	headers_make(a, facts);
	pm_arena_done(scratch);
}

int pmfs_facts(const struct pmfs_ensemble *e, const struct pmfs_facts **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {.size = sizeof(struct pmfs_facts),
		.what = "what is known of the runs",
		.build = facts_build};
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
