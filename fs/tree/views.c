/*
 * The documents that fs/views/ lists for a place, as entries of a directory. A position is view
 * × PMFS_COLUMN_MOST + column, the column being that of the metric a per-metric file is about.
 */
#include "fs/tree/internal.h"

#include "fs/views/report/report.h"
#include "fs/views/sums/functions.h"
#include "fs/views/sums/totals.h"

/*
 * The documents that fs/views/ lists for a place, as entries of a directory. A position is view
 * × PMFS_COLUMN_MOST + column, the column being that of the metric a per-metric file is about.
 */

/* The name of a view's file: `*` is replaced by the metric's export name. */
static size_t view_name(const struct pmfs_view *view, const struct pmfs_columns *columns,
	uint32_t column, char *out)
{
	size_t len = 0;
	const char *parts[3] = {view->name, "", ""};
	size_t lens[3] = {strlen(view->name), 0, 0};
	const char *star = view->each_metric ? strchr(view->name, '*') : NULL;
	if (star) {
		parts[1] = columns->columns[column].export;
		parts[2] = star + 1;
		lens[0] = (size_t)(star - view->name);
		lens[1] = strlen(parts[1]);
		lens[2] = strlen(parts[2]);
	}
	for (unsigned i = 0; i < 3; i++) {
		size_t n = lens[i] < PMFS_NAME_SIZE - 1 - len ? lens[i] : PMFS_NAME_SIZE - 1 - len;
		memcpy(out + len, parts[i], n);
		len += n;
	}
	return len;
}

static int is_present(
	struct pmfs_tree *t, const struct pmfs_view *view, uint32_t item, struct pm_error *err)
{
	return view->present ? view->present(t->model, item, err) : 1;
}

/* Columns of a per-metric view; NULL, and one name, for the others. */
static int columns_of(struct pmfs_tree *t, const struct pmfs_view *view,
	const struct pmfs_columns **ret, uint32_t *ret_n, struct pm_error *err)
{
	*ret = NULL;
	*ret_n = 1;
	if (!view->each_metric)
		return 0;
	int r = pmfs_model_columns(t->model, ret, err);
	if (r == 0)
		*ret_n = (*ret)->n < PMFS_COLUMN_MOST ? (*ret)->n : PMFS_COLUMN_MOST;
	return r;
}

/*
 * Whether there is a file for the column's metric: it is the metric's first column, and the metric
 * has costs.
 */
static int has_file(struct pmfs_tree *t, const struct pmfs_columns *columns, uint32_t column,
	struct pm_error *err)
{
	if (!pmfs_column_is_first(&columns->columns[column]))
		return 0;
	return pmfs_has_cost(t->model, column, err);
}

/* The view's file at or behind the position, 1; or 0 behind the last. Moves the position on. */
static int view_next(struct pmfs_tree *t, enum pmfs_place place, uint32_t item, uint64_t *position,
	struct pmfs_entry *ret, struct pm_error *err)
{
	uint32_t n_views, n_columns = 0;
	const struct pmfs_view *views = pmfs_views(place, &n_views);
	const struct pmfs_columns *columns = NULL;
	uint64_t view = *position / PMFS_COLUMN_MOST;
	uint32_t column = (uint32_t)(*position % PMFS_COLUMN_MOST);
	int r = is_present(t, &views[view], item, err);
	if (r > 0)
		r = columns_of(t, &views[view], &columns, &n_columns, err);
	if (r < 0)
		return r;
	*position = (view + 1) * PMFS_COLUMN_MOST;
	for (r = !columns; column < n_columns; column++)
		if (!columns || (r = has_file(t, columns, column, err)) != 0)
			break;
	if (r < 0 || column >= n_columns)
		return r < 0 ? r : 0;
	if (columns && column + 1 < PMFS_COLUMN_MOST)
		*position = view * PMFS_COLUMN_MOST + column + 1;
	ret->len = view_name(&views[view], columns, column, ret->name);
	ret->node = pmfs_node(PMFS_VIEW, item, pmfs_view_b(place, (uint32_t)view, column));
	ret->type = PMFS_FILE;
	return 1;
}

/* Whether it may be the name of the view's file; `*` matches anything. */
static bool may_be_named(const struct pmfs_view *view, struct pm_bytes name)
{
	size_t len = strlen(view->name);
	const char *star = view->each_metric ? strchr(view->name, '*') : NULL;
	if (!star)
		return name.len == len && memcmp(view->name, name.p, len) == 0;
	size_t before = (size_t)(star - view->name), after = len - before - 1;
	return name.len >= before + after && memcmp(view->name, name.p, before) == 0 &&
		memcmp(star + 1, name.p + name.len - after, after) == 0;
}

/* The view whose file can have this name. Does not check whether it is present. */
static int view_lookup(struct pmfs_tree *t, enum pmfs_place place, uint32_t item, uint32_t view,
	struct pm_bytes name, struct pmfs_entry *ret, struct pm_error *err)
{
	uint64_t position = (uint64_t)view * PMFS_COLUMN_MOST;
	while (position / PMFS_COLUMN_MOST == view) {
		int r = view_next(t, place, item, &position, ret, err);
		if (r <= 0)
			return r;
		if (ret->len == name.len && memcmp(ret->name, name.p, name.len) == 0)
			return 1;
	}
	return 0;
}

int pmfs_place_lookup(struct pmfs_tree *t, enum pmfs_place place, uint32_t item,
	struct pm_bytes name, struct pmfs_entry *ret, struct pm_error *err)
{
	uint32_t n_views;
	const struct pmfs_view *views = pmfs_views(place, &n_views);
	for (uint32_t view = 0; view < n_views; view++) {
		int r = 0;
		if (may_be_named(&views[view], name))
			r = view_lookup(t, place, item, view, name, ret, err);
		if (r != 0)
			return r;
	}
	return pmfs_no_entry();
}

int pmfs_place_next(struct pmfs_tree *t, enum pmfs_place place, uint32_t item, uint64_t *position,
	struct pmfs_entry *ret, struct pm_error *err)
{
	uint32_t n_views;
	int r = 0;
	const struct pmfs_view *views = pmfs_views(place, &n_views);
	bool tsv = pmfs_model_listing(t->model).tsv;
	while (r == 0 && *position / PMFS_COLUMN_MOST < n_views) {
		const struct pmfs_view *view = &views[*position / PMFS_COLUMN_MOST];
		if (view->unlisted && !(tsv && view->form == PM_DOC_TSV))
			*position += PMFS_COLUMN_MOST;
		else
			r = view_next(t, place, item, position, ret, err);
	}
	return r;
}

static int check_index(uint32_t index, uint32_t n)
{
	return index < n ? 0 : pmfs_no_entry();
}

int pmfs_place_check(
	struct pmfs_tree *t, enum pmfs_place place, uint32_t item, struct pm_error *err)
{
	const struct pm_tree *tree;
	const struct pm_threads *threads;
	const struct pmfs_functions *functions;
	int r = 0;
	switch (place) {
	case PMFS_PLACE_ROOT:
	case PMFS_PLACE_TRACE:
	case PMFS_PLACE_BARE:
	case PMFS_PLACE_WINDOW:
	case PMFS_PLACE_COMPARISON:
	case PMFS_PLACE_EXPORT: return check_index(item, 1);
	case PMFS_PLACE_CONTEXT:
		r = pmfs_model_tree(t->model, &tree, err);
		return r < 0 ? r : check_index(item, tree->n_contexts);
	case PMFS_PLACE_FUNCTION:
		r = pmfs_functions(t->model, &functions, err);
		return r < 0 ? r : check_index(item, functions->n);
	case PMFS_PLACE_THREAD:
	case PMFS_PLACE_THREAD_EXPORT:
		r = pmfs_model_threads(t->model, &threads, err);
		return r < 0 ? r : check_index(item, threads->n);
	case PMFS_N_PLACES: break;
	}
	return pmfs_no_entry();
}

int pmfs_view_document(struct pmfs_tree *t, pm_node node, struct pm_doc *ret, struct pm_error *err)
{
	uint32_t item = pmfs_node_a(node), b = pmfs_node_b(node), n_views, n_columns;
	uint32_t place = b >> 20, view = b >> 12 & 0xff, column = b & 0xfff;
	const struct pmfs_columns *columns;
	if (place >= PMFS_N_PLACES)
		return pmfs_no_entry();
	const struct pmfs_view *views = pmfs_views((enum pmfs_place)place, &n_views);
	if (view >= n_views)
		return pmfs_no_entry();
	int r = pmfs_place_check(t, (enum pmfs_place)place, item, err);
	if (r == 0)
		r = is_present(t, &views[view], item, err);
	if (r > 0)
		r = columns_of(t, &views[view], &columns, &n_columns, err);
	else if (r == 0)
		r = pmfs_no_entry();
	if (r < 0)
		return r;
	if (column >= n_columns)
		return pmfs_no_entry();
	if (columns && (r = has_file(t, columns, column, err)) <= 0)
		return r < 0 ? r : pmfs_no_entry();
	return pmfs_view_doc(&views[view], t->model, item, column, ret, err);
}

/* ---- report/: the data of report.html, found by name and never listed ---- */

#define REPORT_NODE (pmfs_node(PMFS_REPORT, 0, 0))

int pmfs_report_root_lookup(struct pm_bytes name, struct pmfs_entry *ret)
{
	if (!pm_bytes_equal(name, pm_bytes_of("report")))
		return pmfs_no_entry();
	return pmfs_entry_fill(ret, name, REPORT_NODE, PMFS_DIRECTORY);
}

static int report_lookup(struct pmfs_tree *t, pm_node dir, struct pm_bytes name,
	struct pmfs_entry *ret, struct pm_error *err)
{
	struct pmfs_report_key key;
	(void)t;
	(void)dir;
	(void)err;
	if (!pmfs_report_find(name, &key))
		return pmfs_no_entry();
	return pmfs_entry_fill(ret, name, pmfs_node(PMFS_REPORT_DATA, key.a, key.b), PMFS_FILE);
}

static int report_next(struct pmfs_tree *t, pm_node dir, uint64_t *cookie, struct pmfs_entry *ret,
	struct pm_error *err)
{
	(void)t;
	(void)dir;
	(void)cookie;
	(void)ret;
	(void)err;
	return 0;
}

const struct pmfs_dir pmfs_dir_report = {
	.lookup = report_lookup,
	.next = report_next,
};

int pmfs_report_data_document(
	struct pmfs_tree *t, pm_node node, struct pm_doc *ret, struct pm_error *err)
{
	struct pmfs_report_key key = {pmfs_node_a(node), pmfs_node_b(node)};
	(void)err;
	if (!pmfs_report_has(key))
		return pmfs_no_entry();
	*ret = pmfs_report_document(t->model, key);
	return 0;
}
