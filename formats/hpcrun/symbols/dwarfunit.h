/* One compilation unit: for dwarf.c, and only where there is libdw. */
#ifndef PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_DWARFUNIT_H
#define PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_DWARFUNIT_H

#include <elfutils/libdw.h>

#include "formats/hpcrun/symbols/scopes.h"

/* Entries seen so far: entries may share lists of ranges, and form cycles. */
struct hpcrun_dwarf_effort {
	size_t n_ranges;
	const void *last; /* the last entry; later ones are after it */
};

/* Adds the address ranges of an entry. Empty ones are counted, too. 0 or -ENOMEM. */
int hpcrun_dwarf_add_ranges(struct hpcrun_scopes *to, Dwarf_Die *die, uint32_t scope,
	struct hpcrun_dwarf_effort *effort);

/*
 * Most functions of libdw fail in the same way if something is absent and if memory ran out. Only
 * errno distinguishes these cases, if it was 0 before.
 */
int hpcrun_dwarf_result(int r);

/* The scopes of a unit, settled: the caller's. 0 or -ENOMEM, with nothing allocated. */
int hpcrun_dwarf_read_unit(Dwarf_Die *unit, struct hpcrun_scopes **ret);

#endif
