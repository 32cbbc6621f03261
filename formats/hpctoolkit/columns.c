/*
 * One pm_metric for each id under which profiles store values. The scopes of a metric form a group:
 * `execution` is inclusive cost; `function` is exclusive cost in flat tables, and in the tree as
 * well unless there is `lex_aware`, which exists for that purpose.
 */
#include "formats/hpctoolkit/hpctoolkit.h"

#include <stdlib.h>
#include <string.h>

#include "formats/common/work.h"

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

static void quantity_seen(struct search *s, uint32_t quantity)
{
	if (quantity == HPCTK_NONE || s->group_of[quantity] == HPCTK_NONE)
		return;
	bool *seen = &s->seen[s->group_of[quantity]];
	s->unseen -= !*seen;
	*seen = true;
}

static void summary_search(struct search *s)
{
	const struct hpctk_block *b = &s->reader->summary;
	for (uint64_t v = 0; v < b->n_values && s->unseen; v++)
		quantity_seen(
			s, hpctk_quantity_of_sum(s->reader->metrics, hpctk_block_value(b, v).sub));
}

/* The index entries of cct.db tell which metrics have values; no value needs to be read. */
static void cct_search(struct search *s)
{
	const struct hpctk_opened *db = s->reader->db;
	for (uint32_t number = 0; number < db->contexts.n && s->unseen && !pm_work_cancelled();
		number++) {
		struct hpctk_block block;
		struct hpctk_run run;
		if (hpctk_context_block(db, number, &block, NULL) < 0)
			continue;
		for (uint32_t i = 0; i < block.n_index; i++)
			if (hpctk_block_run(&block, i, &run, NULL) == 0 && run.first < run.end &&
				run.key < HPCTK_N_IDS)
				quantity_seen(
					s, hpctk_quantity_of_prop(s->reader->metrics, run.key));
	}
}

static void threads_search(struct search *s)
{
	const struct pm_threads *threads = &s->reader->threads->list;
	for (uint32_t t = 0; t < threads->n && s->unseen && !pm_work_cancelled(); t++) {
		struct hpctk_block b;
		if (hpctk_profile_block(s->reader->db, threads->threads[t].id, &b, NULL) < 0)
			continue;
		for (uint64_t v = 0; v < b.n_values && s->unseen; v++)
			quantity_seen(s,
				hpctk_quantity_of_prop(
					s->reader->metrics, hpctk_block_value(&b, v).sub));
	}
}

static int columns_fill(void *owner, void *part, struct pm_error *err)
{
	struct hpctk_opened *db = owner;
	struct hpctk_columns *c = part;
	struct hpctk_run_reader reader;
	int r = hpctk_run_reader_init(&reader, db, err);
	if (r == 0)
		r = hpctk_blocks_ready(db, true, err);
	if (r < 0)
		return r;
	size_t n = reader.metrics->n_quantities;
	uint32_t *group_of = calloc(n + 1, sizeof(*group_of));
	bool *seen = calloc(n + 1, sizeof(*seen));
	c->metrics = calloc(n + 1, sizeof(*c->metrics));
	c->shown = calloc(n + 1, sizeof(*c->shown));
	c->visible = calloc(n + 1, sizeof(*c->visible));
	c->damage = (struct pm_damage_list)PM_DAMAGE_LIST_INIT;
	if (group_of && seen && c->metrics && c->shown && c->visible) {
		struct search s = {.reader = &reader, .group_of = group_of, .seen = seen};
		s.unseen = metrics_list(reader.metrics, c, group_of);
		summary_search(&s);
		if (db->folder.present[HPCTK_CCT])
			cct_search(&s);
		if (!db->folder.present[HPCTK_CCT] || db->contexts.cut)
			threads_search(&s);
		for (uint32_t i = 0; i < c->list.n; i++)
			c->metrics[i].has_values = seen[c->metrics[i].group];
		c->list.metrics = c->metrics;
		db->parts.metrics.it = &c->list;
		r = pm_work_cancelled() ? PM_CANCELLED : 0;
		if (r == 0 && db->folder.has_formulas)
			r = hpctk_taxonomy_parse(
				db->folder.formulas.bytes, reader.metrics, group_of, c);
		if (c->damage.no_memory)
			r = -ENOMEM;
	} else {
		r = -ENOMEM;
	}
	free(group_of);
	free(seen);
	return r;
}

static void columns_done(void *part)
{
	struct hpctk_columns *c = part;
	free(c->metrics);
	free(c->derived);
	free(c->shown);
	free(c->visible);
	pm_damage_done(&c->damage);
	pm_arena_done(&c->arena);
}

static const struct pm_part_type type = {.size = sizeof(struct hpctk_columns),
	.fill = columns_fill,
	.done = columns_done,
	.file = NULL,
	.what = "metrics"};

int hpctk_columns_get(
	struct hpctk_opened *db, const struct hpctk_columns **ret, struct pm_error *err)
{
	return pm_part_get(&db->columns, &type, db, ret, err);
}
