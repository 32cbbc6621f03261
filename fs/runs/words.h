/*
 * The sources that a command line names: which runs they are, what each is called, and which are
 * repetitions of one another.
 */
#ifndef PROFMOUNT_FS_RUNS_WORDS_H
#define PROFMOUNT_FS_RUNS_WORDS_H

#include "formats/common/arena.h"
#include "profmount/error.h"

/* One source. Strings end with NUL and live as long as the list. */
struct pmfs_run {
	const char *name;    /* of the run, as it was given or made; not empty */
	const char *source;  /* as it was given; below a folder, that and what was found */
	const char *path;    /* absolute where it could be resolved */
	uint32_t group;      /* the name's number */
	uint32_t repetition; /* within the name, from 1 on */
	uint64_t mtime_ns;   /* of the source when it was listed; 0: unknown */
	uint64_t bytes;      /* the same; of a folder what the files right in it come to */
};

/* A name and its repetitions. */
struct pmfs_group {
	const char *name;
	uint32_t first, n; /* its runs */
};

struct pmfs_runs {
	uint32_t n, n_groups;
	struct pmfs_run *runs; /* those of one name together, names in the order given */
	struct pmfs_group *groups;
	bool repeated; /* some name has several runs */
	struct pm_arena arena;
	size_t room;
};

/* `[NAME=]PATH`: the length of NAME; 0: there is none. NAME ends at the first `=` before any `/`.
 */
size_t pmfs_word_name(const char *word);

/*
 * The runs that the words name. A folder that is no source itself stands for those in it, at any
 * depth, in the order of their paths; what cannot be opened is a run all the same, whose error is
 * found when it is opened. -EINVAL where a word names a folder without any source, or where there
 * are more than PM_LIMIT_RUNS. `paths` are the words' paths as they can be opened from anywhere, or
 * NULL: as they stand. Give it back with pmfs_runs_done, also after a failure.
 */
int pmfs_runs_list(struct pmfs_runs *ret, const char *const *words, const char *const *paths,
	uint32_t n, struct pm_error *err);

/* Accepts a zeroed one. */
void pmfs_runs_done(struct pmfs_runs *runs);

#endif
