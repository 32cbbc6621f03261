/*
 * README.txt, a screen: what this mount contains. recipes.txt: commands that run unchanged and
 * use names from this profile, in any POSIX shell with any awk; and what numbers mean.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
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
	struct pmfs_model *model;
	const struct pm_profile *profile;
	const struct pmfs_functions *functions;
	const struct pmfs_columns *columns;
	const struct pm_threads *threads;
	struct pm_text *out;
	const struct pmfs_totals *totals;
	uint32_t context; /* the deepest of the hot path */
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

static int find_hot(struct recipes *c, struct pm_error *err)
{
	struct pmfs_hot *path;
	uint32_t n;
	int r = pmfs_hotpath(NULL, c->model, &path, &n, err);
	c->context = PM_NONE;
	if (r < 0)
		return r;
	if (n > 0)
		c->context = path[n - 1].context;
	free(path);
	return 0;
}

/* Whether some rows of imbalance.csv lose anything: those of work, those of waiting. */
static int find_losses(struct recipes *c, struct pm_error *err)
{
	const struct pmfs_work *work;
	const uint8_t *categories;
	if (c->threads->n < 2)
		return 0;
	int r = pmfs_works(c->model, &work, err);
	if (r < 0 || (r = pmfs_categories(c->model, &categories, err)) < 0)
		return r;
	for (uint32_t i = 0; i < c->functions->tree->n_contexts; i++)
		c->has_loss[pmfs_is_waiting(categories[i])] |= work[i].max > work[i].mean;
	return 0;
}

static void add_contexts(const struct recipes *c)
{
	if (c->context == PM_NONE)
		return;
	unsigned number = pm_tree_number(c->functions->tree, c->context);
	ask(c, "What is the hot path?");
	pm_text_str(c->out, "$ cat hotpath.txt\n");
	pm_text_printf(c->out,
		"  (its last context is by-id/%u/; see path.txt, metrics/%s%s there)\n", number,
		c->columns->columns[c->columns->first_incl].name,
		pm_profile_has(c->profile, threads) ? ", threads.csv" : "");
}

/* ---- lines ---- */

/* The first of the most expensive lines with a file name that needs no quoting. */
static int add_lines(const struct recipes *c, struct pm_error *err)
{
	const struct pmfs_lines *l;
	if (!c->profile->has_lines)
		return 0;
	int r = pmfs_lines(c->model, &l, err);
	for (uint32_t i = 0; r == 0 && i < l->n; i++) {
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
	return r;
}

/* ---- percentiles ---- */

/* Percentiles come after the metric columns. */
static int add_percentiles(const struct recipes *c, struct pm_error *err)
{
	int timed = pmfs_functions_are_timed(c->model, err);
	if (timed <= 0 || c->functions->n == 0)
		return timed < 0 ? timed : 0;
	ask(c, "Which functions have the highest 99th percentile of a call? (seconds)");
	pm_text_printf(c->out,
		"$ awk -F'\\t' 'NR > 1 { printf \"%%.9f  %%s\\n\", $%u / 1e9, $NF }' functions.tsv "
		"| sort -gr | head\n",
		2 + c->columns->n_shown + c->columns->n_derived + 3);
	return 0;
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
static int add_category(const struct recipes *c, struct pm_error *err)
{
	const struct pmfs_category_sums *s;
	int r = pmfs_category_sums(c->model, &s, err);
	uint32_t own = c->columns->first_excl;
	for (uint32_t i = 0; r == 0 && i < s->n; i++) {
		struct pm_bytes name = pmfs_category_name((enum pmfs_category)s->order[i]);
		double cost = s->cells[(size_t)s->order[i] * c->columns->n + own];
		if (name.len == 0 || s->order[i] == PMFS_IDLE || !(cost > 0))
			continue;
		pm_text_printf(c->out, "  What would the run cost without %.*s?\n", (int)name.len,
			(const char *)name.p);
		pm_text_printf(c->out, "$ head -n 5 ignore/category:%.*s/functions.txt\n",
			(int)name.len, (const char *)name.p);
		r = pmfs_has_several_threads(c->model, 0, err);
		if (r <= 0)
			break;
		r = 0;
		pm_text_printf(c->out, "  Which threads spend most in %.*s?\n", (int)name.len,
			(const char *)name.p);
		pm_text_printf(c->out,
			"$ awk -F, '$(NF - 1) == \"%.*s\"' threads-by-category.csv | sort -t, "
			"-k%u,%ugr | head -n 5\n",
			(int)name.len, (const char *)name.p, c->threads->n_keys + own + 2,
			c->threads->n_keys + own + 2);
		break;
	}
	return r;
}

/* The most expensive library, with what it calls. */
static int add_library(const struct recipes *c, struct pm_error *err)
{
	const struct pmfs_rollup *u;
	if (!c->profile->has_modules)
		return 0;
	int r = pmfs_modules(c->model, &u, err);
	for (uint32_t i = 0; r == 0 && i < u->sums.n; i++) {
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
	return r;
}

static int add_filters(const struct recipes *c, struct pm_error *err)
{
	if (!recipes_have_cost(c) || strcmp(pm_profile_kind_of_tree(c->profile), "edges") == 0)
		return 0;
	int ranked = pmfs_has_ranks(c->model, 0, err),
	    r = ranked < 0 ? ranked : add_category(c, err);
	for (uint32_t row = 0; r == 0 && row < c->functions->n; row++) {
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
	return r < 0 ? r : add_library(c, err);
}

/* Where threads wait for others; that of a GPU and its host alone has no rows, if neither waits. */
static int add_blame(const struct recipes *c, struct pm_error *err)
{
	static const enum pmfs_category waiting[] = {PMFS_OPENMP, PMFS_THREAD, PMFS_IDLE};
	const struct pmfs_category_sums *s;
	bool waits = false;
	int r = pmfs_has_blame(c->model, 0, err);
	uint32_t own = c->columns->first_excl;
	if (r <= 0 || own == PM_NONE || (r = pmfs_category_sums(c->model, &s, err)) < 0)
		return r < 0 ? r : 0;
	for (size_t i = 0; i < sizeof(waiting) / sizeof(*waiting); i++)
		waits |= s->cells[(size_t)waiting[i] * c->columns->n + own] > 0;
	if (waits) {
		ask(c, "What do others run while threads wait? (ns, by kind of waiting)");
		pm_text_str(c->out, "$ head -n 6 blame.csv\n");
	}
	return 0;
}

/* What GPUs run, and when they run nothing. */
static int add_gpus(const struct recipes *c, struct pm_error *err)
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
	int r = 0;
	for (size_t i = 0; r >= 0 && i < sizeof(gpus) / sizeof(*gpus); i++) {
		struct pm_cell cells[16];
		struct pm_rows rows = {.table = NULL};
		struct pm_table table;
		if ((r = gpus[i].has(c->model, 0, err)) <= 0)
			continue;
		r = gpus[i].table(c->model, 0, &table, err);
		if (r == 0 && (r = pm_rows_start(&rows, &table, 0, err)) == 0)
			r = pm_rows_next(&rows, cells, err);
		pm_rows_done(&rows);
		if (r <= 0)
			continue;
		ask(c, gpus[i].question);
		pm_text_printf(c->out, "$ %s\n", gpus[i].command);
	}
	return r < 0 ? r : 0;
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
 * be read: 1, 0 or -ENOMEM.
 */
static int is_idle_at_times(
	const struct recipes *c, uint32_t thread, const uint8_t *categories, struct pm_error *err)
{
	enum { LOOKED_AT = 4096, BATCH = 256 };
	struct pm_sample samples[BATCH];
	int64_t n;
	for (uint64_t at = 0; at < LOOKED_AT; at += (uint64_t)n) {
		n = c->profile->ops->samples(c->profile, thread, at, samples, BATCH, NULL);
		if (n <= 0)
			return pm_is_passing(n) ? pm_error_plain(err, -ENOMEM) : 0;
		for (int64_t i = 0; i < n; i++) {
			uint32_t context = samples[i].context
				? pm_tree_find(c->functions->tree, samples[i].context)
				: PM_NONE;
			if (samples[i].duration_ns != PM_NO_TIME && samples[i].duration_ns > 0 &&
				pmfs_category_of(categories, context, samples[i].context) ==
					PMFS_IDLE)
				return 1;
		}
	}
	return 0;
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
static int add_trace_recipes(const struct recipes *c, struct pm_error *err)
{
	enum { THREADS_LOOKED_AT = 256 };
	uint64_t origin, span_ns = PM_NO_TIME;
	const uint8_t *categories;
	const char *stream = NULL;
	bool idle = false;
	const struct pm_profile *p = c->profile;
	int r = pm_profile_span(p, &origin, &span_ns, err);
	if (r < 0 || span_ns == PM_NO_TIME || span_ns == 0 || !p->ops->samples ||
		p->samples_are_weighed || (r = pmfs_categories(c->model, &categories, err)) < 0)
		return r;
	for (uint32_t i = 0; i < c->threads->n && i < THREADS_LOOKED_AT && !(idle && stream); i++) {
		const struct pm_thread *thread = &c->threads->threads[i];
		const char *path;
		if (!thread->has_trace || thread->n_samples == 0)
			continue;
		if (!stream && pm_time_of(c->threads, i) == PM_TIME_GPUS &&
			(r = pmfs_thread_path(c->model, i, &stream, err)) < 0)
			return r;
		if (idle)
			continue;
		if ((r = is_idle_at_times(c, i, categories, err)) < 0)
			return r;
		idle = r > 0;
		if (idle && (r = pmfs_thread_path(c->model, i, &path, err)) < 0)
			return r;
		if (idle)
			add_idle(c, path, span_ns);
	}
	if (stream)
		add_utilisation(c, stream, span_ns);
	return 0;
}

/* ---- iterations ---- */

/* Such as a name that is not called: in a mount, reading iterations.csv says only EIO. */
static int say_why(
	const struct recipes *c, int status, const struct pm_error *why, struct pm_error *err)
{
	char line[512];
	if (pm_is_passing(status))
		return pm_error_plain(err, status);
	pm_error_line(why, line, sizeof(line));
	pm_text_str(c->out, "  iterations.csv cannot be read: ");
	pm_text_line(c->out, pm_bytes_of(line));
	pm_text_char(c->out, '\n');
	return 0;
}

/* The longest iterations. Where no iteration has a window, there is nothing to show. */
static int add_iteration_recipes(const struct recipes *c, struct pm_error *err)
{
	struct pm_error why = {.offset = PM_NO_OFFSET};
	const struct pmfs_iterations *all;
	uint64_t start, end;
	if (!pmfs_has_iterations(c->model, 0, NULL))
		return 0;
	int r = pmfs_iterations(c->model, &all, &why);
	if (r < 0)
		return say_why(c, r, &why, err);
	bool has_window = false;
	for (uint32_t i = 0; i < all->n && !has_window; i++)
		has_window = pmfs_iteration_window(all, &all->items[i], &start, &end);
	if (!has_window)
		return 0;
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
	return 0;
}

/* ---- all commands ---- */

/*
 * Appends questions, each followed by a line `$ command` that answers it in the root of the mount:
 * the command exits with 0, prints something, and writes no files.
 */
static int add_recipes(struct pmfs_model *m, struct pm_text *out, struct pm_error *err)
{
	struct recipes c = {.model = m, .profile = pmfs_model_profile(m), .out = out};
	const struct pmfs_calls *calls;
	int r;
	if ((r = pmfs_functions(m, &c.functions, err)) < 0 ||
		(r = pmfs_calls(m, &calls, err)) < 0 || (r = pmfs_totals(m, &c.totals, err)) < 0 ||
		(r = pmfs_model_threads(m, &c.threads, err)) < 0)
		return r;
	c.columns = c.functions->columns;
	if ((r = find_hot(&c, err)) < 0 || (r = find_losses(&c, err)) < 0)
		return r;
	ask(&c, "What does the profile show, on one screen?");
	pm_text_str(out, "$ cat summary.txt\n");
	add_functions(&c);
	add_per_call(&c);
	add_callers(&c, calls);
	add_contexts(&c);
	add_thread_recipes(&c);
	if ((r = add_lines(&c, err)) < 0 || (r = add_trace_recipes(&c, err)) < 0 ||
		(r = add_iteration_recipes(&c, err)) < 0 || (r = add_percentiles(&c, err)) < 0 ||
		(r = add_filters(&c, err)) < 0 || (r = add_blame(&c, err)) < 0 ||
		(r = add_gpus(&c, err)) < 0)
		return r;
	if (threads_differ(&c) && c.threads->n_keys > 0 && recipes_have_cost(&c))
		add_sql(&c);
	r = c.profile->ops->recipes ? c.profile->ops->recipes(c.profile, out, err) : 0;
	add_other_run(&c);
	return r;
}

/* ---- the texts ---- */

static void add_entry(struct pm_text *out, const char *names, const char *about)
{
	pm_text_printf(out, "  %-23s %s\n", names, about);
}

/* ---- the entries ---- */

/* The views of the root, on a line those that share a sentence. */
static int add_views(struct pm_text *out, struct pmfs_model *m, struct pm_error *err)
{
	char names[128] = "";
	const char *about = NULL;
	uint32_t n;
	const struct pmfs_view *views = pmfs_views(PMFS_PLACE_ROOT, &n);
	for (uint32_t i = 0; i < n; i++) {
		const struct pmfs_view *view = &views[i];
		int present = view->present ? view->present(m, 0, err) : 1;
		if (present < 0)
			return present;
		if (view->about && *names)
			add_entry(out, names, about);
		if (view->about)
			*names = '\0';
		about = view->about ? view->about : about;
		size_t len = strlen(names);
		if (present > 0 && view->form != PM_DOC_TSV)
			snprintf(names + len, sizeof(names) - len, "%s%s", len ? " " : "",
				view->name);
	}
	if (*names)
		add_entry(out, names, about);
	add_entry(out, "X.parquet X.tsv",
		"X.csv as Parquet; functions, lines … with tabs. By name, not listed.");
	return 0;
}

static int add_source(struct pm_text *out, struct pmfs_model *m, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	const struct pm_source *sources;
	size_t n = 0;
	int r = pm_profile_sources(p, &sources, &n, err);
	if (r >= 0 && n > 0)
		add_entry(out, "source/",
			p->has_lines
				? "The program's source code; FILE.annotated.txt has the cost of each line."
				: "The program's source code.");
	return r < 0 ? r : 0;
}

static int add_raw(struct pm_text *out, const struct pm_profile *p, struct pm_error *err)
{
	const struct pm_named_doc *docs;
	size_t n = 0;
	bool has_raw = false;
	int r = pm_profile_documents(p, &docs, &n, err);
	for (size_t i = 0; r >= 0 && i < n; i++)
		has_raw = has_raw || strncmp(docs[i].path, "raw/", 4) == 0;
	if (has_raw)
		add_entry(out, "raw/", "The format's own tables, uninterpreted.");
	return r < 0 ? r : 0;
}

static int add_folders(struct pm_text *out, struct pmfs_model *m, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	if (!pmfs_model_listing(m).lean) {
		add_entry(out, "contexts/",
			"The calling-context tree as directories, most expensive first.");
		add_entry(out, "by-id/", "The same contexts, by context_id.");
		add_entry(out, "functions/",
			"One directory per function: costs, callers, callees, contexts.");
	}
	if (pm_profile_has(p, threads))
		add_entry(out, "threads/",
			"One directory per thread, key=value: profile, values, trace, flat profile.");
	int traced = pm_profile_has(p, threads) ? pmfs_some_thread_has_trace(m, 0, err)
						: pm_profile_has(p, traces);
	if (traced < 0)
		return traced;
	bool has_paths = strcmp(pm_profile_kind_of_tree(p), "edges") != 0;
	add_entry(out, "focus/ ignore/",
		has_paths
			? "The same with or without some functions: focus/PATTERN; also hide/, from/."
			: "Filters, which need call paths: this source has costs by call edge.");
	if (traced)
		add_entry(out, "windows/",
			"Parts of the run in time, by name: windows/START-END (see its README.txt).");
	add_entry(
		out, "export/", "The same profile in the formats of other tools, and as pictures.");
	int r = add_source(out, m, err);
	return r < 0 ? r : add_raw(out, p, err);
}

/* ---- what numbers mean ---- */

/* The primary quantity; NULL where there is none. */
static int find_lead(struct pmfs_model *m, const char **lead, struct pm_error *err)
{
	const struct pmfs_columns *c;
	int r = pmfs_model_columns(m, &c, err);
	*lead = r == 0 ? c->lead : NULL;
	return r;
}

static int add_meanings(struct pm_text *out, struct pmfs_model *m, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	int several = pmfs_has_several_threads(m, 0, err);
	if (several < 0)
		return several;
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
	return 0;
}

/* The most frequent question. Costs that cannot be read say why elsewhere. */
static int add_missing(struct pm_text *out, struct pmfs_model *m, struct pm_error *err)
{
	struct pm_error why = {.offset = PM_NO_OFFSET};
	const struct pmfs_missings *all;
	if (!pm_profile_has(pmfs_model_profile(m), missing))
		return 0;
	int r = pmfs_missings(m, &all, &why);
	if (pm_is_passing(r))
		return pm_error_set(err, r, why.file, why.offset, "%s", why.text);
	if (r < 0 || !(all->cost > 0) || !pmfs_is_cost(all->cost, all->whole))
		return 0;
	pm_text_str(out, "  ");
	pmfs_print_share(out, all->cost, all->whole);
	pm_text_printf(out, " of the cost has no names: missing-symbols.csv says why%s%s.\n",
		all->advice ? ";\n  " : "", all->advice ? all->advice : "");
	return 0;
}

static void add_exports(struct pm_text *out)
{
	pm_text_printf(out,
		"\nExports\n"
		"  Costs are rounded to whole numbers and times converted to ns. Viewers fail on very\n"
		"  large files, so flamegraph.svg is limited to %d frames, callgraph.dot to %d functions,\n"
		"  trace.json to %d slices and profile.speedscope.json to %d threads. Each file states\n"
		"  what it omits.\n",
		PM_LIMIT_SVG_RECTS, PM_LIMIT_DOT_NODES, PM_LIMIT_TRACE_SLICES,
		PM_LIMIT_SPEEDSCOPE_THREADS);
}

/* The rest of the page is still useful if the contexts cannot be read. */
static int add_commands(struct pmfs_model *m, struct pm_text *out, struct pm_error *err)
{
	struct pm_error why = {.offset = PM_NO_OFFSET};
	int r = add_recipes(m, out, &why);
	if (r == -ENOTSUP) {
		pm_text_printf(out, "  none: %s\n", why.text);
		return 0;
	}
	return r < 0 ? pm_error_set(err, r, why.file, why.offset, "%s", why.text) : 0;
}

/* Without calls there are no functions, nor a call path; of call edges there may be statements. */
static int add_beginning(struct pm_text *out, struct pmfs_model *m, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	struct pm_error why = {.offset = PM_NO_OFFSET};
	const struct pm_tree *tree = NULL;
	bool edges = strcmp(pm_profile_kind_of_tree(p), "edges") == 0;
	int r = pmfs_model_tree(m, &tree, &why);
	if (pm_is_passing(r))
		return pm_error_set(err, r, why.file, why.offset, "%s", why.text);
	pm_text_str(out,
		"\n\nTo begin with (or open report.html in a browser)\n"
		"$ cat summary.txt\n");
	if (r < 0 || tree->n_contexts > 0)
		pm_text_str(out, "$ head -n 30 functions.txt\n$ cat hotpath.txt\n");
	else if (edges && p->has_lines)
		pm_text_str(out, "$ head lines.csv\n");
	return 0;
}

int pmfs_readme_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(doc->text.self);
	const struct pm_profile *p = pmfs_model_profile(m);
	struct pm_bytes title = pm_bytes_of("A performance profile");
	const char *lead = NULL;
	int r = pmfs_model_unfiltered(m) ? pm_profile_title(p, &title, err) : 0;
	pmfs_add_cut(out, title, PMFS_SCREEN_WIDTH - 45);
	pm_text_str(out, " as files, mounted read-only by profmount.\n  ");
	pm_text_line(out, pm_bytes_of(p->source));
	pm_text_printf(out, " (%s", p->format);
	if (p->layout)
		pm_text_printf(out, ", %s", p->layout);
	pm_text_char(out, ')');
	if (r == 0)
		r = add_beginning(out, m, err);
	if (r == 0)
		r = find_lead(m, &lead, err);
	if (r == 0 && lead)
		pm_text_printf(
			out, "Tables and pictures are by %s (-o metric=NAME: by another).\n", lead);
	pm_text_str(out, "\nEntries\n");
	if (r == 0)
		r = add_views(out, m, err);
	if (r == 0)
		r = add_folders(out, m, err);
	if (r < 0)
		return r;
	for (const struct pm_note *note = p->notes; note && note->name; note++)
		add_entry(out, note->name, note->text);
	return pm_text_status(out);
}

int pmfs_recipes_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(doc->text.self);
	pm_text_str(out,
		"Commands (run them in this directory; a copy has .tsv files if it was made with -o tsv,\n"
		"and no filters: ignore/, from/)\n");
	int r = add_commands(m, out, err);
	if (r < 0)
		return r;
	pm_text_str(out, "\nNumbers\n");
	const char *lead;
	if ((r = find_lead(m, &lead, err)) < 0)
		return r;
	if (lead)
		pm_text_printf(out,
			"  %s is the primary quantity. Its columns come first, contexts, functions, lines and\n"
			"  callers are sorted by it, and pictures and the commands above use it. Choose another\n"
			"  with -o metric=NAME (see metrics.csv). summary.txt has the total of each quantity.\n",
			lead);
	if ((r = add_meanings(out, m, err)) < 0 || (r = add_missing(out, m, err)) < 0)
		return r;
	add_exports(out);
	pm_text_str(out,
		"\nIf the profile is still being written, this mount shows it as of mount time. Remount to\n"
		"see more, or mount with -o follow to keep up with it.\n");
	return pm_text_status(out);
}
