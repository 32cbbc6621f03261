/*
 * The stacks of both sides, for viewers and as differential flame graphs: widths from one run,
 * colours by difference.
 */
#include "fs/compare/internal.h"

#include <math.h>
#include <stdlib.h>

#include "fs/compare/union.h"
#include "fs/views/exports/export.h"
#include "fs/views/pictures/flame.h"
#include "fs/views/pictures/shades.h"
#include "fs/views/sums/stacks.h"

struct two_stacks {
	struct pmfs_stacks side[PMFS_N_SIDES]; /* `self`: means of exclusive costs */
	struct pmfs_column column;
	struct pm_metric metric; /* of the column */
};

/* Stacks of two sides: those of each run, mapped to the contexts of the union. */

struct summing {
	struct pm_arena arena;
	struct pmfs_compare *compare;
	struct pm_error *err;
	const struct pmfs_tree_union *u;
	struct two_stacks *stacks;
	uint32_t quantity;
	bool shares;
	uint32_t n[PMFS_N_SIDES]; /* repetitions so far */
	double *sums;
};

/* The column of the run's model for the quantity, or PM_NONE. */
static uint32_t column_of(
	const struct pmfs_costs *k, const struct pmfs_compared_run *run, uint32_t quantity)
{
	for (uint32_t i = 0; i < run->n_columns; i++)
		if (k->costs[run->cost[i]].quantity == quantity)
			return i;
	return PM_NONE;
}

static void add_repetition(struct summing *s, enum pmfs_side side)
{
	double *mean = s->stacks->side[side].self;
	uint32_t n = ++s->n[side];
	for (uint32_t i = 0; i < s->u->tree.n_contexts; i++)
		mean[i] += (s->sums[i] - mean[i]) / n;
}

static void read_run(void *self, uint32_t run, struct pmfs_model *m, struct pm_error *err)
{
	struct summing *s = self;
	const struct pmfs_compared_run *of = &s->u->costs->runs[run];
	uint32_t column = column_of(s->u->costs, of, s->quantity);
	struct pmfs_stacks stacks = {.tree = NULL};
	double whole = of->whole[s->quantity], scale = s->shares && whole != 0 ? 100 / whole : 1;
	for (uint32_t i = 0; i < s->u->tree.n_contexts; i++)
		s->sums[i] = 0;
	if (column != PM_NONE) {
		pm_build_check(
			&s->arena, pmfs_stacks_make(m, column, PM_NONE, PM_NONE, &stacks, err));
		for (uint32_t i = 0; i < stacks.end && i < s->u->n_of[run]; i++)
			if (s->u->of[run][i] != PM_NONE)
				s->sums[s->u->of[run][i]] += stacks.self[i] * scale;
		pmfs_stacks_done(&stacks);
	}
	add_repetition(s, of->side);
}

static void sum(void *context)
{
	struct summing *s = context;
	const struct pm_tree *tree = &s->u->tree;
	size_t n = (size_t)tree->n_contexts + 1;
	s->sums = pm_arena_array(&s->arena, n, sizeof(*s->sums));
	for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
		struct pmfs_stacks *t = &s->stacks->side[side];
		*t = (struct pmfs_stacks){
			.tree = tree, .column = &s->stacks->column, .end = tree->n_contexts};
		t->shown = pm_arena_array(&t->arena, n, sizeof(*t->shown));
		t->self = pm_arena_array(&t->arena, n, sizeof(*t->self));
		pm_build_check(&s->arena, t->shown && t->self ? 0 : -ENOMEM);
		pmfs_stacks_find_frames(tree, 0, tree->n_contexts, t->shown);
	}
	pmfs_compare_read(&s->arena, s->compare, s->u->costs, (struct pmfs_reader){NULL, read_run},
		s, s->err);
}

/*
 * `ret` must not be moved. Exclusive costs are those of the runs' own exports, so totals are the
 * same; with `shares`, of a run with a cost, its total is 100. The caller frees `ret`, also after a
 * failure.
 */
static int two_stacks_make(struct pmfs_compare *c, const struct pmfs_tree_union *u,
	uint32_t quantity, bool shares, struct two_stacks *ret, struct pm_error *err)
{
	struct summing s = {.compare = c,
		.u = u,
		.stacks = ret,
		.quantity = quantity,
		.shares = shares,
		.err = err};
	const struct pmfs_cost *cost = pmfs_quantity_cost(u->costs, quantity);
	*ret = (struct two_stacks){
		.column = {.export = cost->export,
			.export_scale = cost->export_scale,
			.flat = &ret->metric},
		.metric = {.name = cost->metric, .unit = cost->unit},
	};
	int r = pm_build(&s.arena, sum, &s);
	pm_arena_done(&s.arena);
	return r < 0 ? pm_error_plain(err, r) : 0;
}

static void two_stacks_done(struct two_stacks *s)
{
	for (unsigned side = 0; side < PMFS_N_SIDES; side++)
		pmfs_stacks_done(&s->side[side]);
}

/* ---- export/: folded stacks as of difffolded.pl, and pprof with negative values ---- */

/*
 * Means are seldom whole units: a call that one of three repetitions has is a third of a call. What
 * rounding a frame leaves counts for the next one, so that all of them add up to the total.
 */
static void round_means(struct pmfs_stacks *s)
{
	double scale = s->column->export_scale, left = 0;
	for (uint32_t i = 0; i < s->end; i++) {
		double exact = s->self[i] * scale + left;
		if (!(s->self[i] > 0) || !(exact < 0x1p53))
			continue;
		double units = round(exact);
		left = exact - units;
		s->self[i] = units / scale;
	}
}

/* The stacks of a document, limited like those of a single run. */
static int make(const struct pm_doc *doc, struct two_stacks *ret, struct pm_error *err)
{
	struct pmfs_compare *c = pmfs_compare_of(doc->text.self);
	const struct pmfs_tree_union *u;
	uint32_t levels;
	*ret = (struct two_stacks){.metric = {.unit = {NULL, 0}}};
	int r = pmfs_union_get(c, &u, err);
	if (r == 0)
		r = two_stacks_make(c, u, (uint32_t)doc->text.a, false, ret, err);
	for (unsigned side = 0; r == 0 && side < PMFS_N_SIDES; side++) {
		r = pmfs_stacks_cut(&ret->side[side], &levels, err);
		if (r == 0 && u->costs->n_good[side] > 1)
			round_means(&ret->side[side]);
	}
	return r;
}

int pmfs_compare_folded_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct two_stacks s;
	int r = make(doc, &s, err);
	if (r == 0)
		r = pmfs_folded_write(&s.side[PMFS_BASE], &s.side[PMFS_OTHER], out, err);
	two_stacks_done(&s);
	return r;
}

int pmfs_compare_pprof_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	const struct pmfs_compare *c = pmfs_compare_of(doc->text.self);
	struct two_stacks s;
	struct pm_text comment = {.p = NULL};
	int r = make(doc, &s, err);
	pm_text_line(&comment, pm_bytes_of(c->of.name));
	pm_text_str(&comment, " against ");
	pm_text_line(&comment, pm_bytes_of(c->of.base_name));
	if (r == 0) {
		struct pmfs_pprof_about about = {.comment = pm_text_view(&comment),
			.unit = pmfs_export_unit(&s.column, "count")};
		r = pmfs_pprof_write(&s.side[PMFS_BASE], &s.side[PMFS_OTHER], &about, out, err);
	}
	two_stacks_done(&s);
	pm_text_end(&comment, out);
	return r;
}

/*
 * Draws both sides on one tree. The colour of a frame is the difference of its exclusive cost,
 * so a change is visible where it occurs and not in all callers. With repetitions, a frame is
 * grey if the difference of its function is not beyond the noise, as in functions.csv.
 */

/* A quantity on both sides, by node of the tree of names. */
struct drawing {
	const struct pmfs_compare *compare;
	const struct pmfs_costs *costs;
	struct pmfs_name_paths side[PMFS_N_SIDES];
	struct pmfs_name_paths changed; /* > 0: beyond the noise; n = 0: not tested */
	uint8_t *shade;
	struct pmfs_caption caption;
	struct pm_text title, of, legend, metric;
};

/* Passes failures of the texts on to `out`, which contains them. */
static void drawing_done(struct drawing *d, struct pm_text *out)
{
	for (unsigned side = 0; side < PMFS_N_SIDES; side++)
		pmfs_name_paths_done(&d->side[side]);
	pmfs_name_paths_done(&d->changed);
	free(d->shade);
	pm_text_end(&d->title, out);
	pm_text_end(&d->of, out);
	pm_text_end(&d->legend, out);
	pm_text_end(&d->metric, out);
}

/* ---- what is drawn ---- */

/* The frames of functions whose difference is beyond the noise. */
static int find_changed(struct drawing *d, struct pmfs_compare *c, const struct pmfs_tree_union *u,
	const struct pmfs_stacks *s, struct pm_error *err)
{
	const struct pmfs_joined *j;
	struct pmfs_stacks marks = *s;
	if (!pmfs_compare_tested(d->costs))
		return 0;
	int r = pmfs_functions_get(c, &j, err);
	if (r < 0)
		return r;
	marks.self = calloc((size_t)u->tree.n_contexts + 1, sizeof(*marks.self));
	if (!marks.self)
		return pm_error_plain(err, -ENOMEM);
	for (uint32_t i = 0; i < u->tree.n_contexts; i++) {
		uint32_t key = u->key[PMFS_OTHER][i];
		if (key == PM_NONE)
			key = u->key[PMFS_BASE][i];
		uint32_t row = key < pmfs_n_function_keys(&u->frames) ? j->row_of[key] : PM_NONE;
		marks.self[i] = row != PM_NONE && pmfs_joined_changed(j, row);
	}
	r = pmfs_name_paths_make(&marks, pm_text_line, &d->changed, err);
	free(marks.self);
	return r;
}

static double difference(const struct drawing *d, uint32_t node, double whole)
{
	double base = d->side[PMFS_BASE].self[node], other = d->side[PMFS_OTHER].self[node];
	if (!pmfs_is_change(base, other, whole) || (d->changed.n && !(d->changed.self[node] > 0)))
		return 0;
	return other - base;
}

static int shade_nodes(struct drawing *d)
{
	uint32_t n = d->side[PMFS_BASE].n;
	double whole[PMFS_N_SIDES] = {0, 0}, most = 0;
	d->shade = calloc((size_t)n + 1, sizeof(*d->shade));
	if (!d->shade)
		return -ENOMEM;
	for (uint32_t i = 0; i < 2 * n; i++)
		whole[i / n] += d->side[i / n].self[i % n];
	double larger = fmax(whole[PMFS_BASE], whole[PMFS_OTHER]);
	for (uint32_t i = 0; i < n; i++)
		most = fmax(most, fabs(difference(d, i, larger)));
	for (uint32_t i = 0; i < n; i++)
		d->shade[i] = pmfs_shade_of(difference(d, i, larger), most);
	return 0;
}

/* Whether shares of the total are drawn, as tables have them. */
static bool has_shares(const struct drawing *d, uint32_t quantity)
{
	return d->costs->shares && pmfs_quantity_cost(d->costs, quantity)->role != PM_ROLE_COUNT;
}

static int read_quantity(
	struct drawing *d, struct pmfs_compare *c, uint32_t quantity, struct pm_error *err)
{
	const struct pmfs_tree_union *u;
	struct two_stacks s = {.metric = {.unit = {NULL, 0}}};
	int r = pmfs_union_get(c, &u, err);
	if (r < 0)
		return r;
	r = two_stacks_make(c, u, quantity, has_shares(d, quantity), &s, err);
	for (unsigned side = 0; r == 0 && side < PMFS_N_SIDES; side++)
		r = pmfs_name_paths_make(&s.side[side], pm_text_line, &d->side[side], err);
	if (r == 0)
		r = find_changed(d, c, u, &s.side[PMFS_OTHER], err);
	if (r == 0 && shade_nodes(d) < 0)
		r = pm_error_plain(err, -ENOMEM);
	two_stacks_done(&s);
	return r;
}

/* ---- captions ---- */

/* The first quantity with costs, or PM_NONE. */
static uint32_t first_quantity(const struct pmfs_costs *k)
{
	for (uint32_t i = 0; i < k->n_shown_quantities; i++)
		if (pmfs_quantity_is_shown(k, i))
			return i;
	return PM_NONE;
}

/* `side` gives the widths. */
static void name_sides(struct drawing *d, enum pmfs_side side)
{
	const struct pmfs_comparison *of = &d->compare->of;
	struct pm_bytes name = pm_bytes_of(of->name), base = pm_bytes_of(of->base_name);
	pm_text_line(&d->title, name);
	pm_text_str(&d->title, " against ");
	pm_text_line(&d->title, base);
	pm_text_str(&d->of, "widths of ");
	pm_text_line(&d->of, side == PMFS_OTHER ? name : base);
	pm_text_str(&d->legend,
		d->costs->shares ? "Red: a function's own share of the total is larger in "
				 : "Red: more of a function's own cost in ");
	pm_text_line(&d->legend, name);
	pm_text_str(&d->legend, " than in ");
	pm_text_line(&d->legend, base);
	if (!d->costs->in_common)
		pm_text_str(&d->legend, "; they have no quantity in common.");
	else if (pmfs_compare_tested(d->costs))
		pm_text_str(&d->legend, "; blue: less; grey: no difference beyond the noise.");
	else
		pm_text_str(&d->legend, "; blue: less; grey: the same.");
	d->caption.title = pm_text_view(&d->title);
	d->caption.of = pm_text_view(&d->of);
	d->caption.legend = pm_text_view(&d->legend);
	d->caption.source = pm_bytes_of("");
	d->caption.whole = pm_bytes_of("all");
}

static struct pm_bytes unit_of(const struct drawing *d, uint32_t quantity)
{
	return has_shares(d, quantity) ? pm_bytes_of("%")
				       : pmfs_quantity_cost(d->costs, quantity)->unit;
}

static void name_quantity(struct drawing *d, uint32_t quantity)
{
	const struct pmfs_cost *cost = pmfs_quantity_cost(d->costs, quantity);
	pm_text_clear(&d->metric);
	pm_text_line(&d->metric, cost->metric);
	if (has_shares(d, quantity))
		pm_text_str(&d->metric, ", share of the total");
	d->caption.metric = pm_text_view(&d->metric);
	d->caption.unit = unit_of(d, quantity);
}

static struct pmfs_flame flame_of(const struct drawing *d, enum pmfs_side side)
{
	struct pmfs_flame flame = pmfs_flame_of(&d->side[side]);
	flame.before = d->side[side == PMFS_OTHER ? PMFS_BASE : PMFS_OTHER].self;
	flame.shade = d->shade;
	return flame;
}

/* ---- the SVGs ---- */

static int render_svg(
	const struct pm_doc *doc, enum pmfs_side side, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_compare *c = pmfs_compare_of(doc->text.self);
	struct drawing d = {.compare = c};
	int r = pmfs_compare_costs(c, &d.costs, err);
	if (r < 0)
		return r;
	uint32_t quantity = first_quantity(d.costs);
	name_sides(&d, side);
	if (quantity != PM_NONE) {
		name_quantity(&d, quantity);
		r = read_quantity(&d, c, quantity, err);
	}
	if (r == 0) {
		struct pmfs_flame flame = flame_of(&d, side);
		r = pmfs_flamegraph_draw(&flame, &d.caption, out, err);
	}
	drawing_done(&d, out);
	return r;
}

int pmfs_compare_flame_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return render_svg(doc, PMFS_OTHER, out, err);
}

int pmfs_compare_gone_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return render_svg(doc, PMFS_BASE, out, err);
}

/* ---- the page ---- */

/* The quantity with the widths of both sides, as two metrics. */
static void add_quantity(struct drawing *d, struct pmfs_flame_page *page, uint32_t quantity)
{
	const struct pmfs_comparison *of = &d->compare->of;
	const struct pmfs_cost *cost = pmfs_quantity_cost(d->costs, quantity);
	struct pm_text column = {.p = NULL};
	for (unsigned i = 0; i < PMFS_N_SIDES; i++) {
		enum pmfs_side side = i == 0 ? PMFS_OTHER : PMFS_BASE;
		struct pmfs_caption caption = d->caption;
		pm_text_clear(&d->metric);
		pm_text_line(&d->metric, cost->metric);
		pm_text_str(&d->metric, ", widths of ");
		pm_text_line(&d->metric, pm_bytes_of(i == 0 ? of->name : of->base_name));
		caption.metric = pm_text_view(&d->metric);
		caption.unit = unit_of(d, quantity);
		pm_text_clear(&column);
		pm_text_printf(&column, "%s%s", cost->export, i == 0 ? "" : "_base");
		pm_text_char(&column, '\0');
		page->shade = d->shade;
		if (!column.failed)
			pmfs_flame_page_metric(
				page, &caption, column.p, page->n_metrics == 0, d->side[side].self);
	}
	pm_text_end(&column, page->out);
}

/* Names and tree are those of the first quantity, because paths have the same numbers for each. */
static int add_quantities(struct drawing *first, struct pmfs_compare *c,
	struct pmfs_flame_page *page, uint32_t quantity, struct pm_error *err)
{
	int r = 0;
	add_quantity(first, page, quantity);
	for (uint32_t i = quantity + 1; r == 0 && i < first->costs->n_shown_quantities; i++) {
		struct drawing d = {.compare = c, .costs = first->costs};
		if (!pmfs_quantity_is_shown(first->costs, i))
			continue;
		r = read_quantity(&d, c, i, err);
		if (r == 0)
			add_quantity(&d, page, i);
		drawing_done(&d, page->out);
	}
	return r;
}

int pmfs_compare_page_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_compare *c = pmfs_compare_of(doc->text.self);
	struct drawing d = {.compare = c};
	struct pmfs_flame_layout layout = {.order = NULL};
	int r = pmfs_compare_costs(c, &d.costs, err);
	if (r < 0)
		return r;
	uint32_t quantity = first_quantity(d.costs);
	name_sides(&d, PMFS_OTHER);
	d.caption.of = d.caption.legend;
	if (quantity != PM_NONE)
		r = read_quantity(&d, c, quantity, err);
	struct pmfs_flame flame = flame_of(&d, PMFS_OTHER);
	if (r == 0)
		r = pmfs_flame_lay_out(&flame, &layout, err);
	if (r == 0) {
		struct pmfs_flame_page page = {.out = out, .flame = &flame, .layout = &layout};
		pmfs_flame_page_begin(&page, &d.caption);
		if (quantity != PM_NONE)
			r = add_quantities(&d, c, &page, quantity, err);
		int end = pmfs_flame_page_end(&page, err);
		r = r < 0 ? r : end;
	}
	pmfs_flame_layout_done(&layout);
	drawing_done(&d, out);
	return r;
}
