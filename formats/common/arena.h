/*
 * Memory that lives as long as its arena: models are built in one and freed whole. Not for use by
 * several threads at once.
 */
#ifndef PROFMOUNT_ARENA_H
#define PROFMOUNT_ARENA_H

#include "profmount/bytes.h"

struct pm_arena {
	struct pm_arena_block *block; /* the newest; zeroed = empty */
	size_t used, room;            /* of the newest */
	size_t total;                 /* bytes asked for so far */
};

/* n bytes, aligned for any type, zeroed; NULL without memory. */
void *pm_arena_alloc(struct pm_arena *a, size_t n);

/* count × size with an overflow check. */
void *pm_arena_array(struct pm_arena *a, size_t count, size_t size);

/* A copy of b (an empty slice with p != NULL for an empty one); p == NULL without memory. */
struct pm_bytes pm_arena_copy(struct pm_arena *a, struct pm_bytes b);

/* A NUL-terminated formatted string; NULL without memory. */
char *pm_arena_printf(struct pm_arena *a, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Frees everything; the arena is empty and usable again. */
void pm_arena_done(struct pm_arena *a);

#endif
