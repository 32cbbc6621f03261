/*
 * CPU and heap profiles of V8, as .cpuprofile files and trace events hold them: nodes, which refer
 * to each other by any numbers, samples and times. They are collected in any order, and become
 * contexts, costs and samples at the end.
 */
#ifndef PROFMOUNT_BUILDER_V8_H
#define PROFMOUNT_BUILDER_V8_H

#include "formats/builder/builder.h"

struct pm_v8;

/* A profile in the making, in a build of that arena: it fails, also where the recording has. */
struct pm_v8 *pm_v8_new(struct pm_arena *a, struct pm_recording *r);

/*
 * Takes the value of `key` that is next, if it is a part of a profile: nodes, samples, times.
 * Else false, and nothing is passed over. With `more`, samples and times add to those before,
 * instead of replacing them, and so do nodes.
 */
bool pm_v8_read(struct pm_v8 *v, struct pm_scan *s, struct pm_bytes key, bool more);

/*
 * A node by its id, and a sample of one, from sources that have them in another form: ids are not
 * negative; no parent, or no node, is -1. Such a profile has no other nodes or samples.
 */
void pm_v8_add_node(
	struct pm_v8 *v, int64_t id, int64_t parent, const struct pm_rec_function *function);
void pm_v8_add_sample(struct pm_v8 *v, int64_t id, int64_t time_ns);

/* What was read so far. */
bool pm_v8_has_functions(const struct pm_v8 *v);
bool pm_v8_has_samples(const struct pm_v8 *v); /* with times */
bool pm_v8_is_heap(const struct pm_v8 *v);
const char *pm_v8_layout(const struct pm_v8 *v);

/*
 * Tells the recording of all, once: `time` and `hits` of samples, which are on the thread; or
 * `size` of a heap, which has none.
 */
void pm_v8_place(struct pm_v8 *v, uint32_t thread);

/*
 * The same where a profile is a part of a recording of calls: neighbouring samples in a function
 * are one call of it.
 */
struct pm_v8_calls {
	uint32_t thread, time, calls; /* quantities: time in ns, and the number of calls */
	uint64_t base;                /* ns that are added to times */
	uint64_t seq;                 /* of all these calls */
};

void pm_v8_place_calls(struct pm_v8 *v, const struct pm_v8_calls *as);

/* A table of the nodes. */
void pm_v8_node_table(struct pm_v8 *v);

#endif
