/* Pictures of an item of a collection that has calls: flamegraph.svg and trace.chrome.json. */
#ifndef PROFMOUNT_FS_VIEWS_PICTURES_ITEM_H
#define PROFMOUNT_FS_VIEWS_PICTURES_ITEM_H

#include "fs/views/model/model.h"

/* The k-th picture of the item: 1, or 0 beyond the last and for collections without calls. */
int pmfs_item_view(struct pmfs_model *m, const struct pm_collection *c, uint32_t item, uint32_t k,
	struct pm_named_doc *ret);

#endif
