/*
 * Reads the context tree of meta.db into a pm_tree, in file order.
 *
 * A record contains the position and size of its children, which may be before or after it. A stack
 * holds the arrays being read. The size of every visited record is subtracted from a budget, the
 * size of the section, so if an array is reached twice, or from within itself, the walk ends. The
 * children of an unreadable record are lost; its siblings are kept.
 */
#include "formats/hpctoolkit/contexts.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/quantity.h"
#include "formats/common/tree.h"
#include "formats/common/work.h"
#include "formats/hpctoolkit/columns.h"
#include "formats/hpctoolkit/frames.h"
#include "formats/hpctoolkit/summary.h"
#include "profmount/limits.h"

/* Contexts between two checks for cancellation: about a page of records. */
enum { STEPS = 64 };

/* Sibling records that have not been visited. */
struct siblings {
	uint64_t at, end; /* in meta.db */
	uint32_t parent;  /* rank, or PM_NONE */
};

struct walk {
	struct hpctk_opened *db;
	struct pm_tree_builder *builder;
	struct pm_bytes section;
	uint64_t section_at;
	uint64_t budget; /* bytes of records that may still be visited */
	struct siblings *stack;
	size_t depth, stack_room;
	struct hpctk_frames frames;
	uint64_t *record_at; /* by rank */
	uint32_t *number;    /* by rank */
	size_t record_room, number_room;
	bool full; /* the budget is spent */
};

static void spoil(struct walk *w, uint64_t at, uint64_t bytes, const char *what)
{
	pm_damage_add(&w->db->damage, "meta.db", at, bytes, "context tree: %s", what);
}

/* Bytes of the section, by their offset in the file. */
static bool section_sub(const struct walk *w, uint64_t at, uint64_t len, struct pm_bytes *ret)
{
	*ret = (struct pm_bytes){NULL, 0};
	return at >= w->section_at && pm_bytes_sub(w->section, at - w->section_at, len, ret);
}

/* ---- the walk ---- */

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
	uint32_t rank = pm_tree_count(w->builder);
	if (record->id == 0) {
		spoil(w, at, PM_NO_OFFSET, "a context with the reserved id 0");
		return 0;
	}
	if (pm_list_room(&w->record_at, rank, &w->record_room, sizeof(*w->record_at)) < 0 ||
		pm_list_room(&w->number, rank, &w->number_room, sizeof(*w->number)) < 0)
		return -ENOMEM;
	uint32_t frame = hpctk_frame_of(&w->frames, record, at);
	if (frame == PM_NONE || pm_tree_add(w->builder, parent, frame, record->id) == PM_NONE)
		return -ENOMEM;
	w->record_at[rank] = at;
	w->number[rank] = record->id;
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

static bool is_cancelled_at(uint64_t done, uint64_t total)
{
	pm_work_progress(done, total);
	return pm_work_cancelled();
}

static int subtrees_walk(struct walk *w)
{
	int r = 0;
	for (uint32_t i = 0; w->depth > 0 && r == 0; i++)
		if (i % STEPS == 0 && is_cancelled_at(w->section.len - w->budget, w->section.len))
			r = -ENOMEM;
		else
			r = step(w);
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

/* ---- from the walk to the tree ---- */

/*
 * Adds up the costs of the top-level contexts by group of metrics; `whole` is zeroed. The values of
 * a context are in the order of the metrics. `entry` is by rank.
 */
static int tops_add(struct walk *w, const struct hpctk_run_reader *reader,
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
static int find_leading(struct walk *w, const struct hpctk_run_reader *reader,
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
static int weigh(
	struct walk *w, uint32_t *entry, double *weight, uint32_t *ret, struct pm_error *err)
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
			return -ENOMEM;
		if (rank % STEPS == 0)
			pm_work_progress(rank, n);
		weight[rank] = hpctk_run_cost(&reader, w->number[rank], entry[rank], quantity);
	}
	return r;
}

static int tree_finish(struct walk *w, struct hpctk_tree *t, struct pm_error *err)
{
	uint32_t n = pm_tree_count(w->builder), group = PM_NONE;
	uint32_t *entry = malloc((n + (size_t)1) * sizeof(*entry));
	double *weight = malloc((n + (size_t)1) * sizeof(*weight));
	t->in_summary = malloc((n + (size_t)1) * sizeof(*t->in_summary));
	int r = -ENOMEM;
	if (entry && weight && t->in_summary)
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

static int walk_init(struct walk *w, struct hpctk_opened *db)
{
	*w = (struct walk){.db = db, .builder = pm_tree_builder_new()};
	return w->builder ? hpctk_frames_init(&w->frames, db, w->builder) : -ENOMEM;
}

static void walk_done(struct walk *w)
{
	pm_tree_builder_free(w->builder);
	free(w->stack);
	hpctk_frames_done(&w->frames);
	free(w->record_at);
	free(w->number);
}

static int tree_fill(void *owner, void *part, struct pm_error *err)
{
	struct hpctk_tree *t = part;
	struct walk w;
	int r = walk_init(&w, owner);
	if (r == 0)
		r = section_walk(&w);
	if (r == 0)
		r = tree_finish(&w, t, err);
	if (r == 0) {
		t->record_at = w.record_at;
		w.record_at = NULL;
	}
	walk_done(&w);
	return r;
}

static void tree_done(void *part)
{
	struct hpctk_tree *t = part;
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
