/* The metadata index of a store: its records, from whichever files hold them. */
#ifndef PROFMOUNT_FORMATS_ZTS_INDEX_H
#define PROFMOUNT_FORMATS_ZTS_INDEX_H

#include "formats/zts/meta.h"
#include "formats/zts/store.h"
#include "formats/zts/texts.h"

/*
 * Appends what the index of a store says of its traces, as stored: nothing is sorted or united.
 * Files that are no index go to the damage of the stores. 0, -ENOMEM, or
 * -EIO where they are not what they were. Cost: all of meta.db.*.
 */
int zts_index_read(struct zts_spans *spans, struct zts_stores *stores, uint32_t store,
	const struct zts_texts *texts);

#endif
