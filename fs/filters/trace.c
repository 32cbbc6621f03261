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
	return pm_tree_find_sample(f->whole, number);
}

/* What a row becomes: false if it is left out. Of contexts that are not in the tree, no frame is
 * known. */
static bool take(const struct pmfs_filter *f, struct pm_sample *s)
{
	enum pmfs_filter_kind kind = f->what.kind;
	bool calls = f->profile.traces_are_calls;
	uint32_t context = context_of(f, s->context);
	if (context == PM_NONE) {
		bool matches = s->context == 0 && f->hits_nothing;
		return kind == PMFS_FILTER_HIDE || matches == (kind != PMFS_FILTER_IGNORE);
	}
	uint32_t to = calls ? f->same[context] : f->to[context];
	if (to == PM_NONE)
		return false;
	s->context = pm_tree_number(f->tree, to);
	if (!calls)
		return true;
	uint32_t parent = f->whole->parent[context];
	uint32_t within = s->within == PM_IN_NO_CALL ? PM_NONE
		: s->within                          ? context_of(f, s->within)
						     : parent;
	if (s->within != PM_IN_NO_CALL && within != PM_NONE) {
		uint32_t caller = f->to[within];
		bool direct = caller != PM_NONE && caller == f->tree->parent[to];
		s->within = caller == PM_NONE ? PM_IN_NO_CALL
			: direct              ? 0
					      : pm_tree_number(f->tree, caller);
	}
	return true;
}

/* ---- what is counted once ---- */

struct counting {
	struct pmfs_filter_thread *t;
	/* By context: the row of its last call, + 1; for hidden calls, of what they are part of. */
	uint64_t *row;
};

static int gain(struct pmfs_filter_thread *t, uint64_t row, uint64_t self_ns)
{
	struct pmfs_filter_gain *last = t->n_gains ? &t->gains[t->n_gains - 1] : NULL;
	if (last && last->row == row) {
		bool known = last->self_ns != PM_NO_SELF && self_ns != PM_NO_SELF;
		last->self_ns = known ? last->self_ns + self_ns : PM_NO_SELF;
		return 0;
	}
	if (pm_list_room(&t->gains, t->n_gains, &t->room_gains, sizeof(*t->gains)) < 0)
		return -ENOMEM;
	t->gains[t->n_gains++] = (struct pmfs_filter_gain){row, self_ns};
	return 0;
}

/* A call follows its caller and all that this one called before. */
static int count_call(
	struct pmfs_filter *f, struct counting *c, const struct pm_sample *s, bool kept)
{
	uint32_t context = context_of(f, s->context);
	if (context == PM_NONE || f->what.kind != PMFS_FILTER_HIDE)
		return 0;
	uint32_t parent = f->whole->parent[context];
	c->row[context] = kept ? c->t->n + 1 : parent == PM_NONE ? 0 : c->row[parent];
	return kept || c->row[context] == 0 ? 0 : gain(c->t, c->row[context] - 1, s->self_ns);
}

static int by_row(const void *a, const void *b)
{
	const struct pmfs_filter_gain *x = a, *y = b;
	return (x->row > y->row) - (x->row < y->row);
}

/* Joins what a row gained at several times. */
static int join_gains(struct pmfs_filter_thread *t)
{
	size_t n = t->n_gains;
	if (pm_sort(t->gains, n, sizeof(*t->gains), by_row) < 0)
		return -ENOMEM;
	t->n_gains = 0;
	for (size_t i = 0; i < n; i++) {
		struct pmfs_filter_gain g = t->gains[i];
		if (gain(t, g.row, g.self_ns) < 0)
			return -ENOMEM;
	}
	return 0;
}

enum { BATCH = 4096 }; /* rows that are read at a time, where all are */

struct task {
	struct pmfs_filter *f;
	uint32_t thread;
};

static int count_batch(struct pmfs_filter *f, struct counting *c, const struct pm_sample *batch,
	int64_t n, uint64_t at)
{
	struct pmfs_filter_thread *t = c->t;
	for (int64_t i = 0; i < n; i++) {
		struct pm_sample s = batch[i];
		if ((at + (uint64_t)i) % PMFS_FILTER_STEP == 0) {
			if (pm_list_room(&t->kept, t->n_kept, &t->room_kept, sizeof(*t->kept)) < 0)
				return -ENOMEM;
			t->kept[t->n_kept++] = t->n;
		}
		bool kept = take(f, &s);
		if (f->profile.traces_are_calls && count_call(f, c, &batch[i], kept) < 0)
			return -ENOMEM;
		uint64_t end = s.duration_ns == PM_NO_TIME ? s.time_ns : s.time_ns + s.duration_ns;
		if (kept && end > t->last_ns)
			t->last_ns = end;
		t->n += kept;
	}
	return 0;
}

static int count_rows(void *context, struct pm_error *err)
{
	const struct task *task = context;
	struct pmfs_filter *f = task->f;
	struct pmfs_filter_thread *t = &f->of_thread[task->thread];
	uint32_t of = pmfs_filter_thread_of(f, task->thread);
	struct counting c = {.t = t};
	struct pm_sample *batch = malloc(BATCH * sizeof(*batch));
	bool hides = f->profile.traces_are_calls && f->what.kind == PMFS_FILTER_HIDE;
	c.row = hides ? calloc((size_t)f->whole->n_contexts + 1, sizeof(*c.row)) : NULL;
	int r = batch && (c.row || !hides) ? 0 : pm_error_plain(err, -ENOMEM);
	t->n = t->last_ns = 0;
	t->n_kept = t->n_gains = 0;
	for (uint64_t at = 0; r == 0;) {
		int64_t n = pm_work_cancelled()
			? pm_error_plain(err, -ENOMEM)
			: f->of->ops->samples(f->of, of, at, batch, BATCH, err);
		if (n <= 0) {
			r = (int)n;
			break;
		}
		if (count_batch(f, &c, batch, n, at) < 0)
			r = pm_error_plain(err, -ENOMEM);
		at += (uint64_t)n;
	}
	if (r == 0 && join_gains(t) < 0)
		r = pm_error_plain(err, -ENOMEM);
	if (r == 0)
		pmfs_filter_grown(
			f, t->room_kept * sizeof(*t->kept) + t->room_gains * sizeof(*t->gains));
	free(c.row);
	free(batch);
	return r;
}

int pmfs_filter_trace(struct pmfs_filter *f, uint32_t thread, struct pm_error *err)
{
	struct task task = {f, thread};
	return pm_lazy_get(&f->of_thread[thread].trace_once, count_rows, &task, err);
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
	const struct pmfs_filter_thread *t = &f->of_thread[thread];
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
