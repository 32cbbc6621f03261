/*
 * A profile in memory that tests fill by hand: no files, no format. Add metrics, threads,
 * functions, contexts, values and samples, then use `profile`. Nothing else exists; ops and parts
 * may be removed or replaced before use.
 */
#ifndef PROFMOUNT_TESTS_FAKE_H
#define PROFMOUNT_TESTS_FAKE_H

#include "formats/common/tree.h"
#include "profmount/profile.h"

struct fake_thread {
	struct pm_value *values; /* as stored */
	size_t n_values, room_values;
	struct pm_sample *samples;
	size_t n_samples, room_samples;
};

struct fake {
	struct pm_profile profile; /* what is under test; self = this fake */
	struct pm_profile_ops ops;
	struct pm_parts parts; /* documents, sources, facts …: set by tests that want them */

	/* Set directly where a test wants them. */
	struct pm_edges edges;
	struct pm_lines lines;
	struct pm_flat flat; /* parts.flat.it = &f->flat: of sources with flat costs */
	struct pm_damages damages;
	struct pm_span span;
	int tree_error; /* a negative errno: the tree cannot be read */

	/* The fake's own. */
	struct pm_tree_builder *builder;
	struct pm_tree *tree; /* once frozen */
	struct pm_metrics metrics;
	struct pm_threads threads;
	struct fake_thread *threads_data;
	uint32_t *numbers; /* rank → number of the context */
	struct pm_function *functions;
	uint32_t n_functions;
	struct pm_arena arena;
};

/* Everything below stops the test program without memory. */
struct fake *fake_new(void);
void fake_free(struct fake *f);

/* Such as of calls on no thread; and where it is not known how long the run was. */
void fake_without_threads(struct fake *f);
void fake_without_span(struct fake *f);

/* A metric with values that is both in trees and flat; ids count from 1. Returns its id. */
uint32_t fake_metric(
	struct fake *f, enum pm_role role, uint32_t group, const char *name, const char *unit);

/* To change what fake_metric has made: by id. */
struct pm_metric *fake_metric_of(struct fake *f, uint32_t id);

/* A thread rank=RANK, thread=THREAD with a trace. Returns its index; thread_id is 10 + index. */
uint32_t fake_thread(struct fake *f, uint64_t rank, uint64_t thread);

/* It is a lane of another one. */
void fake_lane(struct fake *f, uint32_t thread);

/* A function without an id of its own; `file` may be NULL. Returns its index. */
uint32_t fake_function(struct fake *f, const char *name, const char *file, uint32_t line);

/* The index of a text, as frames refer to it. */
uint32_t fake_text(struct fake *f, const char *text);

/* A context with that number below the one with number `parent` (0: at the top). */
void fake_context(struct fake *f, uint32_t number, uint32_t parent, const struct pm_frame *frame);

/* The same with the frame of a function. */
void fake_call(struct fake *f, uint32_t number, uint32_t parent, uint32_t function);

/* The same with the frame of a line. */
void fake_line(struct fake *f, uint32_t number, uint32_t parent, const char *file, uint32_t line);

/* A value in the order of calls, values of one context of a thread adjacent. */
void fake_value(struct fake *f, uint32_t thread, uint32_t number, uint32_t metric, double value);

void fake_sample(struct fake *f, uint32_t thread, uint64_t time_ns, uint64_t number);

/*
 * For ops.samples: -EINVAL, such as of a trace of a database whose samples are outside the file;
 * its thread has none.
 */
int64_t fake_no_samples(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err);

#endif
