/*
 * Uses a profile as all views together do. What comes back is looked at just enough that a
 * sanitizer sees every byte; errors are as good as values.
 */
#include "tests/hpctoolkit/fixtures.h"

#include <stdlib.h>

enum { ROOM = 16, MOST = 20000 };

/* Reads every byte, which a compiler must not leave out. */
static void touch_text(struct pm_bytes b)
{
	uint8_t all = 0;
	for (size_t i = 0; i < b.len; i++)
		all ^= b.p[i];
	__asm__ volatile("" : : "r"(all));
}

static void use_values(const struct pm_profile *p, struct pm_values_of of)
{
	struct pm_value values[ROOM];
	uint64_t first = 0;
	int64_t n;
	while (first < MOST && (n = p->ops->values(p, of, first, values, ROOM, NULL)) > 0)
		first += (uint64_t)n;
	p->ops->values(p, of, UINT64_MAX, values, ROOM, NULL);
}

static void use_table(const struct pm_table *table)
{
	struct pm_cell *cells = calloc(table->n_columns, sizeof(*cells));
	struct pm_rows rows;
	uint64_t n = 0;
	if (cells && pm_rows_start(&rows, table, 0, NULL) == 0)
		while (n++ < MOST && pm_rows_next(&rows, cells, NULL) > 0)
			for (uint32_t i = 0; i < table->n_columns; i++)
				if (cells[i].kind == PM_CELL_TEXT)
					touch_text(cells[i].text);
	if (cells)
		pm_rows_done(&rows);
	free(cells);
}

static void use_documents(const struct pm_profile *p)
{
	const struct pm_named_doc *docs;
	const struct pm_source *sources;
	const struct pm_damages *damages;
	size_t n;
	if (pm_profile_documents(p, &docs, &n, NULL) == 0)
		for (size_t i = 0; i < n; i++)
			if (docs[i].doc.kind == PM_DOC_CSV)
				use_table(&docs[i].doc.table);
	if (pm_profile_sources(p, &sources, &n, NULL) == 0)
		for (size_t i = 0; i < n; i++)
			touch_text(sources[i].file);
	if (pm_profile_damage(p, &damages, NULL) == 0)
		for (size_t i = 0; i < damages->n; i++)
			touch_text(pm_bytes_of(damages->rows[i].what));
}

static void use_thread(const struct pm_profile *p, uint32_t thread)
{
	struct pm_thread_counts counts;
	struct pm_sample samples[ROOM];
	uint64_t first = 0;
	int64_t n;
	p->ops->thread_counts(p, thread, &counts, NULL);
	use_values(p, (struct pm_values_of){PM_OF_THREAD, thread, false});
	while (first < MOST && (n = p->ops->samples(p, thread, first, samples, ROOM, NULL)) > 0)
		first += (uint64_t)n;
}

static void use_tree(const struct pm_profile *p, size_t n_metrics)
{
	const struct pm_tree *tree;
	struct pm_value *values = calloc(n_metrics + 1, sizeof(*values));
	if (!values || pm_profile_tree(p, &tree, NULL) < 0) {
		free(values);
		return;
	}
	for (uint32_t i = 0; i < tree->n_contexts && i < MOST; i++) {
		const struct pm_frame *frame = pm_tree_frame(tree, i);
		touch_text(tree->texts[frame->name]);
		touch_text(tree->texts[frame->file]);
		touch_text(tree->texts[frame->module]);
		p->ops->run_costs(p, i, values, n_metrics, NULL);
		use_values(p, (struct pm_values_of){PM_OF_CONTEXT, i, false});
	}
	free(values);
}

void fixture_exercise(const struct pm_profile *p)
{
	const struct pm_metrics *metrics;
	const struct pm_threads *threads;
	const struct pm_fact *facts;
	uint64_t origin, duration;
	size_t n;
	if (pm_profile_metrics(p, &metrics, NULL) == 0) {
		for (uint32_t i = 0; i < metrics->n; i++)
			touch_text(metrics->metrics[i].scope);
		use_tree(p, metrics->n);
	}
	if (pm_profile_threads(p, &threads, NULL) == 0)
		for (uint32_t i = 0; i < threads->n && i < MOST; i++)
			use_thread(p, i);
	if (pm_profile_facts(p, &facts, &n, NULL) == 0)
		for (size_t i = 0; i < n; i++)
			touch_text(facts[i].value.text);
	pm_profile_span(p, &origin, &duration, NULL);
	touch_text(p->title);
	use_documents(p);
}
