/*
 * blame.csv, who holds up whom: while threads of a process wait, their time is charged to what its
 * other threads run (docs/namespace.md).
 *
 * One sweep over the traces of a process in the order of time. At each moment n threads wait and r
 * run: each of these is charged n / r of the time. Instead of charging all r threads whenever
 * something changes, what one of them would have been charged since the beginning is kept, by kind
 * of waiting; a thread is charged the difference when it begins to do something else.
 */
#include <string.h>

#include "formats/common/affix.h"
#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/categories.h"
#include "fs/views/model/identity.h"
#include "fs/views/model/model.h"
#include "fs/views/model/parts.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/threads.h"

/* Kinds of waiting. */
enum wait {
	WAIT_BARRIER,
	WAIT_IDLE,
	WAIT_OMP,
	WAIT_SPIN,
	WAIT_CONDITION,
	WAIT_LOCK,
	WAIT_GPU,  /* for operations of a GPU */
	WAIT_HOST, /* a GPU that has nothing to do */
	N_WAITS,
};

struct blame_row {
	uint32_t function; /* of pmfs_identity; PM_NONE: nobody ran, or it is not known who did */
	uint32_t context;  /* that is charged most; PM_NONE with `function` */
	enum wait waiting;
	double wait_ns;
};

struct blame {
	uint32_t n;
	size_t room;
	struct blame_row *rows; /* most time first */
	double whole_ns;        /* of all rows */
	const struct pmfs_identity *identity;
};

/* In the column `waiting`. */
static const char *const wait_names[N_WAITS] = {
	[WAIT_BARRIER] = "omp barrier",
	[WAIT_IDLE] = "omp idle",
	[WAIT_OMP] = "omp wait",
	[WAIT_SPIN] = "omp spin",
	[WAIT_CONDITION] = "condition",
	[WAIT_LOCK] = "lock",
	[WAIT_GPU] = "gpu",
	[WAIT_HOST] = "host",
};

/* ---- what waits ---- */

enum { IS, BEGINS };

/* Names without parameters, versions and __GI_. The first that matches decides. */
static const struct {
	uint8_t how;
	uint8_t kind;
	const char *name;
} rules[] = {
	{IS, WAIT_BARRIER, "<omp barrier wait>"},
	{IS, WAIT_IDLE, "<omp idle>"},
	{IS, WAIT_SPIN, "__kmp_wait_template"},
	{BEGINS, WAIT_SPIN, "__kmp_wait_"},
	{BEGINS, WAIT_SPIN, "__kmp_hyper_barrier"},
	{BEGINS, WAIT_SPIN, "__kmp_join_barrier"},
	{BEGINS, WAIT_SPIN, "__kmp_fork_barrier"},
	{BEGINS, WAIT_SPIN, "__kmp_barrier"},
	{BEGINS, WAIT_SPIN, "__kmp_suspend_"},
	{BEGINS, WAIT_SPIN, "gomp_team_barrier_wait"},
	{BEGINS, WAIT_SPIN, "gomp_barrier_wait"},
	{BEGINS, WAIT_SPIN, "gomp_simple_barrier_wait"},
	{IS, WAIT_SPIN, "GOMP_barrier"},
	{BEGINS, WAIT_CONDITION, "pthread_cond_wait"},
	{BEGINS, WAIT_CONDITION, "pthread_cond_timedwait"},
	{BEGINS, WAIT_CONDITION, "pthread_cond_clockwait"},
	{BEGINS, WAIT_CONDITION, "std::condition_variable::wait"},
	{IS, WAIT_CONDITION, "sem_wait"},
	{IS, WAIT_CONDITION, "sem_timedwait"},
	{IS, WAIT_LOCK, "pthread_mutex_lock"},
	{IS, WAIT_LOCK, "__pthread_mutex_lock"},
	{IS, WAIT_LOCK, "pthread_spin_lock"},
	{IS, WAIT_LOCK, "pthread_rwlock_rdlock"},
	{IS, WAIT_LOCK, "pthread_rwlock_wrlock"},
	{BEGINS, WAIT_LOCK, "__lll_lock_wait"},
	{IS, WAIT_LOCK, "std::mutex::lock"},
	{IS, WAIT_LOCK, "omp_set_lock"},
	{IS, WAIT_LOCK, "GOMP_critical_start"},
	{IS, WAIT_GPU, "<gpu sync>"},
	{IS, WAIT_GPU, "cudaDeviceSynchronize"},
	{IS, WAIT_GPU, "cudaStreamSynchronize"},
	{IS, WAIT_GPU, "cudaEventSynchronize"},
	{IS, WAIT_GPU, "cuCtxSynchronize"},
	{IS, WAIT_GPU, "cuStreamSynchronize"},
	{IS, WAIT_GPU, "cuEventSynchronize"},
	{IS, WAIT_GPU, "hipDeviceSynchronize"},
	{IS, WAIT_GPU, "hipStreamSynchronize"},
	{IS, WAIT_GPU, "hipEventSynchronize"},
	{IS, WAIT_GPU, "zeEventHostSynchronize"},
	{IS, WAIT_GPU, "zeCommandQueueSynchronize"},
	{IS, WAIT_GPU, "clFinish"},
	{IS, WAIT_GPU, "clWaitForEvents"},
};

/* The kind of waiting of a function, or N_WAITS. */
static uint8_t wait_of(struct pm_bytes name)
{
	static const char glibc[] = "__GI_", omp[] = "<omp ", wait[] = "wait>";
	struct pm_bytes bare = pmfs_name_bare(name);
	const uint8_t *version = bare.len ? memchr(bare.p, '@', bare.len) : NULL;
	if (version)
		bare.len = (size_t)(version - bare.p);
	if (pm_begins_with(bare, glibc))
		bare = (struct pm_bytes){bare.p + strlen(glibc), bare.len - strlen(glibc)};
	for (size_t i = 0; i < sizeof(rules) / sizeof(*rules); i++)
		if (rules[i].how == IS ? pm_bytes_equal(bare, pm_bytes_of(rules[i].name))
				       : pm_begins_with(bare, rules[i].name))
			return rules[i].kind;
	return pm_begins_with(bare, omp) && pm_ends_with(bare, wait) ? WAIT_OMP : N_WAITS;
}

/* What a thread does: waits of that kind, or */
enum { RUNS = N_WAITS, IS_IDLE };

/* By context: the deepest frame that waits decides. */
static const uint8_t *find_states(
	struct pm_arena *a, const struct pmfs_identity *id, const uint8_t *categories)
{
	const struct pm_tree *tree = id->tree;
	uint8_t *of_function = pm_arena_alloc(a, (size_t)id->n + 1);
	uint8_t *state = pm_arena_alloc(a, (size_t)tree->n_contexts + 1);
	for (uint32_t i = 0; i < id->n; i++) {
		if (i % 1024 == 0)
			pm_build_proceed(a);
		of_function[i] = wait_of(id->functions[i].name);
	}
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		uint32_t parent = tree->parent[i];
		uint8_t own = pmfs_is_call(id, i) ? of_function[pmfs_function_of(id, i)] : N_WAITS;
		uint8_t above = parent == PM_NONE ? RUNS : state[parent];
		state[i] = own != N_WAITS            ? own
			: above < N_WAITS            ? above
			: categories[i] == PMFS_IDLE ? IS_IDLE
						     : RUNS;
	}
	return state;
}

/* ---- one thread ---- */

enum { BATCH = 128 };

struct reader {
	uint32_t thread, device; /* device: of the process, + 1; 0: it is one of the host's */
	uint64_t at;             /* the next sample to be read */
	uint32_t i, n;           /* in the batch */
	uint64_t next_ns;        /* when it does something else */
	uint8_t state;           /* what it does */
	bool has_begun, has_ended;
	uint32_t context;
	double since[N_WAITS]; /* what it would have been charged before */
	struct pm_sample *batch;
};

struct device {
	uint64_t number;
	uint32_t busy; /* streams */
};

struct sweep {
	struct pm_arena *a; /* for what is needed while it goes on */
	const struct pm_profile *p;
	const struct pm_threads *threads;
	const struct pmfs_identity *id;
	const uint8_t *state;
	double *charged;       /* by context and kind */
	double alone[N_WAITS]; /* nobody ran */
	/* Of the process at hand: */
	struct reader *readers;
	uint32_t *heap; /* of readers, by next_ns */
	uint32_t n, n_heap;
	struct device *devices;
	size_t n_devices, room_devices;
	uint64_t now;
	uint32_t waits[N_WAITS], runs; /* threads of the host */
	uint32_t host, working;        /* that have begun and not ended; streams that work */
	double each[N_WAITS];          /* what a thread would have been charged so far */
};

static bool is_before(const struct sweep *s, uint32_t a, uint32_t b)
{
	return s->readers[a].next_ns < s->readers[b].next_ns;
}

static void sift(struct sweep *s, uint32_t at)
{
	for (uint32_t child; (child = 2 * at + 1) < s->n_heap; at = child) {
		if (child + 1 < s->n_heap && is_before(s, s->heap[child + 1], s->heap[child]))
			child++;
		if (!is_before(s, s->heap[child], s->heap[at]))
			break;
		uint32_t other = s->heap[at];
		s->heap[at] = s->heap[child];
		s->heap[child] = other;
	}
}

/* Time passes, in which nobody does anything else. */
static void pass(struct sweep *s, uint64_t to)
{
	double ns = to > s->now ? (double)(to - s->now) : 0;
	s->now = to > s->now ? to : s->now;
	for (unsigned k = 0; k < N_WAITS && ns > 0; k++) {
		uint32_t by = k == WAIT_GPU ? s->working : s->runs;
		double waits = s->waits[k] * ns;
		if (k == WAIT_LOCK || by == 0)
			s->alone[k] += waits;
		else
			s->each[k] += waits / by;
	}
}

/* Devices all of whose streams are idle, as long as the host is there. */
static void count_devices(struct sweep *s)
{
	uint32_t n = 0;
	for (size_t i = 0; i < s->n_devices; i++)
		n += s->devices[i].busy == 0;
	s->waits[WAIT_HOST] = s->host > 0 ? n : 0;
}

/* Whether it is charged that kind of waiting while it runs. */
static bool is_charged(const struct reader *r, unsigned kind)
{
	return (kind == WAIT_GPU) == (r->device > 0) && kind != WAIT_LOCK;
}

static void leave(struct sweep *s, struct reader *r)
{
	for (unsigned k = 0; k < N_WAITS && r->state == RUNS && r->context != PM_NONE; k++)
		if (is_charged(r, k))
			s->charged[(size_t)r->context * N_WAITS + k] += s->each[k] - r->since[k];
	if (r->device > 0 && r->state != IS_IDLE) {
		s->devices[r->device - 1].busy--;
		s->working--;
	} else if (r->device == 0 && r->state == RUNS) {
		s->runs--;
	} else if (r->device == 0 && r->state < N_WAITS) {
		s->waits[r->state]--;
	}
	r->state = IS_IDLE;
}

static void enter(struct sweep *s, struct reader *r, uint8_t state, uint32_t context)
{
	r->state = r->device > 0 && state != IS_IDLE ? RUNS : state;
	r->context = context;
	memcpy(r->since, s->each, sizeof(r->since));
	if (r->device > 0 && r->state == RUNS) {
		s->devices[r->device - 1].busy++;
		s->working++;
	} else if (r->device == 0 && r->state == RUNS) {
		s->runs++;
	} else if (r->device == 0 && r->state < N_WAITS) {
		s->waits[r->state]++;
	}
}

/* The next sample: 1, or 0 at the end. A trace that cannot be read ends there. */
static int next_sample(struct sweep *s, struct reader *r, const struct pm_sample **ret)
{
	if (r->i == r->n) {
		pm_build_proceed(s->a);
		int64_t n = s->p->ops->samples(s->p, r->thread, r->at, r->batch, BATCH, NULL);
		if (pm_is_passing((int)n))
			pm_build_fail(s->a, -ENOMEM);
		if (n <= 0)
			return 0;
		r->at += (uint64_t)n;
		r->n = (uint32_t)n;
		r->i = 0;
	}
	*ret = &r->batch[r->i];
	return 1;
}

/* The thread does something else now. */
static void step(struct sweep *s, struct reader *r)
{
	const struct pm_sample *sample;
	leave(s, r);
	if (next_sample(s, r, &sample) == 0) {
		r->has_ended = true;
		s->host -= r->has_begun && r->device == 0;
		return;
	}
	if (sample->time_ns > s->now && sample->time_ns > r->next_ns) {
		r->next_ns = sample->time_ns; /* nothing is known until then */
		return;
	}
	if (!r->has_begun)
		s->host += r->device == 0;
	r->has_begun = true;
	uint64_t ns = sample->duration_ns == PM_NO_TIME ? 0 : sample->duration_ns, end;
	r->next_ns = __builtin_add_overflow(sample->time_ns, ns, &end) ? UINT64_MAX : end;
	uint32_t context = pm_tree_find_sample(s->id->tree, sample->context);
	uint8_t state = sample->context == 0 ? IS_IDLE
		: context == PM_NONE         ? RUNS
					     : s->state[context];
	enter(s, r, state, context);
	r->i++;
}

/* ---- one process ---- */

static void sweep_process(struct sweep *s)
{
	memset(s->waits, 0, sizeof(s->waits));
	memset(s->each, 0, sizeof(s->each));
	s->runs = s->host = s->working = 0;
	s->now = 0;
	s->n_heap = 0;
	for (uint32_t i = 0; i < s->n; i++) {
		const struct pm_sample *sample;
		if (next_sample(s, &s->readers[i], &sample) == 0)
			continue;
		s->readers[i].next_ns = sample->time_ns;
		s->heap[s->n_heap++] = i;
	}
	for (uint32_t i = s->n_heap / 2; i-- > 0;)
		sift(s, i);
	s->now = s->n_heap ? s->readers[s->heap[0]].next_ns : 0;
	while (s->n_heap > 0) {
		struct reader *first = &s->readers[s->heap[0]];
		pass(s, first->next_ns);
		step(s, first);
		if (first->device > 0 || first->has_ended || s->host <= 1)
			count_devices(s);
		if (first->has_ended)
			s->heap[0] = s->heap[--s->n_heap];
		sift(s, 0);
	}
}

static void add_reader(struct sweep *s, uint32_t thread)
{
	static const char *const devices[] = {"gpudevice", "gpu_device", "gpucontext", NULL};
	struct reader *r = &s->readers[s->n++];
	r->thread = thread;
	if (pm_time_of(s->threads, thread) != PM_TIME_GPUS)
		return;
	uint64_t number = pmfs_thread_key(s->threads, thread, devices);
	size_t i = 0;
	while (i < s->n_devices && s->devices[i].number != number)
		i++;
	if (i == s->n_devices) {
		pm_list_grow(s->a, &s->devices, i, &s->room_devices, sizeof(*s->devices));
		s->devices[s->n_devices++] = (struct device){.number = number};
	}
	r->device = (uint32_t)i + 1;
}

struct member {
	uint64_t process;
	uint32_t thread;
};

static int by_process(const void *a, const void *b)
{
	const struct member *x = a, *y = b;
	if (x->process != y->process)
		return x->process < y->process ? -1 : 1;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

/* The threads that have traces, process by process. */
static void sweep_all(struct sweep *s)
{
	size_t n_threads = s->threads->n, n = 0;
	struct member *members = pm_arena_array(s->a, n_threads + 1, sizeof(*members));
	for (uint32_t i = 0; i < n_threads; i++)
		if (s->threads->threads[i].has_trace && !s->threads->threads[i].is_lane)
			members[n++] = (struct member){pmfs_thread_process(s->threads, i), i};
	pm_build_check(s->a, pm_sort(members, n, sizeof(*members), by_process));
	struct pm_sample *batches = pm_arena_array(s->a, n + 1, BATCH * sizeof(*batches));
	s->readers = pm_arena_array(s->a, n + 1, sizeof(*s->readers));
	s->heap = pm_arena_array(s->a, n + 1, sizeof(*s->heap));
	for (size_t from = 0, to; from < n; from = to) {
		s->n = 0;
		s->n_devices = 0;
		for (to = from; to < n && members[to].process == members[from].process; to++) {
			s->readers[s->n] = (struct reader){
				.batch = batches + (to - from) * BATCH, .state = IS_IDLE};
			add_reader(s, members[to].thread);
		}
		sweep_process(s);
	}
}

/* ---- rows ---- */

static void add_row(struct pm_arena *a, struct blame *b, const struct blame_row *row)
{
	pm_list_grow(a, &b->rows, b->n, &b->room, sizeof(*row));
	b->rows[b->n++] = *row;
	b->whole_ns += row->wait_ns;
}

static int by_time(const void *a, const void *b)
{
	const struct blame_row *x = a, *y = b;
	if (x->wait_ns != y->wait_ns)
		return x->wait_ns > y->wait_ns ? -1 : 1;
	if (x->waiting != y->waiting)
		return x->waiting < y->waiting ? -1 : 1;
	return (x->function > y->function) - (x->function < y->function);
}

static void list_rows(struct pm_arena *a, const struct sweep *s, struct blame *b)
{
	const struct pm_tree *tree = s->id->tree;
	size_t n = (size_t)s->id->n * N_WAITS;
	struct blame_row *of = pm_arena_array(s->a, n + 1, sizeof(*of));
	for (uint32_t i = 0; i < tree->n_contexts; i++)
		for (unsigned k = 0; k < N_WAITS; k++) {
			const double *at = &s->charged[(size_t)i * N_WAITS + k];
			uint32_t function = pmfs_function_of(s->id, i);
			struct blame_row *row = &of[(size_t)function * N_WAITS + k];
			if (*at <= 0)
				continue;
			if (row->wait_ns == 0 ||
				*at > s->charged[(size_t)row->context * N_WAITS + k])
				row->context = i;
			row->function = function;
			row->waiting = (enum wait)k;
			row->wait_ns += *at;
		}
	for (size_t i = 0; i < n; i++)
		if (of[i].wait_ns > 0)
			add_row(a, b, &of[i]);
	for (unsigned k = 0; k < N_WAITS; k++)
		if (s->alone[k] > 0)
			add_row(a, b,
				&(struct blame_row){PM_NONE, PM_NONE, (enum wait)k, s->alone[k]});
	pm_build_check(a, pm_sort(b->rows, b->n, sizeof(*b->rows), by_time));
}

static void build_blame(struct pm_arena *a, void *m, void *part, struct pm_error *err)
{
	struct blame *b = part;
	struct sweep s = {.a = pm_arena_scratch(a), .p = pmfs_model_profile(m)};
	const uint8_t *categories;
	pm_build_check(a, pmfs_identity(m, &s.id, err));
	pm_build_check(a, pmfs_categories(m, &categories, err));
	pm_build_check(a, pmfs_model_threads(m, &s.threads, err));
	b->identity = s.id;
	s.charged = pm_arena_array(
		s.a, (size_t)s.id->tree->n_contexts + 1, N_WAITS * sizeof(*s.charged));
	s.state = find_states(s.a, s.id, categories);
	sweep_all(&s);
	list_rows(a, &s, b);
	pm_arena_done(s.a);
}

/* ---- the table: a row's position is its index ---- */

/* Whether threads have sampled traces. Reads no values. */
int pmfs_has_blame(struct pmfs_model *m, uint32_t item, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	(void)item;
	if (!pm_profile_has(p, threads) || !p->ops->samples || p->traces_are_calls ||
		p->samples_are_weighed)
		return 0;
	return p->ops->has ? p->ops->has(p, PM_HAS_TRACES, err)
			   : pmfs_some_thread_has_trace(m, 0, err);
}

/* The program's own code has no category in the table, either. */
static int blame_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct blame), .what = "who holds up whom", .build = build_blame};
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	const struct blame *b;
	const uint8_t *categories;
	int r = pmfs_model_part(m, PMFS_PART_BLAME, &type, &b, err);
	if (r < 0 || (r = pmfs_categories(m, &categories, err)) < 0 || rows->at >= b->n)
		return r;
	const struct blame_row *row = &b->rows[rows->at++];
	const struct pm_tree *tree = b->identity->tree;
	cells[0] = pm_cell_u64((uint64_t)llround(row->wait_ns));
	cells[1] = pm_cell_f64(row->wait_ns / b->whole_ns);
	pm_set_text(&cells[5], pm_bytes_of(wait_names[row->waiting]));
	if (row->function == PM_NONE) {
		cells[2] = cells[3] = cells[4] = cells[6] = pm_cell_empty();
		pm_set_text(&cells[7],
			pm_bytes_of(row->waiting == WAIT_LOCK      ? "(lock holder unknown)"
					: pmfs_model_unfiltered(m) ? "(all wait or filtered out)"
								   : "(all wait)"));
		return 1;
	}
	const struct pmfs_function *f = &b->identity->functions[row->function];
	cells[2] = pm_cell_u64(pm_tree_number(tree, row->context));
	pmfs_set_known(&cells[3], f->line, 0);
	pm_set_text(&cells[4], pmfs_category_name((enum pmfs_category)categories[row->context]));
	pm_set_lasting(&cells[6], tree->texts[f->file]);
	pm_set_lasting(&cells[7], f->name);
	return 1;
}

int pmfs_blame_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.next = blame_next};
	static const char *const columns[] = {
		"wait_ns", "share", "context_id", "line", "category", "waiting", "file", "name"};
	(void)item;
	(void)err;
	*ret = (struct pm_table){.type = &type,
		.self = m,
		.columns = columns,
		.n_columns = sizeof(columns) / sizeof(*columns),
		.types = "ifiitttt"};
	return 0;
}
