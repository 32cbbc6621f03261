/*
 * Reads the context tree of meta.db into a pm_tree, in file order.
 *
 * A record contains the position and size of its children, which may be before or after it. A stack
 * holds the arrays being read. The size of every visited record is subtracted from a budget, the
 * size of the section, so if an array is reached twice, or from within itself, the walk ends. The
 * children of an unreadable record are lost; its siblings are kept.
 */
#include "formats/hpctoolkit/walk.h"

#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/tree.h"
#include "formats/hpctoolkit/frames.h"
#include "profmount/limits.h"

/* Sibling records that have not been visited. */
struct siblings {
	uint64_t at, end; /* in meta.db */
	uint32_t parent;  /* rank, or PM_NONE */
};

struct walk {
	struct hpctk_opened *db;
	struct hpctk_walked *to;
	struct pm_bytes section;
	uint64_t section_at;
	uint64_t budget; /* bytes of records that may still be visited */
	struct siblings *stack;
	size_t depth, stack_room;
	struct hpctk_frames frames;
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
	uint32_t frame = hpctk_frame_of(&w->frames, record, at);
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
		r = i % HPCTK_STEPS == 0 &&
				hpctk_is_cancelled_at(w->section.len - w->budget, w->section.len)
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

int hpctk_walk(struct hpctk_opened *db, struct pm_damage_list *damage, struct hpctk_walked *ret)
{
	*ret = (struct hpctk_walked){.db = db, .builder = pm_tree_builder_new()};
	struct walk w = {.db = db, .to = ret};
	int r = ret->builder ? hpctk_frames_init(&w.frames, db, ret->builder, damage) : -ENOMEM;
	if (r == 0)
		r = section_walk(&w);
	free(w.stack);
	hpctk_frames_done(&w.frames);
	return r;
}

void hpctk_walked_done(struct hpctk_walked *w)
{
	pm_tree_builder_free(w->builder);
	free(w->record_at);
	free(w->number);
}
