/*
 * Finds and opens the files of stores. A base may contain hundreds of stores, so only the
 * descriptors of traces.dat, which grows, are kept. The others are read once and checked by name
 * for changes; WAL files, which are modified in place, are copied.
 */
#include "formats/common/affix.h"
#include "formats/zts/store.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "formats/common/folder.h"
#include "formats/common/list.h"
#include "formats/common/sort.h"

/* ---- files ---- */

/* The role of a file by its name; false for files that are not read. */
static bool kind_of_file(const char *name, enum zts_file_kind *ret)
{
	bool text = strncmp(name, "text-", 5) == 0;
	if (text && pm_has_ending(pm_bytes_of(name), ".wal"))
		*ret = ZTS_FILE_WAL;
	else if (text && pm_has_ending(pm_bytes_of(name), ".fmi"))
		*ret = ZTS_FILE_FM;
	else if (strcmp(name, "meta.db.p") == 0 || strcmp(name, "meta.db.t") == 0)
		*ret = ZTS_FILE_META;
	else if (strcmp(name, "qmeta.idx") == 0)
		*ret = ZTS_FILE_META_OLD;
	else
		return false;
	return true;
}

/* A file that cannot be opened is damage, not an error. */
static int add_file(struct zts_stores *s, struct zts_store *store, int folder, const char *name)
{
	struct pm_error err = {.offset = PM_NO_OFFSET};
	enum zts_file_kind kind;
	char *path = zts_store_path(store, &s->arena, name);
	if (!kind_of_file(name, &kind))
		return 0;
	if (!path ||
		pm_list_room(&store->files, store->n_files, &store->file_room,
			sizeof(*store->files)) < 0)
		return -ENOMEM;
	struct zts_file *file = &store->files[store->n_files];
	*file = (struct zts_file){.kind = kind};
	int r = pm_input_open(&file->input, folder, name, &err);
	if (r < 0) {
		pm_damage_add(&s->damage, path, PM_NO_OFFSET, PM_NO_OFFSET, "%s", err.text);
		return pm_is_passing(r) ? r : 0;
	}
	if (file->input.fd >= 0)
		close(file->input.fd);
	file->input.fd = -1;
	file->data = file->input.bytes;
	file->stamp = file->input.stamp;
	file->name = path + strlen(store->place);
	if (kind == ZTS_FILE_WAL) {
		file->data.len = zts_wal_length(file->data);
		file->data = pm_arena_copy(&s->arena, file->data);
		if (!file->data.p)
			return -ENOMEM;
	}
	s->input_bytes += file->input.bytes.len;
	store->n_files++;
	return 0;
}

static int by_name(const void *a, const void *b)
{
	char *const *x = a, *const *y = b;
	return strcmp(*x, *y);
}

/* The names in a directory, sorted, in the arena. */
static int list_names(struct pm_arena *arena, DIR *dir, char ***ret, size_t *ret_n)
{
	struct dirent *entry;
	size_t room = 0;
	for (errno = 0; (entry = readdir(dir)); errno = 0) {
		if (pm_list_room(ret, *ret_n, &room, sizeof(**ret)) < 0)
			return -ENOMEM;
		(*ret)[*ret_n] = pm_arena_printf(arena, "%s", entry->d_name);
		if (!(*ret)[(*ret_n)++])
			return -ENOMEM;
	}
	return errno ? -errno : pm_sort(*ret, *ret_n, sizeof(**ret), by_name);
}

/* Calls `each` for the entries of a directory, in the order of their names. */
static int each_entry(int folder, int (*each)(void *context, const char *name), void *context,
	struct pm_error *err)
{
	struct pm_arena arena = {.block = NULL};
	char **names = NULL;
	size_t n = 0;
	DIR *dir = pm_folder_list(folder);
	int r = dir ? list_names(&arena, dir, &names, &n) : -errno;
	if (pm_is_lasting(r))
		r = pm_error_set(err, -EIO, NULL, PM_NO_OFFSET, "the folder cannot be read: %s",
			strerror(-r));
	for (size_t i = 0; r == 0 && i < n; i++)
		r = each(context, names[i]);
	if (dir)
		closedir(dir);
	free(names);
	pm_arena_done(&arena);
	return pm_is_passing(r) ? pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory") : r;
}

struct folder {
	struct zts_stores *stores;
	struct zts_store *store;
	int fd;
};

static int take_file(void *context, const char *name)
{
	struct folder *f = context;
	return add_file(f->stores, f->store, f->fd, name);
}

/* ---- stores ---- */

enum { REMEMBERED = 1 << 20 }; /* bytes of traces.dat files that are read when they are opened */

/* Opens the store in `folder` if there is one; otherwise -ENOENT. */
static int open_store(struct zts_stores *s, int folder, const char *number, const char *place,
	struct pm_error *err)
{
	if (pm_list_room(&s->items, s->n, &s->room, sizeof(*s->items)) < 0)
		return pm_error_plain(err, -ENOMEM);
	struct zts_store *store = &s->items[s->n];
	*store =
		(struct zts_store){.number = number, .place = place, .damage = PM_DAMAGE_LIST_INIT};
	int r = pm_input_open(&store->traces, folder, "traces.dat", err);
	if (r < 0)
		return r;
	s->n++;
	store->watch = calloc(1, sizeof(*store->watch));
	if (!store->watch || pm_watch_init(store->watch, &store->traces.stamp, true) < 0)
		return pm_error_plain(err, -ENOMEM);
	pm_watch_ends(store->watch, store->traces.bytes);
	/* A small one may be one that is written: what it is now is remembered as a whole. */
	if (s->input_bytes + store->traces.bytes.len <= REMEMBERED)
		pm_watch_use(store->watch, store->traces.bytes, 0, store->traces.bytes.len);
	store->traces.watch = store->watch;
	s->input_bytes += store->traces.bytes.len;
	s->mtime_ns = store->traces.mtime_ns > s->mtime_ns ? store->traces.mtime_ns : s->mtime_ns;
	struct folder f = {s, store, folder};
	r = each_entry(folder, take_file, &f, err);
	const char *path = zts_store_path(store, &s->arena, "traces.dat");
	if (!path)
		return pm_error_plain(err, -ENOMEM);
	if (r == 0 && !zts_has_header(store->traces.bytes) && store->traces.bytes.len > 0)
		pm_damage_add(&s->damage, path, 0, PM_NO_OFFSET,
			"the file has no ZTS0 header; read as deflate with checksums");
	return r;
}

bool zts_store_is_number(const char *name)
{
	return strlen(name) == ZTS_NUMBER_DIGITS &&
		strspn(name, "0123456789abcdef") == ZTS_NUMBER_DIGITS;
}

static int take_store(void *context, const char *name)
{
	struct folder *f = context;
	struct zts_stores *s = f->stores;
	struct pm_error err = {.offset = PM_NO_OFFSET};
	if (!zts_store_is_number(name))
		return 0;
	const char *number = pm_arena_printf(&s->arena, "%s", name);
	const char *place = pm_arena_printf(&s->arena, "%s/", name);
	const char *path = pm_arena_printf(&s->arena, "%s/traces.dat", name);
	int fd = openat(f->fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (!number || !place || !path || (fd < 0 && errno == ENOMEM)) {
		if (fd >= 0)
			close(fd);
		return -ENOMEM;
	}
	if (fd < 0) {
		if (errno != ENOTDIR)
			pm_damage_add(&s->damage, path, PM_NO_OFFSET, PM_NO_OFFSET,
				"the store's folder cannot be opened: %s", strerror(errno));
		return 0;
	}
	int r = open_store(s, fd, number, place, &err);
	close(fd);
	if (r == -EIO || r == -EINVAL)
		pm_damage_add(&s->damage, path, PM_NO_OFFSET, PM_NO_OFFSET, "%s", err.text);
	return pm_is_passing(r) ? r : 0;
}

/*
 * Is there a traces.dat with a header, with a chunk, or without contents? 1, 0 or -ENOMEM. Chunks
 * are only looked for if none has a header.
 */
static int is_readable(struct zts_stores *s, struct pm_error *err)
{
	const struct zts_chunks *chunks;
	int r = 0;
	for (uint32_t i = 0; i < s->n; i++) {
		struct pm_bytes file = s->items[i].traces.bytes;
		if (file.len == 0 || zts_has_header(file))
			return 1;
	}
	for (uint32_t i = 0; i < s->n && r == 0; i++) {
		r = zts_store_chunks(&s->items[i], &chunks, err);
		if (r == 0)
			r = chunks->n > 0;
	}
	return r;
}

int zts_stores_open(struct zts_stores *s, int folder, const char *name, struct pm_cache *cache,
	struct pm_error *err)
{
	struct folder f = {.stores = s, .fd = folder};
	*s = (struct zts_stores){.cache = cache,
		.damage = PM_DAMAGE_LIST_INIT,
		.methods.lock = PTHREAD_MUTEX_INITIALIZER};
	s->folder = fcntl(folder, F_DUPFD_CLOEXEC, 0);
	const char *number =
		pm_arena_printf(&s->arena, "%s", zts_store_is_number(name) ? name : "000000");
	int r = number ? 0 : pm_error_plain(err, -ENOMEM);
	if (s->folder < 0)
		r = pm_error_set(err, -EIO, name, PM_NO_OFFSET, "cannot be opened");
	if (r == 0 && faccessat(folder, "traces.dat", F_OK, 0) == 0)
		r = open_store(s, folder, number, "", err);
	else if (r == 0)
		r = each_entry(folder, take_store, &f, err);
	if (r == 0)
		r = is_readable(s, err);
	if (r > 0)
		r = 0;
	else if (r == 0)
		r = pm_error_set(err, -EINVAL, "traces.dat", PM_NO_OFFSET,
			s->n ? "contains neither a ZTS0 header nor a chunk"
			     : "not found, nor in folders 000000, 000001 …");
	if (r == 0 && s->damage.no_memory)
		r = pm_error_plain(err, -ENOMEM);
	if (r < 0)
		zts_stores_close(s);
	for (uint32_t i = 0; i < s->n; i++) /* now that the array does not move any more */
		s->items[i].folder = s->folder;
	return r;
}

static void close_store(struct zts_store *store)
{
	for (size_t i = 0; i < store->n_files; i++)
		pm_input_close(&store->files[i].input);
	free(store->files);
	zts_texts_done(&store->texts);
	free(store->methods);
	zts_chunks_done(&store->chunks);
	pm_input_close(&store->traces);
	if (store->watch)
		pm_watch_done(store->watch);
	free(store->watch);
	pm_damage_done(&store->damage);
}

void zts_stores_close(struct zts_stores *s)
{
	for (uint32_t i = 0; i < s->n; i++)
		close_store(&s->items[i]);
	free(s->items);
	if (s->folder >= 0)
		close(s->folder);
	s->folder = -1;
	pm_strtab_done(&s->methods.names);
	pm_map_done(&s->methods.others);
	pm_arena_done(&s->methods.arena);
	pthread_mutex_destroy(&s->methods.lock);
	pm_damage_done(&s->damage);
	pm_arena_done(&s->arena);
	s->items = NULL;
	s->n = 0;
}
