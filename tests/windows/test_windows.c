/* fs/windows: the contents of windows, compared with simple sums. */
#include "tests/unittest.h"

#include <stdio.h>
#include <stdlib.h>

#include "fake.h"
#include "fs/windows/internal.h"

/* ---- traces ---- */

/* More contexts than a block has sums for, fewer than a chunk. */
enum { N_CONTEXTS = 60, LENGTH = 2000000, ORIGIN = 1000 };

static uint64_t next_random(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random;
}

/* main → work → one, two …; context 6 is at the top; N_CONTEXTS + 1 is not in the tree. */
static struct fake *fake_run(bool calls)
{
	struct fake *f = fake_new();
	fake_call(f, 1, 0, fake_function(f, "main", "main.c", 1));
	fake_call(f, 2, 1, fake_function(f, "work", "main.c", 2));
	fake_call(f, 3, 2, fake_function(f, "one", "main.c", 3));
	fake_call(f, 4, 2, fake_function(f, "two", "main.c", 4));
	fake_call(f, 5, 2, fake_function(f, "three", "main.c", 5));
	fake_call(f, 6, 0, fake_function(f, "aside", "main.c", 6));
	for (unsigned i = 7; i <= N_CONTEXTS; i++) {
		char name[20];
		snprintf(name, sizeof(name), "leaf%u", i);
		fake_call(f, i, 2, fake_function(f, name, "main.c", i));
	}
	f->profile.traces_are_calls = calls;
	f->span.origin_ns = ORIGIN;
	f->span.duration_ns = LENGTH;
	return f;
}

/* In a few blocks, callers of leaves have no time of their own; sometimes `main` has, around them.
 */
static uint64_t within(size_t i, uint64_t context)
{
	bool leaf = context >= 3 && context <= N_CONTEXTS && context != 6;
	if (i / PMFS_BLOCK % 20 != 17 || !leaf || i % 3 == 0)
		return 0;
	return i % 3 == 1 ? 1 : PM_IN_NO_CALL;
}

/* Without order: clocks are set back, calls overlap and do not end. */
static void add_thread(struct fake *f, size_t n, uint64_t seed)
{
	uint32_t thread = fake_thread(f, 0, f->threads.n);
	uint64_t random = 88172645463325252u + seed;
	for (size_t i = 0; i < n; i++) {
		fake_sample(f, thread, 0, next_random(&random) % (N_CONTEXTS + 2));
	}
	for (size_t i = 0; i < n; i++) { /* what the fake does by itself is of samples in order */
		struct pm_sample *s = &f->threads_data[thread].samples[i];
		s->time_ns = ORIGIN + next_random(&random) % 100 + i * (LENGTH - 200) / n;
		s->duration_ns = next_random(&random) % 300;
		if (next_random(&random) % 500 == 0)
			s->duration_ns = LENGTH;
		if (next_random(&random) % 100 == 0)
			s->duration_ns = PM_NO_TIME;
		if (next_random(&random) % 100 == 0 && s->time_ns > ORIGIN + 5000)
			s->time_ns -= 5000;
		s->self_ns = 7;
		s->seq = i;
		s->within = f->profile.traces_are_calls ? within(i, s->context) : 0;
	}
}

struct expected {
	uint64_t rows, ns[N_CONTEXTS + 1], calls[N_CONTEXTS + 1];
	struct pm_sample *samples;
};

static void expect(
	const struct fake *f, uint32_t thread, const struct pmfs_span *span, struct expected *ret)
{
	const struct fake_thread *t = &f->threads_data[thread];
	*ret = (struct expected){.samples = calloc(t->n_samples + 1, sizeof(*ret->samples))};
	for (size_t i = 0; i < t->n_samples; i++) {
		struct pm_sample s = t->samples[i];
		uint64_t length = s.duration_ns == PM_NO_TIME ? 0 : s.duration_ns;
		uint64_t end = s.time_ns + length;
		bool begins = s.time_ns >= span->start &&
			(s.time_ns < span->end || (span->is_last && s.time_ns == span->end));
		bool runs = s.time_ns < span->end && end > span->start && length > 0;
		if (!begins && !runs)
			continue;
		if (s.time_ns < span->start || end > span->end)
			s.self_ns = PM_NO_SELF;
		if (s.time_ns < span->start && !f->profile.traces_are_calls)
			s.is_rest = true;
		s.time_ns = s.time_ns < span->start ? span->start : s.time_ns;
		end = end < span->end ? end : span->end;
		if (s.duration_ns != PM_NO_TIME)
			s.duration_ns = end - s.time_ns;
		ret->samples[ret->rows++] = s;
		if (s.context >= 1 && s.context <= N_CONTEXTS) {
			uint64_t ns = length ? end - s.time_ns : 0;
			ret->ns[s.context] += ns;
			ret->calls[s.context] += begins;
			ret->ns[2] += s.within ? ns : 0;
			ret->ns[1] += s.within == PM_IN_NO_CALL ? ns : 0;
		}
	}
}

static uint64_t value_of(const struct pm_profile *p, uint32_t context, uint32_t metric)
{
	struct pm_value values[PM_CALLS_N_METRICS];
	assert_int_equal(p->ops->run_costs(p, context, values, PM_CALLS_N_METRICS, NULL),
		PM_CALLS_N_METRICS);
	assert_true(values[metric].whole);
	return values[metric].u;
}

/* Rows are the same from any one on, in pieces of any size. */
static void check_rows(
	const struct pm_profile *p, uint32_t thread, const struct expected *e, uint64_t *random)
{
	const struct pm_threads *threads;
	struct pm_sample batch[700];
	assert_int_equal(pm_profile_threads(p, &threads, NULL), 0);
	assert_int_equal(threads->threads[thread].n_samples, e->rows);
	for (uint64_t at = 0; at < e->rows;) {
		size_t room = 1 + next_random(random) % 700;
		int64_t n = p->ops->samples(p, thread, at, batch, room, NULL);
		size_t most = e->rows - at < room ? (size_t)(e->rows - at) : room;
		assert_int_equal(n, most);
		for (int64_t i = 0; i < n; i++) {
			const struct pm_sample *is = &batch[i],
					       *must = &e->samples[at + (uint64_t)i];
			assert_int_equal(is->time_ns, must->time_ns);
			assert_int_equal(is->duration_ns, must->duration_ns);
			assert_int_equal(is->context, must->context);
			assert_int_equal(is->self_ns, must->self_ns);
			assert_int_equal(is->seq, must->seq);
			assert_int_equal(is->within, must->within);
		}
		at += (uint64_t)n;
	}
	assert_int_equal(p->ops->samples(p, thread, e->rows, batch, 1, NULL), 0);
}

static void check_window(
	struct fake *f, struct pmfs_index *x, const struct pmfs_span *span, uint64_t *random)
{
	uint64_t ns[N_CONTEXTS + 1] = {0}, calls[N_CONTEXTS + 1] = {0};
	const struct pm_tree *tree;
	struct pm_profile *p;
	assert_int_equal(pmfs_window_open(x, span, 0, f->threads.n, &p, NULL), 0);
	for (uint32_t thread = 0; thread < f->threads.n; thread++) {
		struct expected e;
		expect(f, thread, span, &e);
		check_rows(p, thread, &e, random);
		for (unsigned i = 1; i <= N_CONTEXTS; i++) {
			ns[i] += e.ns[i];
			calls[i] += e.calls[i];
		}
		free(e.samples);
	}
	assert_int_equal(pm_profile_tree(p, &tree, NULL), 0);
	for (unsigned i = 1; i <= N_CONTEXTS; i++) {
		uint32_t context = pm_tree_find(tree, i);
		if (context == PM_NONE) {
			assert_int_equal(ns[i] + calls[i], 0);
			continue;
		}
		uint32_t own = f->profile.traces_are_calls ? PM_CALLS_INCL : PM_CALLS_EXCL;
		assert_int_equal(value_of(p, context, own), ns[i]);
		if (f->profile.traces_are_calls)
			assert_int_equal(value_of(p, context, PM_CALLS_CALLS), calls[i]);
	}
	uint32_t work = pm_tree_find(tree, 2);
	uint64_t below = 0;
	for (unsigned i = 3; i <= N_CONTEXTS; i++)
		below += i == 6 ? 0 : ns[i];
	if (work != PM_NONE && !f->profile.traces_are_calls)
		assert_int_equal(value_of(p, work, PM_CALLS_INCL), ns[2] + below);
	if (work != PM_NONE && f->profile.traces_are_calls)
		assert_int_equal(value_of(p, work, PM_CALLS_EXCL), ns[2] - below);
	p->ops->close(p);
}

/* ---- traces that are read for another reason ---- */

static uint64_t n_read; /* samples that the index read itself */

static int64_t count_samples(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err)
{
	const struct fake *f = p->self;
	int64_t n = f->ops.samples(p, thread, first, ret, room, err);
	__atomic_fetch_add(&n_read, n > 0 ? (uint64_t)n : 0, __ATOMIC_RELAXED);
	return n;
}

/* Lets the tap see a piece of a trace, in batches of any size. */
static void show_piece(struct fake *f, const struct pm_tap *tap, uint32_t thread, uint64_t first,
	uint64_t end, uint64_t *random)
{
	void *piece = tap->begin(tap->self, thread, first);
	while (piece && first < end) {
		uint64_t n = 1 + next_random(random) % 5000;
		n = n < end - first ? n : end - first;
		tap->take(piece, f->threads_data[thread].samples + first, (size_t)n);
		first += n;
	}
	if (piece)
		tap->end(piece);
}

static void show(struct fake *f, struct pmfs_index *x, uint64_t *random)
{
	const struct pm_tap tap = pmfs_index_tap(x);
	for (uint32_t i = 0; i < f->threads.n; i++) {
		uint64_t n = f->threads_data[i].n_samples, chunk = PMFS_CHUNK_RECORDS;
		show_piece(f, &tap, i, 1, n, random);     /* not the beginning of a chunk */
		show_piece(f, &tap, i, 0, n / 2, random); /* reading ended early */
		show_piece(f, &tap, i, chunk, n, random); /* pieces in any order */
		show_piece(f, &tap, i, 0, n, random);     /* several chunks, some known */
		show_piece(f, &tap, i, 0, n, random);     /* nothing new */
	}
}

static void check_windows(bool calls)
{
	struct fake *f = fake_run(calls);
	add_thread(f, 0, 3); /* the first one: nothing was gathered before it */
	add_thread(f, 3 * PMFS_BLOCK + 17, 1);
	add_thread(f, PMFS_CHUNK_RECORDS + 5 * PMFS_BLOCK, 2);
	add_thread(f, 1, 4);
	struct pmfs_index x;
	uint64_t random = 4711;
	pmfs_index_init(&x, &f->profile);
	/* What the profile of a window asks of that of the run. */
	struct pm_error err;
	const struct pm_tree *tree;
	assert_int_equal(pm_profile_tree(&f->profile, &tree, &err), 0);
	assert_int_equal(pmfs_index_open(&x, NULL), 0);
	check_window(f, &x, &(struct pmfs_span){ORIGIN, ORIGIN + LENGTH, true}, &random);
	check_window(f, &x, &(struct pmfs_span){ORIGIN, ORIGIN + 1, false}, &random);
	check_window(
		f, &x, &(struct pmfs_span){ORIGIN + LENGTH - 1, ORIGIN + LENGTH, true}, &random);
	for (unsigned i = 0; i < 6; i++) {
		uint64_t start = next_random(&random) % LENGTH;
		uint64_t end = start + 1 + next_random(&random) % (LENGTH - start);
		check_window(f, &x,
			&(struct pmfs_span){ORIGIN + start, ORIGIN + end, end == LENGTH}, &random);
	}
	pmfs_index_done(&x);
	fake_free(f);
}

static void test_calls(void **state)
{
	check_windows(true);
}

static void test_samples(void **state)
{
	check_windows(false);
}

/* hpcrun has contexts for it, databases have none: its time is that of a context of windows. */
static void test_nothing_runs(void **state)
{
	const struct pmfs_span all = {ORIGIN, ORIGIN + 100, true};
	struct fake *f = fake_run(false);
	uint32_t thread = fake_thread(f, 0, 0);
	struct pm_frame nothing = {
		.kind = PM_KIND_PLACEHOLDER, .function = PM_NONE, .is_idle = true};
	struct pmfs_index x;
	struct pm_profile *p;
	const struct pm_tree *tree;
	nothing.name = fake_text(f, "<omp idle>");
	fake_context(f, N_CONTEXTS + 1, 0, &nothing);
	nothing.is_nothing = true;
	nothing.name = fake_text(f, "<no activity>");
	fake_context(f, N_CONTEXTS + 2, 0, &nothing);
	fake_sample(f, thread, ORIGIN, N_CONTEXTS + 2);
	fake_sample(f, thread, ORIGIN + 60, 0);
	fake_sample(f, thread, ORIGIN + 80, N_CONTEXTS + 1);
	fake_sample(f, thread, ORIGIN + 100, N_CONTEXTS + 2);
	pmfs_index_init(&x, &f->profile);
	assert_int_equal(pmfs_index_open(&x, NULL), 0);
	assert_int_equal(pmfs_window_open(&x, &all, 0, 1, &p, NULL), 0);
	assert_int_equal(pm_profile_tree(p, &tree, NULL), 0);
	assert_int_equal(tree->n_contexts, 3);
	assert_int_equal(pm_tree_number(tree, 0), 0);
	assert_int_equal(tree->parent[0], PM_NONE);
	assert_int_equal(tree->depth[0], 0);
	assert_int_equal(pm_tree_find(tree, 0), 0);
	assert_int_equal(pm_tree_find_sample(tree, 0), PM_NONE);
	assert_int_equal(value_of(p, 0, PM_CALLS_EXCL), 80);
	assert_int_equal(value_of(p, 0, PM_CALLS_INCL), 80);
	assert_int_equal(pm_tree_number(tree, 1), N_CONTEXTS + 1);
	assert_int_equal(value_of(p, 1, PM_CALLS_EXCL), 20);
	assert_int_equal(pm_tree_number(tree, 2), N_CONTEXTS + 2);
	assert_true(pm_tree_frame(tree, 2)->is_nothing);
	assert_int_equal(value_of(p, 2, PM_CALLS_EXCL), 0);
	struct pm_sample samples[8];
	assert_int_equal(p->ops->samples(p, 0, 0, samples, 8, NULL), 4);
	p->ops->close(p);
	pmfs_index_done(&x);
	fake_free(f);
}

static void expect_metrics(const struct pm_profile *p, const char *names, uint32_t leads)
{
	char text[40] = "";
	const struct pm_metrics *metrics;
	assert_int_equal(pm_profile_metrics(p, &metrics, NULL), 0);
	for (uint32_t i = 0; i < metrics->n; i++) {
		const struct pm_metric *m = &metrics->metrics[i];
		if (i == 0 || m->group != metrics->metrics[i - 1].group)
			snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%.*s",
				i ? " " : "", (int)m->name.len, (const char *)m->name.p);
	}
	assert_string_equal(text, names);
	assert_int_equal(metrics->leads, leads);
}

static int64_t gpu_value(const struct pm_profile *p, uint32_t number, uint32_t metric)
{
	struct pm_value values[PM_CALLS_MOST_METRICS];
	const struct pm_tree *tree;
	assert_int_equal(pm_profile_tree(p, &tree, NULL), 0);
	int64_t n = p->ops->run_costs(
		p, pm_tree_find(tree, number), values, PM_CALLS_MOST_METRICS, NULL);
	for (int64_t i = 0; i < n; i++)
		if (values[i].metric == metric)
			return (int64_t)values[i].u;
	return -1;
}

/* Time of GPUs overlaps with that of processors, and is added to none of it. */
static void test_gpus(void **state)
{
	enum { GPU = PM_TIME_GPUS * PM_CALLS_N_METRICS };
	const struct pmfs_span all = {ORIGIN, ORIGIN + 100, true};
	for (int processors = 0; processors <= 1; processors++) {
		struct fake *f = fake_run(false);
		struct pmfs_index x;
		struct pm_profile *p;
		struct pm_frame nothing = {.kind = PM_KIND_PLACEHOLDER,
			.function = PM_NONE,
			.is_idle = true,
			.is_nothing = true,
			.name = fake_text(f, "<no activity>")};
		fake_context(f, N_CONTEXTS + 1, 0, &nothing);
		uint32_t thread = fake_thread(f, 0, 0), stream = fake_thread(f, 0, 1);
		fake_sample(f, thread, ORIGIN, 3);
		fake_sample(f, thread, ORIGIN + (processors ? 100 : 0), 0);
		f->threads_data[thread].n_samples *= (size_t)processors;
		fake_sample(f, stream, ORIGIN, 4);
		fake_sample(f, stream, ORIGIN + 40, 0);
		fake_sample(f, stream, ORIGIN + 100, 0);
		pmfs_index_init(&x, &f->profile);
		const struct pm_thread *made = f->threads.threads;
		struct pm_thread threads[2] = {f->threads.threads[0], f->threads.threads[1]};
		threads[stream].on_gpu = true;
		threads[thread].n_samples *= (uint64_t)processors;
		f->threads.threads = threads;
		assert_int_equal(pmfs_index_open(&x, NULL), 0);
		assert_int_equal(pmfs_window_open(&x, &all, 0, 2, &p, NULL), 0);
		expect_metrics(p, processors ? "time gpu" : "time", 1);
		assert_int_equal(gpu_value(p, 2, PM_CALLS_INCL), processors ? 100 : 40);
		assert_int_equal(gpu_value(p, 4, PM_CALLS_EXCL), processors ? -1 : 40);
		assert_int_equal(gpu_value(p, 2, GPU + PM_CALLS_INCL), processors ? 40 : -1);
		assert_int_equal(gpu_value(p, 4, GPU + PM_CALLS_EXCL), processors ? 40 : -1);
		assert_int_equal(gpu_value(p, 0, GPU + PM_CALLS_EXCL), processors ? 60 : -1);
		p->ops->close(p);
		assert_int_equal(pmfs_window_open(&x, &all, stream, 1, &p, NULL), 0);
		expect_metrics(p, processors ? "gpu" : "time", 1);
		p->ops->close(p);
		pmfs_index_done(&x);
		f->threads.threads = made;
		fake_free(f);
	}
}

/* A call on a processor with calls of a GPU below it: each has its own time, and all are counted.
 */
static void test_gpu_frames(void **state)
{
	enum { GPU = PM_TIME_GPUS * PM_CALLS_N_METRICS };
	const struct pmfs_span all = {ORIGIN, ORIGIN + 100, true};
	struct fake *f = fake_run(true);
	struct pmfs_index x;
	struct pm_profile *p;
	uint32_t thread = fake_thread(f, 0, 0);
	struct pm_frame kernel = {.kind = PM_KIND_FUNCTION,
		.function = fake_function(f, "kernel", NULL, 0),
		.name = fake_text(f, "kernel"),
		.on_gpu = true};
	fake_context(f, N_CONTEXTS + 1, 3, &kernel);
	const uint32_t contexts[] = {1, 2, 3, N_CONTEXTS + 1};
	for (size_t i = 0; i < 4; i++)
		fake_sample(f, thread, ORIGIN + i * 10, contexts[i]);
	for (size_t i = 0; i < 4; i++) {
		struct pm_sample *s = &f->threads_data[thread].samples[i];
		s->duration_ns = 100 - i * 20;
		s->self_ns = i == 3 ? 40 : 20;
	}
	f->profile.gpu_frames = true;
	pmfs_index_init(&x, &f->profile);
	assert_int_equal(pmfs_index_open(&x, NULL), 0);
	assert_int_equal(pmfs_window_open(&x, &all, 0, 1, &p, NULL), 0);
	expect_metrics(p, "time gpu calls", 1);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(gpu_value(p, i + 1, PM_CALLS_INCL), 60 - 20 * (int)i);
		assert_int_equal(gpu_value(p, i + 1, PM_CALLS_EXCL), 20);
		assert_int_equal(gpu_value(p, i + 1, GPU + PM_CALLS_INCL), 40);
		assert_int_equal(gpu_value(p, i + 1, PM_CALLS_CALLS), 1);
	}
	assert_int_equal(gpu_value(p, N_CONTEXTS + 1, GPU + PM_CALLS_EXCL), 40);
	assert_int_equal(gpu_value(p, N_CONTEXTS + 1, PM_CALLS_EXCL), -1);
	assert_int_equal(gpu_value(p, N_CONTEXTS + 1, PM_CALLS_CALLS), 1);
	p->ops->close(p);
	pmfs_index_done(&x);
	fake_free(f);
}

/* What was seen is not read again; samples are cheap to read, and not gathered. */
static void check_shown(bool calls)
{
	const struct pmfs_span all = {ORIGIN, ORIGIN + LENGTH, true};
	struct fake *f = fake_run(calls);
	struct pmfs_index x;
	uint64_t random = 4711, n = 0;
	struct pm_error err;
	const struct pm_tree *tree;
	add_thread(f, 2 * PMFS_BLOCK + 17, 1);
	add_thread(f, (PMFS_FANOUT + 2) * (size_t)PMFS_CHUNK_RECORDS + 100, 2);
	pmfs_index_init(&x, &f->profile);
	assert_int_equal(pm_profile_tree(&f->profile, &tree, &err), 0);
	assert_int_equal(pmfs_index_open(&x, NULL), 0);
	show(f, &x, &random);
	const struct pm_profile_ops *ops = f->profile.ops;
	struct pm_profile_ops counting = *ops;
	counting.samples = count_samples;
	f->profile.ops = &counting;
	n_read = 0;
	assert_int_equal(pmfs_index_threads(&x, 0, f->threads.n, NULL), 0);
	for (uint32_t i = 0; i < f->threads.n; i++)
		n += f->threads_data[i].n_samples;
	assert_int_equal(n_read, calls ? 0 : n);
	f->profile.ops = ops;
	check_window(f, &x, &all, &random);
	check_window(f, &x, &(struct pmfs_span){ORIGIN + 7, ORIGIN + LENGTH / 3, false}, &random);
	pmfs_index_done(&x);
	fake_free(f);
}

static void test_shown_calls(void **state)
{
	check_shown(true);
}

static void test_shown_samples(void **state)
{
	check_shown(false);
}

/* Where a trace cannot be read any more. */
static int64_t read_first_chunk(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err)
{
	const struct fake *f = p->self;
	if (first >= PMFS_CHUNK_RECORDS)
		return pm_error_plain(err, -EIO);
	return f->ops.samples(p, thread, first, ret, room, err);
}

/*
 * A trace that cannot be read to its end is left out of windows of the run, which say so, also
 * where chunks of it were made before. The thread's own rows and values, and its own windows, are
 * errors.
 */
static void test_broken(void **state)
{
	const struct pmfs_span all = {ORIGIN, ORIGIN + LENGTH, true};
	struct fake *f = fake_run(true);
	struct pmfs_index x;
	struct pm_profile *p;
	const struct pm_tree *tree;
	const struct pm_threads *threads;
	uint64_t random = 4711;
	struct pm_error err;
	add_thread(f, 3 * (size_t)PMFS_CHUNK_RECORDS, 1);
	add_thread(f, 10, 2);
	pmfs_index_init(&x, &f->profile);
	assert_int_equal(pm_profile_tree(&f->profile, &tree, &err), 0);
	assert_int_equal(pmfs_index_open(&x, NULL), 0);
	const struct pm_tap tap = pmfs_index_tap(&x);
	show_piece(f, &tap, 0, 0, PMFS_CHUNK_RECORDS, &random);
	struct pm_profile_ops broken = *f->profile.ops;
	broken.samples = read_first_chunk;
	f->profile.ops = &broken;
	assert_int_equal(pmfs_index_threads(&x, 0, 2, NULL), 0);
	assert_int_equal(pmfs_window_open(&x, &all, 0, 2, &p, NULL), 0);
	assert_int_equal(pm_profile_threads(p, &threads, NULL), 0);
	assert_int_equal(threads->threads[0].n_samples, 0);
	assert_true(threads->threads[1].n_samples > 0);
	const struct pm_damages *damages;
	struct pm_sample sample;
	struct pm_value value;
	struct pm_thread_counts counts;
	assert_int_equal(pm_profile_damage(p, &damages, NULL), 0);
	assert_int_equal(damages->n, 1);
	assert_non_null(strstr(damages->rows[0].what, "thread_id 10: "));
	assert_int_equal(p->ops->samples(p, 0, 0, &sample, 1, NULL), -EIO);
	assert_int_equal(p->ops->samples(p, 1, 0, &sample, 1, NULL), 1);
	for (uint32_t i = 0; i < 2; i++) {
		struct pm_values_of of = {PM_OF_THREAD, i, false};
		assert_int_equal(p->ops->values(p, of, 0, &value, 1, NULL), i == 0 ? -EIO : 1);
		assert_int_equal(p->ops->thread_counts(p, i, &counts, NULL), 0);
		assert_int_equal(counts.contexts == PM_NO_TIME, i == 0);
	}
	p->ops->close(p);
	struct pm_error why = {.offset = PM_NO_OFFSET};
	assert_int_equal(pmfs_window_open(&x, &all, 0, 1, &p, NULL), 0);
	assert_int_equal(pm_profile_tree(p, &tree, &why), -EIO);
	assert_true(why.text[0]);
	p->ops->close(p);
	pmfs_index_done(&x);
	fake_free(f);
}

static void test_broken_and_empty(void **state)
{
	const struct pmfs_span all = {ORIGIN, ORIGIN + LENGTH, true};
	struct fake *f = fake_run(false);
	struct pmfs_index x;
	struct pm_profile *p;
	const struct pm_tree *tree;
	fake_thread(f, 0, 0);
	f->ops.samples = fake_no_samples;
	pmfs_index_init(&x, &f->profile);
	assert_int_equal(pmfs_index_open(&x, NULL), 0);
	assert_int_equal(pmfs_window_open(&x, &all, 0, 1, &p, NULL), 0);
	assert_int_equal(pm_profile_tree(p, &tree, NULL), -EINVAL);
	p->ops->close(p);
	pmfs_index_done(&x);
	fake_free(f);
}

/* Where nothing ran there is a profile without contexts, and threads without samples. */
static void test_empty(void **state)
{
	struct fake *f = fake_run(true);
	struct pmfs_index x;
	struct pmfs_span span = {ORIGIN + 5000, ORIGIN + 6000, false};
	struct pm_profile *p;
	const struct pm_tree *tree;
	const struct pm_threads *threads;
	struct pm_sample sample;
	struct pm_error err;
	fake_sample(f, fake_thread(f, 0, 0), ORIGIN, 1);
	f->threads_data[0].samples[0].duration_ns = 5000; /* ends where the window begins */
	pmfs_index_init(&x, &f->profile);
	assert_int_equal(pm_profile_tree(&f->profile, &tree, &err), 0);
	assert_int_equal(pmfs_index_open(&x, NULL), 0);
	assert_int_equal(pmfs_window_open(&x, &span, 0, 1, &p, NULL), 0);
	assert_int_equal(pm_profile_tree(p, &tree, NULL), 0);
	assert_int_equal(tree->n_contexts, 0);
	assert_int_equal(pm_profile_threads(p, &threads, NULL), 0);
	assert_int_equal(threads->threads[0].n_samples, 0);
	assert_int_equal(p->ops->samples(p, 0, 0, &sample, 1, NULL), 0);
	p->ops->close(p);
	pmfs_index_done(&x);
	fake_free(f);
}

/* A call ends beyond 64 bits, and the run where they do: it is cut off there, in rows and sums. */
static void test_beyond_64_bits(void **state)
{
	const struct pmfs_span all = {1, UINT64_MAX, true};
	struct fake *f = fake_run(true);
	uint32_t thread = fake_thread(f, 0, 0);
	struct pmfs_index x;
	struct pm_profile *p;
	const struct pm_tree *tree;
	struct pm_sample sample;
	struct pm_thread_counts counts;
	fake_sample(f, thread, UINT64_MAX - 4, 1);
	f->threads_data[0].samples[0].duration_ns = 100;
	pmfs_index_init(&x, &f->profile);
	assert_int_equal(pm_profile_tree(&f->profile, &tree, NULL), 0);
	assert_int_equal(pmfs_index_open(&x, NULL), 0);
	assert_int_equal(pmfs_window_open(&x, &all, 0, 1, &p, NULL), 0);
	assert_int_equal(pm_profile_tree(p, &tree, NULL), 0);
	assert_int_equal(value_of(p, 0, PM_CALLS_INCL), 4);
	assert_int_equal(p->ops->samples(p, 0, 0, &sample, 1, NULL), 1);
	assert_int_equal(sample.duration_ns, 4);
	assert_int_equal(p->ops->thread_counts(p, 0, &counts, NULL), 0);
	assert_int_equal(counts.last_ns, 0); /* as in the run */
	p->ops->close(p);
	pmfs_index_done(&x);
	fake_free(f);
}

/* Lines between calls have no calls of their own: what they cost is that of the calls below. */
static void test_lines_between_calls(void **state)
{
	const struct pmfs_span part = {20, 50, false};
	struct fake *f = fake_new();
	fake_call(f, 1, 0, fake_function(f, "main", "main.c", 1));
	fake_line(f, 2, 1, "main.c", 3);
	fake_call(f, 3, 2, fake_function(f, "work", "main.c", 5));
	f->profile.traces_are_calls = true;
	f->span.duration_ns = 100;
	uint32_t thread = fake_thread(f, 0, 0);
	fake_sample(f, thread, 0, 1);
	fake_sample(f, thread, 10, 3);
	f->threads_data[thread].samples[0].duration_ns = 100;
	f->threads_data[thread].samples[1].duration_ns = 30;
	static const uint64_t expected[][PM_CALLS_N_METRICS] = {
		{[PM_CALLS_INCL] = 30, [PM_CALLS_EXCL] = 10}, {[PM_CALLS_INCL] = 20},
		{[PM_CALLS_INCL] = 20, [PM_CALLS_EXCL] = 20}};
	struct pmfs_index x;
	struct pm_profile *p;
	const struct pm_tree *tree;
	pmfs_index_init(&x, &f->profile);
	assert_int_equal(pm_profile_tree(&f->profile, &tree, NULL), 0);
	assert_int_equal(pmfs_index_open(&x, NULL), 0);
	assert_int_equal(pmfs_window_open(&x, &part, 0, 1, &p, NULL), 0);
	assert_int_equal(pm_profile_tree(p, &tree, NULL), 0);
	assert_int_equal(tree->n_contexts, 3);
	for (uint32_t i = 0; i < 3; i++)
		for (uint32_t k = 0; k < PM_CALLS_N_METRICS; k++)
			assert_int_equal(value_of(p, i, k), expected[i][k]);
	p->ops->close(p);
	pmfs_index_done(&x);
	fake_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calls),
		cmocka_unit_test(test_samples),
		cmocka_unit_test(test_nothing_runs),
		cmocka_unit_test(test_gpus),
		cmocka_unit_test(test_gpu_frames),
		cmocka_unit_test(test_shown_calls),
		cmocka_unit_test(test_shown_samples),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_broken_and_empty),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_beyond_64_bits),
		cmocka_unit_test(test_lines_between_calls),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
