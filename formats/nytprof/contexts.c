/*
 * Merges the trees of the processes: equal names along the path are one context. Walks each tree
 * from its top with an explicit stack; siblings are in the order in which their names first
 * occurred.
 */
#include "formats/nytprof/contexts.h"

#include <errno.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/sort.h"

struct step {
	uint32_t node;
	uint32_t met;    /* the name as stored: siblings are listed in order of occurrence */
	uint32_t name;   /* number of the sub: nytp_sub_of */
	uint32_t parent; /* rank, or PM_NONE */
};

struct walk {
	const struct nytp_file *file;
	const struct nytp_trie *tree;
	uint32_t *first, *next; /* children: see pm_paths_link */
	struct step *steps;
	size_t n, room;
};

/* Pushed in reverse: the first to be visited is on top. */
static int by_name(const void *a, const void *b)
{
	const struct step *x = a, *y = b;
	return (x->met < y->met) - (x->met > y->met);
}

static uint32_t sub_of(const struct nytp *n, const struct walk *w, uint32_t name)
{
	return name == NYTP_NOT_RETURNED ? name : nytp_sub_of(n, w->file, name);
}

/* `node` PM_NONE: the top. */
static int push_kids(const struct nytp *n, struct walk *w, uint32_t node, uint32_t rank)
{
	size_t first = w->n;
	uint32_t kid = w->first[(uint32_t)(node + 1)];
	for (; kid != PM_NONE; kid = w->next[kid]) {
		if (pm_list_room(&w->steps, w->n, &w->room, sizeof(*w->steps)) < 0)
			return -ENOMEM;
		uint32_t met = w->tree->paths.items[kid].key;
		w->steps[w->n++] = (struct step){kid, met, sub_of(n, w, met), rank};
	}
	return w->n == first ? 0
			     : pm_sort(w->steps + first, w->n - first, sizeof(*w->steps), by_name);
}

static int visit(struct nytp_building *b, const struct step *step, const struct nytp_cost *call,
	uint32_t thread, double ns_per_tick, uint32_t *ret_rank)
{
	uint32_t frame = nytp_frame_of(b, step->name);
	uint32_t rank = frame == NYTP_NONE ? PM_NONE : nytp_context_of(b, step->parent, frame);
	*ret_rank = rank;
	if (rank == PM_NONE || nytp_weigh(b, rank, call->incl * ns_per_tick) < 0)
		return -ENOMEM;
	struct nytp_cell *cell = nytp_cell_add(b, thread, rank);
	if (!cell)
		return -ENOMEM;
	cell->values[NYTP_INCL] = call->incl * ns_per_tick;
	if (call->calls == 0) /* not returned: only the calls below it are known */
		return 0;
	cell->values[NYTP_EXCL] = call->excl * ns_per_tick;
	cell->values[NYTP_CALLS] = (double)call->calls;
	return 0;
}

static int walk_tree(struct nytp_building *b, struct walk *w, uint32_t thread)
{
	uint32_t rank;
	double ns_per_tick = w->file->ns_per_tick;
	int r = push_kids(b->n, w, PM_NONE, PM_NONE);
	while (r == 0 && w->n) {
		struct step step = w->steps[--w->n];
		r = visit(b, &step, &w->tree->costs[step.node], thread, ns_per_tick, &rank);
		if (r == 0)
			r = push_kids(b->n, w, step.node, rank);
	}
	return r;
}

static int walk_thread(
	struct nytp_building *b, const struct nytp_file *f, const struct nytp_thread *thread)
{
	const struct nytp_trie *tree = &thread->calls.tree;
	size_t n = tree->paths.n;
	struct walk w = {.file = f, .tree = tree};
	if (n == 0)
		return 0;
	w.first = malloc((n + 1) * sizeof(*w.first));
	w.next = malloc(n * sizeof(*w.next));
	int r = w.first && w.next ? 0 : -ENOMEM;
	if (r == 0) {
		pm_paths_link(&tree->paths, w.first, w.next);
		r = walk_tree(b, &w, nytp_thread_of(b->threads, thread->pid));
	}
	free(w.first);
	free(w.next);
	free(w.steps);
	return r;
}

int nytp_build_calls(struct nytp_building *b)
{
	int r = 0;
	for (size_t i = 0; r == 0 && i < b->n->n_files; i++) {
		const struct nytp_file *f = &b->n->files[i];
		for (size_t k = 0; r == 0 && k < f->n_threads; k++)
			r = walk_thread(b, f, &f->threads[k]);
	}
	return r;
}
