/* Where messages go: standard error, and from pmfs_log_to_keeper on the system's log. */
#ifndef PROFMOUNT_FS_LOG_H
#define PROFMOUNT_FS_LOG_H

#include "profmount/error.h"

/* One line: `profmount: …`. */
void pmfs_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One line: `profmount: BEFORE: why`; BEFORE may be NULL. */
void pmfs_log_error(const char *before, const struct pm_error *err);

/* The keeper's line (fs/mount_keeper.h); it writes to the system's log. */
void pmfs_log_to_keeper(int line);

#endif
