/*
 * The collection windows/. The canonical name of a window is its directory, other names are
 * symbolic links to it. Names that were looked up are kept with their numbers.
 *
 * Items below PM_LIMIT_ITERATIONS are the listed windows, ordered by time; the others were found by
 * name.
 */
#include "fs/windows/windows.h"

#include <stdlib.h>

#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "formats/common/span.h"
#include "fs/windows/profile.h"
#include "fs/windows/readme.h"
#include "profmount/limits.h"

/* The number of the first item that was found by name. */
#define FIRST_FOUND PM_LIMIT_ITERATIONS

struct pmfs_windows {
	const struct pm_profile *profile;
	struct pmfs_index index;
	struct pm_collection collection;
	struct pm_named_doc readme;
	int (*spans)(
		void *context, struct pmfs_listed **ret, uint32_t *ret_n, struct pm_error *err);
	void *spans_context;
	struct pm_lazy listed_once; /* of the listed ones */
	struct pmfs_listed *listed;
	uint32_t n_listed;
	struct pmfs_found *found;
};

/* ---- those that are listed ---- */

static int by_time(const void *a, const void *b)
{
	const struct pmfs_listed *x = a, *y = b;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	return (x->end > y->end) - (x->end < y->end);
}

static int listed_build(void *context, struct pm_error *err)
{
	struct pmfs_windows *w = context;
	uint32_t n = 0, kept = 0;
	free(w->listed);
	w->listed = NULL;
	int r = w->spans(w->spans_context, &w->listed, &n, err);
	if (r < 0)
		return r;
	if (pm_sort(w->listed, n, sizeof(*w->listed), by_time) < 0)
		return pm_error_plain(err, -ENOMEM);
	for (uint32_t i = 0; i < n && kept < FIRST_FOUND; i++)
		if (kept == 0 || by_time(&w->listed[kept - 1], &w->listed[i]) != 0)
			w->listed[kept++] = w->listed[i];
	w->n_listed = kept;
	return 0;
}

/* If they cannot be determined, none are listed. */
static int listed_get(struct pmfs_windows *w, uint32_t *ret_n, struct pm_error *err)
{
	int r = w->spans ? pm_lazy_get(&w->listed_once, listed_build, w, NULL) : 0;
	*ret_n = r < 0 ? 0 : w->n_listed;
	return r == -ENOMEM ? pm_error_plain(err, r) : 0;
}

static bool listed_find(const struct pmfs_windows *w, const struct pmfs_listed *span, uint32_t *ret)
{
	*ret = PM_LOWER_BOUND(i, 0, w->n_listed, by_time(&w->listed[i], span) < 0);
	return *ret < w->n_listed && by_time(&w->listed[*ret], span) == 0;
}

/* ---- names ---- */

/* The item for a name that denotes a window. */
static int item_of(struct pmfs_windows *w, const struct pmfs_found_window *item,
	struct pm_bytes name, uint32_t *ret)
{
	struct pmfs_found_window window = *item;
	struct pm_text canonical = {.p = NULL};
	pm_span_print(&canonical, item->start, item->end);
	int r = canonical.failed ? -ENOMEM : 0;
	if (r == 0 && !pm_bytes_equal(name, pm_text_view(&canonical)))
		window.target = pm_text_view(&canonical);
	if (r == 0)
		r = pmfs_found_number(w->found, &window, name, ret);
	pm_text_done(&canonical);
	return r;
}

/* 1, 0 if there is none, or a negative errno. */
static int item_get(
	struct pmfs_windows *w, uint32_t i, struct pmfs_found_window *ret, struct pm_error *err)
{
	uint32_t n_listed;
	if (i < FIRST_FOUND) {
		int r = listed_get(w, &n_listed, err);
		if (r < 0 || i >= n_listed)
			return r < 0 ? r : 0;
		*ret = (struct pmfs_found_window){
			.thread = PM_NONE, .start = w->listed[i].start, .end = w->listed[i].end};
		return 1;
	}
	return pmfs_found_get(w->found, i - FIRST_FOUND, ret);
}

static bool item_is_link(struct pmfs_windows *w, uint32_t found)
{
	struct pmfs_found_window item;
	return item_get(w, found + FIRST_FOUND, &item, NULL) > 0 && item.target.len;
}

int pmfs_windows_find(struct pmfs_windows *w, uint32_t thread, struct pm_bytes name, uint32_t *ret,
	struct pm_error *err)
{
	struct pmfs_found_window item = {.thread = thread};
	uint64_t origin, run_ns;
	int r = pmfs_run_length(w->profile, &origin, &run_ns, err);
	if (r < 0)
		return r;
	if (run_ns == PM_NO_TIME || !pm_span_read(name, run_ns, &item.start, &item.end))
		return 0;
	uint32_t n_listed, found = 0;
	r = listed_get(w, &n_listed, err);
	if (r < 0)
		return r;
	const struct pmfs_listed span = {item.start, item.end};
	r = item_of(w, &item, name, &found);
	*ret = found + FIRST_FOUND;
	if (r > 0 && thread == PM_NONE && !item_is_link(w, found) && n_listed)
		*ret = listed_find(w, &span, &found) ? found : *ret;
	return r < 0 ? pm_error_plain(err, r) : r;
}

/* ---- the collection ---- */

static struct pmfs_windows *windows_of(const struct pm_collection *c)
{
	return (struct pmfs_windows *)(uintptr_t)c->self;
}

static int windows_count(const struct pm_collection *c, uint32_t *ret, struct pm_error *err)
{
	uint64_t origin, run_ns;
	*ret = 0;
	int r = pmfs_run_length(windows_of(c)->profile, &origin, &run_ns, err);
	return r < 0 ? r : listed_get(windows_of(c), ret, err);
}

static int windows_find(const struct pm_collection *c, struct pm_bytes name, uint32_t *ret)
{
	return pmfs_windows_find(windows_of(c), PM_NONE, name, ret, NULL);
}

static int windows_has(const struct pm_collection *c, uint32_t i, struct pm_error *err)
{
	struct pmfs_found_window item;
	return item_get(windows_of(c), i, &item, err);
}

static struct pm_bytes windows_name(
	const struct pm_collection *c, uint32_t i, struct pm_text *scratch)
{
	struct pmfs_found_window item;
	pm_text_clear(scratch);
	if (item_get(windows_of(c), i, &item, NULL) > 0)
		pm_span_print(scratch, item.start, item.end);
	return pm_text_view(scratch);
}

static bool windows_is_document(const struct pm_collection *c, uint32_t i)
{
	struct pmfs_found_window item;
	return item_get(windows_of(c), i, &item, NULL) > 0 && item.target.len;
}

static int link_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_found_window item;
	struct pmfs_windows *w = (struct pmfs_windows *)(uintptr_t)doc->text.self;
	int r = item_get(w, (uint32_t)doc->text.a, &item, err);
	if (r > 0)
		pm_text_bytes(out, item.target);
	return r < 0 ? r : pm_text_status(out);
}

static int windows_document(
	const struct pm_collection *c, uint32_t i, uint32_t k, struct pm_named_doc *ret)
{
	if (k > 0 || !windows_is_document(c, i))
		return 0;
	*ret = (struct pm_named_doc){.path = "",
		.doc = {.kind = PM_DOC_LINK,
			.text = {.render = link_render, .self = c->self, .a = i, .brief = true}}};
	return 1;
}

static int windows_profile(
	const struct pm_collection *c, uint32_t i, struct pm_profile **ret, struct pm_error *err)
{
	struct pmfs_windows *w = windows_of(c);
	uint64_t origin, run_ns;
	struct pmfs_found_window item;
	int r = item_get(w, i, &item, err);
	if (r <= 0)
		return pm_error_plain(err, r < 0 ? r : -ENOENT);
	r = pmfs_run_length(w->profile, &origin, &run_ns, err);
	if (r < 0 || (r = pmfs_index_open(&w->index, err)) < 0)
		return r;
	struct pmfs_span span = {.start = origin + item.start,
		.end = origin + item.end,
		.is_last = item.end == run_ns};
	bool one = item.thread != PM_NONE;
	return pmfs_window_open(
		&w->index, &span, one ? item.thread : 0, one ? 1 : w->index.threads->n, ret, err);
}

/* ---- the whole ---- */

struct pmfs_windows *pmfs_windows_new(const struct pm_profile *p)
{
	struct pmfs_windows *w = calloc(1, sizeof(*w));
	if (!w)
		return NULL;
	w->found = pmfs_found_new();
	if (!w->found) {
		free(w);
		return NULL;
	}
	w->profile = p;
	pmfs_index_init(&w->index, p);
	w->readme = (struct pm_named_doc){.path = "windows/README.txt",
		.doc = {.kind = PM_DOC_TEXT,
			.text = {.render = pmfs_windows_readme_render, .self = p}}};
	w->collection = (struct pm_collection){.path = "windows",
		.self = w,
		.count = windows_count,
		.name = windows_name,
		.find = windows_find,
		.has = windows_has,
		.is_document = windows_is_document,
		.document = windows_document,
		.profile = windows_profile,
		.shape = PM_SHAPE_WINDOW};
	return w;
}

void pmfs_windows_share(struct pmfs_windows *w, struct pmfs_found *found)
{
	pmfs_found_drop(w->found);
	w->found = pmfs_found_use(found);
}

struct pm_tap pmfs_windows_tap(struct pmfs_windows *w)
{
	return pmfs_index_tap(&w->index);
}

void pmfs_windows_free(struct pmfs_windows *w)
{
	if (!w)
		return;
	pmfs_index_done(&w->index);
	pmfs_found_drop(w->found);
	free(w->listed);
	free(w);
}

void pmfs_windows_list(struct pmfs_windows *w,
	int (*spans)(
		void *context, struct pmfs_listed **ret, uint32_t *ret_n, struct pm_error *err),
	void *context)
{
	w->spans = spans;
	w->spans_context = context;
	w->readme.doc.text.a = 1;
}

int pmfs_windows_are_there(struct pmfs_windows *w, struct pm_error *err)
{
	const struct pm_profile *p = w->profile;
	const struct pm_threads *threads;
	if (!p->ops->samples || !p->ops->span)
		return 0;
	if (!p->ops->threads)
		return p->ops->traces != NULL;
	if (p->ops->has)
		return p->ops->has(p, PM_HAS_TRACES, err);
	int r = p->ops->threads(p, &threads, err);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < threads->n; i++)
		if (threads->threads[i].has_trace)
			return 1;
	return 0;
}

const struct pm_collection *pmfs_windows_collection(struct pmfs_windows *w)
{
	return &w->collection;
}

const struct pm_named_doc *pmfs_windows_readme(struct pmfs_windows *w)
{
	return &w->readme;
}

uint32_t pmfs_windows_thread(struct pmfs_windows *w, uint32_t i)
{
	struct pmfs_found_window item;
	return item_get(w, i, &item, NULL) > 0 ? item.thread : PM_NONE;
}
