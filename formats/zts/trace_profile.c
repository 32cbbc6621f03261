/* One trace as a profile: a context for each call, in the order in which calls are stored. */
#include <stdlib.h>

#include "formats/common/tree.h"
#include "formats/zts/names.h"
#include "formats/zts/records.h"
#include "formats/zts/zts.h"

struct trace {
	struct pm_profile profile;
	const struct zts_opened *z;
	uint32_t index;      /* of the survey's traces */
	struct pm_text name; /* profile.title */
	struct pm_lazy once; /* of what follows */
	struct pm_tree *tree;
	struct pm_sample *calls; /* by context */
	struct pm_thread thread;
	struct pm_threads threads;
	struct pm_parts parts;
};

static int add_contexts(
	const struct zts_opened *z, const struct zts_tree *calls, struct pm_tree_builder *b)
{
	struct pm_text name = {0};
	for (uint32_t i = 0; i < calls->n && !name.failed; i++) {
		const struct zts_call *call = &calls->calls[i];
		pm_text_clear(&name);
		zts_name_method(zts_texts_of(z, call->store), call->method, &name);
		struct pm_frame frame = {.kind = PM_KIND_FUNCTION,
			.function = PM_NONE,
			.name = pm_tree_text(b, pm_text_view(&name), true)};
		pm_tree_add(b, call->parent, pm_tree_intern(b, &frame), 0);
	}
	int r = pm_text_status(&name);
	pm_text_done(&name);
	return r;
}

/* Times are relative to the beginning of the trace. */
static int add_times(struct trace *t, const struct zts_tree *tree, const uint32_t *index)
{
	const struct zts_call *root = &tree->calls[0];
	zts_sum *self_ns = zts_tree_self(tree);
	t->calls = malloc(((size_t)tree->n + 1) * sizeof(*t->calls));
	for (uint32_t i = 0; self_ns && t->calls && i < tree->n; i++) {
		const struct zts_call *call = &tree->calls[i];
		int64_t duration_ns;
		bool ended = zts_call_duration(call, &duration_ns);
		uint64_t ticks = call->tstart > root->tstart ? call->tstart - root->tstart : 0;
		t->calls[index[i]] = (struct pm_sample){.time_ns = ticks * ZTS_TICK_NS,
			.duration_ns = !ended     ? PM_NO_TIME
				: duration_ns > 0 ? (uint64_t)duration_ns
						  : 0,
			.context = index[i] + 1,
			/* Overlapping children of one call, each as long as possible. */
			.self_ns = (uint64_t)(self_ns[i] < INT64_MIN ? INT64_MIN
								     : (int64_t)self_ns[i]),
			.seq = i};
	}
	int r = self_ns && t->calls ? 0 : -ENOMEM;
	free(self_ns);
	return r;
}

static void drop(struct trace *t)
{
	pm_tree_free(t->tree);
	free(t->calls);
	t->tree = NULL;
	t->calls = NULL;
}

static int build(void *context, struct pm_error *err)
{
	struct trace *t = context;
	const struct zts_tree *calls;
	uint32_t *index = NULL;
	int r = zts_get_tree(t->z, t->index, &calls, err);
	if (r < 0)
		return r;
	struct pm_tree_builder *b = pm_tree_builder_new();
	r = b ? add_contexts(t->z, calls, b) : -ENOMEM;
	if (r == 0) {
		r = pm_tree_freeze(b, NULL, &t->tree, &index, err);
		b = NULL;
	}
	if (r == 0)
		r = add_times(t, calls, index);
	t->thread = (struct pm_thread){.has_trace = true, .n_samples = calls->n};
	t->threads = (struct pm_threads){.n = 1, .threads = &t->thread};
	t->parts.tree.it = t->tree;
	pm_tree_builder_free(b);
	free(index);
	zts_release_tree(t->z, calls);
	if (r < 0) {
		drop(t);
		return pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory for a trace");
	}
	return 0;
}

static int get_trace(void *trace, struct pm_error *err)
{
	struct trace *t = trace;
	return pm_lazy_get(&t->once, build, t, err);
}

static const struct pm_metric time_of_calls = {0, 0, PM_ROLE_EXCLUSIVE, true, true, true,
	PM_BYTES("time"), PM_BYTES("ns"), PM_BYTES("exclusive")};
static const struct pm_metrics metrics = {1, &time_of_calls};

/* The costs of the contexts from `first` on: one each. */
static int64_t costs(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_value *ret, size_t room, struct pm_error *err)
{
	const struct trace *t = p->self;
	size_t n = 0;
	int r = get_trace(p->self, err);
	if (r < 0)
		return r;
	for (; n < room && first + n < t->thread.n_samples; n++)
		ret[n] = (struct pm_value){.context = first + n + 1,
			.thread = thread,
			.whole = true,
			.negative = (int64_t)t->calls[first + n].self_ns < 0,
			.u = t->calls[first + n].self_ns};
	return (int64_t)n;
}

static int64_t run_costs(const struct pm_profile *p, uint32_t context, struct pm_value *ret,
	size_t room, struct pm_error *err)
{
	return costs(p, PM_NONE, context, ret, room < 1 ? room : 1, err);
}

static int64_t values(const struct pm_profile *p, struct pm_values_of of, uint64_t first,
	struct pm_value *ret, size_t room, struct pm_error *err)
{
	if (of.what == PM_OF_THREAD)
		return costs(p, of.index, first, ret, room, err);
	return first > 0 ? 0 : costs(p, 0, of.index, ret, room < 1 ? room : 1, err);
}

static int64_t get_samples(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err)
{
	const struct trace *t = p->self;
	size_t n = 0;
	(void)thread;
	int r = get_trace(p->self, err);
	if (r < 0)
		return r;
	for (; n < room && first + n < t->thread.n_samples; n++)
		ret[n] = t->calls[first + n];
	return (int64_t)n;
}

static uint64_t memory(const struct pm_profile *p)
{
	enum { A_CONTEXT = 64 }; /* of the tree, approximately */
	const struct trace *t = p->self;
	if (__atomic_load_n(&t->once.state, __ATOMIC_ACQUIRE) != 1)
		return sizeof(*t);
	return sizeof(*t) + t->thread.n_samples * (sizeof(*t->calls) + A_CONTEXT);
}

static bool has_changed(const struct pm_profile *p)
{
	const struct trace *t = p->self;
	return zts_stores_changed(zts_stores_of(t->z));
}

static void trace_close(struct pm_profile *p)
{
	struct trace *t = p->self;
	drop(t);
	pm_text_done(&t->name);
	free(t);
}

static const struct pm_profile_ops ops = {
	.run_costs = run_costs,
	.values = values,
	.samples = get_samples,
	.close = trace_close,
	.memory = memory,
	.changed = has_changed,
};

int zts_trace_profile(const struct zts_opened *z, uint32_t trace, const char *source,
	struct pm_profile **ret, struct pm_error *err)
{
	struct trace *t = calloc(1, sizeof(*t));
	if (t)
		zts_trace_name(&z->survey.traces[trace], &t->name);
	if (!t || t->name.failed) {
		free(t);
		return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for a trace");
	}
	t->z = z;
	t->index = trace;
	t->parts = (struct pm_parts){
		.tree.build = get_trace,
		.metrics.it = &metrics,
		.threads = {.build = get_trace, .it = &t->threads},
		.damage = pm_nothing.damage,
	};
	t->profile = (struct pm_profile){.ops = &ops,
		.parts = &t->parts,
		.format = "zts",
		.source = source,
		.title = pm_text_view(&t->name),
		.kind_of_tree = "calls",
		.traces_are_calls = true,
		.times_since_epoch = true,
		.self = t};
	*ret = &t->profile;
	return 0;
}
