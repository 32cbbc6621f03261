/* What stands behind -o: options with a name, and perhaps a value, with commas between them. */
#ifndef PROFMOUNT_FS_SUBOPTIONS_H
#define PROFMOUNT_FS_SUBOPTIONS_H

#include "fs/options.h"

/*
 * Takes those of a list, which is changed and must last as long as `o`, whose strings are in it.
 * False where one is wrong: a line on standard error has then said which.
 */
bool pmfs_suboptions_take(struct pmfs_options *o, char *list);

/* Adds a source, as `run=` does: [NAME=]PATH, which must last as long as `o`. False: no memory. */
bool pmfs_add_source(struct pmfs_options *o, const char *source);

#endif
