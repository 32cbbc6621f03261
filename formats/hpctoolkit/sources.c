/*
 * Finds the source files that were copied. meta.db contains their paths below the database's src/.
 * A path that could lead outside is not followed, and a missing file is not damage: databases are
 * often distributed without their sources. A file that is there and cannot be opened is damage.
 */
#include "formats/hpctoolkit/hpctoolkit.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/common/affix.h"
#include "formats/common/arena.h"
#include "formats/common/beneath.h"
#include "formats/common/damage.h"
#include "formats/common/list.h"
#include "formats/common/map.h"

struct hpctk_sources {
	struct pm_source *items;
	size_t n;
	struct pm_damage_list damage; /* files that are there and cannot be opened */
};

enum { COPIED = 1 };

/* src/A/B with valid components, so that it can be presented as source/A/B. */
static bool is_below_src(struct pm_bytes path)
{
	size_t start = 0;
	if (path.len <= 4 || !pm_begins_with(path, "src/"))
		return false;
	for (size_t i = 0; i <= path.len; i++) {
		if (i < path.len && path.p[i] != '/')
			continue;
		size_t len = i - start;
		const uint8_t *name = path.p + start;
		if (len == 0 || (len <= 2 && memcmp(name, "..", len) == 0))
			return false;
		start = i + 1;
	}
	return true;
}

/* 0, or a negative errno: -ENOENT if it is not there. */
static int look(int folder, const char *path)
{
	struct stat st;
	int fd = pm_open_beneath(folder, path);
	if (fd < 0)
		return fd;
	bool regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
	close(fd);
	return regular ? 0 : -EINVAL;
}

/* Whether the database claims to have a copy of it. Longer paths cannot be opened. */
static bool is_copied(const struct hpctk_path *source)
{
	return (source->flags & COPIED) && source->path.len < PATH_MAX &&
		is_below_src(source->path);
}

static void sources_build(struct pm_arena *a, void *opened, void *part, struct pm_error *err)
{
	struct hpctk_opened *db = opened;
	struct hpctk_sources *s = part;
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct pm_strtab seen = {.home = scratch, .lasting = {.arena = scratch}};
	struct pm_map lengths = {.arena = scratch};
	size_t room = 0;
	(void)err;
	pm_damage_list_in(&s->damage, a);
	for (uint32_t i = 0; i < db->sources.n; i++) {
		struct hpctk_path source = hpctk_path_get(db, &lengths, &db->sources, i);
		uint32_t n = seen.n;
		if (!is_copied(&source))
			continue;
		pm_build_proceed(a);
		if (pm_strtab_add(&seen, source.path) < n)
			continue; /* listed twice */
		char *path = pm_arena_printf(
			a, "%.*s", (int)source.path.len, (const char *)source.path.p);
		int r = look(db->folder.fd, path);
		if (pm_is_passing(r))
			pm_build_fail(a, r);
		if (r < 0 && r != -ENOENT)
			pm_damage_add(&s->damage, path, PM_NO_OFFSET, PM_NO_OFFSET,
				"the copy of a source file cannot be opened: %s",
				r == -EINVAL ? "it is not a regular file" : strerror(-r));
		if (r < 0)
			continue;
		pm_list_grow(a, &s->items, s->n, &room, sizeof(*s->items));
		s->items[s->n++] = (struct pm_source){
			.path = path + strlen("src/"),
			.file = source.path,
			.doc = {.kind = PM_DOC_FILE,
				.file = {.folder = db->folder.fd, .path = path}},
		};
	}
	pm_build_check(a, s->damage.no_memory ? -ENOMEM : 0);
	pm_arena_done(scratch);
	db->parts.sources.it = s->items;
	db->parts.sources.n = s->n;
}

static const struct pm_part_type type = {
	.size = sizeof(struct hpctk_sources), .build = sources_build, .what = "source files"};

int hpctk_sources(void *opened, struct pm_error *err)
{
	struct hpctk_opened *db = opened;
	return pm_part_build(&db->copied, &type, db, err);
}

/* Without src/ there are none, even if the database says so. */
static bool has_folder(const struct hpctk_opened *db)
{
	int fd = pm_open_beneath(db->folder.fd, "src");
	if (fd >= 0)
		close(fd);
	return fd != -ENOENT;
}

static void any_find(struct pm_arena *a, void *opened, void *part, struct pm_error *err)
{
	struct hpctk_opened *db = opened;
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct pm_map lengths = {.arena = scratch};
	bool *any = part;
	uint32_t n = has_folder(db) ? db->sources.n : 0;
	(void)err;
	for (uint32_t i = 0; i < n && !*any; i++) {
		struct hpctk_path source = hpctk_path_get(db, &lengths, &db->sources, i);
		char path[PATH_MAX];
		pm_build_proceed(a);
		if (!is_copied(&source))
			continue;
		snprintf(path, sizeof(path), "%.*s", (int)source.path.len,
			(const char *)source.path.p);
		int r = look(db->folder.fd, path);
		if (pm_is_passing(r))
			pm_build_fail(a, r);
		*any = r == 0;
	}
	pm_arena_done(scratch);
	db->has_copied = *any;
}

int hpctk_sources_scan(struct hpctk_opened *db, struct pm_damage_list *found, struct pm_error *err)
{
	const struct hpctk_sources *s;
	int r = has_folder(db) ? pm_part_get(&db->copied, &type, db, &s, err) : -ENOENT;
	if (r == 0)
		pm_damage_add_all(found, &s->damage);
	return r == -ENOENT ? 0 : r;
}

int hpctk_sources_any(struct hpctk_opened *db, struct pm_error *err)
{
	static const struct pm_part_type any = {
		.size = sizeof(bool), .build = any_find, .what = "source files"};
	int r = pm_part_build(&db->any_copied, &any, db, err);
	return r < 0 ? r : db->has_copied;
}
