/*
 * summary.txt: one screen of a profile for a person, at most 50 lines of 100 columns. What it
 * shows are the first rows of the tables.
 */
#include <math.h>
#include <stdlib.h>

#include "fs/views/model/amounts.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/screen.h"
#include "fs/views/model/shortname.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/counts.h"
#include "fs/views/sums/emptythreads.h"
#include "fs/views/sums/flatprofile.h"
#include "fs/views/sums/hotpath.h"
#include "fs/views/sums/threads.h"
#include "fs/views/sums/totals.h"
#include "fs/views/sums/worstimbalances.h"
#include "fs/views/texts/costly.h"
#include "fs/views/texts/head.h"
#include "fs/views/texts/sections.h"

enum { HOT_LINES = 9, WORST_LINES = 4, MOST_OF_THREAD = 20 };

/* ---- the hot path ---- */

/* Whether the steps have the same share, as it is shown. */
static bool same_share(double value, double other, double whole)
{
	return fabs(round(1000 * value / whole) - round(1000 * other / whole)) < 0.5;
}

/* Steps of the same share, a line. `a > … > c` is the first and the last of them. */
static void add_steps(struct pm_text *out, const struct pm_tree *tree, const struct pmfs_hot *path,
	uint32_t n, unsigned width)
{
	struct pm_text scratch = {.p = NULL}, line = {.p = NULL};
	for (uint32_t i = 0; i < n; i++) {
		pm_text_clear(&scratch);
		struct pm_bytes name =
			pmfs_frame_name(tree, pm_tree_frame(tree, path[i].context), &scratch);
		if (i > 0 && i + 1 < n && line.len + name.len > width / 2)
			continue; /* see hotpath.txt */
		pm_text_str(&line, i ? " > " : "");
		pm_text_bytes(&line, n > 1 ? pmfs_name_bare(name) : name);
	}
	pmfs_add_cut(out, pm_text_view(&line), width);
	pm_text_end(&line, out);
	pm_text_end(&scratch, out);
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
	enum { WHERE_WIDTH = 30, NAME_WIDTH = PMFS_SCREEN_WIDTH - 26 - WHERE_WIDTH };
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
		pmfs_add_cut(out, pm_text_view(&scratch), NAME_WIDTH);
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
	int r = pmfs_add_gpu(out, f, totals, err);
	if (r < 0 || (r = pmfs_add_costly_lines(out, m, err)) < 0 ||
		f->columns->first_incl == PM_NONE || (r = pmfs_hotpath(m, &path, &n, err)) < 0)
		return r;
	add_hotpath(
		out, f->tree, &f->columns->columns[f->columns->first_incl], path, n, totals->busy);
	free(path);
	uint32_t gpu = pmfs_gpu_column(f->columns, PM_ROLE_INCLUSIVE);
	if (gpu != PM_NONE) {
		if ((r = pmfs_hotpath_by(m, gpu, &path, &n, err)) < 0)
			return r;
		add_hotpath(
			out, f->tree, &f->columns->columns[gpu], path, n, pmfs_gpu_busy(f, totals));
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
	pmfs_add_costly_functions(out,
		&(struct pmfs_costly){.f = f, .n = f->n, .cells = f->cells, .whole = totals->busy},
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
	if (r < 0 || (r = pmfs_add_head(out, m, &counts, err)) < 0 ||
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
	double *cells = pmfs_cells_new(c->n);
	if (!cells)
		return pmfs_no_memory(err);
	r = pmfs_thread_totals(m, thread, cells, err);
	for (uint32_t i = 0, shown = 0; r == 0 && i < c->n && shown < MOST; i++) {
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
	pmfs_add_cut_line(
		out, "profile", pmfs_base_name(pm_bytes_of(pmfs_model_profile(m)->source)));
	pmfs_add_cut_line(out, "thread", pm_bytes_of(path));
	pmfs_add_cut_line(out, "file", threads->threads[thread].file);
	if (threads->threads[thread].has_trace) {
		pm_text_str(out, "trace    ");
		pmfs_add_count(out, threads->threads[thread].n_samples, "row");
		pm_text_char(out, '\n');
	}
	if ((r = add_thread_totals(out, m, thread, err)) < 0 ||
		(r = pmfs_thread_functions(m, thread, &t, err)) < 0)
		return r;
	struct pmfs_costly c = {t->functions, t->n, t->order, t->whole, t->cells, 0};
	c.whole = pmfs_costly_sum(&c);
	pmfs_add_costly_functions(out, &c, MOST_OF_THREAD);
	pmfs_flat_profile_free(t);
	return pm_text_status(out);
}

/* ---- functions.txt ---- */

int pmfs_functions_text_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(doc->text.self);
	uint32_t item = (uint32_t)doc->text.a;
	struct pmfs_flat_profile *part;
	struct pmfs_costly c = {.f = NULL};
	const struct pmfs_totals *totals;
	int r;
	if (doc->text.c == PMFS_OF_RUN) {
		if ((r = pmfs_functions(m, &c.f, err)) < 0 ||
			(r = pmfs_totals(m, &totals, err)) < 0)
			return r;
		c.n = c.f->n;
		c.cells = c.f->cells;
		c.whole = totals->busy;
		pmfs_add_function_table(out, &c);
		return pm_text_status(out);
	}
	r = doc->text.c == PMFS_OF_THREAD ? pmfs_thread_functions(m, item, &part, err)
					  : pmfs_context_functions(m, item, &part, err);
	if (r < 0)
		return r;
	c = (struct pmfs_costly){
		part->functions, part->n, part->order, part->whole, part->cells, 0};
	c.whole = pmfs_costly_sum(&c);
	pmfs_add_function_table(out, &c);
	pmfs_flat_profile_free(part);
	return pm_text_status(out);
}
