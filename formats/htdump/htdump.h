/*
 * An opened stream with everything derived from it, from the bottom up: events in time order,
 * labels, the calls of each thread, the tree of label paths, and what the profile's `self` keeps of
 * them.
 */
#ifndef PROFMOUNT_HTDUMP_HTDUMP_H
#define PROFMOUNT_HTDUMP_HTDUMP_H

#include "formats/common/callcosts.h"
#include "formats/common/costs.h"
#include "formats/common/input.h"
#include "formats/common/lazy.h"
#include "formats/common/paths.h"
#include "formats/common/percentiles.h"
#include "formats/common/tree.h"
#include "formats/htdump/stream.h"
#include "profmount/format.h"

/*
 * ---- order (order.c) ----
 * Events of a kind in time order, without keeping them (docs/decisions/0060): blocks of the stream
 * are sorted one by one as they are read, and only late events, i.e. those after a block with
 * younger events, are listed.
 */

/* Events from one mark to the next. */
#define HTD_MARK 1024

/* State that a cursor needs to continue with an event. */
struct htd_mark {
	size_t run, late;
	htd_place newest; /* of the blocks before; 0 = none */
	uint32_t at;      /* in the block's own order */
};

struct htd_order {
	const struct htd_stream *s;
	struct htd_filter filter;
	bool by_id; /* order of equal times: by id, then by position; if false, by position only */
	const htd_place *late;
	size_t n_late;
	struct htd_mark *marks; /* of events 0, HTD_MARK …: made by htd_order_mark */
	size_t n_marks, mark_room;
};

/*
 * Finds the late events; `o` has stream, filter and by_id. One pass over its runs. In a build, as
 * are the next two. 0, or -EIO if the file has changed.
 */
int htd_order_build(struct pm_arena *a, struct htd_order *o);

/* The same if the scan recorded them: sorts `late`, and borrows it. Or fails with -EIO. */
void htd_order_borrow(struct pm_arena *a, struct htd_order *o, struct htd_late *late);

/* An event in time order. */
struct htd_sorted_event {
	struct htd_key key;
	uint64_t seq;
	struct htd_event event;
	uint32_t next; /* in its block */
};

struct htd_sorted {
	const struct htd_order *o;
	size_t run, late;               /* the next of each */
	struct htd_key newest;          /* of the blocks so far */
	size_t first;                   /* run of the current block */
	htd_place before;               /* newest before it */
	struct htd_sorted_event *items; /* the block: HTD_CHUNK of them, linked in order */
	uint32_t n, at; /* number of events in the block, and of those returned so far */
	uint32_t next;  /* in the block, or HTD_NONE */
	bool has_head;
	struct htd_sorted_event head, given; /* the next late event, and the last one returned */
};

/*
 * Starts at the first event, or at a mark (NULL: the first). The arena has the cursor's memory. 0
 * or a negative errno.
 */
int htd_sorted_start(struct htd_sorted *c, struct pm_arena *a, const struct htd_order *o,
	const struct htd_mark *mark);

/*
 * The next event, valid until the next call: 1, 0 at the end, -EIO if the file has changed, -ENOMEM
 * if the work is cancelled.
 */
int htd_sorted_next(struct htd_sorted *c, const struct htd_sorted_event **ret);

/* Records the cursor's position; call it before every HTD_MARKth event. */
void htd_order_mark(struct pm_arena *a, struct htd_order *o, const struct htd_sorted *c);

/* ---- labels of calls: texts, and numbers with the mapping valid at the call (labels.c) ---- */

/* The labels that mappings assign to numbers; const once taken over. Zeroed = none. */
struct htd_mapped {
	struct pm_strtab texts;
	struct htd_label_span *spans; /* by number, then place */
	size_t n_spans;
	struct pm_map first; /* number → its first span */
};

/* A number that has the same label everywhere. */
struct htd_lasting {
	uint64_t number;
	uint32_t label; /* HTD_NONE: a free slot */
};

enum { HTD_N_LASTING = 2048 };

/* These, followed by the labels contained in calls. */
struct htd_labels {
	const struct htd_mapped *mapped;
	struct pm_strtab texts;
	struct pm_map plain; /* number without a mapping → label */
	struct htd_lasting
		*lasting;       /* HTD_N_LASTING, by number; made by the first htd_labels_add */
	struct pm_arena *arena; /* also of copies: the contents of a growing file may change */
};

/* The functions that fill in mappings and labels are called in builds of their arenas. */

/* Takes over the stream's mappings. */
void htd_mapped_init(struct pm_arena *a, struct htd_mapped *m, const struct htd_stream *s);

/* There are none but those that mappings assign. */
static inline struct htd_labels htd_labels_in(struct pm_arena *a, const struct htd_mapped *mapped)
{
	return (struct htd_labels){
		.mapped = mapped, .texts = pm_strtab_in(a), .plain.arena = a, .arena = a};
}

static inline struct pm_bytes htd_labels_text(const struct htd_labels *l, uint32_t label)
{
	uint32_t n = l->mapped->texts.n;
	return label < n ? l->mapped->texts.items[label] : l->texts.items[label - n];
}

/* The label of a call, added if new. */
uint32_t htd_labels_add(
	struct htd_labels *l, const struct htd_event *call, struct pm_text *scratch);

/* The same for a call that was added before, or HTD_NONE. Thread-safe. */
uint32_t htd_labels_find(
	const struct htd_labels *l, const struct htd_event *call, struct pm_text *scratch);

/* Marks all HTD_N_LASTING slots as empty; call before first use. */
void htd_lasting_init(struct htd_lasting *slots);

/* As htd_labels_find, for many calls: keeps the labels of numbers in slots of the caller. */
uint32_t htd_labels_find_often(const struct htd_labels *l, struct htd_lasting *slots,
	const struct htd_event *call, struct pm_text *scratch);

/* The label with this text; a copy is added if it is new. */
uint32_t htd_labels_take(struct htd_labels *l, struct pm_bytes text);

/* ---- numbers of calls that are quantities: -o values (values.c) ---- */

/* What is asked for; n = 0: nothing. */
struct htd_wanted {
	uint32_t n;
	struct pm_strtab names;
	struct pm_metrics metrics; /* of calls, then inclusive and own of each field */
	const char **columns;      /* the names of the latter in labels.csv */
	struct pm_event *events;   /* whose quantities those are: pm_profile.events */
};

/* Where the fields are in events of a plan: the last one. */
struct htd_wanted_places {
	const struct htd_plan *plan;
	uint32_t at[PM_LIMIT_COUNTER_FIELDS];
};

/* The own sum of a field on a path of a thread. */
struct htd_path_amount {
	uint32_t thread, rank, field;
	struct pm_amount amount;
};

/* `fields` has `,` between names. In a build, as is the next one. Fails with -EINVAL. */
void htd_wanted_init(
	struct pm_arena *a, struct htd_wanted *w, const char *fields, struct pm_error *err);

/* After the scan: fails with -EINVAL if no class of calls has one of them as a number. */
void htd_wanted_check(struct pm_arena *a, const struct htd_wanted *w, const struct htd_stream *s,
	const char *file, struct pm_error *err);

/* A cell; empty if nothing is known. */
struct pm_cell htd_amount_cell(const struct pm_amount *a);

/* Beyond 64 bits, and with a real number, it becomes a double. */
void htd_amount_add(struct pm_amount *to, const struct pm_amount *more);

/* The numbers of a call, w->n of them. `places` is zeroed before the first one. */
void htd_amounts_read(const struct htd_wanted *w, struct htd_wanted_places *places,
	const struct htd_event *e, struct pm_amount *ret);

struct htd_calls;

/* Of paths, thread by thread, while calls are built. */
struct htd_path_amounts {
	struct htd_path_amount *items;
	size_t n, room;
};

/* Takes over those of a path. */
void htd_amounts_take(struct pm_arena *a, struct htd_path_amounts *to, uint32_t n, uint32_t thread,
	uint32_t rank, const struct pm_amount *of_path);

/* Once the tree and the costs of calls are frozen: fills `all`. */
void htd_amounts_freeze(struct pm_arena *scratch, struct htd_calls *c,
	const struct htd_path_amounts *from, const uint32_t *index);

/* Adds the sums of a context to those of its label; inclusive ones if it is `outermost`. */
void htd_amounts_of_label(struct htd_calls *c, uint32_t label, uint32_t context, bool outermost);

/* As run_costs of pm_profile_ops. */
int64_t htd_all_of_run(
	const struct htd_calls *c, uint32_t context, struct pm_value *ret, size_t room);

/* ---- lanes: the calls of one thread, independent of other threads (lane.c) ---- */

/* A call that is open at some mark. Marks share these; each refers to its parent. */
struct htd_open {
	htd_place place;
	uint64_t self; /* see htd_self_at_first */
	uint32_t context;
	uint32_t parent; /* the one around it, or HTD_NONE */
};

/* The part of a lane that is kept. */
struct htd_lane {
	struct htd_order order;
	struct htd_open *opens;
	size_t n_opens, opens_room;
	uint32_t *open; /* at each mark the innermost open call, or HTD_NONE */
	size_t open_room;
	uint32_t n_contexts;
	uint64_t end; /* of its last call; UINT64_MAX = beyond what 64 bits hold */
};

/* The calls of a path on this thread: a cache line. */
struct htd_path {
	uint64_t calls, min, max;
	pm_sum incl, excl;
};

/* A lane, with other results of the walk over its calls, in an arena of its own. */
struct htd_lane_walk {
	struct pm_arena arena;
	struct htd_lane lane;
	struct pm_paths tree; /* of the walk's labels; the lane's n_contexts paths, by first call */
	struct htd_path *paths;
	size_t path_room;
	const struct htd_wanted *wanted; /* set by the caller */
	struct pm_amount *amounts;       /* wanted->n a path */
	size_t amount_room;
	struct htd_late *late; /* of the thread */
	struct htd_labels labels;
	struct pm_durations durations; /* by label of the walk */
	uint64_t overlapping;          /* calls that begin in another one and end after it */
};

/*
 * Walks the calls of the stream's thread i; `w` is zeroed before, but for durations.most and
 * wanted. 0, -EIO if the file has changed, -ENOTSUP beyond PM_LIMIT_DEPTH, -ENOMEM; in any case its
 * arena is dropped by the caller.
 */
int htd_lane_walk(struct htd_lane_walk *w, const struct htd_stream *s, uint32_t i,
	const struct htd_mapped *mapped);

/*
 * Whether the call with `start` and `duration` contains the other one completely. Ends may be
 * beyond 2^64.
 */
static inline bool htd_call_holds(
	uint64_t start, uint64_t duration, uint64_t inner_start, uint64_t inner_duration)
{
	return inner_start >= start && inner_start - start <= duration &&
		inner_duration <= duration - (inner_start - start);
}

/*
 * The self time of a call, at first and after the next of its children. It has a sign, because
 * children may overlap. PM_NO_SELF: it does not fit, because the clock was set back.
 */
static inline uint64_t htd_self_at_first(uint64_t duration)
{
	return duration <= (uint64_t)INT64_MAX ? duration : PM_NO_SELF;
}

static inline uint64_t htd_self_without(uint64_t self, uint64_t child)
{
	int64_t rest;
	bool fits = self != PM_NO_SELF && !__builtin_sub_overflow((int64_t)self, child, &rest);
	return fits ? (uint64_t)rest : PM_NO_SELF;
}

/*
 * ---- calls (contexts.c) ----
 * The tree of label paths with its costs, and the calls of each thread in time order with their
 * contexts. Built on first need, const from then on.
 */

/* A row of labels.csv. */
struct htd_label_cost {
	uint64_t calls, min, max;
	pm_sum incl, excl;
	uint32_t open;  /* while adding up: open contexts with this label */
	uint32_t frame; /* of the tree, or HTD_NONE if no call has it */
};

struct htd_calls {
	const struct htd_stream *s;
	struct htd_mapped mapped;
	struct htd_labels labels;
	struct htd_label_cost *by_label;
	size_t n_labels, label_room;
	struct pm_durations *durations; /* by label; until percentiles are looked for */
	uint32_t *ranked;               /* labels that calls have, most inclusive time first */
	size_t n_ranked;
	struct htd_lane *lanes; /* s->n_threads */
	struct pm_tree *tree;
	struct pm_callcosts costs;
	const struct htd_wanted *wanted;
	struct pm_costs all; /* if anything is wanted: those of calls, too */
	/* By label: inclusive (of outermost instances) and own sums of each field. */
	struct pm_amount *of_labels;
	uint64_t overlapping; /* number of calls that begin in another call and end after it */
};

/* In a build; zeroed before. */
void htd_calls_build(struct pm_arena *a, struct htd_calls *c, const struct htd_stream *s,
	const struct htd_wanted *wanted, struct pm_error *err);

static inline uint64_t htd_child_key(uint32_t parent, uint32_t frame)
{
	return (uint64_t)(uint32_t)(parent + 1) << 32 | frame; /* PM_NONE + 1 = 0: the top */
}

/* ---- percentiles of the durations of calls (durations.c) ---- */

struct htd_percentiles {
	const struct htd_calls *calls;
	struct pm_call_times *of_label;
	struct pm_call_times *of_function; /* of the tree */
};

/*
 * Takes the durations that were counted with the calls; if those are not enough, reads the stream
 * again. In a build; `ret` is zeroed before.
 */
void htd_percentiles_find(struct pm_arena *a, struct htd_percentiles *ret,
	const struct htd_calls *c, struct pm_error *err);

/* ---- the opened stream (format.c, parts.c) ---- */

/* How classes/NAME/events.csv shows the fields of a class version. */
struct htd_sheet {
	const char *const
		*columns; /* seq, timestamp, id, time_ns, then the fields: numbers first */
	uint32_t n_columns;
	const char *types;    /* see struct pm_table */
	uint32_t *cell;       /* of each of the class's columns */
	uint32_t nth;         /* version of that name, from 1 */
	struct pm_part order; /* struct htd_order of its events, for counters */
};

/* A file in counters/. */
struct htd_counter {
	uint32_t klass, column;
};

#define HTD_N_FACTS 6

enum { HTD_LABEL_COLUMNS = 11 }; /* of labels.csv, without those of -o values */

struct htd_opened {
	struct pm_watch watch;
	struct pm_input input;
	struct htd_stream stream;
	struct htd_wanted wanted;
	struct pm_damage_list damage_list;
	struct pm_damages damages;
	struct pm_arena arena;
	struct htd_sheet *sheets; /* one for each class version */
	struct htd_counter *counters;
	size_t n_counters, counter_room;
	struct pm_threads threads;
	struct pm_named_doc documents[4];
	const char *label_columns[HTD_LABEL_COLUMNS + 2 * PM_LIMIT_COUNTER_FIELDS];
	struct pm_collection collections[2];
	struct pm_lazy scan_lazy, several_lazy, facts_lazy, damage_lazy;
	bool several; /* threads; see several_lazy */
	struct pm_part calls, percentiles, children, series;
	struct pm_cache *cache; /* of segments of traces (trace.c) */
	struct pm_fact facts[HTD_N_FACTS];
	char version[16];
	struct pm_span span;
	struct pm_parts parts;
};

static inline struct htd_opened *htd_opened_of(const struct pm_profile *p)
{
	return p->self;
}

/*
 * format.c: opens a stream; takes ownership of the input, even on failure. Of the options, `values`
 * and `cache` are used.
 */
int htd_opened_new(struct pm_input *input, const struct pm_open_options *options,
	struct pm_profile *ret, struct pm_error *err);

/*
 * parts.c: reads the whole stream on first need. `stream`, `sheets`, `counters` and `threads` must
 * not be used before; getting `calls`, counting the items of a collection and starting a table all
 * do this.
 */
int htd_scan_get(void *opened, struct pm_error *err);

/* The calls, built on first need. */
int htd_calls_get(struct htd_opened *src, const struct htd_calls **ret, struct pm_error *err);

/* The contexts of calls, by htd_child_key: only traces need it. */
int htd_children_get(struct htd_opened *src, const struct pm_map **ret, struct pm_error *err);

/* The percentiles of labels, built on first need. */
int htd_percentiles_get(
	struct htd_opened *src, const struct htd_percentiles **ret, struct pm_error *err);

/* sheet.c: fills sheets and counters; part of the scan, and of its arena. */
void htd_sheets_init(struct pm_arena *a, struct htd_opened *src);

/* sheet.c: STRUCT, STRING …, or the number of a type that is not defined. */
struct pm_cell htd_data_type_cell(uint8_t data_type);

/*
 * sheet.c: whether it is a class of the traced program; whether its events have a duration and a
 * thread.
 */
bool htd_is_own_class(const struct htd_klass *k);
bool htd_is_call_class(const struct htd_klass *k);

/* classes.c: builds pm_parts.series. */
int htd_series(void *opened, struct pm_error *err);

/* trace.c: pm_profile_ops.samples and amounts. */
int64_t htd_samples(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err);
int64_t htd_samples_amounts(const struct pm_profile *p, uint32_t thread, uint64_t first,
	struct pm_sample *ret, struct pm_amount *ret_amounts, size_t room, struct pm_error *err);

/* raw.c, classes.c: the documents and collections that only this format has. */
void htd_raw_documents(struct htd_opened *src);
void htd_class_collection(const struct htd_opened *src, struct pm_collection *ret);
void htd_counter_collection(const struct htd_opened *src, struct pm_collection *ret);

/* Builds pm_parts.damage: what could not be read of the stream; reads all of it. */
int htd_damage(void *opened, struct pm_error *err);

/* model.c: the profile of a stream that may not be scanned yet. */
void htd_model_init(struct htd_opened *src, struct pm_profile *ret);

/* -EIO: an event is not where the scan found it. */
static inline int htd_has_changed(const struct htd_opened *src, struct pm_error *err)
{
	return pm_error_set(
		err, -EIO, src->input.name, PM_NO_OFFSET, "has changed since it was opened");
}

#endif
