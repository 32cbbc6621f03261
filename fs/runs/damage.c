/* damage.csv of all runs, and of a broken one; the rows of --check. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "formats/common/list.h"
#include "fs/runs/runs.h"
#include "profmount/limits.h"

static void set_error(const struct pm_error *error, struct pm_cell *cells)
{
	cells[0] = error->offset == PM_NO_OFFSET ? pm_cell_empty() : pm_cell_u64(error->offset);
	cells[1] = pm_cell_empty();
	cells[2] = pm_cell_str(error->file);
	cells[3] = pm_cell_str(error->text);
}

static void set_damage(const struct pm_damage *damage, struct pm_cell *cells)
{
	cells[0] = damage->offset == PM_NO_OFFSET ? pm_cell_empty() : pm_cell_u64(damage->offset);
	cells[1] = damage->bytes == PM_NO_OFFSET ? pm_cell_empty() : pm_cell_u64(damage->bytes);
	cells[2] = pm_cell_str(damage->file);
	cells[3] = pm_cell_str(damage->what);
}

/* ---- broken runs ---- */

/* The run of a table's k-th row, or PM_NONE after the last. */
static uint32_t run_at(const struct pm_table *table, uint64_t k)
{
	const struct pmfs_ensemble *e = pmfs_ensemble_of(table->self);
	if (table->b != PM_NONE)
		return k == 0 ? (uint32_t)table->b : PM_NONE;
	const struct pmfs_group *base = &e->runs.groups[e->base];
	const struct pmfs_group *other = &e->runs.groups[e->others[table->a]];
	if (k < base->n)
		return base->first + (uint32_t)k;
	return k - base->n < other->n ? other->first + (uint32_t)(k - base->n) : PM_NONE;
}

static int errors_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pmfs_ensemble *e = pmfs_ensemble_of(rows->table->self);
	uint32_t run;
	(void)err;
	while ((run = run_at(rows->table, rows->at)) != PM_NONE) {
		const struct pm_error *error = pmfs_shelf_error(e->shelf, run);
		rows->row = rows->at++;
		if (error) {
			set_error(error, cells);
			return 1;
		}
	}
	return 0;
}

static struct pm_table errors_table(const struct pmfs_ensemble *e, uint32_t other, uint32_t run)
{
	static const struct pm_table_type type = {.next = errors_next, .dense = true};
	static const char *const columns[] = {"offset", "bytes", "file", "what"};
	return (struct pm_table){
		.type = &type, .columns = columns, .n_columns = 4, .self = e, .a = other, .b = run};
}

struct pm_table pmfs_run_errors_table(const struct pmfs_ensemble *e, uint32_t run)
{
	return errors_table(e, 0, run);
}

struct pm_table pmfs_pair_errors_table(const struct pmfs_ensemble *e, uint32_t other)
{
	return errors_table(e, other, PM_NONE);
}

/* ---- of all ---- */

/* A row of the root's damage.csv. */
struct row {
	uint32_t run;
	struct pm_damage damage;
};

struct all {
	struct pm_arena *a;
	struct row *rows;
	uint32_t n, broken;
	size_t room;
	struct pm_damages damages; /* the same with the run before the file name, for --check */
};

static void add_row(struct all *all, uint32_t run, const struct pm_damage *damage)
{
	if (all->n >= PM_LIMIT_DAMAGE)
		return;
	pm_list_grow(all->a, &all->rows, all->n, &all->room, sizeof(*all->rows));
	struct row *row = &all->rows[all->n++];
	*row = (struct row){run, *damage};
	row->damage.file = pm_arena_printf(all->a, "%s", damage->file ? damage->file : "");
	row->damage.what = pm_arena_printf(all->a, "%s",
		all->n < PM_LIMIT_DAMAGE ? damage->what : "there is more damage, not listed here");
}

/* What is still open is shown, but nobody else will find it any more. */
static void add_if_gone(const struct pmfs_ensemble *e, struct all *all, uint32_t run)
{
	const struct pmfs_run *given = &e->runs.runs[run];
	struct pm_error gone = {.offset = PM_NO_OFFSET};
	if (faccessat(AT_FDCWD, given->open ? given->open : given->path, F_OK, 0) == 0 ||
		(errno != ENOENT && errno != ENOTDIR))
		return;
	snprintf(gone.text, sizeof(gone.text),
		"the source is not there any more (%s); shown is what was open", strerror(errno));
	const struct pm_damage damage = {
		.offset = PM_NO_OFFSET, .bytes = PM_NO_OFFSET, .file = "", .what = gone.text};
	add_row(all, run, &damage);
}

/* An attempt, while the run is lent. */
struct adding {
	const struct pmfs_ensemble *e;
	struct all *all;
	uint32_t run;
	struct pmfs_model *m;
	struct pm_error why;
};

static void add_run(void *context)
{
	struct adding *adding = context;
	const struct pm_damages *damages;
	pm_build_check(adding->all->a,
		pm_profile_damage(pmfs_model_profile(adding->m), &damages, &adding->why));
	add_if_gone(adding->e, adding->all, adding->run);
	for (size_t i = 0; i < damages->n; i++)
		add_row(adding->all, adding->run, &damages->rows[i]);
}

static void all_build(struct pm_arena *a, void *owner, void *part, struct pm_error *err)
{
	struct pmfs_ensemble *e = owner;
	struct all *all = part;
	(void)err;
	all->a = a;
	for (uint32_t i = 0; i < e->runs.n; i++) {
		struct adding adding = {e, all, i, NULL, {.offset = PM_NO_OFFSET}};
		const struct pm_error *why = &adding.why;
		pm_build_proceed(a);
		int r = pmfs_shelf_acquire(e->shelf, i, &adding.m, &adding.why);
		if (r == 0) {
			r = pm_build(a, add_run, &adding);
			pmfs_shelf_release(e->shelf, i);
		}
		if (pm_is_passing(r))
			pm_build_fail(a, r);
		if (r == 0)
			continue;
		const struct pm_damage damage = {.offset = why->offset,
			.bytes = PM_NO_OFFSET,
			.file = why->file,
			.what = why->text};
		all->broken++;
		add_row(all, i, &damage);
	}
	struct pm_damage *named = pm_arena_array(a, all->n, sizeof(*named));
	for (uint32_t i = 0; i < all->n; i++) {
		const struct row *row = &all->rows[i];
		const struct pmfs_run *run = &e->runs.runs[row->run];
		const char *name = e->runs.repeated
			? pm_arena_printf(a, "%s/%u", run->name, run->repetition)
			: run->name;
		named[i] = row->damage;
		named[i].file = pm_arena_printf(
			a, "%s%s%s", name, *row->damage.file ? ": " : "", row->damage.file);
	}
	all->damages = (struct pm_damages){.n = all->n, .rows = named};
	e->shown.damage.it = &all->damages;
}

static int get_all(const struct pmfs_ensemble *e, const struct all **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		.size = sizeof(struct all), .what = "the damage of all runs", .build = all_build};
	struct pmfs_ensemble *owner = pmfs_ensemble_of(e);
	return pm_part_get(&owner->parts[PMFS_ENSEMBLE_DAMAGE], &type, owner, ret, err);
}

int pmfs_ensemble_damage(void *self, struct pm_error *err)
{
	const struct pmfs_ensemble *e = self;
	const struct all *all;
	int r = get_all(e, &all, err);
	if (r < 0)
		return r;
	if (all->broken == e->runs.n)
		return pm_error_set(err, -EIO, NULL, PM_NO_OFFSET,
			"no source can be opened; the first: %s", all->rows[0].damage.what);
	return 0;
}

static int damage_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct pmfs_ensemble *e = pmfs_ensemble_of(rows->table->self);
	const struct all *all;
	int r = get_all(e, &all, err);
	if (r < 0 || rows->at >= all->n)
		return r;
	const struct row *row = &all->rows[rows->at++];
	const struct pmfs_run *run = &e->runs.runs[row->run];
	cells[0] = pm_cell_str(run->name);
	cells[1] = pm_cell_u64(run->repetition);
	set_damage(&row->damage, cells + 2);
	return 1;
}

struct pm_table pmfs_all_damage_table(const struct pmfs_ensemble *e)
{
	static const struct pm_table_type type = {.next = damage_next, .dense = true};
	static const char *const columns[] = {
		"run", "repetition", "offset", "bytes", "file", "what"};
	return (struct pm_table){.type = &type, .columns = columns, .n_columns = 6, .self = e};
}
