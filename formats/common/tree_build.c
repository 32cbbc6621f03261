/*
 * Builds trees: contexts in the order of arrival, which is their rank; texts and frames are
 * interned. Running out of memory is sticky: the caller may continue, and freezing returns the
 * error.
 */
#include "formats/common/tree.h"

#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/tree_private.h"
#include "profmount/limits.h"

struct pm_tree_builder *pm_tree_builder_new(void)
{
	struct pm_tree_builder *b = calloc(1, sizeof(*b));
	if (b && pm_tree_text(b, pm_bytes_of(""), false) != 0)
		return pm_tree_builder_free(b);
	return b;
}

struct pm_tree_builder *pm_tree_builder_free(struct pm_tree_builder *b)
{
	if (!b)
		return NULL;
	free(b->contexts);
	pm_map_done(&b->children);
	free(b->frames);
	free(b->frame_slots);
	free(b->functions);
	pm_strtab_done(&b->texts);
	pm_arena_done(&b->arena);
	free(b);
	return NULL;
}

/* ---- building ---- */

static uint32_t fail(struct pm_tree_builder *b)
{
	b->failed = true;
	return PM_NONE;
}

uint32_t pm_tree_text(struct pm_tree_builder *b, struct pm_bytes text, bool copy)
{
	b->texts.arena = copy ? &b->arena : NULL;
	uint32_t index =
		copy ? pm_strtab_add(&b->texts, text) : pm_strtab_add_lasting(&b->texts, text);
	return index == PM_NONE ? fail(b) : index;
}

uint32_t pm_tree_function(struct pm_tree_builder *b, const struct pm_function *function)
{
	if (b->n_functions >= PM_LIMIT_ITEMS ||
		pm_list_room(&b->functions, b->n_functions, &b->functions_room, sizeof(*function)) <
			0)
		return fail(b);
	b->functions[b->n_functions] = *function;
	return b->n_functions++;
}

static bool is_same_frame(const struct pm_frame *a, const struct pm_frame *b)
{
	return a->kind == b->kind && a->has_offset == b->has_offset && a->nested == b->nested &&
		a->is_idle == b->is_idle && a->code == b->code && a->function == b->function &&
		a->name == b->name && a->file == b->file && a->module == b->module &&
		a->line == b->line && a->offset == b->offset;
}

/* Salted like the tables of map.c. */
static uint64_t hash_frame(const struct pm_frame *f, uintptr_t salt)
{
	uint64_t h = pm_hash_u64(salt ^ f->kind ^ (uint64_t)f->has_offset << 8 ^
		(uint64_t)f->nested << 9 ^ (uint64_t)f->code << 16 ^ (uint64_t)f->function << 32);
	h = pm_hash_u64(h ^ f->name ^ (uint64_t)f->file << 32);
	h = pm_hash_u64(h ^ f->module ^ (uint64_t)f->line << 32);
	return pm_hash_u64(h ^ f->offset);
}

/* The slot of an equal frame, or the free slot where this one belongs. */
static uint32_t *frame_slot(const struct pm_tree_builder *b, const struct pm_frame *frame)
{
	uint64_t at = hash_frame(frame, (uintptr_t)b->frame_slots);
	uint32_t *slot = &b->frame_slots[at & (b->n_frame_slots - 1)];
	while (*slot && !is_same_frame(&b->frames[*slot - 1], frame))
		slot = &b->frame_slots[++at & (b->n_frame_slots - 1)];
	return slot;
}

static bool grow_frame_slots(struct pm_tree_builder *b)
{
	size_t n = b->n_frame_slots ? 2 * b->n_frame_slots : 64;
	uint32_t *slots = calloc(n, sizeof(*slots));
	if (!slots)
		return false;
	free(b->frame_slots);
	b->frame_slots = slots;
	b->n_frame_slots = n;
	for (uint32_t i = 0; i < b->n_frames; i++)
		*frame_slot(b, &b->frames[i]) = i + 1;
	return true;
}

uint32_t pm_tree_intern(struct pm_tree_builder *b, const struct pm_frame *frame)
{
	bool full = b->n_frames >= b->n_frame_slots - b->n_frame_slots / 4;
	if (full && !grow_frame_slots(b))
		return fail(b);
	uint32_t *slot = frame_slot(b, frame);
	if (*slot)
		return *slot - 1;
	if (b->n_frames >= PM_LIMIT_ITEMS ||
		pm_list_room(&b->frames, b->n_frames, &b->frames_room, sizeof(*frame)) < 0)
		return fail(b);
	b->frames[b->n_frames] = *frame;
	*slot = ++b->n_frames;
	return b->n_frames - 1;
}

uint32_t pm_tree_add(struct pm_tree_builder *b, uint32_t parent, uint32_t frame, uint32_t number)
{
	if (b->n >= PM_LIMIT_ITEMS ||
		pm_list_room(&b->contexts, b->n, &b->room, sizeof(*b->contexts)) < 0)
		return fail(b);
	b->contexts[b->n] = (struct pm_tree_node){parent, frame, number};
	b->numbered |= number != 0;
	return b->n++;
}

uint32_t pm_tree_child(struct pm_tree_builder *b, uint32_t parent, uint32_t frame)
{
	bool is_new;
	uint32_t *rank = pm_map_put(&b->children, (uint64_t)parent << 32 | frame, b->n, &is_new);
	if (!rank)
		return fail(b);
	if (is_new)
		*rank = pm_tree_add(b, parent, frame, 0);
	return *rank;
}

uint32_t pm_tree_count(const struct pm_tree_builder *b)
{
	return b->n;
}

uint32_t pm_tree_parent_of(const struct pm_tree_builder *b, uint32_t rank)
{
	return b->contexts[rank].parent;
}

uint32_t pm_tree_frame_of(const struct pm_tree_builder *b, uint32_t rank)
{
	return b->contexts[rank].frame;
}
