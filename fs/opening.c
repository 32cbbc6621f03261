#include "fs/opening.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "fs/log.h"

/* A bar for formats that must scan: from the first second on, on a terminal. */

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

int pmfs_open_source(const struct pmfs_options *o, const char *source, struct pmfs_instance *ret)
{
	struct bar bar = {.shown = false};
	struct pm_open_options options = {.keep_evals = o->keep_evals};
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
