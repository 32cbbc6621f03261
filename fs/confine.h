/* Drops privileges before the process reads a source. */
#ifndef PROFMOUNT_FS_CONFINE_H
#define PROFMOUNT_FS_CONFINE_H

#include <stdbool.h>

enum pmfs_duty {
	PMFS_DUTY_SERVE,   /* a mount */
	PMFS_DUTY_PRINT,   /* --ls, --cat, --check: writes to open descriptors only */
	PMFS_DUTY_EXTRACT, /* --extract: creates files below one folder */
};

/*
 * Drops the following permanently, for all threads started later: new privileges, all capabilities
 * except reading, core dumps, opening files for writing, starting programs and processes, creating
 * executable memory, sockets and signals to others, and every other system call that the duty does
 * not need. `target` is the folder that PMFS_DUTY_EXTRACT writes to; -1 for others. Never fails:
 * restrictions that this kernel or build does not support are skipped. Call it while there is a
 * single thread.
 */
void pmfs_confine(enum pmfs_duty duty, int target);

/* For --version: layers, each with what it needs where it is missing. */
struct pmfs_confinement {
	char layers[256], missing[256]; /* separated by commas; the latter with reasons */
};

/* What pmfs_confine does with this build on this kernel. */
void pmfs_confinement(struct pmfs_confinement *ret);

/* Closes all inherited descriptors except 0 to 2. */
void pmfs_close_inherited(void);

/* ---- confine_calls.c: the seccomp layer ---- */

/* From now on, system calls that the duty does not need fail as on a kernel without them. */
void pmfs_forbid_other_calls(enum pmfs_duty duty);

/* Whether this build has the layer. */
bool pmfs_can_forbid_calls(void);

#endif
