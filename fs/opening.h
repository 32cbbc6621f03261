/* Opening the source that the command line names, with what a person sees of it. */
#ifndef PROFMOUNT_FS_OPENING_H
#define PROFMOUNT_FS_OPENING_H

#include "fs/instance.h"
#include "fs/options.h"

/*
 * Opens `source`, the real path of what the options name. On failure a line on standard error has
 * said why.
 */
int pmfs_open_source(
	const struct pmfs_options *options, const char *source, struct pmfs_instance *ret);

#endif
