/*
 * Freezes trees: turns contexts by rank into pre-order arrays. Parents have lower ranks than their
 * children, so every pass is a plain loop by rank: forwards to pass something from parents to
 * children, backwards from children to parents. There is no recursion and no stack, however deep
 * the tree is.
 */
#include "formats/common/sort.h"
#include "formats/common/tree.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/tree_private.h"
#include "formats/common/work.h"
#include "profmount/limits.h"

/*
 * The shape by rank. The children of rank r are kids[first[r + 1] … first[r + 2]); contexts without
 * a parent come first, so that parent + 1 is an index into `first` for every parent, including
 * PM_NONE.
 */
struct shape {
	uint32_t *first; /* n + 2 */
	uint32_t *kids;  /* n */
	uint32_t *size;  /* of the subtree; n */
	uint32_t *index; /* in pre-order; n */
};

static void free_shape(struct shape *s)
{
	free(s->first);
	free(s->kids);
	free(s->size);
	free(s->index);
}

static bool new_shape(struct shape *s, size_t n)
{
	s->first = calloc(n + 2, sizeof(uint32_t));
	s->kids = calloc(n + 1, sizeof(uint32_t)); /* + 1: never of size 0 */
	s->size = calloc(n + 1, sizeof(uint32_t));
	s->index = calloc(n + 1, sizeof(uint32_t));
	return s->first && s->kids && s->size && s->index;
}

/* Fills `kids` in order of rank. */
static void list_children(const struct pm_tree_builder *b, struct shape *s)
{
	uint32_t *first = s->first;
	for (uint32_t rank = 0; rank < b->n; rank++)
		first[b->contexts[rank].parent + 1]++;
	for (uint32_t i = 0, at = 0; i < b->n + 1; i++) {
		uint32_t count = first[i];
		first[i] = at;
		at += count;
	}
	for (uint32_t rank = 0; rank < b->n; rank++)
		s->kids[first[b->contexts[rank].parent + 1]++] = rank;
	/* Each start has become its end, which is the start of the next list. */
	memmove(first + 1, first, ((size_t)b->n + 1) * sizeof(*first));
	first[0] = 0;
}

/* NaN is less than any other value. */
static bool is_heavier(double a, double b)
{
	return a > b || (isnan(b) && !isnan(a));
}

static int by_weight(const void *a, const void *b, void *weights)
{
	const uint32_t *x = a, *y = b;
	const double *weight = weights;
	if (is_heavier(weight[*x], weight[*y]))
		return -1;
	if (is_heavier(weight[*y], weight[*x]))
		return 1;
	return (*x > *y) - (*x < *y);
}

static bool is_sorted(const uint32_t *kids, size_t n, const double *weight)
{
	for (size_t i = 1; i < n; i++)
		if (is_heavier(weight[kids[i]], weight[kids[i - 1]]))
			return false;
	return true;
}

/* Most lists of children have one item or are already sorted: only the others are sorted. */
static int sort_children(struct shape *s, uint32_t n, const double *weight)
{
	for (uint32_t place = 0; place < n + 1; place++) {
		uint32_t *kids = s->kids + s->first[place];
		size_t n_kids = s->first[place + 1] - s->first[place];
		if (!is_sorted(kids, n_kids, weight) &&
			pm_sort_with(kids, n_kids, sizeof(*kids), by_weight,
				(void *)(uintptr_t)weight) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Numbers the children of a context from `at` on, each after its predecessor's subtree. */
static void place_children(struct shape *s, uint32_t place, uint32_t at)
{
	for (uint32_t i = s->first[place]; i < s->first[place + 1]; i++) {
		s->index[s->kids[i]] = at;
		at += s->size[s->kids[i]];
	}
}

static void place_all(const struct pm_tree_builder *b, struct shape *s)
{
	for (uint32_t rank = b->n; rank-- > 0;) {
		uint32_t parent = b->contexts[rank].parent;
		s->size[rank]++; /* itself; its descendants have been added */
		if (parent != PM_NONE)
			s->size[parent] += s->size[rank];
	}
	place_children(s, 0, 0);
	for (uint32_t rank = 0; rank < b->n; rank++)
		place_children(s, rank + 1, s->index[rank] + 1);
}

/* The arrays of the tree; -ENOMEM if it is too deep or there is no memory. */
static int fill_arrays(const struct pm_tree_builder *b, const struct shape *s,
	struct pm_tree_frozen *frozen, struct pm_error *err)
{
	size_t n = b->n;
	uint32_t *parent = malloc((n * (b->numbered ? 6 : 5) + 1) * sizeof(*parent));
	if (!parent)
		return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for the tree");
	uint32_t *end = parent + n, *depth = end + n, *frame = depth + n, *rank_of = frame + n;
	uint32_t *number = b->numbered ? rank_of + n : NULL;
	frozen->arrays = parent;
	for (uint32_t rank = 0; rank < b->n; rank++) {
		const struct pm_tree_node *c = &b->contexts[rank];
		uint32_t i = s->index[rank];
		parent[i] = c->parent == PM_NONE ? PM_NONE : s->index[c->parent];
		depth[i] = c->parent == PM_NONE ? 0 : depth[parent[i]] + 1;
		if (depth[i] >= PM_LIMIT_DEPTH)
			return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET,
				"the calling-context tree is deeper than %d levels",
				PM_LIMIT_DEPTH);
		end[i] = i + s->size[rank];
		frame[i] = c->frame;
		rank_of[i] = rank;
		if (number)
			number[i] = c->number;
	}
	struct pm_tree *tree = &frozen->tree;
	tree->n_contexts = b->n;
	tree->parent = parent;
	tree->end = end;
	tree->depth = depth;
	tree->frame = frame;
	tree->rank = rank_of;
	tree->number = number;
	return 0;
}

/* Shrinks a list to its size; if that fails, the list stays larger. */
static void *shrunk(void *list, size_t n, size_t size)
{
	void *smaller = list ? realloc(list, (n ? n : 1) * size) : NULL;
	return smaller ? smaller : list;
}

/* Takes over frames, functions and texts from the builder. */
static void move_lists(struct pm_tree_builder *b, struct pm_tree_frozen *frozen)
{
	struct pm_tree *tree = &frozen->tree;
	tree->frames = frozen->frames = shrunk(b->frames, b->n_frames, sizeof(*b->frames));
	tree->n_frames = b->n_frames;
	tree->functions = frozen->functions =
		shrunk(b->functions, b->n_functions, sizeof(*b->functions));
	tree->n_functions = b->n_functions;
	b->frames = NULL;
	b->functions = NULL;

	free(b->texts.slots);
	b->texts.slots = NULL;
	b->texts.n_slots = 0;
	b->texts.items =
		shrunk((void *)(uintptr_t)b->texts.items, b->texts.n, sizeof(*b->texts.items));
	frozen->texts = b->texts;
	frozen->arena = b->arena;
	b->texts = (struct pm_strtab){.arena = NULL};
	b->arena = (struct pm_arena){.block = NULL};
	tree->texts = frozen->texts.items;
	tree->n_texts = frozen->texts.n;
}

/* Turns contexts by rank into the arrays of the tree and the index over their numbers. */
static int arrange(const struct pm_tree_builder *b, const double *weight, struct shape *s,
	struct pm_tree_frozen *frozen, struct pm_error *err)
{
	if (!new_shape(s, b->n))
		return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for the tree");
	list_children(b, s);
	if ((weight && sort_children(s, b->n, weight) < 0) || pm_work_cancelled())
		return pm_error_plain(err, -ENOMEM);
	place_all(b, s);
	int r = pm_work_cancelled() ? pm_error_plain(err, -ENOMEM) : fill_arrays(b, s, frozen, err);
	if (r < 0 || !b->numbered)
		return r;
	frozen->tree.by_number = frozen->by_number =
		pm_index_new(&frozen->tree, s->index, b->has_zero);
	if (!frozen->by_number)
		return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for the tree");
	return 0;
}

static int freeze(struct pm_tree_builder *b, const double *weight, struct shape *s,
	struct pm_tree_frozen *frozen, struct pm_error *err)
{
	if (b->failed)
		return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for the tree");
	pm_map_done(&b->children);
	frozen->tree.ordered_by = weight ? 0 : PM_NONE;
	int r = arrange(b, weight, s, frozen, err);
	if (r == 0)
		move_lists(b, frozen);
	return r;
}

int pm_tree_freeze(struct pm_tree_builder *b, const double *weight, struct pm_tree **ret,
	uint32_t **ret_index, struct pm_error *err)
{
	struct shape s = {.first = NULL};
	struct pm_tree_frozen *frozen = calloc(1, sizeof(*frozen));
	int r = frozen ? freeze(b, weight, &s, frozen, err)
		       : pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for the tree");
	if (r == 0) {
		*ret = &frozen->tree;
		if (ret_index) {
			*ret_index = s.index;
			s.index = NULL;
		}
	} else if (frozen) {
		pm_tree_free(&frozen->tree);
	}
	free_shape(&s);
	pm_tree_builder_free(b);
	return r;
}

/* ---- another order ---- */

/* The contexts that are kept, in database order: their new ranks by rank; `*ret_n` of them. */
static uint32_t *rank_kept(const struct pm_tree *tree, const bool *kept, uint32_t *ret_n)
{
	uint32_t *rank = malloc(((size_t)tree->n_contexts + 1) * sizeof(*rank)), n = 0;
	for (uint32_t i = 0; rank && i < tree->n_contexts; i++)
		rank[tree->rank[i]] = !kept || kept[i];
	for (uint32_t i = 0; rank && i < tree->n_contexts; i++)
		rank[i] = rank[i] ? n++ : PM_NONE;
	*ret_n = n;
	return rank;
}

/* The kept contexts as they were before freezing, by new rank. */
static void unfreeze(const struct pm_tree *tree, const uint32_t *new_rank, const double *weight,
	struct pm_tree_node *nodes, double *weight_of, uint32_t *from)
{
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		uint32_t rank = new_rank[tree->rank[i]], parent = tree->parent[i];
		if (rank == PM_NONE)
			continue;
		nodes[rank] = (struct pm_tree_node){
			.parent = parent == PM_NONE ? PM_NONE : new_rank[tree->rank[parent]],
			.frame = tree->frame[i],
			.number = pm_tree_number(tree, i),
		};
		weight_of[rank] = weight[i];
		from[rank] = i;
	}
}

struct part {
	const struct pm_tree *tree;
	const double *weight;
	const bool *kept; /* NULL: all */
	struct pm_tree_extra extra;
};

static int rearrange(const struct part *p, struct pm_tree_frozen *frozen, uint32_t **ret_from,
	struct pm_error *err)
{
	struct shape s = {.first = NULL};
	struct pm_tree_builder b = {.numbered = true};
	b.has_zero = p->extra.frame != PM_NONE ||
		(p->tree->number && pm_tree_find(p->tree, 0) != PM_NONE);
	uint32_t *rank = rank_kept(p->tree, p->kept, &b.n);
	size_t n = (size_t)b.n + 2;
	double *weight_of = malloc(n * sizeof(*weight_of));
	uint32_t *from_rank = malloc(n * sizeof(*from_rank)), *from = malloc(n * sizeof(*from));
	b.contexts = malloc(n * sizeof(*b.contexts));
	int r = -ENOMEM;
	if (rank && weight_of && from_rank && from && b.contexts) {
		unfreeze(p->tree, rank, p->weight, b.contexts, weight_of, from_rank);
		if (p->extra.frame != PM_NONE) {
			weight_of[b.n] = p->extra.weight;
			from_rank[b.n] = p->tree->n_contexts;
			b.contexts[b.n++] =
				(struct pm_tree_node){.parent = PM_NONE, .frame = p->extra.frame};
		}
		r = arrange(&b, weight_of, &s, frozen, err);
	}
	for (uint32_t i = 0; r == 0 && i < b.n; i++)
		from[i] = from_rank[frozen->tree.rank[i]];
	free_shape(&s);
	free(b.contexts);
	free(weight_of);
	free(from_rank);
	free(rank);
	if (r == 0)
		*ret_from = from;
	else
		free(from);
	return r;
}

/* Frames, functions and texts are those of `tree`. */
static void share_lists(struct pm_tree *t, const struct pm_tree *tree)
{
	t->ordered_by = tree->ordered_by;
	t->n_frames = tree->n_frames;
	t->frames = tree->frames;
	t->n_function_ids = tree->n_function_ids;
	t->n_functions = tree->n_functions;
	t->functions = tree->functions;
	t->n_texts = tree->n_texts;
	t->texts = tree->texts;
	t->whole = tree->whole ? tree->whole : tree;
}

static int borrow(
	const struct part *p, struct pm_tree **ret, uint32_t **ret_from, struct pm_error *err)
{
	struct pm_tree_frozen *frozen = calloc(1, sizeof(*frozen));
	int r = frozen ? rearrange(p, frozen, ret_from, err) : -ENOMEM;
	if (r < 0) {
		if (frozen)
			pm_tree_free(&frozen->tree);
		return pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory for the tree");
	}
	share_lists(&frozen->tree, p->tree);
	*ret = &frozen->tree;
	return 0;
}

int pm_tree_reorder(const struct pm_tree *tree, const double *weight, struct pm_tree **ret,
	uint32_t **ret_from, struct pm_error *err)
{
	const struct part part = {.tree = tree, .weight = weight, .extra = {PM_NONE, 0}};
	return borrow(&part, ret, ret_from, err);
}

int pm_tree_prune(const struct pm_tree *tree, const double *weight, const bool *kept,
	const struct pm_tree_extra *extra, struct pm_tree **ret, uint32_t **ret_from,
	struct pm_error *err)
{
	const struct part part = {.tree = tree, .weight = weight, .kept = kept, .extra = *extra};
	return borrow(&part, ret, ret_from, err);
}

/* ---- contexts hung elsewhere ---- */

/* The lists of `tree`, and after them a placeholder with that name. */
static int make_placeholder(
	struct pm_tree_frozen *frozen, const struct pm_tree *tree, struct pm_bytes name)
{
	size_t n_frames = tree->n_frames, n_functions = tree->n_functions, n_texts = tree->n_texts;
	struct pm_bytes *texts = malloc((n_texts + 1) * sizeof(*texts));
	frozen->texts.items = texts;
	frozen->frames = malloc((n_frames + 1) * sizeof(*frozen->frames));
	frozen->functions = malloc((n_functions + 1) * sizeof(*frozen->functions));
	if (!texts || !frozen->frames || !frozen->functions)
		return -ENOMEM;
	if (n_frames)
		memcpy(frozen->frames, tree->frames, n_frames * sizeof(*frozen->frames));
	if (n_functions)
		memcpy(frozen->functions, tree->functions,
			n_functions * sizeof(*frozen->functions));
	if (n_texts)
		memcpy(texts, tree->texts, n_texts * sizeof(*texts));
	texts[n_texts] = name;
	frozen->functions[n_functions] = (struct pm_function){.name = (uint32_t)n_texts,
		.id = tree->n_function_ids ? frozen->tree.n_function_ids++ : PM_NONE};
	frozen->frames[n_frames] = (struct pm_frame){.kind = PM_KIND_PLACEHOLDER,
		.function = (uint32_t)n_functions,
		.name = (uint32_t)n_texts};
	frozen->tree.texts = texts;
	frozen->tree.n_texts++;
	frozen->tree.functions = frozen->functions;
	frozen->tree.n_functions++;
	frozen->tree.frames = frozen->frames;
	frozen->tree.n_frames++;
	return 0;
}

static int regrow(const struct pm_tree *tree, const struct pm_tree_regrowth *with, struct shape *s,
	struct pm_tree_frozen *frozen, struct pm_error *err)
{
	struct pm_tree_builder b = {.n = with->n, .numbered = true};
	uint32_t largest = 0;
	b.has_zero = tree->number && pm_tree_find(tree, 0) != PM_NONE;
	b.contexts = malloc(((size_t)with->n + 1) * sizeof(*b.contexts));
	if (!b.contexts)
		return -ENOMEM;
	for (uint32_t i = 0; with->n_made && i < tree->n_contexts; i++)
		if (pm_tree_number(tree, i) > largest)
			largest = pm_tree_number(tree, i);
	bool numbers_left = largest <= UINT32_MAX - with->n_made;
	for (uint32_t i = 0; i < with->n; i++) {
		uint32_t from = with->from[i];
		b.contexts[i] = (struct pm_tree_node){.parent = with->parent[i],
			.frame = from == PM_NONE ? tree->n_frames : tree->frame[from],
			.number = from == PM_NONE ? ++largest : pm_tree_number(tree, from)};
	}
	share_lists(&frozen->tree, tree);
	int r = numbers_left ? arrange(&b, with->weight, s, frozen, err) : -ENOMEM;
	free(b.contexts);
	return r == 0 && with->n_made ? make_placeholder(frozen, tree, with->made) : r;
}

int pm_tree_regrow(const struct pm_tree *tree, const struct pm_tree_regrowth *with,
	struct pm_tree **ret, uint32_t **ret_index, struct pm_error *err)
{
	struct shape s = {.first = NULL};
	struct pm_tree_frozen *frozen = calloc(1, sizeof(*frozen));
	int r = frozen ? regrow(tree, with, &s, frozen, err) : -ENOMEM;
	if (r == 0) {
		*ret = &frozen->tree;
		*ret_index = s.index;
		s.index = NULL;
	} else if (frozen) {
		pm_tree_free(&frozen->tree);
	}
	free_shape(&s);
	return r < 0 ? pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory for the tree") : 0;
}
