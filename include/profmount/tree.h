/* Format interface: the tree of calling contexts. */
#ifndef PROFMOUNT_SEAM_TREE_H
#define PROFMOUNT_SEAM_TREE_H

#include "profmount/bytes.h"

/*
 * A number to calculate with: a cost, or a sum of costs. On x86-64, arm64 and s390x it has integers
 * up to 2^64 as they are, where a double ends at 2^53: cycles of 1,000 processors in an hour.
 * NaN, "none", is asked for with isnan() first: to calculate with one, or to compare it with < or
 * >, takes an x87 unit 100 times as long as a number (docs/decisions/0022).
 */
typedef long double pm_number;

#define PM_NONE    UINT32_MAX /* no such index */
#define PM_NO_TIME UINT64_MAX /* unknown duration or time */

enum pm_kind {
	PM_KIND_ENTRY, /* entry point; named by the database */
	PM_KIND_FUNCTION,
	PM_KIND_INLINED, /* a function inlined into its parent */
	PM_KIND_LOOP,
	PM_KIND_LINE,
	PM_KIND_INSTRUCTION,
	PM_KIND_PLACEHOLDER, /* a special node: <gpu kernel>, <no activity> … */
	PM_KIND_OTHER,       /* a code not defined by the format; shown as its number */
};

/* One level of a call path. Interned: equal frames have one index. */
struct pm_frame {
	uint8_t kind; /* enum pm_kind */
	bool has_offset : 1;
	/*
	 * Part of the context above it: in flat tables, its cost is included in that context's
	 * exclusive cost.
	 */
	bool nested : 1;
	/* Nothing useful is running, according to the format: <no activity>, <omp idle> */
	bool is_idle : 1;
	/* Of these, <no activity>: its samples are like those without a context, and cost nothing.
	 */
	bool is_nothing : 1;
	/* Only joins entry points: <primary root>. Profiles without it have these at the top. */
	bool is_root : 1;
	/* Calls of it are time of a GPU, whatever thread they are on (pm_profile.gpu_frames). */
	bool on_gpu : 1;
	/* Of these: it says what the work below it is for, and is no work of a GPU itself. */
	bool is_annotation : 1;
	uint16_t code;     /* of PM_KIND_OTHER */
	uint32_t function; /* index of its function, or PM_NONE */
	uint32_t name;     /* text; 0 for loops, lines and instructions, which views name */
	uint32_t file;     /* text; of a function: where it is defined */
	uint32_t module;   /* text */
	uint32_t line;     /* 0 = unknown */
	uint64_t offset;   /* in the module */
};

struct pm_function {
	uint32_t name;   /* text */
	uint32_t file;   /* text */
	uint32_t module; /* text */
	uint32_t line;   /* of the definition; 0 = unknown */
	uint32_t id;     /* the database's own number, or PM_NONE: views number them */
	uint64_t offset;
};

/*
 * The tree as flat arrays in pre-order, siblings in order of decreasing cost (inclusive cost of the
 * quantity `ordered_by`, then database order). Views reorder it if a different quantity is primary.
 * Children of i: i + 1, then end[child], … below end[i]; a subtree is the range i … end[i]. Texts:
 * index 0 is the empty text, every index is in range.
 */
struct pm_tree {
	uint32_t n_contexts;
	uint32_t ordered_by;    /* a group of metrics, or PM_NONE: siblings in database order */
	const uint32_t *parent; /* PM_NONE at the top */
	const uint32_t *end;
	const uint32_t *depth; /* 0 at the top */
	const uint32_t *frame;
	const uint32_t *rank;   /* place in database order, from 0; siblings with the same name are
				   numbered by it */
	const uint32_t *number; /* context_id: the database's own, or NULL: index + 1 */
	uint32_t n_frames;
	const struct pm_frame *frames;
	uint32_t n_functions;
	const struct pm_function *functions;
	uint32_t n_function_ids; /* upper bound of the database's numbers; 0: it does not number
				    functions */
	uint32_t n_texts;
	const struct pm_bytes *texts;
	const struct pm_index *by_number; /* see pm_tree_find */
	const struct pm_tree *whole;      /* of which this is another order or a part, by number;
					     outlives it. NULL: it is none */
};

/* The context with that number, or PM_NONE. O(1) or O(log n). */
uint32_t pm_tree_find(const struct pm_tree *tree, uint64_t number);

/*
 * That of a sample: PM_NONE for number 0, where nothing runs. Windows have a context 0 for the cost
 * of that, but samples of it have no call path there either.
 */
static inline uint32_t pm_tree_find_sample(const struct pm_tree *tree, uint64_t number)
{
	return number ? pm_tree_find(tree, number) : PM_NONE;
}

/* The context's number: context_id. */
static inline uint32_t pm_tree_number(const struct pm_tree *tree, uint32_t context)
{
	return tree->number ? tree->number[context] : context + 1;
}

static inline const struct pm_frame *pm_tree_frame(const struct pm_tree *tree, uint32_t context)
{
	return &tree->frames[tree->frame[context]];
}

#endif
