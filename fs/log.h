/* Messages go to standard error, and after pmfs_log_to_keeper to the system log. */
#ifndef PROFMOUNT_FS_LOG_H
#define PROFMOUNT_FS_LOG_H

#include "profmount/error.h"

/* One line: `profmount: …`. */
void pmfs_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* One line: `profmount: BEFORE: why`; BEFORE may be NULL. */
void pmfs_log_error(const char *before, const struct pm_error *err);

/* The socket to the keeper (fs/mount_keeper.h), which writes to the system log. */
void pmfs_log_to_keeper(int line);

#endif
