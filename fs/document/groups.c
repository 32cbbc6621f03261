/*
 * Windows of a Parquet file. Its row groups are made whole, since a text's index is known only with
 * the dictionary before it, and go through the cache: readers take a group column by column.
 */
#include <stdlib.h>

#include "formats/common/search.h"
#include "formats/common/work.h"
#include "fs/document/parquet.h"

struct made {
	struct pm_cached cached;
	uint64_t document; /* whose it is: keys of groups are hashes */
	size_t group;
	struct pm_text text;
};

static void made_free(struct pm_cached *cached)
{
	struct made *made = (struct made *)cached;
	pm_text_done(&made->text);
	free(made);
}

struct build {
	const struct pmfs_parquet *p;
	const struct pm_table *table;
	uint64_t document;
	size_t group;
};

static int made_build(void *context, struct pm_cached **ret, struct pm_error *err)
{
	const struct build *b = context;
	struct made *made = calloc(1, sizeof(*made));
	if (!made)
		return pm_error_plain(err, -ENOMEM);
	*made = (struct made){.cached.free = made_free, .document = b->document, .group = b->group};
	int r = pm_text_reserve(&made->text, b->p->groups[b->group].bytes)
		? pmfs_parquet_group(b->p, b->table, b->group, &made->text, err)
		: -ENOMEM;
	if (r < 0) {
		made_free(&made->cached);
		return pm_error_plain(err, r);
	}
	made->cached.bytes = sizeof(*made) + made->text.taken;
	*ret = &made->cached;
	return 0;
}

/* Bits that no node and no key of a format has: formats/common/cache.h. */
static uint64_t key_of(uint64_t document, size_t group)
{
	return pm_hash_u64(document + pm_hash_u64(group)) | (uint64_t)3 << 62;
}

static void add_slice(struct pm_text *out, const struct pm_text *text, uint64_t from, uint64_t *off,
	uint64_t until)
{
	uint64_t end = from + text->len < until ? from + text->len : until;
	pm_text_add(out, text->p + (*off - from), (size_t)(end - *off));
	*off = end;
}

/* Appends of row group i what is of the window, and moves `off`. */
static int add_group(const struct build *b, struct pm_cache *cache, uint64_t *off, uint64_t until,
	struct pm_text *out, struct pm_error *err)
{
	struct build build = *b;
	struct pm_cached *cached;
	uint64_t from = b->p->groups[b->group].offset;
	if (b->p->first.len > 0) {
		add_slice(out, &b->p->first, from, off, until);
		return 0;
	}
	int r = pm_cache_get(
		cache, key_of(b->document, b->group), made_build, &build, &cached, err);
	if (r < 0)
		return r;
	struct made *made = (struct made *)cached;
	bool same = made->document == b->document && made->group == b->group;
	if (same)
		add_slice(out, &made->text, from, off, until);
	pm_cache_release(cache, cached);
	if (same)
		return 0;
	r = made_build(&build, &cached, err);
	if (r < 0)
		return r;
	add_slice(out, &((struct made *)cached)->text, from, off, until);
	made_free(cached);
	return 0;
}

int pmfs_parquet_window(const struct pmfs_parquet *p, const struct pm_doc *doc,
	struct pm_cache *cache, uint64_t key, uint64_t off, size_t len, struct pm_text *out,
	struct pm_error *err)
{
	static const char magic[] = "PAR1";
	if (off >= p->size)
		return 0;
	uint64_t until = len < p->size - off ? off + len : p->size;
	for (; off < until && off < 4; off++)
		pm_text_char(out, magic[off]);
	struct build b = {.p = p, .table = &doc->table, .document = key};
	while (off < until && off < p->footer_at) {
		b.group = PM_LOWER_BOUND(i, 1, p->n, p->groups[i].offset <= off) - 1;
		int r = add_group(&b, cache, &off, until, out, err);
		if (r < 0)
			return r;
	}
	if (off < until)
		add_slice(out, &p->footer, p->footer_at, &off, until);
	return 0;
}
