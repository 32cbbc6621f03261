/*
 * Which lines of two runs are the same: lines of matching functions by their position in the
 * function, the others by their position in the file.
 */
#include "fs/compare/linejoin.h"

#include "formats/common/sort.h"

static uint32_t file_group(const struct pmfs_line_join *j, const struct pmfs_line_key *key)
{
	return j->files.spellings[key->file].group[key->side];
}

/* Keys of functions: rows of the match, names alone for functions without lines, and none. */
static uint32_t function_key(const struct pmfs_line_join *j, const struct pmfs_line_key *key)
{
	const struct pmfs_match *m = j->functions;
	if (key->function == PM_NONE)
		return 2 * m->n_groups;
	if (key->line == 0)
		return m->n_groups + pmfs_match_named(m, key->function, key->side);
	return m->spellings[key->function].group[key->side];
}

/* The row of the match whose name is shown; NULL: none. */
static const struct pmfs_match_group *function_of(const struct pmfs_line_join *j, uint32_t group)
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
static struct pmfs_line_place place_of(const struct pmfs_line_join *j, uint32_t at)
{
	const struct pmfs_line_key *key = &j->keys[at];
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
static int unite(struct pmfs_line_join *j, struct pmfs_line_place *places, uint32_t *n)
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

static void show_row(
	struct pmfs_line_join *j, const struct pmfs_line_key *key, struct pmfs_joined_row *row)
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
static int match_function(struct pmfs_line_join *j, size_t from, size_t to)
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
		const struct pmfs_line_key *key = &j->keys[at];
		j->of_key[at] = key->side == PMFS_OTHER ? j->row[j->unique[at]]
							: j->joined->n + j->unique[at];
		show_row(j, key, &j->joined->rows[j->of_key[at]]);
	}
	j->joined->n = row;
	return 0;
}

static int by_function(const void *a, const void *b, void *keys)
{
	const struct pmfs_line_key *k = keys;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	if (k[x].group != k[y].group)
		return k[x].group < k[y].group ? -1 : 1;
	return (x > y) - (x < y);
}

int pmfs_lines_match(struct pmfs_line_join *j)
{
	for (size_t i = 0; i < j->n_keys; i++) {
		j->keys[i].group = function_key(j, &j->keys[i]);
		j->order[i] = (uint32_t)i;
	}
	if (pm_sort_with(j->order, j->n_keys, sizeof(*j->order), by_function, j->keys) < 0)
		return -ENOMEM;
	for (size_t from = 0, to; from < j->n_keys; from = to) {
		uint32_t group = j->keys[j->order[from]].group;
		for (to = from; to < j->n_keys && j->keys[j->order[to]].group == group;)
			to++;
		if (match_function(j, from, to) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* ---- lines of functions that have no partner ---- */

/* The rows of only one side, as places in their files, `*ret_n` of them. 0 or -ENOMEM. */
static int list_alone(struct pmfs_line_join *j, enum pmfs_side side, uint32_t *ret_n)
{
	uint32_t n = 0;
	for (size_t i = 0; i < j->n_keys; i++) {
		const struct pmfs_line_key *key = &j->keys[i];
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
static void drop_rows(struct pmfs_line_join *j, uint32_t *to)
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

int pmfs_lines_match_alone(struct pmfs_line_join *j)
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
	for (size_t i = 0; i < j->n_keys; i++) {
		uint32_t row = j->of_key[i];
		j->of_key[i] = to[j->unique[row] == PM_NONE ? j->row[row] : row];
	}
	return 0;
}
