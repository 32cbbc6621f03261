/* Collects what could not be read; the rows of damage.csv. Thread-safe. */
#ifndef PROFMOUNT_DAMAGE_H
#define PROFMOUNT_DAMAGE_H

#include <pthread.h>

#include "formats/common/arena.h"
#include "profmount/profile.h"

struct pm_damage_list {
	pthread_mutex_t lock;
	struct pm_arena arena;
	struct pm_damage *rows;
	size_t n, room;
	size_t beyond;  /* rows beyond PM_LIMIT_DAMAGE */
	bool no_memory; /* for a row since the last mark */
};

#define PM_DAMAGE_LIST_INIT                                                                        \
	{                                                                                          \
		.lock = PTHREAD_MUTEX_INITIALIZER                                                  \
	}

/* An empty list, which is freed with the arena. */
void pm_damage_list_in(struct pm_damage_list *ret, struct pm_arena *a);

/*
 * Adds a row; offset and bytes may be PM_NO_OFFSET. If out of memory, the row is counted as beyond
 * the limit.
 */
void pm_damage_add(struct pm_damage_list *list, const char *file, uint64_t offset, uint64_t bytes,
	const char *format, ...) __attribute__((format(printf, 5, 6)));

/* Adds the rows of another list, to which no other thread adds; what it lacks, this one lacks. */
void pm_damage_add_all(struct pm_damage_list *list, const struct pm_damage_list *from);

/*
 * For rows that can be found again: if there was no memory for one of those added since the mark,
 * removes them, and returns -ENOMEM; otherwise 0. No other thread may add to the list meanwhile.
 */
struct pm_damage_mark {
	size_t n, beyond;
};

static inline struct pm_damage_mark pm_damage_mark(struct pm_damage_list *list)
{
	list->no_memory = false;
	return (struct pm_damage_mark){list->n, list->beyond};
}

int pm_damage_since(struct pm_damage_list *list, struct pm_damage_mark mark);

/*
 * The rows sorted by file and offset, plus a last one for those beyond the limit. Call once, at the
 * end.
 */
struct pm_damages pm_damage_rows(struct pm_damage_list *list);

void pm_damage_done(struct pm_damage_list *list);

#endif
