/* Determines which of the layouts with the line `NYTProf 5 0` a file has. */
#ifndef PROFMOUNT_FORMATS_NYTPROF_DIALECT_H
#define PROFMOUNT_FORMATS_NYTPROF_DIALECT_H

#include "formats/nytprof/native.h"

enum nytp_body {
	NYTP_BODY_RECORDS, /* Devel::NYTProf */
	NYTP_BODY_CHUNKS,  /* Pynytprof: chunks, after P or without it */
	NYTP_BODY_TOKENS,  /* Pynytprof: records after a P of fixed size */
	NYTP_BODY_UNKNOWN,
};

struct nytp_dialect {
	enum nytp_body body;
	size_t body_at;   /* behind the header lines */
	size_t rest_at;   /* the same; of chunks and tokens: behind P */
	bool has_process; /* P was read: */
	uint32_t pid, ppid;
	double start;
};

/*
 * Examines the data after the first line, which ends at `at`. Unknown text lines in the header are
 * skipped if no known data would follow otherwise. -ENOMEM.
 */
int nytp_dialect_find(struct pm_bytes file, size_t at, struct nytp_dialect *ret);

/* Seconds since the epoch that signed ns can hold: up to 2255. */
#define NYTP_MOST_SECONDS 9e9

/* A time that a process could have started at, from 1973 on. */
static inline bool nytp_time_is_sane(double seconds)
{
	return seconds > 1e8 && seconds < NYTP_MOST_SECONDS;
}

#endif
