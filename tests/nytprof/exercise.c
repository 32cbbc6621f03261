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
	nytp_tables_make(&n->arena, n, &n->files[0], true, &docs);
	for (size_t i = 0; i < docs.n; i++)
		use_table(&docs.docs[i].doc.table);
}

struct built {
	struct pm_arena arena;
	struct nytp *n;
	struct nytp_threads threads;
	struct nytp_model model;
	struct nytp_sources sources;
};

static void name_evals(void *native)
{
	nytp_evals_name(native);
}

static void build(void *context)
{
	struct built *b = context;
	nytp_threads_build(&b->arena, &b->threads, b->n);
	nytp_model_build(&b->arena, &b->model, b->n, &b->threads, NULL);
	nytp_sources_build(&b->arena, &b->sources, b->n);
}

static void use_model(const struct built *b)
{
	struct pm_value values[16];
	const struct pm_tree *tree = b->model.tree;
	const struct pm_edges *edges = &b->model.edge_list;
	const struct pm_lines *lines = &b->model.line_list;
	for (uint32_t i = 0; i < tree->n_contexts; i++)
		touch(tree->texts[pm_tree_frame(tree, i)->name]);
	for (uint32_t i = 0; i < b->threads.list.n; i++)
		pm_costs_of_thread(&b->model.costs, i, 0, values, 16);
	for (uint64_t i = 0; i < edges->n; i++)
		touch(tree->texts[edges->edges[i].file]);
	for (uint64_t i = 0; i < lines->n; i++)
		touch(tree->texts[lines->lines[i].file]);
}

static void use_sources(const struct nytp_sources *sources)
{
	struct pm_text text = {.p = NULL};
	for (size_t i = 0; i < sources->n; i++) {
		pm_text_clear(&text);
		touch(pm_bytes_of(sources->list[i].path));
		sources->list[i].doc.text.render(&sources->list[i].doc, &text, NULL);
		touch(pm_text_view(&text));
	}
	pm_text_done(&text);
}

static void use_all(struct nytp *n)
{
	struct built b = {.n = n};
	if (pm_build(&b.arena, build, &b) < 0)
		abort();
	use_tables(n);
	use_model(&b);
	use_sources(&b.sources);
	pm_arena_done(&b.arena);
}

bool nytpw_exercise(struct pm_bytes file)
{
	struct nytp n;
	struct nytp_file f = {.name = "file"};
	nytp_init(&n);
	n.files = &f;
	n.n_files = 1;
	bool good = nytp_file_read(&n, &f, file, NULL) == 0;
	if (good && pm_build(&n.arena, name_evals, &n) < 0)
		abort();
	if (good)
		use_all(&n);
	nytp_done(&n);
	return good;
}
