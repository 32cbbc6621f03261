/*
 * The stacks of both sides, for viewers and as differential flame graphs: widths from one run,
 * colours by difference.
 */
#include "fs/compare/internal.h"

#include <math.h>

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
	struct pm_arena *a;
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

static void read_run(void *self, uint32_t run, struct pmfs_model *m, struct pm_error *err)
{
	struct summing *s = self;
	const struct pmfs_compared_run *of = &s->u->costs->runs[run];
	uint32_t column = column_of(s->u->costs, of, s->quantity), n = ++s->n[of->side];
	double whole = of->whole[s->quantity], scale = s->shares && whole != 0 ? 100 / whole : 1;
	double *mean = s->stacks->side[of->side].self;
	for (uint32_t i = 0; i < s->u->tree.n_contexts; i++)
		s->sums[i] = 0;
	if (column != PM_NONE) {
		struct pm_arena *a = pm_arena_scratch(s->a);
		const struct pmfs_stacks *stacks =
			pmfs_stacks_make(a, m, column, PM_NONE, PM_NONE, err);
		for (uint32_t i = 0; i < stacks->end && i < s->u->n_of[run]; i++)
			if (s->u->of[run][i] != PM_NONE)
				s->sums[s->u->of[run][i]] += stacks->self[i] * scale;
		pm_arena_done(a);
	}
	for (uint32_t i = 0; i < s->u->tree.n_contexts; i++)
		mean[i] += (s->sums[i] - mean[i]) / n;
}

/*
 * Exclusive costs are those of the runs' own exports, so totals are the same; with `shares`, of a
 * run with a cost, its total is 100.
 */
static struct two_stacks *two_stacks_make(struct pm_arena *a, struct pmfs_compare *c,
	const struct pmfs_tree_union *u, uint32_t quantity, bool shares, struct pm_error *err)
{
	const struct pmfs_cost *cost = pmfs_quantity_cost(u->costs, quantity);
	const struct pm_tree *tree = &u->tree;
	struct two_stacks *two = pm_arena_alloc(a, sizeof(*two));
	struct summing s = {.a = a, .u = u, .stacks = two, .quantity = quantity, .shares = shares};
	s.sums = pm_arena_array(a, tree->n_contexts, sizeof(*s.sums));
	two->column.export = cost->export;
	two->column.export_scale = cost->export_scale;
	two->column.flat = &two->metric;
	two->metric.name = cost->metric;
	two->metric.unit = cost->unit;
	for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
		struct pmfs_stacks *t = &two->side[side];
		t->tree = tree;
		t->column = &two->column;
		t->end = tree->n_contexts;
		t->shown = pm_arena_array(a, tree->n_contexts, sizeof(*t->shown));
		t->self = pm_arena_array(a, tree->n_contexts, sizeof(*t->self));
		pmfs_stacks_find_frames(tree, 0, tree->n_contexts, t->shown);
	}
	pmfs_compare_read(a, c, u->costs, (struct pmfs_reader){NULL, read_run}, &s, err);
	return two;
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
static struct two_stacks *make(const struct pmfs_writing *w)
{
	struct pmfs_compare *c = pmfs_compare_of(w->doc->text.self);
	const struct pmfs_tree_union *u;
	pm_build_check(w->a, pmfs_union_get(c, &u, w->err));
	struct two_stacks *s = two_stacks_make(w->a, c, u, (uint32_t)w->doc->text.a, false, w->err);
	for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
		pmfs_stacks_cut(w->a, &s->side[side]);
		if (u->costs->n_good[side] > 1)
			round_means(&s->side[side]);
	}
	return s;
}

static void write_folded(const struct pmfs_writing *w)
{
	const struct two_stacks *s = make(w);
	pmfs_folded_write(w, &s->side[PMFS_BASE], &s->side[PMFS_OTHER]);
}

int pmfs_compare_folded_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, write_folded, out, err);
}

static void write_pprof(const struct pmfs_writing *w)
{
	const struct pmfs_compare *c = pmfs_compare_of(w->doc->text.self);
	struct pm_text comment = {.arena = w->a};
	const struct two_stacks *s = make(w);
	pm_text_line(&comment, pm_bytes_of(c->of.name));
	pm_text_str(&comment, " against ");
	pm_text_line(&comment, pm_bytes_of(c->of.base_name));
	const struct pmfs_pprof_about about = {
		.comment = pm_text_view(&comment), .unit = pmfs_export_unit(&s->column, "count")};
	pmfs_pprof_write(w, &s->side[PMFS_BASE], &s->side[PMFS_OTHER], &about);
}

int pmfs_compare_pprof_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, write_pprof, out, err);
}

/*
 * Draws both sides on one tree. The colour of a frame is the difference of its exclusive cost,
 * so a change is visible where it occurs and not in all callers. With repetitions, a frame is
 * grey if the difference of its function is not beyond the noise, as in functions.csv.
 */

/* A quantity on both sides, by node of the tree of names. */
struct drawing {
	struct pm_arena *a;
	struct pm_error *err;
	struct pmfs_compare *compare;
	const struct pmfs_costs *costs;
	struct pmfs_name_paths *side[PMFS_N_SIDES]; /* NULL: no quantity has costs */
	struct pmfs_name_paths *changed;            /* > 0: beyond the noise; NULL: not tested */
	uint8_t *shade;
	struct pmfs_caption caption;
	struct pm_text title, of, legend, metric;
};

/* ---- what is drawn ---- */

/* The frames of functions whose difference is beyond the noise. */
static void find_changed(struct drawing *d, struct pm_arena *scratch,
	const struct pmfs_tree_union *u, const struct pmfs_stacks *s)
{
	const struct pmfs_joined *j;
	struct pmfs_stacks marks = *s;
	pm_build_check(d->a, pmfs_functions_get(d->compare, &j, d->err));
	marks.self = pm_arena_array(scratch, u->tree.n_contexts, sizeof(*marks.self));
	for (uint32_t i = 0; i < u->tree.n_contexts; i++) {
		uint32_t key = u->key[PMFS_OTHER][i];
		if (key == PM_NONE)
			key = u->key[PMFS_BASE][i];
		uint32_t row = key < pmfs_n_function_keys(&u->frames) ? j->row_of[key] : PM_NONE;
		marks.self[i] = row != PM_NONE && pmfs_joined_changed(j, row);
	}
	d->changed = pmfs_name_paths_make(d->a, &marks, pm_text_line);
}

static double difference(const struct drawing *d, uint32_t node, double whole)
{
	double base = d->side[PMFS_BASE]->self[node], other = d->side[PMFS_OTHER]->self[node];
	if (!pmfs_is_change(base, other, whole) || (d->changed && !(d->changed->self[node] > 0)))
		return 0;
	return other - base;
}

static void shade_nodes(struct drawing *d)
{
	uint32_t n = d->side[PMFS_BASE]->n;
	double whole[PMFS_N_SIDES] = {0, 0}, most = 0;
	d->shade = pm_arena_array(d->a, n, sizeof(*d->shade));
	for (uint32_t i = 0; i < 2 * n; i++)
		whole[i / n] += d->side[i / n]->self[i % n];
	double larger = fmax(whole[PMFS_BASE], whole[PMFS_OTHER]);
	for (uint32_t i = 0; i < n; i++)
		most = fmax(most, fabs(difference(d, i, larger)));
	for (uint32_t i = 0; i < n; i++)
		d->shade[i] = pmfs_shade_of(difference(d, i, larger), most);
}

/* Whether shares of the total are drawn, as tables have them. */
static bool has_shares(const struct drawing *d, uint32_t quantity)
{
	return d->costs->shares && pmfs_quantity_cost(d->costs, quantity)->role != PM_ROLE_COUNT;
}

static void read_quantity(struct drawing *d, uint32_t quantity)
{
	struct pm_arena *scratch = pm_arena_scratch(d->a);
	const struct pmfs_tree_union *u;
	pm_build_check(d->a, pmfs_union_get(d->compare, &u, d->err));
	const struct two_stacks *s =
		two_stacks_make(scratch, d->compare, u, quantity, has_shares(d, quantity), d->err);
	for (unsigned side = 0; side < PMFS_N_SIDES; side++)
		d->side[side] = pmfs_name_paths_make(d->a, &s->side[side], pm_text_line);
	if (pmfs_compare_tested(d->costs))
		find_changed(d, scratch, u, &s->side[PMFS_OTHER]);
	pm_arena_done(scratch);
	shade_nodes(d);
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
	static const struct pmfs_name_paths none;
	struct pmfs_flame flame = pmfs_flame_of(d->shade ? d->side[side] : &none);
	if (d->shade)
		flame.before = d->side[side == PMFS_OTHER ? PMFS_BASE : PMFS_OTHER]->self;
	flame.shade = d->shade;
	return flame;
}

static struct drawing drawing_of(struct pm_arena *a, struct pmfs_compare *c, struct pm_error *err)
{
	return (struct drawing){.a = a,
		.err = err,
		.compare = c,
		.title.arena = a,
		.of.arena = a,
		.legend.arena = a,
		.metric.arena = a};
}

/* ---- the SVGs ---- */

static void draw_svg(const struct pmfs_writing *w, enum pmfs_side side)
{
	struct drawing d = drawing_of(w->a, pmfs_compare_of(w->doc->text.self), w->err);
	pm_build_check(w->a, pmfs_compare_costs(d.compare, &d.costs, w->err));
	uint32_t quantity = first_quantity(d.costs);
	name_sides(&d, side);
	if (quantity != PM_NONE) {
		name_quantity(&d, quantity);
		read_quantity(&d, quantity);
	}
	struct pmfs_flame flame = flame_of(&d, side);
	pmfs_flamegraph_draw(w->a, &flame, &d.caption, w->out);
}

static void draw_other(const struct pmfs_writing *w)
{
	draw_svg(w, PMFS_OTHER);
}

static void draw_base(const struct pmfs_writing *w)
{
	draw_svg(w, PMFS_BASE);
}

int pmfs_compare_flame_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, draw_other, out, err);
}

int pmfs_compare_gone_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, draw_base, out, err);
}

/* ---- the page ---- */

/* The quantity with the widths of both sides, as two metrics. */
static void add_quantity(struct drawing *d, struct pmfs_flame_page *page, uint32_t quantity)
{
	const struct pmfs_comparison *of = &d->compare->of;
	const struct pmfs_cost *cost = pmfs_quantity_cost(d->costs, quantity);
	for (unsigned i = 0; i < PMFS_N_SIDES; i++) {
		enum pmfs_side side = i == 0 ? PMFS_OTHER : PMFS_BASE;
		struct pmfs_caption caption = d->caption;
		pm_text_clear(&d->metric);
		pm_text_line(&d->metric, cost->metric);
		pm_text_str(&d->metric, ", widths of ");
		pm_text_line(&d->metric, pm_bytes_of(i == 0 ? of->name : of->base_name));
		caption.metric = pm_text_view(&d->metric);
		caption.unit = unit_of(d, quantity);
		page->shade = d->shade;
		pmfs_flame_page_metric(page, &caption,
			pm_arena_printf(d->a, "%s%s", cost->export, i == 0 ? "" : "_base"),
			page->n_metrics == 0, d->side[side]->self);
	}
}

/* Names and tree are those of the first quantity, because paths have the same numbers for each. */
static void add_quantities(const struct drawing *first, struct pmfs_flame_page *page, uint32_t from)
{
	struct pm_arena *scratch = pm_arena_scratch(first->a);
	for (uint32_t i = from; i < first->costs->n_shown_quantities; i++) {
		if (!pmfs_quantity_is_shown(first->costs, i))
			continue;
		struct drawing d = drawing_of(scratch, first->compare, first->err);
		d.costs = first->costs;
		read_quantity(&d, i);
		add_quantity(&d, page, i);
		pm_arena_done(scratch);
	}
}

static void draw_page(const struct pmfs_writing *w)
{
	struct drawing d = drawing_of(w->a, pmfs_compare_of(w->doc->text.self), w->err);
	pm_build_check(w->a, pmfs_compare_costs(d.compare, &d.costs, w->err));
	uint32_t quantity = first_quantity(d.costs);
	name_sides(&d, PMFS_OTHER);
	d.caption.of = d.caption.legend;
	if (quantity != PM_NONE)
		read_quantity(&d, quantity);
	struct pmfs_flame flame = flame_of(&d, PMFS_OTHER);
	struct pmfs_flame_page page = {
		.out = w->out, .flame = &flame, .layout = pmfs_flame_lay_out(w->a, &flame)};
	pmfs_flame_page_begin(&page, &d.caption);
	if (quantity != PM_NONE) {
		add_quantity(&d, &page, quantity);
		add_quantities(&d, &page, quantity + 1);
	}
	pmfs_flame_page_end(&page);
}

int pmfs_compare_page_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, draw_page, out, err);
}
