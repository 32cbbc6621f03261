/*
 * Values of attributes over all calls, and statements of SQL among them: how many traces and calls
 * have each, and how long these took. Requests are counted in the same way.
 */
#ifndef PROFMOUNT_FORMATS_ZTS_ATTRIBUTES_H
#define PROFMOUNT_FORMATS_ZTS_ATTRIBUTES_H

#include "formats/common/map.h"
#include "formats/common/percentiles.h"
#include "formats/common/text.h"
#include "formats/zts/exceptions.h"

struct zts_attr_sums {
	/*
	 * Traces whose own call has it, of a statement those with any such call; and those of them
	 * with an error, which is that of traces.csv; of a trace inside another one, that of its
	 * call.
	 */
	uint64_t traces, trace_errors;
	uint64_t calls, errors;
	zts_sum time_ns; /* of calls that ended, without those below another one with the value */
	int64_t slowest_ns; /* of any of them, which is in this trace; PM_NONE: none ended */
	uint32_t slowest;
	/* The last trace and call with this value, and the end of the calls below the outermost. */
	uint32_t last_tree, last_call, end;
	uint32_t statement; /* of a value: its place among the statements; PM_NONE: it is none */
	struct pm_bytes key, value;
	struct pm_call_times times; /* after zts_attributes_end */
};

/* Zeroed = empty. */
struct zts_attributes {
	struct pm_strtab texts; /* key and value in one, see zts_attr_join */
	struct zts_attr_sums *items;
	size_t room;
	struct pm_durations durations; /* by item */
	struct pm_text scratch;
	uint32_t n_trees; /* added so far */
};

/*
 * Adds those of all calls of a trace, and the shapes of those that are SQL to `statements`, without
 * keys. Texts go to `arena`. 0 or -ENOMEM.
 */
int zts_attributes_add(struct zts_attributes *a, struct zts_attributes *statements,
	const struct zts_tree *tree, const struct zts_moment *moment, struct pm_arena *arena);

/*
 * Adds a trace with that value, without a key and without its calls. `duration_ns` may be
 * PM_NO_TIME. The text goes to `arena`. 0 or -ENOMEM.
 */
int zts_attributes_add_trace(struct zts_attributes *a, struct pm_bytes value, uint64_t duration_ns,
	const struct zts_moment *moment, struct pm_arena *arena);

/* Adds what `from` has, which nothing has been joined to. 0 or -ENOMEM. */
int zts_attributes_join(
	struct zts_attributes *to, const struct zts_attributes *from, struct pm_arena *arena);

/*
 * Finds percentiles, for which `pass` may have to add all calls once more, and sorts: by key, then
 * most traces, then most time first, or by time alone. Nothing can be added afterwards. 0, -ENOMEM
 * or what a pass returned.
 */
int zts_attributes_end(struct zts_attributes *a, bool by_time_alone, pm_pass pass, void *context);

/*
 * Begins a pass: `a`, which is empty, only counts the durations that `found` wants, of items that
 * are numbered as in `texts`. 0 or -ENOMEM.
 */
int zts_attributes_again(struct zts_attributes *a, const struct pm_strtab *texts,
	const struct pm_durations *found, struct pm_arena *arena);

void zts_attributes_done(struct zts_attributes *a);

#endif
