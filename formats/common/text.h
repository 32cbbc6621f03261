/*
 * A builder for text and other bytes: append-only, bounded, with sticky failure, so that callers
 * test once at the end.
 */
#ifndef PROFMOUNT_TEXT_H
#define PROFMOUNT_TEXT_H

#include "profmount/bytes.h"

struct pm_text {
	char *p; /* owned; NULL while empty; not NUL-terminated */
	size_t len;
	size_t room;
	size_t limit; /* 0 = PM_LIMIT_TEXT */
	bool failed;  /* no memory, or the limit was reached: len is then of no use */
	bool full;    /* failed at the limit */
	/* Optional: told how many bytes more it takes, for who accounts for memory. */
	void (*grown)(void *context, size_t more);
	void *grown_context;
};

/* Gives the memory back; the builder is empty and usable again. Accepts a zeroed one. */
void pm_text_done(struct pm_text *t);

/* Empties it and keeps the memory; a failure stays, so that it may be tested after a loop. */
void pm_text_clear(struct pm_text *t);

/* pm_text_done for a builder whose pieces went into `out`: `out` fails with it. */
void pm_text_end(struct pm_text *t, struct pm_text *out);

/* Room for n more bytes, to be written at the returned place and claimed with len += …; or NULL. */
char *pm_text_reserve(struct pm_text *t, size_t n);

void pm_text_add(struct pm_text *t, const void *p, size_t n);
void pm_text_bytes(struct pm_text *t, struct pm_bytes b);
void pm_text_str(struct pm_text *t, const char *s);
void pm_text_char(struct pm_text *t, char c);
void pm_text_u64(struct pm_text *t, uint64_t u);
void pm_text_i64(struct pm_text *t, int64_t i);
void pm_text_f64(struct pm_text *t, double f); /* as pm_f64_format */
void pm_text_hex(struct pm_text *t, uint64_t u, unsigned width);

/* For messages and headings; never in loops over rows. */
void pm_text_printf(struct pm_text *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Valid UTF-8 as it is, each byte of anything else, and NUL, as U+FFFD. */
void pm_text_utf8(struct pm_text *t, struct pm_bytes b);

/* By the rule for names and messages (formats/common/utf8.h). */
void pm_text_shown(struct pm_text *t, struct pm_bytes b);

/* One character of it; returns how many bytes of b it stands for. */
size_t pm_text_shown_char(struct pm_text *t, struct pm_bytes b, size_t at);

/* As pm_text_shown on one line: every run of white space or control characters is one space. */
void pm_text_line(struct pm_text *t, struct pm_bytes b);

/* As a JSON string with its quotes. */
void pm_text_json(struct pm_text *t, struct pm_bytes b);

/* The same for a script of a page: `<` is \u003c, so that no text can end the script or begin a
 * comment. */
void pm_text_script(struct pm_text *t, struct pm_bytes b);

/* For XML and HTML text and quoted attributes: & < > " ' escaped, forbidden characters U+FFFD. */
void pm_text_xml(struct pm_text *t, struct pm_bytes b);

/* What has been built; valid until the next change. */
static inline struct pm_bytes pm_text_view(const struct pm_text *t)
{
	return (struct pm_bytes){(const uint8_t *)t->p, t->len};
}

/* 0, or -ENOMEM for a builder that failed. */
int pm_text_status(const struct pm_text *t);

#endif
