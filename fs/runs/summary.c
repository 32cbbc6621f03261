/* summary.txt of an ensemble: its runs, and the largest changes. */
#include <math.h>

#include "fs/runs/lead.h"
#include "fs/runs/texts.h"
#include "fs/views/model/screen.h"

enum { MOST_RUNS = 20, MOST_PAIRS = 8, MOST_CHANGES = 8, NAME_WIDTH = 40 };

/* The mean over a group's runs that have it; NaN if none has. */
static double mean_of(const struct pmfs_ensemble *e, const struct pmfs_facts *facts, uint32_t group,
	uint32_t quantity)
{
	const struct pmfs_group *g = &e->runs.groups[group];
	double sum = 0;
	uint32_t n = 0;
	for (uint32_t i = g->first; i < g->first + g->n; i++) {
		double whole = pmfs_whole_of(&facts->of[i], quantity);
		n += isfinite(whole);
		sum += isfinite(whole) ? whole : 0;
	}
	return n > 0 ? sum / n : NAN;
}

static void add_group(struct pm_text *out, const struct pmfs_ensemble *e,
	const struct pmfs_facts *facts, uint32_t group, uint32_t lead)
{
	const struct pmfs_group *g = &e->runs.groups[group];
	double base = mean_of(e, facts, e->base, lead), mean = mean_of(e, facts, group, lead);
	uint32_t broken = 0;
	for (uint32_t i = g->first; i < g->first + g->n; i++)
		broken += facts->of[i].broken;
	pm_text_str(out, "  ");
	pmfs_add_cut_padded(out, pm_bytes_of(g->name), NAME_WIDTH);
	if (isfinite(mean))
		pm_text_printf(out, " %14.6g", mean);
	else
		pm_text_printf(out, " %14s", "");
	if (group == e->base)
		pm_text_str(out, "  baseline");
	else if (isfinite(mean) && isfinite(base) && base != 0)
		pm_text_printf(out, "  %+.2f%%", 100 * (mean - base) / fabs(base));
	if (g->n > 1)
		pm_text_printf(out, "  mean of %u", g->n - broken);
	if (broken > 0)
		pm_text_printf(out, "  %u cannot be opened", broken);
	pm_text_char(out, '\n');
}

static int add_changes(
	struct pm_text *out, const struct pmfs_ensemble *e, uint32_t other, struct pm_error *err)
{
	struct pm_error why = {.offset = PM_NO_OFFSET};
	struct pm_profile *p;
	pm_text_str(out, "\n");
	pmfs_add_cut(out, pm_bytes_of(e->runs.groups[e->others[other]].name), NAME_WIDTH);
	pm_text_str(out, " against ");
	pmfs_add_cut(out, pm_bytes_of(e->runs.groups[e->base].name), NAME_WIDTH);
	pm_text_str(out, "\n");
	int r = pmfs_ensemble_compare(e, other, &p, &why);
	if (r == 0) {
		size_t before = out->len;
		r = pmfs_compare_summary_lines(p, MOST_CHANGES, out, &why);
		if (r < 0)
			out->len = before;
		p->ops->close(p);
	}
	if (pmfs_is_lasting(r)) {
		pm_text_str(out, "  cannot be compared: ");
		pm_text_line(out, pm_bytes_of(why.text));
		pm_text_char(out, '\n');
		r = 0;
	}
	return r < 0 ? pm_error_plain(err, r) : 0;
}

int pmfs_ensemble_summary(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	const struct pmfs_ensemble *e = pmfs_ensemble_of(doc->text.self);
	const struct pmfs_facts *facts;
	int r = pmfs_facts(e, &facts, err);
	if (r < 0)
		return r;
	uint32_t lead = pmfs_lead(e, facts), shown = 0;
	pm_text_printf(out, "%u runs of %u names", e->runs.n, e->runs.n_groups);
	if (lead != PM_NONE) {
		struct pm_bytes name = facts->quantities.items[lead];
		pm_text_printf(out, ", whole %.*s", (int)name.len, (const char *)name.p);
	}
	pm_text_str(out, "\n");
	if (pmfs_shelf_lacks_metric(e->shelf)) {
		pm_text_str(out, "no run has the quantity of -o metric=");
		pmfs_add_cut(out, pm_bytes_of(e->options.shelf.metric), NAME_WIDTH);
		pm_text_str(out, ": each run's own comes first\n");
	}
	add_group(out, e, facts, e->base, lead);
	for (uint32_t g = 0; g < e->runs.n_groups && shown < MOST_RUNS; g++)
		if (g != e->base) {
			add_group(out, e, facts, g, lead);
			shown++;
		}
	if (shown + 1 < e->runs.n_groups)
		pm_text_printf(
			out, "  … and %u more: see runs.csv\n", e->runs.n_groups - 1 - shown);
	for (uint32_t i = 0; i + 1 < e->runs.n_groups && i < MOST_PAIRS && r == 0; i++)
		r = add_changes(out, e, i, err);
	if (r == 0 && e->runs.n_groups > MOST_PAIRS + 1)
		pm_text_str(out, "\nThe other runs' changes are in compare/NAME/summary.txt.\n");
	return r < 0 ? r : pm_text_status(out);
}
