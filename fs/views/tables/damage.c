/* damage.csv: parts of the source that could not be read. */
#include "fs/views/model/catalog.h"
#include "fs/views/model/tables.h"

static int damage_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(rows->table->self);
	const struct pm_damages *damages;
	int r = pm_profile_damage(p, &damages, err);
	if (r < 0)
		return r;
	if (rows->at >= damages->n)
		return 0;
	const struct pm_damage *damage = &damages->rows[rows->at++];
	pmfs_set_known(cells++, damage->offset, PM_NO_OFFSET);
	pmfs_set_known(cells++, damage->bytes, PM_NO_OFFSET);
	*cells++ = pm_cell_str(damage->file);
	*cells++ = pm_cell_str(damage->what);
	return 1;
}

int pmfs_damage_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.next = damage_next, .dense = true};
	static const char *const columns[] = {"offset", "bytes", "file", "what", NULL};
	(void)item;
	(void)err;
	*ret = pmfs_table_plain(m, &type, columns);
	ret->types = "ii??";
	return 0;
}
