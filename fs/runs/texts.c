/* README.txt and info.json of an ensemble. */
#include "fs/runs/texts.h"

#include "formats/common/json.h"
#include "fs/runs/sides.h"

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
		"A row for each run: whole costs, threads, time, directory; why it cannot be read.");
	add_entry(out, "functions.csv", "functions.csv of every run, one after the other.");
	add_entry(out, "functions-wide.csv",
		"A row for each function, a column for each run: own cost of the primary quantity.");
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
	add_entry(out, "X.tsv X.parquet",
		"Tables X.csv with tabs and without quotes, and as Parquet: by name, not listed.");
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
			"  What changed?\n"
			"    $ head -40 'compare/%s/summary.txt'\n"
			"    $ head -20 'compare/%s/functions.txt'\n",
			name, name);
}

void pmfs_ensemble_filters(struct pm_text *out, const struct pmfs_ensemble *e, const char *before)
{
	struct pm_text filters = {.p = NULL};
	if (e->options.shelf.n_filters == 0)
		return;
	pmfs_filter_print(e->options.shelf.filters, e->options.shelf.n_filters, &filters);
	pm_text_str(out, before);
	pm_text_line(out, pm_text_view(&filters));
	pm_text_char(out, '\n');
	pm_text_end(&filters, out);
}

int pmfs_ensemble_readme(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
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
	pmfs_ensemble_filters(out, e, "  Filtered by ");
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

int pmfs_ensemble_info(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
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
