#include "fs/views/texts/costly.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/affix.h"
#include "formats/common/quantity.h"
#include "fs/views/model/amounts.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/screen.h"
#include "fs/views/sums/lines.h"

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
	for (uint32_t i = 1; i < c->n; i++) {
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
	pmfs_derived_cells(c, totals->of, NULL, cells);
	for (uint32_t i = 0; i < c->n_derived; i++) {
		const struct pmfs_derived *derived = &c->derived[i];
		if (cells[i].kind == PM_CELL_EMPTY ||
			(i > 0 && strcmp(derived->base, derived[-1].base) == 0))
			continue;
		pm_text_clear(&one);
		pm_text_str(&one, derived->base);
		pm_text_char(&one, ' ');
		pmfs_print_amount(&one, cells[i].f, pm_bytes_of(""));
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

void pmfs_add_quantities(struct pm_text *out, const struct pmfs_columns *c,
	const struct pmfs_totals *totals, bool chosen)
{
	if (c->n == 0)
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
	uint32_t n, rows[PMFS_TEXT_ROWS];
	const double *cells[PMFS_TEXT_ROWS];
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
	pm_text_str(out, "  ");
	pmfs_add_cut(out, file.len ? file : module, place);
	if (file.len && function->line)
		pm_text_printf(out, ":%u", function->line);
	pm_text_char(out, '\n');
}

/* Nothing runs in it: it is no function of the program, and costs time in windows alone. */
static bool is_nothing(const struct pmfs_functions *f, uint32_t row)
{
	return f->first[row] < f->first[row + 1] &&
		pm_tree_frame(f->tree, f->contexts[f->first[row]])->is_nothing;
}

/* `column`: ends where it costs nothing; PM_NONE: takes all rows. */
static void pick(struct picked *p, const struct pmfs_costly *c, uint32_t most, uint32_t column)
{
	*p = (struct picked){.f = c->f};
	for (uint32_t i = 0; i < c->n && p->n < most; i++) {
		uint32_t row = c->order ? c->order[i] : i;
		const double *cells = c->cells + (size_t)row * c->f->columns->n;
		if (column != PM_NONE &&
			!(cells[column] > 0 && pmfs_is_cost(cells[column], c->whole)))
			break; /* nor do the rows after it */
		row = c->of ? c->of[row] : row;
		if (is_nothing(c->f, row))
			continue;
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

double pmfs_costly_sum(const struct pmfs_costly *c)
{
	uint32_t column = pmfs_order_column(c->f->columns);
	double sum = 0;
	for (uint32_t row = 0; column != PM_NONE && row < c->n; row++) {
		double value =
			c->cells[(size_t)(c->order ? c->order[row] : row) * c->f->columns->n +
				column];
		if (!isnan(value))
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

void pmfs_add_costly_functions(struct pm_text *out, const struct pmfs_costly *c, uint32_t most)
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

void pmfs_add_function_table(struct pm_text *out, const struct pmfs_costly *c)
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
	if (c->n > p.n && p.n == PMFS_TEXT_ROWS)
		pm_text_printf(out, "  … %u more: see functions.csv\n", c->n - p.n);
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

uint32_t pmfs_gpu_column(const struct pmfs_columns *c, enum pm_role role)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (c->columns[i].role == role && c->columns[i].group != c->columns[0].group &&
			(strcmp(c->columns[i].base, "gpu_ns") == 0 ||
				strcmp(c->columns[i].base, "sampled_ns") == 0))
			return i;
	return PM_NONE;
}

double pmfs_gpu_busy(const struct pmfs_functions *f, const struct pmfs_totals *totals)
{
	uint32_t column = pmfs_gpu_column(f->columns, PM_ROLE_EXCLUSIVE);
	double busy = column == PM_NONE ? 0 : totals->of[column];
	for (uint32_t row = 0; column != PM_NONE && row < f->n; row++)
		if (is_nothing(f, row) && pmfs_function_cell(f, row, column) > 0)
			busy -= pmfs_function_cell(f, row, column);
	return busy;
}

/* Kernels by their own cost, the first ones. */
static int add_kernels(struct pm_text *out, const struct pmfs_functions *f, uint32_t column,
	const char *what, double whole, struct pm_error *err)
{
	uint32_t *order = pmfs_order(f->cells, f->n, f->columns->n, column);
	if (!order)
		return pm_error_plain(err, -ENOMEM);
	pm_text_printf(out, "\n%s by %s (total ", what, f->columns->columns[column].name);
	add_amount(out, &f->columns->columns[column], whole);
	pm_text_str(out, ")\n");
	struct picked p;
	pick(&p, &(struct pmfs_costly){f, f->n, order, NULL, f->cells, whole}, TOP_KERNELS, column);
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

int pmfs_add_gpu(struct pm_text *out, const struct pmfs_functions *f,
	const struct pmfs_totals *totals, struct pm_error *err)
{
	const struct pmfs_columns *c = f->columns;
	uint32_t kernels = PM_NONE, all = PM_NONE, n = 0;
	uint32_t own = pmfs_gpu_column(c, PM_ROLE_EXCLUSIVE);
	double busy = pmfs_gpu_busy(f, totals);
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

int pmfs_add_costly_lines(struct pm_text *out, struct pmfs_model *m, struct pm_error *err)
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
