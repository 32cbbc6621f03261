/*
 * Files of a source that are read when they are asked for (source text, YAML): never anything
 * outside of its folder, and nothing that changed after the source was opened.
 */
#ifndef PROFMOUNT_FORMATS_COMMON_BENEATH_H
#define PROFMOUNT_FORMATS_COMMON_BENEATH_H

#include "profmount/error.h"

/*
 * Opens the file `path` below `folder` for reading; neither `..` nor symbolic links may lead out
 * of it, nor anything into another mount, which might be ours and wait for us (where the system
 * lacks openat2(2), no link is followed at all, but mounts are). A descriptor (the caller's), or a
 * negative errno.
 */
int pm_open_beneath(int folder, const char *path);

/*
 * The same, but other mounts may be gone into whose ids are among `mounts` (none where the system
 * does not tell ids: Linux before 5.8).
 */
int pm_open_among(int folder, const char *path, const uint64_t *mounts, size_t n_mounts);

/*
 * As pm_open_beneath, for a regular file that was there, and as it is, at `since_ns`
 * (pm_profile.opened_ns; 0: whenever). -EIO otherwise. `*ret_fd` is the caller's.
 */
int pm_open_unchanged(int folder, const char *path, uint64_t since_ns, int *ret_fd,
	uint64_t *ret_size, struct pm_error *err);

#endif
