/* The part of a function name that identifies it. */
#ifndef PROFMOUNT_FS_VIEWS_MODEL_SHORTNAME_H
#define PROFMOUNT_FS_VIEWS_MODEL_SHORTNAME_H

#include "profmount/bytes.h"

/*
 * The name without return type, arguments and everything after them. `void a::b<int>(char) const
 * [libx.so]` gives `a::b<int>`. A part of `name`; all of it if it is not a signature.
 */
struct pm_bytes pmfs_name_bare(struct pm_bytes name);

/*
 * The start of the last component of a bare name before `before`: the greatest position below
 * `before` that follows a `::`, `.` or `/` outside brackets; 0 if there is none. For an address,
 * MODULE+0xOFFSET, it is the offset; for a `<placeholder> number`, the number.
 */
size_t pmfs_name_component(struct pm_bytes bare, size_t before);

#endif
