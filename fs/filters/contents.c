/*
 * What of a profile matches, and where each context of it goes: contexts of the filtered tree are
 * made in the order of the database, so that of several that become one the first gives its number.
 */
#include <math.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/pipeline.h"
#include "formats/common/tree.h"
#include "formats/common/work.h"
#include "fs/filters/internal.h"
#include "fs/views/model/categories.h"
#include "fs/views/model/identity.h"

enum { BETWEEN_QUESTIONS = 1 << 12 };

struct filling {
	struct pm_arena *a, *scratch; /* of the contents; while they are built */
	struct pmfs_filter *f;
	struct pmfs_filter_contents *c;
	const struct pm_tree *whole;
	const struct pmfs_identity *id;
	const uint8_t *categories;
	uint8_t *says;     /* by function: 0 not asked, 1 no, 2 yes */
	bool *hit;         /* by context: its frame matches */
	bool *under;       /* it or one above it does */
	bool *valued;      /* the whole run has values of it */
	uint32_t *by_rank; /* contexts */
	uint32_t *up;      /* by context: the node that it is, or that what is below hangs under */
	uint32_t *from;    /* by node: its first context; PM_NONE: (hidden) */
	uint32_t *frame;   /* by frame: the first that is the same; NULL: all are different */
	uint32_t n;        /* nodes */
	uint32_t *parent_of, *frame_of; /* by node */
	struct pm_map hidden;           /* node + 1 → (hidden) below it */
	bool *wanted;                   /* by context: it is not left out */
	bool *loses;                    /* something below it is */
	bool *twin;                     /* a sibling has the same frame */
	struct pm_map siblings;         /* of these: parent << 32 | frame → how many so far */
	struct pm_map keys;             /* of further siblings with that frame */
	uint32_t n_groups;              /* of contexts that become one; `up` has them at first */
	uint32_t *of_group;             /* its last context, then its node */
	uint32_t *before;               /* by context: the one before it in its group */
};

/* ---- matching ---- */

/* A name of an entry of functions/ is that function alone: `name~2` the second of that name. */
static void find_entry(struct filling *l)
{
	const struct pmfs_filter *f = l->f;
	struct pm_bytes text = f->pattern.rest;
	char name[PM_GLOB_SIZE];
	size_t base = text.len;
	unsigned long number = 0;
	/* Behind `name:` is a glob. */
	if (f->pattern.of != PMFS_PATTERN_NAME || text.len < f->pattern.len || !f->what.entry_name)
		return;
	while (base > 0 && text.p[base - 1] >= '0' && text.p[base - 1] <= '9')
		base--;
	if (base > 1 && base < text.len && text.len - base < 10 && text.p[base - 1] == '~')
		number = strtoul((const char *)text.p + base, NULL, 10);
	uint32_t n = 0, whole = PM_NONE, numbered = PM_NONE;
	uint8_t *has = pm_arena_alloc(l->scratch, (size_t)l->id->n + 1);
	for (uint32_t i = 0; i < l->whole->n_contexts; i++)
		if (pmfs_is_call(l->id, i))
			has[pmfs_function_of(l->id, i)] = 1;
	for (uint32_t i = 0; i < l->id->n; i++) {
		if (i % BETWEEN_QUESTIONS == 0)
			pm_build_proceed(l->a);
		if (!has[i])
			continue;
		struct pm_bytes legal = {
			(const uint8_t *)name, f->what.entry_name(l->id->functions[i].name, name)};
		if (whole == PM_NONE && pm_bytes_equal(legal, text))
			whole = i;
		if (number > 1 && pm_bytes_equal(legal, (struct pm_bytes){text.p, base - 1}) &&
			++n == number)
			numbered = i;
	}
	uint32_t found = whole != PM_NONE ? whole : numbered;
	if (found != PM_NONE) {
		memset(l->says, 1, l->id->n);
		l->says[found] = 2;
	}
}

static bool function_matches(struct filling *l, uint32_t function)
{
	const struct pmfs_pattern *p = &l->f->pattern;
	const struct pmfs_function *is = &l->id->functions[function];
	if (l->says[function] == 0) {
		bool yes = p->of == PMFS_PATTERN_NAME
			? pmfs_pattern_has_name(p, is->name)
			: pmfs_pattern_has_path(p,
				  l->whole->texts[p->of == PMFS_PATTERN_MODULE ? is->module
									       : is->file]);
		l->says[function] = yes ? 2 : 1;
	}
	return l->says[function] == 2;
}

static bool kind_matches(const struct filling *l, uint32_t i)
{
	struct pm_text scratch = {.p = NULL};
	struct pm_bytes kind = pmfs_frame_kind(pm_tree_frame(l->whole, i), &scratch);
	bool matches = pm_bytes_equal(kind, l->f->pattern.rest);
	pm_text_done(&scratch);
	return matches;
}

/* Frames, which are far apart in memory, are looked at where they have to be. */
static bool is_entry(const struct filling *l, uint32_t i)
{
	return pmfs_function_of(l->id, i) == l->id->unknown &&
		pm_tree_frame(l->whole, i)->kind == PM_KIND_ENTRY;
}

/* Whether the frame that a context is, or belongs to, matches. Those above are known. */
static bool matches(struct filling *l, uint32_t i)
{
	uint32_t parent = l->whole->parent[i];
	enum pmfs_pattern_of of = l->f->pattern.of;
	if (of == PMFS_PATTERN_KIND)
		return kind_matches(l, i);
	if (!pmfs_is_call(l->id, i))
		return parent != PM_NONE && l->hit[parent] && !is_entry(l, i);
	if (of == PMFS_PATTERN_CATEGORY) {
		enum pmfs_category category = (enum pmfs_category)l->categories[i];
		struct pm_bytes name = category == PMFS_PROGRAM ? pm_bytes_of("program")
								: pmfs_category_name(category);
		return pm_bytes_equal(name, l->f->pattern.rest) && !is_entry(l, i);
	}
	return function_matches(l, pmfs_function_of(l->id, i)) && !is_entry(l, i);
}

/* Samples of context 0 are shown like those of a placeholder of category idle. */
static bool matches_nothing(const struct pmfs_pattern *p)
{
	if (p->of == PMFS_PATTERN_KIND)
		return pm_bytes_equal(p->rest, pm_bytes_of("placeholder"));
	if (p->of == PMFS_PATTERN_CATEGORY)
		return pm_bytes_equal(p->rest, pm_bytes_of("idle"));
	return p->of == PMFS_PATTERN_NAME ? pmfs_pattern_has_name(p, pm_bytes_of("<no activity>"))
					  : pmfs_pattern_has_path(p, (struct pm_bytes){.len = 0});
}

static void find_matches(struct filling *l)
{
	l->c->hits_nothing = matches_nothing(&l->f->pattern);
	for (uint32_t i = 0; i < l->whole->n_contexts; i++) {
		uint32_t parent = l->whole->parent[i];
		if (i % BETWEEN_QUESTIONS == 0)
			pm_build_proceed(l->a);
		l->hit[i] = matches(l, i);
		l->under[i] = l->hit[i] || (parent != PM_NONE && l->under[parent]);
		l->c->has_matches |= l->hit[i];
	}
}

/* ---- where contexts go ---- */

/* The last that was seen with a frame, a context or a group, and among which siblings. */
struct last {
	uint32_t mark, it;
};

/* A database may have several records of a function: their frames become one when they meet. */
static void find_same_frames(struct filling *l)
{
	const struct pm_tree *t = l->whole;
	uint32_t n_same = 0;
	while (n_same < t->n_functions && l->id->same[n_same] == n_same)
		n_same++;
	if (n_same == t->n_functions)
		return;
	struct pm_arena *scratch = pm_arena_scratch(l->scratch);
	struct pm_strtab known = {.home = scratch};
	struct pm_frame *keys = pm_arena_array(scratch, (size_t)t->n_frames + 1, sizeof(*keys));
	l->frame = pm_arena_array(l->scratch, (size_t)t->n_frames + 1, sizeof(*l->frame));
	for (uint32_t i = 0; i < t->n_frames; i++) {
		const struct pm_frame *frame = &t->frames[i];
		struct pm_frame *key = &keys[known.n];
		memcpy(key, frame, sizeof(*key));
		key->function = pmfs_same_function(l->id, frame->function);
		l->frame[i] = pm_strtab_add(
			&known, (struct pm_bytes){(const uint8_t *)key, sizeof(*key)});
	}
	pm_arena_done(scratch);
}

static uint32_t frame_of(const struct filling *l, uint32_t context)
{
	uint32_t frame = l->whole->frame[context];
	return l->frame ? l->frame[frame] : frame;
}

/* Marks `k` and the last context with its frame among those with `mark`, if there is one. */
static void mark_twins(struct filling *l, struct last *last, uint32_t k, uint32_t mark)
{
	struct last *of = &last[frame_of(l, k)];
	if (of->mark == mark)
		l->twin[k] = l->twin[of->it] = true;
	*of = (struct last){mark, k};
}

static void find_twins(struct filling *l)
{
	const struct pm_tree *t = l->whole;
	struct last *last = pm_arena_zeroed(l->scratch, (size_t)t->n_frames + 1, sizeof(*last));
	l->twin = pm_arena_array(l->scratch, (size_t)t->n_contexts + 1, sizeof(*l->twin));
	for (uint32_t k = 0; k < t->n_contexts; k = t->end[k])
		mark_twins(l, last, k, 1);
	for (uint32_t i = 0; i < t->n_contexts; i++)
		for (uint32_t k = i + 1; k < t->end[i]; k = t->end[k])
			mark_twins(l, last, k, i + 2);
	pm_build_proceed(l->a);
	pm_arena_free(l->scratch, last);
}

static void find_wanted(struct filling *l)
{
	const struct pm_tree *whole = l->whole;
	enum pmfs_filter_kind kind = l->f->what.kind;
	for (uint32_t i = whole->n_contexts; i-- > 0;) {
		uint32_t parent = whole->parent[i];
		l->by_rank[whole->rank[i]] = i;
		l->wanted[i] |= kind == PMFS_FILTER_HIDE ? !l->hit[i]
			: kind == PMFS_FILTER_IGNORE     ? !l->under[i]
							 : l->under[i];
		if (parent == PM_NONE)
			continue;
		l->wanted[parent] |= kind == PMFS_FILTER_FOCUS && l->wanted[i];
		l->loses[parent] |= l->loses[i] || !l->wanted[i];
	}
	pm_build_proceed(l->a);
}

/* ---- contexts that become one ---- */

/* Where frames are left out above others, paths become the same; otherwise all stay apart. */
static bool joins(const struct filling *l)
{
	return l->f->what.kind == PMFS_FILTER_HIDE || l->f->what.kind == PMFS_FILTER_FROM;
}

/* Of siblings with one frame: the first has that, further ones a number beyond all frames. */
static uint32_t key_of_twin(struct filling *l, uint32_t i)
{
	bool fresh;
	uint32_t frame = frame_of(l, i), above = l->whole->parent[i];
	uint32_t *n =
		pm_map_put(&l->siblings, (uint64_t)(uint32_t)(above + 1) << 32 | frame, 0, &fresh);
	if (++*n == 1)
		return frame;
	uint32_t next = l->whole->n_frames + (uint32_t)l->keys.n;
	return *pm_map_put(&l->keys, (uint64_t)*n << 32 | frame, next, &fresh);
}

/* Siblings that were apart stay apart. Where a twin will be in its group, its key is at first. */
static void find_keys(struct filling *l)
{
	find_twins(l);
	for (uint32_t k = 0; k < l->whole->n_contexts; k++) {
		uint32_t i = l->by_rank[k];
		if (l->twin[i])
			l->before[i] = key_of_twin(l, i);
	}
	pm_build_proceed(l->a);
}

/* Puts what will be children of one node, among [from, to), into groups. */
static void join_between(
	struct filling *l, struct last *last, uint32_t mark, uint32_t from, uint32_t to)
{
	for (uint32_t k = from; k < to; k = l->wanted[k] ? l->whole->end[k] : k + 1) {
		if (!l->wanted[k])
			continue;
		struct last *of = &last[l->twin[k] ? l->before[k] : frame_of(l, k)];
		if (of->mark != mark) {
			*of = (struct last){mark, l->n_groups};
			l->of_group[l->n_groups++] = PM_NONE;
		}
		l->before[k] = l->of_group[of->it];
		l->of_group[of->it] = k;
		l->up[k] = of->it;
	}
}

/*
 * Finds the contexts that become one. Those below a context that stays alone and loses nothing stay
 * alone, too, and are not looked at.
 */
static void find_groups(struct filling *l)
{
	find_same_frames(l);
	find_keys(l);
	struct last *last = pm_arena_zeroed(
		l->scratch, (size_t)l->whole->n_frames + l->keys.n + 1, sizeof(*last));
	join_between(l, last, 1, 0, l->whole->n_contexts);
	for (uint32_t g = 0; g < l->n_groups; g++) {
		uint32_t k = l->of_group[g];
		if (g % BETWEEN_QUESTIONS == 0)
			pm_build_proceed(l->a);
		if (l->before[k] == PM_NONE && !l->loses[k])
			continue;
		for (; k != PM_NONE; k = l->before[k])
			join_between(l, last, g + 2, k + 1, l->whole->end[k]);
	}
	for (uint32_t g = 0; g < l->n_groups; g++)
		l->of_group[g] = PM_NONE;
	pm_arena_free(l->scratch, last);
}

/* ---- nodes ---- */

static uint32_t add_node(struct filling *l, uint32_t parent, uint32_t from)
{
	l->parent_of[l->n] = parent;
	l->from[l->n] = from;
	return l->n++;
}

/* `(hidden)`, below an entry or at the top. */
static uint32_t hidden_below(struct filling *l, uint32_t parent)
{
	bool fresh;
	uint32_t *node = pm_map_put(&l->hidden, (uint32_t)(parent + 1), l->n, &fresh);
	return fresh ? add_node(l, parent, PM_NONE) : *node;
}

/* A context that is left out: with `hide` its cost goes up. */
static void leave_out(struct filling *l, uint32_t i)
{
	uint32_t parent = l->whole->parent[i], up = parent == PM_NONE ? PM_NONE : l->up[parent];
	l->up[i] = up;
	if (l->f->what.kind != PMFS_FILTER_HIDE)
		return;
	uint32_t from = up == PM_NONE ? PM_NONE : l->from[up];
	bool only_entry = from == PM_NONE || pm_tree_frame(l->whole, from)->kind == PM_KIND_ENTRY;
	l->c->to[i] = only_entry ? hidden_below(l, up) : up;
}

static void place(struct filling *l, uint32_t i)
{
	uint32_t parent = l->whole->parent[i], group = l->up[i];
	uint32_t above = parent == PM_NONE ? PM_NONE : l->up[parent];
	uint32_t node = group == PM_NONE ? PM_NONE : l->of_group[group];
	if (node == PM_NONE)
		node = add_node(l, above, i);
	if (group != PM_NONE)
		l->of_group[group] = node;
	bool costs = l->f->what.kind != PMFS_FILTER_FOCUS || l->under[i];
	l->up[i] = node;
	l->c->to[i] = l->c->same[i] = costs ? node : PM_NONE;
}

static void place_all(struct filling *l)
{
	for (uint32_t k = 0; k < l->whole->n_contexts; k++) {
		if (k % BETWEEN_QUESTIONS == 0)
			pm_build_proceed(l->a);
		if (l->wanted[l->by_rank[k]])
			place(l, l->by_rank[k]);
		else
			leave_out(l, l->by_rank[k]);
	}
}

/* ---- costs of the run ---- */

void pmfs_filter_take(struct pm_arena *a, const struct pmfs_filter *f, uint32_t of,
	struct pmfs_gather *g, struct pm_error *err)
{
	enum { ROOM = 512 };
	const struct pm_values_of what = {PM_OF_THREAD, of, false};
	const struct pmfs_filter_contents *c = f->c;
	struct pm_value *batch = pm_arena_realloc(a, NULL, ROOM * sizeof(*batch));
	int64_t n = 1;
	for (uint64_t at = 0; n > 0; at += (uint64_t)n) {
		pm_build_proceed(a);
		n = f->of->ops->values(f->of, what, at, batch, ROOM, err);
		for (int64_t i = 0; i < n; i++) {
			uint32_t context = pm_tree_find(c->whole, batch[i].context);
			if (context == PM_NONE)
				continue;
			uint32_t parent = c->whole->parent[context];
			bool nested = parent != PM_NONE && pm_tree_frame(c->whole, context)->nested;
			pmfs_gather_add(g, &batch[i], c->to[context], c->same[context],
				nested ? c->to[parent] : PM_NONE);
		}
	}
	pm_build_check(a, (int)n);
}

/* Values of the run of some contexts, in the order of the database: read by other threads. */
enum { BLOCK = 1024 };

struct block {
	struct pm_value *values;
	size_t n, room;
	size_t end[BLOCK]; /* by context: of its values */
	int code;
	struct pm_error err;
};

struct gathering {
	struct filling *l;
	size_t n_metrics;
	struct pm_error *err;
	/* What is taken: */
	uint32_t k;
	const struct block *block;
};

static uint32_t block_end(const struct filling *l, uint32_t k)
{
	return l->whole->n_contexts - k * BLOCK < BLOCK ? l->whole->n_contexts : (k + 1) * BLOCK;
}

/* A failure is the caller's, who has its reason. */
static int read_block(void *context, uint32_t k, void *result)
{
	const struct gathering *of = context;
	const struct filling *l = of->l;
	struct block *b = result;
	b->err.offset = PM_NO_OFFSET;
	for (uint32_t j = k * BLOCK; j < block_end(l, k); j++) {
		uint32_t i = l->by_rank[j];
		int64_t n = pm_list_room(&b->values, b->n + of->n_metrics, &b->room,
				    sizeof(*b->values)) < 0
			? PM_NO_MEMORY
			: pmfs_run_values(l->f->model, i, b->values + b->n, of->n_metrics, &b->err);
		if (n < 0) {
			b->code = (int)n;
			return 0;
		}
		l->valued[i] = n > 0;
		b->n += (size_t)n;
		b->end[j - k * BLOCK] = b->n;
	}
	return 0;
}

static void take_values(void *context)
{
	const struct gathering *of = context;
	const struct filling *l = of->l;
	size_t at = 0;
	for (uint32_t j = of->k * BLOCK; j < block_end(l, of->k); j++) {
		uint32_t i = l->by_rank[j], parent = l->whole->parent[i];
		bool nested = pmfs_is_nested(l->id, i); /* as frames say, which are far apart */
		for (; at < of->block->end[j - of->k * BLOCK]; at++)
			pmfs_gather_add(l->c->run, &of->block->values[at], l->c->to[i],
				l->c->same[i], nested ? l->c->to[parent] : PM_NONE);
	}
}

/* An attempt of its own, which leaves no frame of the pipeline. */
static int take_block(void *context, uint32_t k, void *result)
{
	struct gathering *of = context;
	of->k = k;
	of->block = result;
	if (of->block->err.code && of->err)
		*of->err = of->block->err;
	return of->block->code < 0 ? of->block->code : pm_build(of->l->a, take_values, of);
}

static void drop_block(void *result)
{
	free(((struct block *)result)->values);
}

static void gather_run(struct filling *l, struct pm_error *err)
{
	const struct pmfs_filter *f = l->f;
	const struct pm_metrics *metrics;
	if (f->what.thread != PM_NONE) {
		pmfs_filter_take(l->scratch, f, f->what.thread, l->c->run, err);
		return;
	}
	pm_build_check(l->a, pmfs_model_metrics(f->model, &metrics, err));
	struct gathering of = {.l = l, .n_metrics = metrics->n, .err = err};
	struct pm_pipeline blocks = {.n = (l->whole->n_contexts + BLOCK - 1) / BLOCK,
		.size = sizeof(struct block),
		.make = read_block,
		.take = take_block,
		.drop = drop_block,
		.context = &of};
	pm_build_check(l->a, pm_pipeline_run(&blocks));
}

/* Counts that no context has (statements) are not in a filter. */
static void drop_unseen(struct pmfs_slots *s, const bool *seen)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->slots[i].metric != PM_NONE &&
			s->list[s->slots[i].metric].role == PM_ROLE_COUNT && !seen[i])
			s->list[s->slots[i].metric].has_values = false;
}

static void add_up(struct filling *l, struct pm_error *err)
{
	struct pmfs_slots *slots = &l->c->slots;
	bool *seen = pm_arena_array(l->scratch, (size_t)slots->n + 1, sizeof(*seen));
	const struct pmfs_shape_of shape = {
		l->parent_of, l->frame_of, l->whole->frames, l->whole->n_frames};
	l->c->run = pmfs_gather_new(l->a, l->scratch, slots, &shape, l->n, seen);
	for (uint32_t i = 0; i < l->n; i++)
		l->frame_of[i] =
			l->from[i] == PM_NONE ? l->whole->n_frames : l->whole->frame[l->from[i]];
	gather_run(l, err);
	pmfs_gather_roll(l->c->run);
	drop_unseen(slots, seen);
}

/* ---- the tree ---- */

/* By node, the inclusive cost (else the own cost) that orders siblings; NULL if none does. */
static double *weigh(const struct filling *l, uint32_t group)
{
	const struct pmfs_slots *slots = &l->c->slots;
	double *weight = pm_arena_array(l->scratch, (size_t)l->n + 1, sizeof(*weight));
	uint32_t by = PM_NONE;
	for (uint32_t i = 0; i < slots->n; i++) {
		const struct pmfs_slot *s = &slots->slots[i];
		if (s->metric != PM_NONE && slots->list[s->metric].group == group &&
			(by == PM_NONE || s->roll == PMFS_ROLL_SUBTREE))
			by = i;
	}
	bool sizes = by != PM_NONE && slots->list[slots->slots[by].metric].decreases;
	for (uint32_t i = 0; by != PM_NONE && i < l->n; i++) {
		struct pmfs_filtered_cost cost;
		if (!pmfs_gather_get(l->c->run, i, by, &cost))
			continue;
		double number = cost.whole ? (double)cost.i : cost.f;
		weight[i] = isnan(number) ? 0 : sizes ? fabs(number) : number;
	}
	return weight;
}

/* The contexts that a thread has samples of: they may have no costs, or only on other threads. */
static void find_sampled(const struct filling *l, bool *lives, struct pm_error *err)
{
	enum { ROOM = 512 };
	const struct pmfs_filter *f = l->f;
	const struct pm_threads *threads;
	pm_build_check(l->a, pm_profile_threads(f->of, &threads, err));
	if (!threads->threads[f->what.thread].has_trace)
		return;
	struct pm_sample *batch = pm_arena_realloc(l->scratch, NULL, ROOM * sizeof(*batch));
	int64_t n = 1;
	for (uint64_t at = 0; n > 0; at += (uint64_t)n) {
		pm_build_proceed(l->a);
		n = f->of->ops->samples(f->of, f->what.thread, at, batch, ROOM, NULL);
		for (int64_t i = 0; i < n; i++) {
			uint32_t context = pm_tree_find_sample(l->whole, batch[i].context);
			if (context != PM_NONE && l->c->to[context] != PM_NONE)
				lives[l->c->to[context]] = true;
		}
	}
	/* Damage is said where the trace is read. */
	if (pm_is_passing((int)n))
		pm_build_fail(l->a, (int)n);
}

/* Where nothing runs there are samples and no costs: hidden, too, they are in the trace. */
static void find_hidden_samples(const struct filling *l, bool *lives)
{
	for (uint32_t i = 0; i < l->whole->n_contexts; i++) {
		uint32_t to = l->c->to[i];
		if (to != PM_NONE && l->from[to] == PM_NONE && !l->valued[i])
			lives[to] = true;
	}
}

/*
 * Left out: what the whole has costs of, and the filter has none, as nothing of it is left; of one
 * thread, all that it has no costs and no samples of.
 */
static void find_living(const struct filling *l, bool *lives)
{
	const struct pmfs_filter *f = l->f;
	bool of_run = f->what.thread == PM_NONE;
	bool all = of_run && f->what.kind != PMFS_FILTER_IGNORE;
	for (uint32_t i = l->n; i-- > 0;) {
		uint32_t from = l->from[i];
		lives[i] |= (from != PM_NONE && (all || (of_run && !l->valued[from]))) ||
			pmfs_gather_has(l->c->run, i);
		if (lives[i] && l->parent_of[i] != PM_NONE)
			lives[l->parent_of[i]] = true;
	}
}

static void renumber(uint32_t *of, uint32_t n, const uint32_t *index)
{
	for (uint32_t i = 0; i < n; i++)
		if (of[i] != PM_NONE)
			of[i] = index[of[i]];
}

/* Costs, and where contexts go, by context of the new tree instead of by node. */
static void refer_to_tree(struct filling *l, const bool *lives, const uint32_t *index)
{
	const struct pm_tree *t = l->c->tree;
	const struct pmfs_shape_of shape = {t->parent, t->frame, t->frames, t->n_frames};
	uint32_t *order = pm_arena_array(l->scratch, (size_t)t->n_contexts + 1, sizeof(*order));
	renumber(l->c->to, l->whole->n_contexts, index);
	renumber(l->c->same, l->whole->n_contexts, index);
	for (uint32_t i = 0; i < l->n; i++)
		if (lives[i])
			order[index[i]] = i;
	pmfs_gather_renumber(l->c->run, &shape, order, t->n_contexts);
}

static void free_tree(void *contents)
{
	pm_tree_free(((struct pmfs_filter_contents *)contents)->tree);
}

static void grow_tree(struct filling *l, const bool *lives, struct pm_error *err)
{
	uint32_t group = l->whole->ordered_by, *index = NULL, n = l->n;
	double *weight = weigh(l, group);
	uint32_t *kept = pm_arena_array(l->scratch, (size_t)n + 1, sizeof(*kept));
	struct pm_tree_regrowth with = {
		.parent = l->parent_of, .from = l->from, .made = pm_bytes_of("(hidden)")};
	for (uint32_t i = 0; i < n; i++) {
		uint32_t parent = l->parent_of[i];
		uint32_t above = parent == PM_NONE ? PM_NONE : kept[parent];
		/* Samples of a context without costs are those of the next one above. */
		kept[i] = lives[i] ? with.n : above;
		if (!lives[i])
			continue;
		with.n_made += l->from[i] == PM_NONE;
		l->from[with.n] = l->from[i];
		l->parent_of[with.n] = above;
		weight[with.n++] = weight[i];
	}
	with.weight = group == PM_NONE ? NULL : weight;
	pm_arena_owns(l->a, free_tree, l->c);
	pm_build_check(l->a, pm_tree_regrow(l->whole, &with, &l->c->tree, &index, err));
	l->c->tree->ordered_by = group;
	for (uint32_t i = 0; i < n; i++)
		kept[i] = kept[i] == PM_NONE ? PM_NONE : index[kept[i]];
	free(index);
	refer_to_tree(l, lives, kept);
}

/* ---- all of it ---- */

static void prepare(struct filling *l, struct pm_error *err)
{
	struct pmfs_filter *f = l->f;
	const struct pm_metrics *metrics;
	pm_build_check(l->a, pmfs_model_tree(f->model, &l->whole, err));
	pm_build_check(l->a, pmfs_identity(f->model, &l->id, err));
	pm_build_check(l->a, pmfs_model_metrics(f->model, &metrics, err));
	if (f->pattern.of == PMFS_PATTERN_CATEGORY)
		pm_build_check(l->a, pmfs_categories(f->model, &l->categories, err));
	size_t n = (size_t)l->whole->n_contexts + 1;
	l->c->whole = l->whole;
	l->says = pm_arena_alloc(l->scratch, (size_t)l->id->n + 1);
	l->hit = pm_arena_array(l->scratch, n, sizeof(*l->hit));
	l->under = pm_arena_array(l->scratch, n, sizeof(*l->under));
	l->valued = pm_arena_array(l->scratch, n, sizeof(*l->valued));
	l->wanted = pm_arena_array(l->scratch, n, sizeof(*l->wanted));
	l->loses = pm_arena_array(l->scratch, n, sizeof(*l->loses));
	/* At most one (hidden) for each entry. */
	l->from = pm_arena_realloc(l->scratch, NULL, 8 * n * sizeof(*l->from));
	l->c->to = pm_arena_realloc(l->a, NULL, n * sizeof(*l->c->to));
	l->c->same = pm_arena_realloc(l->a, NULL, n * sizeof(*l->c->same));
	pm_use_huge_pages(l->from, 8 * n * sizeof(*l->from));
	l->parent_of = l->from + 2 * n;
	l->frame_of = l->from + 4 * n;
	l->up = l->from + 6 * n;
	l->by_rank = l->from + 7 * n;
	/* While there are no nodes: */
	l->of_group = l->frame_of;
	l->before = l->frame_of + n;
	for (size_t i = 0; i < n; i++)
		l->up[i] = l->c->to[i] = l->c->same[i] = PM_NONE;
	pmfs_slots_make(l->a, &l->c->slots, metrics, err);
}

void pmfs_filter_fill(struct pm_arena *a, struct pmfs_filter *f, struct pm_error *err)
{
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct filling l = {.a = a,
		.scratch = scratch,
		.f = f,
		.c = f->c,
		.hidden.arena = scratch,
		.siblings.arena = scratch,
		.keys.arena = scratch};
	prepare(&l, err);
	find_entry(&l);
	find_matches(&l);
	find_wanted(&l);
	if (joins(&l))
		find_groups(&l);
	place_all(&l);
	add_up(&l, err);
	bool *lives = pm_arena_array(scratch, (size_t)l.n + 1, sizeof(*lives));
	if (f->ops.samples && f->what.thread != PM_NONE)
		find_sampled(&l, lives, err);
	else if (f->ops.samples)
		find_hidden_samples(&l, lives);
	find_living(&l, lives);
	grow_tree(&l, lives, err);
	pm_arena_done(scratch);
}
