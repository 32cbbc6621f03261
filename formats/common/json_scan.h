/*
 * Reads JSON as a stream of values, as real writers leave it: files that end in the middle, commas
 * too many or too few, control characters in texts, NaN, a byte order mark, one value a line.
 *
 * Nothing is recursive and nothing is kept: a reader enters the containers that it knows, and takes
 * any other value as a whole. Texts and containers are slices of the input, so a value can be
 * scanned again later, by itself:
 *
 *	pm_scan_enter(s);                            at a `{`
 *	for (struct pm_bytes key; pm_scan_key(s, &key);) {
 *		struct pm_scan_value v;
 *		pm_scan_value(s, &v);                (or pm_scan_enter and a loop)
 *	}
 *	if (s->code) …                               the text is cut or broken there
 *
 * A container that is taken as a whole is passed over at several GB/s; only its brackets are
 * counted.
 */
#ifndef PROFMOUNT_JSON_SCAN_H
#define PROFMOUNT_JSON_SCAN_H

#include "formats/common/text.h"

struct pm_scan {
	struct pm_bytes b; /* a window of the text */
	size_t at;         /* in it */
	uint64_t base;     /* where the window begins in the text */
	/*
	 * Optional, for texts that are longer than the window: moves the window so that it begins
	 * at `from`, with more bytes than before behind it unless the text ends or the window would
	 * be too long. 0 or a negative errno. All slices become invalid.
	 */
	int (*more)(struct pm_scan *s, size_t from);
	void *source;
	/*
	 * Sticky: nothing is read any more. -EINVAL with the reason, and `at` where it is broken
	 * or, if it is `cut`, where the text ends; -ENOMEM; or what `more` returned.
	 */
	int code;
	bool cut;
	const char *why;
};

enum pm_scan_kind {
	PM_SCAN_NOTHING, /* the end, or something that is no value */
	PM_SCAN_OBJECT,
	PM_SCAN_ARRAY,
	PM_SCAN_TEXT,
	PM_SCAN_NUMBER,
	PM_SCAN_TRUE,
	PM_SCAN_FALSE,
	PM_SCAN_NULL,
	PM_SCAN_WORD, /* NaN, Infinity, undefined … */
};

struct pm_scan_value {
	enum pm_scan_kind kind;
	bool escaped;         /* a text with backslashes: see pm_scan_unescape */
	bool too_long;        /* longer than a window can be: `text` is only its end */
	uint64_t at;          /* in the text, of its first byte */
	struct pm_bytes text; /* with the brackets of a container, without the quotes of a text */
};

/* Scans `b`, which outlives the scanner; a byte order mark at its beginning is passed over. */
struct pm_scan pm_scan_of(struct pm_bytes b);

/* Where the scanner is in the text. */
static inline uint64_t pm_scan_where(const struct pm_scan *s)
{
	return s->base + s->at;
}

/* The kind of the next value; white space before it is passed over. */
enum pm_scan_kind pm_scan_peek(struct pm_scan *s);

/* Enters the object or array that is next. False, and broken, if there is none. */
bool pm_scan_enter(struct pm_scan *s);

/*
 * In an object: its next key, as it is in the text, of which the value is next. False at its end,
 * which is passed over, and if the text is broken. The key is valid until the next call.
 */
bool pm_scan_key(struct pm_scan *s, struct pm_bytes *ret);

/*
 * In an array: whether there is a next value. False at its end, which is passed over. At the top,
 * where values follow each other: false at the end of the text.
 */
bool pm_scan_item(struct pm_scan *s);
bool pm_scan_top_item(struct pm_scan *s);

/*
 * The quick way through lists of numbers, in a loop over pm_scan_item: takes the value that is next
 * if it is an integer of at most 18 digits and its end is in the window. Otherwise false, and
 * nothing is passed over.
 */
static inline bool pm_scan_integer(struct pm_scan *s, int64_t *ret)
{
	enum { MOST_DIGITS = 18 };
	size_t at = s->at;
	bool negative = at < s->b.len && s->b.p[at] == '-';
	size_t first = at += negative;
	int64_t n = 0;
	for (; at < s->b.len && (uint8_t)(s->b.p[at] - '0') < 10; at++) {
		if (at - first == MOST_DIGITS)
			return false;
		n = n * 10 + (s->b.p[at] - '0');
	}
	if (at == first || at == s->b.len || s->code || (s->b.p[at] != ',' && s->b.p[at] != ']'))
		return false;
	s->at = at;
	*ret = negative ? -n : n;
	return true;
}

/* Takes the next value as a whole, valid until the next call; PM_SCAN_NOTHING if it is broken. */
enum pm_scan_kind pm_scan_value(struct pm_scan *s, struct pm_scan_value *ret);

/* The same for values that nobody needs: they may be longer than any window. False if broken. */
bool pm_scan_skip(struct pm_scan *s);

/*
 * The text of a value in UTF-8: the slice itself where nothing is to be replaced, else a copy in
 * `scratch`. Lone surrogates and invalid bytes are U+FFFD.
 */
struct pm_bytes pm_scan_unescape(const struct pm_scan_value *v, struct pm_text *scratch);

enum pm_decimal {
	PM_DECIMAL_EXACT,
	PM_DECIMAL_ROUNDED, /* to the nearest, halves up */
	PM_DECIMAL_BEYOND,  /* of 64 bits with sign: the nearest one that is inside */
	PM_DECIMAL_NONE,    /* not a number: 0 */
};

/*
 * A number, written as a number or as a text, in units of 10^-scale: "1.5" with scale 3 is 1500.
 * Any number of digits and any exponent take time that grows with the text only.
 */
enum pm_decimal pm_scan_decimal(struct pm_bytes number, int scale, int64_t *ret);

/* The double next to a number, NAN if it is none. */
double pm_scan_double(struct pm_bytes number);

#endif
