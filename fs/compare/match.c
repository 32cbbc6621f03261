/*
 * Matching: spellings → families → rows. The key of a family is the normalised name, and as
 * much of the paths of module and file as is needed to distinguish them within a run. Families
 * that one side lacks are then joined with those of the other side without folders.
 */
#include "fs/compare/match.h"

#include <errno.h>
#include <string.h>

#include "formats/common/affix.h"
#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/sort.h"
#include "profmount/tree.h"

struct pmfs_match_path {
	uint32_t run, text; /* index of its text */
	bool is_file;       /* else a module */
};

/* Of modules (0) and files (1). Zeroed = empty. */
struct tails {
	struct pm_strtab bases[2];
	struct pm_map depth[2]; /* base name → components to keep */
};

/*
 * ---- ends of paths ----
 *
 * Two paths of a run with the same base name keep one more component than they share.
 */

/* The start of the last `depth` components. */
static size_t tail_start(struct pm_bytes path, uint32_t depth)
{
	size_t at = path.len;
	while (at > 0 && depth > 0)
		if (path.p[--at] == '/' && --depth == 0)
			return at + 1;
	return 0;
}

static struct pm_bytes tail(struct pm_bytes path, uint32_t depth)
{
	size_t start = tail_start(path, depth);
	return (struct pm_bytes){path.p + start, path.len - start};
}

/* By run and kind, then by the text compared from its end. */
static int by_end(const void *a, const void *b, void *texts)
{
	const struct pmfs_match_path *x = a, *y = b;
	if (x->run != y->run)
		return x->run < y->run ? -1 : 1;
	if (x->is_file != y->is_file)
		return x->is_file ? 1 : -1;
	const struct pm_bytes *t = texts;
	struct pm_bytes s = t[x->text], u = t[y->text];
	for (size_t i = 1; i <= s.len && i <= u.len; i++)
		if (s.p[s.len - i] != u.p[u.len - i])
			return s.p[s.len - i] < u.p[u.len - i] ? -1 : 1;
	return (s.len > u.len) - (s.len < u.len);
}

/* The number of components at the end that two paths have in common. */
static uint32_t shared_components(struct pm_bytes a, struct pm_bytes b)
{
	uint32_t n = 0;
	size_t i = 1;
	for (; i <= a.len && i <= b.len && a.p[a.len - i] == b.p[b.len - i]; i++)
		n += a.p[a.len - i] == '/';
	bool whole = (i > a.len || a.p[a.len - i] == '/') && (i > b.len || b.p[b.len - i] == '/');
	return n + (whole ? 1 : 0);
}

/* Sorts the paths. O(n log n). */
static void tails_find(struct pmfs_match *m, struct tails *t)
{
	struct pmfs_match_path *p = m->paths;
	const struct pm_bytes *texts = m->texts.items;
	pm_build_check(
		m->work, pm_sort_with(p, m->n_paths, sizeof(*p), by_end, (void *)(uintptr_t)texts));
	for (size_t i = 1; i < m->n_paths; i++) {
		if (p[i].run != p[i - 1].run || p[i].is_file != p[i - 1].is_file)
			continue;
		struct pm_bytes path = texts[p[i].text];
		uint32_t shared = shared_components(path, texts[p[i - 1].text]);
		if (shared == 0)
			continue;
		bool fresh, what = p[i].is_file;
		uint32_t base = pm_strtab_add(&t->bases[what], tail(path, 1));
		uint32_t *kept = pm_map_put(&t->depth[what], base, shared + 1, &fresh);
		if (*kept < shared + 1)
			*kept = shared + 1;
	}
}

/* The end of the path that is kept, or only its `base` name. */
static struct pm_bytes tails_cut(
	const struct tails *t, unsigned what, struct pm_bytes path, bool base)
{
	struct pm_bytes last = tail(path, 1);
	uint32_t known = base ? PM_NONE : pm_strtab_find(&t->bases[what], last);
	const uint32_t *depth = known == PM_NONE ? NULL : pm_map_find(&t->depth[what], known);
	return depth ? tail(path, *depth) : last;
}

enum { BETWEEN_QUESTIONS = 1 << 12 /* evals */ };

/* ---- adding ---- */

void pmfs_match_init(struct pmfs_match *m, struct pm_arena *a, bool exact, bool of_places)
{
	struct pm_arena *work = pm_arena_scratch(a);
	*m = (struct pmfs_match){
		.exact = exact,
		.of_places = of_places,
		.arena = a,
		.work = work,
		.run = pm_arena_scratch(a),
		.texts = pm_strtab_in(a),
		.pairs.arena = work,
		.triples.arena = work,
		.seen.arena = work,
		.plain.arena = work,
		.verbatim.arena = work,
	};
}

/* The number of a pair of numbers, from 0 in order of first occurrence. */
static uint32_t number_of(struct pm_map *map, uint32_t a, uint32_t b)
{
	bool fresh;
	return *pm_map_put(map, (uint64_t)a << 32 | b, (uint32_t)map->n, &fresh);
}

/* Remembers that the run has this path. */
static void see_path(struct pmfs_match *m, uint32_t run, uint32_t text, bool is_file)
{
	bool fresh;
	if (m->texts.items[text].len == 0)
		return;
	pm_map_put(&m->seen, (uint64_t)run << 33 | (uint64_t)text << 1 | is_file, 0, &fresh);
	if (!fresh)
		return;
	pm_list_grow(m->work, &m->paths, m->n_paths, &m->room_paths, sizeof(*m->paths));
	m->paths[m->n_paths++] = (struct pmfs_match_path){run, text, is_file};
}

/* ---- evals ---- */

static const char an_eval[] = "(eval)[";

void pmfs_match_evals(
	struct pmfs_match *m, const struct pm_evals *evals, const struct pm_bytes *texts)
{
	m->evals = pm_strtab_in(m->run);
	for (uint64_t i = 0; i < evals->n; i++) {
		const struct pm_eval *e = &evals->evals[i];
		if (i % BETWEEN_QUESTIONS == 0)
			pm_build_proceed(m->run);
		if (e->digits == 0 || !pm_begins_with(texts[e->text], an_eval))
			continue;
		uint32_t n = m->evals.n, at = pm_strtab_add(&m->evals, texts[e->text]);
		pm_list_grow(m->work, &m->digits, n, &m->room_digits, sizeof(*m->digits));
		m->digits[at] = e->digits;
	}
}

/* The eval whose name begins at `s.p`: up to the bracket that ends it. */
static uint32_t eval_at(const struct pmfs_match *m, struct pm_bytes s)
{
	unsigned depth = 0;
	for (size_t i = sizeof(an_eval) - 2; i < s.len; i++) {
		depth += s.p[i] == '[';
		depth -= s.p[i] == ']';
		if (depth == 0)
			return pm_strtab_find(&m->evals, (struct pm_bytes){s.p, i + 1});
	}
	return PM_NONE;
}

/* Adds a text, or what it is called with the checksums of its evals. */
static uint32_t add_text(struct pmfs_match *m, struct pm_bytes s)
{
	struct pm_text told = {.arena = m->work};
	uint32_t plain = pm_strtab_add_lasting(&m->texts, s), full = plain;
	const uint8_t *at;
	bool fresh;
	if (s.len && memmem(s.p, s.len, "(eval ", 6))
		pm_map_put(&m->verbatim, plain, 0, &fresh);
	while (m->evals.n && s.len && (at = memmem(s.p, s.len, an_eval, sizeof(an_eval) - 1))) {
		size_t before = (size_t)(at - s.p);
		uint32_t eval = eval_at(m, (struct pm_bytes){at, s.len - before});
		pm_text_add(&told, s.p, before);
		pm_text_str(&told, "(eval");
		if (eval != PM_NONE)
			pm_text_printf(&told, " %08x", m->digits[eval]);
		s.p = at + sizeof("(eval") - 1;
		s.len -= before + sizeof("(eval") - 1;
	}
	if (told.len > 0) {
		pm_text_bytes(&told, s);
		full = pm_strtab_add(&m->texts, pm_text_view(&told));
		pm_text_done(&told);
	}
	if (full != plain)
		pm_map_put(&m->plain, full, plain, &fresh);
	return full;
}

/* What no run says by itself need not be said: it is called as in its run. */
static void drop_told(struct pmfs_match *m, uint32_t *text)
{
	const uint32_t *plain = pm_map_find(&m->plain, *text);
	if (plain && !pm_map_find(&m->verbatim, *text))
		*text = *plain;
}

static void drop_all_told(struct pmfs_match *m)
{
	for (uint32_t i = 0; m->plain.n && i < m->n; i++) {
		drop_told(m, &m->spellings[i].name);
		drop_told(m, &m->spellings[i].module);
		drop_told(m, &m->spellings[i].file);
	}
	for (size_t i = 0; m->plain.n && i < m->n_paths; i++)
		drop_told(m, &m->paths[i].text);
}

uint32_t pmfs_match_add(
	struct pmfs_match *m, enum pmfs_side side, uint32_t run, const struct pm_bytes text[3])
{
	uint32_t index[3];
	for (unsigned i = 0; i < 3; i++)
		index[i] = add_text(m, text[i]);
	uint32_t pair = number_of(&m->pairs, index[0], index[1]);
	uint32_t triple = number_of(&m->triples, pair, index[2]);
	see_path(m, run, index[1], false);
	see_path(m, run, index[2], true);
	if (triple == m->n) {
		pm_list_grow(m->arena, &m->spellings, m->n, &m->room, sizeof(*m->spellings));
		m->spellings[m->n++] = (struct pmfs_spelling){.name = index[0],
			.module = index[1],
			.file = index[2],
			.last_run = PM_NONE};
	}
	struct pmfs_spelling *s = &m->spellings[triple];
	s->sides |= (uint8_t)(1u << side);
	s->n_runs += s->last_run != run;
	s->last_run = run;
	m->side = side;
	return triple;
}

static void keep_first(uint32_t *first, uint32_t line)
{
	if (line != 0 && (*first == 0 || line < *first))
		*first = line;
}

void pmfs_match_line(struct pmfs_match *m, uint32_t spelling, enum pmfs_side side, uint32_t line)
{
	keep_first(&m->spellings[spelling].line[side], line);
}

void pmfs_match_run_ends(struct pmfs_match *m)
{
	pm_strtab_forget(&m->texts);
	pm_arena_done(m->run);
	m->evals = (struct pm_strtab){.n = 0};
	m->n_runs++;
	m->n_side_runs[m->side]++;
}

/* ---- keys ---- */

/* Of a text, PM_NONE until it is first used; cached because many spellings may share a long one. */
enum key_of { NAME, MODULE, FILE_PATH, MODULE_BASE, FILE_BASE, N_KEYS };

struct keying {
	struct pmfs_match *m;
	uint32_t (*key_of)[N_KEYS];    /* by text */
	struct pmfs_name_facts *facts; /* by text */
	bool knows[2];                 /* both sides have modules; files */
	struct tails tails;
	struct pm_strtab keys[2], names;
	struct pm_map names_and_parts, places, families, bases, members;
	struct pm_text text;
	uint32_t *family_base; /* by family: the same with base names only */
	uint8_t *family_sides;
	size_t room_base, room_sides;
	uint32_t n_families;
};

/* With as many folders as needed to distinguish it, or as a base name. */
static uint32_t place_key(struct keying *k, unsigned what, uint32_t text, bool base)
{
	struct pm_bytes path = k->m->texts.items[text];
	uint32_t *known = &k->key_of[text][(base ? MODULE_BASE : MODULE) + what];
	if (*known != PM_NONE)
		return *known;
	pm_text_clear(&k->text);
	if (k->knows[what]) {
		struct pm_bytes end = tails_cut(&k->tails, what, path, base);
		size_t mark = base || k->m->exact ? 0 : pmfs_eval_mark(path);
		if (what == 0)
			pmfs_tidy_module(end, &k->text);
		else /* the same text is the same code, whatever line it is compiled at */
			pm_text_bytes(&k->text, mark ? (struct pm_bytes){path.p, mark} : end);
	}
	return *known = pm_strtab_add(&k->keys[what], pm_text_view(&k->text));
}

/* The seldom executed part of a function is no other copy of it, and has a family of its own. */
static uint32_t name_key(struct keying *k, uint32_t text)
{
	struct pm_bytes name = k->m->texts.items[text];
	uint32_t *known = &k->key_of[text][NAME];
	if (*known != PM_NONE)
		return *known;
	pm_text_clear(&k->text);
	k->facts[text] = (struct pmfs_name_facts){.part = PMFS_NAME_PLAIN};
	if (k->m->exact)
		pm_text_bytes(&k->text, name);
	else
		pmfs_family_name(name, &k->text, &k->facts[text]);
	uint32_t key = pm_strtab_add(&k->names, pm_text_view(&k->text));
	return *known = number_of(&k->names_and_parts, key, k->facts[text].cold);
}

/* The number of a module and a file. */
static uint32_t place_of(struct keying *k, const struct pmfs_spelling *s, bool base)
{
	uint32_t module = place_key(k, 0, s->module, base);
	return number_of(&k->places, module, place_key(k, 1, s->file, base));
}

/* `of` is the family of each spelling. */
static void find_families(struct keying *k, uint32_t *of)
{
	struct pmfs_match *m = k->m;
	for (uint32_t i = 0; i < m->n; i++) {
		const struct pmfs_spelling *s = &m->spellings[i];
		uint32_t name = name_key(k, s->name), n = k->n_families;
		uint32_t place = place_of(k, s, false), base = place_of(k, s, true);
		of[i] = number_of(&k->families, name, place);
		if (of[i] == n) {
			pm_list_grow(m->work, &k->family_base, n, &k->room_base,
				sizeof(*k->family_base));
			pm_list_grow(m->work, &k->family_sides, n, &k->room_sides, 1);
			k->family_base[n] = number_of(&k->bases, name, base);
			k->family_sides[n] = 0;
			k->n_families++;
		}
		k->family_sides[of[i]] |= s->sides;
	}
}

/*
 * Families of one side with equal base names are one if the other side has some, too: `to` is the
 * family that each becomes.
 */
static void join_families(struct keying *k, uint32_t *to)
{
	struct pm_arena *a = k->m->work;
	uint8_t *sides = pm_arena_array(a, k->bases.n + 1, 1);
	uint32_t *first = pm_arena_array(a, k->bases.n + 1, sizeof(*first)), n = 0;
	uint8_t *joined = pm_arena_array(a, k->bases.n + 1, 1); /* sides of those before */
	k->m->blurred = pm_arena_array(a, (size_t)k->n_families + 1, 1);
	for (uint32_t i = 0; i < k->n_families; i++)
		if (k->family_sides[i] != PMFS_BOTH_SIDES)
			sides[k->family_base[i]] |= k->family_sides[i];
	for (uint32_t i = 0; i < k->n_families; i++) {
		uint32_t base = k->family_base[i];
		bool joins =
			k->family_sides[i] != PMFS_BOTH_SIDES && sides[base] == PMFS_BOTH_SIDES;
		if (!joins || joined[base] == 0)
			to[i] = n++;
		if (joins && joined[base] == 0)
			first[base] = to[i];
		if (!joins)
			continue;
		to[i] = first[base];
		k->m->blurred[to[i]] |= (joined[base] & k->family_sides[i]) != 0;
		joined[base] |= k->family_sides[i];
	}
	k->m->n_families = n;
}

/* ---- members ---- */

static void add_member(struct keying *k, struct pmfs_spelling *s, uint32_t family)
{
	struct pmfs_match *m = k->m;
	s->member = number_of(&k->members, family, s->name);
	if (s->member == m->n_members) {
		pm_list_grow(
			m->arena, &m->members, m->n_members, &m->room_members, sizeof(*m->members));
		m->members[m->n_members++] = (struct pmfs_match_member){.family = family,
			.name = s->name,
			.module = {PM_NONE, PM_NONE},
			.facts = k->facts[s->name],
			.group = {PM_NONE, PM_NONE}};
	}
	struct pmfs_match_member *member = &m->members[s->member];
	member->sides |= s->sides;
	member->n_runs += s->n_runs;
	for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
		keep_first(&member->line[side], s->line[side]);
		if (s->sides & 1u << side && member->module[side] == PM_NONE)
			member->module[side] = s->module;
	}
}

static int by_family(const void *a, const void *b, void *members)
{
	const struct pmfs_match_member *m = members;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	if (m[x].family != m[y].family)
		return m[x].family < m[y].family ? -1 : 1;
	return (x > y) - (x < y);
}

/* Calls `each` for each family, with its members. */
static void for_families(struct pmfs_match *m,
	void (*each)(struct pmfs_match *m, const uint32_t *members, uint32_t n))
{
	for (uint32_t from = 0, to; from < m->n_members; from = to) {
		uint32_t family = m->members[m->order[from]].family;
		for (to = from; to < m->n_members && m->members[m->order[to]].family == family;)
			to++;
		pm_build_proceed(m->work);
		each(m, m->order + from, to - from);
	}
}

static void find_needs(struct pmfs_match *m, const uint32_t *members, uint32_t n)
{
	bool needs = pmfs_family_needs_calls(m, members, n);
	for (uint32_t i = 0; i < n; i++)
		m->members[members[i]].calls = needs;
	m->needs_calls |= needs;
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
	return sides == PMFS_BOTH_SIDES;
}

void pmfs_match_families(struct pmfs_match *m)
{
	struct pm_arena *a = pm_arena_scratch(m->work);
	const struct pm_strtab texts = pm_strtab_in(a);
	const struct pm_map map = {.arena = a};
	struct keying k = {.m = m,
		.tails = {{texts, texts}, {map, map}},
		.keys = {texts, texts},
		.names = texts,
		.names_and_parts = map,
		.places = map,
		.families = map,
		.bases = map,
		.members = map,
		.text.arena = a};
	drop_all_told(m);
	for (unsigned what = 0; what < 2; what++)
		k.knows[what] = m->of_places || both_know(m, what);
	k.key_of = pm_arena_array(a, (size_t)m->texts.n + 1, sizeof(*k.key_of));
	k.facts = pm_arena_array(a, (size_t)m->texts.n + 1, sizeof(*k.facts));
	uint32_t *of = pm_arena_array(a, (size_t)m->n + 1, sizeof(*of));
	memset(k.key_of, 0xff, (size_t)m->texts.n * sizeof(*k.key_of)); /* PM_NONE */
	tails_find(m, &k.tails);
	find_families(&k, of);
	uint32_t *to = pm_arena_array(a, (size_t)k.n_families + 1, sizeof(*to));
	join_families(&k, to);
	for (uint32_t i = 0; i < m->n; i++)
		add_member(&k, &m->spellings[i], to[of[i]]);
	pm_arena_done(a);
	m->order = pm_arena_array(m->work, (size_t)m->n_members + 1, sizeof(*m->order));
	for (uint32_t i = 0; i < m->n_members; i++)
		m->order[i] = i;
	pm_build_check(m->work,
		pm_sort_with(m->order, m->n_members, sizeof(*m->order), by_family, m->members));
	for_families(m, find_needs);
}

void pmfs_match_call(struct pmfs_match *m, enum pmfs_side side, uint32_t caller, uint32_t callee)
{
	uint32_t from = m->spellings[caller].member;
	uint32_t family = m->members[m->spellings[callee].member].family;
	if (!m->members[from].calls || m->members[from].family == family)
		return;
	pm_list_grow(m->work, &m->calls, m->n_calls, &m->room_calls, sizeof(*m->calls));
	m->calls[m->n_calls++] = (struct pmfs_match_call){from, (uint8_t)side, family};
}

/* ---- rows ---- */

static uint32_t root_of(uint32_t *above, uint32_t name)
{
	while (above[name] != name)
		name = above[name] = above[above[name]];
	return name;
}

/* Both sides have the name, in functions of which none is matched: in other files, for instance. */
static void connect_equal(const struct pmfs_match *m, uint32_t *above)
{
	size_t n = 2 * (size_t)m->texts.n + 1;
	bool *matched = pm_arena_array(m->work, n, sizeof(*matched));
	bool *there = pm_arena_array(m->work, n, sizeof(*there));
	for (uint32_t i = 0; i < 2 * m->n_members; i++) {
		uint32_t row = m->members[i / 2].group[i % 2];
		size_t node = 2 * (size_t)m->members[i / 2].name + i % 2;
		there[node] |= row != PM_NONE;
		matched[node] |= row != PM_NONE && m->groups[row].sides == PMFS_BOTH_SIDES;
	}
	for (uint32_t i = 0; i < m->texts.n; i++) {
		uint32_t base = 2 * i + PMFS_BASE, other = 2 * i + PMFS_OTHER;
		if (there[base] && there[other] && !matched[base] && !matched[other])
			above[root_of(above, other)] = root_of(above, base);
	}
}

/*
 * Names of one row, and rows that share a name, are one in tables that have names alone. A name has
 * a node for each side; `of_name` leads from it to a row of both sides, or to any.
 */
static void connect_names(struct pmfs_match *m)
{
	size_t n = 2 * (size_t)m->texts.n;
	pm_build_check(m->work, n < PM_NONE ? 0 : -ENOMEM);
	uint32_t *above = pm_arena_array(m->work, n + 1, sizeof(*above));
	uint32_t *first = /* name by row */
		pm_arena_array(m->work, (size_t)m->n_groups + 1, sizeof(*first));
	m->of_name = pm_arena_array(m->arena, n + 1, sizeof(*m->of_name));
	for (size_t i = 0; i < n; i++) {
		above[i] = (uint32_t)i;
		m->of_name[i] = PM_NONE;
	}
	for (uint32_t i = 0; i < m->n_groups; i++)
		first[i] = PM_NONE;
	for (uint32_t i = 0; i < 2 * m->n_members; i++) {
		uint32_t row = m->members[i / 2].group[i % 2];
		uint32_t name = root_of(above, 2 * m->members[i / 2].name + i % 2);
		if (row != PM_NONE && first[row] != PM_NONE)
			above[name] = root_of(above, first[row]);
		else if (row != PM_NONE)
			first[row] = name;
	}
	connect_equal(m, above);
	for (uint32_t i = 0; i < m->n_groups; i++) {
		uint32_t *row = &m->of_name[root_of(above, first[i])];
		if (*row == PM_NONE ||
			(m->groups[*row].sides != PMFS_BOTH_SIDES &&
				m->groups[i].sides == PMFS_BOTH_SIDES))
			*row = i;
	}
	for (uint32_t i = 0; i < n; i++)
		m->of_name[i] = m->of_name[root_of(above, i)];
}

/* `libuct.so (12 addresses)`, `Shop$$Lambda.run (3 names)`; copies of a function are that one. */
static struct pm_bytes joined_name(struct pmfs_match *m, const struct pmfs_match_group *g,
	const struct pmfs_match_member *member)
{
	struct pm_text text = {.arena = m->work};
	struct pmfs_name_facts facts;
	enum pmfs_name_part part = member->facts.part;
	pmfs_family_name(pmfs_match_text(m, member->name), &text, &facts);
	if (part > PMFS_NAME_CLONE)
		pm_text_printf(&text, " (%u %s)", g->n_names,
			part == PMFS_NAME_ADDRESS ? "addresses" : "names");
	return pm_arena_copy(m->arena, pm_text_view(&text));
}

/* The spelling is shown if it is the first of the other run, or of the baseline if that has none.
 */
static void show(struct pmfs_match *m, uint32_t spelling, enum pmfs_side side)
{
	const struct pmfs_spelling *s = &m->spellings[spelling];
	struct pmfs_match_group *g = &m->groups[s->group[side]];
	bool others = g->sides & 1u << PMFS_OTHER;
	keep_first(&g->line[side], s->line[side]);
	if (g->shown == PM_NONE && (side == PMFS_OTHER || !others))
		g->shown = spelling;
}

static void fill_groups(struct pmfs_match *m)
{
	for (uint32_t i = 0; i < m->n_members; i++) {
		const uint32_t *group = m->members[i].group;
		for (unsigned side = 0; side < PMFS_N_SIDES; side++)
			if (group[side] != PM_NONE && (side == 0 || group[side] != group[0]))
				m->groups[group[side]].n_names++;
	}
	for (uint32_t i = 0; i < m->n; i++) {
		struct pmfs_spelling *s = &m->spellings[i];
		for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
			s->group[side] = PM_NONE;
			if (!(s->sides & 1u << side))
				continue;
			s->group[side] = m->members[s->member].group[side];
			show(m, i, (enum pmfs_side)side);
		}
	}
	for (uint32_t i = 0; i < m->n_groups; i++) {
		struct pmfs_match_group *g = &m->groups[i];
		const struct pmfs_spelling *s = &m->spellings[g->shown];
		g->name = pmfs_match_text(m, s->name);
		if (g->n_names > 1 && g->matched != PMFS_GROUP && g->matched != PMFS_ORDER)
			g->name = joined_name(m, g, &m->members[s->member]);
	}
}

static int by_call(const void *a, const void *b)
{
	const struct pmfs_match_call *x = a, *y = b;
	if (x->caller != y->caller)
		return x->caller < y->caller ? -1 : 1;
	if (x->side != y->side)
		return x->side < y->side ? -1 : 1;
	return (x->callee > y->callee) - (x->callee < y->callee);
}

void pmfs_match_finish(struct pmfs_match *m)
{
	size_t n = 0;
	if (!m->order)
		pmfs_match_families(m);
	pm_build_check(m->work, pm_sort(m->calls, m->n_calls, sizeof(*m->calls), by_call));
	for (size_t i = 0; i < m->n_calls; i++) /* each once */
		if (n == 0 || by_call(&m->calls[n - 1], &m->calls[i]) != 0)
			m->calls[n++] = m->calls[i];
	m->n_calls = n;
	for_families(m, pmfs_family_decide);
	fill_groups(m);
	connect_names(m);
	pm_arena_done(m->work);
}

struct pm_bytes pmfs_matched_text(enum pmfs_matched matched)
{
	static const char *const words[] = {"", "exact", "group", "order", "joined"};
	return pm_bytes_of(words[matched]);
}
