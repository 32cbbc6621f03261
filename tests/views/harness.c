#include "harness.h"

#include <string.h>

#include "formats/common/row.h"

const struct pmfs_view *view_named(enum pmfs_place place, const char *name)
{
	uint32_t n;
	const struct pmfs_view *views = pmfs_views(place, &n);
	for (uint32_t i = 0; i < n; i++)
		if (strcmp(views[i].name, name) == 0)
			return &views[i];
	return NULL;
}

static void add_cell(struct pm_text *t, const struct pm_cell *cell)
{
	switch (cell->kind) {
	case PM_CELL_EMPTY: break;
	case PM_CELL_U64: pm_text_u64(t, cell->u); break;
	case PM_CELL_I64: pm_text_i64(t, cell->i); break;
	case PM_CELL_F64: pm_text_f64(t, cell->f); break;
	case PM_CELL_HEX:
		pm_text_str(t, "0x");
		pm_text_hex(t, cell->u, 1);
		break;
	case PM_CELL_ID: pm_text_hex(t, cell->u, cell->width); break;
	case PM_CELL_TEXT: pm_text_bytes(t, cell->text); break;
	}
}

static int add_rows(
	struct pm_text *t, const struct pm_table *table, uint64_t at, struct pm_error *err)
{
	struct pm_rows rows;
	struct pm_cell *cells = calloc(table->n_columns + 1, sizeof(*cells));
	int r = pm_rows_start(&rows, table, at, err);
	while (r >= 0 && (r = pm_rows_next(&rows, cells, err)) > 0) {
		for (uint32_t i = 0; i < table->n_columns; i++) {
			if (i > 0)
				pm_text_char(t, '|');
			add_cell(t, &cells[i]);
		}
		pm_text_char(t, '\n');
	}
	pm_rows_done(&rows);
	free(cells);
	return r;
}

static int get_doc(struct pmfs_model *m, enum pmfs_place place, const char *name, uint32_t item,
	struct pm_doc *doc, struct pm_error *err)
{
	const struct pmfs_view *view = view_named(place, name);
	assert_non_null(view);
	return pmfs_view_doc(view, m, item, PM_NONE, doc, err);
}

static void add_header(struct pm_text *t, const struct pm_table *table)
{
	for (uint32_t i = 0; i < table->n_columns; i++) {
		if (i > 0)
			pm_text_char(t, '|');
		pm_text_str(t, table->columns[i]);
	}
	pm_text_char(t, '\n');
}

char *view_text(struct pmfs_model *m, enum pmfs_place place, const char *name, uint32_t item)
{
	struct pm_error err = {.code = 0};
	struct pm_text t = {.p = NULL};
	struct pm_doc doc;
	int r = get_doc(m, place, name, item, &doc, &err);
	if (r == 0 && doc.kind == PM_DOC_TEXT) {
		r = doc.text.render(&doc, &t, &err);
	} else if (r == 0) {
		assert_true(doc.kind == PM_DOC_CSV || doc.kind == PM_DOC_TSV ||
			doc.kind == PM_DOC_PARQUET);
		add_header(&t, &doc.table);
		r = add_rows(&t, &doc.table, 0, &err);
	}
	if (r < 0) {
		assert_int_equal(err.code, r);
		pm_text_clear(&t);
		pm_text_printf(&t, "!%d", r);
	}
	pm_text_char(&t, '\0');
	assert_int_equal(pm_text_status(&t), 0);
	return t.p;
}

void assert_view(struct pmfs_model *m, enum pmfs_place place, const char *name, uint32_t item,
	const char *want)
{
	char *got = view_text(m, place, name, item);
	assert_string_equal(got, want);
	free(got);
}

void assert_view_of(
	struct fake *f, enum pmfs_place place, const char *name, uint32_t item, const char *want)
{
	struct pmfs_model *m = pmfs_model_new(&f->profile);
	assert_view(m, place, name, item, want);
	views_done(m, f);
}

void views_done(struct pmfs_model *m, struct fake *f)
{
	pmfs_model_free(m);
	fake_free(f);
}

void assert_dense(struct pmfs_model *m, enum pmfs_place place, const char *name, uint32_t item)
{
	struct pm_error err = {.code = 0};
	struct pm_text all = {.p = NULL}, part = {.p = NULL};
	struct pm_doc doc;
	assert_int_equal(get_doc(m, place, name, item, &doc, &err), 0);
	assert_true(doc.table.type->dense);
	assert_int_equal(add_rows(&all, &doc.table, 0, &err), 0);
	for (uint64_t at = 1; at <= doc.table.end + 1; at++) {
		pm_text_clear(&part);
		assert_int_equal(add_rows(&part, &doc.table, at, &err), 0);
		assert_true(part.len <= all.len);
		struct pm_bytes rest = {(const uint8_t *)all.p + (all.len - part.len), part.len};
		assert_true(pm_bytes_equal(rest, pm_text_view(&part)));
		assert_true(part.len == all.len || all.p[all.len - part.len - 1] == '\n');
	}
	assert_int_equal(part.len, 0);
	pm_text_done(&all);
	pm_text_done(&part);
}

static uint64_t bytes_of_rows(const struct pm_table *table, enum pm_form form)
{
	struct pm_rows rows;
	struct pm_error err = {.code = 0};
	struct pm_cell *cells = calloc(table->n_columns + 1, sizeof(*cells));
	uint64_t bytes = 0;
	assert_int_equal(pm_rows_start(&rows, table, 0, &err), 0);
	while (pm_rows_next(&rows, cells, &err) > 0)
		bytes += pm_row_length(form, cells, table->n_columns);
	assert_int_equal(err.code, 0);
	pm_rows_done(&rows);
	free(cells);
	return bytes;
}

void assert_measured(struct pmfs_model *m, enum pmfs_place place, const char *name, uint32_t item)
{
	struct pm_error err = {.code = 0};
	struct pm_rows rows;
	struct pm_doc doc;
	uint64_t bytes = 0;
	assert_int_equal(get_doc(m, place, name, item, &doc, &err), 0);
	enum pm_form form = doc.kind == PM_DOC_CSV ? PM_CSV : PM_TSV;
	assert_int_equal(pm_rows_start(&rows, &doc.table, 0, &err), 0);
	while (doc.table.type->measure(&rows, form, UINT64_MAX, 3, &bytes, &err) > 0)
		continue;
	assert_int_equal(err.code, 0);
	pm_rows_done(&rows);
	assert_int_equal(bytes, bytes_of_rows(&doc.table, form));
}

struct fake *fake_with_time(void)
{
	struct fake *f = fake_new();
	fake_metric(f, PM_ROLE_INCLUSIVE, 0, "time", "ns");
	fake_metric(f, PM_ROLE_EXCLUSIVE, 0, "time", "ns");
	return f;
}

struct fake *fake_with_two_threads(void)
{
	struct fake *f = fake_with_time();
	fake_thread(f, 0, 1);
	fake_thread(f, 3, 0);
	f->span.origin_ns = 1000;
	f->span.duration_ns = 500;
	uint32_t main_ = fake_function(f, "main", "/src/a.c", 1);
	uint32_t a = fake_function(f, "a", NULL, 0);
	fake_call(f, 1, 0, main_);
	fake_call(f, 2, 1, a);
	fake_value(f, 0, 99, 1, 5);
	fake_value(f, 0, 2, 2, 6);
	fake_value(f, 0, 2, 1, 7);
	fake_value(f, 0, 1, 1, 10);
	fake_value(f, 1, 1, 1, 30);
	fake_value(f, 1, 1, 2, 30);
	return f;
}
