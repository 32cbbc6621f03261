/*
 * All recorded calls, one trace after another, as one trace of the run: what samples() reads.
 * Traces are in the order of zts_survey.by_store, calls in the order in which they are stored.
 */
#ifndef PROFMOUNT_FORMATS_ZTS_SAMPLES_H
#define PROFMOUNT_FORMATS_ZTS_SAMPLES_H

#include <pthread.h>

#include "formats/common/map.h"
#include "formats/zts/contexts.h"

/* What is needed to find a call and its context. */
struct zts_samples {
	uint64_t *first; /* by place in by_store: number of its first call; one more */
	uint32_t n_traces;
	struct pm_map children; /* context (or PM_NONE) and frame → context */
	struct pm_strtab names; /* of frames */
	uint32_t *frames;       /* by name */
	size_t frame_room;
	pthread_mutex_t lock; /* of what follows */
	struct pm_map ids;    /* store and method id → name */
	struct pm_thread lane;
	struct pm_threads traces; /* that lane alone */
};

/* 0 or -ENOMEM; `s` is zeroed before. zts_samples_done in any case. */
int zts_samples_build(struct zts_samples *s, const struct zts_aggregate *a, uint32_t n_traces);
void zts_samples_done(struct zts_samples *s);

/* The contexts of a trace's calls, tree->n of them; PM_NONE: beyond PM_LIMIT_CALL_PATHS. 0 or
 * -ENOMEM. */
int zts_samples_contexts(struct zts_samples *s, const struct zts_stores *stores,
	const struct zts_tree *tree, uint32_t *ret);

/* The place in by_store of the trace that has that call, which there is. */
uint32_t zts_samples_place(const struct zts_samples *s, uint64_t call);

#endif
