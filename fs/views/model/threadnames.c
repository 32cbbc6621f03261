/*
 * Directories of threads, key=value/key=value, and the identity columns of threads.csv, which have
 * the same keys. Keys come from the database and are made plain here.
 */
#include "fs/views/model/model.h"

#include "formats/common/map.h"
#include "fs/views/model/parts.h"

/* Other columns of threads.csv; of those for metrics, the ones without a suffix. */
static const char *const fixed_columns[] = {"thread_id", "contexts", "values", "samples",
	"first_ns", "last_ns", "file", "path", "calls", "statements", "errors"};

/*
 * Whether it could be the column of a metric; the actual columns are not known without reading
 * values.
 */
static bool looks_like_metric(const char *name)
{
	size_t n = strlen(name);
	return n > 5 && (strcmp(name + n - 5, "_incl") == 0 || strcmp(name + n - 5, "_excl") == 0);
}

static char plain_char(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (char)(c - 'A' + 'a');
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ? c : '_';
}

/* Makes a key of [a-z0-9_] that is not in `taken`, and adds it there. */
static const char *plain_key(struct pm_arena *a, struct pm_strtab *taken, const char *key)
{
	for (unsigned number = 1;; number++) {
		char *name = number == 1 ? pm_arena_printf(a, "%s", *key ? key : "key")
					 : pm_arena_printf(a, "%s_%u", key, number);
		for (char *c = name; *c; c++)
			*c = plain_char(*c);
		uint32_t n = taken->n;
		if (!looks_like_metric(name) && pm_strtab_add(taken, pm_bytes_of(name)) == n)
			return name;
	}
}

/* threads/key=value/…; a thread without an identity has its id. */
static void add_path(struct pm_text *t, const struct pm_thread *thread, const char *const *keys)
{
	pm_text_str(t, "threads");
	for (uint32_t i = 0; i < thread->n_identity; i++) {
		pm_text_char(t, '/');
		pm_text_str(t, keys[thread->identity[i].key]);
		pm_text_char(t, '=');
		pm_text_i64(t, (int64_t)thread->identity[i].value);
	}
	if (thread->n_identity == 0) {
		pm_text_str(t, "/profile=");
		pm_text_u64(t, thread->id);
	}
}

static void build_names(struct pm_arena *a, void *m, void *p, struct pm_error *err)
{
	struct pmfs_thread_names *names = p;
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct pm_strtab taken = pm_strtab_in(scratch), tab = pm_strtab_in(scratch);
	struct pm_text text = {.arena = scratch};
	const struct pm_threads *threads;
	pm_build_check(a, pmfs_model_threads(m, &threads, err));
	const char **before = pm_arena_array(a, (size_t)threads->n_keys + 2, sizeof(*before));
	const char **paths = pm_arena_array(a, threads->n, sizeof(*paths));
	uint32_t *seen = pm_arena_array(scratch, threads->n, sizeof(*seen));
	for (size_t i = 0; i < sizeof(fixed_columns) / sizeof(*fixed_columns); i++)
		pm_strtab_add(&taken, pm_bytes_of(fixed_columns[i]));
	before[0] = "thread_id";
	for (uint32_t i = 0; i < threads->n_keys; i++)
		before[i + 1] = plain_key(a, &taken, threads->keys[i]);
	for (uint32_t i = 0; i < threads->n; i++) {
		pm_text_clear(&text);
		add_path(&text, &threads->threads[i], before + 1);
		uint32_t path = pm_strtab_add(&tab, pm_text_view(&text));
		if (++seen[path] > 1)
			pm_text_printf(&text, "~%u", seen[path]);
		paths[i] = pm_arena_printf(a, "%.*s", (int)text.len, text.p);
	}
	pm_arena_done(scratch);
	*names = (struct pmfs_thread_names){threads->n, paths, before};
}

int pmfs_model_thread_names(
	struct pmfs_model *m, const struct pmfs_thread_names **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {sizeof(struct pmfs_thread_names),
		.what = "the names of threads", .build = build_names};
	return pmfs_model_part(m, PMFS_PART_THREADS, &type, ret, err);
}

int pmfs_thread_path(struct pmfs_model *m, uint32_t thread, const char **ret, struct pm_error *err)
{
	const struct pmfs_thread_names *names;
	int r = pmfs_model_thread_names(m, &names, err);
	if (r < 0)
		return r;
	if (thread >= names->n)
		return pm_error_set(err, -ENOENT, NULL, PM_NO_OFFSET, "no thread %u", thread);
	*ret = names->paths[thread];
	return 0;
}

int pmfs_call_path(struct pmfs_model *m, uint32_t thread, uint64_t seq, struct pm_text *scratch,
	struct pm_bytes *ret, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	const char *directory = "";
	size_t before = scratch->len;
	if (pm_profile_has(p, threads)) {
		int r = pmfs_thread_path(m, thread, &directory, err);
		*ret = pm_bytes_of(directory);
		return r;
	}
	int r = p->ops->call_path(p, seq, scratch, err);
	*ret = (struct pm_bytes){(const uint8_t *)scratch->p + before, scratch->len - before};
	return r;
}
