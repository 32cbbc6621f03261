/* What the process gives up before it serves. */
#ifndef PROFMOUNT_FS_CONFINE_H
#define PROFMOUNT_FS_CONFINE_H

/*
 * Gives up, for good and for all threads started later: new privileges, capabilities but that to
 * read, dumping core, writing to any file but /dev/fuse, starting programs, reaching the network,
 * and every other system call that serving does not need. Never fails: what this kernel or this
 * build lacks is left out. To be called while there is one thread.
 */
void pmfs_confine(void);

#endif
