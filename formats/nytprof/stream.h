/* Records of a Devel::NYTProf stream (docs/formats/nytprof.md §records), and a file as a sequence
 * of them. */
#ifndef PROFMOUNT_FORMATS_NYTPROF_STREAM_H
#define PROFMOUNT_FORMATS_NYTPROF_STREAM_H

#include "formats/common/inflate.h"
#include "profmount/bytes.h"

enum nytp_tag {
	NYTP_COMMENT = '#',    /* s[0] = the line after the tag, without its line feed */
	NYTP_ATTRIBUTE = ':',  /* the same */
	NYTP_OPTION = '!',     /* the same */
	NYTP_DEFLATE = 'z',    /* a zlib stream of records follows */
	NYTP_PID_START = 'P',  /* u: pid, ppid; f: start, epoch seconds */
	NYTP_PID_END = 'p',    /* u: pid; f: end */
	NYTP_NEW_FID = '@',    /* u: fid, eval fid, eval line, flags, size, mtime; s: name */
	NYTP_TIME_LINE = '+',  /* u: ticks (signed), fid, line */
	NYTP_TIME_BLOCK = '*', /* u: ticks (signed), fid, line, block line, sub line */
	NYTP_DISCOUNT =
		'-', /* the next time belongs to a statement that has been counted already */
	NYTP_SRC_LINE = 'S',    /* u: fid, line; s: text */
	NYTP_SUB_INFO = 's',    /* u: fid, first line, last line; s: name */
	NYTP_SUB_CALLERS = 'c', /* u: fid, line, count, depth; f: incl, excl, reci s; s: caller,
				   called */
	NYTP_SUB_ENTRY = '>',   /* u: caller's fid, line */
	NYTP_SUB_RETURN = '<',  /* u: depth; f: incl, excl ticks; s: name */
};

struct nytp_record {
	uint8_t tag;
	uint32_t u[6];
	double f[3];
	struct pm_bytes s[2]; /* in the bytes that were decoded */
};

/*
 * Number of bytes that must be readable after the tag of any record, and after any string in it: no
 * sequence of fixed-size fields is longer. If they are checked once, fields can be decoded without
 * further tests.
 */
enum { NYTP_HEAD = 64 };

/*
 * Decodes the record at the beginning of `w` (at least NYTP_HEAD bytes). `swap`: doubles have the
 * other byte order. Returns its length; 0 if at least `*ret_need` bytes must be readable; -EINVAL
 * if it is not a record, with the position of the wrong byte in `*ret_need`. Both positions may be
 * in padding after the input, which the caller has to check.
 */
int64_t nytp_record_decode(struct pm_bytes w, bool swap, struct nytp_record *ret, size_t *ret_need);

/* The unsigned number at p: 1 to 5 bytes, all readable. Returns its end. */
const uint8_t *nytp_varint_decode(const uint8_t *p, uint32_t *ret);

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
