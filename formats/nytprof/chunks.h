/* Pynytprof's chunks: docs/formats/nytprof.md §pynytprof. */
#ifndef PROFMOUNT_FORMATS_NYTPROF_CHUNKS_H
#define PROFMOUNT_FORMATS_NYTPROF_CHUNKS_H

#include "formats/nytprof/aggregate.h"

/*
 * Reads the chunks from `at` to the end of the file into a->f->py, files and attributes into their
 * usual tables; errors become damage. -ENOMEM.
 */
int nytp_chunks_read(struct nytp_adding *a, struct pm_bytes file, size_t at);

#endif
