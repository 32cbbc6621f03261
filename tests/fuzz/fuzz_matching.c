/*
 * Items of two sides, matched: lines of a side (`<` or `>`), a run, a name, a module and a file,
 * with tabs between them. The first byte says whether names are exact.
 */
#include <stdlib.h>

#include "fs/compare/match.h"
#include "fs/compare/names.h"
#include "profmount/tree.h"

enum { MOST = 1000, RUNS = 4 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
	if (!good)
		abort();
}

static bool is_entry_of_measurement(struct pm_bytes name)
{
	for (size_t i = 0; i < pmfs_n_name_twins; i++)
		if (pm_bytes_equal(name, pm_bytes_of(pmfs_name_twins[i].name)))
			return true;
	return false;
}

/*
 * Normalised names are not empty unless the name is, and never longer, except for those of entry
 * points, which get the database's name.
 */
static void check_name(struct pm_bytes name)
{
	struct pm_text family = {.p = NULL}, module = {.p = NULL};
	struct pmfs_name_facts facts;
	pmfs_family_name(name, &family, &facts);
	pmfs_tidy_module(name, &module);
	bool longer = is_entry_of_measurement(name);
	must((family.len <= name.len || longer) && (family.len > 0) == (name.len > 0));
	must(module.len <= name.len);
	pm_text_done(&family);
	pm_text_done(&module);
}

/* What stands before the next `end`, which is skipped. */
static struct pm_bytes part(struct pm_bytes *rest, uint8_t end)
{
	const uint8_t *at = rest->len ? memchr(rest->p, end, rest->len) : NULL;
	struct pm_bytes found = {rest->p, at ? (size_t)(at - rest->p) : rest->len};
	size_t skipped = found.len + (at != NULL);
	rest->p += skipped;
	rest->len -= skipped;
	return found;
}

static void check_groups(const struct pmfs_match *m)
{
	uint8_t *sides = calloc((size_t)m->n_groups + 1, 1);
	must(sides != NULL);
	for (uint32_t i = 0; i < m->n; i++)
		for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
			const struct pmfs_spelling *s = &m->spellings[i];
			bool there = s->sides & 1u << side;
			must(there == (s->group[side] != PM_NONE));
			if (!there)
				continue;
			must(s->group[side] < m->n_groups);
			must(pmfs_match_named(m, i, (enum pmfs_side)side) < m->n_groups);
			sides[s->group[side]] |= (uint8_t)(1u << side);
		}
	for (uint32_t i = 0; i < m->n_groups; i++) {
		const struct pmfs_match_group *g = &m->groups[i];
		must(g->sides == sides[i] && g->sides != 0 && g->n_names > 0);
		must((g->sides == PMFS_BOTH_SIDES) == (g->matched != PMFS_UNMATCHED));
		const uint32_t *shown = m->spellings[g->shown].group;
		must(g->shown < m->n && (shown[PMFS_BASE] == i || shown[PMFS_OTHER] == i));
	}
	free(sides);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pm_bytes rest = {data, size};
	if (size == 0)
		return 0;
	struct pm_arena arena = {.block = NULL};
	struct pmfs_match m;
	pmfs_match_init(&m, &arena, data[0] & 1, data[0] & 2);
	rest.p++;
	rest.len--;
	uint32_t before = PM_NONE, calls[MOST][2], n_calls = 0;
	enum pmfs_side sides[MOST];
	for (unsigned i = 0; i < MOST && rest.len > 0; i++) {
		struct pm_bytes line = part(&rest, '\n'), head = part(&line, '\t'), text[3];
		enum pmfs_side side = head.len && head.p[0] == '>' ? PMFS_OTHER : PMFS_BASE;
		uint32_t run = (head.len > 1 ? head.p[1] : 0) % RUNS, first, again;
		for (unsigned k = 0; k < 3; k++) {
			text[k] = part(&line, '\t');
			check_name(text[k]);
		}
		run = 2 * run + side; /* a run is on one side */
		first = pmfs_match_add(&m, side, run, text);
		again = pmfs_match_add(&m, side, run, text);
		must(first == again);
		pmfs_match_line(&m, first, side, text[2].len ? text[2].p[0] : 0);
		if (before != PM_NONE && m.spellings[before].sides & 1u << side) {
			sides[n_calls] = side; /* each is called by the one before it */
			calls[n_calls][0] = before;
			calls[n_calls++][1] = first;
		}
		before = first;
	}
	pmfs_match_families(&m);
	for (uint32_t i = 0; i < n_calls; i++)
		pmfs_match_call(&m, sides[i], calls[i][0], calls[i][1]);
	pmfs_match_finish(&m);
	check_groups(&m);
	pm_arena_done(&arena);
	return 0;
}
