/* Everything that could not be read, collected by reading everything. */

#include <limits.h>
#include <stdio.h>

#include "formats/zts/zts.h"

struct telling {
	struct zts_opened *z;
	const struct zts_survey *v;
	struct pm_damage_list *list;
	char path[ZTS_NUMBER_DIGITS + sizeof("/") + NAME_MAX]; /* of the file at hand */
};

static const char *path_of(struct telling *t, uint32_t store, const char *file)
{
	const struct zts_store *s = &t->z->stores.items[store];
	snprintf(t->path, sizeof(t->path), "%s%s", s->place, file);
	return t->path;
}

static void tell_chunks(struct telling *t, uint32_t store)
{
	const char *file = path_of(t, store, "traces.dat");
	const struct zts_chunks *chunks = &t->z->stores.items[store].chunks;
	const struct zts_scan *scan = &t->v->scans[store];
	for (uint32_t i = 0; i < chunks->n; i++) {
		enum zts_status status = scan->status[i];
		uint64_t offset = chunks->chunks[i].offset;
		if (status != ZTS_OK)
			pm_damage_add(t->list, file, offset, zts_chunk_end(chunks, i) - offset,
				"chunk %u: %s", i, zts_status_text(status));
	}
	for (size_t i = 0; i < chunks->n_gaps; i++)
		pm_damage_add(t->list, file, chunks->gaps[i].offset, chunks->gaps[i].bytes,
			"these bytes belong to no chunk");
	for (size_t i = 0; i < scan->n_formless; i++) {
		const struct zts_formless *f = &scan->formless[i];
		pm_damage_add(t->list, file, chunks->chunks[f->chunk].offset, PM_NO_OFFSET,
			"chunk %u has no data.json: %s", f->chunk, f->why);
	}
}

/* Parts of traces that are lost, unless a damaged chunk or gap explains it, or in another place. */
static void tell_part(struct telling *t, const struct zts_trace *trace, const struct zts_part *p)
{
	bool is_told = p->chunk == PM_NONE
		? zts_is_gap(&t->z->stores.items[p->store].chunks, p->data_offset)
		: t->v->scans[p->store].status[p->chunk] != ZTS_OK;
	if (trace->moved || !is_told)
		pm_damage_add(t->list, path_of(t, p->store, "traces.dat"), p->data_offset,
			PM_NO_OFFSET, "the trace %016llx%016llx is %s its position in the index",
			(unsigned long long)trace->trace_id[0],
			(unsigned long long)trace->trace_id[1],
			trace->moved ? "here, not at" : "missing or unreadable at");
}

static const char *index_file(const struct zts_store *store)
{
	for (size_t i = 0; i < store->n_files; i++)
		if (store->files[i].kind == ZTS_FILE_META ||
			store->files[i].kind == ZTS_FILE_META_OLD)
			return store->files[i].name;
	return "";
}

/* Spans without a record: the index is missing, or has lost them. */
static void tell_index(struct telling *t, uint32_t store, size_t *span)
{
	const struct zts_store *s = &t->z->stores.items[store];
	const struct zts_spans *spans = &t->v->spans; /* by store */
	size_t first = *span, missing = 0;
	for (; *span < spans->n && spans->items[*span].store == store; ++*span)
		missing += spans->items[*span].by_scan;
	if (missing > 0)
		pm_damage_add(t->list, path_of(t, store, index_file(s)), PM_NO_OFFSET, PM_NO_OFFSET,
			"the metadata index lacks %zu of %zu spans: their trace ids are not known",
			missing, *span - first);
}

static int gather(void *context, struct pm_error *err)
{
	struct telling t = {.z = context};
	const struct zts_aggregate *a;
	size_t span = 0;
	int r = zts_get_survey(t.z, &t.v, err);
	if (r == 0)
		r = zts_get_aggregate(t.z, &a, err);
	if (r < 0)
		return r;
	t.list = &t.z->found;
	*t.list = (struct pm_damage_list)PM_DAMAGE_LIST_INIT;
	pm_damage_add_all(t.list, &t.z->stores.damage);
	pm_damage_add_all(t.list, &t.v->damage);
	pm_damage_add_all(t.list, &a->damage);
	for (uint32_t i = 0; i < t.z->stores.n; i++) {
		pm_damage_add_all(t.list, &t.z->stores.items[i].damage);
		tell_chunks(&t, i);
		tell_index(&t, i, &span);
		if (t.z->stores.items[i].chunks.n > 0 && t.z->stores.items[i].texts.n == 0)
			pm_damage_add(t.list, path_of(&t, i, ""), PM_NO_OFFSET, PM_NO_OFFSET,
				"the store has no text index: names are shown as #ID");
	}
	for (uint32_t i = 0; i < t.v->n; i++) {
		const struct zts_trace *trace = &t.v->traces[i];
		for (uint32_t k = 0; (trace->lost || trace->moved) && k < trace->n_parts; k++)
			tell_part(&t, trace, &t.v->parts[trace->part + k]);
	}
	if (a->all->left_out > 0)
		pm_damage_add(t.list, "", PM_NO_OFFSET, PM_NO_OFFSET,
			"%llu calls are not in contexts/: there are too many call paths",
			(unsigned long long)a->all->left_out);
	if (t.list->no_memory) {
		pm_damage_done(t.list);
		return pm_error_plain(err, -ENOMEM);
	}
	t.z->damages = pm_damage_rows(t.list);
	return 0;
}

int zts_damage(void *opened, struct pm_error *err)
{
	struct zts_opened *z = opened;
	return pm_lazy_get(&z->damage_once, gather, z, err);
}
