/*
 * The damage list: rows in the order of detection, sorted once at the end. It limits its number of
 * rows and the size of its texts, and reports that in a last row.
 */
#include "formats/common/damage.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/work.h"
#include "profmount/error.h"
#include "profmount/limits.h"

static void free_list(void *list)
{
	pm_damage_done(list);
}

void pm_damage_list_in(struct pm_damage_list *ret, struct pm_arena *a)
{
	*ret = (struct pm_damage_list)PM_DAMAGE_LIST_INIT;
	pm_arena_owns(a, free_list, ret);
}

/* Room for this row and for a final one, which must not fail. */
static bool add_row(struct pm_damage_list *list, const struct pm_damage *row)
{
	struct pm_damage own = *row;
	struct pm_damage *last = list->n ? &list->rows[list->n - 1] : NULL;
	if (list->n + 1 >= PM_LIMIT_DAMAGE)
		return false;
	bool same_file = last && strcmp(last->file, row->file) == 0;
	own.file = same_file ? last->file : pm_arena_printf(&list->arena, "%s", row->file);
	own.what = pm_arena_printf(&list->arena, "%s", row->what);
	if (!own.file || !own.what ||
		pm_list_room(&list->rows, list->n + 1, &list->room, sizeof(own)) < 0) {
		list->no_memory = true;
		return false;
	}
	list->rows[list->n++] = own;
	return true;
}

void pm_damage_add(struct pm_damage_list *list, const char *file, uint64_t offset, uint64_t bytes,
	const char *format, ...)
{
	char what[sizeof(((struct pm_error *)NULL)->text)];
	va_list args;
	va_start(args, format);
	vsnprintf(what, sizeof(what), format, args);
	va_end(args);
	struct pm_damage row = {
		.offset = offset, .bytes = bytes, .file = file ? file : "", .what = what};
	/* The row is kept beyond the work, so it must not be lost if that is cancelled. */
	struct pm_work *work = pm_work_enter(NULL);
	pthread_mutex_lock(&list->lock);
	if (!add_row(list, &row))
		list->beyond++;
	pthread_mutex_unlock(&list->lock);
	pm_work_enter(work);
}

void pm_damage_add_all(struct pm_damage_list *list, const struct pm_damage_list *from)
{
	for (size_t i = 0; i < from->n; i++)
		pm_damage_add(list, from->rows[i].file, from->rows[i].offset, from->rows[i].bytes,
			"%s", from->rows[i].what);
	list->beyond += from->beyond;
	list->no_memory |= from->no_memory;
}

int pm_damage_since(struct pm_damage_list *list, struct pm_damage_mark mark)
{
	if (!list->no_memory)
		return 0;
	list->n = mark.n;
	list->beyond = mark.beyond;
	return -ENOMEM;
}

/* Also by text, so that the order does not depend on the timing of threads. */
static int by_place(const void *a, const void *b)
{
	const struct pm_damage *x = a, *y = b;
	int order = strcmp(x->file, y->file);
	if (order == 0)
		order = (x->offset > y->offset) - (x->offset < y->offset);
	return order ? order : strcmp(x->what, y->what);
}

struct pm_damages pm_damage_rows(struct pm_damage_list *list)
{
	pthread_mutex_lock(&list->lock);
	if (list->n)
		qsort(list->rows, list->n, sizeof(*list->rows), by_place);
	if (list->beyond &&
		pm_list_room(&list->rows, list->n, &list->room, sizeof(*list->rows)) == 0) {
		const char *what = pm_arena_printf(
			&list->arena, "%zu more places are damaged and not listed", list->beyond);
		list->rows[list->n++] = (struct pm_damage){
			.offset = PM_NO_OFFSET,
			.bytes = PM_NO_OFFSET,
			.file = "",
			.what = what ? what : "more places are damaged and not listed",
		};
	}
	struct pm_damages all = {.n = list->n, .rows = list->rows};
	pthread_mutex_unlock(&list->lock);
	return all;
}

void pm_damage_done(struct pm_damage_list *list)
{
	pm_arena_done(&list->arena);
	free(list->rows);
	pthread_mutex_destroy(&list->lock);
	list->rows = NULL;
	list->n = list->room = list->beyond = 0;
	list->no_memory = false;
}
