/*
 * profmount: a performance profile as files. See docs/architecture.md.
 */
#include <fcntl.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fs/commands.h"
#include "fs/log.h"
#include "fs/mount.h"

enum { EXIT_USAGE = 2, EXIT_UNUSABLE = 2 };

/*
 * The background closes descriptors 0 to 2: the source must not get one of them. Who writes to one
 * that was closed still gets an error.
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

static int print_formats(void)
{
	for (size_t i = 0; pm_formats[i]; i++)
		printf("%-12s %s\n", pm_formats[i]->name, pm_formats[i]->summary);
	return fflush(stdout) != 0;
}

/* ---- a bar for formats that must scan: from the first second on, on a terminal ---- */

struct bar {
	struct timespec start;
	bool shown;
};

static double seconds_since(const struct timespec *start)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)(now.tv_sec - start->tv_sec) + (double)(now.tv_nsec - start->tv_nsec) / 1e9;
}

static void show_progress(void *context, uint64_t done, uint64_t total)
{
	enum { WIDTH = 40 };
	struct bar *bar = context;
	if (total == 0 || (!bar->shown && seconds_since(&bar->start) < 1))
		return;
	bar->shown = true;
	int filled = (int)((double)done / (double)total * WIDTH);
	fprintf(stderr, "\rreading [%.*s%*s] %3d%%", filled,
		"########################################", WIDTH - filled, "",
		(int)((double)done / (double)total * 100));
	fflush(stderr);
}

/* ---- the source ---- */

static int open_instance(
	const struct pmfs_options *o, const char *source, struct pmfs_instance *ret)
{
	struct bar bar = {.shown = false};
	struct pm_open_options options = {.progress = NULL};
	struct pm_error err = {.offset = PM_NO_OFFSET};
	clock_gettime(CLOCK_MONOTONIC, &bar.start);
	if (isatty(STDERR_FILENO)) {
		options.progress = show_progress;
		options.context = &bar;
	}
	int r = pmfs_instance_open(ret, source, o->format, o->cache_bytes, &options, &err);
	if (r == 0 && o->metric && (r = pmfs_model_lead_with(ret->model, o->metric, &err)) < 0)
		pmfs_instance_close(ret);
	if (bar.shown)
		fputs("\r\033[K", stderr);
	if (r < 0) {
		const char *name = strrchr(source, '/');
		bool named = name && strcmp(name + 1, err.file) == 0;
		if (named)
			snprintf(err.file, sizeof(err.file), "%s", o->source);
		pmfs_log_error(named ? NULL : o->source, &err);
	}
	return r;
}

static int run_command(const struct pmfs_options *o, struct pmfs_instance *in)
{
	const char *first = o->n_paths > 0 ? o->paths[0] : "";
	switch (o->mode) {
	case PMFS_MODE_MOUNT: return pmfs_mount_serve(in, o, first);
	case PMFS_MODE_LS: return pmfs_command_ls(in, first);
	case PMFS_MODE_CAT: return pmfs_command_cat(in, o->paths, o->n_paths);
	case PMFS_MODE_EXTRACT:
		return pmfs_command_extract(in, first, o->paths + 1, o->n_paths - 1);
	case PMFS_MODE_CHECK: return pmfs_command_check(in);
	case PMFS_MODE_FORMATS:
	case PMFS_MODE_HELP:
	case PMFS_MODE_VERSION: break;
	}
	return 0;
}

static int run(const struct pmfs_options *o)
{
	struct pmfs_instance in;
	char source[PATH_MAX];
	if (o->mode == PMFS_MODE_FORMATS)
		return print_formats();
	if (o->mode == PMFS_MODE_VERSION || o->mode == PMFS_MODE_HELP) {
		fputs(o->mode == PMFS_MODE_HELP ? pmfs_usage : "profmount " PMFS_VERSION "\n",
			stdout);
		return fflush(stdout) != 0;
	}
	int unusable = o->mode == PMFS_MODE_CHECK ? EXIT_UNUSABLE : 1;
	if (!realpath(o->source, source)) {
		pmfs_log("%s: cannot be opened: %s", o->source, strerror(errno));
		return unusable;
	}
	if (open_instance(o, source, &in) < 0)
		return unusable;
	int status = run_command(o, &in);
	pmfs_instance_close(&in);
	return status;
}

/*
 * Large arrays go back to the system when they are freed. By itself glibc learns from the first
 * of them to keep all, which is half as much again for a mount that lives for days.
 */
static void keep_no_memory(void)
{
#ifdef M_MMAP_THRESHOLD
	mallopt(M_MMAP_THRESHOLD, 1 << 20);
#endif
}

int main(int argc, char **argv)
{
	struct pmfs_options options;
	fill_standard_descriptors();
	keep_no_memory();
	if (!pmfs_options_parse(argc, argv, &options)) {
		pmfs_options_done(&options);
		return EXIT_USAGE;
	}
	int status = run(&options);
	pmfs_options_done(&options);
	return status;
}
