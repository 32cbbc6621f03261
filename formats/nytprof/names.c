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

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "formats/common/work.h"
#include "formats/nytprof/limits.h"

/* ==== evals ==== */

enum { BETWEEN_QUESTIONS = 1 << 10 /* evals or names */, MOST_PARENTS = 64 };

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
	struct eval *evals;
	size_t n_evals, room;
	struct pm_strtab sites;
	struct pm_arena arena; /* of their names */
	/* By name: 1: of an eval, with one name to show; SEVERAL: with several; 0: of none. */
	uint8_t *kind;
	struct pm_text text;
};

enum { ONE = 1, SEVERAL };

/* ---- names as stored ---- */

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

/* The end of `(eval NUMBER)` at `at`, if `[` follows, or 0. */
static size_t number_end(struct pm_bytes name, size_t at)
{
	size_t end = at + MARK_LENGTH;
	if (end > name.len || memcmp(name.p + at, mark, MARK_LENGTH) != 0)
		return 0;
	while (end < name.len && is_digit(name.p[end]))
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
	return g->text.failed ? NYTP_NONE : pm_strtab_add(&g->n->names, pm_text_view(&g->text));
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
static int show(struct naming *g, struct eval *e, uint32_t shown)
{
	bool fresh;
	uint32_t name = e->row->name;
	if (shown == NYTP_NONE)
		return -ENOMEM;
	e->row->shown = shown;
	if (!g->kind[name]) {
		g->kind[name] = ONE;
		g->n->folded[name] = shown;
	}
	if (g->n->folded[name] == shown)
		return 0;
	g->kind[name] = SEVERAL;
	uint32_t *own = pm_map_put(&e->f->folded, name, shown, &fresh);
	if (own)
		*own = shown;
	return own ? 0 : -ENOMEM;
}

/* ---- what identifies an eval ---- */

static int collect(struct naming *g)
{
	for (size_t i = 0; i < g->n->n_files; i++) {
		struct nytp_file *f = &g->n->files[i];
		for (size_t k = 0; k < f->n_fids; k++) {
			struct nytp_fid *row = &f->fids[k];
			if (k % BETWEEN_QUESTIONS == 0 && pm_work_cancelled())
				return PM_CANCELLED;
			if (!is_eval(g->n, row->name))
				continue;
			if (pm_list_room(&g->evals, g->n_evals, &g->room, sizeof(*g->evals)) < 0)
				return -ENOMEM;
			g->evals[g->n_evals++] = (struct eval){
				.f = f, .row = row, .depth = depth_of(nytp_name(g->n, row->name))};
		}
	}
	return 0;
}

static int read_texts(struct naming *g, struct nytp_file *f)
{
	for (size_t i = 0, end; i < f->n_texts; i = end) {
		struct nytp_text text = nytp_text_at(f, i);
		const uint32_t *row = pm_map_find(&f->by_fid, f->texts[text.lines[0]].fid);
		end = i + text.n;
		if (pm_work_cancelled())
			return PM_CANCELLED;
		if (!row || !is_eval(g->n, f->fids[*row].name))
			continue;
		pm_text_clear(&g->text);
		nytp_text_add(&text, &g->text);
		f->fids[*row].text = pm_hash_bytes(pm_text_view(&g->text)) | 1;
	}
	return g->text.failed ? -ENOMEM : 0;
}

/* The subs of evals without a text: a sum, as their order is not known. */
static int read_subs(struct naming *g, struct nytp_file *f, uint64_t *of_fid)
{
	for (size_t i = 0; i < f->n_subs; i++) {
		const struct nytp_sub *sub = &f->subs[i];
		const uint32_t *row = sub->located ? pm_map_find(&f->by_fid, sub->fid) : NULL;
		if (i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled())
			return PM_CANCELLED;
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
	return 0;
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
static int forget_doubtful(struct naming *g)
{
	struct pm_map first = {.slots = NULL};
	int r = 0;
	for (unsigned pass = 0; pass < 2; pass++)
		for (size_t i = 0; r == 0 && i < g->n_evals; i++) {
			bool fresh;
			struct eval *e = &g->evals[i];
			uint64_t key = (uint64_t)(e->f - g->n->files) << 32 | e->row->name;
			uint32_t *k = pm_map_put(&first, key, (uint32_t)i, &fresh);
			if (!k)
				r = -ENOMEM;
			else if (g->evals[*k].id != e->id)
				g->evals[*k].id = e->id = 0;
		}
	pm_map_done(&first);
	return r;
}

static int identify(struct naming *g)
{
	int r = 0;
	for (size_t i = 0; r == 0 && i < g->n->n_files; i++) {
		struct nytp_file *f = &g->n->files[i];
		uint64_t *of_fid = calloc(f->n_fids + 1, sizeof(*of_fid));
		r = of_fid ? read_texts(g, f) : -ENOMEM;
		if (r == 0)
			r = read_subs(g, f, of_fid);
		for (size_t k = 0; r == 0 && k < f->n_fids; k++)
			if (!f->fids[k].text)
				f->fids[k].text = of_fid[k];
		free(of_fid);
	}
	for (size_t i = 0; i < g->n_evals; i++) {
		g->evals[i].id = g->evals[i].row->text;
		inherit(&g->evals[i]);
	}
	return r < 0 || g->text.failed ? -ENOMEM : forget_doubtful(g);
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

static int find_site(struct naming *g, struct eval *e)
{
	struct pm_bytes name = nytp_name(g->n, e->row->name);
	size_t number = number_end(name, 0);
	pm_text_clear(&g->text);
	if (g->n->keep_evals)
		pm_text_add(&g->text, name.p, number);
	add_shown(g, e->f, (struct pm_bytes){name.p + number, name.len - number}, &g->text);
	e->site = g->text.failed ? NYTP_NONE : pm_strtab_add(&g->sites, pm_text_view(&g->text));
	return e->site == NYTP_NONE ? -ENOMEM : 0;
}

/* Texts of one site with the same digits are told apart as well, in whatever order they come. */
static uint32_t digits_of(struct pm_map *taken, uint64_t id)
{
	for (;; id = pm_hash_u64(id + 1)) {
		bool fresh;
		if (!pm_map_put(taken, (uint32_t)(id >> 32), 0, &fresh) || fresh)
			return (uint32_t)(id >> 32);
	}
}

/* Names the evals of a site, which are sorted by text; those that are not known come first. */
static int name_site(struct naming *g, struct eval *evals, size_t n)
{
	struct pm_map taken = {.slots = NULL};
	size_t n_unknown = 0, n_texts = 0;
	uint32_t shown = 0;
	char words[16];
	int r = 0;
	for (size_t i = 0; i < n; i++) {
		n_unknown += evals[i].id == 0 && !evals[i].copied;
		n_texts += evals[i].id != 0 && (i == 0 || evals[i].id != evals[i - 1].id);
	}
	bool several = n_texts <= NYTP_LIMIT_EVAL_TEXTS && n_texts + (n_unknown > 0) > 1;
	for (size_t i = 0; r == 0 && i < n; i++) {
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
		r = show(g, &evals[i], shown);
	}
	pm_map_done(&taken);
	return r;
}

/* Of evals of one depth: those that they are in have been named. */
static int name_evals(struct naming *g, struct eval *evals, size_t n)
{
	int r = 0;
	for (size_t i = 0; r == 0 && i < n; i++)
		r = i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled() ? PM_CANCELLED
								      : find_site(g, &evals[i]);
	if (r == 0)
		r = pm_sort(evals, n, sizeof(*evals), by_site_and_text);
	for (size_t i = 0, end; r == 0 && i < n; i = end) {
		for (end = i + 1; end < n && evals[end].site == evals[i].site;)
			end++;
		r = name_site(g, evals + i, end - i);
	}
	return r;
}

/* ---- names of subs ---- */

/* The name, as this file alone shows it. */
static int show_in_file(struct naming *g, struct nytp_file *f, uint32_t name)
{
	bool fresh;
	if (name >= g->n->n_folded || g->kind[name] != SEVERAL || pm_map_find(&f->folded, name))
		return 0;
	pm_text_clear(&g->text);
	add_shown(g, f, nytp_name(g->n, name), &g->text);
	uint32_t shown = add_text(g);
	if (shown == NYTP_NONE || !pm_map_put(&f->folded, name, shown, &fresh))
		return -ENOMEM;
	return 0;
}

static int show_used(struct naming *g, struct nytp_file *f)
{
	int r = 0;
	for (size_t i = 0; r == 0 && i < f->n_subs; i++)
		r = show_in_file(g, f, f->subs[i].name);
	for (size_t i = 0; r == 0 && i < f->n_edges; i++)
		r = show_in_file(g, f, f->edges[i].caller);
	for (size_t i = 0; r == 0 && i < f->n_logs; i++)
		r = show_in_file(g, f, f->logs[i].name);
	for (size_t i = 0; r == 0 && i < f->n_threads; i++) {
		const struct pm_paths *paths = &f->threads[i].calls.tree.paths;
		for (uint32_t k = 0; r == 0 && k < paths->n; k++) {
			r = show_in_file(g, f, paths->items[k].key);
			if (k % BETWEEN_QUESTIONS == 0 && pm_work_cancelled())
				r = PM_CANCELLED;
		}
	}
	return r;
}

static int name_subs(struct naming *g)
{
	bool several = false;
	int r = 0;
	for (uint32_t name = 0; r == 0 && name < g->n->n_folded; name++) {
		if (name % BETWEEN_QUESTIONS == 0 && pm_work_cancelled())
			return PM_CANCELLED;
		if (g->kind[name])
			continue;
		pm_text_clear(&g->text);
		uint8_t kind = add_shown(g, NULL, nytp_name(g->n, name), &g->text);
		if (!kind)
			continue;
		uint32_t shown = add_text(g);
		g->n->folded[name] = shown;
		g->kind[name] = kind;
		several |= kind == SEVERAL;
		r = shown == NYTP_NONE ? -ENOMEM : 0;
	}
	for (size_t i = 0; several && r == 0 && i < g->n->n_files; i++)
		r = show_used(g, &g->n->files[i]);
	return r;
}

/* ---- all of it ---- */

static int name_all(struct naming *g)
{
	struct nytp *n = g->n;
	uint32_t count = n->names.n;
	n->folded = malloc(((size_t)count + 1) * sizeof(*n->folded));
	g->kind = calloc((size_t)count + 1, 1);
	if (!n->folded || !g->kind)
		return -ENOMEM;
	for (uint32_t name = 0; name < count; name++)
		n->folded[name] = name;
	n->n_folded = count;
	int r = identify(g);
	if (r == 0)
		r = pm_sort(g->evals, g->n_evals, sizeof(*g->evals), by_depth);
	for (size_t i = 0, end; r == 0 && i < g->n_evals; i = end) {
		for (end = i + 1; end < g->n_evals && g->evals[end].depth == g->evals[i].depth;)
			end++;
		r = name_evals(g, g->evals + i, end - i);
	}
	return r < 0 ? r : name_subs(g);
}

int nytp_evals_name(struct nytp *n)
{
	struct naming g = {.n = n};
	g.sites.arena = &g.arena;
	int r = collect(&g);
	if (r == 0 && (g.n_evals > 0 || !n->keep_evals))
		r = name_all(&g);
	free(g.evals);
	free(g.kind);
	pm_strtab_done(&g.sites);
	pm_arena_done(&g.arena);
	pm_text_done(&g.text);
	return r;
}

/* ==== namesakes ==== */

enum {
	BETWEEN_SUBS = 1 << 12, /* subs */
	MOST_KILLED = 64,       /* processes that forked each other, and have no tables */
};

/* Of a name that several files define. */
#define IN_SEVERAL (NYTP_NONE - 1)

struct finding {
	struct nytp *n;
	uint32_t *file_of;      /* by name: the file's name, or NYTP_NONE, or IN_SEVERAL */
	struct pm_map by_place; /* name and file's name → number of a namesake */
	size_t room;
};

/* The file defines the sub. */
static int find_file(struct finding *g, struct nytp_file *f, uint32_t name, uint32_t file)
{
	uint32_t *known = &g->file_of[name];
	f->definer = f;
	*known = *known == NYTP_NONE || *known == file ? file : IN_SEVERAL;
	return 0;
}

static int add_number(struct finding *g, struct nytp_file *f, uint32_t name, uint32_t file)
{
	struct nytp *n = g->n;
	bool fresh;
	if (g->file_of[name] != IN_SEVERAL)
		return 0;
	uint32_t *number = pm_map_put(
		&g->by_place, (uint64_t)name << 32 | file, n->names.n + n->n_namesakes, &fresh);
	if (!number ||
		(fresh &&
			pm_list_room(&n->namesakes, n->n_namesakes, &g->room,
				sizeof(*n->namesakes)) < 0))
		return -ENOMEM;
	if (fresh)
		n->namesakes[n->n_namesakes++] = name;
	return pm_map_put(&f->namesakes, name, *number, &fresh) ? 0 : -ENOMEM;
}

/* Calls `take` for each sub that a file defines. */
static int each_definition(struct finding *g,
	int (*take)(struct finding *g, struct nytp_file *f, uint32_t name, uint32_t file))
{
	int r = 0;
	for (size_t i = 0; i < g->n->n_files; i++) {
		struct nytp_file *f = &g->n->files[i];
		for (size_t k = 0; r == 0 && k < f->n_subs; k++) {
			const struct nytp_sub *sub = &f->subs[k];
			if (k % BETWEEN_SUBS == 0 && pm_work_cancelled())
				return PM_CANCELLED;
			const uint32_t *fid =
				sub->located ? pm_map_find(&f->by_fid, sub->fid) : NULL;
			if (fid)
				r = take(g, f, nytp_folded(g->n, f, sub->name),
					nytp_row_shown(g->n, f, &f->fids[*fid]));
		}
	}
	return r;
}

/* A process that was killed has no table of its subs: they are those of its parent. */
static void find_definers(struct nytp *n)
{
	for (size_t i = 0; i < n->n_files; i++) {
		const struct nytp_file *from = &n->files[i];
		for (unsigned k = 0; from && from->definer != from && k < MOST_KILLED; k++)
			from = from->parent;
		n->files[i].definer = from && from->definer == from ? from : NULL;
	}
}

int nytp_namesakes_find(struct nytp *n)
{
	struct finding g = {.n = n, .file_of = malloc(((size_t)n->names.n + 1) * sizeof(uint32_t))};
	int r = g.file_of ? 0 : -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < n->names.n; i++)
		g.file_of[i] = NYTP_NONE;
	if (r == 0)
		r = each_definition(&g, find_file);
	if (r == 0)
		r = each_definition(&g, add_number);
	if (r == 0)
		find_definers(n);
	free(g.file_of);
	pm_map_done(&g.by_place);
	return r;
}
