/*
 * Memory that lives as long as its arena: blocks in a chain, the newest first, carved from the
 * front. A large allocation gets a block of its own after the newest one, so that the rest of the
 * newest is not lost. Blocks grow with the arena: small ones stay small.
 */
#include "formats/common/arena.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/common/work.h"

#define SMALLEST_BLOCK ((size_t)4 << 10)
#define LARGEST_BLOCK  ((size_t)1 << 20)

struct pm_arena_block {
	struct pm_arena_block *older;
	max_align_t data[];
};

static struct pm_arena_block *new_block(size_t room)
{
	size_t bytes;
	/* Code that allocates many blocks stops here if the work is cancelled. */
	if (pm_work_cancelled() ||
		__builtin_add_overflow(room, sizeof(struct pm_arena_block), &bytes))
		return NULL;
	return calloc(1, bytes);
}

static void *alone(struct pm_arena *a, size_t n)
{
	struct pm_arena_block *block = new_block(n);
	if (!block)
		return NULL;
	block->older = a->block->older;
	a->block->older = block;
	return block->data;
}

static bool add_block(struct pm_arena *a)
{
	size_t room = a->total < SMALLEST_BLOCK ? SMALLEST_BLOCK
		: a->total > LARGEST_BLOCK      ? LARGEST_BLOCK
						: a->total;
	struct pm_arena_block *block = new_block(room);
	if (!block)
		return false;
	block->older = a->block;
	a->block = block;
	a->used = 0;
	a->room = room;
	return true;
}

/* n bytes at a multiple of `align`, a power of two. */
static void *carve(struct pm_arena *a, size_t n, size_t align)
{
	if (!a->block && !add_block(a))
		return NULL;
	size_t at = (a->used + align - 1) & ~(align - 1);
	if (at > a->room || n > a->room - at) {
		if (n > SMALLEST_BLOCK / 4) {
			void *p = alone(a, n);
			a->total += p ? n : 0;
			return p;
		}
		if (!add_block(a))
			return NULL;
		at = 0;
	}
	a->used = at + n;
	a->total += n;
	return (uint8_t *)a->block->data + at;
}

void *pm_arena_alloc(struct pm_arena *a, size_t n)
{
	return carve(a, n, _Alignof(max_align_t));
}

void *pm_arena_array(struct pm_arena *a, size_t count, size_t size)
{
	size_t n;
	return __builtin_mul_overflow(count, size, &n) ? NULL : pm_arena_alloc(a, n);
}

struct pm_bytes pm_arena_copy(struct pm_arena *a, struct pm_bytes b)
{
	uint8_t *p = carve(a, b.len, 1);
	if (!p)
		return (struct pm_bytes){NULL, 0};
	if (b.len)
		memcpy(p, b.p, b.len);
	return (struct pm_bytes){p, b.len};
}

char *pm_arena_printf(struct pm_arena *a, const char *format, ...)
{
	va_list args, again;
	va_start(args, format);
	va_copy(again, args);
	int n = vsnprintf(NULL, 0, format, args);
	char *s = n < 0 ? NULL : carve(a, (size_t)n + 1, 1);
	if (s)
		vsnprintf(s, (size_t)n + 1, format, again);
	va_end(again);
	va_end(args);
	return s;
}

void pm_arena_done(struct pm_arena *a)
{
	while (a->block) {
		struct pm_arena_block *block = a->block;
		a->block = block->older;
		free(block);
	}
	*a = (struct pm_arena){.block = NULL};
}
