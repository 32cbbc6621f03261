/* Opens the sources given on the command line; errors go to standard error. */
#ifndef PROFMOUNT_FS_OPENING_H
#define PROFMOUNT_FS_OPENING_H

#include "fs/instance.h"
#include "fs/options.h"

/*
 * The real paths of the sources in the given order, which are valid from any directory. If there
 * are several, a missing source keeps its path as given; a single source must exist. False after a
 * message on standard error. Free with pmfs_source_paths_free in either case.
 */
struct pmfs_source_paths {
	char **paths;
	int n;
	bool several; /* these are runs; otherwise this depends on what the single path is */
};

bool pmfs_source_paths_find(const struct pmfs_options *o, struct pmfs_source_paths *ret);
void pmfs_source_paths_free(struct pmfs_source_paths *p);

/*
 * Opens one source with the options; it is not a folder of sources. 0, or a negative errno with the
 * reason in `err`. Give it back with pmfs_instance_close.
 */
int pmfs_open_source(const struct pmfs_options *o, const char *path, struct pmfs_instance *ret,
	struct pm_error *err);

/* Opens them. On failure a line on standard error has said why. */
/* `mountpoint`: an absolute path that will be mounted on, or NULL. */
int pmfs_open_sources(const struct pmfs_options *options, const struct pmfs_source_paths *paths,
	const char *mountpoint, struct pmfs_instance *ret);

#endif
