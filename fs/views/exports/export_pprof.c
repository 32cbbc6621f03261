/*
 * profile.pb.gz and M.pb.gz: profile.proto of pprof, gzipped, with all quantities or one. A sample
 * is a context with own cost of any of them. A location is a frame with the line that was running
 * in it, and the functions that were inlined there:
 *
 *	contexts   main → line 9 → work → line 22 → inner (inlined) → line 31
 *	locations  [inner:31, work:22] ← [main:9]
 *
 * A function is a name with its place. Fields are written in ascending order, except for the string
 * table, which comes last, when all strings are known.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "formats/common/inflate.h"
#include "formats/common/map.h"
#include "formats/common/work.h"
#include "fs/views/exports/export.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/flat.h"
#include "fs/views/sums/stacks.h"
#include "fs/views/sums/totals.h"
#include "profmount/limits.h"

/* Numbers of fields, by message. */
enum { VALUE_TYPE_TYPE = 1, VALUE_TYPE_UNIT = 2 };
enum { SAMPLE_LOCATIONS = 1, SAMPLE_VALUES = 2 };
enum {
	MAPPING_ID = 1,
	MAPPING_FILENAME = 5,
	MAPPING_HAS_FUNCTIONS = 7,
	MAPPING_HAS_FILENAMES = 8,
	MAPPING_HAS_LINE_NUMBERS = 9,
};
enum { LOCATION_ID = 1, LOCATION_MAPPING = 2, LOCATION_LINE = 4 };
enum { LINE_FUNCTION = 1, LINE_LINE = 2 };
enum { FUNCTION_ID = 1, FUNCTION_NAME = 2, FUNCTION_FILENAME = 4, FUNCTION_START_LINE = 5 };
enum {
	PROFILE_SAMPLE_TYPE = 1,
	PROFILE_SAMPLE = 2,
	PROFILE_MAPPING = 3,
	PROFILE_LOCATION = 4,
	PROFILE_FUNCTION = 5,
	PROFILE_STRING = 6,
	PROFILE_TIME_NANOS = 9,
	PROFILE_DURATION_NANOS = 10,
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
};

enum wire { VARINT = 0, LENGTH = 2 };

/* A location: a frame at a line, around the one that was inlined there. */
struct place {
	uint32_t frame, line;
	uint32_t inner; /* a place, or PM_NONE */
};

struct writing {
	const struct pmfs_stacks
		*stacks; /* frames of the contexts, and costs if there is one type */
	const struct pmfs_stacks *before; /* of the run it is compared with, or NULL */
	struct pm_strtab places;          /* of struct place; a location's id is its number + 1 */
	struct pm_text profile;
	struct pm_text message, inner, scratch;
	struct pm_strtab strings;
	struct pm_arena arena;
	struct pm_map mappings; /* string → mapping */
	uint32_t *string_of;    /* text of the tree → string, or PM_NONE: not asked for */
	bool *used;             /* by frame of the tree */
	bool failed;            /* out of memory */
};

/* ---- the wire ---- */

static void add_varint(struct pm_text *out, uint64_t u)
{
	for (; u >= 0x80; u >>= 7)
		pm_text_char(out, (char)(u | 0x80));
	pm_text_char(out, (char)u);
}

static void add_number(struct pm_text *out, unsigned field, uint64_t u)
{
	add_varint(out, field << 3 | VARINT);
	add_varint(out, u);
}

static void add_bytes(struct pm_text *out, unsigned field, const struct pm_text *bytes)
{
	add_varint(out, field << 3 | LENGTH);
	add_varint(out, bytes->len);
	out->failed |= bytes->failed;
	pm_text_bytes(out, pm_text_view(bytes));
}

/* The index of a string as valid UTF-8 on one line. */
static uint32_t string_of(struct writing *w, struct pm_bytes text)
{
	pm_text_clear(&w->scratch);
	pm_text_tsv(&w->scratch, text);
	uint32_t string = pm_strtab_add(&w->strings, pm_text_view(&w->scratch));
	w->failed |= w->scratch.failed || string == PM_NONE;
	return string;
}

/* The same for a text of the tree: a long one that many frames have is read once. */
static uint32_t string_of_text(struct writing *w, uint32_t text)
{
	if (w->string_of[text] == PM_NONE)
		w->string_of[text] = string_of(w, w->stacks->tree->texts[text]);
	return w->string_of[text];
}

/* ---- samples ---- */

static uint32_t place_of(struct writing *w, struct place place)
{
	uint32_t number = pm_strtab_add(
		&w->places, (struct pm_bytes){(const uint8_t *)&place, sizeof(place)});
	w->failed |= number == PM_NONE;
	w->used[place.frame] = true;
	return number;
}

/* Ids of the locations of a context, the innermost first. */
static void add_locations(struct writing *w, uint32_t context)
{
	const struct pmfs_stacks *s = w->stacks;
	uint32_t line = 0, inner = PM_NONE;
	for (uint32_t i = context; i != PM_NONE && !w->failed;
		i = i == s->first ? PM_NONE : s->tree->parent[i]) {
		const struct pm_frame *frame = pm_tree_frame(s->tree, i);
		if (frame->kind == PM_KIND_LINE && line == 0)
			line = frame->line;
		if (frame->kind == PM_KIND_LINE || frame->kind == PM_KIND_LOOP)
			if (!pmfs_stacks_is_frame(s, i))
				continue;
		if (!pmfs_stacks_is_frame(s, i)) { /* below the last level, or a part of it */
			line = frame->kind == PM_KIND_INSTRUCTION ? line : 0;
			continue;
		}
		inner = place_of(w, (struct place){s->tree->frame[i], line, inner});
		line = 0;
		if (frame->kind == PM_KIND_INLINED && i != s->first)
			continue;
		add_varint(&w->inner, (uint64_t)inner + 1);
		inner = PM_NONE;
	}
	if (inner != PM_NONE)
		add_varint(&w->inner, (uint64_t)inner + 1);
}

/* Costs may be negative, in two's complement. */
static void write_sample(struct writing *w, uint32_t context, const int64_t *costs, size_t n)
{
	pm_text_clear(&w->message);
	pm_text_clear(&w->inner);
	add_locations(w, context);
	add_bytes(&w->message, SAMPLE_LOCATIONS, &w->inner);
	pm_text_clear(&w->inner);
	for (size_t i = 0; i < n; i++)
		add_varint(&w->inner, (uint64_t)costs[i]);
	add_bytes(&w->message, SAMPLE_VALUES, &w->inner);
	add_bytes(&w->profile, PROFILE_SAMPLE, &w->message);
}

/* A level is one byte at least. */
static int check_length(const struct writing *w, struct pm_error *err)
{
	uint64_t levels, before = 0;
	int r = pmfs_stacks_count_levels(w->stacks, &levels, err);
	if (r == 0 && w->before)
		r = pmfs_stacks_count_levels(w->before, &before, err);
	return r < 0 ? r : pmfs_export_check_length(pmfs_stacks_add(levels, before), err);
}

static int64_t in_units(const struct pmfs_column *column, double cost)
{
	double units = round(cost * column->export_scale);
	return units >= 0x1p63 ? INT64_MAX : units <= -0x1p63 ? INT64_MIN : (int64_t)units;
}

/*
 * What a context costs that no context below it does. Differences of two runs are of frames, and
 * so is what was merged into the last level.
 */
static double own_of(const struct writing *w, const struct pmfs_stacks *s, uint32_t context)
{
	if (w->before || s->is_cut)
		return s->self[context - s->first];
	if (s->column->role != PM_ROLE_INCLUSIVE)
		return s->column->decreases && pmfs_stacks_is_frame(s, context)
			? s->value[context - s->first]
			: s->self[context - s->first];
	double own = s->value[context - s->first];
	for (uint32_t c = context + 1; c < s->tree->end[context]; c = s->tree->end[c])
		own -= s->value[c - s->first];
	return own < 0 && !s->column->decreases ? 0 : own;
}

static void write_samples(struct writing *w)
{
	const struct pmfs_stacks *s = w->stacks;
	for (uint32_t i = s->first; i < s->end && !w->profile.failed; i++) {
		int64_t cost = in_units(s->column, own_of(w, s, i));
		if (w->before)
			cost -= in_units(s->column, own_of(w, w->before, i));
		if (cost != 0)
			write_sample(w, i, &cost, 1);
	}
}

/* ---- what samples refer to ---- */

/*
 * The mapping of a module, written if it is new. It declares that all names are known; otherwise
 * pprof would look for the program on this machine.
 */
static uint32_t mapping_of(struct writing *w, uint32_t module)
{
	uint32_t string = string_of_text(w, module);
	bool is_new = false;
	uint32_t *mapping = pm_map_put(&w->mappings, string, (uint32_t)w->mappings.n + 1, &is_new);
	w->failed |= !mapping;
	if (!is_new)
		return mapping ? *mapping : 0;
	pm_text_clear(&w->message);
	add_number(&w->message, MAPPING_ID, *mapping);
	add_number(&w->message, MAPPING_FILENAME, string);
	add_number(&w->message, MAPPING_HAS_FUNCTIONS, 1);
	add_number(&w->message, MAPPING_HAS_FILENAMES, 1);
	add_number(&w->message, MAPPING_HAS_LINE_NUMBERS, 1);
	add_bytes(&w->profile, PROFILE_MAPPING, &w->message);
	return *mapping;
}

static void write_location(struct writing *w, uint32_t number)
{
	const struct pm_tree *tree = w->stacks->tree;
	struct place place;
	memcpy(&place, w->places.items[number].p, sizeof(place));
	uint32_t outer = place.frame, mapping = mapping_of(w, tree->frames[outer].module);
	struct pm_text lines = {.p = NULL};
	for (uint32_t at = number; at != PM_NONE; at = place.inner) {
		/* The innermost comes first: each is written before those around it. */
		struct pm_text rest = lines;
		memcpy(&place, w->places.items[at].p, sizeof(place));
		pm_text_clear(&w->inner);
		add_number(&w->inner, LINE_FUNCTION, (uint64_t)place.frame + 1);
		if (place.line)
			add_number(&w->inner, LINE_LINE, place.line);
		lines = (struct pm_text){.p = NULL};
		add_bytes(&lines, LOCATION_LINE, &w->inner);
		pm_text_bytes(&lines, pm_text_view(&rest));
		lines.failed |= rest.failed;
		pm_text_done(&rest);
	}
	pm_text_clear(&w->message);
	add_number(&w->message, LOCATION_ID, (uint64_t)number + 1);
	add_number(&w->message, LOCATION_MAPPING, mapping);
	pm_text_bytes(&w->message, pm_text_view(&lines));
	w->failed |= lines.failed;
	pm_text_done(&lines);
	add_bytes(&w->profile, PROFILE_LOCATION, &w->message);
}

/* Without a system_name: pprof demangles names that equal it, and so cuts template arguments. */
static void write_function(struct writing *w, uint32_t id, const struct pm_frame *frame)
{
	const struct pm_tree *tree = w->stacks->tree;
	pm_text_clear(&w->inner);
	uint32_t name = frame->name ? string_of_text(w, frame->name)
				    : string_of(w, pmfs_stacks_name(tree, frame, &w->inner));
	uint32_t file = string_of_text(w, frame->file);
	pm_text_clear(&w->message);
	add_number(&w->message, FUNCTION_ID, id);
	add_number(&w->message, FUNCTION_NAME, name);
	add_number(&w->message, FUNCTION_FILENAME, file);
	if (frame->line)
		add_number(&w->message, FUNCTION_START_LINE, frame->line);
	add_bytes(&w->profile, PROFILE_FUNCTION, &w->message);
}

static void write_frames(struct writing *w)
{
	const struct pm_tree *tree = w->stacks->tree;
	for (uint32_t i = 0; i < w->places.n && !w->failed; i++)
		write_location(w, i);
	for (uint32_t i = 0; i < tree->n_frames; i++)
		if (w->used[i])
			write_function(w, i + 1, &tree->frames[i]);
}

static void write_strings(struct writing *w)
{
	for (uint32_t i = 0; i < w->strings.n; i++) {
		pm_text_clear(&w->message);
		pm_text_bytes(&w->message, w->strings.items[i]);
		add_bytes(&w->profile, PROFILE_STRING, &w->message);
	}
}

/* ---- the profile ---- */

static uint32_t add_type(struct writing *w, const struct pmfs_column *column, const char *unit)
{
	uint32_t type = string_of(w, pm_bytes_of(column->export));
	pm_text_clear(&w->message);
	add_number(&w->message, VALUE_TYPE_TYPE, type);
	add_number(&w->message, VALUE_TYPE_UNIT, string_of(w, pm_bytes_of(unit)));
	add_bytes(&w->profile, PROFILE_SAMPLE_TYPE, &w->message);
	return type;
}

/* What comes behind the samples. */
static void write_rest(struct writing *w, const struct pmfs_pprof_about *about, uint32_t type)
{
	write_frames(w);
	add_number(&w->profile, PROFILE_TIME_NANOS, about->time_ns);
	if (about->duration_ns)
		add_number(&w->profile, PROFILE_DURATION_NANOS, about->duration_ns);
	add_number(&w->profile, PROFILE_COMMENT, string_of(w, about->comment));
	add_number(&w->profile, PROFILE_DEFAULT_SAMPLE_TYPE, type);
	write_strings(w);
}

static int start(struct writing *w, struct pm_error *err)
{
	w->strings.arena = w->places.arena = &w->arena;
	w->used = calloc((size_t)w->stacks->tree->n_frames + 1, sizeof(*w->used));
	w->string_of = malloc(((size_t)w->stacks->tree->n_texts + 1) * sizeof(*w->string_of));
	if (!w->used || !w->string_of)
		return pmfs_no_memory(err);
	memset(w->string_of, 0xff, w->stacks->tree->n_texts * sizeof(*w->string_of)); /* PM_NONE */
	string_of(w, pm_bytes_of("")); /* has index 0 */
	return check_length(w, err);
}

/* Ends a file that was written, or failed with `r`. */
static int finish(struct writing *w, int r, struct pm_text *out, struct pm_error *err)
{
	if (r == 0 && (w->failed || w->message.failed || w->inner.failed || w->profile.failed))
		r = pmfs_no_memory(err);
	if (r == 0)
		pm_gzip(out, pm_text_view(&w->profile));
	pm_text_done(&w->profile);
	pm_text_done(&w->message);
	pm_text_done(&w->inner);
	pm_text_done(&w->scratch);
	pm_strtab_done(&w->strings);
	pm_strtab_done(&w->places);
	pm_arena_done(&w->arena);
	pm_map_done(&w->mappings);
	free(w->string_of);
	free(w->used);
	return r < 0 ? r : pm_text_status(out);
}

int pmfs_pprof_write(const struct pmfs_stacks *before, const struct pmfs_stacks *stacks,
	const struct pmfs_pprof_about *about, struct pm_text *out, struct pm_error *err)
{
	struct writing w = {.stacks = stacks, .before = before};
	int r = start(&w, err);
	if (r == 0) {
		uint32_t type = add_type(&w, stacks->column, about->unit);
		write_samples(&w);
		write_rest(&w, about, type);
	}
	return finish(&w, r, out, err);
}

/* ---- all quantities ---- */

/*
 * Columns of profile.pb.gz: one a quantity that contexts have, its inclusive costs where it has
 * them. Those of graphs have a part of the run at each edge, so own costs are theirs.
 */
struct types {
	uint32_t n;
	uint32_t *columns;
	pm_number *cells, *below; /* of one context; by depth, the sums of what is below */
	pm_number *merged;        /* by depth, own costs below the last level that is shown */
	int64_t *costs;
};

static int find_types(struct pmfs_model *m, const struct pmfs_columns *c,
	const struct pm_tree *tree, bool overlap, struct types *t, struct pm_error *err)
{
	uint32_t depth = 0;
	for (uint32_t i = 0; i < tree->n_contexts; i++)
		depth = tree->depth[i] > depth ? tree->depth[i] : depth;
	t->columns = calloc((size_t)c->n + 1, sizeof(*t->columns));
	for (uint32_t i = 0; t->columns && i < c->n_shown; i++) {
		const struct pmfs_column *column = &c->columns[i];
		if (column->pair != PM_NONE && (column->role == PM_ROLE_INCLUSIVE) == overlap)
			continue;
		/* Increases and decreases may add up to 0. */
		int has = column->decreases ? 1 : pmfs_has_cost(m, i, err);
		if (has < 0)
			return has;
		t->columns[t->n] = i;
		t->n += has > 0;
	}
	size_t cells = ((size_t)depth + 2) * ((size_t)t->n + 1);
	if (cells > PM_LIMIT_CELLS)
		return pm_error_set(err, -EFBIG, NULL, PM_NO_OFFSET,
			"%u quantities of %u levels are more than %zu numbers", t->n, depth + 1,
			PM_LIMIT_CELLS);
	t->cells = pmfs_cells_new(NULL, c->n);
	t->below = calloc(cells, sizeof(*t->below));
	t->merged = calloc(cells, sizeof(*t->merged));
	t->costs = calloc((size_t)t->n + 1, sizeof(*t->costs));
	return t->columns && t->cells && t->below && t->merged && t->costs ? 0
									   : pmfs_no_memory(err);
}

/* Of a frame, each in the other: what is deeper is below the last level. */
enum { PARTS = 64 };

/* Backwards, so that what is below a context is known before it: own cost is the rest. */
static int write_all(struct writing *w, struct pmfs_model *m, const struct pmfs_columns *c,
	struct types *t, struct pm_error *err)
{
	const struct pmfs_stacks *s = w->stacks;
	const struct pm_tree *tree = s->tree;
	for (uint32_t i = tree->n_contexts; i-- > 0 && !w->profile.failed;) {
		pm_number *here = t->below + (size_t)tree->depth[i] * t->n, *below = here + t->n;
		uint32_t shown = tree->depth[s->shown[i]];
		bool merges = s->is_cut && tree->depth[i] - shown > PARTS;
		pm_number *merged = t->merged + (size_t)(merges ? shown : tree->depth[i]) * t->n;
		bool costs = false;
		int r = pmfs_run_cells(m, i, false, t->cells, err);
		if (r < 0)
			return r;
		for (uint32_t k = 0; k < t->n; k++) {
			const struct pmfs_column *column = &c->columns[t->columns[k]];
			bool sums = column->role == PM_ROLE_INCLUSIVE;
			double value = t->cells[t->columns[k]];
			if (!isfinite(value))
				value = sums ? below[k] : 0;
			double own = merged[k] + (sums ? value - below[k] : value);
			merged[k] = merges ? own : 0;
			if (merges)
				own = 0;
			bool whole = fabs(own) * column->export_scale >= 0.5;
			t->costs[k] = whole ? in_units(column, own) : 0;
			costs |= t->costs[k] != 0;
			below[k] = 0;
			here[k] += value;
		}
		if (costs)
			write_sample(w, i, t->costs, t->n);
	}
	return pm_work_cancelled() ? pmfs_no_memory(err) : 0;
}

static void take_times(struct pmfs_model *m, struct pmfs_pprof_about *about)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	uint64_t origin, duration;
	about->time_ns = p->measured_ns ? p->measured_ns : p->mtime_ns;
	if (pm_profile_span(p, &origin, &duration, NULL) == 0 && duration != PM_NO_TIME)
		about->duration_ns = duration;
}

static int render_all(struct pmfs_model *m, const struct pmfs_stacks *stacks,
	const struct pmfs_pprof_about *about, struct pm_text *out, struct pm_error *err)
{
	const struct pmfs_columns *columns;
	struct writing w = {.stacks = stacks};
	struct types t = {.n = 0};
	uint32_t first = 0;
	int r = start(&w, err);
	if (r == 0)
		r = pmfs_model_columns(m, &columns, err);
	if (r == 0)
		r = find_types(m, columns, stacks->tree, pmfs_model_profile(m)->inclusive_overlaps,
			&t, err);
	for (uint32_t k = 0; r == 0 && k < t.n; k++) {
		const struct pmfs_column *column = &columns->columns[t.columns[k]];
		uint32_t type = add_type(&w, column, pmfs_export_unit(column, "count"));
		first = k == 0 ? type : first;
	}
	if (r == 0)
		r = write_all(&w, m, columns, &t, err);
	if (r == 0)
		write_rest(&w, about, first);
	free(t.columns);
	free(t.cells);
	free(t.below);
	free(t.merged);
	free(t.costs);
	return finish(&w, r, out, err);
}

static int render(const struct pm_doc *doc, bool all, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(doc->text.self);
	uint32_t thread = all ? PM_NONE : pmfs_export_thread(doc), levels;
	struct pmfs_stacks stacks;
	struct pm_text comment = {.p = NULL};
	int r = pmfs_stacks_make(
		m, all ? 0 : pmfs_export_column(doc), thread, PM_NONE, &stacks, err);
	if (r < 0)
		return r;
	r = pmfs_stacks_cut(&stacks, &levels, err);
	if (r == 0)
		r = pmfs_export_title(m, thread, &comment, err);
	if (r == 0) {
		pmfs_export_levels(levels, &comment);
		struct pmfs_pprof_about about = {.comment = pm_text_view(&comment),
			.unit = pmfs_export_unit(stacks.column, "count")};
		take_times(m, &about);
		r = all ? render_all(m, &stacks, &about, out, err)
			: pmfs_pprof_write(NULL, &stacks, &about, out, err);
	}
	pmfs_stacks_done(&stacks);
	pm_text_end(&comment, out);
	return r < 0 ? r : pm_text_status(out);
}

int pmfs_pprof_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return render(doc, false, out, err);
}

int pmfs_pprof_all_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return render(doc, true, out, err);
}
