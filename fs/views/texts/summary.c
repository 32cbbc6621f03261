/*
 * summary.txt: one screen of a profile for a person, at most 50 lines of 100 columns. What it
 * shows are the first rows of the tables.
 */
#include <math.h>
#include <string.h>

#include "formats/common/affix.h"
#include "formats/common/quantity.h"
#include "formats/common/text.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/model.h"
#include "fs/views/model/screen.h"
#include "fs/views/model/tables.h"
#include "fs/views/model/valuereader.h"
#include "fs/views/sums/functions.h"
#include "fs/views/sums/hotpath.h"
#include "fs/views/sums/imbalance.h"
#include "fs/views/sums/lines.h"
#include "fs/views/sums/rollups.h"
#include "fs/views/sums/stacks.h"
#include "fs/views/sums/threads.h"
#include "fs/views/sums/totals.h"
#include "fs/views/texts/sections.h"

/* A flat profile of the run or a part of it. */
struct costly {
	const struct pmfs_functions *f;
	uint32_t n;
	const uint32_t *order;  /* its rows, most expensive first; NULL: in order */
	const uint32_t *of;     /* row → row of functions.csv; NULL: identical */
	const pm_number *cells; /* by row */
	double whole;           /* shares are of this */
};

/*
 * functions.txt: the same for people who want more than one screen has: at most PMFS_TEXT_ROWS
 * rows, also those without a cost of their own, with inclusive costs and calls.
 */
enum { PMFS_TEXT_ROWS = 100 };

/* ---- costs; parts without content are left out ---- */

enum { TOP_FUNCTIONS = 20, TOP_LINES = 5, TOP_KERNELS = 5, NAME_WIDTH = PMFS_SCREEN_WIDTH - 23 };

static const struct pm_metric *metric_of(const struct pmfs_column *c)
{
	return c->flat ? c->flat : c->tree;
}

/* Counts of calls have the unit `calls`: once is enough. */
static void add_amount(struct pm_text *out, const struct pmfs_column *c, double value)
{
	struct pm_bytes unit = metric_of(c)->unit;
	bool said = pm_bytes_equal(unit, pm_bytes_of(c->base));
	pmfs_print_amount(out, value, said ? pm_bytes_of("") : unit);
}

/* ---- quantities ---- */

/* `, NAME AMOUNT`, on a new line where this one is full: its length is in `*width`. */
static void add_other(struct pm_text *out, struct pm_bytes text, size_t *width)
{
	pm_text_char(out, ',');
	if (*width + 2 + text.len > PMFS_SCREEN_WIDTH - 1) {
		pm_text_str(out, "\n        ");
		*width = 8;
	}
	pm_text_char(out, ' ');
	pm_text_bytes(out, text);
	*width += 2 + text.len;
}

static void add_others(const struct pmfs_writing *w, const struct pmfs_columns *c,
	const struct pmfs_totals *totals)
{
	enum { MOST = 40 };
	struct pm_text one = {.arena = w->a}, *out = w->out;
	uint32_t n = 0;
	size_t width = 0;
	for (uint32_t i = 1; i < c->n_shown; i++) {
		const struct pmfs_column *column = &c->columns[i];
		if (column->group == c->columns[0].group || totals->of[i] == 0 ||
			column->group == c->columns[i - 1].group || n++ >= MOST)
			continue;
		pm_text_clear(&one);
		pmfs_add_cut(&one, pm_bytes_of(column->base), 60);
		pm_text_char(&one, ' ');
		add_amount(&one, column, totals->of[i]);
		if (n > 1) {
			add_other(out, pm_text_view(&one), &width);
			continue;
		}
		pm_text_str(out, "also     ");
		pm_text_bytes(out, pm_text_view(&one));
		width = 9 + one.len;
	}
	if (n > MOST)
		pm_text_printf(out, " … %u more", n - MOST);
	if (n > 0)
		pm_text_char(out, '\n');
}

/* Of the totals, where own and inclusive costs are the same. */
static void add_derived(const struct pmfs_writing *w, const struct pmfs_columns *c,
	const struct pmfs_totals *totals)
{
	struct pm_cell *cells = pm_arena_array(w->a, c->n_derived, sizeof(*cells));
	struct pm_text one = {.arena = w->a}, *out = w->out;
	size_t width = 0;
	pmfs_derived_cells(c, totals->of, cells);
	for (uint32_t i = 0; i < c->n_derived; i++) {
		const struct pmfs_derived *derived = &c->derived[i];
		if (cells[i].kind == PM_CELL_EMPTY ||
			(i > 0 && strcmp(derived->base, derived[-1].base) == 0))
			continue;
		pm_text_clear(&one);
		pm_text_str(&one, derived->base);
		pm_text_char(&one, ' ');
		pmfs_print_amount(&one, cells[i].f, derived->unit);
		if (width > 0) {
			add_other(out, pm_text_view(&one), &width);
			continue;
		}
		pm_text_str(out, "derived  ");
		pm_text_bytes(out, pm_text_view(&one));
		width = 9 + one.len;
	}
	if (width > 0)
		pm_text_char(out, '\n');
}

/* The primary quantity and the others with their totals. */
static void add_totals(const struct pmfs_writing *w)
{
	struct pm_text *out = w->out;
	const struct pmfs_totals *totals;
	const struct pmfs_columns *c;
	pm_build_check(w->a, pmfs_model_columns(w->model, &c, w->err));
	pm_build_check(w->a, pmfs_totals(w->model, &totals, w->err));
	if (c->n_shown == 0)
		return;
	pm_text_str(out, "total    ");
	add_amount(out, &c->columns[0], totals->of[0]);
	/* A window has its own quantities. */
	pm_text_printf(out, " %s, the primary quantity%s\n", c->lead,
		pmfs_model_outer(w->model) ? "" : " (choose another with -o metric=NAME)");
	if (totals->of_amounts) {
		pm_text_str(out, "shares   of ");
		add_amount(out, &c->columns[0], totals->busy);
		pm_text_str(out, ": what increases and decreases add up to\n");
	}
	add_others(w, c, totals);
	add_derived(w, c, totals);
}

/* ---- functions ---- */

/* The rows that are shown, which are those of functions.csv, and their values. */
struct picked {
	const struct pmfs_functions *f;
	uint32_t n, n_skipped, rows[PMFS_TEXT_ROWS];
	const pm_number *cells[PMFS_TEXT_ROWS];
	struct pm_bytes names[PMFS_TEXT_ROWS];
};

/* Is the name that of another row that is shown? */
static bool is_shared(const struct picked *p, uint32_t i)
{
	for (uint32_t k = 0; k < p->n; k++)
		if (k != i && pm_bytes_equal(p->names[k], p->names[i]))
			return true;
	return false;
}

/* The name of a row in the rest of its line. */
static void add_row_name(struct pm_text *out, const struct picked *p, uint32_t i, unsigned width)
{
	const struct pmfs_function *function = pmfs_function_at(p->f, p->rows[i]);
	pm_text_str(out, "  ");
	if (!is_shared(p, i)) {
		pmfs_add_told_apart(out, p->names, p->n, i, width);
		pm_text_char(out, '\n');
		return;
	}
	enum { LINE_WIDTH = 13 }; /* a colon, ten digits, two blanks */
	unsigned place = width * 5 / 9 - LINE_WIDTH;
	struct pm_bytes file = pmfs_base_name(p->f->tree->texts[function->file]);
	struct pm_bytes module = pmfs_base_name(p->f->tree->texts[function->module]);
	pmfs_add_told_apart(out, p->names, p->n, i, width - place - LINE_WIDTH);
	if (file.len || module.len)
		pm_text_str(out, "  ");
	pmfs_add_cut(out, file.len ? file : module, place);
	if (file.len && function->line)
		pm_text_printf(out, ":%u", function->line);
	pm_text_char(out, '\n');
}

/* `column`: ends where it costs nothing; PM_NONE: takes all rows. */
static void pick(struct picked *p, const struct costly *c, uint32_t most, uint32_t column)
{
	*p = (struct picked){.f = c->f};
	for (uint32_t i = 0; i < c->n && p->n < most; i++) {
		uint32_t row = c->order ? c->order[i] : i;
		const pm_number *cells = c->cells + (size_t)row * c->f->columns->n;
		if (column != PM_NONE &&
			!(cells[column] > 0 && pmfs_is_cost(cells[column], c->whole)))
			break; /* nor do the rows after it */
		row = c->of ? c->of[row] : row;
		if (pmfs_function_is_nothing(c->f, row)) {
			p->n_skipped++;
			continue;
		}
		p->rows[p->n] = row;
		p->cells[p->n] = cells;
		p->names[p->n++] = pmfs_function_name(c->f, row);
	}
}

static void add_rows(struct pm_text *out, const struct picked *p, const struct pmfs_columns *c,
	uint32_t column, double whole)
{
	for (uint32_t i = 0; i < p->n; i++) {
		pm_text_char(out, ' ');
		pmfs_add_share(out, p->cells[i][column], whole);
		pmfs_add_amount(out, &c->columns[column], p->cells[i][column]);
		add_row_name(out, p, i, NAME_WIDTH);
	}
}

/*
 * The sum of its own costs, of a difference what all increases and decreases add up to: of it are
 * shares of a part of the run.
 */
static double costly_sum(const struct costly *c)
{
	uint32_t column = pmfs_order_column(c->f->columns);
	double sum = 0;
	for (uint32_t i = 0; column != PM_NONE && i < c->n; i++) {
		uint32_t row = c->order ? c->order[i] : i;
		double value = c->cells[(size_t)row * c->f->columns->n + column];
		if (!isnan(value) && !pmfs_function_is_nothing(c->f, c->of ? c->of[row] : row))
			sum += c->f->columns->columns[column].decreases ? fabs(value) : value;
	}
	return sum;
}

static void add_title(
	struct pm_text *out, const struct pmfs_column *column, const char *of, double whole)
{
	pm_text_printf(out, "%s by %s", of, column->name);
	if (whole > 0) {
		pm_text_str(out, column->decreases ? " (shares of " : " (total ");
		add_amount(out, column, whole);
		pm_text_char(out, ')');
	}
	pm_text_char(out, '\n');
}

/*
 * Its first rows, at most `most`, as far as they cost anything. Functions with the same name are
 * distinguished by their places.
 */
static void add_costly_functions(struct pm_text *out, const struct costly *c, uint32_t most)
{
	const struct pmfs_columns *columns = c->f->columns;
	uint32_t column = pmfs_order_column(columns);
	struct picked p;
	if (column == PM_NONE)
		return;
	pick(&p, c, most < TOP_FUNCTIONS ? most : TOP_FUNCTIONS, column);
	if (p.n == 0)
		return;
	pm_text_char(out, '\n');
	add_title(out, &columns->columns[column], "Functions", c->whole);
	add_rows(out, &p, columns, column, c->whole);
}

static void add_function_table(struct pm_text *out, const struct costly *c)
{
	enum { MOST = 3 };
	const struct pmfs_columns *columns = c->f->columns;
	uint32_t first = pmfs_order_column(columns), shown[MOST], n = 0;
	const uint32_t wanted[MOST] = {first, columns->first_incl, columns->calls};
	struct picked p;
	unsigned width = PMFS_SCREEN_WIDTH - 2;
	for (uint32_t i = 0; i < MOST && first != PM_NONE; i++)
		if (wanted[i] != PM_NONE && (i == 0 || wanted[i] != first))
			shown[n++] = wanted[i];
	pick(&p, c, PMFS_TEXT_ROWS, PM_NONE);
	if (n > 0) {
		add_title(out, &columns->columns[first], "Functions", c->whole);
		pm_text_str(out, "  share");
		width -= 7 + n * PMFS_AMOUNT_WIDTH;
	}
	for (uint32_t k = 0; k < n; k++)
		pm_text_printf(out, "%*s", PMFS_AMOUNT_WIDTH,
			shown[k] == columns->calls                                     ? "calls"
				: columns->columns[shown[k]].role == PM_ROLE_INCLUSIVE ? "inclusive"
										       : "own");
	pm_text_str(out, "  function\n");
	for (uint32_t i = 0; i < p.n; i++) {
		if (n > 0) {
			pm_text_char(out, ' ');
			pmfs_add_share(out, p.cells[i][first], c->whole);
		}
		for (uint32_t k = 0; k < n; k++)
			pmfs_add_amount(out, &columns->columns[shown[k]], p.cells[i][shown[k]]);
		add_row_name(out, &p, i, width);
	}
	uint32_t more = c->n - p.n - p.n_skipped;
	if (more > 0 && p.n == PMFS_TEXT_ROWS)
		pm_text_printf(out, "  … %u more: see functions.csv\n", more);
}

/* ---- GPUs ---- */

static enum pm_quantity class_of(const struct pmfs_column *c)
{
	return pm_quantity_of(metric_of(c)->name, metric_of(c)->unit);
}

static bool is_gpu_time(const struct pmfs_column *c)
{
	enum pm_quantity class = class_of(c);
	return class == PM_QUANTITY_GPU_WORK || class == PM_QUANTITY_GPU_TIME;
}

static bool is_kernel_time(const struct pmfs_column *c)
{
	return class_of(c) == PM_QUANTITY_GPU_TIME && pm_begins_with(metric_of(c)->name, "GKER");
}

/*
 * The column of the time of GPUs, or of samples beside calls, in a profile whose primary quantity
 * is that of processors: PM_ROLE_INCLUSIVE or PM_ROLE_EXCLUSIVE. PM_NONE: there is none, as in all
 * but windows and trace events.
 */
static uint32_t gpu_column(const struct pmfs_columns *c, enum pm_role role)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->columns[i].role == role && c->columns[i].group != c->columns[0].group &&
			(strcmp(c->columns[i].base, "gpu_ns") == 0 ||
				strcmp(c->columns[i].base, "sampled_ns") == 0))
			return i;
	return PM_NONE;
}

/* Of that column: the time in which something ran. */
static double gpu_busy(const struct pmfs_functions *f, const struct pmfs_totals *totals)
{
	uint32_t column = gpu_column(f->columns, PM_ROLE_EXCLUSIVE);
	return column == PM_NONE ? 0 : totals->of[column] - totals->idle[column];
}

/* Kernels by their own cost, the first ones. */
static void add_kernels(const struct pmfs_writing *w, const struct pmfs_functions *f,
	uint32_t column, const char *what, double whole)
{
	const uint32_t *order = pmfs_order(w->a, f->cells, f->n, f->columns->n, column);
	struct picked p;
	pm_text_printf(w->out, "\n%s by %s (total ", what, f->columns->columns[column].name);
	add_amount(w->out, &f->columns->columns[column], whole);
	pm_text_str(w->out, ")\n");
	pick(&p, &(struct costly){f, f->n, order, NULL, f->cells, whole}, TOP_KERNELS, column);
	add_rows(w->out, &p, f->columns, column, whole);
}

/* Is this the first column of a quantity that is a GPU's time, and is not 0? */
static bool is_gpu_row(const struct pmfs_columns *c, const struct pmfs_totals *w, uint32_t i)
{
	bool first = i == 0 || c->columns[i].group != c->columns[i - 1].group;
	return first && is_gpu_time(&c->columns[i]) && w->of[i] > 0;
}

/* GPU operations by kind, and kernels if another quantity is primary. */
static void add_gpu(const struct pmfs_writing *w, const struct pmfs_functions *f,
	const struct pmfs_totals *totals)
{
	struct pm_text *out = w->out;
	const struct pmfs_columns *c = f->columns;
	uint32_t kernels = PM_NONE, all = PM_NONE, n = 0;
	uint32_t own = gpu_column(c, PM_ROLE_EXCLUSIVE);
	double busy = gpu_busy(f, totals);
	if (own != PM_NONE && busy > 0)
		add_kernels(w, f, own, is_gpu_time(&c->columns[own]) ? "GPU" : "Samples", busy);
	if (own != PM_NONE)
		return;
	for (uint32_t i = c->n; i-- > 0;) {
		if (!is_gpu_row(c, totals, i))
			continue;
		n++;
		if (class_of(&c->columns[i]) == PM_QUANTITY_GPU_WORK)
			all = i;
		if (is_kernel_time(&c->columns[i]))
			kernels = i;
	}
	if (n == 0)
		return;
	pm_text_str(out, "\nGPU operations: kernels, copies, synchronisation");
	if (all != PM_NONE)
		pm_text_printf(out, "; share of %s", c->columns[all].base);
	pm_text_char(out, '\n');
	for (uint32_t i = 0; i < c->n; i++) {
		if (!is_gpu_row(c, totals, i))
			continue;
		pm_text_char(out, ' ');
		pmfs_add_share(out, totals->of[i], all == PM_NONE ? 0 : totals->of[all]);
		pmfs_add_amount(out, &c->columns[i], totals->of[i]);
		pm_text_printf(out, "  %s\n", c->columns[i].base);
	}
	if (kernels != PM_NONE && !is_gpu_time(&c->columns[0]) &&
		c->columns[kernels].role == PM_ROLE_EXCLUSIVE)
		add_kernels(w, f, kernels, "Kernels", totals->of[kernels]);
}

/* ---- lines ---- */

static void add_line(const struct pmfs_writing *w, const struct pmfs_lines *l, uint32_t row,
	uint32_t column, double whole)
{
	struct pm_text *out = w->out;
	const struct pm_line *line = &l->lines[row];
	double value = l->cells[(size_t)row * l->columns->n + column];
	struct pm_text place = {.arena = w->a};
	pm_text_char(out, ' ');
	pmfs_add_share(out, value, whole);
	pmfs_add_amount(out, &l->columns->columns[column], value);
	pm_text_bytes(&place, l->tree->texts[line->file]);
	pm_text_printf(&place, ":%u", line->line);
	pm_text_str(out, "  ");
	if (line->function == PM_NONE) {
		pmfs_add_cut(out, pm_text_view(&place), NAME_WIDTH);
	} else {
		pmfs_add_cut_padded(out, pm_text_view(&place), 44);
		pm_text_str(out, "  ");
		pmfs_add_cut(out, l->identity->functions[line->function].name, NAME_WIDTH - 46);
	}
	pm_text_char(out, '\n');
}

/*
 * If time is also measured by statement: the total, the part in main code, and the slowest lines.
 */
static void add_costly_lines(const struct pmfs_writing *w)
{
	struct pm_text *out = w->out;
	const struct pm_flat *flat;
	const struct pmfs_lines *l;
	pm_build_check(w->a, pmfs_model_flat(w->model, &flat, w->err));
	const struct pm_statements *all = flat->statements;
	if (!all || !pmfs_model_profile(w->model)->has_lines || !(all->whole_ns > 0))
		return;
	pm_build_check(w->a, pmfs_lines(w->model, &l, w->err));
	uint32_t column = l->column;
	if (column == PM_NONE || l->n == 0)
		return;
	pm_text_str(out, "\nSlowest lines, share of ");
	pmfs_print_ns(out, all->whole_ns);
	pm_text_str(out, " by statement, ");
	if (isnan(all->outside_ns)) {
		pm_text_str(out, "the part outside of subs is not known\n");
	} else {
		pmfs_print_ns(out, all->outside_ns);
		pm_text_str(out, " (");
		pmfs_print_tenths(out, all->outside_ns, all->whole_ns);
		pm_text_str(out, ") outside of subs\n");
	}
	for (uint32_t i = 0; i < l->n && i < TOP_LINES; i++) {
		double value = l->cells[(size_t)l->order[i] * l->columns->n + column];
		if (!(value > 0) || !pmfs_is_cost(value, all->whole_ns))
			break;
		add_line(w, l, l->order[i], column, all->whole_ns);
	}
}

/* ---- the head: the run, its quantities, what its threads did, what has no names ---- */

/* ---- the run ---- */

/* `3 threads` or `1 thread` with a separator before it; nothing if it is unknown. */
static void add_count(struct pm_text *out, uint64_t n, const char *one)
{
	if (n == PM_NO_TIME || out->failed)
		return;
	pm_text_str(out, out->p[out->len - 1] == ' ' ? "" : "   ");
	pmfs_print_count(out, n);
	pm_text_printf(out, " %s%s", one, n == 1 ? "" : "s");
}

/* A line `key      value`, cut; nothing if the value is empty. */
static void add_cut_line(struct pm_text *out, const char *key, struct pm_bytes value)
{
	if (value.len == 0)
		return;
	pm_text_printf(out, "%-8s ", key);
	pmfs_add_cut(out, value, PMFS_SCREEN_WIDTH - 9);
	pm_text_char(out, '\n');
}

static void add_threads(const struct pmfs_writing *w, const struct pmfs_counts *counts)
{
	const struct pmfs_empty_threads *busy;
	add_count(w->out, counts->threads, "thread");
	if (counts->threads == PM_NO_TIME || counts->threads < 2)
		return;
	pm_build_check(w->a, pmfs_empty_threads(w->model, &busy, w->err));
	if (busy->n_empty > 0) {
		pm_text_str(w->out, ", ");
		pmfs_print_count(w->out, busy->n_empty);
		pm_text_str(w->out, " of them empty");
	}
}

/* Several runs that a measurement directory has; threads/run=N keeps them apart. */
static bool has_several_runs(struct pmfs_model *m)
{
	const struct pm_threads *threads;
	if (!pm_profile_has(pmfs_model_profile(m), threads) ||
		pmfs_model_threads(m, &threads, NULL) < 0)
		return false;
	for (uint32_t i = 0; i < threads->n_keys; i++)
		if (strcmp(threads->keys[i], "run") == 0)
			return true;
	return false;
}

/* The duration and, where there is a word for it, the number of samples. */
static void add_run(
	struct pm_text *out, const struct pmfs_counts *counts, const char *one, bool several)
{
	bool timed = counts->duration_ns != PM_NO_TIME;
	bool traced = counts->samples != PM_NO_TIME && counts->samples > 0 && one;
	if (!timed && !traced)
		return;
	pm_text_str(out, several ? "runs     " : "run      ");
	if (timed)
		pmfs_print_ns(out, (double)counts->duration_ns);
	if (timed && several)
		pm_text_str(out, " from the first to the last");
	if (traced)
		add_count(out, counts->samples, one);
	pm_text_char(out, '\n');
}

static void add_run_and_source(const struct pmfs_writing *w, const struct pmfs_counts *counts)
{
	const struct pm_profile *p = pmfs_model_profile(w->model);
	struct pm_text *out = w->out;
	struct pm_bytes title;
	pm_build_check(w->a, pm_profile_title(p, &title, w->err));
	add_cut_line(out, "profile", pmfs_base_name(pm_bytes_of(p->source)));
	add_cut_line(out, "source", pm_bytes_of(p->source));
	add_cut_line(out, "title", title);
	add_cut_line(out, "format", pm_bytes_of(p->format));
	add_cut_line(out, "layout", pm_bytes_of(p->layout));
	pm_text_str(out, "has      ");
	add_count(out, counts->contexts, "context");
	add_count(out, counts->functions, "function");
	add_threads(w, counts);
	pm_text_char(out, '\n');
	/* Of a window, calls are those that begin in it (a quantity), not those that touch it. */
	add_run(out, counts,
		!p->traces_are_calls ? "sample"
			: p->window  ? NULL
				     : "call",
		has_several_runs(w->model));
	if (counts->damages > 0) {
		pm_text_str(out, "damage   see damage.csv: ");
		add_count(out, counts->damages, "row");
		pm_text_char(out, '\n');
	}
}

/* ---- how busy ---- */

enum { PROCESSORS, STREAMS, N_SORTS }; /* of threads: streams are a GPU's */

struct usage {
	uint32_t n[N_SORTS]; /* threads that are measured */
	double busy_ns[N_SORTS], idle_ns;
};

/* What context 0 of a window costs on each thread is not busy. */
static void take_idle(const struct pmfs_writing *w, struct usage *u,
	const struct pm_threads *threads, const struct pmfs_columns *c,
	const uint32_t columns[N_SORTS])
{
	const struct pm_tree *tree;
	struct pmfs_values values;
	const struct pm_value *v;
	pm_build_check(w->a, pmfs_model_tree(w->model, &tree, w->err));
	uint32_t nothing = pm_tree_find(tree, 0);
	if (nothing == PM_NONE)
		return;
	pmfs_values_start(
		&values, w->model, (struct pm_values_of){PM_OF_CONTEXT, nothing, false}, 0);
	while ((v = pmfs_values_take(w->a, &values, w->err)) != NULL) {
		if (v->thread >= threads->n)
			continue;
		bool stream = pm_time_of(threads, v->thread) == PM_TIME_GPUS;
		if (pmfs_column_of(c, v->metric, false) != columns[stream ? STREAMS : PROCESSORS])
			continue;
		u->busy_ns[stream ? STREAMS : PROCESSORS] -= pmfs_value_number(v); /* in ns */
		u->idle_ns += stream ? 0 : pmfs_value_number(v);
	}
}

/* Threads that cannot be read are not measured. */
static void measure(
	const struct pmfs_writing *w, struct usage *u, const struct pmfs_columns *c, double ns)
{
	const struct pm_threads *threads;
	const struct pmfs_empty_threads *empty;
	pm_build_check(w->a, pmfs_model_threads(w->model, &threads, w->err));
	pm_build_check(w->a, pmfs_empty_threads(w->model, &empty, w->err));
	uint32_t leading = pmfs_leading_column(c), gpu = gpu_column(c, PM_ROLE_INCLUSIVE);
	uint32_t columns[N_SORTS] = {leading, gpu == PM_NONE ? leading : gpu};
	pm_number *cells = pmfs_cells_new(w->a, c->n);
	for (uint32_t i = 0; i < threads->n; i++) {
		uint32_t sort = pm_time_of(threads, i) == PM_TIME_GPUS ? STREAMS : PROCESSORS;
		if (empty->empty[i])
			continue;
		int r = pmfs_thread_totals(w->model, i, cells, NULL);
		if (pm_is_passing(r))
			pm_build_fail(w->a, r);
		if (r < 0 || isnan(cells[columns[sort]]))
			continue;
		u->n[sort]++;
		u->busy_ns[sort] += cells[columns[sort]] * ns;
	}
	take_idle(w, u, threads, c, columns);
}

/* Where threads are sampled over time: what of their time they were busy. */
static void add_usage(const struct pmfs_writing *w, const struct pmfs_counts *counts)
{
	static const char *const of[N_SORTS] = {"thread", "GPU stream"};
	const struct pm_profile *p = pmfs_model_profile(w->model);
	struct pm_text *out = w->out;
	const struct pmfs_columns *c;
	const struct pmfs_category_sums *kinds;
	struct usage u = {.idle_ns = 0};
	pm_build_check(w->a, pmfs_model_columns(w->model, &c, w->err));
	/* What a filter leaves out was not idle, and the time between runs is nobody's. */
	if (pmfs_model_unfiltered(w->model) || has_several_runs(w->model))
		return;
	if (c->n == 0 || p->traces_are_calls || !pm_profile_has(p, threads) || !p->ops->samples ||
		counts->duration_ns == PM_NO_TIME || counts->duration_ns == 0)
		return;
	const struct pm_metric *metric = metric_of(&c->columns[0]);
	double ns = pm_unit_ns(metric->unit);
	if (pm_quantity_of(metric->name, metric->unit) != PM_QUANTITY_TIME || !(ns > 0))
		return;
	pm_build_check(w->a, pmfs_category_sums(w->model, &kinds, w->err));
	/* `<omp idle>`: a processor's time, in which threads wait for work. */
	double waits = c->first_excl == PM_NONE
		? 0
		: kinds->cells[(size_t)PMFS_IDLE * c->n + c->first_excl] - kinds->idle;
	measure(w, &u, c, ns);
	for (int i = 0, shown = 0; i < N_SORTS; i++) {
		if (u.n[i] == 0 || (i == STREAMS && !p->window))
			continue;
		pm_text_str(out, shown++ ? "         " : "busy     ");
		pmfs_print_ns(out, u.busy_ns[i]);
		pm_text_str(out, " of ");
		pmfs_print_count(out, u.n[i]);
		pm_text_printf(out, " %s%s × ", of[i], u.n[i] == 1 ? "" : "s");
		pmfs_print_ns(out, (double)counts->duration_ns);
		pm_text_str(out, ": ");
		pmfs_print_tenths(out, u.busy_ns[i], u.n[i] * (double)counts->duration_ns);
		if (i == PROCESSORS && waits >= 0.0005 * kinds->busy && waits > 0) {
			pm_text_str(out, ", of which ");
			pmfs_print_ns(out, waits * ns);
			pm_text_str(out, " in category idle");
		}
		if (i == PROCESSORS && u.idle_ns > 0) {
			pm_text_str(out, ", idle ");
			pmfs_print_ns(out, u.idle_ns);
		}
		pm_text_char(out, '\n');
	}
}

/* ---- kinds of work ---- */

static void add_kinds(const struct pmfs_writing *w)
{
	struct pm_text *out = w->out;
	const struct pmfs_category_sums *s;
	pm_build_check(w->a, pmfs_category_sums(w->model, &s, w->err));
	uint32_t own = s->columns->first_excl, shown = 0;
	if (own == PM_NONE || !(s->busy > 0) || (s->n == 1 && s->order[0] == PMFS_PROGRAM))
		return;
	for (uint32_t i = 0; i < s->n; i++) {
		double share = pmfs_category_share(s->order[i],
			s->cells[(size_t)s->order[i] * s->columns->n + own], s->idle, s->busy);
		if (!(share >= 0.0005))
			continue;
		struct pm_bytes name = pmfs_category_name((enum pmfs_category)s->order[i]);
		pm_text_str(out, shown++ ? ", " : "kinds    ");
		pm_text_bytes(out, name.len ? name : pm_bytes_of("program"));
		pm_text_printf(out, " %.1f%%", 100 * share);
	}
	if (shown)
		pm_text_char(out, '\n');
}

/* ---- code without names ---- */

/* The part of it about code without names; nothing if all of it has. */
static void add_missing(const struct pmfs_writing *w)
{
	enum { MOST_MODULES = 3, MODULE_WIDTH = 24 };
	struct pm_text *out = w->out;
	const struct pmfs_missings *all;
	if (!pm_profile_has(pmfs_model_profile(w->model), missing))
		return;
	pm_build_check(w->a, pmfs_missings(w->model, &all, w->err));
	if (!(all->cost > 0) || !pmfs_is_cost(all->cost, all->whole))
		return;
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
}

/* ---- the page ---- */

enum { HOT_LINES = 9, WORST_LINES = 4, MOST_OF_THREAD = 20, BETWEEN_QUESTIONS = 1024 };

/* ---- the hot path ---- */

/* Whether the steps have the same share, as it is shown. */
static bool same_share(double value, double other, double whole)
{
	double digits = fabs(value) < 0.0005 * whole && fabs(other) < 0.0005 * whole ? 10000 : 1000;
	return fabs(round(digits * value / whole) - round(digits * other / whole)) < 0.5;
}

/* How much of some steps is left out for lack of room. */
enum steps { ALL_STEPS, STEPS_BUT_LINES, FIRST_STEPS_AND_LAST };

static void join_steps(struct pm_text *out, struct pm_text *scratch, const struct pm_tree *tree,
	const struct pmfs_hot *path, uint32_t n, enum steps how, size_t width)
{
	uint32_t last = n;
	bool gap = false;
	for (uint32_t i = 0; how != ALL_STEPS && i < n; i++)
		if (pm_tree_frame(tree, path[i].context)->kind != PM_KIND_LINE)
			last = i;
	for (uint32_t i = 0; i < n; i++) {
		const struct pm_frame *frame = pm_tree_frame(tree, path[i].context);
		if (i % BETWEEN_QUESTIONS == 0)
			pm_build_proceed(out->arena);
		if (how != FIRST_STEPS_AND_LAST && out->len > width)
			return;
		if (last < n && frame->kind == PM_KIND_LINE)
			continue;
		pm_text_clear(scratch);
		struct pm_bytes name = pmfs_stacks_name(tree, frame, scratch);
		bool ends = out->len == 0 || i == (last < n ? last : n - 1);
		if (how == FIRST_STEPS_AND_LAST && !ends && out->len + name.len > width / 2) {
			gap = true;
			continue;
		}
		pm_text_str(out, out->len == 0 ? "" : gap ? " > … > " : " > ");
		if (n > 1)
			pmfs_add_bare(out, name);
		else
			pm_text_bytes(out, name);
		gap = false;
	}
}

/* Steps of the same share, a line; hotpath.txt has those that are left out. */
static void add_steps(const struct pmfs_writing *w, const struct pm_tree *tree,
	const struct pmfs_hot *path, uint32_t n, unsigned width)
{
	struct pm_text line = {.arena = w->a}, scratch = {.arena = w->a};
	for (unsigned how = ALL_STEPS; how <= FIRST_STEPS_AND_LAST; how++) {
		pm_text_clear(&line);
		join_steps(&line, &scratch, tree, path, n, (enum steps)how, width);
		if (line.len <= width)
			break;
	}
	pmfs_add_cut(w->out, pm_text_view(&line), width);
}

static void add_hotpath(
	const struct pmfs_writing *w, const struct pmfs_functions *f, uint32_t by, double whole)
{
	const struct pmfs_column *column = &f->columns->columns[by];
	struct pm_text *out = w->out;
	uint32_t starts[HOT_LINES + 1], lines = 0, n;
	const struct pmfs_hot *path = pmfs_hotpath(w->a, w->model, by, &n, w->err);
	if (n == 0 || !(whole > 0))
		return;
	pm_text_printf(out, "\nHot path by %s\n", column->name);
	for (uint32_t i = 0; i < n; i++)
		if (i == 0 || !same_share(path[i].value, path[i - 1].value, whole))
			starts[lines < HOT_LINES ? lines++ : HOT_LINES] = i;
	bool more = starts[lines - 1] < n && lines == HOT_LINES;
	for (uint32_t k = 0; k < lines; k++) {
		uint32_t end = k + 1 < lines ? starts[k + 1] : n;
		while (more && k + 1 == lines && end > starts[k] + 1 &&
			!same_share(path[end - 1].value, path[starts[k]].value, whole))
			end--;
		pm_text_char(out, ' ');
		pmfs_add_share(out, path[starts[k]].value, whole);
		pmfs_add_amount(out, column, path[starts[k]].value);
		pm_text_str(out, "  ");
		add_steps(w, f->tree, path + starts[k], end - starts[k], PMFS_SCREEN_WIDTH - 23);
		pm_text_char(out, '\n');
		if (k + 1 == lines && end < n)
			pm_text_printf(out, " %20s  … %u more: see hotpath.txt …\n", "", n - end);
	}
}

/* ---- imbalance ---- */

/*
 * What waits is told by who called it, and by the outermost call that waits: MPI_Wait says more
 * than the function of the library that it waits in, and barriers are told apart.
 */
static void add_chain(const struct pmfs_writing *w, const struct pm_tree *tree, uint32_t context,
	struct pm_text *out, struct pm_text *scratch)
{
	const struct pmfs_identity *identity;
	const uint8_t *categories;
	uint32_t stops[3] = {PM_NONE, PM_NONE, context}; /* caller, outermost, context */
	pm_build_check(w->a, pmfs_identity(w->model, &identity, w->err));
	pm_build_check(w->a, pmfs_categories(w->model, &categories, w->err));
	uint32_t i = context;
	for (; i != PM_NONE && pmfs_is_waiting(categories[i]); i = tree->parent[i])
		stops[1] = pmfs_is_call(identity, i) ? i : stops[1];
	while (i != PM_NONE && !pmfs_is_call(identity, i))
		i = tree->parent[i];
	stops[0] = stops[1] == PM_NONE ? PM_NONE : i;
	for (size_t k = 0; k < 3; k++) {
		if (stops[k] == PM_NONE || (k == 2 && stops[1] == context))
			continue;
		pm_text_clear(scratch);
		pm_text_str(out, out->len ? " > " : "");
		pmfs_add_bare(out, pmfs_frame_name(tree, pm_tree_frame(tree, stops[k]), scratch));
	}
}

/* Calls whose work, or waiting, is spread most unevenly. */
static void add_worst(
	const struct pmfs_writing *w, const struct pmfs_functions *f, double whole, bool waiting)
{
	enum { WHERE_WIDTH = 30, LEFT_WIDTH = PMFS_SCREEN_WIDTH - 26 - WHERE_WIDTH };
	const struct pmfs_column *column = &f->columns->columns[pmfs_leading_column(f->columns)];
	struct pmfs_worst_list worst;
	struct pm_text left = {.arena = w->a}, scratch = {.arena = w->a}, *out = w->out;
	const char *path;
	pm_build_check(w->a, pmfs_worst_imbalances(w->model, whole, waiting, &worst, w->err));
	if (worst.n == 0)
		return;
	pm_text_printf(out, "\n%s, %s: max / mean, max - mean, the thread that %s most\n",
		waiting ? "Waiting" : "Imbalance of work", column->base,
		waiting ? "waits" : "works");
	for (uint32_t i = 0; i < worst.n && i < WORST_LINES; i++) {
		uint32_t context = worst.contexts[i];
		const struct pmfs_work *work = &worst.work[context];
		pm_text_printf(out, " %6.2f", work->max / work->mean);
		pmfs_add_amount(out, column, work->max - work->mean);
		pm_text_str(out, "  ");
		pm_text_clear(&left);
		if (waiting)
			add_chain(w, f->tree, context, &left, &scratch);
		else
			pmfs_add_name(&left, f->tree, pm_tree_frame(f->tree, context), &scratch);
		pm_build_check(w->a, pmfs_thread_path(w->model, work->slowest, &path, w->err));
		pmfs_add_cut_padded(out, pm_bytes_of(path + strlen("threads/")), WHERE_WIDTH);
		pm_text_str(out, "  ");
		pmfs_add_cut(out, pm_text_view(&left), LEFT_WIDTH);
		pm_text_char(out, '\n');
	}
}

/* ---- the whole run ---- */

static unsigned count_lines(const struct pm_text *text)
{
	unsigned n = 0;
	for (size_t i = 0; i < text->len; i++)
		n += text->p[i] == '\n';
	return n;
}

/* The sections below the functions. */
static void add_details(const struct pmfs_writing *w, const struct pmfs_functions *f,
	const struct pmfs_totals *totals)
{
	uint32_t gpu = gpu_column(f->columns, PM_ROLE_INCLUSIVE);
	add_gpu(w, f, totals);
	add_costly_lines(w);
	if (f->columns->first_incl == PM_NONE)
		return;
	add_hotpath(w, f, f->columns->first_incl, totals->busy);
	if (gpu != PM_NONE)
		add_hotpath(w, f, gpu, gpu_busy(f, totals));
	add_worst(w, f, totals->busy, false);
	add_worst(w, f, totals->busy, true);
}

/* Functions get the rest of the screen, but at least a few lines. */
static void add_tree(const struct pmfs_writing *w)
{
	enum { SCREEN_LINES = 50, LEAST_FUNCTIONS = 5 };
	struct pm_text details = {.arena = w->a};
	struct pmfs_writing below = *w;
	const struct pmfs_functions *f;
	const struct pmfs_totals *totals;
	pm_build_check(w->a, pmfs_functions(w->model, &f, w->err));
	if (f->columns->n == 0)
		return;
	pm_build_check(w->a, pmfs_totals(w->model, &totals, w->err));
	below.out = &details;
	add_details(&below, f, totals);
	unsigned taken = count_lines(w->out) + count_lines(&details) + 2, most = LEAST_FUNCTIONS;
	if (taken + LEAST_FUNCTIONS < SCREEN_LINES)
		most = SCREEN_LINES - taken;
	add_costly_functions(w->out,
		&(struct costly){.f = f, .n = f->n, .cells = f->cells, .whole = totals->busy},
		most);
	pm_text_bytes(w->out, pm_text_view(&details));
}

/*
 * The source and the run; of sampled threads, what part of their time they were busy; the totals of
 * quantities, the shares of kinds of work, the part that has no names, and what a reader must know.
 */
static void write_summary(const struct pmfs_writing *w)
{
	struct pmfs_counts counts;
	pm_build_check(w->a, pmfs_count(w->model, &counts, w->err));
	add_run_and_source(w, &counts);
	add_usage(w, &counts);
	add_totals(w);
	add_kinds(w);
	add_missing(w);
	pmfs_unaccounted(w->a, w->model, w->out, w->err);
	pmfs_add_remarks(w);
	pmfs_add_sections(w);
	add_tree(w);
}

int pmfs_summary_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, write_summary, out, err);
}

/* ---- one thread ---- */

static void add_thread_totals(const struct pmfs_writing *w, uint32_t thread)
{
	enum { MOST = 20 };
	const struct pmfs_columns *c;
	pm_build_check(w->a, pmfs_model_columns(w->model, &c, w->err));
	pm_number *cells = pmfs_cells_new(w->a, c->n);
	pm_build_check(w->a, pmfs_thread_totals(w->model, thread, cells, w->err));
	for (uint32_t i = 0, shown = 0; i < c->n_shown && shown < MOST; i++) {
		if (isnan(cells[i]))
			continue;
		pm_text_str(w->out, shown++ ? "         " : "total    ");
		pmfs_add_amount(w->out, &c->columns[i], cells[i]);
		pm_text_str(w->out, "  ");
		pmfs_add_cut(w->out, pm_bytes_of(c->columns[i].name), PMFS_SCREEN_WIDTH - 25);
		pm_text_char(w->out, '\n');
	}
}

static struct costly costly_of(const struct pmfs_flat_profile *part)
{
	struct costly c = {part->functions, part->n, part->order, part->whole, part->cells, 0};
	c.whole = costly_sum(&c);
	return c;
}

static void write_thread(const struct pmfs_writing *w)
{
	uint32_t thread = (uint32_t)w->doc->text.a;
	const struct pm_threads *threads;
	const char *path;
	pm_build_check(w->a, pmfs_model_threads(w->model, &threads, w->err));
	pm_build_check(w->a, pmfs_thread_path(w->model, thread, &path, w->err));
	add_cut_line(w->out, "profile",
		pmfs_base_name(pm_bytes_of(pmfs_model_profile(w->model)->source)));
	add_cut_line(w->out, "thread", pm_bytes_of(path));
	add_cut_line(w->out, "file", threads->threads[thread].file);
	if (threads->threads[thread].has_trace) {
		pm_text_str(w->out, "trace    ");
		add_count(w->out, threads->threads[thread].n_samples, "row");
		pm_text_char(w->out, '\n');
	}
	add_thread_totals(w, thread);
	struct costly c = costly_of(pmfs_thread_functions(w->a, w->model, thread, w->err));
	add_costly_functions(w->out, &c, MOST_OF_THREAD);
}

int pmfs_thread_summary_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, write_thread, out, err);
}

/* ---- functions.txt ---- */

static void write_functions(const struct pmfs_writing *w)
{
	uint32_t item = (uint32_t)w->doc->text.a;
	const struct pmfs_totals *totals;
	struct costly c = {.f = NULL};
	if (w->doc->text.c == PMFS_OF_RUN) {
		pm_build_check(w->a, pmfs_functions(w->model, &c.f, w->err));
		pm_build_check(w->a, pmfs_totals(w->model, &totals, w->err));
		c.n = c.f->n;
		c.cells = c.f->cells;
		c.whole = totals->busy;
	} else if (w->doc->text.c == PMFS_OF_THREAD) {
		c = costly_of(pmfs_thread_functions(w->a, w->model, item, w->err));
	} else {
		c = costly_of(pmfs_context_functions(w->a, w->model, item, w->err));
	}
	add_function_table(w->out, &c);
}

int pmfs_functions_text_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, write_functions, out, err);
}
