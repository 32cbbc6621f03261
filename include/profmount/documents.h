/* Format interface: documents that only one format has. */
#ifndef PROFMOUNT_SEAM_DOCUMENTS_H
#define PROFMOUNT_SEAM_DOCUMENTS_H

#include "profmount/document.h"
#include "profmount/tree.h"

struct pm_profile;

/* If an item is a profile: what its directory shows of the profile. */
enum pm_shape {
	PM_SHAPE_TRACE,      /* one trace of calls: flamegraph.svg, trace.chrome.json */
	PM_SHAPE_RUN,        /* a tree of its own: everything that the root of a mount has */
	PM_SHAPE_COMPARISON, /* a tree with its own documents and collections only */
	PM_SHAPE_ENSEMBLE,   /* the same; its items are sources, each with its own colours */
	PM_SHAPE_WINDOW,     /* a part of a run in time: tables, pictures, threads/, export/ */
	PM_N_SHAPES,
};

/*
 * A directory of n items. An item is a directory (with the same kind of documents as the others),
 * or a document.
 */
struct pm_collection {
	const char *path; /* below the root: stores/000000/chunks */
	uint32_t n;       /* unused if there is `count` */
	bool flat;        /* items are documents, not directories */
	const void *self;
	uint64_t a;
	/* Optional, if counting takes work: called before any other function for an item. */
	int (*count)(const struct pm_collection *c, uint32_t *ret, struct pm_error *err);
	/*
	 * Item i's name, raw (the tree makes it legal and unique); valid until `scratch` changes.
	 * The tree finds items by an index over these names unless `find` is there.
	 */
	struct pm_bytes (*name)(const struct pm_collection *c, uint32_t i, struct pm_text *scratch);
	/*
	 * Optional, for names that are legal and unique by construction: item by name: 1, 0 if
	 * there is none, or -ENOMEM.
	 */
	int (*find)(const struct pm_collection *c, struct pm_bytes name, uint32_t *ret_i);
	/*
	 * Optional, if `find` knows items that are not listed (n and above): 1 if item i exists,
	 * else 0, or a negative errno.
	 */
	int (*has)(const struct pm_collection *c, uint32_t i, struct pm_error *err);
	/*
	 * With `find` and `has`: items from PM_FIRST_UNLISTED on are numbers of names that are not
	 * listed (formats/common/unlisted.h). Collections of this kind come last in a tree.
	 */
	bool has_unlisted;
	/* Optional, where items are directories: item i is a document itself, its first one. */
	bool (*is_document)(const struct pm_collection *c, uint32_t i);
	/* The k-th document of item i: 1, or 0 beyond the last. Plain file names; O(1). */
	int (*document)(
		const struct pm_collection *c, uint32_t i, uint32_t k, struct pm_named_doc *ret);
	/*
	 * Optional: item i is a profile, and views add files to its directory according to `shape`.
	 * Opening is cheap: parts are built on first need. The caller owns `*ret`, closes it with
	 * ops->close, and has at most one open per item; `c` outlives it.
	 */
	int (*profile)(const struct pm_collection *c, uint32_t i, struct pm_profile **ret,
		struct pm_error *err);
	enum pm_shape shape;
};

/*
 * A part of a run in time. What begins at `end_ns` is outside, unless the run ends there. `profile`
 * has its contexts and costs.
 */
struct pm_window {
	const struct pm_profile *run, *profile;
	uint64_t start_ns, end_ns; /* as samples have them */
	bool is_last;              /* the run ends at end_ns */

	/*
	 * Where calls are on no thread: the first records from `from` on, as samples() of the run
	 * numbers them, of which some may lie inside: 1, 0 if there are none, or a negative errno.
	 */
	int (*records)(const struct pm_window *w, uint64_t from, uint64_t *ret_first,
		uint64_t *ret_end, struct pm_error *err);
	/* Likewise: 1 if all records lie inside as a whole, so that all calls of the run do; 0. */
	int (*has_all)(const struct pm_window *w, struct pm_error *err);

	struct pm_window_part *parts; /* of the format: PM_WINDOW_PARTS of them */
};

/* Whether that moment lies inside. */
static inline bool pm_window_has(const struct pm_window *w, uint64_t time_ns)
{
	return time_ns >= w->start_ns &&
		(time_ns < w->end_ns || (w->is_last && time_ns == w->end_ns));
}

enum { PM_WINDOW_PARTS = 2 };

/* What a format makes for its documents of a window, once. */
struct pm_window_part {
	struct pm_lazy *once;
	void *data;
	void (*free)(void *data);
	uint64_t bytes; /* atomic: of memory, about */
};

/*
 * A short table for summary.txt that only this format has, most important rows first; shown with
 * its title. The last column is text and may be long. Time columns end with `_ns`.
 */
struct pm_section {
	const char *title; /* Slowest traces */
	struct pm_table table;
};

/* What only the format has in a window. */
struct pm_window_own {
	struct pm_named_doc documents[12];
	struct pm_collection collections[2];
	struct pm_section sections[4];
	size_t n_documents, n_collections, n_sections;
};

/* A source file contained in the profile: source/PATH. */
struct pm_source {
	const char *path;     /* below source/; legal names, no `..` */
	struct pm_bytes file; /* its name in the `file` columns */
	struct pm_doc doc;
};

/* A fact about the run for info.json; a TEXT, U64, I64 or F64 cell, EMPTY = null. */
struct pm_fact {
	const char *key;
	struct pm_cell value;
};

/*
 * A load module of which code has no names, as far as the format knows it: what it looked for and
 * why there are none. Views find out how much of the cost that is.
 */
struct pm_missing {
	struct pm_bytes module;   /* as in frames */
	struct pm_bytes build_id; /* hexadecimal; empty: unknown */
	const char *why;          /* such as: no file with this build id */
	const char *tried;        /* the places, with `; ` between them; empty: none */
};

struct pm_missings {
	size_t n;
	const struct pm_missing *rows; /* a module once */
	const char *why;               /* of modules that have no row */
	const char *advice;            /* what a reader can do about it: a few words */
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

#endif
