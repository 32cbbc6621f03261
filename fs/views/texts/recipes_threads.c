/* Commands of recipes.txt about threads: the most expensive, imbalance, costs by thread in SQL. */
#include "fs/views/texts/recipes_private.h"

/* Several threads have costs of the primary quantity. */
static bool threads_differ(const struct pmfs_recipes *c)
{
	uint32_t column = pmfs_leading_column(c->columns);
	return c->threads->n > 1 && column != PM_NONE && c->totals->of[column] != 0;
}

static void add_threads(const struct pmfs_recipes *c)
{
	unsigned column = c->threads->n_keys + pmfs_leading_column(c->columns) + 2;
	pmfs_ask(c, "Which threads are the most expensive?");
	pm_text_printf(c->out,
		"$ (head -n 1 threads.csv; tail -n +2 threads.csv | sort -t, -k%u,%ugr | head -n 5)\n",
		column, column);
}

/* Of calls that lose the same on one thread, the deepest: a chain is shown once. */
static void add_imbalance(const struct pmfs_recipes *c, bool waiting)
{
	unsigned threads = 2 + 4 * c->columns->n; /* the column */
	pmfs_ask(c,
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
static void add_sql(const struct pmfs_recipes *c)
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

void pmfs_add_thread_recipes(const struct pmfs_recipes *c)
{
	if (!threads_differ(c))
		return;
	add_threads(c);
	for (int waiting = 0; waiting < 2; waiting++)
		if (c->has_loss[waiting])
			add_imbalance(c, waiting);
}

void pmfs_add_sql_recipe(const struct pmfs_recipes *c)
{
	if (threads_differ(c) && c->threads->n_keys > 0 && pmfs_recipes_have_cost(c))
		add_sql(c);
}
