/* Names as their language writes them. */
#ifndef PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_DEMANGLE_H
#define PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_DEMANGLE_H

#include "formats/common/text.h"

/*
 * Replaces `ret` by a symbol's name as C++ or Rust writes it, or by the symbol itself where it is
 * neither, or too long so (HPCRUN_DEMANGLED_MAX). Time is bounded by that length, too.
 */
void hpcrun_demangle(struct pm_bytes symbol, struct pm_text *ret);

#endif
