/* The page: beside its data, and with its data inside. */
#include "fs/views/report/data.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/tree.h"
#include "formats/common/work.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/parts.h"
#include "fs/views/pictures/assets.h"
#include "fs/views/pictures/page.h"
#include "fs/views/report/report.h"
#include "fs/views/sums/functions.h"
#include "fs/views/sums/hotpath.h"
#include "fs/views/sums/lines.h"
#include "fs/views/sums/totals.h"
#include "profmount/limits.h"

/*
 * ---- export/report.html ----
 *
 * The page with its data inside, to be sent. Documents go in by how soon
 * one looks at them, as long as there is room; the page says what is not there.
 */

enum {
	SENT_BYTES = 20 << 20, /* what mail servers and bug trackers take */
	PAGE_BYTES = 512 << 10,
	COLUMNS = 4,          /* quantities with pictures */
	STEPS = 100,          /* of their hot paths, each with the path to it and what it calls */
	FUNCTIONS = 400,      /* with their callers and callees */
	CONTEXTS = 4000,      /* whose children are there */
	BOTTOM_UP = 20000000, /* contexts that are read for the callers of all these functions */
	SOURCES = 200,
	TIMES = 15, /* tiles: the run, its halves, quarters and eighths */
	STACKS = 8, /* threads whose call paths over time are there */
	STACK_TILES = 3,
};

struct sending {
	struct pmfs_model *model;
	struct pm_text *out;
	size_t first; /* where the data begins in `out` */
	uint64_t left_out;
	size_t wasted; /* bytes of what is left out */
};

/* Adds a document, unless there is no room for it. */
static int add(struct sending *s, struct pm_error *err, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static int add(struct sending *s, struct pm_error *err, const char *format, ...)
{
	char name[64];
	struct pmfs_report_key key;
	struct pm_text data = {.p = NULL};
	va_list args;
	va_start(args, format);
	int n = vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= sizeof(name) || !pmfs_report_find(pm_bytes_of(name), &key))
		return 0;
	if (s->wasted > SENT_BYTES) { /* hardly anything would fit */
		s->left_out++;
		return 0;
	}
	if (pm_work_cancelled())
		return pmfs_no_memory(err);
	int e = pmfs_report_write(s->model, key, "pm.put", &data, err);
	if (e == 0 && s->out->len - s->first + data.len <= SENT_BYTES - PAGE_BYTES)
		pm_text_bytes(s->out, pm_text_view(&data));
	else {
		s->left_out++;
		s->wasted += data.len;
	}
	e = e < 0 ? e : pm_text_status(&data);
	pm_text_done(&data);
	return e;
}

/* What there is for each quantity: list, picture, hot path with what is below it. */
static int add_column(
	struct sending *s, const struct pmfs_columns *c, uint32_t column, struct pm_error *err)
{
	struct pmfs_hot *path = NULL;
	uint32_t n = 0, own = c->columns[column].pair;
	int e = add(s, err, "functions-0-%u.js", (own == PM_NONE ? column : own) + 1);
	if (e == 0)
		e = add(s, err, "flame-0-%u.js", column);
	if (e == 0)
		e = add(s, err, "hot-%u.js", column);
	if (e == 0)
		e = add(s, err, "costs-0-%u.js", column);
	if (e == 0 && c->columns[column].role == PM_ROLE_INCLUSIVE)
		e = pmfs_hotpath_by(NULL, s->model, column, &path, &n, err);
	for (uint32_t i = 0; e == 0 && i < n && i < STEPS; i++) {
		e = add(s, err, "path-%u.js", path[i].context);
		if (e == 0)
			e = add(s, err, "children-%u-0.js", path[i].context + 1);
	}
	free(path);
	return e;
}

static int add_columns(struct sending *s, struct pm_error *err)
{
	const struct pmfs_totals *totals;
	int e = pmfs_totals(s->model, &totals, err);
	if (e < 0)
		return e;
	const struct pmfs_columns *c = totals->columns;
	for (uint32_t i = 0, n = 0; e == 0 && i < c->n && n < COLUMNS; i++)
		if (pmfs_column_is_first(&c->columns[i]) && totals->of[i] > 0) {
			e = add_column(s, c, i, err);
			n++;
		}
	return e;
}

static int add_times(struct sending *s, uint32_t n_threads, struct pm_error *err)
{
	int e = 0;
	for (uint32_t tile = 1; e == 0 && tile <= TIMES; tile++) {
		for (uint32_t page = 0; e == 0 && page * PMFS_REPORT_THREADS < n_threads; page++)
			e = add(s, err, "time-%u-%u-63.js", tile, page);
		for (uint32_t i = 0;
			e == 0 && tile <= STACK_TILES && n_threads <= STACKS && i < n_threads; i++)
			e = add(s, err, "stack-%u-%u.js", tile, i);
	}
	return e;
}

static int add_functions(struct sending *s, struct pm_error *err)
{
	const struct pmfs_functions *f;
	int e = pmfs_functions(s->model, &f, err);
	if (e < 0)
		return e;
	for (uint32_t i = 0; e == 0 && i < f->n; i += PMFS_REPORT_ROWS)
		e = add(s, err, "functions-%u-0.js", i / PMFS_REPORT_ROWS);
	uint64_t above = f->tree->n_contexts ? BOTTOM_UP / f->tree->n_contexts : 0;
	for (uint32_t i = 0; e == 0 && i < f->n && i < FUNCTIONS; i++) {
		e = add(s, err, "function-%u.js", i);
		if (pmfs_function_count(f, i) == 0)
			continue;
		if (i >= above)
			s->left_out++;
		else if (e == 0)
			e = add(s, err, "up-%u-0.js", f->contexts[f->first[i]]);
	}
	return e;
}

/* Siblings are in the order of their cost: first what is at the top, then what is below it. */
static int add_tree(struct sending *s, const struct pm_tree *tree, struct pm_error *err)
{
	uint32_t *queue = malloc(CONTEXTS * sizeof(*queue)), n = 0;
	int e = queue ? add(s, err, "children-0-0.js") : pmfs_no_memory(err);
	for (uint32_t at = 0; e == 0; at++) {
		uint32_t above = at ? queue[at - 1] : PM_NONE;
		uint32_t i = at ? above + 1 : 0, end = at ? tree->end[above] : tree->n_contexts;
		if (at)
			e = add(s, err, "children-%u-0.js", above + 1);
		for (; i < end && n < CONTEXTS && tree->depth[i] < PMFS_REPORT_LEVELS;
			i = tree->end[i])
			if (tree->end[i] > i + 1)
				queue[n++] = i;
		if (at == n)
			break;
	}
	free(queue);
	return e;
}

/* The most expensive lines come first. */
static int add_sources(struct sending *s, const struct pm_tree *tree, struct pm_error *err)
{
	const struct pmfs_lines *l;
	int e = pmfs_lines(s->model, &l, err);
	bool *added = calloc((size_t)tree->n_texts + 1, sizeof(*added));
	if (e == 0 && !added)
		e = pmfs_no_memory(err);
	if (e == 0)
		e = add(s, err, "sources.js");
	for (uint32_t i = 0, n = 0; e == 0 && i < l->n && n < SOURCES; i++) {
		uint32_t file = l->lines[l->order[i]].file;
		if (file == 0 || added[file])
			continue;
		added[file] = true;
		e = add(s, err, "source-%u.js", file);
		if (e == 0)
			e = add(s, err, "sites-%u.js", file);
		n++;
	}
	free(added);
	return e;
}

/*
 * Appends the data of a page that is sent, at most 20 MB: scripts pm.put("KEY", DATA) of the most
 * important documents. 0 or a negative errno.
 */
static int report_send(struct pmfs_model *m, struct pm_text *out, struct pm_error *err)
{
	struct sending s = {m, out, out->len, 0};
	const struct pm_threads *threads;
	const struct pm_tree *tree;
	int e = pmfs_model_tree(m, &tree, err);
	if (e == 0)
		e = pmfs_model_threads(m, &threads, err);
	if (e < 0 || (e = add(&s, err, "start.js")) < 0 ||
		(e = add(&s, err, "categories.js")) < 0 || (e = add_columns(&s, err)) < 0)
		return e;
	for (uint32_t i = 0; e == 0 && i < threads->n; i += PMFS_REPORT_ROWS)
		e = add(&s, err, "threads-%u.js", i / PMFS_REPORT_ROWS);
	for (uint32_t i = 0; e == 0 && i < PMFS_REPORT_VIEWS; i++)
		e = add(&s, err, "table-%u-0.js", i);
	if (e == 0)
		e = add_functions(&s, err);
	if (e == 0 && pmfs_model_profile(m)->ops->samples)
		e = add_times(&s, threads->n, err);
	if (e == 0)
		e = add_tree(&s, tree, err);
	if (e == 0 && pmfs_model_profile(m)->has_lines)
		e = add_sources(&s, tree, err);
	pm_text_printf(out, "pm.left = %" PRIu64 ";\n", s.left_out);
	return e;
}

/* ---- report.html: it loads its data from report/ beside it ---- */

/* `sent`: with its data inside. */
static int write_page(struct pmfs_model *m, bool sent, struct pm_text *out, struct pm_error *err)
{
	static const struct pm_bytes *const scripts[] = {
		&pmfs_asset_labels_js,
		&pmfs_asset_core_js,
		&pmfs_asset_overview_js,
		&pmfs_asset_functions_js,
		&pmfs_asset_flame_js,
		&pmfs_asset_tree_js,
		&pmfs_asset_source_js,
		&pmfs_asset_time_js,
		&pmfs_asset_threads_js,
		&pmfs_asset_tables_js,
		&pmfs_asset_traces_js,
		&pmfs_asset_main_js,
	};
	const struct pm_profile *p = pmfs_model_profile(m);
	struct pm_bytes title, rest = pmfs_asset_report_html;
	int r = pm_profile_title(p, &title, err);
	if (r < 0)
		return r;
	if (!title.len)
		title = pmfs_base_name(pm_bytes_of(p->source));
	for (unsigned i = 0; i < 2; i++) { /* in the head, and as the heading */
		if (i == 1) {
			rest = pmfs_page_until(out, rest, "{{style}}");
			pm_text_bytes(out, pmfs_asset_report_css);
		}
		rest = pmfs_page_until(out, rest, "{{title}}");
		pm_text_xml(out, title);
		if (p->baseline &&
			!pm_profile_has(
				p, collections)) { /* of several runs, it may not be known yet */
			pm_text_str(out, " against ");
			pm_text_xml(out, pm_bytes_of(p->baseline));
		}
	}
	/* A page that is sent has nothing beside it. */
	struct pm_text nowhere = {.p = NULL};
	rest = pmfs_page_until(out, rest, "{{beside}}");
	rest = pmfs_page_until(sent ? &nowhere : out, rest, "{{beside}}");
	pm_text_done(&nowhere);
	rest = pmfs_page_until(out, rest, "{{script}}");
	for (unsigned i = 0; r == 0 && i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		if (sent && scripts[i] == &pmfs_asset_main_js)
			r = report_send(m, out, err);
		pm_text_bytes(out, *scripts[i]);
	}
	pm_text_bytes(out, rest);
	return r < 0 ? r : pm_text_status(out);
}

int pmfs_report_page_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return write_page(pmfs_model_of(doc->text.self), false, out, err);
}

int pmfs_report_sent_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return write_page(pmfs_model_of(doc->text.self), true, out, err);
}

/* The page of the run, with this thread chosen: a page of its own would hold all scripts again. */
int pmfs_thread_report_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	uint32_t thread = (uint32_t)doc->text.a;
	struct pm_text link = {.p = NULL};
	const char *path;
	int r = pmfs_thread_path(pmfs_model_of(doc->text.self), thread, &path, err);
	if (r < 0)
		return r;
	pm_text_str(&link, "../"); /* threads/A/B is three levels down */
	for (const char *at = path; (at = strchr(at, '/')); at++)
		pm_text_str(&link, "../");
	pm_text_printf(&link, "report.html#view=flame&amp;thread=%u", thread);
	pm_text_str(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>");
	pm_text_xml(out, pm_bytes_of(path));
	pm_text_str(out, "</title>\n<meta http-equiv=\"refresh\" content=\"0; url=");
	pm_text_bytes(out, pm_text_view(&link));
	pm_text_str(out, "\">\n<p><a href=\"");
	pm_text_bytes(out, pm_text_view(&link));
	pm_text_str(out, "\">This thread in report.html</a></p>\n</html>\n");
	pm_text_end(&link, out);
	return pm_text_status(out);
}

/*
 * The tree of report.html, opened at this context. The same page is in contexts/ and by-id/, so the
 * browser finds out how far up the root is.
 */
int pmfs_context_report_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	uint32_t context = (uint32_t)doc->text.a;
	struct pm_text scratch = {.p = NULL};
	const struct pm_tree *tree;
	int r = pmfs_model_tree(pmfs_model_of(doc->text.self), &tree, err);
	if (r < 0)
		return r;
	uint32_t n, *path = pm_tree_path(tree, context, &n);
	if (!path)
		return pmfs_no_memory(err);
	pm_text_str(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>");
	pm_text_xml(out, pmfs_frame_name(tree, pm_tree_frame(tree, context), &scratch));
	pm_text_printf(out,
		"</title>\n<script>\nconst id = "
		"/\\/by-id\\/%" PRIu32 "\\/[^/]*$/.test(location.pathname);\n"
		"location.replace(\"../\".repeat(id ? 2 : %" PRIu32
		") + \"report.html#view=tree&ctx=%" PRIu32 "&at=",
		pm_tree_number(tree, context), n + 1, context);
	for (uint32_t i = 0; i < n && i < PM_LIMIT_STACK_LEVELS; i++)
		pm_text_printf(out, i ? ".%" PRIu32 : "%" PRIu32, path[i]);
	pm_text_str(out,
		"\");\n</script>\n<p>This context is in the tree of report.html.</p>\n</html>\n");
	free(path);
	pm_text_end(&scratch, out);
	return pm_text_status(out);
}
