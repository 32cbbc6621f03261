/*
 * README.txt, a screen: what this mount contains. recipes.txt: commands that run unchanged and
 * use names from this profile, in any POSIX shell with any awk; and what numbers mean.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "formats/common/utf8.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/categories.h"
#include "fs/views/model/model.h"
#include "fs/views/model/screen.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/callers.h"
#include "fs/views/sums/functions.h"
#include "fs/views/sums/hotpath.h"
#include "fs/views/sums/imbalance.h"
#include "fs/views/sums/iterations.h"
#include "fs/views/sums/lines.h"
#include "fs/views/sums/rollups.h"
#include "fs/views/sums/threads.h"
#include "fs/views/sums/totals.h"
#include "profmount/limits.h"

/* What the commands are made of. PM_NONE: there is no such thing here. */
struct recipes {
	struct pm_arena *a;
	struct pm_error *err;
	struct pmfs_model *model;
	const struct pm_profile *profile;
	const struct pmfs_functions *functions;
	const struct pmfs_columns *columns;
	const struct pm_threads *threads;
	struct pm_text *out;
	const struct pmfs_totals *totals;
	bool has_loss[2]; /* some work, some waiting is spread unevenly */
};

static void ask(const struct recipes *c, const char *question)
{
	pm_text_printf(c->out, "  %s\n", question);
}

/* Whether there are exclusive costs, which are then in $3 of functions.tsv. */
static bool recipes_have_cost(const struct recipes *c)
{
	return c->columns->first_excl != PM_NONE && c->functions->n > 0 &&
		pmfs_function_cell(c->functions, 0, c->columns->first_excl) > 0;
}

/*
 * ---- commands ----
 *
 * The commands of recipes.txt. Each is built for this profile: its subject is picked from the
 * most expensive entries, and a command whose output would be empty is left out. Names come
 * from the measured program: only those that need no quoting inside '…"…"…' are used. Column
 * numbers are those of this profile's tables.
 */

/* Plain enough to stand between single quotes, and short enough to be read. */
static bool can_be_typed(struct pm_bytes name)
{
	if (name.len == 0 || name.len > 200 || !pm_utf8_valid(name))
		return false;
	for (size_t i = 0; i < name.len; i++)
		if (name.p[i] < 0x20 || name.p[i] == 0x7f || strchr("'\"\\", name.p[i]))
			return false;
	return true;
}

/* How a number is printed: times of small units in seconds, which are easier to read, else as is.
 */
static const char *divisor_of(const struct pmfs_column *column)
{
	size_t len = strlen(column->export);
	bool time = len > 3 && strcmp(column->export + len - 3, "_ns") == 0;
	if (!time || column->export_scale == 1e9)
		return "";
	return column->export_scale == 1e6    ? " / 1e3"
		: column->export_scale == 1e3 ? " / 1e6"
					      : " / 1e9";
}

/* What the numbers that a command prints are: `seconds`, else the quantity's own name. */
static const char *unit_of(const struct pmfs_column *column)
{
	return *divisor_of(column) ? "seconds" : column->base;
}

/* ---- functions ---- */

static void add_functions(const struct recipes *c)
{
	if (!recipes_have_cost(c))
		return;
	const struct pmfs_column *column = &c->columns->columns[c->columns->first_excl];
	pm_text_printf(c->out, "  Which functions have the highest exclusive cost? (%s)\n",
		unit_of(column));
	if (*divisor_of(column))
		pm_text_printf(c->out,
			"$ head -n 11 functions.tsv | awk -F'\\t' 'NR > 1 { printf \"%%.9f  %%s\\n\", "
			"$%u%s, $NF }'\n",
			c->columns->first_excl + 3, divisor_of(column));
	else
		pm_text_printf(c->out,
			"$ head -n 11 functions.tsv | awk -F'\\t' 'NR > 1 { print $%u, $NF }'\n",
			c->columns->first_excl + 3);
}

/* The first of the most expensive functions with a call and a name that needs no quoting. */
static void add_callers(const struct recipes *c, const struct pmfs_calls *calls)
{
	for (uint32_t row = 0; row < c->functions->n; row++) {
		struct pm_bytes name = pmfs_function_name(c->functions, row);
		uint32_t function = c->functions->function[row];
		if (calls->callee_first[function] == calls->callee_first[function + 1] ||
			!can_be_typed(name))
			continue;
		bool counted =
			calls->calls[calls->by_callee[calls->callee_first[function]]].calls !=
			PMFS_UNCOUNTED;
		ask(c,
			counted ? "What calls this function, how often, and at what cost?"
				: "What calls this function, and at what cost?");
		pm_text_printf(c->out,
			"$ awk -F'\\t' 'NR == 1 || $NF == \"%.*s\"' callers.tsv | head -n 6\n",
			(int)name.len, (const char *)name.p);
		return;
	}
}

static bool some_function_has(const struct recipes *c, uint32_t column, uint32_t other)
{
	for (uint32_t row = 0; row < c->functions->n; row++)
		if (pmfs_function_cell(c->functions, row, column) > 0 &&
			pmfs_function_cell(c->functions, row, other) > 0)
			return true;
	return false;
}

/* Cost per call, where calls are counted. */
static void add_per_call(const struct recipes *c)
{
	uint32_t cost = c->columns->first_excl, calls = c->columns->calls;
	if (calls == PM_NONE || calls == cost || !recipes_have_cost(c) ||
		!some_function_has(c, calls, cost))
		return;
	const struct pmfs_column *column = &c->columns->columns[cost];
	pm_text_printf(c->out, "  Which functions have the highest exclusive cost per call? (%s)\n",
		unit_of(column));
	pm_text_printf(c->out,
		"$ awk -F'\\t' 'NR > 1 && $%u > 0 { printf \"%%.9f  %%s\\n\", $%u / $%u%s, $NF }' "
		"functions.tsv | sort -gr | head\n",
		calls + 3, cost + 3, calls + 3, divisor_of(column));
}

/* ---- contexts ---- */

/* Whether some rows of imbalance.csv lose anything: those of work, those of waiting. */
static void find_losses(struct recipes *c)
{
	const struct pmfs_work *work;
	const uint8_t *categories;
	if (c->threads->n < 2)
		return;
	pm_build_check(c->a, pmfs_works(c->model, &work, c->err));
	pm_build_check(c->a, pmfs_categories(c->model, &categories, c->err));
	for (uint32_t i = 0; i < c->functions->tree->n_contexts; i++)
		c->has_loss[pmfs_is_waiting(categories[i])] |= work[i].max > work[i].mean;
}

static void add_contexts(const struct recipes *c)
{
	uint32_t n;
	const struct pmfs_hot *path =
		pmfs_hotpath(c->a, c->model, c->columns->first_incl, &n, c->err);
	if (n == 0)
		return;
	unsigned number = pm_tree_number(c->functions->tree, path[n - 1].context);
	ask(c, "What is the hot path?");
	pm_text_str(c->out, "$ cat hotpath.txt\n");
	pm_text_printf(c->out,
		"  (its last context is by-id/%u/; see path.txt, metrics/%s%s there)\n", number,
		c->columns->columns[c->columns->first_incl].name,
		pm_profile_has(c->profile, threads) ? ", threads.csv" : "");
}

/* ---- lines ---- */

/* The first of the most expensive lines with a file name that needs no quoting. */
static void add_lines(const struct recipes *c)
{
	const struct pmfs_lines *l;
	if (!c->profile->has_lines)
		return;
	pm_build_check(c->a, pmfs_lines(c->model, &l, c->err));
	for (uint32_t i = 0; i < l->n; i++) {
		const struct pm_line *line = &l->lines[l->order[i]];
		struct pm_bytes file = l->tree->texts[line->file];
		if (line->line == 0 || !can_be_typed(file))
			continue;
		ask(c, "Which lines of this file are the most expensive?");
		pm_text_printf(c->out,
			"$ awk -F'\\t' 'NR == 1 || $(NF - 1) == \"%.*s\"' lines.tsv | head -n 6\n",
			(int)file.len, (const char *)file.p);
		break;
	}
}

/* ---- percentiles ---- */

/* Percentiles come after the metric columns. */
static void add_percentiles(const struct recipes *c)
{
	int timed = pmfs_functions_are_timed(c->model, c->err);
	pm_build_check(c->a, timed);
	if (!timed || c->functions->n == 0)
		return;
	ask(c, "Which functions have the highest 99th percentile of a call? (seconds)");
	pm_text_printf(c->out,
		"$ awk -F'\\t' 'NR > 1 { printf \"%%.9f  %%s\\n\", $%u / 1e9, $NF }' functions.tsv "
		"| sort -gr | head\n",
		2 + c->columns->n_shown + c->columns->n_derived + 3);
}

static void add_other_run(const struct recipes *c)
{
	if (!recipes_have_cost(c))
		return;
	pm_text_printf(c->out,
		"  What changed since another run? `profmount THAT_SOURCE THIS_SOURCE DIR` compares them\n"
		"  (see compare/ there). Of two mounts, this one and OTHER, by name, for ids are of one run:\n"
		"  awk -F'\\t' 'FNR > 1 { d[$NF] += NR == FNR ? -$%u : $%u } END { for (f in d) print d[f], f }'"
		" \\\n      OTHER/functions.tsv functions.tsv | sort -gr | head\n",
		c->columns->first_excl + 3, c->columns->first_excl + 3);
}

/* ---- with and without some functions ---- */

/*
 * The name of an entry of functions/ means that function, whatever is in it; of a module, nothing
 * may have a meaning in a glob. See PATTERN in docs/namespace.md.
 */
static bool can_be_pattern(struct pm_bytes name, const char *special)
{
	if (!can_be_typed(name) || strchr(".-", name.p[0]))
		return false;
	for (size_t i = 0; i < name.len; i++)
		if (strchr(special, name.p[i]))
			return false;
	return true;
}

/* The kind of work, besides the program's own, that costs most. */
static void add_category(const struct recipes *c)
{
	const struct pmfs_category_sums *s;
	uint32_t own = c->columns->first_excl;
	pm_build_check(c->a, pmfs_category_sums(c->model, &s, c->err));
	for (uint32_t i = 0; i < s->n; i++) {
		struct pm_bytes name = pmfs_category_name((enum pmfs_category)s->order[i]);
		double cost = s->cells[(size_t)s->order[i] * c->columns->n + own];
		if (name.len == 0 || s->order[i] == PMFS_IDLE || !(cost > 0))
			continue;
		pm_text_printf(c->out, "  What would the run cost without %.*s?\n", (int)name.len,
			(const char *)name.p);
		pm_text_printf(c->out, "$ head -n 5 ignore/category:%.*s/functions.txt\n",
			(int)name.len, (const char *)name.p);
		int several = pmfs_has_several_threads(c->model, 0, c->err);
		pm_build_check(c->a, several);
		if (!several)
			break;
		pm_text_printf(c->out, "  Which threads spend most in %.*s?\n", (int)name.len,
			(const char *)name.p);
		pm_text_printf(c->out,
			"$ awk -F, '$(NF - 1) == \"%.*s\"' threads-by-category.csv | sort -t, "
			"-k%u,%ugr | head -n 5\n",
			(int)name.len, (const char *)name.p, c->threads->n_keys + own + 2,
			c->threads->n_keys + own + 2);
		break;
	}
}

/* The most expensive library, with what it calls. */
static void add_library(const struct recipes *c)
{
	const struct pmfs_rollup *u;
	if (!c->profile->has_modules)
		return;
	pm_build_check(c->a, pmfs_modules(c->model, &u, c->err));
	for (uint32_t i = 0; i < u->sums.n; i++) {
		struct pm_bytes name = pmfs_base_name(u->names.items[u->order[i]]);
		const uint8_t *dot = name.len ? memchr(name.p, '.', name.len) : NULL;
		if (!dot || name.len < 4 || memcmp(name.p, "lib", 3) != 0)
			continue;
		name.len = (size_t)(dot - name.p);
		if (!can_be_pattern(name, "*?[]/:$ ()&;|<>~#"))
			continue;
		ask(c, "What does this library cost, and everything below it?");
		pm_text_printf(c->out, "$ head -n 5 from/module:%.*s*/functions.txt\n",
			(int)name.len, (const char *)name.p);
		break;
	}
}

static void add_filters(const struct recipes *c)
{
	if (!recipes_have_cost(c) || strcmp(pm_profile_kind_of_tree(c->profile), "edges") == 0)
		return;
	int ranked = pmfs_has_ranks(c->model, 0, c->err);
	pm_build_check(c->a, ranked);
	add_category(c);
	for (uint32_t row = 0; row < c->functions->n; row++) {
		struct pm_bytes name = pmfs_function_name(c->functions, row);
		if (c->functions->category[c->functions->function[row]] != PMFS_PROGRAM ||
			!can_be_pattern(name, "/"))
			continue;
		ask(c,
			ranked ? "What does this function alone cost on each rank, with all that it calls?"
			       : "What does this function alone cost, and what does it call?");
		pm_text_printf(c->out, "$ head -n 6 'from/%.*s/%s'\n", (int)name.len,
			(const char *)name.p, ranked ? "ranks.csv" : "functions.txt");
		break;
	}
	add_library(c);
}

/* Where threads wait for others; that of a GPU and its host alone has no rows, if neither waits. */
static void add_blame(const struct recipes *c)
{
	static const enum pmfs_category waiting[] = {PMFS_OPENMP, PMFS_THREAD, PMFS_IDLE};
	const struct pmfs_category_sums *s;
	bool waits = false;
	uint32_t own = c->columns->first_excl;
	int has = pmfs_has_blame(c->model, 0, c->err);
	pm_build_check(c->a, has);
	if (!has || own == PM_NONE)
		return;
	pm_build_check(c->a, pmfs_category_sums(c->model, &s, c->err));
	for (size_t i = 0; i < sizeof(waiting) / sizeof(*waiting); i++)
		waits |= s->cells[(size_t)waiting[i] * c->columns->n + own] > 0;
	if (waits) {
		ask(c, "What do others run while threads wait? (ns, by kind of waiting)");
		pm_text_str(c->out, "$ head -n 6 blame.csv\n");
	}
}

/* What GPUs run, and when they run nothing. */
static void add_gpus(const struct recipes *c)
{
	static const struct {
		const char *question, *command;
		int (*has)(struct pmfs_model *m, uint32_t item, struct pm_error *err);
		pmfs_table_fn *table;
	} gpus[] = {
		{"Which kernels and copies take longest in all? (launches, ns, name)",
			"cut -d, -f 1,2,10- gpu.csv | head -n 6", pmfs_has_gpu, pmfs_gpu_table},
		{"When did a GPU have nothing to do, longest first, and what did the host run then?",
			"head -n 6 gpu-gaps.csv", pmfs_has_gpu_gaps, pmfs_gpu_gaps_table},
	};
	for (size_t i = 0; i < sizeof(gpus) / sizeof(*gpus); i++) {
		struct pm_arena *a = pm_arena_scratch(c->a);
		struct pm_table table;
		int has = gpus[i].has(c->model, 0, c->err);
		pm_build_check(a, has);
		if (!has)
			continue;
		pm_build_check(a, gpus[i].table(c->model, 0, &table, c->err));
		if (pm_table_next(a, pm_table_read(a, &table, 0, c->err), c->err)) {
			ask(c, gpus[i].question);
			pm_text_printf(c->out, "$ %s\n", gpus[i].command);
		}
		pm_arena_done(a);
	}
}

/* ---- about threads: the most expensive, imbalance, costs by thread in SQL ---- */

/* Several threads have costs of the primary quantity. */
static bool threads_differ(const struct recipes *c)
{
	uint32_t column = pmfs_leading_column(c->columns);
	return c->threads->n > 1 && column != PM_NONE && c->totals->of[column] != 0;
}

static void add_threads(const struct recipes *c)
{
	unsigned column = c->threads->n_keys + pmfs_leading_column(c->columns) + 2;
	ask(c, "Which threads are the most expensive?");
	pm_text_printf(c->out,
		"$ (head -n 1 threads.csv; tail -n +2 threads.csv | sort -t, -k%u,%ugr | head -n 5)\n",
		column, column);
}

/* Of calls that lose the same on one thread, the deepest: a chain is shown once. */
static void add_imbalance(const struct recipes *c, bool waiting)
{
	unsigned threads = 2 + 4 * c->columns->n_shown; /* the column */
	ask(c,
		waiting ? "Who waits most, and where? (max - mean, thread_id, context_id)"
			: "Where is work spread unevenly? (max - mean of work, thread_id that has most, context_id)");
	pm_text_printf(c->out,
		"$ awk -F, 'NR > 1 && $%u == %d && $%u > 0 { lost[sprintf(\"%%.1e %%s\", $%u, $%u)] = "
		"$%u \"  \" $%u \"  \" $1 } END { for (i in lost) print lost[i] }' imbalance.csv | "
		"sort -gr | head -n 5\n",
		threads + 2, waiting, threads + 4, threads + 4, threads + 5, threads + 4,
		threads + 5);
}

/* The thread's value of a key, or NULL. */
static const uint64_t *value_of(const struct pm_thread *thread, uint32_t key)
{
	for (uint32_t i = 0; i < thread->n_identity; i++)
		if (thread->identity[i].key == key)
			return &thread->identity[i].value;
	return NULL;
}

static bool threads_differ_in(const struct pm_threads *threads, uint32_t key)
{
	const uint64_t *first = value_of(&threads->threads[0], key);
	for (uint32_t i = 1; i < threads->n; i++) {
		const uint64_t *other = value_of(&threads->threads[i], key);
		if ((first == NULL) != (other == NULL) || (first && *first != *other))
			return true;
	}
	return false;
}

/*
 * The key for questions about parallel programs: the rank if there are several, else the first key
 * that differs.
 */
static const char *key_of(const struct pm_threads *threads)
{
	uint32_t found = PM_NONE;
	for (uint32_t i = 0; i < threads->n_keys; i++) {
		bool rank = strcmp(threads->keys[i], "rank") == 0;
		if ((rank || found == PM_NONE) && threads_differ_in(threads, i))
			found = i;
	}
	return threads->keys[found == PM_NONE ? 0 : found];
}

/*
 * SQL engines read directory keys as columns only if all files have the same keys, which is not the
 * case for threads and GPU streams, so the key is extracted from the file name. Tables of threads
 * without any cost have no rows from which types could be inferred, so numbers are read as text and
 * cast.
 */
static void add_sql(const struct recipes *c)
{
	const char *key = key_of(c->threads);
	const char *cost = c->columns->columns[c->columns->first_excl].name;
	pm_text_printf(c->out,
		"  What does each %s cost, by function? (SQL directly on the files)\n"
		"$ duckdb -c \"select regexp_extract(filename, '/%s=([0-9]+)', 1) as %s, name, "
		"sum(%s::double) as cost from read_csv('threads/**/functions.csv', header = true, "
		"all_varchar = true, filename = true, hive_partitioning = false) "
		"group by all order by cost desc nulls last limit 10\"\n",
		key, key, key, cost);
}

/* The most expensive threads, and imbalance, if several threads have costs. */
static void add_thread_recipes(const struct recipes *c)
{
	if (!threads_differ(c))
		return;
	add_threads(c);
	for (int waiting = 0; waiting < 2; waiting++)
		if (c->has_loss[waiting])
			add_imbalance(c, waiting);
}

/* ---- about time: idle threads, busy GPUs, iterations ---- */

/* ---- traces ---- */

/*
 * Whether there is an idle row with a duration among the first rows of the thread's trace that can
 * be read.
 */
static bool is_idle_at_times(const struct recipes *c, uint32_t thread, const uint8_t *categories)
{
	enum { LOOKED_AT = 4096, BATCH = 256 };
	struct pm_sample samples[BATCH];
	int64_t n;
	for (uint64_t at = 0; at < LOOKED_AT; at += (uint64_t)n) {
		n = c->profile->ops->samples(c->profile, thread, at, samples, BATCH, NULL);
		if (pm_is_passing((int)n))
			pm_build_fail(c->a, (int)n);
		if (n <= 0)
			return false;
		for (int64_t i = 0; i < n; i++) {
			uint32_t context = samples[i].context
				? pm_tree_find(c->functions->tree, samples[i].context)
				: PM_NONE;
			if (samples[i].duration_ns != PM_NO_TIME && samples[i].duration_ns > 0 &&
				pmfs_category_of(categories, context, samples[i].context) ==
					PMFS_IDLE)
				return true;
		}
	}
	return false;
}

static void add_idle(const struct recipes *c, const char *path, uint64_t span_ns)
{
	ask(c, "How long was this thread idle, and what share of the run is that?");
	pm_text_printf(c->out,
		"$ awk -F, '$%u == \"idle\" { s += $2 } END { printf \"%%.6f s, %%.2f%%%%\\n\", s / 1e9, "
		"100 * s / %llu }' %s/trace.csv\n",
		c->profile->traces_are_calls ? 8 : 6, (unsigned long long)span_ns, path);
}

/* Of all streams, if their directories say that they are such, else of one. Calls nest. */
static void add_utilisation(const struct recipes *c, const char *path, uint64_t span_ns)
{
	bool calls = c->profile->traces_are_calls, all = strstr(path, "gpu");
	ask(c,
		all ? "What share of the run was each GPU stream busy?"
		    : "What share of the run was this GPU stream busy?");
	/* CSV, since TSV is not listed; raw/ has a trace.csv, too. */
	pm_text_str(c->out,
		all ? "$ find threads -path '*gpu*' -name trace.csv ! -path '*/raw/*' | xargs "
		    : "$ ");
	pm_text_printf(c->out,
		"awk -F, 'FNR > 1 { b[FILENAME] += %s } END { for (f in b) "
		"printf \"%%.2f%%%%  %%s\\n\", 100 * b[f] / %llu, f }'",
		calls ? "$8 == \"gpu\" ? $6 : 0" : "$6 == \"idle\" ? 0 : $2",
		(unsigned long long)span_ns);
	if (all)
		pm_text_str(c->out, " | sort -gr | head\n");
	else
		pm_text_printf(c->out, " %s/trace.csv\n", path);
}

/* The first idle thread, and the utilisation of GPUs; reads the beginnings of traces. */
static void add_trace_recipes(const struct recipes *c)
{
	enum { THREADS_LOOKED_AT = 256 };
	uint64_t origin, span_ns = PM_NO_TIME;
	const uint8_t *categories;
	const char *stream = NULL, *idle = NULL;
	const struct pm_profile *p = c->profile;
	pm_build_check(c->a, pm_profile_span(p, &origin, &span_ns, c->err));
	if (span_ns == PM_NO_TIME || span_ns == 0 || !p->ops->samples || p->samples_are_weighed)
		return;
	pm_build_check(c->a, pmfs_categories(c->model, &categories, c->err));
	for (uint32_t i = 0; i < c->threads->n && i < THREADS_LOOKED_AT && !(idle && stream); i++) {
		const struct pm_thread *thread = &c->threads->threads[i];
		const char *path;
		if (!thread->has_trace || thread->n_samples == 0)
			continue;
		pm_build_check(c->a, pmfs_thread_path(c->model, i, &path, c->err));
		if (!stream && pm_time_of(c->threads, i) == PM_TIME_GPUS)
			stream = path;
		if (!idle && is_idle_at_times(c, i, categories))
			idle = path;
	}
	if (idle)
		add_idle(c, idle, span_ns);
	if (stream)
		add_utilisation(c, stream, span_ns);
}

/* ---- iterations ---- */

/* The longest iterations. Where no iteration has a window, there is nothing to show. */
static void add_iteration_recipes(const struct recipes *c)
{
	struct pm_error why = {.offset = PM_NO_OFFSET};
	const struct pmfs_iterations *all;
	uint64_t start, end;
	char line[512];
	if (!pmfs_has_iterations(c->model, 0, NULL))
		return;
	int r = pmfs_iterations(c->model, &all, &why);
	if (pm_is_passing(r))
		pm_build_fail(c->a, r);
	if (r < 0) { /* Such as a name that is not called: in a mount, reading them says only EIO.
		      */
		pm_error_line(&why, line, sizeof(line));
		pm_text_str(c->out, "  iterations.csv cannot be read: ");
		pm_text_line(c->out, pm_bytes_of(line));
		pm_text_char(c->out, '\n');
		return;
	}
	bool has_window = false;
	for (uint32_t i = 0; i < all->n && !has_window; i++)
		has_window = pmfs_iteration_window(all, &all->items[i], &start, &end);
	if (!has_window)
		return;
	bool of_thread = pm_profile_has(c->profile, threads);
	ask(c,
		of_thread
			? "Which ten iterations took longest, and what ran on the thread in the longest?"
			: "Which ten iterations took longest, and what ran in all traces during the longest?");
	pm_text_printf(c->out,
		"$ tail -n +2 iterations.csv | sort -t, -k3,3gr | head\n"
		"$ head -n 6 \"$(tail -n +2 iterations.csv | sort -t, -k3,3gr | "
		"awk -F, '$(NF - 1) { print %s$(NF - 1); exit }')/functions.tsv\"\n",
		of_thread ? "$NF \"/\" " : "");
}

/* ---- all commands ---- */

/*
 * Appends questions, each followed by a line `$ command` that answers it in the root of the mount:
 * the command exits with 0, prints something, and writes no files.
 */
static void add_recipes(const struct pmfs_writing *w)
{
	struct recipes c = {.a = w->a,
		.err = w->err,
		.model = w->model,
		.profile = pmfs_model_profile(w->model),
		.out = w->out};
	const struct pmfs_calls *calls;
	pm_build_check(w->a, pmfs_functions(c.model, &c.functions, w->err));
	pm_build_check(w->a, pmfs_calls(c.model, &calls, w->err));
	pm_build_check(w->a, pmfs_totals(c.model, &c.totals, w->err));
	pm_build_check(w->a, pmfs_model_threads(c.model, &c.threads, w->err));
	c.columns = c.functions->columns;
	find_losses(&c);
	ask(&c, "What does the profile show, on one screen?");
	pm_text_str(c.out, "$ cat summary.txt\n");
	add_functions(&c);
	add_per_call(&c);
	add_callers(&c, calls);
	add_contexts(&c);
	add_thread_recipes(&c);
	add_lines(&c);
	add_trace_recipes(&c);
	add_iteration_recipes(&c);
	add_percentiles(&c);
	add_filters(&c);
	add_blame(&c);
	add_gpus(&c);
	if (threads_differ(&c) && c.threads->n_keys > 0 && recipes_have_cost(&c))
		add_sql(&c);
	if (c.profile->ops->recipes)
		pm_build_check(w->a, c.profile->ops->recipes(c.profile, c.out, w->err));
	add_other_run(&c);
}

/* ---- the texts ---- */

static void add_entry(struct pm_text *out, const char *names, const char *about)
{
	pm_text_printf(out, "  %-23s %s\n", names, about);
}

/* ---- the entries ---- */

/* The views of the root, on a line those that share a sentence. */
static void add_views(const struct pmfs_writing *w)
{
	char names[128] = "";
	const char *about = NULL;
	uint32_t n;
	const struct pmfs_view *views = pmfs_views(PMFS_PLACE_ROOT, &n);
	for (uint32_t i = 0; i < n; i++) {
		const struct pmfs_view *view = &views[i];
		int present = view->present ? view->present(w->model, 0, w->err) : 1;
		pm_build_check(w->a, present);
		if (view->about && *names)
			add_entry(w->out, names, about);
		if (view->about)
			*names = '\0';
		about = view->about ? view->about : about;
		size_t len = strlen(names);
		if (present > 0 && view->form != PM_DOC_TSV)
			snprintf(names + len, sizeof(names) - len, "%s%s", len ? " " : "",
				view->name);
	}
	if (*names)
		add_entry(w->out, names, about);
	add_entry(w->out, "X.parquet X.tsv",
		"X.csv as Parquet; functions, lines … with tabs. By name, not listed.");
}

static void add_folders(const struct pmfs_writing *w)
{
	const struct pm_profile *p = pmfs_model_profile(w->model);
	const struct pm_source *sources;
	const struct pm_named_doc *docs;
	size_t n_sources = 0, n_docs = 0;
	bool has_raw = false;
	if (!pmfs_model_listing(w->model).lean) {
		add_entry(w->out, "contexts/",
			"The calling-context tree as directories, most expensive first.");
		add_entry(w->out, "by-id/", "The same contexts, by context_id.");
		add_entry(w->out, "functions/",
			"One directory per function: costs, callers, callees, contexts.");
	}
	if (pm_profile_has(p, threads))
		add_entry(w->out, "threads/",
			"One directory per thread, key=value: profile, values, trace, flat profile.");
	int traced = pm_profile_has(p, threads) ? pmfs_some_thread_has_trace(w->model, 0, w->err)
						: pm_profile_has(p, traces);
	pm_build_check(w->a, traced);
	bool has_paths = strcmp(pm_profile_kind_of_tree(p), "edges") != 0;
	add_entry(w->out, "focus/ ignore/",
		has_paths
			? "The same with or without some functions: focus/PATTERN; also hide/, from/."
			: "Filters, which need call paths: this source has costs by call edge.");
	if (traced)
		add_entry(w->out, "windows/",
			"Parts of the run in time, by name: windows/START-END (see its README.txt).");
	add_entry(w->out, "export/",
		"The same profile in the formats of other tools, and as pictures.");
	pm_build_check(w->a, pm_profile_sources(p, &sources, &n_sources, w->err));
	if (n_sources > 0)
		add_entry(w->out, "source/",
			p->has_lines
				? "The program's source code; FILE.annotated.txt has the cost of each line."
				: "The program's source code.");
	pm_build_check(w->a, pm_profile_documents(p, &docs, &n_docs, w->err));
	for (size_t i = 0; i < n_docs && !has_raw; i++)
		has_raw = strncmp(docs[i].path, "raw/", 4) == 0;
	if (has_raw)
		add_entry(w->out, "raw/", "The format's own tables, uninterpreted.");
}

/* ---- what numbers mean ---- */

/* The primary quantity; NULL where there is none. */
static const char *find_lead(const struct pmfs_writing *w)
{
	const struct pmfs_columns *c;
	pm_build_check(w->a, pmfs_model_columns(w->model, &c, w->err));
	return c->lead;
}

static void add_meanings(const struct pmfs_writing *w)
{
	const struct pm_profile *p = pmfs_model_profile(w->model);
	struct pm_text *out = w->out;
	int several = pmfs_has_several_threads(w->model, 0, w->err);
	pm_build_check(w->a, several);
	const char *kind = pm_profile_kind_of_tree(p);
	pm_text_str(out,
		"  _incl is the cost of a context including everything below it, _excl is its own cost.\n"
		"  Inclusive costs in functions.csv and callers.csv count recursive calls once (only the\n"
		"  outermost). An empty cell means that no value is stored; 0 is a stored zero. Units are\n"
		"  part of the column names. The hot path follows the most expensive child for as long as\n"
		"  it has at least half of its parent's cost.\n");
	if (several)
		pm_text_str(out,
			"  imbalance.csv compares a thread with its peers: those of the same number on all\n"
			"  ranks or, without ranks, those with a value there. imbalance = max / mean and lost =\n"
			"  max - mean of work, which is the inclusive cost without the waiting below (mpi,\n"
			"  openmp, thread, idle); where waiting is 1, of the waiting itself. _stddev is the\n"
			"  population's.\n");
	if (p->ops->samples)
		pm_text_str(out,
			"  time_ns is relative to time_origin_ns (info.json); timestamp_ns is as stored.\n");
	if (kind && strcmp(kind, "edges") == 0)
		pm_text_str(out,
			"  This profile records call edges only. contexts/ has two levels, each sub and the\n"
			"  subs it called, so inclusive costs at the top level overlap.\n");
}

/* The most frequent question. Costs that cannot be read say why elsewhere. */
static void add_missing(const struct pmfs_writing *w)
{
	const struct pmfs_missings *all;
	if (!pm_profile_has(pmfs_model_profile(w->model), missing))
		return;
	int r = pmfs_missings(w->model, &all, NULL);
	if (pm_is_passing(r))
		pm_build_fail(w->a, r);
	if (r < 0 || !(all->cost > 0) || !pmfs_is_cost(all->cost, all->whole))
		return;
	pm_text_str(w->out, "  ");
	pmfs_print_share(w->out, all->cost, all->whole);
	pm_text_printf(w->out, " of the cost has no names: missing-symbols.csv says why%s%s.\n",
		all->advice ? ";\n  " : "", all->advice ? all->advice : "");
}

/* An attempt to write commands. */
static void try_recipes(void *writing)
{
	add_recipes(writing);
}

/* The rest of the page is still useful if the contexts cannot be read. */
static void add_commands(const struct pmfs_writing *w)
{
	struct pm_error why = {.offset = PM_NO_OFFSET};
	struct pmfs_writing attempt = *w;
	attempt.err = &why;
	int r = pm_build(w->a, try_recipes, &attempt);
	if (r == -ENOTSUP) {
		pm_text_printf(w->out, "  none: %s\n", why.text);
	} else if (r < 0) {
		pm_error_plain(&why, r);
		pm_build_fail(w->a, pm_error_set(w->err, r, why.file, why.offset, "%s", why.text));
	}
}

/* Without calls there are no functions, nor a call path; of call edges there may be statements. */
static void add_beginning(const struct pmfs_writing *w)
{
	const struct pm_profile *p = pmfs_model_profile(w->model);
	const struct pm_tree *tree = NULL;
	bool edges = strcmp(pm_profile_kind_of_tree(p), "edges") == 0;
	int r = pmfs_model_tree(w->model, &tree, NULL);
	if (pm_is_passing(r))
		pm_build_fail(w->a, r);
	pm_text_str(w->out,
		"\n\nTo begin with (or open report.html in a browser)\n"
		"$ cat summary.txt\n");
	if (r < 0 || tree->n_contexts > 0)
		pm_text_str(w->out, "$ head -n 30 functions.txt\n$ cat hotpath.txt\n");
	else if (edges && p->has_lines)
		pm_text_str(w->out, "$ head lines.csv\n");
}

static void write_readme(const struct pmfs_writing *w)
{
	const struct pm_profile *p = pmfs_model_profile(w->model);
	struct pm_bytes title = pm_bytes_of("A performance profile");
	if (pmfs_model_unfiltered(w->model))
		pm_build_check(w->a, pm_profile_title(p, &title, w->err));
	pmfs_add_cut(w->out, title, PMFS_SCREEN_WIDTH - 45);
	pm_text_str(w->out, " as files, mounted read-only by profmount.\n  ");
	pm_text_line(w->out, pm_bytes_of(p->source));
	pm_text_printf(w->out, " (%s", p->format);
	if (p->layout)
		pm_text_printf(w->out, ", %s", p->layout);
	pm_text_char(w->out, ')');
	add_beginning(w);
	const char *lead = find_lead(w);
	if (lead)
		pm_text_printf(w->out,
			"Tables and pictures are by %s (-o metric=NAME: by another).\n", lead);
	pm_text_str(w->out, "\nEntries\n");
	add_views(w);
	add_folders(w);
	for (const struct pm_note *note = p->notes; note && note->name; note++)
		add_entry(w->out, note->name, note->text);
}

int pmfs_readme_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, write_readme, out, err);
}

static void write_recipes(const struct pmfs_writing *w)
{
	pm_text_str(w->out,
		"Commands (run them in this directory; a copy has .tsv files if it was made with -o tsv,\n"
		"and no filters: ignore/, from/)\n");
	add_commands(w);
	pm_text_str(w->out, "\nNumbers\n");
	const char *lead = find_lead(w);
	if (lead)
		pm_text_printf(w->out,
			"  %s is the primary quantity. Its columns come first, contexts, functions, lines and\n"
			"  callers are sorted by it, and pictures and the commands above use it. Choose another\n"
			"  with -o metric=NAME (see metrics.csv). summary.txt has the total of each quantity.\n",
			lead);
	add_meanings(w);
	add_missing(w);
	pm_text_printf(w->out,
		"\nExports\n"
		"  Costs are rounded to whole numbers and times converted to ns. Viewers fail on very\n"
		"  large files, so flamegraph.svg is limited to %d frames, callgraph.dot to %d functions,\n"
		"  trace.json to %d slices and profile.speedscope.json to %d threads. Each file states\n"
		"  what it omits.\n",
		PM_LIMIT_SVG_RECTS, PM_LIMIT_DOT_NODES, PM_LIMIT_TRACE_SLICES,
		PM_LIMIT_SPEEDSCOPE_THREADS);
	pm_text_str(w->out,
		"\nIf the profile is still being written, this mount shows it as of mount time. Remount to\n"
		"see more, or mount with -o follow to keep up with it.\n");
}

int pmfs_recipes_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, write_recipes, out, err);
}
