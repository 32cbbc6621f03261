/* The total of each quantity, and the part that is in no row. */
#include "fs/views/sums/totals.h"

#include <math.h>
#include <string.h>

#include "fs/views/model/flat.h"
#include "fs/views/model/parts.h"
#include "fs/views/model/screen.h"
#include "fs/views/sums/functions.h"
#include "fs/views/sums/stacks.h"
#include "fs/views/sums/threads.h"

/* ---- adding up ---- */

struct summing {
	struct pm_arena *a, *scratch;
	struct pmfs_model *model;
	struct pm_error *err;
	const struct pm_tree *tree;
	const struct pmfs_columns *columns;
	pm_number *cells;     /* of a context */
	uint32_t *column;     /* column → the column with the total of its group */
	bool *at_the_top;     /* by column: inclusive costs at the top are summed */
	pm_number *of, *idle; /* of struct pmfs_totals, as is what follows */
	bool *in_contexts;
};

/* Top-level inclusive costs if they add up, else exclusive costs, else whatever exists. */
static void choose_columns(struct summing *s)
{
	bool overlap = pmfs_costs_overlap(s->model);
	for (uint32_t i = 0; i < s->columns->n; i++) {
		const struct pmfs_column *c = &s->columns->columns[i];
		bool has_pair = c->pair != PM_NONE;
		bool own = c->role != PM_ROLE_INCLUSIVE;
		s->column[i] = has_pair && own != overlap ? c->pair : i;
		s->at_the_top[i] = s->columns->columns[s->column[i]].role == PM_ROLE_INCLUSIVE;
	}
}

static void read_cells(struct summing *s, uint32_t context, bool flat)
{
	pm_build_check(s->a, pmfs_run_cells(s->model, context, flat, s->cells, s->err));
}

static void add_contexts(struct summing *s, bool top, pm_number *sums)
{
	for (uint32_t i = 0; i < s->tree->n_contexts; i = top ? s->tree->end[i] : i + 1) {
		read_cells(s, i, true);
		bool nested = pm_tree_frame(s->tree, i)->nested;
		for (uint32_t k = 0; k < s->columns->n; k++) {
			bool held = nested && s->columns->columns[k].role == PM_ROLE_EXCLUSIVE;
			if (s->at_the_top[k] == top && s->column[k] == k && !held &&
				isfinite(s->cells[k]))
				sums[k] += s->cells[k];
		}
	}
}

static void sum_up(struct summing *s)
{
	pm_number *sums = pm_arena_array(s->scratch, s->columns->n + (size_t)1, sizeof(*sums));
	bool all = false;
	choose_columns(s);
	for (uint32_t i = 0; i < s->columns->n; i++)
		all |= !s->at_the_top[i];
	add_contexts(s, true, sums);
	if (all)
		add_contexts(s, false, sums);
	for (uint32_t i = 0; i < s->columns->n; i++) {
		s->of[i] = sums[s->column[i]];
		s->in_contexts[i] = s->of[i] != 0;
	}
}

/*
 * What contexts lack, such as the time of statements, is stored for threads by formats that store
 * flat costs.
 */
static void add_stored(struct summing *s)
{
	const struct pm_threads *threads;
	const struct pm_flat *flat;
	pm_build_check(s->a, pmfs_model_flat(s->model, &flat, s->err));
	if (!flat->functions)
		return;
	pm_build_check(s->a, pmfs_model_threads(s->model, &threads, s->err));
	for (uint32_t i = 0; i < threads->n; i++) {
		pm_build_check(s->a, pmfs_thread_stored(s->model, i, s->cells, s->err));
		for (uint32_t k = 0; k < s->columns->n; k++)
			if (!s->in_contexts[k] && isfinite(s->cells[k]))
				s->of[k] += s->cells[k];
	}
}

/* What context 0 of a window costs; of a difference, what increases and decreases add up to. */
static void find_idle(struct summing *s, struct pmfs_totals *ret)
{
	uint32_t own = s->columns->first_excl != PM_NONE ? s->columns->first_excl : 0;
	uint32_t nothing = pm_tree_find(s->tree, 0);
	if (s->columns->n == 0)
		return;
	ret->of_amounts = s->columns->columns[0].decreases;
	for (uint32_t i = 0; ret->of_amounts && i < s->tree->n_contexts; i++) {
		read_cells(s, i, false);
		ret->busy += isfinite(s->cells[own]) ? fabsl(s->cells[own]) : 0;
	}
	if (ret->of_amounts)
		return;
	ret->busy = s->of[0];
	if (nothing == PM_NONE)
		return;
	read_cells(s, nothing, true);
	for (uint32_t i = 0; i < s->columns->n; i++)
		s->idle[i] = isfinite(s->cells[s->column[i]]) ? s->cells[s->column[i]] : 0;
	ret->busy -= s->idle[0];
}

static void build_totals(struct pm_arena *a, void *m, void *p, struct pm_error *err)
{
	struct pmfs_totals *ret = p;
	struct summing s = {.a = a, .scratch = pm_arena_scratch(a), .model = m, .err = err};
	pm_build_check(a, pmfs_model_columns(m, &s.columns, err));
	pm_build_check(a, pmfs_model_tree(m, &s.tree, err));
	size_t n = s.columns->n + (size_t)1;
	s.of = pm_arena_array(a, n, sizeof(*s.of));
	s.idle = pm_arena_array(a, n, sizeof(*s.idle));
	s.in_contexts = pm_arena_array(a, n, sizeof(*s.in_contexts));
	s.cells = pm_arena_array(s.scratch, n, sizeof(*s.cells));
	s.column = pm_arena_array(s.scratch, n, sizeof(*s.column));
	s.at_the_top = pm_arena_array(s.scratch, n, sizeof(*s.at_the_top));
	sum_up(&s);
	add_stored(&s);
	*ret = (struct pmfs_totals){
		.of = s.of, .idle = s.idle, .in_contexts = s.in_contexts, .columns = s.columns};
	find_idle(&s, ret);
	pm_arena_done(s.scratch);
}

int pmfs_totals(struct pmfs_model *m, const struct pmfs_totals **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct pmfs_totals), .what = "the totals", .build = build_totals};
	return pmfs_model_part(m, PMFS_PART_TOTALS, &type, ret, err);
}

int pmfs_has_cost(struct pmfs_model *m, uint32_t column, struct pm_error *err)
{
	const struct pmfs_totals *w;
	int r = pmfs_totals(m, &w, NULL);
	if (pm_is_passing(r))
		return pmfs_no_memory(err);
	return r < 0 || w->in_contexts[column];
}

/* ---- what is missing ---- */

/* The exclusive cost of all functions. */
static double of_functions(const struct pmfs_functions *f, uint32_t column)
{
	double sum = 0;
	for (uint32_t i = 0; i < f->n; i++) {
		double cell = pmfs_function_cell(f, i, column);
		if (isfinite(cell))
			sum += cell;
	}
	return sum;
}

/* Reports columns whose sum differs from the total. */
static void add_sum(struct pm_text *out, const struct pmfs_column *c, const char *what, double sum,
	double whole)
{
	struct pm_bytes unit = c->flat ? c->flat->unit : c->tree->unit;
	pm_text_printf(out, "unaccounted  %s: %s add up to ", c->base, what);
	pmfs_print_amount(out, sum, unit);
	pm_text_str(out, " of ");
	pmfs_print_amount(out, whole, unit);
}

/*
 * Exports do not show negative costs, so the sum is too large if calls are longer than their
 * callers.
 */
static bool exports_agree(struct pm_arena *a, struct pmfs_model *m, const struct pmfs_totals *w,
	double *ret, struct pm_error *err)
{
	const struct pmfs_column *c = &w->columns->columns[0];
	struct pm_arena *scratch = pm_arena_scratch(a);
	const struct pmfs_stacks *s = pmfs_stacks_make(scratch, m, 0, PM_NONE, PM_NONE, err);
	uint32_t n = s->end - s->first;
	*ret = 0;
	for (uint32_t i = 0; i < n; i++)
		*ret += s->self[i];
	pm_arena_done(scratch);
	return fabsl(*ret - w->of[0]) * c->export_scale <=
		1e-9 * fabsl(w->of[0]) * c->export_scale + n;
}

/*
 * Inclusive costs at the top may repeat a part of the total: after a fork inside of a call, the
 * child's record of that call has the time before the fork, too.
 */
static double sum_of_tops(
	struct pm_arena *a, struct pmfs_model *m, const struct pmfs_totals *w, struct pm_error *err)
{
	pm_number *cells = pmfs_cells_new(a, w->columns->n);
	const struct pm_tree *tree;
	double sum = 0;
	pm_build_check(a, pmfs_model_tree(m, &tree, err));
	for (uint32_t i = 0; i < tree->n_contexts; i = tree->end[i]) {
		pm_build_check(a, pmfs_run_cells(m, i, true, cells, err));
		double value = cells[w->columns->first_incl];
		sum += isfinite(value) ? value : 0;
	}
	return sum;
}

/* Returns the number of metrics of which functions have too little, and appends the first. */
static unsigned add_functions(
	const struct pmfs_functions *f, const struct pmfs_totals *w, struct pm_text *out)
{
	unsigned n = 0;
	for (uint32_t i = 0; i < w->columns->n; i++) {
		const struct pmfs_column *c = &w->columns->columns[i];
		struct pm_bytes unit = c->flat ? c->flat->unit : c->tree->unit;
		double sum = of_functions(f, i);
		/* Of doubles in another order; of whole nanoseconds that were rounded one by one.
		 */
		double rounding = 1e-9 * fabsl(w->of[i]) +
			(pm_bytes_equal(unit, pm_bytes_of("ns")) ? f->n : 0);
		if (pmfs_column_is_first(c) && fabsl(w->of[i]) * c->export_scale >= 0x1p63)
			pm_text_printf(out, "unaccounted  %s: exports end at 2^63\n", c->base);
		else if (c->role == PM_ROLE_EXCLUSIVE && fabsl(w->of[i] - sum) > rounding &&
			n++ == 0)
			add_sum(out, c, "functions", sum, w->of[i]);
	}
	return n;
}

void pmfs_unaccounted(
	struct pm_arena *a, struct pmfs_model *m, struct pm_text *out, struct pm_error *err)
{
	const char *kind = pm_profile_kind_of_tree(pmfs_model_profile(m));
	const struct pmfs_functions *f;
	const struct pmfs_totals *w;
	double sum;
	pm_build_check(a, pmfs_totals(m, &w, err));
	pm_build_check(a, pmfs_functions(m, &f, err));
	const struct pmfs_column *columns = w->columns->columns;
	unsigned n = add_functions(f, w, out);
	if (n > 1)
		pm_text_printf(out, "; likewise %u other metric%s", n - 1, n == 2 ? "" : "s");
	if (n > 0)
		pm_text_char(out, '\n');
	/* There may be no exports, or of increases alone. */
	else if (w->columns->n > 0 && w->in_contexts[0] && !w->of_amounts &&
		!exports_agree(a, m, w, &sum, err)) {
		add_sum(out, &columns[0], "exports", sum, w->of[0]);
		pm_text_char(out, '\n');
	}
	uint32_t i = w->columns->first_incl;
	if (i == PM_NONE || !pmfs_costs_overlap(m) || (kind && strcmp(kind, "calls") != 0))
		return;
	sum = sum_of_tops(a, m, w, err);
	if (fabsl(sum - w->of[i]) <= 1e-9 * fabsl(sum) + 1)
		return;
	add_sum(out, &columns[i], "inclusive costs of top-level contexts", sum, w->of[i]);
	pm_text_char(out, '\n');
}

/* ---- what info.json and the texts state ---- */

int pmfs_count(struct pmfs_model *m, struct pmfs_counts *ret, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	const struct pmfs_functions *functions;
	const struct pm_metrics *metrics;
	const struct pm_threads *threads;
	const struct pm_damages *damages;
	const struct pm_tree *tree;
	int r;
	if ((r = pmfs_model_tree(m, &tree, err)) < 0 ||
		(r = pmfs_model_metrics(m, &metrics, err)) < 0 ||
		(r = pmfs_model_threads(m, &threads, err)) < 0 ||
		(r = pmfs_functions(m, &functions, err)) < 0 ||
		(r = pm_profile_damage(p, &damages, err)) < 0)
		return r;
	ret->contexts = tree->n_contexts;
	ret->metrics = metrics->n;
	ret->functions = functions->n;
	ret->damages = damages->n;
	bool has_threads = pm_profile_has(p, threads);
	ret->threads = has_threads ? threads->n - threads->n_lanes : PM_NO_TIME;
	ret->samples = has_threads ? 0 : PM_NO_TIME;
	for (uint32_t i = 0; has_threads && i < threads->n; i++)
		if (threads->threads[i].has_trace)
			ret->samples += threads->threads[i].n_samples;
	return pm_profile_span(p, &ret->time_origin_ns, &ret->duration_ns, err);
}
