/*
 * The commands of README.txt. Names come from the measured program: only those that need no
 * quoting inside '…' are used. Column numbers are those of this profile's tables.
 */
#include "fs/views/recipes.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/utf8.h"
#include "fs/views/callers.h"
#include "fs/views/functions.h"
#include "fs/views/hotpath.h"
#include "fs/views/lines.h"

/* What the commands are made of. PM_NONE: there is no such thing here. */
struct recipes {
	struct pmfs_model *model;
	const struct pm_profile *profile;
	const struct pmfs_functions *functions;
	const struct pmfs_columns *columns;
	const struct pm_threads *threads;
	struct pm_text *out;
	uint32_t row;     /* the function with most cost whose name can be typed */
	uint32_t context; /* the deepest of the hot path */
};

/* Plain enough to stand between single quotes, and short enough to be read. */
static bool can_be_typed(struct pm_bytes name)
{
	if (name.len == 0 || name.len > 80 || !pm_utf8_valid(name))
		return false;
	for (size_t i = 0; i < name.len; i++)
		if (name.p[i] < 0x20 || name.p[i] == 0x7f || name.p[i] == '\'')
			return false;
	return true;
}

static void ask(const struct recipes *c, const char *question)
{
	pm_text_printf(c->out, "  %s\n", question);
}

/* What makes a number readable that awk would else print with an exponent: seconds for times. */
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

/* ---- functions ---- */

static void add_functions(const struct recipes *c)
{
	uint32_t column = c->columns->first_excl != PM_NONE ? c->columns->first_excl : 0;
	if (c->functions->n == 0 || c->columns->n == 0)
		return;
	ask(c, "Which functions cost most by themselves? (times in seconds)");
	pm_text_printf(c->out,
		"$ head -n 11 functions.tsv | awk -F'\\t' 'NR > 1 { printf \"%%.6f  %%s\\n\", $%u%s, "
		"$NF }'\n",
		column + 3, divisor_of(&c->columns->columns[column]));
}

static void add_callers(const struct recipes *c, const struct pmfs_calls *calls)
{
	if (c->row == PM_NONE)
		return;
	struct pm_bytes name = pmfs_function_name(c->functions, c->row);
	uint32_t function = c->functions->function[c->row];
	if (calls->callee_first[function] == calls->callee_first[function + 1])
		return;
	ask(c, "Who calls this function, how often, at what cost?");
	pm_text_printf(c->out,
		"$ (head -n 1 callers.tsv; grep -F -e '%.*s' callers.tsv | head -n 5)\n",
		(int)name.len, (const char *)name.p);
}

/* Cost per call, where calls are counted. */
static void add_per_call(const struct recipes *c)
{
	uint32_t cost = c->columns->first_excl;
	if (c->columns->calls == PM_NONE || cost == PM_NONE || c->functions->n == 0)
		return;
	ask(c, "Which functions are slowest per call?");
	pm_text_printf(c->out,
		"$ awk -F'\\t' 'NR > 1 && $%u > 0 { printf \"%%.9f  %%s\\n\", $%u / $%u%s, $NF }' "
		"functions.tsv | sort -gr | head\n",
		c->columns->calls + 3, cost + 3, c->columns->calls + 3,
		divisor_of(&c->columns->columns[cost]));
}

/* ---- contexts ---- */

static int find_hot(struct recipes *c, struct pm_error *err)
{
	struct pmfs_hot *path;
	uint32_t n;
	double whole;
	int r = pmfs_hotpath(c->model, &path, &n, &whole, err);
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
	pm_text_printf(c->out, "  (its last context is by-id/%u/: path.txt, metrics/%s%s)\n",
		number, c->columns->columns[c->columns->first_incl].name,
		c->profile->ops->threads ? ", threads.csv" : "");
}

static void add_threads(const struct recipes *c)
{
	unsigned column = c->threads->n_keys + c->columns->first_incl + 2;
	if (c->threads->n == 0 || c->columns->first_incl == PM_NONE)
		return;
	ask(c, "Which threads cost most?");
	pm_text_printf(c->out,
		"$ (head -n 1 threads.csv; sort -t, -k%u,%ugr threads.csv | head -n 5)\n", column,
		column);
}

static void add_imbalance(const struct recipes *c)
{
	if (c->threads->n < 2 || c->columns->first_incl == PM_NONE)
		return;
	unsigned column = 4 + 4 * c->columns->n;
	ask(c, "Where is most lost because threads differ? (max - mean, slowest thread, name)");
	pm_text_printf(c->out, "$ cut -d, -f%u- imbalance.csv | sort -t, -k1,1gr | head\n", column);
}

/* ---- lines ---- */

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
		ask(c, "Which lines of this file cost most?");
		pm_text_printf(c->out,
			"$ (head -n 1 lines.tsv; grep -F -e '%.*s' lines.tsv | head -n 5)\n",
			(int)file.len, (const char *)file.p);
		break;
	}
	return r;
}

/* ---- threads ---- */

static int add_trace(const struct recipes *c, struct pm_error *err)
{
	const char *path;
	if (c->profile->traces_are_calls)
		return 0;
	for (uint32_t i = 0; i < c->threads->n; i++) {
		if (!c->threads->threads[i].has_trace || c->threads->threads[i].n_samples == 0)
			continue;
		int r = pmfs_thread_path(c->model, i, &path, err);
		if (r < 0)
			return r;
		ask(c, "How long did this thread do nothing?");
		pm_text_printf(c->out,
			"$ awk -F, '$4 == \"0\" { s += $2 } END { printf \"%%.6f s\\n\", s / 1e9 }' "
			"%s/trace.csv\n",
			path);
		return 0;
	}
	return 0;
}

/* The first thread that has values. */
static uint32_t thread_with_values(const struct recipes *c)
{
	const struct pm_profile *p = c->profile;
	struct pm_thread_counts counts;
	for (uint32_t i = 0; p->ops->thread_counts && i < c->threads->n; i++)
		if (p->ops->thread_counts(p, i, &counts, NULL) == 0 && counts.values > 0)
			return i;
	return 0;
}

/* The paths of threads with the same keys: stars in the place of values. */
static void put_pattern(struct pm_text *out, const char *path)
{
	for (; *path; path++) {
		pm_text_char(out, *path);
		if (*path == '=') {
			pm_text_char(out, '*');
			path += strcspn(path, "/") - 1;
		}
	}
}

/*
 * By the rank, which every parallel program has, else by the first key. SQL engines refuse files
 * of different keys, such as threads and GPU streams.
 */
static int add_sql(const struct recipes *c, struct pm_error *err)
{
	uint32_t cost = c->columns->first_excl;
	const char *path;
	if (c->threads->n < 2 || c->threads->n_keys == 0 || cost == PM_NONE)
		return 0;
	int r = pmfs_thread_path(c->model, thread_with_values(c), &path, err);
	if (r < 0)
		return r;
	const char *rank = strstr(path, "/rank="), *key = (rank ? rank : strchr(path, '/')) + 1;
	ask(c, "What does each of them cost? (SQL, nothing to import)");
	pm_text_printf(c->out, "$ duckdb -c \"select %.*s, sum(%s) from read_csv('",
		(int)strcspn(key, "="), key, c->columns->columns[cost].name);
	put_pattern(c->out, path);
	pm_text_str(c->out,
		"/profile.csv', union_by_name = true) "
		"where kind not in ('loop', 'line') group by 1 order by 1\"\n");
	return 0;
}

int pmfs_add_recipes(struct pmfs_model *m, struct pm_text *out, struct pm_error *err)
{
	struct recipes c = {
		.model = m, .profile = pmfs_model_profile(m), .out = out, .row = PM_NONE};
	const struct pmfs_calls *calls;
	int r;
	if ((r = pmfs_functions(m, &c.functions, err)) < 0 ||
		(r = pmfs_calls(m, &calls, err)) < 0 ||
		(r = pmfs_model_threads(m, &c.threads, err)) < 0)
		return r;
	c.columns = c.functions->columns;
	for (uint32_t row = 0; row < c.functions->n && c.row == PM_NONE; row++)
		if (can_be_typed(pmfs_function_name(c.functions, row)))
			c.row = row;
	if ((r = find_hot(&c, err)) < 0)
		return r;
	ask(&c, "What is this, in one screen?");
	pm_text_str(out, "$ cat summary.txt\n");
	add_functions(&c);
	add_per_call(&c);
	add_callers(&c, calls);
	add_contexts(&c);
	add_threads(&c);
	add_imbalance(&c);
	if ((r = add_lines(&c, err)) < 0 || (r = add_trace(&c, err)) < 0 ||
		(r = add_sql(&c, err)) < 0)
		return r;
	r = c.profile->ops->recipes ? c.profile->ops->recipes(c.profile, out, err) : 0;
	pm_text_str(out,
		"  What changed since another run? Mount both; names hold no ids, so\n"
		"  diff -r OTHER/functions functions  and  diff OTHER/functions.tsv functions.tsv  tell.\n");
	return r;
}
