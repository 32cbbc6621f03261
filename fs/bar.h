/*
 * How far a command is: one line on standard error where that is a terminal, from the first second
 * on. There is one at a time. Everything here does nothing where there is none.
 */
#ifndef PROFMOUNT_FS_BAR_H
#define PROFMOUNT_FS_BAR_H

#include <stdint.h>

#include "formats/common/work.h"

/* Begins to show how far the work is, which outlives the bar. */
void pmfs_bar_start(const struct pm_work *work);

/* Ends it, and leaves its line empty; before anything is written to standard output. */
void pmfs_bar_end(void);

/* Ends it where `fd`, which is to be written to, is a terminal, too. */
void pmfs_bar_give_way(int fd);

/* So many files have been written. */
void pmfs_bar_count(uint64_t files);

/* Around everything else that is written to standard error: the line is empty meanwhile. */
void pmfs_bar_hide(void);
void pmfs_bar_go_on(void);

#endif
