/* What the page begins with: what the profile is, its columns and totals, where the cost is. */
#include <math.h>
#include <string.h>

#include "formats/common/work.h"
#include "fs/views/model/categories.h"
#include "fs/views/pictures/colours.h"
#include "fs/views/report/data.h"
#include "fs/views/sums/functions.h"
#include "fs/views/sums/hotpath.h"
#include "fs/views/sums/rollups.h"
#include "fs/views/sums/threads.h"
#include "fs/views/sums/totals.h"
#include "profmount/limits.h"

static const char *const roles[] = {
	[PM_ROLE_INCLUSIVE] = "incl", [PM_ROLE_EXCLUSIVE] = "excl", [PM_ROLE_COUNT] = "count"};

static bool some_function_has(const struct pmfs_functions *f, uint32_t n_columns, uint32_t column)
{
	for (uint32_t i = 0; i < f->n && !pm_work_cancelled(); i++)
		if (!isnan(f->cells[(size_t)i * n_columns + column]))
			return true;
	return false;
}

static void write_columns(struct pmfs_report *r, const struct pmfs_totals *totals,
	const struct pmfs_functions *functions)
{
	pm_json_key(&r->json, "columns");
	pm_json_open(&r->json, '[');
	for (uint32_t i = 0; i < r->columns->n_shown; i++) {
		const struct pmfs_column *c = &r->columns->columns[i];
		const struct pm_metric *metric = c->flat ? c->flat : c->tree;
		pm_json_open(&r->json, '{');
		pm_json_key(&r->json, "name");
		pm_json_str(&r->json, c->name);
		pm_json_key(&r->json, "metric");
		pm_json_text(&r->json, metric->name);
		pm_json_key(&r->json, "unit");
		pm_json_text(&r->json, metric->unit);
		pm_json_key(&r->json, "role");
		pm_json_str(&r->json, roles[c->role]);
		pm_json_key(&r->json, "group");
		pm_json_u64(&r->json, c->group);
		pm_json_key(&r->json, "whole");
		pm_json_f64(&r->json, totals->of[i] - totals->idle[i]);
		pm_json_key(&r->json, "idle");
		pm_json_f64(&r->json, totals->idle[i]);
		pm_json_key(&r->json, "picture");
		pm_json_bool(&r->json, pmfs_column_is_first(c));
		pm_json_key(&r->json, "contexts");
		pm_json_bool(&r->json, totals->in_contexts[i]);
		pm_json_key(&r->json, "functions");
		pm_json_bool(&r->json, some_function_has(functions, r->columns->n, i));
		pm_json_close(&r->json, '}');
	}
	for (uint32_t i = 0; i < r->columns->n_derived; i++) {
		const struct pmfs_derived *d = &r->columns->derived[i];
		pm_json_open(&r->json, '{');
		pm_json_key(&r->json, "name");
		pm_json_str(&r->json, d->name);
		pm_json_key(&r->json, "metric");
		pm_json_str(&r->json, d->base);
		pm_json_key(&r->json, "unit");
		pm_json_text(&r->json, d->unit);
		pm_json_key(&r->json, "role");
		pm_json_str(&r->json, roles[d->role]);
		pm_json_key(&r->json, "derived");
		pm_json_text(&r->json, d->text);
		pm_json_close(&r->json, '}');
	}
	pm_json_close(&r->json, ']');
}

/* The colours, each with its kind of work. */
static void write_palette(struct pmfs_report *r)
{
	pm_json_key(&r->json, "palette");
	pm_json_open(&r->json, '[');
	for (unsigned i = 0; i < PMFS_N_COLOURS; i++) {
		pm_text_clear(&r->scratch);
		pm_text_char(&r->scratch, '#');
		pm_text_hex(&r->scratch, pmfs_palette[i], 6);
		pm_json_text(&r->json, pm_text_view(&r->scratch));
	}
	pm_json_close(&r->json, ']');
	pm_json_key(&r->json, "kinds");
	pm_json_open(&r->json, '[');
	for (unsigned i = 0; i < PMFS_N_COLOURS; i++)
		pm_json_text(&r->json, pmfs_colour_kind(i));
	pm_json_close(&r->json, ']');
}

/* [context, value, name, file, line, number of the file] */
void pmfs_report_hot(struct pmfs_report *r)
{
	uint32_t n;
	if (r->n[0] >= r->columns->n) {
		pm_json_null(&r->json);
		return;
	}
	const struct pmfs_hot *path = pmfs_hotpath(r->a, r->model, r->n[0], &n, r->err);
	pm_json_open(&r->json, '[');
	for (uint32_t i = 0; i < n && i < PM_LIMIT_STACK_LEVELS; i++) {
		const struct pm_frame *frame = pm_tree_frame(r->tree, path[i].context);
		pm_json_open(&r->json, '[');
		pm_json_u64(&r->json, path[i].context);
		pm_json_f64(&r->json, path[i].value);
		pm_text_clear(&r->scratch);
		pm_json_text(&r->json, pmfs_frame_name(r->tree, frame, &r->scratch));
		pm_json_text(&r->json, r->tree->texts[frame->file]);
		pm_json_u64(&r->json, frame->line);
		pm_json_u64(&r->json, frame->file);
		pm_json_close(&r->json, ']');
	}
	pm_json_close(&r->json, ']');
}

/* Rows of categories.csv: [name, contexts, [cells]] */
void pmfs_report_categories(struct pmfs_report *r)
{
	const struct pmfs_category_sums *s;
	pmfs_report_check(r, pmfs_category_sums(r->model, &s, r->err));
	pm_json_open(&r->json, '[');
	for (uint32_t k = 0; k < s->n; k++) {
		uint32_t category = s->order[k];
		pm_json_open(&r->json, '[');
		pm_json_text(&r->json, pmfs_category_name((enum pmfs_category)category));
		pm_json_u64(&r->json, s->contexts[category]);
		pmfs_report_cells(r, s->cells + (size_t)category * r->columns->n);
		pm_json_close(&r->json, ']');
	}
	pm_json_close(&r->json, ']');
}

static void write_facts(struct pmfs_report *r, struct pm_bytes title)
{
	struct pm_json *j = &r->json;
	pm_json_key(j, "title");
	pm_json_text(j, title.len ? title : pmfs_base_name(pm_bytes_of(r->profile->source)));
	pm_json_key(j, "source");
	pm_json_str(j, r->profile->source);
	pm_json_key(j, "format");
	pm_json_str(j, r->profile->format);
	pm_json_key(j, "layout");
	pm_json_str(j, r->profile->layout);
	pm_json_key(j, "contexts_are");
	pm_json_str(j, pm_profile_kind_of_tree(r->profile));
	pm_json_key(j, "contexts");
	pm_json_u64(j, r->tree->n_contexts);
	pm_json_key(j, "excl");
	pm_json_i64(j, r->columns->first_excl == PM_NONE ? -1 : (int64_t)r->columns->first_excl);
	pm_json_key(j, "incl");
	pm_json_i64(j, r->columns->first_incl == PM_NONE ? -1 : (int64_t)r->columns->first_incl);
	pm_json_key(j, "lines");
	pm_json_bool(j, r->profile->has_lines);
	pm_json_key(j, "calls");
	pm_json_bool(j, r->profile->traces_are_calls);
	pm_json_key(j, "window");
	pm_json_bool(j, r->profile->window != NULL);
	pm_json_key(j, "filtered");
	pm_json_bool(j, pmfs_model_unfiltered(r->model) != NULL);
}

/*
 * The baseline, and the directories of compare/ by number of the run that is compared. After the
 * documents were asked for: which run is the baseline may depend on what the runs are.
 */
static void write_compared(struct pmfs_report *r)
{
	const struct pm_collection *c = NULL;
	size_t n = 0;
	if (r->profile->baseline)
		pmfs_report_check(r, pm_profile_collections(r->profile, &c, &n, r->err));
	pm_json_key(&r->json, "base");
	if (r->profile->baseline)
		pm_json_str(&r->json, r->profile->baseline);
	else
		pm_json_null(&r->json);
	pm_json_key(&r->json, "compared");
	pm_json_open(&r->json, '[');
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = 0; k < c[i].n && strcmp(c[i].path, "compare") == 0; k++) {
			pm_text_clear(&r->scratch);
			pm_json_text(&r->json, c[i].name(&c[i], k, &r->scratch));
		}
	pm_json_close(&r->json, ']');
}

/* Which columns would have something: a module or file, a category, a kind that is not function. */
static void write_columns_used(struct pmfs_report *r, const struct pmfs_functions *f)
{
	bool places = false, categories = false, kinds = false;
	for (uint32_t i = 0; i < f->n && !(places && categories); i++) {
		const struct pmfs_function *function = pmfs_function_at(f, i);
		places = places || function->file || function->module;
		categories = categories || f->category[f->function[i]];
	}
	for (uint32_t i = 0; i < r->tree->n_contexts && !kinds && !pm_work_cancelled(); i++)
		kinds = pm_tree_frame(r->tree, i)->kind != PM_KIND_FUNCTION;
	pm_json_key(&r->json, "places");
	pm_json_bool(&r->json, places);
	pm_json_key(&r->json, "categories");
	pm_json_bool(&r->json, categories);
	pm_json_key(&r->json, "kinds_differ");
	pm_json_bool(&r->json, kinds);
}

/* What is counted, and when the run was. */
static void write_counts(struct pmfs_report *r, const struct pmfs_functions *f)
{
	const struct pm_threads *threads;
	uint64_t origin, duration;
	pmfs_report_check(r, pmfs_model_threads(r->model, &threads, r->err));
	pmfs_report_check(r, pm_profile_span(r->profile, &origin, &duration, r->err));
	int trace = pmfs_some_thread_has_trace(r->model, 0, r->err);
	pmfs_report_check(r, trace);
	pm_json_key(&r->json, "functions");
	pm_json_u64(&r->json, f->n);
	pm_json_key(&r->json, "threads");
	pm_json_u64(&r->json, threads->n);
	pm_json_key(&r->json, "trace");
	pm_json_bool(&r->json, trace > 0);
	pm_json_key(&r->json, "duration_ns");
	if (duration == PM_NO_TIME)
		pm_json_null(&r->json);
	else
		pm_json_u64(&r->json, duration);
}

void pmfs_report_start(struct pmfs_report *r)
{
	const struct pmfs_totals *totals;
	const struct pmfs_functions *functions;
	struct pm_bytes title;
	pmfs_report_check(r, pmfs_totals(r->model, &totals, r->err));
	pmfs_report_check(r, pmfs_functions(r->model, &functions, r->err));
	pmfs_report_check(r, pm_profile_title(r->profile, &title, r->err));
	pm_json_open(&r->json, '{');
	write_facts(r, title);
	write_columns(r, totals, functions);
	write_columns_used(r, functions);
	write_palette(r);
	write_counts(r, functions);
	pmfs_report_documents(r);
	write_compared(r);
	pm_json_close(&r->json, '}');
}
