/*
 * A text, line by line, in bounded memory: LF or CRLF, a byte order mark, UTF-16 with one (what
 * PowerShell writes). Lines are slices of the stream's window, or of the reader's own memory.
 */
#ifndef PROFMOUNT_TEXTLINES_H
#define PROFMOUNT_TEXTLINES_H

#include "formats/common/inflate.h"

enum { PM_TEXTLINES_STEP = 64 << 10 }; /* bytes between two looks at the stream */

struct pm_textlines {
	struct pm_inflate *stream;
	uint64_t number; /* of the last line, from 1 */
	uint64_t offset; /* where it begins */
	bool cut;        /* the last line has no line end */
	bool long_line;  /* it was longer than PM_LIMIT_WINDOW: only its beginning is there */
	/* Private: */
	uint64_t next;        /* where the next line begins */
	size_t used;          /* of the window, not told to the stream */
	struct pm_bytes rest; /* of the window behind that */
	char order;           /* of UTF-16: 'l', 'b'; 0: bytes */
	struct pm_text utf8;
};

/* Begins at the beginning of `stream`, which outlives it. End with pm_textlines_done, which zeroes.
 */
void pm_textlines_start(struct pm_textlines *l, struct pm_inflate *stream);
void pm_textlines_done(struct pm_textlines *l);

/* The next line without its end, valid until the next call. 1, 0 at the end, -ENOMEM. */
int pm_textlines_next(struct pm_textlines *l, struct pm_bytes *ret);

/*
 * For readers that find the end of usual lines as they read them: the next lines as they are, up to
 * where the window ends. Empty where only pm_textlines_next can tell.
 */
static inline struct pm_bytes pm_textlines_ahead(const struct pm_textlines *l)
{
	return l->used < PM_TEXTLINES_STEP ? l->rest : (struct pm_bytes){NULL, 0};
}

/* The first `n` bytes of these are the next line, with its end: it is the last one now. */
static inline void pm_textlines_took(struct pm_textlines *l, size_t n)
{
	l->offset = l->next;
	l->next += n;
	l->number++;
	l->used += n;
	l->rest.p += n;
	l->rest.len -= n;
}

/* Of UTF-16 with a byte order mark: 'l', 'b'; 0: anything else. */
char pm_textlines_order(struct pm_bytes head);

/* Appends text without its byte order mark, UTF-16 as UTF-8. */
void pm_textlines_decode(struct pm_bytes head, struct pm_text *out);

#endif
