/*
 * What was read becomes threads, contexts, costs and traces. Calls are made of begins and ends,
 * sorted by thread and time, nested, and told to the recording: a thread at a time, since only when
 * all of a thread are known it is known what a call contains.
 */
#include <stdio.h>

#include "formats/common/sort.h"
#include "formats/traceevents/traceevents.h"
#include "profmount/limits.h"

#define GPU ((uint32_t)1 << 31) /* in a placed call's context */

/* ---- threads as the recording has them ---- */

/*
 * Of each process and thread with calls its number: text ids get the smallest positive ones that
 * are free, threads within their process, in the order of their first calls.
 */
struct numbering {
	struct tev_reading *t;
	struct pm_arena *scratch;
	uint32_t *order; /* threads with calls, by first call */
	size_t n;
	int64_t *pid, *tid; /* by process and thread */
};

static int by_first_call(const void *a, const void *b, void *context)
{
	const struct tev_reading *t = context;
	uint32_t x = t->threads[*(const uint32_t *)a].first_call;
	uint32_t y = t->threads[*(const uint32_t *)b].first_call;
	return (x > y) - (x < y);
}

/* The smallest positive number, from *at on, that is not among those taken in this process. */
static void next_free(
	const struct numbering *n, const struct pm_map *taken, uint32_t process, uint32_t *at)
{
	do
		pm_build_check(n->scratch, ++*at < PM_LIMIT_ITEMS ? 0 : PM_NO_MEMORY);
	while (pm_map_find(taken, (uint64_t)process << 32 | *at));
}

static void number_threads(struct numbering *n)
{
	struct tev_reading *t = n->t;
	struct pm_map taken = {.arena = n->scratch}, next = {.arena = n->scratch};
	const uint32_t all = PM_NONE; /* in place of a process: numbers of processes */
	bool fresh;
	for (size_t i = 0; i < t->n_processes; i++) {
		const struct tev_process *p = &t->processes[i];
		n->pid[i] = p->is_text ? TEV_NO_NUMBER : p->pid;
		if (p->has_calls && !p->is_text && p->pid > 0 && p->pid < PM_LIMIT_ITEMS)
			pm_map_put(&taken, (uint64_t)all << 32 | (uint32_t)p->pid, 1, &fresh);
	}
	for (size_t i = 0; i < n->n; i++) {
		const struct tev_thread *th = &t->threads[n->order[i]];
		n->tid[n->order[i]] = th->is_text ? TEV_NO_NUMBER : th->tid;
		if (!th->is_text && th->tid > 0 && th->tid < PM_LIMIT_ITEMS)
			pm_map_put(
				&taken, (uint64_t)th->process << 32 | (uint32_t)th->tid, 1, &fresh);
	}
	uint32_t process = 0;
	for (size_t i = 0; i < n->n; i++) {
		const struct tev_thread *th = &t->threads[n->order[i]];
		if (n->pid[th->process] == TEV_NO_NUMBER) {
			next_free(n, &taken, all, &process);
			n->pid[th->process] = process;
		}
		if (th->is_text) {
			uint32_t *at = pm_map_put(&next, th->process, 0, &fresh);
			next_free(n, &taken, th->process, at);
			n->tid[n->order[i]] = *at;
		}
	}
	for (size_t i = 0; i < t->n_processes; i++)
		if (t->processes[i].has_calls && n->pid[i] == TEV_NO_NUMBER) {
			next_free(n, &taken, all, &process);
			n->pid[i] = process;
		}
	for (size_t i = 0; i < n->n; i++) {
		struct tev_thread *th = &t->threads[n->order[i]];
		th->number = n->tid[n->order[i]];
		t->processes[th->process].number = n->pid[th->process];
	}
}

static struct pm_bytes process_name(const struct tev_process *p)
{
	return p->name.len ? p->name : p->text;
}

/* `NAME (2)`: the name of a further lane. */
static struct pm_bytes lane_name(struct tev_reading *t, struct pm_bytes name, uint32_t lane)
{
	pm_text_clear(&t->scratch);
	pm_text_bytes(&t->scratch, name);
	if (lane > 1 && name.len)
		pm_text_printf(&t->scratch, " (%u)", lane);
	return pm_text_view(&t->scratch);
}

/* Lane 1 is the thread itself. */
static uint32_t add_lane(struct numbering *n, uint32_t thread, uint32_t lane)
{
	struct tev_reading *t = n->t;
	const struct tev_thread *th = &t->threads[thread];
	struct pm_rec_key keys[] = {{"process", (uint64_t)n->pid[th->process], {0}},
		{"thread", (uint64_t)n->tid[thread], {0}}, {"lane", lane, {0}}};
	struct pm_bytes name = lane_name(t, th->name.len ? th->name : th->text, lane);
	uint32_t added = pm_rec_thread(t->r, keys, lane > 1 ? 3 : 2, name);
	struct pm_bytes process = process_name(&t->processes[th->process]);
	if (process.len)
		pm_rec_process_name(t->r, added, process);
	if (lane > 1)
		pm_rec_lane(t->r, added);
	t->has_lanes |= lane > 1;
	return added;
}

/* ---- calls of threads ---- */

struct placing {
	struct numbering *numbers;
	size_t position;
	uint16_t *lanes; /* by position; NULL: all on the first one */
	size_t n;
	uint32_t n_lanes;
};

/* The context of a call, in place of its function. */
static void enter_call(
	struct tev_reading *t, struct tev_calls *calls, uint32_t call, uint32_t parent)
{
	struct tev_call *c = &calls->items[call];
	struct tev_function *f = &t->functions[c->function];
	if (!t->is_clang)
		f = &t->functions[f->plain];
	if (f->recorded == PM_REC_BAD)
		f->recorded = pm_rec_function(t->r,
			&(struct pm_rec_function){
				.name = f->name, .file = f->file, .module = f->cat});
	uint32_t above = parent == PM_NONE ? PM_REC_NONE : calls->items[parent].function & ~GPU;
	unsigned flags = f->is_annotation ? PM_REC_ANNOTATION : 0;
	flags |= f->is_gpu ? PM_REC_ON_GPU : 0;
	uint32_t context = pm_rec_call(t->r, above, f->recorded, flags);
	pm_rec_proceed(t->r, &t->arena);
	pm_build_check(&t->arena, context < GPU ? 0 : PM_NO_MEMORY);
	c->function = context | (f->is_gpu ? GPU : 0);
	if (parent != PM_NONE)
		tev_call_add_below(calls, parent, tev_call_dur(calls, call));
}

static void place_call(void *context, uint32_t call, uint32_t parent, uint32_t lane)
{
	struct placing *p = context;
	struct tev_reading *t = p->numbers->t;
	size_t i = p->position++;
	if (lane == TEV_NO_LANE) {
		tev_note(&t->crowded, PM_NO_OFFSET);
		t->calls.items[call].function = PM_REC_NONE;
		return;
	}
	if (lane > 0 && !p->lanes)
		p->lanes = pm_arena_zeroed(&t->arena, p->n, sizeof(*p->lanes));
	if (p->lanes)
		p->lanes[i] = (uint16_t)lane;
	p->n_lanes = lane + 1 > p->n_lanes ? lane + 1 : p->n_lanes;
	enter_call(t, &t->calls, call, parent);
}

/* Tells the recording of a call that was placed. */
static void add_call(struct tev_reading *t, const struct tev_calls *calls, uint32_t call,
	uint32_t thread, bool async)
{
	const struct tev_call *c = &calls->items[call];
	if (c->function == PM_REC_NONE)
		return;
	uint32_t context = c->function & ~GPU;
	int64_t dur = tev_call_dur(calls, call), self = dur - tev_call_below(calls, call);
	uint32_t quantity = async ? t->async_time : c->function & GPU ? t->gpu : t->time;
	if (quantity == t->gpu && t->has_gpu)
		pm_rec_thread_on_gpu(t->r, thread);
	uint64_t time = (uint64_t)c->ts + (t->base == TEV_NO_NUMBER ? 0 : (uint64_t)t->base);
	pm_rec_cost(t->r, thread, context, quantity, self);
	pm_rec_cost(t->r, thread, context, t->n_calls, 1);
	if (t->values)
		tev_values_add(t, calls, call, thread, context);
	pm_rec_called(t->r, thread,
		&(struct pm_rec_called){.time_ns = time,
			.duration_ns = (uint64_t)dur,
			.self_ns = (uint64_t)self,
			.seq = c->seq,
			.context = context});
}

/* The calls of one thread: order[n]. */
static void add_thread_calls(struct numbering *numbers, uint32_t thread, uint32_t *order, size_t n)
{
	struct tev_reading *t = numbers->t;
	struct placing p = {.numbers = numbers, .n = n};
	tev_sort(&t->calls, order, n);
	for (size_t i = 0; i < n; i++)
		t->calls.items[order[i]].thread = 0; /* from now on: what its children take */
	tev_nest(&t->calls, order, n, t->has_fractions ? 1 : 1000, place_call, &p);
	uint32_t *lanes = pm_arena_zeroed(&t->arena, p.n_lanes, sizeof(*lanes));
	for (uint32_t i = 0; i < p.n_lanes; i++)
		lanes[i] = add_lane(numbers, thread, i + 1);
	for (size_t i = 0; i < n; i++) {
		pm_rec_proceed(t->r, &t->arena);
		add_call(t, &t->calls, order[i], lanes[p.lanes ? p.lanes[i] : 0], false);
	}
	pm_arena_free(&t->arena, lanes);
	pm_arena_free(&t->arena, p.lanes);
}

/* Thread by thread, in the order of their first calls. */
static void add_calls(struct numbering *numbers)
{
	struct tev_reading *t = numbers->t;
	uint32_t *order = pm_arena_array(numbers->scratch, t->calls.n, sizeof(*order));
	size_t *first = pm_arena_array(numbers->scratch, t->n_threads + 1, sizeof(*first));
	for (size_t i = 0; i < t->calls.n; i++)
		t->threads[t->calls.items[i].thread].n_calls++;
	for (size_t i = 0; i < t->n_threads; i++)
		first[i + 1] = first[i] + t->threads[i].n_calls;
	for (size_t i = 0; i < t->calls.n; i++) {
		const struct tev_call *c = &t->calls.items[i];
		order[first[c->thread]++] = (uint32_t)i;
	}
	for (size_t i = 0; i < numbers->n; i++) {
		uint32_t thread = numbers->order[i];
		size_t n = t->threads[thread].n_calls;
		uint32_t *mine = order + first[thread] - n;
		size_t kept = 0;
		pm_rec_proceed(t->r, &t->arena);
		for (size_t k = 0; k < n; k++) {
			const struct tev_function *f =
				&t->functions[t->calls.items[mine[k]].function];
			bool comment = t->is_clang && f->is_total;
			t->n_comments += comment;
			if (!comment)
				mine[kept++] = mine[k];
		}
		if (kept > 0)
			add_thread_calls(numbers, thread, mine, kept);
	}
}

/* ---- begins and ends ---- */

static int by_thread(const void *a, const void *b)
{
	const struct tev_mark *x = a, *y = b;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

static void pair_marks(struct tev_reading *t)
{
	pm_build_check(&t->arena, pm_sort(t->marks, t->n_marks, sizeof(*t->marks), by_thread));
	for (size_t i = 0, end; i < t->n_marks; i = end) {
		uint32_t thread = t->marks[i].thread;
		pm_rec_proceed(t->r, &t->arena);
		for (end = i; end < t->n_marks && t->marks[end].thread == thread;)
			end++;
		tev_pair(&t->marks[i], end - i, t->threads[thread].last, &t->calls, &t->paired);
	}
	pm_arena_free(&t->arena, t->marks);
}

/* ---- async calls ---- */

/* A call that nests in no other, with all below it: it goes on a lane as a whole. */
struct tree {
	uint32_t process, seq;
	struct pm_bytes cat;
	int64_t start, end;
	size_t first, n; /* its calls */
};

struct async {
	struct tev_reading *t;
	struct pm_arena *arena;
	struct tev_calls calls;
	uint32_t *order;
	size_t order_room;
	uint32_t *tree_of_call; /* PM_NONE: left out */
	size_t call_room;
	struct tree *trees;
	size_t n_trees, trees_room;
};

static void place_async(void *context, uint32_t call, uint32_t parent, uint32_t lane)
{
	struct async *a = context;
	struct tev_reading *t = a->t;
	struct tev_call *c = &a->calls.items[call];
	uint32_t thread = c->thread, tree = (uint32_t)a->n_trees;
	c->thread = 0;
	if (lane == TEV_NO_LANE) {
		tev_note(&t->crowded, PM_NO_OFFSET);
		a->tree_of_call[call] = PM_NONE;
		return;
	}
	if (parent != PM_NONE) {
		tree = a->tree_of_call[parent];
	} else {
		pm_items_grow(a->arena, &a->trees, a->n_trees, &a->trees_room, sizeof(*a->trees));
		a->trees[a->n_trees++] = (struct tree){.process = t->threads[thread].process,
			.seq = c->seq,
			.cat = t->functions[c->function].cat,
			.start = c->ts,
			.end = c->ts + tev_call_dur(&a->calls, call)};
	}
	a->tree_of_call[call] = tree;
	a->trees[tree].n++;
	enter_call(t, &a->calls, call, parent);
}

static int by_key(const void *a, const void *b)
{
	const struct tev_mark *x = a, *y = b;
	return (x->key > y->key) - (x->key < y->key);
}

/* The calls of the marks with one key. */
static void add_async_key(struct async *a, struct tev_mark *marks, size_t n)
{
	struct tev_reading *t = a->t;
	int64_t last = TEV_NO_NUMBER;
	size_t from = a->calls.n;
	for (size_t i = 0; i < n; i++) {
		int64_t of = t->processes[t->threads[marks[i].thread].process].last;
		last = of > last ? of : last;
	}
	tev_pair(marks, n, last, &a->calls, &t->paired);
	for (size_t i = from; i < a->calls.n; i++) {
		pm_items_grow(a->arena, &a->order, i, &a->order_room, sizeof(*a->order));
		pm_items_grow(
			a->arena, &a->tree_of_call, i, &a->call_room, sizeof(*a->tree_of_call));
		a->order[i] = (uint32_t)i;
	}
	n = a->calls.n - from;
	if (n == 0)
		return;
	tev_sort(&a->calls, a->order + from, n);
	tev_nest(&a->calls, a->order + from, n, 0, place_async, a);
}

static int tree_order(const void *a, const void *b)
{
	const struct tree *x = a, *y = b;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	int order = pm_bytes_compare(x->cat, y->cat);
	if (order != 0)
		return order;
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	if (x->end != y->end)
		return x->end > y->end ? -1 : 1;
	return (x->seq > y->seq) - (x->seq < y->seq);
}

/* Lane `number` of a process, the `nth` of its category. */
static uint32_t add_async_lane(
	struct numbering *numbers, const struct tree *tree, uint32_t number, uint32_t nth)
{
	struct tev_reading *t = numbers->t;
	struct pm_rec_key keys[] = {
		{"process", (uint64_t)numbers->pid[tree->process], {0}}, {"async", number, {0}}};
	struct pm_text name = {.arena = numbers->scratch};
	pm_text_str(&name, tree->cat.len ? "async " : "async");
	pm_text_bytes(&name, tree->cat);
	struct pm_bytes shown = lane_name(t, pm_text_view(&name), nth);
	uint32_t thread = pm_rec_thread(t->r, keys, 2, shown);
	pm_rec_lane(t->r, thread);
	struct pm_bytes process = process_name(&t->processes[tree->process]);
	if (process.len)
		pm_rec_process_name(t->r, thread, process);
	pm_text_done(&name);
	return thread;
}

/* Trees of one process and category, in order, each on the first lane that is free. */
static uint32_t add_trees(struct numbering *numbers, struct async *a, const uint32_t *calls,
	const struct tree *trees, size_t n, uint32_t n_before)
{
	struct tev_reading *t = numbers->t;
	struct {
		int64_t end;
		uint32_t thread;
	} *lanes = NULL;
	size_t n_lanes = 0, lane_room = 0;
	for (size_t i = 0; i < n; i++) {
		size_t lane = 0;
		pm_rec_proceed(t->r, &t->arena);
		while (lane < n_lanes && lanes[lane].end > trees[i].start)
			lane++;
		if (lane >= PM_LIMIT_LANES) {
			t->crowded.n += trees[i].n;
			continue;
		}
		if (lane == n_lanes) {
			pm_list_grow(a->arena, &lanes, n_lanes, &lane_room, sizeof(*lanes));
			lanes[n_lanes++].thread = add_async_lane(numbers, &trees[i],
				n_before + (uint32_t)lane + 1, (uint32_t)lane + 1);
		}
		lanes[lane].end = trees[i].end;
		for (size_t k = 0; k < trees[i].n; k++)
			add_call(t, &a->calls, calls[trees[i].first + k], lanes[lane].thread, true);
	}
	pm_arena_free(a->arena, lanes);
	return n_before + (uint32_t)n_lanes;
}

static void add_async_lanes(struct numbering *numbers, struct async *a)
{
	uint32_t *calls = pm_arena_array(a->arena, a->calls.n, sizeof(*calls));
	size_t at = 0;
	for (size_t i = 0; i < a->n_trees; i++) {
		a->trees[i].first = at;
		at += a->trees[i].n;
		a->trees[i].n = 0;
	}
	for (size_t i = 0; i < a->calls.n; i++) {
		uint32_t tree = a->tree_of_call[a->order[i]];
		if (tree != PM_NONE)
			calls[a->trees[tree].first + a->trees[tree].n++] = a->order[i];
	}
	pm_build_check(a->arena, pm_sort(a->trees, a->n_trees, sizeof(*a->trees), tree_order));
	uint32_t n_lanes = 0;
	for (size_t i = 0, end; i < a->n_trees; i = end) {
		const struct tree *first = &a->trees[i];
		if (i == 0 || first->process != a->trees[i - 1].process)
			n_lanes = 0;
		for (end = i; end < a->n_trees && a->trees[end].process == first->process &&
			pm_bytes_equal(a->trees[end].cat, first->cat);)
			end++;
		n_lanes = add_trees(numbers, a, calls, first, end - i, n_lanes);
	}
}

static void add_async(struct numbering *numbers)
{
	struct tev_reading *t = numbers->t;
	struct pm_arena *scratch = pm_arena_scratch(&t->arena);
	struct async a = {.t = t, .arena = scratch, .calls = tev_calls_in(scratch)};
	pm_build_check(scratch, pm_sort(t->async, t->n_async, sizeof(*t->async), by_key));
	for (size_t i = 0, end; i < t->n_async; i = end) {
		pm_rec_proceed(t->r, &t->arena);
		for (end = i; end < t->n_async && t->async[end].key == t->async[i].key;)
			end++;
		add_async_key(&a, &t->async[i], end - i);
	}
	add_async_lanes(numbers, &a);
	pm_arena_done(scratch);
}

/* ---- the whole ---- */

/* Columns are there for what there is. */
static void add_quantities(struct tev_reading *t)
{
	bool has_time = false, has_gpu = false;
	t->time = t->gpu = t->async_time = t->sampled_time = PM_REC_BAD;
	for (size_t i = 0; i < t->calls.n && !(has_time && has_gpu); i++) {
		const struct tev_function *f = &t->functions[t->calls.items[i].function];
		bool comment = t->is_clang && f->is_total;
		has_gpu |= f->is_gpu;
		has_time |= !f->is_gpu && !comment;
	}
	if (has_time || (!has_gpu && t->n_async == 0))
		t->time = pm_rec_metric(t->r, pm_bytes_of("time"), pm_bytes_of("ns"));
	t->has_gpu = has_gpu;
	if (has_gpu)
		t->gpu = pm_rec_metric(t->r, pm_bytes_of("gpu"), pm_bytes_of("ns"));
	if (t->n_async > 0)
		t->async_time = pm_rec_metric(t->r, pm_bytes_of("async"), pm_bytes_of("ns"));
	if (tev_sampled_has(t))
		t->sampled_time = pm_rec_metric(t->r, pm_bytes_of("sampled"), pm_bytes_of("ns"));
	/* Most functions are on threads or on GPUs. */
	if (has_gpu || t->n_async > 0 || t->sampled_time != PM_REC_BAD) {
		pm_rec_no_zeros(t->r, t->sampled_time);
		pm_rec_no_zeros(t->r, t->time);
		pm_rec_no_zeros(t->r, t->gpu);
		pm_rec_no_zeros(t->r, t->async_time);
	}
	tev_values_quantities(t);
	t->n_calls = pm_rec_count(t->r, "calls");
}

static void report(struct tev_reading *t, const struct tev_problem *p, const char *what)
{
	if (p->n)
		pm_rec_damage(t->r, p->at, PM_NO_OFFSET, "%llu %s", (unsigned long long)p->n, what);
}

/* clang names headers that it read; where these are async calls, their time is the last quantity.
 */
static void add_recipe(struct tev_reading *t)
{
	bool sources = false;
	char command[160];
	for (size_t i = 0; i < t->n_functions && !sources; i++)
		sources = t->functions[i].has_detail && t->functions[i].name.len > 7 &&
			memcmp(t->functions[i].name.p, "Source ", 7) == 0;
	if (!t->is_clang || !sources)
		return;
	snprintf(command, sizeof(command),
		"awk -F'\\t' '$NF ~ /^Source / { printf \"%%.3f ms  %%s\\n\", $%d / 1e6, substr($NF, 8) }' "
		"functions.tsv | sort -gr | head",
		t->n_async && t->time != PM_REC_BAD ? 6 : 4);
	pm_rec_recipe(t->r, "Which headers cost most, with all that they include?", command);
}

static void report_all(struct tev_reading *t)
{
	struct tev_problem unbegun = {t->paired.n_unbegun, PM_NO_OFFSET};
	struct tev_problem unended = {t->paired.n_unended, PM_NO_OFFSET};
	add_recipe(t);
	report(t, &t->no_event, "elements are no events: they are left out");
	report(t, &t->no_ts, "events have no time that can be used: they are left out");
	report(t, &t->too_long, "parts of CPU profiles are too long: they are left out");
	report(t, &t->no_dur, "calls have no duration that can be used: they last 0 ns");
	report(t, &unbegun, "ends have no begin: they are left out");
	report(t, &unended, "begins have no end: these calls last to the last event");
	t->crowded.at = PM_NO_OFFSET;
	report(t, &t->crowded, "calls overlap with more others than there may be lanes: left out");
	if (t->n_comments)
		pm_rec_remark(t->r,
			"%llu events are sums or comments of the writer, not calls: they add nothing.",
			(unsigned long long)t->n_comments);
	if (t->has_lanes)
		pm_rec_remark(t->r,
			"Calls of a thread that overlap without nesting are on lanes of "
			"that thread (threads/process=P/thread=T/lane=N).");
}

void tev_place(struct tev_reading *t)
{
	struct pm_arena *scratch = pm_arena_scratch(&t->arena);
	struct numbering n = {.t = t, .scratch = scratch};
	pair_marks(t);
	bool only_sampled = t->calls.n == 0 && t->n_async == 0 && tev_sampled_has(t);
	if (!only_sampled)
		add_quantities(t);
	n.order = pm_arena_array(scratch, t->n_threads, sizeof(*n.order));
	n.pid = pm_arena_array(scratch, t->n_processes, sizeof(*n.pid));
	n.tid = pm_arena_array(scratch, t->n_threads, sizeof(*n.tid));
	if (t->is_clang && t->origin == TEV_NO_NUMBER)
		t->origin = 0;
	if (!t->is_clang && t->total_origin != TEV_NO_NUMBER &&
		(t->origin == TEV_NO_NUMBER || t->total_origin < t->origin))
		t->origin = t->total_origin;
	for (uint32_t i = 0; i < t->n_threads; i++) {
		if (t->threads[i].first_call == PM_NONE)
			continue;
		t->processes[t->threads[i].process].has_calls = true;
		n.order[n.n++] = i;
	}
	pm_build_check(scratch, pm_sort_with(n.order, n.n, sizeof(*n.order), by_first_call, t));
	number_threads(&n);
	if (t->origin != TEV_NO_NUMBER)
		pm_rec_origin(t->r,
			(uint64_t)t->origin + (t->base == TEV_NO_NUMBER ? 0 : (uint64_t)t->base));
	if (t->base > 0)
		pm_rec_since_epoch(t->r);
	if (t->n_links > 0)
		tev_launches(t);
	add_calls(&n);
	if (t->n_async)
		add_async(&n);
	tev_sampled_place(t, only_sampled);
	report_all(t);
	pm_arena_done(scratch);
}
