/* Rows of runs whose keys are names: those of which the match makes one row become one. */
#include <stdlib.h>

#include "formats/common/list.h"
#include "fs/compare/flat.h"

static int intern_key(struct pmfs_joining *j, struct pmfs_row_key key, uint32_t *ret)
{
	bool fresh;
	uint64_t first = (uint64_t)(key.first + 1) << 1 | key.side; /* PM_NONE is 0 */
	uint32_t *known = pm_map_put(&j->known, (uint32_t)first | (uint64_t)key.second << 32,
		(uint32_t)j->n_keys, &fresh);
	if (!known)
		return -ENOMEM;
	*ret = *known;
	if (!fresh)
		return 0;
	if (pm_list_room(&j->keys, j->n_keys, &j->room_keys, sizeof(*j->keys)) < 0)
		return -ENOMEM;
	j->keys[j->n_keys++] = key;
	return 0;
}

int pmfs_joining_add(
	struct pmfs_joining *j, uint32_t run, uint32_t first, uint32_t second, const double *cells)
{
	const struct pmfs_compared_run *of = &j->costs->runs[run];
	uint32_t key;
	if (intern_key(j, (struct pmfs_row_key){first, second, of->side}, &key) < 0)
		return -ENOMEM;
	double *numbers = pmfs_run_rows_add(&j->rows[run], key, j->costs->n);
	if (!numbers)
		return -ENOMEM;
	for (uint32_t i = 0; i < of->n_columns; i++)
		numbers[of->cost[i]] = pmfs_compare_value(j->costs, of, of->cost[i], cells[i]);
	return 0;
}

/* The row of the match for one of a key's spellings. */
static uint32_t group_of(
	const struct pmfs_joining *j, const struct pmfs_row_key *key, uint32_t spelling)
{
	if (spelling == PM_NONE)
		return PM_NONE;
	if (j->which == PMFS_COMPARE_CALLERS)
		return pmfs_match_named(&j->functions->match, spelling, key->side);
	return j->functions->match.spellings[spelling].group[key->side];
}

/* The texts in the order of the table's columns. */
static void show_row(
	const struct pmfs_joining *j, uint32_t first, uint32_t second, struct pmfs_joined_row *row)
{
	const struct pmfs_match *m = &j->functions->match;
	struct pm_bytes names[2] = {pm_bytes_of(""), pm_bytes_of("")};
	for (unsigned i = 0; i < 2; i++) {
		uint32_t group = i == 0 ? first : second;
		if (group == PM_NONE)
			continue;
		names[i] = m->groups[group].name;
		if (m->groups[group].matched > row->matched)
			row->matched = m->groups[group].matched;
	}
	const struct pmfs_spelling *s =
		first == PM_NONE ? NULL : &m->spellings[m->groups[first].shown];
	if (j->which == PMFS_COMPARE_CALLERS) {
		row->text[0] = names[0];
		row->text[1] = names[1];
	} else if (j->which == PMFS_COMPARE_FUNCTIONS) {
		row->text[0] = pmfs_match_text(m, s->module);
		row->text[1] = pmfs_match_text(m, s->file);
		row->text[2] = names[0];
	} else {
		unsigned place = pmfs_text_place(j->which);
		row->text[0] = place == 0 ? names[0]
					  : pmfs_match_text(m, place == 1 ? s->module : s->file);
	}
}

/* Keys with the same rows of the match become one row. */
static int make_rows(struct pmfs_joining *j, uint32_t *of_key)
{
	struct pm_map rows = {.slots = NULL};
	struct pmfs_joined *joined = j->joined;
	joined->rows = calloc(j->n_keys + 1, sizeof(*joined->rows));
	int r = joined->rows ? 0 : -ENOMEM;
	for (size_t i = 0; r == 0 && i < j->n_keys; i++) {
		const struct pmfs_row_key *key = &j->keys[i];
		uint32_t first = group_of(j, key, key->first);
		uint32_t second = group_of(j, key, key->second);
		bool fresh;
		uint32_t *row =
			pm_map_put(&rows, (uint64_t)first << 32 | second, joined->n, &fresh);
		if (!row) {
			r = -ENOMEM;
			continue;
		}
		of_key[i] = *row;
		if (fresh)
			show_row(j, first, second, &joined->rows[joined->n++]);
		joined->rows[*row].sides |= (uint8_t)(1u << key->side);
	}
	for (uint32_t i = 0; r == 0 && joined->row_of && i < joined->match.n_groups; i++) {
		const uint32_t *row = pm_map_find(&rows, (uint64_t)i << 32 | PM_NONE);
		joined->row_of[i] = row ? *row : PM_NONE;
	}
	pm_map_done(&rows);
	return r;
}

int pmfs_joining_join(struct pmfs_joining *j)
{
	uint32_t *of_key = malloc((j->n_keys + 1) * sizeof(*of_key));
	int r = of_key ? 0 : -ENOMEM;
	if (r == 0 && j->which == PMFS_COMPARE_FUNCTIONS) {
		size_t n = (size_t)j->joined->match.n_groups + 1;
		j->joined->row_of = malloc(n * sizeof(*j->joined->row_of));
		r = j->joined->row_of ? 0 : -ENOMEM;
	}
	if (r == 0)
		r = make_rows(j, of_key);
	if (r == 0)
		r = pmfs_joined_sum(j->joined, j->rows, of_key);
	free(of_key);
	return r;
}

void pmfs_joining_done(struct pmfs_joining *j)
{
	for (uint32_t i = 0; j->rows && i < j->costs->n_runs; i++)
		pmfs_run_rows_done(&j->rows[i]);
	free(j->rows);
	free(j->keys);
	pm_map_done(&j->known);
}

int pmfs_joining_check(
	const struct pmfs_joining *j, uint32_t run, struct pmfs_model *m, struct pm_error *err)
{
	const struct pmfs_columns *columns;
	int r = pmfs_model_columns(m, &columns, err);
	if (r == 0 && columns->n != j->costs->runs[run].n_columns)
		r = pm_error_set(err, -EIO, NULL, PM_NO_OFFSET, "a run has changed");
	return r;
}
