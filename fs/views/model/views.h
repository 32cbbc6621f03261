/*
 * The documents in each kind of directory. catalog.c is the only list of them, with one row per
 * file, or per table in all its forms.
 */
#ifndef PROFMOUNT_FS_VIEWS_MODEL_VIEWS_H
#define PROFMOUNT_FS_VIEWS_MODEL_VIEWS_H

#include "formats/common/arena.h"
#include "fs/views/model/model.h"

/* The kind of item that a document describes. */
enum pmfs_of {
	PMFS_OF_RUN,
	PMFS_OF_CONTEXT,
	PMFS_OF_FUNCTION,
	PMFS_OF_THREAD,
	PMFS_OF_ITEM, /* a profile that is an item of a larger one */
};

/* Describes the table of an item: columns, and how to make rows. Reads no values. */
typedef int pmfs_table_fn(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err);

/* Appends the text; doc->text.self is the model, .a the item, .b the column, .c enum pmfs_of. */
typedef int pmfs_render_fn(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err);

/* A text being written, in a build of the arena: what it is made of goes with the arena. */
struct pmfs_writing {
	struct pm_arena *a;
	struct pmfs_model *model; /* of documents of a model */
	const struct pm_doc *doc;
	struct pm_text *out;
	struct pm_error *err;
};

/* An empty text of the arena, but not in it: for functions of formats, which no jump may leave. */
struct pm_text *pmfs_text_apart(struct pm_arena *a);

/* For renderers: calls `write` in a build. */
int pmfs_write(const struct pm_doc *doc, void (*write)(const struct pmfs_writing *w),
	struct pm_text *out, struct pm_error *err);

/* 1, 0, or -ENOMEM if this cannot be determined now. */
typedef int pmfs_present_fn(struct pmfs_model *m, uint32_t item, struct pm_error *err);

struct pmfs_view {
	const char *name;  /* of the file; with `each_metric` `*` is replaced by the export name */
	const char *twin;  /* of a table as CSV: its name as Parquet; else NULL */
	const char *about; /* a sentence for README.txt; NULL: that of the view before is of both */
	bool unlisted;     /* found by name, and in no listing */
	bool each_metric;  /* one file for each metric group with a column */
	enum pmfs_of of;
	enum pm_doc_kind form; /* CSV or TSV of a table, else TEXT */
	/* Whether it exists for this item. NULL: always. Cheap: needs no tree and no values. */
	pmfs_present_fn *present;
	/* One of them. */
	pmfs_table_fn *table;
	pmfs_render_fn *render;
};

/*
 * The document. `item`: 0 at the root, else index of the context, function row or thread; `column`:
 * for each_metric views, the column of the file's metric group.
 */
int pmfs_view_doc(const struct pmfs_view *view, struct pmfs_model *m, uint32_t item,
	uint32_t column, struct pm_doc *ret, struct pm_error *err);

/*
 * metrics/COLUMN of a context: one number and a line feed. Rendering fails with -ENOENT if there is
 * no value. Context and column are in range.
 */
int pmfs_value_document(
	struct pmfs_model *m, uint32_t context, uint32_t column, struct pm_doc *ret);

/* The kinds of directory that contain views. */
enum pmfs_place {
	PMFS_PLACE_ROOT,
	PMFS_PLACE_EXPORT,        /* export/ at the root */
	PMFS_PLACE_CONTEXT,       /* contexts/…/, by-id/N/; item = context index */
	PMFS_PLACE_FUNCTION,      /* functions/F/; item = row of functions.csv */
	PMFS_PLACE_THREAD,        /* threads/…/; item = thread index */
	PMFS_PLACE_THREAD_EXPORT, /* threads/…/export/ */
	PMFS_PLACE_TRACE,         /* an item of a collection that is a trace; item = 0 */
	PMFS_PLACE_BARE,          /* a profile with its own documents only */
	PMFS_PLACE_WINDOW,        /* a part of a run in time; item = 0 */
	PMFS_PLACE_COMPARISON,    /* compare/NAME/ and the root of several runs: views beside
				     their own documents; item = 0 */
	PMFS_N_PLACES,
};

/* The directories of a profile for contexts, functions, threads and exports. */
enum pmfs_folder {
	PMFS_FOLDER_CONTEXTS = 1, /* contexts/ and by-id/ */
	PMFS_FOLDER_FUNCTIONS = 2,
	PMFS_FOLDER_THREADS = 4,
	PMFS_FOLDER_EXPORT = 8,
	PMFS_FOLDER_WINDOWS = 16, /* where there are traces */
	PMFS_FOLDER_FILTERS = 32, /* focus/, ignore/, hide/, from/ */
};

/* Contents of the directory of an item that is a profile. */
struct pmfs_shape {
	enum pmfs_place place; /* place whose views it has */
	bool is_tree;          /* it is the root of a tree; otherwise it has only these views */
	bool has_report;       /* report/ is found beside its report.html */
	unsigned folders;      /* for a tree: bits of enum pmfs_folder */
	bool apart;            /* profiles in it are shown as if they were mounted alone */
};

const struct pmfs_shape *pmfs_shape_of(enum pm_shape shape);

/* The views of a place in listing order; `*ret_n` of them. Const, index = identity of the view. */
const struct pmfs_view *pmfs_views(enum pmfs_place place, uint32_t *ret_n);

#endif
