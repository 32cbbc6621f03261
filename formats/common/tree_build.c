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
		a->is_idle == b->is_idle && a->is_nothing == b->is_nothing &&
		a->is_root == b->is_root && a->on_gpu == b->on_gpu &&
		a->is_annotation == b->is_annotation && a->code == b->code &&
		a->function == b->function && a->name == b->name && a->file == b->file &&
		a->module == b->module && a->line == b->line && a->offset == b->offset;
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

/*
 * The slot of an equal frame, or the free slot where this one belongs. A slot has 32 bits of the
 * hash above the index, so that other frames, which are far away in memory, are rarely looked at.
 */
static uint64_t *frame_slot(
	const struct pm_tree_builder *b, const struct pm_frame *frame, uint32_t hash)
{
	size_t at = hash & (b->n_frame_slots - 1);
	for (;; at = (at + 1) & (b->n_frame_slots - 1)) {
		uint64_t slot = b->frame_slots[at];
		if (slot == 0 ||
			(slot >> 32 == hash &&
				is_same_frame(&b->frames[(uint32_t)slot - 1], frame)))
			return &b->frame_slots[at];
	}
}

static bool grow_frame_slots(struct pm_tree_builder *b)
{
	size_t n = b->n_frame_slots ? 2 * b->n_frame_slots : 64;
	uint64_t *slots = calloc(n, sizeof(*slots));
	if (!slots)
		return false;
	if (b->frame_salt == 0)
		b->frame_salt = (uintptr_t)slots;
	for (size_t i = 0; i < b->n_frame_slots; i++) {
		size_t at = (size_t)(b->frame_slots[i] >> 32) & (n - 1);
		if (b->frame_slots[i] == 0)
			continue;
		while (slots[at] != 0)
			at = (at + 1) & (n - 1);
		slots[at] = b->frame_slots[i];
	}
	free(b->frame_slots);
	b->frame_slots = slots;
	b->n_frame_slots = n;
	return true;
}

uint32_t pm_tree_intern(struct pm_tree_builder *b, const struct pm_frame *frame)
{
	bool full = b->n_frames >= b->n_frame_slots - b->n_frame_slots / 4;
	if (full && !grow_frame_slots(b))
		return fail(b);
	uint32_t hash = (uint32_t)hash_frame(frame, b->frame_salt);
	uint64_t *slot = frame_slot(b, frame, hash);
	if (*slot)
		return (uint32_t)*slot - 1;
	if (b->n_frames >= PM_LIMIT_ITEMS ||
		pm_list_room(&b->frames, b->n_frames, &b->frames_room, sizeof(*frame)) < 0)
		return fail(b);
	b->frames[b->n_frames] = *frame;
	*slot = (uint64_t)hash << 32 | ++b->n_frames;
	return b->n_frames - 1;
}

uint32_t pm_tree_intern_nothing(struct pm_tree_builder *b)
{
	struct pm_frame frame = {.kind = PM_KIND_PLACEHOLDER,
		.is_idle = true,
		.is_nothing = true,
		.function = PM_NONE,
		.name = pm_tree_text(b, pm_bytes_of("<no activity>"), false)};
	return frame.name == PM_NONE ? PM_NONE : pm_tree_intern(b, &frame);
}

const struct pm_frame *pm_tree_interned(const struct pm_tree_builder *b, uint32_t frame)
{
	return &b->frames[frame];
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
