/*
 * What all tables of a comparison are made of: its parts, its runs, and their columns. Columns
 * of different runs are matched by name: names are stems with units, so the formats need not be
 * the same.
 */
#include "fs/compare/internal.h"

#include <math.h>
#include <string.h>

#include "formats/common/crew.h"
#include "formats/common/list.h"
#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "fs/views/model/catalog.h"
#include "fs/views/sums/totals.h"

/*
 * Two runs that are about to be read one after the other: prepared on two processors, and in use
 * until they are returned. Other fields are zeroed.
 */
struct borrowed {
	struct pmfs_compare *compare;
	pmfs_prepare_fn *prepare;
	void *self;
	const struct pmfs_compared_run *runs[2]; /* NULL: none */
	bool held[2];
};

/* ---- parts, which are built once ---- */

struct part_build {
	struct pmfs_compare *compare;
	enum pmfs_compare_part which;
	pmfs_compare_part_fn *build;
	struct pm_error *err;
};

static void build_part(void *context)
{
	const struct part_build *b = context;
	struct pmfs_compare *c = b->compare;
	c->parts[b->which].built = b->build(&c->parts[b->which].arena, c, b->which, b->err);
}

static int try_part(void *context, struct pm_error *err)
{
	struct part_build *b = context;
	struct pm_arena *a = &b->compare->parts[b->which].arena;
	b->err = err;
	int r = pm_build(a, build_part, b);
	if (r < 0)
		pm_arena_done(a);
	__atomic_add_fetch(&b->compare->bytes, a->total, __ATOMIC_RELAXED);
	return r;
}

int pmfs_compare_get(struct pmfs_compare *c, enum pmfs_compare_part which,
	pmfs_compare_part_fn *build, void *ret, struct pm_error *err)
{
	struct part_build b = {.compare = c, .which = which, .build = build};
	int r = pm_lazy_get(&c->parts[which].lazy, try_part, &b, err);
	void *built = r < 0 ? NULL : c->parts[which].built;
	memcpy(ret, &built, sizeof(built));
	return r;
}

/*
 * ---- runs in use ----
 *
 * Most of the time of a comparison is spent reading the runs. Their models keep what has been
 * read, so two runs at a time are read on two processors.
 */

int pmfs_compare_acquire(struct pmfs_compare *c, const struct pmfs_compared_run *run,
	struct pmfs_model **ret, struct pm_error *err)
{
	return c->of.lender.acquire(c->of.lender.self, run->number, ret, err);
}

void pmfs_compare_release(struct pmfs_compare *c, const struct pmfs_compared_run *run)
{
	c->of.lender.release(c->of.lender.self, run->number);
}

static int prepare_run(void *context, size_t i)
{
	struct borrowed *two = context;
	struct pm_error error = {.offset = PM_NO_OFFSET};
	struct pmfs_model *m;
	if (!two->runs[i] || pmfs_compare_acquire(two->compare, two->runs[i], &m, &error) < 0)
		return 0;
	two->held[i] = true;
	(void)two->prepare(two->self, m, &error);
	return 0;
}

/* The second run may be NULL. */
static void borrow(struct borrowed *two, const struct pmfs_compared_run *first,
	const struct pmfs_compared_run *second)
{
	two->runs[0] = first;
	two->runs[1] = second;
	(void)pm_crew_each(2, prepare_run, two);
}

/* May be called twice. */
static void pmfs_return(struct borrowed *two)
{
	for (unsigned i = 0; i < 2; i++) {
		if (two->held[i])
			pmfs_compare_release(two->compare, two->runs[i]);
		two->held[i] = false;
	}
}

static const struct pmfs_compared_run *next_run(const struct pmfs_costs *costs, uint32_t *i)
{
	while (*i < costs->n_runs && costs->runs[*i].broken)
		++*i;
	return *i < costs->n_runs ? &costs->runs[*i] : NULL;
}

struct run_read {
	struct pmfs_reader reader;
	void *self;
	uint32_t run;
	struct pmfs_model *m;
	struct pm_error *err;
};

static void read_run(void *context)
{
	const struct run_read *r = context;
	r->reader.read(r->self, r->run, r->m, r->err);
}

void pmfs_compare_read(struct pm_arena *a, struct pmfs_compare *c, const struct pmfs_costs *costs,
	struct pmfs_reader reader, void *self, struct pm_error *err)
{
	struct borrowed two = {.compare = c, .prepare = reader.prepare, .self = self};
	const struct pmfs_compared_run *run;
	int r = 0;
	for (uint32_t i = 0, n = 0; r == 0 && (run = next_run(costs, &i)); i++, n++) {
		uint32_t second = i + 1;
		struct run_read read = {reader, self, i, NULL, err};
		if (reader.prepare && n % 2 == 0) {
			pmfs_return(&two);
			borrow(&two, run, next_run(costs, &second));
		}
		r = pmfs_compare_acquire(c, run, &read.m, err);
		if (r < 0)
			break;
		r = pm_build(a, read_run, &read);
		pmfs_compare_release(c, run);
	}
	pmfs_return(&two);
	pm_build_check(a, r);
}

/* ---- the cost columns of all tables: names and cells ---- */

double pmfs_ratio(double base, double value)
{
	if (base == value)
		return 1;
	return base != 0 ? value / base : NAN;
}

/* ---- names ---- */

struct header {
	struct pm_arena *arena;
	const char **names;
	uint32_t n;
};

static void add(struct header *h, const char *name, const char *suffix)
{
	h->names[h->n++] = pm_arena_printf(h->arena, "%s%s", name, suffix);
}

static bool is_count(const struct pmfs_cost *cost)
{
	return cost->role == PM_ROLE_COUNT;
}

/* Shares have their own names, because they have no unit. */
static const char *name_of(
	const struct pmfs_costs *costs, const struct pmfs_cost *cost, struct pm_arena *arena)
{
	const char *part = cost->role == PM_ROLE_INCLUSIVE ? "_incl" : "";
	if (!costs->shares || is_count(cost))
		return cost->name;
	if (cost->quantity == 0)
		return pm_arena_printf(arena, "share%s", part);
	return pm_arena_printf(arena, "%s_share%s", cost->stem, part);
}

static bool has_ratio(const struct pmfs_costs *costs, const struct pmfs_cost *cost)
{
	return !is_count(cost) && !costs->shares;
}

/* The columns before and after those of the costs; lists end with NULL. */
static const char *const nothing[] = {NULL};
static const char *const lines_before[] = {"line_base", "line", NULL};
static const char *const contexts_before[] = {"context_id", "parent_id", "depth", NULL};
static const char *const functions_after[] = {
	"p", "q", "matched", "only_in", "module", "file", "name", NULL};
static const char *const lines_after[] = {"p", "q", "matched", "only_in", "file", "name", NULL};
static const char *const modules_after[] = {"p", "q", "matched", "only_in", "module", NULL};
static const char *const files_after[] = {"p", "q", "matched", "only_in", "file", NULL};
static const char *const categories_after[] = {"p", "q", "matched", "only_in", "category", NULL};
static const char *const callers_after[] = {
	"p", "q", "matched", "only_in", "caller", "callee", NULL};
static const char *const gpu_after[] = {
	"p", "q", "matched", "only_in", "operation", "module", "kernel", NULL};
static const char *const contexts_after[] = {
	"line_base", "line", "kind", "only_in", "file", "name", NULL};

static const struct {
	const char *const *before, *const *after;
} around[PMFS_COMPARE_N_PARTS] = {
	[PMFS_COMPARE_FUNCTIONS] = {nothing, functions_after},
	[PMFS_COMPARE_LINES] = {lines_before, lines_after},
	[PMFS_COMPARE_MODULES] = {nothing, modules_after},
	[PMFS_COMPARE_FILES] = {nothing, files_after},
	[PMFS_COMPARE_CATEGORIES] = {nothing, categories_after},
	[PMFS_COMPARE_CALLERS] = {nothing, callers_after},
	[PMFS_COMPARE_GPU] = {nothing, gpu_after},
	[PMFS_COMPARE_UNION] = {contexts_before, contexts_after},
};

enum { MOST_AROUND = 16, MOST_OF_COST = 6 };

static void add_cost(struct header *h, const struct pmfs_costs *costs, const struct pmfs_cost *cost)
{
	const char *name = name_of(costs, cost, h->arena);
	bool repeated = pmfs_compare_repeated(costs);
	add(h, name, "_base");
	if (repeated)
		add(h, name, "_base_stddev");
	add(h, name, "");
	if (repeated)
		add(h, name, "_stddev");
	add(h, name, "_diff");
	if (has_ratio(costs, cost))
		add(h, name, "_ratio");
}

void pmfs_compare_header(struct pm_arena *a, struct pmfs_costs *costs, enum pmfs_compare_part which)
{
	static const char *const ends[PMFS_DERIVED_CELLS] = {"_base", "", "_diff", "_ratio"};
	struct header h = {.arena = a};
	h.names = pm_arena_array(a,
		(size_t)costs->n_shown * MOST_OF_COST +
			(size_t)costs->n_derived * PMFS_DERIVED_CELLS + MOST_AROUND,
		sizeof(char *));
	for (const char *const *name = around[which].before; *name; name++)
		h.names[h.n++] = *name;
	for (uint32_t i = 0; i < costs->n_shown; i++)
		add_cost(&h, costs, &costs->costs[i]);
	for (uint32_t i = 0; i < costs->n_derived; i++)
		for (unsigned k = 0; k < PMFS_DERIVED_CELLS; k++)
			add(&h, costs->derived[i].name, ends[k]);
	for (const char *const *name = around[which].after; *name; name++)
		h.names[h.n++] = *name;
	costs->columns[which] = h.names;
	costs->n_columns[which] = h.n;
}

/* ---- cells ---- */

struct pm_cell *pmfs_pair_cells(const struct pmfs_costs *costs, uint32_t cost,
	const struct pmfs_pair *pair, struct pm_cell *cells)
{
	const struct pmfs_cost *k = &costs->costs[cost];
	bool both = k->has[PMFS_BASE] && k->has[PMFS_OTHER];
	pm_number base = k->has[PMFS_BASE] ? pair->value[PMFS_BASE] : NAN;
	pm_number value = k->has[PMFS_OTHER] ? pair->value[PMFS_OTHER] : NAN;
	for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
		pm_number mean = side == PMFS_BASE ? base : value;
		*cells++ = pmfs_cell(mean);
		if (pmfs_compare_repeated(costs))
			*cells++ = pmfs_cell(isnan(mean) ? NAN : pair->stddev[side]);
	}
	/* Sums in another order differ in their last digits; counts are exact. */
	if (fabsl(value - base) <= fabsl(base) * 0x1p-40L &&
		(truncl(base) != base || truncl(value) != value))
		value = base;
	pm_number diff = (isnan(value) ? 0 : value) - (isnan(base) ? 0 : base);
	*cells++ = pmfs_cell(both ? diff : NAN);
	if (has_ratio(costs, k))
		*cells++ = pmfs_cell(isnan(base) || isnan(value) ? NAN : pmfs_ratio(base, value));
	return cells;
}

/* ---- columns of the runs, matched by name ---- */

struct building {
	struct pm_arena *a, *scratch; /* of the costs; while they are built */
	struct pmfs_compare *compare;
	struct pmfs_costs *costs;
	struct pm_strtab names, stems; /* index of the cost; of the quantity */
	size_t room, room_derived;
};

pm_number pmfs_compare_value(const struct pmfs_costs *costs, const struct pmfs_compared_run *run,
	uint32_t cost, pm_number value)
{
	if (!costs->shares || costs->costs[cost].role == PM_ROLE_COUNT)
		return value;
	double whole = run->whole[costs->costs[cost].quantity];
	return whole != 0 ? value / whole : NAN;
}

const struct pmfs_cost *pmfs_quantity_cost(const struct pmfs_costs *costs, uint32_t quantity)
{
	uint32_t i = PM_LOWER_BOUND(k, 0, costs->n, costs->costs[k].quantity < quantity);
	return &costs->costs[i];
}

bool pmfs_quantity_has(const struct pmfs_costs *costs, uint32_t quantity, enum pmfs_side side)
{
	const struct pmfs_cost *cost = pmfs_quantity_cost(costs, quantity);
	const struct pmfs_cost *end = costs->costs + costs->n;
	while (cost < end && cost->quantity == quantity && !cost->has[side])
		cost++;
	return cost < end && cost->quantity == quantity;
}

/* ---- columns ---- */

static const char *copy(struct building *b, const char *text)
{
	return pm_arena_printf(b->a, "%s", text);
}

static uint32_t add_column(
	struct building *b, const struct pmfs_column *column, enum pmfs_side side)
{
	struct pmfs_costs *k = b->costs;
	uint32_t at = pm_strtab_add(&b->names, pm_bytes_of(column->name));
	if (at == k->n) {
		const struct pm_metric *metric = column->flat ? column->flat : column->tree;
		pm_list_grow(b->scratch, &k->costs, k->n, &b->room, sizeof(*k->costs));
		k->costs[k->n++] = (struct pmfs_cost){
			.name = copy(b, column->name),
			.stem = copy(b, column->base),
			.export = copy(b, column->export),
			.export_scale = column->export_scale,
			.role = column->role,
			.hidden = true,
			.quantity = pm_strtab_add(&b->stems, pm_bytes_of(column->base)),
			.metric = pm_arena_copy(b->a, metric->name),
			.unit = pm_arena_copy(b->a, metric->unit),
		};
	}
	k->costs[at].n_having[side]++;
	k->costs[at].hidden &= column->hidden;
	return at;
}

static uint32_t find_derived(const struct pmfs_costs *k, const char *name)
{
	uint32_t i = 0;
	while (i < k->n_derived && strcmp(k->derived[i].name, name) != 0)
		i++;
	return i < k->n_derived ? i : PM_NONE;
}

/* A derived column of a run, whose columns are costs by now. */
static void add_derived(struct building *b, const struct pmfs_compared_run *run,
	const struct pmfs_columns *c, const struct pmfs_derived *derived)
{
	struct pmfs_costs *k = b->costs;
	uint32_t n = derived->formula.n;
	if (find_derived(k, derived->name) != PM_NONE)
		return;
	pm_list_grow(b->a, &k->derived, k->n_derived, &b->room_derived, sizeof(*k->derived));
	struct pm_op *ops = pm_arena_array(b->a, n, sizeof(*ops));
	k->derived[k->n_derived] = (struct pmfs_compared_derived){
		copy(b, derived->name), copy(b, derived->base), {n, ops}};
	for (uint32_t i = 0; i < n; i++) {
		ops[i] = derived->formula.ops[i];
		if (ops[i].kind != PM_OP_NAME)
			continue;
		uint32_t leaf = ops[i].leaf, of = PM_NONE;
		if (leaf < c->n)
			of = run->cost[leaf];
		else
			of = find_derived(k, c->derived[leaf - c->n].name) | PMFS_LEAF_DERIVED;
		if (of == PM_NONE)
			return;
		ops[i].leaf = of;
	}
	k->n_derived++;
}

/* A view where operations are metrics of functions, else a table of the format's own. */
int pmfs_compare_gpu_table(struct pmfs_model *m, struct pm_table *ret, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	const struct pm_named_doc *docs;
	size_t n = 0;
	*ret = (struct pm_table){.type = NULL};
	int r = pmfs_has_gpu(m, 0, err);
	if (r != 0)
		return r < 0 ? r : pmfs_gpu_table(m, 0, ret, err);
	r = pm_profile_documents(p, &docs, &n, err);
	for (size_t i = 0; r == 0 && i < n; i++)
		if (strcmp(docs[i].path, "gpu.csv") == 0 && docs[i].doc.kind == PM_DOC_CSV)
			*ret = docs[i].doc.table;
	return r;
}

/* The data that the runs are read for first: without it, they are left out. */
static int prepare(void *self, struct pmfs_model *m, struct pm_error *err)
{
	const struct pmfs_columns *columns;
	const struct pmfs_totals *totals;
	(void)self;
	int r = pmfs_model_columns(m, &columns, err);
	return r < 0 ? r : pmfs_totals(m, &totals, err);
}

static void add_run(void *self, uint32_t i, struct pmfs_model *m, struct pm_error *err)
{
	struct building *b = self;
	struct pmfs_compared_run *run = &b->costs->runs[i];
	const struct pmfs_columns *columns;
	const struct pm_profile *p = pmfs_model_profile(m);
	struct pm_table gpu;
	pm_build_check(b->a, prepare(NULL, m, err));
	pm_build_check(b->a, pmfs_model_columns(m, &columns, err));
	pm_build_check(b->a, pmfs_compare_gpu_table(m, &gpu, err));
	run->cost = pm_arena_array(b->a, columns->n + 1, sizeof(*run->cost));
	run->n_columns = columns->n;
	for (i = 0; i < columns->n; i++)
		run->cost[i] = add_column(b, &columns->columns[i], run->side);
	for (i = 0; i < columns->n_derived && !b->costs->shares; i++)
		add_derived(b, run, columns, &columns->derived[i]);
	b->costs->n_self += columns->n_self > 0;
	b->costs->has_lines &= p->has_lines;
	b->costs->has_files &= p->has_files;
	b->costs->has_gpu &= gpu.type != NULL;
	b->costs->has_modules &= p->has_modules || p->module_end;
	b->costs->n_good[run->side]++;
}

/* A run with a permanent failure is left out. 0 or -ENOMEM. */
static int try_run(struct building *b, struct pmfs_compared_run *run)
{
	struct pm_error why = {.offset = PM_NO_OFFSET};
	struct run_read read = {{NULL, add_run}, b, (uint32_t)(run - b->costs->runs), NULL, &why};
	int r = pmfs_compare_acquire(b->compare, run, &read.m, &why);
	if (r == 0) {
		r = pm_build(b->a, read_run, &read);
		pmfs_compare_release(b->compare, run);
	}
	if (pm_is_passing(r))
		return r;
	run->broken = r < 0;
	if (r < 0)
		pm_error_line(&why, b->costs->why, sizeof(b->costs->why));
	return 0;
}

/* ---- the leading cost ---- */

static bool on_both_sides(const struct pmfs_cost *cost)
{
	return cost->has[PMFS_BASE] && cost->has[PMFS_OTHER] && !cost->hidden;
}

/* A mean over repetitions would count those that lack the quantity as 0. */
static void find_sides(struct pmfs_costs *k)
{
	for (uint32_t i = 0; i < k->n; i++)
		for (unsigned side = 0; side < PMFS_N_SIDES; side++)
			k->costs[i].has[side] = k->n_good[side] > 0 &&
				k->costs[i].n_having[side] == k->n_good[side];
}

/* The first quantity that both sides have, else the first. */
static uint32_t leading(const struct pmfs_costs *k)
{
	for (uint32_t i = 0; i < k->n; i++)
		if (on_both_sides(&k->costs[i]))
			return k->costs[i].quantity;
	return 0;
}

static int by_quantity(const void *a, const void *b)
{
	const struct pmfs_cost *const *x = a, *const *y = b;
	if ((*x)->quantity != (*y)->quantity)
		return (*x)->quantity < (*y)->quantity ? -1 : 1;
	return *x < *y ? -1 : 1;
}

/* The leading quantity becomes number 0; hidden ones, and their costs, come last. */
static void number_quantities(struct pm_arena *a, struct pmfs_costs *k)
{
	uint32_t lead = leading(k), n = 0;
	uint32_t *number = pm_arena_array(a, (size_t)k->n_quantities + 1, sizeof(*number));
	bool *shown = pm_arena_array(a, (size_t)k->n_quantities + 1, sizeof(*shown));
	for (uint32_t i = 0; i < k->n; i++)
		shown[k->costs[i].quantity] |= !k->costs[i].hidden;
	if (k->n > 0)
		number[lead] = n++;
	for (unsigned pass = 0; pass < 2; pass++) {
		for (uint32_t i = 0; i < k->n_quantities; i++)
			if (i != lead && shown[i] == (pass == 0))
				number[i] = n++;
		if (pass == 0)
			k->n_shown_quantities = n;
	}
	for (uint32_t i = 0; i < k->n; i++) {
		struct pmfs_cost *cost = &k->costs[i];
		cost->hidden = !shown[cost->quantity];
		cost->quantity = number[cost->quantity];
		k->n_shown += !cost->hidden;
	}
}

/* Columns of a quantity are adjacent; the leading one has index 0. */
static void put_in_order(struct building *b)
{
	struct pmfs_costs *k = b->costs;
	struct pmfs_cost **order =
		pm_arena_array(b->scratch, (size_t)k->n + 1, sizeof(struct pmfs_cost *));
	uint32_t *place = pm_arena_array(b->scratch, (size_t)k->n + 1, sizeof(*place));
	struct pmfs_cost *sorted = pm_arena_array(b->a, (size_t)k->n + 1, sizeof(*sorted));
	number_quantities(b->scratch, k);
	for (uint32_t i = 0; i < k->n; i++) {
		order[i] = &k->costs[i];
		k->in_common |= on_both_sides(&k->costs[i]);
	}
	pm_build_check(b->a, pm_sort(order, k->n, sizeof(struct pmfs_cost *), by_quantity));
	for (uint32_t i = 0; i < k->n; i++) {
		sorted[i] = *order[i];
		place[order[i] - k->costs] = i;
	}
	for (uint32_t i = 0; i < k->n_runs; i++)
		for (uint32_t j = 0; j < k->runs[i].n_columns && !k->runs[i].broken; j++)
			k->runs[i].cost[j] = place[k->runs[i].cost[j]];
	for (uint32_t i = 0; i < k->n_derived; i++)
		for (uint32_t j = 0; j < k->derived[i].formula.n; j++) {
			struct pm_op *op = &k->derived[i].formula.ops[j];
			if (op->kind == PM_OP_NAME && !(op->leaf & PMFS_LEAF_DERIVED))
				op->leaf = place[op->leaf];
		}
	k->costs = sorted;
}

static void find_own(struct pmfs_costs *k)
{
	k->own = k->n > 0 ? 0 : PM_NONE;
	for (uint32_t i = k->n; i-- > 0;)
		if (k->costs[i].quantity == 0 && k->costs[i].role != PM_ROLE_INCLUSIVE)
			k->own = i;
}

/* ---- totals ---- */

static void read_totals(void *self, uint32_t run, struct pmfs_model *m, struct pm_error *err)
{
	struct building *b = self;
	struct pmfs_costs *k = b->costs;
	struct pmfs_compared_run *of = &k->runs[run];
	const struct pmfs_totals *totals;
	of->whole = pm_arena_array(b->a, k->n_quantities + 1, sizeof(*of->whole));
	pm_build_check(b->a, pmfs_totals(m, &totals, err));
	for (uint32_t i = 0; i < of->n_columns; i++)
		of->whole[k->costs[of->cost[i]].quantity] = totals->of[i];
	for (uint32_t q = 0; q < k->n_quantities; q++)
		pmfs_sample_add(&k->whole[of->side][q], of->whole[q]);
}

/* ---- the part ---- */

/* The other run's columns come before those that only the baseline has. */
static void read_runs(struct building *b)
{
	struct pmfs_costs *k = b->costs;
	uint32_t n_base = b->compare->of.n_base;
	struct borrowed two = {.compare = b->compare, .prepare = prepare};
	int r = 0;
	for (uint32_t i = 0; r == 0 && i < k->n_runs; i++) {
		struct pmfs_compared_run *run = &k->runs[(i + n_base) % k->n_runs];
		uint32_t next = (i + 1 + n_base) % k->n_runs;
		if (i % 2 == 0)
			borrow(&two, run, i + 1 < k->n_runs ? &k->runs[next] : NULL);
		r = try_run(b, run);
		if (i % 2 == 1)
			pmfs_return(&two);
	}
	pmfs_return(&two);
	pm_build_check(b->a, r);
}

static void *costs_build(struct pm_arena *a, struct pmfs_compare *c, enum pmfs_compare_part which,
	struct pm_error *err)
{
	struct pmfs_costs *k = pm_arena_alloc(a, sizeof(*k));
	struct pm_arena *scratch = pm_arena_scratch(a);
	uint32_t n_base = c->of.n_base;
	struct building b = {.a = a,
		.scratch = scratch,
		.compare = c,
		.costs = k,
		.names = pm_strtab_in(scratch),
		.stems = pm_strtab_in(scratch)};
	k->n_runs = n_base + c->of.n_runs;
	k->runs = pm_arena_array(a, (size_t)k->n_runs + 1, sizeof(*k->runs));
	for (uint32_t i = 0; i < k->n_runs; i++)
		k->runs[i] = (struct pmfs_compared_run){
			.number = i < n_base ? c->of.base[i] : c->of.runs[i - n_base],
			.side = i < n_base ? PMFS_BASE : PMFS_OTHER};
	k->shares = c->of.normalize;
	k->has_lines = k->has_files = k->has_modules = k->has_gpu = true;
	read_runs(&b);
	k->n_quantities = b.stems.n;
	k->own_costs = k->n_self < k->n_good[PMFS_BASE] + k->n_good[PMFS_OTHER];
	find_sides(k);
	put_in_order(&b);
	find_own(k);
	for (which = 0; which < PMFS_COMPARE_N_PARTS; which++)
		if (around[which].after && which != PMFS_COMPARE_GPU)
			pmfs_compare_header(a, k, which);
	for (unsigned side = 0; side < PMFS_N_SIDES; side++)
		k->whole[side] = pm_arena_array(a, k->n_quantities + 1, sizeof(*k->whole[side]));
	pmfs_compare_read(a, c, k, (struct pmfs_reader){NULL, read_totals}, &b, err);
	pm_arena_done(scratch);
	return k;
}

int pmfs_compare_costs(struct pmfs_compare *c, const struct pmfs_costs **ret, struct pm_error *err)
{
	return pmfs_compare_get(c, PMFS_COMPARE_COSTS, costs_build, ret, err);
}

bool pmfs_quantity_is_shown(const struct pmfs_costs *costs, uint32_t quantity)
{
	const struct pmfs_cost *cost = pmfs_quantity_cost(costs, quantity);
	bool costly = false;
	for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
		if (cost->n_having[side] > 0 && !cost->has[side])
			return false;
		costly |= costs->whole[side][quantity].mean != 0;
	}
	return costly;
}

/* ---- derived columns: the formula over the means of each side ---- */

struct side_of_row {
	const struct pmfs_costs *costs;
	const pm_number *mean; /* NULL: the row of totals */
	enum pmfs_side side;
	const struct pm_cell *derived; /* cells of all derived columns so far */
};

static double value_of(const void *self, uint32_t leaf)
{
	const struct side_of_row *row = self;
	if (leaf & PMFS_LEAF_DERIVED)
		return pmfs_cell_number(
			&row->derived[(leaf & ~PMFS_LEAF_DERIVED) * PMFS_DERIVED_CELLS +
				(unsigned)row->side]);
	const struct pmfs_cost *cost = &row->costs->costs[leaf];
	if (row->mean)
		return cost->has[row->side] ? row->mean[leaf] : NAN;
	return pmfs_quantity_has(row->costs, cost->quantity, row->side)
		? row->costs->whole[row->side][cost->quantity].mean
		: NAN;
}

struct pm_cell *pmfs_compared_derived_cells(const struct pmfs_costs *costs,
	const pm_number *const mean[PMFS_N_SIDES], struct pm_cell *cells)
{
	struct pm_cell *first = cells;
	for (uint32_t i = 0; i < costs->n_derived; i++, cells += PMFS_DERIVED_CELLS) {
		double value[PMFS_N_SIDES];
		for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
			struct side_of_row row = {costs, mean[side], (enum pmfs_side)side, first};
			value[side] = pm_formula_value(&costs->derived[i].formula, value_of, &row);
			cells[side] = pmfs_cell(value[side]);
		}
		cells[2] = pmfs_cell(value[PMFS_OTHER] - value[PMFS_BASE]);
		cells[3] = pmfs_cell(pmfs_ratio(value[PMFS_BASE], value[PMFS_OTHER]));
	}
	return cells;
}
