#include "fake.h"

#include <stdio.h>
#include <stdlib.h>

#include "formats/common/list.h"

static void *must(void *p)
{
	if (!p) {
		fprintf(stderr, "fake: no memory\n");
		abort();
	}
	return p;
}

static struct fake *fake_of(const struct pm_profile *p)
{
	return p->self;
}

/* ---- ops ---- */

static double weight_of(const struct fake *f, uint32_t number)
{
	uint32_t metric = 0;
	double sum = 0;
	for (uint32_t i = f->metrics.n; i-- > 0;)
		if (f->metrics.metrics[i].role == PM_ROLE_INCLUSIVE)
			metric = f->metrics.metrics[i].id;
	for (uint32_t t = 0; t < f->threads.n; t++)
		for (size_t i = 0; i < f->threads_data[t].n_values; i++)
			if (f->threads_data[t].values[i].context == number &&
				f->threads_data[t].values[i].metric == metric)
				sum += f->threads_data[t].values[i].f;
	return sum;
}

static int build_tree(void *self, struct pm_error *err)
{
	struct fake *f = self;
	if (f->tree_error)
		return pm_error_set(err, f->tree_error, "fake", 0x10, "broken on purpose");
	if (!f->tree) { /* on first use, by one thread: tests see to it */
		uint32_t n = pm_tree_count(f->builder);
		double *weights = must(calloc(n + 1, sizeof(*weights)));
		for (uint32_t i = 0; i < n; i++)
			weights[i] = weight_of(f, f->numbers[i]);
		int r = pm_tree_freeze(f->builder, weights, &f->tree, NULL, err);
		f->builder = NULL;
		free(weights);
		if (r < 0)
			return r;
		f->parts.tree.it = f->tree;
	}
	return 0;
}

static int fake_op_counts(const struct pm_profile *p, uint32_t thread, struct pm_thread_counts *ret,
	struct pm_error *err)
{
	const struct fake_thread *t = &fake_of(p)->threads_data[thread];
	(void)err;
	*ret = (struct pm_thread_counts){.values = t->n_values};
	for (size_t i = 0; i < t->n_values; i++)
		ret->contexts += i == 0 || t->values[i].context != t->values[i - 1].context;
	return 0;
}

static int64_t values_of_thread(
	const struct fake_thread *t, uint64_t first, struct pm_value *ret, size_t room)
{
	if (first >= t->n_values)
		return 0;
	size_t n = t->n_values - first < room ? t->n_values - first : room;
	memcpy(ret, t->values + first, n * sizeof(*ret));
	return (int64_t)n;
}

/* The last thread first: views must not rely on an order. */
static int64_t values_of_context(
	const struct fake *f, uint32_t context, uint64_t first, struct pm_value *ret, size_t room)
{
	uint64_t number = pm_tree_number(f->tree, context), at = 0;
	size_t n = 0;
	for (uint32_t t = f->threads.n; t-- > 0;) {
		const struct fake_thread *data = &f->threads_data[t];
		for (size_t i = 0; i < data->n_values && n < room; i++)
			if (data->values[i].context == number && at++ >= first)
				ret[n++] = data->values[i];
	}
	return (int64_t)n;
}

static int64_t fake_op_values(const struct pm_profile *p, struct pm_values_of of, uint64_t first,
	struct pm_value *ret, size_t room, struct pm_error *err)
{
	const struct fake *f = fake_of(p);
	(void)err;
	return of.what == PM_OF_THREAD
		? values_of_thread(&f->threads_data[of.index], first, ret, room)
		: values_of_context(f, of.index, first, ret, room);
}

static int64_t fake_op_run_costs(const struct pm_profile *p, uint32_t context, struct pm_value *ret,
	size_t room, struct pm_error *err)
{
	const struct fake *f = fake_of(p);
	uint64_t at = 0;
	struct pm_value v;
	size_t n = 0;
	(void)err;
	for (; values_of_context(f, context, at, &v, 1) > 0; at++) {
		size_t i = 0;
		while (i < n && ret[i].metric != v.metric)
			i++;
		if (i == room)
			break;
		if (i == n) {
			ret[n] = v;
			ret[n++].thread = PM_NONE;
		} else {
			ret[i].f += v.f;
		}
	}
	return (int64_t)n;
}

static int64_t fake_op_samples(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err)
{
	const struct fake_thread *t = &fake_of(p)->threads_data[thread];
	(void)err;
	if (first >= t->n_samples)
		return 0;
	size_t n = t->n_samples - first < room ? t->n_samples - first : room;
	memcpy(ret, t->samples + first, n * sizeof(*ret));
	return (int64_t)n;
}

/* ---- building ---- */

struct fake *fake_new(void)
{
	static const char *const keys[] = {"rank", "thread"};
	struct fake *f = must(calloc(1, sizeof(*f)));
	f->builder = must(pm_tree_builder_new());
	f->threads.n_keys = 2;
	f->threads.keys = keys;
	f->ops = (struct pm_profile_ops){
		.thread_counts = fake_op_counts,
		.run_costs = fake_op_run_costs,
		.values = fake_op_values,
		.samples = fake_op_samples,
	};
	f->parts = (struct pm_parts){
		.tree.build = build_tree,
		.metrics.it = &f->metrics,
		.threads.it = &f->threads,
		.span.it = &f->span,
		.damage.it = &f->damages,
	};
	f->profile = (struct pm_profile){
		.ops = &f->ops,
		.parts = &f->parts,
		.format = "fake",
		.source = "/data/fake.db",
		.layout = "plain",
		.kind_of_tree = "samples",
		.has_lines = true,
		.has_files = true,
		.has_modules = true,
		.self = f,
	};
	return f;
}

void fake_without_threads(struct fake *f)
{
	f->parts.threads.it = NULL;
}

void fake_without_span(struct fake *f)
{
	f->parts.span.it = NULL;
}

void fake_free(struct fake *f)
{
	for (uint32_t i = 0; i < f->threads.n; i++) {
		free(f->threads_data[i].values);
		free(f->threads_data[i].samples);
	}
	free(f->threads_data);
	free((void *)(uintptr_t)f->threads.threads);
	free((void *)(uintptr_t)f->metrics.metrics);
	free(f->numbers);
	free(f->functions);
	pm_tree_builder_free(f->builder);
	pm_tree_free(f->tree);
	pm_arena_done(&f->arena);
	free(f);
}

/* A longer copy of an array, by one cell; the last cell is for the caller. */
static void *grown(const void *old, size_t n, size_t size)
{
	char *items = must(realloc((void *)(uintptr_t)old, (n + 1) * size));
	memset(items + n * size, 0, size);
	return items;
}

uint32_t fake_metric(
	struct fake *f, enum pm_role role, uint32_t group, const char *name, const char *unit)
{
	uint32_t n = f->metrics.n++;
	struct pm_metric *metrics = grown(f->metrics.metrics, n, sizeof(*metrics));
	metrics[n] = (struct pm_metric){.id = n + 1,
		.group = group,
		.role = role,
		.in_tree = true,
		.in_flat = true,
		.has_values = true,
		.name = pm_bytes_of(name),
		.unit = pm_bytes_of(unit),
		.scope = pm_bytes_of(role == PM_ROLE_INCLUSIVE ? "execution" : "function")};
	f->metrics.metrics = metrics;
	return n + 1;
}

struct pm_metric *fake_metric_of(struct fake *f, uint32_t id)
{
	return (struct pm_metric *)(uintptr_t)&f->metrics.metrics[id - 1];
}

uint32_t fake_thread(struct fake *f, uint64_t rank, uint64_t thread)
{
	uint32_t n = f->threads.n++;
	struct pm_thread *threads = grown(f->threads.threads, n, sizeof(*threads));
	struct pm_identity *identity = must(pm_arena_array(&f->arena, 2, sizeof(*identity)));
	identity[0] = (struct pm_identity){0, rank};
	identity[1] = (struct pm_identity){1, thread};
	threads[n] = (struct pm_thread){
		.id = 10 + n, .n_identity = 2, .identity = identity, .has_trace = true};
	f->threads.threads = threads;
	f->threads_data = grown(f->threads_data, n, sizeof(*f->threads_data));
	return n;
}

void fake_lane(struct fake *f, uint32_t thread)
{
	((struct pm_thread *)(uintptr_t)f->threads.threads)[thread].is_lane = true;
	f->threads.n_lanes++;
}

uint32_t fake_text(struct fake *f, const char *text)
{
	return text ? pm_tree_text(f->builder, pm_bytes_of(text), true) : 0;
}

uint32_t fake_function(struct fake *f, const char *name, const char *file, uint32_t line)
{
	struct pm_function function = {.name = fake_text(f, name),
		.file = fake_text(f, file),
		.module = fake_text(f, "/bin/app"),
		.line = line,
		.id = PM_NONE};
	f->functions = grown(f->functions, f->n_functions, sizeof(*f->functions));
	f->functions[f->n_functions++] = function;
	return pm_tree_function(f->builder, &function);
}

void fake_context(struct fake *f, uint32_t number, uint32_t parent, const struct pm_frame *frame)
{
	uint32_t n = pm_tree_count(f->builder), above = PM_NONE;
	for (uint32_t i = 0; i < n; i++)
		if (parent != 0 && f->numbers[i] == parent)
			above = i;
	f->numbers = grown(f->numbers, n, sizeof(*f->numbers));
	f->numbers[n] = number;
	pm_tree_add(f->builder, above, pm_tree_intern(f->builder, frame), number);
}

void fake_call(struct fake *f, uint32_t number, uint32_t parent, uint32_t function)
{
	struct pm_frame frame = {.kind = PM_KIND_FUNCTION, .function = function};
	frame.name = f->functions[function].name;
	frame.file = f->functions[function].file;
	frame.module = f->functions[function].module;
	frame.line = f->functions[function].line;
	fake_context(f, number, parent, &frame);
}

void fake_line(struct fake *f, uint32_t number, uint32_t parent, const char *file, uint32_t line)
{
	struct pm_frame frame = {.kind = PM_KIND_LINE,
		.nested = true,
		.function = PM_NONE,
		.file = fake_text(f, file),
		.line = line};
	fake_context(f, number, parent, &frame);
}

void fake_value(struct fake *f, uint32_t thread, uint32_t number, uint32_t metric, double value)
{
	struct fake_thread *t = &f->threads_data[thread];
	if (pm_list_room(&t->values, t->n_values, &t->room_values, sizeof(*t->values)) < 0)
		must(NULL);
	t->values[t->n_values++] = (struct pm_value){
		.context = number, .metric = metric, .thread = thread, .f = value};
}

void fake_sample(struct fake *f, uint32_t thread, uint64_t time_ns, uint64_t number)
{
	struct fake_thread *t = &f->threads_data[thread];
	struct pm_thread *thread_of = (struct pm_thread *)(uintptr_t)&f->threads.threads[thread];
	if (pm_list_room(&t->samples, t->n_samples, &t->room_samples, sizeof(*t->samples)) < 0)
		must(NULL);
	if (t->n_samples > 0)
		t->samples[t->n_samples - 1].duration_ns =
			time_ns - t->samples[t->n_samples - 1].time_ns;
	t->samples[t->n_samples++] = (struct pm_sample){
		.time_ns = time_ns, .duration_ns = PM_NO_TIME, .context = number};
	thread_of->n_samples = t->n_samples;
}

int64_t fake_no_samples(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err)
{
	(void)p;
	(void)thread;
	(void)first;
	(void)ret;
	(void)room;
	return pm_error_plain(err, -EINVAL);
}
