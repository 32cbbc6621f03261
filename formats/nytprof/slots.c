#include "formats/nytprof/slots.h"

#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "formats/nytprof/limits.h"

/* Bound on the number of cells: a constant, and a few for each line that has run. */
enum { FILES_MOST = 1 << 16, LINES_MOST = 1 << 20, CELLS_FREE = 1 << 20, CELLS_PER_LINE = 4 };

/* Zeroed items up to `more`. */
static void grow(struct pm_arena *a, void *items, size_t *n, size_t more, size_t size)
{
	char *grown;
	memcpy(&grown, items, sizeof(grown)); /* avoids aliasing */
	grown = pm_arena_realloc(a, grown, more * size);
	memset(grown + *n * size, 0, (more - *n) * size);
	memcpy(items, &grown, sizeof(grown));
	*n = more;
}

/* Adds a cell for a line, if it may have one. */
static void make_cell(struct nytp_slots *s, uint32_t fid, uint32_t line)
{
	if (fid >= FILES_MOST || line >= LINES_MOST)
		return;
	if (fid >= s->n_files)
		grow(s->arena, &s->files, &s->n_files, fid + 32, sizeof(*s->files));
	struct nytp_cells *cells = &s->files[fid];
	size_t n = line + line / 2 + 32, most = CELLS_FREE + CELLS_PER_LINE * s->n_used;
	if (line < cells->n || s->n_cells + (n - cells->n) > most)
		return;
	s->n_cells += n - cells->n;
	grow(s->arena, &cells->items, &cells->n, n, sizeof(*cells->items));
}

static void add_far(struct nytp_slots *s, struct nytp_line line, size_t *rows)
{
	bool fresh;
	pm_list_grow(s->arena, &s->far_rows, s->n_far, &s->far_room, sizeof(line));
	uint32_t i = *pm_map_put(
		&s->far, (uint64_t)line.fid << 32 | line.line, (uint32_t)s->n_far, &fresh);
	if (fresh) {
		s->far_rows[s->n_far++] = line;
		++*rows;
		return;
	}
	s->far_rows[i].count += line.count;
	s->far_rows[i].ticks += line.ticks;
}

void nytp_slots_add_new(struct nytp_slots *s, uint32_t fid, uint32_t line, int64_t count,
	int64_t ticks, size_t *rows)
{
	if (*rows >= NYTP_LIMIT_ROWS)
		pm_build_fail(s->arena, NYTP_FULL);
	make_cell(s, fid, line);
	if (fid >= s->n_files || line >= s->files[fid].n) {
		add_far(s, (struct nytp_line){fid, line, count, ticks}, rows);
		return;
	}
	s->files[fid].items[line] = (struct nytp_cell_of_line){2 * count + 1, ticks};
	s->n_used++;
	++*rows;
}

/* ---- the end ---- */

static int by_place(const void *a, const void *b)
{
	const struct nytp_line *x = a, *y = b;
	if (x->fid != y->fid)
		return x->fid < y->fid ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

/* Lines may have run before they got a cell. */
static size_t unite(struct nytp_line *rows, size_t n)
{
	size_t kept = 0;
	for (size_t i = 0; i < n; i++) {
		struct nytp_line *last = kept ? &rows[kept - 1] : NULL;
		if (last && by_place(last, &rows[i]) == 0) {
			last->count += rows[i].count;
			last->ticks += rows[i].ticks;
		} else {
			rows[kept++] = rows[i];
		}
	}
	return kept;
}

struct nytp_line *nytp_slots_take(const struct nytp_slots *s, struct pm_arena *a, size_t *ret_n)
{
	size_t n = 0;
	struct nytp_line *rows = pm_arena_array(a, s->n_used + s->n_far, sizeof(*rows));
	for (uint32_t fid = 0; fid < s->n_files; fid++)
		for (uint32_t line = 0; line < s->files[fid].n; line++) {
			const struct nytp_cell_of_line *cell = &s->files[fid].items[line];
			if (cell->count & 1)
				rows[n++] = (struct nytp_line){
					fid, line, (cell->count - 1) / 2, cell->ticks};
		}
	if (s->n_far) {
		memcpy(rows + n, s->far_rows, s->n_far * sizeof(*rows));
		pm_build_check(a, pm_sort(rows, n + s->n_far, sizeof(*rows), by_place));
	}
	*ret_n = unite(rows, n + s->n_far);
	return rows;
}
