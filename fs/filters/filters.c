/* The directories focus/, ignore/, hide/ and from/ of a profile, each with a README.txt. */
#include "fs/filters/filter.h"

#include <stdlib.h>

#include "formats/common/text.h"
#include "fs/views/model/model.h"
#include "fs/views/sums/functions.h"
#include "profmount/document.h"
#include "profmount/limits.h"

/* ---- README.txt: what the filter is, with examples out of the profile ---- */

static const char *const meanings[PMFS_N_FILTERS] = {
	[PMFS_FILTER_FOCUS] =
		"focus/PATTERN has the call paths on which some frame matches: the cost of the frames\n"
		"that match and of what they call. What calls them is shown, without its own cost.\n"
		"focus and ignore of one pattern add up to the whole.\n",
	[PMFS_FILTER_IGNORE] =
		"ignore/PATTERN has the call paths on which no frame matches: what the run would cost\n"
		"without the frames that match and what they call. focus and ignore of one pattern add\n"
		"up to the whole.\n",
	[PMFS_FILTER_HIDE] =
		"hide/PATTERN leaves out the frames that match; their cost goes to what called them, so\n"
		"the whole is unchanged. Cost whose whole path is hidden is shown as (hidden).\n",
	[PMFS_FILTER_FROM] =
		"from/PATTERN has the call paths of focus/PATTERN, beginning at the outermost frame that\n"
		"matches.\n",
};

/* The name of the costliest function, as far as it is an identifier, for examples. */
static void add_name(struct pm_text *out, const struct pmfs_functions *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		struct pm_bytes name = pmfs_name_bare(pmfs_function_name(f, i));
		bool plain = name.len > 1 && name.len <= 40;
		for (size_t k = 0; k < name.len && plain; k++)
			plain = name.p[k] == '_' || name.p[k] == ':' || name.p[k] == '.' ||
				(name.p[k] >= '0' && name.p[k] <= '9') ||
				((name.p[k] | 0x20) >= 'a' && (name.p[k] | 0x20) <= 'z');
		if (!plain || name.p[0] == '.')
			continue;
		pm_text_bytes(out, name);
		return;
	}
	pm_text_str(out, "main");
}

/* doc->text.self is the model, .a enum pmfs_filter_kind. */
static int filters_readme_render(
	const struct pm_doc *doc, struct pm_text *out, struct pm_error *err)
{
	struct pmfs_model *m = (struct pmfs_model *)(uintptr_t)doc->text.self;
	const struct pm_profile *p = pmfs_model_profile(m);
	const char *kind = pmfs_filter_names[doc->text.a];
	const struct pmfs_functions *f;
	int r = pmfs_functions(m, &f, err);
	if (r < 0)
		return r;
	pm_text_str(out, meanings[doc->text.a]);
	r = pmfs_can_be_filtered(p, err);
	if (r < 0)
		return r;
	if (r == 0) {
		pm_text_str(out,
			"\nThis source has costs by call edge and no call paths, which filters need: there are\n"
			"none here.\n");
		return pm_text_status(out);
	}
	pm_text_str(out,
		"\nFilters are not shown by ls; open them by name. PATTERN is\n\n"
		"  NAME                a function, as in functions/; or with * for any text, ? for one\n"
		"                      character, [abc] for one of some, \\ before a character that is\n"
		"                      meant itself; with or without parameters and module;\n"
		"                      *::NAME for a member of any class\n"
		"  module:GLOB         by load module, the whole path or its last part\n"
		"  file:GLOB           by source file, likewise\n"
		"  category:NAME       as in categories.csv: category:mpi\n"
		"  kind:NAME           as in contexts.csv: kind:loop\n"
		"  name:GLOB           a name that begins like one of these\n\n"
		"A filter is a directory with the tables, pictures and exports of the whole. Filters,\n"
		"windows, threads and runs can be in one another. -o focus=PATTERN and its like filter\n"
		"a whole mount; a comma in PATTERN is \\, there. In the folder above:\n\n");
	pm_text_printf(out, "$ head -n 6 %s/", kind);
	add_name(out, f);
	pm_text_printf(out, "/functions.txt\n$ cat %s/", kind);
	add_name(out, f);
	pm_text_str(out, "/summary.txt\n");
	if (pm_profile_has(p, threads)) {
		pm_text_printf(out, "$ cat %s/", kind);
		add_name(out, f);
		pm_text_str(out, "/threads.csv\n");
	}
	return pm_text_status(out);
}

/* ---- the directories ---- */

/* What the numbers of filters stand for: the key of the list, followed by the pattern. */
struct found {
	uint8_t kind;    /* of what has numbers from the list: see `letters` */
	uint32_t thread; /* PM_NONE: of the run */
};

static const char letters[PMFS_N_FILTERS + 1] = "fihr";

struct pmfs_filters {
	const struct pm_profile *profile;
	struct pmfs_model *model;
	struct pm_unlisted *names;
	size_t (*entry_name)(struct pm_bytes raw, char *ret);
	struct pm_collection collections[PMFS_N_FILTERS];
	struct pm_named_doc readmes[PMFS_N_FILTERS];
};

int pmfs_filters_find(struct pmfs_filters *f, enum pmfs_filter_kind kind, uint32_t thread,
	struct pm_bytes name, uint32_t *ret_item, uint32_t *ret_generation)
{
	struct pmfs_pattern pattern;
	struct found head;
	struct pm_text key = {.p = NULL};
	if (!pmfs_pattern_read(&pattern, name) ||
		pmfs_filter_depth(f->profile) >= PMFS_MOST_FILTERS)
		return 0;
	int r = pmfs_can_be_filtered(f->profile, NULL);
	if (r <= 0)
		return r;
	memset(&head, 0, sizeof(head)); /* padding is part of the key */
	head.kind = (uint8_t)letters[kind];
	head.thread = thread;
	pm_text_add(&key, &head, sizeof(head));
	pm_text_bytes(&key, name);
	r = key.failed ? -ENOMEM
		       : pm_unlisted_number(f->names, pm_text_view(&key), ret_item, ret_generation);
	*ret_item += PM_FIRST_UNLISTED;
	pm_text_done(&key);
	return r;
}

/* ---- the collections ---- */

struct item {
	struct found head;
	char pattern[PM_GLOB_SIZE];
};

static struct pmfs_filters *filters_of(const struct pm_collection *c)
{
	return (struct pmfs_filters *)(uintptr_t)c->self;
}

/* False if there is none of any kind, or with `kind` none of that. */
static bool item_get(struct pmfs_filters *f, const struct pm_collection *c, uint32_t i,
	struct item *ret, struct pm_bytes *ret_pattern)
{
	if (i < PM_FIRST_UNLISTED)
		return false;
	size_t n = pm_unlisted_get(f->names, i - PM_FIRST_UNLISTED, ret, sizeof(*ret));
	if (n <= sizeof(ret->head) || n > sizeof(*ret) ||
		(c ? ret->head.kind != letters[c->a] : !strchr(letters, ret->head.kind)))
		return false;
	*ret_pattern =
		(struct pm_bytes){(const uint8_t *)ret + sizeof(ret->head), n - sizeof(ret->head)};
	return true;
}

static int filters_find(const struct pm_collection *c, struct pm_bytes name, uint32_t *ret)
{
	uint32_t generation;
	return pmfs_filters_find(
		filters_of(c), (enum pmfs_filter_kind)c->a, PM_NONE, name, ret, &generation);
}

static int filters_has(const struct pm_collection *c, uint32_t i, struct pm_error *err)
{
	struct item item;
	struct pm_bytes pattern;
	(void)err;
	return item_get(filters_of(c), c, i, &item, &pattern);
}

static struct pm_bytes filters_name(
	const struct pm_collection *c, uint32_t i, struct pm_text *scratch)
{
	struct item item;
	struct pm_bytes pattern;
	pm_text_clear(scratch);
	if (item_get(filters_of(c), c, i, &item, &pattern))
		pm_text_bytes(scratch, pattern);
	return pm_text_view(scratch);
}

static int filters_profile(
	const struct pm_collection *c, uint32_t i, struct pm_profile **ret, struct pm_error *err)
{
	struct pmfs_filters *f = filters_of(c);
	struct item item;
	struct pmfs_filter_what what = {
		.kind = (enum pmfs_filter_kind)c->a, .entry_name = f->entry_name};
	if (!item_get(f, c, i, &item, &what.pattern))
		return pm_error_plain(err, -ENOENT);
	what.thread = item.head.thread;
	if (f->profile->ops->filtered)
		return f->profile->ops->filtered(f->profile, &what, ret, err);
	return pmfs_filter_open(f->profile, f->model, &what, ret, err);
}

/* ---- the whole ---- */

struct pmfs_filters *pmfs_filters_new(const struct pm_profile *p, struct pmfs_model *m,
	struct pm_unlisted *names, size_t (*entry_name)(struct pm_bytes raw, char *ret))
{
	static const char *const readmes[PMFS_N_FILTERS] = {
		"focus/README.txt", "ignore/README.txt", "hide/README.txt", "from/README.txt"};
	struct pmfs_filters *f = calloc(1, sizeof(*f));
	if (!f)
		return NULL;
	f->profile = p;
	f->model = m;
	f->names = pm_unlisted_use(names);
	f->entry_name = entry_name;
	for (unsigned i = 0; i < PMFS_N_FILTERS; i++) {
		f->readmes[i] = (struct pm_named_doc){.path = readmes[i],
			.doc = {.kind = PM_DOC_TEXT,
				.text = {.render = filters_readme_render, .self = m, .a = i}}};
		f->collections[i] = (struct pm_collection){.path = pmfs_filter_names[i],
			.self = f,
			.a = i,
			.name = filters_name,
			.find = filters_find,
			.has = filters_has,
			.has_unlisted = true,
			.profile = filters_profile};
	}
	return f;
}

void pmfs_filters_free(struct pmfs_filters *f)
{
	if (f)
		pm_unlisted_drop(f->names);
	free(f);
}

const struct pm_collection *pmfs_filters_collection(
	struct pmfs_filters *f, enum pmfs_filter_kind kind)
{
	return &f->collections[kind];
}

const struct pm_named_doc *pmfs_filters_readme(struct pmfs_filters *f, enum pmfs_filter_kind kind)
{
	return &f->readmes[kind];
}

uint32_t pmfs_filters_thread(struct pmfs_filters *f, uint32_t i)
{
	struct item item;
	struct pm_bytes pattern;
	return item_get(f, NULL, i, &item, &pattern) ? item.head.thread : PM_NONE;
}
