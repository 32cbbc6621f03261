/*
 * What each source line costs, summed over the contexts or taken from the format. One row for each
 * file and line, with the name of the most expensive function there; costs without a known line are
 * in one row per function.
 */
#include "fs/views/sums/lines.h"

#include <math.h>

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/parts.h"

struct lines_part {
	struct pmfs_lines lines;
	struct pmfs_sums sums;
	struct pm_line *rows;
	size_t room;
};

/* Exclusive cost of a function at a line shared by several functions. */
struct shared {
	uint32_t row, function;
	double cost;
};

/* While rows are made. */
struct making {
	struct pm_arena *scratch;
	struct lines_part *part;
	struct pm_map places;    /* file and line → row */
	struct pm_map names;     /* name and module of functions → number */
	struct pm_map functions; /* that number and file → row of unknown lines */
	struct pm_strtab texts;  /* of names */
	uint32_t *unknown;       /* function → its row of unknown lines, or PM_NONE */
	struct pm_map shares;    /* row and function → place in `shared` */
	struct shared *shared;   /* of functions that are not the row's first */
	size_t n_shared, room_shared;
	bool *is_line; /* row → some context is this line */
	size_t room_is_line;
	uint32_t column; /* whose cost gives a line its name, or PM_NONE */
};

/* ---- rows ---- */

static uint32_t new_row(struct making *w, const struct pm_line *line)
{
	struct lines_part *part = w->part;
	uint32_t n = part->sums.n;
	pm_list_grow(part->sums.arena, &part->rows, n, &part->room, sizeof(*part->rows));
	pm_list_grow(w->scratch, &w->is_line, n, &w->room_is_line, sizeof(*w->is_line));
	part->rows[n] = *line;
	w->is_line[n] = false;
	return pmfs_sums_row(&part->sums);
}

/* The row of a known line, new or not. */
static uint32_t find_line(struct making *w, const struct pm_line *line)
{
	bool fresh;
	uint64_t key = (uint64_t)line->file << 32 | line->line;
	uint32_t row = *pm_map_put(&w->places, key, w->part->sums.n, &fresh);
	return fresh ? new_row(w, line) : row;
}

/* The row of a function's unknown lines; functions that differ only in their lines share one. */
static uint32_t find_unknown(struct making *w, uint32_t function)
{
	const struct pmfs_function *f = &w->part->lines.identity->functions[function];
	struct pm_line line = {.file = f->file, .function = function};
	bool fresh;
	if (w->unknown[function] != PM_NONE)
		return w->unknown[function];
	uint32_t name = pm_strtab_add_lasting(&w->texts, f->name);
	uint32_t number = *pm_map_put(
		&w->names, (uint64_t)name << 32 | f->module, (uint32_t)w->names.n, &fresh);
	uint32_t row = *pm_map_put(
		&w->functions, (uint64_t)number << 32 | f->file, w->part->sums.n, &fresh);
	return w->unknown[function] = fresh ? new_row(w, &line) : row;
}

/* ---- names of lines ---- */

/* Records the cost of a function that is not the first one of the row. */
static void note_share(struct making *w, uint32_t row, uint32_t function, double cost)
{
	bool fresh;
	if (w->part->rows[row].function == function || w->part->rows[row].line == 0 || isnan(cost))
		return;
	uint32_t at = *pm_map_put(
		&w->shares, (uint64_t)row << 32 | function, (uint32_t)w->n_shared, &fresh);
	if (fresh) {
		pm_list_grow(
			w->scratch, &w->shared, w->n_shared, &w->room_shared, sizeof(*w->shared));
		w->shared[w->n_shared++] = (struct shared){row, function, 0};
	}
	w->shared[at].cost += cost;
}

/*
 * The first function of a row has the rest of the cost; it names the row unless another one has
 * more.
 */
static void choose_names(struct making *w)
{
	struct lines_part *part = w->part;
	pm_number *most = pmfs_cells_new(w->scratch, part->sums.n);
	for (size_t i = 0; i < w->n_shared; i++) {
		const struct shared *s = &w->shared[i];
		if (isnan(most[s->row]))
			most[s->row] =
				part->sums
					.cells[(size_t)s->row * part->sums.columns->n + w->column];
		most[s->row] -= s->cost;
	}
	for (size_t i = 0; i < w->n_shared; i++) {
		const struct shared *s = &w->shared[i];
		if (!(s->cost > most[s->row]))
			continue;
		most[s->row] = s->cost;
		part->rows[s->row].function = s->function;
	}
}

/* ---- from the contexts ---- */

static bool is_line(const struct pm_tree *tree, uint32_t context)
{
	const struct pm_frame *frame = pm_tree_frame(tree, context);
	return frame->kind == PM_KIND_LINE || frame->kind == PM_KIND_LOOP;
}

static bool has_lines_below(const struct pm_tree *tree, uint32_t context)
{
	for (uint32_t i = context + 1; i < tree->end[context]; i = tree->end[i])
		if (is_line(tree, i))
			return true;
	return false;
}

/* Like pmfs_share_costs, adds exclusive costs, but to the functions of rows. */
static void note_shares(
	void *self, uint32_t context, const pm_number *cells, const struct pmfs_share *share)
{
	struct making *w = self;
	const struct pmfs_identity *id = w->part->lines.identity;
	double cost = w->column == PM_NONE ? NAN : cells[w->column];
	if (share->nested && share->above == share->row)
		return;
	if (share->nested && share->above != PM_NONE)
		note_share(w, share->above, pmfs_function_of(id, id->tree->parent[context]), -cost);
	note_share(w, share->row, pmfs_function_of(id, context), cost);
}

/* Inclusive costs are those of lines, and of calls of functions without lines. */
static void place(void *self, uint32_t context, struct pmfs_share *share)
{
	struct making *w = self;
	const struct pmfs_identity *id = w->part->lines.identity;
	const struct pm_frame *frame = pm_tree_frame(id->tree, context);
	struct pm_line line = {frame->file, frame->line, pmfs_function_of(id, context)};
	bool known = is_line(id->tree, context) && frame->line != 0;
	share->counts = frame->kind == PM_KIND_LINE ||
		(pmfs_is_call(id, context) && !has_lines_below(id->tree, context));
	share->row = known ? find_line(w, &line) : find_unknown(w, line.function);
	w->is_line[share->row] |= known && frame->kind == PM_KIND_LINE;
}

/* A row exists for a line with a context, or for a cost. */
static bool is_needed(const struct making *w, uint32_t row)
{
	const struct pmfs_sums *s = &w->part->sums;
	const pm_number *cells = s->cells + (size_t)row * s->columns->n;
	bool needed = w->is_line[row];
	for (uint32_t i = 0; i < s->columns->n && !needed; i++)
		needed = s->columns->columns[i].role != PM_ROLE_INCLUSIVE && !isnan(cells[i]) &&
			cells[i] != 0;
	return needed;
}

/* The inclusive cost is never less than the known exclusive cost. */
static void include_own(const struct pmfs_columns *c, pm_number *cells)
{
	for (uint32_t i = 0; i < c->n; i++) {
		const struct pmfs_column *column = &c->columns[i];
		if (column->role == PM_ROLE_INCLUSIVE && column->pair != PM_NONE &&
			cells[column->pair] > 0 && !(cells[i] >= cells[column->pair]))
			cells[i] = cells[column->pair];
	}
}

static void drop_rows(struct making *w)
{
	struct lines_part *part = w->part;
	size_t n_columns = part->sums.columns->n;
	uint32_t kept = 0;
	for (uint32_t i = 0; i < part->sums.n; i++) {
		if (!is_needed(w, i))
			continue;
		pm_number *cells = part->sums.cells + kept * n_columns;
		memmove(cells, part->sums.cells + i * n_columns, n_columns * sizeof(*cells));
		if (part->rows[i].line == 0)
			include_own(part->sums.columns, cells);
		part->rows[kept++] = part->rows[i];
	}
	part->sums.n = kept;
}

static void lines_of_contexts(struct pmfs_model *m, struct making *w, struct pm_error *err)
{
	struct lines_part *part = w->part;
	const struct pmfs_identity *id = part->lines.identity;
	struct pmfs_grouping g = {.model = m,
		.tree = id->tree,
		.end = id->tree->n_contexts,
		.place = place,
		.added = note_shares,
		.self = w};
	part->sums.to_be_tidied = true;
	w->column = part->sums.columns->first_excl;
	w->unknown = pm_arena_array(w->scratch, (size_t)id->n + 1, sizeof(*w->unknown));
	memset(w->unknown, 0xff, (size_t)id->n * sizeof(*w->unknown)); /* PM_NONE */
	pmfs_group(&g, &part->sums, err);
	choose_names(w);
	pmfs_sums_tidy(&part->sums);
	drop_rows(w);
}

/* ---- from the format ---- */

static void lines_of_format(
	struct making *w, const struct pm_lines *native, const struct pm_metrics *metrics)
{
	struct lines_part *part = w->part;
	const struct pmfs_columns *c = part->lines.columns;
	pm_number *cells = pmfs_cells_new(w->scratch, c->n);
	for (uint64_t i = 0; i < native->n; i++) {
		struct pm_line line = native->lines[i];
		line.function = pmfs_same_function(part->lines.identity, line.function);
		pmfs_native_cells(c, metrics, native->values + i * metrics->n, cells);
		uint32_t row = find_line(w, &line);
		pmfs_add_cells(c, part->sums.cells + (size_t)row * c->n, cells, true);
	}
}

/* ---- the part ---- */

static int by_place(const void *a, const void *b, void *lines)
{
	const struct pm_line *x = (const struct pm_line *)lines + *(const uint32_t *)a;
	const struct pm_line *y = (const struct pm_line *)lines + *(const uint32_t *)b;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

/* Lines cost the primary quantity, or the time of statements if they have nothing else. */
static void choose_columns(struct lines_part *part, const struct pm_metrics *metrics,
	const struct pm_statements *statements)
{
	struct pmfs_lines *l = &part->lines;
	bool known = false;
	l->column = pmfs_order_column(l->columns);
	l->statements = PM_NONE;
	for (uint32_t i = 0; statements && i < l->columns->n; i++)
		if (l->columns->columns[i].flat == &metrics->metrics[statements->metric])
			l->statements = i;
	for (uint32_t i = 0; l->column != PM_NONE && i < part->sums.n && !known; i++)
		known = !isnan(part->sums.cells[(size_t)i * l->columns->n + l->column]);
	if (!known && l->statements != PM_NONE)
		l->column = l->statements;
}

static void build_lines(struct pm_arena *a, void *owner, void *p, struct pm_error *err)
{
	struct pmfs_model *m = owner;
	struct lines_part *part = p;
	struct pmfs_lines *l = &part->lines;
	struct pm_arena *scratch = pm_arena_scratch(a);
	const struct pm_map map = {.arena = scratch};
	struct making w = {.scratch = scratch,
		.part = part,
		.places = map,
		.names = map,
		.functions = map,
		.shares = map,
		.texts = {.home = scratch, .lasting = map}};
	const struct pm_flat *flat;
	const struct pm_metrics *metrics;
	pm_build_check(a, pmfs_identity(m, &l->identity, err));
	pm_build_check(a, pmfs_model_columns(m, &l->columns, err));
	pm_build_check(a, pmfs_model_flat(m, &flat, err));
	pm_build_check(a, pmfs_model_metrics(m, &metrics, err));
	part->sums = (struct pmfs_sums){.arena = a, .columns = l->columns};
	if (flat->lines)
		lines_of_format(&w, flat->lines, metrics);
	else
		lines_of_contexts(m, &w, err);
	pm_arena_done(scratch);
	choose_columns(part, metrics, flat->statements);
	uint32_t n = part->sums.n;
	uint32_t *places = pm_arena_array(a, (size_t)n + 1, sizeof(*places));
	for (uint32_t i = 0; i < n; i++)
		places[i] = i;
	pm_build_check(a, pm_sort_with(places, n, sizeof(*places), by_place, part->rows));
	l->tree = l->identity->tree;
	l->n = n;
	l->evals = flat->evals;
	l->lines = part->rows;
	l->cells = part->sums.cells;
	l->order = pmfs_order(a, l->cells, n, l->columns->n, l->column);
	l->by_place = places;
}

int pmfs_lines(struct pmfs_model *m, const struct pmfs_lines **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct lines_part), .what = "the lines", .build = build_lines};
	return pmfs_model_part(m, PMFS_PART_LINES, &type, ret, err);
}

uint32_t pmfs_lines_find(const struct pmfs_lines *l, uint32_t file, uint32_t line)
{
	const struct pm_line *lines = l->lines;
	const uint32_t *at = l->by_place;
	return PM_LOWER_BOUND(i, 0, l->n,
		lines[at[i]].file < file ||
			(lines[at[i]].file == file && lines[at[i]].line < line));
}

double pmfs_lines_statements(const struct pmfs_lines *l, uint32_t file)
{
	pm_number sum = NAN;
	for (uint32_t i = pmfs_lines_find(l, file, 0); i < l->n; i++) {
		uint32_t row = l->by_place[i];
		if (l->lines[row].file != file)
			break;
		pmfs_add(&sum, l->cells[(size_t)row * l->columns->n + l->statements]);
	}
	return (double)sum;
}
