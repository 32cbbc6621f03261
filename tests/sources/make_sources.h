/* Shared by the files of make_sources. A failure ends the program with one line. */
#ifndef PROFMOUNT_TESTS_SOURCES_MAKE_SOURCES_H
#define PROFMOUNT_TESTS_SOURCES_MAKE_SOURCES_H

#include "profmount/bytes.h"

_Noreturn void sources_die(const char *path);

/* The path of a source, which is printed, too; valid until the next call. */
const char *sources_path(const char *name);

/* The same, with a folder made there. */
const char *sources_folder(const char *name);

/* Writes a source that is one file. */
void sources_file(const char *name, struct pm_bytes b);

void sources_write_hpcrun(void);
void sources_write_perf(void);
void sources_write_builds(void); /* ten recordings of each, in their folder */

#endif
