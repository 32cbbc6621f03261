/*
 * Numbers in calls that are quantities of their own (-o values): the walk over a thread's calls
 * adds them up by path; here they get contexts and inclusive sums. With them all costs are kept in
 * one list (pm_costs), so that the values of a context come one after the other.
 */
#include <errno.h>
#include <math.h>

#include "formats/common/list.h"
#include "formats/common/quantity.h"
#include "formats/common/search.h"
#include "formats/common/slug.h"
#include "formats/htdump/htdump.h"

enum {
	METRICS_OF_FIELD = 2, /* inclusive, own */
	MOST_METRICS = PM_CALLS_N_METRICS + METRICS_OF_FIELD * PM_LIMIT_COUNTER_FIELDS,
	MOST_SHOWN = 32,
	BATCH = 3 * 256,
};

/* ---- what is asked for ---- */

void htd_wanted_init(
	struct pm_arena *a, struct htd_wanted *w, const char *fields, struct pm_error *err)
{
	w->names = pm_strtab_in(a);
	pm_build_check(a, pm_quantity_fields(fields, &w->names, err));
	w->n = w->names.n;
	uint32_t n_metrics = PM_CALLS_N_METRICS + METRICS_OF_FIELD * w->n;
	struct pm_metric *list = pm_arena_array(a, n_metrics, sizeof(*list));
	struct pm_text text = {.arena = a};
	w->columns = pm_arena_array(a, METRICS_OF_FIELD * (size_t)w->n, sizeof(*w->columns));
	w->events = pm_arena_array(a, w->n, sizeof(*w->events));
	memcpy(list, pm_callcosts_metrics.metrics, PM_CALLS_N_METRICS * sizeof(*list));
	for (uint32_t i = PM_CALLS_N_METRICS; i < n_metrics; i++) {
		bool own = (i - PM_CALLS_N_METRICS) % METRICS_OF_FIELD;
		uint32_t field = (i - PM_CALLS_N_METRICS) / METRICS_OF_FIELD;
		/* Groups are behind those of time and calls. */
		w->events[field] = (struct pm_event){
			.name = w->names.items[field], .weights = 2 + field, .samples = PM_NONE};
		list[i] = (struct pm_metric){.id = i,
			.group = 2 + field,
			.role = own ? PM_ROLE_EXCLUSIVE : PM_ROLE_INCLUSIVE,
			.in_tree = true,
			.in_flat = true,
			.has_values = true,
			.name = w->names.items[field],
			.scope = pm_bytes_of(own ? "exclusive" : "inclusive")};
		struct pm_bytes slug = pm_metric_slug(&text, &list[i]);
		w->columns[i - PM_CALLS_N_METRICS] = pm_arena_printf(
			a, "%.*s%s", (int)slug.len, (const char *)slug.p, own ? "_excl" : "_incl");
	}
	w->metrics = (struct pm_metrics){.n = n_metrics, .metrics = list};
}

void htd_wanted_check(struct pm_arena *a, const struct htd_wanted *w, const struct htd_stream *s,
	const char *file, struct pm_error *err)
{
	struct pm_strtab there = pm_strtab_in(a);
	struct pm_text known = {.arena = a};
	uint32_t lacks = 0;
	for (size_t i = 0; i < s->table.n_klasses; i++) {
		const struct htd_klass *k = &s->table.klasses[i];
		for (uint32_t c = 0; htd_is_call_class(k) && c < k->n_columns; c++) {
			const struct htd_flat *f = k->columns[c].field;
			if (k->events.n_events > 0 && htd_is_number(f))
				pm_strtab_add(&there, f->name);
		}
	}
	while (lacks < w->n && pm_strtab_find(&there, w->names.items[lacks]) != PM_NONE)
		lacks++;
	if (lacks == w->n)
		return;
	for (uint32_t i = 0; i < there.n && i < MOST_SHOWN; i++) {
		pm_text_str(&known, i ? ", " : "");
		pm_text_bytes(&known, there.items[i]);
	}
	pm_build_check(a,
		pm_error_set(err, -EINVAL, file, PM_NO_OFFSET,
			"no call has a number `%.*s`, for -o values; there are: %.*s",
			(int)w->names.items[lacks].len, (const char *)w->names.items[lacks].p,
			known.len ? (int)known.len : 4, known.len ? known.p : "none"));
}

/* ---- sums ---- */

void htd_amount_add(struct pm_amount *to, const struct pm_amount *more)
{
	if (!more->known)
		return;
	if (!to->known) {
		*to = *more;
		return;
	}
	int64_t sum;
	if (!to->real && !more->real && !__builtin_add_overflow(to->i, more->i, &sum)) {
		to->i = sum;
		return;
	}
	to->f = (to->real ? to->f : (double)to->i) + (more->real ? more->f : (double)more->i);
	to->real = true;
}

struct pm_cell htd_amount_cell(const struct pm_amount *a)
{
	return !a->known ? pm_cell_empty() : a->real ? pm_cell_f64(a->f) : pm_cell_i64(a->i);
}

static struct pm_amount amount_of(const struct pm_cell *cell)
{
	struct pm_amount a = {.known = true};
	if (cell->kind == PM_CELL_I64 || (cell->kind == PM_CELL_U64 && cell->u <= INT64_MAX)) {
		a.i = cell->i;
		return a;
	}
	a.real = true;
	a.f = cell->kind == PM_CELL_U64 ? (double)cell->u : cell->f;
	a.known = cell->kind == PM_CELL_U64 || (cell->kind == PM_CELL_F64 && isfinite(cell->f));
	return a;
}

void htd_amounts_read(const struct htd_wanted *w, struct htd_wanted_places *places,
	const struct htd_event *e, struct pm_amount *ret)
{
	const struct htd_plan *plan = e->plan;
	if (places->plan != plan) {
		places->plan = plan;
		for (uint32_t i = 0; i < w->n; i++)
			places->at[i] = HTD_NONE;
		for (uint32_t i = 0; i < plan->n; i++) {
			uint32_t field = htd_is_number(&plan->fields[i])
				? pm_strtab_find(&w->names, plan->fields[i].name)
				: PM_NONE;
			if (field != PM_NONE)
				places->at[field] = i;
		}
	}
	for (uint32_t i = 0; i < w->n; i++) {
		ret[i] = (struct pm_amount){.known = false};
		if (places->at[i] == HTD_NONE)
			continue;
		struct pm_cell cell = htd_event_cell(e, places->at[i]);
		ret[i] = amount_of(&cell);
	}
}

void htd_amounts_take(struct pm_arena *a, struct htd_path_amounts *to, uint32_t n, uint32_t thread,
	uint32_t rank, const struct pm_amount *of_path)
{
	for (uint32_t i = 0; i < n; i++) {
		if (!of_path[i].known)
			continue;
		pm_list_grow(a, &to->items, to->n, &to->room, sizeof(*to->items));
		to->items[to->n++] = (struct htd_path_amount){thread, rank, i, of_path[i]};
	}
}

/* ---- all costs of all threads ---- */

/* A thread's contexts, callers first, and its sums for each: inclusive, own, of each field. */
struct gathered {
	struct pm_arena *a;
	const struct htd_calls *c;
	uint32_t n;
	size_t room, sum_room;
	uint32_t *contexts;
	struct pm_amount *sums;
};

static struct pm_amount *sums_of(const struct gathered *g, uint32_t at)
{
	return g->sums + (size_t)at * METRICS_OF_FIELD * g->c->wanted->n;
}

static uint32_t place_of(const struct gathered *g, uint32_t context)
{
	return (uint32_t)PM_LOWER_BOUND(i, (size_t)0, g->n, g->contexts[i] < context);
}

static void list_contexts(struct gathered *g, uint32_t thread)
{
	size_t size = METRICS_OF_FIELD * g->c->wanted->n * sizeof(*g->sums);
	struct pm_value batch[BATCH];
	int64_t n;
	g->n = 0;
	for (uint64_t at = 0;
		(n = pm_callcosts_values(&g->c->costs,
			 (struct pm_values_of){PM_OF_THREAD, thread, false}, at, batch, BATCH)) > 0;
		at += (uint64_t)n)
		for (int64_t i = 0; i < n; i++) {
			if (batch[i].metric != PM_CALLS_CALLS)
				continue;
			pm_list_grow(g->a, &g->contexts, g->n, &g->room, sizeof(*g->contexts));
			pm_list_grow(g->a, &g->sums, g->n, &g->sum_room, size);
			memset(sums_of(g, g->n), 0, size);
			g->contexts[g->n++] = (uint32_t)batch[i].context - 1;
		}
	pm_build_proceed(g->a);
}

/* `first` is the thread's first amount, and becomes that of the next. */
static void gather(struct gathered *g, const struct htd_path_amounts *from, const uint32_t *index,
	uint32_t thread, size_t *first)
{
	const struct htd_calls *c = g->c;
	uint32_t n = c->wanted->n;
	list_contexts(g, thread);
	for (; *first < from->n && from->items[*first].thread == thread; ++*first) {
		const struct htd_path_amount *a = &from->items[*first];
		struct pm_amount *sums = sums_of(g, place_of(g, index[a->rank]));
		for (unsigned k = 0; k < METRICS_OF_FIELD; k++)
			htd_amount_add(&sums[METRICS_OF_FIELD * a->field + k], &a->amount);
	}
	for (uint32_t i = g->n; i-- > 0;) {
		uint32_t parent = c->tree->parent[g->contexts[i]];
		for (uint32_t k = 0; parent != PM_NONE && k < n; k++)
			htd_amount_add(&sums_of(g, place_of(g, parent))[METRICS_OF_FIELD * k],
				&sums_of(g, i)[METRICS_OF_FIELD * k]);
	}
}

/* Announces the sums of a thread (`expects`), or adds them. */
static void pour(struct htd_calls *c, uint32_t thread, const struct gathered *g, bool expects)
{
	for (uint32_t i = 0; i < g->n; i++)
		for (uint32_t k = 0; k < METRICS_OF_FIELD * c->wanted->n; k++) {
			const struct pm_amount *sum = &sums_of(g, i)[k];
			uint32_t metric = PM_CALLS_N_METRICS + k;
			if (!sum->known)
				continue;
			if (expects)
				pm_costs_expect(&c->all, g->contexts[i]);
			else if (sum->real)
				pm_costs_add(&c->all, thread, g->contexts[i], metric, sum->f);
			else
				pm_costs_add_whole(&c->all, thread, g->contexts[i], metric, sum->i);
		}
}

void htd_amounts_freeze(struct pm_arena *scratch, struct htd_calls *c,
	const struct htd_path_amounts *from, const uint32_t *index)
{
	struct gathered g = {.a = scratch, .c = c};
	uint32_t n_threads = (uint32_t)c->s->n_threads;
	c->all = pm_costs_in(c->costs.arena, n_threads, c->tree->n_contexts);
	for (unsigned pass = 0; pass < 2; pass++) {
		size_t first = 0;
		if (pass == 1)
			pm_costs_place(&c->all);
		pm_callcosts_pour(&c->costs, n_threads, &c->all, pass == 0);
		for (uint32_t i = 0; i < n_threads; i++) {
			gather(&g, from, index, i, &first);
			pour(c, i, &g, pass == 0);
		}
	}
	pm_costs_freeze(&c->all);
}

/* ---- reading ---- */

/* Of a context on all threads: by metric. */
static void sum_up(const struct htd_calls *c, uint32_t context, struct pm_amount *sums)
{
	struct pm_value batch[64];
	uint32_t n_metrics = c->wanted->metrics.n;
	int64_t n;
	memset(sums, 0, n_metrics * sizeof(*sums));
	for (uint64_t at = 0; (n = pm_costs_of_context(&c->all, context, at, batch, 64)) > 0;
		at += (uint64_t)n)
		for (int64_t i = 0; i < n; i++) {
			struct pm_amount more = {.known = true, .real = !batch[i].whole};
			if (more.real)
				more.f = batch[i].f;
			else
				more.i = batch[i].i;
			htd_amount_add(&sums[batch[i].metric], &more);
		}
}

void htd_amounts_of_label(struct htd_calls *c, uint32_t label, uint32_t context, bool outermost)
{
	struct pm_amount sums[MOST_METRICS];
	uint32_t n = METRICS_OF_FIELD * c->wanted->n;
	sum_up(c, context, sums);
	for (uint32_t k = outermost ? 0 : 1; k < n; k += outermost ? 1 : METRICS_OF_FIELD)
		htd_amount_add(&c->of_labels[(size_t)label * n + k], &sums[PM_CALLS_N_METRICS + k]);
}

int64_t htd_all_of_run(
	const struct htd_calls *c, uint32_t context, struct pm_value *ret, size_t room)
{
	struct pm_amount sums[MOST_METRICS];
	uint32_t n_metrics = c->wanted->metrics.n;
	size_t filled = 0;
	sum_up(c, context, sums);
	for (uint32_t i = 0; i < n_metrics && filled < room; i++)
		if (sums[i].known) {
			struct pm_value *v = &ret[filled++];
			*v = (struct pm_value){.context = (uint64_t)context + 1,
				.metric = i,
				.thread = PM_NONE,
				.whole = !sums[i].real,
				.negative = !sums[i].real && sums[i].i < 0};
			if (v->whole)
				v->i = sums[i].i;
			else
				v->f = sums[i].f;
		}
	return (int64_t)filled;
}
