/*
 * The classes that a stream describes (docs/formats/htdump.md §classes), and the plans by which
 * their events are read at some position of it.
 */
#include "formats/htdump/klass.h"

#include <errno.h>

#include "formats/common/affix.h"
#include "formats/common/list.h"
#include "formats/common/search.h"

/*
 * ==== kinds ====
 * How the bytes of a field are interpreted, from its data type, its size and the name of its C
 * type.
 */

static uint8_t element_size(struct pm_bytes type)
{
	static const struct {
		const char *name;
		uint8_t size;
	} types[] = {{"char", 1}, {"bool", 1}, {"_Bool", 1}, {"short", 2}, {"int", 4}, {"long", 8},
		{"size_t", 8}, {"uint8_t", 1}, {"uint16_t", 2}, {"uint32_t", 4}, {"uint64_t", 8},
		{"int8_t", 1}, {"int16_t", 2}, {"int32_t", 4}, {"int64_t", 8}, {"float", 4},
		{"double", 8}};
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (pm_bytes_equal(type, pm_bytes_of(types[i].name)))
			return types[i].size;
	return 0;
}

/* Releases before 0.6 call every integer INTEGER; the C type tells which are unsigned. */
static bool is_unsigned(const struct htd_flat *f)
{
	return f->data_type != HTD_INTEGER || pm_begins_with(f->type, "uint") ||
		pm_bytes_equal(f->type, pm_bytes_of("size_t")) ||
		(pm_begins_with(f->type, "HT_") &&
			!pm_bytes_equal(f->type, pm_bytes_of("HT_Boolean")));
}

/*
 * Fields of unknown type are bytes. A field larger than its C type is an array of it; one that is
 * too large for a number is an array of bytes.
 */
static void kind_set(struct htd_flat *f)
{
	if (f->data_type == HTD_STRING) {
		f->kind = HTD_KIND_TEXT;
		return;
	}
	if (!htd_type_is_known(f->data_type)) {
		f->kind = HTD_KIND_ARRAY;
		f->element = HTD_KIND_UNSIGNED;
		f->step = 1;
		return;
	}
	if (f->data_type == HTD_POINTER)
		f->kind = HTD_KIND_POINTER;
	else if (f->data_type == HTD_FLOAT || f->data_type == HTD_DOUBLE)
		f->kind = HTD_KIND_REAL;
	else
		f->kind = is_unsigned(f) ? HTD_KIND_UNSIGNED : HTD_KIND_SIGNED;
	bool real_type = pm_begins_with(f->type, "float") || pm_begins_with(f->type, "double");
	uint8_t step = element_size(f->type);
	bool array = step && f->size > step && f->size % step == 0 && f->kind != HTD_KIND_POINTER &&
		(f->kind == HTD_KIND_REAL) == real_type;
	bool single = f->size == 1 || f->size == 2 || f->size == 4 || f->size == 8;
	if (f->kind == HTD_KIND_REAL)
		single = f->size == 4 || f->size == 8;
	else if (f->kind == HTD_KIND_POINTER)
		single = f->size <= 8;
	if (single && !array)
		return;
	f->element = array || htd_is_integer(f) ? f->kind : HTD_KIND_UNSIGNED;
	f->step = array ? step : 1;
	f->kind = HTD_KIND_ARRAY;
}

/*
 * ==== runs ====
 * One packed word for each part of the stream that contains events of a kind. The library flushes
 * whole buffers of one thread, about 25 calls, so a run rarely contains much else.
 */

void htd_runs_begin(struct pm_arena *a, struct htd_runs *r, uint64_t offset, uint64_t seq)
{
	pm_list_grow(a, &r->items, r->n, &r->room, sizeof(*r->items));
	r->items[r->n++] = htd_place_of(offset, seq);
	r->last = seq / HTD_RUN;
	r->n_events++;
}

/*
 * ==== the table ====
 * The classes described up to some position, and their versions. A class that is announced again
 * without changes keeps its version, and its fields are compared one by one; a difference begins a
 * new version. Fields that arrive late extend the version they belong to.
 */

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
static void name_klass(struct htd_table *t, uint32_t klass)
{
	const struct htd_klass *k = &t->klasses[klass];
	uint32_t known = t->names.n, i = pm_strtab_add(&t->names, k->name);
	pm_list_grow(t->arena, &t->named, i, &t->named_room, sizeof(*t->named));
	struct htd_named *n = &t->named[i];
	if (i == known || n->dump != t->dump || t->klasses[n->klass].id == k->id)
		*n = (struct htd_named){klass, t->dump};
}

/* A new version of a class with the first `keep` fields of the version before it. */
static int klass_new(
	struct htd_table *t, uint32_t id, struct pm_bytes name, uint8_t declared, uint32_t keep)
{
	if (t->n_klasses == HTD_LIMIT_KLASSES || keep > HTD_LIMIT_FIELDS - t->n_fields)
		return -ENOTSUP;
	struct htd_slot *slot = htd_table_slot(t, id);
	if (!slot) {
		bool fresh;
		pm_list_grow(t->arena, &t->slots, t->n_slots, &t->slot_room, sizeof(*t->slots));
		slot = &t->slots[t->n_slots++];
		*slot = (struct htd_slot){.id = id, .klass = HTD_NONE};
		if (id < sizeof(t->direct) / sizeof(t->direct[0]))
			t->direct[id] = (uint32_t)t->n_slots;
		else
			pm_map_put(&t->by_id, id, (uint32_t)t->n_slots - 1, &fresh);
	}
	pm_list_grow(t->arena, &t->klasses, t->n_klasses, &t->klass_room, sizeof(*t->klasses));
	struct htd_klass *k = &t->klasses[t->n_klasses];
	*k = (struct htd_klass){.id = id, .name = name, .declared = declared};
	if (keep) {
		k->fields = pm_arena_zeroed(t->arena, keep, sizeof(*k->fields));
		memcpy(k->fields, t->klasses[slot->klass].fields, keep * sizeof(*k->fields));
		k->n_fields = k->n_again = keep;
		k->room = keep;
		t->n_fields += keep;
	}
	slot->klass = (uint32_t)t->n_klasses++;
	t->generation++;
	name_klass(t, slot->klass);
	return 0;
}

static int field_add(struct htd_table *t, struct htd_klass *k, const struct htd_field *field)
{
	if (t->n_fields == HTD_LIMIT_FIELDS)
		return -ENOTSUP;
	pm_list_grow(t->arena, &k->fields, k->n_fields, &k->room, sizeof(*k->fields));
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
	name_klass(t, slot->klass);
	if (htd_table_named(t, name) != before)
		t->generation++;
	return 0;
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
	const struct htd_field *next = &k->fields[k->n_again];
	if (next->size == field->size && next->data_type == field->data_type &&
		pm_bytes_equal(next->name, field->name) &&
		pm_bytes_equal(next->type, field->type)) {
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

/* Sorted by id, the order of raw/classes.csv. */
void htd_table_init(struct htd_table *t, struct pm_arena *arena, const struct htd_fixed_ids *ids)
{
	const struct {
		uint32_t id;
		const char *name;
		uint8_t n;
		const struct htd_field *fields;
	} fixed[] = {
		{ids->endianness, "HT_EndiannessInfoEvent", 2, endianness_fields},
		{ids->root, "HT_Event", 0, NULL},
		{ids->klass_info, "HT_EventKlassInfoEvent", 4, klass_info_fields},
		{ids->field_info, "HT_EventKlassFieldInfoEvent", 6, field_info_fields},
	};
	size_t first = ids->root < ids->endianness ? 1 : 0;
	t->arena = arena;
	t->by_id.arena = t->names.home = arena;
	t->scratch = pm_arena_zeroed(arena, HTD_LIMIT_FLAT, sizeof(*t->scratch));
	t->composed = pm_arena_scratch(arena);
	for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++) {
		size_t k = i < 2 ? i ^ first : i;
		htd_table_klass(t, fixed[k].id, pm_bytes_of(fixed[k].name), fixed[k].n);
		for (uint8_t field = 0; field < fixed[k].n; field++)
			htd_table_field(t, fixed[k].id, &fixed[k].fields[field]);
		t->klasses[i].fixed = true;
	}
}

/*
 * ==== bases and structs ====
 * They are referred to by type name and resolved when an event needs them, because a child may be
 * described before its parent. Descriptions are hostile: structs may contain themselves, be nested
 * too deeply, or be huge; then the version is broken, with a reason.
 */

/* A struct whose fields are being listed. */
struct resolving {
	uint32_t klass, next; /* field */
	struct pm_bytes prefix;
};

struct resolver {
	struct htd_table *t;
	struct resolving stack[HTD_LIMIT_NESTING];
	uint32_t depth, steps, n;
	const char *broken;
	bool too_large; /* a field is broken: there are columns, but events cannot be read */
};

/* prefix + name + end. */
static struct pm_bytes compose(
	struct resolver *r, struct pm_bytes prefix, struct pm_bytes name, const char *end)
{
	size_t len = prefix.len + name.len + strlen(end);
	if (len > HTD_LIMIT_NAME)
		r->broken = "has a field whose name is too long";
	if (r->broken)
		return (struct pm_bytes){NULL, 0};
	uint8_t *p = pm_arena_alloc(r->t->composed, len + 1);
	if (prefix.len)
		memcpy(p, prefix.p, prefix.len);
	memcpy(p + prefix.len, name.p, name.len);
	memcpy(p + prefix.len + name.len, end, strlen(end));
	return (struct pm_bytes){p, len};
}

static void flat_add(struct resolver *r, struct pm_bytes prefix, struct htd_flat f)
{
	f.composed = prefix.len > 0;
	if (r->n == HTD_LIMIT_FLAT)
		r->broken = "has too many fields";
	else if (f.composed)
		f.name = compose(r, prefix, f.name, "");
	if (r->broken)
		return;
	kind_set(&f);
	r->too_large |= f.size > PM_LIMIT_STRING && f.data_type != HTD_STRING;
	r->t->scratch[r->n++] = f;
}

/* A struct of the root class other than the base: a header is stored there. */
static void header_add(struct resolver *r, struct pm_bytes prefix)
{
	static const struct {
		const char *name, *type;
		uint64_t size;
	} parts[] = {{"klass_id", "HT_EventKlassId", 4}, {"timestamp", "HT_TimestampNs", 8},
		{"id", "HT_EventId", 8}};
	for (size_t i = 0; i < 3; i++)
		flat_add(r, prefix,
			(struct htd_flat){.name = pm_bytes_of(parts[i].name),
				.type = pm_bytes_of(parts[i].type),
				.size = parts[i].size,
				.data_type = HTD_UNSIGNED});
}

static void struct_enter(struct resolver *r, struct pm_bytes prefix, const struct htd_field *field)
{
	bool base = pm_bytes_equal(field->name, pm_bytes_of("base"));
	struct pm_bytes inner = base ? prefix : compose(r, prefix, field->name, ".");
	if (htd_is_root(field->type)) {
		if (!base)
			header_add(r, inner);
		return;
	}
	uint32_t klass = htd_table_named(r->t, field->type);
	if (klass == HTD_NONE)
		r->broken = "contains a struct that is not described";
	else if (r->depth == HTD_LIMIT_NESTING)
		r->broken = "has structs nested too deeply";
	else
		r->stack[r->depth++] = (struct resolving){.klass = klass, .prefix = inner};
}

/*
 * Fills the table's scratch space with the first `n` fields of the version, in the order of an
 * event; `broken` says why there are none. The resolver is zeroed before, except for `t`.
 */
static void resolve(struct resolver *r, uint32_t klass)
{
	r->stack[r->depth++] = (struct resolving){.klass = klass};
	while (r->depth && !r->broken) {
		struct resolving *l = &r->stack[r->depth - 1];
		const struct htd_klass *k = &r->t->klasses[l->klass];
		if (l->next == k->n_fields) {
			r->depth--;
			continue;
		}
		const struct htd_field *field = &k->fields[l->next++];
		if (++r->steps > HTD_LIMIT_STEPS)
			r->broken = "is described by too many fields";
		else if (field->data_type == HTD_STRUCT)
			struct_enter(r, l->prefix, field);
		else
			flat_add(r, l->prefix,
				(struct htd_flat){.name = field->name,
					.type = field->type,
					.size = field->size,
					.data_type = field->data_type});
	}
	if (r->broken)
		r->n = 0;
	else if (r->too_large)
		r->broken = "has a field that is too large";
}

/*
 * ==== plans ====
 * The layout of a class's events: a flat list of fields. Strings have no stored length, so offsets
 * are relative to the end of the last string before a field.
 */

enum { HEADER_SIZE = 0x14 };

/* ---- from a list of fields to a plan ---- */

static void layout(struct htd_plan *p)
{
	uint64_t at = HEADER_SIZE;
	uint32_t strings = 0;
	for (uint32_t i = 0; i < p->n; i++) {
		struct htd_flat *f = &p->fields[i];
		f->strings = strings;
		f->at = at;
		if (f->kind != HTD_KIND_TEXT) {
			at += f->size;
			continue;
		}
		*(strings ? &p->gaps[strings - 1] : &p->head) = at;
		strings++;
		at = 0;
	}
	*(strings ? &p->gaps[strings - 1] : &p->head) = at;
}

static uint32_t field_named(const struct htd_plan *p, const char *name)
{
	for (uint32_t i = 0; i < p->n; i++)
		if (pm_bytes_equal(p->fields[i].name, pm_bytes_of(name)))
			return i;
	return HTD_NONE;
}

static bool is_integer_at(const struct htd_plan *p, uint32_t field)
{
	return field != HTD_NONE && htd_is_integer(&p->fields[field]);
}

static void roles_set(struct htd_plan *p, const struct htd_klass *k)
{
	struct pm_bytes name = htd_bare(k->name);
	p->duration = field_named(p, "duration");
	p->thread = field_named(p, "thread_id");
	p->label = field_named(p, "label");
	p->identifier = field_named(p, "identifier");
	if (p->identifier == HTD_NONE)
		p->identifier = field_named(p, "hash"); /* releases before 0.6 */
	p->describes = true;
	if (k->fixed && pm_bytes_equal(name, pm_bytes_of("EndiannessInfoEvent")))
		p->role = HTD_ROLE_ENDIANNESS;
	else if (k->fixed && pm_bytes_equal(name, pm_bytes_of("EventKlassInfoEvent")))
		p->role = HTD_ROLE_KLASS_INFO;
	else if (k->fixed && pm_bytes_equal(name, pm_bytes_of("EventKlassFieldInfoEvent")))
		p->role = HTD_ROLE_FIELD_INFO;
	else if (pm_bytes_equal(name, pm_bytes_of("SystemInfoEvent")))
		p->role = HTD_ROLE_SYSTEM;
	else if (pm_bytes_equal(name, pm_bytes_of("StringMappingEvent")))
		p->role = is_integer_at(p, p->identifier) && p->label != HTD_NONE &&
				p->fields[p->label].kind == HTD_KIND_TEXT
			? HTD_ROLE_MAPPING
			: HTD_ROLE_OTHER;
	else
		p->describes = false;
	if (!p->describes && is_integer_at(p, p->duration) && is_integer_at(p, p->thread)) {
		p->role = HTD_ROLE_CALL;
		/* HawkTracer's converter takes a text `name` for the label of calls without one. */
		uint32_t name_field = field_named(p, "name");
		if (p->label == HTD_NONE && name_field != HTD_NONE &&
			p->fields[name_field].kind == HTD_KIND_TEXT)
			p->label = name_field;
	}
}

/* These three are looked up more often for calls than all others. */
static void places_set(struct htd_plan *p)
{
	if (p->role != HTD_ROLE_CALL)
		return;
	const struct htd_flat *label = p->label == HTD_NONE ? NULL : &p->fields[p->label];
	if (label && label->kind == HTD_KIND_UNSIGNED && label->strings == 0 &&
		(label->size == 4 || label->size == 8)) {
		p->label_at = (uint32_t)label->at;
		p->label_size = (uint32_t)label->size;
	}
	const struct htd_flat *duration = &p->fields[p->duration], *thread = &p->fields[p->thread];
	p->quick = duration->kind == HTD_KIND_UNSIGNED && thread->kind == HTD_KIND_UNSIGNED &&
		duration->strings == 0 && thread->strings == 0 && duration->size == 8 &&
		(thread->size == 4 || thread->size == 8);
	p->duration_at = (uint32_t)duration->at;
	p->thread_at = (uint32_t)thread->at;
	p->thread_size = (uint32_t)thread->size;
}

static bool flat_equal(const struct htd_flat *a, const struct htd_flat *b)
{
	return a->size == b->size && a->data_type == b->data_type &&
		pm_bytes_equal(a->name, b->name) && pm_bytes_equal(a->type, b->type);
}

static bool same_plan(const struct htd_plan *p, const struct resolver *r, uint32_t klass)
{
	if (!p || p->klass != klass || p->n != r->n || p->broken != r->broken)
		return false;
	for (uint32_t i = 0; i < p->n; i++)
		if (!flat_equal(&p->fields[i], &r->t->scratch[i]))
			return false;
	return true;
}

/* ---- columns: the fields of all events of a version ---- */

/*
 * The column of a field: the first one from `from` on that is equal and not used by this plan
 * (plans are numbered), else a new one. HTD_NONE if there are too many.
 */
static void column_find(struct htd_table *t, struct htd_klass *k, struct htd_flat *f, uint32_t from)
{
	for (uint32_t i = 0; i < k->n_columns; i++) {
		f->column = (from + i) % k->n_columns;
		struct htd_column *c = &k->columns[f->column];
		if (c->plan != t->n_plans && flat_equal(c->field, f)) {
			c->plan = t->n_plans;
			return;
		}
	}
	f->column = HTD_NONE;
	if (k->n_columns == HTD_LIMIT_FLAT)
		return;
	pm_list_grow(t->arena, &k->columns, k->n_columns, &k->column_room, sizeof(*k->columns));
	f->column = k->n_columns;
	k->columns[k->n_columns++] = (struct htd_column){f, t->n_plans};
}

static void columns_find(struct htd_table *t, struct htd_plan *p)
{
	struct htd_klass *k = &t->klasses[p->klass];
	t->n_plans++;
	for (uint32_t i = 0, from = 0; i < p->n; i++, from++) {
		column_find(t, k, &p->fields[i], from);
		from = p->fields[i].column;
		if (from == HTD_NONE) {
			p->broken = "has had too many different fields";
			p->n = p->n_texts = 0;
		}
	}
}

/* ---- plans ---- */

static struct htd_plan *plan_new(struct resolver *r, uint32_t klass)
{
	struct htd_table *t = r->t;
	size_t budget = r->n + t->composed->total / 64 + 1;
	if (budget > HTD_LIMIT_PLANNED - t->n_planned) {
		r->n = 0;
		r->broken = "comes after too many class descriptions";
		budget = 0;
	}
	struct htd_plan *p = pm_arena_alloc(t->arena, sizeof(*p));
	*p = (struct htd_plan){.klass = klass, .n = r->n, .broken = r->broken};
	for (uint32_t i = 0; i < p->n; i++)
		p->n_texts += t->scratch[i].kind == HTD_KIND_TEXT;
	p->fields = pm_arena_array(t->arena, p->n, sizeof(*p->fields));
	p->gaps = pm_arena_array(t->arena, p->n_texts, sizeof(*p->gaps));
	for (uint32_t i = 0; i < p->n; i++) {
		p->fields[i] = t->scratch[i];
		if (t->scratch[i].composed)
			p->fields[i].name = pm_arena_copy(t->arena, t->scratch[i].name);
	}
	columns_find(t, p);
	layout(p);
	roles_set(p, &t->klasses[klass]);
	places_set(p);
	t->n_planned += (uint32_t)budget;
	return p;
}

/* The plan of a version for the current table: `last` if nothing has changed. */
static const struct htd_plan *plan_make(
	struct htd_table *t, uint32_t klass, const struct htd_plan *last)
{
	struct resolver r = {.t = t};
	pm_build_proceed(t->arena);
	resolve(&r, klass);
	const struct htd_plan *p = same_plan(last, &r, klass) ? last : plan_new(&r, klass);
	pm_arena_done(t->composed);
	return p;
}

/*
 * The plan is valid from where the table changed, not from where it was first needed: the search
 * for an event after damage reads beyond the event that it finds.
 */
const struct htd_plan *htd_slot_plan_make(struct htd_table *t, struct htd_slot *slot)
{
	const struct htd_plan *last = slot->n ? slot->bindings[slot->n - 1].plan : NULL;
	const struct htd_plan *p = plan_make(t, slot->klass, last);
	pm_list_grow(t->arena, &slot->bindings, slot->n, &slot->room, sizeof(*slot->bindings));
	if (p != last)
		slot->bindings[slot->n++] = (struct htd_binding){t->since, p};
	slot->generation = t->generation;
	return p;
}

const struct htd_plan *htd_slot_plan_search(const struct htd_slot *slot, uint64_t at)
{
	size_t next = PM_LOWER_BOUND(i, 0, slot->n, slot->bindings[i].from <= at);
	return next ? slot->bindings[next - 1].plan : NULL;
}

/* Versions without events have columns, too, as far as they can be resolved. */
void htd_table_finish(struct htd_table *t)
{
	for (uint32_t i = 0; i < t->n_klasses; i++)
		if (!t->klasses[i].n_columns)
			plan_make(t, i, NULL);
	pm_arena_free(t->arena, t->scratch);
	t->scratch = NULL;
}
