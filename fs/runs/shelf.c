/*
 * A cache of its own (formats/common/cache.h) whose objects are open runs. Runs that are released
 * while the caches are locked, and runs that a cache evicts, are queued until they can be closed
 * without holding the lock, because unmapping a large source takes milliseconds.
 */
#include "fs/runs/runs.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "formats/common/cache.h"

enum {
	MOST_OPEN = 64, /* not in use; each has descriptors */
	LEAST_OPEN = 4,
	DESCRIPTORS = 8, /* of a run: a folder and its files */
	OTHERS = 128,    /* descriptors of the server, and of files that are read for a moment */
	STAY_OPEN =
		3, /* kept regardless of size: two sides and a run that is read at the same time */
	LEAST = 64 << 10,
};

struct opened {
	struct pm_cached cached;
	struct pmfs_shelf *shelf;
	struct pm_profile *profile;
	struct pmfs_model *model;
	struct pm_cache *own; /* the format's cache for this run */
	struct opened *next;  /* queue of those to be closed */
};

/* A run, open or not. */
struct slot {
	struct pm_error *error; /* of a permanent failure, or NULL */
	struct opened *opened;  /* in use */
	uint32_t users;
	uint32_t leaving; /* releases not yet passed to the cache */
	uint32_t next;    /* next slot with such releases; PM_NONE: the last */
	bool listed;
};

struct pmfs_shelf {
	const struct pmfs_runs *runs;
	struct pmfs_shelf_options options;
	uint64_t share; /* of the cache, that a run takes at least */
	struct pm_cache *cache;
	pthread_mutex_t lock; /* protects the following; may be taken while the caches are locked */
	struct slot *slots;
	uint32_t leaving; /* the first slot with pending releases */
	struct opened *dead;
	bool has_metric;                    /* atomic: a run has options.metric */
	bool has_derived[PM_LIMIT_DERIVED]; /* atomic: a run has columns of the definition */
};

static void close_opened(struct pm_profile *p)
{
	pm_profile_close(p);
}

static void opened_close(struct opened *o)
{
	pmfs_model_free(o->model);
	pm_cache_free(o->own);
	if (o->profile && o->profile->ops->close)
		o->profile->ops->close(o->profile);
	else
		pm_profile_close(o->profile);
	free(o);
}

static void opened_drop(struct pm_cached *cached)
{
	struct opened *o = (struct opened *)cached;
	struct pmfs_shelf *s = o->shelf;
	pthread_mutex_lock(&s->lock);
	o->next = s->dead;
	s->dead = o;
	pthread_mutex_unlock(&s->lock);
}

/* ---- pending releases ---- */

static struct opened *take_dead(struct pmfs_shelf *s)
{
	pthread_mutex_lock(&s->lock);
	struct opened *dead = s->dead;
	s->dead = NULL;
	pthread_mutex_unlock(&s->lock);
	return dead;
}

/* A pending release, or NULL. */
static struct opened *take_leaving(struct pmfs_shelf *s)
{
	struct opened *o = NULL;
	pthread_mutex_lock(&s->lock);
	if (s->leaving != PM_NONE) {
		struct slot *slot = &s->slots[s->leaving];
		o = slot->opened;
		slot->leaving--;
		slot->users--;
		if (slot->users == 0)
			slot->opened = NULL;
		if (slot->leaving == 0) {
			s->leaving = slot->next;
			slot->listed = false;
		}
	}
	pthread_mutex_unlock(&s->lock);
	return o;
}

/* Must not be called while the caches are locked. */
static void tidy_up(struct pmfs_shelf *s)
{
	struct opened *o;
	while ((o = take_leaving(s)))
		pm_cache_release(s->cache, &o->cached);
	struct opened *dead = take_dead(s);
	while ((o = dead)) {
		dead = o->next;
		opened_close(o);
	}
}

/* ---- opening ---- */

struct build {
	struct pmfs_shelf *shelf;
	uint32_t run;
};

/* A run without that quantity uses its own primary quantity. */
static int model_of(struct opened *o, const char *metric, struct pm_error *err)
{
	const struct pmfs_definitions *derived = o->shelf->options.derived;
	const struct pmfs_columns *c;
	o->model = pmfs_filter_model_new(o->profile);
	if (!o->model)
		return pm_error_plain(err, -ENOMEM);
	pmfs_model_set_definitions(o->model, derived);
	if (derived && pmfs_model_column_names(o->model, &c, NULL) == 0)
		for (uint32_t i = 0; i < c->n_derived; i++)
			for (uint32_t k = 0; k < derived->n; k++)
				if (pm_bytes_equal(derived->items[k].name,
					    pm_bytes_of(c->derived[i].base)))
					__atomic_store_n(
						&o->shelf->has_derived[k], true, __ATOMIC_RELAXED);
	int r = metric ? pmfs_model_lead_with(o->model, metric, NULL) : 0;
	if (metric && r == 0)
		__atomic_store_n(&o->shelf->has_metric, true, __ATOMIC_RELAXED);
	if (!pm_is_lasting(r))
		return r < 0 ? pm_error_plain(err, r) : 0;
	pmfs_model_free(o->model);
	o->model = pmfs_filter_model_new(o->profile);
	if (!o->model)
		return pm_error_plain(err, -ENOMEM);
	pmfs_model_set_definitions(o->model, derived);
	return 0;
}

bool pmfs_shelf_lacks_metric(const struct pmfs_shelf *s)
{
	return s->options.metric && !__atomic_load_n(&s->has_metric, __ATOMIC_RELAXED);
}

bool pmfs_shelf_lacks_derived(const struct pmfs_shelf *s, uint32_t definition)
{
	return !__atomic_load_n(&s->has_derived[definition], __ATOMIC_RELAXED);
}

static int open_run(struct opened *o, uint32_t run, struct pm_error *err)
{
	struct pmfs_shelf *s = o->shelf;
	struct pm_open_options open = s->options.open;
	open.cache = o->own = pm_cache_new(s->options.cache_bytes / MOST_OPEN);
	if (!o->own)
		return pm_error_plain(err, -ENOMEM);
	const struct pmfs_run *given = &s->runs->runs[run];
	open.source = given->path;
	open.files = given->files;
	open.n_files = given->n_files;
	int r = pm_profile_open(given->open ? given->open : given->path,
		given->format ? given->format : s->options.format, &open, &o->profile, err);
	if (r == 0 && s->options.n_filters > 0) {
		struct pm_profile *p = o->profile;
		o->profile = NULL;
		r = pmfs_filter_all(p, close_opened, s->options.filters, s->options.n_filters,
			&o->profile, err);
		o->profile = r < 0 ? NULL : o->profile;
	}
	if (r == 0)
		r = pm_profile_ready(o->profile, err);
	return r < 0 ? r : model_of(o, s->options.metric, err);
}

static int opened_build(void *context, struct pm_cached **ret, struct pm_error *err)
{
	const struct build *b = context;
	struct opened *o = calloc(1, sizeof(*o));
	if (!o)
		return pm_error_plain(err, -ENOMEM);
	o->shelf = b->shelf;
	int r = open_run(o, b->run, err);
	if (r < 0) {
		opened_close(o);
		return r;
	}
	o->cached = (struct pm_cached){
		.bytes = pmfs_shelf_bytes(b->shelf, o->profile), .free = opened_drop};
	*ret = &o->cached;
	return 0;
}

/* Makes an error of a run permanent. */
static void keep_error(struct pmfs_shelf *s, uint32_t run, const struct pm_error *error)
{
	struct pm_error *copy = malloc(sizeof(*copy));
	if (!copy)
		return;
	*copy = *error;
	pthread_mutex_lock(&s->lock);
	if (!s->slots[run].error) {
		s->slots[run].error = copy;
		copy = NULL;
	}
	pthread_mutex_unlock(&s->lock);
	free(copy);
}

static int fail(struct pmfs_shelf *s, uint32_t run, int r, const struct pm_error *error,
	struct pm_error *err)
{
	if (pm_is_lasting(r))
		keep_error(s, run, error);
	if (err && !err->code)
		*err = *error;
	return r;
}

int pmfs_shelf_acquire(
	struct pmfs_shelf *s, uint32_t run, struct pmfs_model **ret, struct pm_error *err)
{
	struct pm_error error = {.offset = PM_NO_OFFSET};
	struct build b = {s, run};
	struct pm_cached *cached;
	const struct pm_error *known = pmfs_shelf_error(s, run);
	if (known)
		return fail(s, run, known->code, known, err);
	tidy_up(s);
	int r = pm_cache_get(s->cache, run, opened_build, &b, &cached, &error);
	if (r < 0) {
		/* The run exists but its source does not: this is not a missing directory. */
		error.code = r = r == -ENOENT ? -EIO : r;
		return fail(s, run, r, &error, err);
	}
	struct opened *o = (struct opened *)cached;
	pthread_mutex_lock(&s->lock);
	s->slots[run].opened = o;
	s->slots[run].users++;
	pthread_mutex_unlock(&s->lock);
	tidy_up(s);
	*ret = o->model;
	return 0;
}

void pmfs_shelf_release(struct pmfs_shelf *s, uint32_t run)
{
	struct slot *slot = &s->slots[run];
	pthread_mutex_lock(&s->lock);
	slot->leaving++;
	if (!slot->listed) {
		slot->listed = true;
		slot->next = s->leaving;
		s->leaving = run;
	}
	pthread_mutex_unlock(&s->lock);
}

const struct pm_error *pmfs_shelf_error(struct pmfs_shelf *s, uint32_t run)
{
	pthread_mutex_lock(&s->lock);
	const struct pm_error *error = s->slots[run].error;
	pthread_mutex_unlock(&s->lock);
	return error;
}

uint64_t pmfs_shelf_bytes(const struct pmfs_shelf *s, const struct pm_profile *p)
{
	/* Decoded data takes about as much as the source; mapped data takes nothing. */
	uint64_t bytes = LEAST + p->input_bytes / 2;
	return bytes > s->share ? bytes : s->share;
}

uint64_t pmfs_shelf_memory(struct pmfs_shelf *s)
{
	return pm_cache_bytes(s->cache);
}

/* ---- */

static int lend(void *self, uint32_t run, struct pmfs_model **ret, struct pm_error *err)
{
	return pmfs_shelf_acquire(self, run, ret, err);
}

static void take_back(void *self, uint32_t run)
{
	pmfs_shelf_release(self, run);
}

struct pmfs_lender pmfs_shelf_lender(struct pmfs_shelf *s)
{
	return (struct pmfs_lender){.acquire = lend, .release = take_back, .self = s};
}

/* So many runs that their descriptors, of which a server may have as few as 256, are enough. */
static uint64_t most_open(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) != 0 ||
		limit.rlim_cur >= OTHERS + MOST_OPEN * DESCRIPTORS)
		return MOST_OPEN;
	if (limit.rlim_cur <= OTHERS + LEAST_OPEN * DESCRIPTORS)
		return LEAST_OPEN;
	return (limit.rlim_cur - OTHERS) / DESCRIPTORS;
}

struct pmfs_shelf *pmfs_shelf_new(
	const struct pmfs_runs *runs, const struct pmfs_shelf_options *options)
{
	struct pmfs_shelf *s = calloc(1, sizeof(*s));
	if (!s)
		return NULL;
	s->runs = runs;
	s->options = *options;
	s->share = options->cache_bytes / most_open();
	s->leaving = PM_NONE;
	pthread_mutex_init(&s->lock, NULL);
	s->cache = pm_cache_new(options->cache_bytes);
	s->slots = calloc(runs->n + (size_t)1, sizeof(*s->slots));
	if (!s->cache || !s->slots) {
		pmfs_shelf_free(s);
		return NULL;
	}
	pm_cache_spare(s->cache, STAY_OPEN, UINT64_MAX);
	return s;
}

void pmfs_shelf_free(struct pmfs_shelf *s)
{
	if (!s)
		return;
	if (s->cache && s->slots)
		tidy_up(s);
	pm_cache_free(s->cache);
	struct opened *dead = take_dead(s), *o;
	while ((o = dead)) {
		dead = o->next;
		opened_close(o);
	}
	for (uint32_t i = 0; s->slots && i < s->runs->n; i++)
		free(s->slots[i].error);
	free(s->slots);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
