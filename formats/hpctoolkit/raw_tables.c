/*
 * The rows of the tables in raw/. A position is the row's index in its table of the file, a
 * context's rank, or a value's place in the summary profile, so every row is read straight from
 * where it lies.
 */
#include <stdlib.h>

#include "formats/common/text.h"
#include "formats/hpctoolkit/contexts.h"
#include "formats/hpctoolkit/meta.h"
#include "formats/hpctoolkit/metrics.h"
#include "formats/hpctoolkit/raw.h"
#include "formats/hpctoolkit/values.h"

static struct hpctk_db *db_of(const struct pm_rows *rows)
{
	return hpctk_db_of(rows->table->self);
}

/* A number that the layout may not store. */
static struct pm_cell code_cell(uint32_t code)
{
	return code == HPCTK_NONE ? pm_cell_empty() : pm_cell_u64(code);
}

static struct pm_cell module_cell(const struct hpctk_db *db, uint32_t i)
{
	return i == HPCTK_NONE ? pm_cell_empty() : pm_cell_text(hpctk_module_get(db, i).path);
}

static struct pm_cell source_cell(const struct hpctk_db *db, uint32_t i)
{
	return i == HPCTK_NONE ? pm_cell_empty() : pm_cell_text(hpctk_source_get(db, i).path);
}

/* ---- general, identifiers, metrics ---- */

static const char *const general_columns[] = {"field", "value"};

static int general_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	(void)err;
	struct pm_bytes title, description;
	if (rows->at >= 2)
		return 0;
	hpctk_general_get(db_of(rows), &title, &description);
	cells[0] = pm_cell_str(rows->at == 0 ? "title" : "description");
	cells[1] = pm_cell_text(rows->at == 0 ? title : description);
	rows->at++;
	return 1;
}

static const char *const kind_columns[] = {"kind", "name"};

static int kind_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	(void)err;
	const struct hpctk_db *db = db_of(rows);
	if (rows->at >= db->kinds.n)
		return 0;
	cells[0] = pm_cell_u64(rows->at);
	cells[1] = pm_cell_text(hpctk_kind_name(db, (uint32_t)rows->at));
	rows->at++;
	return 1;
}

static const char *const metric_columns[] = {"metric_index", "scope_type", "propagation_index",
	"prop_metric_id", "combine", "stat_metric_id", "formula", "scope", "metric"};

static int metric_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct hpctk_metrics *m;
	int r = hpctk_metrics_get(db_of(rows), &m, err);
	if (r < 0)
		return r;
	if (rows->at >= m->n_summaries)
		return 0;
	const struct hpctk_summary *summary = &m->summaries[rows->at];
	const struct hpctk_quantity *quantity = &m->quantities[summary->quantity];
	cells[0] = pm_cell_u64(quantity->metric);
	cells[1] = code_cell(quantity->scope_type);
	cells[2] = code_cell(quantity->propagation);
	cells[3] = code_cell(quantity->prop_id);
	cells[4] = code_cell(summary->combine);
	cells[5] = code_cell(summary->stat_id);
	cells[6] = pm_cell_text(summary->formula);
	cells[7] = pm_cell_text(quantity->scope);
	cells[8] = pm_cell_text(quantity->name);
	rows->at++;
	return 1;
}

/* ---- modules, files, functions ---- */

static const char *const module_columns[] = {"module_index", "path"};

static int module_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	(void)err;
	const struct hpctk_db *db = db_of(rows);
	if (rows->at >= db->modules.n)
		return 0;
	cells[0] = pm_cell_u64(rows->at);
	cells[1] = module_cell(db, (uint32_t)rows->at);
	rows->at++;
	return 1;
}

static const char *const source_columns[] = {"file_index", "flags", "path"};

static int source_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	(void)err;
	const struct hpctk_db *db = db_of(rows);
	if (rows->at >= db->sources.n)
		return 0;
	struct hpctk_path source = hpctk_source_get(db, (uint32_t)rows->at);
	cells[0] = pm_cell_u64(rows->at);
	cells[1] = pm_cell_u64(source.flags);
	cells[2] = pm_cell_text(source.path);
	rows->at++;
	return 1;
}

static const char *const function_columns[] = {
	"function_index", "offset", "line", "module", "file", "name"};

static int function_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	(void)err;
	const struct hpctk_db *db = db_of(rows);
	if (rows->at >= db->functions.n)
		return 0;
	struct hpctk_function function = hpctk_function_get(db, (uint32_t)rows->at);
	cells[0] = pm_cell_u64(rows->at);
	cells[1] = pm_cell_u64(function.offset);
	cells[2] = pm_cell_u64(function.line);
	cells[3] = module_cell(db, function.module);
	cells[4] = source_cell(db, function.file);
	cells[5] = pm_cell_text(function.name);
	rows->at++;
	return 1;
}

/* ---- contexts ---- */

static const char *const context_columns[] = {"context_id", "parent_id", "lexical_type", "relation",
	"function_index", "line", "offset", "module", "file", "function"};

static void context_fill(
	const struct hpctk_db *db, const struct hpctk_context_record *record, struct pm_cell *cells)
{
	uint32_t function = hpctk_row_get(&db->functions, record->function_at);
	cells[2] = code_cell(record->lexical_type);
	cells[3] = pm_cell_u64(record->relation);
	cells[4] = code_cell(function);
	cells[5] = record->has_place ? pm_cell_u64(record->line) : pm_cell_empty();
	cells[6] = record->has_point ? pm_cell_u64(record->offset) : pm_cell_empty();
	cells[7] = module_cell(db, hpctk_row_get(&db->modules, record->module_at));
	cells[8] = source_cell(db, hpctk_row_get(&db->sources, record->file_at));
	cells[9] = function == HPCTK_NONE ? pm_cell_text(hpctk_string_get(db, record->name_at))
					  : pm_cell_text(hpctk_function_get(db, function).name);
}

static int context_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct hpctk_tree *t;
	struct hpctk_context_record record;
	int r = hpctk_tree_get(db_of(rows), &t, err);
	if (r < 0)
		return r;
	if (rows->at >= t->tree->n_contexts)
		return 0;
	uint32_t rank = (uint32_t)rows->at;
	uint32_t parent = t->tree->parent[t->of_rank[rank]];
	if (!hpctk_context_get(db_of(rows), t, rank, &record))
		return pm_error_set(err, -EIO, "meta.db", t->record_at[rank], "has changed");
	cells[0] = pm_cell_u64(record.id);
	cells[1] = pm_cell_u64(parent == PM_NONE ? 0 : t->tree->number[parent]);
	context_fill(db_of(rows), &record, cells);
	rows->at++;
	return 1;
}

/* ---- profiles, summary ---- */

static const char *const profile_columns[] = {
	"profile_index", "flags", "values", "contexts", "id_tuple"};

/* KIND:logical:physical:flags of each id, a space between them. */
static void tuple_write(const struct hpctk_db *db, uint32_t profile, struct pm_text *out)
{
	struct pm_bytes ids;
	uint32_t n;
	hpctk_tuple_find(db, profile, &ids, &n);
	for (uint32_t i = 0; i < n; i++) {
		struct hpctk_tuple_id id;
		hpctk_tuple_id_decode(&db->layout, pm_bytes_row(ids, i, HPCTK_TUPLE_ID), &id);
		struct pm_bytes kind = hpctk_kind_name(db, id.kind);
		if (i > 0)
			pm_text_char(out, ' ');
		if (kind.len > 0)
			pm_text_bytes(out, kind);
		else
			pm_text_u64(out, id.kind);
		pm_text_char(out, ':');
		pm_text_u64(out, id.logical);
		pm_text_char(out, ':');
		pm_text_u64(out, id.physical);
		pm_text_char(out, ':');
		pm_text_u64(out, id.flags);
	}
}

static int profile_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct hpctk_db *db = db_of(rows);
	struct hpctk_profile_record record;
	struct hpctk_block block;
	if (rows->at >= db->profiles.n)
		return 0;
	uint32_t i = (uint32_t)rows->at;
	hpctk_profile_decode(&db->layout, hpctk_row(&db->profiles, i), &record);
	int r = hpctk_blocks_ready(db, false, err);
	if (r < 0)
		return r;
	bool sound = hpctk_profile_block(db, i, &block, NULL) == 0;
	tuple_write(db, i, rows->scratch);
	cells[0] = pm_cell_u64(i);
	cells[1] = code_cell(record.flags);
	cells[2] = sound ? pm_cell_u64(block.n_values) : pm_cell_empty();
	cells[3] = sound ? pm_cell_u64(block.n_index) : pm_cell_empty();
	cells[4] = pm_cell_text(pm_text_view(rows->scratch));
	rows->at++;
	return 1;
}

static const char *const summary_columns[] = {"context_id", "stat_metric_id", "value"};

/* What a cursor over the summary remembers: the index entry that it is in. */
struct summary_cursor {
	struct hpctk_block block;
	uint32_t entry;
};

static int summary_start(struct pm_rows *rows, struct pm_error *err)
{
	struct hpctk_db *db = db_of(rows);
	const struct hpctk_threads *threads;
	struct summary_cursor *c = calloc(1, sizeof(*c));
	if (!c)
		return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory");
	rows->own = c;
	int r = hpctk_threads_get(db, &threads, err);
	if (r == 0 && threads->summary != PM_NONE)
		r = hpctk_profile_block(db, threads->summary, &c->block, err);
	if (r == 0 && rows->at < c->block.n_values)
		c->entry = hpctk_block_entry_of(&c->block, rows->at);
	return r;
}

static int summary_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct summary_cursor *c = rows->own;
	struct hpctk_run run;
	if (rows->at >= c->block.n_values)
		return 0;
	for (;; c->entry++) {
		int r = hpctk_block_run(&c->block, c->entry, &run, err);
		if (r < 0)
			return r;
		if (rows->at < run.end)
			break;
	}
	struct hpctk_block_value value = hpctk_block_value(&c->block, rows->at);
	cells[0] = pm_cell_u64(run.key);
	cells[1] = pm_cell_u64(value.sub);
	cells[2] = pm_cell_f64(value.value);
	rows->at++;
	return 1;
}

/* ---- the list ---- */

static const struct pm_table_type general_type = {.next = general_next};
static const struct pm_table_type kind_type = {.next = kind_next};
static const struct pm_table_type metric_type = {.next = metric_next};
static const struct pm_table_type module_type = {.next = module_next, .dense = true};
static const struct pm_table_type source_type = {.next = source_next, .dense = true};
static const struct pm_table_type function_type = {.next = function_next, .dense = true};
static const struct pm_table_type context_type = {.next = context_next};
static const struct pm_table_type profile_type = {.next = profile_next, .dense = true};
static const struct pm_table_type summary_type = {.next = summary_next, .start = summary_start};

#define TABLE(path, type, columns)                                                                 \
	{                                                                                          \
		path, &type, columns, sizeof(columns) / sizeof((columns)[0])                       \
	}

static const struct {
	const char *path;
	const struct pm_table_type *type;
	const char *const *columns;
	uint32_t n_columns;
} tables[HPCTK_N_RAW_TABLES] = {
	TABLE("raw/general.csv", general_type, general_columns),
	TABLE("raw/identifiers.csv", kind_type, kind_columns),
	TABLE("raw/metrics.csv", metric_type, metric_columns),
	TABLE("raw/modules.csv", module_type, module_columns),
	TABLE("raw/files.csv", source_type, source_columns),
	TABLE("raw/functions.csv", function_type, function_columns),
	TABLE("raw/contexts.csv", context_type, context_columns),
	TABLE("raw/profiles.csv", profile_type, profile_columns),
	TABLE("raw/summary.csv", summary_type, summary_columns),
};

/* Beyond the last row, for tables whose length is known without reading. */
static uint64_t end_of(const struct hpctk_db *db, const struct pm_table_type *type)
{
	if (type == &module_type)
		return db->modules.n;
	if (type == &source_type)
		return db->sources.n;
	if (type == &function_type)
		return db->functions.n;
	return type == &profile_type ? db->profiles.n : 0;
}

void hpctk_raw_table(const struct hpctk_db *db, uint32_t i, struct pm_named_doc *ret)
{
	struct pm_table table = {
		.type = tables[i].type,
		.columns = tables[i].columns,
		.n_columns = tables[i].n_columns,
		.self = db->profile,
		.end = end_of(db, tables[i].type),
	};
	*ret = (struct pm_named_doc){.path = tables[i].path, .doc = pm_doc_csv(table)};
}
