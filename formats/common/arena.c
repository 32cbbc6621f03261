/*
 * Memory that lives as long as its arena: blocks in a chain, the newest first, carved from the
 * front. A large allocation gets a block of its own after the newest one, so that the rest of the
 * newest is not lost. Blocks grow with what is carved from them: small arenas stay small, and those
 * of a few large tables, too.
 */
#include "formats/common/arena.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "formats/common/work.h"
#include "profmount/error.h"

#define SMALLEST_BLOCK ((size_t)4 << 10)
#define LARGEST_BLOCK  ((size_t)1 << 20)

struct pm_arena_block {
	struct pm_arena_block *older;
	max_align_t data[];
};

/* Memory of its own, which can grow. */
struct pm_arena_piece {
	struct pm_arena_piece *before, *after;
	size_t bytes;
	max_align_t data[];
};

struct pm_arena_end {
	struct pm_arena_end *before;
	void (*done)(void *thing);
	void *thing;
};

/* ---- builds ---- */

struct pm_attempt {
	struct pm_attempt *outer;
	int code;
	jmp_buf jump;
};

static struct pm_arena *root_of(struct pm_arena *a)
{
	while (a->of)
		a = a->of;
	return a;
}

/* A function of its own, for nothing in it is needed behind the jump. */
static __attribute__((noinline)) void try_to(
	struct pm_attempt *attempt, void (*build)(void *context), void *context)
{
	if (setjmp(attempt->jump) == 0)
		build(context);
}

int pm_build(struct pm_arena *a, void (*build)(void *context), void *context)
{
	struct pm_arena *root = root_of(a);
	struct pm_attempt attempt = {.outer = root->attempt};
	root->attempt = &attempt;
	try_to(&attempt, build, context);
	root->attempt = attempt.outer;
	return attempt.code;
}

void pm_build_fail(struct pm_arena *a, int code)
{
	struct pm_attempt *attempt = root_of(a)->attempt;
	attempt->code = code;
	longjmp(attempt->jump, 1);
}

void pm_build_proceed(struct pm_arena *a)
{
	if (pm_work_cancelled())
		pm_build_fail(a, PM_CANCELLED);
}

void *pm_arena_failed(struct pm_arena *a)
{
	if (a && root_of(a)->attempt)
		pm_build_fail(a, -ENOMEM);
	return NULL;
}

/* ---- blocks ---- */

static struct pm_arena_block *new_block(struct pm_arena *a, size_t room)
{
	size_t bytes;
	/* Code that allocates many blocks stops here if the work is cancelled. */
	if (pm_work_cancelled() ||
		__builtin_add_overflow(room, sizeof(struct pm_arena_block), &bytes))
		return pm_arena_failed(a);
	struct pm_arena_block *block = calloc(1, bytes);
	a->total += block ? bytes : 0;
	return block ? block : pm_arena_failed(a);
}

static void *alone(struct pm_arena *a, size_t n)
{
	struct pm_arena_block *block = new_block(a, n);
	if (!block)
		return NULL;
	block->older = a->block->older;
	a->block->older = block;
	return block->data;
}

static bool add_block(struct pm_arena *a)
{
	size_t room = a->room < SMALLEST_BLOCK ? SMALLEST_BLOCK
		: a->room < LARGEST_BLOCK      ? 2 * a->room
					       : LARGEST_BLOCK;
	struct pm_arena_block *block = new_block(a, room);
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
		if (n > SMALLEST_BLOCK / 4)
			return alone(a, n);
		if (!add_block(a))
			return NULL;
		at = 0;
	}
	a->used = at + n;
	return (uint8_t *)a->block->data + at;
}

void *pm_arena_alloc(struct pm_arena *a, size_t n)
{
	return carve(a, n, _Alignof(max_align_t));
}

void *pm_arena_array(struct pm_arena *a, size_t count, size_t size)
{
	size_t n;
	return __builtin_mul_overflow(count, size, &n) ? pm_arena_failed(a) : pm_arena_alloc(a, n);
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
	va_end(args);
	char *s = n < 0 ? pm_arena_failed(a) : carve(a, (size_t)n + 1, 1);
	if (s)
		vsnprintf(s, (size_t)n + 1, format, again);
	va_end(again);
	return s;
}

/* ---- pieces ---- */

void *pm_arena_realloc(struct pm_arena *a, void *p, size_t bytes)
{
	if (!a)
		return realloc(p, bytes);
	struct pm_arena_piece *old = p ? (struct pm_arena_piece *)p - 1 : NULL, *piece = NULL;
	size_t all;
	if (!pm_work_cancelled() && !__builtin_add_overflow(bytes, sizeof(*piece), &all))
		piece = realloc(old, all);
	if (!piece)
		return pm_arena_failed(a);
	if (!old)
		*piece = (struct pm_arena_piece){.after = a->pieces};
	a->total += bytes - piece->bytes;
	piece->bytes = bytes;
	*(piece->before ? &piece->before->after : &a->pieces) = piece;
	if (piece->after)
		piece->after->before = piece;
	return piece->data;
}

void pm_arena_free(struct pm_arena *a, void *p)
{
	struct pm_arena_piece *piece = a && p ? (struct pm_arena_piece *)p - 1 : p;
	if (a && piece) {
		a->total -= piece->bytes;
		*(piece->before ? &piece->before->after : &a->pieces) = piece->after;
		if (piece->after)
			piece->after->before = piece->before;
	}
	free(piece);
}

void *pm_arena_zeroed(struct pm_arena *a, size_t n, size_t size)
{
	if (!a)
		return pm_zeroed(n, size);
	struct pm_arena_piece *piece = NULL;
	size_t bytes;
	if (!__builtin_mul_overflow(n, size, &bytes) && bytes <= SIZE_MAX - sizeof(*piece))
		piece = pm_zeroed(1, bytes + sizeof(*piece));
	if (!piece)
		return pm_arena_failed(a);
	*piece = (struct pm_arena_piece){.after = a->pieces, .bytes = bytes};
	if (piece->after)
		piece->after->before = piece;
	a->pieces = piece;
	a->total += bytes;
	return piece->data;
}

/* ---- the end ---- */

bool pm_arena_owns(struct pm_arena *a, void (*done)(void *thing), void *thing)
{
	struct pm_arena_end *end = pm_arena_alloc(a, sizeof(*end));
	if (end) {
		*end = (struct pm_arena_end){a->ends, done, thing};
		a->ends = end;
	}
	return end != NULL;
}

static void end_scratch(void *scratch)
{
	pm_arena_done(scratch);
}

struct pm_arena *pm_arena_scratch(struct pm_arena *a)
{
	struct pm_arena *scratch = pm_arena_alloc(a, sizeof(*scratch));
	if (!scratch || !pm_arena_owns(a, end_scratch, scratch))
		return NULL;
	scratch->of = a;
	return scratch;
}

void pm_arena_done(struct pm_arena *a)
{
	for (; a->ends; a->ends = a->ends->before)
		a->ends->done(a->ends->thing);
	while (a->pieces)
		pm_arena_free(a, a->pieces->data);
	while (a->block) {
		struct pm_arena_block *block = a->block;
		a->block = block->older;
		free(block);
	}
	*a = (struct pm_arena){.of = a->of, .attempt = a->attempt};
}

/* ==== large tables ==== */

/* Memory below WRITABLE_FROM has often been used before. */
enum { PAGE = 4096, WRITABLE_FROM = 64 * PAGE, HUGE_FROM = 4 << 20 };

static uintptr_t page_of(uintptr_t p)
{
	return p & ~(uintptr_t)(PAGE - 1);
}

/*
 * Whole mappings, including the page with malloc's own bytes, are advised: a mapping in two parts
 * cannot be moved when it grows, and would be copied.
 */
void pm_use_huge_pages(void *items, size_t bytes)
{
	uintptr_t begin = page_of((uintptr_t)items);
	uintptr_t end = page_of((uintptr_t)items + bytes + PAGE - 1);
	if (bytes >= HUGE_FROM)
		madvise((void *)begin, end - begin, MADV_HUGEPAGE); /* if it fails: as before */
}

void *pm_zeroed(size_t n, size_t size)
{
	void *p = calloc(n, size);
	if (!p || n * size < WRITABLE_FROM)
		return p;
	pm_use_huge_pages(p, n * size);
#ifdef MADV_POPULATE_WRITE
	/* If it fails, as before Linux 5.14: as from calloc. */
	uintptr_t begin = page_of((uintptr_t)p), end = page_of((uintptr_t)p + n * size);
	madvise((void *)begin, end - begin, MADV_POPULATE_WRITE);
#endif
	return p;
}
