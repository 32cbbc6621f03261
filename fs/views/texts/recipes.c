/*
 * The commands of recipes.txt. Each is built for this profile: its subject is picked from the
 * most expensive entries, and a command whose output would be empty is left out. Names come from
 * the measured program: only those that need no quoting inside '…"…"…' are used. Column numbers are
 * those of this profile's tables.
 */
#include "fs/views/texts/recipes.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/utf8.h"
#include "fs/views/sums/callers.h"
#include "fs/views/sums/hotpath.h"
#include "fs/views/sums/lines.h"
#include "fs/views/sums/work.h"
#include "fs/views/texts/recipes_private.h"

/* Plain enough to stand between single quotes, and short enough to be read. */
static bool can_be_typed(struct pm_bytes name)
{
	if (name.len == 0 || name.len > 200 || !pm_utf8_valid(name))
		return false;
	for (size_t i = 0; i < name.len; i++)
		if (name.p[i] < 0x20 || name.p[i] == 0x7f || strchr("'\"\\", name.p[i]))
			return false;
	return true;
}

/* How a number is printed: times of small units in seconds, which are easier to read, else as is.
 */
static const char *divisor_of(const struct pmfs_column *column)
{
	size_t len = strlen(column->export);
	bool time = len > 3 && strcmp(column->export + len - 3, "_ns") == 0;
	if (!time || column->export_scale == 1e9)
		return "";
	return column->export_scale == 1e6    ? " / 1e3"
		: column->export_scale == 1e3 ? " / 1e6"
					      : " / 1e9";
}

/* What the numbers that a command prints are: `seconds`, else the quantity's own name. */
static const char *unit_of(const struct pmfs_column *column)
{
	return *divisor_of(column) ? "seconds" : column->base;
}

/* ---- functions ---- */

static void add_functions(const struct pmfs_recipes *c)
{
	if (!pmfs_recipes_have_cost(c))
		return;
	const struct pmfs_column *column = &c->columns->columns[c->columns->first_excl];
	pm_text_printf(c->out, "  Which functions have the highest exclusive cost? (%s)\n",
		unit_of(column));
	if (*divisor_of(column))
		pm_text_printf(c->out,
			"$ head -n 11 functions.tsv | awk -F'\\t' 'NR > 1 { printf \"%%.9f  %%s\\n\", "
			"$%u%s, $NF }'\n",
			c->columns->first_excl + 3, divisor_of(column));
	else
		pm_text_printf(c->out,
			"$ head -n 11 functions.tsv | awk -F'\\t' 'NR > 1 { print $%u, $NF }'\n",
			c->columns->first_excl + 3);
}

/* The first of the most expensive functions with a call and a name that needs no quoting. */
static void add_callers(const struct pmfs_recipes *c, const struct pmfs_calls *calls)
{
	for (uint32_t row = 0; row < c->functions->n; row++) {
		struct pm_bytes name = pmfs_function_name(c->functions, row);
		uint32_t function = c->functions->function[row];
		if (calls->callee_first[function] == calls->callee_first[function + 1] ||
			!can_be_typed(name))
			continue;
		pmfs_ask(c, "What calls this function, how often, and at what cost?");
		pm_text_printf(c->out,
			"$ awk -F'\\t' 'NR == 1 || $NF == \"%.*s\"' callers.tsv | head -n 6\n",
			(int)name.len, (const char *)name.p);
		return;
	}
}

static bool some_function_has(const struct pmfs_recipes *c, uint32_t column, uint32_t other)
{
	for (uint32_t row = 0; row < c->functions->n; row++)
		if (pmfs_function_cell(c->functions, row, column) > 0 &&
			pmfs_function_cell(c->functions, row, other) > 0)
			return true;
	return false;
}

/* Cost per call, where calls are counted. */
static void add_per_call(const struct pmfs_recipes *c)
{
	uint32_t cost = c->columns->first_excl, calls = c->columns->calls;
	if (calls == PM_NONE || calls == cost || !pmfs_recipes_have_cost(c) ||
		!some_function_has(c, calls, cost))
		return;
	const struct pmfs_column *column = &c->columns->columns[cost];
	pm_text_printf(c->out, "  Which functions have the highest exclusive cost per call? (%s)\n",
		unit_of(column));
	pm_text_printf(c->out,
		"$ awk -F'\\t' 'NR > 1 && $%u > 0 { printf \"%%.9f  %%s\\n\", $%u / $%u%s, $NF }' "
		"functions.tsv | sort -gr | head\n",
		calls + 3, cost + 3, calls + 3, divisor_of(column));
}

/* ---- contexts ---- */

static int find_hot(struct pmfs_recipes *c, struct pm_error *err)
{
	struct pmfs_hot *path;
	uint32_t n;
	int r = pmfs_hotpath(c->model, &path, &n, err);
	c->context = PM_NONE;
	if (r < 0)
		return r;
	if (n > 0)
		c->context = path[n - 1].context;
	free(path);
	return 0;
}

/* Whether some rows of imbalance.csv lose anything: those of work, those of waiting. */
static int find_losses(struct pmfs_recipes *c, struct pm_error *err)
{
	const struct pmfs_work *work;
	const uint8_t *categories;
	if (c->threads->n < 2)
		return 0;
	int r = pmfs_works(c->model, &work, err);
	if (r < 0 || (r = pmfs_categories(c->model, &categories, err)) < 0)
		return r;
	for (uint32_t i = 0; i < c->functions->tree->n_contexts; i++)
		c->has_loss[pmfs_is_waiting(categories[i])] |= work[i].max > work[i].mean;
	return 0;
}

static void add_contexts(const struct pmfs_recipes *c)
{
	if (c->context == PM_NONE)
		return;
	unsigned number = pm_tree_number(c->functions->tree, c->context);
	pmfs_ask(c, "What is the hot path?");
	pm_text_str(c->out, "$ cat hotpath.txt\n");
	pm_text_printf(c->out,
		"  (its last context is by-id/%u/; see path.txt, metrics/%s%s there)\n", number,
		c->columns->columns[c->columns->first_incl].name,
		c->profile->ops->threads ? ", threads.csv" : "");
}

/* ---- lines ---- */

/* The first of the most expensive lines with a file name that needs no quoting. */
static int add_lines(const struct pmfs_recipes *c, struct pm_error *err)
{
	const struct pmfs_lines *l;
	if (!c->profile->has_lines)
		return 0;
	int r = pmfs_lines(c->model, &l, err);
	for (uint32_t i = 0; r == 0 && i < l->n; i++) {
		const struct pm_line *line = &l->lines[l->order[i]];
		struct pm_bytes file = l->tree->texts[line->file];
		if (line->line == 0 || !can_be_typed(file))
			continue;
		pmfs_ask(c, "Which lines of this file are the most expensive?");
		pm_text_printf(c->out,
			"$ awk -F'\\t' 'NR == 1 || $(NF - 1) == \"%.*s\"' lines.tsv | head -n 6\n",
			(int)file.len, (const char *)file.p);
		break;
	}
	return r;
}

/* ---- percentiles ---- */

/* Percentiles come after the metric columns. */
static int add_percentiles(const struct pmfs_recipes *c, struct pm_error *err)
{
	int timed = pmfs_functions_are_timed(c->model, err);
	if (timed <= 0 || c->functions->n == 0)
		return timed < 0 ? timed : 0;
	pmfs_ask(c, "Which functions have the highest 99th percentile of a call? (seconds)");
	pm_text_printf(c->out,
		"$ awk -F'\\t' 'NR > 1 { printf \"%%.9f  %%s\\n\", $%u / 1e9, $NF }' functions.tsv "
		"| sort -gr | head\n",
		2 + c->columns->n + c->columns->n_derived + 3);
	return 0;
}

static void add_other_run(const struct pmfs_recipes *c)
{
	if (!pmfs_recipes_have_cost(c))
		return;
	pm_text_printf(c->out,
		"  What changed since another run? Mount that run at OTHER and compare by name (ids are\n"
		"  only valid within one run):\n"
		"  awk -F'\\t' 'FNR > 1 { d[$NF] += NR == FNR ? -$%u : $%u } END { for (f in d) print d[f], f }'"
		" \\\n      OTHER/functions.tsv functions.tsv | sort -gr | head\n",
		c->columns->first_excl + 3, c->columns->first_excl + 3);
}

int pmfs_add_recipes(struct pmfs_model *m, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_recipes c = {.model = m, .profile = pmfs_model_profile(m), .out = out};
	const struct pmfs_calls *calls;
	int r;
	if ((r = pmfs_functions(m, &c.functions, err)) < 0 ||
		(r = pmfs_calls(m, &calls, err)) < 0 || (r = pmfs_totals(m, &c.totals, err)) < 0 ||
		(r = pmfs_model_threads(m, &c.threads, err)) < 0)
		return r;
	c.columns = c.functions->columns;
	if ((r = find_hot(&c, err)) < 0 || (r = find_losses(&c, err)) < 0)
		return r;
	pmfs_ask(&c, "What does the profile show, on one screen?");
	pm_text_str(out, "$ cat summary.txt\n");
	add_functions(&c);
	add_per_call(&c);
	add_callers(&c, calls);
	add_contexts(&c);
	pmfs_add_thread_recipes(&c);
	if ((r = add_lines(&c, err)) < 0 || (r = pmfs_add_trace_recipes(&c, err)) < 0 ||
		(r = pmfs_add_iteration_recipes(&c, err)) < 0 || (r = add_percentiles(&c, err)) < 0)
		return r;
	pmfs_add_sql_recipe(&c);
	r = c.profile->ops->recipes ? c.profile->ops->recipes(c.profile, out, err) : 0;
	add_other_run(&c);
	return r;
}
