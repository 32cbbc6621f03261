/* Joins what threads have added up from their ranges of traces into one aggregate. */
#ifndef PROFMOUNT_FORMATS_ZTS_JOINING_H
#define PROFMOUNT_FORMATS_ZTS_JOINING_H

#include "formats/common/tree.h"
#include "formats/zts/contexts.h"
#include "formats/zts/partial.h"

struct zts_joining {
	struct zts_aggregate *a;
	struct pm_tree_builder *builder;
	struct pm_paths paths;
	struct pm_strtab names;
	uint32_t *frames; /* of each method */
	size_t frame_room, method_room, sum_room;
	struct pm_durations durations; /* by method */
	enum zts_again again;          /* why a pass is made */
	struct zts_sums *sums;         /* of each path */
	uint64_t *first;               /* of each path, see zts_tally_add */
	size_t first_room;
};

/* For an aggregate that is empty. 0 or -ENOMEM; call zts_joining_done in either case. */
int zts_joining_init(struct zts_joining *j, struct zts_aggregate *a);
void zts_joining_done(struct zts_joining *j);

/* Adds a range's contexts, methods, attributes and exceptions. 0 or -ENOMEM. */
int zts_joining_add(struct zts_joining *j, const struct zts_partial *p);

/* The methods, attributes or statements that a pass counts: see `again`. */
const struct pm_strtab *zts_joining_texts(const struct zts_joining *j);

/*
 * Builds the tree, finds percentiles and sorts the lists. A `pass` reads all traces again; `again`
 * then says for what. 0, -ENOMEM or what a pass returned.
 */
int zts_joining_end(struct zts_joining *j, pm_pass pass, void *context, struct pm_error *err);

#endif
