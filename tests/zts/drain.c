/* A walk over everything in a profile, through the format interface only. */
#include "tests/zts/drain.h"

#include <stdio.h>
#include <string.h>

#include "tests/zts/writer.h"

enum { MOST_COLUMNS = 40 };

struct pm_profile *zts_open_traces(const char *folder, struct pm_bytes traces)
{
	struct pm_profile *p = NULL;
	struct pm_error err = {.offset = PM_NO_OFFSET};
	if (!zts_write_file(folder, "traces.dat", traces))
		perror(folder);
	else if (pm_profile_open(folder, "zts", NULL, &p, &err) < 0)
		fprintf(stderr, "%s: %s\n", folder, err.text);
	return p;
}

static void put_cell(struct pm_text *out, const struct pm_cell *c)
{
	switch (c->kind) {
	case PM_CELL_EMPTY: break;
	case PM_CELL_U64: pm_text_u64(out, c->u); break;
	case PM_CELL_I64: pm_text_i64(out, c->i); break;
	case PM_CELL_F64: pm_text_f64(out, c->f); break;
	case PM_CELL_HEX: pm_text_hex(out, c->u, 1); break;
	case PM_CELL_ID: pm_text_hex(out, c->u, c->width); break;
	case PM_CELL_TEXT: pm_text_utf8(out, c->text); break;
	}
}

static int drain_table(const struct pm_table *given, struct pm_text *out)
{
	struct pm_cell cells[MOST_COLUMNS];
	struct pm_table own = *given, *table = &own;
	struct pm_rows rows;
	int r = table->type->columns ? table->type->columns(table, NULL) : 0;
	if (r < 0)
		return r;
	r = pm_rows_start(&rows, table, 0, NULL);
	while (r >= 0 && (r = pm_rows_next(&rows, cells, NULL)) > 0)
		for (uint32_t i = 0; i < table->n_columns; i++) {
			put_cell(out, &cells[i]);
			pm_text_char(out, i + 1 < table->n_columns ? ',' : '\n');
		}
	pm_rows_done(&rows);
	return r;
}

int zts_drain_doc(const struct pm_doc *doc, struct pm_text *out)
{
	switch (doc->kind) {
	case PM_DOC_CSV:
	case PM_DOC_TSV:
	case PM_DOC_PARQUET: return drain_table(&doc->table, out);
	case PM_DOC_TEXT:
	case PM_DOC_LINK: return doc->text.render(doc, out, NULL);
	case PM_DOC_BYTES: pm_text_bytes(out, doc->bytes); return 0;
	case PM_DOC_FILE: break;
	}
	return 0;
}

static uint32_t count_items(const struct pm_collection *c)
{
	uint32_t n = c->n;
	return c->count && c->count(c, &n, NULL) < 0 ? 0 : n;
}

static int drain_item(const struct pm_collection *c, const char *rest, struct pm_text *out)
{
	struct pm_text name = {0};
	struct pm_named_doc doc;
	int r = -ENOENT;
	const char *slash = strchr(rest, '/');
	size_t len = slash ? (size_t)(slash - rest) : strlen(rest);
	uint32_t n = count_items(c);
	for (uint32_t i = 0; i < n && r == -ENOENT; i++) {
		struct pm_bytes b = c->name(c, i, &name);
		if (b.len != len || memcmp(b.p, rest, len) != 0)
			continue;
		for (uint32_t k = 0; c->document(c, i, k, &doc) > 0; k++)
			if (c->flat || (slash && strcmp(doc.path, slash + 1) == 0))
				r = zts_drain_doc(&doc.doc, out);
	}
	pm_text_done(&name);
	return r;
}

int zts_drain_path(const struct pm_profile *p, const char *path, struct pm_text *out)
{
	const struct pm_named_doc *docs;
	const struct pm_collection *collections;
	size_t n = 0;
	int r = pm_profile_documents(p, &docs, &n, NULL);
	for (size_t i = 0; i < n && r == 0; i++)
		if (strcmp(docs[i].path, path) == 0)
			return zts_drain_doc(&docs[i].doc, out);
	r = pm_profile_collections(p, &collections, &n, NULL);
	for (size_t i = 0; i < n && r == 0; i++) {
		size_t len = strlen(collections[i].path);
		if (strncmp(path, collections[i].path, len) == 0 && path[len] == '/')
			return drain_item(&collections[i], path + len + 1, out);
	}
	return r < 0 ? r : -ENOENT;
}

static void put_result(struct pm_text *out, const char *path, int r)
{
	if (r < 0)
		pm_text_printf(out, "%s: error %d\n", path, -r);
}

static void drain_costs(const struct pm_profile *p, struct pm_text *out)
{
	const struct pm_tree *tree;
	struct pm_value values[8];
	if (pm_profile_tree(p, &tree, NULL) < 0)
		return;
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		const struct pm_frame *frame = pm_tree_frame(tree, i);
		int64_t n = p->ops->run_costs(p, i, values, 8, NULL);
		pm_text_printf(out, "%u ", tree->depth[i]);
		pm_text_utf8(out, tree->texts[frame->name]);
		for (int64_t k = 0; k < n; k++) {
			pm_text_char(out, ' ');
			if (values[k].whole)
				pm_text_u64(out, values[k].u);
			else
				pm_text_f64(out, values[k].f);
		}
		pm_text_char(out, '\n');
	}
}

static void drain_collection(const struct pm_collection *c, struct pm_text *out)
{
	struct pm_text name = {0};
	struct pm_named_doc doc;
	uint32_t n = count_items(c);
	for (uint32_t i = 0; i < n; i++) {
		struct pm_profile *profile;
		pm_text_printf(out, "%s/", c->path);
		pm_text_utf8(out, c->name(c, i, &name));
		pm_text_char(out, '\n');
		for (uint32_t k = 0; c->document(c, i, k, &doc) > 0; k++)
			put_result(out, doc.path, zts_drain_doc(&doc.doc, out));
		if (c->profile && c->profile(c, i, &profile, NULL) == 0) {
			drain_costs(profile, out);
			profile->ops->close(profile);
		}
	}
	pm_text_done(&name);
}

void zts_drain_all(const struct pm_profile *p, struct pm_text *out)
{
	const struct pm_named_doc *docs;
	const struct pm_collection *collections;
	const struct pm_damages *damages;
	const struct pm_fact *facts;
	size_t n;
	if (pm_profile_documents(p, &docs, &n, NULL) == 0)
		for (size_t i = 0; i < n; i++) {
			pm_text_printf(out, "%s\n", docs[i].path);
			put_result(out, docs[i].path, zts_drain_doc(&docs[i].doc, out));
		}
	if (pm_profile_collections(p, &collections, &n, NULL) == 0)
		for (size_t i = 0; i < n; i++)
			drain_collection(&collections[i], out);
	drain_costs(p, out);
	pm_profile_facts(p, &facts, &n, NULL);
	p->ops->recipes(p, out, NULL);
	if (pm_profile_damage(p, &damages, NULL) == 0)
		for (size_t i = 0; i < damages->n; i++)
			pm_text_printf(
				out, "%s: %s\n", damages->rows[i].file, damages->rows[i].what);
}
