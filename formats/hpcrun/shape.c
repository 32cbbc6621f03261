/*
 * Writers put parents before children, but a damaged file may contain anything: missing parents,
 * cycles. Every chain is followed once; nodes that have been visited have a depth.
 */
#include "formats/hpcrun/shape.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/work.h"
#include "profmount/limits.h"

#define NONE UINT32_MAX

enum { UNSEEN = 0 /* depths count from 1 */, BETWEEN_QUESTIONS = 4096 };
#define ON_CHAIN UINT32_MAX

struct walk {
	struct hpcrun_shape *shape;
	const struct hpcrun_nodes *nodes;
	const struct hpcrun_report *report;
	uint32_t *above; /* the parent's number, as stored */
	uint32_t *depth;
	uint32_t *chain; /* the nodes from the one in question to one with a known depth */
	uint32_t n_ordered;
};

static void report_node(const struct walk *w, uint32_t place, const char *what)
{
	struct hpcrun_node node;
	hpcrun_node_decode(w->nodes, place, &node);
	hpcrun_report_loss(w->report, w->nodes->off + (uint64_t)place * w->nodes->size,
		w->nodes->size, "context %lld (parent %lld) %s", (long long)node.id,
		(long long)node.parent, what);
}

/* False once the work is cancelled. */
static bool go_on(uint32_t i)
{
	return i % BETWEEN_QUESTIONS != 0 || !pm_work_cancelled();
}

static void read_numbers(struct walk *w)
{
	for (uint32_t i = 0; i < w->shape->n && go_on(i); i++) {
		struct hpcrun_node node;
		hpcrun_node_decode(w->nodes, i, &node);
		w->shape->number[i] = hpcrun_node_number(node.id);
		w->above[i] = hpcrun_node_number(node.parent);
	}
}

static int number_nodes(struct walk *w)
{
	struct hpcrun_shape *s = w->shape;
	int r = hpcrun_numbers_init(&s->by_number, s->number, s->n);
	for (uint32_t i = 0; i < s->n && r == 0 && go_on(i); i++) {
		if (s->number[i] == 0) {
			report_node(w, i, "has the number reserved for no context");
			continue;
		}
		int fresh = hpcrun_numbers_put(&s->by_number, s->number[i], i);
		if (fresh == 0) {
			s->number[i] = 0;
			report_node(w, i, "has the number of an earlier one, which keeps it");
		}
		r = fresh < 0 ? fresh : 0;
	}
	return r;
}

static void find_parents(struct walk *w)
{
	for (uint32_t i = 0; i < w->shape->n && go_on(i); i++) {
		uint32_t number = w->above[i], place = NONE;
		if (number)
			place = hpcrun_numbers_find(&w->shape->by_number, number);
		w->shape->parent[i] = place != i ? place : NONE;
		if (number && place == NONE)
			report_node(w, i, "has a parent that does not exist: shown at the top");
		else if (place == i)
			report_node(w, i, "is its own parent: shown at the top");
	}
}

/* Follows parents from `place` to a known node or the top; cuts a cycle at its last link. */
static uint32_t climb(struct walk *w, uint32_t place)
{
	uint32_t n = 0, *parent = w->shape->parent;
	while (place != NONE && w->depth[place] == UNSEEN) {
		w->depth[place] = ON_CHAIN;
		w->chain[n++] = place;
		place = parent[place];
	}
	if (place != NONE && w->depth[place] == ON_CHAIN) {
		report_node(w, w->chain[n - 1], "is its own ancestor: shown at the top");
		parent[w->chain[n - 1]] = NONE;
	}
	return n;
}

static void put_in_order(struct walk *w)
{
	uint32_t *parent = w->shape->parent;
	for (uint32_t i = 0; i < w->shape->n && go_on(i); i++)
		for (uint32_t n = climb(w, i); n-- > 0;) {
			uint32_t place = w->chain[n];
			uint32_t above = parent[place] == NONE ? 0 : w->depth[parent[place]];
			if (above >= PM_LIMIT_DEPTH) {
				report_node(w, place, "is too deep: shown at the top");
				parent[place] = NONE;
				above = 0;
			}
			w->depth[place] = above + 1;
			w->shape->order[w->n_ordered++] = place;
		}
}

int hpcrun_shape_read(struct hpcrun_shape *ret, const struct hpcrun_nodes *nodes,
	const struct hpcrun_report *report)
{
	struct walk w = {.shape = ret, .nodes = nodes, .report = report};
	*ret = (struct hpcrun_shape){.n = (uint32_t)nodes->n};
	if (nodes->n > PM_LIMIT_ITEMS)
		return -ENOMEM;
	size_t n = nodes->n + 1; /* never of size 0 */
	ret->parent = calloc(n, sizeof(*ret->parent));
	ret->number = calloc(n, sizeof(*ret->number));
	ret->order = calloc(n, sizeof(*ret->order));
	w.above = calloc(n, sizeof(*w.above));
	w.depth = calloc(n, sizeof(*w.depth));
	w.chain = calloc(n, sizeof(*w.chain));
	bool room = ret->parent && ret->number && ret->order && w.above && w.depth && w.chain;
	int r = room ? 0 : -ENOMEM;
	if (r == 0) {
		read_numbers(&w);
		r = number_nodes(&w);
	}
	if (r == 0) {
		find_parents(&w);
		put_in_order(&w);
	}
	if (pm_work_cancelled())
		r = -ENOMEM;
	free(w.above);
	free(w.depth);
	free(w.chain);
	return r;
}

void hpcrun_shape_done(struct hpcrun_shape *s)
{
	free(s->parent);
	free(s->number);
	free(s->order);
	hpcrun_numbers_done(&s->by_number);
	*s = (struct hpcrun_shape){.n = 0};
}
