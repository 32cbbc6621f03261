/*
 * The trace of a filter: the rows of the other trace that are left, with the contexts that have
 * their costs. Calls that are hidden give their own time to the call that they were made in.
 */
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "formats/common/work.h"
#include "fs/filters/internal.h"

/* The context of the unfiltered tree, or PM_NONE. */
static uint32_t context_of(const struct pmfs_filter *f, uint64_t number)
{
	return pm_tree_find_sample(f->c->whole, number);
}

/* What a row becomes: false if it is left out. Of contexts that are not in the tree, no frame is
 * known. */
static bool take(const struct pmfs_filter *f, struct pm_sample *s)
{
	enum pmfs_filter_kind kind = f->what.kind;
	bool calls = f->profile.traces_are_calls;
	uint32_t context = context_of(f, s->context);
	if (context == PM_NONE) {
		bool matches = s->context == 0 && f->c->hits_nothing;
		return kind == PMFS_FILTER_HIDE || matches == (kind != PMFS_FILTER_IGNORE);
	}
	uint32_t to = calls ? f->c->same[context] : f->c->to[context];
	if (to == PM_NONE)
		return false;
	s->context = pm_tree_number(f->c->tree, to);
	if (!calls)
		return true;
	uint32_t parent = f->c->whole->parent[context];
	uint32_t within = s->within == PM_IN_NO_CALL ? PM_NONE
		: s->within                          ? context_of(f, s->within)
						     : parent;
	if (s->within != PM_IN_NO_CALL && within != PM_NONE) {
		uint32_t caller = f->c->to[within];
		bool direct = caller != PM_NONE && caller == f->c->tree->parent[to];
		s->within = caller == PM_NONE ? PM_IN_NO_CALL
			: direct              ? 0
					      : pm_tree_number(f->c->tree, caller);
	}
	return true;
}

/* ---- what is counted once ---- */

int pmfs_filter_run(void *context, struct pm_error *err)
{
	struct pmfs_filter_task *task = context;
	task->err = err;
	task->scratch.of = task->a;
	int r = pm_build(task->a, task->build, task);
	pm_arena_done(&task->scratch);
	if (r < 0)
		pm_arena_done(task->a);
	else
		pmfs_filter_grown(task->f, task->a->total);
	return pm_error_plain(err, r);
}

struct counting {
	struct pmfs_filter *f;
	struct pm_arena *a; /* of t */
	struct pmfs_filter_thread *t;
	/* By context: the row of its last call, + 1; for hidden calls, of what they are part of. */
	uint64_t *row;
};

static void gain(struct counting *c, uint64_t row, uint64_t self_ns)
{
	struct pmfs_filter_thread *t = c->t;
	struct pmfs_filter_gain *last = t->n_gains ? &t->gains[t->n_gains - 1] : NULL;
	if (last && last->row == row) {
		bool known = last->self_ns != PM_NO_SELF && self_ns != PM_NO_SELF;
		last->self_ns = known ? last->self_ns + self_ns : PM_NO_SELF;
		return;
	}
	pm_list_grow(c->a, &t->gains, t->n_gains, &t->room_gains, sizeof(*t->gains));
	t->gains[t->n_gains++] = (struct pmfs_filter_gain){row, self_ns};
}

/* A call follows its caller and all that this one called before. */
static void count_call(struct counting *c, const struct pm_sample *s, bool kept)
{
	const struct pmfs_filter *f = c->f;
	uint32_t context = context_of(f, s->context);
	if (context == PM_NONE || f->what.kind != PMFS_FILTER_HIDE)
		return;
	uint32_t parent = f->c->whole->parent[context];
	c->row[context] = kept ? c->t->n + 1 : parent == PM_NONE ? 0 : c->row[parent];
	if (!kept && c->row[context] > 0)
		gain(c, c->row[context] - 1, s->self_ns);
}

static int by_row(const void *a, const void *b)
{
	const struct pmfs_filter_gain *x = a, *y = b;
	return (x->row > y->row) - (x->row < y->row);
}

/* Joins what a row gained at several times. */
static void join_gains(struct counting *c)
{
	struct pmfs_filter_thread *t = c->t;
	size_t n = t->n_gains;
	pm_build_check(c->a, pm_sort(t->gains, n, sizeof(*t->gains), by_row));
	t->n_gains = 0;
	for (size_t i = 0; i < n; i++)
		gain(c, t->gains[i].row, t->gains[i].self_ns);
}

enum { BATCH = 4096 }; /* rows that are read at a time, where all are */

static void count_batch(struct counting *c, const struct pm_sample *batch, int64_t n, uint64_t at)
{
	struct pmfs_filter_thread *t = c->t;
	for (int64_t i = 0; i < n; i++) {
		struct pm_sample s = batch[i];
		if ((at + (uint64_t)i) % PMFS_FILTER_STEP == 0) {
			pm_list_grow(c->a, &t->kept, t->n_kept, &t->room_kept, sizeof(*t->kept));
			t->kept[t->n_kept++] = t->n;
		}
		bool kept = take(c->f, &s);
		if (c->f->profile.traces_are_calls)
			count_call(c, &batch[i], kept);
		uint64_t end = s.duration_ns == PM_NO_TIME ? s.time_ns : s.time_ns + s.duration_ns;
		if (kept && end > t->last_ns)
			t->last_ns = end;
		t->n += kept;
	}
}

static void count_rows(void *context)
{
	struct pmfs_filter_task *task = context;
	struct pmfs_filter *f = task->f;
	struct pmfs_filter_thread *t = &f->t->of[task->thread];
	uint32_t of = pmfs_filter_thread_of(f, task->thread);
	struct counting c = {.f = f, .a = task->a, .t = t};
	struct pm_sample *batch = pm_arena_realloc(&task->scratch, NULL, BATCH * sizeof(*batch));
	int64_t n;
	if (f->profile.traces_are_calls && f->what.kind == PMFS_FILTER_HIDE)
		c.row = pm_arena_array(
			&task->scratch, (size_t)f->c->whole->n_contexts + 1, sizeof(*c.row));
	t->n = t->last_ns = 0;
	t->kept = NULL;
	t->gains = NULL;
	t->n_kept = t->room_kept = t->n_gains = t->room_gains = 0;
	for (uint64_t at = 0;; at += (uint64_t)n) {
		pm_build_proceed(task->a);
		n = f->of->ops->samples(f->of, of, at, batch, BATCH, task->err);
		pm_build_check(task->a, (int)n);
		if (n == 0)
			break;
		count_batch(&c, batch, n, at);
	}
	join_gains(&c);
}

int pmfs_filter_trace(struct pmfs_filter *f, uint32_t thread, struct pm_error *err)
{
	struct pmfs_filter_thread *t = &f->t->of[thread];
	struct pmfs_filter_task task = {f, thread, &t->trace_arena, .build = count_rows};
	return pm_lazy_get(&t->trace_once, pmfs_filter_run, &task, err);
}

/* ---- rows ---- */

static void add_gain(const struct pmfs_filter_thread *t, uint64_t row, struct pm_sample *s)
{
	size_t i = PM_LOWER_BOUND(k, 0, t->n_gains, t->gains[k].row < row);
	if (i == t->n_gains || t->gains[i].row != row)
		return;
	bool known = s->self_ns != PM_NO_SELF && t->gains[i].self_ns != PM_NO_SELF;
	s->self_ns = known ? s->self_ns + t->gains[i].self_ns : PM_NO_SELF;
}

int64_t pmfs_filter_samples(struct pmfs_filter *f, uint32_t thread, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err)
{
	int r = pmfs_filter_trace(f, thread, err);
	if (r < 0)
		return r;
	const struct pmfs_filter_thread *t = &f->t->of[thread];
	if (first >= t->n || room == 0)
		return 0;
	/* The last step that begins with no more rows than are wanted. */
	size_t step = PM_LOWER_BOUND(k, 1, t->n_kept, t->kept[k] <= first) - 1;
	uint64_t at = (uint64_t)step * PMFS_FILTER_STEP, row = t->kept[step];
	uint32_t of = pmfs_filter_thread_of(f, thread);
	struct pm_sample *batch = malloc(PMFS_FILTER_STEP * sizeof(*batch));
	int64_t n = batch ? 1 : pm_error_plain(err, -ENOMEM);
	size_t filled = 0;
	while (n > 0 && filled < room && row < t->n) {
		n = pm_work_cancelled()
			? pm_error_plain(err, -ENOMEM)
			: f->of->ops->samples(f->of, of, at, batch, PMFS_FILTER_STEP, err);
		for (int64_t i = 0; i < n && filled < room; i++) {
			struct pm_sample s = batch[i];
			if (!take(f, &s))
				continue;
			if (row++ < first)
				continue;
			if (t->n_gains)
				add_gain(t, row - 1, &s);
			ret[filled++] = s;
		}
		at += n > 0 ? (uint64_t)n : 0;
	}
	free(batch);
	return n < 0 ? n : (int64_t)filled;
}
