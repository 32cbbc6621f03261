/*
 * Memory that lives as long as its arena: a model is built in an arena and freed as a whole. Not
 * thread-safe. Also memory for large tables.
 */
#ifndef PROFMOUNT_ARENA_H
#define PROFMOUNT_ARENA_H

#include "profmount/bytes.h"

/* Zeroed = empty. */
struct pm_arena {
	struct pm_arena_block *block;  /* the newest */
	size_t used, room;             /* of the newest */
	size_t total;                  /* bytes that it has taken */
	struct pm_arena_piece *pieces; /* what grows */
	struct pm_arena_end *ends;     /* see pm_arena_owns */
	struct pm_arena *of;           /* of a scratch arena: see pm_arena_scratch */
	struct pm_attempt *attempt;    /* see pm_build */
};

/* n bytes, aligned for any type, zeroed; NULL if out of memory, unless in a build. */
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

/*
 * An arena in `a`, for what is needed only while something is built: freed with `a`, or before that
 * by pm_arena_done. NULL if out of memory.
 */
struct pm_arena *pm_arena_scratch(struct pm_arena *a);

/*
 * Calls done(thing) when the arena is freed, in reverse order: for what is allocated elsewhere. To
 * be called before there is something to be freed. False if out of memory.
 */
bool pm_arena_owns(struct pm_arena *a, void (*done)(void *thing), void *thing);

/*
 * ---- what grows, or is freed alone: for containers ----
 *
 * Like realloc, free, and pm_zeroed(n, size). If `a` is NULL, they are that.
 */
void *pm_arena_realloc(struct pm_arena *a, void *p, size_t bytes);
void pm_arena_free(struct pm_arena *a, void *p);
void *pm_arena_zeroed(struct pm_arena *a, size_t n, size_t size);

/*
 * ---- builds ----
 *
 * What is built in an arena is there as a whole, or not at all. Inside pm_build, allocations of the
 * arena, its scratch arenas, and containers in them (`arena` of pm_map, pm_strtab, pm_text;
 * pm_list_grow) need no test: where there is no memory, or the work has been cancelled, the build
 * is left by a jump. What it holds then has to belong to the arena: no lock, no open file, no
 * memory of its own, and no function of a library or of another build is left (a part of another
 * owner is built in an attempt of its own).
 */

/*
 * Runs build(context), which may call pm_build_fail. 0 or the code of the failure; the caller then
 * frees the arena. May be used inside a build of the same arena, to release what it holds before it
 * passes the failure on.
 */
int pm_build(struct pm_arena *a, void (*build)(void *context), void *context);

/* Leaves the innermost build of the arena, or the one that it is a scratch arena of. */
_Noreturn void pm_build_fail(struct pm_arena *a, int code);

/*
 * For containers, which have no memory, or whose work was cancelled: fails if `a` is in a build,
 * else returns NULL.
 */
void *pm_arena_failed(struct pm_arena *a);

/* Fails with the code of a function that has failed. */
static inline void pm_build_check(struct pm_arena *a, int r)
{
	if (r < 0)
		pm_build_fail(a, r);
}

/* Fails if the work was cancelled: for loops over large inputs that neither allocate nor ask. */
void pm_build_proceed(struct pm_arena *a);

/* ---- large tables, which are accessed at random ---- */

/*
 * As calloc, for tables that are looked at before they are written to: free with free. The kernel
 * maps a shared page of zeros where fresh memory is first read, and another page where it is then
 * written: two faults, of which the second interrupts all processors that run threads of the
 * process. Here all pages can be written from the beginning.
 */
void *pm_zeroed(size_t n, size_t size);

/*
 * Advises the kernel to use huge pages for memory from malloc or realloc if it is large, so that
 * its addresses stay in the TLB. For memory that has not been written to. pm_zeroed does this.
 */
void pm_use_huge_pages(void *items, size_t bytes);

#endif
