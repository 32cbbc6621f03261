/*
 * The files of a trace store, or of a directory of stores, as they were when mounted. The writer
 * may continue: files stay mapped at their original length, and nothing is ever written or created.
 */
#ifndef PROFMOUNT_FORMATS_ZTS_STORE_H
#define PROFMOUNT_FORMATS_ZTS_STORE_H

#include <pthread.h>

#include "formats/common/cache.h"
#include "formats/common/damage.h"
#include "formats/common/input.h"
#include "formats/common/lazy.h"
#include "formats/common/map.h"
#include "formats/zts/chunks.h"
#include "formats/zts/texts.h"

/* Of the number that a sub-store's folder is named by. */
enum { ZTS_NUMBER_DIGITS = 6 };

enum zts_file_kind {
	ZTS_FILE_WAL,
	ZTS_FILE_FM,
	ZTS_FILE_META,     /* meta.db.p, meta.db.t */
	ZTS_FILE_META_OLD, /* qmeta.idx */
};

struct zts_file {
	enum zts_file_kind kind;
	const char *name;
	struct pm_input input; /* its descriptor is closed; of a WAL, all of it */
	struct pm_stamp stamp;
	struct pm_bytes data; /* of a WAL: a copy of what was written when it was opened */
};

struct zts_store {
	const char *number; /* six hex digits */
	const char *place;  /* of the folder below the source: `000000/`, or empty */
	int folder;         /* that the stores are in; not owned */
	struct pm_input traces;
	struct pm_watch *watch; /* of traces; owned */
	struct pm_lazy chunks_once;
	struct zts_chunks chunks; /* see zts_store_chunks */
	struct zts_file *files;
	size_t n_files, file_room;
	struct pm_lazy texts_once;
	struct zts_texts texts; /* see zts_store_texts */
	uint32_t *methods;      /* by id, see zts_method_of; made with the texts */
	uint64_t first_method;
	size_t n_methods;
	struct pm_damage_list damage; /* found while reading texts */
};

/* Methods of all stores, numbered: by their full names, because ids differ between stores. */
struct zts_methods {
	pthread_mutex_t lock; /* of all of it */
	struct pm_strtab names;
	struct pm_arena arena;
	struct pm_map others; /* store and id without a place in zts_store.methods → number */
};

struct zts_stores {
	struct zts_store *items; /* by number */
	uint32_t n;
	size_t room;
	int folder;                   /* owned */
	struct pm_arena arena;        /* names, and what WAL files held */
	struct pm_damage_list damage; /* found while opening */
	struct pm_cache *cache;       /* of decompressed chunks and call trees; not owned */
	struct zts_methods methods;
	uint64_t input_bytes;
	uint64_t mtime_ns;
};

/* Six hexadecimal digits: the name of a sub-store's folder. */
bool zts_store_is_number(const char *name);

/* What the stores keep in the cache: the highest byte of its key. */
enum { ZTS_KEPT_PAYLOADS = PM_CACHE_FORMAT, ZTS_KEPT_TREES, ZTS_KEPT_SAMPLES };

/* Opens the stores below a folder, or the one that it is. `name` is the folder's own. */
int zts_stores_open(struct zts_stores *s, int folder, const char *name, struct pm_cache *cache,
	struct pm_error *err);
void zts_stores_close(struct zts_stores *s);

/*
 * The list of chunks, built on first need, which reads a page of traces.dat for each. The survey
 * includes it. Fails only with -ENOMEM.
 */
int zts_store_chunks(struct zts_store *store, const struct zts_chunks **ret, struct pm_error *err);

/* The text index, read on first need. */
int zts_store_texts(struct zts_store *store, const struct zts_texts **ret, struct pm_error *err);

/* Slow path of zts_method_of. */
uint32_t zts_method_find(struct zts_stores *s, uint32_t store, uint64_t id);

/* The number of a method whose id is of that store, whose texts were read; PM_NONE: no memory. */
static inline uint32_t zts_method_of(struct zts_stores *s, uint32_t store, uint64_t id)
{
	const struct zts_store *of = &s->items[store];
	uint64_t at = id - of->first_method;
	uint32_t known = 0; /* number + 1 */
	if (at < of->n_methods)
		known = __atomic_load_n(&of->methods[at], __ATOMIC_RELAXED);
	return known ? known - 1 : zts_method_find(s, store, id);
}

/* The full name of the method with that number, as long as the stores are open. */
struct pm_bytes zts_method_name(struct zts_stores *s, uint32_t method);

/*
 * Whether a file, which is read only once, is unchanged since it was opened. Call after reading it.
 */
bool zts_file_same(const struct zts_store *store, const struct zts_file *file);

/* True if a traces.dat has changed other than by growing, or a page of any file is lost. */
bool zts_stores_changed(struct zts_stores *s);

/*
 * The payload of a valid chunk, out of the cache or, without `shared`, for the caller alone;
 * release it with zts_payload_release. -EIO with the reason for an invalid chunk.
 */
struct zts_payload {
	struct pm_cached cached;
	bool shared;
	struct pm_bytes bytes;
	uint8_t *memory;
};

int zts_payload_get(struct zts_stores *s, uint32_t store, uint32_t chunk, bool shared,
	const struct zts_payload **ret, struct pm_error *err);
void zts_payload_release(struct zts_stores *s, const struct zts_payload *payload);

/* The name of a file of a store, relative to the source; NULL if out of memory. */
char *zts_store_path(const struct zts_store *store, struct pm_arena *arena, const char *file);

#endif
