/* What is known of the code of a module, and the paths of its sources. */
#include "formats/symbols/internal.h"

#include <string.h>

#include "formats/common/list.h"
#include "formats/common/search.h"
#include "formats/common/sort.h"

/*
 * ==== scopes and their address ranges ====
 * Ranges may overlap (code shared by several functions, damage,
 * malice). A sweep over their ends makes them disjoint: a heap holds the open ranges, with the one
 * that was added first on top.
 */

bool sym_scopes_say(struct sym_scopes *s, size_t n)
{
	if (n > SYM_TEXTS_MAX - s->said) {
		s->is_full = true;
		return false;
	}
	s->said += n;
	return true;
}

uint32_t sym_scopes_text(struct sym_scopes *s, struct pm_bytes text)
{
	if (s->texts.n == 0) {
		s->texts = pm_strtab_in(&s->arena);
		pm_strtab_add(&s->texts, pm_bytes_of(""));
	}
	if (text.len > SYM_NAME_MAX)
		text.len = SYM_NAME_MAX;
	return sym_scopes_say(s, text.len) && text.len ? pm_strtab_add(&s->texts, text) : 0;
}

uint32_t sym_scopes_add(struct sym_scopes *s, const struct sym_scope *scope)
{
	if (s->n >= SYM_SCOPES_MAX) {
		s->is_full = true;
		return scope->parent;
	}
	pm_list_grow(&s->arena, &s->items, s->n, &s->room, sizeof(*s->items));
	s->items[s->n] = *scope;
	return s->n++;
}

void sym_scopes_range(struct sym_scopes *s, uint64_t start, uint64_t end, uint32_t scope)
{
	if (start >= end || scope == UINT32_MAX)
		return;
	if (s->n_ranges >= SYM_RANGES_MAX) {
		s->is_full = true;
		return;
	}
	pm_list_grow(&s->arena, &s->ranges, s->n_ranges, &s->ranges_room, sizeof(*s->ranges));
	s->ranges[s->n_ranges++] = (struct sym_range){start, end, scope};
}

/* ---- settling ---- */

/* A range and its position among those that were added. */
struct place {
	struct sym_range range;
	uint32_t rank;
};

static int by_start(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	if (x->range.start != y->range.start)
		return x->range.start < y->range.start ? -1 : 1;
	return (x->rank > y->rank) - (x->rank < y->rank);
}

struct sweep {
	struct pm_arena *a;         /* has what comes out */
	const struct place *places; /* by start */
	size_t n, next;
	uint32_t *heap; /* heap of positions, the lowest rank on top */
	size_t n_heap;
	struct sym_range *out;
	size_t n_out, room;
};

static bool is_before(const struct sweep *w, uint32_t a, uint32_t b)
{
	return w->places[a].rank < w->places[b].rank;
}

static void push(struct sweep *w, uint32_t place)
{
	size_t i = w->n_heap++;
	while (i > 0 && is_before(w, place, w->heap[(i - 1) / 2])) {
		w->heap[i] = w->heap[(i - 1) / 2];
		i = (i - 1) / 2;
	}
	w->heap[i] = place;
}

static void pop(struct sweep *w)
{
	uint32_t last = w->heap[--w->n_heap];
	size_t i = 0, child;
	while ((child = 2 * i + 1) < w->n_heap) {
		if (child + 1 < w->n_heap && is_before(w, w->heap[child + 1], w->heap[child]))
			child++;
		if (!is_before(w, w->heap[child], last))
			break;
		w->heap[i] = w->heap[child];
		i = child;
	}
	w->heap[i] = last;
}

/* Each iteration opens or closes a range, so there are at most 2n pieces and iterations. */
static void run_sweep(struct sweep *w)
{
	uint64_t at = 0;
	while (w->n_heap || w->next < w->n) {
		if (w->n_heap == 0 && w->places[w->next].range.start > at)
			at = w->places[w->next].range.start;
		while (w->next < w->n && w->places[w->next].range.start <= at)
			push(w, (uint32_t)w->next++);
		const struct place *top = &w->places[w->heap[0]];
		if (top->range.end <= at) {
			pop(w);
			continue;
		}
		uint64_t end = top->range.end;
		if (w->next < w->n && w->places[w->next].range.start < end)
			end = w->places[w->next].range.start;
		pm_build_proceed(w->a);
		struct sym_range *last = w->n_out ? &w->out[w->n_out - 1] : NULL;
		if (last && last->end == at && last->scope == top->range.scope) {
			last->end = end;
		} else {
			pm_list_grow(w->a, &w->out, w->n_out, &w->room, sizeof(*w->out));
			w->out[w->n_out++] = (struct sym_range){at, end, top->range.scope};
		}
		at = end;
	}
}

void sym_scopes_finish(struct sym_scopes *s)
{
	size_t settled = 1;
	while (settled < s->n_ranges && s->ranges[settled].start >= s->ranges[settled - 1].end)
		settled++;
	if (settled >= s->n_ranges)
		return;
	struct pm_arena *scratch = pm_arena_scratch(&s->arena);
	struct place *places = pm_arena_array(scratch, s->n_ranges, sizeof(*places));
	struct sweep w = {.a = &s->arena,
		.places = places,
		.n = s->n_ranges,
		.heap = pm_arena_array(scratch, s->n_ranges, sizeof(*w.heap))};
	for (size_t i = 0; i < s->n_ranges; i++)
		places[i] = (struct place){s->ranges[i], (uint32_t)i};
	pm_build_check(&s->arena, pm_sort(places, s->n_ranges, sizeof(*places), by_start));
	run_sweep(&w);
	pm_arena_done(scratch);
	pm_arena_free(&s->arena, s->ranges);
	s->ranges = w.out;
	s->n_ranges = w.n_out;
	s->ranges_room = w.room;
}

/* ---- */

size_t sym_scopes_after(const struct sym_scopes *s, uint64_t address)
{
	return PM_LOWER_BOUND(i, 0, s->n_ranges, s->ranges[i].end <= address);
}

uint32_t sym_scopes_find(const struct sym_scopes *s, uint64_t address)
{
	size_t i = sym_scopes_after(s, address);
	return i < s->n_ranges && s->ranges[i].start <= address ? s->ranges[i].scope : UINT32_MAX;
}

void sym_scopes_done(struct sym_scopes *s)
{
	pm_arena_done(&s->arena);
	*s = (struct sym_scopes){.items = NULL};
}

/* ==== paths of sources ==== */

static bool is(struct pm_bytes component, const char *name)
{
	return pm_bytes_equal(component, pm_bytes_of(name));
}

static void leave_folder(struct pm_text *t)
{
	const char *slash = t->len ? memrchr(t->p, '/', t->len) : NULL;
	size_t at = slash ? (size_t)(slash + 1 - t->p) : 0; /* of the last component */
	struct pm_bytes last = {(const uint8_t *)t->p + at, t->len - at};
	if (last.len > 0 && !is(last, ".."))
		t->len = at > 1 ? at - 1 : at; /* the root keeps its slash */
	else if (at != 1 || last.len > 0)      /* nothing is above the root */
		pm_text_str(t, t->len ? "/.." : "..");
}

static void add_components(struct pm_text *t, struct pm_bytes path)
{
	if (path.len && path.p[0] == '/')
		pm_text_char(t, '/');
	while (path.len && !t->failed) {
		const uint8_t *slash = memchr(path.p, '/', path.len);
		struct pm_bytes component = {path.p, slash ? (size_t)(slash - path.p) : path.len};
		if (is(component, "..")) {
			leave_folder(t);
		} else if (component.len && !is(component, ".")) {
			if (t->len && t->p[t->len - 1] != '/')
				pm_text_char(t, '/');
			pm_text_bytes(t, component);
		}
		size_t next = component.len + (slash != NULL);
		path = (struct pm_bytes){path.p + next, path.len - next};
	}
}

void sym_source_path(struct pm_text *t, struct pm_bytes folder, struct pm_bytes path)
{
	pm_text_clear(t);
	if (path.len && path.p[0] != '/')
		add_components(t, folder);
	add_components(t, path);
}
