/*
 * A place: what a node of a file's tree stands for, and all that the merged tree of files knows of
 * it. Files are merged by the path of places alone. Which frames a place becomes is told by
 * frames.h, when all files are merged; costs belong to the innermost of them.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_PLACE_H
#define PROFMOUNT_FORMATS_HPCRUN_PLACE_H

#include <stdint.h>

enum hpcrun_place_kind {
	HPCRUN_PLACE_MODULE,  /* in a load module: `module` is an index of its name */
	HPCRUN_PLACE_SPECIAL, /* a placeholder: `module` is the special module's id (names.h) */
	HPCRUN_PLACE_UNKNOWN, /* the load map does not say where; module 0 */
};

struct hpcrun_place {
	uint64_t ip; /* offset in the module; before 2009-09 an address of the process */
	uint32_t module;
	uint8_t kind; /* enum hpcrun_place_kind */
};

#endif
