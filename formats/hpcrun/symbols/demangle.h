/* Demangling of C++ and Rust names. */
#ifndef PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_DEMANGLE_H
#define PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_DEMANGLE_H

#include "formats/common/text.h"

/*
 * Replaces `ret` by the demangled name of a C++ or Rust symbol, or by the symbol itself if it is
 * neither, or if the result would be too long (HPCRUN_DEMANGLED_MAX). This also bounds the time.
 */
void hpcrun_demangle(struct pm_bytes symbol, struct pm_text *ret);

#endif
