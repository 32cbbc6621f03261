/* Traces as nested slices of time; calls that overlap are in lanes. */
#include "fs/views/exports/export.h"

#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/valuereader.h"
#include "fs/views/sums/stacks.h"
#include "fs/views/sums/threads.h"
#include "profmount/limits.h"

/*
 * ---- lanes ----
 *
 * Lanes: a slice is put on the first one where it nests in the open slices or follows them.
 * Slices that fit nowhere are left out. A call that the tree has below the open one may end one
 * unit of the writer's clock after it: it is shown as it was recorded.
 */

static int outer_first(const void *a, const void *b)
{
	const struct pmfs_slice *x = a, *y = b;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	if (x->end_ns != y->end_ns)
		return x->end_ns > y->end_ns ? -1 : 1;
	if (x->depth != y->depth)
		return x->depth < y->depth ? -1 : 1;
	return (x->frame > y->frame) - (x->frame < y->frame);
}

/* The ends and depths of slices that are open on a lane, innermost last. */
struct lane {
	struct open_slice {
		uint64_t end;
		uint32_t depth;
	} * open;
	size_t n, room;
};

/* Puts the slice on the lane if it nests there. */
static bool try_lane(
	struct pm_arena *a, struct lane *lane, const struct pmfs_slice *slice, uint64_t unit)
{
	uint64_t end = slice->end_ns;
	while (lane->n > 0 && lane->open[lane->n - 1].end <= slice->start_ns)
		lane->n--;
	if (lane->n > 0 && lane->open[lane->n - 1].end < end) {
		const struct open_slice *outer = &lane->open[lane->n - 1];
		if (outer->depth + 1 != slice->depth || end - outer->end > unit)
			return false;
		end = outer->end;
	}
	pm_list_grow(a, &lane->open, lane->n, &lane->room, sizeof(*lane->open));
	lane->open[lane->n++] = (struct open_slice){end, slice->depth};
	return true;
}

/* Orders the slices of a thread, from index `first` on, and assigns lanes. */
static void slices_nest(struct pm_arena *a, struct pmfs_slices *s, size_t first)
{
	struct lane lanes[PMFS_MAX_LANES] = {{.n = 0}};
	size_t kept = first;
	uint64_t unit = 1000;
	if (s->n > first)
		pm_build_check(a,
			pm_sort(s->slices + first, s->n - first, sizeof(*s->slices), outer_first));
	/* The clock has whole µs, or ns. */
	for (size_t i = first; i < s->n && unit > 1; i++)
		if (s->slices[i].start_ns % 1000 || s->slices[i].end_ns % 1000)
			unit = 1;
	for (size_t i = first; i < s->n; i++) {
		struct pmfs_slice *slice = &s->slices[kept];
		*slice = s->slices[i];
		slice->lane = 0;
		while (slice->lane < PMFS_MAX_LANES &&
			!try_lane(a, &lanes[slice->lane], slice, unit))
			slice->lane++;
		kept += slice->lane < PMFS_MAX_LANES;
	}
	s->n_left_out += s->n - kept;
	s->n = kept;
	pm_arena_done(a); /* the lanes */
}

/*
 * ---- slices ----
 *
 * Slices of traces. A sample says what was running from then on: frames common to consecutive
 * samples stay open. Calls are slices themselves; see lanes above.
 *
 * There are two passes: the first counts slices by depth, to find the number of levels that fit
 * into the limit; the second keeps them.
 */

/* A frame on the stack of the previous sample. */
struct open {
	uint32_t context;
	size_t slice; /* NO_SLICE if it was not kept */
};

#define NO_SLICE SIZE_MAX

struct collecting {
	struct pm_arena *a, *lanes; /* of the slices; of the lanes of a thread */
	struct pm_error *err;
	const struct pm_profile *profile;
	const struct pm_tree *tree;
	const struct pm_threads *threads;
	uint64_t origin;
	uint32_t height;  /* of the tree */
	bool cut;         /* frames deeper than PM_LIMIT_SAMPLE_LEVELS are left out */
	uint32_t *shown;  /* context → frame that it is part of; see stacks.h */
	uint32_t *depth;  /* context → frames above it */
	uint64_t *counts; /* by depth */
	bool counting;
	struct pmfs_slices *slices;
	size_t room;
	uint32_t wanted; /* thread, or PM_NONE: all */
	uint32_t thread; /* that is being read */
	struct open *open;
	uint32_t n_open;
	uint32_t *path; /* of the sample, from the top: contexts that are frames */
	uint64_t now;   /* when the last sample ended */
};

/* ---- keeping slices ---- */

/* Keeps a slice unless it is too deep or there are too many. Returns its index. */
static size_t keep(struct collecting *c, const struct pmfs_slice *slice)
{
	struct pmfs_slices *s = c->slices;
	if (c->counting) {
		c->counts[slice->depth]++;
		return NO_SLICE;
	}
	if (slice->depth >= s->max_depth)
		return NO_SLICE;
	if (s->n >= PM_LIMIT_TRACE_SLICES) {
		s->n_left_out++;
		return NO_SLICE;
	}
	pm_list_grow(c->a, &s->slices, s->n, &c->room, sizeof(*s->slices));
	s->slices[s->n] = *slice;
	return s->n++;
}

/* Relative to the time origin. */
static uint64_t time_of(const struct collecting *c, const struct pm_sample *sample)
{
	return sample->time_ns > c->origin ? sample->time_ns - c->origin : 0;
}

/* Stored times do not wrap: saturates at the greatest time. */
static uint64_t end_of(const struct collecting *c, uint64_t start, uint64_t duration)
{
	uint64_t last = UINT64_MAX - c->origin;
	return duration > last - start ? last : start + duration;
}

/* ---- samples ---- */

static void close_down_to(struct collecting *c, uint32_t n, uint64_t time)
{
	while (c->n_open > n) {
		size_t slice = c->open[--c->n_open].slice;
		if (slice != NO_SLICE)
			c->slices->slices[slice].end_ns = time;
	}
}

/*
 * Fills c->path with the frames of the context, from the innermost up to one that is open;
 * everything above that is open, too. Returns their number, and how many of them can be skipped.
 */
static uint32_t find_path(struct collecting *c, uint32_t context, uint32_t *ret_open)
{
	uint32_t frame = c->shown[context], n = c->depth[frame] + 1, i = n;
	while (i > 0 && (i > c->n_open || c->open[i - 1].context != frame)) {
		c->path[--i] = frame;
		if (i > 0)
			frame = c->shown[c->tree->parent[frame]];
	}
	*ret_open = i;
	return n;
}

/* Different contexts may belong to one frame, which then stays open. */
static uint32_t keep_open(struct collecting *c, uint32_t n_path, uint32_t from)
{
	const uint32_t *frame = c->tree->frame;
	uint32_t i = from;
	for (; i < n_path && i < c->n_open; i++) {
		if (frame[c->open[i].context] != frame[c->path[i]])
			break;
		c->open[i].context = c->path[i];
	}
	return i;
}

static void open_path(struct collecting *c, uint32_t context, uint64_t time)
{
	uint32_t common, n_path = find_path(c, context, &common);
	common = keep_open(c, n_path, common);
	close_down_to(c, common, time);
	for (uint32_t i = common; i < n_path; i++) {
		struct pmfs_slice slice = {.start_ns = time,
			.end_ns = time,
			.thread = c->thread,
			.frame = c->tree->frame[c->path[i]],
			.depth = i};
		c->open[i].context = c->path[i];
		c->open[i].slice = keep(c, &slice);
		c->n_open++;
	}
}

static void add_sample(struct collecting *c, const struct pm_sample *sample)
{
	uint32_t context = pm_tree_find_sample(c->tree, sample->context);
	bool known = context != PM_NONE && sample->duration_ns != PM_NO_TIME;
	uint64_t start = time_of(c, sample);
	uint64_t end = known ? end_of(c, start, sample->duration_ns) : start;
	if (start < c->now)
		start = c->now;
	if (start > c->now || !known)
		close_down_to(c, 0, c->now);
	if (end <= start)
		return;
	c->now = end;
	open_path(c, context, start);
}

/* ---- calls ---- */

static void add_call(struct collecting *c, const struct pm_sample *call)
{
	uint32_t context = pm_tree_find_sample(c->tree, call->context);
	if (context == PM_NONE)
		return;
	struct pmfs_slice slice = {
		.start_ns = time_of(c, call),
		.seq = call->seq,
		.thread = c->thread,
		.frame = c->tree->frame[c->shown[context]],
		.depth = c->depth[c->shown[context]],
	};
	uint64_t duration = call->duration_ns == PM_NO_TIME ? 0 : call->duration_ns;
	slice.end_ns = end_of(c, slice.start_ns, duration);
	keep(c, &slice);
}

/* ---- reading ---- */

static int read_thread(struct collecting *c, uint32_t thread, struct pm_error *err)
{
	struct pmfs_samples samples = {c->profile, thread};
	const struct pm_sample *s;
	size_t first = c->slices->n;
	bool calls = c->profile->traces_are_calls;
	int r;
	c->thread = thread;
	c->now = 0;
	c->n_open = 0;
	while ((r = pmfs_samples_next(&samples, &s, err)) > 0) {
		if (calls)
			add_call(c, s);
		else
			add_sample(c, s);
	}
	close_down_to(c, 0, c->now);
	if (calls && !c->counting)
		slices_nest(c->lanes, c->slices, first);
	return r;
}

/* Of all threads, the traces that cannot be read end where reading failed. */
static void read_threads(struct collecting *c)
{
	const struct pm_thread *threads = c->threads->threads;
	if (c->wanted != PM_NONE && threads[c->wanted].has_trace)
		pm_build_check(c->a, read_thread(c, c->wanted, c->err));
	for (uint32_t i = 0; c->wanted == PM_NONE && i < c->threads->n; i++)
		if (threads[i].has_trace && pm_is_passing(read_thread(c, i, NULL)))
			pm_build_fail(c->a, -ENOMEM);
}

/* How many levels fit into the limit; one at least. */
static uint32_t choose_depth(const struct collecting *c)
{
	uint64_t n = c->height ? c->counts[0] : 0;
	uint32_t depth = 1;
	while (depth < c->height && n + c->counts[depth] <= PM_LIMIT_TRACE_SLICES)
		n += c->counts[depth++];
	while (depth < c->height && c->counts[depth] == 0)
		depth++;
	if (depth < c->height)
		return depth;
	return c->cut ? PM_LIMIT_SAMPLE_LEVELS : PM_NONE;
}

/* A frame that is too deep counts as the one above it. */
static void find_depths(struct collecting *c)
{
	uint32_t most = c->profile->traces_are_calls ? UINT32_MAX : PM_LIMIT_SAMPLE_LEVELS;
	for (uint32_t i = 0; i < c->tree->n_contexts; i++) {
		uint32_t parent = c->tree->parent[i], frame = c->shown[i];
		c->depth[i] = parent == PM_NONE ? 0 : c->depth[parent] + 1;
		if (frame == i && c->depth[i] >= most) {
			frame = parent;
			c->cut = true;
		}
		if (frame != i) {
			c->shown[i] = c->shown[frame];
			c->depth[i] = c->depth[frame];
		}
	}
}

/* Time below the levels that are kept is attributed to the frame above. */
static void cut_to_depth(struct collecting *c)
{
	for (uint32_t i = 0; i < c->tree->n_contexts; i++) {
		uint32_t frame = c->shown[i];
		if (c->depth[frame] >= c->slices->max_depth)
			c->shown[i] = c->shown[frame == i ? c->tree->parent[i] : frame];
	}
}

struct pmfs_slices *pmfs_slices_make(const struct pmfs_writing *w, uint32_t thread)
{
	struct pmfs_model *m = w->model;
	struct pm_arena *scratch = pm_arena_scratch(w->a);
	struct collecting c = {.a = w->a,
		.lanes = pm_arena_scratch(scratch),
		.err = w->err,
		.profile = pmfs_model_profile(m),
		.slices = pm_arena_alloc(w->a, sizeof(*c.slices)),
		.wanted = thread,
		.counting = true};
	pm_build_check(w->a, pmfs_model_tree(m, &c.tree, w->err));
	pm_build_check(w->a, pmfs_model_threads(m, &c.threads, w->err));
	pm_build_check(w->a, pmfs_time_origin(m, &c.origin, w->err));
	if (c.origin == PM_NO_TIME)
		c.origin = 0;
	c.height = pmfs_tree_height(c.tree);
	size_t n = (size_t)c.tree->n_contexts + 1, levels = (size_t)c.height + 1;
	c.shown = pm_arena_array(scratch, n, sizeof(*c.shown));
	c.depth = pm_arena_array(scratch, n, sizeof(*c.depth));
	c.counts = pm_arena_array(scratch, levels, sizeof(*c.counts));
	c.open = pm_arena_array(scratch, levels, sizeof(*c.open));
	c.path = pm_arena_array(scratch, levels, sizeof(*c.path));
	pmfs_stacks_find_frames(c.tree, 0, c.tree->n_contexts, c.shown);
	find_depths(&c);
	c.slices->max_depth = PM_NONE;
	read_threads(&c);
	c.counting = false;
	c.slices->max_depth = choose_depth(&c);
	if (!c.profile->traces_are_calls)
		cut_to_depth(&c);
	read_threads(&c);
	pm_arena_done(scratch);
	return c.slices;
}
