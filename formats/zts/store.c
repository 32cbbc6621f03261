/* Access to an opened store: its text index and its payloads, and whether it has changed. */
#include "formats/zts/store.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include "formats/common/cursor.h"
#include "formats/zts/names.h"

char *zts_store_path(const struct zts_store *store, struct pm_arena *arena, const char *file)
{
	return pm_arena_printf(arena, "%s%s", store->place, file);
}

bool zts_file_same(const struct zts_store *store, const struct zts_file *file)
{
	struct stat st;
	char path[ZTS_NUMBER_DIGITS + sizeof("/") + NAME_MAX]; /* lack of memory is not a change */
	snprintf(path, sizeof(path), "%s%s", store->place, file->name);
	if (fstatat(store->folder, path, &st, 0) != 0)
		return false;
	struct pm_stamp is = pm_stamp_of(&st);
	return pm_stamp_compare(&file->stamp, &is) == PM_UNCHANGED;
}

bool zts_stores_changed(struct zts_stores *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		struct zts_store *store = &s->items[i];
		if (pm_input_changed(&store->traces))
			return true;
		for (size_t k = 0; k < store->n_files; k++)
			if (pm_input_changed(&store->files[k].input))
				return true;
	}
	return false;
}

/* ---- on need ---- */

enum { LOST_IDS = 1 << 16 };

static int read_texts(void *context, struct pm_error *err)
{
	struct zts_store *store = context;
	struct pm_arena names = {0};
	int r = 0;
	store->texts.store = store->number;
	store->damage = (struct pm_damage_list)PM_DAMAGE_LIST_INIT;
	for (size_t i = 0; i < store->n_files && r == 0; i++) {
		const struct zts_file *file = &store->files[i];
		if (!pm_bytes_fetch(file->data))
			r = -ENOMEM;
		const char *path = zts_store_path(store, &names, file->name);
		if (!path || r < 0)
			r = -ENOMEM;
		else if (file->kind == ZTS_FILE_WAL)
			r = zts_texts_add_wal(&store->texts, file->data, &store->damage, path);
		else if (file->kind == ZTS_FILE_FM)
			r = zts_texts_add_fm(&store->texts, file->data, &store->damage, path);
		if (r == 0 && file->kind == ZTS_FILE_FM && !zts_file_same(store, file))
			r = pm_error_set(
				err, -EIO, path, PM_NO_OFFSET, "has changed since it was mounted");
	}
	pm_arena_done(&names);
	if (r == 0)
		r = store->damage.no_memory ? -ENOMEM : zts_texts_freeze(&store->texts);
	/* Ids ascend from that of the first text on; some may have been lost. */
	uint64_t first = store->texts.n ? store->texts.items[0].id : 0;
	store->n_methods = 2 * store->texts.n + LOST_IDS;
	store->first_method = first < LOST_IDS ? 0 : first;
	if (r == 0 && !(store->methods = calloc(store->n_methods, sizeof(*store->methods))))
		r = -ENOMEM;
	if (r < 0) {
		zts_texts_done(&store->texts);
		pm_damage_done(&store->damage);
		return pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory for the text index");
	}
	return 0;
}

int zts_store_texts(struct zts_store *store, const struct zts_texts **ret, struct pm_error *err)
{
	int r = pm_lazy_get(&store->texts_once, read_texts, store, err);
	*ret = &store->texts;
	return r;
}

uint32_t zts_method_find(struct zts_stores *s, uint32_t store, uint64_t id)
{
	enum { ID_BITS = 40 };
	struct zts_methods *m = &s->methods;
	const struct zts_store *of = &s->items[store];
	uint64_t at = id - of->first_method, key = (uint64_t)store << ID_BITS | id;
	bool other = at >= of->n_methods && id >> ID_BITS == 0, is_new;
	pthread_mutex_lock(&m->lock);
	const uint32_t *known = other ? pm_map_find(&m->others, key) : NULL;
	uint32_t number = known ? *known : PM_NONE;
	if (!known) {
		struct pm_text name = {.p = NULL};
		zts_name_method(&of->texts, id, &name);
		m->names.arena = &m->arena;
		if (!name.failed)
			number = pm_strtab_add(&m->names, pm_text_view(&name));
		if (other && number != PM_NONE)
			pm_map_put(&m->others, key, number, &is_new);
		pm_text_done(&name);
	}
	pthread_mutex_unlock(&m->lock);
	if (at < of->n_methods && number != PM_NONE)
		__atomic_store_n(&of->methods[at], number + 1, __ATOMIC_RELAXED);
	return number;
}

struct pm_bytes zts_method_name(struct zts_stores *s, uint32_t method)
{
	pthread_mutex_lock(&s->methods.lock);
	struct pm_bytes name = s->methods.names.items[method];
	pthread_mutex_unlock(&s->methods.lock);
	return name;
}

static int walk_chunks(void *context, struct pm_error *err)
{
	struct zts_store *store = context;
	struct zts_chunks found;
	int r = zts_chunks_walk(&found, store->traces.bytes, err);
	if (r < 0) {
		zts_chunks_done(&found);
		return r;
	}
	found.watch = store->watch;
	store->chunks = found;
	return 0;
}

int zts_store_chunks(struct zts_store *store, const struct zts_chunks **ret, struct pm_error *err)
{
	*ret = &store->chunks;
	return pm_lazy_get(&store->chunks_once, walk_chunks, store, err);
}

static void payload_free(struct pm_cached *c)
{
	struct zts_payload *payload = (struct zts_payload *)c;
	free(payload->memory);
	free(payload);
}

struct wanted_chunk {
	const struct zts_chunks *chunks;
	uint32_t chunk;
	bool shared;
	struct pm_cache *cache;
};

/* Other payloads leave the cache before this one is in memory, not after. */
static int read_in_turn(
	const struct wanted_chunk *wanted, uint8_t **ret, enum zts_status *ret_status)
{
	int64_t bytes = (int64_t)zts_chunk_takes(wanted->chunks, wanted->chunk);
	pm_cache_reserve(wanted->cache, bytes);
	int r = zts_chunk_read(wanted->chunks, wanted->chunk, ret, ret_status);
	pm_cache_reserve(wanted->cache, -bytes);
	return r;
}

static int build_payload(void *context, struct pm_cached **ret, struct pm_error *err)
{
	const struct wanted_chunk *wanted = context;
	const struct zts_chunk *chunk = &wanted->chunks->chunks[wanted->chunk];
	struct zts_payload *payload = calloc(1, sizeof(*payload));
	enum zts_status status;
	int r = payload ? read_in_turn(wanted, &payload->memory, &status) : -ENOMEM;
	if (r < 0) {
		free(payload);
		return pm_is_passing(r) ? pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory")
					: pm_error_set(err, -EIO, "traces.dat", chunk->offset, "%s",
						  zts_status_text(status));
	}
	payload->bytes = (struct pm_bytes){payload->memory, chunk->bytes};
	payload->cached = (struct pm_cached){
		.bytes = payload->bytes.len + sizeof(*payload), .free = payload_free};
	payload->shared = wanted->shared;
	*ret = &payload->cached;
	return 0;
}

int zts_payload_get(struct zts_stores *s, uint32_t store, uint32_t chunk, bool shared,
	const struct zts_payload **ret, struct pm_error *err)
{
	/* Stores have numbers of six hexadecimal digits: there are fewer than 2^24. */
	uint64_t key = (uint64_t)ZTS_KEPT_PAYLOADS << 56 | (uint64_t)store << 32 | chunk;
	struct wanted_chunk wanted = {.chunk = chunk, .shared = shared, .cache = s->cache};
	struct pm_cached *payload;
	int r = zts_store_chunks(&s->items[store], &wanted.chunks, err);
	if (r == 0)
		r = shared ? pm_cache_get(s->cache, key, build_payload, &wanted, &payload, err)
			   : build_payload(&wanted, &payload, err);
	*ret = r < 0 ? NULL : (struct zts_payload *)payload;
	return r;
}

void zts_payload_release(struct zts_stores *s, const struct zts_payload *payload)
{
	struct pm_cached *cached = (struct pm_cached *)(uintptr_t)payload;
	if (payload->shared)
		pm_cache_release(s->cache, cached);
	else
		payload_free(cached);
}
