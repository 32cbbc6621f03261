#include "fs/document/made.h"

#include <stdlib.h>

#include "formats/common/map.h"

enum { KEPT_SHARE = 4 }; /* a quarter of the limit is left for other objects */

static void made_free(struct pm_cached *cached)
{
	struct pmfs_made *made = (struct pmfs_made *)cached;
	pm_text_done(&made->text);
	free(made);
}

int pmfs_made_new(const struct pmfs_parquet *p, uint64_t at, struct pm_text *text,
	struct pm_cached **ret, struct pm_error *err)
{
	struct pmfs_made *made = calloc(1, sizeof(*made));
	if (!made)
		return pm_error_plain(err, -ENOMEM);
	pm_text_shrink(text);
	*made = (struct pmfs_made){.cached.free = made_free,
		.cached.bytes = sizeof(*made) + text->taken,
		.document = p->key,
		.of = p->of,
		.at = at,
		.text = *text};
	*text = (struct pm_text){.p = NULL};
	*ret = &made->cached;
	return 0;
}

/* Bits that are not set in nodes and keys of formats: formats/common/cache.h. */
uint64_t pmfs_made_key(const struct pmfs_parquet *p, uint64_t at)
{
	return pm_hash_u64(p->key + pm_hash_u64(at)) | (uint64_t)3 << 62;
}

bool pmfs_made_is(uint64_t key)
{
	return key >> 62 == 3;
}

struct leaving {
	const struct pmfs_parquet *p;
	uint64_t at;
	struct pm_text *text;
};

static int leave(void *context, struct pm_cached **ret, struct pm_error *err)
{
	const struct leaving *l = context;
	return pmfs_made_new(l->p, l->at, l->text, ret, err);
}

void pmfs_made_keep(struct pmfs_parquet *p, uint64_t at, struct pm_text *text)
{
	struct leaving l = {.p = p, .at = at, .text = text};
	struct pm_cached *cached;
	if (!p->cache || text->len == 0)
		return;
	uint64_t limit = pm_cache_limit(p->cache);
	if (__atomic_add_fetch(&p->n_kept, text->len, __ATOMIC_RELAXED) >
		limit - limit / KEPT_SHARE)
		return;
	if (pm_cache_get(p->cache, pmfs_made_key(p, at), leave, &l, &cached, NULL) == 0)
		pm_cache_release(p->cache, cached);
}
