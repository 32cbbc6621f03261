/* Exceptions of failed calls: how often, when, and where first. */
#ifndef PROFMOUNT_FORMATS_ZTS_EXCEPTIONS_H
#define PROFMOUNT_FORMATS_ZTS_EXCEPTIONS_H

#include "formats/common/map.h"
#include "formats/common/text.h"
#include "formats/zts/calls.h"

/* Exceptions of one class with one message. */
struct zts_thrown {
	uint64_t count;             /* of calls that ended with it */
	uint64_t first_ns, last_ns; /* when the first and the last of them began */
	uint32_t trace;             /* the first one's */
	struct pm_bytes class, message;
};

/* Exceptions of one class. */
struct zts_thrown_class {
	uint64_t count;
	uint32_t n_messages, most; /* the item with its most frequent message */
};

struct zts_exceptions {
	struct pm_strtab texts; /* class and message in one, see zts_attr_join */
	struct pm_map ids;      /* store and id → item */
	struct zts_thrown *items;
	size_t room;
	struct zts_thrown_class *classes; /* once sorted: most frequent first */
	uint32_t n_classes;
};

/* A trace that was added up: what its place among others depends on, and what becomes known. */
struct zts_added {
	uint64_t timestamp_ns, start_offset;
	uint32_t store, chunk; /* of its first part, like start_offset */
	uint32_t calls;
	uint32_t trace; /* its number, after the survey */
};

/* Whether trace `a` is before `b` in order of time, see zts_survey.traces. NULL: that of numbers.
 */
static inline bool zts_earlier(const struct zts_added *all, uint32_t a, uint32_t b)
{
	if (!all || a == b)
		return a < b;
	const struct zts_added *x = &all[a], *y = &all[b];
	if (x->timestamp_ns != y->timestamp_ns)
		return x->timestamp_ns < y->timestamp_ns;
	if (x->store != y->store)
		return x->store < y->store;
	return x->chunk != y->chunk ? x->chunk < y->chunk : x->start_offset < y->start_offset;
}

/* The trace of a call, its begin, and `error` of traces.csv. */
struct zts_moment {
	const struct zts_added *all; /* `trace` is one of these; NULL: a number of the survey */
	uint32_t trace;
	uint64_t timestamp_ns;
	bool error;
};

/* Appends class and message of an exception; if the index lacks it, its id as class. */
void zts_exception_names(
	const struct zts_texts *t, uint64_t id, struct pm_text *class, struct pm_text *message);

/* Adds those of a trace. Texts go to `arena`. 0 or -ENOMEM. */
int zts_exceptions_add(struct zts_exceptions *e, struct zts_stores *stores,
	const struct zts_tree *tree, const struct zts_moment *moment, struct pm_arena *arena);

/* Adds what `from` has. 0 or -ENOMEM. */
int zts_exceptions_join(
	struct zts_exceptions *to, const struct zts_exceptions *from, struct pm_arena *arena);

/* Most frequent first; nothing can be added afterwards. 0 or -ENOMEM. */
int zts_exceptions_sort(struct zts_exceptions *e);

void zts_exceptions_done(struct zts_exceptions *e);

#endif
