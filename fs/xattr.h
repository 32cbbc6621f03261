/* Extended attributes user.profmount.* (-o xattr). */
#ifndef PROFMOUNT_FS_XATTR_H
#define PROFMOUNT_FS_XATTR_H

#include "fs/instance.h"

/* Appends the attribute's value; -ENODATA if the node does not have the attribute. */
int pmfs_xattr_get(struct pmfs_instance *in, pm_node node, const char *name, struct pm_text *out);

/* Appends the names of the node's attributes, each with a NUL. */
void pmfs_xattr_list(struct pmfs_instance *in, pm_node node, struct pm_text *out);

#endif
