/*
 * Readable forms of text index entries: names, methods, stacks, exceptions. Ids belong to the store
 * of the given text index; 0 is the empty text. An id that is not in the index is shown as
 * `STORE#ID`, because the same number can mean something else in another store.
 */
#ifndef PROFMOUNT_FORMATS_ZTS_NAMES_H
#define PROFMOUNT_FORMATS_ZTS_NAMES_H

#include "formats/common/text.h"
#include "formats/zts/texts.h"

/* The kind of an entry as strings.csv has it; static text. */
const char *zts_text_kind(struct pm_bytes raw);

/* The entry itself, with the ids that it refers to resolved. */
void zts_text_resolve(const struct zts_texts *t, struct pm_bytes raw, struct pm_text *out);

/* A string used as a name or value. */
void zts_name_string(const struct zts_texts *t, uint64_t id, struct pm_text *out);

/* The form of an id that is not in the index: `STORE#ID`. */
void zts_name_unknown(const struct zts_texts *t, uint64_t id, struct pm_text *out);

/* `type package.Class.method(types)`, and only the class. */
void zts_name_method(const struct zts_texts *t, uint64_t id, struct pm_text *out);
void zts_name_class(const struct zts_texts *t, uint64_t id, struct pm_text *out);

/* An exception; false if the id is not an exception. */
struct zts_exception {
	uint64_t class_id, message_id, stack_id, cause_id;
};

bool zts_exception_find(const struct zts_texts *t, uint64_t id, struct zts_exception *ret);

/* The frames of a call stack, one after another; zeroed before the first call. */
struct zts_frames {
	bool begun;
	struct pm_bytes left;
};

struct zts_frame {
	uint64_t class_id, method_id, file_id, line;
	uint64_t id; /* of the stack item */
	bool known;  /* false: not in the index */
};

bool zts_frames_next(const struct zts_texts *t, uint64_t stack_id, struct zts_frames *frames,
	struct zts_frame *ret);

/* `class.method(file:line)` */
void zts_name_frame(const struct zts_texts *t, const struct zts_frame *frame, struct pm_text *out);

#endif
