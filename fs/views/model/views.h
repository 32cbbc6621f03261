/*
 * Which documents stand in which kind of directory. A view is a const descriptor in the file that
 * renders it; catalog.c lists them in the order in which directories show them.
 */
#ifndef PROFMOUNT_FS_VIEWS_MODEL_VIEWS_H
#define PROFMOUNT_FS_VIEWS_MODEL_VIEWS_H

#include "fs/views/model/model.h"

struct pmfs_view {
	const char *name;  /* of the file; with `each_metric` the `*` stands for the export name */
	const char *about; /* a sentence for README.txt; NULL for twins */
	bool each_metric;  /* one file for each metric group with a column; see pmfs_view_metric */
	/*
	 * Is it there for this item: 1, 0, or -ENOMEM where that cannot be told now? NULL: always.
	 * Cheap: no tree, no values.
	 */
	int (*present)(struct pmfs_model *m, uint32_t item, struct pm_error *err);
	/*
	 * The document. `item`: 0 at the root, else index of the context, function row or thread;
	 * `column`: of each_metric views the group's column that the file is about.
	 */
	int (*document)(struct pmfs_model *m, uint32_t item, uint32_t column, struct pm_doc *ret,
		struct pm_error *err);
};

/* The kinds of directory that hold views. */
enum pmfs_place {
	PMFS_PLACE_ROOT,
	PMFS_PLACE_EXPORT,        /* export/ at the root */
	PMFS_PLACE_CONTEXT,       /* contexts/…/, by-id/N/; item = context index */
	PMFS_PLACE_FUNCTION,      /* functions/F/; item = row of functions.csv */
	PMFS_PLACE_THREAD,        /* threads/…/; item = thread index */
	PMFS_PLACE_THREAD_EXPORT, /* threads/…/export/ */
	PMFS_PLACE_TRACE,         /* an item of a collection that is one trace; item = 0 */
	PMFS_N_PLACES,
};

/* Where the views of an item's profile are listed. */
enum pmfs_place pmfs_place_of_shape(enum pm_shape shape);

/* The views of a place in listing order; `*ret_n` of them. Const, index = identity of the view. */
const struct pmfs_view *const *pmfs_views(enum pmfs_place place, uint32_t *ret_n);

#endif
