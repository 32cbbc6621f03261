/*
 * The seam: what a format makes of an input, and all that views know of it.
 *
 * A profile is const from open to close: every function here may be called from several threads at
 * once, gives the same answer each time, and whatever it points to lives until close. Formats
 * build the costly parts on first need (formats/common/lazy.h), never when mounting.
 *
 * Formats give typed facts; column names, file names, order of rows and every word of text are the
 * views' and the tree's. Field meanings follow docs/namespace.md.
 */
#ifndef PROFMOUNT_PROFILE_H
#define PROFMOUNT_PROFILE_H

#include "profmount/document.h"

#define PM_NONE    UINT32_MAX /* no such index */
#define PM_NO_TIME UINT64_MAX /* a duration or time that is not known */

struct pm_profile;
struct pm_text;

/* ---- the calling-context tree ---- */

enum pm_kind {
	PM_KIND_ENTRY, /* where execution began: named by the database */
	PM_KIND_FUNCTION,
	PM_KIND_INLINED, /* a function that was inlined into its parent */
	PM_KIND_LOOP,
	PM_KIND_LINE,
	PM_KIND_INSTRUCTION,
	PM_KIND_PLACEHOLDER, /* a special node: <gpu kernel>, <no activity> … */
	PM_KIND_OTHER,       /* a code that the format does not define: shown as its number */
};

/* What stands on one level of a call path; interned: equal frames have one index. */
struct pm_frame {
	uint8_t kind; /* enum pm_kind */
	bool has_offset : 1;
	/* Part of the context above it, whose own cost in flat tables holds this one's, too. */
	bool nested : 1;
	/* Nothing runs there: the format says so. <no activity> */
	bool is_idle : 1;
	uint16_t code;     /* of PM_KIND_OTHER */
	uint32_t function; /* index of the function that this frame is an instance of, or PM_NONE */
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
 * The tree as flat arrays, in pre-order, siblings heaviest first (inclusive cost of the quantity
 * `ordered_by`, then database order); views put them into another order where another quantity
 * leads. Children of i: i + 1, then end[child], … below end[i]; a subtree
 * is the range i … end[i]. Texts: index 0 is the empty text, every index is in range.
 */
struct pm_tree {
	uint32_t n_contexts;
	uint32_t ordered_by;    /* a group of metrics, or PM_NONE: siblings in database order */
	const uint32_t *parent; /* PM_NONE at the top */
	const uint32_t *end;
	const uint32_t *depth; /* 0 at the top */
	const uint32_t *frame;
	const uint32_t
		*rank; /* place in database order, 0 …: siblings of one name are numbered by it */
	const uint32_t *number; /* context_id: the database's own, or NULL: index + 1 */
	uint32_t n_frames;
	const struct pm_frame *frames;
	uint32_t n_functions;
	const struct pm_function *functions;
	uint32_t n_function_ids; /* the database's own numbers are below; 0: functions have none */
	uint32_t n_texts;
	const struct pm_bytes *texts;
	const struct pm_index *by_number; /* see pm_tree_find */
};

/* The context with that number, or PM_NONE. O(1) or O(log n). */
uint32_t pm_tree_find(const struct pm_tree *tree, uint64_t number);

/* The context's number: context_id. */
static inline uint32_t pm_tree_number(const struct pm_tree *tree, uint32_t context)
{
	return tree->number ? tree->number[context] : context + 1;
}

static inline const struct pm_frame *pm_tree_frame(const struct pm_tree *tree, uint32_t context)
{
	return &tree->frames[tree->frame[context]];
}

/* ---- metrics ---- */

enum pm_role {
	PM_ROLE_INCLUSIVE, /* cost of a context and all below it: column …_incl */
	PM_ROLE_EXCLUSIVE, /* a context's own cost: column …_excl */
	PM_ROLE_COUNT,     /* a plain count: column without a suffix */
	PM_ROLE_OTHER,     /* has ids and values, but no column */
};

/* One row of metrics.csv: one kind of number that a context can have. */
struct pm_metric {
	uint32_t id;    /* metric_id */
	uint32_t group; /* metrics of one measured quantity share it; grows from 0, no gaps */
	enum pm_role role;
	bool in_tree;         /* fills its column in contexts.csv, profile.csv, imbalance.csv … */
	bool in_flat;         /* fills its column in functions, lines, callers and exports */
	bool has_values;      /* the source stores a value of this group somewhere */
	struct pm_bytes name; /* of the quantity: CPUTIME (sec) */
	struct pm_bytes unit; /* sec, ns, bytes … or empty */
	struct pm_bytes scope;
};

struct pm_metrics {
	uint32_t n;
	const struct pm_metric *metrics; /* database order */
};

/* A number of one context and one thread (0 where it is of the whole run). */
struct pm_value {
	uint64_t context; /* number, also one that the tree does not know */
	uint32_t metric;  /* id */
	uint32_t thread;  /* index, see struct pm_threads; PM_NONE for the whole run */
	bool whole;       /* u or i holds it, f does not */
	bool negative;    /* of a whole one: i holds it */
	union {
		double f;
		uint64_t u; /* an integer, perhaps beyond what a double can hold */
		int64_t i;
	};
};

/* ---- threads ---- */

struct pm_identity {
	uint32_t key; /* index into pm_threads.keys */
	uint64_t value;
};

struct pm_thread {
	uint32_t id; /* thread_id */
	uint32_t n_identity;
	const struct pm_identity *identity; /* in stored order: the levels of its directory */
	bool has_trace;
	uint64_t n_samples;   /* of the trace; O(1) to know */
	struct pm_bytes file; /* the file it was read from, for formats with one each */
};

struct pm_threads {
	uint32_t n;
	const struct pm_thread *threads;
	uint32_t n_keys;
	const char *const
		*keys;  /* identity columns, lower case, in the order in which they appear */
	bool has_files; /* threads.csv gets the column `file` */
};

/* What threads.csv says of a thread beyond its identity; PM_NO_TIME = unknown. */
struct pm_thread_counts {
	uint64_t contexts;
	uint64_t values;
	uint64_t last_ns; /* where traces are calls: the latest end, as stored; 0 = unknown */
};

/*
 * Time as a line profiler measures it, statement by statement: apart from the time of calls, and
 * also of code that is in no function. The costs in pm_lines are of it.
 */
struct pm_statements {
	double whole_ns;   /* of all threads */
	double outside_ns; /* of it, in code that is in no function but the program's main one */
};

struct pm_sample {
	uint64_t time_ns;     /* as stored, in ns */
	uint64_t duration_ns; /* PM_NO_TIME: none */
	uint64_t context;     /* number; 0 = nothing running, one the tree lacks = unknown */
	uint64_t self_ns;     /* of calls: duration less direct children's; two's complement */
	uint64_t seq;         /* of calls: the event's place in the stream */
};

/* ---- what a format has natively and views else derive from the contexts ---- */

/* A call edge: caller → callee at one place. Values: see pm_edges. */
struct pm_edge {
	uint32_t caller; /* function index, or PM_NONE */
	uint32_t callee;
	uint32_t file; /* text: of the call site */
	uint32_t line; /* 0 = unknown */
	uint64_t calls;
};

struct pm_edges {
	uint64_t n;
	const struct pm_edge *edges;
	const double *values; /* n rows of pm_metrics.n cells, metric order; NaN = none */
};

struct pm_line {
	uint32_t file; /* text */
	uint32_t line;
	uint32_t function; /* index of the function around it, or PM_NONE */
};

struct pm_lines {
	uint64_t n;
	const struct pm_line *lines;
	const double *values; /* as in pm_edges */
};

/* ---- documents that only this format has ---- */

/* What of a profile is shown in the directory of an item that is one. */
enum pm_shape {
	PM_SHAPE_TRACE, /* one trace of calls: flamegraph.svg, trace.chrome.json */
	PM_SHAPE_RUN,   /* a tree of its own: everything that the root of a mount has */
	PM_N_SHAPES,
};

/* A directory of n items: each a directory with the same kind of documents, or a document. */
struct pm_collection {
	const char *path; /* below the root: stores/000000/chunks */
	uint32_t n;       /* unless there is `count` */
	bool flat;        /* items are documents, not directories */
	const void *self;
	uint64_t a;
	/* Optional, where counting takes work: called before any item is asked for. */
	int (*count)(const struct pm_collection *c, uint32_t *ret, struct pm_error *err);
	/*
	 * Item i's name, raw (the tree makes it legal and unique); valid until `scratch` changes.
	 * The tree finds items by an index over these names unless `find` is there.
	 */
	struct pm_bytes (*name)(const struct pm_collection *c, uint32_t i, struct pm_text *scratch);
	/* Optional, for names that are legal and unique by construction: item by name. */
	bool (*find)(const struct pm_collection *c, struct pm_bytes name, uint32_t *ret_i);
	/* Optional, where `find` knows items that are not listed, n and beyond: is there such? */
	bool (*has)(const struct pm_collection *c, uint32_t i);
	/* The k-th document of item i: 1, or 0 beyond the last. Plain file names; O(1). */
	int (*document)(
		const struct pm_collection *c, uint32_t i, uint32_t k, struct pm_named_doc *ret);
	/*
	 * Optional: item i is a profile, and views add to its directory what `shape` says. Opening
	 * is cheap: its parts are built on first need. `*ret` is the caller's, who gives it back
	 * with ops->close and has at most one of an item open; `c` outlives it.
	 */
	int (*profile)(const struct pm_collection *c, uint32_t i, struct pm_profile **ret,
		struct pm_error *err);
	enum pm_shape shape;
};

/*
 * A short table that only this format has, most telling rows first: summary.txt shows its title and
 * its rows. The last column is text, and may be long. Columns of times end with `_ns`.
 */
struct pm_section {
	const char *title; /* Slowest traces */
	struct pm_table table;
};

/*
 * Events that a traced program recorded beside its calls, or fields of calls beyond when, how long
 * and what: a row an event, in the order of the stream. Of the columns, `seq` has its place in the
 * stream, the one that a call's sample has, and `time` its time from the time origin in ns.
 */
enum pm_series_kind {
	PM_SERIES_COUNTER, /* numbers over time */
	PM_SERIES_INSTANT, /* events without numbers */
	PM_SERIES_CALLS,   /* fields of calls */
};

struct pm_series {
	enum pm_series_kind kind;
	struct pm_bytes name;
	struct pm_table table;
	uint64_t n; /* rows */
	uint32_t seq, time;
	const bool *fields; /* by column: is a field to be shown */
};

/* A source file that the profile carries: source/PATH. */
struct pm_source {
	const char *path;     /* below source/; legal names, no `..` */
	struct pm_bytes file; /* as the `file` columns name it */
	struct pm_doc doc;
};

/* A fact about the run for info.json; a TEXT, U64, I64 or F64 cell, EMPTY = null. */
struct pm_fact {
	const char *key;
	struct pm_cell value;
};

/* A row of damage.csv. */
struct pm_damage {
	uint64_t offset;  /* PM_NO_OFFSET: empty */
	uint64_t bytes;   /* PM_NO_OFFSET: empty */
	const char *file; /* relative to the source */
	const char *what;
};

struct pm_damages {
	size_t n;
	const struct pm_damage *rows; /* file order, then offset */
};

/* ---- the profile ---- */

/* What of a source decides whether files are there, and can be told before all of it was read. */
enum pm_feature {
	PM_HAS_SEVERAL_THREADS, /* two or more: there is an imbalance.csv */
	PM_HAS_SOURCES,         /* there is a source/, which may turn out empty */
};

/*
 * All functions return 0 (or a count) or a negative errno with `err` filled. NULL where the
 * format has no such thing; what is mandatory says so. Functions that fill `ret[room]` return how
 * many they filled, fewer than `room` only at the end, 0 beyond it.
 */
struct pm_profile_ops {
	/* Mandatory. The context tree, possibly empty. */
	int (*tree)(const struct pm_profile *p, const struct pm_tree **ret, struct pm_error *err);
	/* Mandatory. */
	int (*metrics)(
		const struct pm_profile *p, const struct pm_metrics **ret, struct pm_error *err);
	/* NULL: the format knows no threads, so there are no threads/ and no threads.csv. */
	int (*threads)(
		const struct pm_profile *p, const struct pm_threads **ret, struct pm_error *err);
	int (*thread_counts)(const struct pm_profile *p, uint32_t thread,
		struct pm_thread_counts *ret, struct pm_error *err);

	/* Costs, as columns show them. Mandatory: of the whole run at a context (by index). */
	int64_t (*run_costs)(const struct pm_profile *p, uint32_t context, struct pm_value *ret,
		size_t room, struct pm_error *err);
	/* Of one thread, values of one context adjacent; contexts outside of the tree may occur. */
	int64_t (*thread_costs)(const struct pm_profile *p, uint32_t thread, uint64_t first,
		struct pm_value *ret, size_t room, struct pm_error *err);
	/* Of one context (by number), all threads, in any order. */
	int64_t (*context_costs)(const struct pm_profile *p, uint64_t number, uint64_t first,
		struct pm_value *ret, size_t room, struct pm_error *err);

	/* Values exactly as stored, in stored order: values.csv. NULL: the same as the costs. */
	int64_t (*thread_values)(const struct pm_profile *p, uint32_t thread, uint64_t first,
		struct pm_value *ret, size_t room, struct pm_error *err);
	int64_t (*context_values)(const struct pm_profile *p, uint64_t number, uint64_t first,
		struct pm_value *ret, size_t room, struct pm_error *err);

	/* A thread's trace in time order, from sample `first` on. */
	int64_t (*samples)(const struct pm_profile *p, uint32_t thread, uint64_t first,
		struct pm_sample *ret, size_t room, struct pm_error *err);
	/* For trace.json: what stands beside the calls, and in them. */
	int (*series)(const struct pm_profile *p, const struct pm_series **ret, size_t *ret_n,
		struct pm_error *err);
	/* Time origin and span of the measured execution; PM_NO_TIME where unknown. */
	int (*span)(const struct pm_profile *p, uint64_t *ret_origin_ns, uint64_t *ret_duration_ns,
		struct pm_error *err);

	/*
	 * 1 or 0, the same each time. Optional, for formats whose lists of threads and sources take
	 * reading everything; as quick as can be. NULL: views look into the lists.
	 */
	int (*has)(const struct pm_profile *p, enum pm_feature feature, struct pm_error *err);

	/*
	 * Natively known flat costs; NULL, or -ENOENT from edges: views derive them from the
	 * contexts.
	 */
	int (*edges)(const struct pm_profile *p, const struct pm_edges **ret, struct pm_error *err);
	int (*lines)(const struct pm_profile *p, const struct pm_lines **ret, struct pm_error *err);
	/* n_functions rows of pm_metrics.n cells, NaN = none. */
	int (*function_costs)(const struct pm_profile *p, const double **ret, struct pm_error *err);
	/* Where time is also measured by statement; metrics have it by thread and function. */
	int (*statements)(
		const struct pm_profile *p, struct pm_statements *ret, struct pm_error *err);

	/* Documents at fixed paths below the root (raw/…); cheap, opens nothing. */
	int (*documents)(const struct pm_profile *p, const struct pm_named_doc **ret, size_t *ret_n,
		struct pm_error *err);
	/* The k-th own document of a thread (raw/…): 1, or 0 beyond the last; cheap. */
	int (*thread_document)(const struct pm_profile *p, uint32_t thread, uint32_t k,
		struct pm_named_doc *ret, struct pm_error *err);
	int (*collections)(const struct pm_profile *p, const struct pm_collection **ret,
		size_t *ret_n, struct pm_error *err);
	int (*sources)(const struct pm_profile *p, const struct pm_source **ret, size_t *ret_n,
		struct pm_error *err);

	/* Optional, where the beginning of the source does not tell: pm_profile.title,
	 * .kind_of_tree. */
	struct pm_bytes (*title)(const struct pm_profile *p);
	const char *(*kind_of_tree)(const struct pm_profile *p);

	/* For info.json and README.txt. */
	int (*facts)(const struct pm_profile *p, const struct pm_fact **ret, size_t *ret_n,
		struct pm_error *err);
	/* Appends README lines `$ command` that show what only this format has. */
	int (*recipes)(const struct pm_profile *p, struct pm_text *out, struct pm_error *err);
	/* Appends sentences, a line each: what one must know before believing these numbers. */
	int (*remarks)(const struct pm_profile *p, struct pm_text *out, struct pm_error *err);
	/* For summary.txt, in the order in which they stand there. */
	int (*sections)(const struct pm_profile *p, const struct pm_section **ret, size_t *ret_n,
		struct pm_error *err);
	/* Mandatory. Reads everything on first call and says what could not be read. */
	int (*damage)(
		const struct pm_profile *p, const struct pm_damages **ret, struct pm_error *err);
	/*
	 * Optional: reads what nearly every answer needs, once the mount is ready and before
	 * anybody asks. What fails there fails again for whoever asks.
	 */
	void (*warm)(const struct pm_profile *p);
	/* Of profiles that a collection gives. `memory`: bytes that it takes at the moment. */
	void (*close)(struct pm_profile *p);
	uint64_t (*memory)(const struct pm_profile *p);
	/* True once the source is seen to have changed since it was opened; cheap. NULL: never. */
	bool (*changed)(const struct pm_profile *p);
};

/* An entry of the root that only this format has, and a sentence for README.txt. */
struct pm_note {
	const char *name;
	const char *text;
};

struct pm_profile {
	const struct pm_profile_ops *ops;
	const char *format;       /* set by pm_profile_open: a name of --formats */
	const char *source;       /* set by pm_profile_open: absolute path */
	uint64_t opened_ns;       /* set by pm_profile_open: when, since the epoch */
	const char *layout;       /* which variant was recognised */
	struct pm_bytes title;    /* see pm_profile_title */
	uint64_t mtime_ns;        /* time of measurement, else the input's mtime; since the epoch */
	uint64_t input_bytes;     /* size of the source, for statfs */
	const char *kind_of_tree; /* see pm_profile_kind_of_tree */
	bool traces_are_calls;    /* trace.csv gets self_ns and seq */
	bool costs_by_thread;     /* cheap thread by thread, not context by context */
	bool has_lines;           /* the format knows source lines: lines.csv, files.csv */
	bool has_modules;         /* functions have modules: there is a modules.csv */
	/* For formats without: functions' names begin with a package or class and these bytes. */
	const char *module_end;
	const struct pm_note *notes; /* ends with a NULL name; NULL: none */
	void *self;                  /* the format's own */
};

/* Both may read the source; where that fails they give what is known without. */
static inline struct pm_bytes pm_profile_title(const struct pm_profile *p)
{
	return p->ops->title ? p->ops->title(p) : p->title;
}

/* info.json contexts_are: "calls", "edges", "samples" */
static inline const char *pm_profile_kind_of_tree(const struct pm_profile *p)
{
	return p->ops->kind_of_tree ? p->ops->kind_of_tree(p) : p->kind_of_tree;
}

/* See pm_profile_ops.changed. What was read before the question is then not to be trusted. */
static inline bool pm_profile_changed(const struct pm_profile *p)
{
	return p->ops->changed && p->ops->changed(p);
}

#endif
