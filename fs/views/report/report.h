/*
 * The data of report.html. A page opened from a file may not use fetch(), but it may load scripts:
 * each document of report/ is a script `pm.take("KEY", DATA)` of bounded size, which is rendered
 * when the page needs it. Documents are found by name and never listed.
 *
 *   start.js                   what the page begins with: columns, totals, tables
 *   categories.js              rows of categories.csv
 *   functions-CHUNK-ORDER.js   rows of functions.csv, PMFS_REPORT_ROWS at a time; ORDER 0: in its
 *                              order, else the highest in column ORDER - 1 first
 *   function-ROW.js            callers and callees of a function
 *   up-CONTEXT-LEVEL.js        who calls the path of LEVEL + 1 functions that ends in CONTEXT (an
 *                              index): a level of the bottom-up tree
 *   hot-COLUMN.js              the hot path
 *   path-CONTEXT.js            the calling context with this index, and those above it
 *   children-CONTEXT-PAGE.js   children of a context in the tree; CONTEXT is its index + 1, 0 for
 *                              those at the top
 *   flame-NODE-COLUMN.js       a flame graph below a node of the call paths by name
 *   sandwich-ROW-COLUMN.js     flame graphs of all that calls a function, and of all it calls
 *   threadflame-THREAD-COLUMN.js  the same of a thread, from its top
 *   threadfunctions-THREAD-CHUNK.js  a thread's flat profile
 *   threads-CHUNK.js           threads
 *   costs-CONTEXT-COLUMN.js    what a context costs on each thread; CONTEXT as above, 0: the totals
 *   functioncosts-ROW-COLUMN.js  what a function costs on each thread
 *   time-TILE-PAGE-DEPTH.js    what ran when on a page of threads; TILE numbers the binary parts of
 *                              the run from 1
 *   stack-TILE-THREAD.js       the call paths of a thread over the time of a tile
 *   sources.js, source-FILE.js  files with costs; the lines of one of them
 *   table-DOCUMENT-CHUNK.js    a table of the directory, as start.js numbers them
 *   plot-COUNTER.js            a counter's values over time, reduced to what a plot shows
 */
#ifndef PROFMOUNT_FS_VIEWS_REPORT_REPORT_H
#define PROFMOUNT_FS_VIEWS_REPORT_REPORT_H

#include "fs/views/model/model.h"
#include "profmount/documents.h"

enum {
	PMFS_REPORT_ROWS = 500,    /* rows of a chunk */
	PMFS_REPORT_BOXES = 4000,  /* of a flame graph */
	PMFS_REPORT_LEVELS = 160,  /* levels of it: a larger canvas takes hundreds of megabytes */
	PMFS_REPORT_LINES = 20000, /* of a source file */
	PMFS_REPORT_THREADS = 64,  /* rows of a page of the timeline */
	PMFS_REPORT_ITEM_ROWS = 5000, /* of each table of an item */
	PMFS_REPORT_VIEWS = 64        /* tables of the catalogue: the first numbers of tables */
};

/* Which document: two numbers that fit into a node id; `b` is below 2^24. */
struct pmfs_report_key {
	uint32_t a, b;
};

/* The key of a document's name. False if the name is invalid or not in canonical form. */
bool pmfs_report_find(struct pm_bytes name, struct pmfs_report_key *ret);

/*
 * False if no name has this key. Numbers beyond those of the profile are accepted: their data is
 * `null`.
 */
bool pmfs_report_has(struct pmfs_report_key key);

/* The document of a key for which pmfs_report_has is true. */
struct pm_doc pmfs_report_document(struct pmfs_model *m, struct pmfs_report_key key);

/*
 * report.js in the directory of an item: {files: names, tables: {name: {columns, rows, more}}} of
 * its own documents. The page knows by the script's element what it belongs to. `c` must have
 * `document`, and outlive the document.
 */
struct pm_doc pmfs_report_item(const struct pm_collection *c, uint32_t item);

#endif
