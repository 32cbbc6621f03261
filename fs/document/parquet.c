/*
 * Row groups: measured by all processors if a cursor can start anywhere. The type of a column
 * determines how it is stored; if its cells turn out to be different (a damaged source, a number
 * that a double or int64 cannot represent), everything is measured again with a storage that can
 * represent them.
 */
#include "fs/document/made.h"

#include <stdlib.h>

#include "formats/common/crew.h"
#include "formats/common/list.h"
#include "fs/document/failure.h"
#include "fs/document/layout.h"
#include "fs/document/rowgroup.h"

enum { SMALL = 1 << 20 /* size up to which a single row group is kept */ };

struct segment {
	uint64_t from, to; /* positions; to = UINT64_MAX for an open end */
	struct pmfs_rowgroup *groups;
	size_t n, room;
	struct pm_text only; /* its row group, as long as it is small and the only one */
	struct pmfs_failure failure;
};

struct job {
	const struct pm_table *table;
	struct pmfs_parquet *p;
	struct segment *segments;
	size_t n;
	bool stop; /* atomic: one failed */
};

static void leave(const struct job *job, uint64_t at, struct pm_text *text)
{
	pmfs_made_keep(job->p, at, text);
	pm_text_done(text);
}

static int segment_add(const struct job *job, struct segment *s, struct pmfs_group_maker *m,
	struct pmfs_rowgroup *group)
{
	struct pm_text text = {.p = NULL};
	group->columns = calloc(m->p->n_columns, sizeof(*group->columns));
	int r = group->columns && pm_list_room(&s->groups, s->n, &s->room, sizeof(*group)) == 0
		? 0
		: -ENOMEM;
	if (r == 0) {
		(void)pm_text_reserve(&text, pmfs_group_bytes(m));
		r = pmfs_group_render(m, group->columns, &text, &s->failure.error);
	}
	group->bytes = text.len;
	if (r < 0) {
		free(group->columns);
		pm_text_done(&text);
		return r;
	}
	if (s->only.len > 0)
		leave(job, s->groups[0].at, &s->only);
	s->groups[s->n++] = *group;
	if (job->n == 1 && s->n == 1 && text.len <= SMALL)
		s->only = text;
	else
		leave(job, group->at, &text);
	return 0;
}

static int segment_groups(const struct job *job, struct segment *s, struct pmfs_group_maker *m)
{
	for (int more = 1; more > 0;) {
		struct pmfs_rowgroup group = {.at = 0};
		if (__atomic_load_n(&job->stop, __ATOMIC_RELAXED))
			return -ENOMEM;
		more = pmfs_group_read(m, &group, 0, s->to, &s->failure.error);
		int r = more < 0 ? more : 0;
		if (r == 0 && group.rows > 0)
			r = segment_add(job, s, m, &group);
		if (r < 0)
			return r;
	}
	return 0;
}

static int segment_measure(void *context, size_t i)
{
	struct job *job = context;
	struct segment *s = &job->segments[i];
	struct pmfs_group_maker m;
	s->failure.error.offset = PM_NO_OFFSET;
	s->failure.result =
		pmfs_group_maker_start(&m, job->p, job->table, s->from, &s->failure.error);
	if (s->failure.result >= 0)
		s->failure.result = segment_groups(job, s, &m);
	pmfs_group_maker_done(&m);
	if (s->failure.result < 0)
		__atomic_store_n(&job->stop, true, __ATOMIC_RELAXED);
	return s->failure.result;
}

static int cut(struct job *job, struct pm_error *err)
{
	const struct pm_table *table = job->table;
	uint64_t end = table->end;
	int r = table->type->end ? table->type->end(table, &end, err) : 0;
	if (r < 0)
		return r;
	uint64_t piece = table->piece ? table->piece : PMFS_GROUP_ROWS;
	bool whole = !table->type->dense || (!table->piece && end < 2 * PMFS_GROUP_ROWS);
	job->n = whole || end <= piece ? 1 : (size_t)((end - 1) / piece + 1);
	job->segments = calloc(job->n, sizeof(*job->segments));
	if (!job->segments)
		return pm_error_plain(err, -ENOMEM);
	for (size_t i = 0; i < job->n; i++) {
		job->segments[i].from = (uint64_t)i * piece;
		job->segments[i].to = i + 1 < job->n ? (uint64_t)(i + 1) * piece : UINT64_MAX;
	}
	return 0;
}

static void job_done(struct job *job)
{
	for (size_t i = 0; job->segments && i < job->n; i++) {
		for (size_t k = 0; k < job->segments[i].n; k++)
			free(job->segments[i].groups[k].columns);
		free(job->segments[i].groups);
		pm_text_done(&job->segments[i].only);
	}
	free(job->segments);
}

static int put_in_a_row(struct pmfs_parquet *p, const struct job *job, struct pm_error *err)
{
	for (size_t i = 0; i < job->n; i++) {
		struct segment *s = &job->segments[i];
		for (size_t k = 0; k < s->n; k++) {
			struct pmfs_rowgroup *group = &s->groups[k];
			if (pm_list_room(&p->groups, p->n, &p->room, sizeof(*group)) < 0)
				return pm_error_plain(err, -ENOMEM);
			p->groups[p->n++] = *group;
			group->columns = NULL;
			p->n_rows += group->rows;
		}
	}
	if (p->n == 1) {
		p->first = job->segments[0].only;
		job->segments[0].only = (struct pm_text){.p = NULL};
	}
	return 0;
}

static void forget_groups(struct pmfs_parquet *p)
{
	for (size_t i = 0; !p->layout && i < p->n; i++)
		free(p->groups[i].columns);
	pm_text_done(&p->first);
	p->n = 0;
	p->n_rows = 0;
}

/* `key` is the document's. */
static int measure(
	struct pmfs_parquet *p, const struct pm_table *table, uint64_t key, struct pm_error *err)
{
	struct job job = {.table = table, .p = p};
	p->of = p->key = key;
	for (uint32_t c = 0; c < p->n_columns; c++)
		p->key = pm_hash_u64(p->key + p->storage[c]);
	int r = cut(&job, err);
	if (r == 0)
		r = pmfs_failure_return(&job.segments->failure, job.n, sizeof(*job.segments),
			pm_crew_each(job.n, segment_measure, &job), err);
	if (r == 0)
		r = put_in_a_row(p, &job, err);
	job_done(&job);
	return r;
}

/* Changes how columns are stored so that everything seen fits. True if that changed anything. */
static bool widen(struct pmfs_parquet *p, const struct pm_table *table)
{
	bool changed = false;
	for (uint32_t c = 0; c < p->n_columns; c++) {
		uint8_t seen = 0;
		for (size_t i = 0; i < p->n; i++)
			seen |= p->groups[i].columns[c].seen;
		enum pmfs_storage storage = pmfs_storage_for(pm_table_type_of(table, c), seen);
		changed |= storage != p->storage[c];
		p->storage[c] = storage;
	}
	return changed;
}

static int build(
	struct pmfs_parquet *p, const struct pm_doc *doc, uint64_t key, struct pm_error *err)
{
	const struct pm_table *table = &doc->table;
	p->n_columns = table->n_columns;
	p->storage = calloc((size_t)p->n_columns + 1, sizeof(*p->storage));
	if (!p->storage)
		return pm_error_plain(err, -ENOMEM);
	for (uint32_t c = 0; c < p->n_columns; c++)
		p->storage[c] = pmfs_storage_for(pm_table_type_of(table, c), 0);
	int r = pmfs_layout_make(p, doc, err);
	if (r < 0)
		return r;
	p->of = p->key = key;
	if (r > 0)
		return pmfs_parquet_end(p, doc, err);
	r = measure(p, table, key, err);
	if (r == 0 && widen(p, table)) {
		forget_groups(p);
		r = measure(p, table, key, err);
	}
	return r < 0 ? r : pmfs_parquet_end(p, doc, err);
}

int pmfs_parquet_build(const struct pm_doc *doc, struct pm_cache *cache, uint64_t key,
	struct pmfs_parquet **ret, struct pm_error *err)
{
	struct pmfs_parquet *p = calloc(1, sizeof(*p));
	if (!p)
		return pm_error_plain(err, -ENOMEM);
	p->cache = cache;
	int r = build(p, doc, key, err);
	if (r < 0)
		pmfs_parquet_free(p);
	else
		*ret = p;
	return r;
}

void pmfs_parquet_free(struct pmfs_parquet *p)
{
	if (!p)
		return;
	forget_groups(p);
	pmfs_layout_free(p->layout, p->n_columns);
	free(p->groups);
	free(p->storage);
	pm_text_done(&p->footer);
	free(p);
}

uint64_t pmfs_parquet_memory(const struct pmfs_parquet *p)
{
	uint64_t group = sizeof(*p->groups) + p->n_columns * sizeof(*p->groups->columns);
	uint64_t bytes = sizeof(*p) + p->footer.taken + p->first.taken;
	if (!p->layout)
		return bytes + p->room * group;
	for (uint32_t c = 0; c < p->n_columns; c++) {
		const struct pmfs_dictionary *d = &p->layout->dictionaries[c];
		bytes += 2 * d->page.taken + d->texts.room * sizeof(*d->texts.items) +
			d->texts.n_slots * sizeof(*d->texts.slots) + d->room * sizeof(*d->index_of);
	}
	return bytes + p->n * sizeof(*p->groups);
}
