/*
 * Flame graphs of a profile: of the whole run, of a context with all below it, of a thread. Frames
 * are those of the exports (stacks.h), merged by name. A picture of a context costs
 * its subtree, not the tree.
 */
#include <string.h>

#include "formats/common/quantity.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/tables.h"
#include "fs/views/pictures/colours.h"
#include "fs/views/pictures/flame.h"
#include "fs/views/sums/stacks.h"
#include "fs/views/sums/threads.h"

/* What a picture shows, and the texts around it. */
struct subject {
	const struct pmfs_writing *to;
	struct pmfs_model *model;
	uint32_t context, thread; /* PM_NONE: all */
	bool is_item;             /* the profile is an item of a larger one */
	const struct pmfs_columns *columns;
	const struct pm_tree *tree;
	struct pmfs_caption caption;
	struct pm_bytes above[PMFS_MAX_ABOVE];
};

/* ---- captions ---- */

static struct pm_bytes name_frame(const struct subject *s, uint32_t context)
{
	struct pm_text raw = {.arena = s->to->a}, line = {.arena = s->to->a};
	pm_text_line(&line, pmfs_stacks_name(s->tree, pm_tree_frame(s->tree, context), &raw));
	pm_text_done(&raw);
	return pm_text_view(&line);
}

/* The callers of a context from the outermost on; the first represents those beyond the limit. */
static void name_callers(struct subject *s)
{
	uint32_t callers[PMFS_MAX_ABOVE], n = 0, further = 0;
	const uint32_t *parent = s->tree->parent;
	for (uint32_t i = parent[s->context]; i != PM_NONE; i = parent[i]) {
		if (pmfs_is_part(s->tree, i) && parent[i] != PM_NONE)
			continue;
		if (n < PMFS_MAX_ABOVE)
			callers[n++] = i;
		else
			further++;
	}
	for (uint32_t i = 0; i < n; i++)
		s->above[i] = name_frame(s, callers[n - 1 - i]);
	if (further > 0)
		s->above[0] =
			pm_bytes_of(pm_arena_printf(s->to->a, "… %u callers above", further + 1));
	s->caption.above = s->above;
	s->caption.n_above = n;
}

static void name_subject(struct subject *s)
{
	const struct pm_profile *p = pmfs_model_profile(s->model);
	struct pmfs_caption *c = &s->caption;
	const char *path;
	pm_build_check(s->to->a, pm_profile_title(p, &c->title, s->to->err));
	if (!c->title.len)
		c->title = pmfs_base_name(pm_bytes_of(p->source));
	c->source = pm_bytes_of(p->source);
	c->whole = pm_bytes_of("all");
	c->of = pm_bytes_of("the whole run");
	if (s->is_item) {
		c->of = pm_bytes_of("this item");
		c->whole = pm_bytes_of("");
	} else if (s->context != PM_NONE) {
		c->of = c->title;
		c->whole = pm_bytes_of("");
		c->title = name_frame(s, s->context);
		name_callers(s);
	} else if (s->thread != PM_NONE) {
		pm_build_check(s->to->a, pmfs_thread_path(s->model, s->thread, &path, s->to->err));
		c->of = pm_bytes_of(path + strlen("threads/"));
	}
}

/* ---- metrics ---- */

/* Total costs of the subject by column: sums over its top contexts. */
static pm_number *top_cells(const struct subject *s)
{
	pm_number *sums = pm_arena_array(s->to->a, s->columns->n, sizeof(*sums));
	if (s->thread != PM_NONE) {
		pm_build_check(s->to->a, pmfs_thread_totals(s->model, s->thread, sums, s->to->err));
		return sums;
	}
	pm_number *cells = pmfs_cells_new(s->to->a, s->columns->n);
	uint32_t first = s->context == PM_NONE ? 0 : s->context;
	uint32_t end = s->context == PM_NONE ? s->tree->n_contexts : first + 1;
	for (uint32_t i = first; i < end; i = s->tree->end[i]) {
		pm_build_check(s->to->a, pmfs_run_cells(s->model, i, true, cells, s->to->err));
		for (uint32_t k = 0; k < s->columns->n; k++)
			sums[k] += cells[k] > 0 ? cells[k] : 0;
	}
	return sums;
}

/*
 * The priority of a metric for a picture: the primary one if it has a cost here, else the one that
 * would be primary among those that have.
 */
static unsigned worth(const struct pmfs_columns *all, const struct pmfs_column *c, double sum)
{
	const struct pm_metric *metric = c->flat ? c->flat : c->tree;
	if (!(sum > 0))
		return 1;
	if (c->group == all->columns[0].group)
		return PM_N_QUANTITIES + 2;
	return PM_N_QUANTITIES + 1 - pm_quantity_of(metric->name, metric->unit);
}

/* The first of the metrics with the highest priority, or PM_NONE. */
static uint32_t choose_column(const struct subject *s)
{
	unsigned best = 0;
	uint32_t chosen = PM_NONE;
	const pm_number *sums = top_cells(s);
	for (uint32_t i = 0; i < s->columns->n; i++) {
		const struct pmfs_column *c = &s->columns->columns[i];
		if (pmfs_column_is_first(c) && worth(s->columns, c, sums[i]) > best) {
			best = worth(s->columns, c, sums[i]);
			chosen = i;
		}
	}
	return chosen;
}

/* ---- drawing ---- */

/* The call paths by name, in an arena of the build. Their metric is that of the caption. */
static struct pmfs_name_paths *make_paths(struct pm_arena *a, struct subject *s, uint32_t column)
{
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct pmfs_stacks *stacks =
		pmfs_stacks_make(scratch, s->model, column, s->thread, s->context, s->to->err);
	for (uint32_t i = stacks->first; i < stacks->end; i++)
		if (pm_tree_frame(stacks->tree, i)->is_nothing)
			stacks->self[i - stacks->first] = stacks->value[i - stacks->first] = 0;
	const struct pm_metric *metric =
		stacks->column->flat ? stacks->column->flat : stacks->column->tree;
	s->caption.metric = metric->name;
	s->caption.unit = metric->unit;
	struct pmfs_name_paths *paths = pmfs_name_paths_make(a, stacks, pm_text_line);
	pm_arena_done(scratch);
	return paths;
}

/* Paths are numbered alike for every metric: those of one serve for the tree. */
static void draw_metrics(struct subject *s, struct pmfs_flame_page *page, uint32_t chosen)
{
	struct pm_arena *scratch = pm_arena_scratch(s->to->a);
	for (uint32_t i = 0; i < s->columns->n; i++) {
		if (!pmfs_column_is_first(&s->columns->columns[i]))
			continue;
		const struct pmfs_name_paths *paths = make_paths(scratch, s, i);
		pmfs_flame_page_metric(
			page, &s->caption, s->columns->columns[i].export, i == chosen, paths->self);
		pm_arena_done(scratch);
	}
}

/*
 * ---- derived metrics ----
 *
 * Of each there is one picture: of its inclusive side, or of its only one. What adds up is drawn as
 * other metrics are, out of own costs; anything else colours the boxes of the chosen metric.
 */
struct drawing {
	struct subject *s;
	struct pmfs_flame_page *page;
	uint32_t chosen;
	struct pm_arena *a;
	double **own, **total; /* by column, then box; NULL: nothing is computed of it */
	double **value;        /* by derived metric, then box; NULL: it has no picture */
	bool *adds_up;         /* by derived metric */
};

static bool has_picture(const struct pmfs_columns *c, uint32_t derived)
{
	const struct pmfs_derived *d = &c->derived[derived];
	return d->role == PM_ROLE_INCLUSIVE || derived + 1 == c->n_derived ||
		strcmp(d->base, d[1].base) != 0;
}

/* The numbers of all boxes in a column. Counts, and costs that are own ones, are of the box alone.
 */
static void read_boxes(struct drawing *d, uint32_t column)
{
	uint32_t n = d->page->flame->n;
	double *own = d->own[column] = pm_arena_array(d->a, n, sizeof(*own));
	double *total = d->total[column] = pm_arena_array(d->a, n, sizeof(*total));
	bool nested = d->s->columns->columns[column].role == PM_ROLE_INCLUSIVE;
	struct pm_arena *scratch = pm_arena_scratch(d->a);
	const struct pmfs_name_paths *paths = make_paths(scratch, d->s, column);
	for (uint32_t k = paths->n; k-- > 0;) {
		own[k] = paths->self[k];
		total[k] += own[k];
		if (k > 0)
			total[nested ? paths->parent[k] : 0] += total[k];
	}
	pm_arena_done(scratch);
}

/* Lists what has a picture, and reads the columns that it is computed of. */
static void read_columns(struct drawing *d)
{
	const struct pmfs_columns *c = d->s->columns;
	bool *used = pm_arena_array(d->a, c->n, sizeof(*used));
	bool *needed = pm_arena_array(d->a, c->n_derived, sizeof(*needed));
	for (uint32_t i = c->n_derived; i-- > 0;) {
		const struct pm_formula *f = &c->derived[i].formula;
		if (has_picture(c, i)) {
			needed[i] = true;
			d->adds_up[i] = c->derived[i].is_sum;
			d->value[i] = pm_arena_array(d->a, d->page->flame->n, sizeof(*d->value[i]));
		}
		for (uint32_t k = 0; needed[i] && k < f->n; k++) {
			uint32_t leaf = f->ops[k].leaf;
			if (f->ops[k].kind == PM_OP_NAME)
				*(leaf < c->n ? &used[leaf] : &needed[leaf - c->n]) = true;
		}
	}
	for (uint32_t i = 0; i < c->n; i++)
		if (used[i])
			read_boxes(d, i);
}

/* Computes those that add up out of own costs, or the others out of totals. */
static void compute(struct drawing *d, bool own)
{
	enum { BETWEEN_QUESTIONS = 4096 };
	const struct pmfs_columns *c = d->s->columns;
	double **of = own ? d->own : d->total;
	pm_number *row = pm_arena_array(d->a, c->n, sizeof(*row));
	struct pm_cell *cells = pm_arena_array(d->a, c->n_derived, sizeof(*cells));
	for (uint32_t k = 0; k < d->page->flame->n; k++) {
		if (k % BETWEEN_QUESTIONS == 0)
			pm_build_proceed(d->a);
		for (uint32_t i = 0; i < c->n; i++)
			row[i] = of[i] ? of[i][k] : NAN;
		pmfs_derived_cells(c, row, cells);
		for (uint32_t i = 0; i < c->n_derived; i++)
			if (d->value[i] && d->adds_up[i] == own)
				d->value[i][k] = (double)pmfs_cell_number(&cells[i]);
	}
}

/* A picture has no room for less than nothing. */
static void find_negative(struct drawing *d)
{
	const double rounding = 1e-9;
	for (uint32_t i = 0; i < d->s->columns->n_derived; i++) {
		double least = 0, sum = 0;
		for (uint32_t k = 0; d->adds_up[i] && k < d->page->flame->n; k++) {
			least = fmin(least, d->value[i][k]);
			sum += fabs(d->value[i][k]);
		}
		d->adds_up[i] &= least >= -rounding * sum;
	}
}

static void draw_one(struct drawing *d, uint32_t derived)
{
	const struct pmfs_columns *c = d->s->columns;
	const struct pmfs_derived *metric = &c->derived[derived];
	const double *value = d->value[derived];
	uint32_t widths = 0, known = 0;
	for (uint32_t i = 0; i < d->chosen; i++)
		widths += pmfs_column_is_first(&c->columns[i]);
	while (known < d->page->flame->n && isnan(value[known]))
		known++;
	if (known == d->page->flame->n)
		return;
	d->s->caption.metric = pm_bytes_of(metric->base);
	d->s->caption.unit = metric->unit;
	if (d->adds_up[derived])
		pmfs_flame_page_metric(d->page, &d->s->caption, metric->name, false, value);
	else
		pmfs_flame_page_colours(d->page, &d->s->caption, metric->name, widths, value);
}

static void draw_derived(struct subject *s, struct pmfs_flame_page *page, uint32_t chosen)
{
	const struct pmfs_columns *c = s->columns;
	struct pm_arena *a = s->to->a;
	struct drawing d = {.s = s,
		.page = page,
		.chosen = chosen,
		.a = a,
		.own = pm_arena_array(a, c->n, sizeof(*d.own)),
		.total = pm_arena_array(a, c->n, sizeof(*d.total)),
		.value = pm_arena_array(a, c->n_derived, sizeof(*d.value)),
		.adds_up = pm_arena_array(a, c->n_derived, sizeof(*d.adds_up))};
	read_columns(&d);
	compute(&d, true);
	find_negative(&d);
	compute(&d, false);
	for (uint32_t i = 0; i < c->n_derived; i++)
		if (d.value[i])
			draw_one(&d, i);
}

static void draw_html(struct subject *s, const struct pmfs_flame *flame, uint32_t column)
{
	bool derives = column != PM_NONE && s->columns->n_derived > 0;
	struct pmfs_flame_page page = {.out = s->to->out,
		.flame = flame,
		.layout = pmfs_flame_lay_out(s->to->a, flame),
		.has_colours = derives};
	pmfs_flame_page_begin(&page, &s->caption);
	draw_metrics(s, &page, column);
	if (derives)
		draw_derived(s, &page, column);
	pmfs_flame_page_end(&page);
}

static void draw(const struct pmfs_writing *to, bool html)
{
	const struct pm_doc *doc = to->doc;
	struct subject s = {
		.to = to,
		.model = to->model,
		.context = doc->text.c == PMFS_OF_CONTEXT ? (uint32_t)doc->text.a : PM_NONE,
		.thread = doc->text.c == PMFS_OF_THREAD ? (uint32_t)doc->text.a : PM_NONE,
		.is_item = doc->text.c == PMFS_OF_ITEM,
	};
	struct pmfs_name_paths none = {.n = 0}, *paths = &none;
	pm_build_check(to->a, pmfs_model_tree(s.model, &s.tree, to->err));
	pm_build_check(to->a, pmfs_model_columns(s.model, &s.columns, to->err));
	pm_build_check(to->a, pmfs_colours(s.model, &s.caption.colours, to->err));
	name_subject(&s);
	uint32_t column = choose_column(&s);
	if (column != PM_NONE) /* else it is a profile without metrics */
		paths = make_paths(to->a, &s, column);
	struct pmfs_flame flame = pmfs_flame_of(paths);
	if (html)
		draw_html(&s, &flame, column);
	else
		pmfs_flamegraph_draw(to->a, &flame, &s.caption, to->out);
}

static void write_svg(const struct pmfs_writing *to)
{
	draw(to, false);
}

static void write_html(const struct pmfs_writing *to)
{
	draw(to, true);
}

int pmfs_flamegraph_svg_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, write_svg, out, err);
}

int pmfs_flamegraph_html_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, write_html, out, err);
}
