/* Collects what could not be read; the rows of damage.csv. For use by several threads at once. */
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
	size_t beyond; /* rows that PM_LIMIT_DAMAGE kept out */
};

#define PM_DAMAGE_LIST_INIT                                                                        \
	{                                                                                          \
		.lock = PTHREAD_MUTEX_INITIALIZER                                                  \
	}

/* Adds a row; offset and bytes may be PM_NO_OFFSET. Without memory the row is counted as beyond. */
void pm_damage_add(struct pm_damage_list *list, const char *file, uint64_t offset, uint64_t bytes,
	const char *format, ...) __attribute__((format(printf, 5, 6)));

/* The rows so far, sorted by file and offset, a last one for those beyond. Call once, at the end.
 */
struct pm_damages pm_damage_rows(struct pm_damage_list *list);

void pm_damage_done(struct pm_damage_list *list);

#endif
