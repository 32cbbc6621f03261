/*
 * The calling-context tree of meta.db: its records, their frames, and siblings in the order of
 * their costs.
 */
#include "formats/hpctoolkit/hpctoolkit.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/affix.h"
#include "formats/common/list.h"
#include "formats/common/quantity.h"
#include "formats/common/text.h"
#include "formats/common/tree.h"
#include "formats/common/work.h"
#include "formats/symbols/symbols.h"
#include "profmount/limits.h"

/*
 * ==== frames ====
 * Makes frames of context records. The same functions, files and modules occur again and again, so
 * the strings of each row are decoded once.
 */

/* Maps rows of meta.db's tables to items of the tree. */
struct frames {
	struct hpctk_opened *db;
	struct pm_tree_builder *builder;
	struct pm_damage_list *damage;
	uint32_t *module_text, *source_text; /* by row; 0 = not yet known, or empty */
	uint32_t *function;                  /* of the tree, by row; PM_NONE = not yet known */
	uint32_t *frame, *inlined_frame;     /* of functions, by row; PM_NONE = not yet known */
	struct pm_map lengths;
	struct pm_text name; /* of a function, demangled */
};

/* n indexes, all PM_NONE. */
static uint32_t *indexes_new(struct pm_arena *a, size_t n)
{
	uint32_t *indexes = pm_arena_array(a, n, sizeof(*indexes));
	memset(indexes, 0xff, n * sizeof(*indexes));
	return indexes;
}

static uint32_t module_text(struct frames *f, uint32_t i)
{
	if (i == HPCTK_NONE)
		return 0;
	if (f->module_text[i] == 0)
		f->module_text[i] = pm_tree_text(f->builder,
			hpctk_path_get(f->db, &f->lengths, &f->db->modules, i).path, false);
	return f->module_text[i];
}

static uint32_t source_text(struct frames *f, uint32_t i)
{
	if (i == HPCTK_NONE)
		return 0;
	if (f->source_text[i] == 0)
		f->source_text[i] = pm_tree_text(f->builder,
			hpctk_path_get(f->db, &f->lengths, &f->db->sources, i).path, false);
	return f->source_text[i];
}

/* hpcprof leaves the functions of GPU binaries as they are in their symbol tables. */
static uint32_t function_name(struct frames *f, struct pm_bytes name)
{
	if (!pm_begins_with(name, "_Z") && !pm_begins_with(name, "_R"))
		return pm_tree_text(f->builder, name, false);
	sym_demangle(name, &f->name);
	return pm_tree_text(f->builder, pm_text_view(&f->name), true);
}

/* The tree's index of a function record; only functions with a context get one. */
static uint32_t function_index(struct frames *f, uint32_t i)
{
	if (f->function[i] != PM_NONE)
		return f->function[i];
	struct hpctk_function stored = hpctk_function_get(f->db, &f->lengths, i);
	struct pm_function function = {
		.name = function_name(f, stored.name),
		.file = source_text(f, stored.file),
		.module = module_text(f, stored.module),
		.line = stored.line,
		.id = i,
		.offset = stored.offset,
	};
	f->function[i] = pm_tree_function(f->builder, &function);
	return f->function[i];
}

/* The relation of a context to its parent: scopes propagate costs through lexical nesting only. */
enum { LEXICAL = 0, INLINED_CALL = 2 };

static enum pm_kind kind_of(const struct hpctk_context_record *record)
{
	switch (record->lexical_type) {
	case HPCTK_NONE: return PM_KIND_ENTRY;
	case 0: return record->relation == INLINED_CALL ? PM_KIND_INLINED : PM_KIND_FUNCTION;
	case 1: return PM_KIND_LOOP;
	case 2: return PM_KIND_LINE;
	case 3: return PM_KIND_INSTRUCTION;
	default: return PM_KIND_OTHER;
	}
}

/* Functions that stand for idle time; no function of a program can have such a name. */
static bool is_nothing(struct pm_bytes name)
{
	return pm_bytes_equal(name, pm_bytes_of("<no activity>"));
}

static bool is_idle(struct pm_bytes name)
{
	return is_nothing(name) || pm_bytes_equal(name, pm_bytes_of("<omp idle>"));
}

/* The frame of function i; if there is no record, only the kind of entry is known. */
static uint32_t function_frame(struct frames *f, struct pm_frame frame, uint32_t i)
{
	if (i == HPCTK_NONE)
		return pm_tree_intern(f->builder, &frame);
	uint32_t *known = frame.kind == PM_KIND_INLINED ? &f->inlined_frame[i] : &f->frame[i];
	uint32_t unlikely = PM_NONE;
	if (frame.nested)
		known = &unlikely;
	if (*known != PM_NONE)
		return *known;
	struct hpctk_function stored = hpctk_function_get(f->db, &f->lengths, i);
	frame.function = function_index(f, i);
	frame.name = function_name(f, stored.name);
	frame.is_idle = is_idle(stored.name);
	frame.is_nothing = is_nothing(stored.name);
	frame.file = source_text(f, stored.file);
	frame.module = module_text(f, stored.module);
	frame.line = stored.line;
	frame.offset = stored.offset;
	frame.has_offset = stored.module != HPCTK_NONE;
	*known = pm_tree_intern(f->builder, &frame);
	return *known;
}

static void spoil_frame(struct frames *f, uint64_t at, const char *what)
{
	pm_damage_add(f->damage, "meta.db", at, PM_NO_OFFSET, "context tree: %s", what);
}

/* The row that a field of the record at `at` refers to; HPCTK_NONE if there is none. */
static uint32_t row_of(struct frames *f, const struct hpctk_rows *rows, uint64_t pointer,
	uint64_t at, const char *what)
{
	uint32_t i = HPCTK_NONE;
	if (pointer != 0 && !hpctk_row_find(rows, pointer, &i))
		spoil_frame(f, at, what);
	return i;
}

/*
 * The frame of the record at `at`: a function has the place of its definition, everything else its
 * own place. Invalid pointers are added to `damage`.
 */
static uint32_t frame_of(struct frames *f, const struct hpctk_context_record *record, uint64_t at)
{
	struct pm_frame frame = {.kind = (uint8_t)kind_of(record), .function = PM_NONE};
	frame.nested = frame.kind != PM_KIND_ENTRY && record->relation == LEXICAL;
	uint32_t function = row_of(f, &f->db->functions, record->function_at, at,
		"the context's function is not in the table");
	uint32_t file = row_of(f, &f->db->sources, record->file_at, at,
		"the context's source file is not in the table");
	uint32_t module = row_of(f, &f->db->modules, record->module_at, at,
		"the context's load module is not in the table");
	if (frame.kind == PM_KIND_FUNCTION || frame.kind == PM_KIND_INLINED)
		return function_frame(f, frame, function);
	if (frame.kind == PM_KIND_ENTRY) {
		struct pm_bytes name = {NULL, 0};
		if (record->name_at != 0 &&
			!hpctk_string_find(f->db, &f->lengths, record->name_at, &name))
			spoil_frame(f, at, "an entry point's name does not end in the file");
		frame.name = pm_tree_text(f->builder, name, false);
	}
	if (frame.kind == PM_KIND_OTHER)
		frame.code = (uint16_t)record->lexical_type;
	if (function != HPCTK_NONE)
		frame.function = function_index(f, function);
	frame.file = source_text(f, file);
	frame.module = module_text(f, module);
	frame.line = record->line;
	frame.offset = record->offset;
	frame.has_offset = record->has_point;
	return pm_tree_intern(f->builder, &frame);
}

/*
 * ==== records ====
 * Reads the context tree of meta.db into a pm_tree, in file order.
 *
 * A record contains the position and size of its children, which may be before or after it. A stack
 * holds the arrays being read. The size of every visited record is subtracted from a budget, the
 * size of the section, so if an array is reached twice, or from within itself, the walk ends. The
 * children of an unreadable record are lost; its siblings are kept.
 */

/* Contexts between two checks for cancellation: about a page of records. */
enum { STEPS = 64 };

/* Reports progress. */
static void proceed(struct pm_arena *a, uint64_t done, uint64_t total)
{
	pm_work_progress(done, total);
	pm_build_proceed(a);
}

/* Sibling records that have not been visited. */
struct siblings {
	uint64_t at, end; /* in meta.db */
	uint32_t parent;  /* rank, or PM_NONE */
};

struct walk {
	struct pm_arena *a, *scratch; /* of the tree, and of the walk */
	struct hpctk_opened *db;
	struct hpctk_tree *tree;
	struct pm_bytes section;
	uint64_t section_at;
	uint64_t budget; /* bytes of records that may still be visited */
	struct siblings *stack;
	size_t depth, stack_room, record_room;
	struct frames frames;
	bool full; /* the budget is spent */
};

static void spoil(struct walk *w, uint64_t at, uint64_t bytes, const char *what)
{
	pm_damage_add(w->frames.damage, "meta.db", at, bytes, "context tree: %s", what);
}

/* Bytes of the section, by their offset in the file. */
static bool section_sub(const struct walk *w, uint64_t at, uint64_t len, struct pm_bytes *ret)
{
	*ret = (struct pm_bytes){NULL, 0};
	return at >= w->section_at && pm_bytes_sub(w->section, at - w->section_at, len, ret);
}

/* Pushes the array of the children. */
static void children_enter(
	struct walk *w, const struct hpctk_context_record *record, uint64_t at, uint32_t rank)
{
	struct pm_bytes children;
	if (record->children_size == 0)
		return;
	if (!section_sub(w, record->children_at, record->children_size, &children)) {
		spoil(w, at, PM_NO_OFFSET, "the context's children are outside the section");
		return;
	}
	if (w->depth == PM_LIMIT_DEPTH) {
		spoil(w, at, PM_NO_OFFSET, "deeper than 1000000 levels");
		return;
	}
	pm_list_grow(w->scratch, &w->stack, w->depth, &w->stack_room, sizeof(*w->stack));
	w->stack[w->depth++] = (struct siblings){
		record->children_at, record->children_at + record->children_size, rank};
}

/* Adds the context of a record and enters its children. */
static void context_add(
	struct walk *w, const struct hpctk_context_record *record, uint64_t at, uint32_t parent)
{
	uint32_t rank = pm_tree_count(w->tree->builder);
	if (record->id == 0) {
		spoil(w, at, PM_NO_OFFSET, "a context with the reserved id 0");
		return;
	}
	pm_list_grow(w->a, &w->tree->record_at, rank, &w->record_room, sizeof(uint64_t));
	w->tree->record_at[rank] = at;
	uint32_t frame = frame_of(&w->frames, record, at);
	if (frame == PM_NONE || pm_tree_add(w->tree->builder, parent, frame, record->id) == PM_NONE)
		pm_build_fail(w->a, -ENOMEM);
	children_enter(w, record, at, rank);
}

/* Visits the next record of the innermost array, or leaves the array. */
static void step(struct walk *w)
{
	const struct hpctk_layout *l = &w->db->layout;
	struct siblings *top = &w->stack[w->depth - 1];
	uint64_t at = top->at, left = top->end - top->at;
	uint32_t parent = top->parent;
	struct hpctk_context_record record;
	struct pm_bytes d;
	size_t size = 0;
	if (left == 0) {
		w->depth--;
		return;
	}
	if (left >= hpctk_context_head(l) && section_sub(w, at, left, &d))
		size = hpctk_context_size(l, d.p);
	if (size == 0 || size > left) {
		spoil(w, at, left, "a record that goes beyond the array it is in");
		w->depth--;
		return;
	}
	top->at += size;
	if (size > w->budget) {
		spoil(w, at, PM_NO_OFFSET, "contexts overlap; the rest of the tree is left out");
		w->depth = 0;
		w->full = true;
		return;
	}
	w->budget -= size;
	if (hpctk_context_decode(l, d.p, size, &record))
		context_add(w, &record, at, parent);
	else
		spoil(w, at, size, "a record shorter than its flags need; its subtree is left out");
}

static void subtrees_walk(struct walk *w)
{
	for (uint32_t i = 0; w->depth > 0; i++) {
		if (i % STEPS == 0)
			proceed(w->a, w->section.len - w->budget, w->section.len);
		step(w);
	}
}

static void entries_walk(struct walk *w, const uint8_t *head)
{
	const struct hpctk_layout *l = &w->db->layout;
	uint64_t at = hpctk_u64(l, head + 0x00);
	uint16_t n = hpctk_u16(l, head + 0x08);
	uint8_t stride = head[0x0a];
	if (n && stride < HPCTK_ENTRY) {
		spoil(w, w->section_at, PM_NO_OFFSET, "records of entry points are too small");
		return;
	}
	for (uint16_t i = 0; i < n && !w->full; i++, at += stride) {
		struct hpctk_context_record record;
		struct pm_bytes d;
		if (!section_sub(w, at, HPCTK_ENTRY, &d)) {
			spoil(w, w->section_at, PM_NO_OFFSET,
				"entry points outside of the section");
			return;
		}
		hpctk_entry_decode(l, d.p, &record);
		context_add(w, &record, at, PM_NONE);
		subtrees_walk(w);
	}
}

static void section_walk(struct walk *w)
{
	const struct hpctk_layout *l = &w->db->layout;
	const struct hpctk_section *s = &w->db->meta[HPCTK_CONTEXT_SECTION];
	struct pm_bytes file = hpctk_bytes(w->db, HPCTK_META), head;
	bool entries = l->generation >= HPCTK_JUNE;
	if (s->at < file.len)
		pm_bytes_sub(file, s->at, s->size < file.len - s->at ? s->size : file.len - s->at,
			&w->section);
	w->section_at = s->at;
	w->budget = w->section.len;
	if (w->section.len < s->size)
		spoil(w, s->at, s->size, "the section is outside the file");
	if (!pm_bytes_sub(w->section, 0, entries ? HPCTK_ENTRIES : HPCTK_ROOTS, &head)) {
		spoil(w, s->at, s->size, "the section is too short for its head");
	} else if (entries) {
		entries_walk(w, head.p);
	} else {
		struct hpctk_context_record roots = {
			.children_size = hpctk_u64(l, head.p + 0x00),
			.children_at = hpctk_u64(l, head.p + 0x08),
		};
		children_enter(w, &roots, s->at, PM_NONE);
		subtrees_walk(w);
	}
}

/* Visits all records. */
static void walk_contexts(struct pm_arena *a, struct hpctk_opened *db, struct hpctk_tree *tree)
{
	struct pm_arena *scratch = pm_arena_scratch(a);
	size_t n = db->functions.n;
	struct walk w = {.a = a, .scratch = scratch, .db = db, .tree = tree};
	w.frames = (struct frames){
		.db = db,
		.builder = tree->builder,
		.damage = &tree->damage,
		.module_text = pm_arena_array(scratch, db->modules.n, sizeof(uint32_t)),
		.source_text = pm_arena_array(scratch, db->sources.n, sizeof(uint32_t)),
		.function = indexes_new(scratch, n),
		.frame = indexes_new(scratch, n),
		.inlined_frame = indexes_new(scratch, n),
		.lengths.arena = scratch,
		.name.arena = scratch,
	};
	section_walk(&w);
	pm_build_check(a, tree->damage.no_memory ? -ENOMEM : 0);
	pm_arena_done(scratch);
}

/*
 * ==== the tree ====
 * The context tree of meta.db: what was read, with siblings in the order of their costs, and
 * the place of each context in the summary.
 */

/*
 * Adds up the costs of the top-level contexts by group of metrics; `whole` is zeroed. The values of
 * a context are in the order of the metrics. `entry` is by rank.
 */
static void tops_add(struct pm_arena *scratch, const struct pm_tree_builder *builder,
	const struct hpctk_run_reader *reader, const struct pm_metrics *metrics,
	const uint32_t *entry, double *whole)
{
	uint32_t n = pm_tree_count(builder);
	struct pm_value *values = pm_arena_array(scratch, metrics->n, sizeof(*values));
	for (uint32_t rank = 0; rank < n; rank++) {
		if (pm_tree_parent_of(builder, rank) != PM_NONE)
			continue;
		int64_t n_values = hpctk_run_all(reader, pm_tree_number_of(builder, rank),
			entry[rank], values, metrics->n, NULL);
		if (pm_is_passing((int)n_values))
			pm_build_fail(scratch, (int)n_values);
		for (int64_t i = 0, k = 0; i < n_values && k < metrics->n; k++) {
			const struct pm_metric *metric = &metrics->metrics[k];
			if (metric->id != values[i].metric)
				continue;
			if (metric->role == PM_ROLE_INCLUSIVE && isfinite(values[i].f))
				whole[metric->group] += values[i].f;
			i++;
		}
	}
}

/*
 * Looks up each context in the summary once: for the order of siblings, and to keep the result.
 * `entry` and `weight` are by rank. Returns the group that orders siblings; PM_NONE: there is none.
 */
static uint32_t weigh(struct pm_arena *scratch, struct hpctk_opened *db,
	const struct pm_tree_builder *builder, uint32_t *entry, double *weight,
	struct pm_error *err)
{
	struct hpctk_run_reader reader;
	const struct hpctk_columns *c;
	uint32_t n = pm_tree_count(builder), quantity = HPCTK_NONE, next = 0;
	pm_build_check(scratch, hpctk_run_reader_init(&reader, db, err));
	bool summed = hpctk_block_check(&reader.summary, NULL) == 0;
	for (uint32_t rank = 0; rank < n; rank++) {
		uint32_t number = pm_tree_number_of(builder, rank);
		if (rank % STEPS == 0)
			proceed(scratch, rank, n);
		entry[rank] = summed ? hpctk_run_find(&reader, number, &next) : HPCTK_NONE;
	}
	pm_build_check(scratch, hpctk_columns_get(db, &c, err));
	double *whole = pm_arena_array(scratch, pm_metrics_groups(&c->list), sizeof(*whole));
	tops_add(scratch, builder, &reader, &c->list, entry, whole);
	uint32_t group = pm_quantity_leading(&c->list, whole);
	if (group == PM_NONE) /* no costs at the top */
		group = pm_quantity_leading(&c->list, NULL);
	for (uint32_t i = 0; i < c->list.n; i++)
		if (c->metrics[i].group == group && c->metrics[i].role == PM_ROLE_INCLUSIVE)
			quantity = hpctk_quantity_of_prop(reader.metrics, c->metrics[i].id);
	for (uint32_t rank = 0; quantity != HPCTK_NONE && rank < n; rank++) {
		pm_build_proceed(scratch);
		if (rank % STEPS == 0)
			pm_work_progress(rank, n);
		pm_build_check(scratch,
			hpctk_run_cost(&reader, pm_tree_number_of(builder, rank), entry[rank],
				quantity, &weight[rank]));
	}
	return quantity == HPCTK_NONE ? PM_NONE : group;
}

static void free_tree(void *tree)
{
	struct hpctk_tree *t = tree;
	pm_tree_builder_free(t->builder);
	pm_tree_free(t->tree);
	free(t->of_rank);
}

static void tree_build(struct pm_arena *a, void *opened, void *part, struct pm_error *err)
{
	struct hpctk_opened *db = opened;
	struct hpctk_tree *t = part;
	struct pm_arena *scratch = pm_arena_scratch(a);
	pm_damage_list_in(&t->damage, a);
	pm_arena_owns(a, free_tree, t);
	t->builder = pm_tree_builder_new();
	pm_build_check(a, t->builder ? 0 : -ENOMEM);
	walk_contexts(a, db, t);
	struct pm_tree_builder *builder = t->builder;
	uint32_t n = pm_tree_count(builder);
	uint32_t *entry = pm_arena_array(scratch, n, sizeof(*entry));
	double *weight = pm_arena_array(scratch, n, sizeof(*weight));
	pm_tree_intern_nothing(builder); /* if there is no memory, freezing fails */
	uint32_t group = weigh(scratch, db, builder, entry, weight, err);
	t->builder = NULL;
	pm_build_check(a,
		pm_tree_freeze(
			builder, group == PM_NONE ? NULL : weight, &t->tree, &t->of_rank, err));
	t->tree->n_function_ids = db->functions.n;
	t->tree->ordered_by = group;
	t->in_summary = pm_arena_array(a, n, sizeof(*t->in_summary));
	for (uint32_t i = 0; i < n; i++)
		t->in_summary[t->of_rank[i]] = entry[i];
	pm_arena_done(scratch);
	db->parts.tree.it = t->tree;
}

int hpctk_tree_get(struct hpctk_opened *db, const struct hpctk_tree **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {.size = sizeof(struct hpctk_tree),
		.build = tree_build,
		.file = "meta.db",
		.what = "the context tree"};
	return pm_part_get(&db->tree, &type, db, ret, err);
}

bool hpctk_context_get(const struct hpctk_opened *db, const struct hpctk_tree *t, uint32_t rank,
	struct hpctk_context_record *ret)
{
	const struct hpctk_layout *l = &db->layout;
	bool entry = l->generation >= HPCTK_JUNE && t->tree->parent[t->of_rank[rank]] == PM_NONE;
	struct pm_bytes file = hpctk_bytes(db, HPCTK_META), d;
	uint64_t at = t->record_at[rank];
	if (!pm_bytes_sub(file, at, entry ? HPCTK_ENTRY : hpctk_context_head(l), &d))
		return false;
	if (entry) {
		hpctk_entry_decode(l, d.p, ret);
		return true;
	}
	return pm_bytes_sub(file, at, hpctk_context_size(l, d.p), &d) &&
		hpctk_context_decode(l, d.p, d.len, ret);
}
