/*
 * Which documents a directory of each kind holds. catalog.c is the one list of them: a row a file,
 * or a row for all forms of a table.
 */
#ifndef PROFMOUNT_FS_VIEWS_MODEL_VIEWS_H
#define PROFMOUNT_FS_VIEWS_MODEL_VIEWS_H

#include "fs/views/model/model.h"

/* What a document is about. */
enum pmfs_of {
	PMFS_OF_RUN,
	PMFS_OF_CONTEXT,
	PMFS_OF_FUNCTION,
	PMFS_OF_THREAD,
	PMFS_OF_ITEM, /* a profile that is an item of a larger one */
};

/* Describes the table of an item: columns and how rows are made. Reads no values. */
typedef int pmfs_table_fn(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err);

/* Appends the text: doc->text.self is the model, .a the item, .b the column, .c enum pmfs_of. */
typedef int pmfs_render_fn(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err);

/* 1, 0, or -ENOMEM where that cannot be told now. */
typedef int pmfs_present_fn(struct pmfs_model *m, uint32_t item, struct pm_error *err);

struct pmfs_view {
	const char *name;  /* of the file; with `each_metric` `*` is replaced by the export name */
	const char *about; /* a sentence for README.txt; NULL for further forms of a table */
	bool each_metric;  /* one file for each metric group with a column */
	enum pmfs_of of;
	enum pm_doc_kind form; /* CSV or TSV of a table, else TEXT */
	/* Is it there for this item? NULL: always. Cheap: no tree, no values. */
	pmfs_present_fn *present;
	/* One of them. */
	pmfs_table_fn *table;
	pmfs_render_fn *render;
};

/*
 * The document. `item`: 0 at the root, else index of the context, function row or thread; `column`:
 * of each_metric views the group's column that the file is about.
 */
int pmfs_view_doc(const struct pmfs_view *view, struct pmfs_model *m, uint32_t item,
	uint32_t column, struct pm_doc *ret, struct pm_error *err);

/* The kinds of directory that hold views. */
enum pmfs_place {
	PMFS_PLACE_ROOT,
	PMFS_PLACE_EXPORT,        /* export/ at the root */
	PMFS_PLACE_CONTEXT,       /* contexts/…/, by-id/N/; item = context index */
	PMFS_PLACE_FUNCTION,      /* functions/F/; item = row of functions.csv */
	PMFS_PLACE_THREAD,        /* threads/…/; item = thread index */
	PMFS_PLACE_THREAD_EXPORT, /* threads/…/export/ */
	PMFS_PLACE_TRACE,         /* an item of a collection that is one trace; item = 0 */
	PMFS_PLACE_BARE,          /* a profile whose documents are all its own */
	PMFS_PLACE_WINDOW,        /* a part of a run in time; item = 0 */
	PMFS_N_PLACES,
};

/* The directories of a profile that hold contexts, functions, threads and exports. */
enum pmfs_folder {
	PMFS_FOLDER_CONTEXTS = 1, /* contexts/ and by-id/ */
	PMFS_FOLDER_FUNCTIONS = 2,
	PMFS_FOLDER_THREADS = 4,
	PMFS_FOLDER_EXPORT = 8,
	PMFS_FOLDER_WINDOWS = 16, /* where there are traces */
};

/* What the directory of an item's profile holds. */
struct pmfs_shape {
	enum pmfs_place place; /* whose views it has */
	bool is_tree;          /* it is the root of a tree; else there are those views alone */
	unsigned folders;      /* of a tree: enum pmfs_folder, or'ed */
	bool apart;            /* profiles in it are shown as they are alone */
};

const struct pmfs_shape *pmfs_shape_of(enum pm_shape shape);

/* The views of a place in listing order; `*ret_n` of them. Const, index = identity of the view. */
const struct pmfs_view *pmfs_views(enum pmfs_place place, uint32_t *ret_n);

#endif
