/* Shared by the parts of the model while it is built. */
#ifndef PROFMOUNT_FORMATS_NYTPROF_BUILDING_H
#define PROFMOUNT_FORMATS_NYTPROF_BUILDING_H

#include "formats/common/paths.h"
#include "formats/common/tree.h"
#include "formats/nytprof/built.h"

/* Costs of a context, by rank. */
struct nytp_cell {
	uint32_t thread; /* NYTP_NONE: of the run only */
	uint32_t rank;
	double values[NYTP_N_METRICS]; /* NaN = none */
};

/* Calls of one sub by another from one place: NYTProf's SUB_CALLERS, or Pynytprof's C. */
struct nytp_flow {
	uint32_t caller, callee; /* subs; caller may be NYTP_NONE */
	uint32_t file;           /* text of the tree */
	uint32_t line;
	uint32_t thread; /* NYTP_NONE: not known */
	uint64_t calls;
	double incl, excl; /* ns */
};

/* Where a sub is defined. */
struct nytp_home {
	const struct nytp_file *file;
	const struct nytp_sub *sub; /* NULL: not known */
};

struct nytp_building {
	const struct nytp *n;
	const struct nytp_threads *threads;
	struct nytp_model *m;
	struct pm_tree_builder *tree;
	struct pm_paths paths;      /* of frames: a path is the rank of its context */
	uint32_t *function, *frame; /* by number of the sub: index in the tree, or NYTP_NONE */
	struct nytp_home *homes;    /* by number of the sub */
	struct nytp_flow *flows;    /* sorted by caller, callee, file, line */
	struct nytp_cell *cells;
	double *weight; /* by rank, for the order of siblings */
	size_t n_flows, flows_room, n_cells, cells_room, weight_room;
};

/* The function or frame of a sub, created on first need; NYTP_NONE if out of memory. */
uint32_t nytp_function_of(struct nytp_building *b, uint32_t name);
uint32_t nytp_frame_of(struct nytp_building *b, uint32_t name);

/*
 * The text of a file's name; for a number without a name: `fid N` for Pynytprof, otherwise empty.
 */
uint32_t nytp_file_text(struct nytp_building *b, const struct nytp_file *f, uint32_t fid);

/*
 * The rank of the context of `frame` below `parent` (a rank, or PM_NONE), made on first need. All
 * contexts are made by it. PM_NONE if out of memory.
 */
uint32_t nytp_context_of(struct nytp_building *b, uint32_t parent, uint32_t frame);

/* A cell with no values. -ENOMEM: NULL. */
struct nytp_cell *nytp_cell_add(struct nytp_building *b, uint32_t thread, uint32_t rank);

/* Adds to the cost by which a context is ordered among its siblings. -ENOMEM. */
int nytp_weigh(struct nytp_building *b, uint32_t rank, double cost);

#endif
