/* Paths below the root as the kernel resolves them in a mount, for the commands without one. */
#ifndef PROFMOUNT_FS_RESOLVE_H
#define PROFMOUNT_FS_RESOLVE_H

#include "formats/common/text.h"
#include "fs/instance.h"

/* Room for the target of a link and a NUL: the longest path of Linux. */
#define PMFS_TARGET_SIZE 4096

/* The target of a link, NUL-terminated; it is cut off where it is longer. */
int pmfs_link_target(struct pmfs_instance *in, pm_node link, char ret[static PMFS_TARGET_SIZE],
	struct pm_error *err);

struct pmfs_above {
	pm_node dir;
	size_t path_len; /* of its path */
};

struct pmfs_resolved {
	struct pmfs_entry entry;  /* what is at the end; its name is unset for the root and `..` */
	struct pm_text path;      /* of it: names alone, without links, `.` and `..` */
	struct pm_text links;     /* paths of the links that were followed, each ends with NUL */
	struct pmfs_above *above; /* directories above the entry, n of them */
	size_t n, room;
};

/*
 * Resolves a path; also a link at its end is followed. As in the root directory of a process,
 * nothing is above the root. Unlike there, a slash at the end is ignored also after the name of a
 * file. Negative errno: -ELOOP beyond 40 links, -EXDEV for an absolute link.
 * Call pmfs_resolved_done in any case.
 */
int pmfs_resolve(struct pmfs_instance *in, const char *path, struct pmfs_resolved *ret,
	struct pm_error *err);

void pmfs_resolved_done(struct pmfs_resolved *w);

#endif
