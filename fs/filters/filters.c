#include "fs/filters/filters.h"

#include <stdlib.h>

#include "formats/common/text.h"
#include "fs/filters/readme.h"
#include "profmount/limits.h"

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
	char pattern[PMFS_PATTERN_SIZE];
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
				.text = {.render = pmfs_filters_readme_render, .self = m, .a = i}}};
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
