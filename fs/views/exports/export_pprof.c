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
#include <string.h>

#include "formats/common/inflate.h"
#include "formats/common/map.h"
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
	const struct pmfs_writing *to;
	const struct pmfs_stacks
		*stacks; /* frames of the contexts, and costs if there is one type */
	const struct pmfs_stacks *before; /* of the run it is compared with, or NULL */
	struct pm_strtab places;          /* of struct place; a location's id is its number + 1 */
	struct pm_text profile;
	struct pm_text message, inner, scratch;
	struct pm_strtab strings;
	struct pm_map mappings; /* string → mapping */
	uint32_t *string_of;    /* text of the tree → string, or PM_NONE: not asked for */
	bool *used;             /* by frame of the tree */
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
	return pm_strtab_add(&w->strings, pm_text_view(&w->scratch));
}

/* The same for a text of the tree: a long one that many frames have is read once. */
static uint32_t string_of_text(struct writing *w, uint32_t text)
{
	if (w->string_of[text] == PM_NONE)
		w->string_of[text] = string_of(w, w->stacks->tree->texts[text]);
	return w->string_of[text];
}

/* ---- samples ---- */

/* Ids of the locations of a context, the innermost first. */
static void add_locations(struct writing *w, uint32_t context)
{
	const struct pmfs_stacks *s = w->stacks;
	uint32_t line = 0, inner = PM_NONE;
	for (uint32_t i = context; i != PM_NONE; i = i == s->first ? PM_NONE : s->tree->parent[i]) {
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
		struct place place = {s->tree->frame[i], line, inner};
		inner = pm_strtab_add(
			&w->places, (struct pm_bytes){(const uint8_t *)&place, sizeof(place)});
		w->used[place.frame] = true;
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

/* ---- what samples refer to ---- */

/*
 * The mapping of a module, written if it is new. It declares that all names are known; otherwise
 * pprof would look for the program on this machine.
 */
static uint32_t mapping_of(struct writing *w, uint32_t module)
{
	uint32_t string = string_of_text(w, module);
	bool is_new;
	uint32_t mapping = *pm_map_put(&w->mappings, string, (uint32_t)w->mappings.n + 1, &is_new);
	if (!is_new)
		return mapping;
	pm_text_clear(&w->message);
	add_number(&w->message, MAPPING_ID, mapping);
	add_number(&w->message, MAPPING_FILENAME, string);
	add_number(&w->message, MAPPING_HAS_FUNCTIONS, 1);
	add_number(&w->message, MAPPING_HAS_FILENAMES, 1);
	add_number(&w->message, MAPPING_HAS_LINE_NUMBERS, 1);
	add_bytes(&w->profile, PROFILE_MAPPING, &w->message);
	return mapping;
}

static void write_location(struct writing *w, uint32_t number)
{
	const struct pm_tree *tree = w->stacks->tree;
	struct place place;
	memcpy(&place, w->places.items[number].p, sizeof(place));
	uint32_t outer = place.frame, mapping = mapping_of(w, tree->frames[outer].module);
	struct pm_text lines = {.arena = w->to->a};
	for (uint32_t at = number; at != PM_NONE; at = place.inner) {
		/* The innermost comes first: each is written before those around it. */
		struct pm_text rest = lines;
		memcpy(&place, w->places.items[at].p, sizeof(place));
		pm_text_clear(&w->inner);
		add_number(&w->inner, LINE_FUNCTION, (uint64_t)place.frame + 1);
		if (place.line)
			add_number(&w->inner, LINE_LINE, place.line);
		lines = (struct pm_text){.arena = w->to->a};
		add_bytes(&lines, LOCATION_LINE, &w->inner);
		pm_text_bytes(&lines, pm_text_view(&rest));
		pm_text_done(&rest);
	}
	pm_text_clear(&w->message);
	add_number(&w->message, LOCATION_ID, (uint64_t)number + 1);
	add_number(&w->message, LOCATION_MAPPING, mapping);
	pm_text_bytes(&w->message, pm_text_view(&lines));
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

/* A file with no samples yet. */
static struct writing begin(const struct pmfs_writing *to, const struct pmfs_stacks *stacks,
	const struct pmfs_stacks *before)
{
	const struct pm_tree *tree = stacks->tree;
	struct writing w = {.to = to,
		.stacks = stacks,
		.before = before,
		.places = pm_strtab_in(to->a),
		.strings = pm_strtab_in(to->a),
		.profile.arena = to->a,
		.message.arena = to->a,
		.inner.arena = to->a,
		.scratch.arena = to->a,
		.mappings.arena = to->a,
		.used = pm_arena_array(to->a, tree->n_frames, sizeof(*w.used)),
		.string_of = pm_arena_array(to->a, tree->n_texts, sizeof(*w.string_of))};
	memset(w.string_of, 0xff, tree->n_texts * sizeof(*w.string_of)); /* PM_NONE */
	string_of(&w, pm_bytes_of(""));                                  /* has index 0 */
	/* A level is one byte at least. */
	uint64_t levels = pmfs_stacks_count_levels(to->a, stacks);
	if (before)
		levels = pmfs_stacks_add(levels, pmfs_stacks_count_levels(to->a, before));
	pmfs_export_check_length(to, levels);
	return w;
}

/* What comes behind the samples; `type` is shown first. */
static void end(struct writing *w, const struct pmfs_pprof_about *about, uint32_t type)
{
	const struct pm_tree *tree = w->stacks->tree;
	for (uint32_t i = 0; i < w->places.n && !w->profile.failed; i++)
		write_location(w, i);
	for (uint32_t i = 0; i < tree->n_frames; i++)
		if (w->used[i])
			write_function(w, i + 1, &tree->frames[i]);
	add_number(&w->profile, PROFILE_TIME_NANOS, about->time_ns);
	if (about->duration_ns)
		add_number(&w->profile, PROFILE_DURATION_NANOS, about->duration_ns);
	add_number(&w->profile, PROFILE_COMMENT, string_of(w, about->comment));
	add_number(&w->profile, PROFILE_DEFAULT_SAMPLE_TYPE, type);
	for (uint32_t i = 0; i < w->strings.n; i++) {
		pm_text_clear(&w->message);
		pm_text_bytes(&w->message, w->strings.items[i]);
		add_bytes(&w->profile, PROFILE_STRING, &w->message);
	}
	pm_build_check(w->to->a, pm_text_status(&w->profile));
	pm_gzip(w->to->out, pm_text_view(&w->profile));
}

void pmfs_pprof_write(const struct pmfs_writing *to, const struct pmfs_stacks *before,
	const struct pmfs_stacks *stacks, const struct pmfs_pprof_about *about)
{
	struct writing w = begin(to, stacks, before);
	uint32_t type = add_type(&w, stacks->column, about->unit);
	for (uint32_t i = stacks->first; i < stacks->end && !w.profile.failed; i++) {
		int64_t cost = in_units(stacks->column, own_of(&w, stacks, i));
		if (before)
			cost -= in_units(stacks->column, own_of(&w, before, i));
		if (cost != 0)
			write_sample(&w, i, &cost, 1);
	}
	end(&w, about, type);
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

static struct types find_types(
	const struct pmfs_writing *to, const struct pmfs_columns *c, const struct pm_tree *tree)
{
	struct pmfs_model *m = to->model;
	bool overlap = pmfs_model_profile(m)->inclusive_overlaps;
	struct types t = {.columns = pm_arena_array(to->a, c->n, sizeof(*t.columns))};
	uint32_t depth = 0;
	for (uint32_t i = 0; i < tree->n_contexts; i++)
		depth = tree->depth[i] > depth ? tree->depth[i] : depth;
	for (uint32_t i = 0; i < c->n_shown; i++) {
		const struct pmfs_column *column = &c->columns[i];
		if (column->pair != PM_NONE && (column->role == PM_ROLE_INCLUSIVE) == overlap)
			continue;
		/* Increases and decreases may add up to 0. */
		int has = column->decreases ? 1 : pmfs_has_cost(m, i, to->err);
		pm_build_check(to->a, has);
		t.columns[t.n] = i;
		t.n += has > 0;
	}
	size_t cells = ((size_t)depth + 2) * ((size_t)t.n + 1);
	if (cells > PM_LIMIT_CELLS)
		pm_build_fail(to->a,
			pm_error_set(to->err, -EFBIG, NULL, PM_NO_OFFSET,
				"%u quantities of %u levels are more than %zu numbers", t.n,
				depth + 1, PM_LIMIT_CELLS));
	t.cells = pmfs_cells_new(to->a, c->n);
	t.below = pm_arena_array(to->a, cells, sizeof(*t.below));
	t.merged = pm_arena_array(to->a, cells, sizeof(*t.merged));
	t.costs = pm_arena_array(to->a, t.n, sizeof(*t.costs));
	return t;
}

/* Of a frame, each in the other: what is deeper is below the last level. */
enum { PARTS = 64 };

/* Backwards, so that what is below a context is known before it: own cost is the rest. */
static void write_all(struct writing *w, const struct pmfs_columns *c, struct types *t)
{
	const struct pmfs_stacks *s = w->stacks;
	const struct pm_tree *tree = s->tree;
	for (uint32_t i = tree->n_contexts; i-- > 0 && !w->profile.failed;) {
		pm_number *here = t->below + (size_t)tree->depth[i] * t->n, *below = here + t->n;
		uint32_t shown = tree->depth[s->shown[i]];
		bool merges = s->is_cut && tree->depth[i] - shown > PARTS;
		pm_number *merged = t->merged + (size_t)(merges ? shown : tree->depth[i]) * t->n;
		bool costs = false;
		pm_build_check(
			w->to->a, pmfs_run_cells(w->to->model, i, false, t->cells, w->to->err));
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
	pm_build_proceed(w->to->a);
}

static void write_quantities(const struct pmfs_writing *to, const struct pmfs_stacks *stacks,
	const struct pmfs_pprof_about *about)
{
	const struct pmfs_columns *columns;
	struct writing w = begin(to, stacks, NULL);
	uint32_t first = 0;
	pm_build_check(to->a, pmfs_model_columns(to->model, &columns, to->err));
	struct types t = find_types(to, columns, stacks->tree);
	for (uint32_t k = 0; k < t.n; k++) {
		const struct pmfs_column *column = &columns->columns[t.columns[k]];
		uint32_t type = add_type(&w, column, pmfs_export_unit(column, "count"));
		first = k == 0 ? type : first;
	}
	write_all(&w, columns, &t);
	end(&w, about, first);
}

static void write_file(const struct pmfs_writing *to, bool all)
{
	struct pmfs_model *m = to->model;
	const struct pm_profile *p = pmfs_model_profile(m);
	uint32_t thread = all ? PM_NONE : pmfs_export_thread(to->doc);
	uint64_t origin, duration;
	struct pm_text comment = {.arena = to->a};
	struct pmfs_stacks *stacks = pmfs_stacks_make(
		to->a, m, all ? 0 : pmfs_export_column(to->doc), thread, PM_NONE, to->err);
	uint32_t levels = pmfs_stacks_cut(to->a, stacks);
	pmfs_export_title(to, thread, &comment);
	pmfs_export_levels(levels, &comment);
	struct pmfs_pprof_about about = {.comment = pm_text_view(&comment),
		.unit = pmfs_export_unit(stacks->column, "count"),
		.time_ns = p->measured_ns ? p->measured_ns : p->mtime_ns};
	if (pm_profile_span(p, &origin, &duration, NULL) == 0 && duration != PM_NO_TIME)
		about.duration_ns = duration;
	if (all)
		write_quantities(to, stacks, &about);
	else
		pmfs_pprof_write(to, NULL, stacks, &about);
}

static void write_one(const struct pmfs_writing *to)
{
	write_file(to, false);
}

static void write_each(const struct pmfs_writing *to)
{
	write_file(to, true);
}

int pmfs_pprof_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, write_one, out, err);
}

int pmfs_pprof_all_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	return pmfs_write(doc, write_each, out, err);
}
