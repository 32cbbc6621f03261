/* Files that a measurement carries along: symbols of the kernel, vDSOs, binaries of GPUs. */
#ifndef PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_OWN_H
#define PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_OWN_H

#include "formats/hpcrun/symbols/scopes.h"

/*
 * What tells load modules apart: the path, but of files of the measurement directory, which may
 * have been elsewhere, the last two names: gpubins/X.gpubin. `<vmlinux.X>` is an older name for
 * kernel_symbols/vmlinux.X.
 */
struct pm_bytes hpcrun_module_key(struct pm_bytes path);

/*
 * Reads and settles the functions of a load module that lies in the measurement directory `folder`.
 * 1, 0 where it is not there or has none, or -ENOMEM.
 */
int hpcrun_own_read(int folder, struct pm_bytes path, struct hpcrun_scopes *ret);

#endif
