/*
 * The commands of README.txt. Each is built for this profile: its subject is picked from the
 * most expensive entries, and a command whose output would be empty is left out. Names come from
 * the measured program: only those that need no quoting inside '…"…"…' are used. Column numbers are
 * those of this profile's tables.
 */
#include "fs/views/texts/recipes.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/utf8.h"
#include "fs/views/model/categories.h"
#include "fs/views/model/flat.h"
#include "fs/views/sums/callers.h"
#include "fs/views/sums/functions.h"
#include "fs/views/sums/hotpath.h"
#include "fs/views/sums/iterations.h"
#include "fs/views/sums/lines.h"
#include "fs/views/sums/totals.h"

/* What the commands are made of. PM_NONE: there is no such thing here. */
struct recipes {
	struct pmfs_model *model;
	const struct pm_profile *profile;
	const struct pmfs_functions *functions;
	const struct pmfs_columns *columns;
	const struct pm_threads *threads;
	struct pm_text *out;
	const struct pmfs_totals *wholes;
	uint32_t context; /* the deepest of the hot path */
};

/* Plain enough to stand between single quotes, and short enough to be read. */
static bool can_be_typed(struct pm_bytes name)
{
	if (name.len == 0 || name.len > 80 || !pm_utf8_valid(name))
		return false;
	for (size_t i = 0; i < name.len; i++)
		if (name.p[i] < 0x20 || name.p[i] == 0x7f || strchr("'\"\\", name.p[i]))
			return false;
	return true;
}

static void ask(const struct recipes *c, const char *question)
{
	pm_text_printf(c->out, "  %s\n", question);
}

/* Whether there are exclusive costs, which are then in $3 of functions.tsv. */
static bool has_cost(const struct recipes *c)
{
	return c->columns->first_excl != PM_NONE && c->functions->n > 0 &&
		pmfs_function_cell(c->functions, 0, c->columns->first_excl) > 0;
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
	if (!has_cost(c))
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
		ask(c, "What calls this function, how often, and at what cost?");
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
	if (calls == PM_NONE || calls == cost || !has_cost(c) || !some_function_has(c, calls, cost))
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
	int r = pmfs_hotpath(c->model, &path, &n, err);
	c->context = PM_NONE;
	if (r < 0)
		return r;
	if (n > 0)
		c->context = path[n - 1].context;
	free(path);
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
		c->profile->ops->threads ? ", threads.csv" : "");
}

/* Several threads have costs of the primary quantity. */
static bool threads_differ(const struct recipes *c)
{
	uint32_t column = pmfs_leading_column(c->columns);
	return c->threads->n > 1 && column != PM_NONE && c->wholes->of[column] != 0;
}

static void add_threads(const struct recipes *c)
{
	if (!threads_differ(c))
		return;
	unsigned column = c->threads->n_keys + pmfs_leading_column(c->columns) + 2;
	ask(c, "Which threads are the most expensive?");
	pm_text_printf(c->out,
		"$ (head -n 1 threads.csv; tail -n +2 threads.csv | sort -t, -k%u,%ugr | head -n 5)\n",
		column, column);
}

static void add_imbalance(const struct recipes *c)
{
	if (!threads_differ(c))
		return;
	unsigned column = 4 + 4 * c->columns->n;
	ask(c, "Where does load imbalance cost the most? (max - mean, slowest thread, name)");
	pm_text_printf(c->out,
		"$ tail -n +2 imbalance.csv | cut -d, -f%u- | sort -t, -k1,1gr | head\n", column);
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

/* ---- traces ---- */

/*
 * Whether there is an idle row with a duration among the first rows of the thread's trace. 1 or 0.
 */
static int is_idle_at_times(
	const struct recipes *c, uint32_t thread, const uint8_t *categories, struct pm_error *err)
{
	enum { LOOKED_AT = 4096, BATCH = 256 };
	struct pm_sample samples[BATCH];
	for (uint64_t at = 0; at < LOOKED_AT; at += BATCH) {
		int64_t n = c->profile->ops->samples(c->profile, thread, at, samples, BATCH, err);
		if (n <= 0)
			return (int)n;
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

static bool is_gpu(const struct recipes *c, uint32_t thread)
{
	const struct pm_thread *t = &c->threads->threads[thread];
	for (uint32_t i = 0; i < t->n_identity; i++)
		if (strncmp(c->threads->keys[t->identity[i].key], "gpu", 3) == 0)
			return true;
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

static void add_utilisation(const struct recipes *c, uint64_t span_ns)
{
	ask(c, "What share of the run was each GPU stream busy?");
	pm_text_printf(c->out,
		"$ find threads -path '*gpu*' -name trace.tsv | xargs awk -F'\\t' 'FNR > 1 { b[FILENAME] += "
		"$%u == \"idle\" ? 0 : $2 } END { for (f in b) printf \"%%.2f%%%%  %%s\\n\", "
		"100 * b[f] / %llu, f }' | sort -gr | head\n",
		c->profile->traces_are_calls ? 8 : 6, (unsigned long long)span_ns);
}

static int add_traces(const struct recipes *c, struct pm_error *err)
{
	enum { THREADS_LOOKED_AT = 256 };
	uint64_t origin, span_ns = PM_NO_TIME;
	const uint8_t *categories;
	bool idle = false, gpu = false;
	const struct pm_profile *p = c->profile;
	int r = p->ops->span ? p->ops->span(p, &origin, &span_ns, err) : 0;
	if (r < 0 || span_ns == PM_NO_TIME || span_ns == 0 || !p->ops->samples ||
		(r = pmfs_categories(c->model, &categories, err)) < 0)
		return r;
	for (uint32_t i = 0; i < c->threads->n && i < THREADS_LOOKED_AT && !(idle && gpu); i++) {
		const struct pm_thread *thread = &c->threads->threads[i];
		const char *path;
		if (!thread->has_trace || thread->n_samples == 0)
			continue;
		gpu |= is_gpu(c, i);
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
	if (gpu)
		add_utilisation(c, span_ns);
	return 0;
}

/* ---- percentiles, iterations ---- */

/* Percentiles stand behind the metric columns. */
static void add_percentiles(const struct recipes *c)
{
	if (!c->profile->ops->call_times || c->functions->n == 0)
		return;
	ask(c, "Which functions have the highest 99th percentile of a call? (seconds)");
	pm_text_printf(c->out,
		"$ awk -F'\\t' 'NR > 1 { printf \"%%.9f  %%s\\n\", $%u / 1e9, $NF }' functions.tsv "
		"| sort -gr | head\n",
		2 + c->columns->n + 3);
}

/* Where the name that was asked for is not called, or takes no time, there is nothing to show. */
static int add_iterations(const struct recipes *c, struct pm_error *err)
{
	const struct pmfs_iterations *all;
	uint64_t origin, run_ns, end;
	if (!pmfs_has_iterations(c->model, 0, NULL))
		return 0;
	int r = pmfs_iterations(c->model, &all, NULL);
	if (r == 0)
		r = c->profile->ops->span(c->profile, &origin, &run_ns, NULL);
	bool has_window = false;
	for (uint32_t i = 0; r == 0 && i < all->n && !has_window; i++)
		has_window = pmfs_iteration_has_window(&all->items[i], run_ns, &end);
	if (!has_window)
		return r == -ENOMEM ? pm_error_plain(err, r) : 0;
	ask(c, "Which ten iterations took longest, and what ran in the longest?");
	pm_text_str(c->out,
		"$ tail -n +2 iterations.csv | sort -t, -k3,3gr | head\n"
		"$ head -n 6 \"$(grep 's$' iterations.csv | sort -t, -k3,3gr | head -n 1 | "
		"sed 's/.*,//')/functions.tsv\"\n");
	return 0;
}

/* ---- threads ---- */

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
	if (!threads_differ(c) || c->threads->n_keys == 0 || !has_cost(c))
		return;
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

static void add_other_run(const struct recipes *c)
{
	if (!has_cost(c))
		return;
	pm_text_printf(c->out,
		"  What changed since another run? Mount that run at OTHER and compare by name (ids are\n"
		"  only valid within one run):\n"
		"  awk -F'\\t' 'FNR > 1 { d[$NF] += NR == FNR ? -$%u : $%u } END { for (f in d) print d[f], f }'"
		" \\\n      OTHER/functions.tsv functions.tsv | sort -gr | head\n",
		c->columns->first_excl + 3, c->columns->first_excl + 3);
}

int pmfs_add_recipes(struct pmfs_model *m, struct pm_text *out, struct pm_error *err)
{
	struct recipes c = {.model = m, .profile = pmfs_model_profile(m), .out = out};
	const struct pmfs_calls *calls;
	int r;
	if ((r = pmfs_functions(m, &c.functions, err)) < 0 ||
		(r = pmfs_calls(m, &calls, err)) < 0 || (r = pmfs_totals(m, &c.wholes, err)) < 0 ||
		(r = pmfs_model_threads(m, &c.threads, err)) < 0)
		return r;
	c.columns = c.functions->columns;
	if ((r = find_hot(&c, err)) < 0)
		return r;
	ask(&c, "What does the profile show, on one screen?");
	pm_text_str(out, "$ cat summary.txt\n");
	add_functions(&c);
	add_per_call(&c);
	add_callers(&c, calls);
	add_contexts(&c);
	add_threads(&c);
	add_imbalance(&c);
	if ((r = add_lines(&c, err)) < 0 || (r = add_traces(&c, err)) < 0 ||
		(r = add_iterations(&c, err)) < 0)
		return r;
	add_percentiles(&c);
	add_sql(&c);
	r = c.profile->ops->recipes ? c.profile->ops->recipes(c.profile, out, err) : 0;
	add_other_run(&c);
	return r;
}
