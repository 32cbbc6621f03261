/* damage.csv of all runs, and of a broken one; the rows of --check. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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
	struct row *rows;
	struct pm_damage *named; /* the same with the run before the file name, for --check */
	uint32_t n, broken;
	size_t room;
	struct pm_damages damages; /* named */
	struct pm_arena arena;
};

static int add_row(struct all *all, uint32_t run, const struct pm_damage *damage)
{
	if (all->n >= PM_LIMIT_DAMAGE)
		return 0;
	struct row *grown = all->rows;
	if (all->n == all->room) {
		all->room = all->room ? 2 * all->room : 64;
		grown = realloc(all->rows, all->room * sizeof(*grown));
	}
	if (!grown)
		return -ENOMEM;
	all->rows = grown;
	struct row *row = &all->rows[all->n++];
	*row = (struct row){run, *damage};
	row->damage.file = pm_arena_printf(&all->arena, "%s", damage->file ? damage->file : "");
	row->damage.what = pm_arena_printf(&all->arena, "%s",
		all->n < PM_LIMIT_DAMAGE ? damage->what : "there is more damage, not listed here");
	return row->damage.file && row->damage.what ? 0 : -ENOMEM;
}

static int add_error(struct all *all, uint32_t run, const struct pm_error *error)
{
	const struct pm_damage damage = {.offset = error->offset,
		.bytes = PM_NO_OFFSET,
		.file = error->file,
		.what = error->text};
	all->broken++;
	return add_row(all, run, &damage);
}

/* What is still open is shown, but nobody else will find it any more. */
static int add_if_gone(const struct pmfs_ensemble *e, struct all *all, uint32_t run)
{
	const struct pmfs_run *given = &e->runs.runs[run];
	struct pm_error gone = {.offset = PM_NO_OFFSET};
	if (faccessat(AT_FDCWD, given->open ? given->open : given->path, F_OK, 0) == 0 ||
		(errno != ENOENT && errno != ENOTDIR))
		return 0;
	snprintf(gone.text, sizeof(gone.text),
		"the source is not there any more (%s); shown is what was open", strerror(errno));
	const struct pm_damage damage = {
		.offset = PM_NO_OFFSET, .bytes = PM_NO_OFFSET, .file = "", .what = gone.text};
	return add_row(all, run, &damage);
}

static int add_run(
	const struct pmfs_ensemble *e, struct all *all, uint32_t run, struct pm_error *err)
{
	struct pm_error why = {.offset = PM_NO_OFFSET};
	const struct pm_damages *damages;
	struct pmfs_model *m;
	int r = pmfs_shelf_acquire(e->shelf, run, &m, &why);
	if (r == 0) {
		const struct pm_profile *p = pmfs_model_profile(m);
		r = pm_profile_damage(p, &damages, &why);
		if (r >= 0)
			r = add_if_gone(e, all, run);
		for (size_t i = 0; r >= 0 && i < damages->n; i++)
			r = add_row(all, run, &damages->rows[i]);
		pmfs_shelf_release(e->shelf, run);
	}
	if (pm_is_lasting(r))
		r = add_error(all, run, &why);
	return r < 0 ? pm_error_plain(err, r) : 0;
}

static int name_rows(const struct pmfs_ensemble *e, struct all *all)
{
	all->named = pm_arena_array(&all->arena, all->n + (size_t)1, sizeof(*all->named));
	for (uint32_t i = 0; all->named && i < all->n; i++) {
		const struct row *row = &all->rows[i];
		const struct pmfs_run *run = &e->runs.runs[row->run];
		const char *name = e->runs.repeated
			? pm_arena_printf(&all->arena, "%s/%u", run->name, run->repetition)
			: run->name;
		all->named[i] = row->damage;
		all->named[i].file = name ? pm_arena_printf(&all->arena, "%s%s%s", name,
						    *row->damage.file ? ": " : "", row->damage.file)
					  : NULL;
		if (!all->named[i].file)
			return -ENOMEM;
	}
	all->damages = (struct pm_damages){.n = all->n, .rows = all->named};
	return all->named ? 0 : -ENOMEM;
}

static int all_fill(void *owner, void *part, struct pm_error *err)
{
	struct pmfs_ensemble *e = owner;
	struct all *all = part;
	int r = 0;
	for (uint32_t i = 0; i < e->runs.n && r == 0; i++)
		r = pm_work_cancelled() ? PM_CANCELLED : add_run(e, all, i, err);
	if (r == 0)
		r = name_rows(e, all);
	e->shown.damage.it = &all->damages;
	return r < 0 ? pm_error_plain(err, r) : 0;
}

static void all_done(void *part)
{
	struct all *all = part;
	free(all->rows);
	pm_arena_done(&all->arena);
}

static int get_all(const struct pmfs_ensemble *e, const struct all **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {.size = sizeof(struct all),
		.fill = all_fill,
		.done = all_done,
		.what = "the damage of all runs"};
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
