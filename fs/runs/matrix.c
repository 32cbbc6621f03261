/*
 * Reads runs on all processors. Names are numbered under a lock as they arrive, and sorted at the
 * end, so that the result does not depend on timing.
 */
#include "fs/runs/matrix.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>

#include "formats/common/crew.h"
#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "fs/compare/names.h"
#include "fs/runs/lead.h"
#include "fs/views/model/flat.h"
#include "fs/views/sums/functions.h"
#include "profmount/limits.h"

/* The part: the public result, and data for building it. */
struct built {
	struct pmfs_matrix m;
	const struct pmfs_ensemble *e;
	const struct pmfs_facts *facts;
	struct pm_strtab keys;
	struct pm_strtab texts; /* of the texts that are shown */
	size_t room, cells;
	bool by_module, by_file; /* known to all runs */
	pthread_mutex_t lock;
	struct pm_arena arena;
};

static int too_many(struct pm_error *err)
{
	return pm_error_set(err, -ENOTSUP, NULL, PM_NO_OFFSET,
		"all runs have more than %d functions together", PM_LIMIT_MATRIX);
}

/* ---- names ---- */

/* The key of a function: equal keys are one function. */
static void add_key(const struct built *b, const struct pmfs_functions *f,
	const struct pmfs_function *function, struct pm_text *out)
{
	struct pm_bytes module = f->tree->texts[function->module];
	struct pm_bytes file = f->tree->texts[function->file];
	if (b->e->options.exact)
		pm_text_bytes(out, function->name);
	else
		pmfs_tidy_name(function->name, out);
	pm_text_char(out, 0);
	if (b->by_module)
		pmfs_tidy_module(pmfs_base_name(module), out);
	pm_text_char(out, 0);
	if (b->by_file)
		pm_text_bytes(out, pmfs_base_name(file));
}

static struct pm_bytes keep(struct built *b, struct pm_bytes text)
{
	uint32_t kept = pm_strtab_add_lasting(&b->texts, text);
	return kept == PM_NONE ? (struct pm_bytes){NULL, 0} : b->texts.items[kept];
}

/* The function is shown as in the first run that has it. */
static int show(struct built *b, uint32_t id, uint32_t run, const struct pmfs_functions *f,
	const struct pmfs_function *function)
{
	struct pmfs_shared_function *shown = &b->m.functions[id];
	if (shown->name.p && shown->run <= run)
		return 0;
	shown->run = run;
	shown->name = keep(b, function->name);
	shown->module = keep(b, f->tree->texts[function->module]);
	shown->file = keep(b, f->tree->texts[function->file]);
	return shown->name.p && shown->module.p && shown->file.p ? 0 : -ENOMEM;
}

/* The function's number, assigned under the lock. */
static int number(struct built *b, struct pm_bytes key, uint32_t *ret)
{
	uint32_t known = b->keys.n;
	*ret = pm_strtab_add(&b->keys, key);
	if (*ret == UINT32_MAX)
		return -ENOMEM;
	if (*ret < known)
		return 0;
	if (pm_list_room(&b->m.functions, *ret, &b->room, sizeof(*b->m.functions)) < 0)
		return -ENOMEM;
	b->m.functions[*ret] = (struct pmfs_shared_function){.sum = 0};
	return 0;
}

/* ---- a run ---- */

static uint32_t column_of(const struct pmfs_columns *c, const char *base, bool incl)
{
	for (uint32_t i = 0; i < c->n; i++)
		if (strcmp(c->columns[i].base, base) == 0 &&
			(c->columns[i].role == PM_ROLE_INCLUSIVE) == incl)
			return i;
	return PM_NONE;
}

static int by_function(const void *a, const void *b)
{
	uint32_t x = ((const struct pmfs_run_share *)a)->function;
	uint32_t y = ((const struct pmfs_run_share *)b)->function;
	return (x > y) - (x < y);
}

/*
 * Merges equal functions, such as clones; their inclusive cost is that of the largest, because they
 * may be nested.
 */
static uint32_t join(struct pmfs_run_share *list, uint32_t n)
{
	uint32_t out = 0;
	for (uint32_t i = 0; i < n; i++) {
		if (out > 0 && list[out - 1].function == list[i].function) {
			pmfs_add(&list[out - 1].own, list[i].own);
			list[out - 1].incl = fmax(list[out - 1].incl, list[i].incl);
		} else {
			list[out++] = list[i];
		}
	}
	return out;
}

static int number_functions(struct built *b, uint32_t run, const struct pmfs_functions *f,
	struct pmfs_run_share *list, uint32_t *ret_n)
{
	uint32_t own = column_of(f->columns, b->m.quantity, false);
	uint32_t incl = column_of(f->columns, b->m.quantity, true);
	struct pm_text key = {.p = NULL};
	int r = 0;
	for (uint32_t i = 0; i < f->n && r == 0; i++) {
		const struct pmfs_function *function = pmfs_function_at(f, i);
		struct pmfs_run_share share = {
			.own = own == PM_NONE ? NAN : pmfs_function_cell(f, i, own),
			.incl = incl == PM_NONE ? NAN : pmfs_function_cell(f, i, incl)};
		pm_text_clear(&key);
		add_key(b, f, function, &key);
		pthread_mutex_lock(&b->lock);
		r = key.failed ? -ENOMEM : number(b, pm_text_view(&key), &share.function);
		if (r == 0)
			r = show(b, share.function, run, f, function);
		pthread_mutex_unlock(&b->lock);
		list[(*ret_n)++] = share;
	}
	pm_text_done(&key);
	return r;
}

static int read_model(struct built *b, uint32_t run, struct pmfs_model *m, struct pm_error *err)
{
	const struct pmfs_functions *f;
	int r = pmfs_functions(m, &f, err);
	if (r < 0)
		return r;
	if (__atomic_add_fetch(&b->cells, f->n, __ATOMIC_RELAXED) > PM_LIMIT_MATRIX)
		return -E2BIG;
	struct pmfs_run_share *list = calloc(f->n + (size_t)1, sizeof(*list));
	if (!list)
		return -ENOMEM;
	b->m.of[run] = list;
	r = number_functions(b, run, f, list, &b->m.n_of[run]);
	pthread_mutex_lock(&b->lock);
	pm_strtab_forget(&b->texts); /* the run may be closed now */
	pthread_mutex_unlock(&b->lock);
	return r;
}

/* -E2BIG aborts; a run that cannot be read has no functions. */
static int read_run(void *context, size_t i)
{
	struct built *b = context;
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct pmfs_model *m;
	if (b->facts->of[i].broken || isnan(b->m.totals[i]))
		return 0;
	int r = pmfs_shelf_acquire(b->e->shelf, (uint32_t)i, &m, &err);
	if (r < 0)
		return pmfs_is_lasting(r) ? 0 : r;
	r = read_model(b, (uint32_t)i, m, &err);
	pmfs_shelf_release(b->e->shelf, (uint32_t)i);
	return pmfs_is_lasting(r) && r != -E2BIG ? 0 : r;
}

/* ---- all ---- */

static int by_sum(const void *x, const void *y, void *context)
{
	const struct built *b = context;
	uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	double a = b->m.functions[i].sum, c = b->m.functions[k].sum;
	if (a != c)
		return a < c ? 1 : -1;
	return pm_bytes_compare(b->keys.items[i], b->keys.items[k]);
}

/* Renumbers functions by their sums, and sorts those of each run accordingly. */
static int put_in_order(struct built *b)
{
	uint32_t n = b->m.n;
	uint32_t *order = calloc(n + (size_t)1, sizeof(*order));
	uint32_t *place = calloc(n + (size_t)1, sizeof(*place));
	struct pmfs_shared_function *sorted = calloc(n + (size_t)1, sizeof(*sorted));
	int r = order && place && sorted ? 0 : -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < n; i++)
		order[i] = i;
	if (r == 0)
		r = pm_sort_with(order, n, sizeof(*order), by_sum, b);
	for (uint32_t i = 0; r == 0 && i < n; i++) {
		place[order[i]] = i;
		sorted[i] = b->m.functions[order[i]];
	}
	for (uint32_t run = 0; r == 0 && run < b->e->runs.n; run++) {
		struct pmfs_run_share *list = b->m.of[run];
		for (uint32_t i = 0; i < b->m.n_of[run]; i++)
			list[i].function = place[list[i].function];
		r = pm_sort(list, b->m.n_of[run], sizeof(*list), by_function);
	}
	free(order);
	free(place);
	if (r < 0) {
		free(sorted);
		return r;
	}
	free(b->m.functions);
	b->m.functions = sorted;
	return 0;
}

static int sum_up(struct built *b)
{
	b->m.n = b->keys.n;
	for (uint32_t run = 0; run < b->e->runs.n; run++) {
		struct pmfs_run_share *list = b->m.of[run];
		int r = pm_sort(list, b->m.n_of[run], sizeof(*list), by_function);
		if (r < 0)
			return r;
		b->m.n_of[run] = list ? join(list, b->m.n_of[run]) : 0;
		for (uint32_t i = 0; i < b->m.n_of[run]; i++) {
			b->m.functions[list[i].function].sum +=
				isfinite(list[i].own) ? list[i].own : 0;
			b->m.has_incl |= isfinite(list[i].incl);
		}
	}
	return 0;
}

static int label_runs(struct built *b)
{
	static const char *const place[] = {"module", "file", "name", NULL};
	const struct pmfs_runs *runs = &b->e->runs;
	const char **names = pm_arena_array(&b->arena, runs->n + (size_t)4, sizeof(*names));
	if (!names)
		return -ENOMEM;
	for (uint32_t i = 0; i < runs->n; i++) {
		const struct pmfs_run *run = &runs->runs[i];
		bool taken = false;
		for (int k = 0; place[k]; k++)
			taken |= strcmp(place[k], run->name) == 0;
		names[i] = runs->repeated || taken
			? pm_arena_printf(&b->arena, "%s/%u", run->name, run->repetition)
			: run->name;
		if (!names[i])
			return -ENOMEM;
	}
	for (int k = 0; place[k]; k++)
		names[runs->n + (uint32_t)k] = place[k];
	b->m.wide_header = names;
	b->m.n_wide_header = runs->n + 3;
	return 0;
}

static int prepare(struct built *b, struct pm_error *err)
{
	const struct pmfs_runs *runs = &b->e->runs;
	int r = pmfs_facts(b->e, &b->facts, err);
	if (r < 0)
		return r;
	uint32_t lead = pmfs_lead(b->e, b->facts);
	b->by_module = b->by_file = true;
	b->m.of = calloc(runs->n, sizeof(*b->m.of));
	b->m.n_of = calloc(runs->n, sizeof(*b->m.n_of));
	b->m.totals = calloc(runs->n, sizeof(*b->m.totals));
	if (!b->m.of || !b->m.n_of || !b->m.totals || label_runs(b) < 0)
		return pmfs_ensemble_no_memory(err);
	for (uint32_t i = 0; i < runs->n; i++) {
		const struct pmfs_run_facts *f = &b->facts->of[i];
		b->m.totals[i] = lead == PM_NONE ? NAN : pmfs_whole_of(f, lead);
		b->by_module &= f->broken || f->has_modules;
		b->by_file &= f->broken || f->has_files;
	}
	if (lead == PM_NONE)
		return 0;
	struct pm_bytes name = b->facts->quantities.items[lead];
	b->m.quantity = pm_arena_printf(&b->arena, "%.*s", (int)name.len, (const char *)name.p);
	return b->m.quantity ? 0 : pmfs_ensemble_no_memory(err);
}

static int matrix_fill(void *owner, void *part, struct pm_error *err)
{
	struct built *b = part;
	b->e = owner;
	b->keys.arena = b->texts.arena = &b->arena;
	pthread_mutex_init(&b->lock, NULL);
	int r = prepare(b, err);
	if (r < 0 || !b->m.quantity)
		return r;
	r = pm_crew_each(b->e->runs.n, read_run, b);
	if (r == 0)
		r = sum_up(b);
	if (r == 0)
		r = put_in_order(b);
	return r == -E2BIG ? too_many(err) : r < 0 ? pm_error_plain(err, r) : 0;
}

static void matrix_done(void *part)
{
	struct built *b = part;
	for (uint32_t i = 0; b->m.of && i < b->e->runs.n; i++)
		free(b->m.of[i]);
	free(b->m.of);
	free(b->m.n_of);
	free(b->m.totals);
	free(b->m.functions);
	pm_strtab_done(&b->keys);
	pm_strtab_done(&b->texts);
	pm_arena_done(&b->arena);
	pthread_mutex_destroy(&b->lock);
}

int pmfs_matrix(const struct pmfs_ensemble *e, const struct pmfs_matrix **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {.size = sizeof(struct built),
		.fill = matrix_fill,
		.done = matrix_done,
		.what = "the functions of all runs"};
	struct pmfs_ensemble *owner = pmfs_ensemble_of(e);
	const struct built *b;
	int r = pm_part_get(&owner->parts[PMFS_ENSEMBLE_MATRIX], &type, owner, &b, err);
	*ret = r < 0 ? NULL : &b->m;
	return r;
}
