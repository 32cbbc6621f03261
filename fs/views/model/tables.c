/* Shared by views that are tables; each view defines its own rows. */
#include "fs/views/model/tables.h"

int pmfs_table_with_metrics(struct pmfs_model *m, const struct pm_table_type *type,
	const char *const *before, const char *const *after, struct pm_table *ret,
	struct pm_error *err)
{
	static const char *const plain[] = {"", NULL};
	*ret = (struct pm_table){.type = type, .self = m};
	return pmfs_model_header(
		m, before, plain, after, PM_NONE, &ret->columns, &ret->n_columns, err);
}

int pmfs_table_with_self(struct pmfs_model *m, const struct pm_table_type *type,
	const char *const *before, const char *const *after, struct pm_table *ret,
	struct pm_error *err)
{
	*ret = (struct pm_table){.type = type, .self = m};
	return pmfs_model_header(m, before, pmfs_suffixes_with_self, after, PM_NONE, &ret->columns,
		&ret->n_columns, err);
}

struct pm_table pmfs_table_plain(
	struct pmfs_model *m, const struct pm_table_type *type, const char *const *columns)
{
	struct pm_table table = {.type = type, .self = m, .columns = columns};
	while (columns[table.n_columns])
		table.n_columns++;
	return table;
}

struct pm_cell *pmfs_number_cells(
	const struct pmfs_columns *c, const pm_number *numbers, struct pm_cell *cells)
{
	for (uint32_t i = 0; i < c->n_shown; i++)
		*cells++ = pmfs_cell(numbers[i]);
	pmfs_derived_cells(c, numbers, cells);
	return cells + c->n_derived;
}

void pmfs_set_kind(struct pm_cell *cell, const struct pm_frame *frame)
{
	if (frame->kind >= PM_KIND_OTHER)
		pm_set_u64(cell, frame->code);
	else
		pm_set_text(cell, pmfs_frame_kind(frame, NULL));
}

void pmfs_set_name(struct pm_cell *cell, const struct pm_tree *tree, const struct pm_frame *frame,
	struct pm_text *scratch)
{
	pm_set_text(cell, pmfs_frame_name(tree, frame, scratch));
	cell->lasts = frame->name != 0;
}

struct pm_doc pmfs_doc_of_text(struct pmfs_model *m, uint64_t item,
	int (*render)(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err))
{
	return (struct pm_doc){
		.kind = PM_DOC_TEXT, .text = {.render = render, .self = m, .a = item}};
}
