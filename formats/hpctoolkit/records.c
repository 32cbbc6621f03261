/*
 * Decode functions, one per record, in the order of docs/formats/hpctoolkit.md. They know offsets
 * and layouts, and nothing of files, tables or the meaning of numbers.
 */
#include "formats/hpctoolkit/records.h"

/* Metrics contain their scopes, which contain their summaries. */
static bool is_nested(const struct hpctk_layout *l)
{
	return l->generation <= HPCTK_APRIL;
}

void hpctk_section_decode(const struct hpctk_layout *l, const uint8_t *d, struct hpctk_section *ret)
{
	ret->size = hpctk_u64(l, d + 0x00);
	ret->at = hpctk_u64(l, d + 0x08);
}

void hpctk_table16_decode(const struct hpctk_layout *l, const uint8_t *d, struct hpctk_table *ret)
{
	ret->at = hpctk_u64(l, d + 0x00);
	ret->n = hpctk_u32(l, d + 0x08);
	ret->stride = hpctk_u16(l, d + 0x0c);
}

void hpctk_table8_decode(const struct hpctk_layout *l, const uint8_t *d, struct hpctk_table *ret)
{
	ret->at = hpctk_u64(l, d + 0x00);
	ret->n = hpctk_u32(l, d + 0x08);
	ret->stride = d[0x0c];
}

void hpctk_metrics_head_decode(
	const struct hpctk_layout *l, const uint8_t *d, struct hpctk_metrics_head *ret)
{
	*ret = (struct hpctk_metrics_head){
		.metrics_at = hpctk_u64(l, d + 0x00),
		.n_metrics = hpctk_u32(l, d + 0x08),
		.metric_size = d[0x0c],
		.instance_size = d[0x0d],
		.summary_size = d[0x0e],
	};
	if (is_nested(l))
		return;
	ret->scopes_at = hpctk_u64(l, d + 0x10);
	ret->n_scopes = hpctk_u16(l, d + 0x18);
	ret->scope_size = d[0x1a];
}

void hpctk_metric_decode(
	const struct hpctk_layout *l, const uint8_t *d, struct hpctk_metric_record *ret)
{
	*ret = (struct hpctk_metric_record){.name_at = hpctk_u64(l, d + 0x00)};
	if (is_nested(l)) {
		ret->n_instances = hpctk_u16(l, d + 0x08);
		ret->instances_at = hpctk_u64(l, d + 0x10);
	} else {
		ret->instances_at = hpctk_u64(l, d + 0x08);
		ret->summaries_at = hpctk_u64(l, d + 0x10);
		ret->n_instances = hpctk_u16(l, d + 0x18);
		ret->n_summaries = hpctk_u16(l, d + 0x1a);
	}
}

void hpctk_instance_decode(
	const struct hpctk_layout *l, const uint8_t *d, struct hpctk_instance_record *ret)
{
	*ret = (struct hpctk_instance_record){0};
	if (is_nested(l)) {
		ret->name_at = hpctk_u64(l, d + 0x00);
		ret->n_summaries = hpctk_u16(l, d + 0x08);
		ret->prop_id = hpctk_u16(l, d + 0x0a);
		ret->summaries_at = hpctk_u64(l, d + 0x10);
	} else {
		ret->scope_at = hpctk_u64(l, d + 0x00);
		ret->prop_id = hpctk_u16(l, d + 0x08);
	}
}

void hpctk_summary_decode(
	const struct hpctk_layout *l, const uint8_t *d, struct hpctk_summary_record *ret)
{
	*ret = (struct hpctk_summary_record){0};
	if (is_nested(l)) {
		ret->formula_at = hpctk_u64(l, d + 0x00);
		ret->combine = d[0x08];
		ret->stat_id = hpctk_u16(l, d + 0x0a);
	} else {
		ret->scope_at = hpctk_u64(l, d + 0x00);
		ret->formula_at = hpctk_u64(l, d + 0x08);
		ret->combine = d[0x10];
		ret->stat_id = hpctk_u16(l, d + 0x12);
	}
}

void hpctk_scope_decode(
	const struct hpctk_layout *l, const uint8_t *d, struct hpctk_scope_record *ret)
{
	ret->name_at = hpctk_u64(l, d + 0x00);
	ret->type = d[0x08];
	ret->propagation = d[0x09];
}

void hpctk_path_decode(
	const struct hpctk_layout *l, const uint8_t *d, struct hpctk_path_record *ret)
{
	ret->flags = hpctk_u32(l, d + 0x00);
	ret->path_at = hpctk_u64(l, d + 0x08);
}

void hpctk_function_decode(
	const struct hpctk_layout *l, const uint8_t *d, struct hpctk_function_record *ret)
{
	ret->name_at = hpctk_u64(l, d + 0x00);
	ret->module_at = hpctk_u64(l, d + 0x08);
	ret->offset = hpctk_u64(l, d + 0x10);
	ret->file_at = hpctk_u64(l, d + 0x18);
	ret->line = hpctk_u32(l, d + 0x20);
}

void hpctk_entry_decode(
	const struct hpctk_layout *l, const uint8_t *d, struct hpctk_context_record *ret)
{
	*ret = (struct hpctk_context_record){
		.children_size = hpctk_u64(l, d + 0x00),
		.children_at = hpctk_u64(l, d + 0x08),
		.id = hpctk_u32(l, d + 0x10),
		.lexical_type = HPCTK_NONE,
		.relation = hpctk_u16(l, d + 0x14),
		.name_at = hpctk_u64(l, d + 0x18),
	};
}

size_t hpctk_context_head(const struct hpctk_layout *l)
{
	return l->generation >= HPCTK_JUNE ? 0x20 : 0x18;
}

size_t hpctk_context_size(const struct hpctk_layout *l, const uint8_t *d)
{
	return hpctk_context_head(l) + 8 * (size_t)d[0x17];
}

/* Flag bits as numbered by all layouts except the first. */
enum { HAS_FUNCTION = 1, HAS_PLACE = 2, HAS_POINT = 4 };

/* Fields announced by the flags; each uses a word of 8 bytes. */
static bool flex_decode(const struct hpctk_layout *l, struct pm_bytes flex, unsigned flags,
	struct hpctk_context_record *ret)
{
	struct pm_cur c = pm_cur_of(flex, l->big);
	if (flags & HAS_FUNCTION)
		ret->function_at = pm_cur_u64(&c);
	if (flags & HAS_PLACE) {
		ret->file_at = pm_cur_u64(&c);
		ret->line = pm_cur_u32(&c);
		pm_cur_take(&c, 4);
	}
	if (flags & HAS_POINT) {
		ret->module_at = pm_cur_u64(&c);
		ret->offset = pm_cur_u64(&c);
	}
	ret->has_place = flags & HAS_PLACE;
	ret->has_point = flags & HAS_POINT;
	return !c.bad;
}

/* The first layout: 16 bits of flags, and a separate part for the call. */
static bool first_decode(const struct hpctk_layout *l, const uint8_t *d, struct pm_bytes flex,
	struct hpctk_context_record *ret)
{
	uint16_t flags = hpctk_u16(l, d + 0x14);
	bool is_callee = flags & 1;
	if (is_callee) {
		size_t words = flex.len ? flex.p[0] : 0;
		if (words == 0 || words * 8 > flex.len)
			return false;
		ret->relation = 1u + flex.p[1];
		pm_bytes_sub(flex, words * 8, flex.len - words * 8, &flex);
	}
	return flex_decode(l, flex, flags >> 1, ret);
}

bool hpctk_context_decode(const struct hpctk_layout *l, const uint8_t *d, size_t size,
	struct hpctk_context_record *ret)
{
	size_t head = hpctk_context_head(l);
	struct pm_bytes flex = {d + head, size - head};
	*ret = (struct hpctk_context_record){
		.size = size,
		.children_size = hpctk_u64(l, d + 0x00),
		.children_at = hpctk_u64(l, d + 0x08),
		.id = hpctk_u32(l, d + 0x10),
		.lexical_type = d[0x16],
	};
	if (l->generation == HPCTK_FIRST)
		return first_decode(l, d, flex, ret);
	ret->relation = d[0x15];
	return flex_decode(l, flex, d[0x14], ret);
}

uint32_t hpctk_profile_size(const struct hpctk_layout *l)
{
	static const uint32_t sizes[HPCTK_N_GENERATIONS] = {
		[HPCTK_FIRST] = 0x10,
		[HPCTK_APRIL] = 0x28,
		[HPCTK_JUNE] = 0x28,
		[HPCTK_RELEASED] = 0x30,
	};
	return sizes[l->generation];
}

void hpctk_profile_decode(
	const struct hpctk_layout *l, const uint8_t *d, struct hpctk_profile_record *ret)
{
	ret->tuple_at = hpctk_u64(l, d + (l->generation == HPCTK_FIRST ? 0x08 : 0x20));
	ret->flags = l->generation == HPCTK_RELEASED ? hpctk_u32(l, d + 0x28) : HPCTK_NONE;
}

uint32_t hpctk_tuple_head(const struct hpctk_layout *l)
{
	return l->generation == HPCTK_FIRST ? 2 : 8;
}

void hpctk_tuple_id_decode(
	const struct hpctk_layout *l, const uint8_t *d, struct hpctk_tuple_id *ret)
{
	if (l->generation == HPCTK_FIRST) {
		uint16_t bits = hpctk_u16(l, d + 0x00);
		ret->kind = bits & 0x3fff;
		ret->flags = bits >> 14 == 0;
	} else {
		ret->kind = d[0x00];
		ret->flags = hpctk_u16(l, d + 0x02) & 1;
	}
	ret->logical = hpctk_u32(l, d + 0x04);
	ret->physical = hpctk_u64(l, d + 0x08);
}

void hpctk_block_decode(const struct hpctk_layout *l, bool of_context, const uint8_t *d,
	struct hpctk_block_record *ret)
{
	ret->n_values = hpctk_u64(l, d + 0x00);
	ret->values_at = hpctk_u64(l, d + 0x08);
	ret->n_index = of_context ? hpctk_u16(l, d + 0x10) : hpctk_u32(l, d + 0x10);
	ret->index_at = hpctk_u64(l, d + 0x18);
}

void hpctk_trace_decode(
	const struct hpctk_layout *l, const uint8_t *d, struct hpctk_trace_record *ret)
{
	ret->profile = hpctk_u32(l, d + 0x00);
	ret->at = hpctk_u64(l, d + 0x08);
	ret->end = hpctk_u64(l, d + 0x10);
}
