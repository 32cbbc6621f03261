/*
 * README.txt, a screen: what this mount contains. recipes.txt: commands that run unchanged and use
 * names from this profile, in any POSIX shell with any awk; and what numbers mean.
 */
#include <stdio.h>
#include <string.h>

#include "profmount/limits.h"

#include "fs/views/model/amounts.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/missing.h"
#include "fs/views/sums/threads.h"
#include "fs/views/texts/recipes.h"

static void add_entry(struct pm_text *out, const char *names, const char *about)
{
	pm_text_printf(out, "  %-23s %s\n", names, about);
}

/* ---- the entries ---- */

/* The views of the root, on a line those that share a sentence. */
static int add_views(struct pm_text *out, struct pmfs_model *m, struct pm_error *err)
{
	char names[128] = "";
	const char *about = NULL;
	uint32_t n;
	const struct pmfs_view *views = pmfs_views(PMFS_PLACE_ROOT, &n);
	for (uint32_t i = 0; i < n; i++) {
		const struct pmfs_view *view = &views[i];
		int present = view->present ? view->present(m, 0, err) : 1;
		if (present < 0)
			return present;
		if (view->about && *names)
			add_entry(out, names, about);
		if (view->about)
			*names = '\0';
		about = view->about ? view->about : about;
		size_t len = strlen(names);
		if (present > 0 && view->form != PM_DOC_TSV)
			snprintf(names + len, sizeof(names) - len, "%s%s", len ? " " : "",
				view->name);
	}
	if (*names)
		add_entry(out, names, about);
	add_entry(out, "X.tsv X.parquet",
		"Tables X.csv with tabs and without quotes, and as Parquet; by name, not listed.");
	return 0;
}

static int add_source(struct pm_text *out, struct pmfs_model *m, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	const struct pm_source *sources;
	size_t n = 0;
	int r = p->ops->sources ? p->ops->sources(p, &sources, &n, err) : 0;
	if (r >= 0 && n > 0)
		add_entry(out, "source/",
			p->has_lines
				? "The program's source code; FILE.annotated.txt has the cost of each line."
				: "The program's source code.");
	return r < 0 ? r : 0;
}

static int add_raw(struct pm_text *out, const struct pm_profile *p, struct pm_error *err)
{
	const struct pm_named_doc *docs;
	size_t n = 0;
	bool has_raw = false;
	int r = p->ops->documents ? p->ops->documents(p, &docs, &n, err) : 0;
	for (size_t i = 0; r >= 0 && i < n; i++)
		has_raw = has_raw || strncmp(docs[i].path, "raw/", 4) == 0;
	if (has_raw)
		add_entry(out, "raw/", "The format's own tables, uninterpreted.");
	return r < 0 ? r : 0;
}

static int add_folders(struct pm_text *out, struct pmfs_model *m, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	if (!pmfs_model_listing(m).lean) {
		add_entry(out, "contexts/",
			"The calling-context tree as directories, most expensive first.");
		add_entry(out, "by-id/", "The same contexts, by context_id.");
		add_entry(out, "functions/",
			"One directory per function: costs, callers, callees, contexts.");
	}
	if (p->ops->threads)
		add_entry(out, "threads/",
			"One directory per thread, key=value: profile, values, trace, flat profile.");
	int traced =
		p->ops->threads ? pmfs_some_thread_has_trace(m, 0, err) : p->ops->traces != NULL;
	if (traced < 0)
		return traced;
	bool has_paths = strcmp(pm_profile_kind_of_tree(p), "edges") != 0;
	add_entry(out, "focus/ ignore/",
		has_paths
			? "The same with or without some functions: focus/PATTERN; hide/ and from/, too."
			: "Filters, which need call paths: this source has costs by call edge.");
	if (traced)
		add_entry(out, "windows/",
			"Parts of the run in time, by name: windows/START-END (see its README.txt).");
	add_entry(
		out, "export/", "The same profile in the formats of other tools, and as pictures.");
	int r = add_source(out, m, err);
	return r < 0 ? r : add_raw(out, p, err);
}

static void add_notes(struct pm_text *out, const struct pm_profile *p)
{
	for (const struct pm_note *note = p->notes; note && note->name; note++)
		add_entry(out, note->name, note->text);
}

/* ---- what numbers mean ---- */

/* The primary quantity; NULL where there is none. */
static int find_lead(struct pmfs_model *m, const char **lead, struct pm_error *err)
{
	const struct pmfs_columns *c;
	int r = pmfs_model_columns(m, &c, err);
	*lead = r == 0 ? c->lead : NULL;
	return r;
}

static void add_meanings(struct pm_text *out, const struct pm_profile *p)
{
	const char *kind = pm_profile_kind_of_tree(p);
	pm_text_str(out,
		"  _incl is the cost of a context including everything below it, _excl is its own cost.\n"
		"  Inclusive costs in functions.csv and callers.csv count recursive calls once (only the\n"
		"  outermost). An empty cell means that no value is stored; 0 is a stored zero. Units are\n"
		"  part of the column names. The hot path follows the most expensive child for as long as\n"
		"  it has at least half of its parent's cost.\n");
	if (p->ops->threads)
		pm_text_str(out,
			"  imbalance.csv compares a thread with its peers: those of the same number on all\n"
			"  ranks. imbalance = max / mean and lost = max - mean of work, which is the inclusive\n"
			"  cost without the waiting below (mpi, openmp, thread, idle); where waiting is 1, of\n"
			"  the waiting itself. _stddev is the population's.\n");
	if (p->ops->samples)
		pm_text_str(out,
			"  time_ns is relative to time_origin_ns (info.json); timestamp_ns is as stored.\n");
	if (kind && strcmp(kind, "edges") == 0)
		pm_text_str(out,
			"  This profile records call edges only. contexts/ has two levels, each sub and the\n"
			"  subs it called, so inclusive costs at the top level overlap.\n");
}

/* The most frequent question. Costs that cannot be read say why elsewhere. */
static int add_missing(struct pm_text *out, struct pmfs_model *m, struct pm_error *err)
{
	struct pm_error why = {.offset = PM_NO_OFFSET};
	const struct pmfs_missings *all;
	if (!pmfs_model_profile(m)->ops->missing)
		return 0;
	int r = pmfs_missings(m, &all, &why);
	if (r == -ENOMEM)
		return pm_error_set(err, r, why.file, why.offset, "%s", why.text);
	if (r < 0 || !(all->cost > 0) || !pmfs_is_cost(all->cost, all->whole))
		return 0;
	pm_text_str(out, "  ");
	pmfs_print_share(out, all->cost, all->whole);
	pm_text_printf(out, " of the cost has no names: missing-symbols.csv says why%s%s.\n",
		all->advice ? "; " : "", all->advice ? all->advice : "");
	return 0;
}

static void add_exports(struct pm_text *out)
{
	pm_text_printf(out,
		"\nExports\n"
		"  Costs are rounded to whole numbers and times converted to ns. Viewers fail on very\n"
		"  large files, so flamegraph.svg is limited to %d frames, callgraph.dot to %d functions,\n"
		"  trace.json to %d slices and profile.speedscope.json to %d threads. Each file states\n"
		"  what it omits.\n",
		PM_LIMIT_SVG_RECTS, PM_LIMIT_DOT_NODES, PM_LIMIT_TRACE_SLICES,
		PM_LIMIT_SPEEDSCOPE_THREADS);
}

/* The rest of the page is still useful if the contexts cannot be read. */
static int add_commands(struct pmfs_model *m, struct pm_text *out, struct pm_error *err)
{
	struct pm_error why = {.offset = PM_NO_OFFSET};
	int r = pmfs_add_recipes(m, out, &why);
	if (r == -ENOTSUP) {
		pm_text_printf(out, "  none: %s\n", why.text);
		return 0;
	}
	return r < 0 ? pm_error_set(err, r, why.file, why.offset, "%s", why.text) : 0;
}

int pmfs_readme_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(doc->text.self);
	const struct pm_profile *p = pmfs_model_profile(m);
	pm_text_str(out, "A performance profile as files, mounted read-only by profmount.\n  ");
	pm_text_line(out, pm_bytes_of(p->source));
	pm_text_printf(out, " (%s", p->format);
	if (p->layout)
		pm_text_printf(out, ", %s", p->layout);
	pm_text_str(out,
		")\n\nTo begin with (or open report.html in a browser)\n"
		"$ cat summary.txt\n$ head -n 30 functions.txt\n$ cat hotpath.txt\n");
	const char *lead;
	int r = find_lead(m, &lead, err);
	if (lead)
		pm_text_printf(
			out, "Tables and pictures are by %s (-o metric=NAME: by another).\n", lead);
	pm_text_str(out, "\nEntries\n");
	if (r == 0)
		r = add_views(out, m, err);
	if (r == 0)
		r = add_folders(out, m, err);
	if (r < 0)
		return r;
	add_notes(out, p);
	return pm_text_status(out);
}

int pmfs_recipes_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(doc->text.self);
	pm_text_str(out,
		"Commands (run them in this directory; a copy has .tsv files if it was made with -o tsv)\n");
	int r = add_commands(m, out, err);
	if (r < 0)
		return r;
	pm_text_str(out, "\nNumbers\n");
	const char *lead;
	if ((r = find_lead(m, &lead, err)) < 0)
		return r;
	if (lead)
		pm_text_printf(out,
			"  %s is the primary quantity. Its columns come first, contexts, functions, lines and\n"
			"  callers are sorted by it, and pictures and the commands above use it. Choose another\n"
			"  with -o metric=NAME (see metrics.csv). summary.txt has the total of each quantity.\n",
			lead);
	add_meanings(out, pmfs_model_profile(m));
	if ((r = add_missing(out, m, err)) < 0)
		return r;
	add_exports(out);
	pm_text_str(out,
		"\nIf the profile is still being written, this mount shows it as of mount time. Remount to\n"
		"see more, or mount with -o follow to keep up with it.\n");
	return pm_text_status(out);
}
