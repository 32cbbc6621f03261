/* The format interface: the operations of an opened source. */
#include "formats/nytprof/model.h"

#include <math.h>

#include "formats/nytprof/build.h"
#include "formats/nytprof/limits.h"

/* The source with its native tables; a failure to fill them is permanent. */
static int ready(const struct pm_profile *p, struct nytp_opened **ret, struct pm_error *err)
{
	*ret = nytp_opened_of(p);
	return nytp_ready(&(*ret)->native, err);
}

static int model(const struct pm_profile *p, struct nytp_model **ret, struct pm_error *err)
{
	return nytp_opened_model(nytp_opened_of(p), ret, err);
}

static int op_tree(const struct pm_profile *p, const struct pm_tree **ret, struct pm_error *err)
{
	struct nytp_model *m;
	int r = model(p, &m, err);
	*ret = m->tree;
	return r;
}

static int op_metrics(
	const struct pm_profile *p, const struct pm_metrics **ret, struct pm_error *err)
{
	struct nytp_opened *o;
	struct nytp_model *m;
	int r = ready(p, &o, err);
	if (r < 0 || (r = model(p, &m, err)) < 0)
		return r;
	bool timed = m->times_statements || o->threads.list.n > 0;
	*ret = timed ? &nytp_metrics : &nytp_metrics_untimed;
	return 0;
}

static int op_threads(
	const struct pm_profile *p, const struct pm_threads **ret, struct pm_error *err)
{
	struct nytp_opened *o;
	int r = ready(p, &o, err);
	*ret = &o->threads.list;
	return r;
}

static int has_calls(struct nytp_opened *o, struct pm_error *err)
{
	int r = nytp_ready(&o->native, err);
	return r < 0 ? r : nytp_has_calls(&o->native);
}

/*
 * Several files of one run are from several processes. A single file as written by the profiler,
 * with its start time in the header, is from one process. Files made by nytprofmerge lack that
 * time.
 */
static int op_has(const struct pm_profile *p, enum pm_feature feature, struct pm_error *err)
{
	struct nytp_opened *o = nytp_opened_of(p);
	if (feature == PM_HAS_SOURCES)
		return o->may_have_text;
	if (feature == PM_HAS_CALL_TIMES)
		return has_calls(o, err);
	if (feature != PM_HAS_SEVERAL_THREADS)
		return 0;
	if (o->alone || o->native.n_files > 1)
		return !o->alone;
	int r = ready(p, &o, err);
	return r < 0 ? r : o->threads.list.n > 1;
}

static int op_title(const struct pm_profile *p, struct pm_bytes *ret, struct pm_error *err)
{
	struct nytp_opened *o;
	int r = ready(p, &o, err);
	if (r == 0)
		*ret = nytp_attribute(&o->native, &o->native.files[0], "application");
	return r;
}

static const char *op_kind_of_tree(const struct pm_profile *p)
{
	struct nytp_opened *o;
	return ready(p, &o, NULL) == 0 && nytp_has_calls(&o->native) ? "calls" : "edges";
}

/*
 * A thread's costs outside of all contexts, as context 0: its statements, and in a tree of edges
 * its time in subs. Returns the number of values.
 */
enum { NYTP_OWN = 3 };

static size_t thread_own(
	const struct nytp_opened *o, uint32_t thread, struct pm_value ret[static NYTP_OWN])
{
	size_t n = 0;
	double total = o->model.thread_totals[thread];
	if (!isnan(total))
		ret[n++] = (struct pm_value){.metric = NYTP_INCL, .thread = thread, .f = total};
	ret[n++] = (struct pm_value){.metric = NYTP_STATEMENTS,
		.thread = thread,
		.f = (double)o->threads.statements[thread]};
	ret[n++] = (struct pm_value){.metric = NYTP_STATEMENTS_NS,
		.thread = thread,
		.f = o->threads.statements_ns[thread]};
	return n;
}

static uint64_t stored_values(const struct pm_costs *c, uint32_t thread)
{
	return c->thread_start[thread + 1] - c->thread_start[thread];
}

static int64_t op_values(const struct pm_profile *p, struct pm_values_of of, uint64_t first,
	struct pm_value *ret, size_t room, struct pm_error *err)
{
	struct pm_value own[NYTP_OWN];
	struct nytp_model *m;
	int r = model(p, &m, err);
	if (r < 0)
		return r;
	if (of.what == PM_OF_CONTEXT)
		return pm_costs_of_context(&m->costs, of.index, first, ret, room);
	size_t n_own = thread_own(nytp_opened_of(p), of.index, own), n = 0;
	for (; n < room && first < n_own; first++)
		ret[n++] = own[first];
	return (int64_t)n +
		pm_costs_of_thread(&m->costs, of.index, first - n_own, ret + n, room - n);
}

static int op_thread_counts(const struct pm_profile *p, uint32_t thread,
	struct pm_thread_counts *ret, struct pm_error *err)
{
	struct pm_value own[NYTP_OWN], values[64];
	struct nytp_model *m;
	uint64_t last = 0, at = 0;
	int64_t n;
	int r = model(p, &m, err);
	if (r < 0)
		return r;
	ret->contexts = 0;
	ret->values = thread_own(nytp_opened_of(p), thread, own) + stored_values(&m->costs, thread);
	while ((n = pm_costs_of_thread(&m->costs, thread, at, values, 64)) > 0) {
		for (int64_t i = 0; i < n; i++) {
			ret->contexts += values[i].context != last;
			last = values[i].context;
		}
		at += (uint64_t)n;
	}
	return 0;
}

static int64_t op_run_costs(const struct pm_profile *p, uint32_t context, struct pm_value *ret,
	size_t room, struct pm_error *err)
{
	struct nytp_model *m;
	size_t n = 0;
	int r = model(p, &m, err);
	if (r < 0)
		return r;
	for (uint32_t i = 0; i < NYTP_N_METRICS && n < room; i++) {
		double value = m->run[(size_t)context * NYTP_N_METRICS + i];
		if (!isnan(value))
			ret[n++] = (struct pm_value){.context = pm_tree_number(m->tree, context),
				.metric = i,
				.thread = PM_NONE,
				.f = value};
	}
	return (int64_t)n;
}

static int op_call_times(
	const struct pm_profile *p, const struct pm_call_times **ret, struct pm_error *err)
{
	struct nytp_opened *o = nytp_opened_of(p);
	int r = nytp_opened_times(o, err);
	*ret = o->times.by_function;
	return r;
}

static int op_flat(const struct pm_profile *p, const struct pm_flat **ret, struct pm_error *err)
{
	struct nytp_model *m;
	int r = model(p, &m, err);
	*ret = &m->flat;
	return r;
}

/* From the first start to the last end of a process. */
static int op_span(const struct pm_profile *p, uint64_t *ret_origin_ns, uint64_t *ret_duration_ns,
	struct pm_error *err)
{
	struct nytp_opened *o;
	int r = ready(p, &o, err);
	const struct nytp_facts *facts = &o->facts;
	*ret_origin_ns = *ret_duration_ns = PM_NO_TIME;
	if (r < 0 || isnan(facts->start))
		return r;
	*ret_origin_ns = nytp_ns_of(facts->start);
	if (facts->end >= facts->start)
		*ret_duration_ns = nytp_ns_of(facts->end - facts->start);
	return 0;
}

/*
 * The tables of a single file are at the root, those of several in the directories of their
 * processes.
 */
static int op_documents(const struct pm_profile *p, const struct pm_named_doc **ret, size_t *ret_n,
	struct pm_error *err)
{
	const struct nytp_opened *o = nytp_opened_of(p);
	(void)err;
	bool alone = o->native.n_files == 1;
	*ret = alone ? o->docs[0].docs : &o->processes;
	*ret_n = alone ? o->docs[0].n : 1;
	return 0;
}

static int op_thread_document(const struct pm_profile *p, uint32_t thread, uint32_t k,
	struct pm_named_doc *ret, struct pm_error *err)
{
	struct nytp_opened *o;
	int r = ready(p, &o, err);
	if (r < 0 || o->native.n_files == 1)
		return r;
	const struct nytp_docs *docs = &o->docs[o->threads.files[thread] - o->native.files];
	if (k >= docs->n)
		return 0;
	*ret = docs->docs[k];
	return 1;
}

static int op_sources(const struct pm_profile *p, const struct pm_source **ret, size_t *ret_n,
	struct pm_error *err)
{
	struct nytp_opened *o = nytp_opened_of(p);
	int r = nytp_opened_sources(o, err);
	*ret = o->sources.list;
	*ret_n = o->sources.n;
	return r;
}

static int op_facts(
	const struct pm_profile *p, const struct pm_fact **ret, size_t *ret_n, struct pm_error *err)
{
	struct nytp_opened *o;
	int r = ready(p, &o, err);
	*ret = o->facts.list;
	*ret_n = o->facts.n;
	return r;
}

static void remark_calls(const struct nytp *n, const struct nytp_model *m, struct pm_text *out)
{
	pm_text_printf(
		out, "callers.csv differs from functions.csv in %u subs, most in ", m->differ.subs);
	pm_text_line(out, nytp_name(n, m->differ.name));
	pm_text_printf(out,
		" (%llu calls and %llu): callers are the table that the process kept since it "
		"began, functions and contexts the calls that are in this file, as after "
		"DB::enable_profile(FILE).\n",
		(unsigned long long)m->differ.name_in_callers,
		(unsigned long long)m->differ.name_in_tree);
}

static bool differ_in_time(const struct nytp_model *m)
{
	double a = m->differ.tree_ns, b = m->differ.callers_ns;
	return b != 0 && fabs(a - b) > 0.01 * fmax(fabs(a), fabs(b));
}

static int op_remarks(const struct pm_profile *p, struct pm_text *out, struct pm_error *err)
{
	const struct nytp *n = &nytp_opened_of(p)->native;
	struct nytp_model *m;
	int r = model(p, &m, err);
	if (r < 0)
		return r;
	if (n->n_runs > 1)
		pm_text_printf(out,
			"%u runs that have nothing to do with each other are in this directory, and "
			"sums are over all of them: threads/run=N tells them apart, damage.csv says "
			"what is where.\n",
			n->n_runs);
	if (m->eval_list.n_joined > 0)
		pm_text_printf(out,
			"The evals of %llu line%s %s, as their texts are not known (perl drops "
			"the text of an eval without subs) or more than %u: column texts of files.csv. "
			"-o evals keeps all evals apart.\n",
			(unsigned long long)m->eval_list.n_joined,
			m->eval_list.n_joined == 1 ? "" : "s",
			m->eval_list.n_joined == 1 ? "are one row" : "are one row a line",
			NYTP_LIMIT_EVAL_TEXTS);
	if (nytp_opened_of(p)->threads.list.n > 1 && nytp_has_calls(n))
		pm_text_str(out,
			"If a sub forks, its inclusive time in the child process includes its time before "
			"the fork: only exclusive times add up to the total.\n");
	if (m->differ.subs > 0)
		remark_calls(n, m, out);
	else if (differ_in_time(m))
		pm_text_printf(out,
			"callers.csv differs from functions.csv in time, %.4g s and %.4g s, because "
			"one is stored in seconds and the other in ticks: ticks_per_sec may be "
			"wrong.\n",
			m->differ.callers_ns / 1e9, m->differ.tree_ns / 1e9);
	return 0;
}

static int op_damage(
	const struct pm_profile *p, const struct pm_damages **ret, struct pm_error *err)
{
	struct nytp_opened *o = nytp_opened_of(p);
	*ret = &o->damages;
	return nytp_opened_damage(o, err);
}

static void op_warm(const struct pm_profile *p)
{
	nytp_ready(&nytp_opened_of(p)->native, NULL);
}

static bool op_changed(const struct pm_profile *p)
{
	return __atomic_load_n(&nytp_opened_of(p)->changed, __ATOMIC_ACQUIRE);
}

const struct pm_profile_ops nytp_ops = {
	.tree = op_tree,
	.metrics = op_metrics,
	.threads = op_threads,
	.has = op_has,
	.title = op_title,
	.kind_of_tree = op_kind_of_tree,
	.thread_counts = op_thread_counts,
	.run_costs = op_run_costs,
	.values = op_values,
	.call_times = op_call_times,
	.span = op_span,
	.flat = op_flat,
	.documents = op_documents,
	.thread_document = op_thread_document,
	.sources = op_sources,
	.facts = op_facts,
	.remarks = op_remarks,
	.damage = op_damage,
	.warm = op_warm,
	.changed = op_changed,
};
