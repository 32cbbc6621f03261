/* Functions from the symbol table of an ELF file. The file is untrusted. */
#ifndef PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_ELF_H
#define PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_ELF_H

#include "formats/hpcrun/symbols/scopes.h"

bool hpcrun_elf_is(struct pm_bytes file);

/*
 * Adds and settles functions with the sizes of their symbols; symbols without a size are ignored.
 * Offsets are as stored by hpcrun: virtual addresses, or file offsets for GPU code that has no
 * addresses. An unreadable file has no functions. 0 or -ENOMEM.
 */
int hpcrun_elf_read(struct pm_bytes file, struct hpcrun_scopes *ret);

enum { HPCRUN_BUILD_ID_MAX = 64 };

/* The file's build id; returns its length, 0 if there is none. */
size_t hpcrun_elf_build_id(struct pm_bytes file, uint8_t ret[HPCRUN_BUILD_ID_MAX]);

#endif
