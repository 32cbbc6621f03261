/*
 * Places of the documents: tables at fixed paths, and the collections of chunks, traces and links
 * to traces.
 */
#include "formats/common/list.h"
#include "formats/common/text.h"
#include "formats/zts/zts.h"

static struct pm_doc text_doc(const struct zts_opened *z,
	int (*render)(const struct pm_doc *, struct pm_text *, struct pm_error *), uint64_t a,
	uint64_t b)
{
	return (struct pm_doc){
		.kind = PM_DOC_TEXT, .text = {.render = render, .self = z, .a = a, .b = b}};
}

/* ---- chunks of a store: a = the store ---- */

static int chunk_count(const struct pm_collection *c, uint32_t *ret, struct pm_error *err)
{
	const struct zts_opened *z = c->self;
	const struct zts_chunks *chunks;
	int r = zts_store_chunks(&z->stores.items[c->a], &chunks, err);
	*ret = r < 0 ? 0 : chunks->n;
	return r;
}

static struct pm_bytes chunk_name(
	const struct pm_collection *c, uint32_t i, struct pm_text *scratch)
{
	(void)c;
	pm_text_clear(scratch);
	pm_text_u64(scratch, i);
	return pm_text_view(scratch);
}

static int chunk_find(const struct pm_collection *c, struct pm_bytes name, uint32_t *ret_i)
{
	uint64_t i = 0;
	if (name.len == 0 || name.len > 10 || (name.p[0] == '0' && name.len > 1))
		return false;
	for (size_t k = 0; k < name.len; k++) {
		if (name.p[k] < '0' || name.p[k] > '9')
			return false;
		i = i * 10 + (uint64_t)(name.p[k] - '0');
	}
	*ret_i = (uint32_t)i;
	return i < ((const struct zts_opened *)c->self)->stores.items[c->a].chunks.n;
}

static int chunk_document(
	const struct pm_collection *c, uint32_t i, uint32_t k, struct pm_named_doc *ret)
{
	const struct pm_named_doc docs[] = {
		{"data.json", text_doc(c->self, zts_render_payload_json, c->a, i)},
		{"data.cbor", text_doc(c->self, zts_render_payload, c->a, i)},
		{"info.txt", text_doc(c->self, zts_render_chunk_info, c->a, i)},
	};
	if (k >= sizeof(docs) / sizeof(*docs))
		return 0;
	*ret = docs[k];
	ret->doc.text.flows = k < 2;
	return 1;
}

/* ---- traces of a store: a = the store ---- */

static int trace_count(const struct pm_collection *c, uint32_t *ret, struct pm_error *err)
{
	const struct zts_survey *v;
	int r = zts_get_survey(c->self, &v, err);
	*ret = r < 0 ? 0 : v->first_of[c->a + 1] - v->first_of[c->a];
	return r;
}

static uint32_t trace_of(const struct pm_collection *c, uint32_t i)
{
	const struct zts_opened *z = c->self;
	return z->survey.by_store[z->survey.first_of[c->a] + i];
}

static struct pm_bytes trace_name(
	const struct pm_collection *c, uint32_t i, struct pm_text *scratch)
{
	const struct zts_opened *z = c->self;
	pm_text_clear(scratch);
	zts_trace_name(&z->survey.traces[trace_of(c, i)], scratch);
	return pm_text_view(scratch);
}

static int trace_document(
	const struct pm_collection *c, uint32_t i, uint32_t k, struct pm_named_doc *ret)
{
	const struct zts_opened *z = c->self;
	uint32_t trace = trace_of(c, i);
	const struct pm_named_doc docs[] = {
		{"trace.json", text_doc(z, zts_render_trace_json, trace, 0)},
		{"tree.txt", text_doc(z, zts_render_trace_text, trace, 0)},
		{"calls.csv", pm_doc_csv(zts_calls_table(z, trace))},
		{"attributes.csv", pm_doc_csv(zts_trace_attrs_table(z, trace))},
		{"exception.txt", text_doc(z, zts_render_exceptions, trace, 0)}, /* the last one */
	};
	uint32_t n = sizeof(docs) / sizeof(*docs) - !z->survey.traces[trace].has_exception;
	if (k >= n)
		return 0;
	*ret = docs[k];
	return 1;
}

static int trace_profile(
	const struct pm_collection *c, uint32_t i, struct pm_profile **ret, struct pm_error *err)
{
	return zts_trace_profile(c->self, trace_of(c, i), c->path, ret, err);
}

/* ---- slow/ and errors/: links to traces; a = enum zts_of, FAILED or not ---- */

enum { FAILED = 1 << 8 };

static int render_link(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	const struct zts_opened *z = doc->text.self;
	(void)err;
	pm_text_str(out, doc->text.b == ZTS_OF_WINDOW ? "../../../" : "../");
	zts_trace_path(z, &z->survey.traces[doc->text.a], out);
	return 0;
}

static int link_count(const struct pm_collection *c, uint32_t *ret, struct pm_error *err)
{
	const struct zts_scope *scope;
	int r = zts_scope_of(c->self, c->a & ~(uint64_t)FAILED, &scope, err);
	*ret = r < 0 ? 0 : c->a & FAILED ? scope->n_failed : scope->n_slow;
	return r;
}

/* A trace that was counted, so that it is there. */
static uint32_t linked(const struct pm_collection *c, uint32_t i, const struct zts_opened **ret_z)
{
	const struct zts_scope *scope = NULL;
	zts_scope_of(c->self, c->a & ~(uint64_t)FAILED, &scope, NULL);
	*ret_z = scope->z;
	return c->a & FAILED ? scope->failed[i] : scope->slow[i];
}

static struct pm_bytes link_name(const struct pm_collection *c, uint32_t i, struct pm_text *scratch)
{
	const struct zts_opened *z;
	uint32_t trace = linked(c, i, &z);
	pm_text_clear(scratch);
	if (!(c->a & FAILED))
		pm_text_printf(scratch, "%03u-", i + 1);
	zts_trace_name(&z->survey.traces[trace], scratch);
	return pm_text_view(scratch);
}

static int link_document(
	const struct pm_collection *c, uint32_t i, uint32_t k, struct pm_named_doc *ret)
{
	const struct zts_opened *z;
	uint32_t trace = linked(c, i, &z);
	*ret = (struct pm_named_doc){"", text_doc(z, render_link, trace, c->a & ~(uint64_t)FAILED)};
	ret->doc.kind = PM_DOC_LINK;
	return k == 0;
}

static struct pm_collection links(const void *self, enum zts_of of, bool failed)
{
	return (struct pm_collection){.path = failed ? "errors" : "slow",
		.flat = true,
		.self = self,
		.a = failed ? of | FAILED : of,
		.count = link_count,
		.name = link_name,
		.document = link_document};
}

void zts_window_collections(const struct pm_window *window, struct pm_window_own *ret)
{
	ret->collections[ret->n_collections++] = links(window, ZTS_OF_WINDOW, false);
	ret->collections[ret->n_collections++] = links(window, ZTS_OF_WINDOW, true);
}

/* ---- the lists ---- */

static int add_collection(struct zts_opened *z, struct pm_collection c)
{
	if (!c.path ||
		pm_list_room(&z->collections, z->n_collections, &z->collections_room, sizeof(c)) <
			0)
		return -ENOMEM;
	c.self = z;
	z->collections[z->n_collections++] = c;
	return 0;
}

static int add_store(struct zts_opened *z, uint32_t s)
{
	const struct zts_store *store = &z->stores.items[s];
	struct pm_collection chunks = {
		.path = pm_arena_printf(&z->arena, "stores/%s/chunks", store->number),
		.a = s,
		.count = chunk_count,
		.name = chunk_name,
		.find = chunk_find,
		.document = chunk_document};
	struct pm_collection traces = {
		.path = pm_arena_printf(&z->arena, "stores/%s/traces", store->number),
		.a = s,
		.count = trace_count,
		.name = trace_name,
		.document = trace_document,
		.profile = trace_profile,
		.shape = PM_SHAPE_TRACE};
	int r = add_collection(z, chunks);
	return r < 0 ? r : add_collection(z, traces);
}

static int add_document(struct zts_opened *z, const char *path, struct pm_doc doc)
{
	if (!path ||
		pm_list_room(&z->documents, z->n_documents, &z->documents_room,
			sizeof(*z->documents)) < 0)
		return -ENOMEM;
	z->documents[z->n_documents++] = (struct pm_named_doc){path, doc};
	return 0;
}

int zts_list_documents(struct zts_opened *z)
{
	struct pm_table traces = zts_table(z, ZTS_OF_RUN, ZTS_TABLE_TRACES);
	struct pm_table methods = zts_table(z, ZTS_OF_RUN, ZTS_TABLE_METHODS);
	int r = add_document(z, "traces.csv", pm_doc_csv(traces))
		?: add_document(z, "traces.tsv", pm_doc_tsv(traces))
		?: add_document(z, "requests.csv", pm_doc_csv(zts_requests_table(z, ZTS_OF_RUN)))
		?: add_document(z, "methods.csv", pm_doc_csv(methods))
		?: add_document(z, "methods.tsv", pm_doc_tsv(methods))
		?: add_document(z, "attributes.csv",
			   pm_doc_csv(zts_table(z, ZTS_OF_RUN, ZTS_TABLE_ATTRIBUTES)))
		?: add_document(z, "statements.csv",
			   pm_doc_csv(zts_table(z, ZTS_OF_RUN, ZTS_TABLE_STATEMENTS)))
		?: add_document(z, "exceptions.csv",
			   pm_doc_csv(zts_table(z, ZTS_OF_RUN, ZTS_TABLE_EXCEPTIONS)))
		?: add_document(z, "raw/spans.csv", pm_doc_csv(zts_raw_spans_table(z)));
	if (r == 0)
		r = add_document(z, "spans.csv", pm_doc_csv(zts_spans_table(z, ZTS_OF_RUN)));
	if (r == 0)
		z->documents[z->n_documents - 1].unlisted = true;
	for (uint32_t s = 0; s < z->stores.n && r == 0; s++) {
		const char *number = z->stores.items[s].number;
		r = add_document(z, pm_arena_printf(&z->arena, "stores/%s/chunks.csv", number),
			    pm_doc_csv(zts_chunks_table(z, s)))
			?: add_document(z,
				   pm_arena_printf(&z->arena, "stores/%s/strings.csv", number),
				   pm_doc_csv(zts_strings_table(z, s)));
	}
	if (r == 0)
		r = add_collection(z, links(z, ZTS_OF_RUN, false))
			?: add_collection(z, links(z, ZTS_OF_RUN, true));
	for (uint32_t s = 0; s < z->stores.n && r == 0; s++)
		r = add_store(z, s);
	return r;
}
