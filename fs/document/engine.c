/*
 * Chooses how each kind of document is answered:
 *
 * - BYTES: the map itself - FILE: a file descriptor, for the length of the answer - TEXT, LINK:
 * a body, as a whole - CSV, TSV: a body, as a whole if it is small, else marks - PARQUET: a
 * body: positions of row groups, and the footer if the table was measured
 */
#include "fs/document/engine.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/common/beneath.h"
#include "formats/common/map.h"
#include "formats/common/work.h"
#include "fs/document/parquet.h"
#include "fs/document/spares.h"

enum { PMFS_N_SIZES = 1 << 17 };

struct known_size {
	uint64_t key, size;
};

struct sizes {
	pthread_mutex_t lock;
	struct known_size known[PMFS_N_SIZES];
	bool forgot[PMFS_N_SIZES]; /* if two sizes use the same slot, the earlier one is lost */
};

/* O(1). `*ret` is set if the size is known; that of key 0 never is. */
enum pmfs_size pmfs_sizes_get(struct sizes *s, uint64_t key, uint64_t *ret);

/*
 * ---- sizes ----
 *
 * They are kept outside the cache, in a table of fixed size, because they are requested far
 * more often than text.
 */

static size_t slot_of(uint64_t key)
{
	return pm_hash_u64(key) % PMFS_N_SIZES;
}

static void sizes_put(struct sizes *s, uint64_t key, uint64_t size)
{
	size_t slot = slot_of(key);
	pthread_mutex_lock(&s->lock);
	if (s->known[slot].key != 0 && s->known[slot].key != key)
		s->forgot[slot] = true;
	s->known[slot] = (struct known_size){.key = key, .size = size};
	pthread_mutex_unlock(&s->lock);
}

/* Forgets the sizes for whose keys belongs(context, key) is true: these keys mean something else
 * from now on. */
static void sizes_purge(
	struct sizes *s, bool (*belongs)(void *context, uint64_t key), void *context)
{
	pthread_mutex_lock(&s->lock);
	for (size_t i = 0; i < PMFS_N_SIZES; i++)
		if (s->known[i].key && belongs(context, s->known[i].key))
			s->known[i] = (struct known_size){.key = 0};
	pthread_mutex_unlock(&s->lock);
}

enum pmfs_size pmfs_sizes_get(struct sizes *s, uint64_t key, uint64_t *ret)
{
	size_t slot = slot_of(key);
	pthread_mutex_lock(&s->lock);
	struct known_size found = s->known[slot];
	bool forgot = s->forgot[slot];
	pthread_mutex_unlock(&s->lock);
	if (found.key == key && key != 0) {
		*ret = found.size;
		return PMFS_SIZE_KNOWN;
	}
	return forgot ? PMFS_SIZE_FORGOTTEN : PMFS_SIZE_NEVER_TOLD;
}

/* ---- answers ---- */

/* Readers of texts of at least this size are expected to read the rest. */
enum { LARGE = 1 << 20 };

struct pmfs_engine {
	const struct pm_profile *profile;
	struct pm_cache *cache;
	struct sizes sizes;
	struct pmfs_spares spares;
};

struct pmfs_engine *pmfs_engine_new(const struct pm_profile *profile, struct pm_cache *cache)
{
	struct pmfs_engine *e = calloc(1, sizeof(*e));
	if (!e)
		return NULL;
	e->profile = profile;
	e->cache = cache;
	pthread_mutex_init(&e->sizes.lock, NULL);
	pmfs_spares_init(&e->spares);
	return e;
}

void pmfs_engine_free(struct pmfs_engine *e)
{
	if (!e)
		return;
	pmfs_spares_done(&e->spares);
	pthread_mutex_destroy(&e->sizes.lock);
	free(e);
}

static const struct pm_profile *profile_of(const struct pmfs_engine *e, const struct pm_doc *doc)
{
	return doc->of ? doc->of : e->profile;
}

static int refuse_if_changed(
	const struct pmfs_engine *e, const struct pm_doc *doc, struct pm_error *err)
{
	const struct pm_profile *profile = profile_of(e, doc);
	if (!pm_profile_changed(profile))
		return 0;
	return pm_error_set(err, -EIO, profile->source, PM_NO_OFFSET,
		"has changed since it was opened, or cannot be read");
}

struct build {
	struct pmfs_engine *e;
	uint64_t key;
	const struct pm_doc *doc;
};

static int build_body(void *context, struct pm_cached **ret, struct pm_error *err)
{
	struct build *b = context;
	struct pmfs_body *body;
	int r = pmfs_body_build(b->doc, b->e->cache, b->key, &body, err);
	if (r < 0)
		return r;
	r = refuse_if_changed(b->e, b->doc, err);
	if (r < 0) {
		body->cached.free(&body->cached);
		return r;
	}
	*ret = &body->cached;
	return 0;
}

static int body_get(struct pmfs_engine *e, uint64_t key, const struct pm_doc *doc,
	struct pmfs_body **ret, struct pm_error *err)
{
	struct build b = {.e = e, .key = key, .doc = doc};
	struct pm_cached *cached;
	int r = pm_cache_get(e->cache, key, build_body, &b, &cached, err);
	if (r < 0)
		return r;
	*ret = (struct pmfs_body *)cached;
	sizes_put(&e->sizes, key, (*ret)->size);
	return 0;
}

static int file_size(
	struct pmfs_engine *e, const struct pm_doc *doc, uint64_t *ret, struct pm_error *err)
{
	int fd;
	if (!pm_work_may_build())
		return pm_error_plain(err, PM_WOULD_BUILD);
	int r = pm_open_unchanged(
		doc->file.folder, doc->file.path, profile_of(e, doc)->opened_ns, &fd, ret, err);
	if (r == 0)
		close(fd);
	return r;
}

/* Renders a document that is too small for a cache entry; the caller owns `*ret`. */
static int render_brief(
	struct pmfs_engine *e, const struct pm_doc *doc, struct pm_text *ret, struct pm_error *err)
{
	*ret = (struct pm_text){.p = NULL};
	int r = doc->text.render(doc, ret, err);
	if (r == 0)
		r = pm_text_status(ret);
	if (r == 0)
		r = refuse_if_changed(e, doc, err);
	if (r < 0)
		pm_text_done(ret);
	return r < 0 ? pm_error_plain(err, r) : 0;
}

static bool is_brief(const struct pm_doc *doc)
{
	return doc->kind == PM_DOC_TEXT && doc->text.brief;
}

static int brief_size(
	struct pmfs_engine *e, const struct pm_doc *doc, uint64_t *ret, struct pm_error *err)
{
	struct pm_text text;
	int r = render_brief(e, doc, &text, err);
	*ret = text.len;
	pm_text_done(&text);
	return r;
}

int pmfs_engine_size(struct pmfs_engine *e, uint64_t key, const struct pm_doc *doc, uint64_t *ret,
	struct pm_error *err)
{
	struct pmfs_body *body;
	if (doc->kind == PM_DOC_BYTES) {
		*ret = doc->bytes.len;
		return 0;
	}
	if (doc->kind == PM_DOC_FILE)
		return file_size(e, doc, ret, err);
	if (is_brief(doc))
		return brief_size(e, doc, ret, err);
	if (pmfs_sizes_get(&e->sizes, key, ret) == PMFS_SIZE_KNOWN)
		return 0;
	int r = body_get(e, key, doc, &body, err);
	if (r < 0)
		return r;
	*ret = body->size;
	/*
	 * Reads start with the size; a text that is too large for the cache would be rendered
	 * twice.
	 */
	if (body->whole && body->cached.bytes > pm_cache_limit(e->cache))
		pm_cache_keep(&body->cached, true);
	pm_cache_release(e->cache, &body->cached);
	return 0;
}

enum pmfs_size pmfs_engine_recall(struct pmfs_engine *e, uint64_t key, uint64_t *ret)
{
	return pmfs_sizes_get(&e->sizes, key, ret);
}

static int read_bytes(const struct pm_doc *doc, uint64_t off, size_t len, struct pmfs_piece *ret)
{
	if (off >= doc->bytes.len)
		return 0;
	size_t left = doc->bytes.len - (size_t)off;
	*ret = (struct pmfs_piece){
		.p = doc->bytes.p + off, .len = len < left ? len : left, .mapped = true};
	return 0;
}

static int read_file(struct pmfs_engine *e, const struct pm_doc *doc, uint64_t off, size_t len,
	struct pmfs_piece *ret, struct pm_error *err)
{
	int fd;
	uint64_t size;
	if (!pm_work_may_build())
		return pm_error_plain(err, PM_WOULD_BUILD);
	int r = pm_open_unchanged(
		doc->file.folder, doc->file.path, profile_of(e, doc)->opened_ns, &fd, &size, err);
	if (r < 0)
		return r;
	if (off >= size)
		len = 0;
	else if (len > size - off)
		len = (size_t)(size - off);
	char *memory = malloc(len + 1);
	size_t done = 0;
	while (memory && done < len) {
		ssize_t n = pread(fd, memory + done, len - done, (off_t)(off + done));
		if (n <= 0)
			break;
		done += (size_t)n;
	}
	close(fd);
	if (!memory || done < len) {
		free(memory);
		return pm_error_set(err, memory ? -EIO : -ENOMEM, doc->file.path, off + done,
			memory ? "cannot be read" : "no memory");
	}
	*ret = (struct pmfs_piece){.p = memory, .len = len, .memory = memory};
	return 0;
}

struct window {
	uint64_t off;
	size_t len;
};

static int render_window(struct pmfs_body *body, const struct pm_doc *doc, const struct window *w,
	struct pm_text *out, struct pm_error *err)
{
	if (body->parquet)
		return pmfs_parquet_window(body->parquet, doc, w->off, w->len, out, err);
	if (!pm_work_may_build())
		return pm_error_plain(err, PM_WOULD_BUILD);
	return pmfs_body_window(body, doc, w->off, w->len, out, err);
}

static int read_window(struct pmfs_engine *e, struct pmfs_body *body, const struct pm_doc *doc,
	const struct window *w, struct pmfs_piece *ret, struct pm_error *err)
{
	struct pm_text out = pmfs_spares_take(&e->spares);
	int r = render_window(body, doc, w, &out, err);
	if (r == 0)
		r = pm_text_status(&out);
	if (r == 0)
		r = refuse_if_changed(e, doc, err);
	if (r < 0) {
		pmfs_spares_give(&e->spares, out.p, out.taken);
		return pm_error_plain(err, r);
	}
	*ret = (struct pmfs_piece){
		.p = out.p, .len = out.len, .memory = out.p, .memory_bytes = out.taken};
	return 0;
}

static int read_brief(struct pmfs_engine *e, const struct pm_doc *doc, uint64_t off, size_t len,
	struct pmfs_piece *ret, struct pm_error *err)
{
	struct pm_text text;
	int r = render_brief(e, doc, &text, err);
	if (r < 0)
		return r;
	size_t at = off < text.len ? (size_t)off : text.len, left = text.len - at;
	*ret = (struct pmfs_piece){
		.p = text.p ? text.p + at : "", .len = len < left ? len : left, .memory = text.p};
	return 0;
}

static int read_body(struct pmfs_engine *e, uint64_t key, const struct pm_doc *doc, uint64_t off,
	size_t len, struct pmfs_piece *ret, struct pm_error *err)
{
	struct pmfs_body *body;
	int r = body_get(e, key, doc, &body, err);
	if (r < 0)
		return r;
	if (!body->whole) {
		struct window w = {.off = off, .len = len};
		r = read_window(e, body, doc, &w, ret, err);
		pm_cache_release(e->cache, &body->cached);
		return r;
	}
	size_t at = off < body->size ? (size_t)off : (size_t)body->size;
	size_t left = (size_t)body->size - at;
	*ret = (struct pmfs_piece){.p = body->text.p ? body->text.p + at : "",
		.len = len < left ? len : left,
		.cached = &body->cached};
	if (body->size > LARGE || body->cached.bytes > pm_cache_limit(e->cache))
		pm_cache_keep(&body->cached, at + ret->len < body->size);
	return 0;
}

int pmfs_engine_read(struct pmfs_engine *e, uint64_t key, const struct pm_doc *doc, uint64_t off,
	size_t len, struct pmfs_piece *ret, struct pm_error *err)
{
	*ret = (struct pmfs_piece){.p = ""};
	if (doc->kind == PM_DOC_FILE)
		return read_file(e, doc, off, len, ret, err);
	if (is_brief(doc))
		return read_brief(e, doc, off, len, ret, err);
	if (doc->kind != PM_DOC_BYTES)
		return read_body(e, key, doc, off, len, ret, err);
	int r = refuse_if_changed(e, doc, err);
	return r < 0 ? r : read_bytes(doc, off, len, ret);
}

void pmfs_engine_release(struct pmfs_engine *e, struct pmfs_piece *piece)
{
	if (piece->cached)
		pm_cache_release(e->cache, piece->cached);
	pmfs_spares_give(&e->spares, piece->memory, piece->memory_bytes);
	*piece = (struct pmfs_piece){.p = ""};
}

void pmfs_engine_forget(struct pmfs_engine *e, uint64_t key)
{
	pm_cache_drop(e->cache, key);
}

struct purge {
	bool (*belongs)(void *context, uint64_t key, bool in_use);
	void *context;
};

static bool purge_object(void *context, uint64_t key, const struct pm_cached *object, bool in_use)
{
	const struct purge *p = context;
	if (pmfs_made_is(key) && object)
		key = ((const struct pmfs_made *)object)->of;
	return p->belongs(p->context, key, in_use);
}

static bool purge_size(void *context, uint64_t key)
{
	const struct purge *p = context;
	return p->belongs(p->context, key, false);
}

void pmfs_engine_purge(struct pmfs_engine *e,
	bool (*belongs)(void *context, uint64_t key, bool in_use), void *context)
{
	struct purge p = {belongs, context};
	pm_cache_purge(e->cache, purge_object, &p);
	sizes_purge(&e->sizes, purge_size, &p);
}

/* ---- without keeping anything ---- */

struct flow {
	struct pmfs_engine *e;
	const struct pm_doc *doc;
	bool (*take)(void *context, struct pm_bytes piece, struct pm_error *err);
	void *context;
	struct pm_error *err;
};

static bool flow_take(void *context, struct pm_bytes piece)
{
	struct flow *f = context;
	return refuse_if_changed(f->e, f->doc, f->err) == 0 && f->take(f->context, piece, f->err);
}

int pmfs_engine_flow(struct pmfs_engine *e, const struct pm_doc *doc,
	bool (*take)(void *context, struct pm_bytes piece, struct pm_error *err), void *context,
	struct pm_error *err)
{
	struct flow f = {e, doc, take, context, err};
	struct pm_text out = {.flow = flow_take, .flow_context = &f};
	int r = doc->text.render(doc, &out, err);
	if (out.full)
		r = pmfs_body_too_long(&out, err);
	if (r == 0)
		r = pm_text_status(&out);
	if (r == 0 && !flow_take(&f, pm_text_view(&out)))
		r = -EIO;
	pm_text_done(&out);
	return r < 0 && err->code ? err->code : r < 0 ? pm_error_plain(err, r) : 0;
}
