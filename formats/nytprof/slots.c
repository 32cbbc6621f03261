#include "formats/nytprof/slots.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "formats/nytprof/limits.h"

/* Bound on the number of cells: a constant, and a few for each line that has run. */
enum { FILES_MOST = 1 << 16, LINES_MOST = 1 << 20, CELLS_FREE = 1 << 20, CELLS_PER_LINE = 4 };

/* Zeroed items up to `n`. */
static int grow(void *items, size_t *n, size_t more, size_t size)
{
	char *old, *grown;
	memcpy(&old, items, sizeof(old)); /* avoids aliasing */
	grown = realloc(old, more * size);
	if (!grown)
		return -ENOMEM;
	memset(grown + *n * size, 0, (more - *n) * size);
	memcpy(items, &grown, sizeof(grown));
	*n = more;
	return 0;
}

/* Adds a cell for a line. Also 0 if it may not have one. */
static int make_cell(struct nytp_slots *s, uint32_t fid, uint32_t line)
{
	if (fid >= FILES_MOST || line >= LINES_MOST)
		return 0;
	if (fid >= s->n_files && grow(&s->files, &s->n_files, fid + 32, sizeof(*s->files)) < 0)
		return -ENOMEM;
	struct nytp_cells *cells = &s->files[fid];
	size_t n = line + line / 2 + 32, most = CELLS_FREE + CELLS_PER_LINE * s->n_used;
	if (line < cells->n || s->n_cells + (n - cells->n) > most)
		return 0;
	s->n_cells += n - cells->n;
	return grow(&cells->items, &cells->n, n, sizeof(*cells->items));
}

static int add_far(struct nytp_slots *s, const struct nytp_line *line, size_t *rows)
{
	bool fresh;
	if (*rows >= NYTP_LIMIT_ROWS ||
		pm_list_room(&s->far_rows, s->n_far, &s->far_room, sizeof(*s->far_rows)) < 0)
		return -ENOMEM;
	uint32_t *i = pm_map_put(
		&s->far, (uint64_t)line->fid << 32 | line->line, (uint32_t)s->n_far, &fresh);
	if (!i)
		return -ENOMEM;
	if (fresh) {
		s->far_rows[s->n_far++] = *line;
		++*rows;
		return 0;
	}
	s->far_rows[*i].count += line->count;
	s->far_rows[*i].ticks += line->ticks;
	return 0;
}

int nytp_slots_add_new(struct nytp_slots *s, uint32_t fid, uint32_t line, int64_t count,
	int64_t ticks, size_t *rows)
{
	if (*rows >= NYTP_LIMIT_ROWS || make_cell(s, fid, line) < 0)
		return -ENOMEM;
	if (fid >= s->n_files || line >= s->files[fid].n)
		return add_far(s, &(struct nytp_line){fid, line, count, ticks}, rows);
	s->files[fid].items[line] = (struct nytp_cell_of_line){2 * count + 1, ticks};
	s->n_used++;
	++*rows;
	return 0;
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

int nytp_slots_take(struct nytp_slots *s, struct nytp_line **ret, size_t *ret_n)
{
	size_t n = 0;
	struct nytp_line *rows = malloc((s->n_used + s->n_far + 1) * sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	for (uint32_t fid = 0; fid < s->n_files; fid++)
		for (uint32_t line = 0; line < s->files[fid].n; line++) {
			const struct nytp_cell_of_line *cell = &s->files[fid].items[line];
			if (cell->count & 1)
				rows[n++] = (struct nytp_line){
					fid, line, (cell->count - 1) / 2, cell->ticks};
		}
	if (s->n_far) {
		memcpy(rows + n, s->far_rows, s->n_far * sizeof(*rows));
		if (pm_sort(rows, n + s->n_far, sizeof(*rows), by_place) < 0) {
			free(rows);
			return -ENOMEM;
		}
	}
	*ret = rows;
	*ret_n = unite(rows, n + s->n_far);
	nytp_slots_done(s);
	return 0;
}

void nytp_slots_done(struct nytp_slots *s)
{
	for (size_t i = 0; i < s->n_files; i++)
		free(s->files[i].items);
	free(s->files);
	free(s->far_rows);
	pm_map_done(&s->far);
	*s = (struct nytp_slots){.files = NULL};
}
