/* Runs all functions of the format on a file in memory. */
#ifndef PROFMOUNT_TESTS_NYTPROF_EXERCISE_H
#define PROFMOUNT_TESTS_NYTPROF_EXERCISE_H

#include "profmount/bytes.h"

/* Reads `file`, builds the model and the sources, reads every row. True unless it was refused. */
bool nytpw_exercise(struct pm_bytes file);

#endif
