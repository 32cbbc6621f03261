/*
 * An opened measurement and its parts, from the bottom up. Mounting lists the directory. Identities
 * need the beginnings of the files, times need the traces, and everything else needs the merged
 * tree, which includes the costs of the run. Costs of single threads and contexts are decoded from
 * the files again and cached.
 *
 * 	thread list ──→ merged ──→ decoded
 * 	  └──→ times
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_HPCRUN_H
#define PROFMOUNT_FORMATS_HPCRUN_HPCRUN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/common/arena.h"
#include "formats/common/cache.h"
#include "formats/common/cursor.h"
#include "formats/common/damage.h"
#include "formats/common/input.h"
#include "formats/common/lazy.h"
#include "formats/common/map.h"
#include "formats/common/text.h"
#include "formats/common/tree.h"
#include "formats/hpcrun/profile.h"
#include "formats/symbols/symbols.h"
#include "profmount/error.h"
#include "profmount/profile.h"

/* ---- the files of a source (folder.c) ---- */

struct hpcrun_file {
	char *name; /* in the folder; owned; NULL: there is none */
	uint64_t size, mtime_ns;
	struct pm_watch *watch; /* owned */
};

/* The files of one thread: a profile, a trace, or both. */
struct hpcrun_source {
	struct hpcrun_file profile, trace;
};

struct hpcrun_folder {
	int fd;                        /* owned; -1 when closed */
	struct hpcrun_source *sources; /* owned; by name */
	uint32_t n;
	bool no_symbols;      /* do not look up names of addresses */
	struct sym_root root; /* where its load modules are looked for */
	bool changed;         /* atomic: a file has changed since it was listed */
};

/* 1 if the directory contains a name of a measurement file, else 0; -EIO if it cannot be listed. */
int hpcrun_folder_probe(int fd);

/* Lists the directory; opens nothing in it. */
int hpcrun_folder_open(struct hpcrun_folder *ret, int fd, const char *path, struct pm_error *err);

/*
 * One file, and the other file beside it of the same thread. `is_trace`: the given file is a trace.
 */
int hpcrun_folder_open_file(
	struct hpcrun_folder *ret, const char *path, bool is_trace, struct pm_error *err);

/* Accepts a zeroed one. */
void hpcrun_folder_close(struct hpcrun_folder *f);

/* Maps a listed file; -EIO if it has changed since, except by growing. Thread-safe. */
int hpcrun_file_open(struct hpcrun_folder *f, const struct hpcrun_file *file, struct pm_input *ret,
	struct pm_error *err);

/* Announces bytes of it that will be read next; not needed for heads, which are kept. */
void hpcrun_file_use(struct pm_input *in, uint64_t off, uint64_t len);

/* Accepts a zeroed one. Notices a file that has changed while it was open. */
void hpcrun_file_close(struct hpcrun_folder *f, struct pm_input *in);

bool hpcrun_folder_changed(const struct hpcrun_folder *f);

/*
 * In a build, whose arena has the file until it is dropped. NULL, and `err`, if it cannot be read.
 */
struct pm_input *hpcrun_file_map(struct pm_arena *a, struct hpcrun_folder *f,
	const struct hpcrun_file *file, struct pm_error *err);

/*
 * The same, and reads as much of a profile as `extent` says. Losses are reported in `damage`,
 * unless it is NULL.
 */
const struct hpcrun_profile *hpcrun_profile_open(struct pm_arena *a, struct hpcrun_folder *folder,
	const struct hpcrun_file *file, enum hpcrun_extent extent, struct pm_damage_list *damage,
	struct pm_error *err);

/* The program with most bytes in its files; lives as long as the folder. */
struct pm_bytes hpcrun_program_find(const struct hpcrun_folder *folder);

/* Where names of its addresses come from; lives as long as the folder. */
struct sym_place hpcrun_symbols_place(const struct hpcrun_folder *folder);

/* The name without .hpcrun or .hpctrace. */
struct pm_bytes hpcrun_file_stem(const struct hpcrun_file *file);

/* The name of the profile or, if there is none, of the trace. */
const struct hpcrun_file *hpcrun_source_file(const struct hpcrun_source *s);

/* In a build: to be called for each item i of a long loop. */
static inline void hpcrun_proceed(struct pm_arena *a, uint64_t i)
{
	if (i % 4096 == 0)
		pm_build_proceed(a);
}

/* ---- names (names.c) ---- */

/* The parts of a measurement file's name: EXE-RANK-THREAD-HOST-PID-GENERATION. */
struct hpcrun_file_name {
	struct pm_bytes program; /* the whole stem if it does not have these parts */
	bool has_parts;          /* the numbers below are known */
	struct pm_bytes host;    /* its id, in hex */
	uint64_t rank, thread, pid;
};

/* `stem`: without its ending. */
struct hpcrun_file_name hpcrun_file_name_parse(struct pm_bytes stem);

/* A number in plain decimal that fits; false for anything else. */
bool hpcrun_number_parse(struct pm_bytes text, uint64_t *ret);

/* Special module ids. */
enum {
	HPCRUN_MODULE_NONE = 0,
	HPCRUN_MODULE_GPU_CONTEXT = 65531,
	HPCRUN_MODULE_GPU_RANGE = 65532,
	HPCRUN_MODULE_GPU_ROOT = 65533,
	HPCRUN_MODULE_DUMMY = 65534,
};

bool hpcrun_is_special_module(uint32_t id);

/* Appends the name of a special node: <program root>. */
void hpcrun_placeholder_name(struct pm_text *out, uint32_t module, uint64_t ip);

/* True for the roots that hpcrun creates itself; any other root was a normal node before. */
bool hpcrun_is_root(uint32_t module, uint64_t ip);

/* True for special nodes that represent idle time: <no activity>, <omp idle>; for the former. */
bool hpcrun_is_idle(uint32_t module, uint64_t ip);
bool hpcrun_is_nothing(uint32_t module, uint64_t ip);

/* The text in the last parentheses of a metric's name: CPUTIME (sec) → sec; or empty. */
struct pm_bytes hpcrun_metric_unit(struct pm_bytes name);

/* ---- traces (trace.c) ---- */

struct hpcrun_trace {
	struct pm_bytes magic; /* empty in files of 2009 */
	bool has_flags;
	bool is_real;       /* times are doubles, in microseconds */
	uint64_t flags;     /* bit 0: samples have a metric */
	size_t start, size; /* of the records */
	uint64_t n;
	size_t leftover; /* bytes after the last complete record */
};

struct hpcrun_sample {
	uint64_t time; /* as stored: bits of a double if trace->is_real */
	uint32_t node;
	uint32_t metric; /* with flags bit 0 */
};

/*
 * Reads the header and counts the records. -EINVAL or -ENOTSUP, and a zeroed trace, if it is not a
 * readable trace. O(1); O(n) for traces of 2009.
 */
int hpcrun_trace_read(struct hpcrun_trace *ret, struct pm_bytes file,
	const struct hpcrun_report *report, struct pm_error *err);

/* Sample i of the records, below trace->n. */
void hpcrun_trace_decode(const struct hpcrun_trace *t, struct pm_bytes records, uint64_t i,
	struct hpcrun_sample *ret);

/* The records: n of them, or none if the file has changed since it was read. */
struct pm_bytes hpcrun_trace_records(const struct hpcrun_trace *t, struct pm_bytes file);

/* A sample's time in ns; stored times are in ns, or in microseconds for old traces. */
uint64_t hpcrun_trace_ns(const struct hpcrun_trace *t, uint64_t time, bool microseconds);

/* ---- identities (threadlist.c) ---- */

/* Levels of one thread: real ones have up to four. */
enum { HPCRUN_MOST_LEVELS = 8 };

struct hpcrun_level {
	char key[24];
	bool renumber; /* `logical` is unique only within its file; `physical` distinguishes it from
			  others */
	uint64_t physical, logical;
};

/* The identity claimed by the files of a thread. */
struct hpcrun_claim {
	struct hpcrun_level levels[HPCRUN_MOST_LEVELS];
	uint32_t n;
	bool has_process;
	uint64_t process;
};

/* Appends a level with a legal key made from `name`; at most one level per key. */
struct hpcrun_level *hpcrun_claim_add(struct hpcrun_claim *claim, struct pm_bytes name);

/*
 * In a build: resolves n claims: sets identity and n_identity of `threads[i]`, and ret_keys to the
 * keys in the order of first appearance. All memory is from the arena.
 */
void hpcrun_identities_resolve(struct pm_arena *a, const struct hpcrun_claim *claims, uint32_t n,
	struct pm_thread *threads, struct pm_threads *ret_keys);

/* Identities and sizes of threads and names of metrics, from the beginnings of the files. Reads no
 * trees. */

struct hpcrun_thread {
	enum hpcrun_family family; /* NONE: no profile, or an unreadable one */
	unsigned version;
	bool has_trace; /* there is a trace, readable or not */
	struct hpcrun_trace trace;
};

struct hpcrun_thread_list {
	struct pm_threads threads;
	struct hpcrun_thread *items;  /* threads.n */
	bool may_have_gpu;            /* metrics of GPUs, by names in the tables of files */
	bool may_have_times;          /* on processors, likewise */
	uint32_t n_runs;              /* in this directory */
	struct pm_damage_list damage; /* says so, if there are several */
};

/* In a build. */
void hpcrun_thread_list_read(
	struct hpcrun_thread_list *ret, struct pm_arena *a, struct hpcrun_folder *folder);

/* ---- a file as a tree (filetree.c) ---- */

/* Node number → place. Dense numbers are in an array, others in a map. */
struct hpcrun_numbers {
	uint32_t *places; /* by number - least: place + 1, 0 = none; NULL: there is a map */
	uint32_t least;
	uint64_t span;
	struct pm_map map;
};

/*
 * What follows is built in arenas (arena.h): of the functions that take one, or whose subject has
 * one, none fails but by leaving the build.
 */

/* Makes an empty one for the given numbers, where 0 is none. At most 64 bytes each. */
void hpcrun_numbers_init(
	struct hpcrun_numbers *ret, struct pm_arena *a, const uint32_t *numbers, size_t n);

/* True if the number, one of those given, is new and gets the place; false: it has an earlier one.
 */
bool hpcrun_numbers_put(struct hpcrun_numbers *s, uint32_t number, uint32_t place);

/* The place of any number; UINT32_MAX if there is none. O(1). */
static inline uint32_t hpcrun_numbers_find(const struct hpcrun_numbers *s, uint32_t number)
{
	if (!s->places) {
		const uint32_t *place = pm_map_find(&s->map, number);
		return place ? *place : UINT32_MAX;
	}
	uint32_t off = number - s->least;
	return off < s->span ? s->places[off] - 1 : UINT32_MAX;
}

/* The structure of a stored tree: parents, and an order with parents first. */

struct hpcrun_shape {
	uint32_t n;
	uint32_t *parent; /* by index in the file: the parent's index, or UINT32_MAX */
	uint32_t *
		number; /* by index: its number, 0 if it has none or an earlier node has the same */
	uint32_t *order; /* indexes, parents before children; in stored order if possible */
	struct hpcrun_numbers by_number; /* node number → index of the first node with it */
};

/*
 * Nodes with an invalid parent (missing, the node itself, a cycle, too deep) are put at the top and
 * reported. O(n) for any input.
 */
void hpcrun_shape_read(struct hpcrun_shape *ret, struct pm_arena *a,
	const struct hpcrun_nodes *nodes, const struct hpcrun_report *report);

/* A place identifies a node of a file's tree in the merged tree: files are merged by paths of
 * places only. After merging, places become frames; costs belong to the innermost frame. */

enum hpcrun_place_kind {
	HPCRUN_PLACE_MODULE,  /* in a load module: `module` is an index of its name */
	HPCRUN_PLACE_SPECIAL, /* a placeholder: `module` is the special module's id */
	HPCRUN_PLACE_UNKNOWN, /* not found in the load map; module 0 */
};

struct hpcrun_place {
	uint64_t ip; /* offset in the module; before 2009-09 an address of the process */
	uint32_t module;
	uint8_t kind; /* enum hpcrun_place_kind */
};

/* What one profile contributes to the merged tree, in compact arrays that do not refer to the file,
 * which is closed again. */

struct hpcrun_file_node {
	struct hpcrun_place place; /* `module` is an index of the file tree's modules */
	uint32_t parent;           /* index of an earlier node, or UINT32_MAX */
	uint32_t number;           /* number used in traces; 0 = none */
};

struct hpcrun_file_value {
	uint64_t bits;
	uint32_t node, metric; /* indexes */
};

struct hpcrun_file_metric {
	struct pm_bytes name;
	uint64_t period;
	bool real;
	bool moves;     /* see HPCRUN_METRIC_MOVES */
	bool invisible; /* only of use to formulas */
	/*
	 * Where the file defines it by a formula: what of it is the same in all files, for
	 * hpcrun_metric_names_list; else empty.
	 */
	struct pm_bytes formula;
};

struct hpcrun_file_tree {
	struct pm_arena *arena;           /* has all of it */
	struct hpcrun_file_node *nodes;   /* of all epochs */
	struct hpcrun_file_value *values; /* in stored order, those of known nodes and metrics */
	struct hpcrun_file_metric *metrics;
	struct pm_bytes *modules; /* names */
	size_t n_nodes, n_values, n_metrics, n_modules, n_formulas;
	size_t nodes_room, values_room, metrics_room, modules_room;
};

/*
 * Reads a whole file; it is empty if that is unreadable, or if there is none. Losses are reported
 * in `damage`, unless it is NULL.
 */
struct hpcrun_file_tree *hpcrun_file_tree_read(struct pm_arena *a, struct hpcrun_folder *folder,
	const struct hpcrun_file *file, struct pm_damage_list *damage);

/*
 * ---- metrics of all files (metrics.c) ----
 * They merge by name: files may disagree on their order, periods and formats.
 */

enum {
	HPCRUN_METRIC_USED = 1,  /* a value of it is stored */
	HPCRUN_METRIC_MOVES = 2, /* values belong to the enclosing function, not to a line */
	HPCRUN_METRIC_SHOWN = 4, /* some file does not say that it is invisible */
};

struct hpcrun_metric_names {
	struct pm_arena *arena;
	struct pm_strtab names; /* by first appearance */
	uint8_t *flags;         /* by name: HPCRUN_METRIC_… */
	size_t room;
	struct pm_strtab formulas; /* as in struct hpcrun_file_metric, each once */
};

/* hpcrun defines 12 for a GPU; each is a column of each table. */
enum { HPCRUN_MOST_DERIVED = 1000 };

/* What a file says of metric i, of which the formula may be left out. Copies. */
struct hpcrun_file_metric hpcrun_metric_crop(
	struct pm_arena *a, const struct hpcrun_metrics *metrics, size_t i, bool with_formula);

/* The cost of a stored value of a metric: × period; NaN if that is not a number. */
double hpcrun_cost(const struct hpcrun_file_metric *metric, uint64_t bits);

void hpcrun_metric_names_init(struct hpcrun_metric_names *ret, struct pm_arena *a);

/* The index of the metric's name, new or known. */
uint32_t hpcrun_metric_names_add(
	struct hpcrun_metric_names *n, const struct hpcrun_file_metric *metric);

/* Adds all of `from`; ret[i] becomes the index of its name i. */
void hpcrun_metric_names_join(
	struct hpcrun_metric_names *n, const struct hpcrun_metric_names *from, uint32_t *ret);

/*
 * The metrics of the names that are used, in their order: `ret` has _excl of group g as 2g and
 * _incl as 2g + 1, and those that formulas define; a formula that cannot be computed is reported in
 * `damage`. Returns the group of each name, PM_NONE of unused ones.
 */
const uint32_t *hpcrun_metric_names_list(struct pm_arena *a, const struct hpcrun_metric_names *n,
	struct pm_damage_list *damage, struct pm_metrics *ret);

/*
 * ---- the trie of all files (trie.c) ----
 * Nodes are places, in the order in which they occur in files, parents first. It includes the names
 * of load modules and metrics, and the sums at each node. Tries of groups of files are built
 * separately and joined in order; the result is the same as for a single trie of all files. 16
 * bytes a node, 11 to 22 for finding it, 8 while files come in, and the sums.
 */

enum { HPCRUN_DENSE = 8 };

struct hpcrun_sum {
	uint32_t node, metric;
	double cost;
};

/* Zeroed but for the arena = empty. */
struct hpcrun_sums {
	struct pm_arena *arena;
	double *dense[HPCRUN_DENSE]; /* by metric, then node; NaN = nothing */
	uint32_t dense_n[HPCRUN_DENSE];
	struct hpcrun_sum *slots; /* of other metrics, open addressing; metric 0 = free */
	size_t n_sparse, n_slots;
};

/* O(1). */
void hpcrun_sums_add(struct hpcrun_sums *s, uint32_t node, uint32_t metric, double cost);

/* Adds all of `from`, in which nodes and metrics have different numbers. */
void hpcrun_sums_join(struct hpcrun_sums *s, const struct hpcrun_sums *from, const uint32_t *nodes,
	const uint32_t *metrics);

/* All sums, by metric, then node. */
struct hpcrun_sum *hpcrun_sums_list(struct pm_arena *a, const struct hpcrun_sums *s, size_t *ret_n);

struct hpcrun_trie_node {
	uint64_t ip;
	uint32_t parent; /* UINT32_MAX at the top */
	uint32_t module : 30, kind : 2;
};

/* Counts for a node over all files; counters saturate. */
struct hpcrun_tally {
	uint32_t visits; /* number of nodes of files that are merged into it */
	uint32_t values;
};

struct hpcrun_trie {
	struct pm_arena *arena;
	struct pm_arena *merging; /* of the tallies and sums */
	struct pm_strtab
		modules; /* names, which `module` of nodes in load modules is an index of */
	struct hpcrun_metric_names metrics;
	struct hpcrun_trie_node *nodes;
	struct hpcrun_tally *tallies;
	uint32_t n;
	size_t nodes_room, tallies_room;
	struct pm_fingerprints prints; /* of nodes */
	struct hpcrun_sums sums;       /* own costs by node and metric name */
};

/* An empty one. */
struct hpcrun_trie *hpcrun_trie_new(struct pm_arena *a);

/* The place of a node; `module` as in the node. */
struct hpcrun_place hpcrun_trie_place(const struct hpcrun_trie *t, uint32_t node);

/* Adds a file's nodes. Returns the trie node of each, in the arena of the file tree. O(nodes). */
uint32_t *hpcrun_trie_enter(struct hpcrun_trie *t, const struct hpcrun_file_tree *h);

/*
 * The same lookup for a file that was added before, without changing anything; UINT32_MAX for
 * unknown nodes. Thread-safe.
 */
uint32_t *hpcrun_trie_follow(const struct hpcrun_trie *t, const struct hpcrun_file_tree *h);

/* Adds a file's values to its nodes, which were added as `nodes`. */
void hpcrun_trie_add(
	struct hpcrun_trie *t, const struct hpcrun_file_tree *h, const uint32_t *nodes);

/* Adds all of `from`, whose files come after those of `t`. */
void hpcrun_trie_join(struct hpcrun_trie *t, const struct hpcrun_trie *from);

/* Frees the sums and tallies; the rest is for hpcrun_trie_follow. */
void hpcrun_trie_finish(struct hpcrun_trie *t);

/*
 * ---- costs (cells.c) ----
 * Computes exclusive and inclusive costs of contexts from the costs of values. A thread visits only
 * a small part of the tree; contexts without values at or below them have no costs.
 */

/* An exclusive cost of a context. */
struct hpcrun_own {
	uint32_t context, group;
	double cost; /* NaN: none */
};

struct hpcrun_cell {
	uint32_t context, metric; /* 2 × group, + 1 for inclusive */
	double cost;
};

struct hpcrun_cells {
	struct hpcrun_cell *items; /* by context, then metric */
	size_t n;
};

/*
 * Adds up `own`: equal ones in order, children from the last one on. Beyond PM_LIMIT_SUMS there is
 * no memory, which `err` says, unless it is NULL. O(n + contexts above them + contexts of the tree
 * / 64), for each group O(its own costs and the contexts above them).
 */
void hpcrun_cells_make(struct hpcrun_cells *ret, struct pm_arena *a, const struct pm_tree *tree,
	uint32_t n_groups, const struct hpcrun_own *own, size_t n, struct pm_error *err);

/* The first cell of a context, or the position where it would be. O(log n). */
size_t hpcrun_cells_find(const struct hpcrun_cells *c, uint32_t context);

/*
 * ---- the merged tree (contexts.c) ----
 * All profiles merged: the union of their trees, their metrics by name, and the costs of the whole
 * run. Values stay in their files; a node of a file is followed through the trie to its context.
 */

struct hpcrun_merged {
	struct pm_tree *tree;
	struct pm_metrics metrics; /* of n_groups groups */
	uint32_t n_groups;
	const uint32_t *groups;    /* by metric name of the trie; PM_NONE: no value is stored */
	struct hpcrun_trie *trie;  /* for hpcrun_trie_follow */
	uint32_t *context;         /* by node of the trie */
	bool shares;               /* several nodes may have the same context */
	struct hpcrun_cells costs; /* of the run */
	uint32_t *cost_start;      /* by context: its first cell; n_contexts + 1 */
	/* Contexts in blocks, for code that reads all threads: block i begins at block_start[i]. */
	uint32_t *block_start; /* n_blocks + 1 */
	uint32_t n_blocks;
	struct pm_missings missing;      /* its rows: modules whose names were looked for */
	struct pm_thread_counts *counts; /* where it shares: of nodes, not of contexts */
	struct pm_damage_list damage;    /* what is lost of the profiles */
};

/* Reads every profile once. `ret` is in the arena, which has all of it. */
void hpcrun_merge(struct hpcrun_merged *ret, struct pm_arena *a, struct hpcrun_folder *folder,
	uint32_t n_threads, struct pm_error *err);

/*
 * The context that has the values of a metric (by name index of the trie) stored at `context`: the
 * context itself, or its function.
 */
uint32_t hpcrun_merged_owner(const struct hpcrun_merged *m, uint32_t name, uint32_t context);

/* As pm_profile_ops.run_costs. */
int64_t hpcrun_merged_costs(
	const struct hpcrun_merged *m, uint32_t context, struct pm_value *ret, size_t room);

/* ---- threads (costs.c) ---- */

struct hpcrun_stored {
	uint64_t bits;
	uint32_t context; /* index in the tree */
	uint32_t group;
	double cost; /* NaN if it is not a number */
	bool real;
};

/* A thread's values as stored in its file. */
struct hpcrun_values_of_thread {
	struct hpcrun_stored *items; /* in stored order */
	size_t n;
};

/* Maps node numbers in traces to contexts. */
struct hpcrun_link {
	uint32_t number, context;
};

struct hpcrun_links_of_thread {
	struct hpcrun_link *items; /* by number, each once */
	size_t n;
	uint32_t *starts; /* of equal ranges of numbers: the first item of each, and the end */
	unsigned shift;   /* a range has 2^shift numbers */
};

/* The source, for the functions below. */
struct hpcrun_run {
	const struct hpcrun_merged *merged;
	struct hpcrun_folder *folder;
};

/*
 * These read the thread's file. If it has no profile, or its file cannot be read any more, the
 * result is empty; in the latter case the folder is marked as changed.
 */
struct hpcrun_links_of_thread *hpcrun_links_of_thread(
	struct pm_arena *a, const struct hpcrun_run *run, uint32_t thread);

/* What is decoded again when it is asked for, and may be cached. */
enum hpcrun_decoded_what {
	HPCRUN_THREAD_VALUES,  /* of a thread: struct hpcrun_values_of_thread */
	HPCRUN_THREAD_COSTS,   /* struct hpcrun_cells */
	HPCRUN_THREAD_LINKS,   /* struct hpcrun_links_of_thread */
	HPCRUN_CONTEXT_VALUES, /* of a block of contexts: struct hpcrun_by_context */
	HPCRUN_CONTEXT_COSTS,
};

struct hpcrun_decoded {
	struct pm_cached cached;
	struct pm_arena arena; /* has it */
	const void *it;
};

/* Values and costs of a block of contexts read all files, on all cores. 0 or -ENOMEM. */
int hpcrun_decode(const struct hpcrun_run *run, enum hpcrun_decoded_what what, uint32_t of,
	struct hpcrun_decoded **ret);

/* The number of values, and of contexts with values. 0 or -ENOMEM. */
int hpcrun_values_count(const struct hpcrun_values_of_thread *values, const struct hpcrun_merged *m,
	struct pm_thread_counts *ret);

/* Converts a stored value to the format interface. */
struct pm_value hpcrun_stored_value(
	const struct hpcrun_merged *m, const struct hpcrun_stored *v, uint32_t thread);

/* Fills in starts and shift: about one range for each item. */
void hpcrun_links_index(struct hpcrun_links_of_thread *l, struct pm_arena *a);

/*
 * The context number for a node number in a trace, or UINT64_MAX. O(1) if numbers are evenly
 * distributed, as those of a counter are; at most O(log n).
 */
uint64_t hpcrun_links_find(
	const struct hpcrun_links_of_thread *l, const struct hpcrun_merged *m, uint32_t node);

/*
 * Values and costs of contexts over all threads. Files store them thread by thread, so a block of
 * contexts is computed at once by reading every file.
 */

struct hpcrun_by_context_cell {
	uint32_t thread;
	uint32_t metric : 31, whole : 1;
	union {
		uint64_t bits; /* also of a double as it is stored */
		double cost;
	};
};

struct hpcrun_by_context {
	uint32_t first, n; /* contexts */
	uint64_t *start;   /* n + 1: of each context's cells */
	struct hpcrun_by_context_cell
		*cells; /* by context, thread, then in the order of the thread */
};

/* The block of a context. O(log n). */
uint32_t hpcrun_block_of(const struct hpcrun_merged *m, uint32_t context);

/* As pm_profile_ops.values, of a context of that block. */
int64_t hpcrun_by_context_fill(const struct hpcrun_merged *m, const void *by_context,
	uint32_t context, uint64_t first, struct pm_value *ret, size_t room);

/* ---- times and samples (trace.c) ---- */

struct hpcrun_time {
	bool microseconds;
	bool sorted;          /* samples are in time order */
	uint64_t first, last; /* in ns; of a trace with samples */
	struct pm_lazy lazy;  /* of the order, where it is not as stored */
	uint32_t *order;      /* places by time */
};

struct hpcrun_times {
	struct hpcrun_time *items; /* one a thread */
	uint32_t n;
	uint64_t origin_ns, end_ns; /* of all; PM_NO_TIME without samples */
};

/* In a build: scans all traces, in parallel. Unreadable files have no samples. */
void hpcrun_times_read(struct hpcrun_times *ret, struct pm_arena *a, struct hpcrun_folder *folder,
	const struct hpcrun_thread_list *thread_list);

/* The trace whose samples are requested. */
struct hpcrun_trace_place {
	struct hpcrun_folder *folder;
	const struct hpcrun_thread *thread;
	struct hpcrun_time *time;
	const struct hpcrun_merged *merged;
	const struct hpcrun_links_of_thread *links;
	uint32_t index; /* of the thread */
};

/* As pm_profile_ops.samples. */
int64_t hpcrun_samples(const struct hpcrun_trace_place *place, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err);

/* In a build: reports samples whose node is not in the profile, and other losses of a trace. */
void hpcrun_trace_report(struct pm_arena *a, const struct hpcrun_trace_place *place,
	const struct hpcrun_report *report);

/* ---- facts (facts.c) ---- */

/* The layout as in info.json: sections-04.00; empty if the file cannot be read. */
void hpcrun_profile_layout(enum hpcrun_family family, unsigned version, char *ret, size_t size);
void hpcrun_trace_layout(const struct hpcrun_trace *trace, char *ret, size_t size);

/*
 * Finds the first file that can be read, and fills `ret` with its layout. 1, 0 where none
 * can, or -ENOMEM.
 */
int hpcrun_layout_find(struct hpcrun_folder *folder, char *ret, size_t size);

enum { HPCRUN_MOST_FACTS = 12 };

struct hpcrun_facts {
	struct pm_fact items[HPCRUN_MOST_FACTS];
	size_t n;
};

/* In a build: from the header of the first profile that can be read. */
void hpcrun_facts_read(struct hpcrun_facts *ret, struct pm_arena *a, struct hpcrun_folder *folder);

/* ---- raw/ (raw.c) ---- */

/* Like pm_profile_ops.thread_document. Opens nothing; the tables open their file when read. */
int hpcrun_raw_document(struct hpcrun_folder *folder, const struct hpcrun_thread_list *thread_list,
	uint32_t thread, uint32_t k, struct pm_named_doc *ret);

/* raw/files.csv of the root: the files of the source. */
struct hpcrun_file_list {
	struct hpcrun_folder *folder;
	/* Called when the table is read. */
	int (*thread_list)(
		void *context, const struct hpcrun_thread_list **ret, struct pm_error *err);
	void *context;
};

struct pm_named_doc hpcrun_raw_files(const struct hpcrun_file_list *list);

/* ---- the opened measurement (model.c) ---- */

struct hpcrun_opened {
	struct hpcrun_folder folder;
	char layout[32];

	struct pm_part thread_list_part, merged_part, times_part, damage_part, facts_part;
	/* Of these parts, once they are built: */
	struct hpcrun_thread_list *thread_list;
	struct hpcrun_merged *merged;
	struct hpcrun_times *times;
	struct pm_cache *decoded; /* threads and blocks of contexts, by use */
	uint64_t n_decoded;       /* atomic: how often one was decoded, for tests */
	struct hpcrun_file_list files;
	struct pm_named_doc document; /* of the root */
	struct pm_span span;
	struct pm_parts parts;
};

static inline struct hpcrun_opened *hpcrun_opened_of(const struct pm_profile *p)
{
	return p->self;
}

/*
 * Opens a measurement; takes the folder over, on failure too. -EINVAL if there is nothing readable
 * in it, or -ENOMEM. Free with hpcrun_opened_free.
 */
int hpcrun_opened_new(struct hpcrun_folder *folder, const char *path, struct hpcrun_opened **ret,
	struct pm_error *err);
void hpcrun_opened_free(struct hpcrun_opened *o);

/*
 * A cache of decoded data, limited to `limit` bytes; more while data are being read in many calls.
 * NULL if out of memory.
 */
struct pm_cache *hpcrun_decoded_new(uint64_t limit);

/* Describes the measurement in `ret`, which borrows it. */
void hpcrun_model_init(struct hpcrun_opened *o, struct pm_profile *ret);

#endif
