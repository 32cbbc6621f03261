/*
 * Windows of a Parquet file. Row groups are made as a whole, because the index of a text depends on
 * the dictionary before it, and are kept in the cache, because readers read a group column by
 * column.
 */
#include "formats/common/search.h"
#include "formats/common/work.h"
#include "fs/document/layout.h"
#include "fs/document/made.h"

struct build {
	const struct pmfs_parquet *p;
	const struct pm_doc *doc;
	size_t group; /* p->n: the footer of a table that is laid out */
	uint64_t at;  /* position of its first row, or FOOTER */
};

#define FOOTER UINT64_MAX

static int made_build(void *context, struct pm_cached **ret, struct pm_error *err)
{
	const struct build *b = context;
	struct pm_text text = {.p = NULL};
	int r = -ENOMEM;
	if (b->at == FOOTER)
		r = pmfs_layout_footer(b->p, b->doc, &text, err);
	else if (pm_text_reserve(&text, b->p->groups[b->group].bytes))
		r = pmfs_parquet_group(b->p, &b->doc->table, b->group, &text, err);
	if (r >= 0)
		r = pmfs_made_new(b->p, b->at, &text, ret, err);
	pm_text_done(&text);
	return r < 0 ? pm_error_plain(err, r) : 0;
}

static void add_slice(struct pm_text *out, const struct pm_text *text, uint64_t from, uint64_t *off,
	uint64_t until)
{
	uint64_t end = from + text->len < until ? from + text->len : until;
	pm_text_add(out, text->p + (*off - from), (size_t)(end - *off));
	*off = end;
}

/* Appends the part of a row group, or the footer, that is in the window, and advances `off`. */
static int add_group(const struct build *b, uint64_t *off, uint64_t until, struct pm_text *out,
	struct pm_error *err)
{
	bool is_footer = b->group == b->p->n;
	struct build build = *b;
	struct pm_cache *cache = b->p->cache;
	struct pm_cached *cached;
	uint64_t from = is_footer ? b->p->footer_at : b->p->groups[b->group].offset;
	uint64_t at = build.at = is_footer ? FOOTER : b->p->groups[b->group].at;
	if (b->p->first.len > 0) {
		add_slice(out, &b->p->first, from, off, until);
		return 0;
	}
	int r = pm_cache_get(cache, pmfs_made_key(b->p, at), made_build, &build, &cached, err);
	if (r < 0)
		return r;
	struct pmfs_made *made = (struct pmfs_made *)cached;
	bool same = made->document == b->p->key && made->at == at;
	if (same)
		add_slice(out, &made->text, from, off, until);
	pm_cache_release(cache, cached);
	if (same)
		return 0;
	r = made_build(&build, &cached, err);
	if (r < 0)
		return r;
	add_slice(out, &((struct pmfs_made *)cached)->text, from, off, until);
	cached->free(cached);
	return 0;
}

int pmfs_parquet_window(const struct pmfs_parquet *p, const struct pm_doc *doc, uint64_t off,
	size_t len, struct pm_text *out, struct pm_error *err)
{
	static const char magic[] = "PAR1";
	if (off >= p->size)
		return 0;
	uint64_t until = len < p->size - off ? off + len : p->size;
	for (; off < until && off < 4; off++)
		pm_text_char(out, magic[off]);
	struct build b = {.p = p, .doc = doc};
	while (off < until && off < p->footer_at) {
		b.group = PM_LOWER_BOUND(i, 1, p->n, p->groups[i].offset <= off) - 1;
		int r = add_group(&b, &off, until, out, err);
		if (r < 0)
			return r;
	}
	b.group = p->n;
	if (off < until && p->layout)
		return add_group(&b, &off, until, out, err);
	if (off < until)
		add_slice(out, &p->footer, p->footer_at, &off, until);
	return 0;
}
