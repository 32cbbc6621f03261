/*
 * profmount: a performance profile as files. See docs/architecture.md.
 */
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "fs/bar.h"
#include "fs/commands.h"
#include "fs/confine.h"
#include "fs/log.h"
#include "fs/memory.h"
#include "fs/mount.h"
#include "fs/mountpoint.h"
#include "fs/opening.h"

enum { EXIT_USAGE = 2, EXIT_UNUSABLE = 2 };

/*
 * Moving to the background closes descriptors 0 to 2, so the source must not get one of them.
 * Writing to a closed one must still give an error.
 */
static void fill_standard_descriptors(void)
{
	int fd;
	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd > STDERR_FILENO)
		close(fd);
}

/* 1 with a message if the output cannot be written. */
static int printed(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return 0;
	pmfs_log("standard output: cannot be written: %s", strerror(errno));
	return 1;
}

static int print_formats(void)
{
	for (size_t i = 0; pm_formats[i]; i++)
		printf("%-12s %s\n", pm_formats[i]->name, pm_formats[i]->summary);
	return printed();
}

static int unmount(const char *mountpoint)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	int r = pmfs_mountpoint_unmount(mountpoint, &err);
	if (r < 0 && err.code)
		pmfs_log_error(NULL, &err);
	return r < 0;
}

#ifndef PMFS_FUSE

int pmfs_mount(const struct pmfs_options *options, const struct pmfs_source_paths *sources)
{
	(void)options, (void)sources;
	pmfs_log("this build cannot mount (-Dfuse=disabled); --ls, --cat, --extract and --check "
		 "work without (see -h)");
	return 1;
}

#endif

static int run_command(const struct pmfs_options *o, struct pmfs_instance *in, int target)
{
	const char *first = o->n_paths > 0 ? o->paths[0] : "";
	switch (o->mode) {
	case PMFS_MODE_LS: return pmfs_command_ls(in, first);
	case PMFS_MODE_CAT: return pmfs_command_cat(in, o->paths, o->n_paths);
	case PMFS_MODE_EXTRACT: return pmfs_command_extract(in, o, target);
	case PMFS_MODE_CHECK: return pmfs_command_check(in, o);
	case PMFS_MODE_MOUNT:
	case PMFS_MODE_FORMATS:
	case PMFS_MODE_UNMOUNT:
	case PMFS_MODE_HELP:
	case PMFS_MODE_VERSION: break;
	}
	return 0;
}

static int open_and_run(
	const struct pmfs_options *o, const struct pmfs_source_paths *sources, int target)
{
	struct pmfs_instance in;
	if (pmfs_open_sources(o, sources, NULL, &in) < 0)
		return o->mode == PMFS_MODE_CHECK ? EXIT_UNUSABLE : 1;
	int status = run_command(o, &in, target);
	pmfs_instance_close(&in);
	return status;
}

/* A command without a mount: opens its output first, and the source after confinement. */
static int run_confined(const struct pmfs_options *o, const struct pmfs_source_paths *sources)
{
	struct pm_work work = {.cancelled = false};
	int target = -1;
	bool extract = o->mode == PMFS_MODE_EXTRACT;
	if (extract && (target = pmfs_extract_target(o->paths[0], sources)) < 0)
		return 1;
	pmfs_confine(extract ? PMFS_DUTY_EXTRACT : PMFS_DUTY_PRINT, target);
	pm_work_enter(&work);
	pmfs_bar_start(&work);
	int status = open_and_run(o, sources, target);
	pmfs_bar_end();
	pm_work_enter(NULL);
	return status;
}

static int run(const struct pmfs_options *o)
{
	struct pmfs_source_paths sources;
	if (o->mode == PMFS_MODE_FORMATS)
		return print_formats();
	if (o->mode == PMFS_MODE_UNMOUNT)
		return unmount(o->paths[0]);
	if (o->mode == PMFS_MODE_VERSION || o->mode == PMFS_MODE_HELP) {
		if (o->mode == PMFS_MODE_HELP)
			fputs(pmfs_usage, stdout);
		else
			pmfs_print_version();
		return printed();
	}
	int status = o->mode == PMFS_MODE_CHECK ? EXIT_UNUSABLE : 1;
	if (pmfs_source_paths_find(o, &sources)) {
		/* Not earlier, because a source may be given as a descriptor: /dev/fd/3. */
		pmfs_close_inherited();
		status = o->mode == PMFS_MODE_MOUNT ? pmfs_mount(o, &sources)
						    : run_confined(o, &sources);
	}
	pmfs_source_paths_free(&sources);
	return status;
}

/*
 * Large arrays are returned to the system when they are freed. By default glibc keeps them after
 * the first one, which takes 1.5 times the memory in a long-lived mount. Once that threshold is
 * set, glibc no longer adapts the one for trimming either: at its 128 KiB, the buffer of each read
 * would be returned, too.
 */
static void keep_no_memory(void)
{
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
	mallopt(M_TRIM_THRESHOLD, 1 << 20);
#endif
}

/* A folder of runs keeps many files open. The soft limit protects programs that call select(). */
static void raise_descriptors(void)
{
	enum { ENOUGH = 1 << 16 };
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= ENOUGH)
		return;
	limit.rlim_cur = limit.rlim_max < ENOUGH ? limit.rlim_max : ENOUGH;
	setrlimit(RLIMIT_NOFILE, &limit);
}

int main(int argc, char **argv)
{
	struct pmfs_options options;
	fill_standard_descriptors();
	keep_no_memory();
	raise_descriptors();
	if (!pmfs_options_parse(argc, argv, &options)) {
		pmfs_options_done(&options);
		return EXIT_USAGE;
	}
	int status = pmfs_memory_limit(&options) ? run(&options) : EXIT_USAGE;
	pmfs_options_done(&options);
	return status;
}
