/*
 * The category of each context. Rules are tried once for each distinct frame; then one pass in
 * pre-order passes categories down to frames whose function has none.
 */
#include "fs/views/model/categories.h"

#include <stdlib.h>

#include "formats/common/affix.h"
#include "formats/common/work.h"
#include "fs/views/model/categoryrules.h"
#include "fs/views/model/identity.h"
#include "fs/views/model/parts.h"
#include "fs/views/model/shortname.h"

static const char *const names[PMFS_N_CATEGORIES] = {
	[PMFS_PROGRAM] = "",
	[PMFS_IDLE] = "idle",
	[PMFS_MPI] = "mpi",
	[PMFS_OPENMP] = "openmp",
	[PMFS_GPU] = "gpu",
	[PMFS_THREAD] = "thread",
	[PMFS_IO] = "io",
	[PMFS_MEMORY] = "memory",
	[PMFS_GC] = "gc",
	[PMFS_SQL] = "sql",
	[PMFS_NET] = "net",
};

struct pm_bytes pmfs_category_name(enum pmfs_category category)
{
	return pm_bytes_of(names[category]);
}

/* What a context passes down: its category, and whether it comes from a system rule. */
enum {
	CATEGORY = 0x1f,
	BY_MODULE = 0x20, /* code without a name in a library that starts threads or regions */
	NO_RULE = 0x40,
	IS_SYSTEM = 0x80,
};

static uint8_t said_by(
	struct pmfs_rules_found *found, const struct pm_tree *tree, const struct pm_frame *frame)
{
	bool named = frame->kind != PM_KIND_INSTRUCTION && frame->kind != PM_KIND_ENTRY;
	if (frame->is_idle)
		return PMFS_IDLE;
	if (frame->on_gpu && !frame->is_annotation)
		return PMFS_GPU;
	if (frame->kind == PM_KIND_LOOP || frame->kind == PM_KIND_LINE)
		return NO_RULE;
	const struct pmfs_rule *rule =
		pmfs_rule_in_tree(found, tree, tree->texts[named ? frame->name : 0], frame->module);
	if (!rule)
		return NO_RULE;
	bool starts_code = rule->category == PMFS_OPENMP || rule->category == PMFS_THREAD;
	return (uint8_t)(rule->category | (rule->is_system ? IS_SYSTEM : 0) |
		(!named && starts_code ? BY_MODULE : 0));
}

/*
 * The module of the outermost code that is in no library, i.e. the program's own; 0 if there is
 * none.
 */
static uint32_t program_module(const struct pm_tree *tree, const uint8_t *said)
{
	static const char *const others[] = {"lib", "ld-", "ld.", "<", "[", "linux-", "vdso"};
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		uint32_t module = pm_tree_frame(tree, i)->module;
		struct pm_bytes name = pmfs_base_name(tree->texts[module]);
		bool is_other = name.len == 0 || said[tree->frame[i]] != NO_RULE;
		for (size_t k = 0; !is_other && k < sizeof(others) / sizeof(*others); k++)
			is_other = pm_begins_with(name, others[k]);
		if (!is_other)
			return module;
	}
	return 0;
}

/*
 * By context: 1 if the program's own code is called anywhere below it. The caller frees it; NULL if
 * out of memory.
 */
static uint8_t *find_callers_of_program(const struct pm_tree *tree, const uint8_t *said)
{
	uint32_t program = program_module(tree, said);
	uint8_t *calls = calloc((size_t)tree->n_contexts + 1, 1);
	for (uint32_t i = tree->n_contexts; calls && program != 0 && i-- > 0;) {
		bool is_program = said[tree->frame[i]] == NO_RULE &&
			pm_tree_frame(tree, i)->module == program;
		if (tree->parent[i] != PM_NONE)
			calls[tree->parent[i]] |= calls[i] || is_program;
	}
	return calls;
}

/* A part of a tree may lack what a context calls; its category is the same all the same. */
static const struct pm_tree *whole_of(const struct pm_tree *tree)
{
	return tree->whole ? tree->whole : tree;
}

/*
 * Loops, lines and instructions that are part of a function have its category. `calls_program` is
 * of the whole tree.
 */
static void hand_down(const struct pmfs_identity *id, const uint8_t *said,
	const uint8_t *calls_program, uint8_t *of)
{
	const struct pm_tree *tree = id->tree, *whole = whole_of(tree);
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		uint32_t parent = tree->parent[i];
		uint8_t above = parent == PM_NONE ? PMFS_PROGRAM : of[parent];
		uint8_t own = said[tree->frame[i]];
		if (own != NO_RULE && (own & BY_MODULE) &&
			calls_program[pm_tree_find(whole, pm_tree_number(tree, i))])
			own = PMFS_PROGRAM;
		bool library_above = above != PMFS_PROGRAM && !(above & IS_SYSTEM);
		bool inherits = own == NO_RULE || ((own & IS_SYSTEM) && library_above) ||
			!pmfs_is_call(id, i);
		of[i] = inherits ? above : own;
	}
	for (uint32_t i = 0; i < tree->n_contexts; i++)
		of[i] &= CATEGORY;
}

struct categories_part {
	uint8_t *of; /* by context */
};

static void categories_done(void *p)
{
	struct categories_part *part = p;
	free(part->of);
}

/* What a filter leaves has the categories of before. */
static int copy_unfiltered(struct categories_part *part, const struct pm_tree *tree,
	struct pmfs_model *unfiltered, struct pm_error *err)
{
	const struct pm_tree *whole;
	const uint8_t *of;
	int r = pmfs_categories(unfiltered, &of, err);
	if (r < 0 || (r = pmfs_model_tree(unfiltered, &whole, err)) < 0)
		return r;
	part->of = malloc((size_t)tree->n_contexts + 1);
	if (!part->of)
		return pmfs_no_memory(err);
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		uint32_t context = pm_tree_find(whole, pm_tree_number(tree, i));
		part->of[i] = context == PM_NONE ? PMFS_PROGRAM : of[context];
	}
	return 0;
}

static int categories_fill(void *owner, void *p, struct pm_error *err)
{
	struct categories_part *part = p;
	struct pmfs_model *unfiltered = pmfs_model_unfiltered(owner);
	const struct pmfs_identity *id;
	int r = pmfs_identity(owner, &id, err);
	if (r < 0)
		return r;
	const struct pm_tree *tree = id->tree;
	if (unfiltered)
		return copy_unfiltered(part, tree, unfiltered, err);
	uint8_t *said = malloc((size_t)tree->n_frames + 1);
	part->of = malloc((size_t)tree->n_contexts + 1);
	if (!said || !part->of) {
		free(said);
		return pmfs_no_memory(err);
	}
	struct pmfs_rules_found found = {.names.n = 0};
	bool wanted = true;
	for (uint32_t i = 0; wanted && i < tree->n_frames; i++) {
		said[i] = said_by(&found, tree, &tree->frames[i]);
		wanted = !pm_work_cancelled();
	}
	pmfs_rules_found_done(&found);
	uint8_t *calls_program = wanted ? find_callers_of_program(whole_of(tree), said) : NULL;
	if (calls_program)
		hand_down(id, said, calls_program, part->of);
	free(said);
	free(calls_program);
	return calls_program ? 0 : pmfs_no_memory(err);
}

int pmfs_categories(struct pmfs_model *m, const uint8_t **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {sizeof(struct categories_part), categories_fill,
		categories_done, .what = "the categories"};
	const struct categories_part *part;
	int r = pmfs_model_part(m, PMFS_PART_CATEGORIES, &type, &part, err);
	*ret = r < 0 ? NULL : part->of;
	return r;
}
