/*
 * Joins the lines of runs: those of matching functions are the same by their position in the
 * function, the others by their position in the file.
 */
#include "fs/compare/internal.h"

#include <stdlib.h>

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

/* Sorts places and merges equal ones; `j->unique` is the index for each key. 0 or -ENOMEM. */
static int unite(struct line_join *j, struct pmfs_line_place *places, uint32_t *n)
{
	uint32_t kept = 0;
	if (pmfs_places_sort(places, *n) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i < *n; i++) {
		bool same = kept > 0 && places[kept - 1].class == places[i].class &&
			places[kept - 1].at == places[i].at;
		uint32_t tag = places[i].tag;
		if (!same)
			places[kept++] = places[i];
		j->unique[tag] = kept - 1;
	}
	*n = kept;
	return 0;
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

/* Handles a function, whose keys begin at order[from]. */
static int match_function(struct line_join *j, size_t from, size_t to)
{
	uint32_t n[PMFS_N_SIDES] = {0, 0}, row = j->joined->n;
	for (size_t i = from; i < to; i++) {
		enum pmfs_side side = j->keys[j->order[i]].side;
		j->place[side][n[side]++] = place_of(j, j->order[i]);
	}
	for (unsigned side = 0; side < PMFS_N_SIDES; side++)
		if (unite(j, j->place[side], &n[side]) < 0)
			return -ENOMEM;
	if (pmfs_places_match(j->place[PMFS_BASE], n[PMFS_BASE], j->place[PMFS_OTHER],
		    n[PMFS_OTHER], j->partner) < 0)
		return -ENOMEM;
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
	return 0;
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
 * 0 or -ENOMEM.
 */
static int lines_match(struct line_join *j)
{
	for (size_t i = 0; i < j->keyed.n; i++) {
		j->keys[i].group = function_key(j, &j->keys[i]);
		j->order[i] = (uint32_t)i;
	}
	if (pm_sort_with(j->order, j->keyed.n, sizeof(*j->order), by_function, j->keys) < 0)
		return -ENOMEM;
	for (size_t from = 0, to; from < j->keyed.n; from = to) {
		uint32_t group = j->keys[j->order[from]].group;
		for (to = from; to < j->keyed.n && j->keys[j->order[to]].group == group;)
			to++;
		if (match_function(j, from, to) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* ---- lines of functions that have no partner ---- */

/* The rows of only one side, as places in their files, `*ret_n` of them. 0 or -ENOMEM. */
static int list_alone(struct line_join *j, enum pmfs_side side, uint32_t *ret_n)
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
	*ret_n = n;
	return pmfs_places_sort(j->place[side], n);
}

/* Renumbers rows: `to` is the new index of each row. */
static void drop_rows(struct line_join *j, uint32_t *to)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < j->joined->n; i++) {
		if (to[i] != i)
			continue;
		j->joined->rows[n] = j->joined->rows[i];
		to[i] = n++;
	}
	j->joined->n = n;
}

/*
 * Then merges rows of only one side that are the same line of the same file: functions may have
 * different names. 0 or -ENOMEM.
 */
static int lines_match_alone(struct line_join *j)
{
	uint32_t n[PMFS_N_SIDES], rows = j->joined->n, *to = j->order;
	for (uint32_t i = 0; i < rows; i++) {
		j->unique[i] = 0;
		to[i] = i;
	}
	for (unsigned side = 0; side < PMFS_N_SIDES; side++)
		if (list_alone(j, side, &n[side]) < 0)
			return -ENOMEM;
	if (pmfs_places_match(j->place[PMFS_BASE], n[PMFS_BASE], j->place[PMFS_OTHER],
		    n[PMFS_OTHER], j->partner) < 0)
		return -ENOMEM;
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
	drop_rows(j, to);
	for (size_t i = 0; i < j->keyed.n; i++) {
		uint32_t row = j->of_key[i];
		j->of_key[i] = to[j->unique[row] == PM_NONE ? j->row[row] : row];
	}
	return 0;
}

/* ---- reading ---- */

static int add_file(struct line_join *j, uint32_t run, struct pm_bytes file, uint32_t *ret)
{
	const struct pm_bytes none = pm_bytes_of(""), text[3] = {none, none, file};
	return pmfs_match_add(&j->files, j->costs->runs[run].side, run, text, ret);
}

/* The spelling of a line's function, and of the file in which it is defined. */
static int add_function(struct line_join *j, uint32_t run, const struct pmfs_lines *l,
	const struct pm_line *line, uint32_t *ret)
{
	*ret = line->function == PM_NONE ? PM_NONE : j->of[run][line->function];
	if (*ret == PM_NONE)
		return 0;
	uint32_t file = l->identity->functions[line->function].file;
	return add_file(j, run, l->tree->texts[file], &j->defined_in[*ret]);
}

static int add_line(struct line_join *j, uint32_t run, const struct pmfs_lines *l, uint32_t line)
{
	const struct pm_line *found = &l->lines[line];
	struct line_key key = {.line = found->line, .side = j->costs->runs[run].side};
	struct pm_bytes file = found->line ? l->tree->texts[found->file] : pm_bytes_of("");
	bool fresh;
	if (add_function(j, run, l, found, &key.function) < 0 ||
		add_file(j, run, file, &key.file) < 0)
		return -ENOMEM;
	uint32_t *place = pm_map_put(
		&j->places, (uint64_t)key.file << 32 | key.line, (uint32_t)j->places.n, &fresh);
	if (!place)
		return -ENOMEM;
	uint64_t known = (uint64_t)(key.function + 1) << 33 | (uint64_t)*place << 1 | key.side;
	return pmfs_keyed_add(&j->keyed, run, known, &key, l->cells + (size_t)line * l->columns->n);
}

static int read_run(void *self, uint32_t run, struct pmfs_model *m, struct pm_error *err)
{
	struct line_join *j = self;
	const struct pmfs_lines *l;
	int r = pmfs_lines(m, &l, err);
	if (r == 0 &&
		(l->columns->n != j->costs->runs[run].n_columns || l->identity->n != j->n_of[run]))
		r = pm_error_set(err, -EIO, NULL, PM_NO_OFFSET, "a run has changed");
	if (r == 0)
		r = pmfs_compare_evals(&j->files, m, j->functions->exact, err);
	for (uint32_t i = 0; r == 0 && i < l->n; i++)
		r = pm_work_cancelled() ? -ENOMEM : add_line(j, run, l, l->order[i]);
	pmfs_match_run_ends(&j->files);
	return r;
}

/* ---- the join ---- */

static int allocate(struct line_join *j)
{
	size_t n = j->keyed.n + 1;
	j->of_key = malloc(n * sizeof(*j->of_key));
	j->order = malloc(n * sizeof(*j->order));
	j->unique = malloc(n * sizeof(*j->unique));
	j->partner = malloc(n * sizeof(*j->partner));
	j->row = malloc(n * sizeof(*j->row));
	for (unsigned side = 0; side < PMFS_N_SIDES; side++)
		j->place[side] = malloc(n * sizeof(*j->place[side]));
	j->joined->rows = calloc(n, sizeof(*j->joined->rows));
	return j->of_key && j->order && j->unique && j->partner && j->row && j->joined->rows &&
			j->place[PMFS_BASE] && j->place[PMFS_OTHER]
		? 0
		: -ENOMEM;
}

/* Texts of files are owned by the joined match, which is kept; the other one is freed. */
static int keep_texts(struct line_join *j)
{
	j->texts = malloc(((size_t)j->files.n + 1) * sizeof(*j->texts));
	for (uint32_t i = 0; j->texts && i < j->files.n; i++) {
		j->texts[i] = pm_arena_copy(&j->joined->match.arena,
			pmfs_match_text(&j->files, j->files.spellings[i].file));
		if (!j->texts[i].p)
			return -ENOMEM;
	}
	return j->texts ? 0 : -ENOMEM;
}

static int join(struct line_join *j)
{
	j->keys = j->keyed.keys;
	if (allocate(j) < 0 || pmfs_match_finish(&j->files) < 0 || keep_texts(j) < 0 ||
		lines_match(j) < 0 || lines_match_alone(j) < 0)
		return -ENOMEM;
	return pmfs_joined_sum(j->joined, &j->keyed, j->of_key);
}

static void done(struct line_join *j)
{
	pmfs_keyed_done(&j->keyed);
	for (unsigned side = 0; side < PMFS_N_SIDES; side++)
		free(j->place[side]);
	pmfs_match_done(&j->files);
	pm_map_done(&j->places);
	free(j->defined_in);
	free(j->of_key);
	free(j->order);
	free(j->unique);
	free(j->partner);
	free(j->row);
	free(j->texts);
}

int pmfs_lines_join(struct pmfs_compare *c, struct pmfs_joined *joined, struct pm_error *err)
{
	struct line_join j = {.costs = joined->costs, .joined = joined};
	const struct pmfs_joined *functions;
	int r = pmfs_functions_get(c, &functions, err);
	if (r < 0)
		return r;
	j.functions = &functions->match;
	j.of = (const uint32_t *const *)functions->of;
	j.n_of = functions->n_of;
	j.files.exact = j.files.of_places = true;
	j.defined_in = calloc((size_t)j.functions->n + 1, sizeof(*j.defined_in));
	const struct pmfs_reader reader = {NULL, read_run};
	r = pmfs_keyed_init(&j.keyed, j.costs, sizeof(struct line_key)) == 0 && j.defined_in
		? pmfs_compare_read(c, j.costs, reader, &j, err)
		: -ENOMEM;
	if (r == 0)
		r = join(&j);
	done(&j);
	return r == -ENOMEM ? pmfs_compare_no_memory(err) : r;
}
