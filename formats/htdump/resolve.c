/*
 * Descriptions are hostile: structs may contain themselves, be nested too deeply, or be huge; then
 * the version is broken, with a reason.
 */
#include "formats/htdump/resolve.h"

#include <errno.h>

/* prefix + name + end, in the resolver's memory. */
static int compose(struct htd_resolver *r, struct pm_bytes prefix, struct pm_bytes name,
	const char *end, struct pm_bytes *ret)
{
	size_t len = prefix.len + name.len + strlen(end);
	if (len > HTD_LIMIT_NAME)
		r->broken = "has a field whose name is too long";
	*ret = (struct pm_bytes){NULL, 0};
	if (r->broken)
		return 0;
	uint8_t *p = pm_arena_alloc(&r->names, len + 1);
	if (!p)
		return -ENOMEM;
	if (prefix.len)
		memcpy(p, prefix.p, prefix.len);
	memcpy(p + prefix.len, name.p, name.len);
	memcpy(p + prefix.len + name.len, end, strlen(end));
	*ret = (struct pm_bytes){p, len};
	return 0;
}

static int flat_add(struct htd_resolver *r, struct pm_bytes prefix, struct htd_flat f)
{
	f.composed = prefix.len > 0;
	if (r->n == HTD_LIMIT_FLAT)
		r->broken = "has too many fields";
	else if (f.composed && compose(r, prefix, f.name, "", &f.name) < 0)
		return -ENOMEM;
	if (r->broken)
		return 0;
	htd_kind_set(&f);
	r->too_large |= f.size > PM_LIMIT_STRING && f.data_type != HTD_STRING;
	r->t->scratch[r->n++] = f;
	return 0;
}

/* A struct of the root class other than the base: a header is stored there. */
static int header_add(struct htd_resolver *r, struct pm_bytes prefix)
{
	static const struct {
		const char *name, *type;
		uint64_t size;
	} parts[] = {{"klass_id", "HT_EventKlassId", 4}, {"timestamp", "HT_TimestampNs", 8},
		{"id", "HT_EventId", 8}};
	for (size_t i = 0; i < 3; i++) {
		struct htd_flat f = {.name = pm_bytes_of(parts[i].name),
			.type = pm_bytes_of(parts[i].type),
			.size = parts[i].size,
			.data_type = HTD_UNSIGNED};
		if (flat_add(r, prefix, f) < 0)
			return -ENOMEM;
	}
	return 0;
}

static int struct_enter(
	struct htd_resolver *r, struct pm_bytes prefix, const struct htd_field *field)
{
	bool base = pm_bytes_equal(field->name, pm_bytes_of("base"));
	struct pm_bytes inner = prefix;
	if (!base && compose(r, prefix, field->name, ".", &inner) < 0)
		return -ENOMEM;
	if (htd_is_root(field->type))
		return base ? 0 : header_add(r, inner);
	uint32_t klass = htd_table_named(r->t, field->type);
	if (klass == HTD_NONE)
		r->broken = "contains a struct that is not described";
	else if (r->depth == HTD_LIMIT_NESTING)
		r->broken = "has structs nested too deeply";
	else
		r->stack[r->depth++] = (struct htd_resolving){.klass = klass, .prefix = inner};
	return 0;
}

static int field_enter(
	struct htd_resolver *r, struct pm_bytes prefix, const struct htd_field *field)
{
	if (++r->steps > HTD_LIMIT_STEPS)
		r->broken = "is described by too many fields";
	if (r->broken)
		return 0;
	if (field->data_type == HTD_STRUCT)
		return struct_enter(r, prefix, field);
	return flat_add(r, prefix,
		(struct htd_flat){.name = field->name,
			.type = field->type,
			.size = field->size,
			.data_type = field->data_type});
}

int htd_resolve(struct htd_resolver *r, uint32_t klass)
{
	r->stack[r->depth++] = (struct htd_resolving){.klass = klass};
	while (r->depth && !r->broken) {
		struct htd_resolving *l = &r->stack[r->depth - 1];
		const struct htd_klass *k = &r->t->klasses[l->klass];
		if (l->next == k->n_fields)
			r->depth--;
		else if (field_enter(r, l->prefix, &k->fields[l->next++]) < 0)
			return -ENOMEM;
	}
	if (r->broken)
		r->n = 0;
	else if (r->too_large)
		r->broken = "has a field that is too large";
	return 0;
}
