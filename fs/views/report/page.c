/* The page: beside its data, and with its data inside. */
#include "fs/views/report/data.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "formats/common/tree.h"
#include "fs/views/model/catalog.h"
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
	const struct pmfs_writing *w;
	size_t first; /* where the data begins in `out` */
	uint64_t left_out;
	size_t wasted; /* bytes of what is left out */
};

/* Adds a document, unless there is no room for it. */
static void add(struct sending *s, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct sending *s, const char *format, ...)
{
	char name[64];
	struct pmfs_report_key key;
	struct pm_text data = {.p = NULL}, *out = s->w->out;
	va_list args;
	va_start(args, format);
	int n = vsnprintf(name, sizeof(name), format, args);
	va_end(args);
	if (n < 0 || (size_t)n >= sizeof(name) || !pmfs_report_find(pm_bytes_of(name), &key))
		return;
	if (s->wasted > SENT_BYTES) { /* hardly anything would fit */
		s->left_out++;
		return;
	}
	pm_build_proceed(s->w->a);
	int e = pmfs_report_write(s->w->model, key, "pm.put", &data, s->w->err);
	if (e == 0 && out->len - s->first + data.len <= SENT_BYTES - PAGE_BYTES) {
		pm_text_bytes(out, pm_text_view(&data));
	} else {
		s->left_out++;
		s->wasted += data.len;
	}
	e = e < 0 ? e : pm_text_status(&data);
	pm_text_done(&data);
	pm_build_check(s->w->a, e);
}

/* What there is for each quantity: list, picture, hot path with what is below it. */
static void add_column(struct sending *s, const struct pmfs_columns *c, uint32_t column)
{
	uint32_t own = c->columns[column].pair, n;
	add(s, "functions-0-%u.js", (own == PM_NONE ? column : own) + 1);
	add(s, "flame-0-%u.js", column);
	add(s, "hot-%u.js", column);
	add(s, "costs-0-%u.js", column);
	if (c->columns[column].role != PM_ROLE_INCLUSIVE)
		return;
	const struct pmfs_hot *path = pmfs_hotpath(s->w->a, s->w->model, column, &n, s->w->err);
	for (uint32_t i = 0; i < n && i < STEPS; i++) {
		add(s, "path-%u.js", path[i].context);
		add(s, "children-%u-0.js", path[i].context + 1);
	}
}

static void add_columns(struct sending *s)
{
	const struct pmfs_totals *totals;
	pm_build_check(s->w->a, pmfs_totals(s->w->model, &totals, s->w->err));
	const struct pmfs_columns *c = totals->columns;
	for (uint32_t i = 0, n = 0; i < c->n && n < COLUMNS; i++)
		if (pmfs_column_is_first(&c->columns[i]) && totals->of[i] > 0) {
			add_column(s, c, i);
			n++;
		}
}

static void add_times(struct sending *s, uint32_t n_threads)
{
	for (uint32_t tile = 1; tile <= TIMES; tile++) {
		for (uint32_t page = 0; page * PMFS_REPORT_THREADS < n_threads; page++)
			add(s, "time-%u-%u-63.js", tile, page);
		for (uint32_t i = 0; tile <= STACK_TILES && n_threads <= STACKS && i < n_threads;
			i++)
			add(s, "stack-%u-%u.js", tile, i);
	}
}

static void add_functions(struct sending *s)
{
	const struct pmfs_functions *f;
	pm_build_check(s->w->a, pmfs_functions(s->w->model, &f, s->w->err));
	for (uint32_t i = 0; i < f->n; i += PMFS_REPORT_ROWS)
		add(s, "functions-%u-0.js", i / PMFS_REPORT_ROWS);
	uint64_t above = f->tree->n_contexts ? BOTTOM_UP / f->tree->n_contexts : 0;
	for (uint32_t i = 0; i < f->n && i < FUNCTIONS; i++) {
		add(s, "function-%u.js", i);
		if (pmfs_function_count(f, i) == 0)
			continue;
		if (i >= above)
			s->left_out++;
		else
			add(s, "up-%u-0.js", f->contexts[f->first[i]]);
	}
}

/* Siblings are in the order of their cost: first what is at the top, then what is below it. */
static void add_tree(struct sending *s, const struct pm_tree *tree)
{
	uint32_t *queue = pm_arena_array(s->w->a, CONTEXTS, sizeof(*queue)), n = 0;
	add(s, "children-0-0.js");
	for (uint32_t at = 0;; at++) {
		uint32_t above = at ? queue[at - 1] : PM_NONE;
		uint32_t i = at ? above + 1 : 0, end = at ? tree->end[above] : tree->n_contexts;
		if (at)
			add(s, "children-%u-0.js", above + 1);
		for (; i < end && n < CONTEXTS && tree->depth[i] < PMFS_REPORT_LEVELS;
			i = tree->end[i])
			if (tree->end[i] > i + 1)
				queue[n++] = i;
		if (at == n)
			return;
	}
}

/* The most expensive lines come first. */
static void add_sources(struct sending *s, const struct pm_tree *tree)
{
	const struct pmfs_lines *l;
	pm_build_check(s->w->a, pmfs_lines(s->w->model, &l, s->w->err));
	bool *added = pm_arena_array(s->w->a, tree->n_texts, sizeof(*added));
	add(s, "sources.js");
	for (uint32_t i = 0, n = 0; i < l->n && n < SOURCES; i++) {
		uint32_t file = l->lines[l->order[i]].file;
		if (file == 0 || added[file])
			continue;
		added[file] = true;
		add(s, "source-%u.js", file);
		add(s, "sites-%u.js", file);
		n++;
	}
}

/*
 * Appends the data of a page that is sent, at most 20 MB: scripts pm.put("KEY", DATA) of the most
 * important documents.
 */
static void send_data(const struct pmfs_writing *w)
{
	struct sending s = {w, w->out->len, 0, 0};
	const struct pm_threads *threads;
	const struct pm_tree *tree;
	pm_build_check(w->a, pmfs_model_tree(w->model, &tree, w->err));
	pm_build_check(w->a, pmfs_model_threads(w->model, &threads, w->err));
	add(&s, "start.js");
	add(&s, "categories.js");
	add_columns(&s);
	for (uint32_t i = 0; i < threads->n; i += PMFS_REPORT_ROWS)
		add(&s, "threads-%u.js", i / PMFS_REPORT_ROWS);
	for (uint32_t i = 0; i < PMFS_REPORT_VIEWS; i++)
		add(&s, "table-%u-0.js", i);
	add_functions(&s);
	if (pmfs_model_profile(w->model)->ops->samples)
		add_times(&s, threads->n);
	add_tree(&s, tree);
	if (pmfs_model_profile(w->model)->has_lines)
		add_sources(&s, tree);
	pm_text_printf(w->out, "pm.left = %" PRIu64 ";\n", s.left_out);
}

/* ---- report.html: it loads its data from report/ beside it ---- */

/* `sent`: with its data inside. */
static void write_page(const struct pmfs_writing *w, bool sent)
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
	const struct pm_profile *p = pmfs_model_profile(w->model);
	struct pm_text *out = w->out;
	struct pm_bytes title, rest = pmfs_asset_report_html;
	pm_build_check(w->a, pm_profile_title(p, &title, w->err));
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
	struct pm_text nowhere = {.arena = w->a};
	rest = pmfs_page_until(out, rest, "{{beside}}");
	rest = pmfs_page_until(sent ? &nowhere : out, rest, "{{beside}}");
	rest = pmfs_page_until(out, rest, "{{script}}");
	for (unsigned i = 0; i < sizeof(scripts) / sizeof(scripts[0]); i++) {
		if (sent && scripts[i] == &pmfs_asset_main_js)
			send_data(w);
		pm_text_bytes(out, *scripts[i]);
	}
	pm_text_bytes(out, rest);
}

static void write_linked(const struct pmfs_writing *w)
{
	write_page(w, false);
}

static void write_sent(const struct pmfs_writing *w)
{
	write_page(w, true);
}

int pmfs_report_page_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, write_linked, out, err);
}

int pmfs_report_sent_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, write_sent, out, err);
}

/* The page of the run, with this thread chosen: a page of its own would hold all scripts again. */
static void write_thread(const struct pmfs_writing *w)
{
	uint32_t thread = (uint32_t)w->doc->text.a;
	struct pm_text link = {.arena = w->a}, *out = w->out;
	const char *path;
	pm_build_check(w->a, pmfs_thread_path(w->model, thread, &path, w->err));
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
}

int pmfs_thread_report_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, write_thread, out, err);
}

/*
 * The tree of report.html, opened at this context. The same page is in contexts/ and by-id/, so the
 * browser finds out how far up the root is.
 */
static void write_context(const struct pmfs_writing *w)
{
	uint32_t context = (uint32_t)w->doc->text.a, n;
	struct pm_text scratch = {.arena = w->a}, *out = w->out;
	const struct pm_tree *tree;
	pm_build_check(w->a, pmfs_model_tree(w->model, &tree, w->err));
	const uint32_t *path = pm_tree_path(w->a, tree, context, &n);
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
}

int pmfs_context_report_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, write_context, out, err);
}
