/*
 * A place identifies a node of a file's tree in the merged tree: files are merged by paths of
 * places only. After merging, frames.h converts places to frames; costs belong to the innermost
 * frame.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_PLACE_H
#define PROFMOUNT_FORMATS_HPCRUN_PLACE_H

#include <stdint.h>

enum hpcrun_place_kind {
	HPCRUN_PLACE_MODULE,  /* in a load module: `module` is an index of its name */
	HPCRUN_PLACE_SPECIAL, /* a placeholder: `module` is the special module's id (names.h) */
	HPCRUN_PLACE_UNKNOWN, /* not found in the load map; module 0 */
};

struct hpcrun_place {
	uint64_t ip; /* offset in the module; before 2009-09 an address of the process */
	uint32_t module;
	uint8_t kind; /* enum hpcrun_place_kind */
};

#endif
