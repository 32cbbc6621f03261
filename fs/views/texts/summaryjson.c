/*
 * summary.json: what summary.txt says, for programs, in at most 4 kB. Each part names the file that
 * has the rest. Where it would be longer, lists are.
 */
#include <math.h>

#include "formats/common/json.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/categories.h"
#include "fs/views/model/model.h"
#include "fs/views/model/screen.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/efficiency.h"
#include "fs/views/sums/functions.h"
#include "fs/views/sums/hotpath.h"
#include "fs/views/sums/imbalance.h"
#include "fs/views/sums/lines.h"
#include "fs/views/sums/rollups.h"
#include "fs/views/sums/totals.h"

enum { MOST_BYTES = 4096, NAME_WIDTH = 40, MOST_ROWS = 10, MOST_TOTALS = 12 };

struct sum {
	const struct pmfs_writing *w;
	struct pm_json j;
	struct pmfs_model *m;
	const struct pmfs_columns *columns;
	const struct pmfs_totals *totals;
	uint32_t rows; /* of each list */
};

static void add_name(struct sum *s, const char *key, struct pm_bytes name)
{
	struct pm_text cut = {.arena = s->w->a};
	pmfs_add_cut(&cut, name, NAME_WIDTH);
	pm_json_key(&s->j, key);
	pm_json_text(&s->j, pm_text_view(&cut));
	pm_text_done(&cut);
}

static void add_function_name(struct sum *s, struct pm_bytes name)
{
	struct pm_text bare = {.arena = s->w->a};
	pmfs_add_bare(&bare, name);
	add_name(s, "name", pm_text_view(&bare));
	pm_text_done(&bare);
}

static void add_number(struct sum *s, const char *key, double value)
{
	if (isnan(value))
		return;
	pm_json_key(&s->j, key);
	pm_json_f64(&s->j, value);
}

static void add_count(struct sum *s, const char *key, uint64_t count)
{
	if (count == PM_NO_TIME)
		return;
	pm_json_key(&s->j, key);
	pm_json_u64(&s->j, count);
}

static void add_share(struct sum *s, double part)
{
	if (s->totals->busy > 0)
		add_number(s, "share", round(part / s->totals->busy * 1e4) / 1e4);
}

/* Opens a part: `"key": {"file": "functions.csv", "rows": [`. */
static void open_part(struct sum *s, const char *key, const char *file)
{
	pm_json_key(&s->j, key);
	pm_json_open(&s->j, '{');
	pm_json_key(&s->j, "file");
	pm_json_str(&s->j, file);
	pm_json_key(&s->j, "rows");
	pm_json_open(&s->j, '[');
}

static void close_part(struct sum *s)
{
	pm_json_close(&s->j, ']');
	pm_json_close(&s->j, '}');
}

/* ---- the parts ---- */

static void add_run(struct sum *s)
{
	const struct pm_profile *p = pmfs_model_profile(s->m);
	struct pmfs_counts counts;
	struct pm_bytes title;
	pm_build_check(s->w->a, pmfs_count(s->m, &counts, s->w->err));
	pm_build_check(s->w->a, pm_profile_title(p, &title, s->w->err));
	add_name(s, "profile", pmfs_base_name(pm_bytes_of(p->source)));
	add_name(s, "title", title);
	pm_json_key(&s->j, "format");
	pm_json_str(&s->j, p->format);
	add_count(s, "duration_ns", counts.duration_ns);
	pm_json_key(&s->j, "counts");
	pm_json_open(&s->j, '{');
	add_count(s, "threads", counts.threads);
	add_count(s, "contexts", counts.contexts);
	add_count(s, "functions", counts.functions);
	pm_json_close(&s->j, '}');
	if (counts.damages > 0) {
		pm_json_key(&s->j, "damage");
		pm_json_open(&s->j, '{');
		pm_json_key(&s->j, "file");
		pm_json_str(&s->j, "damage.csv");
		add_count(s, "rows", counts.damages);
		pm_json_close(&s->j, '}');
	}
}

static void add_totals(struct sum *s)
{
	const struct pmfs_columns *c = s->columns;
	pm_json_key(&s->j, "primary_metric");
	pm_json_text(&s->j, pm_bytes_of(c->lead));
	pm_json_key(&s->j, "totals");
	pm_json_open(&s->j, '{');
	for (uint32_t i = 0, shown = 0; i < c->n_shown && shown < MOST_TOTALS; i++) {
		bool first = i == 0 || c->columns[i].group != c->columns[i - 1].group;
		if (!first || s->totals->of[i] == 0)
			continue;
		add_number(s, c->columns[i].base, s->totals->of[i]);
		shown++;
	}
	pm_json_close(&s->j, '}');
}

static void add_categories(struct sum *s)
{
	const struct pmfs_category_sums *c;
	uint32_t own = s->columns->first_excl;
	if (own == PM_NONE)
		return;
	pm_build_check(s->w->a, pmfs_category_sums(s->m, &c, s->w->err));
	open_part(s, "categories", "categories.csv");
	for (uint32_t i = 0; i < c->n; i++) {
		uint32_t category = c->order[i];
		double cost = c->cells[(size_t)category * s->columns->n + own];
		if (isnan(cost) || cost == 0)
			continue;
		pm_json_open(&s->j, '{');
		add_number(s, "share",
			round(pmfs_category_share(category, cost, c->idle, c->busy) * 1e4) / 1e4);
		add_number(s, s->columns->columns[own].name, cost);
		pm_json_key(&s->j, "category");
		pm_json_text(&s->j,
			category == PMFS_PROGRAM
				? pm_bytes_of("program")
				: pmfs_category_name((enum pmfs_category)category));
		pm_json_close(&s->j, '}');
	}
	close_part(s);
}

static void add_functions(struct sum *s)
{
	const struct pmfs_functions *f;
	uint32_t own = s->columns->first_excl, incl = s->columns->first_incl;
	if (own == PM_NONE)
		return;
	pm_build_check(s->w->a, pmfs_functions(s->m, &f, s->w->err));
	open_part(s, "functions", "functions.csv");
	for (uint32_t i = 0, shown = 0; i < f->n && shown < s->rows; i++) {
		double cost = pmfs_function_cell(f, i, own);
		if (isnan(cost) || !pmfs_is_cost(cost, s->totals->busy) ||
			pmfs_function_is_nothing(f, i))
			continue;
		shown++;
		pm_json_open(&s->j, '{');
		add_count(s, "function_id", pmfs_function_id(f, i));
		add_share(s, cost);
		add_number(s, s->columns->columns[own].name, cost);
		if (incl != PM_NONE)
			add_number(
				s, s->columns->columns[incl].name, pmfs_function_cell(f, i, incl));
		add_function_name(s, pmfs_function_name(f, i));
		pm_json_close(&s->j, '}');
	}
	close_part(s);
}

static void add_lines(struct sum *s)
{
	const struct pmfs_lines *l;
	if (!pmfs_model_profile(s->m)->has_lines)
		return;
	pm_build_check(s->w->a, pmfs_lines(s->m, &l, s->w->err));
	if (l->column == PM_NONE)
		return;
	open_part(s, "lines", "lines.csv");
	for (uint32_t i = 0, shown = 0; i < l->n && shown < s->rows; i++) {
		uint32_t at = l->order[i];
		double cost = l->cells[(size_t)at * s->columns->n + l->column];
		if (l->lines[at].line == 0 || isnan(cost) || cost == 0)
			continue;
		shown++;
		pm_json_open(&s->j, '{');
		add_number(s, s->columns->columns[l->column].name, cost);
		add_count(s, "line", l->lines[at].line);
		add_name(s, "file", pmfs_base_name(l->tree->texts[l->lines[at].file]));
		pm_json_close(&s->j, '}');
	}
	close_part(s);
}

static void add_hotpath(struct sum *s)
{
	const struct pm_tree *tree;
	struct pm_text name = {.arena = s->w->a};
	uint32_t n;
	if (s->columns->first_incl == PM_NONE)
		return;
	pm_build_check(s->w->a, pmfs_model_tree(s->m, &tree, s->w->err));
	const struct pmfs_hot *path =
		pmfs_hotpath(s->w->a, s->m, s->columns->first_incl, &n, s->w->err);
	open_part(s, "hot_path", "hotpath.txt");
	/* Its end says where the cost is. */
	for (uint32_t i = n > s->rows ? n - s->rows : 0; i < n; i++) {
		pm_text_clear(&name);
		pm_json_open(&s->j, '{');
		add_count(s, "context_id", pm_tree_number(tree, path[i].context));
		add_share(s, path[i].value);
		add_function_name(
			s, pmfs_frame_name(tree, pm_tree_frame(tree, path[i].context), &name));
		pm_json_close(&s->j, '}');
	}
	close_part(s);
}

static void add_imbalance(struct sum *s)
{
	const struct pm_threads *threads;
	const struct pm_tree *tree;
	struct pmfs_worst_list worst;
	struct pm_text name = {.arena = s->w->a};
	int several = pmfs_has_several_threads(s->m, 0, s->w->err);
	pm_build_check(s->w->a, several);
	if (!several || s->columns->first_excl == PM_NONE)
		return;
	pm_build_check(s->w->a, pmfs_model_threads(s->m, &threads, s->w->err));
	pm_build_check(s->w->a, pmfs_model_tree(s->m, &tree, s->w->err));
	pm_build_check(
		s->w->a, pmfs_worst_imbalances(s->m, s->totals->busy, false, &worst, s->w->err));
	open_part(s, "imbalance", "imbalance.csv");
	for (uint32_t i = 0; i < worst.n && i < 1; i++) {
		uint32_t context = worst.contexts[i];
		const struct pmfs_work *work = &worst.work[context];
		pm_json_open(&s->j, '{');
		add_count(s, "context_id", pm_tree_number(tree, context));
		add_number(s, "max", work->max);
		add_number(s, "mean", work->mean);
		add_count(s, "thread_id", threads->threads[work->slowest].id);
		add_function_name(s, pmfs_frame_name(tree, pm_tree_frame(tree, context), &name));
		pm_json_close(&s->j, '}');
	}
	close_part(s);
}

static void add_efficiency(struct sum *s)
{
	const struct pmfs_efficiency *e;
	struct pm_cell cells[PMFS_EFFICIENCY_COLUMNS];
	int has = pmfs_has_efficiency(s->m, 0, s->w->err);
	pm_build_check(s->w->a, has);
	if (!has)
		return;
	pm_build_check(s->w->a, pmfs_efficiency(s->m, &e, s->w->err));
	if (e->threads == 0)
		return;
	pmfs_efficiency_cells(e, NULL, false, cells);
	open_part(s, "efficiency", "efficiency.csv");
	pm_json_open(&s->j, '{');
	for (uint32_t i = 1; i < PMFS_EFFICIENCY_COLUMNS; i++)
		if (cells[i].kind == PM_CELL_F64)
			add_number(s, pmfs_efficiency_columns[i], cells[i].f);
	pm_json_close(&s->j, '}');
	close_part(s);
}

static void add_missing(struct sum *s)
{
	const struct pmfs_missings *missing;
	if (!pm_profile_has(pmfs_model_profile(s->m), missing))
		return;
	pm_build_check(s->w->a, pmfs_missings(s->m, &missing, s->w->err));
	if (missing->n == 0)
		return;
	open_part(s, "without_names", "missing-symbols.csv");
	pm_json_open(&s->j, '{');
	add_share(s, missing->cost);
	add_count(s, "modules", missing->n);
	pm_json_close(&s->j, '}');
	close_part(s);
}

static void add_all(struct sum *s)
{
	/* The last ones need files that windows do not have. */
	enum { OF_RUN = 3 };
	static void (*const parts[])(struct sum * s) = {add_categories, add_functions, add_lines,
		add_hotpath, add_imbalance, add_efficiency, add_missing};
	size_t n = sizeof(parts) / sizeof(*parts);
	n -= pmfs_model_profile(s->m)->window ? OF_RUN : 0;
	pm_json_open(&s->j, '{');
	add_run(s);
	if (s->columns->n > 0) {
		add_totals(s);
		for (size_t i = 0; i < n; i++)
			parts[i](s);
	}
	pm_json_close(&s->j, '}');
}

static void write_summary(const struct pmfs_writing *w)
{
	struct sum s = {.w = w, .m = w->model};
	struct pm_text text = {.arena = w->a};
	pm_build_check(w->a, pmfs_model_columns(s.m, &s.columns, w->err));
	pm_build_check(w->a, pmfs_totals(s.m, &s.totals, w->err));
	for (s.rows = MOST_ROWS;; s.rows--) {
		pm_text_clear(&text);
		s.j = (struct pm_json){.out = &text};
		add_all(&s);
		if (text.len < MOST_BYTES || s.rows == 0)
			break;
	}
	pm_text_bytes(w->out, pm_text_view(&text));
	pm_text_char(w->out, '\n');
}

int pmfs_summary_json_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, write_summary, out, err);
}
