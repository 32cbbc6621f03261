/*
 * From contexts to functions: those at a level of the call path, or the deepest that matter. Loops
 * and lines are part of the frame above them, so a context's level counts frames, not contexts. All
 * levels are found by passes over the tree in pre-order, in which a parent comes before its
 * children: no path is ever walked up.
 */
#include "formats/common/map.h"
#include "formats/common/sort.h"
#include "fs/views/pictures/timeline.h"
#include "fs/views/sums/stacks.h"

enum {
	N = PMFS_TIMELINE_POINTS,
	WIDE_PART = 100, /* functions with at least this share of all cells are shown */
};

struct levelling {
	struct pm_arena *a; /* of what is needed to make the bands */
	const struct pmfs_timeline *timeline;
	struct pmfs_bands *bands;
	uint32_t *shown;   /* by context: the frame that it is part of */
	uint32_t *level;   /* by context: of that frame */
	uint32_t *frame;   /* by context: the one at the level asked for, or the path's last */
	uint32_t *name_of; /* by frame of the tree: its name, or PM_NONE */
	uint32_t deepest;  /* of all cells */
	struct pm_text raw, line;
};

static void find_levels(struct levelling *l)
{
	const struct pm_tree *tree = l->timeline->tree;
	pmfs_stacks_find_frames(tree, 0, tree->n_contexts, l->shown);
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		uint32_t parent = tree->parent[i];
		l->level[i] = parent == PM_NONE ? 0 : l->level[parent] + (l->shown[i] == i);
	}
	for (size_t i = 0; i < (size_t)l->timeline->n_rows * N; i++) {
		uint32_t context = l->timeline->context[i];
		if (context != PM_NONE && l->level[context] > l->deepest)
			l->deepest = l->level[context];
	}
	if (l->deepest >= PMFS_TIMELINE_LEVELS)
		l->deepest = PMFS_TIMELINE_LEVELS - 1;
}

static void find_frames(struct levelling *l, uint32_t level)
{
	const struct pm_tree *tree = l->timeline->tree;
	for (uint32_t i = 0; i < tree->n_contexts; i++)
		l->frame[i] = l->level[i] > level ? l->frame[tree->parent[i]] : l->shown[i];
}

/* ---- names ---- */

static void intern_frame(struct levelling *l, uint32_t frame)
{
	const struct pm_tree *tree = l->timeline->tree;
	if (l->name_of[frame] != PM_NONE)
		return;
	pm_text_clear(&l->raw);
	pm_text_clear(&l->line);
	pm_text_line(&l->line, pmfs_stacks_name(tree, &tree->frames[frame], &l->raw));
	l->name_of[frame] = pm_strtab_add(&l->bands->names, pm_text_view(&l->line));
}

/* Every name that a cell can have at the level that l->frame is of. */
static void intern_names(struct levelling *l)
{
	const struct pmfs_timeline *t = l->timeline;
	for (size_t i = 0; i < (size_t)t->n_rows * N; i++)
		if (t->context[i] != PM_NONE)
			intern_frame(l, t->tree->frame[l->frame[t->context[i]]]);
}

/* Fills a band from a row of the timeline. With `only`, from paths that reach that level. */
static void fill_band(struct levelling *l, uint32_t row, uint32_t band, const uint32_t *only)
{
	const struct pmfs_timeline *t = l->timeline;
	const uint32_t *from = t->context + (size_t)row * N;
	uint32_t *to = l->bands->name + (size_t)band * N;
	for (uint32_t i = 0; i < N; i++) {
		bool some = from[i] != PM_NONE && (!only || l->level[from[i]] >= *only);
		to[i] = some ? l->name_of[t->tree->frame[l->frame[from[i]]]] : PM_NONE;
	}
}

/* ---- how often each name occurs ---- */

static int compare_counts(const void *a, const void *b)
{
	const struct pmfs_band_name *x = a, *y = b;
	if (x->n_busy != y->n_busy)
		return x->n_busy < y->n_busy ? 1 : -1;
	if (x->n_seen != y->n_seen)
		return x->n_seen < y->n_seen ? 1 : -1;
	return x->name < y->name ? -1 : 1;
}

/* Counts the first bands, one for each row of the timeline, into `top`. */
static void count_names(struct pm_arena *a, struct levelling *l)
{
	struct pmfs_bands *b = l->bands;
	struct pmfs_band_name *top = b->top = pm_arena_array(a, b->names.n, sizeof(*top));
	b->n_names = b->names.n;
	b->n_cells = (uint64_t)l->timeline->n_rows * N;
	for (uint32_t i = 0; i < b->n_names; i++)
		top[i].name = i;
	for (size_t i = 0; i < b->n_cells; i++) {
		if (b->name[i] == PM_NONE)
			continue;
		top[b->name[i]].n_seen++;
		top[b->name[i]].n_busy += !l->timeline->brief[i];
		b->n_seen++;
		b->n_busy += !l->timeline->brief[i];
	}
	pm_build_check(a, pm_sort(top, b->n_names, sizeof(*top), compare_counts));
	while (b->n_names > 0 && top[b->n_names - 1].n_seen == 0)
		b->n_names--;
}

/* ---- the two kinds of picture ---- */

/* By context: the number of cells in a frame or its callees; 0 for contexts that are not frames. */
static uint32_t *count_cells(const struct levelling *l)
{
	const struct pmfs_timeline *t = l->timeline;
	uint32_t *cells = pm_arena_array(l->a, t->tree->n_contexts, sizeof(*cells));
	for (size_t i = 0; i < (size_t)t->n_rows * N; i++)
		if (t->context[i] != PM_NONE)
			cells[l->shown[t->context[i]]]++;
	for (uint32_t i = t->tree->n_contexts; i-- > 0;) {
		uint32_t parent = t->tree->parent[i];
		if (parent != PM_NONE && l->shown[i] == i)
			cells[l->shown[parent]] += cells[i];
	}
	return cells;
}

/* By name: the number of cells in a function or its callees, from its outermost frames. */
static uint32_t *count_functions(const struct levelling *l, const uint32_t *cells)
{
	const struct pm_tree *tree = l->timeline->tree;
	uint32_t *width = pm_arena_array(l->a, l->bands->names.n, sizeof(*width));
	uint32_t *until = pm_arena_array(l->a, l->bands->names.n, sizeof(*until));
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		uint32_t name = cells[i] > 0 ? l->name_of[tree->frame[i]] : PM_NONE;
		if (name == PM_NONE || i < until[name])
			continue;
		width[name] += cells[i];
		until[name] = tree->end[i];
	}
	return width;
}

/* For each context the deepest frame of its path whose function matters; else the outermost. */
static void find_wide_frames(
	struct levelling *l, const uint32_t *cells, const uint32_t *width, uint32_t least)
{
	const struct pm_tree *tree = l->timeline->tree;
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		uint32_t parent = tree->parent[i];
		bool wide = l->shown[i] == i && cells[i] > 0 &&
			width[l->name_of[tree->frame[i]]] >= least;
		l->frame[i] = wide || parent == PM_NONE ? i : l->frame[parent];
	}
}

static void fill_threads(struct pm_arena *a, struct levelling *l)
{
	const struct pmfs_timeline *t = l->timeline;
	const uint32_t *cells = count_cells(l);
	uint64_t n_seen = 0;
	pm_build_proceed(a);
	for (uint32_t i = 0; i < t->tree->n_contexts; i++)
		if (cells[i] > 0)
			intern_frame(l, t->tree->frame[i]);
	for (size_t i = 0; i < (size_t)t->n_rows * N; i++)
		n_seen += t->context[i] != PM_NONE;
	const uint32_t *width = count_functions(l, cells);
	pm_build_proceed(a);
	find_wide_frames(l, cells, width, (uint32_t)(n_seen / WIDE_PART) + 1);
	for (uint32_t row = 0; row < t->n_rows; row++)
		fill_band(l, row, row, NULL);
	l->bands->n_rows = t->n_rows;
	pm_build_proceed(a);
	count_names(a, l);
}

static void fill_stack(struct pm_arena *a, struct levelling *l)
{
	find_frames(l, UINT32_MAX);
	intern_names(l);
	fill_band(l, 0, 0, NULL);
	count_names(a, l);
	l->bands->n_rows = l->deepest + 1;
	for (uint32_t level = 0; level <= l->deepest; level++) {
		find_frames(l, level);
		pm_build_proceed(a);
		intern_names(l);
		fill_band(l, 0, level, &level);
	}
}

struct pmfs_bands *pmfs_bands_make(struct pm_arena *a, const struct pmfs_timeline *t, bool stacked)
{
	struct pmfs_bands *b = pm_arena_alloc(a, sizeof(*b));
	struct pm_arena *scratch = pm_arena_scratch(a);
	size_t n = t->tree->n_contexts, n_frames = t->tree->n_frames;
	struct levelling l = {.a = scratch,
		.timeline = t,
		.bands = b,
		.shown = pm_arena_array(scratch, n, sizeof(*l.shown)),
		.level = pm_arena_array(scratch, n, sizeof(*l.level)),
		.frame = pm_arena_array(scratch, n, sizeof(*l.frame)),
		.name_of = pm_arena_array(scratch, n_frames, sizeof(*l.name_of)),
		.raw.arena = scratch,
		.line.arena = scratch};
	b->names = pm_strtab_in(a);
	for (size_t i = 0; i < n_frames; i++)
		l.name_of[i] = PM_NONE;
	find_levels(&l);
	pm_build_proceed(a);
	size_t rows = stacked ? l.deepest + 1 : t->n_rows;
	b->name = pm_arena_array(a, rows * N, sizeof(*b->name));
	if (t->n_rows > 0)
		(stacked ? fill_stack : fill_threads)(a, &l);
	pm_arena_done(scratch);
	return b;
}

/* ---- making it fit ---- */

/*
 * The cell that represents those from `at` to `end`: a pseudo-random one, which preserves the
 * shares of functions. The most frequent one would hide short functions, and one at a fixed
 * position would alias with loops. It is the same one in every band, so that the levels of a stack
 * agree.
 */
static uint32_t pick(const uint32_t *band, uint32_t at, uint32_t end)
{
	return band[at + pm_hash_u64(at) % (end - at)];
}

/* Runs of a band whose cells are joined n at a time. */
static uint32_t count_runs(const uint32_t *band, uint32_t n)
{
	uint32_t runs = 0, before = PM_NONE;
	for (uint32_t i = 0; i < N; i += n) {
		uint32_t now = pick(band, i, i + n < N ? i + n : N);
		runs += now != PM_NONE && now != before;
		before = now;
	}
	return runs;
}

uint32_t pmfs_bands_fit(struct pmfs_bands *b, uint32_t limit)
{
	uint32_t n = 0;
	uint64_t runs;
	do {
		n++;
		runs = 0;
		for (uint32_t i = 0; i < b->n_rows && runs <= limit; i++)
			runs += count_runs(b->name + (size_t)i * N, n);
	} while (runs > limit && n < N);
	for (uint32_t i = 0; i < b->n_rows; i++)
		for (uint32_t at = 0; at < N; at += n) {
			uint32_t *band = b->name + (size_t)i * N, end = at + n < N ? at + n : N;
			uint32_t cell = pick(band, at, end);
			for (uint32_t k = at; k < end; k++)
				band[k] = cell;
		}
	return n;
}
