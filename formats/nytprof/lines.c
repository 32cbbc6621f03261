/*
 * Costs by source line. Lines of files with the same name are one line (evals that are one, modules
 * that were loaded twice). The function of a line is the innermost sub that contains it.
 */
#include "formats/nytprof/nytprof.h"

#include <math.h>

#include "formats/common/list.h"
#include "formats/common/sort.h"

struct spot {
	uint32_t file, line;
	double incl, excl; /* as Pynytprof's samples have them */
	double ns, count;  /* of statements */
};

/* The lines of a sub. */
struct extent {
	uint32_t file, first, last;
	uint32_t sub; /* number: nytp_sub_of */
	double excl;  /* s, of its calls */
	struct pm_bytes name;
	bool ran; /* as far as is known */
};

struct spots {
	struct spot *items;
	size_t n, room;
};

static void spot_add(struct nytp_building *b, struct spots *spots, struct spot spot)
{
	pm_list_grow(b->scratch, &spots->items, spots->n, &spots->room, sizeof(spot));
	spots->items[spots->n++] = spot;
}

static void collect(struct nytp_building *b, const struct nytp_file *f, struct spots *spots)
{
	double ns = f->ns_per_tick;
	for (size_t i = 0; i < f->levels[NYTP_LINES].n; i++) {
		const struct nytp_line *line = &f->levels[NYTP_LINES].items[i];
		spot_add(b, spots,
			(struct spot){.file = nytp_file_text(b, f, line->fid),
				.line = line->line,
				.incl = NAN,
				.excl = NAN,
				.ns = (double)line->ticks * ns,
				.count = (double)line->count});
	}
	for (size_t i = 0; i < f->py.n_samples; i++) {
		const struct nytp_py_sample *sample = &f->py.samples[i];
		spot_add(b, spots,
			(struct spot){.file = nytp_file_text(b, f, sample->fid),
				.line = sample->line,
				.incl = (double)sample->incl * ns,
				.excl = (double)sample->excl * ns,
				.ns = (double)sample->excl * ns,
				.count = sample->calls});
	}
	/* Events contain the same time again, statement by statement. */
	for (size_t i = 0; f->py.n_samples == 0 && i < f->py.n_events; i++) {
		const struct nytp_py_event *event = &f->py.events[i];
		spot_add(b, spots,
			(struct spot){.file = nytp_file_text(b, f, event->fid),
				.line = event->line,
				.incl = NAN,
				.excl = NAN,
				.ns = (double)event->ticks * ns,
				.count = 1});
	}
}

static int by_place(const void *a, const void *b)
{
	const struct spot *x = a, *y = b;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	return (x->line > y->line) - (x->line < y->line);
}

static void unite(struct spots *spots)
{
	size_t n = 0;
	for (size_t i = 0; i < spots->n; i++) {
		struct spot *last = &spots->items[n - (n > 0)], *spot = &spots->items[i];
		if (n == 0 || by_place(last, spot) != 0) {
			spots->items[n++] = *spot;
			continue;
		}
		last->incl += spot->incl;
		last->excl += spot->excl;
		last->ns += spot->ns;
		last->count += spot->count;
	}
	spots->n = n;
}

/* ---- the sub that contains a line ---- */

static int by_extent(const void *a, const void *b)
{
	const struct extent *x = a, *y = b;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->first != y->first)
		return x->first < y->first ? -1 : 1;
	if (x->last != y->last)
		return x->last > y->last ? -1 : 1;
	/* The last one gets the lines: of subs on one line, the one that ran longest. */
	if (x->excl != y->excl)
		return x->excl < y->excl ? -1 : 1;
	return -pm_bytes_compare(x->name, y->name);
}

/* File-level code of the script: only line 1 is stored. */
static bool is_runtime(const struct nytp_building *b, uint32_t name)
{
	return pm_bytes_equal(nytp_name(b->n, name), pm_bytes_of("main::RUNTIME"));
}

/* Extents in order of their beginnings; those that contain the current line are on a stack. */
struct sweep {
	struct extent *extents;
	size_t n, next;
	struct extent **open;
	size_t n_open;
	bool only_ran;
};

/* File-level code is a function only if it is a caller. */
static void collect_extents(struct nytp_building *b, struct sweep *s)
{
	uint32_t n = nytp_n_subs(b->n);
	s->extents = pm_arena_array(b->scratch, n, sizeof(*s->extents));
	for (uint32_t name = 0; name < n; name++) {
		const struct nytp_home *home = &b->homes[name];
		bool is_code_of_file = b->function[name] == NYTP_NONE && is_runtime(b, name);
		if (is_code_of_file || !home->sub || home->sub->last == 0)
			continue;
		s->extents[s->n++] =
			(struct extent){.file = nytp_file_text(b, home->file, home->sub->fid),
				.first = home->sub->first,
				.last = is_runtime(b, name) ? UINT32_MAX : home->sub->last,
				.sub = name,
				.ran = b->function[name] != NYTP_NONE,
				.excl = isnan(home->sub->sums.excl) ? 0 : home->sub->sums.excl,
				.name = nytp_name(b->n, name)};
	}
	pm_build_check(b->arena, pm_sort(s->extents, s->n, sizeof(*s->extents), by_extent));
	s->open = pm_arena_array(b->scratch, s->n, sizeof(*s->open));
}

/* NULL: no sub contains it. */
static struct extent *extent_at(struct sweep *s, uint32_t file, uint32_t line)
{
	for (; s->next < s->n; s->next++) {
		struct extent *e = &s->extents[s->next];
		if (e->file > file || (e->file == file && e->first > line))
			break;
		if (e->file == file && (e->ran || !s->only_ran))
			s->open[s->n_open++] = e;
	}
	while (s->n_open &&
		(s->open[s->n_open - 1]->file != file || s->open[s->n_open - 1]->last < line))
		s->n_open--;
	return s->n_open ? s->open[s->n_open - 1] : NULL;
}

/*
 * Perl enters some subs without a call that the profiler sees: comparators of sort, blocks of
 * List::Util. They ran if a statement behind their first line did, which may be that of the code
 * that defines them, too.
 */
static void find_entered(struct sweep *s, const struct spots *spots)
{
	for (size_t i = 0; i < spots->n; i++) {
		struct extent *in = extent_at(s, spots->items[i].file, spots->items[i].line);
		if (in && spots->items[i].line > in->first && spots->items[i].count > 0)
			in->ran = true;
	}
	s->next = s->n_open = 0;
	s->only_ran = true;
}

/* ---- the lines ---- */

static void fill(struct nytp_building *b, const struct spots *spots, struct sweep *sweep)
{
	struct pm_line *lines = pm_arena_array(b->arena, spots->n, sizeof(*lines));
	pm_number *all = pm_arena_array(b->arena, spots->n, NYTP_N_METRICS * sizeof(*all));
	for (size_t i = 0; i < spots->n; i++) {
		const struct spot *spot = &spots->items[i];
		pm_number *values = &all[i * NYTP_N_METRICS];
		const struct extent *in = extent_at(sweep, spot->file, spot->line);
		lines[i] = (struct pm_line){
			spot->file, spot->line, in ? nytp_function_of(b, in->sub) : PM_NONE};
		values[NYTP_INCL] = spot->incl;
		values[NYTP_EXCL] = spot->excl;
		values[NYTP_CALLS] = NAN;
		values[NYTP_STATEMENTS] = spot->count;
		values[NYTP_STATEMENTS_NS] = spot->ns;
	}
	b->m->line_list = (struct pm_lines){spots->n, lines, all};
}

/* Main code is the script's file-level code (a sub by name only), and code in no sub. */
static void sum_statements(struct nytp_building *b)
{
	struct nytp_model *m = b->m;
	uint32_t n = nytp_n_subs(b->n); /* there are no more functions */
	bool *is_main = pm_arena_array(b->scratch, n, sizeof(*is_main));
	m->statements.metric = NYTP_STATEMENTS_NS;
	for (uint32_t name = 0; name < n; name++)
		if (b->function[name] != NYTP_NONE && is_runtime(b, name))
			is_main[b->function[name]] = true;
	for (uint64_t i = 0; i < m->line_list.n; i++) {
		uint32_t function = m->line_list.lines[i].function;
		double ns = m->line_list.values[i * NYTP_N_METRICS + NYTP_STATEMENTS_NS];
		m->statements.whole_ns += ns;
		if (function == PM_NONE || is_main[function])
			m->statements.outside_ns += ns;
	}
}

/* ---- evals ---- */

static int eval_by_place(const void *a, const void *b)
{
	const struct pm_eval *x = a, *y = b;
	if (x->file != y->file)
		return x->file < y->file ? -1 : 1;
	if (x->line != y->line)
		return x->line < y->line ? -1 : 1;
	return (x->text > y->text) - (x->text < y->text);
}

static int eval_by_text(const void *a, const void *b)
{
	const struct pm_eval *x = a, *y = b;
	return (x->text > y->text) - (x->text < y->text);
}

/* What each line compiled, evals that are one counted together. */
static void build_evals(struct nytp_building *b)
{
	struct pm_eval *evals = NULL;
	size_t n = 0, room = 0, kept = 0, n_joined = 0;
	for (size_t i = 0; i < b->n->n_files; i++) {
		const struct nytp_file *f = &b->n->files[i];
		for (size_t k = 0; k < f->n_fids; k++) {
			const struct nytp_fid *row = &f->fids[k];
			if (row->eval_fid == 0)
				continue;
			pm_list_grow(b->arena, &evals, n, &room, sizeof(*evals));
			evals[n] = (struct pm_eval){.file = nytp_file_text(b, f, row->eval_fid),
				.line = row->eval_line,
				.text = nytp_file_text(b, f, row->fid),
				.texts = row->texts,
				.digits = row->texts == 1 ? row->digits : 0,
				.n = !row->inherited};
			n += evals[n].file != 0; /* else its parent is not known */
		}
	}
	pm_build_check(b->arena, pm_sort(evals, n, sizeof(*evals), eval_by_place));
	for (size_t i = 0; i < n; i++) {
		if (kept > 0 && eval_by_place(&evals[kept - 1], &evals[i]) == 0)
			evals[kept - 1].n += evals[i].n;
		else
			evals[kept++] = evals[i];
	}
	struct pm_eval *joined = pm_arena_array(b->arena, kept, sizeof(*joined));
	for (size_t i = 0; i < kept; i++)
		if (evals[i].texts > 1)
			joined[n_joined++] = evals[i];
	pm_build_check(b->arena, pm_sort(joined, n_joined, sizeof(*joined), eval_by_text));
	b->m->eval_list = (struct pm_evals){kept, evals, n_joined, joined};
}

void nytp_build_lines(struct nytp_building *b)
{
	struct spots spots = {.items = NULL};
	struct sweep sweep = {.extents = NULL};
	for (size_t i = 0; i < b->n->n_files; i++)
		collect(b, &b->n->files[i], &spots);
	collect_extents(b, &sweep);
	pm_build_check(b->arena, pm_sort(spots.items, spots.n, sizeof(*spots.items), by_place));
	unite(&spots);
	find_entered(&sweep, &spots);
	fill(b, &spots, &sweep);
	sum_statements(b);
	build_evals(b);
	if (sweep.n == 0)
		b->m->statements.outside_ns = NAN;
}
