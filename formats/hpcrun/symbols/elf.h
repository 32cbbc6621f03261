/* Functions of an ELF file by its symbol table. Nothing of the file is trusted. */
#ifndef PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_ELF_H
#define PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_ELF_H

#include "formats/hpcrun/symbols/scopes.h"

bool hpcrun_elf_is(struct pm_bytes file);

/*
 * Adds and settles functions, each as long as its symbol says; one without a size has no address.
 * Offsets are those that hpcrun stores: virtual addresses of the file, and offsets in it of GPU
 * code that has none. What cannot be read has no functions. 0 or -ENOMEM.
 */
int hpcrun_elf_read(struct pm_bytes file, struct hpcrun_scopes *ret);

enum { HPCRUN_BUILD_ID_MAX = 64 };

/* The file's build id; its length, 0 where it has none. */
size_t hpcrun_elf_build_id(struct pm_bytes file, uint8_t ret[HPCRUN_BUILD_ID_MAX]);

#endif
