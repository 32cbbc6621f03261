/*
 * Makes identities unique. Claims of files are resolved in three rounds: claims as they are; then
 * those that clash, or are a prefix of another one, with their process added; then those that still
 * clash, with the thread's number, which is unique.
 */
#include "formats/hpcrun/identity.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/search.h"
#include "formats/common/sort.h"

struct settling {
	struct pm_arena *arena;
	struct pm_strtab keys;
	struct path {
		struct pm_identity *levels; /* room for two more levels than claimed */
		uint32_t n;
		bool clashes;
	} * paths;
	uint32_t *order; /* of paths, sorted */
	uint32_t n;
};

/* ---- keys ---- */

/* Columns of threads.csv, and keys with a meaning of their own. */
static const char *const taken[] = {"thread_id", "contexts", "values", "samples", "first_ns",
	"last_ns", "file", "path", "process", "profile", "run"};

static bool is_taken(const char *key)
{
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		if (strcmp(taken[i], key) == 0)
			return true;
	return false;
}

/* Lower case: a letter, followed by letters, digits and underscores. */
static void make_key(struct pm_bytes name, char *key, size_t size)
{
	size_t n = 0;
	for (size_t i = 0; i < name.len && n + 1 < size; i++) {
		uint8_t c = name.p[i];
		bool upper = c >= 'A' && c <= 'Z', lower = c >= 'a' && c <= 'z';
		if (n == 0 && !upper && !lower)
			continue;
		bool digit = c >= '0' && c <= '9';
		key[n++] = upper ? (char)(c - 'A' + 'a') : lower || digit ? (char)c : '_';
	}
	key[n] = 0;
	if (n == 0 || is_taken(key))
		snprintf(key, size, "kind");
}

struct hpcrun_level *hpcrun_claim_add(struct hpcrun_claim *claim, struct pm_bytes name)
{
	struct hpcrun_level level = {.renumber = false};
	make_key(name, level.key, sizeof(level.key));
	for (uint32_t i = 0; i < claim->n; i++)
		if (strcmp(claim->levels[i].key, level.key) == 0)
			return NULL;
	if (claim->n == HPCRUN_MOST_LEVELS)
		return NULL;
	claim->levels[claim->n] = level;
	return &claim->levels[claim->n++];
}

/* ---- ids that files have made for themselves ---- */

struct physical {
	uint32_t key;
	uint64_t id;
};

static int by_id(const void *a, const void *b)
{
	const struct physical *x = a, *y = b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

/* Sorts and removes duplicates; *n is the number of ids before and after. 0 or -ENOMEM. */
static int make_unique(struct physical *ids, size_t *n)
{
	size_t kept = 0;
	if (pm_sort(ids, *n, sizeof(*ids), by_id) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < *n; i++)
		if (kept == 0 || by_id(&ids[kept - 1], &ids[i]) != 0)
			ids[kept++] = ids[i];
	*n = kept;
	return 0;
}

/* The position of an id among those of its key. */
static uint64_t place_of(const struct physical *ids, size_t n, struct physical id)
{
	struct physical first = {id.key, 0};
	return PM_LOWER_BOUND(i, 0, n, by_id(&ids[i], &id) < 0) -
		PM_LOWER_BOUND(i, 0, n, by_id(&ids[i], &first) < 0);
}

/* ---- paths ---- */

static int add_level(struct settling *s, struct path *path, const char *key, uint64_t value)
{
	uint32_t index = pm_strtab_add(&s->keys, pm_bytes_of(key));
	if (index == PM_NONE)
		return -ENOMEM;
	path->levels[path->n++] = (struct pm_identity){.key = index, .value = value};
	return 0;
}

static int copy_claim(struct settling *s, const struct hpcrun_claim *claim, struct path *path)
{
	path->levels = pm_arena_array(s->arena, claim->n + 2, sizeof(*path->levels));
	int r = path->levels ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < claim->n && r == 0; i++)
		r = add_level(s, path, claim->levels[i].key, claim->levels[i].logical);
	return r;
}

static int renumber(struct settling *s, const struct hpcrun_claim *claims)
{
	size_t n = 0;
	struct physical *ids = calloc((size_t)s->n * HPCRUN_MOST_LEVELS + 1, sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->n; i++)
		for (uint32_t k = 0; k < claims[i].n; k++)
			ids[n++] = (struct physical){
				s->paths[i].levels[k].key, claims[i].levels[k].physical};
	int r = make_unique(ids, &n);
	for (uint32_t i = 0; r == 0 && i < s->n; i++)
		for (uint32_t k = 0; k < claims[i].n; k++) {
			struct pm_identity *level = &s->paths[i].levels[k];
			struct physical id = {level->key, claims[i].levels[k].physical};
			if (claims[i].levels[k].renumber)
				level->value = place_of(ids, n, id);
		}
	free(ids);
	return r;
}

/* ---- clashes ---- */

/* By levels; a path comes before those that begin with it. */
static int by_levels(const struct path *x, const struct path *y)
{
	for (uint32_t i = 0; i < x->n && i < y->n; i++) {
		if (x->levels[i].key != y->levels[i].key)
			return x->levels[i].key < y->levels[i].key ? -1 : 1;
		if (x->levels[i].value != y->levels[i].value)
			return x->levels[i].value < y->levels[i].value ? -1 : 1;
	}
	return (x->n > y->n) - (x->n < y->n);
}

static int by_path(const void *a, const void *b, void *paths)
{
	const uint32_t *x = a, *y = b;
	const struct path *all = paths;
	int order = by_levels(&all[*x], &all[*y]);
	return order ? order : (*x > *y) - (*x < *y);
}

/* Is `next` the same path, or below it? */
static bool holds(const struct path *path, const struct path *next)
{
	struct path begin = {.levels = next->levels, .n = path->n};
	return path->n <= next->n && by_levels(path, &begin) == 0;
}

static int find_clashes(struct settling *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		s->order[i] = i;
		s->paths[i].clashes = s->paths[i].n == 0;
	}
	if (pm_sort_with(s->order, s->n, sizeof(*s->order), by_path, s->paths) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i + 1 < s->n; i++) {
		struct path *path = &s->paths[s->order[i]], *next = &s->paths[s->order[i + 1]];
		if (!holds(path, next))
			continue;
		path->clashes = true;
		next->clashes |= path->n == next->n;
	}
	return 0;
}

static int make_paths(struct settling *s, const struct hpcrun_claim *claims)
{
	int r = 0;
	for (uint32_t i = 0; i < s->n && r == 0; i++)
		r = copy_claim(s, &claims[i], &s->paths[i]);
	if (r == 0)
		r = renumber(s, claims);
	if (r == 0)
		r = find_clashes(s);
	for (uint32_t i = 0; i < s->n && r == 0; i++)
		if (s->paths[i].clashes && claims[i].has_process)
			r = add_level(s, &s->paths[i], "process", claims[i].process);
	if (r == 0)
		r = find_clashes(s);
	for (uint32_t i = 0; i < s->n && r == 0; i++)
		if (s->paths[i].clashes)
			r = add_level(s, &s->paths[i], "profile", (uint64_t)i + 1);
	return r;
}

static int hand_over(struct settling *s, struct pm_thread *threads, struct pm_threads *ret)
{
	const char **keys = pm_arena_array(s->arena, (size_t)s->keys.n + 1, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->keys.n; i++) {
		keys[i] = pm_arena_printf(s->arena, "%.*s", (int)s->keys.items[i].len,
			(const char *)s->keys.items[i].p);
		if (!keys[i])
			return -ENOMEM;
	}
	ret->keys = keys;
	ret->n_keys = s->keys.n;
	for (uint32_t i = 0; i < s->n; i++) {
		threads[i].identity = s->paths[i].levels;
		threads[i].n_identity = s->paths[i].n;
	}
	return 0;
}

int hpcrun_identities_settle(const struct hpcrun_claim *claims, uint32_t n,
	struct pm_thread *threads, struct pm_arena *arena, struct pm_threads *ret_keys)
{
	struct settling s = {.arena = arena, .keys = {.arena = arena}, .n = n};
	s.paths = calloc((size_t)n + 1, sizeof(*s.paths));
	s.order = calloc((size_t)n + 1, sizeof(*s.order));
	int r = s.paths && s.order ? make_paths(&s, claims) : -ENOMEM;
	if (r == 0)
		r = hand_over(&s, threads, ret_keys);
	pm_strtab_done(&s.keys);
	free(s.paths);
	free(s.order);
	return r;
}
