#include "tests/faults/failing.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <zlib.h>

#include "formats/common/work.h"

static size_t count, first_failure;
static bool lasts, of_questions;
static long held;

void failing_start(size_t n, bool lasting)
{
	__atomic_store_n(&count, 0, __ATOMIC_SEQ_CST);
	__atomic_store_n(&first_failure, n, __ATOMIC_SEQ_CST);
	__atomic_store_n(&lasts, lasting, __ATOMIC_SEQ_CST);
}

void failing_choose(bool questions)
{
	__atomic_store_n(&of_questions, questions, __ATOMIC_SEQ_CST);
}

size_t failing_count(void)
{
	return __atomic_load_n(&count, __ATOMIC_SEQ_CST);
}

long failing_held(void)
{
	return __atomic_load_n(&held, __ATOMIC_SEQ_CST);
}

/* For a debugger: a breakpoint here shows who gets no memory. */
static __attribute__((noinline)) bool failing_now(void)
{
	errno = ENOMEM;
	return true;
}

static bool fails_next(void)
{
	size_t i = __atomic_add_fetch(&count, 1, __ATOMIC_SEQ_CST);
	size_t first = __atomic_load_n(&first_failure, __ATOMIC_SEQ_CST);
	if (first == 0 || i < first || (i > first && !__atomic_load_n(&lasts, __ATOMIC_SEQ_CST)))
		return false;
	return failing_now();
}

static bool fails(void)
{
	return !__atomic_load_n(&of_questions, __ATOMIC_SEQ_CST) && fails_next();
}

static void *hold(void *p)
{
	if (p)
		__atomic_add_fetch(&held, 1, __ATOMIC_SEQ_CST);
	return p;
}

/* ---- what the linker puts in place of each; the right to such names is its own ---- */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *p, size_t size);
void __real_free(void *p);
char *__real_strdup(const char *s);
char *__real_strndup(const char *s, size_t n);
DIR *__real_fdopendir(int fd);
FILE *__real_fopen64(const char *path, const char *mode);
ssize_t __real_getline(char **line, size_t *room, FILE *f);
ssize_t __real___getdelim(char **line, size_t *room, int end, FILE *f);
int __real_inflateInit2_(z_streamp z, int bits, const char *version, int size);
int __real_deflateInit2_(z_streamp z, int level, int method, int bits, int memory, int strategy,
	const char *version, int size);
int __real_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
	void *(*start)(void *), void *argument);
bool __real_pm_work_cancelled(void);

bool __wrap_pm_work_cancelled(void);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *p, size_t size);
void __wrap_free(void *p);
char *__wrap_strdup(const char *s);
char *__wrap_strndup(const char *s, size_t n);
int __wrap_asprintf(char **ret, const char *format, ...) __attribute__((format(printf, 2, 3)));
DIR *__wrap_fdopendir(int fd);
FILE *__wrap_fopen64(const char *path, const char *mode);
ssize_t __wrap_getline(char **line, size_t *room, FILE *f);
ssize_t __wrap___getdelim(char **line, size_t *room, int end, FILE *f);
int __wrap_inflateInit2_(z_streamp z, int bits, const char *version, int size);
int __wrap_deflateInit2_(z_streamp z, int level, int method, int bits, int memory, int strategy,
	const char *version, int size);
int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
	void *(*start)(void *), void *argument);

void *__wrap_malloc(size_t size)
{
	return fails() ? NULL : hold(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails() ? NULL : hold(__real_calloc(n, size));
}

void *__wrap_realloc(void *p, size_t size)
{
	if (fails())
		return NULL;
	void *moved = __real_realloc(p, size);
	return p ? moved : hold(moved);
}

void __wrap_free(void *p)
{
	if (p)
		__atomic_sub_fetch(&held, 1, __ATOMIC_SEQ_CST);
	__real_free(p);
}

char *__wrap_strdup(const char *s)
{
	return fails() ? NULL : hold(__real_strdup(s));
}

char *__wrap_strndup(const char *s, size_t n)
{
	return fails() ? NULL : hold(__real_strndup(s, n));
}

int __wrap_asprintf(char **ret, const char *format, ...)
{
	va_list args;
	if (fails())
		return -1; /* and `*ret` is anything */
	va_start(args, format);
	int n = vasprintf(ret, format, args);
	va_end(args);
	if (n >= 0)
		hold(*ret);
	return n;
}

DIR *__wrap_fdopendir(int fd)
{
	return fails() ? NULL : __real_fdopendir(fd);
}

FILE *__wrap_fopen64(const char *path, const char *mode)
{
	return fails() ? NULL : __real_fopen64(path, mode);
}

ssize_t __wrap_getline(char **line, size_t *room, FILE *f)
{
	bool had = *line != NULL;
	if (fails())
		return -1;
	ssize_t n = __real_getline(line, room, f);
	if (!had)
		hold(*line);
	return n;
}

/* What glibc's headers make of getline when they optimise. */
ssize_t __wrap___getdelim(char **line, size_t *room, int end, FILE *f)
{
	bool had = *line != NULL;
	if (fails())
		return -1;
	ssize_t n = __real___getdelim(line, room, end, f);
	if (!had)
		hold(*line);
	return n;
}

int __wrap_inflateInit2_(z_streamp z, int bits, const char *version, int size)
{
	return fails() ? Z_MEM_ERROR : __real_inflateInit2_(z, bits, version, size);
}

int __wrap_deflateInit2_(z_streamp z, int level, int method, int bits, int memory, int strategy,
	const char *version, int size)
{
	return fails()
		? Z_MEM_ERROR
		: __real_deflateInit2_(z, level, method, bits, memory, strategy, version, size);
}

int __wrap_pthread_create(
	pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *), void *argument)
{
	return fails() ? EAGAIN : __real_pthread_create(thread, attributes, start, argument);
}

bool __wrap_pm_work_cancelled(void)
{
	bool questions = __atomic_load_n(&of_questions, __ATOMIC_SEQ_CST);
	if (!questions)
		return __real_pm_work_cancelled();
	return pm_work_current() && fails_next();
}
