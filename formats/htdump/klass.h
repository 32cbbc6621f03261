/*
 * Event classes as a stream describes them (docs/formats/htdump.md §classes): versions of classes,
 * their fields, and for each moment of the stream the plan by which an event of a class is read.
 *
 * The opening scan fills the table; from then on it is const.
 */
#ifndef PROFMOUNT_HTDUMP_KLASS_H
#define PROFMOUNT_HTDUMP_KLASS_H

#include "formats/common/map.h"
#include "formats/htdump/kind.h"
#include "formats/htdump/runs.h"
#include "profmount/limits.h"

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

struct htd_plan; /* plan.h */

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
	struct pm_arena arena;
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
	struct htd_flat *scratch; /* HTD_LIMIT_FLAT, while scanning */
};

/* The fixed classes' ids. */
struct htd_fixed_ids {
	uint32_t endianness, root, klass_info, field_info;
};

int htd_table_init(struct htd_table *t, const struct htd_fixed_ids *ids);
void htd_table_done(struct htd_table *t);

/*
 * Adds a description from the stream. 0, -ENOENT for a field of an unknown class, -ENOTSUP beyond a
 * limit, -ENOMEM.
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

#endif
