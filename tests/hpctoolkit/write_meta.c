/*
 * meta.db as writers lay it out: general, names of kinds, metrics, strings, modules, files,
 * functions, and the context tree last.
 */
#include "tests/hpctoolkit/writer_private.h"

/* Sections by their place in the header. */
enum { GENERAL, KINDS, METRICS, CONTEXT, STRINGS, MODULES, FILES, FUNCTIONS, N_SECTIONS };

/* Where things went that others point at. */
struct places {
	size_t modules, files, functions;
	size_t module_size, file_size, function_size;
	size_t *strings; /* of paths, names of functions and of entries, in that order */
	size_t n_strings;
};

void hpctkw_write_header(struct out *o, const char *kind, unsigned n_sections)
{
	size_t at = out_room(o, 0x10 + (size_t)n_sections * 0x10);
	memcpy(o->p + at, "HPCTOOLKIT", 10);
	memcpy(o->p + at + 10, kind, 4);
	o->p[at + 14] = 4;
	o->p[at + 15] = 0;
}

void hpctkw_end_section(struct out *o, unsigned i, size_t at)
{
	out_set(o, 0x10 + i * 0x10u, 8, o->n - at);
	out_set(o, 0x18 + i * 0x10u, 8, at);
}

static bool is_nested(const struct hpctkw_database *w)
{
	return w->style.generation <= HPCTKW_APRIL;
}

static void write_general(const struct hpctkw_database *w, struct out *o)
{
	size_t at = out_room(o, 0x10);
	out_set(o, at + 0x00, 8, out_string(o, w->title ? w->title : "a title"));
	out_set(o, at + 0x08, 8, out_string(o, "a description"));
	hpctkw_end_section(o, GENERAL, at);
}

static void write_kinds(const struct hpctkw_database *w, struct out *o)
{
	static const char *const names[N_KINDS] = {"SUMMARY", "NODE", "RANK", "THREAD", "GPUDEVICE",
		"GPUCONTEXT", "GPUSTREAM", "CORE"};
	out_align(o, 8);
	size_t at = out_room(o, 0x10);
	size_t array = out_room(o, (size_t)N_KINDS * 8);
	out_set(o, at + 0x00, 8, array);
	out_set(o, at + 0x08, w->style.big ? 2 : 1, N_KINDS);
	for (size_t i = 0; i < N_KINDS; i++)
		out_set(o, array + i * 8, 8, out_string(o, names[i]));
	hpctkw_end_section(o, KINDS, at);
}

/* ---- metrics ---- */

static const char *const scope_names[N_SCOPES] = {"point", "function", "lex_aware", "execution"};
static const uint8_t scope_types[N_SCOPES] = {1, 3, 0, 2};
static const uint8_t scope_indexes[N_SCOPES] = {255, 0, 255, 255};

/* Metric → scopes → summaries. */
static void write_nested_metrics(const struct hpctkw_database *w, struct out *o, size_t head)
{
	size_t metric_size = 0x18 + w->style.wider, scope_size = 0x18 + w->style.wider;
	size_t summary_size = 0x10 + w->style.wider;
	size_t metrics = out_room(o, w->metrics.n * metric_size);
	out_set(o, head + 0x00, 8, metrics);
	out_set(o, head + 0x0c, 1, metric_size);
	out_set(o, head + 0x0d, 1, scope_size);
	out_set(o, head + 0x0e, 1, summary_size);
	for (uint32_t m = 0; m < w->metrics.n; m++) {
		size_t at = metrics + m * metric_size;
		size_t scopes = out_room(o, N_SCOPES * scope_size);
		out_set(o, at + 0x00, 8, out_string(o, w->metrics.items[m]));
		out_set(o, at + 0x08, 2, N_SCOPES);
		out_set(o, at + 0x10, 8, scopes);
		for (unsigned s = 0; s < N_SCOPES; s++) {
			size_t scope = scopes + s * scope_size;
			size_t summary = out_room(o, summary_size);
			out_set(o, scope + 0x00, 8, out_string(o, scope_names[s]));
			out_set(o, scope + 0x08, 2, 1);
			out_set(o, scope + 0x0a, 2, hpctkw_prop_id(m, s));
			out_set(o, scope + 0x10, 8, summary);
			out_set(o, summary + 0x00, 8, out_string(o, "$$"));
			out_set(o, summary + 0x08, 1, 0);
			out_set(o, summary + 0x0a, 2, hpctkw_stat_id(m, s));
		}
	}
}

/* Metrics have instances of scopes, and summaries; both point at a table of scopes. */
static void write_shared_metrics(const struct hpctkw_database *w, struct out *o, size_t head)
{
	size_t metric_size = 0x20 + w->style.wider, instance_size = 0x10 + w->style.wider;
	size_t summary_size = 0x18 + w->style.wider, scope_size = 0x10 + w->style.wider;
	size_t metrics = out_room(o, w->metrics.n * metric_size);
	size_t scopes = out_room(o, N_SCOPES * scope_size);
	out_set(o, head + 0x00, 8, metrics);
	out_set(o, head + 0x0c, 1, metric_size);
	out_set(o, head + 0x0d, 1, instance_size);
	out_set(o, head + 0x0e, 1, summary_size);
	out_set(o, head + 0x10, 8, scopes);
	out_set(o, head + 0x18, 2, N_SCOPES);
	out_set(o, head + 0x1a, 1, scope_size);
	for (unsigned s = 0; s < N_SCOPES; s++) {
		out_set(o, scopes + s * scope_size + 0x00, 8, out_string(o, scope_names[s]));
		out_set(o, scopes + s * scope_size + 0x08, 1, scope_types[s]);
		out_set(o, scopes + s * scope_size + 0x09, 1, scope_indexes[s]);
	}
	for (uint32_t m = 0; m < w->metrics.n; m++) {
		size_t at = metrics + m * metric_size;
		size_t instances = out_room(o, N_SCOPES * instance_size);
		size_t summaries = out_room(o, N_SCOPES * summary_size);
		out_set(o, at + 0x00, 8, out_string(o, w->metrics.items[m]));
		out_set(o, at + 0x08, 8, instances);
		out_set(o, at + 0x10, 8, summaries);
		out_set(o, at + 0x18, 2, N_SCOPES);
		out_set(o, at + 0x1a, 2, N_SCOPES);
		for (unsigned s = 0; s < N_SCOPES; s++) {
			size_t instance = instances + s * instance_size;
			size_t summary = summaries + s * summary_size;
			out_set(o, instance + 0x00, 8, scopes + s * scope_size);
			out_set(o, instance + 0x08, 2, hpctkw_prop_id(m, s));
			out_set(o, summary + 0x00, 8, scopes + s * scope_size);
			out_set(o, summary + 0x08, 8, out_string(o, "$$"));
			out_set(o, summary + 0x10, 1, 0);
			out_set(o, summary + 0x12, 2, hpctkw_stat_id(m, s));
		}
	}
}

static void write_metrics(const struct hpctkw_database *w, struct out *o)
{
	out_align(o, 8);
	size_t at = out_room(o, is_nested(w) ? 0x10 : 0x20);
	out_set(o, at + 0x08, 4, w->metrics.n);
	if (is_nested(w))
		write_nested_metrics(w, o, at);
	else
		write_shared_metrics(w, o, at);
	hpctkw_end_section(o, METRICS, at);
}

/* ---- strings, modules, files, functions ---- */

static void add_string(struct out *o, struct places *p, const char *s)
{
	p->strings = hpctkw_grow(p->strings, p->n_strings, sizeof(*p->strings));
	p->strings[p->n_strings++] = s ? out_string(o, s) : 0;
}

static void write_strings(const struct hpctkw_database *w, struct out *o, struct places *p)
{
	if (w->style.odd_strings && o->n % 2 == 0)
		out_room(o, 1);
	size_t at = o->n;
	for (size_t i = 0; i < w->modules.n; i++)
		add_string(o, p, w->modules.items[i].path);
	for (size_t i = 0; i < w->files.n; i++)
		add_string(o, p, w->files.items[i].path);
	for (size_t i = 0; i < w->functions.n; i++)
		add_string(o, p, w->functions.items[i].name);
	for (size_t i = 0; i < w->contexts.n; i++)
		add_string(o, p, w->contexts.items[i].entry);
	hpctkw_end_section(o, STRINGS, at);
}

/* The head of a table section and room for its rows, whose offset is returned. */
static size_t write_table(struct out *o, unsigned section, size_t n, size_t size, size_t *ret_head)
{
	out_align(o, 8);
	*ret_head = out_room(o, 0x10);
	size_t rows = out_room(o, n * size);
	out_set(o, *ret_head + 0x00, 8, rows);
	out_set(o, *ret_head + 0x08, 4, n);
	out_set(o, *ret_head + 0x0c, 2, size);
	hpctkw_end_section(o, section, *ret_head);
	return rows;
}

static void write_paths(struct out *o, size_t rows, size_t size, const struct path *paths, size_t n,
	const size_t *strings)
{
	for (size_t i = 0; i < n; i++) {
		out_set(o, rows + i * size + 0x00, 4, paths[i].flags);
		out_set(o, rows + i * size + 0x08, 8, strings[i]);
	}
}

static uint64_t row_at(size_t rows, size_t size, uint32_t i)
{
	return i == HPCTKW_NONE ? 0 : rows + i * size;
}

static void write_tables(const struct hpctkw_database *w, struct out *o, struct places *p)
{
	const size_t *strings = p->strings;
	size_t head;
	p->module_size = p->file_size = 0x10 + w->style.wider;
	p->function_size = 0x28 + w->style.wider;
	p->modules = write_table(o, MODULES, w->modules.n, p->module_size, &head);
	write_paths(o, p->modules, p->module_size, w->modules.items, w->modules.n, strings);
	strings += w->modules.n;
	p->files = write_table(o, FILES, w->files.n, p->file_size, &head);
	write_paths(o, p->files, p->file_size, w->files.items, w->files.n, strings);
	strings += w->files.n;
	p->functions = write_table(o, FUNCTIONS, w->functions.n, p->function_size, &head);
	for (size_t i = 0; i < w->functions.n; i++) {
		const struct function *f = &w->functions.items[i];
		size_t at = p->functions + i * p->function_size;
		out_set(o, at + 0x00, 8, strings[i]);
		out_set(o, at + 0x08, 8, row_at(p->modules, p->module_size, f->module));
		out_set(o, at + 0x10, 8, f->offset);
		out_set(o, at + 0x18, 8, row_at(p->files, p->file_size, f->file));
		out_set(o, at + 0x20, 4, f->line);
	}
}

/* ---- contexts ---- */

static size_t context_head(const struct hpctkw_database *w)
{
	return is_nested(w) ? 0x18 : 0x20;
}

static size_t flex_words(const struct hpctkw_database *w, const struct hpctkw_context *c)
{
	bool callee = w->style.generation == HPCTKW_FIRST && c->relation != 0;
	return callee + c->has_function + 2u * c->has_place + 2u * c->has_point;
}

static size_t context_size(const struct hpctkw_database *w, const struct hpctkw_context *c)
{
	return c->entry ? 0x20u : context_head(w) + 8 * flex_words(w, c);
}

static void write_flex(const struct hpctkw_database *w, struct out *o, size_t at,
	const struct hpctkw_context *c, const struct places *p)
{
	if (w->style.generation == HPCTKW_FIRST && c->relation != 0) {
		out_set(o, at + 0, 1, 1); /* words that describe the call */
		out_set(o, at + 1, 1, c->relation - 1u);
		out_set(o, at + 2, 2, 0);
		at += 8;
	}
	if (c->has_function) {
		out_set(o, at, 8, row_at(p->functions, p->function_size, c->function));
		at += 8;
	}
	if (c->has_place) {
		out_set(o, at, 8, row_at(p->files, p->file_size, c->file));
		out_set(o, at + 8, 4, c->line);
		at += 16;
	}
	if (c->has_point) {
		out_set(o, at, 8, row_at(p->modules, p->module_size, c->module));
		out_set(o, at + 8, 8, c->offset);
	}
}

static void write_record(const struct hpctkw_database *w, struct out *o, size_t at,
	const struct hpctkw_context *c, const struct places *p)
{
	unsigned flags = c->has_function | c->has_place << 1 | c->has_point << 2;
	out_set(o, at + 0x10, 4, c->id);
	if (w->style.generation == HPCTKW_FIRST) {
		out_set(o, at + 0x14, 2, (unsigned)(c->relation != 0) | flags << 1);
	} else {
		out_set(o, at + 0x14, 1, flags);
		out_set(o, at + 0x15, 1, c->relation);
	}
	out_set(o, at + 0x16, 1, c->type);
	out_set(o, at + 0x17, 1, flex_words(w, c));
	if (!is_nested(w))
		out_set(o, at + 0x18, 2, c->relation == 0);
	write_flex(w, o, at + context_head(w), c, p);
}

/* Where each context's record and its children's array are, once all arrays have their place. */
struct tree {
	uint32_t *first, *next, *last; /* children, by index + 1 of the parent (0 = top) */
	size_t *record_at, *children_at, *children_size;
};

static void tree_link(const struct hpctkw_database *w, struct tree *t)
{
	size_t n = w->contexts.n + 1;
	t->first = malloc(n * sizeof(*t->first));
	t->last = malloc(n * sizeof(*t->last));
	t->next = malloc(n * sizeof(*t->next));
	t->record_at = calloc(n, sizeof(*t->record_at));
	t->children_at = calloc(n, sizeof(*t->children_at));
	t->children_size = calloc(n, sizeof(*t->children_size));
	if (!t->first || !t->last || !t->next || !t->record_at || !t->children_at ||
		!t->children_size)
		abort();
	memset(t->first, 0xff, n * sizeof(*t->first));
	for (uint32_t i = 0; i < w->contexts.n; i++) {
		uint32_t parent = w->contexts.items[i].parent + 1; /* HPCTKW_NONE + 1 is 0 */
		t->next[i] = HPCTKW_NONE;
		if (t->first[parent] == HPCTKW_NONE)
			t->first[parent] = i;
		else
			t->next[t->last[parent]] = i;
		t->last[parent] = i;
	}
}

/* Gives the array of children below `parent` a place at the end of the file. */
static void place_children(
	const struct hpctkw_database *w, struct out *o, struct tree *t, uint32_t parent)
{
	t->children_at[parent] = o->n;
	for (uint32_t i = t->first[parent]; i != HPCTKW_NONE; i = t->next[i])
		t->record_at[i] = out_room(o, context_size(w, &w->contexts.items[i]));
	t->children_size[parent] = o->n - t->children_at[parent];
}

static void place_all(const struct hpctkw_database *w, struct out *o, struct tree *t)
{
	uint32_t n = (uint32_t)w->contexts.n;
	for (uint32_t i = 0; i <= n; i++)
		place_children(w, o, t, w->style.children_first ? n - i : i);
}

static void write_tree(const struct hpctkw_database *w, struct out *o, const struct places *p)
{
	const size_t *names = p->strings + w->modules.n + w->files.n + w->functions.n;
	struct tree t;
	out_align(o, 8);
	size_t head = out_room(o, 0x10);
	uint16_t n_entries = 0;
	tree_link(w, &t);
	place_all(w, o, &t);
	for (uint32_t i = 0; i < w->contexts.n; i++) {
		const struct hpctkw_context *c = &w->contexts.items[i];
		size_t at = t.record_at[i];
		out_set(o, at + 0x00, 8, t.children_size[i + 1]);
		out_set(o, at + 0x08, 8, t.children_at[i + 1]); /* not 0 without children either */
		if (c->entry) {
			out_set(o, at + 0x10, 4, c->id);
			out_set(o, at + 0x14, 2, c->relation);
			out_set(o, at + 0x18, 8, names[i]);
			n_entries++;
		} else {
			write_record(w, o, at, c, p);
		}
	}
	if (is_nested(w)) {
		out_set(o, head + 0x00, 8, t.children_size[0]);
		out_set(o, head + 0x08, 8, t.children_at[0]);
	} else {
		out_set(o, head + 0x00, 8, t.children_at[0]);
		out_set(o, head + 0x08, 2, n_entries);
		out_set(o, head + 0x0a, 1, 0x20);
	}
	hpctkw_end_section(o, CONTEXT, head);
	free(t.first);
	free(t.last);
	free(t.next);
	free(t.record_at);
	free(t.children_at);
	free(t.children_size);
}

void hpctkw_write_meta(const struct hpctkw_database *w, struct out *o)
{
	struct places p = {.strings = NULL};
	hpctkw_write_header(o, "meta", N_SECTIONS);
	write_general(w, o);
	write_kinds(w, o);
	write_metrics(w, o);
	write_strings(w, o, &p);
	write_tables(w, o, &p);
	write_tree(w, o, &p);
	memcpy(o->p + out_room(o, 8), "_meta.db", 8);
	free(p.strings);
}
