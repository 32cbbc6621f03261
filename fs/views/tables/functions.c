/*
 * The flat profile of the run, of a context and of a thread, and what there is of single functions:
 * their documents, circles, call edges, lines and durations. Those of a part of the run are summed
 * when a cursor starts. A row's position is its number, unless noted otherwise.
 */
#include "fs/views/sums/functions.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/buckets.h"
#include "formats/common/search.h"
#include "formats/common/work.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/categories.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/screen.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/callers.h"
#include "fs/views/sums/durations.h"
#include "fs/views/sums/lines.h"
#include "fs/views/sums/threads.h"

/* ---- functions.csv ---- */

/* table.b: of what; table.a: which of them. */
enum { OF_RUN, OF_CONTEXT, OF_THREAD };

static void start_part(struct pm_arena *a, struct pm_rows *rows, void *own, struct pm_error *err)
{
	const struct pm_table *table = rows->table;
	const struct pmfs_flat_profile **part = own;
	*part = (table->b == OF_THREAD ? pmfs_thread_functions : pmfs_context_functions)(
		a, pmfs_model_of(table->self), (uint32_t)table->a, err);
}

static int functions_start(struct pm_rows *rows, struct pm_error *err)
{
	return pmfs_rows_build(rows, sizeof(struct pmfs_flat_profile *), start_part, err);
}

/* How long calls took, where they are recorded one by one; of the run alone. */
static int time_cells(struct pmfs_model *m, const struct pmfs_functions *f, uint32_t function,
	bool known, struct pm_cell *cells, struct pm_error *err)
{
	static const struct pm_call_times none;
	const struct pm_profile *p = pmfs_model_profile(m);
	const struct pm_call_times *times = &none;
	int r = known ? pm_profile_call_times(p, &times, err) : 0;
	if (r < 0)
		return r;
	times = known && function < f->tree->n_functions ? &times[function] : &none;
	const uint64_t values[] = {times->p50_ns, times->p90_ns, times->p99_ns, times->max_ns};
	for (size_t i = 0; i < sizeof(values) / sizeof(*values); i++) {
		pm_set_empty(&cells[i]);
		if (times->known)
			pm_set_u64(&cells[i], values[i]);
	}
	return 0;
}

static int functions_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	const struct pmfs_flat_profile *const *own = rows->own, *part = own ? *own : NULL;
	const struct pmfs_functions *f;
	int r = pmfs_functions(m, &f, err);
	if (r < 0 || rows->at >= (part ? part->n : f->n))
		return r;
	uint32_t at = part ? part->order[rows->at] : (uint32_t)rows->at;
	uint32_t row = part && part->whole ? part->whole[at] : at;
	const struct pmfs_function *function = pmfs_function_at(f, row);
	rows->at++;
	*cells++ = pm_cell_u64(pmfs_function_id(f, row));
	*cells++ = pm_cell_u64(part ? part->contexts[at] : pmfs_function_count(f, row));
	cells = pmfs_number_cells(
		f->columns, (part ? part->cells : f->cells) + (size_t)at * f->columns->n, cells);
	int timed = pmfs_functions_are_timed(m, err);
	if (timed > 0)
		r = time_cells(m, f, f->function[row], !part, cells, err);
	if (timed < 0 || r < 0)
		return timed < 0 ? timed : r;
	cells += timed ? 4 : 0;
	if (pmfs_texts_are_joined(f->evals))
		*cells++ = pmfs_texts_cell(f->evals, function->file);
	pmfs_set_known(cells++, function->line, 0);
	*cells++ = pm_cell_text(pmfs_category_name(f->category[f->function[row]]));
	*cells++ = pm_cell_lasting(f->tree->texts[function->module]);
	*cells++ = pm_cell_lasting(f->tree->texts[function->file]);
	*cells++ = pm_cell_lasting(function->name);
	return 1;
}

static int functions_table(struct pmfs_model *m, uint32_t item, unsigned of, struct pm_table *ret,
	struct pm_error *err)
{
	static const struct pm_table_type of_run = {.next = functions_next, .dense = true};
	static const struct pm_table_type of_part = {
		.start = functions_start, .next = functions_next, .done = pmfs_rows_done};
	static const char *const before[] = {"function_id", "contexts", NULL};
	static const char *const columns[] = {"p50_ns", "p90_ns", "p99_ns", "max_ns", "line",
		"category", "module", "file", "name", NULL};
	static const char *const joined[] = {"p50_ns", "p90_ns", "p99_ns", "max_ns", "texts",
		"line", "category", "module", "file", "name", NULL};
	const struct pm_flat *flat;
	int r = pmfs_model_flat(m, &flat, err);
	int timed = r < 0 ? r : pmfs_functions_are_timed(m, err);
	if (timed < 0)
		return timed;
	const char *const *after = pmfs_texts_are_joined(flat->evals) ? joined : columns;
	r = pmfs_table_with_metrics(
		m, of == OF_RUN ? &of_run : &of_part, before, after + (timed ? 0 : 4), ret, err);
	ret->a = item;
	ret->b = of;
	return r;
}

int pmfs_functions_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	return functions_table(m, item, OF_RUN, ret, err);
}

int pmfs_context_functions_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	return functions_table(m, item, OF_CONTEXT, ret, err);
}

int pmfs_thread_functions_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	return functions_table(m, item, OF_THREAD, ret, err);
}

/* ---- info.txt ---- */

/*
 * How deep the function is below itself, and the inclusive cost of these instances, which its row
 * does not count again. Where only call edges are known, neither is.
 */
static void add_recursion(
	const struct pmfs_writing *w, const struct pmfs_functions *f, uint32_t row)
{
	uint32_t n = pmfs_function_count(f, row), depth = 0, deepest = 0;
	uint32_t incl = f->columns->first_incl;
	const uint32_t *contexts = f->contexts + f->first[row];
	uint32_t *ends = pm_arena_array(w->a, (size_t)n + 1, sizeof(*ends));
	const char *kind = pm_profile_kind_of_tree(pmfs_model_profile(w->model));
	pm_number *cells = pmfs_cells_new(w->a, f->columns->n);
	double below = 0;
	for (uint32_t i = 0; i < n; i++) {
		while (depth > 0 && contexts[i] >= ends[depth - 1])
			depth--;
		if (depth > 0 && incl != PM_NONE) {
			pm_build_proceed(w->a);
			pm_build_check(
				w->a, pmfs_run_cells(w->model, contexts[i], true, cells, w->err));
			below += isnan(cells[incl]) ? 0 : cells[incl];
		}
		deepest = depth > deepest ? depth : deepest;
		ends[depth++] = f->tree->end[contexts[i]];
	}
	if (deepest == 0 || strcmp(kind, "edges") == 0)
		return;
	pm_text_printf(w->out, "recursion_depth: %u\n", deepest);
	if (incl != PM_NONE) {
		pm_text_printf(w->out, "recursive_%s: ", f->columns->columns[incl].name);
		pm_text_f64(w->out, below);
		pm_text_char(w->out, '\n');
	}
}

static void write_info(const struct pmfs_writing *w)
{
	uint32_t row = (uint32_t)w->doc->text.a;
	struct pm_text *out = w->out;
	const struct pmfs_functions *f;
	pm_build_check(w->a, pmfs_functions(w->model, &f, w->err));
	const struct pmfs_function *function = pmfs_function_at(f, row);
	pm_text_printf(out, "function_id: %u\nname: ", pmfs_function_id(f, row));
	pm_text_line(out, pmfs_function_name(f, row));
	pm_text_char(out, '\n');
	pmfs_add_fact(out, "file", f->tree->texts[function->file]);
	if (function->line)
		pm_text_printf(out, "line: %u\n", function->line);
	pmfs_add_fact(out, "module", f->tree->texts[function->module]);
	if (function->offset)
		pm_text_printf(out, "offset: 0x%llx\n", (unsigned long long)function->offset);
	pm_text_printf(out, "contexts: %u\n", pmfs_function_count(f, row));
	add_recursion(w, f, row);
}

int pmfs_function_info_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, write_info, out, err);
}

/* ---- metrics.csv: position = column ---- */

static int metrics_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pmfs_functions *f;
	int r = pmfs_functions(pmfs_model_of(rows->table->self), &f, err);
	if (r < 0)
		return r;
	while (rows->at < f->columns->n) {
		uint32_t column = (uint32_t)rows->at++;
		const struct pm_metric *metric = f->columns->columns[column].flat;
		pm_number value = pmfs_function_cell(f, (uint32_t)rows->table->a, column);
		if (!metric || isnan(value))
			continue;
		cells[0] = pm_cell_u64(metric->id);
		cells[1] = pmfs_cell(value);
		cells[2] = pm_cell_text(metric->scope);
		cells[3] = pm_cell_text(metric->name);
		return 1;
	}
	return 0;
}

int pmfs_function_metrics_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.next = metrics_next, .dense = true};
	static const char *const columns[] = {"metric_id", "value", "scope", "name", NULL};
	(void)err;
	*ret = pmfs_table_plain(m, &type, columns);
	ret->types = "?f??";
	ret->a = item;
	return 0;
}

/* ---- cycles.csv, cycle-members.csv: functions that call one another in a circle ---- */

static int cycles_of(struct pmfs_model *m, const struct pm_cycles **ret,
	const struct pmfs_functions **ret_functions, struct pm_error *err)
{
	const struct pm_flat *flat;
	int r = pmfs_model_flat(m, &flat, err);
	*ret = r < 0 ? NULL : flat->cycles;
	return r < 0 ? r : pmfs_functions(m, ret_functions, err);
}

static const pm_number *costs_of(const struct pmfs_functions *f, uint32_t function)
{
	return f->cells + (size_t)f->row[f->identity->same[function]] * f->columns->n;
}

/* Of a cursor: cells of the cycle at hand. */
static int cycles_start(struct pm_rows *rows, struct pm_error *err)
{
	const struct pmfs_columns *c;
	int r = pmfs_model_columns(pmfs_model_of(rows->table->self), &c, err);
	rows->own = r == 0 ? malloc((c->n + 1) * sizeof(pm_number)) : NULL;
	return r < 0 ? r : rows->own ? 0 : pmfs_no_memory(err);
}

static int cycles_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pm_cycles *c;
	const struct pmfs_functions *f;
	int r = cycles_of(pmfs_model_of(rows->table->self), &c, &f, err);
	if (r < 0 || !c || rows->at >= c->n)
		return r;
	uint32_t cycle = (uint32_t)rows->at++;
	pm_number *sums = rows->own;
	for (uint32_t i = 0; i < f->columns->n; i++)
		sums[i] = NAN;
	/* Inclusive costs of members are unknown: the cycle has its own. */
	for (uint32_t i = c->first[cycle]; i < c->first[cycle + 1]; i++)
		pmfs_add_cells(f->columns, sums, costs_of(f, c->members[i]), false);
	pmfs_add_cells(f->columns, sums, costs_of(f, c->functions[cycle]), true);
	pm_set_u64(cells++, cycle + 1);
	pm_set_u64(cells++, c->first[cycle + 1] - c->first[cycle]);
	cells = pmfs_number_cells(f->columns, sums, cells);
	*cells = pm_cell_lasting(
		f->identity->functions[f->identity->same[c->functions[cycle]]].name);
	return 1;
}

int pmfs_cycles_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {
		.start = cycles_start, .next = cycles_next, .dense = true};
	static const char *const before[] = {"cycle_id", "functions", NULL};
	static const char *const after[] = {"name", NULL};
	(void)item;
	return pmfs_table_with_metrics(m, &type, before, after, ret, err);
}

static int members_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pm_cycles *c;
	const struct pmfs_functions *f;
	int r = cycles_of(pmfs_model_of(rows->table->self), &c, &f, err);
	if (r < 0 || !c || rows->at >= c->first[c->n])
		return r;
	uint32_t at = (uint32_t)rows->at++, cycle = (uint32_t)rows->state[0];
	if (at < c->first[cycle])
		cycle = 0; /* a cursor that has begun anew */
	while (at >= c->first[cycle + 1])
		cycle++;
	rows->state[0] = cycle;
	uint32_t row = f->row[f->identity->same[c->members[at]]];
	pm_set_u64(cells++, cycle + 1);
	pm_set_u64(cells++, pmfs_function_id(f, row));
	cells = pmfs_number_cells(f->columns, costs_of(f, c->members[at]), cells);
	*cells = pm_cell_lasting(pmfs_function_name(f, row));
	return 1;
}

int pmfs_cycle_members_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.next = members_next, .dense = true};
	static const char *const before[] = {"cycle_id", "function_id", NULL};
	static const char *const after[] = {"name", NULL};
	(void)item;
	return pmfs_table_with_metrics(m, &type, before, after, ret, err);
}

int pmfs_has_cycles(struct pmfs_model *m, uint32_t item, struct pm_error *err)
{
	(void)item;
	(void)err;
	return pmfs_model_profile(m)->has_cycles;
}

/* ---- callers.csv, and functions/F/callers.csv and callees.csv ---- */

/* Which edges: all (callers.csv), or those of a function's row. */
enum { ALL_CALLS, CALLS_TO, CALLS_FROM };

/* The list of edges that a table shows. */
static uint32_t choose(const struct pmfs_calls *c, const struct pmfs_functions *f,
	const struct pm_table *table, const uint32_t **ret)
{
	if (table->a == ALL_CALLS) {
		*ret = c->order;
		return c->n;
	}
	uint32_t function = f->function[table->b];
	bool to = table->a == CALLS_TO;
	const uint32_t *first = to ? c->callee_first : c->caller_first;
	*ret = (to ? c->by_callee : c->by_caller) + first[function];
	return first[function + 1] - first[function];
}

static struct pm_cell id_cell(const struct pmfs_functions *f, uint32_t function)
{
	if (function == PM_NONE || f->row[function] == PM_NONE)
		return pm_cell_empty();
	return pm_cell_u64(pmfs_function_id(f, f->row[function]));
}

static struct pm_cell name_cell(const struct pmfs_identity *id, uint32_t function)
{
	if (function == PM_NONE)
		return pm_cell_empty();
	return pm_cell_lasting(id->functions[function].name);
}

static int calls_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	const struct pmfs_functions *f;
	const struct pmfs_calls *c;
	const uint32_t *list;
	int r = pmfs_calls(m, &c, err);
	if (r < 0 || (r = pmfs_functions(m, &f, err)) < 0)
		return r;
	if (rows->at >= choose(c, f, rows->table, &list))
		return 0;
	uint32_t i = list[rows->at++];
	const struct pmfs_call_edge *call = &c->calls[i];
	*cells++ = id_cell(f, call->caller);
	*cells++ = id_cell(f, call->callee);
	pmfs_set_known(cells++, call->calls, PMFS_UNCOUNTED);
	const pm_number *numbers = c->cells + (size_t)i * c->columns->n;
	for (uint32_t k = 0; k < c->columns->n_shown; k++)
		if (k != c->columns->calls)
			*cells++ = pmfs_cell(numbers[k]);
	pmfs_derived_cells(c->columns, numbers, cells);
	cells += c->columns->n_derived;
	pmfs_set_known(cells++, call->line, 0);
	*cells++ = pm_cell_lasting(c->tree->texts[call->file]);
	*cells++ = name_cell(c->identity, call->caller);
	*cells++ = name_cell(c->identity, call->callee);
	return 1;
}

/* The metric column `calls` is left out: the table has one of its own. */
static int calls_table(struct pmfs_model *m, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.next = calls_next, .dense = true};
	static const char *const before[] = {"caller_id", "callee_id", "calls", NULL};
	static const char *const plain[] = {"", NULL};
	static const char *const after[] = {"line", "file", "caller", "callee", NULL};
	const struct pmfs_columns *c;
	int r = pmfs_model_columns(m, &c, err);
	if (r < 0)
		return r;
	*ret = (struct pm_table){.type = &type, .self = m};
	return pmfs_model_header(
		m, before, plain, after, c->calls, &ret->columns, &ret->n_columns, err);
}

int pmfs_callers_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	(void)item;
	return calls_table(m, ret, err);
}

int pmfs_function_callers_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	int r = calls_table(m, ret, err);
	ret->a = CALLS_TO;
	ret->b = item;
	return r;
}

int pmfs_function_callees_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	int r = calls_table(m, ret, err);
	ret->a = CALLS_FROM;
	ret->b = item;
	return r;
}

/* ---- lines.csv ---- */

/* Texts that lines compile while the program runs are files of their own: here is who ran them. */
static bool has_evals(const struct pm_flat *flat)
{
	return flat->evals && flat->evals->n > 0 && flat->statements;
}

static struct pm_cell *eval_cells(
	const struct pmfs_lines *l, const struct pm_line *line, struct pm_cell *cells)
{
	const struct pm_evals *e = l->evals;
	uint64_t n = 0,
		 i = PM_LOWER_BOUND(k, (uint64_t)0, e->n,
			 e->evals[k].file < line->file ||
				 (e->evals[k].file == line->file && e->evals[k].line < line->line));
	pm_number ns = NAN;
	pm_set_empty(&cells[0]);
	for (; i < e->n && e->evals[i].file == line->file && e->evals[i].line == line->line; i++) {
		n += e->evals[i].n;
		if (l->statements != PM_NONE)
			pmfs_add(&ns, pmfs_lines_statements(l, e->evals[i].text));
		pm_set_u64(&cells[0], n);
	}
	cells[1] = pmfs_cell(ns);
	return cells + 2;
}

static int lines_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pmfs_lines *l;
	int r = pmfs_lines(pmfs_model_of(rows->table->self), &l, err);
	if (r < 0 || rows->at >= l->n)
		return r;
	uint32_t row = l->order[rows->at++];
	const struct pm_line *line = &l->lines[row];
	pmfs_set_known(cells++, line->line, 0);
	cells = pmfs_number_cells(l->columns, l->cells + (size_t)row * l->columns->n, cells);
	if (rows->table->a)
		cells = eval_cells(l, line, cells);
	if (pmfs_texts_are_joined(l->evals))
		*cells++ = pmfs_texts_cell(l->evals, line->file);
	const struct pmfs_function *function =
		line->function == PM_NONE ? NULL : &l->identity->functions[line->function];
	*cells++ = function ? pm_cell_lasting(l->tree->texts[function->module]) : pm_cell_empty();
	*cells++ = pm_cell_lasting(l->tree->texts[line->file]);
	*cells++ = function ? pm_cell_lasting(function->name) : pm_cell_empty();
	return 1;
}

int pmfs_lines_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.next = lines_next, .dense = true};
	static const char *const before[] = {"line", NULL};
	static const char *const after[] = {"texts", "module", "file", "name", NULL};
	static const char *const joined[] = {
		"evals", "evals_ns", "texts", "module", "file", "name", NULL};
	static const char *const apart[] = {"evals", "evals_ns", "module", "file", "name", NULL};
	const struct pm_flat *flat;
	(void)item;
	int r = pmfs_model_flat(m, &flat, err);
	if (r < 0)
		return r;
	bool texts = pmfs_texts_are_joined(flat->evals), evals = has_evals(flat);
	r = pmfs_table_with_metrics(m, &type, before,
		!evals          ? after + !texts
			: texts ? joined
				: apart,
		ret, err);
	ret->a = evals;
	return r;
}

int pmfs_has_lines(struct pmfs_model *m, uint32_t item, struct pm_error *err)
{
	(void)item;
	(void)err;
	return pmfs_model_profile(m)->has_lines;
}

/* ---- histogram.csv: a row's position is the bucket, from the shortest call's on ---- */

static void set_sum(struct pm_cell *cell, unsigned __int128 sum)
{
	if (sum <= UINT64_MAX)
		pm_set_u64(cell, (uint64_t)sum);
	else
		pm_set_f64(cell, (double)sum);
}

static const struct pm_call_bucket *bucket_at(
	const struct pm_call_bucket *buckets, size_t n, uint32_t index)
{
	for (size_t i = 0; i < n; i++)
		if (buckets[i].index == index)
			return &buckets[i];
	return NULL;
}

static int histogram_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pm_call_bucket *buckets;
	size_t n;
	int r = pmfs_histogram(
		pmfs_model_of(rows->table->self), (uint32_t)rows->table->a, &buckets, &n, err);
	if (r < 0 || n == 0)
		return r;
	uint32_t first = buckets[0].index, last = buckets[n - 1].index;
	for (; first + rows->at <= last; rows->at++) {
		uint32_t index = first + (uint32_t)rows->at;
		uint64_t start = pm_bucket_start(index);
		bool is_top = index + 1 == PM_BUCKETS;
		uint64_t end = is_top ? 0 : pm_bucket_start(index + 1);
		const struct pm_call_bucket *bucket = bucket_at(buckets, n, index);
		if (!is_top && start == end)
			continue; /* the bucket contains no integer */
		pm_set_u64(&cells[0], start);
		pmfs_set_known(&cells[1], end, 0);
		pm_set_u64(&cells[2], bucket ? bucket->calls : 0);
		set_sum(&cells[3], bucket ? bucket->ns : 0);
		rows->at++;
		return 1;
	}
	return 0;
}

int pmfs_function_histogram_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.next = histogram_next};
	static const char *const columns[] = {"from_ns", "to_ns", "calls", "time_ns", NULL};
	(void)err;
	*ret = pmfs_table_plain(m, &type, columns);
	ret->a = item;
	return 0;
}

/* ---- slowest.csv: a row's position is its rank ---- */

/* The thread and its directory; without threads, the directory of the call. */
static int set_thread(struct pm_rows *rows, const struct pmfs_slow_call *call,
	struct pm_cell *thread, struct pm_cell *path, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	const struct pm_threads *threads;
	struct pm_bytes directory;
	pm_set_empty(thread);
	int r = pmfs_call_path(m, call->thread, call->seq, rows->scratch, &directory, err);
	if (r < 0 || (r = pmfs_model_threads(m, &threads, err)) < 0)
		return r;
	if (call->thread < threads->n)
		pm_set_u64(thread, threads->threads[call->thread].id);
	pm_set_text(path, directory);
	return 0;
}

static int slowest_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	const struct pmfs_durations *d;
	const struct pm_tree *tree;
	uint64_t origin;
	int r = pmfs_durations(m, (uint32_t)rows->table->a, &d, err);
	if (r < 0 || rows->at >= d->n_slowest)
		return r;
	const struct pmfs_slow_call *call = &d->slowest[rows->at++];
	if ((r = pmfs_model_tree(m, &tree, err)) < 0 ||
		(r = pmfs_time_origin(m, &origin, err)) < 0 ||
		(r = set_thread(rows, call, &cells[3], &cells[5], err)) < 0)
		return r;
	pm_set_u64(&cells[0], call->duration_ns);
	pmfs_set_time(&cells[1], call->time_ns, origin);
	pm_set_u64(&cells[2], call->time_ns);
	pm_set_u64(&cells[4], pm_tree_number(tree, call->context));
	return 1;
}

int pmfs_function_slowest_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.next = slowest_next, .dense = true};
	static const char *const columns[] = {
		"duration_ns", "time_ns", "timestamp_ns", "thread_id", "context_id", "path", NULL};
	(void)err;
	*ret = pmfs_table_plain(m, &type, columns);
	ret->a = item;
	return 0;
}
