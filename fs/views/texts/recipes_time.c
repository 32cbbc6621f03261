/* Commands of recipes.txt about time: idle threads, busy GPUs, iterations. */
#include "fs/views/model/categories.h"
#include "fs/views/sums/iterations.h"
#include "fs/views/texts/recipes_private.h"

/* ---- traces ---- */

/*
 * Whether there is an idle row with a duration among the first rows of the thread's trace that can
 * be read: 1, 0 or -ENOMEM.
 */
static int is_idle_at_times(const struct pmfs_recipes *c, uint32_t thread,
	const uint8_t *categories, struct pm_error *err)
{
	enum { LOOKED_AT = 4096, BATCH = 256 };
	struct pm_sample samples[BATCH];
	int64_t n;
	for (uint64_t at = 0; at < LOOKED_AT; at += (uint64_t)n) {
		n = c->profile->ops->samples(c->profile, thread, at, samples, BATCH, NULL);
		if (n <= 0)
			return n == -ENOMEM ? pm_error_plain(err, -ENOMEM) : 0;
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

static void add_idle(const struct pmfs_recipes *c, const char *path, uint64_t span_ns)
{
	pmfs_ask(c, "How long was this thread idle, and what share of the run is that?");
	pm_text_printf(c->out,
		"$ awk -F, '$%u == \"idle\" { s += $2 } END { printf \"%%.6f s, %%.2f%%%%\\n\", s / 1e9, "
		"100 * s / %llu }' %s/trace.csv\n",
		c->profile->traces_are_calls ? 8 : 6, (unsigned long long)span_ns, path);
}

/* Of all streams, if their directories say that they are such, else of one. Calls nest. */
static void add_utilisation(const struct pmfs_recipes *c, const char *path, uint64_t span_ns)
{
	bool calls = c->profile->traces_are_calls, all = strstr(path, "gpu");
	pmfs_ask(c,
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

int pmfs_add_trace_recipes(const struct pmfs_recipes *c, struct pm_error *err)
{
	enum { THREADS_LOOKED_AT = 256 };
	uint64_t origin, span_ns = PM_NO_TIME;
	const uint8_t *categories;
	const char *stream = NULL;
	bool idle = false;
	const struct pm_profile *p = c->profile;
	int r = p->ops->span ? p->ops->span(p, &origin, &span_ns, err) : 0;
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
	const struct pmfs_recipes *c, int status, const struct pm_error *why, struct pm_error *err)
{
	char line[512];
	if (status == -ENOMEM)
		return pm_error_plain(err, status);
	pm_error_line(why, line, sizeof(line));
	pm_text_str(c->out, "  iterations.csv cannot be read: ");
	pm_text_line(c->out, pm_bytes_of(line));
	pm_text_char(c->out, '\n');
	return 0;
}

/* Where no iteration has a window, there is nothing to show. */
int pmfs_add_iteration_recipes(const struct pmfs_recipes *c, struct pm_error *err)
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
	bool of_thread = c->profile->ops->threads != NULL;
	pmfs_ask(c,
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
