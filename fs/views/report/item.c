/*
 * The contents of an item's directory (a trace of a store): its tables, and the names of its files.
 */
#include "fs/views/report/data.h"

static const struct pm_collection *collection_of(const struct pm_doc *doc)
{
	return (const struct pm_collection *)(uintptr_t)doc->text.self;
}

/* The k-th document of the item: 1, or 0 beyond the last. */
static int document_at(const struct pm_doc *doc, uint32_t k, struct pm_named_doc *ret)
{
	const struct pm_collection *c = collection_of(doc);
	return c->document(c, (uint32_t)doc->text.a, k, ret);
}

static int write_names(struct pmfs_report *r, const struct pm_doc *doc)
{
	struct pm_named_doc named;
	int e = 1;
	pm_json_key(&r->json, "files");
	pm_json_open(&r->json, '[');
	for (uint32_t k = 0; (e = document_at(doc, k, &named)) > 0; k++)
		pm_json_str(&r->json, named.path);
	pm_json_close(&r->json, ']');
	return e;
}

static int write_tables(struct pmfs_report *r, const struct pm_doc *doc, struct pm_error *err)
{
	struct pm_named_doc named;
	int e;
	pm_json_key(&r->json, "tables");
	pm_json_open(&r->json, '{');
	for (uint32_t k = 0; (e = document_at(doc, k, &named)) > 0; k++) {
		if (named.doc.kind != PM_DOC_CSV)
			continue;
		pm_json_key(&r->json, named.path);
		e = pmfs_report_rows(r, &named.doc.table, 0, PMFS_REPORT_ITEM_ROWS, err);
		if (e < 0)
			return e;
	}
	pm_json_close(&r->json, '}');
	return e;
}

static int render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_report r = {.json = {.out = out, .script = true}};
	pm_text_str(out, "pm.take(null,");
	pm_json_open(&r.json, '{');
	int e = write_names(&r, doc);
	if (e >= 0)
		e = write_tables(&r, doc, err);
	pm_json_close(&r.json, '}');
	pm_text_str(out, ");\n");
	pm_text_end(&r.scratch, out);
	return e < 0 ? pm_error_plain(err, e) : pm_text_status(out);
}

struct pm_doc pmfs_report_item(const struct pm_collection *c, uint32_t item)
{
	return (struct pm_doc){
		.kind = PM_DOC_TEXT, .text = {.render = render, .self = c, .a = item}};
}
