/* The head of summary.txt: the run, its quantities, what its threads did, what has no names. */
#include "fs/views/texts/head.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/quantity.h"
#include "fs/views/model/amounts.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/parts.h"
#include "fs/views/model/screen.h"
#include "fs/views/model/valuereader.h"
#include "fs/views/sums/categorysums.h"
#include "fs/views/sums/emptythreads.h"
#include "fs/views/sums/missing.h"
#include "fs/views/sums/threads.h"
#include "fs/views/sums/totals.h"
#include "fs/views/texts/costly.h"
#include "fs/views/texts/sections.h"

/* ---- the run ---- */

/* `3 threads` or `1 thread` with a separator before it; nothing if it is unknown. */
void pmfs_add_count(struct pm_text *out, uint64_t n, const char *one)
{
	if (n == PM_NO_TIME || out->failed)
		return;
	pm_text_str(out, out->p[out->len - 1] == ' ' ? "" : "   ");
	pmfs_print_count(out, n);
	pm_text_printf(out, " %s%s", one, n == 1 ? "" : "s");
}

void pmfs_add_cut_line(struct pm_text *out, const char *key, struct pm_bytes value)
{
	if (value.len == 0)
		return;
	pm_text_printf(out, "%-8s ", key);
	pmfs_add_cut(out, value, PMFS_SCREEN_WIDTH - 9);
	pm_text_char(out, '\n');
}

static int add_threads(struct pm_text *out, struct pmfs_model *m, const struct pmfs_counts *counts,
	struct pm_error *err)
{
	const struct pmfs_empty_threads *busy;
	pmfs_add_count(out, counts->threads, "thread");
	if (counts->threads == PM_NO_TIME || counts->threads < 2)
		return 0;
	int r = pmfs_empty_threads(m, &busy, err);
	if (r == 0 && busy->n_empty > 0) {
		pm_text_str(out, ", ");
		pmfs_print_count(out, busy->n_empty);
		pm_text_str(out, " of them empty");
	}
	return r;
}

/* The duration and the number of samples. */
static void add_run(struct pm_text *out, const struct pmfs_counts *counts, const char *one)
{
	bool timed = counts->duration_ns != PM_NO_TIME;
	bool traced = counts->samples != PM_NO_TIME && counts->samples > 0;
	if (!timed && !traced)
		return;
	pm_text_str(out, "run      ");
	if (timed)
		pmfs_print_ns(out, (double)counts->duration_ns);
	if (traced)
		pmfs_add_count(out, counts->samples, one);
	pm_text_char(out, '\n');
}

static int add_run_and_source(struct pm_text *out, struct pmfs_model *m,
	const struct pmfs_counts *counts, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	struct pm_bytes title;
	int r = pm_profile_title(p, &title, err);
	if (r < 0)
		return r;
	pmfs_add_cut_line(out, "profile", pmfs_base_name(pm_bytes_of(p->source)));
	pmfs_add_cut_line(out, "source", pm_bytes_of(p->source));
	pmfs_add_cut_line(out, "title", title);
	pmfs_add_cut_line(out, "format", pm_bytes_of(p->format));
	pmfs_add_cut_line(out, "layout", pm_bytes_of(p->layout));
	pm_text_str(out, "has      ");
	pmfs_add_count(out, counts->contexts, "context");
	pmfs_add_count(out, counts->functions, "function");
	r = add_threads(out, m, counts, err);
	pm_text_char(out, '\n');
	add_run(out, counts, p->traces_are_calls ? "call" : "sample");
	if (counts->damages > 0) {
		pm_text_str(out, "damage   see damage.csv:");
		pm_text_char(out, ' ');
		pmfs_add_count(out, counts->damages, "row");
		pm_text_char(out, '\n');
	}
	return r;
}

/* ---- how busy ---- */

enum { PROCESSORS, STREAMS, N_SORTS }; /* of threads: streams are a GPU's */

struct usage {
	uint32_t n[N_SORTS]; /* threads that are measured */
	double busy_ns[N_SORTS], idle_ns;
};

/* What context 0 of a window costs on each thread is not busy. */
static int take_idle(struct usage *u, struct pmfs_model *m, const struct pm_threads *threads,
	const uint32_t columns[N_SORTS], struct pm_error *err)
{
	const struct pmfs_columns *c;
	const struct pm_tree *tree;
	struct pmfs_values values;
	const struct pm_value *v;
	int r = pmfs_model_columns(m, &c, err);
	if (r < 0 || (r = pmfs_model_tree(m, &tree, err)) < 0)
		return r;
	uint32_t nothing = pm_tree_find(tree, 0);
	if (nothing == PM_NONE)
		return 0;
	pmfs_values_start(&values, m, (struct pm_values_of){PM_OF_CONTEXT, nothing, false}, 0);
	for (; (r = pmfs_values_peek(&values, &v, err)) > 0; pmfs_values_step(&values)) {
		if (v->thread >= threads->n)
			continue;
		bool stream = pm_time_of(threads, v->thread) == PM_TIME_GPUS;
		if (pmfs_column_of(c, v->metric, false) != columns[stream ? STREAMS : PROCESSORS])
			continue;
		u->busy_ns[stream ? STREAMS : PROCESSORS] -= pmfs_value_number(v); /* in ns */
		u->idle_ns += stream ? 0 : pmfs_value_number(v);
	}
	return r;
}

static int measure(struct usage *u, struct pmfs_model *m, double ns, struct pm_error *err)
{
	const struct pmfs_columns *c;
	const struct pm_threads *threads;
	const struct pmfs_empty_threads *empty;
	int r = pmfs_model_columns(m, &c, err);
	if (r < 0 || (r = pmfs_model_threads(m, &threads, err)) < 0 ||
		(r = pmfs_empty_threads(m, &empty, err)) < 0)
		return r;
	uint32_t leading = pmfs_leading_column(c), gpu = pmfs_gpu_column(c, PM_ROLE_INCLUSIVE);
	uint32_t columns[N_SORTS] = {leading, gpu == PM_NONE ? leading : gpu};
	double *cells = pmfs_cells_new(c->n);
	if (!cells)
		return pmfs_no_memory(err);
	for (uint32_t i = 0; r == 0 && i < threads->n; i++) {
		struct pm_error why = {.offset = PM_NO_OFFSET};
		uint32_t sort = pm_time_of(threads, i) == PM_TIME_GPUS ? STREAMS : PROCESSORS;
		if (empty->empty[i])
			continue;
		if (pmfs_thread_totals(m, i, cells, &why) == -ENOMEM)
			r = pmfs_no_memory(err);
		if (why.code || r < 0 || isnan(cells[columns[sort]]))
			continue;
		u->n[sort]++;
		u->busy_ns[sort] += cells[columns[sort]] * ns;
	}
	free(cells);
	return r < 0 ? r : take_idle(u, m, threads, columns, err);
}

/* Where threads are sampled over time: what of their time they were busy. */
static int add_usage(struct pm_text *out, struct pmfs_model *m, const struct pmfs_counts *counts,
	struct pm_error *err)
{
	static const char *const of[N_SORTS] = {"thread", "GPU stream"};
	const struct pm_profile *p = pmfs_model_profile(m);
	const struct pmfs_columns *c;
	struct usage u = {.idle_ns = 0};
	int r = pmfs_model_columns(m, &c, err);
	/* What a filter leaves out was not idle. */
	if (pmfs_model_unfiltered(m))
		return r;
	if (r < 0 || c->n == 0 || p->traces_are_calls || !p->ops->threads || !p->ops->samples ||
		counts->duration_ns == PM_NO_TIME || counts->duration_ns == 0)
		return r;
	const struct pm_metric *metric =
		c->columns[0].flat ? c->columns[0].flat : c->columns[0].tree;
	double ns = pm_unit_ns(metric->unit);
	if (pm_quantity_of(metric->name, metric->unit) != PM_QUANTITY_TIME || !(ns > 0))
		return 0;
	r = measure(&u, m, ns, err);
	for (int i = 0, shown = 0; r == 0 && i < N_SORTS; i++) {
		if (u.n[i] == 0 || (i == STREAMS && !p->window))
			continue;
		pm_text_str(out, shown++ ? "         " : "busy     ");
		pmfs_print_ns(out, u.busy_ns[i]);
		pm_text_str(out, " of ");
		pmfs_print_count(out, u.n[i]);
		pm_text_printf(out, " %s%s × ", of[i], u.n[i] == 1 ? "" : "s");
		pmfs_print_ns(out, (double)counts->duration_ns);
		pm_text_printf(out, ": %.1f%%",
			100 * u.busy_ns[i] / (u.n[i] * (double)counts->duration_ns));
		if (i == PROCESSORS && u.idle_ns > 0) {
			pm_text_str(out, ", idle ");
			pmfs_print_ns(out, u.idle_ns);
		}
		pm_text_char(out, '\n');
	}
	return r;
}

/* ---- kinds of work ---- */

static int add_kinds(struct pm_text *out, struct pmfs_model *m, struct pm_error *err)
{
	const struct pmfs_category_sums *s;
	int r = pmfs_category_sums(m, &s, err);
	uint32_t own = r < 0 ? PM_NONE : s->columns->first_excl, shown = 0;
	if (own == PM_NONE || !(s->busy > 0) || (s->n == 1 && s->order[0] == PMFS_PROGRAM))
		return r;
	for (uint32_t i = 0; i < s->n; i++) {
		double value = s->cells[(size_t)s->order[i] * s->columns->n + own];
		if (!(value / s->busy >= 0.0005) ||
			(s->order[i] == PMFS_IDLE && s->busy != s->whole))
			continue;
		struct pm_bytes name = pmfs_category_name((enum pmfs_category)s->order[i]);
		pm_text_str(out, shown++ ? ", " : "kinds    ");
		pm_text_bytes(out, name.len ? name : pm_bytes_of("program"));
		pm_text_printf(out, " %.1f%%", 100 * value / s->busy);
	}
	if (shown)
		pm_text_char(out, '\n');
	return 0;
}

/* ---- code without names ---- */

int pmfs_add_missing(struct pm_text *out, struct pmfs_model *m, struct pm_error *err)
{
	enum { MOST_MODULES = 3, MODULE_WIDTH = 24 };
	const struct pmfs_missings *all;
	if (!pmfs_model_profile(m)->ops->missing)
		return 0;
	int r = pmfs_missings(m, &all, err);
	if (r < 0 || !(all->cost > 0) || !pmfs_is_cost(all->cost, all->whole))
		return r;
	pm_text_str(out, "names    ");
	pmfs_print_share(out, all->cost, all->whole);
	pm_text_str(out, " of the cost has none: see missing-symbols.csv\n        ");
	for (uint32_t i = 0; i < all->n && i < MOST_MODULES && all->rows[i].cost > 0; i++) {
		pm_text_str(out, i ? ", " : " ");
		pmfs_add_cut(out, pmfs_base_name(all->rows[i].module), MODULE_WIDTH);
		pm_text_char(out, ' ');
		pmfs_print_share(out, all->rows[i].cost, all->whole);
	}
	pm_text_char(out, '\n');
	const char *const notes[] = {all->rows[0].why, all->advice};
	for (size_t i = 0; i < 2; i++) {
		if (!notes[i])
			continue;
		pm_text_str(out, "         ");
		pmfs_add_cut(out, pm_bytes_of(notes[i]), PMFS_SCREEN_WIDTH - 9);
		pm_text_char(out, '\n');
	}
	return 0;
}

/* ---- the whole ---- */

static int add_totals(struct pm_text *out, struct pmfs_model *m, struct pm_error *err)
{
	const struct pmfs_totals *totals;
	const struct pmfs_columns *c;
	int r = pmfs_model_columns(m, &c, err);
	if (r == 0 && (r = pmfs_totals(m, &totals, err)) == 0)
		/* A window has its own quantities. */
		pmfs_add_quantities(out, c, totals, pmfs_model_outer(m) == NULL);
	return r;
}

int pmfs_add_head(struct pm_text *out, struct pmfs_model *m, const struct pmfs_counts *counts,
	struct pm_error *err)
{
	int r = add_run_and_source(out, m, counts, err);
	if (r < 0 || (r = add_usage(out, m, counts, err)) < 0 ||
		(r = add_totals(out, m, err)) < 0 || (r = add_kinds(out, m, err)) < 0 ||
		(r = pmfs_add_missing(out, m, err)) < 0 || (r = pmfs_unaccounted(m, out, err)) < 0)
		return r;
	return pmfs_add_remarks(out, m, err);
}
