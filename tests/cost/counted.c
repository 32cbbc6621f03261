#include "tests/cost/counted.h"

#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum {
	LONG = 1000000, /* work: some ms */
	BATCH = 4096,   /* that a thread does before it adds it to that of all */
};

extern const char __executable_start[];
static uint64_t work, live, peak, unasked, midst;
/*
 * Each thread counts down by itself: to add each step to one number takes most of the time of a
 * count. What a thread has not added yet when it ends is added then.
 */
static _Thread_local int64_t left, batch;
static _Thread_local uint64_t own;       /* work since this thread last asked */
static _Thread_local const char *was_at; /* where it was after a LONG time of that */
static pthread_key_t at_the_end;
static pthread_once_t once = PTHREAD_ONCE_INIT;

#if __has_attribute(no_sanitize_coverage) /* gcc 12; older ones never count this file */
#define NOT_COUNTED __attribute__((no_sanitize_coverage))
#else
#define NOT_COUNTED
#endif

NOT_COUNTED static void add_up(const char *where)
{
	uint64_t n = (uint64_t)(batch - left);
	left = batch;
	__atomic_fetch_add(&work, n, __ATOMIC_RELAXED);
	own += n;
	if (own >= LONG && !was_at)
		was_at = where;
}

NOT_COUNTED static void ends(void *unused)
{
	(void)unused;
	add_up(NULL);
	batch = left = 0; /* if anything comes after it */
}

NOT_COUNTED static void make_key(void)
{
	pthread_key_create(&at_the_end, ends);
}

NOT_COUNTED static void batch_done(const char *where)
{
	add_up(where);
	pthread_once(&once, make_key);
	pthread_setspecific(at_the_end, &work);
	batch = left = BATCH;
}

NOT_COUNTED void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
	if (--left < 0)
		batch_done(__builtin_return_address(0));
}

uint64_t counted_work(void)
{
	add_up(NULL);
	return __atomic_load_n(&work, __ATOMIC_RELAXED);
}

uint64_t counted_peak_bytes(void)
{
	return __atomic_load_n(&peak, __ATOMIC_RELAXED);
}

static void pay(size_t bytes)
{
	left -= (int64_t)(bytes / 16);
	if (left < 0)
		batch_done(NULL);
}

/* ---- how long nobody asks whether the work is still wanted ---- */

void counted_asked(void)
{
	add_up(NULL);
	uint64_t most = __atomic_load_n(&unasked, __ATOMIC_RELAXED);
	while (own > most &&
		!__atomic_compare_exchange_n(
			&unasked, &most, own, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		continue;
	if (own > most)
		__atomic_store_n(&midst, was_at ? (uint64_t)(was_at - __executable_start) : 0,
			__ATOMIC_RELAXED);
	own = 0;
	was_at = NULL;
}

uint64_t counted_unasked(uint64_t *ret_where)
{
	counted_asked();
	*ret_where = __atomic_exchange_n(&midst, 0, __ATOMIC_RELAXED);
	return __atomic_exchange_n(&unasked, 0, __ATOMIC_RELAXED);
}

/* ---- memory ---- */

static void *took(void *p)
{
	uint64_t now = __atomic_add_fetch(&live, p ? malloc_usable_size(p) : 0, __ATOMIC_RELAXED);
	uint64_t most = __atomic_load_n(&peak, __ATOMIC_RELAXED);
	while (now > most &&
		!__atomic_compare_exchange_n(
			&peak, &most, now, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
		continue;
	return p;
}

static void gave(void *p)
{
	__atomic_fetch_sub(&live, p ? malloc_usable_size(p) : 0, __ATOMIC_RELAXED);
}

/* ---- ld --wrap ---- */

void *__real_malloc(size_t n);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t n);
void __real_free(void *p);
void *__real_memcpy(void *to, const void *from, size_t n);
void *__real_memmove(void *to, const void *from, size_t n);
void *__real_memset(void *to, int c, size_t n);
int __real_memcmp(const void *a, const void *b, size_t n);
void *__real_memchr(const void *s, int c, size_t n);
void *__real_memrchr(const void *s, int c, size_t n);
void *__real_memmem(const void *s, size_t n, const void *word, size_t len);
size_t __real_strlen(const char *s);

void *__wrap_malloc(size_t n);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t n);
void __wrap_free(void *p);
void *__wrap_memcpy(void *to, const void *from, size_t n);
void *__wrap_memmove(void *to, const void *from, size_t n);
void *__wrap_memset(void *to, int c, size_t n);
int __wrap_memcmp(const void *a, const void *b, size_t n);
void *__wrap_memchr(const void *s, int c, size_t n);
void *__wrap_memrchr(const void *s, int c, size_t n);
void *__wrap_memmem(const void *s, size_t n, const void *word, size_t len);
size_t __wrap_strlen(const char *s);

void *__wrap_malloc(size_t n)
{
	return took(__real_malloc(n));
}

void *__wrap_calloc(size_t n, size_t size)
{
	return took(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t n)
{
	gave(p);
	void *grown = __real_realloc(p, n);
	took(grown || n == 0 ? grown : p);
	return grown;
}

void __wrap_free(void *p)
{
	gave(p);
	__real_free(p);
}

void *__wrap_memcpy(void *to, const void *from, size_t n)
{
	pay(n);
	return __real_memcpy(to, from, n);
}

void *__wrap_memmove(void *to, const void *from, size_t n)
{
	pay(n);
	return __real_memmove(to, from, n);
}

void *__wrap_memset(void *to, int c, size_t n)
{
	pay(n);
	return __real_memset(to, c, n);
}

int __wrap_memcmp(const void *a, const void *b, size_t n)
{
	pay(n);
	return __real_memcmp(a, b, n);
}

void *__wrap_memchr(const void *s, int c, size_t n)
{
	void *found = __real_memchr(s, c, n);
	pay(found ? (size_t)((char *)found - (const char *)s) : n);
	return found;
}

void *__wrap_memrchr(const void *s, int c, size_t n)
{
	void *found = __real_memrchr(s, c, n);
	pay(found ? (size_t)((const char *)s + n - (char *)found) : n);
	return found;
}

void *__wrap_memmem(const void *s, size_t n, const void *word, size_t len)
{
	void *found = __real_memmem(s, n, word, len);
	pay(found ? (size_t)((char *)found - (const char *)s) : n);
	return found;
}

size_t __wrap_strlen(const char *s)
{
	size_t n = __real_strlen(s);
	pay(n);
	return n;
}
