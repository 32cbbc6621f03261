/* Noticing changes of a source, for -o follow. */
#ifndef PROFMOUNT_FS_SOURCEMARK_H
#define PROFMOUNT_FS_SOURCEMARK_H

#include <stdint.h>

/* A number that changes with the source; for a folder, with the files in it and one level below. */
uint64_t pmfs_source_mark(const char *path);

#endif
