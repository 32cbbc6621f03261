/*
 * Decodes the records that all versions share. Only their shape is checked here; whether a table is
 * plausible as a whole is up to the caller (profile.c).
 */
#include "formats/hpcrun/profile.h"

#include "formats/common/list.h"

/*
 * More pairs, metrics or modules than in any real file, by a factor of a hundred: ids have 16 bits.
 * A larger count is damaged, and what follows it is not a table.
 */
enum { MOST_RECORDS = 0x10000 };

static struct pm_bytes read_string(struct pm_cur *c)
{
	uint32_t len = pm_cur_u32(c);
	return pm_cur_bytes(c, len);
}

bool hpcrun_pairs_read(struct pm_arena *a, struct pm_cur *c, struct hpcrun_pairs *ret)
{
	uint32_t n = pm_cur_u32(c);
	for (uint32_t i = 0; i < n; i++) {
		struct hpcrun_pair pair = {.key = read_string(c)};
		pair.value = read_string(c);
		if (c->bad || pair.key.len == 0)
			return false;
		pm_list_grow(a, &ret->items, ret->n, &ret->room, sizeof(pair));
		ret->items[ret->n++] = pair;
	}
	return !c->bad;
}

struct pm_bytes hpcrun_pairs_find(const struct hpcrun_pairs *pairs, const char *key)
{
	for (size_t i = 0; i < pairs->n; i++)
		if (pm_bytes_equal(pairs->items[i].key, pm_bytes_of(key)))
			return pairs->items[i].value;
	return (struct pm_bytes){NULL, 0};
}

/* ---- metrics ---- */

/*
 * 16 bytes; since 2010-12, one field per byte. Before that, two integers with bit fields: the
 * lowest byte of the first integer is never 0, and the highest always is.
 */
static void decode_flags(const uint8_t *p, struct hpcrun_metric *m)
{
	m->has_flags = true;
	if (p[0] >= 1 && p[0] <= 3 && pm_be64(p + 0x8) == 0) {
		m->type = p[0x0];
		m->value_type = p[0x1];
		m->value_format = p[0x2];
		m->move_to_proc = p[0x3];
		m->partner = pm_le16(p + 0x4); /* the only field in the writer's byte order */
		m->show = p[0x6];
		m->show_percent = p[0x7];
		return;
	}
	uint64_t bits = pm_be64(p);
	m->type = bits & 0xf;
	m->value_type = bits >> 4 & 0xf;
	m->value_format = bits >> 8 & 0xf;
	m->partner = (uint16_t)(bits >> 12);
	m->show = bits >> 28 & 1;
	m->show_percent = bits >> 29 & 1;
}

static void read_tail(struct pm_cur *c, uint8_t size, struct hpcrun_metric *m)
{
	m->has_tail = true;
	m->is_frequency = pm_cur_u16(c);
	m->is_multiplexed = pm_cur_u16(c);
	m->threshold_mean = pm_cur_f64(c);
	if (size == 28)
		pm_cur_take(c, 8); /* a standard deviation, never set */
	m->n_samples = pm_cur_u64(c);
}

static struct hpcrun_metric read_metric(struct pm_cur *c, const struct hpcrun_dialect *d)
{
	struct hpcrun_metric m = {.name = read_string(c)};
	if (d->has_description)
		m.description = read_string(c);
	const uint8_t *flags = pm_cur_take(c, d->has_long_flags ? 16 : 8);
	if (flags && d->has_long_flags)
		decode_flags(flags, &m);
	m.period = pm_cur_u64(c);
	if (d->has_long_flags) {
		m.has_formula = true;
		m.formula = read_string(c);
		m.format = read_string(c);
	}
	if (d->tail)
		read_tail(c, d->tail, &m);
	return m;
}

bool hpcrun_metrics_read(struct pm_arena *a, struct pm_cur *c, const struct hpcrun_dialect *d,
	struct hpcrun_metrics *ret)
{
	uint32_t n = pm_cur_u32(c);
	if (c->bad || n > MOST_RECORDS)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		struct hpcrun_metric m = read_metric(c, d);
		if (c->bad || m.is_frequency > 1 || m.is_multiplexed > 1)
			return false;
		pm_list_grow(a, &ret->items, ret->n, &ret->room, sizeof(m));
		ret->items[ret->n++] = m;
	}
	return true;
}

/* ---- load map ---- */

static void read_addresses(struct pm_cur *c, struct hpcrun_module *m)
{
	m->has_addresses = true;
	m->vaddr = pm_cur_u64(c);
	m->mapaddr = pm_cur_u64(c);
}

bool hpcrun_modules_read(struct pm_arena *a, struct pm_cur *c, const struct hpcrun_dialect *d,
	struct hpcrun_modules *ret)
{
	bool has_id = d->map == HPCRUN_MAP_ID || d->map == HPCRUN_MAP_ID_ADDRESSES;
	uint32_t n = pm_cur_u32(c);
	if (c->bad || n > MOST_RECORDS)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		struct hpcrun_module m = {.id = i, .has_flags = d->map != HPCRUN_MAP_NAME};
		if (has_id)
			m.id = pm_cur_u16(c);
		if (d->map == HPCRUN_MAP_ADDRESSES)
			read_addresses(c, &m);
		m.name = read_string(c);
		if (d->map == HPCRUN_MAP_ID_ADDRESSES || d->map == HPCRUN_MAP_NAME)
			read_addresses(c, &m);
		if (m.has_flags)
			m.flags = has_id ? pm_cur_u64(c) : pm_cur_u32(c);
		if (c->bad)
			return false;
		pm_list_grow(a, &ret->items, ret->n, &ret->room, sizeof(m));
		ret->items[ret->n++] = m;
	}
	return true;
}

/* ---- nodes ---- */

size_t hpcrun_node_size(const struct hpcrun_dialect *d, bool has_lush, size_t n_values)
{
	size_t size = 4 + 4 + 8;
	if (d->has_module_ids)
		size += 2;
	if (has_lush)
		size += 4 + 16;
	if (d->has_node_flags)
		size += 1;
	return size + 8 * n_values;
}

static uint32_t get_u32(const struct hpcrun_nodes *nodes, const uint8_t *p)
{
	return nodes->big ? pm_be32(p) : pm_le32(p);
}

static uint64_t get_u64(const struct hpcrun_nodes *nodes, const uint8_t *p)
{
	return nodes->big ? pm_be64(p) : pm_le64(p);
}

/* Offsets within the record, whose size hpcrun_node_size returned. */
void hpcrun_node_decode(const struct hpcrun_nodes *nodes, uint64_t i, struct hpcrun_node *ret)
{
	const uint8_t *p = pm_bytes_row(nodes->table, i, nodes->size);
	uint32_t id = get_u32(nodes, p), parent = get_u32(nodes, p + 4);
	*ret = (struct hpcrun_node){.id = (int32_t)id, .parent = (int32_t)parent};
	if (nodes->has_flags) { /* 04.00: no sign any more */
		ret->id = id;
		ret->parent = parent;
	}
	p += 8;
	if (nodes->has_lush) {
		ret->as_info = get_u32(nodes, p);
		p += 4;
	}
	if (nodes->has_module) {
		ret->module = nodes->big ? pm_be16(p) : pm_le16(p);
		p += 2;
	}
	ret->ip = get_u64(nodes, p);
	p += 8;
	if (nodes->has_lush) {
		ret->lip[0] = get_u64(nodes, p);
		ret->lip[1] = get_u64(nodes, p + 8);
		p += 16;
	}
	if (nodes->has_flags)
		ret->flags = *p;
}

uint64_t hpcrun_node_value(const struct hpcrun_nodes *nodes, uint64_t i, size_t k)
{
	size_t before = nodes->size - 8 * (nodes->n_values - k);
	const uint8_t *p = pm_bytes_row(nodes->table, i, nodes->size) + before;
	return nodes->big ? pm_be64(p) : pm_le64(p);
}
