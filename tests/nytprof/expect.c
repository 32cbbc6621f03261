/* Files in a scratch directory, and the contents of profiles as text. */
#include "tests/nytprof/expect.h"

#include "tests/unittest.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- files ---- */

char nytpx_folder[64];

int nytpx_folder_make(void **state)
{
	strcpy(nytpx_folder, "/tmp/profmount-nytprof-XXXXXX");
	return mkdtemp(nytpx_folder) ? 0 : -1;
}

int nytpx_folder_remove(void **state)
{
	return rmdir(nytpx_folder);
}

static const char *path_of(const char *name)
{
	static char path[128];
	snprintf(path, sizeof(path), "%s/%s", nytpx_folder, name);
	return path;
}

void nytpx_save(struct nytpw *w, const char *name)
{
	struct pm_bytes b = nytpw_take(w);
	FILE *f = fopen(path_of(name), "wb");
	assert_non_null(f);
	assert_int_equal(fwrite(b.p, 1, b.len, f), b.len);
	assert_int_equal(fclose(f), 0);
	free((void *)(uintptr_t)b.p);
}

void nytpx_drop(const char *name)
{
	assert_int_equal(unlink(path_of(name)), 0);
}

/* Opens what was written; the file is gone afterwards. */
struct pm_profile *nytpx_open_written(struct nytpw *w)
{
	struct pm_profile *p = NULL;
	struct pm_error err = {0};
	nytpx_save(w, "x.out");
	if (pm_profile_open(path_of("x.out"), NULL, NULL, &p, &err) < 0)
		fail_msg("refused: %s", err.text);
	nytpx_drop("x.out");
	return p;
}

void nytpx_expect_refused(struct nytpw *w, int code, const char *text)
{
	struct pm_profile *p = NULL;
	struct pm_error err = {0};
	nytpx_save(w, "x.out");
	assert_int_equal(pm_profile_open(path_of("x.out"), "nytprof", NULL, &p, &err), code);
	assert_non_null(strstr(err.text, text));
	nytpx_drop("x.out");
}

/* ---- tables ---- */

static void add_cell(struct pm_text *out, const struct pm_cell *cell)
{
	switch (cell->kind) {
	case PM_CELL_EMPTY: break;
	case PM_CELL_U64: pm_text_u64(out, cell->u); break;
	case PM_CELL_I64: pm_text_i64(out, cell->i); break;
	case PM_CELL_F64: pm_text_f64(out, cell->f); break;
	case PM_CELL_HEX:
	case PM_CELL_ID: pm_text_hex(out, cell->u, 1); break;
	case PM_CELL_TEXT: pm_text_bytes(out, cell->text); break;
	}
}

const struct pm_table *nytpx_find_table(const struct pm_profile *p, const char *path)
{
	const struct pm_named_doc *docs;
	size_t n;
	assert_int_equal(pm_profile_documents(p, &docs, &n, NULL), 0);
	for (size_t i = 0; i < n; i++)
		if (strcmp(docs[i].path, path) == 0)
			return &docs[i].doc.table;
	return NULL;
}

/* The rows of a table, cells with `|` between, rows with `\n` after. */
void nytpx_expect_table(const struct pm_profile *p, const char *path, const char *want)
{
	const struct pm_table *table = nytpx_find_table(p, path);
	struct pm_text got = {.p = NULL};
	struct pm_cell cells[16];
	struct pm_rows rows;
	assert_non_null(table);
	assert_int_equal(pm_rows_start(&rows, table, 0, NULL), 0);
	while (pm_rows_next(&rows, cells, NULL) > 0)
		for (uint32_t i = 0; i < table->n_columns; i++) {
			add_cell(&got, &cells[i]);
			pm_text_char(&got, i + 1 < table->n_columns ? '|' : '\n');
		}
	pm_rows_done(&rows);
	pm_text_char(&got, 0);
	assert_string_equal(got.p, want);
	pm_text_done(&got);
}

static void add_text(struct pm_text *out, const struct pm_tree *tree, uint32_t text)
{
	pm_text_bytes(out, tree->texts[text]);
}

/* The context tree: `depth name incl excl calls` a line. */
void nytpx_expect_tree(const struct pm_profile *p, const char *want)
{
	const struct pm_tree *tree;
	struct pm_text got = {.p = NULL};
	struct pm_value values[8];
	assert_int_equal(pm_profile_tree(p, &tree, NULL), 0);
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		pm_text_u64(&got, tree->depth[i]);
		pm_text_char(&got, ' ');
		add_text(&got, tree, pm_tree_frame(tree, i)->name);
		int64_t n = p->ops->run_costs(p, i, values, 8, NULL);
		for (int64_t k = 0; k < n; k++) {
			pm_text_char(&got, ' ');
			pm_text_f64(&got, values[k].f);
		}
		pm_text_char(&got, '\n');
	}
	pm_text_char(&got, 0);
	assert_string_equal(got.p, want);
	pm_text_done(&got);
}

size_t nytpx_count_damage(const struct pm_profile *p, const char *text)
{
	const struct pm_damages *damages;
	size_t n = 0;
	assert_int_equal(pm_profile_damage(p, &damages, NULL), 0);
	for (size_t i = 0; i < damages->n; i++)
		n += strstr(damages->rows[i].what, text) != NULL;
	return n;
}
