/* Files included in a measurement: kernel symbols, vDSOs, GPU binaries. */
#ifndef PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_OWN_H
#define PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_OWN_H

#include "formats/hpcrun/symbols/scopes.h"

/*
 * The key of a load module: its path, or for files of the measurement directory, which may have
 * been moved, the last two components: gpubins/X.gpubin. `<vmlinux.X>` is an older name for
 * kernel_symbols/vmlinux.X.
 */
struct pm_bytes hpcrun_module_key(struct pm_bytes path);

/*
 * Reads and settles the functions of a load module in the measurement directory `folder`. 1, 0 if
 * it does not exist or has none, or -ENOMEM.
 */
int hpcrun_own_read(int folder, struct pm_bytes path, struct hpcrun_scopes *ret);

#endif
