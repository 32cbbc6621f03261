/*
 * Attributes of traces, kept while the chunks are scanned: traces.csv has a column for each of the
 * most frequent ones. A value in the text index is stored as its id, so an attribute takes 16
 * bytes.
 */
#ifndef PROFMOUNT_FORMATS_ZTS_ATTRS_H
#define PROFMOUNT_FORMATS_ZTS_ATTRS_H

#include "formats/common/cursor.h"
#include "formats/common/map.h"
#include "formats/common/text.h"
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

/* Names of attributes in all stores: equal ones have one number. */
struct zts_attr_names {
	struct pm_strtab texts;
	struct pm_arena arena;
	struct pm_text scratch;
};

/* Maximum number of different names that are counted; the frequent ones occur early. */
enum { ZTS_MOST_NAMES = 1 << 16 };

/* `*ret` = the number of a name, PM_NONE beyond ZTS_MOST_NAMES. 0 or -ENOMEM. */
int zts_attr_number(struct zts_attr_names *names, const struct zts_kept *key,
	const struct zts_texts *t, uint32_t *ret);

void zts_attr_names_done(struct zts_attr_names *names);

#endif
