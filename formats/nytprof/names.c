/*
 * What things are called. Evals: the writer numbers those of a process in the order in which they
 * run, `(eval 12)[f.pl:3]`: the number says nothing, and processes that forked use the same ones.
 * Here evals of one site (a line of a file, or of an eval as it is shown) are one if their texts
 * are equal; without saved texts, if they define the same subs at the same lines. Names in which
 * such names occur, those of anonymous subs, change with them. With nytp.keep_evals, a site is a
 * name as stored: then only evals of one name in several processes are told apart by their texts.
 *
 * Namesakes: subs of one name that processes define in different files are told apart by numbers.
 */
#include "formats/nytprof/nytprof.h"

#include <stdio.h>

#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "formats/nytprof/limits.h"

/* ==== evals ==== */

enum { BETWEEN_QUESTIONS = 1 << 10 /* evals, names or subs */, MOST_PARENTS = 64 };

static const char mark[] = "(eval ";
enum { MARK_LENGTH = sizeof(mark) - 1 };

/* An eval of a process. */
struct eval {
	struct nytp_file *f;
	struct nytp_fid *row;
	uint32_t depth; /* number of evals that this one is in */
	uint32_t site;  /* in naming.sites */
	uint64_t id;    /* equal for equal texts; 0: not known */
	bool copied;    /* its process inherited it from one that is here */
};

struct naming {
	struct nytp *n;
	struct pm_arena *scratch; /* of what follows */
	struct eval *evals;
	size_t n_evals, room;
	struct pm_strtab sites;
	/* By name: 1: of an eval, with one name to show; SEVERAL: with several; 0: of none. */
	uint8_t *kind;
	struct pm_text text;
};

enum { ONE = 1, SEVERAL };

/* ---- names as stored ---- */

/* The end of `(eval NUMBER)` at `at`, if `[` follows, or 0. */
static size_t number_end(struct pm_bytes name, size_t at)
{
	size_t end = at + MARK_LENGTH;
	if (end > name.len || memcmp(name.p + at, mark, MARK_LENGTH) != 0)
		return 0;
	while (end < name.len && name.p[end] >= '0' && name.p[end] <= '9')
		end++;
	bool is_number = end > at + MARK_LENGTH;
	return is_number && name.len - end >= 2 && memcmp(name.p + end, ")[", 2) == 0 ? end + 1 : 0;
}

/* The end of the brackets that begin at `at`, or 0 if they do not end. */
static size_t brackets_end(struct pm_bytes name, size_t at)
{
	size_t depth = 0;
	for (; at < name.len; at++) {
		depth += name.p[at] == '[';
		if (name.p[at] == ']' && --depth == 0)
			return at + 1;
	}
	return 0;
}

static bool is_eval(const struct nytp *n, uint32_t name)
{
	struct pm_bytes text = nytp_name(n, name);
	size_t end = number_end(text, 0);
	return end > 0 && brackets_end(text, end) == text.len;
}

static uint32_t depth_of(struct pm_bytes name)
{
	uint32_t depth = 0;
	for (size_t at = 0, end; (end = number_end(name, at)) > 0; at = end + 1)
		depth++;
	return depth - 1;
}

/* ---- names as shown ---- */

/*
 * Appends the text with the names of evals in it as the file shows them; NULL: as all do. Returns
 * the greatest naming.kind of those names.
 */
static uint8_t add_shown(const struct naming *g, const struct nytp_file *f, struct pm_bytes text,
	struct pm_text *out)
{
	uint8_t kind = 0;
	size_t kept = 0, end = 0;
	unsigned strangers = 0;
	for (size_t at = 0; at < text.len && strangers < NYTP_LIMIT_EVALS; at = end) {
		const uint8_t *paren = memchr(text.p + at, '(', text.len - at);
		at = paren ? (size_t)(paren - text.p) : text.len;
		end = at + (paren != NULL);
		size_t number = paren ? number_end(text, at) : 0;
		if (!number)
			continue;
		size_t close = brackets_end(text, number);
		uint32_t name = close
			? pm_strtab_find(&g->n->names, (struct pm_bytes){text.p + at, close - at})
			: NYTP_NONE;
		bool known = name != NYTP_NONE && name < g->n->n_folded && g->kind[name];
		strangers += !known;
		if (!known && g->n->keep_evals)
			continue;
		pm_text_add(out, text.p + kept, at - kept);
		if (known)
			pm_text_bytes(out, nytp_name(g->n, nytp_folded(g->n, f, name)));
		else
			pm_text_str(out, "(eval)");
		kept = end = known ? close : number;
		kind = known && g->kind[name] > kind ? g->kind[name] : kind ? kind : ONE;
	}
	pm_text_add(out, text.p + kept, text.len - kept);
	return kind;
}

/* Beyond NYTP_LIMIT_NAMES as well, as there are no more of them than of names as stored. */
static uint32_t add_text(struct naming *g)
{
	return pm_strtab_add(&g->n->names, pm_text_view(&g->text));
}

/* The name of an eval: the first words, then its site. */
static uint32_t add_name(struct naming *g, const struct eval *e, const char *words)
{
	struct pm_bytes site = g->sites.items[e->site];
	size_t number = number_end(site, 0); /* if the site is a name as stored */
	pm_text_clear(&g->text);
	pm_text_add(&g->text, number ? site.p : (const uint8_t *)"(eval", number ? number - 1 : 5);
	pm_text_str(&g->text, words);
	pm_text_char(&g->text, ')');
	pm_text_add(&g->text, site.p + number, site.len - number);
	return add_text(g);
}

/* Records what the eval's name is shown as: for all files, or if they differ for this one. */
static void show(struct naming *g, struct eval *e, uint32_t shown)
{
	bool fresh;
	uint32_t name = e->row->name;
	e->row->shown = shown;
	if (!g->kind[name]) {
		g->kind[name] = ONE;
		g->n->folded[name] = shown;
	}
	if (g->n->folded[name] == shown)
		return;
	g->kind[name] = SEVERAL;
	*pm_map_put(&e->f->folded, name, shown, &fresh) = shown;
}

/* ---- what identifies an eval ---- */

static void collect(struct naming *g)
{
	for (size_t i = 0; i < g->n->n_files; i++) {
		struct nytp_file *f = &g->n->files[i];
		for (size_t k = 0; k < f->n_fids; k++) {
			struct nytp_fid *row = &f->fids[k];
			if (k % BETWEEN_QUESTIONS == 0)
				pm_build_proceed(g->scratch);
			if (!is_eval(g->n, row->name))
				continue;
			pm_list_grow(
				g->scratch, &g->evals, g->n_evals, &g->room, sizeof(*g->evals));
			g->evals[g->n_evals++] = (struct eval){
				.f = f, .row = row, .depth = depth_of(nytp_name(g->n, row->name))};
		}
	}
}

static void read_texts(struct naming *g, struct nytp_file *f)
{
	for (size_t i = 0, end; i < f->n_texts; i = end) {
		struct nytp_text text = nytp_text_at(f, i);
		const uint32_t *row = pm_map_find(&f->by_fid, f->texts[text.lines[0]].fid);
		end = i + text.n;
		pm_build_proceed(g->scratch);
		if (!row || !is_eval(g->n, f->fids[*row].name))
			continue;
		pm_text_clear(&g->text);
		nytp_text_add(&text, &g->text);
		f->fids[*row].text = pm_hash_bytes(pm_text_view(&g->text)) | 1;
	}
}

/* The subs of evals without a text: a sum, as their order is not known. */
static void read_subs(struct naming *g, struct nytp_file *f)
{
	struct pm_arena *scratch = pm_arena_scratch(g->scratch);
	uint64_t *of_fid = pm_arena_array(scratch, f->n_fids, sizeof(*of_fid));
	for (size_t i = 0; i < f->n_subs; i++) {
		const struct nytp_sub *sub = &f->subs[i];
		const uint32_t *row = sub->located ? pm_map_find(&f->by_fid, sub->fid) : NULL;
		if (i % BETWEEN_QUESTIONS == 0)
			pm_build_proceed(g->scratch);
		if (!row || f->fids[*row].text || !is_eval(g->n, f->fids[*row].name))
			continue;
		struct pm_bytes name = nytp_name(g->n, sub->name);
		pm_text_clear(&g->text);
		for (size_t at = 0, number; at < name.len; at = number ? number : at + 1)
			if (!(number = number_end(name, at)))
				pm_text_char(&g->text, (char)name.p[at]);
		pm_text_printf(&g->text, " %u %u", sub->first, sub->last);
		of_fid[*row] += pm_hash_bytes(pm_text_view(&g->text)) | 1;
	}
	for (size_t k = 0; k < f->n_fids; k++)
		if (!f->fids[k].text)
			f->fids[k].text = of_fid[k];
	pm_arena_done(scratch);
}

/*
 * A killed process has neither texts nor subs, but those of the evals that it inherited are known
 * where its parent is.
 */
static void inherit(struct eval *e)
{
	const struct nytp_file *from = e->row->inherited ? e->f->parent : NULL;
	for (unsigned k = 0; e->id == 0 && from && k < MOST_PARENTS; k++) {
		const uint32_t *row = pm_map_find(&from->by_fid, e->row->fid);
		if (!row || from->fids[*row].name != e->row->name)
			break;
		e->copied = true;
		e->id = from->fids[*row].text;
		from = from->parent;
	}
}

/* Of one name in one file, as nytprofmerge makes them: texts that differ are not known. */
static void forget_doubtful(struct naming *g)
{
	struct pm_map first = {.arena = g->scratch};
	for (unsigned pass = 0; pass < 2; pass++)
		for (size_t i = 0; i < g->n_evals; i++) {
			bool fresh;
			struct eval *e = &g->evals[i];
			uint64_t key = (uint64_t)(e->f - g->n->files) << 32 | e->row->name;
			uint32_t k = *pm_map_put(&first, key, (uint32_t)i, &fresh);
			if (g->evals[k].id != e->id)
				g->evals[k].id = e->id = 0;
		}
}

static void identify(struct naming *g)
{
	for (size_t i = 0; i < g->n->n_files; i++) {
		read_texts(g, &g->n->files[i]);
		read_subs(g, &g->n->files[i]);
	}
	for (size_t i = 0; i < g->n_evals; i++) {
		g->evals[i].id = g->evals[i].row->text;
		inherit(&g->evals[i]);
	}
	forget_doubtful(g);
}

/* ---- names ---- */

static int by_depth(const void *a, const void *b)
{
	const struct eval *x = a, *y = b;
	return (x->depth > y->depth) - (x->depth < y->depth);
}

static int by_site_and_text(const void *a, const void *b)
{
	const struct eval *x = a, *y = b;
	if (x->site != y->site)
		return x->site < y->site ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

/* Texts of one site with the same digits are told apart as well, in whatever order they come. */
static uint32_t digits_of(struct pm_map *taken, uint64_t id)
{
	for (;; id = pm_hash_u64(id + 1)) {
		bool fresh;
		pm_map_put(taken, (uint32_t)(id >> 32), 0, &fresh);
		if (fresh)
			return (uint32_t)(id >> 32);
	}
}

/* Names the evals of a site, which are sorted by text; those that are not known come first. */
static void name_site(struct naming *g, struct eval *evals, size_t n)
{
	struct pm_map taken = {.arena = g->scratch};
	size_t n_unknown = 0, n_texts = 0;
	uint32_t shown = 0;
	char words[16];
	for (size_t i = 0; i < n; i++) {
		n_unknown += evals[i].id == 0 && !evals[i].copied;
		n_texts += evals[i].id != 0 && (i == 0 || evals[i].id != evals[i - 1].id);
	}
	bool several = n_texts <= NYTP_LIMIT_EVAL_TEXTS && n_texts + (n_unknown > 0) > 1;
	for (size_t i = 0; i < n; i++) {
		struct nytp_fid *row = evals[i].row;
		bool same = i > 0 && evals[i].id == evals[i - 1].id, known = evals[i].id != 0;
		if (known)
			row->digits =
				same ? evals[i - 1].row->digits : digits_of(&taken, evals[i].id);
		bool alone = known && n_texts <= NYTP_LIMIT_EVAL_TEXTS;
		row->texts = alone ? 1 : (known || !several ? n_texts : 0) + n_unknown;
		words[0] = 0;
		if (several && known)
			snprintf(words, sizeof(words), " %08x", row->digits);
		if (!same)
			shown = add_name(g, &evals[i], words);
		show(g, &evals[i], shown);
	}
	pm_map_done(&taken);
}

/* Of evals of one depth: those that they are in have been named. */
static void name_evals(struct naming *g, struct eval *evals, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct eval *e = &evals[i];
		struct pm_bytes name = nytp_name(g->n, e->row->name);
		size_t number = number_end(name, 0);
		pm_text_clear(&g->text);
		if (g->n->keep_evals)
			pm_text_add(&g->text, name.p, number);
		add_shown(g, e->f, (struct pm_bytes){name.p + number, name.len - number}, &g->text);
		e->site = pm_strtab_add(&g->sites, pm_text_view(&g->text));
	}
	pm_build_check(g->scratch, pm_sort(evals, n, sizeof(*evals), by_site_and_text));
	for (size_t i = 0, end; i < n; i = end) {
		for (end = i + 1; end < n && evals[end].site == evals[i].site;)
			end++;
		name_site(g, evals + i, end - i);
	}
}

/* ---- names of subs ---- */

/* The name, as this file alone shows it. */
static void show_in_file(struct naming *g, struct nytp_file *f, uint32_t name)
{
	bool fresh;
	if (name >= g->n->n_folded || g->kind[name] != SEVERAL || pm_map_find(&f->folded, name))
		return;
	pm_text_clear(&g->text);
	add_shown(g, f, nytp_name(g->n, name), &g->text);
	pm_map_put(&f->folded, name, add_text(g), &fresh);
}

static void show_used(struct naming *g, struct nytp_file *f)
{
	for (size_t i = 0; i < f->n_subs; i++)
		show_in_file(g, f, f->subs[i].name);
	for (size_t i = 0; i < f->n_edges; i++)
		show_in_file(g, f, f->edges[i].caller);
	for (size_t i = 0; i < f->n_logs; i++)
		show_in_file(g, f, f->logs[i].name);
	for (size_t i = 0; i < f->n_threads; i++) {
		const struct pm_paths *paths = &f->threads[i].calls.tree.paths;
		for (uint32_t k = 0; k < paths->n; k++) {
			show_in_file(g, f, paths->items[k].key);
			if (k % BETWEEN_QUESTIONS == 0)
				pm_build_proceed(g->scratch);
		}
	}
}

static void name_subs(struct naming *g)
{
	bool several = false;
	for (uint32_t name = 0; name < g->n->n_folded; name++) {
		if (name % BETWEEN_QUESTIONS == 0)
			pm_build_proceed(g->scratch);
		if (g->kind[name])
			continue;
		pm_text_clear(&g->text);
		uint8_t kind = add_shown(g, NULL, nytp_name(g->n, name), &g->text);
		if (!kind)
			continue;
		g->n->folded[name] = add_text(g);
		g->kind[name] = kind;
		several |= kind == SEVERAL;
	}
	for (size_t i = 0; several && i < g->n->n_files; i++)
		show_used(g, &g->n->files[i]);
}

/* ---- all of it ---- */

static void name_all(struct naming *g)
{
	struct nytp *n = g->n;
	uint32_t count = n->names.n;
	n->folded = pm_arena_array(&n->arena, count, sizeof(*n->folded));
	g->kind = pm_arena_array(g->scratch, count, 1);
	for (uint32_t name = 0; name < count; name++)
		n->folded[name] = name;
	n->n_folded = count;
	identify(g);
	pm_build_check(g->scratch, pm_sort(g->evals, g->n_evals, sizeof(*g->evals), by_depth));
	for (size_t i = 0, end; i < g->n_evals; i = end) {
		for (end = i + 1; end < g->n_evals && g->evals[end].depth == g->evals[i].depth;)
			end++;
		name_evals(g, g->evals + i, end - i);
	}
	name_subs(g);
}

void nytp_evals_name(struct nytp *n)
{
	struct pm_arena *scratch = pm_arena_scratch(&n->arena);
	struct naming g = {.n = n,
		.scratch = scratch,
		.sites = pm_strtab_in(scratch),
		.text = {.arena = scratch}};
	collect(&g);
	if (g.n_evals > 0 || !n->keep_evals)
		name_all(&g);
	pm_arena_done(scratch);
}

/* ==== namesakes ==== */

enum { MOST_KILLED = 64 /* processes that forked each other, and have no tables */ };

/* Of a name that several files define. */
#define IN_SEVERAL (NYTP_NONE - 1)

struct finding {
	struct nytp *n;
	uint32_t *file_of;      /* by name: the file's name, or NYTP_NONE, or IN_SEVERAL */
	struct pm_map by_place; /* name and file's name → number of a namesake */
	size_t room;
};

/* The file defines the sub. */
static void find_file(struct finding *g, struct nytp_file *f, uint32_t name, uint32_t file)
{
	uint32_t *known = &g->file_of[name];
	f->definer = f;
	*known = *known == NYTP_NONE || *known == file ? file : IN_SEVERAL;
}

static void add_number(struct finding *g, struct nytp_file *f, uint32_t name, uint32_t file)
{
	struct nytp *n = g->n;
	bool fresh;
	if (g->file_of[name] != IN_SEVERAL)
		return;
	uint32_t number = *pm_map_put(
		&g->by_place, (uint64_t)name << 32 | file, n->names.n + n->n_namesakes, &fresh);
	if (fresh) {
		pm_list_grow(
			&n->arena, &n->namesakes, n->n_namesakes, &g->room, sizeof(*n->namesakes));
		n->namesakes[n->n_namesakes++] = name;
	}
	pm_map_put(&f->namesakes, name, number, &fresh);
}

/* Calls `take` for each sub that a file defines. */
static void each_definition(struct finding *g,
	void (*take)(struct finding *g, struct nytp_file *f, uint32_t name, uint32_t file))
{
	for (size_t i = 0; i < g->n->n_files; i++) {
		struct nytp_file *f = &g->n->files[i];
		for (size_t k = 0; k < f->n_subs; k++) {
			const struct nytp_sub *sub = &f->subs[k];
			if (k % BETWEEN_QUESTIONS == 0)
				pm_build_proceed(&g->n->arena);
			const uint32_t *fid =
				sub->located ? pm_map_find(&f->by_fid, sub->fid) : NULL;
			if (fid)
				take(g, f, nytp_folded(g->n, f, sub->name),
					nytp_row_shown(g->n, f, &f->fids[*fid]));
		}
	}
}

void nytp_namesakes_find(struct nytp *n)
{
	struct pm_arena *scratch = pm_arena_scratch(&n->arena);
	struct finding g = {.n = n, .by_place.arena = scratch};
	g.file_of = pm_arena_array(scratch, n->names.n, sizeof(*g.file_of));
	for (uint32_t i = 0; i < n->names.n; i++)
		g.file_of[i] = NYTP_NONE;
	each_definition(&g, find_file);
	each_definition(&g, add_number);
	/* A process that was killed has no table of its subs: they are those of its parent. */
	for (size_t i = 0; i < n->n_files; i++) {
		const struct nytp_file *from = &n->files[i];
		for (unsigned k = 0; from && from->definer != from && k < MOST_KILLED; k++)
			from = from->parent;
		n->files[i].definer = from && from->definer == from ? from : NULL;
	}
	pm_arena_done(scratch);
}
