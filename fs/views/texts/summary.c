/*
 * summary.txt: one screen of a profile for a person, at most 50 lines of 100 columns. What it
 * shows are the first rows of the tables.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/affix.h"
#include "formats/common/quantity.h"
#include "formats/common/text.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/model.h"
#include "fs/views/model/parts.h"
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

static void add_others(
	struct pm_text *out, const struct pmfs_columns *c, const struct pmfs_totals *totals)
{
	enum { MOST = 40 };
	struct pm_text one = {.p = NULL};
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
	out->failed |= one.failed;
	pm_text_done(&one);
}

/* Of the totals, where own and inclusive costs are the same. */
static void add_derived(
	struct pm_text *out, const struct pmfs_columns *c, const struct pmfs_totals *totals)
{
	struct pm_cell *cells = calloc((size_t)c->n_derived + 1, sizeof(*cells));
	struct pm_text one = {.p = NULL};
	size_t width = 0;
	if (!cells) {
		out->failed = true;
		return;
	}
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
	out->failed |= one.failed;
	pm_text_done(&one);
	free(cells);
}

/* The primary quantity and the others with their totals. `chosen`: -o metric chooses the former. */
static void add_quantities(struct pm_text *out, const struct pmfs_columns *c,
	const struct pmfs_totals *totals, bool chosen)
{
	if (c->n_shown == 0)
		return;
	pm_text_str(out, "total    ");
	add_amount(out, &c->columns[0], totals->of[0]);
	pm_text_printf(out, " %s, the primary quantity%s\n", c->lead,
		chosen ? " (choose another with -o metric=NAME)" : "");
	if (totals->of_amounts) {
		pm_text_str(out, "shares   of ");
		add_amount(out, &c->columns[0], totals->busy);
		pm_text_str(out, ": what increases and decreases add up to\n");
	}
	add_others(out, c, totals);
	add_derived(out, c, totals);
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
static int add_kernels(struct pm_text *out, const struct pmfs_functions *f, uint32_t column,
	const char *what, double whole, struct pm_error *err)
{
	uint32_t *order = pmfs_order(NULL, f->cells, f->n, f->columns->n, column);
	if (!order)
		return pm_error_plain(err, -ENOMEM);
	pm_text_printf(out, "\n%s by %s (total ", what, f->columns->columns[column].name);
	add_amount(out, &f->columns->columns[column], whole);
	pm_text_str(out, ")\n");
	struct picked p;
	pick(&p, &(struct costly){f, f->n, order, NULL, f->cells, whole}, TOP_KERNELS, column);
	add_rows(out, &p, f->columns, column, whole);
	free(order);
	return 0;
}

/* Is this the first column of a quantity that is a GPU's time, and is not 0? */
static bool is_gpu_row(const struct pmfs_columns *c, const struct pmfs_totals *w, uint32_t i)
{
	bool first = i == 0 || c->columns[i].group != c->columns[i - 1].group;
	return first && is_gpu_time(&c->columns[i]) && w->of[i] > 0;
}

/* GPU operations by kind, and kernels if another quantity is primary. */
static int add_gpu(struct pm_text *out, const struct pmfs_functions *f,
	const struct pmfs_totals *totals, struct pm_error *err)
{
	const struct pmfs_columns *c = f->columns;
	uint32_t kernels = PM_NONE, all = PM_NONE, n = 0;
	uint32_t own = gpu_column(c, PM_ROLE_EXCLUSIVE);
	double busy = gpu_busy(f, totals);
	if (own != PM_NONE)
		return busy > 0
			? add_kernels(out, f, own,
				  is_gpu_time(&c->columns[own]) ? "GPU" : "Samples", busy, err)
			: 0;
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
		return 0;
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
	if (kernels == PM_NONE || is_gpu_time(&c->columns[0]) ||
		c->columns[kernels].role != PM_ROLE_EXCLUSIVE)
		return 0;
	return add_kernels(out, f, kernels, "Kernels", totals->of[kernels], err);
}

/* ---- lines ---- */

static void add_line(struct pm_text *out, const struct pmfs_lines *l, uint32_t row, uint32_t column,
	double whole)
{
	const struct pm_line *line = &l->lines[row];
	double value = l->cells[(size_t)row * l->columns->n + column];
	struct pm_text place = {.p = NULL};
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
	out->failed |= place.failed;
	pm_text_done(&place);
}

/*
 * If time is also measured by statement: the total, the part in main code, and the slowest lines.
 */
static int add_costly_lines(struct pm_text *out, struct pmfs_model *m, struct pm_error *err)
{
	const struct pm_flat *flat;
	const struct pmfs_lines *l;
	int r = pmfs_model_flat(m, &flat, err);
	if (r < 0 || !flat->statements || !pmfs_model_profile(m)->has_lines)
		return r;
	const struct pm_statements *all = flat->statements;
	if (!(all->whole_ns > 0) || (r = pmfs_lines(m, &l, err)) < 0)
		return r;
	uint32_t column = l->column;
	if (column == PM_NONE || l->n == 0)
		return 0;
	pm_text_str(out, "\nSlowest lines, share of ");
	pmfs_print_ns(out, all->whole_ns);
	pm_text_str(out, " by statement, ");
	if (isnan(all->outside_ns)) {
		pm_text_str(out, "the part outside of subs is not known\n");
	} else {
		pmfs_print_ns(out, all->outside_ns);
		pm_text_printf(
			out, " (%.1f%%) outside of subs\n", 100 * all->outside_ns / all->whole_ns);
	}
	for (uint32_t i = 0; i < l->n && i < TOP_LINES; i++) {
		double value = l->cells[(size_t)l->order[i] * l->columns->n + column];
		if (!(value > 0) || !pmfs_is_cost(value, all->whole_ns))
			break;
		add_line(out, l, l->order[i], column, all->whole_ns);
	}
	return 0;
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

static int add_threads(struct pm_text *out, struct pmfs_model *m, const struct pmfs_counts *counts,
	struct pm_error *err)
{
	const struct pmfs_empty_threads *busy;
	add_count(out, counts->threads, "thread");
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

static int add_run_and_source(struct pm_text *out, struct pmfs_model *m,
	const struct pmfs_counts *counts, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	struct pm_bytes title;
	int r = pm_profile_title(p, &title, err);
	if (r < 0)
		return r;
	add_cut_line(out, "profile", pmfs_base_name(pm_bytes_of(p->source)));
	add_cut_line(out, "source", pm_bytes_of(p->source));
	add_cut_line(out, "title", title);
	add_cut_line(out, "format", pm_bytes_of(p->format));
	add_cut_line(out, "layout", pm_bytes_of(p->layout));
	pm_text_str(out, "has      ");
	add_count(out, counts->contexts, "context");
	add_count(out, counts->functions, "function");
	r = add_threads(out, m, counts, err);
	pm_text_char(out, '\n');
	/* Of a window, calls are those that begin in it (a quantity), not those that touch it. */
	add_run(out, counts,
		!p->traces_are_calls ? "sample"
			: p->window  ? NULL
				     : "call",
		has_several_runs(m));
	if (counts->damages > 0) {
		pm_text_str(out, "damage   see damage.csv:");
		pm_text_char(out, ' ');
		add_count(out, counts->damages, "row");
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
	uint32_t leading = pmfs_leading_column(c), gpu = gpu_column(c, PM_ROLE_INCLUSIVE);
	uint32_t columns[N_SORTS] = {leading, gpu == PM_NONE ? leading : gpu};
	pm_number *cells = pmfs_cells_new(NULL, c->n);
	if (!cells)
		return pmfs_no_memory(err);
	for (uint32_t i = 0; r == 0 && i < threads->n; i++) {
		struct pm_error why = {.offset = PM_NO_OFFSET};
		uint32_t sort = pm_time_of(threads, i) == PM_TIME_GPUS ? STREAMS : PROCESSORS;
		if (empty->empty[i])
			continue;
		if (pm_is_passing(pmfs_thread_totals(m, i, cells, &why)))
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
	const struct pmfs_category_sums *kinds;
	struct usage u = {.idle_ns = 0};
	int r = pmfs_model_columns(m, &c, err);
	/* What a filter leaves out was not idle, and the time between runs is nobody's. */
	if (pmfs_model_unfiltered(m) || has_several_runs(m))
		return r;
	if (r < 0 || c->n == 0 || p->traces_are_calls || !pm_profile_has(p, threads) ||
		!p->ops->samples || counts->duration_ns == PM_NO_TIME || counts->duration_ns == 0)
		return r;
	const struct pm_metric *metric =
		c->columns[0].flat ? c->columns[0].flat : c->columns[0].tree;
	double ns = pm_unit_ns(metric->unit);
	if (pm_quantity_of(metric->name, metric->unit) != PM_QUANTITY_TIME || !(ns > 0))
		return 0;
	if ((r = pmfs_category_sums(m, &kinds, err)) < 0)
		return r;
	/* `<omp idle>`: a processor's time, in which threads wait for work. */
	double waits = c->first_excl == PM_NONE
		? 0
		: kinds->cells[(size_t)PMFS_IDLE * c->n + c->first_excl] - kinds->idle;
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
	return 0;
}

/* ---- code without names ---- */

/* The part of it about code without names; nothing if all of it has. */
static int add_missing(struct pm_text *out, struct pmfs_model *m, struct pm_error *err)
{
	enum { MOST_MODULES = 3, MODULE_WIDTH = 24 };
	const struct pmfs_missings *all;
	if (!pm_profile_has(pmfs_model_profile(m), missing))
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
		add_quantities(out, c, totals, pmfs_model_outer(m) == NULL);
	return r;
}

/*
 * The source and the run; of sampled threads, what part of their time they were busy; the totals of
 * quantities, the shares of kinds of work, the part that has no names, and what a reader must know.
 */
static int add_head(struct pm_text *out, struct pmfs_model *m, const struct pmfs_counts *counts,
	struct pm_error *err)
{
	int r = add_run_and_source(out, m, counts, err);
	if (r < 0 || (r = add_usage(out, m, counts, err)) < 0 ||
		(r = add_totals(out, m, err)) < 0 || (r = add_kinds(out, m, err)) < 0 ||
		(r = add_missing(out, m, err)) < 0 || (r = pmfs_unaccounted(m, out, err)) < 0)
		return r;
	return pmfs_add_remarks(out, m, err);
}

/* ---- the page ---- */

enum { HOT_LINES = 9, WORST_LINES = 4, MOST_OF_THREAD = 20 };

/* ---- the hot path ---- */

/* Whether the steps have the same share, as it is shown. */
static bool same_share(double value, double other, double whole)
{
	return fabs(round(1000 * value / whole) - round(1000 * other / whole)) < 0.5;
}

/* How much of some steps is left out for lack of room. */
enum steps { ALL_STEPS, STEPS_BUT_LINES, FIRST_STEPS_AND_LAST };

static void join_steps(struct pm_text *out, const struct pm_tree *tree, const struct pmfs_hot *path,
	uint32_t n, enum steps how, size_t width)
{
	struct pm_text scratch = {.p = NULL};
	uint32_t last = n;
	bool gap = false;
	for (uint32_t i = 0; how != ALL_STEPS && i < n; i++)
		if (pm_tree_frame(tree, path[i].context)->kind != PM_KIND_LINE)
			last = i;
	for (uint32_t i = 0; i < n; i++) {
		const struct pm_frame *frame = pm_tree_frame(tree, path[i].context);
		if (last < n && frame->kind == PM_KIND_LINE)
			continue;
		pm_text_clear(&scratch);
		struct pm_bytes name = pmfs_stacks_name(tree, frame, &scratch);
		bool ends = out->len == 0 || i == (last < n ? last : n - 1);
		if (how == FIRST_STEPS_AND_LAST && !ends && out->len + name.len > width / 2) {
			gap = true;
			continue;
		}
		pm_text_str(out, out->len == 0 ? "" : gap ? " > … > " : " > ");
		pm_text_bytes(out, n > 1 ? pmfs_name_bare(name) : name);
		gap = false;
	}
	pm_text_end(&scratch, out);
}

/* Steps of the same share, a line; hotpath.txt has those that are left out. */
static void add_steps(struct pm_text *out, const struct pm_tree *tree, const struct pmfs_hot *path,
	uint32_t n, unsigned width)
{
	struct pm_text line = {.p = NULL};
	for (unsigned how = ALL_STEPS; how <= FIRST_STEPS_AND_LAST; how++) {
		pm_text_clear(&line);
		join_steps(&line, tree, path, n, (enum steps)how, width);
		if (line.len <= width)
			break;
	}
	pmfs_add_cut(out, pm_text_view(&line), width);
	pm_text_end(&line, out);
}

static void add_hotpath(struct pm_text *out, const struct pm_tree *tree,
	const struct pmfs_column *column, const struct pmfs_hot *path, uint32_t n, double whole)
{
	uint32_t starts[HOT_LINES + 1], lines = 0;
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
		add_steps(out, tree, path + starts[k], end - starts[k], PMFS_SCREEN_WIDTH - 23);
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
static int add_chain(struct pm_text *out, struct pmfs_model *m, const struct pm_tree *tree,
	uint32_t context, struct pm_error *err)
{
	const struct pmfs_identity *identity;
	const uint8_t *categories;
	struct pm_text scratch = {.p = NULL};
	uint32_t stops[3] = {PM_NONE, PM_NONE, context}; /* caller, outermost, context */
	int r = pmfs_identity(m, &identity, err);
	if (r < 0 || (r = pmfs_categories(m, &categories, err)) < 0)
		return r;
	uint32_t i = context;
	for (; i != PM_NONE && pmfs_is_waiting(categories[i]); i = tree->parent[i])
		stops[1] = pmfs_is_call(identity, i) ? i : stops[1];
	while (i != PM_NONE && !pmfs_is_call(identity, i))
		i = tree->parent[i];
	stops[0] = stops[1] == PM_NONE ? PM_NONE : i;
	for (size_t k = 0; k < 3; k++) {
		if (stops[k] == PM_NONE || (k == 2 && stops[1] == context))
			continue;
		pm_text_clear(&scratch);
		pm_text_str(out, out->len ? " > " : "");
		pm_text_bytes(out,
			pmfs_name_bare(
				pmfs_frame_name(tree, pm_tree_frame(tree, stops[k]), &scratch)));
	}
	pm_text_end(&scratch, out);
	return 0;
}

/* Calls whose work, or waiting, is spread most unevenly. */
static int add_worst(struct pm_text *out, struct pmfs_model *m, const struct pm_tree *tree,
	const struct pmfs_columns *columns, double whole, bool waiting, struct pm_error *err)
{
	enum { WHERE_WIDTH = 30, LEFT_WIDTH = PMFS_SCREEN_WIDTH - 26 - WHERE_WIDTH };
	const struct pmfs_column *column = &columns->columns[pmfs_leading_column(columns)];
	struct pmfs_worst_list worst;
	struct pm_text scratch = {.p = NULL}, name = {.p = NULL};
	const char *path = "";
	int r = pmfs_worst_imbalances(m, whole, waiting, &worst, err);
	if (r < 0 || worst.n == 0)
		return r;
	pm_text_printf(out, "\n%s, %s: max / mean, max - mean, the thread that %s most\n",
		waiting ? "Waiting" : "Imbalance of work", column->base,
		waiting ? "waits" : "works");
	for (uint32_t i = 0; i < worst.n && i < WORST_LINES && r == 0; i++) {
		const struct pmfs_work *work = &worst.work[worst.contexts[i]];
		pm_text_printf(out, " %6.2f", work->max / work->mean);
		pmfs_add_amount(out, column, work->max - work->mean);
		pm_text_str(out, "  ");
		pm_text_clear(&scratch);
		r = waiting ? add_chain(&scratch, m, tree, worst.contexts[i], err) : 0;
		if (!waiting)
			pmfs_add_name(
				&scratch, tree, pm_tree_frame(tree, worst.contexts[i]), &name);
		if (r == 0)
			r = pmfs_thread_path(m, work->slowest, &path, err);
		if (r == 0)
			pmfs_add_cut_padded(
				out, pm_bytes_of(path + strlen("threads/")), WHERE_WIDTH);
		pm_text_str(out, "  ");
		pmfs_add_cut(out, pm_text_view(&scratch), LEFT_WIDTH);
		pm_text_char(out, '\n');
	}
	pm_text_end(&name, out);
	pm_text_end(&scratch, out);
	return r;
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
static int add_details(struct pm_text *out, struct pmfs_model *m, const struct pmfs_functions *f,
	const struct pmfs_totals *totals, struct pm_error *err)
{
	struct pmfs_hot *path;
	uint32_t n;
	int r = add_gpu(out, f, totals, err);
	if (r < 0 || (r = add_costly_lines(out, m, err)) < 0 || f->columns->first_incl == PM_NONE ||
		(r = pmfs_hotpath(NULL, m, &path, &n, err)) < 0)
		return r;
	add_hotpath(
		out, f->tree, &f->columns->columns[f->columns->first_incl], path, n, totals->busy);
	free(path);
	uint32_t gpu = gpu_column(f->columns, PM_ROLE_INCLUSIVE);
	if (gpu != PM_NONE) {
		if ((r = pmfs_hotpath_by(NULL, m, gpu, &path, &n, err)) < 0)
			return r;
		add_hotpath(out, f->tree, &f->columns->columns[gpu], path, n, gpu_busy(f, totals));
		free(path);
	}
	r = add_worst(out, m, f->tree, f->columns, totals->busy, false, err);
	return r < 0 ? r : add_worst(out, m, f->tree, f->columns, totals->busy, true, err);
}

/* Functions get the rest of the screen, but at least a few lines. */
static int add_tree(struct pm_text *out, struct pmfs_model *m, struct pm_error *err)
{
	enum { SCREEN_LINES = 50, LEAST_FUNCTIONS = 5 };
	struct pm_text details = {.p = NULL};
	const struct pmfs_functions *f;
	const struct pmfs_totals *totals;
	int r = pmfs_functions(m, &f, err);
	if (r < 0 || f->columns->n == 0 || (r = pmfs_totals(m, &totals, err)) < 0)
		return r;
	r = add_details(&details, m, f, totals, err);
	unsigned taken = count_lines(out) + count_lines(&details) + 2, most = LEAST_FUNCTIONS;
	if (taken + LEAST_FUNCTIONS < SCREEN_LINES)
		most = SCREEN_LINES - taken;
	add_costly_functions(out,
		&(struct costly){.f = f, .n = f->n, .cells = f->cells, .whole = totals->busy},
		most);
	pm_text_bytes(out, pm_text_view(&details));
	pm_text_end(&details, out);
	return r;
}

int pmfs_summary_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(doc->text.self);
	struct pmfs_counts counts;
	int r = pmfs_count(m, &counts, err);
	if (r < 0 || (r = add_head(out, m, &counts, err)) < 0 ||
		(r = pmfs_add_sections(out, m, err)) < 0)
		return r;
	r = add_tree(out, m, err);
	return r < 0 ? r : pm_text_status(out);
}

/* ---- one thread ---- */

static int add_thread_totals(
	struct pm_text *out, struct pmfs_model *m, uint32_t thread, struct pm_error *err)
{
	enum { MOST = 20 };
	const struct pmfs_columns *c;
	int r = pmfs_model_columns(m, &c, err);
	if (r < 0)
		return r;
	pm_number *cells = pmfs_cells_new(NULL, c->n);
	if (!cells)
		return pmfs_no_memory(err);
	r = pmfs_thread_totals(m, thread, cells, err);
	for (uint32_t i = 0, shown = 0; r == 0 && i < c->n_shown && shown < MOST; i++) {
		if (isnan(cells[i]))
			continue;
		pm_text_str(out, shown++ ? "         " : "total    ");
		pmfs_add_amount(out, &c->columns[i], cells[i]);
		pm_text_str(out, "  ");
		pmfs_add_cut(out, pm_bytes_of(c->columns[i].name), PMFS_SCREEN_WIDTH - 25);
		pm_text_char(out, '\n');
	}
	free(cells);
	return r;
}

int pmfs_thread_summary_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(doc->text.self);
	uint32_t thread = (uint32_t)doc->text.a;
	struct pmfs_flat_profile *t;
	const struct pm_threads *threads;
	const char *path;
	int r = pmfs_model_threads(m, &threads, err);
	if (r < 0 || (r = pmfs_thread_path(m, thread, &path, err)) < 0)
		return r;
	add_cut_line(out, "profile", pmfs_base_name(pm_bytes_of(pmfs_model_profile(m)->source)));
	add_cut_line(out, "thread", pm_bytes_of(path));
	add_cut_line(out, "file", threads->threads[thread].file);
	if (threads->threads[thread].has_trace) {
		pm_text_str(out, "trace    ");
		add_count(out, threads->threads[thread].n_samples, "row");
		pm_text_char(out, '\n');
	}
	if ((r = add_thread_totals(out, m, thread, err)) < 0 ||
		(r = pmfs_thread_functions(m, thread, &t, err)) < 0)
		return r;
	struct costly c = {t->functions, t->n, t->order, t->whole, t->cells, 0};
	c.whole = costly_sum(&c);
	add_costly_functions(out, &c, MOST_OF_THREAD);
	pmfs_flat_profile_free(t);
	return pm_text_status(out);
}

/* ---- functions.txt ---- */

int pmfs_functions_text_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(doc->text.self);
	uint32_t item = (uint32_t)doc->text.a;
	struct pmfs_flat_profile *part;
	struct costly c = {.f = NULL};
	const struct pmfs_totals *totals;
	int r;
	if (doc->text.c == PMFS_OF_RUN) {
		if ((r = pmfs_functions(m, &c.f, err)) < 0 ||
			(r = pmfs_totals(m, &totals, err)) < 0)
			return r;
		c.n = c.f->n;
		c.cells = c.f->cells;
		c.whole = totals->busy;
		add_function_table(out, &c);
		return pm_text_status(out);
	}
	r = doc->text.c == PMFS_OF_THREAD ? pmfs_thread_functions(m, item, &part, err)
					  : pmfs_context_functions(m, item, &part, err);
	if (r < 0)
		return r;
	c = (struct costly){part->functions, part->n, part->order, part->whole, part->cells, 0};
	c.whole = costly_sum(&c);
	add_function_table(out, &c);
	pmfs_flat_profile_free(part);
	return pm_text_status(out);
}
