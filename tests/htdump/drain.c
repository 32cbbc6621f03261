/* Reads every cell of a profile, as the file system would, but without rendering. */
#include "tests/htdump/drain.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/cache.h"
#include "formats/common/text.h"
#include "formats/htdump/htdump.h"
#include "profmount/format.h"

enum { SMALL_CACHE = 1 << 20 };

int stream_open(const uint8_t *p, size_t n, struct pm_profile *ret, struct pm_error *err)
{
	return stream_open_values(p, n, NULL, ret, err);
}

int stream_open_values(const uint8_t *p, size_t n, const char *values, struct pm_profile *ret,
	struct pm_error *err)
{
	struct pm_open_options options = {.values = values, .cache = pm_cache_new(SMALL_CACHE)};
	if (!options.cache)
		return -ENOMEM;
	uint8_t *copy = n ? malloc(n) : NULL;
	struct pm_input input = {
		.bytes = {copy, n}, .name = strdup("stream"), .fd = -1, .slot = -1};
	if (n)
		memcpy(copy, p, n);
	*ret = (struct pm_profile){.self = NULL};
	*err = (struct pm_error){.code = 0};
	int r = htd_opened_new(&input, &options, ret, err);
	if (r < 0)
		pm_cache_free(options.cache);
	return r;
}

extern const struct pm_format htd_format;

void stream_close(struct pm_profile *p)
{
	pm_cache_free(htd_opened_of(p)->cache);
	htd_format.close(p);
}

/* ---- tables ---- */

static void add_cell(struct pm_text *out, const struct pm_cell *cell)
{
	switch (cell->kind) {
	case PM_CELL_EMPTY: break;
	case PM_CELL_U64: pm_text_u64(out, cell->u); break;
	case PM_CELL_I64: pm_text_i64(out, cell->i); break;
	case PM_CELL_F64: pm_text_printf(out, "%g", cell->f); break;
	case PM_CELL_HEX:
	case PM_CELL_ID: pm_text_printf(out, "0x%llx", (unsigned long long)cell->u); break;
	case PM_CELL_TEXT: pm_text_bytes(out, cell->text); break;
	}
}

bool stream_row(const struct pm_table *table, uint64_t row, char *out, size_t size)
{
	struct pm_cell *cells = calloc(table->n_columns, sizeof(*cells));
	struct pm_text text = {.p = NULL};
	struct pm_rows rows;
	struct pm_error err = {.code = 0};
	int r = pm_rows_start(&rows, table, 0, &err) < 0 ? -1 : 1;
	for (uint64_t i = 0; r > 0 && i <= row; i++)
		r = pm_rows_next(&rows, cells, &err);
	for (uint32_t i = 0; r > 0 && i < table->n_columns; i++) {
		if (i)
			pm_text_char(&text, '|');
		add_cell(&text, &cells[i]);
	}
	snprintf(out, size, "%.*s", (int)text.len, text.p ? text.p : "");
	pm_rows_done(&rows);
	pm_text_done(&text);
	free(cells);
	return r > 0;
}

static uint64_t hash_cells(const struct pm_cell *cells, uint32_t n)
{
	struct pm_text text = {.p = NULL};
	for (uint32_t i = 0; i < n; i++) {
		add_cell(&text, &cells[i]);
		pm_text_char(&text, '|');
	}
	uint64_t hash = pm_hash_bytes(pm_text_view(&text));
	pm_text_done(&text);
	return hash;
}

/* Does a cursor that starts at `at` give this row? */
static bool starts_with(const struct pm_table *table, uint64_t at, uint64_t hash)
{
	struct pm_cell *cells = calloc(table->n_columns, sizeof(*cells));
	struct pm_rows rows;
	struct pm_error err = {.code = 0};
	bool good = pm_rows_start(&rows, table, at, &err) == 0 &&
		pm_rows_next(&rows, cells, &err) == 1 &&
		hash_cells(cells, table->n_columns) == hash;
	pm_rows_done(&rows);
	free(cells);
	return good;
}

static const char *drain_table(const struct pm_table *table)
{
	struct pm_cell *cells = calloc(table->n_columns, sizeof(*cells));
	struct pm_rows rows;
	struct pm_error err = {.code = 0};
	const char *wrong = NULL;
	int r = pm_rows_start(&rows, table, 0, &err) < 0 ? -1 : 1;
	for (uint64_t n = 0; r > 0 && !wrong; n++) {
		uint64_t at = rows.at;
		r = pm_rows_next(&rows, cells, &err);
		if (r > 0 && rows.at <= at)
			wrong = "a table does not move on";
		else if (r > 0 && n % 97 == 3 &&
			!starts_with(table, at, hash_cells(cells, table->n_columns)))
			wrong = "a table gives another row when it is entered there";
	}
	if (r < 0)
		wrong = "a table cannot be read";
	pm_rows_done(&rows);
	free(cells);
	return wrong;
}

/* ---- documents and collections ---- */

static const char *drain_documents(const struct pm_profile *p)
{
	const struct pm_named_doc *docs;
	const struct pm_collection *list;
	struct pm_named_doc doc;
	struct pm_error err = {.code = 0};
	struct pm_text name = {.p = NULL};
	size_t n;
	const char *wrong = NULL;
	pm_profile_documents(p, &docs, &n, &err);
	for (size_t i = 0; i < n && !wrong; i++)
		wrong = drain_table(&docs[i].doc.table);
	pm_profile_collections(p, &list, &n, &err);
	for (size_t i = 0; i < n && !wrong; i++) {
		uint32_t items = 0;
		if (list[i].count(&list[i], &items, &err) < 0)
			wrong = "a collection cannot be counted";
		for (uint32_t item = 0; item < items && !wrong; item++) {
			list[i].name(&list[i], item, &name);
			for (uint32_t k = 0;
				!wrong && list[i].document(&list[i], item, k, &doc) > 0; k++)
				wrong = drain_table(&doc.doc.table);
		}
	}
	pm_text_done(&name);
	return wrong;
}

static bool collection_document(
	const struct pm_collection *c, const char *rest, struct pm_named_doc *ret)
{
	struct pm_text scratch = {.p = NULL};
	struct pm_error err = {.code = 0};
	bool found = false;
	uint32_t n = 0;
	c->count(c, &n, &err);
	for (uint32_t i = 0; i < n && !found; i++) {
		struct pm_bytes name = c->name(c, i, &scratch);
		if (strncmp(rest, (const char *)name.p, name.len) != 0)
			continue;
		const char *file = rest + name.len;
		for (uint32_t k = 0; !found && c->document(c, i, k, ret) > 0; k++)
			found = c->flat ? *file == '\0'
					: *file == '/' && strcmp(file + 1, ret->path) == 0;
	}
	pm_text_done(&scratch);
	return found;
}

bool stream_document(const struct pm_profile *p, const char *path, struct pm_doc *ret)
{
	const struct pm_named_doc *docs;
	const struct pm_collection *list;
	struct pm_named_doc doc;
	struct pm_error err = {.code = 0};
	size_t n;
	pm_profile_documents(p, &docs, &n, &err);
	for (size_t i = 0; i < n; i++)
		if (strcmp(docs[i].path, path) == 0) {
			*ret = docs[i].doc;
			return true;
		}
	pm_profile_collections(p, &list, &n, &err);
	for (size_t i = 0; i < n; i++) {
		size_t len = strlen(list[i].path);
		if (strncmp(path, list[i].path, len) == 0 && path[len] == '/' &&
			collection_document(&list[i], path + len + 1, &doc)) {
			*ret = doc.doc;
			return true;
		}
	}
	return false;
}

/* ---- calls ---- */

static const char *check_sample(
	const struct pm_tree *tree, const struct pm_sample *s, const struct pm_sample *before)
{
	if (pm_tree_find(tree, s->context) == PM_NONE)
		return "a call has a context that the tree does not know";
	if (before && before->time_ns > s->time_ns)
		return "a trace is not in time order";
	return NULL;
}

static const char *drain_thread(
	const struct pm_profile *p, const struct pm_tree *tree, uint32_t i, uint64_t n_samples)
{
	struct pm_sample batch[100], alone;
	struct pm_value values[7];
	struct pm_error err = {.code = 0};
	const char *wrong = NULL;
	uint64_t n = 0;
	int64_t got;
	while (!wrong && (got = p->ops->samples(p, i, n, batch, 100, &err)) > 0) {
		for (int64_t k = 0; k < got && !wrong; k++)
			wrong = check_sample(tree, &batch[k], k ? &batch[k - 1] : NULL);
		n += (uint64_t)got;
		if (p->ops->samples(p, i, n - 1, &alone, 1, &err) != 1 ||
			memcmp(&alone, &batch[got - 1], sizeof(alone)) != 0)
			wrong = "a call differs when it is read alone";
	}
	if (!wrong && n != n_samples)
		wrong = "a trace has another length than said";
	for (uint64_t first = 0; !wrong; first += (uint64_t)got)
		if ((got = p->ops->values(p, (struct pm_values_of){PM_OF_THREAD, i, false}, first,
			     values, 7, &err)) <= 0)
			break;
	return wrong;
}

const char *stream_drain(const struct pm_profile *p)
{
	const struct pm_tree *tree;
	const struct pm_threads *threads;
	const struct pm_damages *damages;
	const struct pm_fact *facts;
	struct pm_thread_counts counts;
	struct pm_value values[PM_CALLS_N_METRICS];
	struct pm_error err = {.code = 0};
	const char *wrong = NULL;
	size_t n;
	if (pm_profile_tree(p, &tree, &err) < 0 || pm_profile_threads(p, &threads, &err) < 0 ||
		pm_profile_damage(p, &damages, &err) < 0 ||
		pm_profile_facts(p, &facts, &n, &err) < 0)
		return "the profile cannot be read";
	for (uint32_t i = 0; i < tree->n_contexts; i++)
		if (p->ops->run_costs(p, i, values, PM_CALLS_N_METRICS, &err) != PM_CALLS_N_METRICS)
			return "a context has no costs";
	for (uint32_t i = 0; i < threads->n && !wrong; i++) {
		if (p->ops->thread_counts(p, i, &counts, &err) < 0)
			return "a thread cannot be counted";
		wrong = drain_thread(p, tree, i, threads->threads[i].n_samples);
	}
	return wrong ? wrong : drain_documents(p);
}
