/*
 * All recorded calls, one trace after another, as one trace of the run: what samples() reads.
 * Traces are in the order of zts_survey.by_store, calls in the order in which they are stored.
 */
#ifndef PROFMOUNT_FORMATS_ZTS_SAMPLES_H
#define PROFMOUNT_FORMATS_ZTS_SAMPLES_H

#include <pthread.h>

#include "formats/common/map.h"
#include "formats/zts/contexts.h"
#include "formats/zts/visits.h"

/* What is needed to find a call and its context. */
struct zts_samples {
	uint64_t *first; /* by place in by_store: number of its first call; one more */
	uint32_t n_traces;
	const struct pm_tree *tree; /* of the aggregate */
	uint32_t *slots;            /* by hash of all frames from the top: context + 1; 0: free */
	size_t n_slots;
	struct pm_strtab names; /* of frames */
	uint32_t *frames;       /* by name */
	size_t frame_room;
	uint32_t **of_text; /* of each store, by place in its text index: frame + 1; 0: not known
			       yet. Atomic */
	size_t *n_texts;    /* of each store */
	uint32_t n_stores;
	struct zts_visits visits; /* of payloads, for all traces in order */
	pthread_mutex_t lock;     /* of what follows */
	struct pm_map ids;        /* store and method id that is in no index → frame */
	struct pm_thread lane;
	struct pm_threads traces; /* the single lane */
};

/* 0 or -ENOMEM; `s` is zeroed before. zts_samples_done in any case. */
int zts_samples_build(struct zts_samples *s, const struct zts_aggregate *a,
	struct zts_stores *stores, const struct zts_survey *survey);
void zts_samples_done(struct zts_samples *s);

/* Of a call, while its context is searched for. */
struct zts_finding {
	uint64_t hash; /* of all frames from the top */
	uint32_t frame;
	uint32_t context; /* the result; PM_NONE: beyond PM_LIMIT_CALL_PATHS */
};

/* The contexts of a trace's calls, tree->n of them. 0 or -ENOMEM. */
int zts_samples_contexts(struct zts_samples *s, const struct zts_stores *stores,
	const struct zts_tree *tree, struct zts_finding *ret);

/* The place in by_store of the trace that has that call, which there is. */
uint32_t zts_samples_place(const struct zts_samples *s, uint64_t call);

#endif
