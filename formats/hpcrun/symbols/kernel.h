/*
 * Symbols of the kernel from /proc/kallsyms: kernel_symbols/vmlinux.HOST of a measurement, plain or
 * compressed by xz.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_KERNEL_H
#define PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_KERNEL_H

#include "formats/hpcrun/symbols/scopes.h"

/*
 * Adds and settles functions, `NAME [vmlinux]` or `NAME [MODULE]`. If it cannot be unpacked, or is
 * not such a table, there are none. 0 or -ENOMEM.
 */
int hpcrun_kernel_read(struct pm_bytes file, struct hpcrun_scopes *ret);

#endif
