/*
 * Saved lines → texts, and a path for each: the name of the file in the program, made legal; an
 * eval is below its parent, `lib/X.pm.evals/(eval 5f3a9c01) line 8`. Equal texts with the same path
 * (evals that are one, and what each process of a forked run saves again) are shown once.
 */
#include "formats/nytprof/nytprof.h"

#include "formats/common/list.h"
#include "formats/nytprof/limits.h"
#include "profmount/limits.h"

enum use { USE_FILE = 1, USE_FOLDER };

struct naming {
	const struct nytp *n;
	struct pm_arena *arena, *scratch; /* of the list; of what follows */
	struct nytp_sources *s;
	struct pm_strtab paths; /* taken */
	struct pm_map uses;     /* path → how it is used */
	struct pm_map items;    /* wanted path → the first text that has it */
	struct pm_map next;     /* wanted path → N of its next `~N` */
	struct pm_text path;
};

/* ---- texts ---- */

static struct pm_bytes line_text(const struct nytp_text *t, size_t i)
{
	return nytp_text_bytes(t->f, &t->f->texts[t->lines[i]]);
}

static bool same_text(const struct nytp_text *a, const struct nytp_text *b)
{
	bool same = a->n == b->n;
	for (size_t i = 0; same && i < a->n; i++)
		same = nytp_text_is_last(a, i) == nytp_text_is_last(b, i) &&
			pm_bytes_equal(line_text(a, i), line_text(b, i));
	return same;
}

static int render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	const struct nytp_sources *s = doc->text.self;
	(void)err;
	nytp_text_add(&s->texts[doc->text.a], out);
	return pm_text_status(out);
}

/* ---- legal names ---- */

/* A component of a path, made legal as in every other directory of a mount. */
static void add_legal(struct pm_text *out, struct pm_bytes name)
{
	size_t begin = out->len;
	if (name.len == 0)
		pm_text_str(out, "(unknown)");
	else if (name.p[0] == '.' || name.p[0] == '-')
		pm_text_char(out, '_');
	for (size_t at = 0, n; at < name.len; at += n) {
		bool slash = name.p[at] == '/';
		n = slash ? 1 : pm_text_shown_char(out, name, at);
		if (slash)
			pm_text_str(out, "\u2215");
	}
	if (out->len - begin <= PM_LIMIT_NAME)
		return;
	size_t end = begin + PM_LIMIT_NAME - 9;
	while (((uint8_t)out->p[end] & 0xc0) == 0x80)
		end--;
	out->len = end;
	pm_text_char(out, '~');
	pm_text_hex(out, (uint32_t)pm_hash_bytes(name), 8);
}

static void add_path(struct pm_text *out, struct pm_bytes name)
{
	size_t begin = out->len;
	for (size_t at = 0; at < name.len;) {
		const uint8_t *slash = memchr(name.p + at, '/', name.len - at);
		size_t end = slash ? (size_t)(slash - name.p) : name.len;
		struct pm_bytes part = {name.p + at, end - at};
		at = end + 1;
		if (part.len == 0 || (part.len == 1 && part.p[0] == '.'))
			continue;
		if (out->len > begin)
			pm_text_char(out, '/');
		add_legal(out, part);
	}
	if (out->len == begin)
		add_legal(out, (struct pm_bytes){NULL, 0});
}

/* `(eval 5f3a9c01) line 8` for `(eval 5f3a9c01)[lib/X.pm:8]`: the directory shows the rest. */
static void add_eval(struct naming *g, const struct nytp_file *f, const struct nytp_fid *row)
{
	struct pm_bytes name = nytp_name(g->n, nytp_row_shown(g->n, f, row));
	const uint8_t *bracket = name.len ? memchr(name.p, '[', name.len) : NULL;
	struct pm_text label = {.arena = g->scratch};
	if (row->texts > 1 && row->digits) /* its name is that of several texts */
		pm_text_printf(&label, "(eval %08x)", row->digits);
	else
		pm_text_add(&label, name.p, bracket ? (size_t)(bracket - name.p) : name.len);
	pm_text_printf(&label, " line %u", row->eval_line);
	add_legal(&g->path, pm_text_view(&label));
	pm_text_done(&label);
}

/* The fid, its parent, and so on, while they are evals: the outermost first. */
static void add_wanted(struct naming *g, const struct nytp_file *f, uint32_t fid)
{
	const struct nytp_fid *chain[NYTP_LIMIT_EVALS];
	size_t n = 0;
	const uint32_t *i = pm_map_find(&f->by_fid, fid);
	while (i && n < NYTP_LIMIT_EVALS) {
		const struct nytp_fid *row = chain[n++] = &f->fids[*i];
		i = row->eval_fid ? pm_map_find(&f->by_fid, row->eval_fid) : NULL;
	}
	if (n == 0) {
		pm_text_printf(&g->path, "fid %u", fid);
		return;
	}
	struct pm_bytes top = nytp_name(g->n, nytp_row_shown(g->n, f, chain[n - 1]));
	if (top.len && top.p[0] == '(') /* an eval whose parent is unknown */
		add_legal(&g->path, top);
	else
		add_path(&g->path, top);
	while (--n > 0) {
		pm_text_str(&g->path, ".evals/");
		add_eval(g, f, chain[n - 1]);
	}
}

/* ---- unique names ---- */

/* How the first `len` bytes of the path are used so far; 0: unused. */
static uint32_t use_of(const struct naming *g, struct pm_bytes path)
{
	uint32_t i = pm_strtab_find(&g->paths, path);
	const uint32_t *use = i == NYTP_NONE ? NULL : pm_map_find(&g->uses, i);
	return use ? *use : 0;
}

static void take(struct naming *g, struct pm_bytes path, enum use use)
{
	bool fresh;
	pm_map_put(&g->uses, pm_strtab_add(&g->paths, path), use, &fresh);
}

/* The path with `~N` if its name, or the name of its annotated twin, is taken. */
static void number_path(struct naming *g)
{
	static const char twin[] = ".annotated.txt";
	bool fresh;
	size_t len = g->path.len;
	uint32_t wanted = pm_strtab_add(&g->paths, pm_text_view(&g->path));
	uint32_t *next = pm_map_put(&g->next, wanted, 2, &fresh);
	for (;;) {
		size_t end = g->path.len;
		pm_text_str(&g->path, twin);
		struct pm_bytes both = pm_text_view(&g->path), alone = {both.p, end};
		if (!use_of(g, alone) && !use_of(g, both)) {
			take(g, both, USE_FILE);
			take(g, alone, USE_FILE);
			g->path.len = end;
			return;
		}
		g->path.len = len;
		pm_text_printf(&g->path, "~%u", (*next)++);
	}
}

/*
 * Directories of the path that already are files get `~` as well; then the path is marked as used.
 */
static void settle_path(struct naming *g)
{
	for (size_t at = 0; at < g->path.len; at++) {
		if (g->path.p[at] != '/')
			continue;
		while (use_of(g, (struct pm_bytes){(uint8_t *)g->path.p, at}) == USE_FILE) {
			pm_text_reserve(&g->path, 1);
			memmove(g->path.p + at + 1, g->path.p + at, g->path.len - at);
			g->path.p[at++] = '~';
			g->path.len++;
		}
		take(g, (struct pm_bytes){(uint8_t *)g->path.p, at}, USE_FOLDER);
	}
	number_path(g);
}

/* ---- the list ---- */

static void add_text(struct naming *g, struct nytp_text text)
{
	bool fresh;
	struct nytp_sources *s = g->s;
	uint32_t fid = text.f->texts[text.lines[0]].fid;
	pm_text_clear(&g->path);
	add_wanted(g, text.f, fid);
	uint32_t wanted = pm_strtab_add(&g->paths, pm_text_view(&g->path));
	uint32_t first = *pm_map_put(&g->items, wanted, (uint32_t)s->n, &fresh);
	if (!fresh && same_text(&s->texts[first], &text))
		return;
	settle_path(g);
	const uint32_t *row = pm_map_find(&text.f->by_fid, fid);
	/* A text of a joined eval has no name in tables, as costs are not its own. */
	bool joined = row && text.f->fids[*row].texts > 1;
	pm_list_grow(g->arena, &s->list, s->n, &s->room, sizeof(*s->list));
	pm_list_grow(g->arena, &s->texts, s->n, &s->texts_room, sizeof(*s->texts));
	s->texts[s->n] = text;
	s->list[s->n] = (struct pm_source){
		.path = pm_arena_printf(g->arena, "%.*s", (int)g->path.len, g->path.p),
		.file = joined ? pm_bytes_of("") : nytp_fid_shown(g->n, text.f, fid),
		.doc = {.kind = PM_DOC_TEXT, .text = {.render = render, .self = s, .a = s->n}}};
	s->n++;
}

void nytp_sources_build(struct pm_arena *a, struct nytp_sources *s, const struct nytp *n)
{
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct naming g = {.n = n,
		.s = s,
		.arena = a,
		.scratch = scratch,
		.paths = pm_strtab_in(scratch),
		.uses = {.arena = scratch},
		.items = {.arena = scratch},
		.next = {.arena = scratch},
		.path = {.arena = scratch}};
	for (size_t i = 0; i < n->n_files; i++)
		for (size_t at = 0; at < n->files[i].n_texts;) {
			struct nytp_text text = nytp_text_at(&n->files[i], at);
			at += text.n;
			add_text(&g, text);
		}
	pm_arena_done(scratch);
}
