/*
 * No memory while DWARF is read: libdw ends the process when an allocation fails, so it must not
 * come to that. In processes of their own the address space is bounded to what there is already and
 * a little more each time, from nothing to enough: each gets what there is with memory, or -ENOMEM.
 * The DWARF is this program's.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/symbols/internal.h"

enum { WRONG = 3, ENOUGH = 4, SKIPPED = 77, STEP = 12 << 10, MOST = 8 << 20 };

/* ---- the file ---- */

static struct pm_bytes map_this(void)
{
	struct stat st;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0)
		return (struct pm_bytes){NULL, 0};
	void *p = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_PRIVATE, fd, 0);
	close(fd);
	return p == MAP_FAILED ? (struct pm_bytes){NULL, 0}
			       : (struct pm_bytes){p, (size_t)st.st_size};
}

extern const char __ehdr_start; /* the linker's: where the program begins */

/* Scopes of the unit that main is in; 0 where there are none, or a negative error. */
static long read_scopes(struct pm_bytes file)
{
	uint64_t start = (uint64_t)(uintptr_t)&__ehdr_start;
	uint64_t address = (uint64_t)(uintptr_t)map_this - (start >= 1 << 24 ? start : 0);
	const struct sym_scopes *scopes = NULL;
	struct sym_dwarf *d;
	const struct sym_root nowhere = {.is_open = false};
	struct pm_input in = {.bytes = file, .fd = -1, .slot = -1};
	int r = sym_dwarf_open(&d, &in, &nowhere);
	if (r == 0 && d)
		r = sym_dwarf_find(d, address, &scopes);
	long n = r < 0 ? r : scopes ? (long)scopes->n_ranges : 0;
	sym_dwarf_free(d);
	return n;
}

/* ---- bounds ---- */

/* What the process has: the first number of this file, in pages. */
static size_t address_space(void)
{
	char text[64] = "";
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, text, sizeof(text) - 1);
	close(fd);
	return n > 0 ? strtoul(text, NULL, 10) * (size_t)sysconf(_SC_PAGESIZE) : 0;
}

/* `*all` is what there is with memory; 0: not known yet, and learned. */
static int try_with(size_t more, struct pm_bytes file, long *all)
{
	struct rlimit limit = {.rlim_cur = address_space() + more, .rlim_max = RLIM_INFINITY};
	if (limit.rlim_cur == more || (*all && setrlimit(RLIMIT_AS, &limit) != 0))
		return WRONG;
	long got = read_scopes(file);
	if (*all == 0)
		*all = got;
	if (got == *all)
		return ENOUGH;
	if (got == -ENOMEM)
		return 0;
	fprintf(stderr, "%zu bytes: %ld ranges instead of %ld\n", more, got, *all);
	return WRONG;
}

/* A process that ends in another way has no other status than that. */
static int in_child(size_t more, struct pm_bytes file, long *all)
{
	int status;
	fflush(NULL);
	pid_t pid = fork();
	if (pid == 0)
		_exit(try_with(more, file, all));
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return WRONG;
	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	fprintf(stderr, "%zu bytes: %s\n", more, strsignal(WTERMSIG(status)));
	return WRONG;
}

int main(void)
{
	struct pm_bytes file = map_this();
	unsigned without = 0, with = 0, wrong = 0;
	/* Read by a child, too: what this process has ever allocated, its children have room for.
	 */
	long *all =
		mmap(NULL, sizeof(*all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (!sym_dwarf_is_read() || !file.p || all == MAP_FAILED ||
		in_child(0, file, all) != ENOUGH || *all <= 0) {
		printf("SKIPPED: DWARF of this program, which needs libdw and a build with -g\n");
		return SKIPPED;
	}
	for (size_t more = 0; more < MOST; more += STEP) {
		int r = in_child(more, file, all);
		without += r == 0;
		with += r == ENOUGH;
		wrong += r != 0 && r != ENOUGH;
	}
	printf("%u without memory, %u with enough, %u wrong\n", without, with, wrong);
	return wrong > 0 || without == 0 || with == 0;
}
