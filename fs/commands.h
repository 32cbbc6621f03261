/* The same tree without a mount, for machines without FUSE, for scripts and for tests. */
#ifndef PROFMOUNT_FS_COMMANDS_H
#define PROFMOUNT_FS_COMMANDS_H

#include "fs/instance.h"
#include "fs/opening.h"
#include "fs/options.h"

/* Each returns the exit status of the process, and reports errors on standard error. */
int pmfs_command_ls(struct pmfs_instance *in, const char *path);
int pmfs_command_cat(struct pmfs_instance *in, const char *const *paths, int n);
int pmfs_command_check(struct pmfs_instance *in, const struct pmfs_options *o);

/*
 * extract.c: opens the folder that --extract writes to, creating it if necessary; -1 with a
 * message, also if it is a source.
 */
int pmfs_extract_target(const char *folder, const struct pmfs_source_paths *sources);
int pmfs_command_extract(struct pmfs_instance *in, const struct pmfs_options *o, int target);

/* Writes all n bytes. 0 or -EIO. */
int pmfs_write_all(int fd, const void *p, size_t n, struct pm_error *err);

/* Writes a document's bytes to a file descriptor, then pmfs_engine_forget. */
int pmfs_document_write(struct pmfs_instance *in, pm_node node, const struct pm_doc *doc, int fd,
	struct pm_error *err);

#endif
