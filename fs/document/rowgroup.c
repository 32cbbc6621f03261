#include "fs/document/rowgroup.h"

#include <stdlib.h>

#include "formats/common/work.h"

enum {
	MOST_BYTES = 16 << 20, /* values and texts of a row group, approximately */
	CHECK_EVERY = 1024,    /* rows */
};

void pmfs_group_maker_done(struct pmfs_group_maker *m)
{
	for (uint32_t i = 0; m->chunks && i < m->p->n_columns; i++)
		pmfs_chunk_done(&m->chunks[i]);
	free(m->chunks);
	free(m->cells);
	pm_rows_done(&m->rows);
}

int pmfs_group_maker_start(struct pmfs_group_maker *m, const struct pmfs_parquet *p,
	const struct pm_table *table, uint64_t at, struct pm_error *err)
{
	*m = (struct pmfs_group_maker){.table = table, .p = p};
	m->chunks = calloc((size_t)p->n_columns + 1, sizeof(*m->chunks));
	m->cells = calloc((size_t)p->n_columns + 1, sizeof(*m->cells));
	if (!m->chunks || !m->cells)
		return pm_error_plain(err, -ENOMEM);
	return pm_rows_start(&m->rows, table, at, err);
}

static uint64_t chunk_bytes(const struct pmfs_group_maker *m)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < m->p->n_columns; i++)
		bytes += m->chunks[i].bytes;
	return bytes;
}

uint64_t pmfs_group_bytes(const struct pmfs_group_maker *m)
{
	uint64_t bytes = 0;
	for (uint32_t i = 0; i < m->p->n_columns; i++)
		bytes += pmfs_chunk_most(&m->chunks[i]);
	return bytes;
}

static bool has_failed(const struct pmfs_group_maker *m)
{
	for (uint32_t i = 0; i < m->p->n_columns; i++)
		if (m->chunks[i].failed)
			return true;
	return false;
}

int pmfs_group_read(struct pmfs_group_maker *m, struct pmfs_rowgroup *group, uint32_t rows,
	uint64_t to, struct pm_error *err)
{
	for (uint32_t i = 0; i < m->p->n_columns; i++)
		if (pmfs_chunk_begin(&m->chunks[i], m->p->storage[i]) < 0)
			return pm_error_plain(err, -ENOMEM);
	group->at = m->rows.at;
	for (group->rows = 0; group->rows < (rows ? rows : PMFS_GROUP_ROWS); group->rows++) {
		if (group->rows % CHECK_EVERY == 0) {
			if (pm_work_cancelled() || has_failed(m))
				return pm_error_plain(err, -ENOMEM);
			if (rows == 0 && chunk_bytes(m) > MOST_BYTES)
				return 1;
		}
		int r = pm_rows_next(&m->rows, m->cells, err);
		if (r <= 0 || m->rows.row >= to)
			return r < 0 ? r : 0;
		for (uint32_t i = 0; i < m->p->n_columns; i++)
			pmfs_chunk_add(&m->chunks[i], &m->cells[i]);
	}
	return 1;
}

int pmfs_group_render(struct pmfs_group_maker *m, struct pmfs_chunk_facts *facts,
	struct pm_text *out, struct pm_error *err)
{
	for (uint32_t i = 0; i < m->p->n_columns; i++) {
		if (pm_work_cancelled())
			return pm_error_plain(err, -ENOMEM);
		pmfs_chunk_render(&m->chunks[i], out, &facts[i]);
	}
	if (out->full)
		return pm_error_set(err, -EFBIG, NULL, PM_NO_OFFSET,
			"%u rows have more text than a row group can hold", m->chunks[0].n);
	return out->failed || has_failed(m) ? pm_error_plain(err, -ENOMEM) : 0;
}

int pmfs_parquet_group(const struct pmfs_parquet *p, const struct pm_table *table, size_t i,
	struct pm_text *out, struct pm_error *err)
{
	const struct pmfs_rowgroup *group = &p->groups[i];
	struct pmfs_rowgroup again = {.at = 0};
	struct pmfs_chunk_facts *facts = calloc(p->n_columns, sizeof(*facts));
	size_t before = out->len;
	struct pmfs_group_maker m;
	int r = facts ? pmfs_group_maker_start(&m, p, table, group->at, err) : -ENOMEM;
	if (r >= 0)
		r = pmfs_group_read(&m, &again, group->rows, UINT64_MAX, err);
	if (r >= 0)
		r = pmfs_group_render(&m, facts, out, err);
	if (facts)
		pmfs_group_maker_done(&m);
	free(facts);
	if (r >= 0 && (again.rows != group->rows || out->len - before != group->bytes))
		return pm_error_set(err, -EIO, NULL, PM_NO_OFFSET,
			"its rows differ from those that were measured");
	return r < 0 ? pm_error_plain(err, r) : 0;
}
