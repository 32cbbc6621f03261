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
#include "formats/common/work.h"
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

static int settle_quantities(struct pm_recording *r, struct pm_rec_whole *w, double *wholes)
{
	unsigned __int128 *amounts = calloc(r->n_quantities + 1, sizeof(*amounts));
	if (!amounts)
		return -ENOMEM;
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
	free(amounts);
	return 0;
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
static double *weigh(const struct pm_recording *r, uint32_t leading)
{
	double *weight = calloc((size_t)r->paths.n + 1, sizeof(*weight));
	if (!weight || leading == PM_NONE)
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
static int freeze_tree(
	struct pm_recording *r, struct pm_rec_whole *w, uint32_t leading, struct pm_error *err)
{
	uint32_t *index = NULL;
	double *weight = weigh(r, leading);
	int e = weight ? 0 : -ENOMEM;
	for (uint32_t i = 0; e == 0 && i < r->paths.n; i++)
		if ((i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled()) ||
			pm_tree_add(r->tree, r->paths.items[i].parent, r->paths.items[i].key, 0) ==
				PM_NONE)
			e = -ENOMEM;
	pm_paths_done(&r->paths);
	free(r->depths);
	r->depths = NULL;
	if (e == 0) {
		e = pm_tree_freeze(r->tree, weight, &w->tree, &index, err);
		r->tree = NULL;
	}
	for (size_t i = 0; e == 0 && i < r->n_cells; i++)
		r->cells[i].context = index[r->cells[i].context];
	if (e == 0 && r->known_of) {
		uint8_t *known = malloc((size_t)w->tree->n_contexts + 1);
		for (uint32_t i = 0; known && i < w->tree->n_contexts; i++)
			known[index[i]] = r->known_of[i];
		free(r->known_of);
		r->known_of = known;
		e = known ? 0 : -ENOMEM;
	}
	if (e == 0)
		w->tree->ordered_by = leading;
	if (e == 0 && r->n_traces > 0) {
		r->path_contexts = index;
		index = NULL;
	}
	free(weight);
	free(index);
	return e;
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

static int sum_scaled(const struct pm_recording *r, struct pm_rec_whole *w, uint32_t quantity)
{
	const struct pm_tree *tree = w->tree;
	long double scale = power(r->quantities[quantity].decimals);
	__int128 *sum = malloc(((size_t)tree->n_contexts + 1) * sizeof(*sum));
	for (unsigned k = 0; sum && k < PM_REC_N; k++) {
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
	free(sum);
	return sum ? 0 : -ENOMEM;
}

static int sum_quantity(const struct pm_recording *r, struct pm_rec_whole *w, uint32_t quantity)
{
	const struct pm_rec_quantity *q = &r->quantities[quantity];
	const struct pm_tree *tree = w->tree;
	union pm_rec_number **to = &w->sums[quantity * PM_REC_N];
	bool real = w->real[quantity * PM_REC_N];
	if (is_scaled(q, w, quantity))
		return sum_scaled(r, w, quantity);
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
		if (i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled())
			return PM_CANCELLED;
		uint32_t parent = tree->parent[i];
		if (parent == PM_NONE)
			continue;
		if (to[PM_REC_INCL] && !is_apart(r, i))
			add_to(&to[PM_REC_INCL][parent], real, to[PM_REC_INCL][i]);
		if (to[PM_REC_FLAT] && pm_tree_frame(tree, i)->nested)
			add_to(&to[PM_REC_FLAT][parent], real, to[PM_REC_FLAT][i]);
	}
	return 0;
}

static int sum_run(struct pm_recording *r, struct pm_rec_whole *w, struct pm_error *err)
{
	size_t n = w->tree->n_contexts, numbers = n * w->metrics.n;
	size_t most = PM_LIMIT_SUMS + PM_LIMIT_SUMS_EACH * (r->n_cells + n);
	if (numbers > most)
		return pm_error_set(err, -ENOMEM, pm_rec_file(r), PM_NO_OFFSET,
			"costs of %zu contexts in %zu quantities, for %zu values, are more than "
			"%zu numbers",
			n, r->n_quantities, r->n_cells, most);
	for (uint32_t i = 0; i < w->metrics.n; i++) {
		uint32_t id = w->metric_list[i].id;
		w->sums[id] = calloc(n + 1, sizeof(**w->sums));
		if (!w->sums[id])
			return -ENOMEM;
	}
	for (uint32_t i = 0; i < r->n_quantities; i++)
		if (sum_quantity(r, w, i) < 0)
			return -ENOMEM;
	return 0;
}

/* ---- threads ---- */

/*
 * Text ids get the smallest positive numbers that no number of that key has, in the order in which
 * they came.
 */
static int number_texts(struct pm_recording *r)
{
	struct pm_map taken = {.n = 0}, given = {.n = 0};
	uint64_t next[sizeof(r->keys) / sizeof(r->keys[0])] = {0};
	bool fresh, ok = true;
	for (size_t i = 0; i < r->n_threads; i++)
		for (unsigned k = 0; k < r->threads[i].n && ok; k++) {
			const struct pm_rec_thread_of *t = &r->threads[i];
			if (!t->is_text[k] && t->value[k] < PM_LIMIT_ITEMS)
				ok = pm_map_put(
					&taken, (uint64_t)t->key[k] << 32 | t->value[k], 1, &fresh);
		}
	for (size_t i = 0; i < r->n_threads; i++)
		for (unsigned k = 0; k < r->threads[i].n && ok; k++) {
			struct pm_rec_thread_of *t = &r->threads[i];
			uint64_t *at = &next[t->key[k]];
			if (!t->is_text[k])
				continue;
			uint32_t *number = pm_map_put(
				&given, (uint64_t)t->key[k] << 32 | t->value[k], 0, &fresh);
			if (number && *number == 0) {
				do
					++*at;
				while (pm_map_find(&taken, (uint64_t)t->key[k] << 32 | *at));
				*number = (uint32_t)*at;
			}
			ok = number;
			t->value[k] = number ? *number : 0;
		}
	pm_map_done(&taken);
	pm_map_done(&given);
	return ok ? 0 : -ENOMEM;
}

/* A text id is the name of a thread that has no other, or of its process. */
static void name_threads(struct pm_recording *r)
{
	for (size_t i = 0; i < r->n_threads; i++) {
		struct pm_rec_thread_of *t = &r->threads[i];
		for (unsigned k = 0; k < t->n; k++) {
			uint32_t *name = k + 1 == t->n ? &t->name : &t->process;
			if (t->is_text[k] && *name == 0) {
				uint32_t known = pm_tree_text(
					r->tree, r->thread_texts.items[t->value[k]], true);
				*name = known == PM_NONE ? 0 : known;
			}
		}
	}
}

static int list_threads(struct pm_recording *r, struct pm_rec_whole *w)
{
	size_t n = r->has_no_thread ? 0 : r->n_threads;
	struct pm_thread *threads = pm_arena_array(&r->arena, n + 1, sizeof(*threads));
	const char **keys = pm_arena_array(&r->arena, r->n_keys + 1, sizeof(*keys));
	if (!threads || !keys || number_texts(r) < 0)
		return -ENOMEM;
	for (unsigned i = 0; i < r->n_keys; i++)
		keys[i] = r->keys[i];
	for (size_t i = 0; i < n; i++) {
		const struct pm_rec_thread_of *t = &r->threads[i];
		struct pm_identity *ids = pm_arena_array(&r->arena, t->n + 1u, sizeof(*ids));
		if (!ids)
			return -ENOMEM;
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
	return 0;
}

/* ---- costs by thread ---- */

/* The contexts of one thread: those with own costs, and all above them. */
struct climb {
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

static int find_contexts(struct climb *c, const struct pm_rec_cell *cells, size_t n)
{
	c->n = 0;
	for (size_t i = 0; i < n; i++)
		for (uint32_t at = cells[i].context; at != PM_NONE && !c->place[at];
			at = c->tree->parent[at]) {
			c->place[at] = 1;
			c->list[c->n++] = at;
		}
	if (pm_sort(c->list, c->n, sizeof(*c->list), ascending) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < c->n; i++)
		c->place[c->list[i]] = i + 1;
	return 0;
}

/* The costs of one quantity: `n` cells of one thread. */
static int climb_quantity(struct climb *c, const struct pm_rec_cell *cells, size_t n)
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
		if (i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled())
			return PM_CANCELLED;
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
	return 0;
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

static int climb_threads(struct climb *c)
{
	const struct pm_rec_cell *cells = c->r->cells;
	size_t n = c->r->n_cells;
	for (size_t first = 0, end; first < n; first = end) {
		if (pm_work_cancelled())
			return PM_CANCELLED;
		for (end = first; end < n && cells[end].thread == cells[first].thread;)
			end++;
		if (find_contexts(c, cells + first, end - first) < 0)
			return -ENOMEM;
		for (size_t from = first, to; from < end; from = to) {
			for (to = from; to < end &&
				(cells[to].quantity | PM_REC_THROUGH) ==
					(cells[from].quantity | PM_REC_THROUGH);)
				to++;
			if (climb_quantity(c, cells + from, to - from) < 0)
				return -ENOMEM;
		}
		for (uint32_t i = 0; i < c->n; i++)
			c->place[c->list[i]] = 0;
	}
	return 0;
}

static int thread_costs_fill(void *owner, void *part, struct pm_error *err)
{
	struct pm_rec_opened *o = owner;
	struct pm_rec_whole *w = &o->whole;
	struct climb c = {.o = o, .r = &o->recording, .tree = w->tree, .costs = part};
	size_t n = w->tree->n_contexts;
	(void)err;
	c.place = calloc(n + 1, sizeof(*c.place));
	c.list = malloc((n + 1) * sizeof(*c.list));
	c.sums = malloc((n + 1) * PM_REC_N * sizeof(*c.sums));
	c.expects = true;
	int r = c.place && c.list && c.sums ? 0 : -ENOMEM;
	if (r == 0)
		r = pm_sort(o->recording.cells, o->recording.n_cells, sizeof(struct pm_rec_cell),
			by_thread_and_quantity);
	if (r == 0)
		r = pm_costs_init(c.costs, w->threads.n, (uint32_t)n);
	if (r == 0)
		r = climb_threads(&c);
	c.expects = false;
	if (r == 0)
		r = pm_costs_place(c.costs);
	if (r == 0)
		r = climb_threads(&c);
	if (r == 0)
		r = pm_costs_freeze(c.costs);
	free(c.place);
	free(c.list);
	free(c.sums);
	return r;
}

static void thread_costs_done(void *part)
{
	pm_costs_done(part);
}

int pm_rec_thread_costs(struct pm_rec_opened *o, const struct pm_costs **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {sizeof(struct pm_costs), thread_costs_fill,
		thread_costs_done, .what = "the costs of threads"};
	return pm_part_get(&o->thread_costs, &type, o, ret, err);
}

/* ---- the whole ---- */

int pm_rec_seal(struct pm_recording *r, struct pm_rec_whole *w, struct pm_error *err)
{
	size_t n = r->n_quantities * PM_REC_N + 1;
	double *wholes = calloc(r->n_quantities + 1, sizeof(*wholes));
	w->n_quantities = (uint32_t)r->n_quantities;
	w->metric_list = calloc(n, sizeof(*w->metric_list));
	w->sums = calloc(n, sizeof(*w->sums));
	w->real = calloc(n, sizeof(*w->real));
	int e = wholes && w->metric_list && w->sums && w->real ? 0 : -ENOMEM;
	if (e == 0 && r->has_edges)
		e = pm_rec_graph(r);
	if (e == 0)
		e = settle_quantities(r, w, wholes);
	if (e == 0) {
		list_metrics(r, w);
		name_threads(r);
		e = freeze_tree(r, w,
			w->metrics.leads ? w->metrics.leads - 1
					 : pm_quantity_leading(&w->metrics, wholes),
			err);
	}
	if (e == 0)
		e = sum_run(r, w, err);
	if (e == 0)
		e = pm_rec_seal_traces(r);
	if (e == 0)
		e = list_threads(r, w);
	if (e == 0)
		w->damages = pm_damage_rows(&r->damage);
	free(wholes);
	pm_fingerprints_done(&r->cell_index);
	if (w->threads.n == 0) {
		free(r->cells);
		r->cells = NULL;
		r->n_cells = 0;
	}
	return e;
}

void pm_rec_whole_done(struct pm_rec_whole *w)
{
	for (uint32_t i = 0; w->sums && i < w->n_quantities * PM_REC_N; i++)
		free(w->sums[i]);
	free(w->sums);
	free(w->real);
	free(w->metric_list);
	pm_tree_free(w->tree);
	*w = (struct pm_rec_whole){.tree = NULL};
}
