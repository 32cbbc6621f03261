/*
 * Memory that lives as long as its arena: a model is built in an arena and freed as a whole. Not
 * thread-safe.
 */
#ifndef PROFMOUNT_ARENA_H
#define PROFMOUNT_ARENA_H

#include "profmount/bytes.h"

struct pm_arena {
	struct pm_arena_block *block; /* the newest; zeroed = empty */
	size_t used, room;            /* of the newest */
	size_t total;                 /* bytes allocated so far */
};

/* n bytes, aligned for any type, zeroed; NULL if out of memory. */
void *pm_arena_alloc(struct pm_arena *a, size_t n);

/* count × size with an overflow check. */
void *pm_arena_array(struct pm_arena *a, size_t count, size_t size);

/* A copy of b (for an empty one, an empty slice with p != NULL); p == NULL if out of memory. */
struct pm_bytes pm_arena_copy(struct pm_arena *a, struct pm_bytes b);

/* A NUL-terminated formatted string; NULL if out of memory. */
char *pm_arena_printf(struct pm_arena *a, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Frees everything; the arena is empty and usable again. */
void pm_arena_done(struct pm_arena *a);

#endif
