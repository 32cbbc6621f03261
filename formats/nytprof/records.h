/* One record of a Devel::NYTProf stream; docs/formats/nytprof.md §records. */
#ifndef PROFMOUNT_FORMATS_NYTPROF_RECORDS_H
#define PROFMOUNT_FORMATS_NYTPROF_RECORDS_H

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

#endif
