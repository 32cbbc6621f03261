/* The tables of meta.db: strings, identifier names, modules, source files, functions, metrics. */
#include "formats/hpctoolkit/hpctoolkit.h"

#include <stdlib.h>
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

/* Before the first string come fields of a table; any eight bytes of them contain a zero. */
static bool begins_inside_another(struct pm_bytes file, uint64_t at)
{
	struct pm_bytes before;
	return at >= 8 && pm_bytes_sub(file, at - 8, 8, &before) && !memchr(before.p, 0, 8);
}

/* The maximum size of a string at that position, with its NUL. */
static struct pm_bytes string_room(const struct hpctk_opened *db, uint64_t at)
{
	struct pm_bytes file = hpctk_bytes(db, HPCTK_META), rest;
	uint64_t left = at < file.len ? file.len - at : 0;
	uint64_t most = begins_inside_another(file, at) ? MAX_END : MAX_STRING;
	pm_bytes_sub(file, at, left < most ? left : most, &rest);
	return rest;
}

bool hpctk_string_find(const struct hpctk_opened *db, uint64_t at, struct pm_bytes *ret)
{
	return pm_bytes_cstr(string_room(db, at), 0, ret);
}

struct pm_bytes hpctk_string_get(const struct hpctk_opened *db, uint64_t at)
{
	struct pm_bytes s = {NULL, 0};
	if (at != 0)
		hpctk_string_find(db, at, &s);
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
	*ret_title = hpctk_string_get(db, hpctk_u64(&db->layout, head.p + 0x00));
	*ret_description = hpctk_string_get(db, hpctk_u64(&db->layout, head.p + 0x08));
}

struct pm_bytes hpctk_kind_name(const struct hpctk_opened *db, uint32_t kind)
{
	if (kind >= db->kinds.n)
		return (struct pm_bytes){NULL, 0};
	return hpctk_string_get(db, hpctk_u64(&db->layout, hpctk_row(&db->kinds, kind)));
}

static struct hpctk_path path_get(
	const struct hpctk_opened *db, const struct hpctk_rows *rows, uint32_t i)
{
	struct hpctk_path_record record;
	hpctk_path_decode(&db->layout, hpctk_row(rows, i), &record);
	return (struct hpctk_path){record.flags, hpctk_string_get(db, record.path_at)};
}

struct hpctk_path hpctk_module_get(const struct hpctk_opened *db, uint32_t i)
{
	return path_get(db, &db->modules, i);
}

struct hpctk_path hpctk_source_get(const struct hpctk_opened *db, uint32_t i)
{
	return path_get(db, &db->sources, i);
}

bool hpctk_string_find_again(const struct hpctk_opened *db, struct hpctk_lengths *lengths,
	uint64_t at, struct pm_bytes *ret)
{
	enum { LONG = 512 };
	const uint32_t *known = pm_map_find(&lengths->of, at);
	bool fresh;
	*ret = (struct pm_bytes){NULL, 0};
	if (known)
		return *known != HPCTK_NONE &&
			pm_bytes_sub(hpctk_bytes(db, HPCTK_META), at, *known, ret);
	struct pm_bytes room = string_room(db, at);
	bool found = pm_bytes_cstr(room, 0, ret);
	if ((found ? ret->len : room.len) > LONG) /* if this fails, it is not remembered */
		pm_map_put(&lengths->of, at, found ? (uint32_t)ret->len : HPCTK_NONE, &fresh);
	return found;
}

static struct hpctk_path path_get_again(const struct hpctk_opened *db,
	struct hpctk_lengths *lengths, const struct hpctk_rows *rows, uint32_t i)
{
	struct hpctk_path_record record;
	hpctk_path_decode(&db->layout, hpctk_row(rows, i), &record);
	struct hpctk_path path = {.flags = record.flags};
	if (record.path_at != 0)
		hpctk_string_find_again(db, lengths, record.path_at, &path.path);
	return path;
}

struct hpctk_path hpctk_module_get_again(
	const struct hpctk_opened *db, struct hpctk_lengths *lengths, uint32_t i)
{
	return path_get_again(db, lengths, &db->modules, i);
}

struct hpctk_path hpctk_source_get_again(
	const struct hpctk_opened *db, struct hpctk_lengths *lengths, uint32_t i)
{
	return path_get_again(db, lengths, &db->sources, i);
}

static struct hpctk_function function_of(
	const struct hpctk_opened *db, const struct hpctk_function_record *record)
{
	return (struct hpctk_function){
		.module = hpctk_row_get(&db->modules, record->module_at),
		.file = hpctk_row_get(&db->sources, record->file_at),
		.line = record->line,
		.offset = record->offset,
	};
}

struct hpctk_function hpctk_function_get_again(
	const struct hpctk_opened *db, struct hpctk_lengths *lengths, uint32_t i)
{
	struct hpctk_function_record record;
	hpctk_function_decode(&db->layout, hpctk_row(&db->functions, i), &record);
	struct hpctk_function function = function_of(db, &record);
	if (record.name_at != 0)
		hpctk_string_find_again(db, lengths, record.name_at, &function.name);
	return function;
}

struct hpctk_function hpctk_function_get(const struct hpctk_opened *db, uint32_t i)
{
	struct hpctk_function_record record;
	hpctk_function_decode(&db->layout, hpctk_row(&db->functions, i), &record);
	struct hpctk_function function = function_of(db, &record);
	function.name = hpctk_string_get(db, record.name_at);
	return function;
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
	struct hpctk_opened *db;
	struct hpctk_metrics *m;
	struct hpctk_metrics_head head;
	struct hpctk_rows scopes;
	struct pm_map of_scope; /* metric << 32 | scope → quantity */
	uint64_t at;            /* of the current record; position of reported damage */
	uint32_t budget;        /* records that may still be read, because arrays can share bytes */
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
	if (at != 0 && !hpctk_string_find(r->db, at, &s))
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

static int quantity_add(struct reader *r, const struct hpctk_quantity *q, uint32_t *ret)
{
	struct hpctk_metrics *m = r->m;
	if (pm_list_room(&m->quantities, m->n_quantities, &m->quantity_room, sizeof(*q)) < 0)
		return -ENOMEM;
	*ret = (uint32_t)m->n_quantities;
	m->quantities[m->n_quantities++] = *q;
	if (q->prop_id != HPCTK_NONE && !m->of_prop[q->prop_id])
		m->of_prop[q->prop_id] = *ret + 1;
	return 0;
}

static int summary_add(struct reader *r, const struct hpctk_summary *s)
{
	struct hpctk_metrics *m = r->m;
	struct hpctk_quantity *q = &m->quantities[s->quantity];
	if (pm_list_room(&m->summaries, m->n_summaries, &m->summary_room, sizeof(*s)) < 0)
		return -ENOMEM;
	m->summaries[m->n_summaries++] = *s;
	q->n_summaries++;
	bool is_sum = s->combine == 0 && pm_bytes_equal(s->formula, pm_bytes_of("$$"));
	if (is_sum && s->stat_id != HPCTK_NONE && q->sum_id == HPCTK_NONE) {
		q->sum_id = s->stat_id;
		if (!m->of_sum[s->stat_id])
			m->of_sum[s->stat_id] = s->quantity + 1;
	}
	return 0;
}

/* Gives an empty summary to quantities from `first` on that have none. */
static int summaries_complete(struct reader *r, size_t first)
{
	int status = 0;
	for (size_t i = first; i < r->m->n_quantities && status == 0; i++)
		if (r->m->quantities[i].n_summaries == 0)
			status = summary_add(r,
				&(struct hpctk_summary){.quantity = (uint32_t)i,
					.combine = HPCTK_NONE,
					.stat_id = HPCTK_NONE});
	return status;
}

static int summary_read(struct reader *r, uint32_t quantity, const struct hpctk_summary_record *s)
{
	struct hpctk_summary summary = {.quantity = quantity,
		.combine = s->combine,
		.stat_id = s->stat_id,
		.formula = string_read(r, s->formula_at)};
	return summary_add(r, &summary);
}

/* ---- nested ---- */

static int nested_scope_read(
	struct reader *r, uint32_t metric, struct pm_bytes name, const uint8_t *d)
{
	const struct hpctk_layout *l = &r->db->layout;
	struct hpctk_instance_record scope;
	struct hpctk_rows summaries;
	uint32_t quantity;
	hpctk_instance_decode(l, d, &scope);
	int status = quantity_add(r,
		&(struct hpctk_quantity){.metric = metric,
			.prop_id = scope.prop_id,
			.sum_id = HPCTK_NONE,
			.scope_type = HPCTK_NONE,
			.propagation = HPCTK_NONE,
			.name = name,
			.scope = string_read(r, scope.name_at)},
		&quantity);
	if (status < 0)
		return status;
	array_open(
		r, scope.summaries_at, scope.n_summaries, r->head.summary_size, 0x10, &summaries);
	for (uint32_t i = 0; i < summaries.n && status == 0; i++) {
		struct hpctk_summary_record s;
		hpctk_summary_decode(l, row_enter(r, &summaries, i), &s);
		status = summary_read(r, quantity, &s);
	}
	return status;
}

static int nested_metric_read(
	struct reader *r, uint32_t metric, const struct hpctk_metric_record *record)
{
	struct pm_bytes name = string_read(r, record->name_at);
	struct hpctk_rows scopes;
	int status = 0;
	array_open(
		r, record->instances_at, record->n_instances, r->head.instance_size, 0x18, &scopes);
	for (uint32_t i = 0; i < scopes.n && status == 0; i++)
		status = nested_scope_read(r, metric, name, row_enter(r, &scopes, i));
	return status;
}

/* ---- shared scopes ---- */

/*
 * The quantity of a metric with the scope whose record is at `scope_at`. An instance (with a
 * prop_id) always makes one, a summary only if no instance did. HPCTK_NONE without such a scope.
 */
static int shared_quantity(
	struct reader *r, const struct hpctk_quantity *metric, uint64_t scope_at, uint32_t *ret)
{
	uint32_t i;
	bool fresh = false;
	struct hpctk_scope_record scope;
	struct hpctk_quantity q = *metric;
	*ret = HPCTK_NONE;
	if (!hpctk_row_find(&r->scopes, scope_at, &i)) {
		spoil(r, "a pointer to a scope that points elsewhere");
		return 0;
	}
	uint32_t *known =
		pm_map_put(&r->of_scope, (uint64_t)metric->metric << 32 | i, HPCTK_NONE, &fresh);
	if (!known)
		return -ENOMEM;
	if (!fresh && q.prop_id == HPCTK_NONE) {
		*ret = *known;
		return 0;
	}
	hpctk_scope_decode(&r->db->layout, hpctk_row(&r->scopes, i), &scope);
	q.scope_type = scope.type;
	q.propagation = scope.propagation;
	q.scope = string_read(r, scope.name_at);
	int status = quantity_add(r, &q, ret);
	if (fresh)
		*known = *ret;
	return status;
}

static int shared_summaries_read(
	struct reader *r, const struct hpctk_quantity *metric, const struct hpctk_rows *summaries)
{
	int status = 0;
	for (uint32_t i = 0; i < summaries->n && status == 0; i++) {
		struct hpctk_summary_record s;
		uint32_t quantity;
		hpctk_summary_decode(&r->db->layout, row_enter(r, summaries, i), &s);
		status = shared_quantity(r, metric, s.scope_at, &quantity);
		if (status == 0 && quantity != HPCTK_NONE)
			status = summary_read(r, quantity, &s);
	}
	return status;
}

static int shared_metric_read(
	struct reader *r, uint32_t metric, const struct hpctk_metric_record *record)
{
	struct hpctk_rows instances, summaries;
	struct hpctk_quantity q = {.metric = metric,
		.prop_id = HPCTK_NONE,
		.sum_id = HPCTK_NONE,
		.name = string_read(r, record->name_at)};
	uint32_t ignored;
	int status = 0;
	array_open(r, record->instances_at, record->n_instances, r->head.instance_size, 0x10,
		&instances);
	array_open(r, record->summaries_at, record->n_summaries, r->head.summary_size, 0x18,
		&summaries);
	for (uint32_t i = 0; i < instances.n && status == 0; i++) {
		struct hpctk_instance_record instance;
		hpctk_instance_decode(&r->db->layout, row_enter(r, &instances, i), &instance);
		q.prop_id = instance.prop_id;
		status = shared_quantity(r, &q, instance.scope_at, &ignored);
	}
	q.prop_id = HPCTK_NONE;
	if (status == 0)
		status = shared_summaries_read(r, &q, &summaries);
	return status;
}

/* ---- the section ---- */

static int section_read(struct reader *r)
{
	struct hpctk_opened *db = r->db;
	bool shared = db->layout.generation >= HPCTK_JUNE;
	struct hpctk_rows metrics;
	struct pm_bytes head;
	int status = 0;
	r->at = db->meta[HPCTK_METRICS_SECTION].at;
	if (!pm_bytes_sub(hpctk_bytes(db, HPCTK_META), r->at,
		    shared ? HPCTK_METRICS_SHARED : HPCTK_METRICS_NESTED, &head)) {
		spoil(r, "the section is cut off");
		return 0;
	}
	hpctk_metrics_head_decode(&db->layout, head.p, &r->head);
	if (shared)
		array_open(r, r->head.scopes_at, r->head.n_scopes, r->head.scope_size, 0x10,
			&r->scopes);
	array_open(r, r->head.metrics_at, r->head.n_metrics, r->head.metric_size,
		shared ? 0x20 : 0x18, &metrics);
	r->m->n_metrics = metrics.n;
	for (uint32_t i = 0; i < metrics.n && status == 0; i++) {
		struct hpctk_metric_record record;
		size_t first = r->m->n_quantities;
		hpctk_metric_decode(&db->layout, row_enter(r, &metrics, i), &record);
		status = shared ? shared_metric_read(r, i, &record)
				: nested_metric_read(r, i, &record);
		if (status == 0)
			status = summaries_complete(r, first);
	}
	return status;
}

static int metrics_fill(void *owner, void *part, struct pm_error *err)
{
	struct hpctk_metrics *m = part;
	struct reader r = {.db = owner, .m = m, .budget = BUDGET};
	(void)err;
	m->damage = (struct pm_damage_list)PM_DAMAGE_LIST_INIT;
	m->of_prop = calloc(HPCTK_N_IDS, sizeof(*m->of_prop));
	m->of_sum = calloc(HPCTK_N_IDS, sizeof(*m->of_sum));
	int status = m->of_prop && m->of_sum ? section_read(&r) : -ENOMEM;
	pm_map_done(&r.of_scope);
	return m->damage.no_memory ? -ENOMEM : status;
}

static void metrics_done(void *part)
{
	struct hpctk_metrics *m = part;
	pm_damage_done(&m->damage);
	free(m->quantities);
	free(m->summaries);
	free(m->of_prop);
	free(m->of_sum);
}

static const struct pm_part_type type = {.size = sizeof(struct hpctk_metrics),
	.fill = metrics_fill,
	.done = metrics_done,
	.file = "meta.db",
	.what = "metrics"};

int hpctk_metrics_get(
	struct hpctk_opened *db, const struct hpctk_metrics **ret, struct pm_error *err)
{
	return pm_part_get(&db->metrics, &type, db, ret, err);
}
