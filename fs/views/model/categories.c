/*
 * The category of each context. Rules are tried once for each distinct frame; then one pass in
 * pre-order passes categories down to frames whose function has none.
 */
#include "fs/views/model/categories.h"

#include <assert.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/work.h"
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

/* ---- rules ---- */

/* What a rule compares. */
struct subject {
	struct pm_bytes stored, name, core, module;
};

static bool begins(struct pm_bytes text, const char *word)
{
	size_t i = 0;
	while (word[i] && i < text.len && text.p[i] == word[i])
		i++;
	return !word[i];
}

static bool ends(struct pm_bytes text, const char *word)
{
	size_t len = strlen(word);
	return text.len >= len && memcmp(text.p + text.len - len, word, len) == 0;
}

static bool is_word(struct pm_bytes text, const char *word)
{
	return begins(text, word) && strlen(word) == text.len;
}

/* Whether the word is followed by a capital letter in `name`. */
static bool is_camel(struct pm_bytes name, const char *word)
{
	if (!begins(name, word))
		return false;
	size_t len = strlen(word);
	return name.len > len + 1 && name.p[len] >= 'A' && name.p[len] <= 'Z' &&
		name.p[len + 1] >= 'a' && name.p[len + 1] <= 'z';
}

static bool matches(enum pmfs_rule_of of, const struct subject *s, const char *word)
{
	switch (of) {
	case PMFS_RULE_IS: return is_word(s->name, word);
	case PMFS_RULE_BEGINS: return begins(s->name, word);
	case PMFS_RULE_CAMEL: return is_camel(s->name, word);
	case PMFS_RULE_HOLDS:
		return s->stored.len && memmem(s->stored.p, s->stored.len, word, strlen(word));
	case PMFS_RULE_CORE: return s->core.len && begins(s->core, word);
	case PMFS_RULE_MODULE: return begins(s->module, word);
	case PMFS_RULE_SUFFIX: return ends(s->module, word);
	}
	return false;
}

/* `foo@plt`, `foo@@GLIBC_2.2.5`, `foo.isra.0`, `foo.part.1`: what linkers and compilers add. */
static struct pm_bytes without_suffix(struct pm_bytes name)
{
	static const char *const suffixes[] = {"@", ".isra.", ".part.", ".constprop.", ".cold"};
	for (size_t i = 0; i < sizeof(suffixes) / sizeof(*suffixes); i++) {
		const uint8_t *at = name.len
			? memmem(name.p, name.len, suffixes[i], strlen(suffixes[i]))
			: NULL;
		if (at && at > name.p)
			name.len = (size_t)(at - name.p);
	}
	return name;
}

static struct pm_bytes plain_name(struct pm_bytes stored)
{
	static const char *const prefixes[] = {"__GI_", "__libc_"};
	struct pm_bytes name = without_suffix(pmfs_name_bare(stored));
	for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
		if (begins(name, prefixes[i]) && !begins(name, "__libc_start_"))
			name = (struct pm_bytes){
				name.p + strlen(prefixes[i]), name.len - strlen(prefixes[i])};
	while (name.len > 1 && name.p[0] == '_')
		name = (struct pm_bytes){name.p + 1, name.len - 1};
	return name;
}

/* The Perl built-in of `main::CORE:print`; empty for other names. */
static struct pm_bytes core_word(struct pm_bytes stored)
{
	const uint8_t *at = stored.len ? memmem(stored.p, stored.len, "CORE:", 5) : NULL;
	size_t before = at ? (size_t)(at - stored.p) : 0;
	if (!at || before + 5 == stored.len || at[5] == ':')
		return (struct pm_bytes){stored.p, 0};
	return (struct pm_bytes){at + 5, stored.len - before - 5};
}

/*
 * Which text of a function a rule is about. Most words differ in the first letter from all texts,
 * so words are looked up by it: they have a bucket for each letter of each text.
 */
enum text { NAME, CORE, MODULE, WHOLE, N_TEXTS };

enum { LETTERS = 256, N_BUCKETS = N_TEXTS * LETTERS, MOST_WORDS = 2048 };

struct word {
	size_t rule;
	const char *word;
};

static pthread_once_t words_once = PTHREAD_ONCE_INIT;
static struct word words[MOST_WORDS]; /* by bucket, then rule */
static size_t bucket_starts[N_BUCKETS + 1];

static enum text text_of(enum pmfs_rule_of of)
{
	switch (of) {
	case PMFS_RULE_IS:
	case PMFS_RULE_BEGINS:
	case PMFS_RULE_CAMEL: return NAME;
	case PMFS_RULE_CORE: return CORE;
	case PMFS_RULE_MODULE: return MODULE;
	case PMFS_RULE_HOLDS:
	case PMFS_RULE_SUFFIX: break;
	}
	return WHOLE;
}

/* Most modules begin with `lib`: the letter after it tells them apart. */
static size_t bucket_of(enum text text, struct pm_bytes what)
{
	size_t letter = text == MODULE && what.len > 3 && begins(what, "lib") ? 3 : 0;
	return text == WHOLE ? WHOLE * LETTERS : text * LETTERS + (size_t)what.p[letter];
}

static size_t bucket_of_word(enum pmfs_rule_of of, const char *word)
{
	return bucket_of(text_of(of), pm_bytes_of(word));
}

static void sort_words(void)
{
	size_t ends[N_BUCKETS] = {0};
	for (size_t i = 0; i < pmfs_n_rules; i++)
		for (const char *const *word = pmfs_rules[i].words; *word; word++)
			ends[bucket_of_word(pmfs_rules[i].of, *word)]++;
	for (size_t i = 0; i < N_BUCKETS; i++) {
		bucket_starts[i + 1] = bucket_starts[i] + ends[i];
		ends[i] = bucket_starts[i];
	}
	assert(bucket_starts[N_BUCKETS] <= MOST_WORDS);
	for (size_t i = 0; i < pmfs_n_rules; i++)
		for (const char *const *word = pmfs_rules[i].words; *word; word++)
			words[ends[bucket_of_word(pmfs_rules[i].of, *word)]++] =
				(struct word){i, *word};
}

/* The first rule of a bucket that matches, if it is before `rule`; else `rule`. */
static size_t first_rule(const struct subject *s, size_t bucket, size_t rule)
{
	for (size_t i = bucket_starts[bucket]; i < bucket_starts[bucket + 1]; i++) {
		if (words[i].rule >= rule)
			break;
		if (matches(pmfs_rules[words[i].rule].of, s, words[i].word))
			return words[i].rule;
	}
	return rule;
}

const struct pmfs_rule *pmfs_rule_of_function(struct pm_bytes name, struct pm_bytes module)
{
	const struct subject s = {.stored = name,
		.name = plain_name(name),
		.core = core_word(name),
		.module = pmfs_base_name(module)};
	const struct pm_bytes texts[] = {[NAME] = s.name, [CORE] = s.core, [MODULE] = s.module};
	pthread_once(&words_once, sort_words);
	size_t rule = first_rule(&s, bucket_of(WHOLE, name), pmfs_n_rules);
	for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
		if (texts[i].len)
			rule = first_rule(&s, bucket_of((enum text)i, texts[i]), rule);
	return rule < pmfs_n_rules ? &pmfs_rules[rule] : NULL;
}

const struct pmfs_rule *pmfs_rule_in_tree(struct pmfs_rules_found *found,
	const struct pm_tree *tree, struct pm_bytes name, uint32_t module)
{
	bool fresh;
	uint32_t known =
		name.len <= PM_STRTAB_LONG ? PM_NONE : pm_strtab_add_lasting(&found->names, name);
	uint32_t *index = known == PM_NONE
		? NULL
		: pm_map_put(&found->rules, (uint64_t)known << 32 | module, PM_NONE, &fresh);
	if (index && !fresh)
		return *index == PM_NONE ? NULL : &pmfs_rules[*index];
	const struct pmfs_rule *rule = pmfs_rule_of_function(name, tree->texts[module]);
	if (index && rule)
		*index = (uint32_t)(rule - pmfs_rules);
	return rule;
}

void pmfs_rules_found_done(struct pmfs_rules_found *found)
{
	pm_strtab_done(&found->names);
	pm_map_done(&found->rules);
}

/* ---- contexts ---- */

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
			is_other = begins(name, others[k]);
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

/* Loops, lines and instructions that are part of a function have its category. */
static void hand_down(const struct pmfs_identity *id, const uint8_t *said,
	const uint8_t *calls_program, uint8_t *of)
{
	const struct pm_tree *tree = id->tree;
	for (uint32_t i = 0; i < tree->n_contexts; i++) {
		uint32_t parent = tree->parent[i];
		uint8_t above = parent == PM_NONE ? PMFS_PROGRAM : of[parent];
		uint8_t own = said[tree->frame[i]];
		if (own != NO_RULE && (own & BY_MODULE) && calls_program[i])
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

static int categories_fill(void *owner, void *p, struct pm_error *err)
{
	struct categories_part *part = p;
	const struct pmfs_identity *id;
	int r = pmfs_identity(owner, &id, err);
	if (r < 0)
		return r;
	const struct pm_tree *tree = id->tree;
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
	uint8_t *calls_program = wanted ? find_callers_of_program(tree, said) : NULL;
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
