/*
 * The fixture writer: independent of the reader, from docs/formats/htdump.md alone.
 */
#include "tests/htdump/writer.h"

#include <stdlib.h>
#include <string.h>

void htdw_done(struct htdw *w)
{
	free(w->p);
	*w = (struct htdw){.p = NULL};
}

void htdw_bytes(struct htdw *w, const void *p, size_t n)
{
	if (w->len + n > w->room) {
		w->room = 2 * (w->len + n);
		w->p = realloc(w->p, w->room);
		if (!w->p)
			abort();
	}
	memcpy(w->p + w->len, p, n);
	w->len += n;
}

void htdw_number(struct htdw *w, uint64_t u, unsigned size)
{
	uint8_t bytes[8];
	for (unsigned i = 0; i < size; i++)
		bytes[w->big ? size - 1 - i : i] = (uint8_t)(u >> 8 * i);
	htdw_bytes(w, bytes, size);
}

void htdw_real(struct htdw *w, double f, unsigned size)
{
	float single = (float)f;
	uint64_t bits = 0;
	uint32_t single_bits;
	memcpy(&single_bits, &single, sizeof(single));
	memcpy(&bits, &f, sizeof(f));
	htdw_number(w, size == 4 ? single_bits : bits, size);
}

void htdw_text(struct htdw *w, const char *text)
{
	htdw_bytes(w, text, strlen(text) + 1);
}

size_t htdw_event_at(struct htdw *w, uint32_t klass, uint64_t time, uint64_t id)
{
	size_t at = w->len;
	if (!w->timestamp_first)
		htdw_number(w, klass, 4);
	htdw_number(w, time, 8);
	htdw_number(w, id, 8);
	if (w->timestamp_first)
		htdw_number(w, klass, 4);
	return at;
}

size_t htdw_event(struct htdw *w, uint32_t klass)
{
	w->time += 100;
	return htdw_event_at(w, klass, w->time, w->id++);
}

void htdw_endianness(struct htdw *w, uint8_t order)
{
	htdw_event_at(w, HTDW_ENDIANNESS, 0, 0);
	htdw_number(w, order, 1);
}

void htdw_klass(struct htdw *w, uint32_t id, const char *name, uint8_t n_fields)
{
	htdw_event(w, HTDW_KLASS_INFO);
	htdw_number(w, id, 4);
	htdw_text(w, name);
	htdw_number(w, n_fields, 1);
}

static unsigned type_number(const struct htdw *w, enum htdw_type type)
{
	if (!w->timestamp_first)
		return type;
	return type == HTDW_UNSIGNED ? 6 : (unsigned)type - 1;
}

void htdw_field(struct htdw *w, uint32_t klass, const char *type, const char *name, uint64_t size,
	enum htdw_type data_type)
{
	htdw_event(w, HTDW_FIELD_INFO);
	htdw_number(w, klass, 4);
	htdw_text(w, type);
	htdw_text(w, name);
	htdw_number(w, size, 8);
	htdw_number(w, type_number(w, data_type), 1);
}

static void base(struct htdw *w, uint32_t klass, const char *type, uint64_t size)
{
	htdw_field(w, klass, type, "base", size, HTDW_STRUCT);
}

void htdw_begin(struct htdw *w, bool timestamp_first, bool big)
{
	w->timestamp_first = timestamp_first;
	w->big = big;
	w->time = 1000000000;
	htdw_endianness(w, big);
	htdw_klass(w, HTDW_ENDIANNESS, "HT_EndiannessInfoEvent", 2);
	base(w, HTDW_ENDIANNESS, "HT_Event", 24);
	htdw_field(w, HTDW_ENDIANNESS, "uint8_t", "endianness", 1, HTDW_UNSIGNED);
	htdw_klass(w, HTDW_EVENT, "HT_Event", 0);
	htdw_klass(w, HTDW_CALL_BASE, "HT_CallstackBaseEvent", 3);
	base(w, HTDW_CALL_BASE, "HT_Event", 24);
	htdw_field(w, HTDW_CALL_BASE, "HT_DurationNs", "duration", 8, HTDW_UNSIGNED);
	htdw_field(w, HTDW_CALL_BASE, "HT_ThreadId", "thread_id", 4, HTDW_UNSIGNED);
	htdw_klass(w, HTDW_CALL_INT, "HT_CallstackIntEvent", 2);
	base(w, HTDW_CALL_INT, "HT_CallstackBaseEvent", 40);
	htdw_field(w, HTDW_CALL_INT, "HT_CallstackEventLabel", "label", 8, HTDW_UNSIGNED);
	htdw_klass(w, HTDW_CALL_TEXT, "HT_CallstackStringEvent", 2);
	base(w, HTDW_CALL_TEXT, "HT_CallstackBaseEvent", 40);
	htdw_field(w, HTDW_CALL_TEXT, "const char*", "label", 8, HTDW_STRING);
	htdw_klass(w, HTDW_MAPPING, "HT_StringMappingEvent", 3);
	base(w, HTDW_MAPPING, "HT_Event", 24);
	htdw_field(w, HTDW_MAPPING, "uint64_t", "identifier", 8, HTDW_UNSIGNED);
	htdw_field(w, HTDW_MAPPING, "const char*", "label", 8, HTDW_STRING);
	htdw_klass(w, HTDW_SYSTEM, "HT_SystemInfoEvent", 4);
	base(w, HTDW_SYSTEM, "HT_Event", 24);
	htdw_field(w, HTDW_SYSTEM, "uint8_t", "version_major", 1, HTDW_UNSIGNED);
	htdw_field(w, HTDW_SYSTEM, "uint8_t", "version_minor", 1, HTDW_UNSIGNED);
	htdw_field(w, HTDW_SYSTEM, "uint8_t", "version_patch", 1, HTDW_UNSIGNED);
	htdw_event_at(w, HTDW_SYSTEM, 0, 0);
	htdw_number(w, 0x000b00, 3);
}

static void call(struct htdw *w, uint32_t klass, uint32_t thread, uint64_t start, uint64_t duration)
{
	htdw_event_at(w, klass, start, w->id++);
	htdw_number(w, duration, 8);
	htdw_number(w, thread, 4);
}

void htdw_call_text(
	struct htdw *w, uint32_t thread, uint64_t start, uint64_t duration, const char *label)
{
	call(w, HTDW_CALL_TEXT, thread, start, duration);
	htdw_text(w, label);
}

void htdw_call_int(
	struct htdw *w, uint32_t thread, uint64_t start, uint64_t duration, uint64_t label)
{
	call(w, HTDW_CALL_INT, thread, start, duration);
	htdw_number(w, label, 8);
}

void htdw_mapping(struct htdw *w, uint64_t number, const char *label)
{
	htdw_event(w, HTDW_MAPPING);
	htdw_number(w, number, 8);
	htdw_text(w, label);
}

static void own_classes(struct htdw *w)
{
	htdw_klass(w, HTDW_OWN, "All", 8); /* before the struct that it holds is described */
	base(w, HTDW_OWN, "HT_Event", 24);
	htdw_field(w, HTDW_OWN, "int16_t", "i", 2, HTDW_INTEGER);
	htdw_field(w, HTDW_OWN, "double", "d", 8, HTDW_DOUBLE);
	htdw_field(w, HTDW_OWN, "float", "f", 4, HTDW_FLOAT);
	htdw_field(w, HTDW_OWN, "void*", "p", 8, HTDW_POINTER);
	htdw_field(w, HTDW_OWN, "const char*", "s", 8, HTDW_STRING);
	htdw_field(w, HTDW_OWN, "Inner", "in", 32, HTDW_STRUCT);
	htdw_field(w, HTDW_OWN, "uint16_t", "v", 6, HTDW_UNSIGNED);
	htdw_klass(w, HTDW_OWN + 1, "Inner", 3);
	base(w, HTDW_OWN + 1, "HT_Event", 24);
	htdw_field(w, HTDW_OWN + 1, "const char*", "s", 8, HTDW_STRING);
	htdw_field(w, HTDW_OWN + 1, "uint8_t", "b", 1, HTDW_UNSIGNED);
	htdw_klass(w, HTDW_OWN + 2, "Child", 2);
	base(w, HTDW_OWN + 2, "Inner", 32);
	htdw_field(w, HTDW_OWN + 2, "uint8_t", "b", 1, HTDW_UNSIGNED);
}

static void own_events(struct htdw *w, int n)
{
	htdw_event(w, HTDW_OWN);
	htdw_number(w, (uint64_t)-n, 2);
	htdw_real(w, n / 4.0, 8);
	htdw_real(w, n / 8.0, 4);
	htdw_number(w, 0x1000u + (unsigned)n, 8);
	htdw_text(w, "semi;colon");
	htdw_text(w, "inner");
	htdw_number(w, 7, 1);
	for (unsigned i = 0; i < 3; i++)
		htdw_number(w, i, 2);
	htdw_event(w, HTDW_OWN + 2);
	htdw_text(w, "child");
	htdw_number(w, 8, 1);
	htdw_number(w, 9, 1);
}

void htdw_everything(struct htdw *w, bool timestamp_first, bool big)
{
	htdw_begin(w, timestamp_first, big);
	own_classes(w);
	htdw_mapping(w, 42, "first");
	for (int n = 0; n < 3; n++) {
		uint64_t t = 2000000000u + 1000u * (unsigned)n;
		own_events(w, n);
		htdw_call_int(w, 1, t + 10, 20, 42);
		htdw_call_text(w, 1, t + 40, 5, "leaf");
		htdw_call_text(w, 1, t, 100, "root");
		htdw_call_int(w, 2, t + 1, 50, 77);
		if (n == 1)
			htdw_mapping(w, 42, "second");
	}
}
