/* The sums of some of the traces, gathered by one thread. A part of formats/zts/contexts.c. */
#ifndef PROFMOUNT_FORMATS_ZTS_PARTIAL_H
#define PROFMOUNT_FORMATS_ZTS_PARTIAL_H

#include "formats/common/map.h"
#include "formats/common/text.h"
#include "formats/zts/contexts.h"

struct zts_path {
	uint64_t id;     /* store and method of its latest call */
	uint32_t parent; /* a path, or PM_NONE */
	uint32_t method;
	uint32_t next; /* the path of the call behind its latest call */
	struct zts_sums sums;
};

struct zts_partial {
	struct pm_arena texts;
	struct pm_map ids;      /* store and method id → method */
	struct pm_strtab names; /* of methods */
	struct zts_method *methods;
	uint32_t *active; /* of each method: its calls that have not ended */
	size_t method_room, active_room;
	struct pm_map children; /* parent path and method → path */
	struct zts_path *paths; /* in order of first sight */
	uint32_t n_paths;
	uint32_t latest; /* path of the call before */
	size_t path_room;
	struct pm_strtab attrs; /* attributes, see zts_attr_split */
	uint64_t *attr_counts;
	size_t attr_room;
	struct zts_exceptions exceptions;
	uint64_t left_out;
	struct pm_text scratch;
};

/* Adds the calls of one trace. 0 or -ENOMEM. */
int zts_partial_add(struct zts_partial *p, struct zts_stores *stores, const struct zts_tree *tree,
	const struct zts_moment *moment);

/* Calls of the method took from `min_ns` to `max_ns`. */
void zts_method_ended(struct zts_method *m, int64_t min_ns, int64_t max_ns);

void zts_partial_done(struct zts_partial *p);

#endif
