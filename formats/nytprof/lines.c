/*
 * Costs by source line. Lines of files with the same name are one line (evals that are one, modules
 * that were loaded twice). The function of a line is the innermost sub that contains it.
 */
#include "formats/nytprof/nytprof.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

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

static int spot_add(struct nytp_building *b, const struct nytp_file *f, uint32_t fid,
	struct spot spot, struct spots *spots)
{
	spot.file = nytp_file_text(b, f, fid);
	if (spot.file == PM_NONE ||
		pm_list_room(&spots->items, spots->n, &spots->room, sizeof(*spots->items)) < 0)
		return -ENOMEM;
	spots->items[spots->n++] = spot;
	return 0;
}

static int collect(struct nytp_building *b, const struct nytp_file *f, struct spots *spots)
{
	double ns = f->ns_per_tick;
	int r = 0;
	for (size_t i = 0; r == 0 && i < f->levels[NYTP_LINES].n; i++) {
		const struct nytp_line *line = &f->levels[NYTP_LINES].items[i];
		struct spot spot = {.line = line->line,
			.incl = NAN,
			.excl = NAN,
			.ns = (double)line->ticks * ns,
			.count = (double)line->count};
		r = spot_add(b, f, line->fid, spot, spots);
	}
	for (size_t i = 0; r == 0 && i < f->py.n_samples; i++) {
		const struct nytp_py_sample *sample = &f->py.samples[i];
		struct spot spot = {.line = sample->line,
			.incl = (double)sample->incl * ns,
			.excl = (double)sample->excl * ns,
			.ns = (double)sample->excl * ns,
			.count = sample->calls};
		r = spot_add(b, f, sample->fid, spot, spots);
	}
	/* Events contain the same time again, statement by statement. */
	for (size_t i = 0; r == 0 && f->py.n_samples == 0 && i < f->py.n_events; i++) {
		const struct nytp_py_event *event = &f->py.events[i];
		struct spot spot = {.line = event->line,
			.incl = NAN,
			.excl = NAN,
			.ns = (double)event->ticks * ns,
			.count = 1};
		r = spot_add(b, f, event->fid, spot, spots);
	}
	return r;
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

/* File-level code is a function only if it is a caller. */
static int collect_extents(struct nytp_building *b, struct extent **ret, size_t *ret_n)
{
	size_t n = 0;
	struct extent *extents = calloc((size_t)nytp_n_subs(b->n) + 1, sizeof(*extents));
	if (!extents)
		return -ENOMEM;
	*ret = extents;
	for (uint32_t name = 0; name < nytp_n_subs(b->n); name++) {
		const struct nytp_home *home = &b->homes[name];
		bool is_code_of_file = b->function[name] == NYTP_NONE && is_runtime(b, name);
		if (is_code_of_file || !home->sub || home->sub->last == 0)
			continue;
		uint32_t file = nytp_file_text(b, home->file, home->sub->fid);
		if (file == PM_NONE)
			return -ENOMEM;
		extents[n++] = (struct extent){.file = file,
			.first = home->sub->first,
			.last = is_runtime(b, name) ? UINT32_MAX : home->sub->last,
			.sub = name,
			.ran = b->function[name] != NYTP_NONE,
			.excl = isnan(home->sub->sums.excl) ? 0 : home->sub->sums.excl,
			.name = nytp_name(b->n, name)};
	}
	*ret_n = n;
	return pm_sort(extents, n, sizeof(*extents), by_extent);
}

/* Extents in order of their beginnings; those that contain the current line are on a stack. */
struct sweep {
	struct extent *extents;
	size_t n, next;
	struct extent **open;
	size_t n_open;
	bool only_ran;
};

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

static int fill(struct nytp_building *b, const struct spots *spots, struct sweep *sweep)
{
	struct nytp_model *m = b->m;
	m->lines = calloc(spots->n + 1, sizeof(*m->lines));
	m->line_values = calloc((spots->n + 1) * NYTP_N_METRICS, sizeof(*m->line_values));
	if (!m->lines || !m->line_values)
		return -ENOMEM;
	for (size_t i = 0; i < spots->n; i++) {
		const struct spot *spot = &spots->items[i];
		pm_number *values = &m->line_values[i * NYTP_N_METRICS];
		const struct extent *in = extent_at(sweep, spot->file, spot->line);
		uint32_t function = in ? nytp_function_of(b, in->sub) : PM_NONE;
		if (in && function == NYTP_NONE)
			return -ENOMEM;
		m->lines[i] = (struct pm_line){spot->file, spot->line, function};
		values[NYTP_INCL] = spot->incl;
		values[NYTP_EXCL] = spot->excl;
		values[NYTP_CALLS] = NAN;
		values[NYTP_STATEMENTS] = spot->count;
		values[NYTP_STATEMENTS_NS] = spot->ns;
	}
	m->line_list = (struct pm_lines){spots->n, m->lines, m->line_values};
	return 0;
}

/* Main code is the script's file-level code (a sub by name only), and code in no sub. */
static int sum_statements(struct nytp_building *b)
{
	struct nytp_model *m = b->m;
	uint32_t n = nytp_n_subs(b->n); /* there are no more functions */
	m->statements.metric = NYTP_STATEMENTS_NS;
	bool *is_main = calloc((size_t)n + 1, sizeof(*is_main));
	if (!is_main)
		return -ENOMEM;
	for (uint32_t name = 0; name < n; name++)
		if (b->function[name] != NYTP_NONE && is_runtime(b, name))
			is_main[b->function[name]] = true;
	for (uint64_t i = 0; i < m->line_list.n; i++) {
		uint32_t function = m->lines[i].function;
		double ns = m->line_values[i * NYTP_N_METRICS + NYTP_STATEMENTS_NS];
		m->statements.whole_ns += ns;
		if (function == PM_NONE || is_main[function])
			m->statements.outside_ns += ns;
	}
	free(is_main);
	return 0;
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
static int build_evals(struct nytp_building *b)
{
	struct pm_eval *evals = NULL;
	size_t n = 0, room = 0, kept = 0;
	for (size_t i = 0; i < b->n->n_files; i++) {
		const struct nytp_file *f = &b->n->files[i];
		for (size_t k = 0; k < f->n_fids; k++) {
			const struct nytp_fid *row = &f->fids[k];
			if (row->eval_fid == 0)
				continue;
			if (pm_list_room(&evals, n, &room, sizeof(*evals)) < 0)
				return -ENOMEM;
			b->m->evals = evals;
			evals[n] = (struct pm_eval){.file = nytp_file_text(b, f, row->eval_fid),
				.line = row->eval_line,
				.text = nytp_file_text(b, f, row->fid),
				.texts = row->texts,
				.digits = row->texts == 1 ? row->digits : 0,
				.n = !row->inherited};
			if (evals[n].file == PM_NONE || evals[n].text == PM_NONE)
				return -ENOMEM;
			n += evals[n].file != 0; /* else its parent is not known */
		}
	}
	if (pm_sort(evals, n, sizeof(*evals), eval_by_place) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		if (kept > 0 && eval_by_place(&evals[kept - 1], &evals[i]) == 0)
			evals[kept - 1].n += evals[i].n;
		else
			evals[kept++] = evals[i];
	}
	struct pm_eval *joined = b->m->joined = malloc((kept + 1) * sizeof(*joined));
	size_t n_joined = 0;
	for (size_t i = 0; joined && i < kept; i++)
		if (evals[i].texts > 1)
			joined[n_joined++] = evals[i];
	b->m->eval_list = (struct pm_evals){kept, evals, n_joined, joined};
	return joined ? pm_sort(joined, n_joined, sizeof(*joined), eval_by_text) : -ENOMEM;
}

int nytp_build_lines(struct nytp_building *b)
{
	struct spots spots = {.items = NULL};
	struct extent *extents = NULL;
	struct sweep sweep = {.extents = NULL};
	int r = 0;
	for (size_t i = 0; r == 0 && i < b->n->n_files; i++)
		r = collect(b, &b->n->files[i], &spots);
	if (r == 0)
		r = collect_extents(b, &extents, &sweep.n);
	if (r == 0)
		r = pm_sort(spots.items, spots.n, sizeof(*spots.items), by_place);
	if (r == 0) {
		unite(&spots);
		sweep.extents = extents;
		sweep.open = malloc((sweep.n + 1) * sizeof(*sweep.open));
		if (sweep.open)
			find_entered(&sweep, &spots);
		r = sweep.open ? fill(b, &spots, &sweep) : -ENOMEM;
	}
	if (r == 0)
		r = sum_statements(b);
	if (r == 0)
		r = build_evals(b);
	if (r == 0 && sweep.n == 0)
		b->m->statements.outside_ns = NAN;
	free(sweep.open);
	free(extents);
	free(spots.items);
	return r;
}
