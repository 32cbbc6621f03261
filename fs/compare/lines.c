/* Joins the lines of runs: reads those of each run, and sums up the rows that linematch.c makes. */
#include <stdlib.h>

#include "formats/common/list.h"
#include "fs/compare/linejoin.h"
#include "fs/views/sums/lines.h"

/* ---- reading ---- */

static int add_file(struct pmfs_line_join *j, uint32_t run, struct pm_bytes file, uint32_t *ret)
{
	const struct pm_bytes none = pm_bytes_of(""), text[3] = {none, none, file};
	return pmfs_match_add(&j->files, j->costs->runs[run].side, run, text, ret);
}

/* The spelling of a line's function, and of the file in which it is defined. */
static int add_function(struct pmfs_line_join *j, uint32_t run, const struct pmfs_lines *l,
	const struct pm_line *line, uint32_t *ret)
{
	*ret = line->function == PM_NONE ? PM_NONE : j->of[run][line->function];
	if (*ret == PM_NONE)
		return 0;
	uint32_t file = l->identity->functions[line->function].file;
	return add_file(j, run, l->tree->texts[file], &j->defined_in[*ret]);
}

static int add_key(struct pmfs_line_join *j, const struct pmfs_line_key *key, uint32_t *ret)
{
	bool fresh;
	uint32_t *place = pm_map_put(
		&j->places, (uint64_t)key->file << 32 | key->line, (uint32_t)j->places.n, &fresh);
	if (!place)
		return -ENOMEM;
	uint32_t *known = pm_map_put(&j->known,
		(uint64_t)(key->function + 1) << 33 | (uint64_t)*place << 1 | key->side,
		(uint32_t)j->n_keys, &fresh);
	if (!known)
		return -ENOMEM;
	*ret = *known;
	if (!fresh)
		return 0;
	if (pm_list_room(&j->keys, j->n_keys, &j->room_keys, sizeof(*j->keys)) < 0)
		return -ENOMEM;
	j->keys[j->n_keys++] = *key;
	return 0;
}

static int add_line(
	struct pmfs_line_join *j, uint32_t run, const struct pmfs_lines *l, uint32_t line)
{
	const struct pmfs_compared_run *of = &j->costs->runs[run];
	const struct pm_line *found = &l->lines[line];
	struct pmfs_line_key key = {.line = found->line, .side = of->side};
	struct pm_bytes file = found->line ? l->tree->texts[found->file] : pm_bytes_of("");
	uint32_t at;
	if (add_function(j, run, l, found, &key.function) < 0 ||
		add_file(j, run, file, &key.file) < 0 || add_key(j, &key, &at) < 0)
		return -ENOMEM;
	double *numbers = pmfs_run_rows_add(&j->rows[run], at, j->costs->n);
	if (!numbers)
		return -ENOMEM;
	const double *cells = l->cells + (size_t)line * l->columns->n;
	for (uint32_t i = 0; i < of->n_columns; i++)
		numbers[of->cost[i]] = pmfs_compare_value(j->costs, of, of->cost[i], cells[i]);
	return 0;
}

static int read_run(void *self, uint32_t run, struct pmfs_model *m, struct pm_error *err)
{
	struct pmfs_line_join *j = self;
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

static int allocate(struct pmfs_line_join *j)
{
	size_t n = j->n_keys + 1;
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
static int keep_texts(struct pmfs_line_join *j)
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

static int join(struct pmfs_line_join *j)
{
	if (allocate(j) < 0 || pmfs_match_finish(&j->files) < 0 || keep_texts(j) < 0 ||
		pmfs_lines_match(j) < 0 || pmfs_lines_match_alone(j) < 0)
		return -ENOMEM;
	return pmfs_joined_sum(j->joined, j->rows, j->of_key);
}

static void done(struct pmfs_line_join *j)
{
	for (uint32_t i = 0; j->rows && i < j->costs->n_runs; i++)
		pmfs_run_rows_done(&j->rows[i]);
	for (unsigned side = 0; side < PMFS_N_SIDES; side++)
		free(j->place[side]);
	pmfs_match_done(&j->files);
	pm_map_done(&j->places);
	pm_map_done(&j->known);
	free(j->rows);
	free(j->keys);
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
	struct pmfs_line_join j = {.costs = joined->costs, .joined = joined};
	const struct pmfs_joined *functions;
	int r = pmfs_functions_get(c, &functions, err);
	if (r < 0)
		return r;
	j.functions = &functions->match;
	j.of = (const uint32_t *const *)functions->of;
	j.n_of = functions->n_of;
	j.files.exact = j.files.of_places = true;
	j.rows = calloc((size_t)j.costs->n_runs + 1, sizeof(*j.rows));
	j.defined_in = calloc((size_t)j.functions->n + 1, sizeof(*j.defined_in));
	const struct pmfs_reader reader = {NULL, read_run};
	r = j.rows && j.defined_in ? pmfs_compare_read(c, j.costs, reader, &j, err) : -ENOMEM;
	if (r == 0)
		r = join(&j);
	done(&j);
	return r == -ENOMEM ? pmfs_compare_no_memory(err) : r;
}
