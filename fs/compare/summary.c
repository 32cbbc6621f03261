/*
 * summary.txt: totals, the largest changes in both directions, new and missing functions, joined
 * names. With repetitions, only differences beyond the noise are called changes.
 */
#include "fs/compare/internal.h"

#include <math.h>

#include "fs/views/model/screen.h"
#include "fs/views/sums/threads.h"

enum { MOST_CHANGES = 10, MOST_NAMES = 5, MOST_TOTALS = 6, NAME_WIDTH = 40, CHANGED_WIDTH = 57 };

/* Selects the rows of a list. */
enum list { EVERY, MORE, LESS, CAME, WENT };

static void add_amount(struct pm_text *out, const struct pmfs_costs *k, double value)
{
	const struct pmfs_cost *cost = &k->costs[k->own];
	struct pmfs_column column = {.export = cost->export, .export_scale = cost->export_scale};
	if (k->shares)
		pm_text_printf(out, "%13.2f%%", 100 * value);
	else
		pmfs_add_amount(out, &column, value);
}

static void add_percent(struct pm_text *out, double base, double value)
{
	if (base > 0 && value / base < 100)
		pm_text_printf(out, " %+9.2f%%", 100 * (value / base - 1));
	else if (base > 0 && value / base < 1e7)
		pm_text_printf(out, " %9.0fx", value / base);
	else
		pm_text_printf(out, " %10s", "");
}

/* ---- changes ---- */

static void add_change(struct pm_text *out, const struct pmfs_joined *j, uint32_t row)
{
	const struct pmfs_costs *k = j->costs;
	double base = pmfs_joined_sample(j, row, k->own, PMFS_BASE).mean;
	double value = pmfs_joined_sample(j, row, k->own, PMFS_OTHER).mean;
	uint8_t sides = j->rows[row].sides;
	pm_text_str(out, value > base ? "  +" : value < base ? "  -" : "   ");
	add_amount(out, k, fabs(value - base));
	if (sides == PMFS_BOTH_SIDES)
		add_percent(out, base, value);
	else
		pm_text_printf(out, " %10s", sides == 1u << PMFS_BASE ? "gone" : "new");
	if (pmfs_compare_tested(k))
		pm_text_printf(out, "  q %-8.2g", (double)j->q[row]);
	pm_text_str(out, "  ");
	pmfs_add_cut(out, j->rows[row].text[2], CHANGED_WIDTH);
	pm_text_char(out, '\n');
}

/* A row as both sides have it. */
static void add_sides(struct pm_text *out, const struct pmfs_joined *j, uint32_t row)
{
	const struct pmfs_costs *k = j->costs;
	double base = pmfs_joined_sample(j, row, k->own, PMFS_BASE).mean;
	double value = pmfs_joined_sample(j, row, k->own, PMFS_OTHER).mean;
	uint8_t sides = j->rows[row].sides;
	add_amount(out, k, sides & 1u << PMFS_BASE ? base : NAN);
	add_amount(out, k, sides & 1u << PMFS_OTHER ? value : NAN);
	if (sides == PMFS_BOTH_SIDES)
		add_percent(out, base, value);
	else
		pm_text_printf(out, " %10s", sides == 1u << PMFS_BASE ? "gone" : "new");
	if (pmfs_compare_tested(k))
		pm_text_printf(out, "  %-8.2g", (double)j->q[row]);
}

static bool is_listed(const struct pmfs_joined *j, uint32_t row, enum list list)
{
	uint8_t sides = j->rows[row].sides;
	double difference = pmfs_joined_difference(j, row, j->costs->own);
	if (!pmfs_joined_changed(j, row))
		return false;
	switch (list) {
	case EVERY: return true;
	case MORE: return sides == PMFS_BOTH_SIDES && difference > 0;
	case LESS: return sides == PMFS_BOTH_SIDES && difference < 0;
	case CAME: return sides == 1u << PMFS_OTHER;
	case WENT: return sides == 1u << PMFS_BASE;
	}
	return false;
}

/* Appends at most `most` lines; returns the number of rows left out. */
static uint32_t add_list(
	struct pm_text *out, const struct pmfs_joined *j, enum list list, unsigned most)
{
	uint32_t shown = 0, further = 0;
	for (uint32_t i = 0; i < j->n; i++) {
		if (!is_listed(j, j->order[i], list))
			continue;
		if (shown++ < most)
			add_change(out, j, j->order[i]);
		else
			further++;
	}
	return further;
}

static void add_titled(
	struct pm_text *out, const struct pmfs_joined *j, const char *title, enum list list)
{
	size_t before = out->len;
	pm_text_printf(out, "\n%s\n", title);
	size_t empty = out->len;
	uint32_t further = add_list(out, j, list, MOST_CHANGES);
	if (further)
		pm_text_printf(out, "   %u more\n", further);
	if (out->len == empty && !out->failed)
		out->len = before;
}

static bool has_changes(const struct pmfs_joined *j)
{
	uint32_t i = 0;
	while (i < j->n && !pmfs_joined_changed(j, i))
		i++;
	return i < j->n;
}

/* Whether functions can be compared by their own costs. */
static bool has_own(const struct pmfs_costs *k)
{
	return k->own != PM_NONE && k->costs[k->own].has[PMFS_BASE] &&
		k->costs[k->own].has[PMFS_OTHER];
}

static void add_noise(struct pm_text *out, const struct pmfs_joined *j)
{
	if (pmfs_compare_tested(j->costs))
		pm_text_printf(out, "changes beyond the noise: %u of %u functions\n", j->n_changed,
			j->n_tested);
	else
		pm_text_str(out,
			"noise is unknown: each side needs two or more repetitions "
			"(base=A base=B new=C new=D)\n");
	if (has_own(j->costs) && !pmfs_compare_tested(j->costs) && !has_changes(j))
		pm_text_str(out, "The own cost of every function is the same.\n");
}

/* ---- the rest ---- */

/* Threads with costs: the mean of each side; 0: unknown. */
static int count_threads(
	struct pmfs_compare *c, const struct pmfs_costs *k, double ret[2], struct pm_error *err)
{
	int r = 0;
	ret[PMFS_BASE] = ret[PMFS_OTHER] = 0;
	for (uint32_t i = 0; r == 0 && i < k->n_runs; i++) {
		const struct pmfs_compared_run *run = &k->runs[i];
		const struct pmfs_empty_threads *t;
		struct pmfs_model *m;
		if (run->broken || (r = pmfs_compare_acquire(c, run, &m, err)) < 0)
			continue;
		if (pm_profile_has(pmfs_model_profile(m), threads) &&
			(r = pmfs_empty_threads(m, &t, err)) == 0)
			ret[run->side] +=
				(double)(t->n_threads - t->n_empty) / k->n_good[run->side];
		pmfs_compare_release(c, run);
	}
	return r;
}

static void add_heading(
	struct pm_text *out, const struct pmfs_compare *c, const struct pmfs_costs *k)
{
	pmfs_add_cut(out, pm_bytes_of(c->of.name), NAME_WIDTH);
	pm_text_str(out, " against ");
	pmfs_add_cut(out, pm_bytes_of(c->of.base_name), NAME_WIDTH);
	pm_text_char(out, '\n');
	if (pmfs_compare_repeated(k) || c->of.n_base + c->of.n_runs > 2)
		pm_text_printf(out, "means of %u and %u repetitions\n", k->n_good[PMFS_OTHER],
			k->n_good[PMFS_BASE]);
	uint32_t broken = k->n_runs - k->n_good[PMFS_BASE] - k->n_good[PMFS_OTHER];
	if (broken) {
		pm_text_printf(out, "%u of %u runs cannot be read: ", broken, k->n_runs);
		pmfs_add_cut(out, pm_bytes_of(k->why), NAME_WIDTH);
		pm_text_char(out, '\n');
	}
}

static void add_totals(struct pm_text *out, const struct pmfs_costs *k)
{
	uint32_t last = PM_NONE, shown = 0;
	pm_text_str(out, "\nwhole                               base           value     change\n");
	for (uint32_t i = 0; i < k->n_shown && shown < MOST_TOTALS; i++) {
		const struct pmfs_cost *cost = &k->costs[i];
		struct pmfs_column column = {
			.export = cost->export, .export_scale = cost->export_scale};
		double base = k->whole[PMFS_BASE][cost->quantity].mean;
		double value = k->whole[PMFS_OTHER][cost->quantity].mean;
		if (cost->quantity == last || (base == 0 && value == 0))
			continue;
		last = cost->quantity;
		shown++;
		pm_text_str(out, "  ");
		pmfs_add_cut_padded(out, pm_bytes_of(cost->stem), 22);
		pm_text_str(out, "  ");
		bool has_base = pmfs_quantity_has(k, last, PMFS_BASE);
		bool has_other = pmfs_quantity_has(k, last, PMFS_OTHER);
		pmfs_add_amount(out, &column, has_base ? base : NAN);
		pm_text_str(out, "  ");
		pmfs_add_amount(out, &column, has_other ? value : NAN);
		if (has_base && has_other)
			add_percent(out, base, value);
		pm_text_char(out, '\n');
	}
	if (!k->in_common)
		pm_text_str(
			out, "The runs have no quantity in common: only names can be compared.\n");
	if (!k->in_common && k->shares)
		pm_text_str(out,
			"Shares of different quantities are not compared either (-o normalize).\n");
}

/* The spellings of a row, but for the one that is shown. */
static void add_spellings(struct pm_text *out, const struct pmfs_match *m, uint32_t group)
{
	const struct pmfs_match_group *g = &m->groups[group];
	for (uint32_t i = 0; i < 2 * m->n; i++) {
		const struct pmfs_spelling *s = &m->spellings[i / 2];
		struct pm_bytes name = pmfs_match_text(m, s->name);
		if (s->group[i % 2] != group || pm_bytes_equal(g->name, name))
			continue;
		pm_text_str(out, "  ");
		pmfs_add_cut(out, name, NAME_WIDTH);
		pm_text_str(out, " = ");
		pmfs_add_cut(out, g->name, NAME_WIDTH);
		pm_text_char(out, '\n');
		return;
	}
}

/* Rows with several names: pairs with both, others with what they are called. */
static void add_names(struct pm_text *out, const struct pmfs_joined *j)
{
	const struct pmfs_match *m = &j->match;
	uint32_t n = 0;
	for (uint32_t i = 0; i < m->n_groups; i++) {
		if (m->groups[i].n_names < 2 || j->row_of[i] == PM_NONE)
			continue;
		if (n == 0)
			pm_text_str(out, "\nnames that were joined (names.csv)\n");
		if (n++ >= MOST_NAMES)
			continue;
		if (m->groups[i].n_names == 2) {
			add_spellings(out, m, i);
			continue;
		}
		pm_text_str(out, "  ");
		pmfs_add_cut(out, m->groups[i].name, 2 * NAME_WIDTH);
		pm_text_char(out, '\n');
	}
	if (n > MOST_NAMES)
		pm_text_printf(out, "  %u more\n", n - MOST_NAMES);
}

int pmfs_compare_summary_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_compare *c = pmfs_compare_of(doc->text.self);
	const struct pmfs_joined *j;
	int r = pmfs_joined_get(c, PMFS_COMPARE_FUNCTIONS, &j, err);
	if (r < 0)
		return r;
	double threads[2];
	r = count_threads(c, j->costs, threads, err);
	if (r < 0)
		return r;
	bool same = threads[PMFS_BASE] == threads[PMFS_OTHER] || threads[PMFS_BASE] == 0 ||
		threads[PMFS_OTHER] == 0;
	add_heading(out, c, j->costs);
	if (!same)
		pm_text_printf(out,
			"threads: %.4g against %.4g; costs are sums over all threads; what more threads "
			"lose is in scaling.csv\n",
			threads[PMFS_OTHER], threads[PMFS_BASE]);
	if (j->costs->own != PM_NONE) {
		add_totals(out, j->costs);
		pm_text_char(out, '\n');
		add_noise(out, j);
		const bool *has = j->costs->costs[j->costs->own].has;
		if (has_own(j->costs)) {
			add_titled(out, j,
				same ? "functions that cost more (own cost)"
				     : "functions with more cost over all threads (own cost)",
				MORE);
			add_titled(out, j,
				same ? "functions that cost less (own cost)"
				     : "functions with less cost over all threads (own cost)",
				LESS);
		}
		if (has[PMFS_OTHER])
			add_titled(out, j, "functions that came (own cost)", CAME);
		if (has[PMFS_BASE])
			add_titled(out, j, "functions that went (own cost)", WENT);
	} else {
		pm_text_str(out, "There are no quantities to compare; noise is unknown.\n");
	}
	add_names(out, j);
	return pm_text_status(out);
}

int pmfs_compare_functions_render(
	const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	enum { MOST_ROWS = 100 };
	struct pmfs_compare *c = pmfs_compare_of(doc->text.self);
	struct pm_bytes names[MOST_ROWS];
	const struct pmfs_joined *j;
	int r = pmfs_joined_get(c, PMFS_COMPARE_FUNCTIONS, &j, err);
	if (r < 0)
		return r;
	const struct pmfs_costs *k = j->costs;
	uint32_t n = j->n < MOST_ROWS ? j->n : MOST_ROWS;
	unsigned width = PMFS_SCREEN_WIDTH - 2;
	bool own = k->own != PM_NONE, tested = own && pmfs_compare_tested(k);
	add_heading(out, c, k);
	if (own) {
		pm_text_printf(out,
			"own cost, %s: the largest changes first\n%14s%14s     change%s",
			k->costs[k->own].stem, "base", "value", tested ? "  q       " : "");
		width -= 2 * PMFS_AMOUNT_WIDTH + 11 + (tested ? 10 : 0);
	}
	pm_text_str(out, "  function\n");
	for (uint32_t i = 0; i < n; i++)
		names[i] = j->rows[j->order[i]].text[2];
	for (uint32_t i = 0; i < n; i++) {
		if (own)
			add_sides(out, j, j->order[i]);
		pm_text_str(out, "  ");
		pmfs_add_told_apart(out, names, n, i, width);
		pm_text_char(out, '\n');
	}
	if (j->n > n)
		pm_text_printf(out, "  … %u more: see functions.csv\n", j->n - n);
	return pm_text_status(out);
}

int pmfs_compare_summary_lines(
	const struct pm_profile *p, unsigned most, struct pm_text *out, struct pm_error *err)
{
	const struct pmfs_joined *j;
	int r = pmfs_joined_get(p->self, PMFS_COMPARE_FUNCTIONS, &j, err);
	if (r < 0)
		return r;
	if (!j->costs->in_common) {
		pm_text_str(out,
			j->costs->shares
				? "  no quantity in common, so -o normalize compares nothing\n"
				: "  no quantity in common\n");
	} else if (!has_own(j->costs)) {
		pm_text_str(out, "  no own cost in common\n");
	} else if (has_changes(j)) {
		uint32_t further = add_list(out, j, EVERY, most);
		if (further)
			pm_text_printf(out, "   %u more\n", further);
	} else {
		pm_text_str(out,
			pmfs_compare_tested(j->costs) ? "  no change beyond the noise\n"
						      : "  no difference\n");
	}
	return 0;
}
