/* The tables of meta.db: strings, identifier names, modules, source files, functions, metrics. */
#include "formats/hpctoolkit/hpctoolkit.h"

#include <errno.h>
#include <string.h>

#include "formats/common/list.h"
#include "formats/common/map.h"

/*
 * ==== flat tables ====
 * Nothing is kept: a row is decoded each time it is needed. Unreadable
 * fields are empty here and reported by damage.c.
 */

/*
 * Longest string. Real names have up to 3037 bytes; without a bound, a file in which every record
 * refers to one long string would cost the product of both.
 */
#define MAX_STRING 0x10000u

/*
 * Longest string that begins inside of another one. No writer shares ends of strings; n names that
 * are the ends of one string of n bytes would cost n * n.
 */
#define MAX_END 0x100u

/* The maximum size of a string at that position, with its NUL. */
static struct pm_bytes string_room(const struct hpctk_opened *db, uint64_t at)
{
	struct pm_bytes file = hpctk_bytes(db, HPCTK_META), before, rest;
	uint64_t left = at < file.len ? file.len - at : 0, most = MAX_STRING;
	/* Before the first string come fields of a table; any eight bytes of them contain a zero.
	 */
	if (at >= 8 && pm_bytes_sub(file, at - 8, 8, &before) && !memchr(before.p, 0, 8))
		most = MAX_END;
	pm_bytes_sub(file, at, left < most ? left : most, &rest);
	return rest;
}

bool hpctk_string_find(
	const struct hpctk_opened *db, struct pm_map *lengths, uint64_t at, struct pm_bytes *ret)
{
	enum { LONG = 512 };
	const uint32_t *known = lengths ? pm_map_find(lengths, at) : NULL;
	bool fresh;
	*ret = (struct pm_bytes){NULL, 0};
	if (known)
		return *known != HPCTK_NONE &&
			pm_bytes_sub(hpctk_bytes(db, HPCTK_META), at, *known, ret);
	struct pm_bytes room = string_room(db, at);
	bool found = pm_bytes_cstr(room, 0, ret);
	if (lengths && (found ? ret->len : room.len) > LONG)
		pm_map_put(lengths, at, found ? (uint32_t)ret->len : HPCTK_NONE, &fresh);
	return found;
}

struct pm_bytes hpctk_string_get(const struct hpctk_opened *db, struct pm_map *lengths, uint64_t at)
{
	struct pm_bytes s = {NULL, 0};
	if (at != 0)
		hpctk_string_find(db, lengths, at, &s);
	return s;
}

void hpctk_general_get(
	const struct hpctk_opened *db, struct pm_bytes *ret_title, struct pm_bytes *ret_description)
{
	struct pm_bytes head;
	*ret_title = *ret_description = (struct pm_bytes){NULL, 0};
	if (!pm_bytes_sub(hpctk_bytes(db, HPCTK_META), db->meta[HPCTK_GENERAL_SECTION].at,
		    HPCTK_GENERAL, &head))
		return;
	*ret_title = hpctk_string_get(db, NULL, hpctk_u64(&db->layout, head.p + 0x00));
	*ret_description = hpctk_string_get(db, NULL, hpctk_u64(&db->layout, head.p + 0x08));
}

struct pm_bytes hpctk_kind_name(const struct hpctk_opened *db, uint32_t kind)
{
	if (kind >= db->kinds.n)
		return (struct pm_bytes){NULL, 0};
	return hpctk_string_get(db, NULL, hpctk_u64(&db->layout, hpctk_row(&db->kinds, kind)));
}

struct hpctk_path hpctk_path_get(const struct hpctk_opened *db, struct pm_map *lengths,
	const struct hpctk_rows *rows, uint32_t i)
{
	struct hpctk_path_record record;
	hpctk_path_decode(&db->layout, hpctk_row(rows, i), &record);
	return (struct hpctk_path){record.flags, hpctk_string_get(db, lengths, record.path_at)};
}

struct hpctk_function hpctk_function_get(
	const struct hpctk_opened *db, struct pm_map *lengths, uint32_t i)
{
	struct hpctk_function_record record;
	hpctk_function_decode(&db->layout, hpctk_row(&db->functions, i), &record);
	return (struct hpctk_function){
		.name = hpctk_string_get(db, lengths, record.name_at),
		.module = hpctk_row_get(&db->modules, record.module_at),
		.file = hpctk_row_get(&db->sources, record.file_at),
		.line = record.line,
		.offset = record.offset,
	};
}

bool hpctk_row_find(const struct hpctk_rows *rows, uint64_t at, uint32_t *ret)
{
	*ret = HPCTK_NONE;
	if (rows->n == 0 || at < rows->at)
		return false;
	uint64_t i = (at - rows->at) / rows->stride;
	if (i >= rows->n || i * rows->stride != at - rows->at)
		return false;
	*ret = (uint32_t)i;
	return true;
}

uint32_t hpctk_row_get(const struct hpctk_rows *rows, uint64_t at)
{
	uint32_t i = HPCTK_NONE;
	if (at != 0)
		hpctk_row_find(rows, at, &i);
	return i;
}

/*
 * ==== metrics ====
 * Reads the metrics section. Older layouts are nested: metric → scopes → summaries. Since June
 * 2022, scopes are a separate table, and a metric has instances of scopes in addition to summaries;
 * both refer to a scope. Either way, the result is a list of quantities (metric × scope) and a list
 * of summaries. Unreadable parts are reported as damage, and the rest is used.
 */

struct reader {
	struct pm_arena *a; /* has the lists */
	struct hpctk_opened *db;
	struct hpctk_metrics *m;
	struct hpctk_metrics_head head;
	struct hpctk_rows scopes;
	struct pm_map of_scope; /* metric << 32 | scope → quantity */
	uint64_t at;            /* of the current record; position of reported damage */
	uint32_t budget;        /* records that may still be read, because arrays can share bytes */
	size_t quantity_room, summary_room;
};

/* Ids have 16 bits. A valid section has one record per id, and a few for metrics and scopes. */
#define BUDGET (8 * HPCTK_N_IDS)

static void spoil(struct reader *r, const char *what)
{
	pm_damage_add(&r->m->damage, "meta.db", r->at, PM_NO_OFFSET, "metrics: %s", what);
}

/* Row i, which becomes the current record. */
static const uint8_t *row_enter(struct reader *r, const struct hpctk_rows *rows, uint32_t i)
{
	r->at = hpctk_row_at(rows, i);
	return hpctk_row(rows, i);
}

static struct pm_bytes string_read(struct reader *r, uint64_t at)
{
	struct pm_bytes s = {NULL, 0};
	if (at != 0 && !hpctk_string_find(r->db, NULL, at, &s))
		spoil(r, "a name that does not end in the file");
	return s;
}

/* An array within meta.db; empty, and reported as damage, if it is not. */
static void array_open(struct reader *r, uint64_t at, uint32_t n, uint32_t stride, uint32_t need,
	struct hpctk_rows *ret)
{
	*ret = (struct hpctk_rows){.at = at, .stride = stride};
	if (n == 0)
		return;
	if (n > r->budget) {
		spoil(r, "more records than there can be ids");
		return;
	}
	if (!pm_bytes_table(hpctk_bytes(r->db, HPCTK_META), at, n, stride, need, &ret->rows)) {
		spoil(r, "an array that is outside the file");
		return;
	}
	ret->n = n;
	r->budget -= n;
}

static uint32_t quantity_add(struct reader *r, const struct hpctk_quantity *q)
{
	struct hpctk_metrics *m = r->m;
	uint32_t i = (uint32_t)m->n_quantities;
	pm_list_grow(r->a, &m->quantities, i, &r->quantity_room, sizeof(*q));
	m->quantities[m->n_quantities++] = *q;
	if (q->prop_id != HPCTK_NONE && !m->of_prop[q->prop_id])
		m->of_prop[q->prop_id] = i + 1;
	return i;
}

static void summary_add(struct reader *r, const struct hpctk_summary *s)
{
	struct hpctk_metrics *m = r->m;
	struct hpctk_quantity *q = &m->quantities[s->quantity];
	pm_list_grow(r->a, &m->summaries, m->n_summaries, &r->summary_room, sizeof(*s));
	m->summaries[m->n_summaries++] = *s;
	q->n_summaries++;
	bool is_sum = s->combine == 0 && pm_bytes_equal(s->formula, pm_bytes_of("$$"));
	if (is_sum && s->stat_id != HPCTK_NONE && q->sum_id == HPCTK_NONE) {
		q->sum_id = s->stat_id;
		if (!m->of_sum[s->stat_id])
			m->of_sum[s->stat_id] = s->quantity + 1;
	}
}

static void summary_read(struct reader *r, uint32_t quantity, const struct hpctk_summary_record *s)
{
	struct hpctk_summary summary = {.quantity = quantity,
		.combine = s->combine,
		.stat_id = s->stat_id,
		.formula = string_read(r, s->formula_at)};
	summary_add(r, &summary);
}

/* ---- nested ---- */

static void nested_scope_read(
	struct reader *r, uint32_t metric, struct pm_bytes name, const uint8_t *d)
{
	const struct hpctk_layout *l = &r->db->layout;
	struct hpctk_instance_record scope;
	struct hpctk_rows summaries;
	hpctk_instance_decode(l, d, &scope);
	uint32_t quantity = quantity_add(r,
		&(struct hpctk_quantity){.metric = metric,
			.prop_id = scope.prop_id,
			.sum_id = HPCTK_NONE,
			.scope_type = HPCTK_NONE,
			.propagation = HPCTK_NONE,
			.name = name,
			.scope = string_read(r, scope.name_at)});
	array_open(
		r, scope.summaries_at, scope.n_summaries, r->head.summary_size, 0x10, &summaries);
	for (uint32_t i = 0; i < summaries.n; i++) {
		struct hpctk_summary_record s;
		hpctk_summary_decode(l, row_enter(r, &summaries, i), &s);
		summary_read(r, quantity, &s);
	}
}

/* ---- shared scopes ---- */

/*
 * The quantity of a metric with the scope whose record is at `scope_at`. An instance (with a
 * prop_id) always makes one, a summary only if no instance did. HPCTK_NONE without such a scope.
 */
static uint32_t shared_quantity(
	struct reader *r, const struct hpctk_quantity *metric, uint64_t scope_at)
{
	uint32_t i;
	bool fresh = false;
	struct hpctk_scope_record scope;
	struct hpctk_quantity q = *metric;
	if (!hpctk_row_find(&r->scopes, scope_at, &i)) {
		spoil(r, "a pointer to a scope that points elsewhere");
		return HPCTK_NONE;
	}
	uint32_t *known =
		pm_map_put(&r->of_scope, (uint64_t)metric->metric << 32 | i, HPCTK_NONE, &fresh);
	if (!fresh && q.prop_id == HPCTK_NONE)
		return *known;
	hpctk_scope_decode(&r->db->layout, hpctk_row(&r->scopes, i), &scope);
	q.scope_type = scope.type;
	q.propagation = scope.propagation;
	q.scope = string_read(r, scope.name_at);
	uint32_t quantity = quantity_add(r, &q);
	if (fresh)
		*known = quantity;
	return quantity;
}

static void shared_metric_read(
	struct reader *r, uint32_t metric, const struct hpctk_metric_record *record)
{
	struct hpctk_rows instances, summaries;
	struct hpctk_quantity q = {.metric = metric,
		.prop_id = HPCTK_NONE,
		.sum_id = HPCTK_NONE,
		.name = string_read(r, record->name_at)};
	array_open(r, record->instances_at, record->n_instances, r->head.instance_size, 0x10,
		&instances);
	array_open(r, record->summaries_at, record->n_summaries, r->head.summary_size, 0x18,
		&summaries);
	for (uint32_t i = 0; i < instances.n; i++) {
		struct hpctk_instance_record instance;
		hpctk_instance_decode(&r->db->layout, row_enter(r, &instances, i), &instance);
		q.prop_id = instance.prop_id;
		shared_quantity(r, &q, instance.scope_at);
	}
	q.prop_id = HPCTK_NONE;
	for (uint32_t i = 0; i < summaries.n; i++) {
		struct hpctk_summary_record s;
		hpctk_summary_decode(&r->db->layout, row_enter(r, &summaries, i), &s);
		uint32_t quantity = shared_quantity(r, &q, s.scope_at);
		if (quantity != HPCTK_NONE)
			summary_read(r, quantity, &s);
	}
}

/* ---- the section ---- */

static void metric_read(struct reader *r, uint32_t metric, const uint8_t *d, bool shared)
{
	struct hpctk_metric_record record;
	struct hpctk_rows scopes = {.n = 0};
	size_t first = r->m->n_quantities;
	hpctk_metric_decode(&r->db->layout, d, &record);
	if (shared) {
		shared_metric_read(r, metric, &record);
	} else {
		struct pm_bytes name = string_read(r, record.name_at);
		array_open(r, record.instances_at, record.n_instances, r->head.instance_size, 0x18,
			&scopes);
		for (uint32_t i = 0; i < scopes.n; i++)
			nested_scope_read(r, metric, name, row_enter(r, &scopes, i));
	}
	/* Each quantity has at least an empty summary. */
	for (size_t i = first; i < r->m->n_quantities; i++)
		if (r->m->quantities[i].n_summaries == 0)
			summary_add(r,
				&(struct hpctk_summary){.quantity = (uint32_t)i,
					.combine = HPCTK_NONE,
					.stat_id = HPCTK_NONE});
}

static void section_read(struct reader *r)
{
	struct hpctk_opened *db = r->db;
	bool shared = db->layout.generation >= HPCTK_JUNE;
	struct hpctk_rows metrics;
	struct pm_bytes head;
	r->at = db->meta[HPCTK_METRICS_SECTION].at;
	if (!pm_bytes_sub(hpctk_bytes(db, HPCTK_META), r->at,
		    shared ? HPCTK_METRICS_SHARED : HPCTK_METRICS_NESTED, &head)) {
		spoil(r, "the section is cut off");
		return;
	}
	hpctk_metrics_head_decode(&db->layout, head.p, &r->head);
	if (shared)
		array_open(r, r->head.scopes_at, r->head.n_scopes, r->head.scope_size, 0x10,
			&r->scopes);
	array_open(r, r->head.metrics_at, r->head.n_metrics, r->head.metric_size,
		shared ? 0x20 : 0x18, &metrics);
	r->m->n_metrics = metrics.n;
	for (uint32_t i = 0; i < metrics.n; i++)
		metric_read(r, i, row_enter(r, &metrics, i), shared);
}

static void metrics_build(struct pm_arena *a, void *opened, void *part, struct pm_error *err)
{
	struct hpctk_metrics *m = part;
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct reader r = {
		.a = a, .db = opened, .m = m, .of_scope.arena = scratch, .budget = BUDGET};
	(void)err;
	pm_damage_list_in(&m->damage, a);
	m->of_prop = pm_arena_array(a, HPCTK_N_IDS, sizeof(*m->of_prop));
	m->of_sum = pm_arena_array(a, HPCTK_N_IDS, sizeof(*m->of_sum));
	section_read(&r);
	pm_build_check(a, m->damage.no_memory ? -ENOMEM : 0);
	pm_arena_done(scratch);
}

int hpctk_metrics_get(
	struct hpctk_opened *db, const struct hpctk_metrics **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {.size = sizeof(struct hpctk_metrics),
		.build = metrics_build,
		.file = "meta.db",
		.what = "metrics"};
	return pm_part_get(&db->metrics, &type, db, ret, err);
}
