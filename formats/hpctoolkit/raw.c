/*
 * The list of documents below raw/: the tables, and the files of the database's metrics/ folder as
 * they are.
 */
#include "formats/hpctoolkit/raw.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/common/arena.h"
#include "formats/common/beneath.h"
#include "formats/common/list.h"

struct hpctk_documents {
	struct pm_named_doc *docs;
	size_t n, room;
	struct pm_arena arena;
};

static bool is_yaml(const char *name)
{
	size_t len = strlen(name);
	return len > 5 && strcmp(name + len - 5, ".yaml") == 0;
}

static int yaml_add(struct hpctk_documents *d, const struct hpctk_db *db, const char *name)
{
	char *path = pm_arena_printf(&d->arena, "raw/metrics/%s", name);
	if (!path || pm_list_room(&d->docs, d->n, &d->room, sizeof(*d->docs)) < 0)
		return -ENOMEM;
	d->docs[d->n++] = (struct pm_named_doc){
		.path = path,
		.doc = {.kind = PM_DOC_FILE,
			.file = {.folder = db->folder, .path = path + strlen("raw/")}},
	};
	return 0;
}

static int compare_paths(const void *a, const void *b)
{
	const struct pm_named_doc *x = a, *y = b;
	return strcmp(x->path, y->path);
}

/* metrics/ is optional, and so is what is in it. */
static int yaml_list(struct hpctk_documents *d, const struct hpctk_db *db)
{
	int fd = pm_open_beneath(db->folder, "metrics");
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *entry;
	size_t first = d->n;
	int r = 0;
	if (!dir && fd >= 0)
		close(fd);
	while (dir && r == 0 && (entry = readdir(dir))) {
		struct stat st;
		if (is_yaml(entry->d_name) &&
			fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			S_ISREG(st.st_mode))
			r = yaml_add(d, db, entry->d_name);
	}
	if (dir)
		closedir(dir);
	qsort(d->docs + first, d->n - first, sizeof(*d->docs), compare_paths);
	return r;
}

static int documents_build(void *context, struct pm_error *err)
{
	struct hpctk_db *db = context;
	struct hpctk_documents *d = calloc(1, sizeof(*d));
	int r = d ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < HPCTK_N_RAW_TABLES && r == 0; i++) {
		r = pm_list_room(&d->docs, d->n, &d->room, sizeof(*d->docs));
		if (r == 0)
			hpctk_raw_table(db, i, &d->docs[d->n++]);
	}
	if (r == 0)
		r = yaml_list(d, db);
	if (r < 0) {
		hpctk_documents_free(d);
		return pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory");
	}
	db->documents = d;
	return 0;
}

int hpctk_documents(const struct pm_profile *p, const struct pm_named_doc **ret, size_t *ret_n,
	struct pm_error *err)
{
	struct hpctk_db *db = hpctk_db_of(p);
	int r = pm_lazy_get(&db->documents_lazy, documents_build, db, err);
	*ret = r < 0 ? NULL : db->documents->docs;
	*ret_n = r < 0 ? 0 : db->documents->n;
	return r;
}

void hpctk_documents_free(struct hpctk_documents *d)
{
	if (!d)
		return;
	pm_arena_done(&d->arena);
	free(d->docs);
	free(d);
}
