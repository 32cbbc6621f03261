/*
 * An opened source: the parts that are built on first need (native tables from all files, then the
 * model, the list of sources, damage), and the operations of the format interface. Files are read
 * as they were when the source was opened, or everything is -EIO; they are not needed after that.
 */
#include "formats/nytprof/nytprof.h"

#include <errno.h>
#include <math.h>

#include "formats/nytprof/limits.h"

/* ==== metrics ==== */

#define METRIC(metric_id, group_id, metric_role, metric_name, metric_unit, metric_scope, known)    \
	{                                                                                          \
		.id = (metric_id), .group = (group_id), .role = (metric_role), .in_tree = (known), \
		.in_flat = (known), .has_values = (known), .name = PM_BYTES(metric_name),          \
		.unit = PM_BYTES(metric_unit), .scope = PM_BYTES(metric_scope)                     \
	}
#define METRICS(timed)                                                                             \
	{                                                                                          \
		METRIC(NYTP_INCL, 0, PM_ROLE_INCLUSIVE, "time", "ns", "inclusive", true),          \
			METRIC(NYTP_EXCL, 0, PM_ROLE_EXCLUSIVE, "time", "ns", "exclusive", true),  \
			METRIC(NYTP_CALLS, 1, PM_ROLE_COUNT, "calls", "", "count", true),          \
			METRIC(NYTP_STATEMENTS, 2, PM_ROLE_COUNT, "statements", "", "count",       \
				true),                                                             \
			METRIC(NYTP_STATEMENTS_NS, 3, PM_ROLE_COUNT, "statements", "ns",           \
				"exclusive", timed),                                               \
	}

static const struct pm_metric metrics[NYTP_N_METRICS] = METRICS(true);
static const struct pm_metric untimed[NYTP_N_METRICS] = METRICS(false);

static const struct pm_metrics metrics_timed = {NYTP_N_METRICS, metrics};
static const struct pm_metrics metrics_untimed = {NYTP_N_METRICS, untimed};

/* ==== facts ==== */

/* Attributes of the header and their names in info.json. */
static const struct {
	const char *attribute, *key;
	bool number;
} known[] = {
	{"application", "application", false},
	{"perl_version", "perl_version", false},
	{"xs_version", "nytprof_version", false},
	{"osname", "osname", false},
	{"clock_id", "clock_id", true},
	{"ticks_per_sec", "ticks_per_sec", true},
	{"basetime", "program_start_s", true},
};

enum { N_KNOWN = sizeof(known) / sizeof(*known), N_COUNTED = 5 };

static void add_fact(struct nytp_opened *o, const char *key, struct pm_cell value)
{
	o->facts[o->parts.facts.n++] = (struct pm_fact){key, value};
}

static void add_attributes(struct nytp_opened *o)
{
	const struct nytp *n = &o->native;
	for (size_t i = 0; i < N_KNOWN; i++) {
		struct pm_bytes text = nytp_attribute(n, &n->files[0], known[i].attribute);
		double number = nytp_number(text);
		if (text.len)
			add_fact(o, known[i].key,
				known[i].number && !isnan(number) ? pm_cell_f64(number)
								  : pm_cell_text(text));
	}
}

/* Also the time from the first start to the last end of a process. */
static void make_facts(struct nytp_opened *o)
{
	struct nytp *n = &o->native;
	uint64_t processes = 0, finished = 0, calls = 0;
	int64_t statements = 0;
	double first = NAN, last = NAN;
	for (size_t i = 0; i < n->n_files; i++) {
		const struct nytp_file *f = &n->files[i];
		for (size_t k = 0; k < f->n_processes; k++) {
			double start = f->processes[k].start, end = f->processes[k].end;
			if (nytp_time_is_sane(start) && !(start >= first))
				first = start;
			if (nytp_time_is_sane(end) && !(end <= last))
				last = end;
			finished += !isnan(end);
		}
		for (size_t k = 0; k < f->n_threads; k++) {
			statements += f->threads[k].statements;
			calls += f->threads[k].calls.returns;
		}
		processes += f->n_processes;
	}
	o->parts.facts.it = o->facts =
		pm_arena_array(&n->arena, N_KNOWN + N_COUNTED, sizeof(*o->facts));
	o->parts.facts.n = 0;
	add_attributes(o);
	add_fact(o, "profile_files", pm_cell_u64(n->n_files));
	add_fact(o, "processes", pm_cell_u64(processes));
	add_fact(o, "processes_finished", pm_cell_u64(finished));
	add_fact(o, "statements", pm_cell_i64(statements));
	add_fact(o, "sub_returns", pm_cell_u64(calls));
	o->span = (struct pm_span){PM_NO_TIME, PM_NO_TIME};
	if (!isnan(first))
		o->span.origin_ns = nytp_ns_of(first);
	if (last >= first)
		o->span.duration_ns = nytp_ns_of(last - first);
}

/* ==== parts that are built on first need ==== */

/* A file that begins correctly but cannot be presented is damage. */
static int read_input(struct nytp_opened *o, size_t i, struct pm_input *in, struct pm_error *err)
{
	struct nytp *n = &o->native;
	struct nytp_file *f = &n->files[i], was = *f;
	size_t rows = n->rows, source_bytes = n->source_bytes, log_bytes = n->log_bytes;
	bool logs_full = n->logs_full;
	struct pm_error why = {.offset = PM_NO_OFFSET};
	n->input = in;
	int r = nytp_file_read(n, f, in->bytes, &why);
	n->input = NULL;
	n->bytes_done += in->bytes.len;
	if (pm_input_changed(in))
		return pm_error_set(err, -EIO, in->name, PM_NO_OFFSET,
			"cannot be read, or has changed while it was read");
	if (r != -EINVAL && r != -ENOTSUP)
		return r < 0 ? pm_error_set(err, r, in->name, why.offset, "%s", why.text) : 0;
	for (size_t k = 0; k < f->n_logs; k++)
		pm_arena_free(&n->logs, f->logs[k].p);
	pm_arena_free(&n->logs, f->logs);
	if (f->arena)
		pm_arena_done(f->arena);
	/* As if it had not been read, so that later files can use the limits. */
	*f = was;
	n->rows = rows;
	n->source_bytes = source_bytes;
	n->log_bytes = log_bytes;
	n->logs_full = logs_full;
	pm_damage_add(&n->damage, f->name, why.offset, PM_NO_OFFSET, "%s", why.text);
	return 0;
}

static int read_part(struct nytp_opened *o, size_t i, struct pm_error *err)
{
	struct nytp_input *part = &o->inputs[i];
	struct pm_input in = {.fd = -1};
	if (o->folder < 0)
		return read_input(o, i, &o->input, err);
	int r = pm_input_open_watched(&in, o->folder, part->name, &part->watch, err);
	if (r == 0)
		r = read_input(o, i, &in, err);
	pm_input_close(&in);
	return r == -ENOENT ? pm_error_set(err, -EIO, part->name, PM_NO_OFFSET, "is gone") : r;
}

struct scan {
	struct nytp_opened *o;
	struct pm_error *err;
};

/* A build of the native tables. */
static void scan_files(void *context)
{
	const struct scan *s = context;
	struct nytp_opened *o = s->o;
	struct nytp *n = &o->native;
	for (size_t i = 0; i < n->n_files; i++)
		pm_build_check(&n->arena, read_part(o, i, s->err));
	for (size_t i = 0; i < o->unread.n; i++)
		pm_damage_add(&n->damage, o->unread.rows[i].file, o->unread.rows[i].offset,
			PM_NO_OFFSET, "%s", o->unread.rows[i].what);
	nytp_logs_settle(n);
	nytp_runs_find(n);
	nytp_threads_build(&n->arena, &o->threads, n);
	nytp_evals_name(n);
	nytp_namesakes_find(n);
	nytp_processes_fill(n, &o->all_processes);
	pm_build_check(&n->arena, n->damage.no_memory ? PM_NO_MEMORY : 0);
	make_facts(o);
}

int nytp_scan(void *native, struct pm_error *err)
{
	struct nytp_opened *o = native; /* its first member */
	struct nytp *n = native;
	struct scan scan = {o, err};
	int r = pm_build(&n->arena, scan_files, &scan);
	if (r < 0) {
		if (r == -EIO)
			__atomic_store_n(&o->changed, true, __ATOMIC_RELEASE);
		o->threads = (struct nytp_threads){.threads = NULL};
		nytp_done(n);
		return pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory for its tables");
	}
	pm_input_close(&o->input);
	o->damages = pm_damage_rows(&n->damage);
	return 0;
}

/* ---- built on first need ---- */

static void build_model(struct pm_arena *a, void *opened, void *part, struct pm_error *err)
{
	struct nytp_opened *o = opened;
	struct nytp_model *m = part;
	pm_build_check(a, nytp_ready(&o->native, err));
	nytp_model_build(a, m, &o->native, &o->threads, err);
	o->parts.tree.it = m->tree;
	o->parts.flat.it = &m->flat;
	o->parts.metrics.it =
		m->times_statements || o->threads.list.n > 0 ? &metrics_timed : &metrics_untimed;
}

static const struct pm_part_type model_part = {
	.size = sizeof(struct nytp_model), .build = build_model, .what = "the context tree"};

static int model(struct nytp_opened *o, struct nytp_model **ret, struct pm_error *err)
{
	return pm_part_get(&o->model, &model_part, o, ret, err);
}

static void build_times(struct pm_arena *a, void *opened, void *part, struct pm_error *err)
{
	struct nytp_opened *o = opened;
	struct pm_call_times **by_function = part;
	struct nytp_model *m;
	pm_build_check(a, model(o, &m, err));
	*by_function = nytp_times_build(a, &o->native, m);
	nytp_logs_done(&o->native); /* nothing else needs them */
	o->parts.call_times.it = *by_function;
}

static void build_sources(struct pm_arena *a, void *opened, void *part, struct pm_error *err)
{
	struct nytp_opened *o = opened;
	struct nytp_sources *sources = part;
	pm_build_check(a, nytp_ready(&o->native, err));
	nytp_sources_build(a, sources, &o->native);
	o->parts.sources.it = sources->list;
	o->parts.sources.n = sources->n;
}

static int get_native(void *opened, struct pm_error *err)
{
	struct nytp_opened *o = opened;
	return nytp_ready(&o->native, err);
}

static int get_model(void *opened, struct pm_error *err)
{
	struct nytp_opened *o = opened;
	return pm_part_build(&o->model, &model_part, o, err);
}

static int get_times(void *opened, struct pm_error *err)
{
	static const struct pm_part_type type = {.size = sizeof(struct pm_call_times *),
		.build = build_times,
		.what = "the times of calls"};
	struct nytp_opened *o = opened;
	return pm_part_build(&o->times, &type, o, err);
}

static int get_sources(void *opened, struct pm_error *err)
{
	static const struct pm_part_type type = {.size = sizeof(struct nytp_sources),
		.build = build_sources,
		.what = "the list of sources"};
	struct nytp_opened *o = opened;
	return pm_part_build(&o->sources, &type, o, err);
}

uint64_t nytp_ns_of(double seconds)
{
	return (uint64_t)round(seconds * 1e6) * 1000;
}

/* ==== the format interface ==== */

/*
 * Several files of one run are from several processes. A single file as written by the profiler,
 * with its start time in the header, is from one process. Files made by nytprofmerge lack that
 * time.
 */
static int op_has(const struct pm_profile *p, enum pm_feature feature, struct pm_error *err)
{
	struct nytp_opened *o = nytp_opened_of(p);
	if (feature == PM_HAS_SOURCES)
		return 1;
	bool calls = feature == PM_HAS_CALL_TIMES;
	if (!calls && feature != PM_HAS_SEVERAL_THREADS)
		return 0;
	if (!calls && (o->alone || o->native.n_files > 1))
		return !o->alone;
	int r = get_native(o, err);
	return r < 0 ? r : calls ? nytp_has_calls(&o->native) : o->threads.list.n > 1;
}

static int op_title(const struct pm_profile *p, struct pm_bytes *ret, struct pm_error *err)
{
	struct nytp_opened *o = nytp_opened_of(p);
	int r = get_native(o, err);
	if (r == 0)
		*ret = nytp_attribute(&o->native, &o->native.files[0], "application");
	return r;
}

static const char *op_kind_of_tree(const struct pm_profile *p)
{
	struct nytp_opened *o = nytp_opened_of(p);
	return get_native(o, NULL) == 0 && nytp_has_calls(&o->native) ? "calls" : "edges";
}

/*
 * A thread's costs outside of all contexts, as context 0: its statements, and in a tree of edges
 * its time in subs. Returns the number of values.
 */
enum { NYTP_OWN = 3 };

static size_t thread_own(const struct nytp_threads *threads, const struct nytp_model *m,
	uint32_t thread, struct pm_value ret[static NYTP_OWN])
{
	size_t n = 0;
	double total = m->thread_totals[thread];
	if (!isnan(total))
		ret[n++] = (struct pm_value){.metric = NYTP_INCL, .thread = thread, .f = total};
	ret[n++] = (struct pm_value){.metric = NYTP_STATEMENTS,
		.thread = thread,
		.f = (double)threads->statements[thread]};
	ret[n++] = (struct pm_value){.metric = NYTP_STATEMENTS_NS,
		.thread = thread,
		.f = threads->statements_ns[thread]};
	return n;
}

static int64_t op_values(const struct pm_profile *p, struct pm_values_of of, uint64_t first,
	struct pm_value *ret, size_t room, struct pm_error *err)
{
	struct pm_value own[NYTP_OWN];
	struct nytp_model *m;
	int r = model(p->self, &m, err);
	if (r < 0)
		return r;
	if (of.what == PM_OF_CONTEXT)
		return pm_costs_of_context(&m->costs, of.index, first, ret, room);
	size_t n_own = thread_own(&nytp_opened_of(p)->threads, m, of.index, own), n = 0;
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
	int r = model(p->self, &m, err);
	if (r < 0)
		return r;
	ret->contexts = 0;
	ret->values = thread_own(&nytp_opened_of(p)->threads, m, thread, own) +
		m->costs.thread_start[thread + 1] - m->costs.thread_start[thread];
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
	int r = model(p->self, &m, err);
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

static int op_thread_document(const struct pm_profile *p, uint32_t thread, uint32_t k,
	struct pm_named_doc *ret, struct pm_error *err)
{
	struct nytp_opened *o = nytp_opened_of(p);
	int r = get_native(o, err);
	if (r < 0 || o->native.n_files == 1)
		return r;
	const struct nytp_docs *docs = &o->docs[o->threads.files[thread] - o->native.files];
	if (k >= docs->n)
		return 0;
	*ret = docs->docs[k];
	return 1;
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

static int op_remarks(const struct pm_profile *p, struct pm_text *out, struct pm_error *err)
{
	const struct nytp *n = &nytp_opened_of(p)->native;
	struct nytp_model *m;
	int r = model(p->self, &m, err);
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
			"If a sub forks, its record in the child process has its time before the fork, "
			"too: inclusive, and as its own. Only exclusive times add up to the total, which "
			"has that time twice; statements_ns has it once.\n");
	double a = m->differ.tree_ns, b = m->differ.callers_ns;
	if (m->differ.subs > 0)
		remark_calls(n, m, out);
	else if (b != 0 && fabs(a - b) > 0.01 * fmax(fabs(a), fabs(b)))
		pm_text_printf(out,
			"callers.csv differs from functions.csv in time, %.4g s and %.4g s, because "
			"one is stored in seconds and the other in ticks: ticks_per_sec may be "
			"wrong.\n",
			b / 1e9, a / 1e9);
	return 0;
}

static void op_warm(const struct pm_profile *p)
{
	get_native(p->self, NULL);
}

static bool op_changed(const struct pm_profile *p)
{
	return __atomic_load_n(&nytp_opened_of(p)->changed, __ATOMIC_ACQUIRE);
}

static const struct pm_profile_ops ops = {
	.has = op_has,
	.title = op_title,
	.kind_of_tree = op_kind_of_tree,
	.thread_counts = op_thread_counts,
	.run_costs = op_run_costs,
	.values = op_values,
	.thread_document = op_thread_document,
	.remarks = op_remarks,
	.warm = op_warm,
	.changed = op_changed,
};

void nytp_model_init(struct nytp_opened *o, struct pm_profile *ret)
{
	/* The tables of a single file are at the root, those of several with their processes. */
	bool alone = o->native.n_files == 1;
	o->parts = (struct pm_parts){
		.tree.build = get_model,
		.metrics.build = get_model,
		.threads = {.build = get_native, .it = &o->threads.list},
		.span = {.build = get_native, .it = &o->span},
		.call_times.build = get_times,
		.flat.build = get_model,
		.damage = {.build = get_native, .it = &o->damages},
		.documents = {.it = alone ? o->docs[0].docs : &o->processes,
			.n = alone ? o->docs[0].n : 1},
		.sources.build = o->may_have_text ? get_sources : NULL,
		.facts.build = get_native,
	};
	ret->ops = &ops;
	ret->parts = &o->parts;
	ret->self = o;
}
