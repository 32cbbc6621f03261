/*
 * The calling-context tree of meta.db: its records, their frames, and siblings in the order of
 * their costs.
 */
#include "formats/hpctoolkit/hpctoolkit.h"

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
	struct hpctk_lengths lengths;
	struct pm_text name; /* of a function, demangled */
};

/* n indexes, all PM_NONE. */
static uint32_t *indexes_new(size_t n)
{
	uint32_t *indexes = malloc((n + 1) * sizeof(*indexes));
	if (indexes)
		memset(indexes, 0xff, (n + 1) * sizeof(*indexes));
	return indexes;
}

/* 0 or -ENOMEM; frames_done in either case. */
static int frames_init(struct frames *f, struct hpctk_opened *db, struct pm_tree_builder *builder,
	struct pm_damage_list *damage)
{
	*f = (struct frames){
		.db = db,
		.builder = builder,
		.damage = damage,
		.module_text = calloc(db->modules.n + (size_t)1, sizeof(*f->module_text)),
		.source_text = calloc(db->sources.n + (size_t)1, sizeof(*f->source_text)),
		.function = indexes_new(db->functions.n),
		.frame = indexes_new(db->functions.n),
		.inlined_frame = indexes_new(db->functions.n),
	};
	bool good = f->module_text && f->source_text && f->function && f->frame && f->inlined_frame;
	return good ? 0 : -ENOMEM;
}

static void frames_done(struct frames *f)
{
	free(f->module_text);
	free(f->source_text);
	free(f->function);
	free(f->frame);
	free(f->inlined_frame);
	pm_map_done(&f->lengths.of);
	pm_text_done(&f->name);
}

static uint32_t module_text(struct frames *f, uint32_t i)
{
	if (i == HPCTK_NONE)
		return 0;
	if (f->module_text[i] == 0)
		f->module_text[i] = pm_tree_text(
			f->builder, hpctk_module_get_again(f->db, &f->lengths, i).path, false);
	return f->module_text[i];
}

static uint32_t source_text(struct frames *f, uint32_t i)
{
	if (i == HPCTK_NONE)
		return 0;
	if (f->source_text[i] == 0)
		f->source_text[i] = pm_tree_text(
			f->builder, hpctk_source_get_again(f->db, &f->lengths, i).path, false);
	return f->source_text[i];
}

/* hpcprof leaves the functions of GPU binaries as they are in their symbol tables. */
static uint32_t function_name(struct frames *f, struct pm_bytes name)
{
	if (!pm_begins_with(name, "_Z") && !pm_begins_with(name, "_R"))
		return pm_tree_text(f->builder, name, false);
	sym_demangle(name, &f->name);
	return f->name.failed ? PM_NONE : pm_tree_text(f->builder, pm_text_view(&f->name), true);
}

/* The tree's index of a function record; only functions with a context get one. */
static uint32_t function_index(struct frames *f, uint32_t i)
{
	if (f->function[i] != PM_NONE)
		return f->function[i];
	struct hpctk_function stored = hpctk_function_get_again(f->db, &f->lengths, i);
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
	struct hpctk_function stored = hpctk_function_get_again(f->db, &f->lengths, i);
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

static uint32_t entry_name(struct frames *f, uint64_t name_at, uint64_t at)
{
	struct pm_bytes name = {NULL, 0};
	if (name_at != 0 && !hpctk_string_find_again(f->db, &f->lengths, name_at, &name))
		spoil_frame(f, at, "an entry point's name does not end in the file");
	return pm_tree_text(f->builder, name, false);
}

/*
 * The frame of the record at `at`: a function has the place of its definition, everything else its
 * own place. Invalid pointers are added to `damage`. PM_NONE if out of memory.
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
	if (frame.kind == PM_KIND_ENTRY)
		frame.name = entry_name(f, record->name_at, at);
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

struct walked {
	struct hpctk_opened *db;
	struct pm_tree_builder *builder;
	uint64_t *record_at; /* by rank: position of its record in meta.db */
	uint32_t *number;    /* by rank */
};

/* Reports progress; true if the work is cancelled. */
static bool is_cancelled_at(uint64_t done, uint64_t total)
{
	pm_work_progress(done, total);
	return pm_work_cancelled();
}

/* Sibling records that have not been visited. */
struct siblings {
	uint64_t at, end; /* in meta.db */
	uint32_t parent;  /* rank, or PM_NONE */
};

struct walk {
	struct hpctk_opened *db;
	struct walked *to;
	struct pm_bytes section;
	uint64_t section_at;
	uint64_t budget; /* bytes of records that may still be visited */
	struct siblings *stack;
	size_t depth, stack_room;
	struct frames frames;
	size_t record_room, number_room;
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
static int children_enter(
	struct walk *w, const struct hpctk_context_record *record, uint64_t at, uint32_t rank)
{
	struct pm_bytes children;
	if (record->children_size == 0)
		return 0;
	if (!section_sub(w, record->children_at, record->children_size, &children)) {
		spoil(w, at, PM_NO_OFFSET, "the context's children are outside the section");
		return 0;
	}
	if (w->depth == PM_LIMIT_DEPTH) {
		spoil(w, at, PM_NO_OFFSET, "deeper than 1000000 levels");
		return 0;
	}
	if (pm_list_room(&w->stack, w->depth, &w->stack_room, sizeof(*w->stack)) < 0)
		return -ENOMEM;
	w->stack[w->depth++] = (struct siblings){
		record->children_at, record->children_at + record->children_size, rank};
	return 0;
}

/* Adds the context of a record and enters its children. */
static int context_add(
	struct walk *w, const struct hpctk_context_record *record, uint64_t at, uint32_t parent)
{
	uint32_t rank = pm_tree_count(w->to->builder);
	if (record->id == 0) {
		spoil(w, at, PM_NO_OFFSET, "a context with the reserved id 0");
		return 0;
	}
	if (pm_list_room(&w->to->record_at, rank, &w->record_room, sizeof(*w->to->record_at)) < 0 ||
		pm_list_room(&w->to->number, rank, &w->number_room, sizeof(*w->to->number)) < 0)
		return -ENOMEM;
	uint32_t frame = frame_of(&w->frames, record, at);
	if (frame == PM_NONE || pm_tree_add(w->to->builder, parent, frame, record->id) == PM_NONE)
		return -ENOMEM;
	w->to->record_at[rank] = at;
	w->to->number[rank] = record->id;
	return children_enter(w, record, at, rank);
}

/* Subtracts `size` bytes from the budget; false if more is visited than the section contains. */
static bool pay(struct walk *w, uint64_t at, uint64_t size)
{
	if (size <= w->budget) {
		w->budget -= size;
		return true;
	}
	spoil(w, at, PM_NO_OFFSET, "contexts overlap; the rest of the tree is left out");
	w->depth = 0;
	w->full = true;
	return false;
}

/* Visits the next record of the innermost array, or leaves the array. */
static int step(struct walk *w)
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
		return 0;
	}
	if (left >= hpctk_context_head(l) && section_sub(w, at, left, &d))
		size = hpctk_context_size(l, d.p);
	if (size == 0 || size > left) {
		spoil(w, at, left, "a record that goes beyond the array it is in");
		w->depth--;
		return 0;
	}
	top->at += size;
	if (!pay(w, at, size))
		return 0;
	if (!hpctk_context_decode(l, d.p, size, &record)) {
		spoil(w, at, size, "a record shorter than its flags need; its subtree is left out");
		return 0;
	}
	return context_add(w, &record, at, parent);
}

static int subtrees_walk(struct walk *w)
{
	int r = 0;
	for (uint32_t i = 0; w->depth > 0 && r == 0; i++)
		r = i % STEPS == 0 && is_cancelled_at(w->section.len - w->budget, w->section.len)
			? -ENOMEM
			: step(w);
	return r;
}

static int entries_walk(struct walk *w, const uint8_t *head)
{
	const struct hpctk_layout *l = &w->db->layout;
	uint64_t at = hpctk_u64(l, head + 0x00);
	uint16_t n = hpctk_u16(l, head + 0x08);
	uint8_t stride = head[0x0a];
	int r = 0;
	if (n && stride < HPCTK_ENTRY) {
		spoil(w, w->section_at, PM_NO_OFFSET, "records of entry points are too small");
		return 0;
	}
	for (uint16_t i = 0; i < n && r == 0 && !w->full; i++, at += stride) {
		struct hpctk_context_record record;
		struct pm_bytes d;
		if (!section_sub(w, at, HPCTK_ENTRY, &d)) {
			spoil(w, w->section_at, PM_NO_OFFSET,
				"entry points outside of the section");
			return 0;
		}
		hpctk_entry_decode(l, d.p, &record);
		r = context_add(w, &record, at, PM_NONE);
		if (r == 0)
			r = subtrees_walk(w);
	}
	return r;
}

static int roots_walk(struct walk *w, const uint8_t *head)
{
	struct hpctk_context_record roots = {
		.children_size = hpctk_u64(&w->db->layout, head + 0x00),
		.children_at = hpctk_u64(&w->db->layout, head + 0x08),
	};
	int r = children_enter(w, &roots, w->section_at, PM_NONE);
	return r < 0 ? r : subtrees_walk(w);
}

static int section_walk(struct walk *w)
{
	const struct hpctk_section *s = &w->db->meta[HPCTK_CONTEXT_SECTION];
	struct pm_bytes file = hpctk_bytes(w->db, HPCTK_META), head;
	bool entries = w->db->layout.generation >= HPCTK_JUNE;
	if (s->at < file.len)
		pm_bytes_sub(file, s->at, s->size < file.len - s->at ? s->size : file.len - s->at,
			&w->section);
	w->section_at = s->at;
	w->budget = w->section.len;
	if (w->section.len < s->size)
		spoil(w, s->at, s->size, "the section is outside the file");
	if (!pm_bytes_sub(w->section, 0, entries ? HPCTK_ENTRIES : HPCTK_ROOTS, &head)) {
		spoil(w, s->at, s->size, "the section is too short for its head");
		return 0;
	}
	return entries ? entries_walk(w, head.p) : roots_walk(w, head.p);
}

/*
 * Visits all records; unreadable ones are added to `damage`. 0 or -ENOMEM. Free with
 * walked_done, even after a failure.
 */
static int walk_contexts(struct hpctk_opened *db, struct pm_damage_list *damage, struct walked *ret)
{
	*ret = (struct walked){.db = db, .builder = pm_tree_builder_new()};
	struct walk w = {.db = db, .to = ret};
	int r = ret->builder ? frames_init(&w.frames, db, ret->builder, damage) : -ENOMEM;
	if (r == 0)
		r = section_walk(&w);
	free(w.stack);
	frames_done(&w.frames);
	return r;
}

static void walked_done(struct walked *w)
{
	pm_tree_builder_free(w->builder);
	free(w->record_at);
	free(w->number);
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
static int tops_add(const struct walked *w, const struct hpctk_run_reader *reader,
	const struct pm_metrics *metrics, const uint32_t *entry, double *whole)
{
	uint32_t n = pm_tree_count(w->builder);
	struct pm_value *values = malloc(((size_t)metrics->n + 1) * sizeof(*values));
	for (uint32_t rank = 0; values && rank < n; rank++) {
		if (pm_tree_parent_of(w->builder, rank) != PM_NONE)
			continue;
		int64_t n_values = hpctk_run_all(
			reader, w->number[rank], entry[rank], values, metrics->n, NULL);
		for (int64_t i = 0, k = 0; i < n_values && k < metrics->n; k++) {
			const struct pm_metric *metric = &metrics->metrics[k];
			if (metric->id != values[i].metric)
				continue;
			if (metric->role == PM_ROLE_INCLUSIVE && isfinite(values[i].f))
				whole[metric->group] += values[i].f;
			i++;
		}
	}
	free(values);
	return values ? 0 : -ENOMEM;
}

/* The group whose inclusive cost orders siblings, and its quantity; PM_NONE if there is none. */
static int find_leading(const struct walked *w, const struct hpctk_run_reader *reader,
	const uint32_t *entry, uint32_t *ret, uint32_t *ret_quantity, struct pm_error *err)
{
	const struct hpctk_columns *c;
	int r = hpctk_columns_get(w->db, &c, err);
	if (r < 0)
		return r;
	double *whole = calloc((size_t)pm_metrics_groups(&c->list) + 1, sizeof(*whole));
	r = whole ? tops_add(w, reader, &c->list, entry, whole) : -ENOMEM;
	uint32_t group = pm_quantity_leading(&c->list, whole);
	if (group == PM_NONE) /* no costs at the top */
		group = pm_quantity_leading(&c->list, NULL);
	*ret = PM_NONE;
	for (uint32_t i = 0; i < c->list.n; i++)
		if (c->metrics[i].group == group && c->metrics[i].role == PM_ROLE_INCLUSIVE) {
			*ret = group;
			*ret_quantity = hpctk_quantity_of_prop(reader->metrics, c->metrics[i].id);
		}
	free(whole);
	return r;
}

/*
 * Looks up each context in the summary once: for the order of siblings, and to keep the result.
 * `entry` and `weight` are by rank; `*ret` is the group that orders siblings.
 */
static int weigh(const struct walked *w, uint32_t *entry, double *weight, uint32_t *ret,
	struct pm_error *err)
{
	struct hpctk_run_reader reader;
	uint32_t n = pm_tree_count(w->builder), quantity = HPCTK_NONE, next = 0;
	int r = hpctk_run_reader_init(&reader, w->db, err);
	if (r < 0)
		return r;
	bool summed = hpctk_block_check(&reader.summary, NULL) == 0;
	for (uint32_t rank = 0; rank < n; rank++) {
		if (rank % STEPS == 0 && is_cancelled_at(rank, n))
			return -ENOMEM;
		entry[rank] = summed ? hpctk_run_find(&reader, w->number[rank], &next) : HPCTK_NONE;
	}
	r = find_leading(w, &reader, entry, ret, &quantity, err);
	for (uint32_t rank = 0; r == 0 && *ret != PM_NONE && rank < n; rank++) {
		if (pm_work_cancelled())
			return PM_CANCELLED;
		if (rank % STEPS == 0)
			pm_work_progress(rank, n);
		weight[rank] = hpctk_run_cost(&reader, w->number[rank], entry[rank], quantity);
	}
	return r;
}

static int tree_finish(struct walked *w, struct hpctk_tree *t, struct pm_error *err)
{
	uint32_t n = pm_tree_count(w->builder), group = PM_NONE;
	uint32_t *entry = malloc((n + (size_t)1) * sizeof(*entry));
	double *weight = malloc((n + (size_t)1) * sizeof(*weight));
	t->in_summary = malloc((n + (size_t)1) * sizeof(*t->in_summary));
	int r = -ENOMEM;
	if (entry && weight && t->in_summary && pm_tree_intern_nothing(w->builder) != PM_NONE)
		r = weigh(w, entry, weight, &group, err);
	if (r == 0) {
		r = pm_tree_freeze(
			w->builder, group == PM_NONE ? NULL : weight, &t->tree, &t->of_rank, err);
		w->builder = NULL;
	}
	if (r == 0) {
		t->tree->n_function_ids = w->db->functions.n;
		t->tree->ordered_by = group;
	}
	for (uint32_t i = 0; i < n && r == 0; i++)
		t->in_summary[t->of_rank[i]] = entry[i];
	free(entry);
	free(weight);
	return r;
}

static int tree_fill(void *owner, void *part, struct pm_error *err)
{
	struct hpctk_tree *t = part;
	struct walked w;
	t->damage = (struct pm_damage_list)PM_DAMAGE_LIST_INIT;
	int r = walk_contexts(owner, &t->damage, &w);
	if (t->damage.no_memory)
		r = -ENOMEM;
	if (r == 0)
		r = tree_finish(&w, t, err);
	if (r == 0) {
		((struct hpctk_opened *)owner)->parts.tree.it = t->tree;
		t->record_at = w.record_at;
		w.record_at = NULL;
	}
	walked_done(&w);
	return r;
}

static void tree_done(void *part)
{
	struct hpctk_tree *t = part;
	pm_damage_done(&t->damage);
	pm_tree_free(t->tree);
	free(t->of_rank);
	free(t->record_at);
	free(t->in_summary);
}

static const struct pm_part_type type = {.size = sizeof(struct hpctk_tree),
	.fill = tree_fill,
	.done = tree_done,
	.file = "meta.db",
	.what = "the context tree"};

int hpctk_tree_get(struct hpctk_opened *db, const struct hpctk_tree **ret, struct pm_error *err)
{
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
