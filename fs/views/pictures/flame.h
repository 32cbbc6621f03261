/*
 * Flame graphs of any tree of named boxes: layout and drawing. Independent of whose call paths they
 * are; flamegraphs.c draws profiles.
 */
#ifndef PROFMOUNT_FS_VIEWS_PICTURES_FLAME_H
#define PROFMOUNT_FS_VIEWS_PICTURES_FLAME_H

#include "fs/views/sums/stacks.h"

struct pmfs_colours;

/*
 * A tree, owned by the caller. Node 0 is the whole, and its name is not used; every other node
 * comes after its parent. Siblings should have different names.
 */
struct pmfs_flame {
	uint32_t n;
	const uint32_t *parent;
	const uint32_t *name; /* into names */
	const struct pm_bytes *names;
	uint32_t n_names;
	const double *self; /* a node's exclusive cost; values that are not positive count as 0 */
	/* Of two runs, by node: own costs in the other one, and the shades (shades.h). Or NULL. */
	const double *before;
	const uint8_t *shade;
};

/* The paths as a tree; of none (zeroed), one box without a cost, so that pictures say so. */
struct pmfs_flame pmfs_flame_of(const struct pmfs_name_paths *p);

/* Maximum number of caller bars in the picture of a subtree. */
enum { PMFS_MAX_ABOVE = 20 };

/* The texts around the boxes. Any bytes; any of them may be empty. */
struct pmfs_caption {
	struct pm_bytes title;        /* title */
	struct pm_bytes of;           /* part of the run: all threads, node=0/rank=3 … */
	struct pm_bytes source;       /* source */
	struct pm_bytes metric, unit; /* of the costs */
	struct pm_bytes whole;        /* the label of node 0; empty: not drawn */
	struct pm_bytes legend;       /* what colours mean; empty: functions */
	const struct pm_bytes *above; /* callers, outermost first; PMFS_MAX_ABOVE at most */
	uint32_t n_above;
	const struct pmfs_colours *colours; /* or NULL */
};

/* Arrays are by node unless noted otherwise. */
struct pmfs_flame_layout {
	uint32_t *order; /* the nodes in pre-order, siblings by name */
	uint32_t *place; /* position of a node in `order` */
	uint32_t *depth; /* 0 for the whole */
	double *total;   /* inclusive cost */
	double *start;   /* cost of everything to the left of it */
};

/* In a build of the arena, as drawing. O(n), plus sorting the names; not recursive. */
struct pmfs_flame_layout *pmfs_flame_lay_out(struct pm_arena *a, const struct pmfs_flame *flame);

/* A node's exclusive cost for pictures: finite, and small enough that sums are finite, too. */
double pmfs_flame_own(const struct pmfs_flame *flame, uint32_t node);

/*
 * Appends an SVG of the widest boxes, at most PM_LIMIT_SVG_RECTS; it states what it leaves out.
 * Readable without scripts; with scripts it fills the window, zooms and searches.
 */
void pmfs_flamegraph_draw(struct pm_arena *a, const struct pmfs_flame *flame,
	const struct pmfs_caption *caption, struct pm_text *out);

/* A page being written: begin, each metric, end. The caller fills the first three fields. */
struct pmfs_flame_page {
	struct pm_text *out;
	const struct pmfs_flame *flame;
	const struct pmfs_flame_layout *layout;
	uint32_t n_metrics;
	struct pm_bytes rest; /* rest of the page, after the data */
	const uint8_t *shade; /* by node: of the next metric; NULL: colours are by name */
	bool has_colours;     /* pmfs_flame_page_colours is called */
};

/*
 * Appends an HTML page with the whole tree, which can show any of its metrics; needs scripts, but
 * no network.
 */
void pmfs_flame_page_begin(struct pmfs_flame_page *page, const struct pmfs_caption *caption);

/* `self` by node; `column` names the metric in links to the page, which shows `first` at first. */
void pmfs_flame_page_metric(struct pmfs_flame_page *page, const struct pmfs_caption *caption,
	const char *column, bool first, const double *self);

/*
 * A metric that does not add up: boxes have the widths of metric `widths`, counted from 0, and the
 * shade of the difference to the whole. `value` by node; NaN: none.
 */
void pmfs_flame_page_colours(struct pmfs_flame_page *page, const struct pmfs_caption *caption,
	const char *column, uint32_t widths, const double *value);

void pmfs_flame_page_end(struct pmfs_flame_page *page);

#endif
