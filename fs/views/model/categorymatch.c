/*
 * Finds the rule of a function. A rule is tried only for functions with a text that begins with the
 * letter of one of its words.
 */
#include "fs/views/model/categoryrules.h"

#include <assert.h>
#include <pthread.h>
#include <string.h>

#include "formats/common/affix.h"
#include "fs/views/model/shortname.h"

/* What a rule compares. */
struct subject {
	struct pm_bytes stored, name, core, module;
};

/* Whether the word is followed by a capital letter in `name`. */
static bool is_camel(struct pm_bytes name, const char *word)
{
	if (!pm_begins_with(name, word))
		return false;
	size_t len = strlen(word);
	return name.len > len + 1 && name.p[len] >= 'A' && name.p[len] <= 'Z' &&
		name.p[len + 1] >= 'a' && name.p[len + 1] <= 'z';
}

/* Also if packages have slashes, as in class files, which profilers of the JVM show. */
static bool begins(struct pm_bytes name, const char *word)
{
	size_t n = 0;
	for (; word[n]; n++)
		if (n == name.len || (name.p[n] != word[n] && (word[n] != '.' || name.p[n] != '/')))
			return false;
	return true;
}

static bool matches(enum pmfs_rule_of of, const struct subject *s, const char *word)
{
	switch (of) {
	case PMFS_RULE_IS: return pm_bytes_equal(s->name, pm_bytes_of(word));
	case PMFS_RULE_BEGINS: return begins(s->name, word);
	case PMFS_RULE_CAMEL: return is_camel(s->name, word);
	case PMFS_RULE_HOLDS:
		return s->stored.len && memmem(s->stored.p, s->stored.len, word, strlen(word));
	case PMFS_RULE_CORE: return s->core.len && pm_begins_with(s->core, word);
	case PMFS_RULE_MODULE: return pm_begins_with(s->module, word);
	case PMFS_RULE_SUFFIX: return pm_ends_with(s->module, word);
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
		if (pm_begins_with(name, prefixes[i]) && !pm_begins_with(name, "__libc_start_"))
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
	size_t letter = text == MODULE && what.len > 3 && pm_begins_with(what, "lib") ? 3 : 0;
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
