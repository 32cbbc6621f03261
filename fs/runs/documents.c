/*
 * The documents at the root of an ensemble: README.txt, info.json and summary.txt, and the list
 * of all.
 */
#include "fs/runs/runs.h"

#include <math.h>
#include <string.h>

#include "formats/common/json.h"
#include "formats/common/sort.h"
#include "fs/runs/words.h"
#include "fs/views/model/screen.h"
#include "fs/views/model/views.h"

/* ---- README.txt ---- */

static void add_entry(struct pm_text *out, const char *name, const char *about)
{
	pm_text_printf(out, "  %-21s %s\n", name, about);
}

static void add_entries(
	struct pm_text *out, const struct pmfs_ensemble *e, bool scales, bool efficiencies)
{
	bool pairs = e->runs.n_groups > 1;
	pm_text_str(out, "\nEntries\n");
	add_entry(out, "README.txt", "This page.");
	add_entry(out, "summary.txt", "One screen: the runs, and what changed most.");
	add_entry(out, "functions.txt",
		"The most expensive functions, a column of costs for each of the first runs.");
	add_entry(
		out, "info.json", "Names, repetitions and sources of the runs, and the baseline.");
	add_entry(
		out, "report.html", "The runs in a browser: costs, scaling, the largest changes.");
	add_entry(out, "runs.csv",
		"One row per run: whole costs, threads, time, directory; why it cannot be read.");
	add_entry(out, "functions.csv", "functions.csv of every run, one after the other.");
	add_entry(out, "functions-wide.csv",
		"One row per function, one column per run: own cost of the primary quantity.");
	if (e->runs.repeated)
		add_entry(out, "noise.csv",
			"Mean, deviation, least and most of each function's own cost by name.");
	if (scales) {
		add_entry(out, "scaling.csv",
			"What each function loses where a run has more threads than the baseline.");
		add_entry(
			out, "scaling/contexts.csv", "The same by context: where scaling breaks.");
	}
	if (efficiencies)
		add_entry(out, "efficiency.csv",
			"How well each run uses its threads: load balance, MPI, OpenMP, scaling.");
	add_entry(out, "damage.csv", "What of any run could not be read.");
	add_entry(out, "X.parquet X.tsv",
		"X.csv as Parquet; functions, lines … with tabs. By name, not listed.");
	add_entry(out, e->runs.repeated ? "runs/run=NAME/repetition=K/" : "runs/run=NAME/",
		"Everything that a mount of this run alone has; see README.txt there.");
	add_entry(out, "compare/NAME/",
		pairs ? "The run against the baseline: what costs more, what is gone, what is new."
		      : "Empty: there is one name, and nothing to compare it with.");
}

static void add_meanings(struct pm_text *out, const struct pmfs_ensemble *e, bool scales)
{
	pm_text_str(out,
		"\nNumbers\n"
		"  Runs of one name are repetitions: comparisons show their means, with deviations and Welch's\n"
		"  p. A run that cannot be opened has a row in runs.csv that says why, and counts for nothing.\n"
		"  Functions of two runs are one by name, module and file. Of names that differ only in what\n"
		"  builds and runs generate (clones, ordinals, hashes, addresses), column `matched` says how\n"
		"  they were paired, and compare/NAME/names.csv lists what was joined; -o exact joins nothing.\n");
	if (scales)
		pm_text_printf(out,
			"  In scaling.csv W is a cost over all threads, and %s scaling is assumed:\n"
			"  loss = %s. -o scaling=%s assumes the other kind.\n",
			e->options.weak ? "weak" : "strong",
			e->options.weak ? "W - W_base * threads / threads_base" : "W - W_base",
			e->options.weak ? "strong" : "weak");
	if (e->options.normalize)
		pm_text_str(out,
			"  -o normalize: comparisons show shares of each run's whole instead of values.\n");
}

/* Can be put between single quotes without escaping. */
static bool can_be_typed(const char *name)
{
	for (const char *c = name; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f || *c == '\'' || *c == '\\')
			return false;
	return strlen(name) <= 60;
}

/* The first comparison whose directory name needs no escaping, or NULL. */
static const char *example(const struct pmfs_ensemble *e)
{
	for (uint32_t i = 0; i + 1 < e->runs.n_groups; i++)
		if (can_be_typed(e->compared.names[i]))
			return e->compared.names[i];
	return NULL;
}

static void add_commands(struct pm_text *out, const struct pmfs_ensemble *e)
{
	const char *name = example(e);
	pm_text_str(out,
		"\nCommands (run them in this directory)\n"
		"  Which runs are there?\n"
		"    $ cut -d, -f1-3 runs.csv | head -20\n"
		"  Which functions are the most expensive?\n"
		"    $ head -20 functions.txt\n");
	if (name)
		pm_text_printf(out,
			"  What changed? (Of repetitions: by more than they differ among themselves.)\n"
			"    $ head -40 'compare/%s/summary.txt'\n"
			"    $ head -20 'compare/%s/functions.txt'\n",
			name, name);
}

/* Appends a line with the filters from the `first` on, if there are any. */
static void ensemble_filters(struct pm_text *out, const struct pmfs_ensemble *e, unsigned first,
	const char *before, const char *after)
{
	struct pm_text filters = {.p = NULL};
	unsigned n = e->options.shelf.n_filters;
	if (n == 0)
		return;
	pmfs_filter_print(e->options.shelf.filters + first, n - first, &filters);
	pm_text_str(out, before);
	pm_text_line(out, pm_text_view(&filters));
	pm_text_str(out, after);
	pm_text_end(&filters, out);
}

static int ensemble_readme(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	const struct pmfs_ensemble *e = pmfs_ensemble_of(doc->text.self);
	int scales = pmfs_scales(e, err);
	if (scales < 0)
		return scales;
	int efficiencies = pmfs_has_efficiencies(e, err);
	if (efficiencies < 0)
		return efficiencies;
	pm_text_printf(out,
		"%u performance profile%s as files, mounted read-only by profmount.\n  Baseline: ",
		e->runs.n, e->runs.n == 1 ? "" : "s");
	pm_text_line(out, pm_bytes_of(e->runs.groups[e->base].name));
	pm_text_str(out, " (another one: -o base=NAME)\n");
	ensemble_filters(out, e, 0, "  Filtered by ", "\n");
	add_entries(out, e, scales, efficiencies);
	add_meanings(out, e, scales);
	add_commands(out, e);
	return pm_text_status(out);
}

static void add_run(struct pm_json *j, const struct pmfs_ensemble *e, uint32_t i)
{
	const struct pmfs_run *run = &e->runs.runs[i];
	struct pm_text path = {.p = NULL};
	pmfs_run_path(e, i, &path);
	pm_json_open(j, '{');
	pm_json_key(j, "run");
	pm_json_text(j, pm_bytes_of(run->name));
	pm_json_key(j, "repetition");
	pm_json_u64(j, run->repetition);
	pm_json_key(j, "source");
	pm_json_text(j, pm_bytes_of(run->source));
	pm_json_key(j, "path");
	pm_json_text(j, pm_text_view(&path));
	pm_json_close(j, '}');
	pm_text_end(&path, j->out);
}

static int ensemble_info(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	const struct pmfs_ensemble *e = pmfs_ensemble_of(doc->text.self);
	struct pm_json j = {.out = out, .indented = true};
	(void)err;
	pm_json_open(&j, '{');
	pm_json_key(&j, "format");
	pm_json_str(&j, e->profile.format);
	pm_json_key(&j, "baseline");
	pm_json_text(&j, pm_bytes_of(e->runs.groups[e->base].name));
	pm_json_key(&j, "names");
	pm_json_u64(&j, e->runs.n_groups);
	pm_json_key(&j, "repeated");
	pm_json_bool(&j, e->runs.repeated);
	pm_json_key(&j, "exact");
	pm_json_bool(&j, e->options.exact);
	pm_json_key(&j, "normalized");
	pm_json_bool(&j, e->options.normalize);
	pm_json_key(&j, "scaling");
	pm_json_str(&j, e->options.weak ? "weak" : "strong");
	if (e->options.shelf.n_filters > 0) {
		struct pm_text filters = {.p = NULL};
		pmfs_filter_print(e->options.shelf.filters, e->options.shelf.n_filters, &filters);
		pm_json_key(&j, "filters");
		pm_json_text(&j, pm_text_view(&filters));
		pm_text_end(&filters, out);
	}
	pm_json_key(&j, "runs");
	pm_json_open(&j, '[');
	for (uint32_t i = 0; i < e->runs.n; i++)
		add_run(&j, e, i);
	pm_json_close(&j, ']');
	pm_json_close(&j, '}');
	pm_text_char(out, '\n');
	return pm_text_status(out);
}

/* ---- summary.txt: the runs, and the largest changes ---- */

enum {
	MOST_RUNS = 20,
	MOST_PAIRS = 8,
	MOST_CHANGES = 8,
	MOST_LOSSES = 8,
	NAME_WIDTH = 40,
	SHORT_WIDTH = 24
};

/* The name of a group, so that it differs from the others, and blanks up to the width. */
static void add_name(struct pm_text *out, const struct pmfs_ensemble *e, uint32_t group,
	unsigned width, bool padded)
{
	struct pm_text name = {.p = NULL};
	pmfs_add_told_apart(&name, e->names, e->runs.n_groups, group, width);
	if (padded)
		pmfs_add_cut_padded(out, pm_text_view(&name), width);
	else
		pm_text_bytes(out, pm_text_view(&name));
	out->failed |= name.failed;
	pm_text_done(&name);
}

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

static void add_group(struct pm_text *out, const struct pmfs_ensemble *e,
	const struct pmfs_facts *facts, uint32_t group, uint32_t lead)
{
	const struct pmfs_group *g = &e->runs.groups[group];
	struct mean of_group = mean_of(e, facts, group, lead);
	double base = mean_of(e, facts, e->base, lead).value, mean = of_group.value;
	uint32_t broken = count_broken(e, facts, group);
	struct pmfs_column column = pmfs_lead_column(e, facts, lead);
	pm_text_str(out, "  ");
	add_name(out, e, group, NAME_WIDTH, true);
	pm_text_char(out, ' ');
	pmfs_add_amount(out, &column, mean);
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
	add_name(out, e, group, NAME_WIDTH, false);
	pm_text_str(out, " against ");
	add_name(out, e, e->base, NAME_WIDTH, false);
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
	if (pm_is_lasting(r)) {
		pm_text_str(out, "  cannot be compared: ");
		pm_text_line(out, pm_bytes_of(why.text));
		pm_text_char(out, '\n');
		r = 0;
	}
	return r < 0 ? pm_error_plain(err, r) : 0;
}

/* ---- runs that differ in their number of threads ---- */

static int by_name(const void *a, const void *b, void *groups)
{
	const struct pmfs_group *g = groups;
	return pmfs_natural_compare(g[*(const uint32_t *)a].name, g[*(const uint32_t *)b].name);
}

static void add_ratio(struct pm_text *out, double ratio, double scale, const char *unit)
{
	int width = 8 + 2 * (int)strlen(unit);
	if (isfinite(ratio))
		pm_text_printf(out, " %*.*f%s", width - (int)strlen(unit), scale == 1 ? 2 : 1,
			ratio * scale, unit);
	else
		pm_text_printf(out, " %*s", width, "");
}

static void add_scale(struct pm_text *out, const struct pmfs_ensemble *e,
	const struct pmfs_facts *facts, uint32_t group, const struct pmfs_column *column)
{
	static const struct pmfs_column duration = {.export = "duration_ns", .export_scale = 1};
	struct pmfs_group_facts base = pmfs_group_facts(e, facts, e->base);
	struct pmfs_group_facts of = pmfs_group_facts(e, facts, group);
	uint32_t broken = count_broken(e, facts, group);
	double speedup = base.duration_ns / of.duration_ns;
	double efficiency = e->options.weak ? speedup : speedup * base.threads / of.threads;
	pm_text_str(out, "  ");
	add_name(out, e, group, SHORT_WIDTH, true);
	if (of.threads > 0)
		pm_text_printf(out, " %8.4g", of.threads);
	else
		pm_text_printf(out, " %8s", "");
	pmfs_add_amount(out, &duration, of.duration_ns);
	add_ratio(out, speedup, 1, "");
	add_ratio(out, of.threads > 0 && base.threads > 0 ? efficiency : NAN, 100, "%");
	pmfs_add_amount(out, column, of.whole);
	if (group == e->base)
		pm_text_str(out, "  baseline");
	if (of.n > 1)
		pm_text_printf(out, "  mean of %u", of.n);
	if (of.n == 0 && broken < e->runs.groups[group].n)
		pm_text_str(out, "  does not have it");
	if (broken > 0)
		pm_text_printf(out, "  %u cannot be read", broken);
	pm_text_char(out, '\n');
}

/* The group with the most threads, or the baseline; and whether one has fewer than that. */
static uint32_t largest(const struct pmfs_ensemble *e, const struct pmfs_facts *facts, bool *fewer)
{
	double base = pmfs_group_facts(e, facts, e->base).threads, most = base;
	uint32_t group = e->base;
	*fewer = false;
	for (uint32_t i = 0; i < e->runs.n_groups; i++) {
		double threads = pmfs_group_facts(e, facts, i).threads;
		*fewer |= threads > 0 && threads < base;
		if (threads > most) {
			most = threads;
			group = i;
		}
	}
	return group;
}

static void add_scaling(const struct pmfs_writing *w, const struct pmfs_facts *facts, uint32_t lead)
{
	const struct pmfs_ensemble *e = pmfs_ensemble_of(w->doc->text.self);
	struct pmfs_column column = pmfs_lead_column(e, facts, lead);
	uint32_t n = e->runs.n_groups, *order = pm_arena_array(w->a, n, sizeof(*order));
	struct pm_text *out = w->out;
	bool fewer;
	for (uint32_t i = 0; i < n; i++)
		order[i] = i;
	pm_build_check(w->a, pm_sort_with(order, n, sizeof(*order), by_name, e->runs.groups));
	pm_text_printf(out, "  %-*s %8s %13s %8s %10s %13s\n", SHORT_WIDTH, "run", "threads",
		"duration", "speedup", "efficiency", "total");
	for (uint32_t i = 0; i < n && i < MOST_RUNS; i++)
		add_scale(out, e, facts, order[i], &column);
	if (n > MOST_RUNS)
		pm_text_printf(out, "  … and %u more: see runs.csv\n", n - MOST_RUNS);
	uint32_t group = largest(e, facts, &fewer);
	pm_text_printf(out, "%s scaling: efficiency = %s (-o scaling=%s for the other kind)\n",
		e->options.weak ? "weak" : "strong",
		e->options.weak ? "duration of the baseline / duration"
				: "speedup * threads of the baseline / threads",
		e->options.weak ? "strong" : "weak");
	if (fewer)
		pm_text_str(out,
			"The baseline has not the fewest threads: -o base=NAME chooses another.\n");
	if (group == e->base)
		return;
	pm_text_str(out, "\nfunctions that lose most in ");
	add_name(out, e, group, NAME_WIDTH, false);
	pm_text_str(out, " (own cost over all threads; scaling.csv, scaling/contexts.csv)\n");
	size_t before = out->len;
	pm_build_check(w->a, pmfs_scaling_lines(e, group, MOST_LOSSES, &column, out, w->err));
	if (out->len == before)
		pm_text_str(out, "  none\n");
}

/* More threads cost more in most functions: that says nothing, and is in scaling.csv. */
static bool has_other_threads(
	const struct pmfs_ensemble *e, const struct pmfs_facts *facts, uint32_t other)
{
	double base = pmfs_group_facts(e, facts, e->base).threads;
	double threads = pmfs_group_facts(e, facts, e->others[other]).threads;
	return base > 0 && threads > 0 && base != threads;
}

static int add_all_changes(struct pm_text *out, const struct pmfs_ensemble *e,
	const struct pmfs_facts *facts, bool scales, struct pm_error *err)
{
	uint32_t shown = 0;
	int r = 0;
	for (uint32_t i = 0; i + 1 < e->runs.n_groups && r == 0; i++) {
		if (scales && has_other_threads(e, facts, i))
			continue;
		if (shown++ == MOST_PAIRS) {
			pm_text_str(out,
				"\nThe other runs' changes are in compare/NAME/summary.txt.\n");
			break;
		}
		r = add_changes(out, e, facts, i, err);
	}
	return r;
}

static void add_groups(struct pm_text *out, const struct pmfs_ensemble *e,
	const struct pmfs_facts *facts, uint32_t lead)
{
	uint32_t shown = 0;
	add_group(out, e, facts, e->base, lead);
	for (uint32_t g = 0; g < e->runs.n_groups && shown < MOST_RUNS; g++)
		if (g != e->base) {
			add_group(out, e, facts, g, lead);
			shown++;
		}
	if (shown + 1 < e->runs.n_groups)
		pm_text_printf(
			out, "  … and %u more: see runs.csv\n", e->runs.n_groups - 1 - shown);
}

static bool same_text(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

/* Runs that are all named alike, by a number, and are of one command, host and number of threads.
 */
static void add_proposal(const struct pmfs_writing *w, const struct pmfs_facts *facts)
{
	const struct pmfs_ensemble *e = pmfs_ensemble_of(w->doc->text.self);
	uint32_t n = e->runs.n;
	if (e->runs.repeated)
		return;
	struct pmfs_numbered *numbered = pmfs_runs_numbered(w->a, &e->runs);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t first = 0;
		while (first < i && numbered[first].name != numbered[i].name)
			first++;
		const struct pmfs_run_facts *a = &facts->of[first], *b = &facts->of[i];
		bool alike = same_text(a->command, b->command) && same_text(a->host, b->host) &&
			a->threads != PM_NONE && a->threads == b->threads && a->busy == b->busy;
		if (!alike && numbered[i].name)
			numbered[first].n = 0;
	}
	for (uint32_t i = 0; i < n; i++) {
		bool first = numbered[i].name && numbered[i].n > 0;
		for (uint32_t k = 0; k < i && first; k++)
			first = numbered[k].name != numbered[i].name;
		if (!first)
			continue;
		pm_text_printf(w->out, "%u runs look like repetitions of `", numbered[i].n);
		pmfs_add_cut(w->out, pm_bytes_of(numbered[i].name), SHORT_WIDTH);
		pm_text_str(w->out, "`: to compare their means, mount with -o repetitions=yes\n");
	}
}

static void write_summary(const struct pmfs_writing *w)
{
	const struct pmfs_ensemble *e = pmfs_ensemble_of(w->doc->text.self);
	const struct pmfs_facts *facts;
	struct pm_text *out = w->out;
	pm_build_check(w->a, pmfs_facts(e, &facts, w->err));
	uint32_t lead = pmfs_lead(e, facts);
	bool scales = lead != PM_NONE && pmfs_threads_differ(e, facts);
	if (scales) {
		add_scaling(w, facts, lead);
		pm_text_str(out, "\n");
	}
	pm_text_printf(out, "%u runs of %u names", e->runs.n, e->runs.n_groups);
	if (lead != PM_NONE) {
		struct pm_bytes name = facts->quantities.items[lead];
		pm_text_printf(out, ", whole %.*s", (int)name.len, (const char *)name.p);
	}
	pm_text_str(out, "\n");
	unsigned n_filters = e->options.shelf.n_filters;
	ensemble_filters(out, e, 0, "filtered by ", "\n");
	uint32_t unmatched = 0, broken = 0;
	for (uint32_t i = 0; i < e->runs.n; i++) {
		unmatched += facts->of[i].is_unmatched;
		broken += facts->of[i].broken;
	}
	/* The others are inside of the last filter. */
	if (unmatched > 0 && unmatched + broken == e->runs.n)
		ensemble_filters(out, e, n_filters - 1, "nothing matches ", " in any run\n");
	if (pmfs_shelf_lacks_metric(e->shelf)) {
		pm_text_str(out, "no run has the quantity of -o metric=");
		pmfs_add_cut(out, pm_bytes_of(e->options.shelf.metric), NAME_WIDTH);
		pm_text_str(out, ": each run's own comes first\n");
	}
	const struct pmfs_definitions *derived = e->options.shelf.derived;
	for (uint32_t i = 0; derived && i < derived->n; i++)
		if (pmfs_shelf_lacks_derived(e->shelf, i)) {
			pm_text_str(out, "no run has the quantities of -o derive=");
			pmfs_add_cut(out, derived->items[i].name, NAME_WIDTH);
			pm_text_str(out, "\n");
		}
	add_proposal(w, facts);
	if (!scales)
		add_groups(out, e, facts, lead);
	pm_build_check(w->a, add_all_changes(out, e, facts, scales, w->err));
}

static int ensemble_summary(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, write_summary, out, err);
}

/* ---- all documents, in the order of listings ---- */

static struct pm_doc text(const struct pmfs_ensemble *e,
	int (*render)(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err))
{
	struct pm_doc doc = {.kind = PM_DOC_TEXT};
	doc.text.render = render;
	doc.text.self = e;
	return doc;
}

static void add(struct pmfs_ensemble *e, const char *path, struct pm_doc doc)
{
	e->documents[e->n_documents++] = (struct pm_named_doc){.path = path, .doc = doc};
}

static int scales(const struct pm_profile *p, struct pm_error *err)
{
	return pmfs_scales(pmfs_ensemble_of(p->self), err);
}

static int has_efficiencies(const struct pm_profile *p, struct pm_error *err)
{
	return pmfs_has_efficiencies(pmfs_ensemble_of(p->self), err);
}

void pmfs_ensemble_list_documents(struct pmfs_ensemble *e)
{
	struct pm_table functions = pmfs_all_functions_table(e);
	add(e, "README.txt", text(e, ensemble_readme));
	add(e, "summary.txt", text(e, ensemble_summary));
	add(e, "functions.txt", text(e, pmfs_ensemble_functions));
	add(e, "info.json", text(e, ensemble_info));
	add(e, "runs.csv", pm_doc_csv(pmfs_runs_table(e)));
	add(e, "functions.csv", pm_doc_csv(functions));
	add(e, "functions.tsv", pm_doc_tsv(functions));
	add(e, "functions-wide.csv", pm_doc_csv(pmfs_wide_table(e)));
	if (e->runs.repeated)
		add(e, "noise.csv", pm_doc_csv(pmfs_noise_table(e)));
	add(e, "scaling.csv", pm_doc_csv(pmfs_scaling_table(e)));
	e->documents[e->n_documents - 1].present = scales;
	add(e, "scaling/contexts.csv", pm_doc_csv(pmfs_scaling_contexts_table(e)));
	e->documents[e->n_documents - 1].present = scales;
	add(e, "efficiency.csv", pm_doc_csv(pmfs_efficiencies_table(e)));
	e->documents[e->n_documents - 1].present = has_efficiencies;
	add(e, "damage.csv", pm_doc_csv(pmfs_all_damage_table(e)));
}
