/* The sums of a subset of traces, computed by one thread. Part of formats/zts/contexts.c. */
#ifndef PROFMOUNT_FORMATS_ZTS_PARTIAL_H
#define PROFMOUNT_FORMATS_ZTS_PARTIAL_H

#include "formats/common/lengths.h"
#include "formats/common/map.h"
#include "formats/common/text.h"
#include "formats/zts/attributes.h"
#include "formats/zts/exceptions.h"
#include "formats/zts/tally.h"

/* A method as calls lately named it: a place for the last bits of ids. */
struct zts_recent {
	uint64_t id; /* store and method */
	uint32_t method;
};

enum { ZTS_RECENT = 4096 };

/* How many calls of a method took 0, 1 … ticks: most calls are brief. */
enum { ZTS_BRIEF = 16 };

struct zts_brief {
	uint32_t calls[ZTS_BRIEF];
};

struct zts_partial {
	struct pm_arena texts;
	struct zts_recent *recent; /* ZTS_RECENT of them */
	struct pm_map ids;         /* store and method id → method */
	struct pm_strtab names;    /* of methods */
	struct zts_method *methods;
	size_t method_room;
	struct zts_tally tally;
	struct pm_lengths lengths; /* of longer calls; zts_partial_end adds the brief ones */
	struct zts_brief *brief;   /* by method */
	size_t brief_room;
	struct pm_timed *timed; /* longer calls of the current trace */
	size_t timed_room;
	struct zts_attributes attributes, statements;
	struct zts_exceptions exceptions;
	struct pm_text scratch;
};

/*
 * `lengths_full` is that of all partials that are joined, see pm_lengths.any_full. 0 or -ENOMEM;
 * call zts_partial_done in either case.
 */
int zts_partial_init(struct zts_partial *p, bool *lengths_full);

/* Adds the calls of one trace. 0 or -ENOMEM. */
int zts_partial_add(struct zts_partial *p, struct zts_stores *stores, const struct zts_tree *tree,
	const struct zts_moment *moment);

/* Call after the last trace: adds up methods, and frees what is no longer needed. 0 or -ENOMEM. */
int zts_partial_end(struct zts_partial *p);

void zts_partial_done(struct zts_partial *p);

#endif
