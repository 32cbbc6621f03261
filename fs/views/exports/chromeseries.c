#include "fs/views/exports/chromeseries.h"

#include <stdlib.h>

#include "formats/common/json.h"
#include "formats/common/sort.h"
#include "fs/views/model/tables.h"

/* ---- fields as JSON ---- */

static void write_cell(struct pm_json *j, const struct pm_cell *cell)
{
	struct pm_text text = {.p = NULL};
	switch (cell->kind) {
	case PM_CELL_U64: pm_json_u64(j, cell->u); break;
	case PM_CELL_I64: pm_json_i64(j, cell->i); break;
	case PM_CELL_F64: pm_json_f64(j, cell->f); break;
	case PM_CELL_TEXT: pm_json_text(j, cell->text); break;
	case PM_CELL_EMPTY: pm_json_null(j); break;
	case PM_CELL_HEX:
	case PM_CELL_ID:
		pm_text_str(&text, cell->kind == PM_CELL_HEX ? "0x" : "");
		pm_text_hex(&text, cell->u, cell->kind == PM_CELL_HEX ? 1 : cell->width);
		pm_json_text(j, pm_text_view(&text));
		pm_text_end(&text, j->out);
		break;
	}
}

/* One object with the fields that the row has. */
static void write_fields(
	struct pm_text *out, const struct pm_series *s, const struct pm_cell *cells)
{
	struct pm_json j = {.out = out, .first = true};
	pm_json_open(&j, '{');
	for (uint32_t i = 0; i < s->table.n_columns; i++) {
		if (!s->fields[i] || cells[i].kind == PM_CELL_EMPTY)
			continue;
		pm_json_key(&j, pm_table_column(&s->table, i));
		write_cell(&j, &cells[i]);
	}
	pm_json_close(&j, '}');
}

static int get_series(
	struct pmfs_model *m, const struct pm_series **ret, size_t *ret_n, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	*ret_n = 0;
	return p->ops->series ? p->ops->series(p, ret, ret_n, err) : 0;
}

/* ---- counters and instants ---- */

struct adding {
	struct pmfs_chrome *chrome;
	uint64_t pid, step, n;
};

static void add_event(struct adding *a, const struct pm_series *s, const struct pm_cell *cells)
{
	const struct pm_cell *time = &cells[s->time];
	struct pm_text args = {.p = NULL};
	if (time->kind != PM_CELL_U64 || a->n++ % a->step != 0)
		return;
	write_fields(&args, s, cells);
	if (s->kind == PM_SERIES_COUNTER)
		pmfs_chrome_counter(a->chrome, a->pid, time->u, s->name, pm_text_view(&args));
	else
		pmfs_chrome_instant(a->chrome, a->pid, time->u, s->name, pm_text_view(&args));
	pm_text_end(&args, a->chrome->out);
}

static int add_events(struct adding *a, const struct pm_series *s, struct pm_error *err)
{
	struct pm_rows rows;
	struct pm_cell *cells = calloc(s->table.n_columns + 1, sizeof(*cells));
	if (!cells)
		return pmfs_no_memory(err);
	int r = pm_rows_start(&rows, &s->table, 0, err);
	while (r >= 0 && !a->chrome->out->failed && (r = pm_rows_next(&rows, cells, err)) > 0)
		add_event(a, s, cells);
	pm_rows_done(&rows);
	free(cells);
	return r < 0 ? r : 0;
}

int pmfs_chrome_series_step(struct pmfs_model *m, uint64_t *ret_step, struct pm_error *err)
{
	const struct pm_series *series;
	uint64_t all = 0;
	size_t n;
	int r = get_series(m, &series, &n, err);
	for (size_t i = 0; r == 0 && i < n; i++)
		all += series[i].kind == PM_SERIES_CALLS ? 0 : series[i].n;
	*ret_step = all / PMFS_MOST_SERIES_EVENTS + 1;
	return r;
}

int pmfs_chrome_add_series(struct pmfs_model *m, struct pmfs_chrome *c, uint64_t pid, uint64_t step,
	struct pm_error *err)
{
	const struct pm_series *series;
	struct adding a = {.chrome = c, .pid = pid, .step = step};
	size_t n;
	int r = get_series(m, &series, &n, err);
	for (size_t i = 0; r == 0 && i < n; i++)
		if (series[i].kind != PM_SERIES_CALLS)
			r = add_events(&a, &series[i], err);
	return r;
}

/* ---- fields of calls ---- */

struct place {
	uint64_t seq;
	size_t slice;
};

static int by_seq(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	return (x->seq > y->seq) - (x->seq < y->seq);
}

/* Takes the fields of those calls of the series that are slices. */
static int take_calls(struct pmfs_call_args *a, const struct pm_series *s,
	const struct place *places, size_t n, struct pm_error *err)
{
	struct pm_rows rows;
	struct pm_cell *cells = calloc(s->table.n_columns + 1, sizeof(*cells));
	size_t at = 0;
	if (!cells)
		return pmfs_no_memory(err);
	int r = pm_rows_start(&rows, &s->table, s->table.type->dense && n ? places[0].seq : 0, err);
	while (r >= 0 && at < n && !a->texts.failed && (r = pm_rows_next(&rows, cells, err)) > 0) {
		while (at < n && places[at].seq < cells[s->seq].u)
			at++;
		if (at == n || places[at].seq != cells[s->seq].u)
			continue;
		size_t before = a->texts.len;
		write_fields(&a->texts, s, cells);
		a->of[places[at].slice] = (struct pmfs_call_arg){before, a->texts.len - before};
	}
	pm_rows_done(&rows);
	free(cells);
	return r < 0 ? r : pm_text_status(&a->texts) < 0 ? pmfs_no_memory(err) : 0;
}

int pmfs_call_args_make(struct pmfs_model *m, const struct pmfs_slices *slices,
	struct pmfs_call_args *ret, struct pm_error *err)
{
	const struct pm_series *series;
	bool any = false;
	size_t n;
	*ret = (struct pmfs_call_args){.of = NULL};
	int r = get_series(m, &series, &n, err);
	for (size_t i = 0; r == 0 && i < n; i++)
		any |= series[i].kind == PM_SERIES_CALLS;
	if (r < 0 || !any)
		return r;
	struct place *places = malloc((slices->n + 1) * sizeof(*places));
	ret->of = calloc(slices->n + 1, sizeof(*ret->of));
	if (!places || !ret->of)
		r = pmfs_no_memory(err);
	for (size_t i = 0; r == 0 && i < slices->n; i++)
		places[i] = (struct place){slices->slices[i].seq, i};
	if (r == 0 && pm_sort(places, slices->n, sizeof(*places), by_seq) < 0)
		r = pmfs_no_memory(err);
	for (size_t i = 0; r == 0 && i < n; i++)
		if (series[i].kind == PM_SERIES_CALLS)
			r = take_calls(ret, &series[i], places, slices->n, err);
	free(places);
	return r;
}

void pmfs_call_args_done(struct pmfs_call_args *a)
{
	pm_text_done(&a->texts);
	free(a->of);
	*a = (struct pmfs_call_args){.of = NULL};
}
