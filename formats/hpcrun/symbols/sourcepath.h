/* Paths of source files as DWARF has them. */
#ifndef PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_SOURCEPATH_H
#define PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_SOURCEPATH_H

#include "formats/common/text.h"

/*
 * Replaces what `t` holds by `path`, below `folder` if it is relative and a folder is known,
 * without empty components, "." and, where it follows a name, "..". Thus a header has one path,
 * from wherever it was included. Symbolic links are not looked at: the folder need not be on this
 * machine.
 */
void hpcrun_source_path(struct pm_text *t, struct pm_bytes folder, struct pm_bytes path);

#endif
