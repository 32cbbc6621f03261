/*
 * The patterns of filters: what matches a frame by its name, module, file, category or kind. See
 * docs/namespace.md, filters.
 */
#ifndef PROFMOUNT_FS_FILTERS_PATTERN_H
#define PROFMOUNT_FS_FILTERS_PATTERN_H

#include "formats/common/glob.h"

/* What of a frame a pattern is about. */
enum pmfs_pattern_of {
	PMFS_PATTERN_NAME,
	PMFS_PATTERN_MODULE,
	PMFS_PATTERN_FILE,
	PMFS_PATTERN_CATEGORY,
	PMFS_PATTERN_KIND,
};

struct pmfs_pattern {
	enum pmfs_pattern_of of;
	char text[PM_GLOB_SIZE]; /* as given */
	size_t len;
	struct pm_bytes rest; /* of `text`, behind the prefix */
	struct pm_glob glob;  /* the same */
};

/* Reads the name of a filter's directory; false where it cannot be one: empty, too long, hidden. */
bool pmfs_pattern_read(struct pmfs_pattern *p, struct pm_bytes text);

/* Of a name: whole, and without module, notes, parameters and return type. */
bool pmfs_pattern_has_name(const struct pmfs_pattern *p, struct pm_bytes name);

/* Of a module or file: whole, and its last part. */
bool pmfs_pattern_has_path(const struct pmfs_pattern *p, struct pm_bytes path);

#endif
