/*
 * Trees of contexts: built in the order of arrival, which is their rank, then frozen into pre-order
 * arrays, in which contexts and paths are found.
 */
#include "formats/common/tree.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "formats/common/work.h"
#include "profmount/limits.h"

/* A context that is being built. */
struct pm_tree_node {
	uint32_t parent, frame, number;
};

struct pm_tree_builder {
	struct pm_tree_node *contexts;
	size_t room;
	struct pm_map children; /* parent << 32 | frame → rank */

	struct pm_frame *frames;
	size_t frames_room;
	uint64_t *frame_slots; /* open addressing: hash << 32 | index + 1; 0 is free */
	uintptr_t frame_salt;
	size_t n_frame_slots;

	struct pm_function *functions;
	size_t functions_room;

	struct pm_strtab texts;
	struct pm_arena arena;

	uint32_t n, n_frames, n_functions;
	bool numbered; /* some context has a number */
	bool has_zero; /* one of them is a context: see struct pm_tree_extra */
	bool failed;   /* no memory, or too many items */
};

/* A tree with the memory behind its const pointers. */
struct pm_tree_frozen {
	struct pm_tree tree;     /* first: the two are converted into each other */
	uint32_t *arrays;        /* all arrays with one cell per context, one after the other */
	struct pm_frame *frames; /* like those of `tree` … */
	struct pm_function *functions;
	struct pm_strtab texts;
	struct pm_index *by_number;
	struct pm_arena arena; /* copied texts */
};

/*
 * ==== building ====
 * Texts and frames are interned. Running out of memory is sticky: the caller may continue, and
 * freezing returns the error.
 */

struct pm_tree_builder *pm_tree_builder_new(void)
{
	struct pm_tree_builder *b = calloc(1, sizeof(*b));
	if (b && pm_tree_text(b, pm_bytes_of(""), false) != 0)
		return pm_tree_builder_free(b);
	return b;
}

struct pm_tree_builder *pm_tree_builder_free(struct pm_tree_builder *b)
{
	if (!b)
		return NULL;
	free(b->contexts);
	pm_map_done(&b->children);
	free(b->frames);
	free(b->frame_slots);
	free(b->functions);
	pm_strtab_done(&b->texts);
	pm_arena_done(&b->arena);
	free(b);
	return NULL;
}

/* ---- building ---- */

static uint32_t fail(struct pm_tree_builder *b)
{
	b->failed = true;
	return PM_NONE;
}

uint32_t pm_tree_text(struct pm_tree_builder *b, struct pm_bytes text, bool copy)
{
	b->texts.arena = copy ? &b->arena : NULL;
	uint32_t index =
		copy ? pm_strtab_add(&b->texts, text) : pm_strtab_add_lasting(&b->texts, text);
	return index == PM_NONE ? fail(b) : index;
}

uint32_t pm_tree_function(struct pm_tree_builder *b, const struct pm_function *function)
{
	if (b->n_functions >= PM_LIMIT_ITEMS ||
		pm_list_room(&b->functions, b->n_functions, &b->functions_room, sizeof(*function)) <
			0)
		return fail(b);
	b->functions[b->n_functions] = *function;
	return b->n_functions++;
}

static bool is_same_frame(const struct pm_frame *a, const struct pm_frame *b)
{
	return a->kind == b->kind && a->has_offset == b->has_offset && a->nested == b->nested &&
		a->is_idle == b->is_idle && a->is_nothing == b->is_nothing &&
		a->is_root == b->is_root && a->on_gpu == b->on_gpu &&
		a->is_annotation == b->is_annotation && a->code == b->code &&
		a->function == b->function && a->name == b->name && a->file == b->file &&
		a->module == b->module && a->line == b->line && a->offset == b->offset;
}

/* Salted like the tables of map.c. */
static uint64_t hash_frame(const struct pm_frame *f, uintptr_t salt)
{
	uint64_t h = pm_hash_u64(salt ^ f->kind ^ (uint64_t)f->has_offset << 8 ^
		(uint64_t)f->nested << 9 ^ (uint64_t)f->code << 16 ^ (uint64_t)f->function << 32);
	h = pm_hash_u64(h ^ f->name ^ (uint64_t)f->file << 32);
	h = pm_hash_u64(h ^ f->module ^ (uint64_t)f->line << 32);
	return pm_hash_u64(h ^ f->offset);
}

/*
 * The slot of an equal frame, or the free slot where this one belongs. A slot has 32 bits of the
 * hash above the index, so that other frames, which are far away in memory, are rarely looked at.
 */
static uint64_t *frame_slot(
	const struct pm_tree_builder *b, const struct pm_frame *frame, uint32_t hash)
{
	size_t at = hash & (b->n_frame_slots - 1);
	for (;; at = (at + 1) & (b->n_frame_slots - 1)) {
		uint64_t slot = b->frame_slots[at];
		if (slot == 0 ||
			(slot >> 32 == hash &&
				is_same_frame(&b->frames[(uint32_t)slot - 1], frame)))
			return &b->frame_slots[at];
	}
}

static bool grow_frame_slots(struct pm_tree_builder *b)
{
	size_t n = b->n_frame_slots ? 2 * b->n_frame_slots : 64;
	uint64_t *slots = calloc(n, sizeof(*slots));
	if (!slots)
		return false;
	if (b->frame_salt == 0)
		b->frame_salt = (uintptr_t)slots;
	for (size_t i = 0; i < b->n_frame_slots; i++) {
		size_t at = (size_t)(b->frame_slots[i] >> 32) & (n - 1);
		if (b->frame_slots[i] == 0)
			continue;
		while (slots[at] != 0)
			at = (at + 1) & (n - 1);
		slots[at] = b->frame_slots[i];
	}
	free(b->frame_slots);
	b->frame_slots = slots;
	b->n_frame_slots = n;
	return true;
}

uint32_t pm_tree_intern(struct pm_tree_builder *b, const struct pm_frame *frame)
{
	bool full = b->n_frames >= b->n_frame_slots - b->n_frame_slots / 4;
	if (full && !grow_frame_slots(b))
		return fail(b);
	uint32_t hash = (uint32_t)hash_frame(frame, b->frame_salt);
	uint64_t *slot = frame_slot(b, frame, hash);
	if (*slot)
		return (uint32_t)*slot - 1;
	if (b->n_frames >= PM_LIMIT_ITEMS ||
		pm_list_room(&b->frames, b->n_frames, &b->frames_room, sizeof(*frame)) < 0)
		return fail(b);
	b->frames[b->n_frames] = *frame;
	*slot = (uint64_t)hash << 32 | ++b->n_frames;
	return b->n_frames - 1;
}

uint32_t pm_tree_intern_nothing(struct pm_tree_builder *b)
{
	struct pm_frame frame = {.kind = PM_KIND_PLACEHOLDER,
		.is_idle = true,
		.is_nothing = true,
		.function = PM_NONE,
		.name = pm_tree_text(b, pm_bytes_of("<no activity>"), false)};
	return frame.name == PM_NONE ? PM_NONE : pm_tree_intern(b, &frame);
}

const struct pm_frame *pm_tree_interned(const struct pm_tree_builder *b, uint32_t frame)
{
	return &b->frames[frame];
}

uint32_t pm_tree_add(struct pm_tree_builder *b, uint32_t parent, uint32_t frame, uint32_t number)
{
	if (b->n >= PM_LIMIT_ITEMS ||
		pm_list_room(&b->contexts, b->n, &b->room, sizeof(*b->contexts)) < 0)
		return fail(b);
	b->contexts[b->n] = (struct pm_tree_node){parent, frame, number};
	b->numbered |= number != 0;
	return b->n++;
}

uint32_t pm_tree_child(struct pm_tree_builder *b, uint32_t parent, uint32_t frame)
{
	bool is_new;
	uint32_t *rank = pm_map_put(&b->children, (uint64_t)parent << 32 | frame, b->n, &is_new);
	if (!rank)
		return fail(b);
	if (is_new)
		*rank = pm_tree_add(b, parent, frame, 0);
	return *rank;
}

uint32_t pm_tree_count(const struct pm_tree_builder *b)
{
	return b->n;
}

uint32_t pm_tree_parent_of(const struct pm_tree_builder *b, uint32_t rank)
{
	return b->contexts[rank].parent;
}

uint32_t pm_tree_frame_of(const struct pm_tree_builder *b, uint32_t rank)
{
	return b->contexts[rank].frame;
}

uint32_t pm_tree_number_of(const struct pm_tree_builder *b, uint32_t rank)
{
	return b->contexts[rank].number;
}

/* ==== the frozen tree ==== */

/* Database numbers → contexts: an array where numbers are dense, else sorted pairs. */
struct pm_index {
	uint64_t n;      /* cells */
	uint32_t *dense; /* by number; PM_NONE if there is none; or NULL */
	uint64_t *pairs; /* number << 32 | context, by number; or NULL */
};

static struct pm_index *free_index(struct pm_index *index)
{
	if (index) {
		free(index->dense);
		free(index->pairs);
	}
	free(index);
	return NULL;
}

static bool fill_dense(struct pm_index *by_number, const struct pm_tree *tree,
	const uint32_t *index, bool with_zero)
{
	uint32_t *dense = malloc(by_number->n * sizeof(*dense));
	if (!dense)
		return false;
	pm_use_huge_pages(dense, by_number->n * sizeof(*dense));
	memset(dense, 0xff, by_number->n * sizeof(*dense)); /* PM_NONE */
	for (uint32_t rank = 0; rank < tree->n_contexts; rank++) {
		uint32_t number = tree->number[index[rank]];
		if ((number || with_zero) && dense[number] == PM_NONE)
			dense[number] = index[rank];
	}
	by_number->dense = dense;
	return true;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

static bool fill_pairs(struct pm_index *by_number, const struct pm_tree *tree,
	const uint32_t *index, bool with_zero)
{
	uint32_t n = tree->n_contexts;
	uint64_t *pairs = malloc(n * sizeof(*pairs));
	if (!pairs)
		return false;
	/* First number << 32 | rank, so that sorting keeps equal numbers in database order. */
	for (uint32_t rank = 0; rank < n; rank++)
		pairs[rank] = (uint64_t)tree->number[index[rank]] << 32 | rank;
	if (pm_sort(pairs, n, sizeof(*pairs), by_value) < 0) {
		free(pairs);
		return false;
	}
	by_number->n = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint64_t number = pairs[i] >> 32, kept = by_number->n;
		if ((number || with_zero) && (kept == 0 || pairs[kept - 1] >> 32 != number))
			pairs[by_number->n++] = number << 32 | index[(uint32_t)pairs[i]];
	}
	by_number->pairs = pairs;
	return true;
}

/*
 * An index over tree->number; `index` maps ranks to contexts of the tree. Of equal numbers the one
 * with the lowest rank is found; 0 is a number only `with_zero`. NULL if out of memory.
 */
static struct pm_index *new_index(const struct pm_tree *tree, const uint32_t *index, bool with_zero)
{
	struct pm_index *by_number = calloc(1, sizeof(*by_number));
	if (!by_number)
		return NULL;
	uint64_t largest = 0;
	for (uint32_t i = 0; i < tree->n_contexts; i++)
		if (tree->number[i] > largest)
			largest = tree->number[i];
	by_number->n = largest + 1;
	bool is_dense = largest <= 4 * (uint64_t)tree->n_contexts + 1024;
	bool filled = is_dense ? fill_dense(by_number, tree, index, with_zero)
			       : fill_pairs(by_number, tree, index, with_zero);
	return filled ? by_number : free_index(by_number);
}

uint32_t pm_tree_find(const struct pm_tree *tree, uint64_t number)
{
	const struct pm_index *index = tree->by_number;
	if (!tree->number)
		return number - 1 < tree->n_contexts ? (uint32_t)(number - 1) : PM_NONE;
	if (index->dense)
		return number < index->n ? index->dense[number] : PM_NONE;
	uint64_t at = PM_LOWER_BOUND(i, 0, index->n, index->pairs[i] >> 32 < number);
	bool found = at < index->n && index->pairs[at] >> 32 == number;
	return found ? (uint32_t)index->pairs[at] : PM_NONE;
}

uint32_t *pm_tree_path(
	struct pm_arena *a, const struct pm_tree *tree, uint32_t context, uint32_t *ret_n)
{
	uint32_t n = tree->depth[context] + 1;
	uint32_t *path = pm_arena_array(a, n, sizeof(*path));
	for (uint32_t i = n; path && i-- > 0; context = tree->parent[context])
		path[i] = context;
	*ret_n = n;
	return path;
}

void pm_tree_free(struct pm_tree *tree)
{
	struct pm_tree_frozen *frozen = (struct pm_tree_frozen *)tree;
	if (!frozen)
		return;
	free(frozen->arrays);
	free(frozen->frames);
	free(frozen->functions);
	pm_strtab_done(&frozen->texts);
	free_index(frozen->by_number);
	pm_arena_done(&frozen->arena);
	free(frozen);
}

/*
 * ==== freezing ====
 * Turns contexts by rank into pre-order arrays. Parents have lower ranks than their children, so
 * every pass is a plain loop by rank: forwards to pass something from parents to children,
 * backwards from children to parents. There is no recursion and no stack, however deep the tree is.
 */

/*
 * The shape by rank. The children of rank r are children[first[r + 1] … first[r + 2]); contexts
 * without a parent come first, so that parent + 1 is an index into `first` for every parent,
 * including PM_NONE.
 */
struct shape {
	uint32_t *first;    /* n + 2 */
	uint32_t *children; /* n */
	uint32_t *size;     /* of the subtree; n */
	uint32_t *index;    /* in pre-order; n */
};

static void free_shape(struct shape *s)
{
	free(s->first);
	free(s->children);
	free(s->size);
	free(s->index);
}

static bool new_shape(struct shape *s, size_t n)
{
	s->first = pm_zeroed(n + 2, sizeof(uint32_t));
	s->children = pm_zeroed(n + 1, sizeof(uint32_t)); /* + 1: never of size 0 */
	s->size = pm_zeroed(n + 1, sizeof(uint32_t));
	s->index = pm_zeroed(n + 1, sizeof(uint32_t));
	return s->first && s->children && s->size && s->index;
}

/* Fills `children` in order of rank. */
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
		s->children[first[b->contexts[rank].parent + 1]++] = rank;
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

static bool is_sorted(const uint32_t *children, size_t n, const double *weight)
{
	for (size_t i = 1; i < n; i++)
		if (is_heavier(weight[children[i]], weight[children[i - 1]]))
			return false;
	return true;
}

/* Most lists of children have one item or are already sorted: only the others are sorted. */
static int sort_children(struct shape *s, uint32_t n, const double *weight)
{
	for (uint32_t place = 0; place < n + 1; place++) {
		uint32_t *children = s->children + s->first[place];
		size_t n_children = s->first[place + 1] - s->first[place];
		if (!is_sorted(children, n_children, weight) &&
			pm_sort_with(children, n_children, sizeof(*children), by_weight,
				(void *)(uintptr_t)weight) < 0)
			return -ENOMEM;
	}
	return 0;
}

/* Numbers the children of a context from `at` on, each after its predecessor's subtree. */
static void place_children(struct shape *s, uint32_t place, uint32_t at)
{
	for (uint32_t i = s->first[place]; i < s->first[place + 1]; i++) {
		s->index[s->children[i]] = at;
		at += s->size[s->children[i]];
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
	pm_use_huge_pages(parent, n * (b->numbered ? 6 : 5) * sizeof(*parent));
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
		return pm_error_plain(err, PM_NO_MEMORY);
	place_all(b, s);
	int r = pm_work_cancelled() ? pm_error_plain(err, -ENOMEM) : fill_arrays(b, s, frozen, err);
	if (r < 0 || !b->numbered)
		return r;
	frozen->tree.by_number = frozen->by_number =
		new_index(&frozen->tree, s->index, b->has_zero);
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
	pm_use_huge_pages(frozen->frames, (n_frames + 1) * sizeof(*frozen->frames));
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
