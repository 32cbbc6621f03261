/* Walks a directory with a list of pending entries instead of a stack. */
#include "fs/runs/folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/common/arena.h"
#include "formats/common/folder.h"
#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/sort.h"
#include "formats/common/work.h"
#include "fs/runs/natural.h"
#include "profmount/format.h"
#include "profmount/limits.h"

/* An entry, by its path below the directory. */
struct place {
	const char *below;
	bool link;
	uint64_t identity; /* of the target */
};

struct places {
	struct place *items;
	size_t n, room;
};

struct walk {
	const char *folder;
	struct places todo, found; /* directories; sources */
	struct pm_map seen;        /* identities of sources that are not links */
	struct pm_arena arena;
	uint64_t entries;
	struct pm_error *unread, *err;
};

static int no_memory(struct walk *w)
{
	return pm_error_set(w->err, -ENOMEM, w->folder, PM_NO_OFFSET, "no memory for its list");
}

static int add(struct walk *w, struct places *list, const struct place *place)
{
	if (pm_list_room(&list->items, list->n, &list->room, sizeof(*list->items)) < 0)
		return no_memory(w);
	list->items[list->n++] = *place;
	return 0;
}

static uint64_t identity_of(const struct stat *st)
{
	return pm_hash_u64(pm_hash_u64((uint64_t)st->st_dev) ^ (uint64_t)st->st_ino);
}

static int take_source(struct walk *w, const struct place *place)
{
	bool fresh;
	if (!place->link && !pm_map_put(&w->seen, place->identity, 1, &fresh))
		return no_memory(w);
	return add(w, &w->found, place);
}

/* Remembers the first entry that cannot be opened. */
static void miss(struct walk *w, const char *below, int code)
{
	pm_error_set(w->unread, -code, below, PM_NO_OFFSET, "cannot be opened: %s", strerror(code));
}

/* Adds an entry of a directory: a source, a directory to enter, or nothing. */
static int look(struct walk *w, int fd, const char *above, const char *name)
{
	struct stat st, target;
	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return 0;
	bool link = S_ISLNK(st.st_mode);
	target = st;
	if (link && fstatat(fd, name, &target, 0) != 0)
		return 0;
	bool folder = S_ISDIR(target.st_mode);
	if (!folder && (!S_ISREG(target.st_mode) || target.st_size == 0))
		return 0;
	struct place place = {.link = link, .identity = identity_of(&target)};
	place.below = pm_arena_printf(&w->arena, "%s%s%s", above, *above ? "/" : "", name);
	char *path =
		place.below ? pm_arena_printf(&w->arena, "%s/%s", w->folder, place.below) : NULL;
	if (!path)
		return no_memory(w);
	if (pm_profile_probe(path) > 0)
		return take_source(w, &place);
	if (!folder && faccessat(fd, name, R_OK, AT_EACCESS) != 0)
		miss(w, place.below, errno);
	return folder && !link ? add(w, &w->todo, &place) : 0;
}

/* An unreadable directory is treated as empty. */
static int look_into(struct walk *w, const char *below)
{
	char *path = pm_arena_printf(&w->arena, "%s/%s", w->folder, below);
	if (!path)
		return no_memory(w);
	int r = 0, fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		miss(w, below, errno);
	DIR *list = fd < 0 ? NULL : pm_folder_list(fd);
	const struct dirent *entry;
	while (list && r == 0 && (entry = readdir(list))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (++w->entries > PM_LIMIT_FOLDER)
			r = pm_error_set(w->err, -EINVAL, w->folder, PM_NO_OFFSET,
				"has more than %d entries", PM_LIMIT_FOLDER);
		else if (pm_work_cancelled())
			r = no_memory(w);
		else
			r = look(w, fd, below, entry->d_name);
	}
	if (list)
		closedir(list);
	if (fd >= 0)
		close(fd);
	return r;
}

static int by_path(const void *a, const void *b)
{
	return pmfs_natural_compare(
		((const struct place *)a)->below, ((const struct place *)b)->below);
}

/* Leaves out links to sources that were found themselves, or through another link. */
static int tell(struct walk *w, int (*found)(void *, const char *), void *context)
{
	int r = 0;
	if (pm_sort(w->found.items, w->found.n, sizeof(*w->found.items), by_path) < 0)
		return no_memory(w);
	for (size_t i = 0; i < w->found.n && r == 0; i++) {
		const struct place *place = &w->found.items[i];
		bool fresh = true;
		if (place->link && !pm_map_put(&w->seen, place->identity, 1, &fresh))
			return no_memory(w);
		if (fresh)
			r = found(context, place->below);
	}
	return r;
}

int pmfs_folder_find(const char *folder, int (*found)(void *context, const char *below),
	void *context, struct pm_error *unread, struct pm_error *err)
{
	struct walk w = {.folder = folder, .unread = unread, .err = err};
	struct place start = {.below = ""};
	int r = add(&w, &w.todo, &start);
	for (size_t i = 0; i < w.todo.n && r == 0; i++)
		r = look_into(&w, w.todo.items[i].below);
	if (r == 0)
		r = tell(&w, found, context);
	free(w.todo.items);
	free(w.found.items);
	pm_map_done(&w.seen);
	pm_arena_done(&w.arena);
	return r;
}

uint64_t pmfs_folder_bytes(const char *folder)
{
	int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *list = fd < 0 ? NULL : pm_folder_list(fd);
	const struct dirent *entry;
	struct stat st;
	uint64_t bytes = 0;
	while (list && (entry = readdir(list)))
		if (fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			S_ISREG(st.st_mode))
			bytes += (uint64_t)st.st_size;
	if (list)
		closedir(list);
	if (fd >= 0)
		close(fd);
	return bytes;
}
