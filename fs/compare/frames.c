/* Reading the frames of runs. */
#include "fs/compare/union.h"

#include <stdlib.h>

#include "formats/common/list.h"
#include "fs/views/model/identity.h"

struct reading {
	struct pmfs_frames *frames;
	uint32_t run;
	enum pmfs_side side;
	const struct pm_tree *tree;
	uint32_t *function; /* by frame: of the identity, or PM_NONE */
	struct pm_text name;
};

static bool is_part(const struct pm_frame *frame)
{
	return frame->kind == PM_KIND_LOOP || frame->kind == PM_KIND_LINE;
}

/* A frame with texts of `match`. */
static int show(
	struct reading *r, const struct pm_frame *frame, struct pm_bytes name, struct pm_frame *ret)
{
	struct pm_strtab *texts = &r->frames->match.texts;
	*ret = *frame;
	ret->function = PM_NONE;
	ret->name = pm_strtab_add_lasting(texts, name);
	ret->module = pm_strtab_add_lasting(texts, r->tree->texts[frame->module]);
	ret->file = pm_strtab_add_lasting(texts, r->tree->texts[frame->file]);
	return ret->name == PM_NONE || ret->module == PM_NONE || ret->file == PM_NONE ? -ENOMEM : 0;
}

/* ---- loops and lines ---- */

static int add_part(struct reading *r, const struct pm_frame *frame, uint32_t *ret)
{
	struct pmfs_frames *f = r->frames;
	const struct pm_bytes none = pm_bytes_of(""),
			      text[3] = {none, none, r->tree->texts[frame->file]};
	uint32_t file;
	bool fresh;
	if (pmfs_match_add(&f->files, r->side, r->run, text, &file) < 0)
		return -ENOMEM;
	uint32_t *place = pm_map_put(
		&f->places, (uint64_t)file << 32 | frame->line, (uint32_t)f->places.n, &fresh);
	uint32_t *part = !place
		? NULL
		: pm_map_put(&f->known, (uint64_t)*place << 8 | frame->kind, f->n_parts, &fresh);
	if (!part || f->n_parts >= PMFS_FRAME_IS_OTHER - 1)
		return -ENOMEM;
	*ret = *part | PMFS_FRAME_IS_PART;
	if (!fresh)
		return 0;
	if (pm_list_room(&f->parts, f->n_parts, &f->room_parts, sizeof(*f->parts)) < 0)
		return -ENOMEM;
	uint32_t shown = pm_strtab_add_lasting(&f->match.texts, text[2]);
	f->parts[f->n_parts++] = (struct pmfs_part_place){frame->kind, file, frame->line, shown};
	return shown == PM_NONE ? -ENOMEM : 0;
}

/* ---- calls ---- */

static int add_function(
	struct reading *r, const struct pm_frame *frame, uint32_t function, uint32_t *ret)
{
	const struct pmfs_match *m = &r->frames->functions->match;
	uint32_t spelling = r->frames->functions->of[r->run][function];
	uint32_t row = m->spellings[spelling].group[r->side];
	struct pm_frame *shown = &r->frames->of_row[row][r->side];
	if (row >= PMFS_FRAME_IS_OTHER - 1)
		return -ENOMEM;
	*ret = row;
	return shown->name ? 0 : show(r, frame, m->groups[row].name, shown);
}

/* An entry point, or an instruction inside a function. */
static int add_other(struct reading *r, const struct pm_frame *frame, uint32_t *ret)
{
	struct pmfs_frames *f = r->frames;
	uint32_t spelling;
	pm_text_clear(&r->name);
	struct pm_bytes text[3] = {pmfs_frame_name(r->tree, frame, &r->name),
		r->tree->texts[frame->module], r->tree->texts[frame->file]};
	if (r->name.failed || pmfs_match_add(&f->match, r->side, r->run, text, &spelling) < 0 ||
		spelling >= PMFS_FRAME_IS_OTHER - 1)
		return -ENOMEM;
	if (frame->is_root)
		f->root_sides |= (uint8_t)(1u << r->side);
	*ret = spelling | PMFS_FRAME_IS_OTHER;
	if (spelling < f->n_of_spelling)
		return 0;
	if (pm_list_room(&f->of_spelling, f->n_of_spelling, &f->room_of_spelling,
		    sizeof(*f->of_spelling)) < 0)
		return -ENOMEM;
	return show(r, frame, text[0], &f->of_spelling[f->n_of_spelling++]);
}

static int add_frame(struct reading *r, uint32_t i, uint32_t *ret)
{
	const struct pm_frame *frame = &r->tree->frames[i];
	if (pm_work_cancelled())
		return -ENOMEM;
	if (is_part(frame))
		return add_part(r, frame, ret);
	if (r->function[i] != PM_NONE)
		return add_function(r, frame, r->function[i], ret);
	return add_other(r, frame, ret);
}

/*
 * Entry points are no functions, even if their own costs are in the row `(unknown)`; measurements
 * have them as placeholders.
 */
static bool is_entry(const struct reading *r, const struct pm_frame *frame)
{
	return frame->kind == PM_KIND_ENTRY || frame->is_root ||
		(frame->kind == PM_KIND_PLACEHOLDER &&
			pmfs_is_entry_name(r->tree->texts[frame->name]));
}

static int find_functions(struct reading *r, const struct pmfs_identity *id)
{
	r->function = malloc(((size_t)r->tree->n_frames + 1) * sizeof(*r->function));
	if (!r->function)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->tree->n_frames; i++)
		r->function[i] = is_entry(r, &r->tree->frames[i])
			? PM_NONE
			: pmfs_same_function(id, r->tree->frames[i].function);
	for (uint32_t i = 0; i < r->tree->n_contexts; i++)
		if (pmfs_is_call(id, i) && !is_entry(r, pm_tree_frame(r->tree, i)))
			r->function[r->tree->frame[i]] = pmfs_function_of(id, i);
	return 0;
}

static int read_run(void *self, uint32_t run, struct pmfs_model *m, struct pm_error *err)
{
	struct pmfs_frames *f = self;
	const struct pmfs_identity *id;
	struct reading reading = {.frames = f, .run = run, .side = f->costs->runs[run].side};
	int r = pmfs_model_tree(m, &reading.tree, err);
	if (r < 0 || (r = pmfs_identity(m, &id, err)) < 0)
		return r;
	if (id->n != f->functions->n_of[run])
		return pm_error_set(err, -EIO, NULL, PM_NO_OFFSET, "a run has changed");
	f->of[run] = malloc(((size_t)reading.tree->n_frames + 1) * sizeof(**f->of));
	f->n_of[run] = reading.tree->n_frames;
	r = f->of[run] ? find_functions(&reading, id) : -ENOMEM;
	if (r == 0)
		r = pmfs_compare_evals(&f->files, m, f->match.exact, err);
	for (uint32_t i = 0; r == 0 && i < reading.tree->n_frames; i++)
		r = add_frame(&reading, i, &f->of[run][i]);
	pmfs_match_run_ends(&f->match);
	pmfs_match_run_ends(&f->files);
	pm_text_done(&reading.name);
	free(reading.function);
	return r;
}

int pmfs_frames_read(struct pmfs_compare *c, const struct pmfs_costs *costs, struct pmfs_frames *f,
	struct pm_error *err)
{
	f->costs = costs;
	f->match.exact = c->of.exact;
	f->files.exact = f->files.of_places = true;
	int r = pmfs_functions_get(c, &f->functions, err);
	if (r < 0)
		return r;
	f->of = calloc((size_t)costs->n_runs + 1, sizeof(*f->of));
	f->n_of = calloc((size_t)costs->n_runs + 1, sizeof(*f->n_of));
	f->of_row = calloc((size_t)pmfs_n_function_keys(f) + 1, sizeof(*f->of_row));
	/* Text 0 is the empty one in every tree. */
	f->match.texts.arena = &f->match.arena;
	r = f->of && f->n_of && f->of_row && pm_strtab_add(&f->match.texts, pm_bytes_of("")) == 0
		? 0
		: -ENOMEM;
	if (r == 0)
		r = pmfs_compare_read(c, costs, (struct pmfs_reader){NULL, read_run}, f, err);
	if (r == 0)
		r = pmfs_match_finish(&f->match);
	if (r == 0)
		r = pmfs_match_finish(&f->files);
	return r == -ENOMEM ? pmfs_compare_no_memory(err) : r;
}

void pmfs_frames_done(struct pmfs_frames *f)
{
	for (uint32_t i = 0; f->of && i < f->costs->n_runs; i++)
		free(f->of[i]);
	free(f->of);
	free(f->n_of);
	free(f->of_row);
	free(f->of_spelling);
	free(f->parts);
	pm_map_done(&f->places);
	pm_map_done(&f->known);
	pmfs_match_done(&f->match);
	pmfs_match_done(&f->files);
}

/*
 * Each key twice: as in the other run, else the baseline; and as in the baseline, else the other
 * run.
 */
struct pm_frame *pmfs_frames_shown(const struct pmfs_frames *f)
{
	uint32_t n = pmfs_n_frame_keys(f), rows = pmfs_n_function_keys(f);
	uint32_t others = f->match.n_groups;
	struct pm_frame *shown = calloc(2 * (size_t)n + 1, sizeof(*shown));
	if (!shown)
		return NULL;
	for (uint32_t i = 0; i < rows; i++) {
		const struct pm_frame *of = f->of_row[i];
		shown[i] = of[of[PMFS_OTHER].name ? PMFS_OTHER : PMFS_BASE];
		shown[n + i] = of[of[PMFS_BASE].name ? PMFS_BASE : PMFS_OTHER];
	}
	for (uint32_t i = 0; i < others; i++)
		shown[rows + i] = f->of_spelling[f->match.groups[i].shown];
	for (uint32_t i = f->match.n; i-- > 0;)
		if (f->match.spellings[i].group[PMFS_BASE] != PM_NONE)
			shown[n + rows + f->match.spellings[i].group[PMFS_BASE]] =
				f->of_spelling[i];
	for (uint32_t i = 0; i < others; i++)
		if (!(f->match.groups[i].sides & 1u << PMFS_BASE))
			shown[n + rows + i] = shown[rows + i];
	for (uint32_t i = 0; i < f->n_parts; i++)
		shown[rows + others + i] = shown[n + rows + others + i] =
			(struct pm_frame){.kind = f->parts[i].kind,
				.function = PM_NONE,
				.file = f->parts[i].text,
				.line = f->parts[i].line};
	return shown;
}
