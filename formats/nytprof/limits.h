/* Bounds of this format; see also profmount/limits.h. */
#ifndef PROFMOUNT_FORMATS_NYTPROF_LIMITS_H
#define PROFMOUNT_FORMATS_NYTPROF_LIMITS_H

#include <stddef.h>

/*
 * Rows of all tables and contexts of all processes together, some 80 bytes each. A program with
 * 20 000 evals has 200 000; a compressed file of a few MB could claim more than any memory holds.
 */
#define NYTP_LIMIT_ROWS ((size_t)1 << 24)

/* Names of subs and files, attributes: bytes in all. */
#define NYTP_LIMIT_NAMES ((size_t)512 << 20)

/* Saved source text with its index of lines: bytes in all. */
#define NYTP_LIMIT_SOURCE ((size_t)1 << 30)

/*
 * How long each call took: 2 bytes for most and 10 for others, in buffers that double. Enough for
 * 33 to 67 million calls, in 1 GB or more of records. There are no percentiles beyond that.
 */
#define NYTP_LIMIT_LOGS ((size_t)128 << 20)

/* Processes and files of one source. */
#define NYTP_LIMIT_PROCESSES 65536

/* Evals within evals, as directories of source/; names of unknown evals within a name. */
#define NYTP_LIMIT_EVALS 16

/*
 * Different texts of evals of one line that are told apart, as in Devel::NYTProf's reports: more
 * are one function each for what a program does in one place.
 */
#define NYTP_LIMIT_EVAL_TEXTS 200

#endif
