/*
 * Symbols of the kernel, as /proc/kallsyms showed them: kernel_symbols/vmlinux.HOST of a
 * measurement, compressed by xz or not.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_KERNEL_H
#define PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_KERNEL_H

#include "formats/hpcrun/symbols/scopes.h"

/*
 * Adds and settles functions, `NAME [vmlinux]` or `NAME [MODULE]`. What cannot be unpacked, or is
 * no such table, has none. 0 or -ENOMEM.
 */
int hpcrun_kernel_read(struct pm_bytes file, struct hpcrun_scopes *ret);

#endif
