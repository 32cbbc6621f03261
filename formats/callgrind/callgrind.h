/* Shared by the files of this format: a reader's state. docs/formats/callgrind.md has the grammar.
 */
#ifndef PROFMOUNT_CALLGRIND_CALLGRIND_H
#define PROFMOUNT_CALLGRIND_CALLGRIND_H

#include "formats/builder/builder.h"
#include "formats/common/list.h"
#include "formats/common/map.h"

/*
 * A number of the file: digits × 10^-decimals, or a double if its digits are beyond 63 bits;
 * without decimals, it is itself.
 */
struct cg_number {
	int64_t digits;
	unsigned decimals;
	bool real;
	double f;
};

/* Names of one kind of position, by index; 0 is no name. Ids of the file refer to them. */
enum { CG_SMALL = 1 << 20 }; /* most writers count ids from 1 */
struct cg_names {
	struct pm_strtab texts;
	struct pm_map by_id;
	uint32_t *small; /* of ids below CG_SMALL; PM_NONE: not defined */
	size_t n_small, small_room;
};

/* An event, and the quantities that its costs are part of: its own, then sums over it. */
struct cg_event {
	struct pm_bytes name;
	struct cg_term {
		uint32_t quantity;
		int64_t factor;
	} * terms;
	size_t n_terms, room;
};

/* `event: NAME = A + 2 B`. The quantity is PM_REC_NONE until the events are known. */
struct cg_sum {
	struct pm_bytes name, terms;
	uint32_t quantity;
};

/* A part of the file: a dump, or a thread. Numbers that are not given are PM_NO_OFFSET. */
struct cg_part {
	uint64_t number, thread, pid, lines;
	struct pm_bytes command, trigger, totals;
	bool has_totals;
};

struct cg_jump {
	bool conditional;
	uint64_t executed, jumped; /* of a conditional one: how often it was reached, and taken */
	uint64_t address, line, to_address, to_line;
	uint32_t object, file, function, to_file, to_function; /* names */
};

/* Xdebug writes a block a call, when it returns. */
struct cg_block {
	uint32_t function; /* handle */
	uint32_t own_file; /* name: where it is defined */
	uint32_t parent;   /* a later block, or PM_NONE: at the top, as far as is known */
	uint32_t file;     /* name: where its caller calls it */
	uint64_t line;
	uint32_t context;
};

struct cg_block_cost {
	uint32_t block, file;
	uint64_t line;
	uint32_t event;
	struct cg_number cost;
};

struct cg_block_call {
	uint32_t function, file;
	uint64_t line;
};

/* What is read of one file, from its beginning: names, sums and what is wrong. */
struct cg_file {
	/* The grammar's state: fl, fi or fe, ob, fn; cfi, cob, cfn; jfi, jfn. */
	uint32_t file, here, object, function;
	uint32_t callee_file, callee_object, callee, jump_file, jump_function;
	bool has_callee_file, has_callee_object, has_callee, has_jump_file, has_jump_function;
	char order[4]; /* of subpositions: 'l' line, 'a' address, 'x' another */
	unsigned n_positions;
	bool has_line, is_usual; /* is_usual: the line alone */
	uint64_t address, line;  /* of the last position */
	bool in_body;
	size_t n_columns, first_part;
	bool is_plain; /* each column is a quantity, as it is */
	bool has_calls;
	uint32_t top;  /* context of the current function; PM_REC_NONE: not needed so far */
	uint32_t site; /* that with the current file; PM_NONE: not needed so far */
	uint32_t thread;
	struct pm_bytes creator;
	/* summary:, of the file or, if there are several, of parts; the one that is no sum. */
	struct pm_bytes summary, part_summary, lie;
	size_t n_summaries;
	bool has_version, has_caches; /* version:, desc: I1 cache: */
	/* What is wrong, and where first; said once, at the end. */
	struct cg_fault {
		size_t n;
		uint64_t first;
	} malformed, nameless, unended, lies;
	bool ends_early;
};

/* A line of a function, or a function that is called from a line or from nowhere. */
struct cg_step {
	uint32_t of, to; /* contexts and lines; contexts and names of functions */
	uint32_t file, object;
	uint32_t context;
	bool is_line;
};

/* A reader of the files of one run. */
struct cg_reader {
	struct pm_recording *r;
	struct pm_textlines *lines;
	/* Of events and sums; of all the rest, which is forgotten. Reading is a build in them. */
	struct pm_arena kept, arena;
	struct cg_file at;
	struct cg_names files, functions, objects;
	/* Events, in the order in which they came; columns of the part at hand. */
	struct cg_event *events;
	size_t n_events, events_room;
	struct cg_sum *sums;
	size_t n_sums, sums_room;
	uint32_t *columns;
	size_t columns_room;
	/* Costs of a line, by column: whole numbers, the usual case, or any. */
	struct pm_rec_amount *amounts;
	struct cg_number *cells;
	size_t amounts_room, cells_room;
	bool is_whole;
	/* By event: the sum of cost lines of this part, and of the parts of this file before it. */
	struct cg_total {
		__int128 whole;   /* of integers */
		long double rest; /* of others */
	} * own, *all;
	size_t n_own;
	/* Handles: (file, object) → pair, (function, pair) → function. */
	struct pm_map pairs, handles;
	struct pm_map sites; /* (top, file) → site */
	uint32_t n_sites;
	/* Cost lines, and calls, in the order in which each came first. */
	struct cg_step *steps;
	size_t n_steps, steps_room, step;
	struct pm_map lines_at, calls_at; /* (site, line) → step, context → step */
	uint32_t n_pairs;
	uint32_t calls; /* the quantity; PM_REC_NONE before the first call */
	struct cg_part *parts;
	size_t n_parts, parts_room;
	struct cg_jump *jumps;
	size_t n_jumps, jumps_room;
	/* Xdebug. */
	bool may_be_blocks, by_blocks, in_block, no_tree;
	struct cg_block *blocks;
	size_t n_blocks, blocks_room;
	struct cg_block_cost *costs;
	size_t n_costs, costs_room;
	struct cg_block_call *pending; /* calls of the block at hand */
	size_t n_pending, pending_room;
	uint32_t *open; /* blocks that nobody has called so far, in order */
	size_t n_open, open_room;
};

/* Counts what is wrong with the line at hand. */
static inline void cg_add_fault(const struct cg_reader *c, struct cg_fault *f)
{
	if (f->n++ == 0)
		f->first = c->lines->offset;
}

/* ---- words.c ---- */

/* Without the blanks around it. */
struct pm_bytes cg_trimmed(struct pm_bytes b);
/* Takes the next word of a line; empty at its end. */
struct pm_bytes cg_word(struct pm_bytes *line);
/* A whole number, decimal or with 0x, below 2^64. */
bool cg_whole(struct pm_bytes b, uint64_t *ret);
/* A cost: an integer, a decimal, or hexadecimal; negative ones have a minus. */
bool cg_number_of(struct pm_bytes b, struct cg_number *ret);
double cg_value(const struct cg_number *n);

enum { CG_MOST_DIGITS = 18 }; /* 64 bits hold any such number */

/* Takes the next word of a line if it is a number of digits alone, the usual case. */
static inline bool cg_take_digits(struct pm_bytes *line, uint64_t *ret)
{
	const uint8_t *p = line->p, *end = p + line->len, *first;
	uint64_t n = 0;
	unsigned d;
	while (p < end && (*p == ' ' || *p == '\t'))
		p++;
	for (first = p; p < end && (d = *p - (unsigned)'0') <= 9; p++)
		n = n * 10 + d;
	if (p == first || p - first > CG_MOST_DIGITS || (p < end && *p != ' ' && *p != '\t'))
		return false;
	*line = (struct pm_bytes){p, (size_t)(end - p)};
	*ret = n;
	return true;
}

/* ---- events.c ---- */

/* `events: Ir Dr …`: the columns of this part. */
void cg_take_events(struct cg_reader *c, struct pm_bytes line);
/* `event: NAME = TERMS : TEXT`; without a sum, it is only a longer name. */
void cg_take_sum(struct cg_reader *c, struct pm_bytes line);
/* Sums become quantities, once all events are known. */
void cg_define_sums(struct cg_reader *c);
/* The part at hand ends: what its costs add up to goes to the sums of the file. */
void cg_end_sums(struct cg_reader *c);
/* The cost of the line at hand in a column. */
struct cg_number cg_cell(const struct cg_reader *c, size_t column);
/* Adds the costs of the line at hand: the context's own, or what passes through it as an edge. */
void cg_add_costs(struct cg_reader *c, uint32_t context, bool through);
/* The same for one cost of an event. */
void cg_cost(struct cg_reader *c, uint32_t context, bool through, uint32_t event,
	const struct cg_number *n);

/* reader.c: an empty reader. */
void cg_begin(struct cg_reader *c, struct pm_recording *r);
/* reader.c: reads the file at hand, as blocks if `may_be_blocks` allows it. */
void cg_read_file(struct cg_reader *c, bool may_be_blocks);
bool cg_is_by(const struct cg_reader *c, const char *writer);
struct pm_bytes cg_text(const struct cg_names *names, uint32_t name);

/* Forgets what was read, but not the events: another reading has the same quantities. */
void cg_forget(struct cg_reader *c);
void cg_done(struct cg_reader *c);

/* A line of a file in a call that is defined in `own_file`; the call itself where none is known. */
uint32_t cg_line(
	struct cg_reader *c, uint32_t call, uint32_t file, uint32_t own_file, uint64_t line);

/* Tells the recording the tree of Xdebug's blocks, when all has been read. */
void cg_blocks_tree(struct cg_reader *c);

#endif
