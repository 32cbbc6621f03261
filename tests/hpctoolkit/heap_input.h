/*
 * Stands in for formats/common/input.c: inputs come from memory, each in a heap block of its exact
 * size, so that a sanitizer sees the first byte read beyond an end.
 */
#ifndef PROFMOUNT_TESTS_HPCTOOLKIT_HEAP_INPUT_H
#define PROFMOUNT_TESTS_HPCTOOLKIT_HEAP_INPUT_H

#include "formats/hpctoolkit/hpctoolkit.h"

/* What pm_input_open finds under the names of a database's files; p = NULL: there is none. */
extern struct pm_bytes heap_files[HPCTK_N_FILES];

/* Opens these files and uses every op, as fixture_exercise. 0, or the errno of a refusal. */
int heap_files_exercise(void);

#endif
