/* For tests and fuzzing: a scratch directory, and a function that reads everything. */
#ifndef PROFMOUNT_TESTS_HPCRUN_EXERCISE_H
#define PROFMOUNT_TESTS_HPCRUN_EXERCISE_H

#include "profmount/format.h"

/* A new empty folder; `path` has room for SCRATCH_PATH bytes. Aborts where there is none. */
enum { SCRATCH_PATH = 64 };
void scratch_new(char path[SCRATCH_PATH]);

/* Removes the folder and its files. */
void scratch_remove(const char *path);

/* Uses a profile as all views together do. What comes back is checked where a law is known. */
void exercise_profile(const struct pm_profile *p);

/* Opens `path` and exercises it; also when it is refused, in one line. Returns 0 or -errno. */
int exercise_path(const char *path);

/* Reads the bytes as a profile and as a trace, in blocks of exactly their size. */
void exercise_bytes(const uint8_t *p, size_t len);

#endif
