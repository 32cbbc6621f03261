/*
 * A source in NYTProf's own terms: filled by the reader, presented by raw.c and build.c. Filled on
 * first need (nytp_ready), const from then on.
 */
#ifndef PROFMOUNT_FORMATS_NYTPROF_NATIVE_H
#define PROFMOUNT_FORMATS_NYTPROF_NATIVE_H

#include "formats/common/damage.h"
#include "formats/common/input.h"
#include "formats/common/lazy.h"
#include "formats/common/map.h"
#include "formats/common/text.h"
#include "formats/nytprof/calls.h"
#include "formats/nytprof/slots.h"
#include "profmount/document.h"

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
	/* See evals.h; of evals only. */
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

/* How long the calls of a sub took, in the order of their returns: see lengths.c. */
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
	struct pm_map namesakes; /* name → number of the sub that it defines: namesakes.h */
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
	int (*fill)(struct nytp *n, struct pm_error *err); /* NULL: it is filled */
	struct pm_arena arena;
	struct pm_strtab names;
	uint32_t *folded; /* by name, see nytp_folded; others stand for themselves */
	uint32_t n_folded;
	uint32_t *namesakes; /* their names: see nytp_name */
	uint32_t n_namesakes;
	bool keep_evals;
	struct nytp_file *files; /* present from the beginning, with name and layout */
	size_t n_files;
	uint32_t n_runs;
	uint64_t returns; /* records of calls that return */
	uint32_t *log_of; /* by name: number of its log in the file that is read, from 1 */
	size_t log_of_room;
	size_t log_bytes;    /* of the logs of all files */
	bool logs_full;      /* NYTP_LIMIT_LOGS was reached: no percentiles are known */
	size_t rows;         /* of all tables and trees: see NYTP_LIMIT_ROWS */
	size_t source_bytes; /* of saved source, its index included */
	struct pm_damage_list damage;
	struct pm_input *input;         /* while it is read */
	uint64_t bytes_done, bytes_all; /* of all files */
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

/* The index of a text of the source as UTF-8; NYTP_NONE if out of memory or beyond the limit. */
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

/* Reports that `done` bytes of the current file have been read; -ENOMEM to stop. */
int nytp_progress(const struct nytp *n, uint64_t done);

/* An empty source. */
void nytp_init(struct nytp *n);

/* Resets it to the state before it was filled: files keep name and layout. */
void nytp_reset(struct nytp *n);

/* Frees only `logs`. */
void nytp_file_logs_done(struct nytp_file *f);

void nytp_file_done(struct nytp_file *f);
void nytp_done(struct nytp *n);

#endif
