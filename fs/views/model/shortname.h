/* The part of a function's name that tells it from others. */
#ifndef PROFMOUNT_FS_VIEWS_MODEL_SHORTNAME_H
#define PROFMOUNT_FS_VIEWS_MODEL_SHORTNAME_H

#include "profmount/bytes.h"

/*
 * The name without what says nothing about who it is: the return type before it, the list of
 * arguments and whatever follows it. `void a::b<int>(char) const [libx.so]` is `a::b<int>`. A part
 * of `name`; all of it where it is no signature.
 */
struct pm_bytes pmfs_name_bare(struct pm_bytes name);

/*
 * Where the last component of a bare name begins, and each one before it: the greatest place below
 * `before` that follows a `::`, `.` or `/` outside of brackets; 0 if there is none. Of an address,
 * MODULE+0xOFFSET, it is the offset; of a `<placeholder> number`, the number.
 */
size_t pmfs_name_component(struct pm_bytes bare, size_t before);

#endif
