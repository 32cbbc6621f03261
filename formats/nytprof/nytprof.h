/*
 * What the files of this room share. A source is read into native tables (struct nytp), which raw.c
 * presents as stored and build.c turns into the model of views. Filled on first need (nytp_ready),
 * const from then on.
 */
#ifndef PROFMOUNT_FORMATS_NYTPROF_NYTPROF_H
#define PROFMOUNT_FORMATS_NYTPROF_NYTPROF_H

#include "formats/common/costs.h"
#include "formats/common/damage.h"
#include "formats/common/input.h"
#include "formats/common/lazy.h"
#include "formats/common/map.h"
#include "formats/common/paths.h"
#include "formats/common/text.h"
#include "formats/common/tree.h"
#include "formats/nytprof/calls.h"
#include "formats/nytprof/slots.h"
#include "formats/nytprof/stream.h"
#include "profmount/document.h"
#include "profmount/profile.h"

/* ---- a source in NYTProf's own terms ---- */

/* Names are indexes into nytp.names. Texts are UTF-8; anything else is converted from Latin-1. */

struct nytp_attribute {
	bool option;
	uint32_t name, value;
};

struct nytp_process {
	uint32_t pid, ppid;
	double start, end; /* epoch seconds; NaN = not known */
};

/* A `@` record: a file, or the text of an eval. */
struct nytp_fid {
	uint32_t fid, eval_fid, eval_line, flags, size, mtime, name;
	bool inherited; /* no statement of its process is before it: an eval ran in the parent */
	/* See nytp_evals_name; of evals only. */
	uint32_t shown;  /* name; NYTP_NONE before, and of files */
	uint32_t texts;  /* that have this name: different ones, and each that is not known */
	uint32_t digits; /* of the checksum; different ones of a site for different texts */
	uint64_t text;   /* checksum of its text, else of its subs; 0: not known */
};

/* Sums over call records. Times as stored: seconds. */
struct nytp_sums {
	uint64_t count;
	double incl, excl, reci;
	uint32_t depth; /* of recursion, the greatest */
};

struct nytp_sub {
	uint32_t name, fid, first, last;
	bool located; /* there is a SUB_INFO, so fid, first, last are known */
	struct nytp_sums sums;
};

/* All calls of a sub from one place. */
struct nytp_site {
	uint32_t sub, fid, line;
	uint32_t first_edge, n_edges; /* its callers; set when the file has been read */
	struct nytp_sums sums;
};

/* The part of them made by one caller. */
struct nytp_edge {
	uint32_t site, caller;
	struct nytp_sums sums;
};

/* Statement times by line, and with blocks=1 by block and by sub. */
enum nytp_level_kind { NYTP_LINES, NYTP_BLOCKS, NYTP_SUBBLOCKS, NYTP_N_LEVELS };

struct nytp_lines {
	struct nytp_slots slots; /* while the file is read */
	struct nytp_line *items; /* by place, when it has been read */
	size_t n;
};

/* A line of saved source text. */
struct nytp_text_line {
	uint32_t fid, line;
	uint64_t off; /* in nytp_file.text */
	uint32_t len;
};

/* All saved lines of a fid: numbers of nytp_file.texts, by line, then in stored order. */
struct nytp_text {
	const struct nytp_file *f;
	const uint32_t *lines;
	size_t n;
};

/* How long the calls of a sub took, in the order of their returns: see durations.c. */
struct nytp_log {
	uint32_t name, len, room;
	uint8_t *p;
};

/* One process, as far as the stream distinguishes them. */
struct nytp_thread {
	uint32_t pid;
	uint32_t run;              /* see nytp_runs_find, which sets it; 0 before */
	int64_t statements, ticks; /* how many, and their time */
	struct nytp_calls calls;
};

/* ---- Pynytprof's chunks ---- */

struct nytp_py_sub {
	uint32_t sid, flags, name;
};

struct nytp_py_sample {
	uint32_t fid, line, calls;
	uint64_t incl, excl; /* ticks */
};

struct nytp_py_event {
	uint32_t fid, line;
	uint64_t ticks;
};

struct nytp_py_edge {
	uint32_t caller, callee, calls;
	uint64_t ticks, sub_ticks;
};

struct nytp_py_chunk {
	uint64_t offset, bytes;
	char tag[2];
	const char *status; /* static */
};

struct nytp_py {
	struct nytp_py_sub *subs;
	struct nytp_py_sample *samples;
	struct nytp_py_event *events;
	struct nytp_py_edge *edges;
	struct nytp_py_chunk *chunks;
	size_t n_subs, n_samples, n_events, n_edges, n_chunks;
	size_t subs_room, samples_room, events_room, edges_room, chunks_room;
	struct pm_map by_sid; /* names of subs, `sub N` for those without one */
	bool placed;          /* D has places of subs, so C has call sites instead of callers */
};

/* ---- files and the source ---- */

enum nytp_layout {
	NYTP_LAYOUT_4,
	NYTP_LAYOUT_5,
	NYTP_LAYOUT_CHUNKS, /* Pynytprof: tagged chunks */
	NYTP_LAYOUT_TOKENS, /* Pynytprof: the records of version 5 after a raw P */
};

struct nytp_file {
	const char *name; /* relative to the source */
	enum nytp_layout layout;
	struct pm_arena *arena;   /* of all that follows, but for the logs: a file may be refused */
	struct pm_arena *reading; /* of what is needed until it has been read */
	double ns_per_tick;
	struct nytp_attribute *attributes;
	struct nytp_process *processes;
	struct nytp_fid *fids;
	struct nytp_sub *subs;
	struct nytp_site *sites;
	struct nytp_edge *edges;
	struct nytp_thread *threads;
	struct nytp_text_line *texts;
	uint32_t *text_order;  /* of texts by fid, line, and as stored; when it has been read */
	struct nytp_log *logs; /* by name as stored */
	size_t n_attributes, n_processes, n_fids, n_subs, n_sites, n_edges, n_threads, n_texts,
		n_logs;
	size_t attributes_room, processes_room, fids_room, subs_room, sites_room, edges_room,
		threads_room, texts_room, logs_room;
	struct nytp_lines levels[NYTP_N_LEVELS];
	struct pm_map by_attribute, by_fid, by_sub, by_place, by_site, by_edge, by_pid;
	struct pm_map folded; /* name → name shown, where it differs from that of other files */
	struct pm_map namesakes; /* name → number of the sub that it defines: names.c */
	const struct nytp_file
		*definer;               /* with the table of the subs called; NULL: none is known */
	const struct nytp_file *parent; /* of the parent of its first process, or NULL */
	uint32_t n_places;
	struct pm_text text; /* saved source, line after line as stored */
	struct nytp_py py;
};

/* The saved text whose lines begin at number i of text_order. */
struct nytp_text nytp_text_at(const struct nytp_file *f, size_t i);

/* If a line was saved twice, the last one is used. */
static inline bool nytp_text_is_last(const struct nytp_text *t, size_t i)
{
	return i + 1 == t->n || t->f->texts[t->lines[i]].line != t->f->texts[t->lines[i + 1]].line;
}

/* Appends it. */
void nytp_text_add(const struct nytp_text *t, struct pm_text *out);

/* As stored, valid as long as the file. A file without a byte of text has nowhere to point. */
static inline struct pm_bytes nytp_text_bytes(
	const struct nytp_file *f, const struct nytp_text_line *l)
{
	return l->len ? (struct pm_bytes){(const uint8_t *)f->text.p + l->off, l->len}
		      : pm_bytes_of("");
}

struct nytp {
	struct pm_lazy once;
	int (*fill)(void *native, struct pm_error *err); /* NULL: it is filled */
	bool keep_evals;
	struct nytp_file *files; /* present from the beginning, with name and layout */
	size_t n_files;
	uint64_t bytes_all; /* of all files */

	/* Built in these arenas: what is below; copies of names; how long calls took. */
	struct pm_arena arena, copies, logs;
	struct pm_strtab names;
	uint32_t *folded; /* by name, see nytp_folded; others stand for themselves */
	uint32_t n_folded;
	uint32_t *namesakes; /* their names: see nytp_name */
	uint32_t n_namesakes;
	uint32_t n_runs;
	uint64_t returns; /* records of calls that return */
	uint32_t *log_of; /* by name: number of its log in the file that is read, from 1 */
	size_t log_of_room;
	size_t log_bytes;    /* of the logs of all files */
	bool logs_full;      /* NYTP_LIMIT_LOGS was reached: no percentiles are known */
	size_t rows;         /* of all tables and trees: see NYTP_LIMIT_ROWS */
	size_t source_bytes; /* of saved source, its index included */
	struct pm_damage_list damage;
	struct pm_input *input; /* while it is read */
	uint64_t bytes_done;    /* of all files */
};

/* Reads the files once, on the first call. */
int nytp_ready(struct nytp *n, struct pm_error *err);

/* Also of the number of a sub: those from n->names.n on are of namesakes. */
static inline struct pm_bytes nytp_name(const struct nytp *n, uint32_t name)
{
	uint32_t known = n->names.n;
	return n->names.items[name < known ? name : n->namesakes[name - known]];
}

/* The name used by the model, in a file or NULL; the same if it does not belong to an eval. */
static inline uint32_t nytp_folded(const struct nytp *n, const struct nytp_file *f, uint32_t name)
{
	const uint32_t *own = f && f->folded.n ? pm_map_find(&f->folded, name) : NULL;
	return own ? *own : name < n->n_folded ? n->folded[name] : name;
}

static inline uint32_t nytp_row_shown(
	const struct nytp *n, const struct nytp_file *f, const struct nytp_fid *row)
{
	return row->shown == NYTP_NONE ? nytp_folded(n, f, row->name) : row->shown;
}

/* The number of the sub that has this name in a file, for the model. */
static inline uint32_t nytp_sub_of(const struct nytp *n, const struct nytp_file *f, uint32_t name)
{
	uint32_t folded = nytp_folded(n, f, name);
	const uint32_t *number = f->definer ? pm_map_find(&f->definer->namesakes, folded) : NULL;
	return number ? *number : folded;
}

/* Numbers of subs are below that. */
static inline uint32_t nytp_n_subs(const struct nytp *n)
{
	return n->names.n + n->n_namesakes;
}

/* The index of a text of the source as UTF-8. Fails with NYTP_FULL beyond the limit. */
uint32_t nytp_name_add(struct nytp *n, struct pm_bytes text);

/*
 * Latin-1 as UTF-8. Perl writes texts that fit into Latin-1 as Latin-1, others as UTF-8, with the
 * same tag: anything that is not valid UTF-8 is Latin-1, of a sub its package and its own name
 * each.
 */
void nytp_latin1(struct pm_text *out, struct pm_bytes latin1);

/* The file's name by its number; empty if no record defines it. */
struct pm_bytes nytp_fid_name(const struct nytp *n, const struct nytp_file *f, uint32_t fid);

/* The same with the names of evals as shown, for the model and source/. */
struct pm_bytes nytp_fid_shown(const struct nytp *n, const struct nytp_file *f, uint32_t fid);

/* The value of an attribute (not an option), or an empty slice. */
struct pm_bytes nytp_attribute(const struct nytp *n, const struct nytp_file *f, const char *name);

/* A number written in text, or NaN. */
double nytp_number(struct pm_bytes text);

/* Reports that `done` bytes of the current file have been read. */
void nytp_progress(struct nytp *n, uint64_t done);

/* An empty source; it must not be moved. */
void nytp_init(struct nytp *n);

/* Frees what was filled: files keep name and layout. */
void nytp_done(struct nytp *n);

/* An empty file, in a build of `n`, as is what follows. */
void nytp_file_begin(struct nytp *n, struct nytp_file *f);

/* ---- metrics ---- */

/* Index and metric_id at once. Times are in ns. */
enum nytp_metric {
	NYTP_INCL,
	NYTP_EXCL,
	NYTP_CALLS,
	NYTP_STATEMENTS,
	NYTP_STATEMENTS_NS, /* by line, and hence by function; exclusive time of subs is measured
			       separately */
	NYTP_N_METRICS,
};

/* ---- threads ---- */

struct nytp_threads {
	struct pm_threads list;
	struct pm_thread *threads;
	struct pm_identity *identities;
	int64_t *statements;            /* by thread */
	pm_number *statements_ns;       /* their time */
	const struct nytp_file **files; /* by thread: its first occurrence */
	struct pm_map by_pid;
};

/* A build in `a`. */
void nytp_threads_build(struct pm_arena *a, struct nytp_threads *t, const struct nytp *n);

/* The index of a process that is in some file's threads. */
uint32_t nytp_thread_of(const struct nytp_threads *t, uint32_t pid);

/* ---- the model ---- */

/* Values are rows of NYTP_N_METRICS cells, NaN = none. */
struct nytp_model {
	struct pm_tree *tree;
	uint32_t *function_of; /* of the tree, by name; NYTP_NONE: none */
	pm_number *run;        /* by context */
	pm_number *functions;  /* by function */
	struct pm_costs costs;
	struct pm_edges edge_list;
	struct pm_lines line_list;
	struct pm_evals eval_list;
	struct pm_statements statements;
	struct pm_flat flat;   /* refers to the above */
	bool times_statements; /* some function has statements with a time */
	/* Differences between callers and the calls of the tree. */
	struct {
		uint32_t subs; /* which count other calls */
		uint32_t name; /* the function with the largest difference */
		uint64_t name_in_tree, name_in_callers;
		double tree_ns, callers_ns; /* total exclusive time */
	} differ;
	/* By thread: inclusive time if the tree is made of edges, else NaN. */
	pm_number *thread_totals;
};

/* ---- reading ---- */

/*
 * Fills `f` (zeroed except its name), which belongs to `n`, even after a
 * failure. Damage is collected in n->damage. -EINVAL: not a profile; -ENOTSUP: a version that
 * cannot be read; -ENOMEM. One pass over `bytes`, which need not outlive the call.
 */
int nytp_file_read(
	struct nytp *n, struct nytp_file *f, struct pm_bytes bytes, struct pm_error *err);

/* Information at the beginning of a file. */
struct nytp_head {
	enum nytp_layout layout;
	double start; /* of the program: basetime, epoch seconds; NaN = not stored */
	bool blocks;  /* times of blocks are recorded, or this is unknown */
};

/*
 * Reads a file's header lines and the data after them. Fails like nytp_file_read if the file is not
 * readable; later errors are damage.
 */
int nytp_head_read(
	struct pm_bytes bytes, const char *name, struct nytp_head *ret, struct pm_error *err);

/* True if the bytes are those of any NYTProf file, supported or not. */
bool nytp_head_matches(struct pm_bytes head);

/* Seconds since the epoch that signed ns can hold: up to 2255. */
#define NYTP_MOST_SECONDS 9e9

/* A time that a process could have started at, from 1973 on. */
static inline bool nytp_time_is_sane(double seconds)
{
	return seconds > 1e8 && seconds < NYTP_MOST_SECONDS;
}

/* ---- adding records ---- */

/* State between records. */
struct nytp_adding {
	struct nytp *n;
	struct nytp_file *f;
	uint32_t process; /* index in f->threads of the current process */
	int64_t discounts;
	uint64_t texts_dropped; /* number of source lines beyond NYTP_LIMIT_SOURCE */
};

/* Adds one record, in a build of a->n. */
void nytp_add(struct nytp_adding *a, const struct nytp_record *r);

/* The parts of a process record, for streams that write it differently. */
void nytp_add_process(struct nytp_adding *a, uint32_t pid, uint32_t ppid, double start);

/* `name=value`, without the tag. A line without `=` is not an attribute. */
void nytp_add_attribute(struct nytp_adding *a, bool option, struct pm_bytes line);

/* Call after the last record. */
void nytp_add_end(struct nytp_adding *a);

/*
 * Reads the chunks from `at` to the end of the file into a->f->py, files and attributes into their
 * usual tables; errors become damage.
 */
void nytp_chunks_read(struct nytp_adding *a, struct pm_bytes file, size_t at);

/* ---- runs and names ---- */

/*
 * Assigns the processes of a directory to runs. A child records its parent's pid, and a fork keeps
 * the start time of its program; processes that neither connects to others are separate runs, for
 * example files left by an earlier run.
 *
 * Sets nytp_thread.run of all threads to 1 … n->n_runs, in order of start times, and reports
 * unrelated runs and missing parents in n->damage. A single file is one run.
 *
 * As what follows, it is a part of the build of `n`.
 */
void nytp_runs_find(struct nytp *n);

/*
 * The names under which evals, and subs that they define, are shown: by text, not by number. Fills
 * n->folded, nytp_file.folded and nytp_fid.shown, .text, .digits, .texts: what
 * nytp_folded and nytp_fid_shown return. `(eval 12)[f.pl:3]` becomes
 *
 *	(eval 5f3a9c01)[f.pl:3]  one of several texts: the first 8 hex digits of its checksum
 *	(eval)[f.pl:3]           all evals of that line: they have one text, or more than
 *	                         NYTP_LIMIT_EVAL_TEXTS; or those of which neither the text nor a
 *	                         sub is stored, as Perl drops the texts of evals without subs
 *
 * Call after all files have been read and parents found (nytp_runs_find).
 */
void nytp_evals_name(struct nytp *n);

/*
 * Tells subs of one name apart that processes define in different files, such as main::setup of
 * two test programs: each is a function of its own, with a number behind those of all names. The
 * name's own number then is that of a sub of which the file is not known.
 *
 * Call after all files have been read, parents found and evals merged; no names are added any more.
 */
void nytp_namesakes_find(struct nytp *n);

/* ---- building the model ---- */

/*
 * Whether there are sub returns to build the calling-context tree from; otherwise it is built from
 * edges.
 */
bool nytp_has_calls(const struct nytp *n);

/* A build in `a` (arena.h), as is what follows. */
void nytp_model_build(struct pm_arena *a, struct nytp_model *m, const struct nytp *n,
	const struct nytp_threads *threads, struct pm_error *err);

/* Costs of a context, by rank. */
struct nytp_cell {
	uint32_t thread; /* NYTP_NONE: of the run only */
	uint32_t rank;
	double values[NYTP_N_METRICS]; /* NaN = none */
};

/* Calls of one sub by another from one place: NYTProf's SUB_CALLERS, or Pynytprof's C. */
struct nytp_flow {
	uint32_t caller, callee; /* subs; caller may be NYTP_NONE */
	uint32_t file;           /* text of the tree */
	uint32_t line;
	uint32_t thread; /* NYTP_NONE: not known */
	uint64_t calls;
	double incl, excl; /* ns */
};

/* Where a sub is defined. */
struct nytp_home {
	const struct nytp_file *file;
	const struct nytp_sub *sub; /* NULL: not known */
};

struct nytp_building {
	struct pm_arena *arena;   /* of the model */
	struct pm_arena *scratch; /* of what follows, except `function` */
	const struct nytp *n;
	const struct nytp_threads *threads;
	struct nytp_model *m;
	struct pm_tree_builder *tree;
	struct pm_paths paths;      /* of frames: a path is the rank of its context */
	uint32_t *function, *frame; /* by number of the sub: index in the tree, or NYTP_NONE */
	struct nytp_home *homes;    /* by number of the sub */
	struct nytp_flow *flows;    /* sorted by caller, callee, file, line */
	struct nytp_cell *cells;
	double *weight;  /* by rank, for the order of siblings */
	uint32_t *index; /* by rank: the context, once the tree is frozen */
	size_t n_flows, flows_room, n_cells, cells_room, weight_room;
};

/* The function or frame of a sub, created on first need. */
uint32_t nytp_function_of(struct nytp_building *b, uint32_t name);
uint32_t nytp_frame_of(struct nytp_building *b, uint32_t name);

/*
 * The text of a file's name; for a number without a name: `fid N` for Pynytprof, otherwise empty.
 */
uint32_t nytp_file_text(struct nytp_building *b, const struct nytp_file *f, uint32_t fid);

/*
 * The rank of the context of `frame` below `parent` (a rank, or PM_NONE), made on first need. All
 * contexts are made by it.
 */
uint32_t nytp_context_of(struct nytp_building *b, uint32_t parent, uint32_t frame);

/* A cell with no values. */
struct nytp_cell *nytp_cell_add(struct nytp_building *b, uint32_t thread, uint32_t rank);

/* Adds to the cost by which a context is ordered among its siblings. */
void nytp_weigh(struct nytp_building *b, uint32_t rank, double cost);

/* Collects b->flows. */
void nytp_collect_flows(struct nytp_building *b);

/* Makes the edges of the model of them. */
void nytp_build_edges(struct nytp_building *b);

/* Makes a tree of two levels of them. */
void nytp_build_edge_tree(struct nytp_building *b);

/* Makes the lines of the model, and the totals of its statements. */
void nytp_build_lines(struct nytp_building *b);

/* ---- raw/, source/, times of calls ---- */

/* The documents of one file. */
struct nytp_docs {
	struct pm_named_doc *docs;
	size_t n;
};

/*
 * Documents of a file of `n`, which need not be filled yet; made in `arena`. `blocks`: times of
 * blocks are recorded, or may be.
 */
void nytp_tables_make(struct pm_arena *arena, struct nytp *n, const struct nytp_file *f,
	bool blocks, struct nytp_docs *ret);

/*
 * The processes of all files in one table, at the root of sources with several files. The table
 * shows `all`, which nytp_processes_fill fills after the files have been read.
 */
void nytp_processes_make(struct pm_arena *arena, struct nytp *n, const struct nytp_file *all,
	struct pm_named_doc *ret);
void nytp_processes_fill(struct nytp *n, struct nytp_file *all);

/*
 * The durations of the calls of each sub. While a file is read, each return adds a few bytes to the
 * log of its sub; percentiles and histograms are computed from the logs on request. A call of
 * that name took `ticks`.
 */
void nytp_log_add(struct nytp *n, struct nytp_file *f, uint32_t name, double ticks);

/* Call at the end of each file, also one that could not be read. */
void nytp_logs_end(struct nytp *n, const struct nytp_file *f);

/* Call after the last file. */
void nytp_logs_settle(struct nytp *n);

/* Frees the logs of all files. */
void nytp_logs_done(struct nytp *n);

/* By function of the finished tree; all are unknown if there were too many calls. A build in `a`.
 */
struct pm_call_times *nytp_times_build(
	struct pm_arena *a, const struct nytp *n, const struct nytp_model *m);

struct nytp_sources {
	struct pm_source *list;
	struct nytp_text *texts; /* by index in the list */
	size_t n, room, texts_room;
};

/* A build in `a`, zeroed before. */
void nytp_sources_build(struct pm_arena *a, struct nytp_sources *s, const struct nytp *n);

/* ---- an opened source ---- */

/* A file of the source, in its state when it was opened. */
struct nytp_input {
	struct pm_watch watch;
	const char *name;
};

/* An opened source. */
struct nytp_opened {
	struct nytp native; /* first: nytp_scan */
	struct pm_arena arena;
	int folder;                    /* owned; -1 for a single file, which `input` is */
	struct pm_input input;         /* until it was read */
	struct nytp_input *inputs;     /* by file of native */
	struct pm_damage_list unread;  /* files that are not part of it */
	uint64_t bytes;                /* of all files */
	bool changed;                  /* atomic: a file could not be read as it was when opened */
	bool alone;                    /* one file as written by the profiler: one process */
	bool may_have_text;            /* by the heads: `files` of native are the scan's */
	struct nytp_docs *docs;        /* by file */
	struct pm_named_doc processes; /* of several files: all of them */
	struct nytp_file all_processes;

	/* Filled with native. */
	struct nytp_threads threads;
	struct pm_fact *facts; /* of parts */

	struct pm_part model, times, sources;
	struct pm_damages damages;
	struct pm_span span;
	struct pm_parts parts;
};

static inline struct nytp_opened *nytp_opened_of(const struct pm_profile *p)
{
	return p->self;
}

/* Reads all files; it is nytp.fill of an opened source. */
int nytp_scan(void *native, struct pm_error *err);

/* Seconds since the epoch as ns; doubles are accurate to a microsecond. */
uint64_t nytp_ns_of(double seconds);

/* model.c: sets the operations and parts of the profile, which borrows it. */
void nytp_model_init(struct nytp_opened *o, struct pm_profile *ret);

#endif
