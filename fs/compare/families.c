/*
 * Which members of a family are the same function on both sides. If both sides have the same names,
 * each is itself. Otherwise it depends on what generates the part in which the names differ. A name
 * of both sides has two halves, which need not be in one row.
 */
#include "formats/common/list.h"
#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "fs/compare/match.h"
#include "fs/compare/places.h"
#include "profmount/limits.h"
#include "profmount/tree.h"

/* Addresses that count as the code around one, on either side of it. */
enum { NEIGHBOURS = 8 };

/* What equal callees add to the score of two places: more than any distance. */
enum { SAME_CALLEES = 200 };

struct family {
	struct pmfs_match *m;
	const uint32_t *members;
	uint32_t n, n_of[PMFS_N_SIDES], n_same; /* members; those of both sides */
	enum pmfs_name_part part;
	bool in_all_runs; /* all members */
};

static bool is_on(const struct pmfs_match_member *member, unsigned side)
{
	return member->sides >> side & 1;
}

static struct family family_of(struct pmfs_match *m, const uint32_t *members, uint32_t n)
{
	struct family f = {.m = m, .members = members, .n = n, .in_all_runs = true};
	for (uint32_t i = 0; i < n; i++) {
		const struct pmfs_match_member *member = &m->members[members[i]];
		for (unsigned side = 0; side < PMFS_N_SIDES; side++)
			f.n_of[side] += is_on(member, side);
		f.n_same += member->sides == PMFS_BOTH_SIDES;
		f.in_all_runs &= member->n_runs >= m->n_runs;
		if (member->facts.part > f.part)
			f.part = member->facts.part;
	}
	return f;
}

/* The same names on both sides. Numbers of a run must be in all of them to mean the same. */
static bool is_equal(const struct family *f)
{
	return f->n_same == f->n && (f->part != PMFS_NAME_RUN || f->in_all_runs);
}

static bool has_lines(const struct family *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
			const struct pmfs_match_member *member = &f->m->members[f->members[i]];
			if (is_on(member, side) && member->line[side] == 0)
				return false;
		}
	return true;
}

bool pmfs_family_needs_calls(struct pmfs_match *m, const uint32_t *members, uint32_t n)
{
	struct family f = family_of(m, members, n);
	if (f.n_of[PMFS_BASE] == 0 || f.n_of[PMFS_OTHER] == 0 || is_equal(&f) ||
		(f.n_of[PMFS_BASE] == 1 && f.n_of[PMFS_OTHER] == 1))
		return false;
	return f.part == PMFS_NAME_RUN || f.part == PMFS_NAME_HASH ||
		(f.part == PMFS_NAME_SOURCE && !has_lines(&f));
}

/* ---- rows ---- */

static uint32_t add_row(struct pmfs_match *m, enum pmfs_matched matched)
{
	pm_list_grow(m->arena, &m->groups, m->n_groups, &m->room_groups, sizeof(*m->groups));
	m->groups[m->n_groups] =
		(struct pmfs_match_group){.matched = (uint8_t)matched, .shown = PM_NONE};
	return m->n_groups++;
}

static void put_in(struct pmfs_match *m, uint32_t member, unsigned side, uint32_t row)
{
	m->members[member].group[side] = row;
	m->groups[row].sides |= (uint8_t)(1u << side);
}

/* Halves of two members, or of one, as a row. */
static void pair(struct pmfs_match *m, uint32_t base, uint32_t other, enum pmfs_matched matched)
{
	if (base == other)
		matched = PMFS_EXACT;
	if (m->blurred[m->members[base].family])
		matched = PMFS_JOINED;
	uint32_t row = add_row(m, matched);
	put_in(m, base, PMFS_BASE, row);
	put_in(m, other, PMFS_OTHER, row);
}

/* Members of both sides, each with itself. */
static void pair_same(const struct family *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		if (f->m->members[f->members[i]].sides == PMFS_BOTH_SIDES)
			pair(f->m, f->members[i], f->members[i], PMFS_EXACT);
}

/* Lists the members whose half of a side has no row yet; their number. */
static uint32_t list_left(const struct family *f, unsigned side, uint32_t *ret)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < f->n; i++) {
		const struct pmfs_match_member *member = &f->m->members[f->members[i]];
		if (is_on(member, side) && member->group[side] == PM_NONE)
			ret[n++] = f->members[i];
	}
	return n;
}

/* What a rule has left: halves of one side are alone, two a pair, and more one row. */
static void settle(const struct family *f, uint32_t *const left[PMFS_N_SIDES])
{
	uint32_t n[PMFS_N_SIDES], row = PM_NONE;
	for (unsigned side = 0; side < PMFS_N_SIDES; side++)
		n[side] = list_left(f, side, left[side]);
	bool both = n[PMFS_BASE] > 0 && n[PMFS_OTHER] > 0;
	bool whole = n[PMFS_BASE] == f->n_of[PMFS_BASE] && n[PMFS_OTHER] == f->n_of[PMFS_OTHER];
	if (n[PMFS_BASE] == 1 && n[PMFS_OTHER] == 1 &&
		(whole || f->part != PMFS_NAME_ADDRESS ||
			left[PMFS_BASE][0] == left[PMFS_OTHER][0])) {
		pair(f->m, left[PMFS_BASE][0], left[PMFS_OTHER][0], PMFS_GROUP);
		return;
	}
	/* Of one side: numbers of a run are different in each repetition. */
	bool joined = both ||
		(whole && f->part == PMFS_NAME_RUN && !f->in_all_runs &&
			f->m->n_side_runs[n[PMFS_BASE] ? PMFS_BASE : PMFS_OTHER] > 1);
	for (unsigned side = 0; side < PMFS_N_SIDES; side++)
		for (uint32_t i = 0; i < n[side]; i++) {
			if (row == PM_NONE || !joined)
				row = add_row(f->m, both ? PMFS_JOINED : PMFS_UNMATCHED);
			put_in(f->m, left[side][i], side, row);
		}
}

/* ---- clones: a plain name goes before them ---- */

static int by_name(const void *a, const void *b, void *match)
{
	const struct pmfs_match *m = match;
	const struct pmfs_match_member *x = &m->members[*(const uint32_t *)a];
	const struct pmfs_match_member *y = &m->members[*(const uint32_t *)b];
	if (x->facts.part != y->facts.part)
		return x->facts.part < y->facts.part ? -1 : 1;
	return pm_bytes_compare(pmfs_match_text(m, x->name), pmfs_match_text(m, y->name));
}

/*
 * As many clones on both sides are paired. Otherwise a compiler has divided the function in another
 * way, and only its sum can be compared: nothing is paired, and the rest is one row.
 */
static void pair_clones(const struct family *f, uint32_t *const left[PMFS_N_SIDES])
{
	uint32_t n[PMFS_N_SIDES];
	if (f->n_of[PMFS_BASE] != f->n_of[PMFS_OTHER])
		return;
	pair_same(f);
	for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
		n[side] = list_left(f, side, left[side]);
		pm_build_check(f->m->work,
			pm_sort_with(left[side], n[side], sizeof(*left[side]), by_name, f->m));
	}
	for (uint32_t i = 0; i < n[PMFS_BASE]; i++)
		pair(f->m, left[PMFS_BASE][i], left[PMFS_OTHER][i],
			n[PMFS_BASE] == 1 ? PMFS_GROUP : PMFS_ORDER);
}

/* ---- what members call ---- */

struct callees {
	const struct pmfs_match_call *calls;
	size_t n;
};

static bool is_before(const struct pmfs_match_call *call, uint32_t member, unsigned side)
{
	return call->caller < member || (call->caller == member && call->side < side);
}

static struct callees callees_of(const struct pmfs_match *m, uint32_t member, unsigned side)
{
	size_t from = PM_LOWER_BOUND(i, 0, m->n_calls, is_before(&m->calls[i], member, side));
	size_t to = PM_LOWER_BOUND(i, from, m->n_calls, is_before(&m->calls[i], member, side + 1));
	return (struct callees){m->calls + from, to - from};
}

/* SAME_CALLEES, in proportion to what both call of all that either calls. */
static uint32_t likeness(const void *match, uint32_t base, uint32_t other)
{
	struct callees a = callees_of(match, base, PMFS_BASE);
	struct callees b = callees_of(match, other, PMFS_OTHER);
	size_t i = 0, j = 0, both = 0;
	while (i < a.n && j < b.n) {
		uint32_t x = a.calls[i].callee, y = b.calls[j].callee;
		both += x == y;
		i += x <= y;
		j += y <= x;
	}
	size_t all = a.n + b.n - both;
	return all ? (uint32_t)(SAME_CALLEES * both / all) : 0;
}

/* Those who call the same functions. */
struct callers {
	uint32_t member[PMFS_N_SIDES], n[PMFS_N_SIDES];
};

/* Pairs members of which exactly one on each side calls the same functions. */
static void pair_callers(const struct family *f)
{
	struct pm_map known = {.arena = f->m->work};
	struct callers *callers =
		pm_arena_array(f->m->work, 2 * (size_t)f->n + 1, sizeof(*callers));
	for (uint32_t i = 0; i < 2 * f->n; i++) {
		uint32_t member = f->members[i / 2], side = i % 2;
		struct callees c = callees_of(f->m, member, side);
		uint64_t hash = c.n;
		bool fresh;
		if (!is_on(&f->m->members[member], side) || c.n == 0 ||
			f->m->members[member].group[side] != PM_NONE)
			continue;
		for (size_t k = 0; k < c.n; k++)
			hash = pm_hash_u64(hash ^ c.calls[k].callee);
		uint32_t at = *pm_map_put(&known, hash, (uint32_t)known.n, &fresh);
		callers[at].member[side] = member;
		callers[at].n[side]++;
	}
	for (size_t i = 0; i < known.n; i++)
		if (callers[i].n[PMFS_BASE] == 1 && callers[i].n[PMFS_OTHER] == 1)
			pair(f->m, callers[i].member[PMFS_BASE], callers[i].member[PMFS_OTHER],
				PMFS_GROUP);
}

/* ---- numbers of the source: aligned as a diff aligns lines ---- */

static void align(const struct family *f, uint32_t *const left[PMFS_N_SIDES])
{
	bool lines = has_lines(f);
	const struct pmfs_place_rules rules = {.most_pairs = PM_LIMIT_NAME_PAIRS,
		.likeness = lines ? NULL : likeness,
		.context = f->m,
		.keep_order = true};
	struct pmfs_line_place *places =
		pm_arena_array(f->m->work, 2 * ((size_t)f->n + 1), sizeof(*places));
	struct pmfs_line_place *of[PMFS_N_SIDES] = {places, places + f->n};
	uint32_t *partner = left[PMFS_OTHER];
	for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
		uint32_t n = list_left(f, side, left[PMFS_BASE]);
		for (uint32_t i = 0; i < n; i++) {
			uint32_t member = left[PMFS_BASE][i];
			const struct pmfs_match_member *of_member = &f->m->members[member];
			of[side][i] = (struct pmfs_line_place){.at = lines
					? (int64_t)of_member->line[side]
					: (int64_t)of_member->facts.number,
				.tag = member};
		}
		pmfs_places_sort(f->m->work, of[side], n);
	}
	pmfs_places_align(f->m->work, &rules, of[PMFS_BASE], f->n_of[PMFS_BASE], of[PMFS_OTHER],
		f->n_of[PMFS_OTHER], partner);
	for (uint32_t i = 0; i < f->n_of[PMFS_BASE]; i++)
		if (partner[i] != PM_NONE)
			pair(f->m, of[PMFS_BASE][i].tag, of[PMFS_OTHER][partner[i]].tag,
				PMFS_ORDER);
	/* Without a partner in the order: alone, even if one is left on each side. */
	for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
		uint32_t n = list_left(f, side, left[side]);
		for (uint32_t i = 0; i < n; i++)
			put_in(f->m, left[side][i], side, add_row(f->m, PMFS_UNMATCHED));
	}
}

/* ---- addresses ---- */

static int by_number(const void *a, const void *b, void *match)
{
	const struct pmfs_match *m = match;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	uint64_t i = m->members[x].facts.number, j = m->members[y].facts.number;
	return i != j ? (i < j ? -1 : 1) : (x > y) - (x < y);
}

static bool is_shared(const struct pmfs_match_member *member)
{
	return member->sides == PMFS_BOTH_SIDES &&
		member->module[PMFS_BASE] == member->module[PMFS_OTHER];
}

/*
 * Pairs offsets that are equal in a module with the same path, if the code around them looks the
 * same: an eighth of the neighbouring addresses, one at least, is in both runs as well. Samples are
 * seldom at all of the same instructions; of code that has moved, hardly any address is in both.
 */
static void pair_offsets(const struct family *f, uint32_t *sorted)
{
	const struct pmfs_match_member *members = f->m->members;
	for (uint32_t i = 0; i < f->n; i++)
		sorted[i] = f->members[i];
	pm_build_check(f->m->work, pm_sort_with(sorted, f->n, sizeof(*sorted), by_number, f->m));
	for (uint32_t i = 0; i < f->n; i++) {
		uint32_t from = i > NEIGHBOURS ? i - NEIGHBOURS : 0, shared = 0;
		uint32_t to = f->n - i > NEIGHBOURS ? i + NEIGHBOURS + 1 : f->n;
		for (uint32_t k = from; k < to; k++)
			shared += k != i && is_shared(&members[sorted[k]]);
		if (is_shared(&members[sorted[i]]) && shared > 0 && shared >= (to - from - 1) / 8)
			pair(f->m, sorted[i], sorted[i], PMFS_EXACT);
	}
}

void pmfs_family_decide(struct pmfs_match *m, const uint32_t *members, uint32_t n)
{
	struct family f = family_of(m, members, n);
	uint32_t *room = pm_arena_array(m->work, 2 * ((size_t)n + 1), sizeof(*room));
	uint32_t *const left[PMFS_N_SIDES] = {room, room + n};
	bool differ = f.n_of[PMFS_BASE] > 0 && f.n_of[PMFS_OTHER] > 0 && !is_equal(&f) &&
		(f.n_of[PMFS_BASE] > 1 || f.n_of[PMFS_OTHER] > 1);
	if (is_equal(&f))
		pair_same(&f);
	else if (differ)
		switch (f.part) {
		case PMFS_NAME_PLAIN:
		case PMFS_NAME_CLONE: pair_clones(&f, left); break;
		case PMFS_NAME_SOURCE: align(&f, left); break;
		case PMFS_NAME_HASH: pair_same(&f); /* fallthrough */
		case PMFS_NAME_RUN: pair_callers(&f); break;
		case PMFS_NAME_ADDRESS: pair_offsets(&f, room); break;
		}
	settle(&f, left);
}
