/*
 * Functions, inlined functions and lines of an ELF file by its DWARF, with elfutils' libdw. Only
 * for files of this machine, never for those of a measurement, because libdw is not designed for
 * hostile input.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_DWARF_H
#define PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_DWARF_H

#include "formats/hpcrun/symbols/elsewhere.h"
#include "formats/hpcrun/symbols/scopes.h"

struct hpcrun_dwarf;

/* False if the program was built without libdw. */
bool hpcrun_dwarf_is_read(void);

/*
 * `*ret` is the caller's; NULL if there is no DWARF, or if the alternate debug file that it needs
 * is not found in `elsewhere`. `file` outlives it; its mapping becomes writable, because libelf
 * decompresses a section and then changes its header where it stands. Reads only the addresses of
 * compilation units. Does not look for split DWARF files. 0, 1 if there is no DWARF because limits
 * of memory forbid to make a mapping writable (pm_input_allow_writes), or -ENOMEM.
 */
int hpcrun_dwarf_open(
	struct hpcrun_dwarf **ret, struct pm_input *file, const struct hpcrun_elsewhere *elsewhere);

/*
 * The scopes of the compilation unit that contains an address, read on first need; NULL if there is
 * none. They live as long as `d`. 0 or -ENOMEM.
 */
int hpcrun_dwarf_find(struct hpcrun_dwarf *d, uint64_t address, const struct hpcrun_scopes **ret);

/* Accepts NULL. */
void hpcrun_dwarf_free(struct hpcrun_dwarf *d);

#endif
