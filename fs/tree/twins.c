/*
 * X.parquet beside each X.csv: found by name. Listings leave them out, so that whoever walks a
 * mount does not read every table twice (docs/decisions/0140).
 */
#include "formats/common/affix.h"
#include "fs/tree/internal.h"

static const char ending[] = ".parquet", csv[] = ".csv";

enum { ENDING = sizeof(ending) - 1, CSV = sizeof(csv) - 1 };

bool pmfs_twin_base(struct pm_bytes name, char *room, struct pm_bytes *ret)
{
	if (!pm_has_ending(name, ending) || name.len >= PMFS_NAME_SIZE)
		return false;
	size_t stem = name.len - ENDING;
	memcpy(room, name.p, stem);
	memcpy(room + stem, csv, CSV);
	*ret = (struct pm_bytes){(const uint8_t *)room, stem + CSV};
	return true;
}

int pmfs_twin_of(struct pm_doc *doc)
{
	if (doc->kind != PM_DOC_CSV)
		return pmfs_no_entry();
	doc->kind = PM_DOC_PARQUET;
	return 0;
}
