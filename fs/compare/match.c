/*
 * Matching. The key of a spelling is its normalised name, and as much of the paths of its module
 * and file as is needed to distinguish them within a run. Equal keys form a group. Groups that one
 * side lacks are then joined with groups of the other side: without folders, and finally by looser
 * names.
 */
#include "fs/compare/match.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/list.h"
#include "fs/compare/names.h"
#include "fs/compare/tails.h"
#include "profmount/tree.h"

/* ---- adding ---- */

/*
 * The number of a pair of numbers, from 0 in order of first occurrence; PM_NONE if out of memory.
 */
static uint32_t number_of(struct pm_map *map, uint32_t a, uint32_t b)
{
	bool fresh;
	uint32_t *number = pm_map_put(map, (uint64_t)a << 32 | b, (uint32_t)map->n, &fresh);
	return number ? *number : PM_NONE;
}

/* Remembers that the run has this path. */
static int see_path(struct pmfs_match *m, uint32_t run, uint32_t text, bool is_file)
{
	bool fresh;
	if (m->texts.items[text].len == 0)
		return 0;
	if (!pm_map_put(&m->seen, (uint64_t)run << 33 | (uint64_t)text << 1 | is_file, 0, &fresh))
		return -ENOMEM;
	if (!fresh)
		return 0;
	if (pm_list_room(&m->paths, m->n_paths, &m->room_paths, sizeof(*m->paths)) < 0)
		return -ENOMEM;
	m->paths[m->n_paths++] = (struct pmfs_match_path){run, text, is_file};
	return 0;
}

int pmfs_match_add(struct pmfs_match *m, enum pmfs_side side, uint32_t run,
	const struct pm_bytes text[3], uint32_t *ret_spelling)
{
	uint32_t index[3];
	m->texts.arena = &m->arena;
	for (unsigned i = 0; i < 3; i++) {
		index[i] = pm_strtab_add_lasting(&m->texts, text[i]);
		if (index[i] == PM_NONE)
			return -ENOMEM;
	}
	uint32_t pair = number_of(&m->pairs, index[0], index[1]);
	uint32_t triple = pair == PM_NONE ? PM_NONE : number_of(&m->triples, pair, index[2]);
	if (triple == PM_NONE || see_path(m, run, index[1], false) < 0 ||
		see_path(m, run, index[2], true) < 0)
		return -ENOMEM;
	if (triple == m->n) {
		if (pm_list_room(&m->spellings, m->n, &m->room, sizeof(*m->spellings)) < 0)
			return -ENOMEM;
		m->spellings[m->n++] = (struct pmfs_spelling){index[0], index[1], index[2], 0, 0};
	}
	m->spellings[triple].sides |= (uint8_t)(1u << side);
	*ret_spelling = triple;
	return 0;
}

void pmfs_match_run_ends(struct pmfs_match *m)
{
	pm_strtab_forget(&m->texts);
}

/*
 * The keys of a text, PM_NONE until it is first used; cached because many spellings may share a
 * long one.
 */
enum key_of { NAME, LOOSE_NAME, MODULE, FILE_PATH, MODULE_BASE, FILE_BASE, N_KEYS };

struct keying {
	struct pmfs_match *m;
	uint32_t (*key_of)[N_KEYS]; /* by text */
	bool knows[2];              /* both sides have modules; files */
	struct pmfs_tails tails;
	struct pm_strtab keys[2], names, loose;
	struct pm_map pairs, triples;
	struct pm_text text;
	uint32_t *group_name, *group_place; /* by group: a text; base names. See join_alone */
	size_t room_name, room_place, room_groups;
};

/* ---- keys ---- */

/* With as many folders as needed to distinguish it, or as a base name. */
static uint32_t place_key(struct keying *k, unsigned what, uint32_t text, bool base)
{
	struct pm_bytes path = k->m->texts.items[text];
	uint32_t *known = &k->key_of[text][(base ? MODULE_BASE : MODULE) + what];
	if (*known != PM_NONE)
		return *known;
	pm_text_clear(&k->text);
	if (k->knows[what]) {
		struct pm_bytes end = pmfs_tails_cut(&k->tails, what, path, base);
		if (what == 0)
			pmfs_tidy_module(end, &k->text);
		else
			pm_text_bytes(&k->text, end);
	}
	if (!k->text.failed)
		*known = pm_strtab_add(&k->keys[what], pm_text_view(&k->text));
	return *known;
}

static uint32_t name_key(struct keying *k, uint32_t text, bool loose)
{
	struct pm_bytes name = k->m->texts.items[text];
	uint32_t *known = &k->key_of[text][loose ? LOOSE_NAME : NAME];
	if (*known != PM_NONE)
		return *known;
	pm_text_clear(&k->text);
	if (k->m->exact)
		pm_text_bytes(&k->text, name);
	else if (loose)
		pmfs_loose_name(name, &k->text);
	else
		pmfs_tidy_name(name, &k->text);
	if (!k->text.failed)
		*known = pm_strtab_add(loose ? &k->loose : &k->names, pm_text_view(&k->text));
	return *known;
}

/* The number of a spelling's module and file; PM_NONE if out of memory. */
static uint32_t place_of(struct keying *k, const struct pmfs_spelling *s, bool base)
{
	uint32_t module = place_key(k, 0, s->module, base);
	uint32_t file = module == PM_NONE ? PM_NONE : place_key(k, 1, s->file, base);
	return file == PM_NONE ? PM_NONE : number_of(&k->pairs, module, file);
}

static int add_group(struct keying *k, uint32_t name, uint32_t place)
{
	struct pmfs_match *m = k->m;
	uint32_t n = m->n_groups;
	if (pm_list_room(&m->groups, n, &k->room_groups, sizeof(*m->groups)) < 0 ||
		pm_list_room(&k->group_name, n, &k->room_name, sizeof(*k->group_name)) < 0 ||
		pm_list_room(&k->group_place, n, &k->room_place, sizeof(*k->group_place)) < 0)
		return -ENOMEM;
	m->groups[n] = (struct pmfs_match_group){.shown = PM_NONE};
	k->group_name[n] = name;
	k->group_place[n] = place;
	m->n_groups++;
	return 0;
}

static int group_spellings(struct keying *k)
{
	struct pmfs_match *m = k->m;
	for (uint32_t i = 0; i < m->n; i++) {
		struct pmfs_spelling *s = &m->spellings[i];
		uint32_t name = name_key(k, s->name, false);
		uint32_t place = place_of(k, s, false), base = place_of(k, s, true);
		if (name == PM_NONE || place == PM_NONE || base == PM_NONE)
			return -ENOMEM;
		uint32_t group = number_of(&k->triples, name, place);
		if (group == PM_NONE || (group == m->n_groups && add_group(k, s->name, base) < 0))
			return -ENOMEM;
		s->group = group;
		m->groups[group].sides |= s->sides;
	}
	return 0;
}

/* ---- unmatched functions ---- */

/*
 * Joins groups of one side with equal names and equal base names of module and file, if the other
 * side has some, too.
 */
static int join_groups(struct keying *k, bool by_loose_name, uint32_t *to)
{
	struct pmfs_match *m = k->m;
	struct pm_map keys = {.slots = NULL};
	uint32_t *loose = malloc(((size_t)m->n_groups + 1) * sizeof(*loose));
	uint8_t *sides = calloc((size_t)m->n_groups + 1, 1);
	uint32_t *first = malloc(((size_t)m->n_groups + 1) * sizeof(*first));
	int r = loose && sides && first ? 0 : -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < m->n_groups; i++) {
		loose[i] = PM_NONE;
		if (m->groups[i].sides == 3)
			continue;
		uint32_t name = name_key(k, k->group_name[i], by_loose_name);
		size_t known = keys.n;
		loose[i] = name == PM_NONE ? PM_NONE : number_of(&keys, name, k->group_place[i]);
		if (loose[i] == PM_NONE)
			r = -ENOMEM;
		else if (keys.n > known)
			first[loose[i]] = i;
		if (r == 0)
			sides[loose[i]] |= m->groups[i].sides;
	}
	for (uint32_t i = 0; r == 0 && i < m->n_groups; i++)
		to[i] = loose[i] != PM_NONE && sides[loose[i]] == 3 ? first[loose[i]] : i;
	free(loose);
	free(sides);
	free(first);
	pm_map_done(&keys);
	return r;
}

/* Renumbers the remaining groups in order. */
static void renumber(struct keying *k, uint32_t *to)
{
	struct pmfs_match *m = k->m;
	uint32_t n = 0;
	for (uint32_t i = 0; i < m->n_groups; i++) {
		if (to[i] == i) {
			m->groups[n] = m->groups[i];
			k->group_name[n] = k->group_name[i];
			k->group_place[n] = k->group_place[i];
			to[i] = n++;
		} else { /* the group into which it was merged comes before it */
			to[i] = to[to[i]];
			m->groups[to[i]].sides |= m->groups[i].sides;
		}
	}
	m->n_groups = n;
	for (uint32_t i = 0; i < m->n; i++)
		m->spellings[i].group = to[m->spellings[i].group];
}

static int join_alone(struct keying *k, bool by_loose_name)
{
	struct pmfs_match *m = k->m;
	uint32_t *to = malloc(((size_t)m->n_groups + 1) * sizeof(*to));
	int r = to ? join_groups(k, by_loose_name, to) : -ENOMEM;
	if (r == 0)
		renumber(k, to);
	free(to);
	return r;
}

/* The first spelling of the other run, else of the baseline; and the number of names. */
static int show_groups(struct pmfs_match *m)
{
	struct pm_map names = {.slots = NULL};
	for (uint32_t i = 0; i < m->n; i++) {
		const struct pmfs_spelling *s = &m->spellings[i];
		struct pmfs_match_group *g = &m->groups[s->group];
		bool fresh,
			better = g->shown != PM_NONE && s->sides & 2 &&
			!(m->spellings[g->shown].sides & 2);
		if (g->shown == PM_NONE || better)
			g->shown = i;
		if (!pm_map_put(&names, (uint64_t)s->group << 32 | s->name, 0, &fresh)) {
			pm_map_done(&names);
			return -ENOMEM;
		}
		g->n_names += fresh;
	}
	pm_map_done(&names);
	return 0;
}

/* Whether both sides have modules (0) or files (1). */
static bool both_know(const struct pmfs_match *m, unsigned what)
{
	uint8_t sides = 0;
	for (uint32_t i = 0; i < m->n; i++) {
		const struct pmfs_spelling *s = &m->spellings[i];
		if (m->texts.items[what ? s->file : s->module].len > 0)
			sides |= s->sides;
	}
	return sides == 3;
}

int pmfs_match_finish(struct pmfs_match *m)
{
	struct pm_arena arena = {.block = NULL};
	struct keying k = {.m = m};
	k.names.arena = k.loose.arena = k.keys[0].arena = k.keys[1].arena = &arena;
	for (unsigned what = 0; what < 2; what++)
		k.knows[what] = m->of_places || both_know(m, what);
	k.key_of = malloc(((size_t)m->texts.n + 1) * sizeof(*k.key_of));
	if (k.key_of)
		memset(k.key_of, 0xff, (size_t)m->texts.n * sizeof(*k.key_of)); /* PM_NONE */
	int r = k.key_of ? pmfs_tails_find(&k.tails, m->paths, m->n_paths, m->texts.items)
			 : -ENOMEM;
	if (r == 0)
		r = group_spellings(&k);
	if (r == 0)
		r = join_alone(&k, false);
	if (r == 0 && !m->exact)
		r = join_alone(&k, true);
	if (r == 0)
		r = show_groups(m);
	pmfs_tails_done(&k.tails);
	for (unsigned what = 0; what < 2; what++)
		pm_strtab_done(&k.keys[what]);
	pm_strtab_done(&k.names);
	pm_strtab_done(&k.loose);
	pm_map_done(&k.pairs);
	pm_map_done(&k.triples);
	pm_text_done(&k.text);
	pm_arena_done(&arena);
	free(k.key_of);
	free(k.group_name);
	free(k.group_place);
	return r;
}

void pmfs_match_done(struct pmfs_match *m)
{
	pm_strtab_done(&m->texts);
	pm_arena_done(&m->arena);
	pm_map_done(&m->pairs);
	pm_map_done(&m->triples);
	pm_map_done(&m->seen);
	free(m->spellings);
	free(m->groups);
	free(m->paths);
}
