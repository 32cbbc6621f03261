/*
 * Event classes as a stream describes them (docs/formats/htdump.md §classes): versions of classes,
 * their fields, and for each moment of the stream the plan by which an event of a class is read.
 * The opening scan fills the table; from then on it is const.
 */
#ifndef PROFMOUNT_HTDUMP_KLASS_H
#define PROFMOUNT_HTDUMP_KLASS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "formats/common/map.h"
#include "profmount/bytes.h"
#include "profmount/limits.h"

/*
 * ---- positions of events ----
 * Of a kind (a class version, a thread's calls) in the stream: 8 bytes for all of them among
 * HTD_RUN events of the stream.
 */

#define HTD_CHUNK        1024 /* events from one entry of the index to the next */
#define HTD_RUN          32   /* about the number that the library writes for one thread in a row */
#define HTD_LIMIT_OFFSET ((uint64_t)1 << 44)

/* An item: offset of an event (44 bits), its index in its chunk (10), number of events minus 1. */
typedef uint64_t htd_place;

static inline htd_place htd_place_of(uint64_t offset, uint64_t seq)
{
	return offset << 20 | (seq % HTD_CHUNK) << 10;
}

static inline uint64_t htd_place_offset(htd_place p)
{
	return p >> 20;
}

static inline uint32_t htd_place_ordinal(htd_place p)
{
	return (uint32_t)(p >> 10) % HTD_CHUNK;
}

static inline uint32_t htd_place_count(htd_place p)
{
	return (uint32_t)(p % HTD_CHUNK) + 1;
}

struct htd_runs {
	htd_place
		*items; /* one per HTD_RUN events of the stream with such events; in stream order */
	size_t n, room;
	uint64_t last; /* seq / HTD_RUN of the last item */
	uint64_t n_events;
};

/* Begins a new item with the event. Like all that fills runs and tables, in a build (arena.h). */
void htd_runs_begin(struct pm_arena *a, struct htd_runs *r, uint64_t offset, uint64_t seq);

/* Whether the event belongs to the newest item. */
static inline bool htd_runs_go_on(const struct htd_runs *r, uint64_t seq)
{
	return r->n && r->last == seq / HTD_RUN;
}

/* Adds n such events. */
static inline void htd_runs_more(struct htd_runs *r, uint32_t n)
{
	if (n)
		r->items[r->n - 1] += n;
	r->n_events += n;
}

/* Adds an event; in stream order. */
static inline void htd_runs_add(
	struct pm_arena *a, struct htd_runs *r, uint64_t offset, uint64_t seq)
{
	if (htd_runs_go_on(r, seq))
		htd_runs_more(r, 1);
	else
		htd_runs_begin(a, r, offset, seq);
}

/* ---- fields: as described by classes, as stored in an event, and the interpretation of their
 * bytes ---- */

#define HTD_NONE UINT32_MAX

/* Numbers on the wire; the timestamp-first layout counts from 0 and is translated. */
enum htd_type {
	HTD_STRUCT = 1,
	HTD_STRING = 2,
	HTD_INTEGER = 3,
	HTD_FLOAT = 4,
	HTD_DOUBLE = 5,
	HTD_POINTER = 6,
	HTD_UNSIGNED = 99,
};

/* A field as described. The texts are slices of the input. */
struct htd_field {
	struct pm_bytes type, name;
	uint64_t size;
	uint8_t data_type; /* enum htd_type, or another number as stored */
};

/* Presentation of a field's bytes. */
enum htd_kind {
	HTD_KIND_UNSIGNED,
	HTD_KIND_SIGNED,
	HTD_KIND_REAL,
	HTD_KIND_POINTER,
	HTD_KIND_TEXT,  /* up to its NUL */
	HTD_KIND_ARRAY, /* of numbers, `step` bytes each */
};

/* A field as stored in an event, with structs and bases resolved. */
struct htd_flat {
	struct pm_bytes name; /* qualified: where.x */
	struct pm_bytes type;
	uint64_t size;
	uint8_t data_type;
	uint8_t kind;     /* enum htd_kind */
	uint8_t element;  /* enum htd_kind of an array's elements */
	uint8_t step;     /* bytes of an array's elements */
	bool composed;    /* the name is not a slice of the input */
	uint32_t column;  /* of its class version, in field order */
	uint32_t strings; /* how many lie before it */
	uint64_t at;      /* from the event, or from the end of the last string before it */
};

static inline bool htd_is_number(const struct htd_flat *f)
{
	return f->kind == HTD_KIND_UNSIGNED || f->kind == HTD_KIND_SIGNED ||
		f->kind == HTD_KIND_REAL;
}

/* Whether it is one of enum htd_type; other numbers are unknown. */
static inline bool htd_type_is_known(uint8_t data_type)
{
	return (data_type >= HTD_STRUCT && data_type <= HTD_POINTER) || data_type == HTD_UNSIGNED;
}

static inline bool htd_is_integer(const struct htd_flat *f)
{
	return f->kind == HTD_KIND_UNSIGNED || f->kind == HTD_KIND_SIGNED;
}

/* ---- classes ---- */

/*
 * Descriptions beyond these limits are damage. Real programs have tens of classes, ten fields each.
 */
#define HTD_LIMIT_KLASSES 65536
#define HTD_LIMIT_FIELDS  (1u << 18) /* of all classes together */
#define HTD_LIMIT_FLAT    1024       /* fields of one event, structs resolved */
#define HTD_LIMIT_STEPS   4096       /* descriptions visited to resolve one class */
#define HTD_LIMIT_NESTING 64         /* structs in structs, bases included */
#define HTD_LIMIT_NAME    4096       /* bytes of a class's, type's or field's name */
#define HTD_LIMIT_PLANNED                                                                          \
	(1u << 20) /* fields of all plans together, each 64 bytes of names one                     \
		    */

struct htd_plan; /* below */

/* A field that some events of a version have, and the last plan with it. */
struct htd_column {
	const struct htd_flat *field;
	uint32_t plan;
};

/* A version of a class. */
struct htd_klass {
	uint32_t id;
	bool fixed;        /* built in: its descriptions are ignored */
	uint8_t declared;  /* number of fields that its description announces */
	uint32_t n_fields; /* described */
	uint32_t n_again;  /* of them confirmed since the class was last announced */
	size_t room;
	struct pm_bytes name;
	struct htd_field *fields;
	struct htd_runs events;
	uint32_t n_columns; /* the fields of all its events together */
	size_t column_room;
	struct htd_column *columns;
};

struct htd_binding {
	uint64_t from; /* offset of the first event that it may be for */
	const struct htd_plan *plan;
};

/* A class id and its versions. */
struct htd_slot {
	uint32_t id;
	uint32_t klass;      /* the newest version */
	uint32_t generation; /* of the table, when the last binding was made */
	size_t n, room;
	struct htd_binding *bindings;
};

struct htd_table {
	struct pm_arena *arena;
	struct htd_klass *klasses;
	size_t n_klasses, klass_room;
	struct htd_slot *slots;
	size_t n_slots, slot_room;
	uint32_t direct[256]; /* slot + 1 of small ids */
	struct pm_map by_id;  /* slot of other ids */
	struct pm_strtab names;
	struct htd_named *named; /* by index in names */
	size_t named_room;
	uint32_t dump; /* number of concatenated streams so far: each describes its classes again */
	uint32_t generation; /* grows with every change */
	uint64_t since;      /* offset of the end of the newest description */
	uint32_t n_fields, n_plans, n_planned;
	/* While scanning: HTD_LIMIT_FLAT fields of a version, and the names that are composed. */
	struct htd_flat *scratch;
	struct pm_arena *composed;
};

/* The fixed classes' ids. */
struct htd_fixed_ids {
	uint32_t endianness, root, klass_info, field_info;
};

/* Begins a table in the arena. */
void htd_table_init(struct htd_table *t, struct pm_arena *arena, const struct htd_fixed_ids *ids);

/*
 * Adds a description from the stream. 0, -ENOENT for a field of an unknown class, -ENOTSUP beyond a
 * limit.
 */
int htd_table_klass(struct htd_table *t, uint32_t id, struct pm_bytes name, uint8_t declared);
int htd_table_field(struct htd_table *t, uint32_t id, const struct htd_field *field);

/* htd_table_slot of an id that is not small. */
struct htd_slot *htd_table_slot_mapped(const struct htd_table *t, uint32_t id);

/* The class of that id, or NULL. O(1). */
static inline struct htd_slot *htd_table_slot(const struct htd_table *t, uint32_t id)
{
	if (id >= sizeof(t->direct) / sizeof(t->direct[0]))
		return htd_table_slot_mapped(t, id);
	return t->direct[id] ? &t->slots[t->direct[id] - 1] : NULL;
}

/* The version for a struct or base with this type name, or HTD_NONE. */
uint32_t htd_table_named(const struct htd_table *t, struct pm_bytes type);

/* Of the version: the type of its field `base`, or of the root class. Empty for the root. */
struct pm_bytes htd_klass_parent(const struct htd_klass *k);

/* The name without the library's prefix HT_. */
struct pm_bytes htd_bare(struct pm_bytes name);

/* Whether this field's type is the root class. */
static inline bool htd_is_root(struct pm_bytes type)
{
	return pm_bytes_equal(htd_bare(type), pm_bytes_of("Event"));
}

/* ---- plans: how to read events of a class from some point of the stream on ---- */

/* The meaning of an event for this reader. */
enum htd_role {
	HTD_ROLE_OTHER,
	HTD_ROLE_CALL,    /* has duration and thread_id */
	HTD_ROLE_MAPPING, /* gives a number a label */
	HTD_ROLE_SYSTEM,  /* the library's version */
	/* From here on: how to read what follows. */
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

/* While scanning: makes the plan for events of the class after the newest description. */
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
void htd_table_finish(struct htd_table *t);

/* ---- which variant of the format a stream is (dialect.c, docs/formats/htdump.md §variants) ----
 */

struct htd_dialect {
	bool timestamp_first; /* header order and type numbers of the design document */
	bool big;             /* byte order at the beginning */
	struct htd_fixed_ids ids;
};

/*
 * The variant of a stream that begins with these bytes (the first 4096 are enough), and how sure
 * that is: 0 to 100. With 0 `*ret` is the most common variant.
 */
int htd_dialect_detect(struct pm_bytes head, struct htd_dialect *ret);

/* Whether there is a class description with a readable name at `at`. */
bool htd_dialect_klass_info(
	struct pm_bytes bytes, uint64_t at, const struct htd_dialect *d, bool big);

#endif
