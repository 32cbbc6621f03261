/*
 * Subs return before their callers, so the tree grows from the leaves. What has returned waits at
 * its depth until its caller returns, which is the next return from a lower depth:
 *
 *	depth 3   < d     < e           <- both wait
 *	depth 2              < c        <- c returns, adopts d and e, waits
 *	depth 1                         (their caller's caller is still running)
 *
 * Each depth where something waits is a nameless node whose kids are what waits. When the caller
 * returns, the node gets its name: O(1). If a call of that name waits beside it already, the two
 * are merged, smaller family into larger one. Kids are found by (family, name) in one hash table
 * that is threaded through the nodes; families can be exchanged between nodes because the key
 * holds a family's id, not the parent's index.
 */
#include "formats/nytprof/calls.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/nytprof/limits.h"
#include "profmount/limits.h"

/* Missing callers are shown one by one: the short gaps, and so many contexts for long ones. */
enum { GAP_SHORT = 64, GAPS_LONG = 20000 };

struct nytp_level {
	uint32_t depth;
	uint32_t node; /* its kids returned from `depth` */
};

void nytp_calls_init(struct nytp_calls *c, size_t *rows)
{
	*c = (struct nytp_calls){.rows = rows, .free = NYTP_NONE, .roots = NYTP_NONE};
}

void nytp_calls_done(struct nytp_calls *c)
{
	free(c->nodes);
	free(c->buckets);
	free(c->levels);
	nytp_calls_init(c, c->rows);
}

/* ---- the hash table ---- */

static uint32_t *bucket(const struct nytp_calls *c, uint32_t family, uint32_t name)
{
	uint64_t key = (uint64_t)family << 32 | name;
	return &c->buckets[pm_hash_u64(key ^ (uintptr_t)c->buckets) & (c->n_buckets - 1)];
}

static uint32_t find(const struct nytp_calls *c, uint32_t family, uint32_t name)
{
	uint32_t i = *bucket(c, family, name);
	while (i != NYTP_NONE && (c->nodes[i].name != name || c->nodes[i].family != family))
		i = c->nodes[i].hash_next;
	return i;
}

static void hash_in(struct nytp_calls *c, uint32_t i)
{
	uint32_t *head = bucket(c, c->nodes[i].family, c->nodes[i].name);
	c->nodes[i].hash_next = *head;
	*head = i;
}

static void hash_out(struct nytp_calls *c, uint32_t i)
{
	uint32_t *link = bucket(c, c->nodes[i].family, c->nodes[i].name);
	while (*link != i)
		link = &c->nodes[*link].hash_next;
	*link = c->nodes[i].hash_next;
}

static int rehash(struct nytp_calls *c)
{
	size_t grown = c->n_buckets ? c->n_buckets * 2 : 256, old = c->n_buckets;
	uint32_t *buckets = malloc(grown * sizeof(*buckets)), *before = c->buckets;
	if (!buckets)
		return -ENOMEM;
	for (size_t i = 0; i < grown; i++)
		buckets[i] = NYTP_NONE;
	c->buckets = buckets;
	c->n_buckets = grown;
	for (size_t i = 0; i < old; i++)
		for (uint32_t node = before[i], next; node != NYTP_NONE; node = next) {
			next = c->nodes[node].hash_next;
			hash_in(c, node);
		}
	free(before);
	return 0;
}

/* ---- nodes ---- */

/* Memory for `n` more nodes, so that what follows cannot fail half-way. */
static int reserve(struct nytp_calls *c, size_t n)
{
	while (c->room < c->n + n)
		if (pm_list_room(&c->nodes, c->room, &c->room, sizeof(*c->nodes)) < 0)
			return -ENOMEM;
	while (c->n_buckets < c->n + n)
		if (rehash(c) < 0)
			return -ENOMEM;
	return pm_list_room(&c->levels, c->n_levels, &c->levels_room, sizeof(*c->levels));
}

static uint32_t node_new(struct nytp_calls *c)
{
	uint32_t i = c->free, family;
	if (i != NYTP_NONE) {
		c->free = c->nodes[i].next;
		family = c->nodes[i].kids.id;
	} else {
		family = i = (uint32_t)c->n++;
		++*c->rows;
	}
	c->nodes[i] = (struct nytp_call){
		.name = NYTP_NONE, .next = NYTP_NONE, .kids = {.id = family, .first = NYTP_NONE}};
	return i;
}

static void node_free(struct nytp_calls *c, uint32_t i)
{
	c->nodes[i].name = NYTP_NONE;
	c->nodes[i].next = c->free;
	c->free = i;
}

/* Makes node i, in no family, a kid of `parent`, which has none of its name. */
static void kid_add(struct nytp_calls *c, uint32_t parent, uint32_t i)
{
	struct nytp_call *p = &c->nodes[parent], *kid = &c->nodes[i];
	kid->family = p->kids.id;
	kid->next = p->kids.first;
	p->kids.first = i;
	p->kids.n++;
	hash_in(c, i);
}

static void costs_add(struct nytp_call *to, const struct nytp_call *from)
{
	to->calls += from->calls;
	to->incl += from->incl;
	to->excl += from->excl;
}

/*
 * The kids of `from` become kids of `to`, those of one name are merged, theirs too; `from` is
 * freed. The pairs still to do are linked by `next`, the partner stands in hash_next.
 */
static void merge(struct nytp_calls *c, uint32_t to, uint32_t from)
{
	uint32_t todo = from;
	c->nodes[from].next = NYTP_NONE;
	c->nodes[from].hash_next = to;
	while (todo != NYTP_NONE) {
		from = todo;
		todo = c->nodes[from].next;
		struct nytp_call *a = &c->nodes[c->nodes[from].hash_next], *b = &c->nodes[from];
		uint32_t into = b->hash_next;
		if (b->kids.n > a->kids.n) {
			struct nytp_call held = *a;
			a->kids = b->kids;
			b->kids = held.kids;
		}
		for (uint32_t kid = b->kids.first, next; kid != NYTP_NONE; kid = next) {
			next = c->nodes[kid].next;
			hash_out(c, kid);
			uint32_t twin = find(c, a->kids.id, c->nodes[kid].name);
			if (twin == NYTP_NONE) {
				kid_add(c, into, kid);
				continue;
			}
			costs_add(&c->nodes[twin], &c->nodes[kid]);
			c->nodes[kid].hash_next = twin;
			c->nodes[kid].next = todo;
			todo = kid;
		}
		node_free(c, from);
	}
}

/* ---- levels ---- */

/*
 * Names the nameless node `group` (NYTP_NONE: a call without callees) and puts it among the kids
 * of `level`. A node must be reserved.
 */
static void settle(struct nytp_calls *c, uint32_t level, uint32_t group, struct nytp_call costs)
{
	uint32_t twin = find(c, c->nodes[level].kids.id, costs.name);
	if (twin != NYTP_NONE) {
		costs_add(&c->nodes[twin], &costs);
		if (group != NYTP_NONE)
			merge(c, twin, group);
		return;
	}
	uint32_t i = group != NYTP_NONE ? group : node_new(c);
	c->nodes[i].name = costs.name;
	costs_add(&c->nodes[i], &costs);
	kid_add(c, level, i);
}

/* How many contexts stand for `gap` missing callers. */
static uint32_t gap_shown(struct nytp_calls *c, uint32_t gap)
{
	if (gap <= GAP_SHORT)
		return gap;
	if (gap > GAPS_LONG - c->long_gap)
		return 1;
	c->long_gap += gap;
	return gap;
}

/* What the kids of a nameless node cost: the caller cost at least that. */
static double kids_incl(const struct nytp_calls *c, uint32_t group)
{
	double sum = 0;
	for (uint32_t kid = c->nodes[group].kids.first; kid != NYTP_NONE; kid = c->nodes[kid].next)
		sum += c->nodes[kid].incl;
	return sum;
}

/* Puts callers that never returned above the kids of `group`, `gap` levels. */
static int lift(struct nytp_calls *c, uint32_t *group, uint32_t gap)
{
	for (uint32_t n = gap_shown(c, gap); n; n--) {
		if (reserve(c, 1) < 0)
			return -ENOMEM;
		uint32_t above = node_new(c);
		struct nytp_call caller = {.name = NYTP_NOT_RETURNED, .incl = kids_incl(c, *group)};
		settle(c, above, *group, caller);
		*group = above;
	}
	return 0;
}

/* All that waits at depths above `depth`, as kids of one nameless node at depth + 1. */
static int gather(struct nytp_calls *c, uint32_t depth, uint32_t *ret_group)
{
	uint32_t group = NYTP_NONE, at = 0;
	while (c->n_levels && c->levels[c->n_levels - 1].depth > depth) {
		struct nytp_level *top = &c->levels[c->n_levels - 1];
		if (group != NYTP_NONE) {
			if (lift(c, &group, at - top->depth) < 0)
				return -ENOMEM;
			merge(c, top->node, group);
		}
		group = top->node;
		at = top->depth;
		c->n_levels--;
	}
	*ret_group = group;
	return group == NYTP_NONE ? 0 : lift(c, ret_group, at - depth - 1);
}

int nytp_calls_return(struct nytp_calls *c, uint32_t depth, uint32_t name, double incl, double excl)
{
	uint32_t group;
	if (depth > PM_LIMIT_DEPTH) {
		depth = PM_LIMIT_DEPTH;
		c->too_deep = true;
	}
	if (*c->rows >= NYTP_LIMIT_ROWS || gather(c, depth, &group) < 0 || reserve(c, 2) < 0)
		return -ENOMEM;
	if (!c->n_levels || c->levels[c->n_levels - 1].depth < depth)
		c->levels[c->n_levels++] = (struct nytp_level){depth, node_new(c)};
	uint32_t level = c->levels[c->n_levels - 1].node;
	settle(c, level, group,
		(struct nytp_call){.name = name, .calls = 1, .incl = incl, .excl = excl});
	c->returns++;
	return 0;
}

int nytp_calls_finish(struct nytp_calls *c)
{
	uint32_t group;
	if (gather(c, 0, &group) < 0 || reserve(c, 1) < 0)
		return -ENOMEM;
	if (c->roots == NYTP_NONE)
		c->roots = node_new(c);
	if (group != NYTP_NONE)
		merge(c, c->roots, group);
	if (c->n_levels) /* depth 0: not written by any program, but possible */
		merge(c, c->roots, c->levels[0].node);
	c->n_levels = 0;
	return 0;
}
