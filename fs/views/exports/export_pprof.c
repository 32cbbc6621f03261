/*
 * M.pb.gz: profile.proto of pprof, gzipped. A sample is a frame with an exclusive cost, a location
 * is a frame of the tree, a function a name with its place. Fields are written in ascending order,
 * except for the string table, which comes last, when all strings are known.
 */
#include <stdlib.h>

#include "formats/common/inflate.h"
#include "formats/common/map.h"
#include "fs/views/exports/export.h"
#include "fs/views/exports/stackfiles.h"
#include "fs/views/model/catalog.h"
#include "fs/views/sums/stacks.h"

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
	PROFILE_COMMENT = 13,
	PROFILE_DEFAULT_SAMPLE_TYPE = 14,
};

enum wire { VARINT = 0, LENGTH = 2 };

struct writing {
	const struct pmfs_stacks *stacks;
	const struct pmfs_stacks *before; /* of the run it is compared with, or NULL */
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

/* The index of a string in displayable form: valid UTF-8 on one line. */
static uint32_t string_of(struct writing *w, struct pm_bytes text)
{
	pm_text_clear(&w->scratch);
	pm_text_line(&w->scratch, text);
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

/* Locations are numbered by frame, from 1, the leaf first. */
static void write_sample(struct writing *w, uint32_t context, uint64_t cost)
{
	const struct pmfs_stacks *s = w->stacks;
	pm_text_clear(&w->message);
	pm_text_clear(&w->inner);
	for (uint32_t i = context; i != PM_NONE; i = pmfs_stacks_caller(s, i)) {
		uint32_t frame = s->tree->frame[i];
		w->used[frame] = true;
		add_varint(&w->inner, (uint64_t)frame + 1);
	}
	add_bytes(&w->message, SAMPLE_LOCATIONS, &w->inner);
	pm_text_clear(&w->inner);
	add_varint(&w->inner, cost);
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

static void write_samples(struct writing *w)
{
	const struct pmfs_stacks *s = w->stacks;
	for (uint32_t i = s->first; i < s->end && !w->profile.failed; i++) {
		uint64_t cost = pmfs_stacks_own(s, i);
		if (w->before) /* a difference may be negative, in two's complement */
			cost -= pmfs_stacks_own(w->before, i);
		if (cost != 0)
			write_sample(w, i, cost);
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

static void write_location(struct writing *w, uint32_t id, const struct pm_frame *frame)
{
	uint32_t mapping = mapping_of(w, frame->module);
	pm_text_clear(&w->inner);
	add_number(&w->inner, LINE_FUNCTION, id);
	add_number(&w->inner, LINE_LINE, frame->line);
	pm_text_clear(&w->message);
	add_number(&w->message, LOCATION_ID, id);
	add_number(&w->message, LOCATION_MAPPING, mapping);
	add_bytes(&w->message, LOCATION_LINE, &w->inner);
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
	add_number(&w->message, FUNCTION_START_LINE, frame->line);
	add_bytes(&w->profile, PROFILE_FUNCTION, &w->message);
}

static void write_frames(struct writing *w)
{
	const struct pm_tree *tree = w->stacks->tree;
	for (uint32_t i = 0; i < tree->n_frames; i++) {
		if (!w->used[i])
			continue;
		write_location(w, i + 1, &tree->frames[i]);
		write_function(w, i + 1, &tree->frames[i]);
	}
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

static void write_profile(struct writing *w, const struct pmfs_pprof_about *about)
{
	const struct pmfs_column *column = w->stacks->column;
	string_of(w, pm_bytes_of("")); /* has index 0 */
	uint32_t type = string_of(w, pm_bytes_of(column->export));
	uint32_t unit = string_of(w, pm_bytes_of(about->unit));
	add_number(&w->message, VALUE_TYPE_TYPE, type);
	add_number(&w->message, VALUE_TYPE_UNIT, unit);
	add_bytes(&w->profile, PROFILE_SAMPLE_TYPE, &w->message);
	write_samples(w);
	write_frames(w);
	add_number(&w->profile, PROFILE_TIME_NANOS, about->time_ns);
	add_number(&w->profile, PROFILE_COMMENT, string_of(w, about->comment));
	add_number(&w->profile, PROFILE_DEFAULT_SAMPLE_TYPE, type);
	write_strings(w);
}

static int write_file(struct writing *w, const struct pmfs_pprof_about *about, struct pm_text *out,
	struct pm_error *err)
{
	w->used = calloc((size_t)w->stacks->tree->n_frames + 1, sizeof(*w->used));
	w->string_of = malloc(((size_t)w->stacks->tree->n_texts + 1) * sizeof(*w->string_of));
	if (!w->used || !w->string_of)
		return pmfs_no_memory(err);
	memset(w->string_of, 0xff, w->stacks->tree->n_texts * sizeof(*w->string_of)); /* PM_NONE */
	int r = check_length(w, err);
	if (r < 0)
		return r;
	write_profile(w, about);
	if (w->failed || w->message.failed || w->inner.failed || w->profile.failed)
		return pmfs_no_memory(err);
	pm_gzip(out, pm_text_view(&w->profile));
	return 0;
}

int pmfs_pprof_write(const struct pmfs_stacks *before, const struct pmfs_stacks *stacks,
	const struct pmfs_pprof_about *about, struct pm_text *out, struct pm_error *err)
{
	struct writing w = {.stacks = stacks, .before = before};
	w.strings.arena = &w.arena;
	int r = write_file(&w, about, out, err);
	pm_text_done(&w.profile);
	pm_text_done(&w.message);
	pm_text_done(&w.inner);
	pm_text_done(&w.scratch);
	pm_strtab_done(&w.strings);
	pm_arena_done(&w.arena);
	pm_map_done(&w.mappings);
	free(w.string_of);
	free(w.used);
	return r < 0 ? r : pm_text_status(out);
}

int pmfs_pprof_render(const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(doc->text.self);
	uint32_t thread = pmfs_export_thread(doc), levels;
	struct pmfs_stacks stacks;
	struct pm_text comment = {.p = NULL};
	int r = pmfs_stacks_make(m, pmfs_export_column(doc), thread, PM_NONE, &stacks, err);
	if (r < 0)
		return r;
	r = pmfs_stacks_cut(&stacks, &levels, err);
	if (r == 0)
		r = pmfs_export_title(m, thread, &comment, err);
	if (r == 0) {
		pmfs_export_levels(levels, &comment);
		struct pmfs_pprof_about about = {
			.comment = pm_text_view(&comment),
			.unit = pmfs_export_unit(stacks.column, "count"),
			.time_ns = pmfs_model_profile(m)->mtime_ns,
		};
		r = pmfs_pprof_write(NULL, &stacks, &about, out, err);
	}
	pmfs_stacks_done(&stacks);
	pm_text_end(&comment, out);
	return r < 0 ? r : pm_text_status(out);
}
