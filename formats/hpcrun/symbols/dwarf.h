/*
 * Functions, inlined functions and lines of an ELF file by its DWARF, with elfutils' libdw. Only
 * for files of this machine, never for those that a measurement brought along: libdw is not made
 * for hostile input.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_DWARF_H
#define PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_DWARF_H

#include "formats/hpcrun/symbols/scopes.h"

struct hpcrun_dwarf;

/* False where the program was built without libdw: no file has any DWARF then. */
bool hpcrun_dwarf_is_read(void);

/*
 * `file` outlives `*ret`, which is the caller's; NULL where there is no DWARF. Looks at the
 * compilation units' addresses alone. Files of split DWARF are not looked for. 0 or -ENOMEM.
 */
int hpcrun_dwarf_open(struct hpcrun_dwarf **ret, struct pm_bytes file);

/*
 * The scopes of the compilation unit that an address belongs to, read on first need; NULL where it
 * belongs to none. They live as long as `d`. 0 or -ENOMEM.
 */
int hpcrun_dwarf_find(struct hpcrun_dwarf *d, uint64_t address, const struct hpcrun_scopes **ret);

/* Accepts NULL. */
void hpcrun_dwarf_free(struct hpcrun_dwarf *d);

#endif
