/*
 * Joins the lines of runs: those of matching functions are the same by their position in the
 * function, the others by their position in the file.
 */
#include "fs/compare/internal.h"

#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "fs/compare/places.h"
#include "fs/views/sums/lines.h"

/* A line as a run has it. */
struct line_key {
	uint32_t function; /* spelling; PM_NONE: none */
	uint32_t file;     /* spelling */
	uint32_t line;
	enum pmfs_side side;
	uint32_t group; /* key of the function, once everything has been read */
};

struct line_join {
	struct pm_arena *a; /* while lines are joined */
	const struct pmfs_costs *costs;
	struct pmfs_joined *joined;
	const struct pmfs_match *functions;
	const uint32_t *const *of; /* see struct pmfs_joined */
	const uint32_t *n_of;
	struct pmfs_match files;
	struct pmfs_keyed keyed; /* by struct line_key */
	struct line_key *keys;   /* those, once all runs have been read */
	struct pm_map places;    /* file and line → number */
	uint32_t *defined_in;    /* by spelling of a function: that of its file */
	struct pm_bytes *texts;  /* by spelling of a file */
	uint32_t *of_key, *order, *unique;
	/*
	 * For one function: places, the partners of the baseline's places, rows of the other run's
	 * places.
	 */
	struct pmfs_line_place *place[PMFS_N_SIDES];
	uint32_t *partner, *row;
};

/* ---- which lines are the same ---- */

static uint32_t file_group(const struct line_join *j, const struct line_key *key)
{
	return j->files.spellings[key->file].group[key->side];
}

/* Keys of functions: rows of the match, names alone for functions without lines, and none. */
static uint32_t function_key(const struct line_join *j, const struct line_key *key)
{
	const struct pmfs_match *m = j->functions;
	if (key->function == PM_NONE)
		return 2 * m->n_groups;
	if (key->line == 0)
		return m->n_groups + pmfs_match_named(m, key->function, key->side);
	return m->spellings[key->function].group[key->side];
}

/* The row of the match whose name is shown; NULL: none. */
static const struct pmfs_match_group *function_of(const struct line_join *j, uint32_t group)
{
	const struct pmfs_match *m = j->functions;
	return group == 2 * m->n_groups ? NULL : &m->groups[group % m->n_groups];
}

/* The first line of a function on a side; 0: unknown on one of them. */
static uint32_t first_line(const struct pmfs_match_group *g, enum pmfs_side side)
{
	return g && g->line[PMFS_BASE] && g->line[PMFS_OTHER] ? g->line[side] : 0;
}

/* Lines in other files do not move with the function. */
static struct pmfs_line_place place_of(const struct line_join *j, uint32_t at)
{
	const struct line_key *key = &j->keys[at];
	uint32_t class = file_group(j, key), defined = PM_NONE;
	if (key->function != PM_NONE)
		defined = j->files.spellings[j->defined_in[key->function]].group[key->side];
	return (struct pmfs_line_place){
		.class = class,
		.at = (int64_t)key->line -
			(class == defined ? first_line(function_of(j, key->group), key->side) : 0),
		.tag = at,
	};
}

/*
 * Sorts n places and merges equal ones; `j->unique` is the index for each key. The number of those
 * that are left.
 */
static uint32_t unite(struct line_join *j, struct pmfs_line_place *places, uint32_t n)
{
	uint32_t kept = 0;
	pmfs_places_sort(j->a, places, n);
	for (uint32_t i = 0; i < n; i++) {
		bool same = kept > 0 && places[kept - 1].class == places[i].class &&
			places[kept - 1].at == places[i].at;
		uint32_t tag = places[i].tag;
		if (!same)
			places[kept++] = places[i];
		j->unique[tag] = kept - 1;
	}
	return kept;
}

static void show_row(struct line_join *j, const struct line_key *key, struct pmfs_joined_row *row)
{
	const struct pmfs_match_group *function = function_of(j, key->group);
	if (row->sides == 0 || key->side == PMFS_OTHER) {
		row->text[0] = j->texts[key->file];
		row->text[1] = function ? function->name : pm_bytes_of("");
		row->matched = function ? function->matched : PMFS_EXACT;
	}
	row->line[key->side] = key->line;
	row->sides |= (uint8_t)(1u << key->side);
}

static void pair_places(struct line_join *j, const uint32_t n[PMFS_N_SIDES])
{
	pmfs_places_match(j->a, j->place[PMFS_BASE], n[PMFS_BASE], j->place[PMFS_OTHER],
		n[PMFS_OTHER], j->partner);
}

/* Handles a function, whose keys begin at order[from]. */
static void match_function(struct line_join *j, size_t from, size_t to)
{
	uint32_t n[PMFS_N_SIDES] = {0, 0}, row = j->joined->n;
	for (size_t i = from; i < to; i++) {
		enum pmfs_side side = j->keys[j->order[i]].side;
		j->place[side][n[side]++] = place_of(j, j->order[i]);
	}
	for (unsigned side = 0; side < PMFS_N_SIDES; side++)
		n[side] = unite(j, j->place[side], n[side]);
	pair_places(j, n);
	for (uint32_t i = 0; i < n[PMFS_OTHER]; i++)
		j->row[i] = PM_NONE;
	for (uint32_t i = 0; i < n[PMFS_BASE]; i++)
		if (j->partner[i] != PM_NONE)
			j->row[j->partner[i]] = row + i;
	row += n[PMFS_BASE];
	for (uint32_t i = 0; i < n[PMFS_OTHER]; i++)
		if (j->row[i] == PM_NONE)
			j->row[i] = row++;
	for (size_t i = from; i < to; i++) {
		uint32_t at = j->order[i];
		const struct line_key *key = &j->keys[at];
		j->of_key[at] = key->side == PMFS_OTHER ? j->row[j->unique[at]]
							: j->joined->n + j->unique[at];
		show_row(j, key, &j->joined->rows[j->of_key[at]]);
	}
	j->joined->n = row;
}

static int by_function(const void *a, const void *b, void *keys)
{
	const struct line_key *k = keys;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	if (k[x].group != k[y].group)
		return k[x].group < k[y].group ? -1 : 1;
	return (x > y) - (x < y);
}

/*
 * Matches the lines of matching functions: fills joined->rows and n, and of_key, from the keys.
 */
static void lines_match(struct line_join *j)
{
	for (size_t i = 0; i < j->keyed.n; i++) {
		j->keys[i].group = function_key(j, &j->keys[i]);
		j->order[i] = (uint32_t)i;
	}
	pm_build_check(
		j->a, pm_sort_with(j->order, j->keyed.n, sizeof(*j->order), by_function, j->keys));
	for (size_t from = 0, to; from < j->keyed.n; from = to) {
		uint32_t group = j->keys[j->order[from]].group;
		for (to = from; to < j->keyed.n && j->keys[j->order[to]].group == group;)
			to++;
		match_function(j, from, to);
	}
}

/* ---- lines of functions that have no partner ---- */

/* Lists the rows of only one side, as places in their files; their number. */
static uint32_t list_alone(struct line_join *j, enum pmfs_side side)
{
	uint32_t n = 0;
	for (size_t i = 0; i < j->keyed.n; i++) {
		const struct line_key *key = &j->keys[i];
		uint32_t row = j->of_key[i];
		if (key->side != side || key->line == 0 || j->unique[row] == side + 1 ||
			j->joined->rows[row].sides != 1u << side)
			continue;
		j->unique[row] = side + 1; /* listed */
		j->place[side][n++] = (struct pmfs_line_place){
			.class = file_group(j, key), .at = key->line, .tag = row};
	}
	pmfs_places_sort(j->a, j->place[side], n);
	return n;
}

/*
 * Then merges rows of only one side that are the same line of the same file: functions may have
 * different names.
 */
static void lines_match_alone(struct line_join *j)
{
	uint32_t n[PMFS_N_SIDES], rows = j->joined->n, *to = j->order;
	for (uint32_t i = 0; i < rows; i++) {
		j->unique[i] = 0;
		to[i] = i;
	}
	for (unsigned side = 0; side < PMFS_N_SIDES; side++)
		n[side] = list_alone(j, side);
	pair_places(j, n);
	for (uint32_t i = 0; i < n[PMFS_BASE]; i++) {
		if (j->partner[i] == PM_NONE)
			continue;
		uint32_t base = j->place[PMFS_BASE][i].tag;
		uint32_t other = j->place[PMFS_OTHER][j->partner[i]].tag;
		j->row[base] = other; /* index of the row into which it is merged; see below */
		j->unique[base] = PM_NONE;
		j->joined->rows[other].line[PMFS_BASE] = j->joined->rows[base].line[PMFS_BASE];
		j->joined->rows[other].sides = PMFS_BOTH_SIDES;
		j->joined->rows[other].matched = PMFS_EXACT;
		to[base] = PM_NONE;
	}
	j->joined->n = 0;
	for (uint32_t i = 0; i < rows; i++)
		if (to[i] == i) {
			to[i] = j->joined->n++;
			j->joined->rows[to[i]] = j->joined->rows[i];
		}
	for (size_t i = 0; i < j->keyed.n; i++) {
		uint32_t row = j->of_key[i];
		j->of_key[i] = to[j->unique[row] == PM_NONE ? j->row[row] : row];
	}
}

/* ---- reading ---- */

static uint32_t add_file(struct line_join *j, uint32_t run, struct pm_bytes file)
{
	const struct pm_bytes none = pm_bytes_of(""), text[3] = {none, none, file};
	return pmfs_match_add(&j->files, j->costs->runs[run].side, run, text);
}

static void add_line(struct line_join *j, uint32_t run, const struct pmfs_lines *l, uint32_t line)
{
	const struct pm_line *found = &l->lines[line];
	struct line_key key = {
		.function = PM_NONE, .line = found->line, .side = j->costs->runs[run].side};
	bool fresh;
	if (found->function != PM_NONE)
		key.function = j->of[run][found->function];
	if (key.function != PM_NONE) /* the file in which it is defined */
		j->defined_in[key.function] = add_file(
			j, run, l->tree->texts[l->identity->functions[found->function].file]);
	key.file = add_file(j, run, found->line ? l->tree->texts[found->file] : pm_bytes_of(""));
	uint32_t place = *pm_map_put(
		&j->places, (uint64_t)key.file << 32 | key.line, (uint32_t)j->places.n, &fresh);
	uint64_t known = (uint64_t)(key.function + 1) << 33 | (uint64_t)place << 1 | key.side;
	pmfs_keyed_add(&j->keyed, run, known, &key, l->cells + (size_t)line * l->columns->n);
}

static void read_run(void *self, uint32_t run, struct pmfs_model *m, struct pm_error *err)
{
	struct line_join *j = self;
	const struct pmfs_lines *l;
	pm_build_check(j->a, pmfs_lines(m, &l, err));
	if (l->columns->n != j->costs->runs[run].n_columns || l->identity->n != j->n_of[run])
		pmfs_compare_changed(j->a, err);
	pmfs_compare_evals(&j->files, m, j->functions->exact, err);
	for (uint32_t i = 0; i < l->n; i++)
		add_line(j, run, l, l->order[i]);
	pmfs_match_run_ends(&j->files);
}

/* ---- the join ---- */

void pmfs_lines_join(struct pm_arena *arena, struct pmfs_compare *c, struct pmfs_joined *joined,
	struct pm_error *err)
{
	struct pm_arena *a = pm_arena_scratch(arena);
	struct line_join *j = pm_arena_alloc(a, sizeof(*j));
	const struct pmfs_joined *functions;
	*j = (struct line_join){
		.a = a, .costs = joined->costs, .joined = joined, .places.arena = a};
	pm_build_check(a, pmfs_functions_get(c, &functions, err));
	j->functions = &functions->match;
	j->of = (const uint32_t *const *)functions->of;
	j->n_of = functions->n_of;
	j->defined_in = pm_arena_array(a, (size_t)j->functions->n + 1, sizeof(*j->defined_in));
	pmfs_match_init(&j->files, a, true, true);
	pmfs_keyed_init(&j->keyed, a, j->costs, sizeof(struct line_key));
	pmfs_compare_read(a, c, j->costs, (struct pmfs_reader){NULL, read_run}, j, err);
	j->keys = j->keyed.keys;
	size_t n = j->keyed.n + 1;
	j->of_key = pm_arena_array(a, n, sizeof(*j->of_key));
	j->order = pm_arena_array(a, n, sizeof(*j->order));
	j->unique = pm_arena_array(a, n, sizeof(*j->unique));
	j->partner = pm_arena_array(a, n, sizeof(*j->partner));
	j->row = pm_arena_array(a, n, sizeof(*j->row));
	for (unsigned side = 0; side < PMFS_N_SIDES; side++)
		j->place[side] = pm_arena_array(a, n, sizeof(*j->place[side]));
	joined->rows = pm_arena_array(arena, n, sizeof(*joined->rows));
	pmfs_match_finish(&j->files);
	j->texts = pm_arena_array(a, (size_t)j->files.n + 1, sizeof(*j->texts));
	for (uint32_t i = 0; i < j->files.n; i++)
		j->texts[i] = pm_arena_copy(
			arena, pmfs_match_text(&j->files, j->files.spellings[i].file));
	lines_match(j);
	lines_match_alone(j);
	pmfs_joined_sum(arena, joined, &j->keyed, j->of_key);
	pm_arena_done(a);
}
