/* Shared by the files of fs/filters/. */
#ifndef PROFMOUNT_FS_FILTERS_INTERNAL_H
#define PROFMOUNT_FS_FILTERS_INTERNAL_H

#include "formats/common/lazy.h"
#include "formats/common/map.h"
#include "fs/filters/filter.h"

/* ---- costs.c ---- */

/* How the amounts of a column follow from own costs. */
enum pmfs_roll {
	PMFS_ROLL_OWN,
	PMFS_ROLL_STAYS,    /* of the context itself: it does not move */
	PMFS_ROLL_SUBTREE,  /* with all that is below */
	PMFS_ROLL_FUNCTION, /* with what is nested in it */
	PMFS_ROLL_LEXICAL,  /* the same, but loops leave out those nested in them */
};

struct pmfs_slot {
	enum pmfs_roll roll;
	uint32_t own;    /* the slot that it follows from */
	uint32_t flat;   /* PMFS_ROLL_LEXICAL: the group's PMFS_ROLL_FUNCTION */
	uint32_t metric; /* index; PM_NONE: it is none */
	uint32_t cell;   /* where it is added up */
};

/* How values of the unfiltered profile become own costs. */
struct pmfs_intake {
	uint32_t slot; /* PM_NONE: not taken */
	/* The value contains those of nested contexts. */
	bool with_nested;
	/* Contexts in the tree have what frames have in flat tables: no line has costs of its own.
	 */
	bool of_frames;
};

/* Which metrics a filter has, and what they are made of. */
struct pmfs_slots {
	struct pm_metrics metrics;
	struct pm_metric *list;
	struct pmfs_slot *slots;
	uint32_t n, n_cells;
	bool takes_away;            /* values of some metric contain those of nested contexts */
	struct pmfs_intake *intake; /* by metric of the unfiltered profile */
	const struct pm_metric *of; /* these metrics */
	struct pm_map by_id;        /* id of such a metric → index */
	uint32_t likely[64];        /* the same of most: by the id's last bits; PM_NONE: nobody */
};

/* In a build of the arena, as all below. */
void pmfs_slots_make(struct pm_arena *a, struct pmfs_slots *s, const struct pm_metrics *of,
	struct pm_error *err);

struct pmfs_filtered_cost {
	uint32_t context;
	uint16_t slot;
	bool whole;
	union {
		double f;
		int64_t i;
	};
};

/* A tree, as far as costs are added up in it: parents have lower numbers than their children. */
struct pmfs_shape_of {
	const uint32_t *parent;
	const uint32_t *frame;
	const struct pm_frame *frames;
	uint32_t n_frames; /* frames beyond are placeholders */
};

struct pmfs_filtered_costs {
	struct pmfs_filtered_cost *items; /* by context, then slot */
	size_t n;
};

struct pmfs_gather;

/*
 * Adds up the values of a thread or of the run: values are given one by one, then rolled up. What
 * is needed only until they are listed or renumbered is in `scratch`. `n` contexts; `seen` (or
 * NULL): by slot, set where a value came that is taken.
 */
struct pmfs_gather *pmfs_gather_new(struct pm_arena *a, struct pm_arena *scratch,
	const struct pmfs_slots *s, const struct pmfs_shape_of *shape, uint32_t n, bool *seen);
/*
 * A value of a context of the unfiltered tree whose cost goes to `to`, and that is `same` itself;
 * `above`: where that of its parent goes if it is nested in it; PM_NONE: nowhere.
 */
void pmfs_gather_add(struct pmfs_gather *g, const struct pm_value *value, uint32_t to,
	uint32_t same, uint32_t above);
/* Once all are given. */
void pmfs_gather_roll(struct pmfs_gather *g);
/* Then: the cost of a context in the slot of a metric; false if it has none. */
bool pmfs_gather_get(const struct pmfs_gather *g, uint32_t context, uint32_t slot,
	struct pmfs_filtered_cost *ret);
/* Whether it has any. */
bool pmfs_gather_has(const struct pmfs_gather *g, uint32_t context);
/* Lists all costs, in an arena. */
void pmfs_gather_list(
	struct pm_arena *a, const struct pmfs_gather *g, struct pmfs_filtered_costs *ret);
/*
 * The contexts become those of another tree: `order` has what each of the n was. Nothing can be
 * added or listed any more.
 */
void pmfs_gather_renumber(struct pmfs_gather *g, const struct pmfs_shape_of *shape,
	const uint32_t *order, uint32_t n);

/* Converts a cost to a value of the profile. */
struct pm_value pmfs_cost_value(const struct pmfs_slots *s, const struct pmfs_filtered_cost *cost,
	const struct pm_tree *tree, uint32_t thread);

/* ---- filter.c ---- */

/* The costs and the trace of a thread, each made when somebody asks. */
struct pmfs_filter_thread {
	struct pm_lazy costs_once, trace_once;
	struct pm_arena costs_arena, trace_arena;
	struct pmfs_filtered_costs costs;
	uint64_t n;     /* rows of its trace */
	uint64_t *kept; /* how many are before each PMFS_FILTER_STEP rows of the other trace */
	size_t n_kept, room_kept;
	uint64_t last_ns; /* the latest end */
	/* Rows that get the own time of calls that are hidden below them. */
	struct pmfs_filter_gain {
		uint64_t row;
		uint64_t self_ns; /* two's complement; PM_NO_SELF: unknown */
	} * gains;
	size_t n_gains, room_gains;
};

enum { PMFS_FILTER_STEP = 512 };

/* The tree, and the costs of the run. */
struct pmfs_filter_contents {
	const struct pm_tree *whole; /* the model's tree */
	struct pm_tree *tree;
	uint32_t *to;   /* by context of the whole: where its cost goes, or PM_NONE */
	uint32_t *same; /* where it is itself, or PM_NONE */
	struct pmfs_slots slots;
	struct pmfs_gather *run; /* by context of the tree */
	bool has_matches;
	bool hits_nothing; /* samples of context 0 match: nothing runs */
};

struct pmfs_filter_threads {
	struct pm_threads list;
	struct pm_thread *items;
	struct pmfs_filter_thread *of; /* as many */
};

struct pmfs_filter {
	struct pm_profile profile;
	struct pm_profile_ops ops;
	struct pm_parts parts;
	const struct pm_profile *of;
	struct pmfs_model *model; /* of it */
	bool owns;                /* both */
	struct pmfs_filter_what what;
	struct pmfs_pattern pattern;

	struct pm_lazy ready_once;
	struct pm_part contents, threads, times, facts;
	struct pmfs_filter_contents *c; /* as soon as they are being built */
	struct pmfs_filter_threads *t;
	struct pm_text title, path; /* path: focus/PATTERN/hide/PATTERN */
	uint64_t bytes;             /* atomic: memory of all */
};

/* The thread of the unfiltered profile that a thread is. */
static inline uint32_t pmfs_filter_thread_of(const struct pmfs_filter *f, uint32_t thread)
{
	return f->what.thread == PM_NONE ? thread : f->what.thread;
}

/* Notes memory that was allocated. */
static inline void pmfs_filter_grown(struct pmfs_filter *f, uint64_t bytes)
{
	__atomic_add_fetch(&f->bytes, bytes, __ATOMIC_RELAXED);
}

/*
 * contents.c: gives all values of a thread of the unfiltered profile to the gather, whose contexts
 * are those of `to`, in a build of the arena.
 */
void pmfs_filter_take(struct pm_arena *a, const struct pmfs_filter *f, uint32_t of,
	struct pmfs_gather *g, struct pm_error *err);

/* contents.c: fills in f->c, in a build of the arena. */
void pmfs_filter_fill(struct pm_arena *a, struct pmfs_filter *f, struct pm_error *err);

/* ---- trace.c ---- */

/* What is built of a thread, once: pmfs_filter_run(task) by pm_lazy_get. */
struct pmfs_filter_task {
	struct pmfs_filter *f;
	uint32_t thread;
	struct pm_arena *a;      /* keeps it */
	struct pm_arena scratch; /* while it is built */
	void (*build)(void *task);
	struct pm_error *err;
};
int pmfs_filter_run(void *task, struct pm_error *err);

/* As pm_profile_ops.samples, once the threads are known. */
int64_t pmfs_filter_samples(struct pmfs_filter *f, uint32_t thread, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err);
/* Counts the rows of a thread's trace. O(the other trace), once. */
int pmfs_filter_trace(struct pmfs_filter *f, uint32_t thread, struct pm_error *err);

/* ---- pattern.c, too ---- */

/* Appends the names of functions that are most like the pattern, if any are. */
int pmfs_filter_nearest(struct pmfs_filter *f, struct pm_text *out, struct pm_error *err);

#endif
