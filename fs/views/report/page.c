/* report.html: the page, which loads its data from report/ beside it. */
#include "fs/views/pictures/page.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/tree.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/parts.h"
#include "fs/views/pictures/assets.h"
#include "fs/views/report/report.h"
#include "profmount/limits.h"

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
			!p->ops->collections) { /* of several runs, it may not be known yet */
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
			r = pmfs_report_send(m, out, err);
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
