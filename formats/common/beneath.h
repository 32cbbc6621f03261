/*
 * Files of a source that are opened on request (source text, YAML): never anything outside its
 * directory, and nothing that changed after the source was opened.
 */
#ifndef PROFMOUNT_FORMATS_COMMON_BENEATH_H
#define PROFMOUNT_FORMATS_COMMON_BENEATH_H

#include "profmount/error.h"

/*
 * Opens the file `path` below `folder` for reading. Neither `..` nor symbolic links may lead out of
 * it, nor anything into another mount, because that could be ours and wait for us. Returns a
 * descriptor owned by the caller, or a negative errno: PM_NO_MEMORY also without descriptors.
 */
int pm_open_beneath(int folder, const char *path);

/*
 * The same, but mounts whose ids are in `mounts` may be entered (none if the system does not
 * provide ids: Linux before 5.8 without /proc). -EMFILE or -ENFILE without descriptors.
 */
int pm_open_among(int folder, const char *path, const uint64_t *mounts, size_t n_mounts);

/*
 * Like pm_open_beneath, for a regular file that has not changed since `since_ns`
 * (pm_profile.opened_ns; 0: do not check); otherwise -EIO, or PM_NO_MEMORY. The caller owns
 * `*ret_fd`.
 */
int pm_open_unchanged(int folder, const char *path, uint64_t since_ns, int *ret_fd,
	uint64_t *ret_size, struct pm_error *err);

#endif
