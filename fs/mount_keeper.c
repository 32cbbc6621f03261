/*
 * The keeper's whole life: forked before the server is confined, it waits for a byte and unmounts.
 * It never looks at the profile. A server that dies without a word leaves a dead mount, which the
 * next mount there diagnoses; with `-o auto_unmount` that is unmounted, too. (libfuse's own
 * auto_unmount cannot look into the mounts of others than root, and leaves them.)
 */
#include "fs/mount_keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fs/mount_ops.h"

/*
 * What ps shows: not the server's command line, by which people and scripts find the server. The
 * kernel reads it from where argv was, which begins with the program's name.
 */
static void rename_process(void)
{
	static const char name[] = "profmount-keeper";
	char line[4096];
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, line, sizeof(line));
	if (fd >= 0)
		close(fd);
	prctl(PR_SET_NAME, name);
	if (n < (ssize_t)sizeof(name))
		return;
	memset(program_invocation_name, 0, (size_t)n);
	memcpy(program_invocation_name, name, sizeof(name));
}

static _Noreturn void keep(int line, struct fuse_session *se, bool always)
{
	static const int deaf_to[] = {SIGINT, SIGTERM, SIGHUP};
	char byte;
	ssize_t n;
	rename_process();
	send(line, "", 1, MSG_NOSIGNAL); /* ready */
	/* Those who signal the group or each process by name mean the server. */
	for (size_t i = 0; i < sizeof(deaf_to) / sizeof(deaf_to[0]); i++)
		signal(deaf_to[i], SIG_IGN);
	do
		n = read(line, &byte, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1 || always)
		fuse_session_unmount(se);
	_exit(0);
}

int pmfs_keeper_start(struct pmfs_keeper *ret, struct fuse_session *se, bool always)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
		return -errno;
	*ret = (struct pmfs_keeper){.pid = fork(), .line = ends[0]};
	int code = errno;
	if (ret->pid == 0) {
		close(ends[0]);
		keep(ends[1], se, always);
	}
	close(ends[1]);
	if (ret->pid > 0) {
		char ready;
		while (read(ret->line, &ready, 1) < 0 && errno == EINTR)
			continue;
		return 0;
	}
	close(ends[0]);
	return -code;
}

void pmfs_keeper_unmount(struct pmfs_keeper *keeper)
{
	send(keeper->line, "", 1, MSG_NOSIGNAL);
	close(keeper->line);
	while (waitpid(keeper->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
}
