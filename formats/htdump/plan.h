/* Plans: how to read events of a class from some point of the stream on. */
#ifndef PROFMOUNT_HTDUMP_PLAN_H
#define PROFMOUNT_HTDUMP_PLAN_H

#include "formats/htdump/klass.h"

/* The meaning of an event for this reader. */
enum htd_role {
	HTD_ROLE_OTHER,
	HTD_ROLE_CALL,    /* has duration and thread_id */
	HTD_ROLE_MAPPING, /* gives a number a label */
	HTD_ROLE_SYSTEM,  /* the library's version */
	HTD_ROLE_ENDIANNESS,
	HTD_ROLE_KLASS_INFO,
	HTD_ROLE_FIELD_INFO,
};

/* How to read events of a class version from some point of the stream on. */
struct htd_plan {
	uint32_t klass;
	enum htd_role role;
	bool describes;   /* describes the stream, not the program: not part of the measured time */
	uint32_t n;       /* fields */
	uint32_t n_texts; /* number of strings among them */
	struct htd_flat *fields;
	uint64_t head;  /* bytes up to the first string, or of the whole event; header included */
	uint64_t *gaps; /* bytes from the end of string i up to the next one, or the end */
	uint32_t duration, thread, label, identifier; /* fields with a role, or HTD_NONE */
	/* Offsets of duration (8 bytes) and thread (4 or 8), if both are unsigned and in `head`. */
	bool quick;
	uint32_t duration_at, thread_at, thread_size;
	/* The same of an unsigned label of a call. label_size is 0 if it is not such a field. */
	uint32_t label_at, label_size;
	const char *broken; /* why no event can be read, or NULL */
};

/*
 * While scanning: makes the plan for events of the class after the newest description; NULL: no
 * memory.
 */
const struct htd_plan *htd_slot_plan_make(struct htd_table *t, struct htd_slot *slot);

/* The same, if the table has changed since the last one was made. */
static inline const struct htd_plan *htd_slot_plan(struct htd_table *t, struct htd_slot *slot)
{
	return slot->n && slot->generation == t->generation ? slot->bindings[slot->n - 1].plan
							    : htd_slot_plan_make(t, slot);
}

/* After the scan: the plan that the scan used at that position, or NULL. */
const struct htd_plan *htd_slot_plan_search(const struct htd_slot *slot, uint64_t at);

static inline const struct htd_plan *htd_slot_plan_at(const struct htd_slot *slot, uint64_t at)
{
	return slot->n == 1 ? slot->bindings[0].plan : htd_slot_plan_search(slot, at);
}

/* After the scan: completes the columns of every version. */
int htd_table_finish(struct htd_table *t);

#endif
