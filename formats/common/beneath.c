#include "formats/common/beneath.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

int pm_open_beneath(int folder, const char *path)
{
	/* O_NONBLOCK: a pipe must be refused by whoever looks at it, not waited for. */
	struct open_how how = {.flags = O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS};
	long fd = syscall(SYS_openat2, folder, path, &how, sizeof(how));
	return fd < 0 ? -errno : (int)fd;
}
