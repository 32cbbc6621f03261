/*
 * Windows of a Parquet file. The unit of rendering is a row group, or one column of it if the table
 * is laid out. Units are kept in the cache, because readers read them in several steps. Row groups
 * that are not laid out are rendered as a whole, because the index of a text depends on the
 * dictionary before it.
 */
#include "formats/common/search.h"
#include "fs/document/layout.h"
#include "fs/document/made.h"

/* A unit of rendering. */
struct build {
	const struct pmfs_parquet *p;
	const struct pm_doc *doc;
	struct pmfs_layout_part part;
	uint64_t at;            /* number in the cache; FOOTER: of a table laid out */
	uint64_t offset, bytes; /* in the file; the size of a footer is an upper bound */
};

#define FOOTER UINT64_MAX

static int made_build(void *context, struct pm_cached **ret, struct pm_error *err)
{
	const struct build *b = context;
	const struct pm_table *table = &b->doc->table;
	struct pm_text text = {.p = NULL};
	int r = -ENOMEM;
	if (b->at == FOOTER)
		r = pmfs_layout_footer(b->p, b->doc, &text, err);
	else if (!pm_text_reserve(&text, b->bytes))
		r = -ENOMEM;
	else if (b->p->layout)
		r = pmfs_layout_chunks(b->p, table, &b->part, &text, err);
	else
		r = pmfs_parquet_group(b->p, table, b->part.group, &text, err);
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

/* Appends the part of a unit that is in the window, and advances `off`. */
static int add_made(
	struct build *b, uint64_t *off, uint64_t until, struct pm_text *out, struct pm_error *err)
{
	struct pm_cache *cache = b->p->cache;
	struct pm_cached *cached;
	int r = pm_cache_get(cache, pmfs_made_key(b->p, b->at), made_build, b, &cached, err);
	if (r < 0)
		return r;
	struct pmfs_made *made = (struct pmfs_made *)cached;
	bool same = made->document == b->p->key && made->at == b->at;
	if (same)
		add_slice(out, &made->text, b->offset, off, until);
	pm_cache_release(cache, cached);
	if (same)
		return 0;
	r = made_build(b, &cached, err);
	if (r < 0)
		return r;
	add_slice(out, &((struct pmfs_made *)cached)->text, b->offset, off, until);
	cached->free(cached);
	return 0;
}

/* One column; all columns if reading the rows is what takes the time. */
static void find_part(struct build *b, uint64_t off)
{
	const struct pmfs_parquet *p = b->p;
	struct pmfs_layout_part *part = &b->part;
	pmfs_layout_find(p, off, &part->group, &part->from);
	part->to = part->from + 1;
	if (p->layout->per_block == 1)
		*part = (struct pmfs_layout_part){part->group, 0, p->n_columns};
	const struct pmfs_rowgroup *group = &p->groups[part->group];
	b->at = (uint64_t)part->group * p->n_columns + part->from;
	b->offset = pmfs_layout_offset(p, part->group, part->from);
	b->bytes = part->to - part->from > 1 ? group->bytes : group->columns[part->from].bytes;
}

static void find_group(struct build *b, uint64_t off)
{
	const struct pmfs_parquet *p = b->p;
	b->part.group = PM_LOWER_BOUND(i, 1, p->n, p->groups[i].offset <= off) - 1;
	const struct pmfs_rowgroup *group = &p->groups[b->part.group];
	b->at = group->at;
	b->offset = group->offset;
	b->bytes = group->bytes;
}

int pmfs_parquet_window(const struct pmfs_parquet *p, const struct pm_doc *doc, uint64_t off,
	size_t len, struct pm_text *out, struct pm_error *err)
{
	static const char magic[] = "PAR1";
	if (off >= p->size)
		return 0;
	uint64_t until = len < p->size - off ? off + len : p->size;
	for (; off < until && off < PMFS_PARQUET_BEGIN; off++)
		pm_text_char(out, magic[off]);
	struct build b = {.p = p, .doc = doc};
	if (off < until && off < p->footer_at && p->first.len > 0)
		add_slice(out, &p->first, PMFS_PARQUET_BEGIN, &off, until);
	while (off < until && off < p->footer_at) {
		if (p->layout)
			find_part(&b, off);
		else
			find_group(&b, off);
		int r = add_made(&b, &off, until, out, err);
		if (r < 0)
			return r;
	}
	if (off < until && p->layout) {
		b.at = FOOTER;
		b.offset = p->footer_at;
		return add_made(&b, &off, until, out, err);
	}
	if (off < until)
		add_slice(out, &p->footer, p->footer_at, &off, until);
	return 0;
}
