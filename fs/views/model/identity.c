/*
 * The identity of functions, and of contexts as their instances or parts.
 *
 * Loops and lines are parts of the enclosing function. An instruction is part of it if that
 * function is in the same module, unless it was called from there; then, and if only its address is
 * known, it is a function by itself. Functions without a name, and exclusive cost outside
 * functions, are `(unknown)`.
 */
#include "fs/views/model/identity.h"

#include <errno.h>
#include <math.h>

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/parts.h"

struct identity_part {
	struct pmfs_identity identity;
	struct pmfs_function *functions;
	uint32_t *same, *of;
	size_t room;
};

/* The key by which functions are identical. */
struct key {
	uint32_t name, module, file, line;
};

/* What a text of the tree looks like, cached because many functions may share a long one. */
enum looks { UNSEEN, PLAIN, COMPOSED };

struct building {
	struct pm_arena *a, *scratch; /* of the part; while it is built */
	struct identity_part *part;
	const struct pm_tree *tree;
	struct pm_strtab keys;     /* of struct key */
	uint32_t *function_of_key; /* by index in keys */
	size_t room_keys;
	struct pm_strtab
		composed;   /* names made here, and texts of the tree that could equal them */
	uint32_t *of_frame; /* frame → the function it makes by itself, or PM_NONE */
	uint8_t *looks;     /* by text of the tree: enum looks */
	uint32_t unknown;   /* function of contexts without one; PM_NONE: all have one */
	struct pm_text text;
};

static const char unknown_name[] = "(unknown)";

/* ---- functions ---- */

static bool could_be_ours(struct pm_bytes name)
{
	return memmem(name.p, name.len, "+0x", 3) != NULL ||
		pm_bytes_equal(name, pm_bytes_of(unknown_name));
}

/*
 * A number that is the same for equal names. Texts of the tree are equal iff their indexes are;
 * names that this file makes, and those of the tree that look alike, have numbers of their own.
 */
static uint32_t name_key(struct building *b, struct pm_bytes name, uint32_t text)
{
	if (text != 0 && b->looks[text] == UNSEEN)
		b->looks[text] = could_be_ours(name) ? COMPOSED : PLAIN;
	if (text != 0 && b->looks[text] == PLAIN)
		return text;
	b->composed.arena = text != 0 ? NULL : b->scratch;
	return ~pm_strtab_add_lasting(&b->composed, name) - 1;
}

static void put_function(struct building *b, const struct pmfs_function *function)
{
	struct identity_part *part = b->part;
	struct pmfs_identity *id = &part->identity;
	pm_build_check(b->a, id->n < PMFS_OF_NESTED - 1 ? 0 : -ENOMEM);
	pm_list_grow(b->a, &part->functions, id->n, &part->room, sizeof(*function));
	part->functions[id->n++] = *function;
}

/* The function with that key; PM_NONE, to be filled in, if it is new. */
static uint32_t *find_key(struct building *b, const struct key *key)
{
	uint32_t known = b->keys.n;
	struct pm_bytes bytes = {(const uint8_t *)key, sizeof(*key)};
	uint32_t at = pm_strtab_add(&b->keys, bytes);
	if (at == known) {
		pm_list_grow(b->scratch, &b->function_of_key, at, &b->room_keys,
			sizeof(*b->function_of_key));
		b->function_of_key[at] = PM_NONE;
	}
	return &b->function_of_key[at];
}

/* The tree's function i: of identical ones the first is used, which has the lowest number. */
static void add_function(struct building *b, uint32_t i)
{
	const struct pm_function *stored = &b->tree->functions[i];
	struct pm_bytes name = b->tree->texts[stored->name];
	struct pmfs_function function = {
		.name = name.len ? name : pm_bytes_of(unknown_name),
		.file = stored->file,
		.module = stored->module,
		.line = stored->line,
		.id = stored->id,
		.offset = stored->offset,
	};
	struct key key = {name_key(b, function.name, stored->name), function.module, function.file,
		function.line};
	uint32_t *known = find_key(b, &key);
	put_function(b, &function);
	if (*known == PM_NONE)
		*known = i;
	else if (function.id < b->part->functions[*known].id)
		b->part->functions[*known] = function;
	b->part->same[i] = *known;
}

/* Numbers continue after the database's own. */
static uint32_t next_id(const struct building *b)
{
	uint64_t id =
		(uint64_t)b->tree->n_function_ids + b->part->identity.n - b->tree->n_functions;
	return b->tree->n_function_ids && id < PM_NONE ? (uint32_t)id : PM_NONE;
}

/* The function of a frame for which the source has none. */
static uint32_t make_function(struct building *b, const struct pm_frame *frame)
{
	bool is_address = frame->kind == PM_KIND_INSTRUCTION;
	pm_text_clear(&b->text);
	struct pmfs_function function = {
		.name = pmfs_frame_name(b->tree, frame, &b->text),
		.file = is_address ? 0 : frame->file,
		.module = frame->module,
		.line = is_address ? 0 : frame->line,
		.id = next_id(b),
		.offset = frame->offset,
		.is_address = is_address,
	};
	if (function.name.len == 0)
		function.name = pm_bytes_of(unknown_name);
	struct key key = {name_key(b, function.name, frame->name), function.module, function.file,
		function.line};
	uint32_t *known = find_key(b, &key);
	if (*known == PM_NONE) {
		if (b->text.len > 0)
			function.name = pm_arena_copy(b->a, function.name);
		put_function(b, &function);
		*known = b->part->identity.n - 1;
	}
	return *known;
}

/* ---- contexts ---- */

static uint32_t function_in(uint32_t of)
{
	return of & ~PMFS_OF_FLAGS;
}

static uint32_t function_of_frame(struct building *b, uint32_t frame)
{
	const struct pm_frame *f = &b->tree->frames[frame];
	if (f->function != PM_NONE)
		return b->part->same[f->function];
	if (b->of_frame[frame] == PM_NONE)
		b->of_frame[frame] = make_function(b, f);
	return b->of_frame[frame];
}

/* Code of the function above it: nested in it, or right below it, where no call can be made from.
 */
static bool is_code_of(const struct building *b, const struct pm_frame *frame, uint32_t parent)
{
	uint32_t above = b->part->of[parent];
	const struct pmfs_function *function = &b->part->functions[function_in(above)];
	if (frame->function != PM_NONE)
		return frame->nested && b->part->same[frame->function] == function_in(above);
	return !function->is_address && function->module == frame->module &&
		(frame->nested || (above & PMFS_OF_CALL));
}

/* Whether the context is part of its parent's function. */
static bool is_part(const struct building *b, const struct pm_frame *frame, uint32_t parent)
{
	switch ((enum pm_kind)frame->kind) {
	case PM_KIND_LOOP:
	case PM_KIND_LINE: return parent != PM_NONE;
	case PM_KIND_INSTRUCTION: return parent != PM_NONE && is_code_of(b, frame, parent);
	case PM_KIND_ENTRY:
	case PM_KIND_FUNCTION:
	case PM_KIND_INLINED:
	case PM_KIND_PLACEHOLDER:
	case PM_KIND_OTHER: break;
	}
	return false;
}

/* Loops and lines at the top, and entries, are in no function. */
static bool is_in_none(const struct pm_frame *frame)
{
	return frame->kind == PM_KIND_ENTRY || frame->kind == PM_KIND_LOOP ||
		frame->kind == PM_KIND_LINE;
}

static void place_contexts(struct building *b)
{
	enum { BETWEEN_QUESTIONS = 1 << 14 };
	static const struct pm_frame nothing = {.function = PM_NONE};
	const struct pm_tree *tree = b->tree;
	uint32_t *of = b->part->of;
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		const struct pm_frame *frame = pm_tree_frame(tree, i);
		uint32_t parent = tree->parent[i];
		if (i % BETWEEN_QUESTIONS == 0)
			pm_build_proceed(b->a);
		if (is_part(b, frame, parent)) {
			of[i] = function_in(of[parent]);
		} else if (is_in_none(frame)) {
			if (b->unknown == PM_NONE)
				b->unknown = make_function(b, &nothing);
			of[i] = b->unknown;
		} else {
			of[i] = function_of_frame(b, tree->frame[i]) | PMFS_OF_CALL;
		}
		of[i] |= parent != PM_NONE && frame->nested ? PMFS_OF_NESTED : 0;
	}
}

/* ---- costs outside functions ---- */

static bool has_own_cost(const struct pmfs_columns *c, const pm_number *cells)
{
	bool has = false;
	for (uint32_t i = 0; i < c->n; i++)
		has |= c->columns[i].role == PM_ROLE_EXCLUSIVE && !isnan(cells[i]) && cells[i] != 0;
	return has;
}

/*
 * If an entry or its parts have exclusive cost, the entry is an instance of `(unknown)`. Goes
 * backwards, so that parts are known before their context; PMFS_OF_OUTER marks them meanwhile.
 */
static void find_unknown_calls(struct pmfs_model *m, struct building *b,
	const struct pmfs_columns *c, struct pm_error *err)
{
	uint32_t *of = b->part->of;
	pm_number *cells = pmfs_cells_new(b->scratch, c->n);
	for (uint32_t i = b->tree->n_contexts; i-- > 0;) {
		uint32_t parent = b->tree->parent[i];
		if (function_in(of[i]) != b->unknown || of[i] & PMFS_OF_CALL)
			continue;
		bool has_own = of[i] & PMFS_OF_OUTER;
		if (!has_own) {
			pm_build_check(b->a, pmfs_run_cells(m, i, true, cells, err));
			has_own = has_own_cost(c, cells);
		}
		of[i] &= ~PMFS_OF_OUTER;
		if (has_own && is_part(b, pm_tree_frame(b->tree, i), parent))
			of[parent] |= of[parent] & PMFS_OF_CALL ? 0 : PMFS_OF_OUTER;
		else if (has_own)
			of[i] |= PMFS_OF_CALL;
	}
}

static void find_outer(struct building *b)
{
	uint32_t *until =
		pm_arena_array(b->scratch, (size_t)b->part->identity.n + 1, sizeof(*until));
	uint32_t *of = b->part->of;
	for (uint32_t i = 0; i < b->tree->n_contexts; i++) {
		uint32_t function = function_in(of[i]);
		if (!(of[i] & PMFS_OF_CALL) || i < until[function])
			continue;
		until[function] = b->tree->end[i];
		of[i] |= PMFS_OF_OUTER;
	}
}

static void build_identity(struct pm_arena *a, void *m, void *p, struct pm_error *err)
{
	struct identity_part *part = p;
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct building b = {.a = a,
		.scratch = scratch,
		.part = part,
		.keys = pm_strtab_in(scratch),
		.composed = pm_strtab_in(scratch),
		.unknown = PM_NONE,
		.text.arena = scratch};
	const struct pmfs_columns *c;
	pm_build_check(a, pmfs_model_tree(m, &b.tree, err));
	pm_build_check(a, pmfs_model_columns(m, &c, err));
	size_t n_frames = b.tree->n_frames, n_functions = b.tree->n_functions;
	b.of_frame = pm_arena_array(scratch, n_frames + 1, sizeof(*b.of_frame));
	b.looks = pm_arena_array(scratch, (size_t)b.tree->n_texts + 1, sizeof(*b.looks));
	memset(b.of_frame, 0xff, n_frames * sizeof(*b.of_frame)); /* PM_NONE */
	part->same = pm_arena_array(a, n_functions + 1, sizeof(*part->same));
	part->of = pm_arena_array(a, (size_t)b.tree->n_contexts + 1, sizeof(*part->of));
	for (uint32_t i = 0; i < n_functions; i++)
		add_function(&b, i);
	place_contexts(&b);
	if (b.unknown != PM_NONE)
		find_unknown_calls(m, &b, c, err);
	find_outer(&b);
	pm_arena_done(scratch);
	part->identity.functions = part->functions;
	part->identity.same = part->same;
	part->identity.of = part->of;
	part->identity.tree = b.tree;
	part->identity.unknown = b.unknown;
}

int pmfs_identity(struct pmfs_model *m, const struct pmfs_identity **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct identity_part), .what = "the functions", .build = build_identity};
	return pmfs_model_part(m, PMFS_PART_IDENTITY, &type, ret, err);
}
