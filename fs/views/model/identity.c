/*
 * The identity of functions, and of contexts as their instances or parts.
 *
 * Loops and lines are parts of the enclosing function. An instruction is part of it if that
 * function is in the same module, unless it was called from there; then, and if only its address is
 * known, it is a function by itself. Functions without a name, and exclusive cost outside
 * functions, are `(unknown)`.
 */
#include "fs/views/model/identity.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/work.h"
#include "fs/views/model/flat.h"
#include "fs/views/model/parts.h"

struct identity_part {
	struct pmfs_identity identity;
	struct pmfs_function *functions;
	uint32_t *same, *of;
	size_t room;
	struct pm_arena names; /* of addresses */
};

/* The key by which functions are identical. */
struct key {
	uint32_t name, module, file, line;
};

/* What a text of the tree looks like, cached because many functions may share a long one. */
enum looks { UNSEEN, PLAIN, COMPOSED };

struct building {
	struct identity_part *part;
	const struct pm_tree *tree;
	struct pm_strtab keys;     /* of struct key */
	uint32_t *function_of_key; /* by index in keys */
	size_t room_keys;
	struct pm_strtab
		composed;      /* names made here, and texts of the tree that could equal them */
	struct pm_arena arena; /* of keys */
	uint32_t *of_frame;    /* frame → the function it makes by itself, or PM_NONE */
	uint8_t *looks;        /* by text of the tree: enum looks */
	uint32_t unknown;      /* function of contexts without one; PM_NONE: all have one */
	struct pm_text scratch;
};

static const char unknown_name[] = "(unknown)";

static void identity_done(void *p)
{
	struct identity_part *part = p;
	free(part->functions);
	free(part->same);
	free(part->of);
	pm_arena_done(&part->names);
}

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
	b->composed.arena = text != 0 ? NULL : &b->arena;
	uint32_t composed = pm_strtab_add_lasting(&b->composed, name);
	return composed == PM_NONE ? PM_NONE : ~composed - 1;
}

static int put_function(struct building *b, const struct pmfs_function *function)
{
	struct identity_part *part = b->part;
	struct pmfs_identity *id = &part->identity;
	if (id->n >= PMFS_OF_NESTED - 1 ||
		pm_list_room(&part->functions, id->n, &part->room, sizeof(*function)) < 0)
		return -ENOMEM;
	part->functions[id->n++] = *function;
	return 0;
}

/* The function with that key; PM_NONE, to be filled in, if it is new. NULL if out of memory. */
static uint32_t *find_key(struct building *b, const struct key *key)
{
	uint32_t known = b->keys.n;
	struct pm_bytes bytes = {(const uint8_t *)key, sizeof(*key)};
	uint32_t at = pm_strtab_add(&b->keys, bytes);
	if (at == PM_NONE)
		return NULL;
	if (at == known) {
		if (pm_list_room(&b->function_of_key, at, &b->room_keys,
			    sizeof(*b->function_of_key)) < 0)
			return NULL;
		b->function_of_key[at] = PM_NONE;
	}
	return &b->function_of_key[at];
}

/* The tree's function i: of identical ones the first is used, which has the lowest number. */
static int add_function(struct building *b, uint32_t i)
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
	uint32_t *known = key.name == PM_NONE ? NULL : find_key(b, &key);
	if (!known || put_function(b, &function) < 0)
		return -ENOMEM;
	if (*known == PM_NONE)
		*known = i;
	else if (function.id < b->part->functions[*known].id)
		b->part->functions[*known] = function;
	b->part->same[i] = *known;
	return 0;
}

static int add_functions(struct building *b)
{
	for (uint32_t i = 0; i < b->tree->n_functions; i++)
		if (add_function(b, i) < 0)
			return -ENOMEM;
	return 0;
}

/* Numbers continue after the database's own. */
static uint32_t next_id(const struct building *b)
{
	uint64_t id =
		(uint64_t)b->tree->n_function_ids + b->part->identity.n - b->tree->n_functions;
	return b->tree->n_function_ids && id < PM_NONE ? (uint32_t)id : PM_NONE;
}

/* The function of a frame for which the source has none. */
static int make_function(struct building *b, const struct pm_frame *frame, uint32_t *ret)
{
	bool is_address = frame->kind == PM_KIND_INSTRUCTION;
	pm_text_clear(&b->scratch);
	struct pmfs_function function = {
		.name = pmfs_frame_name(b->tree, frame, &b->scratch),
		.file = is_address ? 0 : frame->file,
		.module = frame->module,
		.line = is_address ? 0 : frame->line,
		.id = next_id(b),
		.offset = frame->offset,
		.is_address = is_address,
	};
	if (b->scratch.failed)
		return -ENOMEM;
	if (function.name.len == 0)
		function.name = pm_bytes_of(unknown_name);
	struct key key = {name_key(b, function.name, frame->name), function.module, function.file,
		function.line};
	uint32_t *known = key.name == PM_NONE ? NULL : find_key(b, &key);
	if (!known)
		return -ENOMEM;
	if (*known == PM_NONE) {
		if (b->scratch.len > 0)
			function.name = pm_arena_copy(&b->part->names, function.name);
		if (!function.name.p || put_function(b, &function) < 0)
			return -ENOMEM;
		*known = b->part->identity.n - 1;
	}
	*ret = *known;
	return 0;
}

/* ---- contexts ---- */

static uint32_t function_in(uint32_t of)
{
	return of & ~PMFS_OF_FLAGS;
}

static int function_of_frame(struct building *b, uint32_t frame, uint32_t *ret)
{
	const struct pm_frame *f = &b->tree->frames[frame];
	int r = 0;
	if (f->function != PM_NONE)
		*ret = b->part->same[f->function];
	else if (b->of_frame[frame] != PM_NONE)
		*ret = b->of_frame[frame];
	else if ((r = make_function(b, f, &b->of_frame[frame])) == 0)
		*ret = b->of_frame[frame];
	return r;
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

static int place_contexts(struct building *b)
{
	enum { BETWEEN_QUESTIONS = 1 << 14 };
	static const struct pm_frame nothing = {.function = PM_NONE};
	const struct pm_tree *tree = b->tree;
	uint32_t *of = b->part->of;
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		const struct pm_frame *frame = pm_tree_frame(tree, i);
		uint32_t parent = tree->parent[i];
		int r = i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled() ? -ENOMEM : 0;
		if (r < 0)
			return r;
		if (is_part(b, frame, parent)) {
			of[i] = function_in(of[parent]);
		} else if (is_in_none(frame)) {
			if (b->unknown == PM_NONE)
				r = make_function(b, &nothing, &b->unknown);
			of[i] = b->unknown;
		} else {
			r = function_of_frame(b, tree->frame[i], &of[i]);
			of[i] |= PMFS_OF_CALL;
		}
		if (r < 0)
			return r;
		of[i] |= parent != PM_NONE && frame->nested ? PMFS_OF_NESTED : 0;
	}
	return 0;
}

/* ---- costs outside functions ---- */

static int has_own_cost(
	struct pmfs_model *m, uint32_t context, pm_number *cells, bool *ret, struct pm_error *err)
{
	const struct pmfs_columns *c;
	int r = pmfs_model_columns(m, &c, err);
	*ret = false;
	if (r < 0 || (r = pmfs_run_cells(m, context, true, cells, err)) < 0)
		return r;
	for (uint32_t i = 0; i < c->n; i++)
		*ret |= c->columns[i].role == PM_ROLE_EXCLUSIVE && !isnan(cells[i]) &&
			cells[i] != 0;
	return 0;
}

/*
 * If an entry or its parts have exclusive cost, the entry is an instance of `(unknown)`. Goes
 * backwards, so that parts are known before their context; PMFS_OF_OUTER marks them meanwhile.
 */
static int find_unknown_calls(
	struct pmfs_model *m, struct building *b, pm_number *cells, struct pm_error *err)
{
	uint32_t *of = b->part->of;
	for (uint32_t i = b->tree->n_contexts; i-- > 0;) {
		uint32_t parent = b->tree->parent[i];
		if (function_in(of[i]) != b->unknown || of[i] & PMFS_OF_CALL)
			continue;
		bool has_own = of[i] & PMFS_OF_OUTER;
		int r = has_own ? 0 : has_own_cost(m, i, cells, &has_own, err);
		if (r < 0)
			return r;
		of[i] &= ~PMFS_OF_OUTER;
		if (has_own && is_part(b, pm_tree_frame(b->tree, i), parent))
			of[parent] |= of[parent] & PMFS_OF_CALL ? 0 : PMFS_OF_OUTER;
		else if (has_own)
			of[i] |= PMFS_OF_CALL;
	}
	return 0;
}

static int find_outer(struct building *b)
{
	uint32_t *until = calloc((size_t)b->part->identity.n + 1, sizeof(*until));
	uint32_t *of = b->part->of;
	if (!until)
		return -ENOMEM;
	for (uint32_t i = 0; i < b->tree->n_contexts; i++) {
		uint32_t function = function_in(of[i]);
		if (!(of[i] & PMFS_OF_CALL) || i < until[function])
			continue;
		until[function] = b->tree->end[i];
		of[i] |= PMFS_OF_OUTER;
	}
	free(until);
	return 0;
}

/* ---- the part ---- */

static int build_all(struct pmfs_model *m, struct building *b, struct pm_error *err)
{
	const struct pmfs_columns *c;
	size_t n_frames = b->tree->n_frames;
	int r = pmfs_model_columns(m, &c, err);
	if (r < 0)
		return r;
	b->of_frame = malloc((n_frames + 1) * sizeof(*b->of_frame));
	b->part->same = malloc(((size_t)b->tree->n_functions + 1) * sizeof(uint32_t));
	b->part->of = malloc(((size_t)b->tree->n_contexts + 1) * sizeof(uint32_t));
	b->looks = calloc((size_t)b->tree->n_texts + 1, sizeof(*b->looks));
	pm_number *cells = pmfs_cells_new(NULL, c->n);
	if (b->of_frame)
		memset(b->of_frame, 0xff, n_frames * sizeof(*b->of_frame)); /* PM_NONE */
	if (!b->of_frame || !b->part->same || !b->part->of || !b->looks || !cells ||
		add_functions(b) < 0 || place_contexts(b) < 0)
		r = pmfs_no_memory(err);
	if (r == 0 && b->unknown != PM_NONE)
		r = find_unknown_calls(m, b, cells, err);
	if (r == 0 && find_outer(b) < 0)
		r = pmfs_no_memory(err);
	free(cells);
	return r;
}

static int identity_fill(void *owner, void *p, struct pm_error *err)
{
	struct pmfs_model *m = owner;
	struct identity_part *part = p;
	struct building b = {.part = part, .unknown = PM_NONE};
	int r = pmfs_model_tree(m, &b.tree, err);
	if (r < 0)
		return r;
	b.keys.arena = &b.arena;
	r = build_all(m, &b, err);
	pm_strtab_done(&b.keys);
	pm_strtab_done(&b.composed);
	pm_arena_done(&b.arena);
	pm_text_done(&b.scratch);
	free(b.function_of_key);
	free(b.of_frame);
	free(b.looks);
	part->identity.functions = part->functions;
	part->identity.same = part->same;
	part->identity.of = part->of;
	part->identity.tree = b.tree;
	part->identity.unknown = b.unknown;
	return r;
}

int pmfs_identity(struct pmfs_model *m, const struct pmfs_identity **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {sizeof(struct identity_part), identity_fill,
		identity_done, .what = "the functions"};
	return pmfs_model_part(m, PMFS_PART_IDENTITY, &type, ret, err);
}
