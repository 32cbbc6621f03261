/*
 * Structure files: what hpcstruct found out about one load module, XML below structs/ of a
 * measurement. docs/formats/hpcrun.md, section 8. Nothing in them is trusted.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_STRUCTS_H
#define PROFMOUNT_FORMATS_HPCRUN_SYMBOLS_STRUCTS_H

#include "formats/common/text.h"
#include "formats/hpcrun/symbols/scopes.h"

/* Where reading ended before the file did, and why. */
struct hpcrun_struct_fault {
	uint64_t offset;
	const char *what; /* NULL: the file is sound; lives as long as the program */
};

/*
 * The path of the load module that a file describes, the first one it names; empty where it names
 * none. Reads no further than that. 0 or -ENOMEM.
 */
int hpcrun_struct_module(struct pm_bytes xml, struct pm_text *ret);

/*
 * Adds what the file says about that load module to `ret`, up to the first fault: what is missing
 * then has no names. The caller settles `ret`. O(bytes). 0 or -ENOMEM.
 */
int hpcrun_struct_read(
	struct pm_bytes xml, struct hpcrun_scopes *ret, struct hpcrun_struct_fault *fault);

#endif
