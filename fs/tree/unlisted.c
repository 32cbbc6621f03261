/*
 * Names that are not listed, of one tree: they have numbers from formats/common/unlisted.h, which
 * are part of node ids. When a number is given to another name, everything in the cache that has
 * an id with it, or with the space of such an item, is forgotten first.
 */
#include "fs/tree/internal.h"

#include <stdlib.h>
#include <string.h>

#include "profmount/limits.h"

struct pmfs_unlisted {
	struct pm_unlisted *numbers;
	struct pmfs_tree *top;
	uint32_t space;      /* whose tree this is; 0: the outermost one */
	uint32_t collection; /* atomic: the first with such names; UINT32_MAX: not known yet */
};

/* ---- which node lies in what ---- */

static struct pmfs_unlisted *unlisted_of(struct pmfs_tree *top, uint32_t space)
{
	if (space == 0)
		return __atomic_load_n(&top->unlisted, __ATOMIC_ACQUIRE);
	pthread_mutex_lock(&top->spaces_lock);
	struct pmfs_unlisted *u = space < top->n_spaces ? top->space_items[space].unlisted : NULL;
	pthread_mutex_unlock(&top->spaces_lock);
	return u;
}

/* The number of the name that a node of a tree with such names is, or is a document of. */
static bool number_of(const struct pmfs_unlisted *u, pm_node node, uint32_t *ret)
{
	unsigned kind;
	node = pmfs_node_unnest(pmfs_node_untwin(node));
	kind = pmfs_node_kind_of(node);
	if ((kind != PMFS_ITEM && kind != PMFS_ITEM_DOC) ||
		pmfs_node_b(node) >> 8 < __atomic_load_n(&u->collection, __ATOMIC_RELAXED) ||
		pmfs_node_a(node) < PM_FIRST_UNLISTED)
		return false;
	*ret = pmfs_node_a(node) - PM_FIRST_UNLISTED;
	return *ret < PM_LIMIT_UNLISTED;
}

/* The item's directory: also for its documents, so that there is one id for each number. */
static pm_node owner_node(pm_node node)
{
	uint32_t space = pmfs_node_space(node);
	node = pmfs_node_unnest(pmfs_node_untwin(node));
	pm_node item = pmfs_node(PMFS_ITEM, pmfs_node_a(node), pmfs_node_b(node) & ~0xffu);
	return space == 0 || pmfs_node_nest(space, item, &item) ? item : 0;
}

/* The node itself, or the first around it, that has such a name; 0: none. */
static pm_node find_owner(struct pmfs_tree *top, pm_node node)
{
	while (node) {
		uint32_t number, space = pmfs_node_space(node);
		struct pmfs_unlisted *u = unlisted_of(top, space);
		if (u && number_of(u, node, &number))
			return owner_node(node);
		node = pmfs_space_item(top, space);
	}
	return 0;
}

bool pmfs_tree_owner(struct pmfs_tree *top, pm_node node, pm_node *ret, pm_node *ret_outer)
{
	*ret = find_owner(top, node);
	*ret_outer = *ret ? find_owner(top, pmfs_space_item(top, pmfs_node_space(*ret))) : 0;
	return *ret != 0;
}

/* ---- use ---- */

static struct pm_unlisted *numbers_of(struct pmfs_tree *top, pm_node owner, uint32_t *ret)
{
	struct pmfs_unlisted *u = unlisted_of(top, pmfs_node_space(owner));
	return u && number_of(u, owner, ret) ? u->numbers : NULL;
}

bool pmfs_tree_hold(struct pmfs_tree *top, pm_node owner, uint32_t generation)
{
	uint32_t number;
	struct pm_unlisted *numbers = numbers_of(top, owner, &number);
	return numbers && pm_unlisted_hold(numbers, number, generation);
}

uint32_t pmfs_tree_generation(struct pmfs_tree *top, pm_node owner)
{
	uint32_t number;
	struct pm_unlisted *numbers = numbers_of(top, owner, &number);
	return numbers ? pm_unlisted_generation(numbers, number) : 0;
}

void pmfs_tree_let_go(struct pmfs_tree *top, pm_node owner)
{
	uint32_t number;
	struct pm_unlisted *numbers = numbers_of(top, owner, &number);
	if (numbers)
		pm_unlisted_let_go(numbers, number);
}

void pmfs_tree_set_purge(struct pmfs_tree *t, pmfs_tree_purge_fn *purge, void *context)
{
	t->purge = purge;
	t->purge_context = context;
}

/* ---- forgetting ---- */

struct forgetting {
	const struct pmfs_unlisted *u;
	uint8_t *numbers;
	uint8_t *kept;      /* of those, what is in use */
	uint32_t *in_space; /* by space: 1 + the number that it lies in, or 0 */
	uint32_t n_spaces;
};

static bool lies_in(const struct forgetting *f, pm_node node, uint32_t *ret)
{
	uint32_t space = pmfs_node_space(node);
	if (space == f->u->space)
		return number_of(f->u, node, ret) && pm_unlisted_has_bit(f->numbers, *ret);
	if (space >= f->n_spaces || !f->in_space[space])
		return false;
	*ret = f->in_space[space] - 1;
	return true;
}

static bool belongs(void *what, uint64_t key, bool in_use)
{
	struct forgetting *f = what;
	uint32_t number;
	if (!lies_in(f, key, &number))
		return false;
	if (in_use)
		f->kept[number / 8] |= (uint8_t)(1 << number % 8);
	return true;
}

/* Spaces are given from the outside in. */
static int find_spaces(struct forgetting *f, struct pmfs_tree *top)
{
	int r = 0;
	pthread_mutex_lock(&top->spaces_lock);
	f->n_spaces = top->n_spaces;
	f->in_space = calloc((size_t)top->n_spaces + 1, sizeof(*f->in_space));
	if (!f->in_space)
		r = -ENOMEM;
	for (uint32_t i = 1; r == 0 && i < f->n_spaces; i++) {
		uint32_t number;
		if (lies_in(f, top->space_items[i].item, &number))
			f->in_space[i] = number + 1;
	}
	pthread_mutex_unlock(&top->spaces_lock);
	return r;
}

static void forget(void *context, uint8_t *numbers)
{
	struct pmfs_unlisted *u = context;
	struct forgetting f = {
		.u = u, .numbers = numbers, .kept = calloc(PM_LIMIT_UNLISTED / 8, 1)};
	if (!f.kept || find_spaces(&f, u->top) < 0)
		memset(numbers, 0, PM_LIMIT_UNLISTED / 8); /* another time */
	else if (u->top->purge)
		u->top->purge(u->top->purge_context, belongs, &f);
	for (uint32_t i = 0; f.kept && i < PM_LIMIT_UNLISTED / 8; i++)
		numbers[i] &= (uint8_t)~f.kept[i];
	free(f.in_space);
	free(f.kept);
}

/* ---- opening ---- */

static struct pmfs_unlisted *unlisted_new(struct pmfs_tree *top, uint32_t space)
{
	struct pmfs_unlisted *u = malloc(sizeof(*u));
	if (!u)
		return NULL;
	*u = (struct pmfs_unlisted){.top = top, .space = space, .collection = UINT32_MAX};
	u->numbers = pm_unlisted_new(forget, u);
	if (u->numbers)
		return u;
	free(u);
	return NULL;
}

void pmfs_unlisted_free(struct pmfs_unlisted *u)
{
	if (u)
		pm_unlisted_drop(u->numbers);
	free(u);
}

int pmfs_unlisted_open(struct pmfs_tree *t)
{
	if (t->unlisted)
		return 0;
	struct pmfs_unlisted *u = unlisted_of(t->top, t->space), *fresh = NULL;
	if (!u) {
		fresh = u = unlisted_new(t->top, t->space);
		if (!u)
			return -ENOMEM;
		pthread_mutex_lock(&t->top->spaces_lock);
		if (t->space && t->top->space_items[t->space].unlisted)
			u = t->top->space_items[t->space].unlisted;
		else if (t->space)
			t->top->space_items[t->space].unlisted = u;
		pthread_mutex_unlock(&t->top->spaces_lock);
	}
	if (fresh != u)
		pmfs_unlisted_free(fresh);
	if (t->windows)
		pmfs_windows_number_from(t->windows, u->numbers);
	__atomic_store_n(&t->unlisted, u, __ATOMIC_RELEASE);
	return 0;
}

struct pm_unlisted *pmfs_unlisted_numbers(struct pmfs_tree *t)
{
	return t->unlisted->numbers;
}

void pmfs_unlisted_note(struct pmfs_tree *t, uint32_t collection)
{
	if (collection < __atomic_load_n(&t->unlisted->collection, __ATOMIC_RELAXED))
		__atomic_store_n(&t->unlisted->collection, collection, __ATOMIC_RELAXED);
}

uint32_t pmfs_unlisted_generation(struct pmfs_tree *t, uint32_t item)
{
	return pm_unlisted_generation(t->unlisted->numbers, item - PM_FIRST_UNLISTED);
}
