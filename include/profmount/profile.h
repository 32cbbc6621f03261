/*
 * The seam: what a format makes of an input, and all that views know of it.
 *
 * A profile is const from open to close: every function here may be called from several threads at
 * once, gives the same answer each time, and whatever it points to lives until close. Formats
 * build the costly parts on first need (formats/common/lazy.h), never when mounting.
 *
 * What a format gives is described in headers by subject; here is the profile that gives it. These
 * are typed facts: column names, file names, order of rows and texts are the views' and the tree's.
 * What only one format has is the exception: it has the names, columns and words of its own tables,
 * documents, notes, sections, recipes and remarks. Field meanings follow docs/namespace.md.
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

/* What of a source decides whether files are there, and can be told before all of it was read. */
enum pm_feature {
	PM_HAS_SEVERAL_THREADS, /* two or more: there is an imbalance.csv */
	PM_HAS_SOURCES,         /* there is a source/, which may turn out empty */
	PM_HAS_GPU_METRICS,     /* by their names; whether they have values is another question */
	PM_HAS_TRACES,          /* of threads: there is a windows/ */
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
	/* For trace.json: events beside the calls, and fields of calls. */
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
	int (*title)(const struct pm_profile *p, struct pm_bytes *ret, struct pm_error *err);
	const char *(*kind_of_tree)(const struct pm_profile *p);

	/* For info.json and README.txt. */
	int (*facts)(const struct pm_profile *p, const struct pm_fact **ret, size_t *ret_n,
		struct pm_error *err);
	/* Appends README lines `$ command` that show what only this format has. */
	int (*recipes)(const struct pm_profile *p, struct pm_text *out, struct pm_error *err);
	/* Appends sentences, a line each: what one must know before believing these numbers. */
	int (*remarks)(const struct pm_profile *p, struct pm_text *out, struct pm_error *err);
	/* For summary.txt, in its order. */
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

/* May read the source, and fails where that does: a title by default would be another one. */
static inline int pm_profile_title(
	const struct pm_profile *p, struct pm_bytes *ret, struct pm_error *err)
{
	*ret = p->title;
	return p->ops->title ? p->ops->title(p, ret, err) : 0;
}

/*
 * info.json contexts_are: "calls", "edges", "samples". May read the source; where that fails it
 * gives what is known without.
 */
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
