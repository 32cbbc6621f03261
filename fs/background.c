/*
 * libfuse's fuse_daemonize forks after the mount, i.e. after everything has been read. Here the
 * fork comes first, because a process that reads is confined and cannot fork.
 */
#include "fs/background.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

/* The other process's message that it is ready, or else its exit status. */
static int wait_for(pid_t pid, int line)
{
	char ready;
	int status;
	ssize_t n;
	do
		n = read(line, &ready, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1)
		return 0;
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return 1;
	return WIFEXITED(status) && WEXITSTATUS(status) ? WEXITSTATUS(status) : 1;
}

int pmfs_background_start(struct pmfs_background *b, int *ret_status)
{
	int ends[2];
	if (!b->wanted)
		return 0;
	b->null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (pipe2(ends, O_CLOEXEC) != 0)
		return -errno;
	pid_t waiting = getpid(), pid = fork();
	if (pid < 0)
		return -errno;
	b->line = ends[1];
	if (pid == 0) {
		close(ends[0]);
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		if (getppid() != waiting)
			_exit(1); /* it was interrupted before */
		return 0;
	}
	close(ends[1]);
	*ret_status = wait_for(pid, ends[0]);
	return 1;
}

void pmfs_background_leave(const struct pmfs_background *b)
{
	if (!b->wanted)
		return;
	setsid();
	for (int fd = 0; b->null >= 0 && fd <= STDERR_FILENO; fd++)
		dup2(b->null, fd);
	if (chdir("/") != 0)
		return; /* the root always exists */
}

bool pmfs_background_ready(struct pmfs_background *b)
{
	if (!b->wanted)
		return true;
	pmfs_background_leave(b);
	prctl(PR_SET_PDEATHSIG, 0);
	bool is_awaited = write(b->line, "", 1) == 1;
	close(b->line);
	return is_awaited;
}
