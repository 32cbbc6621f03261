/*
 * Times of statements, added up by file and line. File and line numbers are small in real profiles,
 * so each file has an array with a cell for each line; large or sparse numbers are in a hash table.
 */
#ifndef PROFMOUNT_FORMATS_NYTPROF_SLOTS_H
#define PROFMOUNT_FORMATS_NYTPROF_SLOTS_H

#include "formats/common/map.h"
#include "formats/nytprof/calls.h"

struct nytp_line {
	uint32_t fid, line;
	int64_t count, ticks;
};

/* Of a line: `count` is twice the count, plus 1 once the line has run at all. */
struct nytp_cell_of_line {
	int64_t count, ticks;
};

struct nytp_cells {
	struct nytp_cell_of_line *items; /* by line */
	size_t n;
};

struct nytp_slots {
	struct nytp_cells *files; /* by fid */
	size_t n_files, n_cells, n_used;
	struct pm_map far; /* place → row, for lines without a cell */
	struct nytp_line *far_rows;
	size_t n_far, far_room;
	struct pm_arena *arena;
};

/* Empty ones in a build of `a` (arena.h), as is what follows. */
static inline struct nytp_slots nytp_slots_in(struct pm_arena *a)
{
	return (struct nytp_slots){.far.arena = a, .arena = a};
}

/* Slow path of nytp_slots_add, if there is no used cell. */
void nytp_slots_add_new(struct nytp_slots *s, uint32_t fid, uint32_t line, int64_t count,
	int64_t ticks, size_t *rows);

/* Adds to a line. A new line increments *rows, or fails with NYTP_FULL at NYTP_LIMIT_ROWS. */
static inline void nytp_slots_add(struct nytp_slots *s, uint32_t fid, uint32_t line, int64_t count,
	int64_t ticks, size_t *rows)
{
	if (fid < s->n_files && line < s->files[fid].n) {
		struct nytp_cell_of_line *cell = &s->files[fid].items[line];
		if (cell->count & 1) {
			cell->count += 2 * count;
			cell->ticks += ticks;
			return;
		}
	}
	nytp_slots_add_new(s, fid, line, count, ticks, rows);
}

/* All lines by file and line, in `a`. */
struct nytp_line *nytp_slots_take(const struct nytp_slots *s, struct pm_arena *a, size_t *ret_n);

#endif
