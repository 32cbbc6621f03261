/*
 * Writes HTDUMP streams into memory, valid and invalid ones. Running out of memory ends the
 * program: only tests use this.
 */
#ifndef PROFMOUNT_TESTS_HTDUMP_WRITER_H
#define PROFMOUNT_TESTS_HTDUMP_WRITER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum htdw_type {
	HTDW_STRUCT = 1,
	HTDW_STRING = 2,
	HTDW_INTEGER = 3,
	HTDW_FLOAT = 4,
	HTDW_DOUBLE = 5,
	HTDW_POINTER = 6,
	HTDW_UNSIGNED = 99,
};

/* Ids of the core classes, as releases 0.7 to 0.11 number them. */
enum {
	HTDW_ENDIANNESS = 0,
	HTDW_EVENT = 1,
	HTDW_KLASS_INFO = 2,
	HTDW_FIELD_INFO = 3,
	HTDW_CALL_BASE = 4,
	HTDW_CALL_INT = 5,
	HTDW_CALL_TEXT = 6,
	HTDW_MAPPING = 7,
	HTDW_SYSTEM = 8,
	HTDW_OWN = 9, /* the first of the program's own */
};

struct htdw {
	uint8_t *p;
	size_t len, room;
	bool timestamp_first, big;
	uint64_t time, id; /* of the next described event */
};

void htdw_done(struct htdw *w);

void htdw_bytes(struct htdw *w, const void *p, size_t n);
void htdw_number(struct htdw *w, uint64_t u, unsigned size);
void htdw_real(struct htdw *w, double f, unsigned size);
void htdw_text(struct htdw *w, const char *text); /* with its NUL */

/* A header; the fields follow. Returns the event's offset. */
size_t htdw_event_at(struct htdw *w, uint32_t klass, uint64_t time, uint64_t id);

/* The same with the next time and id. */
size_t htdw_event(struct htdw *w, uint32_t klass);

void htdw_endianness(struct htdw *w, uint8_t order);
void htdw_klass(struct htdw *w, uint32_t id, const char *name, uint8_t n_fields);
void htdw_field(struct htdw *w, uint32_t klass, const char *type, const char *name, uint64_t size,
	enum htdw_type data_type);

/* The byte order and the core classes: how every stream of the library begins. 25 events. */
void htdw_begin(struct htdw *w, bool timestamp_first, bool big);

void htdw_call_text(
	struct htdw *w, uint32_t thread, uint64_t start, uint64_t duration, const char *label);
void htdw_call_int(
	struct htdw *w, uint32_t thread, uint64_t start, uint64_t duration, uint64_t label);
void htdw_mapping(struct htdw *w, uint64_t number, const char *label);

/* A stream with everything: own classes of all types, inheritance, mappings, nested calls. */
void htdw_everything(struct htdw *w, bool timestamp_first, bool big);

#endif
