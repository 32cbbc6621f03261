/*
 * A builder for text and other bytes: append-only, bounded, with a sticky error, so that callers
 * test once at the end.
 */
#ifndef PROFMOUNT_TEXT_H
#define PROFMOUNT_TEXT_H

#include "formats/common/arena.h"

struct pm_text {
	char *p; /* owned; NULL while empty; not NUL-terminated */
	size_t len;
	size_t room;  /* room that is used without checking for cancellation */
	size_t taken; /* of memory: room or more */
	size_t limit; /* 0 = PM_LIMIT_TEXT */
	bool failed;  /* no memory, or the limit was reached: len is then meaningless */
	bool full;    /* failed at the limit */
	/* Optional: has the bytes, and its build (arena.h) fails instead of the builder, but for
	   `limit`. */
	struct pm_arena *arena;
	/* Optional: called with the number of additional bytes allocated, for memory accounting. */
	void (*grown)(void *context, size_t more);
	void *grown_context;
	/*
	 * Optional, for renderers that only append: takes the contents whenever there is a MiB of
	 * them, and the builder goes on with none. False: the builder fails.
	 */
	bool (*flow)(void *context, struct pm_bytes contents);
	void *flow_context;
	size_t flowed; /* bytes that it has taken, which count against the limit */
};

/* Frees the memory; the builder is empty and usable again. Accepts a zeroed one. */
void pm_text_done(struct pm_text *t);

/* Empties it and keeps the memory; an error remains, so it can be tested after a loop. */
void pm_text_clear(struct pm_text *t);

/* pm_text_done for a builder whose contents were appended to `out`; `out` gets its error. */
void pm_text_end(struct pm_text *t, struct pm_text *out);

/* Texts grow by doubling: this frees unused memory, unless there is little of it. */
void pm_text_shrink(struct pm_text *t);

/*
 * Allocates room for n more bytes, so that the text is not grown step by step. Only a hint: it does
 * nothing beyond the limit or without memory.
 */
void pm_text_expect(struct pm_text *t, size_t n);

/* Slow path of pm_text_reserve. */
char *pm_text_reserve_more(struct pm_text *t, size_t n);

/* Room for n more bytes: write to the returned pointer, then add to len. NULL on failure. */
static inline char *pm_text_reserve(struct pm_text *t, size_t n)
{
	if (t->p && !t->failed && n <= t->room - t->len)
		return t->p + t->len;
	return pm_text_reserve_more(t, n);
}

void pm_text_add(struct pm_text *t, const void *p, size_t n);
void pm_text_bytes(struct pm_text *t, struct pm_bytes b);
void pm_text_str(struct pm_text *t, const char *s);
static inline void pm_text_char(struct pm_text *t, char c)
{
	char *out = pm_text_reserve(t, 1);
	if (!out)
		return;
	*out = c;
	t->len++;
}
void pm_text_u64(struct pm_text *t, uint64_t u);
void pm_text_i64(struct pm_text *t, int64_t i);
void pm_text_f64(struct pm_text *t, double f); /* as pm_f64_format */
void pm_text_hex(struct pm_text *t, uint64_t u, unsigned width);

/* For messages and headings; never in loops over rows. */
void pm_text_printf(struct pm_text *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* Appends valid UTF-8 unchanged, and each other byte, and NUL, as U+FFFD. */
void pm_text_utf8(struct pm_text *t, struct pm_bytes b);

/* Applies the rule for names and messages (formats/common/utf8.h). */
void pm_text_shown(struct pm_text *t, struct pm_bytes b);

/* Appends one character by that rule; returns the number of bytes of b consumed. */
size_t pm_text_shown_char(struct pm_text *t, struct pm_bytes b, size_t at);

/*
 * Like pm_text_shown on one line: every run of white space or control characters becomes one space.
 */
void pm_text_line(struct pm_text *t, struct pm_bytes b);

/* As a cell of a .tsv: like pm_text_utf8, but tab, CR and LF become one space each. */
void pm_text_tsv(struct pm_text *t, struct pm_bytes b);

/* As a JSON string with its quotes. */
void pm_text_json(struct pm_text *t, struct pm_bytes b);

/*
 * The same for scripts in a page: `<` becomes \u003c, so that no text can end the script or begin a
 * comment.
 */
void pm_text_script(struct pm_text *t, struct pm_bytes b);

/* For XML and HTML text and quoted attributes: & < > " ' escaped, forbidden characters U+FFFD. */
void pm_text_xml(struct pm_text *t, struct pm_bytes b);

/* The contents; valid until the next change. */
static inline struct pm_bytes pm_text_view(const struct pm_text *t)
{
	return (struct pm_bytes){(const uint8_t *)t->p, t->len};
}

/* 0, or -ENOMEM if the builder failed. */
int pm_text_status(const struct pm_text *t);

#endif
