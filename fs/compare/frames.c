/* Reading the frames of runs. */
#include "fs/compare/frames.h"

#include <stdlib.h>

#include "formats/common/list.h"
#include "fs/compare/flat.h"

struct reading {
	struct pmfs_frames *frames;
	const struct pmfs_costs *costs;
	struct pm_text name;
};

static bool is_part(const struct pm_frame *frame)
{
	return frame->kind == PM_KIND_LOOP || frame->kind == PM_KIND_LINE;
}

/* Data remembered for each spelling, with the same indexes. */
static int remember(
	struct pmfs_frames *f, uint32_t spelling, const struct pm_frame *frame, enum pmfs_side side)
{
	const struct pmfs_spelling *s = &f->match.spellings[spelling];
	if (spelling == f->n_shown) {
		if (pm_list_room(&f->shown, f->n_shown, &f->room_shown, sizeof(*f->shown)) < 0 ||
			pm_list_room(&f->line, f->n_shown, &f->room_line, sizeof(*f->line)) < 0)
			return -ENOMEM;
		f->line[f->n_shown][PMFS_BASE] = f->line[f->n_shown][PMFS_OTHER] = 0;
		f->shown[f->n_shown] = *frame;
		f->shown[f->n_shown].name = s->name;
		f->shown[f->n_shown].module = s->module;
		f->shown[f->n_shown].file = s->file;
		f->shown[f->n_shown].function = PM_NONE;
		f->n_shown++;
	}
	uint32_t *line = &f->line[spelling][side];
	if (frame && !is_part(frame) && frame->line && (*line == 0 || frame->line < *line))
		*line = frame->line;
	return 0;
}

static int add_part(
	struct pmfs_frames *f, const struct pm_frame *frame, uint32_t file, uint32_t *ret)
{
	bool fresh;
	uint32_t *place = pm_map_put(
		&f->places, (uint64_t)file << 32 | frame->line, (uint32_t)f->places.n, &fresh);
	uint32_t *part = !place
		? NULL
		: pm_map_put(&f->known, (uint64_t)*place << 8 | frame->kind, f->n_parts, &fresh);
	if (!part || f->n_parts >= PMFS_FRAME_IS_PART - 1)
		return -ENOMEM;
	*ret = *part | PMFS_FRAME_IS_PART;
	if (!fresh)
		return 0;
	if (pm_list_room(&f->parts, f->n_parts, &f->room_parts, sizeof(*f->parts)) < 0)
		return -ENOMEM;
	f->parts[f->n_parts++] = (struct pmfs_part_place){frame->kind, file, frame->line};
	return 0;
}

static int add_frame(struct reading *r, uint32_t run, const struct pm_tree *tree,
	const struct pm_frame *frame, uint32_t *ret)
{
	struct pmfs_frames *f = r->frames;
	enum pmfs_side side = r->costs->runs[run].side;
	struct pm_bytes none = pm_bytes_of(""), text[3] = {none, none, tree->texts[frame->file]};
	uint32_t spelling;
	if (!is_part(frame)) {
		pm_text_clear(&r->name);
		text[0] = pmfs_frame_name(tree, frame, &r->name);
		text[1] = tree->texts[frame->module];
	}
	if (r->name.failed || pmfs_match_add(&f->match, side, run, text, &spelling) < 0 ||
		remember(f, spelling, frame, side) < 0)
		return -ENOMEM;
	if (frame->is_root)
		f->root_sides |= (uint8_t)(1u << side);
	*ret = spelling;
	return is_part(frame) ? add_part(f, frame, spelling, ret) : 0;
}

static int read_run(void *self, uint32_t run, struct pmfs_model *m, struct pm_error *err)
{
	struct reading *reading = self;
	struct pmfs_frames *f = reading->frames;
	const struct pm_tree *tree;
	int r = pmfs_model_tree(m, &tree, err);
	if (r < 0)
		return r;
	f->of[run] = malloc(((size_t)tree->n_frames + 1) * sizeof(**f->of));
	f->n_of[run] = tree->n_frames;
	r = f->of[run] ? 0 : -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < tree->n_frames; i++)
		r = pm_work_cancelled()
			? -ENOMEM
			: add_frame(reading, run, tree, &tree->frames[i], &f->of[run][i]);
	pmfs_match_run_ends(&f->match);
	return r;
}

int pmfs_frames_read(struct pmfs_compare *c, const struct pmfs_costs *costs, struct pmfs_frames *f,
	struct pm_error *err)
{
	struct reading reading = {.frames = f, .costs = costs};
	f->match.exact = c->of.exact;
	f->of = calloc((size_t)costs->n_runs + 1, sizeof(*f->of));
	f->n_of = calloc((size_t)costs->n_runs + 1, sizeof(*f->n_of));
	/* Text 0 is the empty one in every tree. */
	f->match.texts.arena = &f->match.arena;
	int r = f->of && f->n_of && pm_strtab_add(&f->match.texts, pm_bytes_of("")) == 0 ? 0
											 : -ENOMEM;
	if (r == 0)
		r = pmfs_compare_read(
			c, costs, (struct pmfs_reader){NULL, read_run}, &reading, err);
	if (r == 0)
		r = pmfs_match_finish(&f->match);
	pm_text_done(&reading.name);
	return r == -ENOMEM ? pmfs_compare_no_memory(err) : r;
}

void pmfs_frames_done(struct pmfs_frames *f, const struct pmfs_costs *costs)
{
	for (uint32_t i = 0; f->of && i < costs->n_runs; i++)
		free(f->of[i]);
	free(f->of);
	free(f->n_of);
	free(f->shown);
	free(f->line);
	free(f->parts);
	pm_map_done(&f->places);
	pm_map_done(&f->known);
	pmfs_match_done(&f->match);
}

static struct pm_frame part_shown(const struct pmfs_frames *f, const struct pmfs_part_place *part)
{
	return (struct pm_frame){.kind = part->kind,
		.function = PM_NONE,
		.file = f->match.spellings[part->file].file,
		.line = part->line};
}

/*
 * Each key twice: as in the other run, else the baseline; and as in the baseline, else the other
 * run.
 */
struct pm_frame *pmfs_frames_shown(const struct pmfs_frames *f)
{
	uint32_t n = pmfs_n_frame_keys(f);
	struct pm_frame *shown = calloc(2 * (size_t)n + 1, sizeof(*shown));
	if (!shown)
		return NULL;
	for (uint32_t i = 0; i < n; i++) {
		const struct pmfs_part_place *part = pmfs_frame_part(f, i);
		shown[i] = part ? part_shown(f, part) : f->shown[f->match.groups[i].shown];
		shown[n + i] = shown[i];
	}
	for (uint32_t i = f->match.n; i-- > 0;) {
		const struct pmfs_spelling *s = &f->match.spellings[i];
		if (s->sides & 1u << PMFS_BASE)
			shown[n + s->group] = f->shown[i];
	}
	return shown;
}

uint32_t (*pmfs_frames_first_lines(const struct pmfs_frames *f))[PMFS_N_SIDES]
{
	uint32_t(*first)[PMFS_N_SIDES] = calloc((size_t)f->match.n_groups + 1, sizeof(*first));
	for (uint32_t i = 0; first && i < f->match.n; i++) {
		uint32_t *of = first[f->match.spellings[i].group];
		for (unsigned side = 0; side < PMFS_N_SIDES; side++) {
			uint32_t line = f->line[i][side];
			if (line && (of[side] == 0 || line < of[side]))
				of[side] = line;
		}
	}
	return first;
}
