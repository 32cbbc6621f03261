/*
 * Aligns two lists of places: maximises the score of pairs without crossings. A pair scores more if
 * it moved as far as one before it, or not at all.
 */
#include "fs/compare/places.h"

#include <string.h>

#include "formats/common/map.h"
#include "formats/common/sort.h"
#include "profmount/limits.h"
#include "profmount/tree.h"

/* Scores of pairs. A sequence of three that moved together is worth more than two that did not. */
enum { ANY_PAIR = 8, LIKE_THE_ONE_BEFORE = 32, NOT_MOVED = 41 };

static int compare(const void *x, const void *y)
{
	const struct pmfs_line_place *a = x, *b = y;
	if (a->class != b->class)
		return a->class < b->class ? -1 : 1;
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return (a->tag > b->tag) - (a->tag < b->tag);
}

void pmfs_places_sort(struct pm_arena *arena, struct pmfs_line_place *places, uint32_t n)
{
	pm_build_check(arena, pm_sort(places, n, sizeof(*places), compare));
}

/* ---- the best alignment ---- */

struct best {
	uint32_t score;
	uint32_t pair; /* the last of the alignment: i * nb + j, or PM_NONE */
};

struct aligning {
	const struct pmfs_place_rules *rules;
	const struct pmfs_line_place *a, *b;
	uint32_t nb;
	uint32_t *score; /* by pair: of the best alignment that ends with it */
	uint32_t *before;
	struct best *above, *row; /* by j: of alignments that end in earlier rows, at most at j */
	struct pm_map moved;      /* distance → the last pair that moved by it */
};

static void score_pair(struct aligning *g, uint32_t i, uint32_t j)
{
	uint32_t pair = i * g->nb + j;
	int64_t moved = g->b[j].at - g->a[i].at;
	struct best best = {0, PM_NONE};
	bool fresh;
	if (j > 0)
		best = g->above[j - 1];
	g->before[pair] = best.pair;
	uint32_t alone = moved == 0 ? NOT_MOVED : ANY_PAIR, like = LIKE_THE_ONE_BEFORE;
	if (g->rules->likeness) {
		uint32_t more = g->rules->likeness(g->rules->context, g->a[i].tag, g->b[j].tag);
		alone += more;
		like += more;
	}
	g->score[pair] = best.score + alone;
	uint32_t *same = pm_map_put(&g->moved, (uint64_t)moved, pair, &fresh);
	if (fresh || moved == 0)
		return;
	if (*same / g->nb < i && *same % g->nb < j && g->score[*same] + like > g->score[pair]) {
		g->score[pair] = g->score[*same] + like;
		g->before[pair] = *same;
	}
	*same = pair;
}

static void score_row(struct aligning *g, uint32_t i)
{
	memcpy(g->row, g->above, g->nb * sizeof(*g->row));
	for (uint32_t j = 0; j < g->nb; j++) {
		uint32_t pair = i * g->nb + j;
		if (g->a[i].class == g->b[j].class) {
			score_pair(g, i, j);
			if (g->score[pair] > g->row[j].score)
				g->row[j] = (struct best){g->score[pair], pair};
		}
		if (j > 0 && g->row[j - 1].score > g->row[j].score)
			g->row[j] = g->row[j - 1];
	}
	struct best *swap = g->above;
	g->above = g->row;
	g->row = swap;
}

static void align(struct pm_arena *arena, const struct pmfs_place_rules *rules,
	const struct pmfs_line_place *a, uint32_t na, const struct pmfs_line_place *b, uint32_t nb,
	uint32_t *ret)
{
	size_t n = (size_t)na * nb;
	uint32_t *scores = pm_arena_realloc(arena, NULL, 2 * n * sizeof(*scores));
	struct best *rows = pm_arena_realloc(arena, NULL, 2 * (size_t)nb * sizeof(*rows));
	struct aligning g = {.rules = rules,
		.a = a,
		.b = b,
		.nb = nb,
		.score = scores,
		.before = scores + n,
		.above = rows,
		.row = rows + nb,
		.moved.arena = arena};
	pm_build_proceed(arena);
	for (uint32_t j = 0; j < nb; j++)
		g.above[j] = (struct best){0, PM_NONE};
	for (uint32_t i = 0; i < na; i++)
		score_row(&g, i);
	for (uint32_t p = g.above[nb - 1].pair; p != PM_NONE; p = g.before[p])
		ret[p / nb] = p % nb;
	pm_arena_free(arena, scores);
	pm_arena_free(arena, rows);
	pm_map_done(&g.moved);
}

/* ---- the usual case, and lists that are too long: one walk over both ---- */

/* Pairs the places that have not moved; true if these are all on both sides. */
static bool pair_unmoved(const struct pmfs_line_place *a, uint32_t na,
	const struct pmfs_line_place *b, uint32_t nb, uint32_t *ret)
{
	uint32_t i = 0, j = 0, n = 0;
	while (i < na && j < nb) {
		if (a[i].class == b[j].class && a[i].at == b[j].at) {
			ret[i++] = j++;
			n++;
		} else if (a[i].class < b[j].class ||
			(a[i].class == b[j].class && a[i].at < b[j].at)) {
			i++;
		} else {
			j++;
		}
	}
	return n == na && n == nb;
}

/* The unpaired places of a class on both sides, in order. */
static void pair_rest(struct pm_arena *arena, const struct pmfs_line_place *a, uint32_t na,
	const struct pmfs_line_place *b, uint32_t nb, uint32_t *ret)
{
	bool *taken = pm_arena_zeroed(arena, (size_t)nb + 1, sizeof(*taken));
	for (uint32_t i = 0; i < na; i++)
		if (ret[i] != PM_NONE)
			taken[ret[i]] = true;
	uint32_t j = 0;
	for (uint32_t i = 0; i < na; i++) {
		if (ret[i] != PM_NONE)
			continue;
		while (j < nb && (taken[j] || b[j].class < a[i].class))
			j++;
		if (j < nb && b[j].class == a[i].class)
			ret[i] = j++;
	}
	pm_arena_free(arena, taken);
}

void pmfs_places_align(struct pm_arena *arena, const struct pmfs_place_rules *rules,
	const struct pmfs_line_place *a, uint32_t na, const struct pmfs_line_place *b, uint32_t nb,
	uint32_t *ret)
{
	for (uint32_t i = 0; i < na; i++)
		ret[i] = PM_NONE;
	if (na == 0 || nb == 0 || pair_unmoved(a, na, b, nb, ret))
		return;
	if ((uint64_t)na * nb <= rules->most_pairs) {
		for (uint32_t i = 0; i < na; i++)
			ret[i] = PM_NONE;
		align(arena, rules, a, na, b, nb, ret);
		if (rules->keep_order)
			return;
	}
	pair_rest(arena, a, na, b, nb, ret);
}

void pmfs_places_match(struct pm_arena *arena, const struct pmfs_line_place *a, uint32_t na,
	const struct pmfs_line_place *b, uint32_t nb, uint32_t *ret)
{
	static const struct pmfs_place_rules rules = {.most_pairs = PM_LIMIT_PLACE_PAIRS};
	pmfs_places_align(arena, &rules, a, na, b, nb, ret);
}
