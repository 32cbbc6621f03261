/* The metadata index of a store: its records, in either kind of file. */
#ifndef PROFMOUNT_FORMATS_ZTS_INDEX_H
#define PROFMOUNT_FORMATS_ZTS_INDEX_H

#include "formats/zts/meta.h"
#include "formats/zts/store.h"
#include "formats/zts/texts.h"

/*
 * Appends the index records of a store as stored, neither sorted nor merged. Invalid index files
 * are reported as damage of the stores. 0, -ENOMEM, or -EIO if the files have changed. Reads all of
 * meta.db.*.
 */
int zts_index_read(struct zts_spans *spans, struct zts_stores *stores, uint32_t store,
	const struct zts_texts *texts);

#endif
