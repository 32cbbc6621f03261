/* The command line. */
#ifndef PROFMOUNT_FS_OPTIONS_H
#define PROFMOUNT_FS_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "fs/filters/filter.h"

enum pmfs_mode {
	PMFS_MODE_MOUNT,
	PMFS_MODE_LS,
	PMFS_MODE_CAT,
	PMFS_MODE_EXTRACT,
	PMFS_MODE_CHECK,
	PMFS_MODE_FORMATS,
	PMFS_MODE_UNMOUNT,
	PMFS_MODE_HELP,
	PMFS_MODE_VERSION,
};

struct pmfs_options {
	enum pmfs_mode mode;
	bool foreground;
	bool debug;
	bool single_thread;
	bool xattr;
	bool auto_unmount;
	bool follow;            /* -o follow */
	bool keep_evals;        /* -o evals */
	bool no_symbols;        /* -o symbols=no */
	const char *sysroot;    /* -o sysroot=, or NULL */
	const char *values;     /* -o values=, or NULL */
	uint32_t uid, gid;      /* the owner of all files */
	const char *format;     /* -o format=, or NULL */
	const char *metric;     /* -o metric=, or NULL */
	const char *iterations; /* -o iterations=, or NULL */
	uint64_t cache_bytes;   /* -o cache= */
	uint64_t memory_bytes;  /* -o memory=; 0: not given */
	uint64_t idle_ms;       /* -o idle=; 0: never */
	bool lean;              /* -o lean */
	bool tsv;               /* -o tsv */
	uint64_t max_bytes;     /* -o max=; 0: by the size of the source */
	char *fuse;             /* other -o options, comma-separated, for libfuse; owned */
	const char *base;       /* -o base=: the name of the baseline, or NULL */
	bool exact;             /* -o exact */
	bool repetitions;       /* -o repetitions=yes */
	bool normalize;         /* -o normalize */
	bool parquet;           /* -o parquet */
	bool weak;              /* -o scaling=weak */
	struct pmfs_filter_what filters[PMFS_MOST_FILTERS]; /* -o focus=, hide= … in their order */
	unsigned n_filters;
	struct pmfs_definitions *derived; /* -o derive= and metrics=all, or NULL; owned */
	const char **sources;             /* as given, [NAME=]PATH; at least one; owned */
	int n_sources;
	const char *const *paths; /* what follows them: MOUNTPOINT, DIR, PATH … */
	int n_paths;
	const char **words; /* where paths are; owned */
};

/*
 * Fills `ret` from the command line; strings in it are argv's. False where the command line is
 * wrong: a line on standard error has then said how. Give it back with pmfs_options_done.
 */
bool pmfs_options_parse(int argc, char **argv, struct pmfs_options *ret);

void pmfs_options_done(struct pmfs_options *o);

/* What -h prints. */
extern const char pmfs_usage[];

/* What -V prints: the version, what this was built with, and how this kernel can confine it. */
void pmfs_print_version(void);

#endif
