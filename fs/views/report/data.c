#include "fs/views/report/data.h"

void pmfs_report_cells(struct pmfs_report *r, const pm_number *cells)
{
	pm_json_open(&r->json, '[');
	for (uint32_t i = 0; i < r->columns->n_shown; i++)
		pm_json_f64(&r->json, cells[i]);
	pmfs_derived_cells(r->columns, cells, r->derived);
	for (uint32_t i = 0; i < r->columns->n_derived; i++)
		pmfs_report_cell(r, &r->derived[i]);
	pm_json_close(&r->json, ']');
}

void pmfs_report_cell(struct pmfs_report *r, const struct pm_cell *cell)
{
	pm_text_clear(&r->scratch);
	switch (cell->kind) {
	case PM_CELL_EMPTY: pm_json_null(&r->json); return;
	case PM_CELL_U64: pm_json_u64(&r->json, cell->u); return;
	case PM_CELL_I64: pm_json_f64(&r->json, (double)cell->i); return;
	case PM_CELL_F64: pm_json_f64(&r->json, cell->f); return;
	case PM_CELL_HEX:
		pm_text_str(&r->scratch, "0x");
		pm_text_hex(&r->scratch, cell->u, 1);
		break;
	case PM_CELL_ID: pm_text_hex(&r->scratch, cell->u, cell->width); break;
	case PM_CELL_TEXT: pm_json_text(&r->json, cell->text); return;
	}
	pm_json_text(&r->json, pm_text_view(&r->scratch));
}
