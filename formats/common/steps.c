/*
 * A hash of the keys from the top down to a step needs no table. It gives a guess: the path of the
 * last step with that hash, which is used only if its parent and key match. Steps pass through two
 * stages before they are counted: the first prefetches the guess, the second what the guess refers
 * to. A wrong guess costs a lookup in the trie and nothing else.
 */
#include "formats/common/steps.h"

#include <errno.h>
#include <stdbool.h>

#include "formats/common/map.h"
#include "formats/common/work.h"
#include "profmount/profile.h"

enum {
	GUESSES_FIRST = 1024,
	STAGE = 16, /* steps from one stage to the next */
	CACHE_LINE = 64,
	BETWEEN_QUESTIONS = 4096, /* steps */
};

struct pm_guess {
	uint32_t print; /* the upper half of the hash */
	uint32_t path;
};

static int make_guesses(struct pm_guesses *g, size_t n)
{
	struct pm_guess *slots = pm_arena_realloc(g->arena, NULL, n * sizeof(*slots));
	if (!slots)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		slots[i] = (struct pm_guess){0, PM_NONE};
	pm_arena_free(g->arena, g->slots);
	*g = (struct pm_guesses){slots, n, g->arena};
	return 0;
}

void pm_guesses_done(struct pm_guesses *g)
{
	pm_arena_free(g->arena, g->slots);
	*g = (struct pm_guesses){.arena = g->arena};
}

static inline struct pm_guess *guess_of(const struct pm_guesses *g, const struct pm_step *step)
{
	return &g->slots[step->hash & (g->n - 1)];
}

/* ---- the stages ---- */

static inline void fetch_guess(
	const struct pm_guesses *g, const struct pm_step *steps, struct pm_step *step)
{
	uint64_t above = step->above == PM_NONE ? step->hash : steps[step->above].hash;
	step->hash = pm_hash_u64(above + step->key + 1);
	__builtin_prefetch(guess_of(g, step));
}

static inline void fetch_path(const struct pm_paths *p, const struct pm_guesses *g,
	struct pm_step *step, const struct pm_measured *measured)
{
	const struct pm_guess *guess = guess_of(g, step);
	bool usable = guess->print == step->hash >> 32 && guess->path < p->n;
	step->path = usable ? guess->path : PM_NONE;
	if (!usable)
		return;
	__builtin_prefetch(&p->items[step->path]);
	if (step->path < measured->room) {
		const char *item = (const char *)measured->items + step->path * measured->size;
		for (size_t at = 0; at < measured->size; at += CACHE_LINE)
			__builtin_prefetch(item + at, 1);
		__builtin_prefetch(item + measured->size - 1, 1);
	}
}

/* The guess was wrong, or there was none. */
static int find(struct pm_paths *p, struct pm_guesses *g, struct pm_step *step, uint32_t parent)
{
	step->path = pm_paths_child(p, parent, step->key);
	if (step->path == PM_NONE)
		return -ENOMEM;
	if (step->path == PM_PATHS_FULL)
		return 0;
	if (p->n > g->n / 2 && make_guesses(g, 2 * g->n) < 0)
		return -ENOMEM;
	*guess_of(g, step) = (struct pm_guess){(uint32_t)(step->hash >> 32), step->path};
	return 0;
}

static inline int settle(
	struct pm_paths *p, struct pm_guesses *g, const struct pm_step *steps, struct pm_step *step)
{
	uint32_t parent = step->above == PM_NONE ? step->from : steps[step->above].path;
	if (step->path != PM_NONE && p->items[step->path].parent == parent &&
		p->items[step->path].key == step->key)
		return 0;
	return find(p, g, step, parent);
}

int pm_steps_take(struct pm_paths *p, struct pm_guesses *g, struct pm_step *steps, size_t n,
	const struct pm_measured *measured)
{
	if (!g->slots && make_guesses(g, GUESSES_FIRST) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n + 2 * STAGE; i++) {
		if (i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled())
			return PM_CANCELLED;
		if (i < n)
			fetch_guess(g, steps, &steps[i]);
		if (i >= STAGE && i - STAGE < n)
			fetch_path(p, g, &steps[i - STAGE], measured);
		if (i >= 2 * STAGE && settle(p, g, steps, &steps[i - 2 * STAGE]) < 0)
			return -ENOMEM;
	}
	return 0;
}
