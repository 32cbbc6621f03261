/*
 * Names of directory entries that come from the measured program: makes them legal, and unique
 * among siblings (docs/namespace.md, conventions).
 */
#ifndef PROFMOUNT_FS_TREE_NAMES_H
#define PROFMOUNT_FS_TREE_NAMES_H

#include "formats/common/cache.h"
#include "formats/common/map.h"
#include "formats/common/text.h"
#include "profmount/profile.h"

/* Size of any entry's name: a legal name, `~` and a number. */
#define PMFS_NAME_SIZE 256

/*
 * The legal form of a raw name: `/` becomes U+2215, characters that are not safe for terminals
 * U+FFFD (formats/common/utf8.h), an empty name `(unknown)`; a leading `.` or `-` gets `_` before
 * it. Truncated to PM_LIMIT_NAME bytes with `~` and 8 hex digits of a hash of the raw name. Returns
 * its length (no NUL).
 */
size_t pmfs_name_legal(struct pm_bytes raw, char out[PMFS_NAME_SIZE]);

/* A set of siblings whose names must differ. */
struct pmfs_naming {
	uint32_t n;
	/* The k-th sibling in database order, as any number that identifies it. */
	uint32_t (*item)(void *context, uint32_t k);
	/*
	 * An item's raw name: in `scratch`, or valid as long as the owner of the siblings is held.
	 */
	struct pm_bytes (*raw)(void *context, uint32_t item, struct pm_text *scratch);
	/* Reserved names, ending with NULL; or NULL. */
	const char *const *reserved;
	void *context;
};

/* An index over siblings, kept in the cache: about 40 bytes per entry. */
struct pmfs_siblings {
	struct pm_cached cached;
	struct pm_arena arena;  /* has what follows: */
	struct pm_map ordinals; /* item → number after `~`, if any */
	struct pm_map hashes;   /* item → hash of its raw name, if that is long */
	size_t n_slots;         /* a power of two */
	struct pmfs_name_slot *slots;
};

int pmfs_siblings_build(
	const struct pmfs_naming *naming, struct pmfs_siblings **ret, struct pm_error *err);

/* Item by name: 1, 0 if there is none, or -ENOMEM. O(1) except for siblings with the same name. */
int pmfs_siblings_find(const struct pmfs_siblings *s, const struct pmfs_naming *naming,
	struct pm_bytes name, uint32_t *ret_item);

/* An item's unique name. Returns its length; 0 if out of memory. */
size_t pmfs_siblings_name(const struct pmfs_siblings *s, const struct pmfs_naming *naming,
	uint32_t item, char out[PMFS_NAME_SIZE]);

#endif
