#include "fs/memory.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "formats/common/reason.h"
#include "fs/log.h"

enum { LEAST = 128 << 20 }; /* of which the stacks of threads take a half */

static uint64_t limited;

/* What counts already. Tools that watch memory (sanitizers) have more than any machine. */
static uint64_t used_bytes(void)
{
	char line[256];
	unsigned long long kb = 0;
	FILE *f = fopen("/proc/self/status", "re");
	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "VmData: %llu kB", &kb) == 1)
			break;
	if (f)
		fclose(f);
	return (uint64_t)kb << 10;
}

bool pmfs_memory_limit(struct pmfs_options *o)
{
	uint64_t pages = (uint64_t)sysconf(_SC_PHYS_PAGES);
	uint64_t bytes = o->memory_bytes, used = used_bytes();
	if (!bytes && o->mode == PMFS_MODE_MOUNT)
		bytes = pages * (uint64_t)sysconf(_SC_PAGESIZE) / 4;
	if (!bytes)
		return true;
	if (bytes < LEAST || used > bytes / 2) {
		if (!o->memory_bytes)
			return true;
		pmfs_log("-o memory: at least %llu MiB are needed",
			(unsigned long long)((used > LEAST / 2 ? 2 * used : LEAST) >> 20));
		return false;
	}
	struct rlimit limit;
	if (getrlimit(RLIMIT_DATA, &limit) != 0 || limit.rlim_cur < bytes)
		return true; /* there is a lower one */
	limit.rlim_cur = bytes;
	if (setrlimit(RLIMIT_DATA, &limit) != 0)
		return true;
	limited = bytes;
	pm_reason_limit(bytes);
	if (o->cache_bytes > bytes / 2)
		o->cache_bytes = bytes / 2;
	return true;
}

uint64_t pmfs_memory_limited(void)
{
	return limited;
}
