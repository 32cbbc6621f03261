/* Finds the files of a store that contain the records of its index, and the valid records. */
#include "formats/zts/index.h"

#include "formats/common/cursor.h"

/* The id of the text `call.method`, under which the index stores a trace's method; 0: none. */
static uint64_t find_method_key(const struct zts_texts *texts)
{
	static const struct pm_bytes key = {(const uint8_t *)"call.method", 11};
	static const struct pm_bytes marked = {(const uint8_t *)"\4call.method\4", 13};
	for (size_t i = 0; i < texts->n; i++)
		if (pm_bytes_equal(texts->items[i].raw, key) ||
			pm_bytes_equal(texts->items[i].raw, marked))
			return texts->items[i].id;
	return 0;
}

static int read_file(struct zts_spans *spans, struct zts_stores *stores, uint32_t store,
	const struct zts_file *file, uint64_t method_key)
{
	bool whole = true;
	int r = 0;
	if (!pm_bytes_fetch(file->data))
		return -ENOMEM;
	if (file->kind == ZTS_FILE_META)
		r = zts_meta_carve(spans, file->data, store, method_key, &whole);
	if (file->kind == ZTS_FILE_META_OLD)
		r = zts_meta_read_old(spans, file->data, store, &whole);
	if (!whole) {
		struct pm_arena names = {0};
		const char *path = zts_store_path(&stores->items[store], &names, file->name);
		if (path)
			pm_damage_add(&stores->damage, path, 0, PM_NO_OFFSET,
				file->kind == ZTS_FILE_META
					? "records share their bytes: not all of them are read"
					: "is no qmeta.idx, or shorter than it says");
		pm_arena_done(&names);
	}
	return r;
}

int zts_index_read(struct zts_spans *spans, struct zts_stores *stores, uint32_t store,
	const struct zts_texts *texts)
{
	const struct zts_store *st = &stores->items[store];
	uint64_t method_key = find_method_key(texts);
	int r = 0;
	for (size_t i = 0; i < st->n_files && r == 0; i++) {
		const struct zts_file *file = &st->files[i];
		if (file->kind != ZTS_FILE_META && file->kind != ZTS_FILE_META_OLD)
			continue;
		r = read_file(spans, stores, store, file, method_key);
		if (r == 0 && !zts_file_same(st, file))
			r = -EIO;
	}
	return r;
}
