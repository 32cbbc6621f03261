/*
 * Directories of threads, key=value/key=value, and the identity columns of threads.csv, which have
 * the same keys. Keys come from the database and are made plain here.
 */
#include "fs/views/model/threadnames.h"

#include "formats/common/map.h"
#include "fs/views/model/parts.h"

struct names_part {
	struct pmfs_thread_names names;
	struct pm_arena arena;
};

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
static const char *plain_key(struct pm_arena *arena, struct pm_strtab *taken, const char *key)
{
	for (unsigned number = 1;; number++) {
		char *name = number == 1 ? pm_arena_printf(arena, "%s", *key ? key : "key")
					 : pm_arena_printf(arena, "%s_%u", key, number);
		if (!name)
			return NULL;
		for (char *c = name; *c; c++)
			*c = plain_char(*c);
		if (pm_strtab_find(taken, pm_bytes_of(name)) != UINT32_MAX ||
			looks_like_metric(name))
			continue;
		return pm_strtab_add(taken, pm_bytes_of(name)) == UINT32_MAX ? NULL : name;
	}
}

/* Fills names->before: thread_id, the keys, NULL. */
static int make_keys(struct names_part *part, const struct pm_threads *threads)
{
	struct pm_strtab taken = {.arena = NULL};
	const char **before =
		pm_arena_array(&part->arena, (size_t)threads->n_keys + 2, sizeof(*before));
	bool good = before != NULL;
	for (size_t i = 0; good && i < sizeof(fixed_columns) / sizeof(*fixed_columns); i++)
		good = pm_strtab_add(&taken, pm_bytes_of(fixed_columns[i])) != UINT32_MAX;
	if (good)
		before[0] = "thread_id";
	for (uint32_t i = 0; good && i < threads->n_keys; i++)
		good = (before[i + 1] = plain_key(&part->arena, &taken, threads->keys[i])) != NULL;
	pm_strtab_done(&taken);
	part->names.before = before;
	return good ? 0 : -ENOMEM;
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

static int make_paths(struct names_part *part, const struct pm_threads *threads)
{
	const char **paths = pm_arena_array(&part->arena, threads->n, sizeof(*paths));
	struct pm_arena scratch = {.block = NULL};
	uint32_t *seen = pm_arena_array(&scratch, threads->n, sizeof(*seen));
	struct pm_strtab tab = {.arena = &scratch};
	struct pm_text text = {.p = NULL};
	bool good = paths && seen;
	for (uint32_t i = 0; good && i < threads->n; i++) {
		pm_text_clear(&text);
		add_path(&text, &threads->threads[i], part->names.before + 1);
		uint32_t path = text.failed ? UINT32_MAX : pm_strtab_add(&tab, pm_text_view(&text));
		if (path != UINT32_MAX && ++seen[path] > 1)
			pm_text_printf(&text, "~%u", seen[path]);
		good = path != UINT32_MAX && !text.failed &&
			(paths[i] = pm_arena_printf(&part->arena, "%.*s", (int)text.len, text.p)) !=
				NULL;
	}
	pm_strtab_done(&tab);
	pm_text_done(&text);
	pm_arena_done(&scratch);
	part->names.paths = paths;
	return good ? 0 : -ENOMEM;
}

static void names_done(void *p)
{
	struct names_part *part = p;
	pm_arena_done(&part->arena);
}

static int names_fill(void *owner, void *p, struct pm_error *err)
{
	struct pmfs_model *m = owner;
	struct names_part *part = p;
	const struct pm_threads *threads;
	int r = pmfs_model_threads(m, &threads, err);
	if (r < 0)
		return r;
	if (make_keys(part, threads) < 0 || make_paths(part, threads) < 0)
		return pmfs_no_memory(err);
	part->names.n = threads->n;
	return 0;
}

int pmfs_model_thread_names(
	struct pmfs_model *m, const struct pmfs_thread_names **ret, struct pm_error *err)
{
	static const struct pm_part_type type = {
		sizeof(struct names_part), names_fill, names_done, .what = "the names of threads"};
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
