/* summary.txt of an ensemble: its runs, and the largest changes. */
#include <math.h>

#include "fs/runs/lead.h"
#include "fs/runs/texts.h"
#include "fs/views/model/screen.h"

enum { MOST_RUNS = 20, MOST_PAIRS = 8, MOST_CHANGES = 8, NAME_WIDTH = 40 };

/* Over a group's runs. */
struct mean {
	double value; /* NaN if n is 0 */
	uint32_t n;   /* those that have the quantity */
};

static struct mean mean_of(const struct pmfs_ensemble *e, const struct pmfs_facts *facts,
	uint32_t group, uint32_t quantity)
{
	const struct pmfs_group *g = &e->runs.groups[group];
	struct mean mean = {.n = 0};
	double sum = 0;
	for (uint32_t i = g->first; i < g->first + g->n; i++) {
		double whole = pmfs_whole_of(&facts->of[i], quantity);
		mean.n += isfinite(whole);
		sum += isfinite(whole) ? whole : 0;
	}
	mean.value = mean.n > 0 ? sum / mean.n : NAN;
	return mean;
}

static uint32_t count_broken(
	const struct pmfs_ensemble *e, const struct pmfs_facts *facts, uint32_t group)
{
	const struct pmfs_group *g = &e->runs.groups[group];
	uint32_t broken = 0;
	for (uint32_t i = g->first; i < g->first + g->n; i++)
		broken += facts->of[i].broken;
	return broken;
}

/* Its unit is that of any run whose primary quantity it is. */
static void add_whole(struct pm_text *out, const struct pmfs_ensemble *e,
	const struct pmfs_facts *facts, uint32_t quantity, double value)
{
	uint32_t i = 0;
	while (i < e->runs.n && (facts->of[i].broken || facts->of[i].lead != quantity))
		i++;
	struct pmfs_column column = {.export = "", .export_scale = 1};
	if (i < e->runs.n && facts->of[i].lead_export) {
		column.export = facts->of[i].lead_export;
		column.export_scale = facts->of[i].lead_scale;
	}
	pmfs_add_amount(out, &column, value);
}

static void add_group(struct pm_text *out, const struct pmfs_ensemble *e,
	const struct pmfs_facts *facts, uint32_t group, uint32_t lead)
{
	const struct pmfs_group *g = &e->runs.groups[group];
	struct mean of_group = mean_of(e, facts, group, lead);
	double base = mean_of(e, facts, e->base, lead).value, mean = of_group.value;
	uint32_t broken = count_broken(e, facts, group);
	pm_text_str(out, "  ");
	pmfs_add_cut_padded(out, pm_bytes_of(g->name), NAME_WIDTH);
	pm_text_char(out, ' ');
	add_whole(out, e, facts, lead, mean);
	if (group == e->base)
		pm_text_str(out, "  baseline");
	else if (isfinite(mean) && isfinite(base) && base != 0)
		pm_text_printf(out, "  %+.2f%%", 100 * (mean - base) / fabs(base));
	if (g->n > 1 && of_group.n > 0)
		pm_text_printf(out, "  mean of %u", of_group.n);
	if (of_group.n == 0 && broken < g->n && lead != PM_NONE)
		pm_text_str(out, "  does not have it");
	if (broken > 0)
		pm_text_printf(out, "  %u cannot be read", broken);
	pm_text_char(out, '\n');
}

static int add_changes(struct pm_text *out, const struct pmfs_ensemble *e,
	const struct pmfs_facts *facts, uint32_t other, struct pm_error *err)
{
	struct pm_error why = {.offset = PM_NO_OFFSET};
	struct pm_profile *p;
	uint32_t group = e->others[other];
	pm_text_str(out, "\n");
	pmfs_add_cut(out, pm_bytes_of(e->runs.groups[group].name), NAME_WIDTH);
	pm_text_str(out, " against ");
	pmfs_add_cut(out, pm_bytes_of(e->runs.groups[e->base].name), NAME_WIDTH);
	pm_text_str(out, ", own cost of functions\n");
	if (count_broken(e, facts, group) == e->runs.groups[group].n ||
		count_broken(e, facts, e->base) == e->runs.groups[e->base].n) {
		pm_text_str(out, "  cannot be compared: see damage.csv\n");
		return 0;
	}
	int r = pmfs_ensemble_compare(e, other, e->options.normalize, NULL, &p, &why);
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
		r = add_changes(out, e, facts, i, err);
	if (r == 0 && e->runs.n_groups > MOST_PAIRS + 1)
		pm_text_str(out, "\nThe other runs' changes are in compare/NAME/summary.txt.\n");
	return r < 0 ? r : pm_text_status(out);
}
