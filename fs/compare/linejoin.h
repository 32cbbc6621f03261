/*
 * The state of a join of lines: lines.c reads the runs and builds the rows, linematch.c finds which
 * lines are the same.
 */
#ifndef PROFMOUNT_FS_COMPARE_LINEJOIN_H
#define PROFMOUNT_FS_COMPARE_LINEJOIN_H

#include "fs/compare/flat.h"
#include "fs/compare/places.h"

/* A line as a run has it. */
struct pmfs_line_key {
	uint32_t function; /* spelling; PM_NONE: none */
	uint32_t file;     /* spelling */
	uint32_t line;
	enum pmfs_side side;
	uint32_t group; /* key of the function, once everything has been read */
};

struct pmfs_line_join {
	const struct pmfs_costs *costs;
	struct pmfs_joined *joined;
	const struct pmfs_match *functions;
	const uint32_t *const *of; /* see struct pmfs_joined */
	const uint32_t *n_of;
	struct pmfs_match files;
	struct pmfs_run_rows *rows;
	struct pm_map places, known; /* file and line; function and that → key */
	struct pmfs_line_key *keys;
	size_t n_keys, room_keys;
	uint32_t *defined_in;   /* by spelling of a function: that of its file */
	struct pm_bytes *texts; /* by spelling of a file */
	uint32_t *of_key, *order, *unique;
	/*
	 * For one function: places, the partners of the baseline's places, rows of the other run's
	 * places.
	 */
	struct pmfs_line_place *place[PMFS_N_SIDES];
	uint32_t *partner, *row;
};

/*
 * Matches the lines of matching functions: fills joined->rows and n, and of_key, from the keys.
 * 0 or -ENOMEM.
 */
int pmfs_lines_match(struct pmfs_line_join *j);

/*
 * Then merges rows of only one side that are the same line of the same file: functions may have
 * different names. 0 or -ENOMEM.
 */
int pmfs_lines_match_alone(struct pmfs_line_join *j);

#endif
