/* Shared by the parts of the model: functions and frames of subs, contexts, cells, weights. */
#include "formats/nytprof/nytprof.h"

#include <math.h>
#include <stdio.h>

#include "formats/common/list.h"

/* The tree of the builder is not in the arena: its failures are seen here. */
static uint32_t made(const struct nytp_building *b, uint32_t i)
{
	if (i == PM_NONE)
		pm_build_fail(b->arena, PM_NO_MEMORY);
	return i;
}

uint32_t nytp_file_text(struct nytp_building *b, const struct nytp_file *f, uint32_t fid)
{
	char number[24];
	struct pm_bytes name = nytp_fid_shown(b->n, f, fid);
	if (name.len || f->layout != NYTP_LAYOUT_CHUNKS)
		return made(b, pm_tree_text(b->tree, name, false));
	snprintf(number, sizeof(number), "fid %u", fid);
	return made(b, pm_tree_text(b->tree, pm_bytes_of(number), true));
}

uint32_t nytp_function_of(struct nytp_building *b, uint32_t name)
{
	struct pm_function function = {.id = PM_NONE};
	const struct nytp_home *home = &b->homes[name];
	if (b->function[name] != NYTP_NONE)
		return b->function[name];
	function.name = made(b, pm_tree_text(b->tree, nytp_name(b->n, name), false));
	if (home->sub) {
		function.line = home->sub->first;
		function.file = nytp_file_text(b, home->file, home->sub->fid);
	}
	b->function[name] = made(b, pm_tree_function(b->tree, &function));
	struct pm_frame frame = {.kind = PM_KIND_FUNCTION,
		.function = b->function[name],
		.name = function.name,
		.file = function.file,
		.line = function.line};
	b->frame[name] = made(b, pm_tree_intern(b->tree, &frame));
	return b->function[name];
}

uint32_t nytp_frame_of(struct nytp_building *b, uint32_t name)
{
	if (name != NYTP_NOT_RETURNED) {
		nytp_function_of(b, name);
		return b->frame[name];
	}
	struct pm_frame frame = {.kind = PM_KIND_PLACEHOLDER, .function = PM_NONE};
	frame.name = made(b, pm_tree_text(b->tree, pm_bytes_of("(not returned)"), false));
	return made(b, pm_tree_intern(b->tree, &frame));
}

uint32_t nytp_context_of(struct nytp_building *b, uint32_t parent, uint32_t frame)
{
	uint32_t known = b->paths.n, rank = pm_paths_child(&b->paths, parent, frame);
	if (rank == PM_PATHS_FULL)
		pm_build_fail(b->arena, PM_NO_MEMORY);
	return rank == known ? made(b, pm_tree_add(b->tree, parent, frame, 0)) : rank;
}

struct nytp_cell *nytp_cell_add(struct nytp_building *b, uint32_t thread, uint32_t rank)
{
	pm_list_grow(b->scratch, &b->cells, b->n_cells, &b->cells_room, sizeof(*b->cells));
	struct nytp_cell *cell = &b->cells[b->n_cells++];
	*cell = (struct nytp_cell){.thread = thread, .rank = rank};
	for (size_t i = 0; i < NYTP_N_METRICS; i++)
		cell->values[i] = NAN;
	return cell;
}

void nytp_weigh(struct nytp_building *b, uint32_t rank, double cost)
{
	size_t before = b->weight_room;
	while (b->weight_room <= rank)
		pm_list_grow(b->scratch, &b->weight, b->weight_room, &b->weight_room,
			sizeof(*b->weight));
	for (size_t i = before; i < b->weight_room; i++)
		b->weight[i] = 0;
	b->weight[rank] += cost;
}
