/*
 * info.json: facts about the profile. Rendering it needs the tree and the list of damage, so it
 * takes time for a large source.
 */
#include "formats/common/json.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/totals.h"

static void add_count(struct pm_json *j, const char *key, uint64_t count)
{
	pm_json_key(j, key);
	if (count == PM_NO_TIME)
		pm_json_null(j);
	else
		pm_json_u64(j, count);
}

static void add_cell(struct pm_json *j, const struct pm_cell *cell)
{
	switch (cell->kind) {
	case PM_CELL_EMPTY: pm_json_null(j); break;
	case PM_CELL_U64:
	case PM_CELL_HEX:
	case PM_CELL_ID: pm_json_u64(j, cell->u); break;
	case PM_CELL_I64: pm_json_i64(j, cell->i); break;
	case PM_CELL_F64: pm_json_f64(j, cell->f); break;
	case PM_CELL_TEXT: pm_json_text(j, cell->text); break;
	}
}

static int add_facts(struct pm_json *j, const struct pm_profile *p, struct pm_error *err)
{
	const struct pm_fact *facts = NULL;
	size_t n = 0;
	int r = pm_profile_facts(p, &facts, &n, err);
	for (size_t i = 0; r >= 0 && i < n; i++) {
		pm_json_key(j, facts[i].key);
		add_cell(j, &facts[i].value);
	}
	return r;
}

int pmfs_info_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(doc->text.self);
	const struct pm_profile *p = pmfs_model_profile(m);
	struct pm_json j = {.out = out, .indented = true};
	struct pmfs_counts c;
	const struct pmfs_columns *columns;
	struct pm_bytes title;
	int r = pmfs_count(m, &c, err);
	if (r < 0 || (r = pmfs_model_columns(m, &columns, err)) < 0 ||
		(r = pm_profile_title(p, &title, err)) < 0)
		return r;
	pm_json_open(&j, '{');
	pm_json_key(&j, "source");
	pm_json_text(&j, pm_bytes_of(p->source));
	pm_json_key(&j, "format");
	pm_json_str(&j, p->format);
	pm_json_key(&j, "layout");
	pm_json_text(&j, pm_bytes_of(p->layout));
	pm_json_key(&j, "title");
	pm_json_text(&j, title);
	add_count(&j, "contexts", c.contexts);
	add_count(&j, "threads", c.threads);
	add_count(&j, "metrics", c.metrics);
	add_count(&j, "functions", c.functions);
	add_count(&j, "samples", c.samples);
	add_count(&j, "time_origin_ns", c.time_origin_ns);
	add_count(&j, "duration_ns", c.duration_ns);
	pm_json_key(&j, "damaged");
	pm_json_bool(&j, c.damages > 0);
	pm_json_key(&j, "contexts_are");
	pm_json_text(&j, pm_bytes_of(pm_profile_kind_of_tree(p)));
	pm_json_key(&j, "primary_metric");
	pm_json_text(&j, pm_bytes_of(columns->lead));
	r = add_facts(&j, p, err);
	pm_json_close(&j, '}');
	pm_text_char(out, '\n');
	return r < 0 ? r : pm_text_status(out);
}

/* ---- metrics.csv: every metric that can have values, with its column, and every derived column
 * ---- */

/* The column of a metric in any table, or the empty text. */
static const char *column_name(const struct pmfs_columns *c, const struct pm_metric *metric)
{
	uint32_t column = pmfs_column_of(c, metric->id, false);
	if (column == PM_NONE)
		column = pmfs_column_of(c, metric->id, true);
	return column == PM_NONE || c->columns[column].hidden ? "" : c->columns[column].name;
}

static int metrics_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	const struct pm_metrics *metrics;
	const struct pmfs_columns *columns;
	int r = pmfs_model_metrics(m, &metrics, err);
	if (r < 0 || (r = pmfs_model_column_names(m, &columns, err)) < 0)
		return r;
	if (rows->at >= (uint64_t)metrics->n + columns->n_derived)
		return 0;
	if (rows->at >= metrics->n) {
		const struct pmfs_derived *derived = &columns->derived[rows->at++ - metrics->n];
		*cells++ = pm_cell_empty(); /* there are no values of it in values.csv */
		*cells++ = pm_cell_str(derived->name);
		*cells++ = pm_cell_text(derived->unit);
		*cells++ = pm_cell_str("derived");
		*cells++ = pm_cell_text(derived->text);
		return 1;
	}
	const struct pm_metric *metric = &metrics->metrics[rows->at++];
	*cells++ = pm_cell_u64(metric->id);
	*cells++ = pm_cell_str(column_name(columns, metric));
	*cells++ = pm_cell_text(metric->unit);
	*cells++ = pm_cell_text(metric->scope);
	*cells++ = pm_cell_text(metric->name);
	return 1;
}

int pmfs_metrics_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.next = metrics_next, .dense = true};
	static const char *const columns[] = {"metric_id", "column", "unit", "scope", "name", NULL};
	(void)item;
	(void)err;
	*ret = pmfs_table_plain(m, &type, columns);
	return 0;
}

/* ---- damage.csv: parts of the source that could not be read ---- */

static int damage_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(rows->table->self);
	const struct pm_damages *damages;
	int r = pm_profile_damage(p, &damages, err);
	if (r < 0)
		return r;
	if (rows->at >= damages->n)
		return 0;
	const struct pm_damage *damage = &damages->rows[rows->at++];
	pmfs_set_known(cells++, damage->offset, PM_NO_OFFSET);
	pmfs_set_known(cells++, damage->bytes, PM_NO_OFFSET);
	*cells++ = pm_cell_str(damage->file);
	*cells++ = pm_cell_str(damage->what);
	return 1;
}

int pmfs_damage_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.next = damage_next, .dense = true};
	static const char *const columns[] = {"offset", "bytes", "file", "what", NULL};
	(void)item;
	(void)err;
	*ret = pmfs_table_plain(m, &type, columns);
	ret->types = "ii??";
	return 0;
}
