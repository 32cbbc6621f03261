#include "fs/signals.h"

#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BIT(number) ((uint64_t)1 << ((number)-1))

/* All other signals end a process unless it handles them. */
static const uint64_t harmless = BIT(SIGCHLD) | BIT(SIGCONT) | BIT(SIGURG) | BIT(SIGWINCH) |
	BIT(SIGSTOP) | BIT(SIGTSTP) | BIT(SIGTTIN) | BIT(SIGTTOU);
static const uint64_t requests = BIT(SIGINT) | BIT(SIGTERM) | BIT(SIGHUP) | BIT(SIGQUIT);

/* A set of signals, as a line of /proc/…/status. */
static bool find_set(const char *status, const char *name, uint64_t *ret)
{
	const char *line = strstr(status, name);
	if (line)
		*ret = strtoull(line + strlen(name), NULL, 16);
	return line;
}

static bool read_status(pid_t tid, char *status, size_t size)
{
	char path[64];
	snprintf(path, sizeof(path), "/proc/%d/status", (int)tid);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, status, size - 1);
	if (fd >= 0)
		close(fd);
	status[n > 0 ? n : 0] = 0;
	return n > 0;
}

bool pmfs_wants_out(pid_t tid)
{
	char status[4096];
	uint64_t own, shared, blocked, ignored, caught;
	/* 0: a process outside of our namespace. */
	if (tid <= 0 || !read_status(tid, status, sizeof(status)) ||
		!find_set(status, "\nSigPnd:", &own) || !find_set(status, "\nShdPnd:", &shared) ||
		!find_set(status, "\nSigBlk:", &blocked) ||
		!find_set(status, "\nSigIgn:", &ignored) || !find_set(status, "\nSigCgt:", &caught))
		return true;
	uint64_t pending = (own | shared) & ~blocked & ~ignored;
	return (pending & requests) || (pending & ~caught & ~harmless);
}
