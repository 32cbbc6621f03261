/*
 * Structure files of hpcstruct: XML about one load module, below structs/ of a measurement. See
 * docs/formats/hpcrun.md, section 8. They are untrusted.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_STRUCTS_H
#define PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_STRUCTS_H

#include "formats/common/text.h"
#include "formats/hpcrun/symbols/scopes.h"

/* Where and why reading stopped before the end of the file. */
struct hpcrun_struct_fault {
	uint64_t offset;
	const char *what; /* NULL: the file is sound; lives as long as the program */
};

/*
 * The path of the load module that a file describes (the first one); empty if there is none. Reads
 * no further than that. 0 or -ENOMEM.
 */
int hpcrun_struct_module(struct pm_bytes xml, struct pm_text *ret);

/*
 * Adds the scopes of that load module to `ret`, up to the first error; the rest then has no names.
 * The caller settles `ret`. O(bytes). 0 or -ENOMEM.
 */
int hpcrun_struct_read(
	struct pm_bytes xml, struct hpcrun_scopes *ret, struct hpcrun_struct_fault *fault);

#endif
