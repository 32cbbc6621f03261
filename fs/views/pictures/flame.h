/*
 * Flame graphs of any tree of named boxes: where each box goes, and what is drawn. Where the tree
 * comes from is not known here; flamegraphs.c draws profiles.
 */
#ifndef PROFMOUNT_FS_VIEWS_PICTURES_FLAME_H
#define PROFMOUNT_FS_VIEWS_PICTURES_FLAME_H

#include "formats/common/text.h"
#include "profmount/error.h"

struct pmfs_colours;

/*
 * A tree, all of it the caller's. Node 0 is the whole and its name is not used; every other node
 * comes after its parent. Siblings should have different names: one name, one box.
 */
struct pmfs_flame {
	uint32_t n;
	const uint32_t *parent;
	const uint32_t *name; /* into names */
	const struct pm_bytes *names;
	uint32_t n_names;
	const double *self; /* a node's own cost; what is not positive counts as 0 */
};

/* Bars of callers that a picture of a part may have. */
enum { PMFS_MAX_ABOVE = 20 };

/* The texts around the boxes. Any bytes; any of them may be empty. */
struct pmfs_caption {
	struct pm_bytes title;        /* what was measured */
	struct pm_bytes of;           /* which part of it: all threads, node=0/rank=3 … */
	struct pm_bytes source;       /* where it was read */
	struct pm_bytes metric, unit; /* of the costs */
	struct pm_bytes whole;        /* the label of node 0; empty: it is not drawn */
	const struct pm_bytes *above; /* callers, outermost first; PMFS_MAX_ABOVE at most */
	uint32_t n_above;
	const struct pmfs_colours *colours; /* or NULL */
};

/* Everything by node, unless it says otherwise. */
struct pmfs_flame_layout {
	uint32_t *order; /* the nodes in pre-order, siblings by name */
	uint32_t *place; /* position of a node in `order` */
	uint32_t *depth; /* 0 for the whole */
	double *total;   /* own cost and all below */
	double *start;   /* cost of all that lies left of it */
};

/* O(n) and one sort of the names; no recursion. `ret` is the caller's to give back. */
int pmfs_flame_lay_out(
	const struct pmfs_flame *flame, struct pmfs_flame_layout *ret, struct pm_error *err);

/* Accepts a zeroed one. */
void pmfs_flame_layout_done(struct pmfs_flame_layout *l);

/* A node's own cost as pictures have it: finite, and small enough for sums to be so too. */
double pmfs_flame_own(const struct pmfs_flame *flame, uint32_t node);

/*
 * Appends an SVG of at most PM_LIMIT_SVG_RECTS boxes, the widest; it says what it leaves out.
 * Legible as it is; with scripts it fills the window, zooms and searches.
 */
int pmfs_flamegraph_draw(const struct pmfs_flame *flame, const struct pmfs_caption *caption,
	struct pm_text *out, struct pm_error *err);

/* A page in the making: begin, each metric, end. The first three are the caller's to fill. */
struct pmfs_flame_page {
	struct pm_text *out;
	const struct pmfs_flame *flame;
	const struct pmfs_flame_layout *layout;
	uint32_t n_metrics;
	struct pm_bytes rest; /* of the page, behind the data */
};

/* Appends an HTML page of the whole tree that draws any of its metrics; needs scripts, no network.
 */
void pmfs_flame_page_begin(struct pmfs_flame_page *page, const struct pmfs_caption *caption);

/* `self` by node; `column` names the metric in links to the page, which shows `first` at first. */
void pmfs_flame_page_metric(struct pmfs_flame_page *page, const struct pmfs_caption *caption,
	const char *column, bool first, const double *self);

int pmfs_flame_page_end(struct pmfs_flame_page *page, struct pm_error *err);

#endif
