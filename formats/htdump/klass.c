/*
 * The class table: the classes that a stream has described up to some position, and their versions.
 *
 * A class that is announced again without changes keeps its version, and its fields are compared
 * one by one; a difference begins a new version. Fields that arrive late extend the version they
 * belong to. The layout of a class's events is determined in plan.c.
 */
#include "formats/htdump/klass.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/affix.h"
#include "formats/common/list.h"

/* What a type name refers to: a version, first announced in that dump. */
struct htd_named {
	uint32_t klass, dump;
};

struct htd_slot *htd_table_slot_mapped(const struct htd_table *t, uint32_t id)
{
	const uint32_t *slot = pm_map_find(&t->by_id, id);
	return slot ? &t->slots[*slot] : NULL;
}

uint32_t htd_table_named(const struct htd_table *t, struct pm_bytes type)
{
	uint32_t i = pm_strtab_find(&t->names, type);
	return i == HTD_NONE ? HTD_NONE : t->named[i].klass;
}

struct pm_bytes htd_bare(struct pm_bytes name)
{
	if (name.len > 3 && pm_begins_with(name, "HT_"))
		return (struct pm_bytes){name.p + 3, name.len - 3};
	return name;
}

struct pm_bytes htd_klass_parent(const struct htd_klass *k)
{
	struct pm_bytes root = pm_bytes_of("HT_Event");
	for (uint32_t i = 0; i < k->n_fields; i++)
		if (k->fields[i].data_type == HTD_STRUCT &&
			pm_bytes_equal(k->fields[i].name, pm_bytes_of("base")))
			return k->fields[i].type;
	return k->fixed && pm_bytes_equal(k->name, root) ? pm_bytes_of("") : root;
}

/*
 * Of several classes with one name in a dump, the first is used, as in the original reader; a later
 * dump, or a newer version of the same class, replaces it.
 */
static int name_klass(struct htd_table *t, uint32_t klass)
{
	const struct htd_klass *k = &t->klasses[klass];
	uint32_t i = pm_strtab_add(&t->names, k->name);
	if (i == HTD_NONE)
		return -ENOMEM;
	if (i >= t->named_room) {
		size_t known = t->named_room;
		if (pm_list_room(&t->named, i, &t->named_room, sizeof(*t->named)) < 0)
			return -ENOMEM;
		for (; known < t->named_room; known++)
			t->named[known] = (struct htd_named){HTD_NONE, 0};
	}
	struct htd_named *n = &t->named[i];
	if (n->klass == HTD_NONE || n->dump != t->dump || t->klasses[n->klass].id == k->id)
		*n = (struct htd_named){klass, t->dump};
	return 0;
}

static int slot_new(struct htd_table *t, uint32_t id)
{
	bool fresh;
	if (pm_list_room(&t->slots, t->n_slots, &t->slot_room, sizeof(*t->slots)) < 0)
		return -ENOMEM;
	if (id < sizeof(t->direct) / sizeof(t->direct[0]))
		t->direct[id] = (uint32_t)t->n_slots + 1;
	else if (!pm_map_put(&t->by_id, id, (uint32_t)t->n_slots, &fresh))
		return -ENOMEM;
	t->slots[t->n_slots++] = (struct htd_slot){.id = id, .klass = HTD_NONE};
	return 0;
}

/* A new version of a class with the first `keep` fields of the version before it. */
static int klass_new(
	struct htd_table *t, uint32_t id, struct pm_bytes name, uint8_t declared, uint32_t keep)
{
	if (t->n_klasses == HTD_LIMIT_KLASSES || keep > HTD_LIMIT_FIELDS - t->n_fields)
		return -ENOTSUP;
	if (!htd_table_slot(t, id) && slot_new(t, id) < 0)
		return -ENOMEM;
	if (pm_list_room(&t->klasses, t->n_klasses, &t->klass_room, sizeof(*t->klasses)) < 0)
		return -ENOMEM;
	struct htd_slot *slot = htd_table_slot(t, id);
	struct htd_klass *k = &t->klasses[t->n_klasses];
	*k = (struct htd_klass){.id = id, .name = name, .declared = declared};
	if (keep) {
		k->fields = calloc(keep, sizeof(*k->fields));
		if (!k->fields)
			return -ENOMEM;
		memcpy(k->fields, t->klasses[slot->klass].fields, keep * sizeof(*k->fields));
		k->n_fields = k->n_again = keep;
		k->room = keep;
		t->n_fields += keep;
	}
	slot->klass = (uint32_t)t->n_klasses++;
	t->generation++;
	return name_klass(t, slot->klass);
}

static int field_add(struct htd_table *t, struct htd_klass *k, const struct htd_field *field)
{
	if (t->n_fields == HTD_LIMIT_FIELDS)
		return -ENOTSUP;
	if (pm_list_room(&k->fields, k->n_fields, &k->room, sizeof(*k->fields)) < 0)
		return -ENOMEM;
	k->fields[k->n_fields++] = *field;
	k->n_again = k->n_fields;
	t->n_fields++;
	t->generation++;
	return 0;
}

int htd_table_klass(struct htd_table *t, uint32_t id, struct pm_bytes name, uint8_t declared)
{
	const struct htd_slot *slot = htd_table_slot(t, id);
	if (!slot)
		return klass_new(t, id, name, declared, 0);
	struct htd_klass *k = &t->klasses[slot->klass];
	if (k->fixed)
		return 0;
	if (!pm_bytes_equal(k->name, name) || k->declared != declared)
		return klass_new(t, id, name, declared, 0);
	k->n_again = 0;
	uint32_t before = htd_table_named(t, name);
	if (name_klass(t, slot->klass) < 0)
		return -ENOMEM;
	if (htd_table_named(t, name) != before)
		t->generation++;
	return 0;
}

static bool field_equal(const struct htd_field *a, const struct htd_field *b)
{
	return a->size == b->size && a->data_type == b->data_type &&
		pm_bytes_equal(a->name, b->name) && pm_bytes_equal(a->type, b->type);
}

int htd_table_field(struct htd_table *t, uint32_t id, const struct htd_field *field)
{
	const struct htd_slot *slot = htd_table_slot(t, id);
	if (!slot)
		return -ENOENT;
	struct htd_klass *k = &t->klasses[slot->klass];
	if (k->fixed)
		return 0;
	if (k->n_again == k->n_fields)
		return field_add(t, k, field);
	if (field_equal(&k->fields[k->n_again], field)) {
		k->n_again++;
		return 0;
	}
	int r = klass_new(t, id, k->name, k->declared, k->n_again);
	return r < 0 ? r : field_add(t, &t->klasses[slot->klass], field);
}

/* ---- the classes that every reader must know ---- */

#define FIELD(data_type, type, name, size)                                                         \
	{                                                                                          \
		{(const uint8_t *)(type), sizeof(type) - 1},                                       \
			{(const uint8_t *)(name), sizeof(name) - 1}, (size), (data_type)           \
	}

static const struct htd_field endianness_fields[] = {
	FIELD(HTD_STRUCT, "HT_Event", "base", 24),
	FIELD(HTD_UNSIGNED, "uint8_t", "endianness", 1),
};

static const struct htd_field klass_info_fields[] = {
	FIELD(HTD_STRUCT, "HT_Event", "base", 24),
	FIELD(HTD_UNSIGNED, "HT_EventKlassId", "info_klass_id", 4),
	FIELD(HTD_STRING, "const char*", "event_klass_name", 8),
	FIELD(HTD_UNSIGNED, "uint8_t", "field_count", 1),
};

static const struct htd_field field_info_fields[] = {
	FIELD(HTD_STRUCT, "HT_Event", "base", 24),
	FIELD(HTD_UNSIGNED, "HT_EventKlassId", "info_klass_id", 4),
	FIELD(HTD_STRING, "const char*", "field_type", 8),
	FIELD(HTD_STRING, "const char*", "field_name", 8),
	FIELD(HTD_UNSIGNED, "uint64_t", "size", 8),
	FIELD(HTD_UNSIGNED, "uint8_t", "data_type", 1),
};

struct fixed_klass {
	uint32_t id;
	const char *name;
	uint8_t n;
	const struct htd_field *fields;
};

static int fixed_add(struct htd_table *t, const struct fixed_klass *f)
{
	int r = htd_table_klass(t, f->id, pm_bytes_of(f->name), f->n);
	for (uint8_t i = 0; r == 0 && i < f->n; i++)
		r = htd_table_field(t, f->id, &f->fields[i]);
	const struct htd_slot *slot = htd_table_slot(t, f->id);
	if (r == 0 && slot)
		t->klasses[slot->klass].fixed = true;
	return r;
}

/* Sorted by id, the order of raw/classes.csv. */
int htd_table_init(struct htd_table *t, const struct htd_fixed_ids *ids)
{
	const struct fixed_klass endianness = {
		ids->endianness, "HT_EndiannessInfoEvent", 2, endianness_fields};
	const struct fixed_klass root = {ids->root, "HT_Event", 0, NULL};
	const struct fixed_klass others[] = {
		{ids->klass_info, "HT_EventKlassInfoEvent", 4, klass_info_fields},
		{ids->field_info, "HT_EventKlassFieldInfoEvent", 6, field_info_fields},
	};
	bool root_first = ids->root < ids->endianness;
	t->scratch = calloc(HTD_LIMIT_FLAT, sizeof(*t->scratch));
	int r = t->scratch ? fixed_add(t, root_first ? &root : &endianness) : -ENOMEM;
	if (r == 0)
		r = fixed_add(t, root_first ? &endianness : &root);
	for (size_t i = 0; r == 0 && i < 2; i++)
		r = fixed_add(t, &others[i]);
	return r;
}

void htd_table_done(struct htd_table *t)
{
	for (size_t i = 0; i < t->n_klasses; i++) {
		free(t->klasses[i].fields);
		free(t->klasses[i].columns);
		htd_runs_done(&t->klasses[i].events);
	}
	for (size_t i = 0; i < t->n_slots; i++)
		free(t->slots[i].bindings);
	free(t->klasses);
	free(t->slots);
	free(t->named);
	free(t->scratch);
	pm_map_done(&t->by_id);
	pm_strtab_done(&t->names);
	pm_arena_done(&t->arena);
}
