/*
 * The patterns of filters: what matches a frame by its name, module, file, category or kind. See
 * docs/namespace.md, filters.
 */
#ifndef PROFMOUNT_FS_FILTERS_PATTERN_H
#define PROFMOUNT_FS_FILTERS_PATTERN_H

#include "profmount/bytes.h"

enum { PMFS_PATTERN_SIZE = 256 }; /* longer names of directories do not exist */

/* A glob of at most PMFS_PATTERN_SIZE - 1 bytes. */
struct pmfs_glob {
	struct pm_bytes text;
	struct pmfs_glob_step {
		uint8_t kind;
		uint8_t from, to; /* in the text: a character, or the inside of a set */
	} steps[PMFS_PATTERN_SIZE];
	unsigned n;
};

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
	char text[PMFS_PATTERN_SIZE]; /* as given */
	size_t len;
	struct pm_bytes rest;  /* of `text`, behind the prefix */
	struct pmfs_glob glob; /* the same */
};

/* Reads the name of a filter's directory; false where it cannot be one: empty, too long, hidden. */
bool pmfs_pattern_read(struct pmfs_pattern *p, struct pm_bytes text);

/* Of a name: whole, and without module, notes, parameters and return type. */
bool pmfs_pattern_has_name(const struct pmfs_pattern *p, struct pm_bytes name);

/* Of a module or file: whole, and its last part. */
bool pmfs_pattern_has_path(const struct pmfs_pattern *p, struct pm_bytes path);

#endif
