/*
 * Makes frames of context records. The same functions, files and modules occur again and again, so
 * the strings of each row are decoded once.
 */
#include "formats/hpctoolkit/frames.h"

#include <stdlib.h>
#include <string.h>

#include "formats/common/affix.h"
#include "formats/symbols/symbols.h"

/* n indexes, all PM_NONE. */
static uint32_t *indexes_new(size_t n)
{
	uint32_t *indexes = malloc((n + 1) * sizeof(*indexes));
	if (indexes)
		memset(indexes, 0xff, (n + 1) * sizeof(*indexes));
	return indexes;
}

int hpctk_frames_init(struct hpctk_frames *f, struct hpctk_opened *db,
	struct pm_tree_builder *builder, struct pm_damage_list *damage)
{
	*f = (struct hpctk_frames){
		.db = db,
		.builder = builder,
		.damage = damage,
		.module_text = calloc(db->modules.n + (size_t)1, sizeof(*f->module_text)),
		.source_text = calloc(db->sources.n + (size_t)1, sizeof(*f->source_text)),
		.function = indexes_new(db->functions.n),
		.frame = indexes_new(db->functions.n),
		.inlined_frame = indexes_new(db->functions.n),
	};
	bool good = f->module_text && f->source_text && f->function && f->frame && f->inlined_frame;
	return good ? 0 : -ENOMEM;
}

void hpctk_frames_done(struct hpctk_frames *f)
{
	free(f->module_text);
	free(f->source_text);
	free(f->function);
	free(f->frame);
	free(f->inlined_frame);
	pm_map_done(&f->lengths.of);
	pm_text_done(&f->name);
}

static uint32_t module_text(struct hpctk_frames *f, uint32_t i)
{
	if (i == HPCTK_NONE)
		return 0;
	if (f->module_text[i] == 0)
		f->module_text[i] = pm_tree_text(
			f->builder, hpctk_module_get_again(f->db, &f->lengths, i).path, false);
	return f->module_text[i];
}

static uint32_t source_text(struct hpctk_frames *f, uint32_t i)
{
	if (i == HPCTK_NONE)
		return 0;
	if (f->source_text[i] == 0)
		f->source_text[i] = pm_tree_text(
			f->builder, hpctk_source_get_again(f->db, &f->lengths, i).path, false);
	return f->source_text[i];
}

/* hpcprof leaves the functions of GPU binaries as they are in their symbol tables. */
static uint32_t function_name(struct hpctk_frames *f, struct pm_bytes name)
{
	if (!pm_begins_with(name, "_Z") && !pm_begins_with(name, "_R"))
		return pm_tree_text(f->builder, name, false);
	sym_demangle(name, &f->name);
	return f->name.failed ? PM_NONE : pm_tree_text(f->builder, pm_text_view(&f->name), true);
}

/* The tree's index of a function record; only functions with a context get one. */
static uint32_t function_index(struct hpctk_frames *f, uint32_t i)
{
	if (f->function[i] != PM_NONE)
		return f->function[i];
	struct hpctk_function stored = hpctk_function_get_again(f->db, &f->lengths, i);
	struct pm_function function = {
		.name = function_name(f, stored.name),
		.file = source_text(f, stored.file),
		.module = module_text(f, stored.module),
		.line = stored.line,
		.id = i,
		.offset = stored.offset,
	};
	f->function[i] = pm_tree_function(f->builder, &function);
	return f->function[i];
}

/* The relation of a context to its parent: scopes propagate costs through lexical nesting only. */
enum { LEXICAL = 0, INLINED_CALL = 2 };

static enum pm_kind kind_of(const struct hpctk_context_record *record)
{
	switch (record->lexical_type) {
	case HPCTK_NONE: return PM_KIND_ENTRY;
	case 0: return record->relation == INLINED_CALL ? PM_KIND_INLINED : PM_KIND_FUNCTION;
	case 1: return PM_KIND_LOOP;
	case 2: return PM_KIND_LINE;
	case 3: return PM_KIND_INSTRUCTION;
	default: return PM_KIND_OTHER;
	}
}

/* Functions that stand for idle time; no function of a program can have such a name. */
static bool is_nothing(struct pm_bytes name)
{
	return pm_bytes_equal(name, pm_bytes_of("<no activity>"));
}

static bool is_idle(struct pm_bytes name)
{
	return is_nothing(name) || pm_bytes_equal(name, pm_bytes_of("<omp idle>"));
}

/* The frame of function i; if there is no record, only the kind of entry is known. */
static uint32_t function_frame(struct hpctk_frames *f, struct pm_frame frame, uint32_t i)
{
	if (i == HPCTK_NONE)
		return pm_tree_intern(f->builder, &frame);
	uint32_t *known = frame.kind == PM_KIND_INLINED ? &f->inlined_frame[i] : &f->frame[i];
	uint32_t unlikely = PM_NONE;
	if (frame.nested)
		known = &unlikely;
	if (*known != PM_NONE)
		return *known;
	struct hpctk_function stored = hpctk_function_get_again(f->db, &f->lengths, i);
	frame.function = function_index(f, i);
	frame.name = function_name(f, stored.name);
	frame.is_idle = is_idle(stored.name);
	frame.is_nothing = is_nothing(stored.name);
	frame.file = source_text(f, stored.file);
	frame.module = module_text(f, stored.module);
	frame.line = stored.line;
	frame.offset = stored.offset;
	frame.has_offset = stored.module != HPCTK_NONE;
	*known = pm_tree_intern(f->builder, &frame);
	return *known;
}

static void spoil(struct hpctk_frames *f, uint64_t at, const char *what)
{
	pm_damage_add(f->damage, "meta.db", at, PM_NO_OFFSET, "context tree: %s", what);
}

/* The row that a field of the record at `at` refers to; HPCTK_NONE if there is none. */
static uint32_t row_of(struct hpctk_frames *f, const struct hpctk_rows *rows, uint64_t pointer,
	uint64_t at, const char *what)
{
	uint32_t i = HPCTK_NONE;
	if (pointer != 0 && !hpctk_row_find(rows, pointer, &i))
		spoil(f, at, what);
	return i;
}

static uint32_t entry_name(struct hpctk_frames *f, uint64_t name_at, uint64_t at)
{
	struct pm_bytes name = {NULL, 0};
	if (name_at != 0 && !hpctk_string_find_again(f->db, &f->lengths, name_at, &name))
		spoil(f, at, "an entry point's name does not end in the file");
	return pm_tree_text(f->builder, name, false);
}

uint32_t hpctk_frame_of(
	struct hpctk_frames *f, const struct hpctk_context_record *record, uint64_t at)
{
	struct pm_frame frame = {.kind = (uint8_t)kind_of(record), .function = PM_NONE};
	frame.nested = frame.kind != PM_KIND_ENTRY && record->relation == LEXICAL;
	uint32_t function = row_of(f, &f->db->functions, record->function_at, at,
		"the context's function is not in the table");
	uint32_t file = row_of(f, &f->db->sources, record->file_at, at,
		"the context's source file is not in the table");
	uint32_t module = row_of(f, &f->db->modules, record->module_at, at,
		"the context's load module is not in the table");
	if (frame.kind == PM_KIND_FUNCTION || frame.kind == PM_KIND_INLINED)
		return function_frame(f, frame, function);
	if (frame.kind == PM_KIND_ENTRY)
		frame.name = entry_name(f, record->name_at, at);
	if (frame.kind == PM_KIND_OTHER)
		frame.code = (uint16_t)record->lexical_type;
	if (function != HPCTK_NONE)
		frame.function = function_index(f, function);
	frame.file = source_text(f, file);
	frame.module = module_text(f, module);
	frame.line = record->line;
	frame.offset = record->offset;
	frame.has_offset = record->has_point;
	return pm_tree_intern(f->builder, &frame);
}
