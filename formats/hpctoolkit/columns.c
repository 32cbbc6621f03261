/*
 * One pm_metric for each id under which profiles store values. The scopes of a metric form a group:
 * `execution` is inclusive cost; `function` is exclusive cost in flat tables, and in the tree as
 * well unless there is `lex_aware`, which exists for that purpose.
 */
#include "formats/hpctoolkit/hpctoolkit.h"

#include <errno.h>
#include <string.h>

/* ---- roles ---- */

static bool scope_is(const struct hpctk_quantity *q, const char *name)
{
	return pm_bytes_equal(q->scope, pm_bytes_of(name));
}

struct pm_bytes hpctk_unit_of(struct pm_bytes name)
{
	struct pm_bytes unit = {NULL, 0};
	if (name.len == 0 || name.p[name.len - 1] != ')')
		return unit;
	const uint8_t *open = memrchr(name.p, '(', name.len);
	if (open)
		pm_bytes_sub(name, (uint64_t)(open - name.p) + 1,
			(uint64_t)(name.p + name.len - 1 - open) - 1, &unit);
	return unit;
}

/* Metrics of the current group that have a role: of two equal scopes, the first one gets it. */
struct roles {
	struct pm_metric *execution, *function, *lex_aware;
};

static void role_assign(struct roles *roles, const struct hpctk_quantity *q, struct pm_metric *m)
{
	m->role = PM_ROLE_OTHER;
	if (scope_is(q, "execution") && !roles->execution) {
		m->role = PM_ROLE_INCLUSIVE;
		m->in_tree = m->in_flat = true;
		roles->execution = m;
	} else if (scope_is(q, "function") && !roles->function) {
		m->role = PM_ROLE_EXCLUSIVE;
		m->in_tree = !roles->lex_aware;
		m->in_flat = true;
		roles->function = m;
	} else if (scope_is(q, "lex_aware") && !roles->lex_aware) {
		m->role = PM_ROLE_EXCLUSIVE;
		m->in_tree = true;
		if (roles->function)
			roles->function->in_tree = false;
		roles->lex_aware = m;
	}
	m->is_self = scope_is(q, "point") && m->role == PM_ROLE_OTHER;
}

/* Fills c->metrics except has_values; `group_of` is by quantity. Returns the number of groups. */
static uint32_t metrics_list(
	const struct hpctk_metrics *m, struct hpctk_columns *c, uint32_t *group_of)
{
	uint32_t n_groups = 0, metric = HPCTK_NONE;
	struct roles roles = {NULL, NULL, NULL};
	for (size_t i = 0; i < m->n_quantities; i++) {
		const struct hpctk_quantity *q = &m->quantities[i];
		group_of[i] = HPCTK_NONE;
		if (q->prop_id == HPCTK_NONE || hpctk_quantity_of_prop(m, q->prop_id) != i)
			continue;
		if (q->metric != metric) {
			metric = q->metric;
			roles = (struct roles){NULL, NULL, NULL};
			n_groups++;
		}
		group_of[i] = n_groups - 1;
		struct pm_metric *row = &c->metrics[c->list.n++];
		*row = (struct pm_metric){.id = q->prop_id,
			.group = group_of[i],
			.name = q->name,
			.unit = hpctk_unit_of(q->name),
			.scope = q->scope};
		role_assign(&roles, q, row);
	}
	return n_groups;
}

/* ---- which groups have values ---- */

struct search {
	const struct hpctk_run_reader *reader;
	const uint32_t *group_of;
	bool *seen;      /* by group */
	uint32_t unseen; /* number of groups without a value so far; the search ends at 0 */
};

/* `of` is of_prop or of_sum of the metrics. */
static void quantity_seen(struct search *s, const uint32_t *of, uint32_t id)
{
	uint32_t quantity = of[id] - 1;
	if (quantity == HPCTK_NONE || s->group_of[quantity] == HPCTK_NONE)
		return;
	bool *seen = &s->seen[s->group_of[quantity]];
	s->unseen -= !*seen;
	*seen = true;
}

static void block_search(struct search *s, const struct hpctk_block *b, const uint32_t *of)
{
	for (uint64_t v = 0; v < b->n_values && s->unseen; v++)
		quantity_seen(s, of, hpctk_block_value(b, v).sub);
}

/* The index entries of cct.db tell which metrics have values; no value needs to be read. */
static void cct_search(struct pm_arena *a, struct search *s)
{
	const struct hpctk_opened *db = s->reader->db;
	for (uint32_t number = 0; number < db->contexts.n && s->unseen; number++) {
		struct hpctk_block block;
		struct hpctk_run run;
		pm_build_proceed(a);
		if (hpctk_context_block(db, number, &block, NULL) < 0)
			continue;
		for (uint32_t i = 0; i < block.n_index; i++)
			if (hpctk_block_run(&block, i, &run, NULL) == 0 && run.first < run.end &&
				run.key < HPCTK_N_IDS)
				quantity_seen(s, s->reader->metrics->of_prop, run.key);
	}
}

static void columns_build(struct pm_arena *a, void *opened, void *part, struct pm_error *err)
{
	struct hpctk_opened *db = opened;
	struct hpctk_columns *c = part;
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct hpctk_run_reader reader;
	pm_build_check(a, hpctk_run_reader_init(&reader, db, err));
	pm_build_check(a, hpctk_blocks_ready(db, true, err));
	const struct pm_threads *threads = &reader.threads->list;
	size_t n = reader.metrics->n_quantities;
	uint32_t *group_of = pm_arena_array(scratch, n, sizeof(*group_of));
	struct search s = {.reader = &reader,
		.group_of = group_of,
		.seen = pm_arena_array(scratch, n, sizeof(*s.seen))};
	pm_damage_list_in(&c->damage, a);
	c->metrics = pm_arena_array(a, n, sizeof(*c->metrics));
	c->shown = pm_arena_array(a, n, sizeof(*c->shown));
	c->visible = pm_arena_array(a, n, sizeof(*c->visible));
	s.unseen = metrics_list(reader.metrics, c, group_of);
	block_search(&s, &reader.summary, reader.metrics->of_sum);
	if (db->folder.present[HPCTK_CCT])
		cct_search(a, &s);
	bool all = db->folder.present[HPCTK_CCT] && !db->contexts.cut;
	for (uint32_t t = 0; !all && t < threads->n && s.unseen; t++) {
		struct hpctk_block block;
		pm_build_proceed(a);
		if (hpctk_profile_block(db, threads->threads[t].id, &block, NULL) == 0)
			block_search(&s, &block, reader.metrics->of_prop);
	}
	for (uint32_t i = 0; i < c->list.n; i++)
		c->metrics[i].has_values = s.seen[c->metrics[i].group];
	c->list.metrics = c->metrics;
	if (db->folder.has_formulas)
		hpctk_taxonomy_read(a, db->folder.formulas.bytes, reader.metrics, group_of, c);
	pm_build_check(a, c->damage.no_memory ? -ENOMEM : 0);
	pm_arena_done(scratch);
	db->parts.metrics.it = &c->list;
}

int hpctk_columns_get(
	struct hpctk_opened *db, const struct hpctk_columns **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		.size = sizeof(struct hpctk_columns), .build = columns_build, .what = "metrics"};
	return pm_part_get(&db->columns, &type, db, ret, err);
}
