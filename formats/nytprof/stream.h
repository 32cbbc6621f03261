/* A profile's file as a sequence of records: the first line, windows, the zlib stream inside. */
#ifndef PROFMOUNT_FORMATS_NYTPROF_STREAM_H
#define PROFMOUNT_FORMATS_NYTPROF_STREAM_H

#include "formats/common/inflate.h"
#include "formats/nytprof/records.h"

struct nytp_stream {
	struct pm_bytes file;
	struct pm_inflate *in;
	uint64_t base;     /* where `in` begins in the file */
	bool deflated;     /* beyond the `z` record */
	bool swap;         /* doubles are big-endian; set by the reader */
	struct pm_bytes w; /* what can be read without asking for more */
	size_t at;         /* of the next record in w */
	size_t limit;      /* w beyond this is padding */
	uint8_t *tail;     /* w, if it is a padded copy of the last bytes of the stream */
};

/* Where and why reading a stream ended. */
struct nytp_break {
	uint64_t offset, bytes; /* in the file: what is lost */
	bool cut;               /* the data is truncated or corrupt, not an unknown record */
	char what[160];
};

/*
 * Parses `NYTProf MAJOR MINOR` at the beginning of a file. *ret_len = the line's length with its
 * line feed. False if it is not such a line.
 */
bool nytp_first_line(struct pm_bytes file, unsigned *ret_major, size_t *ret_len);

/* Starts at `at` in the file, which outlives the stream. -ENOMEM. */
int nytp_stream_open(struct nytp_stream *s, struct pm_bytes file, size_t at);

/* Accepts a zeroed one. */
void nytp_stream_close(struct nytp_stream *s);

/*
 * The next record, valid until the next call: 1; 0 at the end; -EINVAL if the rest cannot be read
 * (`ret_break` is filled); -ENOMEM. `z` records are not returned.
 */
int nytp_stream_next(struct nytp_stream *s, struct nytp_record *ret, struct nytp_break *ret_break);

/* The number of bytes of the file that have been read. */
uint64_t nytp_stream_done(const struct nytp_stream *s);

#endif
