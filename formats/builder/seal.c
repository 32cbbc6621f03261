/*
 * Turns a recording into a profile: the tree in its order, and every cost that views ask for.
 *
 *	cells (own, exact)  →  own, inclusive and flat sums of the run, an array a metric
 *	                    →  the same by thread, sparse, when somebody first asks
 *
 * A quantity has integers if the sum of its costs' amounts fits into 64 bits, so that no sum over a
 * subtree can leave them, and doubles otherwise.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "formats/builder/recording.h"
#include "formats/common/quantity.h"
#include "formats/common/sort.h"
#include "profmount/limits.h"

enum { BETWEEN_QUESTIONS = 1 << 14 };

static long double power(unsigned n)
{
	long double p = 1;
	while (n-- > 0)
		p *= 10;
	return p;
}

static double number_of(const struct pm_rec_quantity *q, const struct pm_rec_cell *c)
{
	return q->real ? c->f : (double)((long double)c->i / power(q->decimals));
}

/* ---- which quantities are integers, which leads ---- */

/* Returns the sum of each. */
static double *settle_quantities(
	struct pm_arena *scratch, struct pm_recording *r, struct pm_rec_whole *w)
{
	unsigned __int128 *amounts = pm_arena_array(scratch, r->n_quantities, sizeof(*amounts));
	double *wholes = pm_arena_array(scratch, r->n_quantities, sizeof(*wholes));
	for (size_t i = 0; i < r->n_cells; i++) {
		const struct pm_rec_cell *c = &r->cells[i];
		uint32_t quantity = c->quantity & ~PM_REC_THROUGH;
		struct pm_rec_quantity *q = &r->quantities[quantity];
		q->decreases |= q->real ? c->f < 0 : c->i < 0;
		if (quantity == c->quantity)
			wholes[quantity] += number_of(q, c);
		unsigned __int128 amount =
			c->i < 0 ? -(unsigned __int128)c->i : (unsigned __int128)c->i;
		if (!q->real &&
			__builtin_add_overflow(amounts[quantity], amount, &amounts[quantity]))
			amounts[quantity] = ~(unsigned __int128)0;
	}
	for (size_t i = 0; i < r->n_quantities; i++) {
		const struct pm_rec_quantity *q = &r->quantities[i];
		bool real = q->real || q->decimals > 0 || amounts[i] > INT64_MAX;
		for (unsigned k = 0; k < PM_REC_N; k++)
			w->real[i * PM_REC_N + k] = real;
	}
	return wholes;
}

/* Metrics in the order of quantities: inclusive, own, and own with what is nested in it. */
static void list_metrics(const struct pm_recording *r, struct pm_rec_whole *w)
{
	static const char *const scopes[] = {"inclusive", "exclusive", "function"};
	for (uint32_t i = 0; i < r->n_quantities; i++) {
		const struct pm_rec_quantity *q = &r->quantities[i];
		for (uint32_t k = 0; k < PM_REC_N; k++) {
			if ((k == PM_REC_INCL && q->count) || (k == PM_REC_FLAT && !r->has_lines))
				continue;
			w->metric_list[w->metrics.n++] = (struct pm_metric){.id = i * PM_REC_N + k,
				.group = i,
				.role = q->count           ? PM_ROLE_COUNT
					: k == PM_REC_INCL ? PM_ROLE_INCLUSIVE
							   : PM_ROLE_EXCLUSIVE,
				.in_tree = k != PM_REC_FLAT,
				.in_flat = k != PM_REC_EXCL || !r->has_lines,
				.decreases = q->decreases,
				.fractions = q->decimals > 0,
				.has_values = true,
				.name = q->name,
				.unit = q->unit,
				.scope = pm_bytes_of(q->count ? "point" : scopes[k])};
		}
	}
	w->metrics.metrics = w->metric_list;
	w->metrics.leads = r->primary == PM_NONE ? 0 : r->primary + 1;
}

/* ---- the tree ---- */

/* Whether a context's inclusive cost is no part of its parent's. */
static bool is_apart(const struct pm_recording *r, uint32_t context)
{
	return r->known_of && (r->known_of[context] & PM_REC_APART);
}

/* By path: what siblings are ordered by, the amount of inclusive cost. */
static double *weigh(struct pm_arena *scratch, const struct pm_recording *r, uint32_t leading)
{
	double *weight = pm_arena_zeroed(scratch, r->paths.n, sizeof(*weight));
	if (leading == PM_NONE)
		return weight;
	for (size_t i = 0; i < r->n_cells; i++)
		if ((r->cells[i].quantity & ~PM_REC_THROUGH) == leading)
			weight[r->cells[i].context] +=
				number_of(&r->quantities[leading], &r->cells[i]);
	for (uint32_t i = r->paths.n; i-- > 0;)
		if (r->paths.items[i].parent != PM_NONE && !is_apart(r, i))
			weight[r->paths.items[i].parent] += weight[i];
	for (uint32_t i = 0; i < r->paths.n; i++)
		weight[i] =
			r->known_of && (r->known_of[i] & PM_REC_NO_INCL) ? NAN : fabs(weight[i]);
	return weight;
}

/* Cells refer to contexts of the tree from then on. */
static void freeze_tree(struct pm_arena *scratch, struct pm_recording *r, struct pm_rec_whole *w,
	uint32_t leading, struct pm_error *err)
{
	struct pm_tree_builder *tree = r->tree;
	double *weight = weigh(scratch, r, leading);
	for (uint32_t i = 0; i < r->paths.n; i++) {
		if (i % BETWEEN_QUESTIONS == 0)
			pm_build_proceed(scratch);
		if (pm_tree_add(tree, r->paths.items[i].parent, r->paths.items[i].key, 0) ==
			PM_NONE)
			pm_build_fail(scratch, PM_NO_MEMORY);
	}
	pm_paths_done(&r->paths);
	pm_arena_free(&r->arena, r->depths);
	r->depths = NULL;
	r->tree = NULL;
	pm_build_check(scratch, pm_tree_freeze(tree, weight, &w->tree, &r->path_contexts, err));
	pm_arena_free(scratch, weight);
	const uint32_t *index = r->path_contexts;
	for (size_t i = 0; i < r->n_cells; i++)
		r->cells[i].context = index[r->cells[i].context];
	if (r->known_of) {
		uint8_t *known = pm_arena_zeroed(&r->arena, w->tree->n_contexts, 1);
		for (uint32_t i = 0; i < w->tree->n_contexts; i++)
			known[index[i]] = r->known_of[i];
		pm_arena_free(&r->arena, r->known_of);
		r->known_of = known;
	}
	w->tree->ordered_by = leading;
	if (r->n_traces == 0) {
		free(r->path_contexts);
		r->path_contexts = NULL;
	}
}

/* ---- sums of the run ---- */

static void add_to(union pm_rec_number *to, bool real, union pm_rec_number by)
{
	if (real)
		to->f += by.f;
	else
		to->i += by.i;
}

static union pm_rec_number cell_number(
	const struct pm_rec_quantity *q, const struct pm_rec_cell *c, bool real)
{
	return real ? (union pm_rec_number){.f = number_of(q, c)}
		    : (union pm_rec_number){.i = (int64_t)c->i};
}

/*
 * Decimals are summed as integers, so that 0.1 + 0.2 is 0.3: as long as they fit, they become
 * doubles when all is added up.
 */
static bool is_scaled(const struct pm_rec_quantity *q, const struct pm_rec_whole *w, uint32_t i)
{
	return w->real[i * PM_REC_N] && !q->real && q->decimals > 0;
}

static void sum_scaled(struct pm_arena *scratch, const struct pm_recording *r,
	struct pm_rec_whole *w, uint32_t quantity)
{
	const struct pm_tree *tree = w->tree;
	long double scale = power(r->quantities[quantity].decimals);
	__int128 *sum = pm_arena_zeroed(scratch, tree->n_contexts, sizeof(*sum));
	for (unsigned k = 0; k < PM_REC_N; k++) {
		union pm_rec_number *to = w->sums[quantity * PM_REC_N + k];
		memset(sum, 0, (size_t)tree->n_contexts * sizeof(*sum));
		for (size_t i = 0; i < r->n_cells; i++)
			if (r->cells[i].quantity == quantity ||
				(k == PM_REC_INCL &&
					r->cells[i].quantity == pm_rec_through(quantity)))
				sum[r->cells[i].context] += r->cells[i].i;
		for (uint32_t i = tree->n_contexts; to && i-- > 0;) {
			bool rises = (k == PM_REC_INCL && !is_apart(r, i)) ||
				(k == PM_REC_FLAT && pm_tree_frame(tree, i)->nested);
			if (rises && tree->parent[i] != PM_NONE)
				sum[tree->parent[i]] += sum[i];
			to[i].f = (double)((long double)sum[i] / scale);
		}
	}
	pm_arena_free(scratch, sum);
}

static void sum_quantity(struct pm_arena *scratch, const struct pm_recording *r,
	struct pm_rec_whole *w, uint32_t quantity)
{
	const struct pm_rec_quantity *q = &r->quantities[quantity];
	const struct pm_tree *tree = w->tree;
	union pm_rec_number **to = &w->sums[quantity * PM_REC_N];
	bool real = w->real[quantity * PM_REC_N];
	if (is_scaled(q, w, quantity)) {
		sum_scaled(scratch, r, w, quantity);
		return;
	}
	for (size_t i = 0; i < r->n_cells; i++)
		if (r->cells[i].quantity == quantity)
			add_to(&to[PM_REC_EXCL][r->cells[i].context], real,
				cell_number(q, &r->cells[i], real));
	for (unsigned k = 0; k < PM_REC_N; k++)
		if (k != PM_REC_EXCL && to[k])
			memcpy(to[k], to[PM_REC_EXCL], (size_t)tree->n_contexts * sizeof(*to[k]));
	for (size_t i = 0; to[PM_REC_INCL] && r->has_edges && i < r->n_cells; i++)
		if (r->cells[i].quantity == pm_rec_through(quantity))
			add_to(&to[PM_REC_INCL][r->cells[i].context], real,
				cell_number(q, &r->cells[i], real));
	for (uint32_t i = tree->n_contexts; i-- > 0;) {
		if (i % BETWEEN_QUESTIONS == 0)
			pm_build_proceed(scratch);
		uint32_t parent = tree->parent[i];
		if (parent == PM_NONE)
			continue;
		if (to[PM_REC_INCL] && !is_apart(r, i))
			add_to(&to[PM_REC_INCL][parent], real, to[PM_REC_INCL][i]);
		if (to[PM_REC_FLAT] && pm_tree_frame(tree, i)->nested)
			add_to(&to[PM_REC_FLAT][parent], real, to[PM_REC_FLAT][i]);
	}
}

static void sum_run(struct pm_arena *scratch, struct pm_recording *r, struct pm_rec_whole *w,
	struct pm_error *err)
{
	size_t n = w->tree->n_contexts, numbers = n * w->metrics.n;
	size_t most = PM_LIMIT_SUMS + PM_LIMIT_SUMS_EACH * (r->n_cells + n);
	if (numbers > most)
		pm_build_check(scratch,
			pm_error_set(err, -ENOMEM, pm_rec_file(r), PM_NO_OFFSET,
				"costs of %zu contexts in %zu quantities, for %zu values, are more "
				"than %zu numbers",
				n, r->n_quantities, r->n_cells, most));
	for (uint32_t i = 0; i < w->metrics.n; i++)
		w->sums[w->metric_list[i].id] = pm_arena_array(&r->arena, n, sizeof(**w->sums));
	for (uint32_t i = 0; i < r->n_quantities; i++)
		sum_quantity(scratch, r, w, i);
}

/* ---- threads ---- */

/*
 * Text ids get the smallest positive numbers that no number of that key has, in the order in which
 * they came.
 */
static void number_texts(struct pm_arena *scratch, struct pm_recording *r)
{
	struct pm_map taken = {.arena = scratch}, given = {.arena = scratch};
	uint64_t next[sizeof(r->keys) / sizeof(r->keys[0])] = {0};
	bool fresh;
	for (size_t i = 0; i < r->n_threads; i++)
		for (unsigned k = 0; k < r->threads[i].n; k++) {
			const struct pm_rec_thread_of *t = &r->threads[i];
			if (!t->is_text[k] && t->value[k] < PM_LIMIT_ITEMS)
				pm_map_put(
					&taken, (uint64_t)t->key[k] << 32 | t->value[k], 1, &fresh);
		}
	for (size_t i = 0; i < r->n_threads; i++)
		for (unsigned k = 0; k < r->threads[i].n; k++) {
			struct pm_rec_thread_of *t = &r->threads[i];
			uint64_t *at = &next[t->key[k]];
			if (!t->is_text[k])
				continue;
			uint32_t *number = pm_map_put(
				&given, (uint64_t)t->key[k] << 32 | t->value[k], 0, &fresh);
			if (*number == 0) {
				do
					++*at;
				while (pm_map_find(&taken, (uint64_t)t->key[k] << 32 | *at));
				*number = (uint32_t)*at;
			}
			t->value[k] = *number;
		}
}

/* A text id is the name of a thread that has no other, or of its process. */
static void name_threads(struct pm_recording *r)
{
	for (size_t i = 0; i < r->n_threads; i++) {
		struct pm_rec_thread_of *t = &r->threads[i];
		for (unsigned k = 0; k < t->n; k++) {
			uint32_t *name = k + 1 == t->n ? &t->name : &t->process;
			if (t->is_text[k] && *name == 0) /* if there is no memory, freezing fails */
				*name = pm_tree_text(
					r->tree, r->thread_texts.items[t->value[k]], true);
		}
	}
}

static void list_threads(struct pm_arena *scratch, struct pm_recording *r, struct pm_rec_whole *w)
{
	size_t n = r->has_no_thread ? 0 : r->n_threads;
	struct pm_thread *threads = pm_arena_array(&r->arena, n, sizeof(*threads));
	const char **keys = pm_arena_array(&r->arena, r->n_keys, sizeof(*keys));
	number_texts(scratch, r);
	for (unsigned i = 0; i < r->n_keys; i++)
		keys[i] = r->keys[i];
	for (size_t i = 0; i < n; i++) {
		const struct pm_rec_thread_of *t = &r->threads[i];
		struct pm_identity *ids = pm_arena_array(&r->arena, t->n, sizeof(*ids));
		for (unsigned k = 0; k < t->n; k++)
			ids[k] = (struct pm_identity){t->key[k], t->value[k]};
		threads[i] = (struct pm_thread){.id = (uint32_t)i,
			.n_identity = t->n,
			.identity = ids,
			.on_gpu = t->on_gpu,
			.is_lane = t->is_lane,
			.name = w->tree->texts[t->name],
			.process = w->tree->texts[t->process]};
		w->threads.n_lanes += t->is_lane;
		if (i < r->n_traces && r->traces[i].n > 0) {
			threads[i].has_trace = true;
			threads[i].n_samples = r->traces[i].n;
		}
		w->threads.has_names |= t->name != 0;
		w->threads.has_processes |= t->process != 0;
	}
	w->threads.n = (uint32_t)n;
	w->threads.threads = threads;
	w->threads.n_keys = r->n_keys;
	w->threads.keys = keys;
}

/* ---- costs by thread ---- */

/* The contexts of one thread: those with own costs, and all above them. */
struct climb {
	struct pm_arena *a;
	const struct pm_rec_opened *o;
	const struct pm_recording *r;
	const struct pm_tree *tree;
	struct pm_costs *costs;
	uint32_t *place; /* by context: in `list`, + 1; only of the thread at hand */
	uint32_t *list;  /* contexts in order */
	uint32_t n;
	union pm_rec_number *sums; /* by place: a number a kind */
	bool expects;
};

static int ascending(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static void find_contexts(struct climb *c, const struct pm_rec_cell *cells, size_t n)
{
	c->n = 0;
	for (size_t i = 0; i < n; i++)
		for (uint32_t at = cells[i].context; at != PM_NONE && !c->place[at];
			at = c->tree->parent[at]) {
			c->place[at] = 1;
			c->list[c->n++] = at;
		}
	pm_build_check(c->a, pm_sort(c->list, c->n, sizeof(*c->list), ascending));
	for (uint32_t i = 0; i < c->n; i++)
		c->place[c->list[i]] = i + 1;
}

/* The costs of one quantity: `n` cells of one thread. */
static void climb_quantity(struct climb *c, const struct pm_rec_cell *cells, size_t n)
{
	uint32_t quantity = cells[0].quantity & ~PM_REC_THROUGH, thread = cells[0].thread;
	const struct pm_rec_quantity *q = &c->r->quantities[quantity];
	bool real = c->o->whole.real[quantity * PM_REC_N];
	memset(c->sums, 0, (size_t)c->n * PM_REC_N * sizeof(*c->sums));
	for (size_t i = 0; i < n; i++) {
		union pm_rec_number *at =
			&c->sums[(size_t)(c->place[cells[i].context] - 1) * PM_REC_N];
		union pm_rec_number v = cell_number(q, &cells[i], real);
		bool through = cells[i].quantity & PM_REC_THROUGH;
		for (unsigned k = 0; k < PM_REC_N; k++)
			if (!through || k == PM_REC_INCL)
				add_to(&at[k], real, v);
	}
	for (uint32_t i = c->n; i-- > 0;) {
		if (i % BETWEEN_QUESTIONS == 0)
			pm_build_proceed(c->a);
		uint32_t context = c->list[i], parent = c->tree->parent[context];
		union pm_rec_number *at = &c->sums[(size_t)i * PM_REC_N];
		for (uint32_t k = 0; k < PM_REC_N; k++) {
			uint32_t id = quantity * PM_REC_N + k;
			if (!c->o->whole.sums[id] || !pm_rec_is_known(c->r, context, id))
				continue;
			if (c->expects)
				pm_costs_expect(c->costs, context);
			else if (real)
				pm_costs_add(c->costs, thread, context, id, at[k].f);
			else
				pm_costs_add_whole(c->costs, thread, context, id, at[k].i);
		}
		if (parent == PM_NONE)
			continue;
		union pm_rec_number *up = &c->sums[(size_t)(c->place[parent] - 1) * PM_REC_N];
		if (!is_apart(c->r, context))
			add_to(&up[PM_REC_INCL], real, at[PM_REC_INCL]);
		if (pm_tree_frame(c->tree, context)->nested)
			add_to(&up[PM_REC_FLAT], real, at[PM_REC_FLAT]);
	}
}

static int by_thread_and_quantity(const void *a, const void *b)
{
	const struct pm_rec_cell *x = a, *y = b;
	uint32_t a_quantity = x->quantity & ~PM_REC_THROUGH;
	uint32_t b_quantity = y->quantity & ~PM_REC_THROUGH;
	if (x->thread != y->thread)
		return x->thread < y->thread ? -1 : 1;
	return (a_quantity > b_quantity) - (a_quantity < b_quantity);
}

static void climb_threads(struct climb *c)
{
	const struct pm_rec_cell *cells = c->r->cells;
	size_t n = c->r->n_cells;
	for (size_t first = 0, end; first < n; first = end) {
		pm_build_proceed(c->a);
		for (end = first; end < n && cells[end].thread == cells[first].thread;)
			end++;
		find_contexts(c, cells + first, end - first);
		for (size_t from = first, to; from < end; from = to) {
			for (to = from; to < end &&
				(cells[to].quantity | PM_REC_THROUGH) ==
					(cells[from].quantity | PM_REC_THROUGH);)
				to++;
			climb_quantity(c, cells + from, to - from);
		}
		for (uint32_t i = 0; i < c->n; i++)
			c->place[c->list[i]] = 0;
	}
}

static void build_thread_costs(struct pm_arena *a, void *owner, void *part, struct pm_error *err)
{
	struct pm_rec_opened *o = owner;
	struct pm_rec_whole *w = &o->whole;
	struct pm_arena *scratch = pm_arena_scratch(a);
	uint32_t n = w->tree->n_contexts;
	struct climb c = {.a = scratch,
		.o = o,
		.r = &o->recording,
		.tree = w->tree,
		.costs = part,
		.place = pm_arena_array(scratch, n, sizeof(*c.place)),
		.list = pm_arena_realloc(scratch, NULL, n * sizeof(*c.list)),
		.sums = pm_arena_realloc(scratch, NULL, (size_t)n * PM_REC_N * sizeof(*c.sums)),
		.expects = true};
	(void)err;
	pm_build_check(a,
		pm_sort(o->recording.cells, o->recording.n_cells, sizeof(struct pm_rec_cell),
			by_thread_and_quantity));
	*c.costs = pm_costs_in(a, w->threads.n, n);
	climb_threads(&c);
	c.expects = false;
	pm_costs_place(c.costs);
	climb_threads(&c);
	pm_costs_freeze(c.costs);
	pm_arena_done(scratch);
}

int pm_rec_thread_costs(struct pm_rec_opened *o, const struct pm_costs **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {.size = sizeof(struct pm_costs),
		.build = build_thread_costs,
		.what = "the costs of threads"};
	return pm_part_get(&o->thread_costs, &type, o, ret, err);
}

/* ---- the whole ---- */

struct sealing {
	struct pm_recording *r;
	struct pm_rec_whole *w;
	struct pm_error *err;
};

static void seal(void *context)
{
	const struct sealing *s = context;
	struct pm_recording *r = s->r;
	struct pm_rec_whole *w = s->w;
	struct pm_arena *a = &r->arena, *scratch = pm_arena_scratch(a);
	size_t n = r->n_quantities * PM_REC_N;
	w->metric_list = pm_arena_array(a, n, sizeof(*w->metric_list));
	w->sums = pm_arena_array(a, n, sizeof(*w->sums));
	w->real = pm_arena_array(a, n, sizeof(*w->real));
	if (r->has_edges)
		pm_rec_graph(r);
	const double *wholes = settle_quantities(scratch, r, w);
	list_metrics(r, w);
	name_threads(r);
	freeze_tree(scratch, r, w,
		w->metrics.leads ? w->metrics.leads - 1 : pm_quantity_leading(&w->metrics, wholes),
		s->err);
	sum_run(scratch, r, w, s->err);
	pm_rec_seal_traces(r);
	list_threads(scratch, r, w);
	w->damages = pm_damage_rows(&r->damage);
	pm_fingerprints_done(&r->cell_index);
	if (w->threads.n == 0) {
		pm_arena_free(a, r->cells);
		r->cells = NULL;
		r->n_cells = 0;
	}
	pm_arena_done(scratch);
}

int pm_rec_seal(struct pm_recording *r, struct pm_rec_whole *w, struct pm_error *err)
{
	struct sealing s = {r, w, err};
	return pm_build(&r->arena, seal, &s);
}

void pm_rec_whole_done(struct pm_rec_whole *w)
{
	pm_tree_free(w->tree);
	*w = (struct pm_rec_whole){.tree = NULL};
}
