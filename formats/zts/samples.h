/*
 * All recorded calls, one trace after another, as one trace of the run: what samples() reads.
 * Traces are in the order of zts_survey.by_store, calls in the order in which they are stored.
 */
#ifndef PROFMOUNT_FORMATS_ZTS_SAMPLES_H
#define PROFMOUNT_FORMATS_ZTS_SAMPLES_H

#include "formats/zts/sums.h"
#include "formats/zts/survey.h"

/* What is needed to find a call and its context. */
struct zts_samples {
	uint64_t *first; /* by place in by_store: number of its first call; one more */
	uint32_t n_traces;
	const struct zts_aggregate *run;
	const struct pm_tree *tree; /* of it */
	uint32_t *slots;            /* by hash of all frames from the top: context + 1; 0: free */
	size_t n_slots;
	struct pm_thread lane;
	struct pm_threads traces; /* the single lane */
};

/* 0 or -ENOMEM; `s` is zeroed before. zts_samples_done in any case. */
int zts_samples_build(
	struct zts_samples *s, const struct zts_aggregate *a, const struct zts_survey *survey);
void zts_samples_done(struct zts_samples *s);

/* Of a call, while its context is searched for. */
struct zts_finding {
	uint64_t hash; /* of all frames from the top */
	uint32_t frame;
	uint32_t context; /* the result; PM_NONE: beyond PM_LIMIT_CALL_PATHS */
};

/* The contexts of a trace's calls, tree->n of them. 0 or -ENOMEM. */
int zts_samples_contexts(const struct zts_samples *s, struct zts_stores *stores,
	const struct zts_tree *tree, struct zts_finding *ret);

/* The place in by_store of the trace that has that call, which there is. */
uint32_t zts_samples_place(const struct zts_samples *s, uint64_t call);

/* ---- traces, one after another, with the contexts of their calls ---- */

struct zts_traces {
	const struct zts_opened *z;
	struct zts_samples *s;
	struct zts_tree tree;      /* the current trace */
	struct zts_finding *found; /* of its calls: their contexts */
	size_t room;
	struct zts_held held;
};

/* Reads nothing. Builds what samples need; zts_traces_done in any case. */
int zts_traces_init(struct zts_traces *r, const struct zts_opened *z, struct pm_error *err);
void zts_traces_done(struct zts_traces *r);

/* Reads the trace at that place of by_store: `tree` and `found` until the next one is read. */
int zts_traces_read(struct zts_traces *r, uint32_t place, struct pm_error *err);

/*
 * The trace with that number, without `found`: 1, 0 if no call of it counts, as in one that is lost
 * or part of another, or a negative errno.
 */
int zts_traces_get(struct zts_traces *r, uint32_t trace, struct pm_error *err);

/* A call of the current trace as a sample, without context. */
struct pm_sample zts_call_sample(
	const struct zts_trace *t, const struct zts_tree *tree, uint32_t call);

#endif
