/*
 * The contents of the chunks of a store, found by reading all of them: which are valid, and where
 * traces and spans begin.
 */
#ifndef PROFMOUNT_FORMATS_ZTS_SCAN_H
#define PROFMOUNT_FORMATS_ZTS_SCAN_H

#include "formats/common/cursor.h"
#include "formats/common/map.h"
#include "formats/common/text.h"
#include "formats/zts/store.h"
#include "formats/zts/sums.h"
#include "formats/zts/texts.h"
#include "profmount/table.h"

/* Maximum number kept per trace; attributes.csv has all of them. */
enum { ZTS_KEPT_MOST = 64 };

/* Special values of `len`. */
#define ZTS_KEPT_REF    UINT32_MAX       /* the text index has it */
#define ZTS_KEPT_NUMBER (UINT32_MAX - 1) /* a whole number */

/* A name or value. */
struct zts_kept {
	uint32_t name; /* of a value: its name, a number in zts_attr_names; PM_NONE = not counted */
	uint32_t len;  /* of the text (JSON if the value is not text), or one of the above */
	union {
		uint64_t u;
		char few[8];      /* text of up to so many bytes */
		const uint8_t *p; /* longer text */
	};
};

/* An attribute as read: `key` is a name without a number yet. */
struct zts_met {
	struct zts_kept key, value;
};

/*
 * Reads the next name and value from `in`, which is inside a map of attributes. Long texts are
 * stored in `arena`. 0, -EINVAL if there is no attribute, -ENOMEM.
 */
int zts_attr_meet(
	struct pm_cur *in, const struct zts_texts *t, struct pm_arena *arena, struct zts_met *ret);

/* Appends a kept name or value as text: as attributes.csv has it. */
void zts_kept_text(const struct zts_kept *kept, const struct zts_texts *t, struct pm_text *out);

/* Stores a text, in `arena` if it is long. False if out of memory. */
bool zts_kept_of_text(struct pm_bytes text, struct pm_arena *arena, struct zts_kept *ret);

/* Names of attributes in all stores: equal ones have one number. In an arena. */
struct zts_attr_names {
	struct pm_strtab texts;
	struct pm_text scratch;
};

/* Maximum number of different names that are counted; the frequent ones occur early. */
enum { ZTS_MOST_NAMES = 1 << 16 };

/* The number of a name, PM_NONE beyond ZTS_MOST_NAMES. A build of the arena. */
uint32_t zts_attr_number(
	struct zts_attr_names *names, const struct zts_kept *key, const struct zts_texts *t);

/* A record with a timestamp. */
struct zts_found {
	uint32_t chunk;
	uint32_t start_offset; /* in the payload */
	uint32_t outer;        /* start of the innermost such record around it; its own if none */
	uint32_t has;          /* enum zts_has */
	uint32_t records, errors; /* call records in it, and those that failed */
	uint64_t timestamp_ms, span_id, parent_id;
	uint64_t tstart, tstop;
	uint64_t calls, method;
	uint32_t attr;     /* its attributes: from here on in zts_scan.attrs */
	uint8_t n_attrs;   /* at most ZTS_KEPT_MOST */
	bool begins_trace; /* is not inside another record */
	uint8_t adder;     /* that has added it up: its number in zts_adders.items */
	uint32_t added;    /* its number in zts_partial.added; PM_NONE: was not added up */
	/* Set by zts_survey. */
	bool claimed; /* the index has a record for it */
	bool shown;   /* begins a trace that can be presented */
	bool inner;   /* is inside such a trace, so its calls are counted there */
	bool counted; /* a trace that counts its calls was met */
};

/* A payload that cannot be represented in JSON, completely or from some position on. */
struct zts_formless {
	uint32_t chunk;
	char *why;
};

struct zts_scan {
	struct zts_found *found; /* by place */
	size_t n;
	uint8_t *status; /* of each chunk: enum zts_status, known now for all */
	uint8_t *parts;  /* of traces that count, in each chunk: 0, 1, or more */
	struct zts_formless *formless;
	size_t n_formless;
	uint64_t payload_bytes; /* of sound chunks */
	struct zts_kept *attrs; /* of the records, in order of appearance */
	size_t n_attrs, attr_room;
};

/*
 * Reads all chunks, on all cores; the store's text index has been read. Attribute names get numbers
 * in `names`. Adds up traces in `sums`, unless it is NULL. A build of the arena that `ret` is in.
 */
void zts_scan_store(struct pm_arena *a, const struct zts_store *store, struct zts_attr_names *names,
	struct zts_adders *sums, struct zts_scan *ret);

/* The record that begins there, or NULL. */
struct zts_found *zts_scan_find(const struct zts_scan *scan, uint32_t chunk, uint64_t start_offset);

/* ---- scan_payload.c: the records of one payload ---- */

/* The results of one piece of chunks. */
struct zts_scan_piece {
	struct zts_found *found;
	size_t n, room;
	struct zts_formless *formless;
	size_t n_formless, formless_room;
	struct zts_met *attrs; /* of `found`, each one's attributes adjacent */
	size_t n_attrs, attr_room;
	struct pm_arena arena; /* what is above */
	struct pm_arena texts; /* of attributes */
};

struct zts_scan_source {
	const struct zts_store *store;
	struct zts_adders *sums; /* NULL: nothing is added up */
	uint8_t adder;           /* that adds up */
};

/*
 * Adds the records of a chunk's payload, and, if it is malformed, the reason. 0 or -ENOMEM.
 */
int zts_scan_payload(struct zts_scan_piece *piece, const struct zts_scan_source *from,
	uint32_t chunk, struct pm_bytes payload);

#endif
