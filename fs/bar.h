/*
 * Progress of a command: one line on standard error if that is a terminal, shown after the first
 * second. There is one bar at a time. All functions do nothing if there is none.
 */
#ifndef PROFMOUNT_FS_BAR_H
#define PROFMOUNT_FS_BAR_H

#include <stdint.h>

#include "formats/common/work.h"

/* Starts showing the progress of the work, which must outlive the bar. */
void pmfs_bar_start(const struct pm_work *work);

/* Ends it and clears its line; call it before writing to standard output. */
void pmfs_bar_end(void);

/* Ends it if `fd`, which will be written to, is a terminal, too. */
void pmfs_bar_give_way(int fd);

/* Sets the number of files written. */
void pmfs_bar_count(uint64_t files);

/* Call these around all other output to standard error; the line is cleared in between. */
void pmfs_bar_hide(void);
void pmfs_bar_go_on(void);

#endif
