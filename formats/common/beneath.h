/* Opens files of a source that a database names: never anything outside of its folder. */
#ifndef PROFMOUNT_FORMATS_COMMON_BENEATH_H
#define PROFMOUNT_FORMATS_COMMON_BENEATH_H

/*
 * Opens the file `path` below `folder` for reading; neither `..` nor symbolic links may lead out
 * of it. A descriptor (the caller's), or a negative errno of openat2(2).
 */
int pm_open_beneath(int folder, const char *path);

#endif
