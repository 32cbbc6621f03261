/* Opening what the command line names, with what a person sees of it. */
#ifndef PROFMOUNT_FS_OPENING_H
#define PROFMOUNT_FS_OPENING_H

#include "fs/instance.h"
#include "fs/options.h"

/*
 * The real paths of the sources, in their order, which can be opened from any directory. A source
 * that is not there has its path as it was given if there are others; the only one has to be there.
 * False after a line on standard error. Give it back with pmfs_paths_free, also then.
 */
struct pmfs_source_paths {
	char **paths;
	int n;
	bool several; /* these are runs; otherwise this depends on what the single path is */
};

bool pmfs_source_paths_find(const struct pmfs_options *o, struct pmfs_source_paths *ret);
void pmfs_source_paths_free(struct pmfs_source_paths *p);

/* Opens them. On failure a line on standard error has said why. */
int pmfs_open_sources(const struct pmfs_options *options, const struct pmfs_source_paths *paths,
	struct pmfs_instance *ret);

#endif
