/*
 * Finds the source files that were copied. meta.db contains their paths below the database's src/.
 * A path that could lead outside is not followed, and a missing file is not damage: databases are
 * often distributed without their sources. A file that is there and cannot be opened is damage.
 */
#include "formats/hpctoolkit/hpctoolkit.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/common/affix.h"
#include "formats/common/arena.h"
#include "formats/common/beneath.h"
#include "formats/common/damage.h"
#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/text.h"
#include "formats/common/work.h"

struct hpctk_sources {
	struct pm_source *items;
	size_t n, room;
	struct pm_arena arena;
	struct hpctk_lengths lengths; /* while they are looked for */
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

static int source_add(
	struct hpctk_sources *s, const struct hpctk_opened *db, struct pm_strtab *seen, uint32_t i)
{
	struct hpctk_path source = hpctk_source_get_again(db, &s->lengths, i);
	uint32_t n = seen->n;
	if (!is_copied(&source))
		return 0;
	if (pm_work_cancelled())
		return PM_CANCELLED;
	if (pm_strtab_add(seen, source.path) == PM_NONE)
		return -ENOMEM;
	if (seen->n == n)
		return 0; /* listed twice */
	char *path = pm_arena_printf(
		&s->arena, "%.*s", (int)source.path.len, (const char *)source.path.p);
	if (!path || pm_list_room(&s->items, s->n, &s->room, sizeof(*s->items)) < 0)
		return -ENOMEM;
	int r = look(db->folder.fd, path);
	if (r < 0 && r != -ENOENT && !pm_is_passing(r))
		pm_damage_add(&s->damage, path, PM_NO_OFFSET, PM_NO_OFFSET,
			"the copy of a source file cannot be opened: %s",
			r == -EINVAL ? "it is not a regular file" : strerror(-r));
	if (r < 0)
		return pm_is_passing(r) ? r : 0;
	s->items[s->n++] = (struct pm_source){
		.path = path + strlen("src/"),
		.file = source.path,
		.doc = {.kind = PM_DOC_FILE, .file = {.folder = db->folder.fd, .path = path}},
	};
	return 0;
}

static int sources_fill(void *owner, void *part, struct pm_error *err)
{
	struct hpctk_opened *db = owner;
	struct hpctk_sources *s = part;
	struct pm_strtab seen = {.n = 0};
	int r = 0;
	(void)err;
	s->damage = (struct pm_damage_list)PM_DAMAGE_LIST_INIT;
	for (uint32_t i = 0; i < db->sources.n && r == 0; i++)
		r = source_add(s, db, &seen, i);
	pm_strtab_done(&seen);
	pm_map_done(&s->lengths.of);
	db->parts.sources.it = s->items;
	db->parts.sources.n = s->n;
	return s->damage.no_memory ? -ENOMEM : r;
}

static void sources_done(void *part)
{
	struct hpctk_sources *s = part;
	pm_arena_done(&s->arena);
	pm_damage_done(&s->damage);
	free(s->items);
}

static const struct pm_part_type type = {.size = sizeof(struct hpctk_sources),
	.fill = sources_fill,
	.done = sources_done,
	.file = NULL,
	.what = "source files"};

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

static int any_build(void *context, struct pm_error *err)
{
	struct hpctk_opened *db = context;
	struct pm_text path = {.p = NULL};
	struct hpctk_lengths lengths = {.of.n = 0};
	bool any = false;
	uint32_t n = has_folder(db) ? db->sources.n : 0;
	for (uint32_t i = 0; i < n && !any && !pm_work_cancelled(); i++) {
		struct hpctk_path source = hpctk_source_get_again(db, &lengths, i);
		if (!is_copied(&source))
			continue;
		pm_text_clear(&path);
		pm_text_bytes(&path, source.path);
		pm_text_char(&path, '\0');
		any = !path.failed && look(db->folder.fd, path.p) == 0;
	}
	pm_map_done(&lengths.of);
	bool failed = path.failed || (!any && pm_work_cancelled());
	pm_text_done(&path);
	db->has_copied = any;
	return failed ? pm_error_plain(err, -ENOMEM) : 0;
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
	int r = pm_lazy_get(&db->has_copied_lazy, any_build, db, err);
	return r < 0 ? r : db->has_copied;
}
