/* Shared by the files of the builder only: a recording, and what becomes of it. */
#ifndef PROFMOUNT_BUILDER_RECORDING_H
#define PROFMOUNT_BUILDER_RECORDING_H

#include "formats/builder/builder.h"
#include "formats/common/costs.h"
#include "formats/common/damage.h"
#include "formats/common/input.h"
#include "formats/common/lazy.h"
#include "formats/common/map.h"
#include "formats/common/paths.h"
#include "formats/common/tree.h"

struct pm_rec_quantity {
	struct pm_bytes name, unit;
	int64_t factor;    /* to ns or bytes */
	unsigned decimals; /* integers are that many powers of ten too large */
	bool count;        /* a plain count */
	bool no_zeros;     /* contexts without any of it have no value */
	bool real;         /* costs are doubles */
	bool decreases;    /* some cost is negative */
};

/* Own cost of a context on a thread, or what passes through it as an edge. */
struct pm_rec_cell {
	uint32_t context, thread; /* path, and index in the tree once it is sealed */
	uint32_t quantity;        /* of an edge: | PM_REC_THROUGH */
	union {
		__int128 i;
		double f; /* of real quantities */
	};
};

struct pm_rec_thread_of {
	uint32_t n;
	bool on_gpu, is_lane;
	uint16_t key[PM_REC_KEYS]; /* index in keys */
	bool is_text[PM_REC_KEYS];
	uint64_t value[PM_REC_KEYS]; /* a number, or an index in thread_texts */
	uint32_t name, process;      /* texts of the tree; 0: none */
};

struct pm_rec_frames {
	uint32_t of[4]; /* by the usual flags of pm_rec_call; PM_NONE: not yet */
};

/* Costs of a sample that are not added so far. */
struct pm_rec_waiting {
	uint32_t thread, context, event, hash, cell;
	int64_t weight;
};

enum { PM_REC_WAITING = 64 };

/* A number of a call; those of one call lie together. */
struct pm_rec_amount_of {
	uint32_t event : 15, is_last : 1, decimals : 15, is_real : 1;
	union {
		int64_t i;
		double f;
	};
};

/* What ran when on a thread. */
struct pm_rec_trace {
	const uint8_t **blocks; /* see traces.c; all but the last have as many events */
	size_t n_blocks, block_room;
	struct pm_rec_event *waiting; /* for the next block */
	size_t n_waiting, waiting_room;
	uint64_t n, last_ns, end_ns; /* events, the last one's time, the latest end */
	bool unsorted;
};

struct pm_recording {
	int failed; /* 0 or a negative errno, with `error` */
	struct pm_error error;
	const struct pm_reader *reader;
	struct pm_rec_opened *opened;
	struct pm_input *input; /* the file that is being read */
	struct pm_inflate *stream;
	struct pm_textlines lines; /* of the stream */
	unsigned asked;            /* calls of pm_rec_goes_on */

	struct pm_arena arena; /* of all that can be in it; sealing is a build in it */
	struct pm_rec_quantity *quantities;
	size_t n_quantities, quantity_room;
	uint32_t primary; /* PM_NONE: by the rule */

	struct pm_tree_builder *tree; /* texts, functions, frames */
	struct pm_rec_frames *frames; /* by function */
	uint32_t *columns;            /* by function */
	size_t n_functions, frames_room, columns_room;
	struct pm_fingerprints functions;
	struct pm_function *known; /* what was told to the tree, by function */
	size_t known_room;
	struct pm_paths paths; /* of frames */
	uint32_t *depths;      /* by path */
	size_t depths_room;
	uint64_t n_cut; /* contexts that would have been too deep */

	const char *keys[PM_REC_KEYS * 2];
	unsigned n_keys;
	struct pm_rec_thread_of *threads;
	size_t n_threads, thread_room;
	struct pm_fingerprints thread_index;
	struct pm_strtab thread_texts;
	bool has_no_thread; /* some cost lies on no thread */

	struct pm_rec_cell *cells;
	size_t n_cells, cell_room;
	struct pm_fingerprints cell_index;
	uint32_t last_cell;
	struct pm_rec_waiting waiting[PM_REC_WAITING];
	unsigned n_waiting;

	/* Of graphs (graph.c): what is known of a context; NULL: everything. By path, later by
	 * context. */
	uint8_t *known_of;
	bool has_edges;
	uint32_t *circle_of; /* by function: the number of its circle, or PM_NONE */
	uint32_t *circles;   /* functions `<cycle N>` */
	uint32_t n_circles;
	struct pm_rec_trace *traces; /* by thread; the last threads may have none */
	size_t n_traces, trace_room;
	bool traces_are_calls, since_epoch, traces_are_weighed;
	struct pm_event *events; /* names are of the arena */
	size_t n_events, event_room;
	struct pm_rec_amount_of *amounts; /* of calls, in their order; the last ones wait for one */
	size_t n_amounts, amount_room, n_amounts_told;
	uint64_t first_ns, end_ns; /* of all traces */
	uint32_t *path_contexts;   /* contexts of the tree by path, once it is sealed */

	struct pm_fact *facts;
	size_t n_facts, fact_room;
	struct pm_text remarks, recipes;
	struct pm_named_doc *documents;
	size_t n_documents, document_room;
	struct pm_series *series;
	size_t n_series, series_room;
	struct pm_collection *collections;
	size_t n_collections, collection_room;
	struct pm_note notes[8]; /* the last one is empty */
	unsigned n_notes;
	struct pm_missings missing; /* why: NULL if the reader says nothing of names */
	struct pm_missing *missings;
	size_t missing_room;
	struct pm_damage_list damage;
	struct pm_bytes title;
	const char *layout, *contexts_are;
	uint64_t measured_ns, duration_ns;
	bool has_lines, has_files, has_modules, gpu_frames;
};

/* A sealed recording: what the format interface shows, in the recording's arena. */
struct pm_rec_whole {
	struct pm_tree *tree;
	struct pm_metrics metrics;
	struct pm_metric *metric_list;
	/*
	 * By metric, an array by context: int64_t, or double of real quantities and those with
	 * decimals. NULL: none.
	 */
	union pm_rec_number **sums;
	bool *real; /* by metric */
	struct pm_threads threads;
	bool has_names, has_processes;
	struct pm_damages damages;
};

union pm_rec_number {
	int64_t i;
	double f;
};

/* What is not known of a context in a graph. */
enum {
	PM_REC_NO_OWN = 1,  /* an edge */
	PM_REC_NO_INCL = 2, /* a member of a circle */
	PM_REC_APART = 4,   /* its inclusive cost is part of what is above it already */
};

/* The `self` of the profile. */
struct pm_rec_opened {
	const struct pm_reader *reader;
	struct pm_open_options options;
	void *own; /* of the format */
	void (*own_done)(void *own);
	struct pm_input input;
	struct pm_input *others; /* of a folder: the files after the first one */
	size_t n_others;
	char *path;            /* of a folder, whose name is the title */
	struct pm_bytes title; /* empty: the file's name */
	struct pm_watch watch;
	/* Its fields, parts and ops are set once everything is read. */
	struct pm_profile *profile;
	struct pm_profile_ops ops;
	struct pm_parts parts;
	struct pm_span span;
	struct pm_lazy ready;
	bool read; /* atomic: everything */
	struct pm_recording recording;
	struct pm_rec_whole whole;
	struct pm_part thread_costs; /* struct pm_costs */
	struct pm_part flat;         /* of graphs */
	struct pm_part call_times;   /* struct pm_call_times *, by function */
};

/* recording.c: an empty recording of an opened source. 0 or -ENOMEM; done accepts both. */
int pm_rec_init(struct pm_recording *r, struct pm_rec_opened *opened);
void pm_rec_done(struct pm_recording *r);

/* recording.c: whether item n of a list has room; fails the recording if not. */
bool pm_rec_has_room(struct pm_recording *r, void *items, size_t n, size_t *room, size_t size);

/* recording.c: adds the costs of samples that wait. */
void pm_rec_finish(struct pm_recording *r);

/* recording.c: adds what a cell has to the inclusive cost of a context. */
void pm_rec_add_cell(
	struct pm_recording *r, uint32_t thread, uint32_t context, const struct pm_rec_cell *cell);

/* graph.c: finds circles, and what is known of contexts; before the recording is sealed. */
void pm_rec_graph(struct pm_recording *r);

/* graph.c: builds pm_parts.flat of a graph. */
int pm_rec_graph_flat(void *opened, struct pm_error *err);

/* seal.c: makes a whole of the recording, whose texts it refers to. */
int pm_rec_seal(struct pm_recording *r, struct pm_rec_whole *ret, struct pm_error *err);
void pm_rec_whole_done(struct pm_rec_whole *w);

/* seal.c: costs by thread, own and inclusive, on first need. */
int pm_rec_thread_costs(struct pm_rec_opened *o, const struct pm_costs **ret, struct pm_error *err);

/*
 * traces.c: a trace is sealed once all of it was told; then it can be read. Contexts are mapped by
 * path_contexts.
 */
void pm_rec_seal_traces(struct pm_recording *r);
int64_t pm_rec_samples(const struct pm_recording *r, uint32_t thread, uint64_t first,
	struct pm_sample *ret, struct pm_amount *ret_amounts, size_t room);
int pm_rec_trace_ends(const struct pm_recording *r, uint32_t thread, uint64_t *ret_first_ns,
	uint64_t *ret_last_ns);
int pm_rec_call_times(void *opened, struct pm_error *err); /* builds pm_parts.call_times */

/* The metric of a quantity: its own, its inclusive, and its flat costs. */
enum { PM_REC_INCL, PM_REC_EXCL, PM_REC_FLAT, PM_REC_N };

/* Whether a context has a value of a metric. A context that was never called has no calls. */
static inline bool pm_rec_is_known(const struct pm_recording *r, uint32_t context, uint32_t metric)
{
	uint8_t lacks = r->known_of ? r->known_of[context] : 0;
	bool own = metric % PM_REC_N != PM_REC_INCL && !r->quantities[metric / PM_REC_N].count;
	return !(lacks &
		(own                                               ? PM_REC_NO_OWN
				: metric % PM_REC_N == PM_REC_INCL ? PM_REC_NO_INCL
								   : 0));
}

#endif
