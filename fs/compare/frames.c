/* Reading the frames of runs. */
#include "fs/compare/union.h"

#include "formats/common/list.h"
#include "fs/views/model/identity.h"

struct reading {
	struct pmfs_frames *frames;
	struct pm_arena *a; /* while the run is read */
	uint32_t run;
	enum pmfs_side side;
	const struct pm_tree *tree;
	uint32_t *function; /* by frame: of the identity, or PM_NONE */
	struct pm_text name;
};

/* A frame with texts of `match`. */
static void show(
	struct reading *r, const struct pm_frame *frame, struct pm_bytes name, struct pm_frame *ret)
{
	struct pm_strtab *texts = &r->frames->match.texts;
	*ret = *frame;
	ret->function = PM_NONE;
	ret->name = pm_strtab_add_lasting(texts, name);
	ret->module = pm_strtab_add_lasting(texts, r->tree->texts[frame->module]);
	ret->file = pm_strtab_add_lasting(texts, r->tree->texts[frame->file]);
}

/* Numbers have to leave room for flags. */
static uint32_t number(struct reading *r, uint32_t n)
{
	pm_build_check(r->a, n < PMFS_FRAME_IS_OTHER - 1 ? 0 : -ENOMEM);
	return n;
}

/* ---- loops and lines ---- */

static uint32_t add_part(struct reading *r, const struct pm_frame *frame)
{
	struct pmfs_frames *f = r->frames;
	const struct pm_bytes none = pm_bytes_of(""),
			      text[3] = {none, none, r->tree->texts[frame->file]};
	bool fresh;
	uint32_t file = pmfs_match_add(&f->files, r->side, r->run, text);
	uint32_t place = *pm_map_put(
		&f->places, (uint64_t)file << 32 | frame->line, (uint32_t)f->places.n, &fresh);
	uint32_t part = *pm_map_put(
		&f->known, (uint64_t)place << 8 | frame->kind, number(r, f->n_parts), &fresh);
	if (fresh) {
		pm_list_grow(f->arena, &f->parts, f->n_parts, &f->room_parts, sizeof(*f->parts));
		f->parts[f->n_parts++] = (struct pmfs_part_place){frame->kind, file, frame->line,
			pm_strtab_add_lasting(&f->match.texts, text[2])};
	}
	return part | PMFS_FRAME_IS_PART;
}

/* ---- calls ---- */

static uint32_t add_function(struct reading *r, const struct pm_frame *frame, uint32_t function)
{
	const struct pmfs_match *m = &r->frames->functions->match;
	uint32_t spelling = r->frames->functions->of[r->run][function];
	uint32_t row = number(r, m->spellings[spelling].group[r->side]);
	struct pm_frame *shown = &r->frames->of_row[row][r->side];
	if (!shown->name)
		show(r, frame, m->groups[row].name, shown);
	return row;
}

/* An entry point, or an instruction inside a function. */
static uint32_t add_other(struct reading *r, const struct pm_frame *frame)
{
	struct pmfs_frames *f = r->frames;
	pm_text_clear(&r->name);
	struct pm_bytes text[3] = {pmfs_frame_name(r->tree, frame, &r->name),
		r->tree->texts[frame->module], r->tree->texts[frame->file]};
	uint32_t spelling = number(r, pmfs_match_add(&f->match, r->side, r->run, text));
	if (frame->is_root)
		f->root_sides |= (uint8_t)(1u << r->side);
	if (spelling >= f->n_of_spelling) {
		pm_list_grow(f->arena, &f->of_spelling, f->n_of_spelling, &f->room_of_spelling,
			sizeof(*f->of_spelling));
		show(r, frame, text[0], &f->of_spelling[f->n_of_spelling++]);
	}
	return spelling | PMFS_FRAME_IS_OTHER;
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

static void find_functions(struct reading *r, const struct pmfs_identity *id)
{
	r->function = pm_arena_array(r->a, (size_t)r->tree->n_frames + 1, sizeof(*r->function));
	for (uint32_t i = 0; i < r->tree->n_frames; i++)
		r->function[i] = is_entry(r, &r->tree->frames[i])
			? PM_NONE
			: pmfs_same_function(id, r->tree->frames[i].function);
	for (uint32_t i = 0; i < r->tree->n_contexts; i++)
		if (pmfs_is_call(id, i) && !is_entry(r, pm_tree_frame(r->tree, i)))
			r->function[r->tree->frame[i]] = pmfs_function_of(id, i);
}

static void read_run(void *self, uint32_t run, struct pmfs_model *m, struct pm_error *err)
{
	struct pmfs_frames *f = self;
	const struct pmfs_identity *id;
	struct pm_arena *a = pm_arena_scratch(f->arena);
	struct reading r = {
		.frames = f, .a = a, .run = run, .side = f->costs->runs[run].side, .name.arena = a};
	pm_build_check(a, pmfs_model_tree(m, &r.tree, err));
	pm_build_check(a, pmfs_identity(m, &id, err));
	if (id->n != f->functions->n_of[run])
		pmfs_compare_changed(a, err);
	f->of[run] = pm_arena_array(f->arena, (size_t)r.tree->n_frames + 1, sizeof(**f->of));
	f->n_of[run] = r.tree->n_frames;
	find_functions(&r, id);
	pmfs_compare_evals(&f->files, m, f->match.exact, err);
	for (uint32_t i = 0; i < r.tree->n_frames; i++) {
		const struct pm_frame *frame = &r.tree->frames[i];
		pm_build_proceed(a);
		bool is_part = frame->kind == PM_KIND_LOOP || frame->kind == PM_KIND_LINE;
		f->of[run][i] = is_part            ? add_part(&r, frame)
			: r.function[i] != PM_NONE ? add_function(&r, frame, r.function[i])
						   : add_other(&r, frame);
	}
	pmfs_match_run_ends(&f->match);
	pmfs_match_run_ends(&f->files);
	pm_arena_done(a);
}

void pmfs_frames_read(struct pm_arena *a, struct pmfs_compare *c, const struct pmfs_costs *costs,
	struct pmfs_frames *f, struct pm_error *err)
{
	*f = (struct pmfs_frames){.arena = a, .costs = costs, .places.arena = a, .known.arena = a};
	pmfs_match_init(&f->match, a, c->of.exact, false);
	pmfs_match_init(&f->files, a, true, true);
	pm_build_check(a, pmfs_functions_get(c, &f->functions, err));
	f->of = pm_arena_array(a, (size_t)costs->n_runs + 1, sizeof(*f->of));
	f->n_of = pm_arena_array(a, (size_t)costs->n_runs + 1, sizeof(*f->n_of));
	f->of_row = pm_arena_array(a, (size_t)pmfs_n_function_keys(f) + 1, sizeof(*f->of_row));
	pm_strtab_add(&f->match.texts, pm_bytes_of("")); /* text 0, as in every tree */
	pmfs_compare_read(a, c, costs, (struct pmfs_reader){NULL, read_run}, f, err);
	pmfs_match_finish(&f->match);
	pmfs_match_finish(&f->files);
}

/*
 * Each key twice: as in the other run, else the baseline; and as in the baseline, else the other
 * run.
 */
struct pm_frame *pmfs_frames_shown(const struct pmfs_frames *f)
{
	uint32_t n = pmfs_n_frame_keys(f), rows = pmfs_n_function_keys(f);
	uint32_t others = f->match.n_groups;
	struct pm_frame *shown = pm_arena_array(f->arena, 2 * (size_t)n + 1, sizeof(*shown));
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
