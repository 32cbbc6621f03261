/* Uses a profile as views do, and touches all results so that sanitizers check them. */
#include "tests/nytprof/exercise.h"

#include <stdlib.h>

#include "formats/nytprof/nytprof.h"

static void touch(struct pm_bytes b)
{
	volatile uint8_t sink = 0;
	for (size_t i = 0; i < b.len; i++)
		sink = sink ^ b.p[i];
}

static void use_table(const struct pm_table *table)
{
	struct pm_cell cells[16];
	struct pm_rows rows;
	if (pm_rows_start(&rows, table, 0, NULL) == 0)
		while (pm_rows_next(&rows, cells, NULL) > 0)
			for (uint32_t i = 0; i < table->n_columns; i++)
				if (cells[i].kind == PM_CELL_TEXT)
					touch(cells[i].text);
	pm_rows_done(&rows);
}

static void use_tables(struct nytp *n)
{
	struct nytp_docs docs;
	if (nytp_tables_make(&n->arena, n, &n->files[0], true, &docs) < 0)
		abort();
	for (size_t i = 0; i < docs.n; i++)
		use_table(&docs.docs[i].doc.table);
}

static void use_model(const struct nytp *n)
{
	struct nytp_threads threads = {.threads = NULL};
	struct nytp_model model = {.tree = NULL};
	struct pm_value values[16];
	if (nytp_threads_build(&threads, n) < 0 || nytp_model_build(&model, n, &threads, NULL) < 0)
		abort();
	for (uint32_t i = 0; i < model.tree->n_contexts; i++)
		touch(model.tree->texts[pm_tree_frame(model.tree, i)->name]);
	for (uint32_t i = 0; i < threads.list.n; i++)
		pm_costs_of_thread(&model.costs, i, 0, values, 16);
	for (uint64_t i = 0; i < model.edge_list.n; i++)
		touch(model.tree->texts[model.edges[i].file]);
	for (uint64_t i = 0; i < model.line_list.n; i++)
		touch(model.tree->texts[model.lines[i].file]);
	nytp_model_done(&model);
	nytp_threads_done(&threads);
}

static void use_sources(const struct nytp *n)
{
	struct nytp_sources sources = {.list = NULL};
	struct pm_text text = {.p = NULL};
	if (nytp_sources_build(&sources, n) < 0)
		abort();
	for (size_t i = 0; i < sources.n; i++) {
		pm_text_clear(&text);
		touch(pm_bytes_of(sources.list[i].path));
		sources.list[i].doc.text.render(&sources.list[i].doc, &text, NULL);
		touch(pm_text_view(&text));
	}
	pm_text_done(&text);
	nytp_sources_done(&sources);
}

bool nytpw_exercise(struct pm_bytes file)
{
	struct nytp n;
	nytp_init(&n);
	n.files = calloc(1, sizeof(*n.files));
	if (!n.files)
		abort();
	n.n_files = 1;
	n.files[0].name = "file";
	bool good = nytp_file_read(&n, &n.files[0], file, NULL) == 0;
	if (good && nytp_evals_name(&n) < 0)
		abort();
	if (good) {
		use_tables(&n);
		use_model(&n);
		use_sources(&n);
	}
	nytp_done(&n);
	return good;
}
