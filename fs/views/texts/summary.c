/*
 * summary.txt: one screen of a profile for a person, at most 60 lines of 100 columns. What it
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
#include "fs/views/texts/sections.h"

enum { HOT_STEPS = 12 };

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

/* The duration and the number of samples. */
static void add_run(struct pm_text *out, const struct pmfs_counts *counts, const char *one)
{
	bool timed = counts->duration_ns != PM_NO_TIME;
	bool traced = counts->samples != PM_NO_TIME && counts->samples > 0;
	if (!timed && !traced)
		return;
	pm_text_str(out, "run      ");
	if (timed)
		pmfs_print_ns(out, (double)counts->duration_ns);
	if (traced)
		add_count(out, counts->samples, one);
	pm_text_char(out, '\n');
}

static int add_head(struct pm_text *out, struct pmfs_model *m, const struct pmfs_counts *counts,
	struct pm_error *err)
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
	add_run(out, counts, p->traces_are_calls ? "call" : "sample");
	if (counts->damages > 0) {
		pm_text_str(out, "damage   see damage.csv:");
		pm_text_char(out, ' ');
		add_count(out, counts->damages, "row");
		pm_text_char(out, '\n');
	}
	return r;
}

/* ---- the hot path ---- */

static void add_hotpath(struct pm_text *out, const struct pm_tree *tree,
	const struct pmfs_column *column, const struct pmfs_hot *path, uint32_t n, double whole)
{
	struct pm_text scratch = {.p = NULL};
	if (n == 0)
		return;
	pm_text_printf(out, "\nHot path by %s\n", column->name);
	for (uint32_t i = 0; i < n; i++) {
		if (n > HOT_STEPS && i == HOT_STEPS / 2) {
			i = n - HOT_STEPS / 2;
			pm_text_printf(
				out, " %20s  … %u more: see hotpath.txt …\n", "", n - HOT_STEPS);
		}
		pm_text_char(out, ' ');
		pmfs_add_share(out, path[i].value, whole);
		pmfs_add_amount(out, column, path[i].value);
		pm_text_str(out, "  ");
		pm_text_clear(&scratch);
		pmfs_add_cut(out,
			pmfs_frame_name(tree, pm_tree_frame(tree, path[i].context), &scratch),
			PMFS_SCREEN_WIDTH - 23);
		pm_text_char(out, '\n');
	}
	pm_text_end(&scratch, out);
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
	struct pm_text scratch = {.p = NULL};
	const char *path = "";
	int r = pmfs_worst_imbalances(m, whole, waiting, &worst, err);
	if (r < 0 || worst.n == 0)
		return r;
	pm_text_printf(out, "\n%s, %s: max / mean, max - mean, the thread that %s most\n",
		waiting ? "Waiting" : "Imbalance of work", column->base,
		waiting ? "waits" : "works");
	for (uint32_t i = 0; i < worst.n && r == 0; i++) {
		const struct pmfs_work *work = &worst.work[worst.contexts[i]];
		pm_text_printf(out, " %6.2f", work->max / work->mean);
		pmfs_add_amount(out, column, work->max - work->mean);
		pm_text_str(out, "  ");
		pm_text_clear(&scratch);
		r = waiting ? add_chain(&scratch, m, tree, worst.contexts[i], err) : 0;
		if (!waiting)
			pm_text_bytes(&scratch,
				pmfs_frame_name(
					tree, pm_tree_frame(tree, worst.contexts[i]), &scratch));
		if (r == 0)
			r = pmfs_thread_path(m, work->slowest, &path, err);
		if (r == 0)
			pmfs_add_cut_padded(
				out, pm_bytes_of(path + strlen("threads/")), WHERE_WIDTH);
		pm_text_str(out, "  ");
		pmfs_add_cut(out, pm_text_view(&scratch), NAME_WIDTH);
		pm_text_char(out, '\n');
	}
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
		out, f->tree, &f->columns->columns[f->columns->first_incl], path, n, totals->of[0]);
	free(path);
	r = add_worst(out, m, f->tree, f->columns, totals->of[0], false, err);
	return r < 0 ? r : add_worst(out, m, f->tree, f->columns, totals->of[0], true, err);
}

/* Functions get the rest of the screen, but at least a few lines. */
static int add_tree(struct pm_text *out, struct pmfs_model *m, struct pm_error *err)
{
	enum { SCREEN_LINES = 60, LEAST_FUNCTIONS = 5 };
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
	pmfs_add_costly_functions(out, f, NULL, f->n < most ? f->n : most, f->cells, totals->of[0]);
	pm_text_bytes(out, pm_text_view(&details));
	pm_text_end(&details, out);
	return r;
}

static int add_totals(struct pm_text *out, struct pmfs_model *m, struct pm_error *err)
{
	const struct pmfs_totals *totals;
	const struct pmfs_columns *c;
	int r = pmfs_model_columns(m, &c, err);
	if (r == 0 && (r = pmfs_totals(m, &totals, err)) == 0)
		/* A window has its own quantities. */
		pmfs_add_quantities(out, c, totals, pmfs_model_outer(m) == NULL);
	return r;
}

int pmfs_summary_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(doc->text.self);
	struct pmfs_counts counts;
	int r = pmfs_count(m, &counts, err);
	if (r < 0 || (r = add_head(out, m, &counts, err)) < 0 ||
		(r = add_totals(out, m, err)) < 0 || (r = pmfs_unaccounted(m, out, err)) < 0 ||
		(r = pmfs_add_remarks(out, m, err)) < 0 || (r = pmfs_add_sections(out, m, err)) < 0)
		return r;
	r = add_tree(out, m, err);
	return r < 0 ? r : pm_text_status(out);
}

/* ---- one thread ---- */

/* The base of the shares: the total of the ordering column over the functions of the thread. */
static double sum_of_functions(const struct pmfs_functions *f, const double *cells)
{
	uint32_t column = pmfs_order_column(f->columns);
	double sum = 0;
	for (uint32_t row = 0; column != PM_NONE && row < f->n; row++) {
		double value = cells[(size_t)row * f->columns->n + column];
		if (!isnan(value))
			sum += value;
	}
	return sum;
}

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
	pmfs_add_costly_functions(out, t->functions, t->order, t->n, t->cells,
		sum_of_functions(t->functions, t->cells));
	pmfs_flat_profile_free(t);
	return pm_text_status(out);
}
