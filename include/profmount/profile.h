/*
 * The format interface: what a format makes of an input, and everything that views know about it.
 *
 * A profile is const from open to close: all functions may be called from several threads at once
 * and return the same result each time, and everything they return lives until close. Expensive
 * parts are built on first need, never when mounting.
 *
 * The types are in headers by subject; this header has the profile that provides them. A format
 * provides typed data: column names, file names, row order and texts belong to the views and the
 * tree. The exception are things that only one format has: the format defines the names, columns
 * and texts of its own tables, documents, notes, sections, recipes and remarks. The meaning of
 * fields follows docs/namespace.md.
 */
#ifndef PROFMOUNT_PROFILE_H
#define PROFMOUNT_PROFILE_H

#include "profmount/documents.h"
#include "profmount/flat.h"
#include "profmount/metrics.h"
#include "profmount/threads.h"
#include "profmount/traces.h"
#include "profmount/tree.h"

struct pm_text;
struct pmfs_filter_what;

/* The measured execution; PM_NO_TIME if unknown. */
struct pm_span {
	uint64_t origin_ns, duration_ns;
};

/*
 * A part of a profile: data that is built once, on first need, and constant from then on. A profile
 * does not have a part that is zeroed. Parts that are built together have the same `build`, which
 * is called with pm_profile.self whenever somebody asks for one of them: it returns 0 at once after
 * it has succeeded, as pm_lazy_get does (formats/common/lazy.h), or a negative errno. It sets `it`
 * (and `n`, of lists) before it succeeds, if they were not known before.
 */
#define PM_PART(type)                                                                              \
	struct {                                                                                   \
		int (*build)(void *self, struct pm_error *err); /* NULL: it is there */            \
		const type *it;                                                                    \
		size_t n;                                                                          \
		const struct pm_profile *of; /* not NULL: it is the part of that profile */        \
	}

struct pm_parts {
	PM_PART(struct pm_tree) tree;       /* mandatory; possibly empty */
	PM_PART(struct pm_metrics) metrics; /* mandatory */
	/* None: the format has no threads, and there is neither threads/ nor threads.csv. */
	PM_PART(struct pm_threads) threads;
	/* For formats without threads: what samples() reads. Shown nowhere; pm_profile_traces. */
	PM_PART(struct pm_threads) traces;
	PM_PART(struct pm_span) span;
	/* Where calls are recorded one by one (see PM_HAS_CALL_TIMES): by function of the tree. */
	PM_PART(struct pm_call_times) call_times;
	/* Flat costs stored by the format; views derive what is missing from the contexts. */
	PM_PART(struct pm_flat) flat;
	/* For formats whose code may have no names: why there are none. */
	PM_PART(struct pm_missings) missing;
	PM_PART(struct pm_damages) damage; /* mandatory; reads everything: what could not be read */

	/* Lists. */
	PM_PART(struct pm_named_doc) documents; /* below the root (raw/…); cheap, opens nothing */
	PM_PART(struct pm_collection) collections;
	PM_PART(struct pm_source) sources;
	PM_PART(struct pm_series) series;    /* for trace.json: other events, and fields of calls */
	PM_PART(struct pm_fact) facts;       /* for info.json */
	PM_PART(struct pm_section) sections; /* for summary.txt, in this order */
};

/*
 * Properties of a source that decide which files and columns exist. Those of files are known before
 * everything has been read.
 */
enum pm_feature {
	PM_HAS_SEVERAL_THREADS, /* two or more threads: there is an imbalance.csv */
	PM_HAS_SOURCES,         /* there is a source/, which may be empty */
	PM_HAS_GPU_METRICS,     /* by their names; they may still have no values */
	PM_HAS_TRACES,          /* of threads: there is a windows/ */
	PM_HAS_CALL_TIMES,      /* columns of functions.csv; everything may have to be read */
	PM_HAS_RANKS,           /* threads may have ranks, and listing them reads little */
	PM_HAS_TIMES,           /* on processors, of one run: metrics that may have no values */
};

/*
 * All functions return 0 (or a count), or a negative errno with `err` filled. A function is NULL if
 * the format does not have the data, unless it is marked as mandatory. Functions that fill
 * `ret[room]` return the number of items filled: less than `room` only at the end, 0 beyond it.
 */
struct pm_profile_ops {
	/*
	 * Optional, where everything has to be read to know what there is: reads it, then sets the
	 * fields of pm_profile marked with * and the parts, and sets operations to NULL whose data
	 * the source does not have. Before it has returned 0, only `changed`, `warm` and `close`
	 * may be called, and none of those fields and parts used. See pm_profile_ready.
	 */
	int (*ready)(const struct pm_profile *p, struct pm_error *err);

	/* With `threads`. */
	int (*thread_counts)(const struct pm_profile *p, uint32_t thread,
		struct pm_thread_counts *ret, struct pm_error *err);

	/* Mandatory, if there are contexts: costs of the whole run at one. */
	int64_t (*run_costs)(const struct pm_profile *p, uint32_t context, struct pm_value *ret,
		size_t room, struct pm_error *err);
	/*
	 * The values of a thread or context, from the `first` on. Of a thread, values of a context
	 * are adjacent, and contexts outside the tree may occur; of a context, threads come in any
	 * order. `of.stored` makes no difference unless the profile `stores_values`.
	 */
	int64_t (*values)(const struct pm_profile *p, struct pm_values_of of, uint64_t first,
		struct pm_value *ret, size_t room, struct pm_error *err);

	/*
	 * A thread's trace, from sample `first` on: samples in time order, calls in pre-order of
	 * their tree, each behind its caller and all that this one called before.
	 */
	int64_t (*samples)(const struct pm_profile *p, uint32_t thread, uint64_t first,
		struct pm_sample *ret, size_t room, struct pm_error *err);
	/*
	 * Optional, of calls: the same, with the numbers that each of them has: pm_profile.n_events
	 * a call, in the order of events.
	 */
	int64_t (*amounts)(const struct pm_profile *p, uint32_t thread, uint64_t first,
		struct pm_sample *ret, struct pm_amount *ret_amounts, size_t room,
		struct pm_error *err);
	/*
	 * Optional, where this costs less than two calls of `samples`: the times of the first and
	 * last sample of a trace, PM_NO_TIME if it cannot be read. 0 or a negative errno.
	 */
	int (*trace_ends)(const struct pm_profile *p, uint32_t thread, uint64_t *ret_first_ns,
		uint64_t *ret_last_ns, struct pm_error *err);
	/* With `traces`: appends the directory, from the root, of the call with that `seq`. */
	int (*call_path)(const struct pm_profile *p, uint64_t seq, struct pm_text *out,
		struct pm_error *err);

	/*
	 * 1 or 0, the same each time. Optional, for formats that have to read everything to list
	 * threads and sources; should be as quick as possible. NULL: views use the lists.
	 */
	int (*has)(const struct pm_profile *p, enum pm_feature feature, struct pm_error *err);

	/* The k-th format-specific document of a thread (raw/…): 1, or 0 beyond the last; cheap. */
	int (*thread_document)(const struct pm_profile *p, uint32_t thread, uint32_t k,
		struct pm_named_doc *ret, struct pm_error *err);
	/* What only this format has in a window; cheap. `ret` is zeroed before. */
	void (*window)(const struct pm_window *window, struct pm_window_own *ret);

	/*
	 * Optional, if these are not known from the beginning of the source: pm_profile.title,
	 * .kind_of_tree.
	 */
	int (*title)(const struct pm_profile *p, struct pm_bytes *ret, struct pm_error *err);
	const char *(*kind_of_tree)(const struct pm_profile *p);

	/* Appends lines `$ command` for recipes.txt that show format-specific features. */
	int (*recipes)(const struct pm_profile *p, struct pm_text *out, struct pm_error *err);
	/* Appends sentences, one per line: what a reader must know to interpret the numbers. */
	int (*remarks)(const struct pm_profile *p, struct pm_text *out, struct pm_error *err);
	/*
	 * Optional, for several runs: the same with each of them filtered (fs/filters/filter.h). It
	 * outlives `*ret`, which the caller closes.
	 */
	int (*filtered)(const struct pm_profile *p, const struct pmfs_filter_what *what,
		struct pm_profile **ret, struct pm_error *err);
	/*
	 * Optional: reads the data that nearly every document needs, once the mount is ready and
	 * before the first request. Errors are ignored here; they occur again on request.
	 */
	void (*warm)(const struct pm_profile *p);
	/* For profiles returned by a collection. `memory`: bytes used at the moment. */
	void (*close)(struct pm_profile *p);
	uint64_t (*memory)(const struct pm_profile *p);
	/* True once a change of the source since opening has been detected; cheap. NULL: never. */
	bool (*changed)(const struct pm_profile *p);
};

/* A root entry that only this format has, with a sentence for README.txt. */
struct pm_note {
	const char *name;
	const char *text;
};

/* What samples with a weight, or numbers of calls, are of, and what they add to. */
struct pm_event {
	struct pm_bytes name;
	/* Groups of metrics: that of weights, in their unit, and the number of samples; or PM_NONE.
	 */
	uint32_t weights, samples;
	uint32_t decimals; /* numbers of calls are whole in units of 10^-decimals */
	bool no_zeros;     /* where those of the run add up to 0 there is no value */
};

struct pm_profile {
	const struct pm_profile_ops *ops;
	const struct pm_parts *parts;
	const char *format;       /* set by pm_profile_open: a name of --formats */
	const char *source;       /* set by pm_profile_open: absolute path */
	uint64_t opened_ns;       /* set by pm_profile_open: time of opening, since the epoch */
	const char *layout;       /* *which variant was recognised */
	struct pm_bytes title;    /* *see pm_profile_title */
	uint64_t mtime_ns;        /* time of measurement, else the input's mtime; since the epoch */
	uint64_t measured_ns;     /* *when it was measured, if the source says so; else 0 */
	uint64_t input_bytes;     /* size of the source, for statfs */
	const char *kind_of_tree; /* *see pm_profile_kind_of_tree */
	bool traces_are_calls;    /* *trace.csv gets self_ns and seq */
	/*
	 * *Samples are instants with a weight and no duration, in the order of time: trace.csv gets
	 * period and event. Costs follow from weights, not from times; all quantities are of
	 * events.
	 */
	bool samples_are_weighed;
	/* *What weights of samples, also of those without times, and numbers of calls are of. */
	const struct pm_event *events;
	uint32_t n_events;
	bool calls_in_order;     /* *with it: samples() sorts them by time_ns, whatever is stored */
	bool times_since_epoch;  /* *timestamp_ns counts from 1970, in UTC */
	bool costs_by_thread;    /* costs are cheap thread by thread, not context by context */
	bool stores_values;      /* values as stored differ from costs */
	bool inclusive_overlaps; /* *at the top: only exclusive costs add up to the total */
	bool lead_by_name;       /* names and units decide which quantity is primary, whatever it
				    costs: parts of a profile have the same columns */
	bool has_lines;          /* *the format knows source lines: there is a lines.csv */
	bool has_files;          /* *functions have files: there is a files.csv */
	bool has_cycles;         /* *pm_flat.cycles: there is a cycles.csv */
	bool has_modules;        /* *functions have modules: there is a modules.csv */
	bool gpu_frames;         /* *frames say what is time of GPUs (on_gpu), not their threads */
	/*
	 * For formats without modules: the separator after the package or class in function names.
	 */
	const char *module_end;
	const struct pm_note *notes; /* ends with a NULL name; NULL: none */
	/* Of runs, or of a run compared with another: the name of the one that is compared with. */
	const char *baseline;
	const struct pm_window *window; /* the part of a run that this is; NULL: it is no part */
	void *self;                     /* private data of the format */
};

/* Call before anything else is asked of a profile that may have been opened just now. O(1) then. */
static inline int pm_profile_ready(const struct pm_profile *p, struct pm_error *err)
{
	return p->ops->ready ? p->ops->ready(p, err) : 0;
}

/* May read the source, and fails if that fails, since a default title would be a different one. */
static inline int pm_profile_title(
	const struct pm_profile *p, struct pm_bytes *ret, struct pm_error *err)
{
	*ret = p->title;
	return p->ops->title ? p->ops->title(p, ret, err) : 0;
}

/*
 * info.json contexts_are: "calls", "edges", "samples". May read the source; if that fails, returns
 * what is known without reading.
 */
static inline const char *pm_profile_kind_of_tree(const struct pm_profile *p)
{
	return p->ops->kind_of_tree ? p->ops->kind_of_tree(p) : p->kind_of_tree;
}

/* Whether a profile has a part, which may be empty; known once the profile is ready. */
#define pm_profile_has(p, part)                                                                    \
	((p)->parts->part.build || (p)->parts->part.it || (p)->parts->part.of)

/*
 * Each returns 0 with the part, which is NULL if the profile does not have it, or a negative errno
 * with NULL. O(1) once it has been built.
 */
int pm_profile_tree(const struct pm_profile *p, const struct pm_tree **ret, struct pm_error *err);
int pm_profile_metrics(
	const struct pm_profile *p, const struct pm_metrics **ret, struct pm_error *err);
int pm_profile_threads(
	const struct pm_profile *p, const struct pm_threads **ret, struct pm_error *err);
int pm_profile_call_times(
	const struct pm_profile *p, const struct pm_call_times **ret, struct pm_error *err);
int pm_profile_flat(const struct pm_profile *p, const struct pm_flat **ret, struct pm_error *err);
int pm_profile_missing(
	const struct pm_profile *p, const struct pm_missings **ret, struct pm_error *err);
int pm_profile_damage(
	const struct pm_profile *p, const struct pm_damages **ret, struct pm_error *err);

/* The same for lists, which are empty if the profile does not have them. */
int pm_profile_documents(const struct pm_profile *p, const struct pm_named_doc **ret, size_t *ret_n,
	struct pm_error *err);
int pm_profile_collections(const struct pm_profile *p, const struct pm_collection **ret,
	size_t *ret_n, struct pm_error *err);
int pm_profile_sources(const struct pm_profile *p, const struct pm_source **ret, size_t *ret_n,
	struct pm_error *err);
int pm_profile_series(const struct pm_profile *p, const struct pm_series **ret, size_t *ret_n,
	struct pm_error *err);
int pm_profile_facts(const struct pm_profile *p, const struct pm_fact **ret, size_t *ret_n,
	struct pm_error *err);
int pm_profile_sections(const struct pm_profile *p, const struct pm_section **ret, size_t *ret_n,
	struct pm_error *err);

/* The span as two numbers; PM_NO_TIME if the profile does not have it. */
int pm_profile_span(const struct pm_profile *p, uint64_t *ret_origin_ns, uint64_t *ret_duration_ns,
	struct pm_error *err);

/* The traces that samples() reads: of threads, or of no thread. An empty list if there are none. */
int pm_profile_traces(
	const struct pm_profile *p, const struct pm_threads **ret, struct pm_error *err);

/*
 * The mandatory parts, empty, for profiles that consist of documents: a tree without contexts, no
 * metrics, no damage.
 */
extern const struct pm_parts pm_nothing;

/* See pm_profile_ops.changed. If true, anything read before the call must not be used. */
static inline bool pm_profile_changed(const struct pm_profile *p)
{
	return p->ops->changed && p->ops->changed(p);
}

#endif
