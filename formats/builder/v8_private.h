/* What V8's profiles are made of, for the files that read and place them. */
#ifndef PROFMOUNT_BUILDER_V8_PRIVATE_H
#define PROFMOUNT_BUILDER_V8_PRIVATE_H

#include "formats/builder/v8.h"
#include "formats/common/list.h"
#include "formats/common/map.h"

#define PM_V8_NO_NUMBER INT64_MIN

/* A function as nodes name it. */
struct pm_v8_frame {
	uint32_t name, url; /* texts */
	uint32_t line, column;
	uint32_t function;
};

struct pm_v8_node {
	int64_t id;             /* PM_V8_NO_NUMBER: none */
	uint32_t number, frame; /* PM_NONE: it has none */
	uint32_t parent;        /* a node, or PM_NONE */
	uint32_t parent_number; /* what it says itself */
	uint32_t script, deopt; /* texts */
	enum { PM_V8_UNSEEN, PM_V8_ON_PATH, PM_V8_DONE } state;
	uint32_t context;        /* with `ns`, what each sample needs */
	int64_t ns, hits, bytes; /* hits, bytes: PM_V8_NO_NUMBER if it has none */
	size_t first_tick, n_ticks;
};

struct pm_v8_tick {
	int64_t line, ticks;
};

/* An open node, while it is read. */
struct pm_v8_level {
	uint32_t node;
	bool in_children, has_frame;
	struct pm_v8_frame frame;
};

struct pm_v8_child {
	uint32_t parent, number; /* a node, and what it calls its child */
};

struct pm_v8 {
	struct pm_arena *arena; /* in whose build it is */
	struct pm_recording *r;
	struct pm_scan *s; /* while something is read */
	struct pm_text scratch;
	struct pm_strtab texts;
	/* Ids of nodes are numbered as they occur: by small id, + 1, and the others. */
	uint32_t *small, n_numbers;
	size_t n_small, small_room;
	struct pm_map large;
	uint32_t *node_of; /* by number; PM_NONE: none yet */
	size_t number_room;
	struct pm_v8_node *nodes;
	size_t n_nodes, node_room;
	struct pm_v8_child *children;
	size_t n_children, child_room;
	struct pm_v8_frame *frames;
	size_t n_frames, frame_room;
	struct pm_fingerprints frame_index;
	struct pm_v8_tick *ticks;
	size_t n_ticks, tick_room;
	struct pm_v8_level *levels;
	size_t depth, level_room;
	uint32_t *samples; /* numbers of nodes; PM_NONE: not a number */
	size_t n_samples, sample_room, n_moments;
	int64_t *times; /* PM_V8_NO_NUMBER: not a number */
	size_t n_times, time_room;
	int64_t start, end; /* as they stand there in 1/1000, then ns; PM_V8_NO_NUMBER: none */
	bool absolute;      /* the times are timestamps, not from one to the next */
	bool is_old;        /* nested, with hits */
	bool ends_unknown;  /* that of the last sample that has a time: there are more */
	bool cut;           /* the text is broken or ends: what is missing is no damage besides */
	bool has_hits, has_bytes, has_nodes;
	uint32_t thread, no_stack;
	uint32_t time, hits, size; /* quantities */
	uint64_t n_lost, n_frameless, n_twins;
};

static inline bool pm_v8_same_place(const struct pm_v8_frame *a, const struct pm_v8_frame *b)
{
	return a->name == b->name && a->url == b->url && a->line == b->line;
}

#endif
