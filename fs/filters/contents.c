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
	struct pmfs_filter *f;
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
static int find_entry(struct filling *l)
{
	const struct pmfs_filter *f = l->f;
	struct pm_bytes text = f->pattern.rest;
	char name[PM_GLOB_SIZE];
	size_t base = text.len;
	unsigned long number = 0;
	/* Behind `name:` is a glob. */
	if (f->pattern.of != PMFS_PATTERN_NAME || text.len < f->pattern.len || !f->what.entry_name)
		return 0;
	while (base > 0 && text.p[base - 1] >= '0' && text.p[base - 1] <= '9')
		base--;
	if (base > 1 && base < text.len && text.len - base < 10 && text.p[base - 1] == '~')
		number = strtoul((const char *)text.p + base, NULL, 10);
	uint32_t n = 0, whole = PM_NONE, numbered = PM_NONE;
	uint8_t *has = calloc((size_t)l->id->n + 1, 1);
	for (uint32_t i = 0; has && i < l->whole->n_contexts; i++)
		if (pmfs_is_call(l->id, i))
			has[pmfs_function_of(l->id, i)] = 1;
	for (uint32_t i = 0; has && i < l->id->n; i++) {
		if (i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled())
			break;
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
	bool ok = has && !pm_work_cancelled();
	uint32_t found = whole != PM_NONE ? whole : numbered;
	if (ok && found != PM_NONE) {
		memset(l->says, 1, l->id->n);
		l->says[found] = 2;
	}
	free(has);
	return ok ? 0 : -ENOMEM;
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

static int find_matches(struct filling *l)
{
	l->f->hits_nothing = matches_nothing(&l->f->pattern);
	for (uint32_t i = 0; i < l->whole->n_contexts; i++) {
		uint32_t parent = l->whole->parent[i];
		if (i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled())
			return PM_CANCELLED;
		l->hit[i] = matches(l, i);
		l->under[i] = l->hit[i] || (parent != PM_NONE && l->under[parent]);
		l->f->has_matches |= l->hit[i];
	}
	return 0;
}

/* ---- where contexts go ---- */

/* The last that was seen with a frame, a context or a group, and among which siblings. */
struct last {
	uint32_t mark, it;
};

/* A database may have several records of a function: their frames become one when they meet. */
static int find_same_frames(struct filling *l)
{
	const struct pm_tree *t = l->whole;
	struct pm_strtab known = {.arena = NULL};
	struct pm_frame *keys;
	uint32_t n_same = 0;
	while (n_same < t->n_functions && l->id->same[n_same] == n_same)
		n_same++;
	if (n_same == t->n_functions)
		return 0;
	l->frame = malloc(((size_t)t->n_frames + 1) * sizeof(*l->frame));
	keys = calloc((size_t)t->n_frames + 1, sizeof(*keys));
	bool good = l->frame && keys;
	for (uint32_t i = 0; good && i < t->n_frames; i++) {
		const struct pm_frame *frame = &t->frames[i];
		struct pm_frame *key = &keys[known.n];
		memcpy(key, frame, sizeof(*key));
		key->function = pmfs_same_function(l->id, frame->function);
		uint32_t first = pm_strtab_add(
			&known, (struct pm_bytes){(const uint8_t *)key, sizeof(*key)});
		good = first != PM_NONE && (i % BETWEEN_QUESTIONS != 0 || !pm_work_cancelled());
		l->frame[i] = first;
	}
	pm_strtab_done(&known);
	free(keys);
	return good ? 0 : -ENOMEM;
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

static int find_twins(struct filling *l)
{
	const struct pm_tree *t = l->whole;
	struct last *last = pm_zeroed((size_t)t->n_frames + 1, sizeof(*last));
	l->twin = calloc((size_t)t->n_contexts + 1, sizeof(*l->twin));
	for (uint32_t k = 0; last && l->twin && k < t->n_contexts; k = t->end[k])
		mark_twins(l, last, k, 1);
	for (uint32_t i = 0; last && l->twin && i < t->n_contexts; i++)
		for (uint32_t k = i + 1; k < t->end[i]; k = t->end[k])
			mark_twins(l, last, k, i + 2);
	bool good = last && l->twin && !pm_work_cancelled();
	free(last);
	return good ? 0 : -ENOMEM;
}

static int find_wanted(struct filling *l)
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
	return pm_work_cancelled() ? PM_CANCELLED : 0;
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
	if (!n)
		return PM_NONE;
	if (++*n == 1)
		return frame;
	uint32_t next = l->whole->n_frames + (uint32_t)l->keys.n;
	uint32_t *known = pm_map_put(&l->keys, (uint64_t)*n << 32 | frame, next, &fresh);
	return known ? *known : PM_NONE;
}

/* Siblings that were apart stay apart. Where a twin will be in its group, its key is at first. */
static int find_keys(struct filling *l)
{
	if (find_twins(l) < 0)
		return -ENOMEM;
	for (uint32_t k = 0; k < l->whole->n_contexts; k++) {
		uint32_t i = l->by_rank[k];
		if (l->twin[i] && (l->before[i] = key_of_twin(l, i)) == PM_NONE)
			return -ENOMEM;
	}
	return pm_work_cancelled() ? PM_CANCELLED : 0;
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
static int find_groups(struct filling *l)
{
	if (find_same_frames(l) < 0 || find_keys(l) < 0)
		return -ENOMEM;
	struct last *last = pm_zeroed((size_t)l->whole->n_frames + l->keys.n + 1, sizeof(*last));
	if (!last)
		return -ENOMEM;
	join_between(l, last, 1, 0, l->whole->n_contexts);
	bool good = true;
	for (uint32_t g = 0; good && g < l->n_groups; g++) {
		uint32_t k = l->of_group[g];
		good = g % BETWEEN_QUESTIONS != 0 || !pm_work_cancelled();
		if (l->before[k] == PM_NONE && !l->loses[k])
			continue;
		for (; k != PM_NONE; k = l->before[k])
			join_between(l, last, g + 2, k + 1, l->whole->end[k]);
	}
	for (uint32_t g = 0; g < l->n_groups; g++)
		l->of_group[g] = PM_NONE;
	free(last);
	return good ? 0 : PM_CANCELLED;
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
	if (!node)
		return PM_NONE;
	return fresh ? add_node(l, parent, PM_NONE) : *node;
}

/* A context that is left out: with `hide` its cost goes up. 0 or -ENOMEM. */
static int leave_out(struct filling *l, uint32_t i)
{
	uint32_t parent = l->whole->parent[i], up = parent == PM_NONE ? PM_NONE : l->up[parent];
	l->up[i] = up;
	if (l->f->what.kind != PMFS_FILTER_HIDE)
		return 0;
	uint32_t from = up == PM_NONE ? PM_NONE : l->from[up];
	bool only_entry = from == PM_NONE || pm_tree_frame(l->whole, from)->kind == PM_KIND_ENTRY;
	l->f->to[i] = only_entry ? hidden_below(l, up) : up;
	return l->f->to[i] == PM_NONE ? -ENOMEM : 0;
}

static int place(struct filling *l, uint32_t i)
{
	uint32_t parent = l->whole->parent[i], group = l->up[i];
	if (!l->wanted[i])
		return leave_out(l, i);
	uint32_t above = parent == PM_NONE ? PM_NONE : l->up[parent];
	uint32_t node = group == PM_NONE ? PM_NONE : l->of_group[group];
	if (node == PM_NONE)
		node = add_node(l, above, i);
	if (group != PM_NONE)
		l->of_group[group] = node;
	bool costs = l->f->what.kind != PMFS_FILTER_FOCUS || l->under[i];
	l->up[i] = node;
	l->f->to[i] = l->f->same[i] = costs ? node : PM_NONE;
	return 0;
}

static int place_all(struct filling *l)
{
	int r = 0;
	for (uint32_t k = 0; r == 0 && k < l->whole->n_contexts; k++)
		r = k % BETWEEN_QUESTIONS == 0 && pm_work_cancelled() ? PM_CANCELLED
								      : place(l, l->by_rank[k]);
	return r;
}

/* ---- costs of the run ---- */

int pmfs_filter_take(
	const struct pmfs_filter *f, uint32_t of, struct pmfs_gather *g, struct pm_error *err)
{
	enum { ROOM = 512 };
	const struct pm_values_of what = {PM_OF_THREAD, of, false};
	struct pm_value *batch = malloc(ROOM * sizeof(*batch));
	int64_t n = batch ? 1 : pm_error_plain(err, -ENOMEM);
	for (uint64_t at = 0; n > 0; at += (uint64_t)n) {
		n = pm_work_cancelled() ? pm_error_plain(err, -ENOMEM)
					: f->of->ops->values(f->of, what, at, batch, ROOM, err);
		for (int64_t i = 0; i < n; i++) {
			uint32_t context = pm_tree_find(f->whole, batch[i].context);
			if (context == PM_NONE)
				continue;
			uint32_t parent = f->whole->parent[context];
			bool nested = parent != PM_NONE && pm_tree_frame(f->whole, context)->nested;
			if (pmfs_gather_add(g, &batch[i], f->to[context], f->same[context],
				    nested ? f->to[parent] : PM_NONE) < 0) {
				n = pm_error_plain(err, -ENOMEM);
				break;
			}
		}
	}
	free(batch);
	return (int)n;
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
	struct pmfs_gather *g;
	size_t n_metrics;
	struct pm_error *err;
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

static int take_block(void *context, uint32_t k, void *result)
{
	const struct gathering *of = context;
	const struct filling *l = of->l;
	const struct block *b = result;
	if (b->err.code && of->err)
		*of->err = b->err;
	size_t at = 0;
	for (uint32_t j = k * BLOCK; b->code == 0 && j < block_end(l, k); j++) {
		uint32_t i = l->by_rank[j], parent = l->whole->parent[i];
		bool nested = pmfs_is_nested(l->id, i); /* as frames say, which are far apart */
		for (; at < b->end[j - k * BLOCK]; at++)
			if (pmfs_gather_add(of->g, &b->values[at], l->f->to[i], l->f->same[i],
				    nested ? l->f->to[parent] : PM_NONE) < 0)
				return PM_NO_MEMORY;
	}
	return b->code;
}

static void drop_block(void *result)
{
	free(((struct block *)result)->values);
}

static int gather_run(struct filling *l, struct pmfs_gather *g, struct pm_error *err)
{
	const struct pmfs_filter *f = l->f;
	const struct pm_metrics *metrics;
	if (f->what.thread != PM_NONE)
		return pmfs_filter_take(f, f->what.thread, g, err);
	int r = pmfs_model_metrics(f->model, &metrics, err);
	if (r < 0)
		return r;
	struct gathering of = {l, g, metrics->n, err};
	struct pm_pipeline blocks = {.n = (l->whole->n_contexts + BLOCK - 1) / BLOCK,
		.size = sizeof(struct block),
		.make = read_block,
		.take = take_block,
		.drop = drop_block,
		.context = &of};
	r = pm_pipeline_run(&blocks);
	return r < 0 ? pm_error_plain(err, r) : 0;
}

/* Counts that no context has (statements) are not in a filter. */
static void drop_unseen(struct pmfs_slots *s, const bool *seen)
{
	for (uint32_t i = 0; i < s->n; i++)
		if (s->slots[i].metric != PM_NONE &&
			s->list[s->slots[i].metric].role == PM_ROLE_COUNT && !seen[i])
			s->list[s->slots[i].metric].has_values = false;
}

static int add_up(struct filling *l, struct pm_error *err)
{
	struct pmfs_filter *f = l->f;
	bool *seen = calloc((size_t)f->slots.n + 1, sizeof(*seen));
	const struct pmfs_shape_of shape = {
		l->parent_of, l->frame_of, l->whole->frames, l->whole->n_frames};
	f->run = pmfs_gather_new(&f->slots, &shape, l->n, seen);
	int r = f->run && seen ? 0 : pm_error_plain(err, -ENOMEM);
	for (uint32_t i = 0; r == 0 && i < l->n; i++)
		l->frame_of[i] =
			l->from[i] == PM_NONE ? l->whole->n_frames : l->whole->frame[l->from[i]];
	if (r == 0)
		r = gather_run(l, f->run, err);
	if (r == 0 && pmfs_gather_roll(f->run) < 0)
		r = pm_error_plain(err, -ENOMEM);
	if (r == 0)
		drop_unseen(&f->slots, seen);
	free(seen);
	return r;
}

/* ---- the tree ---- */

/* By node, the inclusive cost (else the own cost) that orders siblings; NULL if none does. */
static double *weigh(const struct filling *l, uint32_t group)
{
	const struct pmfs_filter *f = l->f;
	double *weight = calloc((size_t)l->n + 1, sizeof(*weight));
	uint32_t by = PM_NONE;
	for (uint32_t i = 0; i < f->slots.n; i++) {
		const struct pmfs_slot *s = &f->slots.slots[i];
		if (s->metric != PM_NONE && f->slots.list[s->metric].group == group &&
			(by == PM_NONE || s->roll == PMFS_ROLL_SUBTREE))
			by = i;
	}
	bool sizes = by != PM_NONE && f->slots.list[f->slots.slots[by].metric].decreases;
	for (uint32_t i = 0; weight && by != PM_NONE && i < l->n; i++) {
		struct pmfs_filtered_cost cost;
		if (!pmfs_gather_get(f->run, i, by, &cost))
			continue;
		double number = cost.whole ? (double)cost.i : cost.f;
		weight[i] = isnan(number) ? 0 : sizes ? fabs(number) : number;
	}
	return weight;
}

/* The contexts that a thread has samples of: they may have no costs, or only on other threads. */
static int find_sampled(const struct filling *l, bool *lives, struct pm_error *err)
{
	enum { ROOM = 512 };
	const struct pmfs_filter *f = l->f;
	const struct pm_threads *threads;
	int r = pm_profile_threads(f->of, &threads, err);
	if (r < 0 || !threads->threads[f->what.thread].has_trace)
		return r;
	struct pm_sample *batch = malloc(ROOM * sizeof(*batch));
	int64_t n = batch ? 1 : -ENOMEM;
	for (uint64_t at = 0; n > 0; at += (uint64_t)n) {
		n = pm_work_cancelled()
			? PM_CANCELLED
			: f->of->ops->samples(f->of, f->what.thread, at, batch, ROOM, NULL);
		for (int64_t i = 0; i < n; i++) {
			uint32_t context = pm_tree_find_sample(f->whole, batch[i].context);
			if (context != PM_NONE && f->to[context] != PM_NONE)
				lives[f->to[context]] = true;
		}
	}
	free(batch);
	/* Damage is said where the trace is read. */
	return pm_is_passing(n) ? pm_error_plain(err, -ENOMEM) : 0;
}

/* Where nothing runs there are samples and no costs: hidden, too, they are in the trace. */
static void find_hidden_samples(const struct filling *l, bool *lives)
{
	for (uint32_t i = 0; i < l->whole->n_contexts; i++) {
		uint32_t to = l->f->to[i];
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
			pmfs_gather_has(f->run, i);
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
static int refer_to_tree(struct filling *l, const bool *lives, const uint32_t *index)
{
	struct pmfs_filter *f = l->f;
	const struct pm_tree *t = f->tree;
	const struct pmfs_shape_of shape = {t->parent, t->frame, t->frames, t->n_frames};
	uint32_t *order = malloc(((size_t)t->n_contexts + 1) * sizeof(*order));
	renumber(f->to, l->whole->n_contexts, index);
	renumber(f->same, l->whole->n_contexts, index);
	for (uint32_t i = 0; order && i < l->n; i++)
		if (lives[i])
			order[index[i]] = i;
	int r = order ? pmfs_gather_renumber(f->run, &shape, order, t->n_contexts) : -ENOMEM;
	free(order);
	return r;
}

static int grow_tree(struct filling *l, const bool *lives, struct pm_error *err)
{
	struct pmfs_filter *f = l->f;
	uint32_t group = l->whole->ordered_by, *index = NULL, n = l->n;
	double *weight = weigh(l, group);
	uint32_t *kept = malloc(((size_t)n + 1) * sizeof(*kept));
	struct pm_tree_regrowth with = {
		.parent = l->parent_of, .from = l->from, .made = pm_bytes_of("(hidden)")};
	int r = weight && kept ? 0 : pm_error_plain(err, -ENOMEM);
	for (uint32_t i = 0; r == 0 && i < n; i++) {
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
	if (r == 0)
		r = pm_tree_regrow(l->whole, &with, &f->tree, &index, err);
	if (r == 0)
		f->tree->ordered_by = group;
	for (uint32_t i = 0; r == 0 && i < n; i++)
		kept[i] = kept[i] == PM_NONE ? PM_NONE : index[kept[i]];
	if (r == 0 && refer_to_tree(l, lives, kept) < 0)
		r = pm_error_plain(err, -ENOMEM);
	free(weight);
	free(kept);
	free(index);
	return r;
}

/* ---- all of it ---- */

static int prepare(struct filling *l, struct pm_error *err)
{
	struct pmfs_filter *f = l->f;
	const struct pm_metrics *metrics;
	int r = pmfs_model_tree(f->model, &l->whole, err);
	if (r < 0 || (r = pmfs_identity(f->model, &l->id, err)) < 0 ||
		(r = pmfs_model_metrics(f->model, &metrics, err)) < 0)
		return r;
	if (f->pattern.of == PMFS_PATTERN_CATEGORY &&
		(r = pmfs_categories(f->model, &l->categories, err)) < 0)
		return r;
	size_t n = (size_t)l->whole->n_contexts + 1;
	f->whole = l->whole;
	l->says = calloc((size_t)l->id->n + 1, 1);
	l->hit = calloc(n, sizeof(*l->hit));
	l->under = calloc(n, sizeof(*l->under));
	l->valued = calloc(n, sizeof(*l->valued));
	l->wanted = calloc(n, sizeof(*l->wanted));
	l->loses = calloc(n, sizeof(*l->loses));
	/* At most one (hidden) for each entry. */
	l->from = malloc(8 * n * sizeof(*l->from));
	f->to = malloc(n * sizeof(*f->to));
	f->same = malloc(n * sizeof(*f->same));
	if (!l->says || !l->hit || !l->under || !l->valued || !l->wanted || !l->loses || !l->from ||
		!f->to || !f->same)
		return pm_error_plain(err, -ENOMEM);
	pm_use_huge_pages(l->from, 8 * n * sizeof(*l->from));
	l->parent_of = l->from + 2 * n;
	l->frame_of = l->from + 4 * n;
	l->up = l->from + 6 * n;
	l->by_rank = l->from + 7 * n;
	/* While there are no nodes: */
	l->of_group = l->frame_of;
	l->before = l->frame_of + n;
	for (size_t i = 0; i < n; i++)
		l->up[i] = f->to[i] = f->same[i] = PM_NONE;
	r = pmfs_slots_make(&f->slots, metrics);
	return r < 0 ? pm_error_plain(err, r) : 0;
}

int pmfs_filter_fill(struct pmfs_filter *f, struct pm_error *err)
{
	struct filling l = {.f = f};
	bool *lives = NULL;
	f->has_matches = false;
	int r = prepare(&l, err);
	if (r == 0 &&
		(find_entry(&l) < 0 || find_matches(&l) < 0 || find_wanted(&l) < 0 ||
			(joins(&l) && find_groups(&l) < 0) || place_all(&l) < 0))
		r = pm_error_plain(err, -ENOMEM);
	if (r == 0)
		r = add_up(&l, err);
	if (r == 0 && !(lives = calloc((size_t)l.n + 1, sizeof(*lives))))
		r = pm_error_plain(err, -ENOMEM);
	if (r == 0 && f->ops.samples && f->what.thread != PM_NONE)
		r = find_sampled(&l, lives, err);
	else if (r == 0 && f->ops.samples)
		find_hidden_samples(&l, lives);
	if (r == 0) {
		find_living(&l, lives);
		r = grow_tree(&l, lives, err);
	}
	free(lives);
	free(l.says);
	free(l.hit);
	free(l.under);
	free(l.valued);
	free(l.wanted);
	free(l.loses);
	free(l.twin);
	free(l.from);
	free(l.frame);
	pm_map_done(&l.hidden);
	pm_map_done(&l.siblings);
	pm_map_done(&l.keys);
	return r;
}
