/*
 * Takes the rows of all comparisons with the baseline. Functions of the baseline have the same
 * numbers in each; those that are in one row of some comparison become one. The others are one
 * if they have the same name in modules and files with the same base names.
 */
#include "fs/runs/runs.h"

#include <math.h>

#include "formats/common/list.h"
#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "fs/compare/noise.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/screen.h"
#include "profmount/limits.h"

/* A function as spelled in the baseline, else in the first run that has it. */
struct shared_function {
	struct pm_bytes name, module, file;
	double sum;  /* of exclusive costs over all runs */
	bool joined; /* the name says of how many */
	bool used;   /* it is in functions.csv of a comparison */
};

/* Its exclusive cost in one run. */
struct run_share {
	uint32_t function;
	double own; /* NaN: not stored */
};

struct matrix {
	const char *quantity; /* the primary one, cputime_sec; NULL: none */
	uint32_t n;           /* functions, largest sum first */
	struct shared_function *functions;
	struct run_share **of; /* by run, ordered by function */
	uint32_t *n_of;        /* by run */
	double *totals;        /* by run; NaN: the run lacks the quantity */
	const char *const *wide_header;
	uint32_t n_wide_header;
};

/* The part: the public result, and data for building it. */
struct built {
	struct matrix m;
	struct pm_arena *a, *scratch; /* of the part; while it is built */
	const struct pmfs_ensemble *e;
	struct pm_strtab keys;  /* of functions that the baseline lacks */
	struct pm_strtab texts; /* of the texts that are shown */
	uint32_t n_base;        /* functions of the baseline: the others follow them */
	uint32_t *above;        /* of the baseline: one that is the same, or itself */
	bool has_base;          /* its costs have been taken */
	size_t room, cells;
	size_t *room_of; /* by run */
};

/* ---- names ---- */

static struct pm_bytes keep(struct built *b, struct pm_bytes text)
{
	uint32_t kept = pm_strtab_add_lasting(&b->texts, text);
	return b->texts.items[kept];
}

static void add_function(
	struct built *b, struct pm_bytes name, struct pm_bytes module, struct pm_bytes file)
{
	pm_list_grow(b->scratch, &b->m.functions, b->m.n, &b->room, sizeof(*b->m.functions));
	b->m.functions[b->m.n++] = (struct shared_function){
		.name = keep(b, name), .module = keep(b, module), .file = keep(b, file)};
}

static uint32_t root_of(struct built *b, uint32_t id)
{
	while (id < b->n_base && b->above[id] != id)
		id = b->above[id] = b->above[b->above[id]];
	return id;
}

static void unite(struct built *b, uint32_t id, uint32_t root)
{
	struct shared_function *from = &b->m.functions[id], *to = &b->m.functions[root];
	if (id == root)
		return;
	b->above[id] = root;
	if (from->joined && !to->joined)
		to->name = from->name;
	to->joined |= from->joined;
	to->used |= from->used;
	from->used = false;
}

/*
 * Functions of the baseline: `of_row` is one for each row of the comparison that has some, and they
 * are one from now on.
 */
static void take_base(struct built *b, const struct pmfs_compared *c, uint32_t *of_row)
{
	struct pm_bytes text[3];
	if (b->m.n == 0 && c->n_base > 0) {
		b->n_base = c->n_base;
		b->above = pm_arena_array(b->scratch, (size_t)b->n_base + 1, sizeof(*b->above));
		for (uint32_t i = 0; i < b->n_base; i++) {
			b->above[i] = i;
			pmfs_compared_base(c, i, text);
			add_function(b, text[0], text[1], text[2]);
		}
	}
	for (uint32_t i = 0; i < c->n_base && i < b->n_base; i++) {
		uint32_t row = pmfs_compared_base(c, i, text), id = root_of(b, i);
		if (row == PM_NONE)
			continue;
		if (of_row[row] == PM_NONE)
			of_row[row] = id;
		else
			unite(b, id, root_of(b, of_row[row]));
		struct shared_function *shown = &b->m.functions[root_of(b, id)];
		struct pmfs_compared_row compared = pmfs_compared_row(c, row);
		if (compared.joined && !shown->joined) {
			shown->name = keep(b, compared.name);
			shown->joined = true;
		}
	}
}

/* A function that the baseline lacks; `seen` are those of this comparison. */
static uint32_t take_other(struct built *b, const struct pmfs_compared_row *row,
	struct pm_map *seen, struct pm_text *key)
{
	uint32_t at = 0;
	bool fresh = false;
	for (uint32_t again = 0; !fresh; again++) { /* another of this name in the comparison */
		pm_text_clear(key);
		pm_text_bytes(key, row->name);
		pm_text_char(key, 0);
		pm_text_bytes(key, pmfs_base_name(row->module));
		pm_text_char(key, 0);
		pm_text_bytes(key, pmfs_base_name(row->file));
		pm_text_char(key, 0);
		pm_text_u64(key, again);
		uint32_t known = b->keys.n;
		at = pm_strtab_add(&b->keys, pm_text_view(key));
		pm_map_put(seen, at, 0, &fresh);
		if (at == known)
			add_function(b, row->name, row->module, row->file);
	}
	return b->n_base + at;
}

/* ---- a comparison ---- */

static void add_share(struct built *b, uint32_t run, uint32_t function, double own)
{
	uint32_t *n = &b->m.n_of[run];
	if (++b->cells > PM_LIMIT_MATRIX)
		pm_build_fail(b->a, -E2BIG);
	pm_list_grow(b->a, &b->m.of[run], *n, &b->room_of[run], sizeof(**b->m.of));
	b->m.of[run][(*n)++] = (struct run_share){function, own};
}

struct taking {
	struct built *b;
	const struct pmfs_compared *c;
	const struct pmfs_group *g; /* or NULL */
};

/* The costs of the baseline are taken once, as they are the same in each comparison. */
static void take_rows(void *context)
{
	const struct taking *t = context;
	struct built *b = t->b;
	const struct pmfs_compared *c = t->c;
	const struct pmfs_group *base = &b->e->runs.groups[b->e->base], *g = t->g;
	struct pm_arena *scratch = pm_arena_scratch(b->scratch);
	struct pm_map seen = {.arena = scratch};
	struct pm_text key = {.arena = scratch};
	uint32_t *of_row = pm_arena_array(scratch, (size_t)c->n + 1, sizeof(*of_row));
	for (uint32_t k = 0; k < c->n; k++)
		of_row[k] = PM_NONE;
	take_base(b, c, of_row);
	for (uint32_t i = 0; i < c->n; i++) {
		struct pmfs_compared_row row = pmfs_compared_row(c, i);
		pm_build_proceed(scratch);
		if (of_row[i] == PM_NONE)
			of_row[i] = take_other(b, &row, &seen, &key);
		b->m.functions[root_of(b, of_row[i])].used = true;
		for (uint32_t k = 0; k < base->n + (g ? g->n : 0); k++) {
			bool of_base = k < base->n;
			uint32_t run = of_base ? base->first + k : g->first + k - base->n;
			double own = pmfs_compared_of_run(c, i, k);
			if (!isnan(b->m.totals[run]) && (!of_base || !b->has_base) && !isnan(own))
				add_share(b, run, of_row[i], own);
		}
	}
	b->has_base = true;
	pm_arena_done(scratch);
}

/* Takes the comparison with others[i], or the baseline alone. What cannot be read is left out. */
static void take(struct built *b, uint32_t i)
{
	const struct pmfs_runs *runs = &b->e->runs;
	struct pm_error unused = {.offset = PM_NO_OFFSET};
	struct pmfs_compared c;
	struct taking t = {b, &c, i + 1 < runs->n_groups ? &runs->groups[b->e->others[i]] : NULL};
	struct pm_profile *p;
	pm_build_check(b->a, pmfs_ensemble_compare(b->e, i, false, b->m.quantity, &p, &unused));
	int r = pmfs_compare_functions(p, b->m.quantity, &c, &unused);
	if (r == 0)
		r = pm_build(b->a, take_rows, &t);
	else if (pm_is_lasting(r))
		r = 0;
	pm_strtab_forget(&b->texts);
	p->ops->close(p);
	pm_build_check(b->a, r);
}

/* ---- all ---- */

static int by_function(const void *a, const void *b)
{
	uint32_t x = ((const struct run_share *)a)->function;
	uint32_t y = ((const struct run_share *)b)->function;
	return (x > y) - (x < y);
}

/* Adds up the shares of what has become one function. */
static void sum_up(struct built *b)
{
	for (uint32_t run = 0; run < b->e->runs.n; run++) {
		struct run_share *list = b->m.of[run];
		uint32_t n = 0;
		for (uint32_t i = 0; i < b->m.n_of[run]; i++)
			list[i].function = root_of(b, list[i].function);
		pm_build_check(b->a, pm_sort(list, b->m.n_of[run], sizeof(*list), by_function));
		for (uint32_t i = 0; i < b->m.n_of[run]; i++) {
			b->m.functions[list[i].function].sum += list[i].own;
			if (n > 0 && list[n - 1].function == list[i].function)
				list[n - 1].own += list[i].own;
			else
				list[n++] = list[i];
		}
		b->m.n_of[run] = n;
	}
}

static int by_sum(const void *x, const void *y, void *context)
{
	const struct built *b = context;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	double a = b->m.functions[i].sum, c = b->m.functions[k].sum;
	if (a != c)
		return a < c ? 1 : -1;
	return pm_bytes_compare(b->m.functions[i].name, b->m.functions[k].name);
}

/* Renumbers functions by their sums, and sorts those of each run accordingly. */
static void put_in_order(struct built *b)
{
	uint32_t n = 0;
	uint32_t *order = pm_arena_array(b->scratch, b->m.n + (size_t)1, sizeof(*order));
	uint32_t *place = pm_arena_array(b->scratch, b->m.n + (size_t)1, sizeof(*place));
	for (uint32_t i = 0; i < b->m.n; i++)
		if (b->m.functions[i].used)
			order[n++] = i;
	pm_build_check(b->a, pm_sort_with(order, n, sizeof(*order), by_sum, b));
	struct shared_function *sorted = pm_arena_array(b->a, n + (size_t)1, sizeof(*sorted));
	for (uint32_t i = 0; i < n; i++) {
		place[order[i]] = i;
		sorted[i] = b->m.functions[order[i]];
	}
	for (uint32_t run = 0; run < b->e->runs.n; run++) {
		struct run_share *list = b->m.of[run];
		for (uint32_t i = 0; i < b->m.n_of[run]; i++)
			list[i].function = place[list[i].function];
		pm_build_check(b->a, pm_sort(list, b->m.n_of[run], sizeof(*list), by_function));
	}
	b->m.functions = sorted;
	b->m.n = n;
}

static void label_runs(struct built *b)
{
	static const char *const place[] = {"module", "file", "name", NULL};
	const struct pmfs_runs *runs = &b->e->runs;
	const char **names = pm_arena_array(b->a, runs->n + (size_t)4, sizeof(*names));
	for (uint32_t i = 0; i < runs->n; i++) {
		const struct pmfs_run *run = &runs->runs[i];
		bool taken = false;
		for (int k = 0; place[k]; k++)
			taken |= strcmp(place[k], run->name) == 0;
		names[i] = runs->repeated || taken
			? pm_arena_printf(b->a, "%s/%u", run->name, run->repetition)
			: run->name;
	}
	for (int k = 0; place[k]; k++)
		names[runs->n + (uint32_t)k] = place[k];
	b->m.wide_header = names;
	b->m.n_wide_header = runs->n + 3;
}

int pmfs_lead_name(const struct pmfs_ensemble *e, struct pm_arena *arena, const char **ret,
	struct pm_error *err)
{
	const struct pmfs_facts *facts;
	int r = pmfs_facts(e, &facts, err);
	*ret = NULL;
	if (r < 0)
		return r;
	uint32_t lead = pmfs_lead(e, facts);
	if (lead == PM_NONE)
		return 0;
	struct pm_bytes name = facts->quantities.items[lead];
	*ret = pm_arena_printf(arena, "%.*s", (int)name.len, (const char *)name.p);
	return *ret ? 0 : pmfs_ensemble_no_memory(err);
}

static void fill(void *context)
{
	struct built *b = context;
	uint32_t n = b->e->runs.n_groups;
	for (uint32_t i = 0; i < (n > 1 ? n - 1 : 1); i++) {
		pm_build_proceed(b->a);
		take(b, i);
	}
	sum_up(b);
	put_in_order(b);
}

static void build_matrix(struct pm_arena *a, void *owner, void *part, struct pm_error *err)
{
	struct built *b = part;
	const struct pmfs_ensemble *e = owner;
	uint32_t n = e->runs.n;
	const struct pmfs_facts *facts;
	*b = (struct built){.a = a, .scratch = pm_arena_scratch(a), .e = e};
	b->keys = pm_strtab_in(b->scratch);
	b->texts = pm_strtab_in(a);
	pm_build_check(a, pmfs_facts(e, &facts, err));
	uint32_t lead = pmfs_lead(e, facts);
	b->m.of = pm_arena_array(a, n, sizeof(*b->m.of));
	b->m.n_of = pm_arena_array(a, n, sizeof(*b->m.n_of));
	b->room_of = pm_arena_array(a, n, sizeof(*b->room_of));
	b->m.totals = pm_arena_array(a, n, sizeof(*b->m.totals));
	label_runs(b);
	for (uint32_t i = 0; i < n; i++)
		b->m.totals[i] = lead == PM_NONE ? NAN : pmfs_whole_of(&facts->of[i], lead);
	pm_build_check(a, pmfs_lead_name(e, a, &b->m.quantity, err));
	int r = b->m.quantity ? pm_build(a, fill, b) : 0;
	if (r == -E2BIG)
		r = pm_error_set(err, -ENOTSUP, NULL, PM_NO_OFFSET,
			"all runs have more than %d functions together", PM_LIMIT_MATRIX);
	pm_build_check(a, r < 0 ? pm_error_plain(err, r) : 0);
	pm_arena_done(b->scratch);
}

/* Compares every run on the first call. */
static int matrix(const struct pmfs_ensemble *e, const struct matrix **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {.size = sizeof(struct built),
		.build = build_matrix,
		.what = "the functions of all runs"};
	struct pmfs_ensemble *owner = pmfs_ensemble_of(e);
	const struct built *b;
	int r = pm_part_get(&owner->parts[PMFS_ENSEMBLE_MATRIX], &type, owner, &b, err);
	*ret = r < 0 ? NULL : &b->m;
	return r;
}

/* ---- tables and texts that show functions side by side ---- */

/* The cost of a function in a run; NULL if the run does not have it. O(log n). */
static const struct run_share *share_at(const struct matrix *m, uint32_t run, uint32_t function)
{
	const struct run_share *of = m->of[run];
	uint32_t n = m->n_of[run];
	uint32_t at = PM_LOWER_BOUND(i, 0, n, of[i].function < function);
	return at < n && of[at].function == function ? &of[at] : NULL;
}

/* ---- functions-wide.csv ---- */

static int wide_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pmfs_ensemble *e = pmfs_ensemble_of(rows->table->self);
	const struct matrix *m;
	int r = matrix(e, &m, err);
	if (r < 0 || rows->at >= m->n)
		return r;
	uint32_t i = (uint32_t)rows->at++;
	for (uint32_t run = 0; run < e->runs.n; run++) {
		const struct run_share *share = share_at(m, run, i);
		cells[run] = share ? pm_cell_f64(share->own) : pm_cell_empty();
	}
	cells += e->runs.n;
	cells[0] = pm_cell_lasting(m->functions[i].module);
	cells[1] = pm_cell_lasting(m->functions[i].file);
	cells[2] = pm_cell_lasting(m->functions[i].name);
	return 1;
}

static int wide_columns(struct pm_table *table, struct pm_error *err)
{
	const struct matrix *m;
	int r = matrix(pmfs_ensemble_of(table->self), &m, err);
	if (r < 0)
		return r;
	table->columns = m->wide_header;
	table->n_columns = m->n_wide_header;
	return 0;
}

struct pm_table pmfs_wide_table(const struct pmfs_ensemble *e)
{
	static const struct pm_table_type type = {
		.next = wide_next, .columns = wide_columns, .dense = true};
	return (struct pm_table){.type = &type, .self = e};
}

/* ---- functions.txt ---- */

int pmfs_ensemble_functions(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	enum { MOST_RUNS = 4, MOST_ROWS = 100, WIDTH = PMFS_AMOUNT_WIDTH };
	const struct pmfs_ensemble *e = pmfs_ensemble_of(doc->text.self);
	struct pm_bytes names[MOST_ROWS];
	const struct pmfs_facts *facts;
	const struct matrix *m;
	int r = pmfs_facts(e, &facts, err);
	if (r < 0 || (r = matrix(e, &m, err)) < 0)
		return r;
	struct pmfs_column column = pmfs_lead_column(e, facts, pmfs_lead(e, facts));
	uint32_t runs = e->runs.n < MOST_RUNS ? e->runs.n : MOST_RUNS;
	uint32_t n = m->n < MOST_ROWS ? m->n : MOST_ROWS;
	if (m->quantity)
		pm_text_printf(out, "Functions by own cost, %s\n", m->quantity);
	for (uint32_t run = 0; run < runs; run++) {
		pm_text_char(out, ' ');
		pmfs_add_right(out, pm_bytes_of(m->wide_header[run]), WIDTH - 1);
	}
	pm_text_str(out, "  function\n");
	for (uint32_t i = 0; i < n; i++)
		names[i] = m->functions[i].name;
	for (uint32_t i = 0; i < n; i++) {
		for (uint32_t run = 0; run < runs; run++) {
			const struct run_share *share = share_at(m, run, i);
			pmfs_add_amount(out, &column, share ? share->own : NAN);
		}
		pm_text_str(out, "  ");
		pmfs_add_told_apart(out, names, n, i, PMFS_SCREEN_WIDTH - 2 - runs * WIDTH);
		pm_text_char(out, '\n');
	}
	if (m->n > n)
		pm_text_printf(out, "  … %u more: see functions-wide.csv\n", m->n - n);
	if (e->runs.n > runs)
		pm_text_printf(out, "  … %u more runs: see functions-wide.csv\n", e->runs.n - runs);
	return pm_text_status(out);
}

/* ---- noise.csv ---- */

/* The exclusive costs of a function in the runs of a group. */
struct spread {
	uint32_t n;
	double mean, stddev, min, max;
};

/* Over the runs that have the quantity; false if none of them has the function. */
static bool spread_of(
	const struct matrix *m, const struct pmfs_group *g, uint32_t function, struct spread *ret)
{
	bool found = false;
	struct pmfs_sample sample = {.n = 0};
	*ret = (struct spread){.min = INFINITY, .max = -INFINITY};
	for (uint32_t i = g->first; i < g->first + g->n; i++) {
		if (isnan(m->totals[i]))
			continue;
		const struct run_share *share = share_at(m, i, function);
		double own = share ? share->own : 0;
		found |= share != NULL;
		pmfs_sample_add(&sample, own);
		ret->min = fmin(ret->min, own);
		ret->max = fmax(ret->max, own);
	}
	ret->n = sample.n;
	ret->mean = sample.mean;
	ret->stddev = pmfs_sample_stddev(&sample);
	return found && isfinite(ret->mean);
}

static int noise_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pmfs_ensemble *e = pmfs_ensemble_of(rows->table->self);
	const struct matrix *m;
	struct spread s;
	int r = matrix(e, &m, err);
	if (r < 0)
		return r;
	for (; rows->at < (uint64_t)m->n * e->runs.n_groups; rows->at++) {
		const struct pmfs_group *g = &e->runs.groups[rows->at / m->n];
		uint32_t i = (uint32_t)(rows->at % m->n);
		if (pm_work_cancelled())
			return pm_error_plain(err, PM_CANCELLED);
		if (!spread_of(m, g, i, &s))
			continue;
		rows->row = rows->at++;
		cells[0] = pm_cell_str(g->name);
		cells[1] = pm_cell_u64(s.n);
		cells[2] = pm_cell_f64(s.mean);
		cells[3] = pm_cell_f64(s.stddev);
		cells[4] = pm_cell_f64(s.min);
		cells[5] = pm_cell_f64(s.max);
		cells[6] = pm_cell_lasting(m->functions[i].module);
		cells[7] = pm_cell_lasting(m->functions[i].file);
		cells[8] = pm_cell_lasting(m->functions[i].name);
		return 1;
	}
	return 0;
}

struct pm_table pmfs_noise_table(const struct pmfs_ensemble *e)
{
	static const struct pm_table_type type = {.next = noise_next};
	static const char *const columns[] = {
		"run", "repetitions", "mean", "stddev", "min", "max", "module", "file", "name"};
	return (struct pm_table){.type = &type, .columns = columns, .n_columns = 9, .self = e};
}
