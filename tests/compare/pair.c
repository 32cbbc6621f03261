#include "pair.h"

#include <string.h>

#include "formats/common/text.h"

struct fake *run_new(void)
{
	struct fake *f = fake_new();
	fake_metric(f, PM_ROLE_INCLUSIVE, 0, "time", "ns");
	fake_metric(f, PM_ROLE_EXCLUSIVE, 0, "time", "ns");
	fake_thread(f, 0, 0);
	f->profile.has_lines = f->profile.has_files = f->profile.has_modules = true;
	return f;
}

static void add_costs(struct fake *f, uint32_t number, const double costs[2])
{
	fake_value(f, 0, number, 2, costs[0]);
	fake_value(f, 0, number, 1, costs[1]);
}

void run_call(struct fake *f, uint32_t number, uint32_t parent, const char *name, const char *file,
	const double costs[2])
{
	fake_call(f, number, parent, fake_function(f, name, file, 10));
	add_costs(f, number, costs);
}

void run_line(struct fake *f, uint32_t number, uint32_t parent, const char *file, uint32_t line,
	const double costs[2])
{
	fake_line(f, number, parent, file, line);
	add_costs(f, number, costs);
}

static int acquire(void *self, uint32_t run, struct pmfs_model **ret, struct pm_error *err)
{
	struct pair *p = self;
	if (!p->models[run])
		return pm_error_set(err, -EINVAL, NULL, PM_NO_OFFSET, "broken on purpose");
	__atomic_add_fetch(&p->held, 1, __ATOMIC_RELAXED);
	*ret = p->models[run];
	return 0;
}

static void release(void *self, uint32_t run)
{
	struct pair *p = self;
	(void)run;
	__atomic_sub_fetch(&p->held, 1, __ATOMIC_RELAXED);
}

void pair_open(struct pair *p, uint32_t n_base, uint32_t n_runs, struct fake *const *runs)
{
	for (uint32_t i = 0; i < n_base + n_runs; i++) {
		p->numbers[i] = i;
		p->fakes[i] = runs[i];
		p->models[i] = runs[i] ? pmfs_model_new(&runs[i]->profile) : NULL;
	}
	p->of.lender = (struct pmfs_lender){acquire, release, p};
	p->of.base_name = "old";
	p->of.name = "new";
	p->of.base = p->numbers;
	p->of.runs = p->numbers + n_base;
	p->of.n_base = n_base;
	p->of.n_runs = n_runs;
	assert_int_equal(pmfs_compare_new(&p->of, &p->profile, NULL), 0);
}

void pair_close(struct pair *p)
{
	assert_int_equal(p->held, 0);
	p->profile->ops->close(p->profile);
	for (uint32_t i = 0; i < MOST_RUNS; i++) {
		pmfs_model_free(p->models[i]);
		if (p->fakes[i])
			fake_free(p->fakes[i]);
	}
}

/* ---- documents as text ---- */

static void add_cell(struct pm_text *t, const struct pm_cell *cell)
{
	if (cell->kind == PM_CELL_U64)
		pm_text_u64(t, cell->u);
	else if (cell->kind == PM_CELL_F64)
		pm_text_f64(t, cell->f);
	else if (cell->kind == PM_CELL_TEXT)
		pm_text_bytes(t, cell->text);
	else
		assert_int_equal(cell->kind, PM_CELL_EMPTY);
}

static void add_table(struct pm_text *t, struct pm_table table)
{
	struct pm_error err = {.code = 0};
	struct pm_rows rows;
	if (table.type->columns)
		assert_int_equal(table.type->columns(&table, &err), 0);
	struct pm_cell *cells = calloc(table.n_columns + 1, sizeof(*cells));
	for (uint32_t i = 0; i < table.n_columns; i++)
		pm_text_printf(t, "%s%s", i ? "|" : "", table.columns[i]);
	pm_text_char(t, '\n');
	assert_int_equal(pm_rows_start(&rows, &table, 0, &err), 0);
	while (pm_rows_next(&rows, cells, &err) > 0) {
		for (uint32_t i = 0; i < table.n_columns; i++) {
			if (i > 0)
				pm_text_char(t, '|');
			add_cell(t, &cells[i]);
		}
		pm_text_char(t, '\n');
	}
	assert_int_equal(err.code, 0);
	pm_rows_done(&rows);
	free(cells);
}

char *pair_text(struct pair *p, const char *path)
{
	struct pm_error err = {.code = 0};
	struct pm_text t = {.p = NULL};
	const struct pm_named_doc *docs, *doc = NULL;
	size_t n;
	assert_int_equal(pm_profile_documents(p->profile, &docs, &n, &err), 0);
	for (size_t i = 0; i < n; i++)
		if (strcmp(docs[i].path, path) == 0)
			doc = &docs[i];
	if (!doc)
		pm_text_str(&t, "!none");
	else if (doc->doc.kind == PM_DOC_TEXT)
		assert_int_equal(doc->doc.text.render(&doc->doc, &t, &err), 0);
	else
		add_table(&t, doc->doc.table);
	pm_text_char(&t, '\0');
	assert_int_equal(pm_text_status(&t), 0);
	return t.p;
}

void assert_pair(struct pair *p, const char *path, const char *want)
{
	char *got = pair_text(p, path);
	assert_string_equal(got, want);
	free(got);
}
