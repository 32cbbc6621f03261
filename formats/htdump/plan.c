/*
 * Plans: the layout of a class's events at some position of the stream.
 *
 * Bases and structs are referred to by type name and resolved when an event needs them, because a
 * child may be described before its parent. A plan is a flat list of fields; strings have no stored
 * length, so offsets are relative to the end of the last string before a field.
 */
#include "formats/htdump/plan.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/search.h"
#include "formats/common/work.h"
#include "formats/htdump/resolve.h"

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

/* HawkTracer's converter takes it for the label of calls without one. */
static uint32_t text_name(const struct htd_plan *p)
{
	uint32_t name = field_named(p, "name");
	return name != HTD_NONE && p->fields[name].kind == HTD_KIND_TEXT ? name : HTD_NONE;
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
		p->label = p->label == HTD_NONE ? text_name(p) : p->label;
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

static bool same_plan(const struct htd_plan *p, const struct htd_resolver *r, uint32_t klass)
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
static int column_find(struct htd_klass *k, struct htd_flat *f, uint32_t from, uint32_t plan)
{
	for (uint32_t i = 0; i < k->n_columns; i++) {
		f->column = (from + i) % k->n_columns;
		struct htd_column *c = &k->columns[f->column];
		if (c->plan != plan && flat_equal(c->field, f)) {
			c->plan = plan;
			return 0;
		}
	}
	f->column = HTD_NONE;
	if (k->n_columns == HTD_LIMIT_FLAT)
		return 0;
	if (pm_list_room(&k->columns, k->n_columns, &k->column_room, sizeof(*k->columns)) < 0)
		return -ENOMEM;
	f->column = k->n_columns;
	k->columns[k->n_columns++] = (struct htd_column){f, plan};
	return 0;
}

static int columns_find(struct htd_table *t, struct htd_plan *p)
{
	struct htd_klass *k = &t->klasses[p->klass];
	t->n_plans++;
	for (uint32_t i = 0, from = 0; i < p->n; i++, from++) {
		if (column_find(k, &p->fields[i], from, t->n_plans) < 0)
			return -ENOMEM;
		from = p->fields[i].column;
		if (from == HTD_NONE) {
			p->broken = "has had too many different fields";
			p->n = p->n_texts = 0;
		}
	}
	return 0;
}

/* ---- plans ---- */

static int fields_copy(struct htd_resolver *r, struct htd_plan *p)
{
	struct htd_table *t = r->t;
	p->fields = pm_arena_array(&t->arena, p->n + 1, sizeof(*p->fields));
	p->gaps = pm_arena_array(&t->arena, p->n_texts + 1, sizeof(*p->gaps));
	if (!p->fields || !p->gaps)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->n; i++) {
		p->fields[i] = t->scratch[i];
		if (t->scratch[i].composed &&
			!(p->fields[i].name = pm_arena_copy(&t->arena, t->scratch[i].name)).p)
			return -ENOMEM;
	}
	return 0;
}

static struct htd_plan *plan_new(struct htd_resolver *r, uint32_t klass)
{
	struct htd_table *t = r->t;
	size_t budget = r->n + r->names.total / 64 + 1;
	if (budget > HTD_LIMIT_PLANNED - t->n_planned) {
		r->n = 0;
		r->broken = "comes after too many class descriptions";
		budget = 0;
	}
	struct htd_plan *p = pm_arena_alloc(&t->arena, sizeof(*p));
	if (!p)
		return NULL;
	*p = (struct htd_plan){.klass = klass, .n = r->n, .broken = r->broken};
	for (uint32_t i = 0; i < p->n; i++)
		p->n_texts += t->scratch[i].kind == HTD_KIND_TEXT;
	if (fields_copy(r, p) < 0 || columns_find(t, p) < 0)
		return NULL;
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
	struct htd_resolver r = {.t = t};
	const struct htd_plan *p = NULL;
	if (!pm_work_cancelled() && htd_resolve(&r, klass) == 0)
		p = same_plan(last, &r, klass) ? last : plan_new(&r, klass);
	pm_arena_done(&r.names);
	return p;
}

/*
 * The plan is valid from where the table changed, not from where it was first needed: the search
 * for an event after damage reads beyond the event that it finds.
 */
const struct htd_plan *htd_slot_plan_make(struct htd_table *t, struct htd_slot *slot)
{
	const struct htd_plan *last = slot->n ? slot->bindings[slot->n - 1].plan : NULL;
	if (pm_list_room(&slot->bindings, slot->n, &slot->room, sizeof(*slot->bindings)) < 0)
		return NULL;
	const struct htd_plan *p = plan_make(t, slot->klass, last);
	if (p && p != last)
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
int htd_table_finish(struct htd_table *t)
{
	for (uint32_t i = 0; i < t->n_klasses; i++)
		if (!t->klasses[i].n_columns && !plan_make(t, i, NULL))
			return -ENOMEM;
	free(t->scratch);
	t->scratch = NULL;
	return 0;
}
