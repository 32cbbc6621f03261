/* What the process gives up before it looks at a source. */
#ifndef PROFMOUNT_FS_CONFINE_H
#define PROFMOUNT_FS_CONFINE_H

enum pmfs_duty {
	PMFS_DUTY_SERVE,   /* a mount */
	PMFS_DUTY_PRINT,   /* --ls, --cat, --check: writes to what is open */
	PMFS_DUTY_EXTRACT, /* makes files below one folder */
};

/*
 * Gives up, for good and for all threads started later: new privileges, capabilities but that to
 * read, dumping core, opening any file for writing, starting programs and processes, making code,
 * sockets and signals to others, and every other system call that the duty does not need. `target`
 * is the folder that PMFS_DUTY_EXTRACT writes to; -1 for others. Never fails: what this kernel or
 * this build lacks is left out. To be called while there is one thread.
 */
void pmfs_confine(enum pmfs_duty duty, int target);

/* Closes what whoever started the program left open, but for descriptors 0 to 2. */
void pmfs_close_inherited(void);

#endif
