/*
 * The sources given on a command line: the runs, their names, and which of them are repetitions of
 * each other.
 */
#ifndef PROFMOUNT_FS_RUNS_WORDS_H
#define PROFMOUNT_FS_RUNS_WORDS_H

#include "formats/common/arena.h"
#include "profmount/error.h"

/* One source. Strings end with NUL and live as long as the list. */
struct pmfs_run {
	const char *name;    /* name of the run, as given or generated; not empty */
	const char *source;  /* as given; in a directory, with the path in it */
	const char *path;    /* absolute where it could be resolved */
	const char *open;    /* the path to open it by, if it is not that: below what was there
				before the mount */
	uint32_t group;      /* index of the name */
	uint32_t repetition; /* index among the runs of that name, from 1 on */
	uint64_t mtime_ns;   /* of the source when it was listed; 0: unknown */
	bool is_folder;
	uint64_t bytes; /* the same; for a directory, the sum of the files directly in it */
	/* NULL, or its parts: names of files beside `path`, which is the first; and their format */
	const char *const *files;
	size_t n_files;
	const char *format;
};

/* A name and its repetitions. */
struct pmfs_group {
	const char *name;
	uint32_t first, n; /* its runs */
};

struct pmfs_runs {
	uint32_t n, n_groups;
	struct pmfs_run *runs; /* those with the same name adjacent, names in the order given */
	struct pmfs_group *groups;
	bool repeated;  /* some name has several runs */
	bool of_folder; /* the only word is a folder of sources, without a name */
	struct pm_arena arena;
	size_t room;
	bool is_covered; /* the following is open */
	int covered;     /* what was at the mountpoint; owned */
};

/*
 * `[NAME=]PATH`: the length of NAME; 0 if there is none. NAME ends at the first `=` before any `/`.
 */
size_t pmfs_word_name(const char *word);

/*
 * The mount will be at `mountpoint`, an absolute path: runs below it are opened below what is there
 * now. 0 or -ENOMEM.
 */
int pmfs_runs_cover(struct pmfs_runs *runs, const char *mountpoint);

/*
 * The runs given by the words. A directory that is not a source means all sources in it, at any
 * depth, in the natural order of paths. Sources that cannot be opened are included; the error
 * occurs when they are opened. -EINVAL if a word names a directory without sources, or if there are
 * more than PM_LIMIT_RUNS. `paths` are the words' paths in a form that works from any directory;
 * NULL: the words are used. `join`: numbered names are repetitions. Free with pmfs_runs_done, also
 * after a failure.
 */
int pmfs_runs_list(struct pmfs_runs *ret, const char *const *words, const char *const *paths,
	uint32_t n, bool join, struct pm_error *err);

/*
 * Names that differ only in a last number, before what follows the last dot, which counts from 0 or
 * 1 without gaps: solve-1.perf, solve-2.perf. By run: the name without it, and how many have it;
 * NULL and 0: it is no such name. Of names that are given once. In a build of the arena. O(n).
 */
struct pmfs_numbered {
	const char *name;
	uint32_t n;
};
struct pmfs_numbered *pmfs_runs_numbered(struct pm_arena *a, const struct pmfs_runs *runs);

/*
 * Like strcmp, but runs of decimal digits count as numbers of any length: n2 is before n16. Names
 * that differ only in leading zeros are in the order of strcmp.
 */
int pmfs_natural_compare(const char *a, const char *b);

/* Accepts a zeroed one. */
void pmfs_runs_done(struct pmfs_runs *runs);

#endif
