/* The list of documents below raw/: tables, and the files of the directory metrics/ as they are. */
#include "formats/hpctoolkit/documents.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/common/affix.h"
#include "formats/common/arena.h"
#include "formats/common/beneath.h"
#include "formats/common/folder.h"
#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "formats/hpctoolkit/raw.h"

struct hpctk_documents {
	struct pm_named_doc *docs;
	size_t n, room;
	struct pm_arena arena;
};

static int yaml_add(struct hpctk_documents *d, const struct hpctk_opened *db, const char *name)
{
	char *path = pm_arena_printf(&d->arena, "raw/metrics/%s", name);
	if (!path || pm_list_room(&d->docs, d->n, &d->room, sizeof(*d->docs)) < 0)
		return -ENOMEM;
	d->docs[d->n++] = (struct pm_named_doc){
		.path = path,
		.doc = {.kind = PM_DOC_FILE,
			.file = {.folder = db->folder.fd, .path = path + strlen("raw/")}},
	};
	return 0;
}

static int compare_paths(const void *a, const void *b)
{
	const struct pm_named_doc *x = a, *y = b;
	return strcmp(x->path, y->path);
}

/* metrics/ is optional, and so are its files. */
static int yaml_list(struct hpctk_documents *d, const struct hpctk_opened *db)
{
	int fd = pm_open_beneath(db->folder.fd, "metrics");
	DIR *dir = fd < 0 ? NULL : pm_folder_list(fd);
	struct dirent *entry;
	size_t first = d->n;
	int r = 0;
	while (dir && r == 0 && (entry = readdir(dir))) {
		struct stat st;
		if (pm_has_ending(pm_bytes_of(entry->d_name), ".yaml") &&
			fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
			S_ISREG(st.st_mode))
			r = yaml_add(d, db, entry->d_name);
	}
	if (dir)
		closedir(dir);
	if (fd >= 0)
		close(fd);
	return r < 0 ? r : pm_sort(d->docs + first, d->n - first, sizeof(*d->docs), compare_paths);
}

static int documents_fill(void *owner, void *part, struct pm_error *err)
{
	struct hpctk_opened *db = owner;
	struct hpctk_documents *d = part;
	(void)err;
	struct pm_named_doc doc;
	for (uint32_t i = 0; hpctk_raw_table(db, i, &doc); i++) {
		if (pm_list_room(&d->docs, d->n, &d->room, sizeof(*d->docs)) < 0)
			return -ENOMEM;
		d->docs[d->n++] = doc;
	}
	return yaml_list(d, db);
}

static void documents_done(void *part)
{
	struct hpctk_documents *d = part;
	pm_arena_done(&d->arena);
	free(d->docs);
}

static const struct pm_part_type type = {.size = sizeof(struct hpctk_documents),
	.fill = documents_fill,
	.done = documents_done,
	.file = NULL,
	.what = "the list of documents"};

int hpctk_documents(const struct pm_profile *p, const struct pm_named_doc **ret, size_t *ret_n,
	struct pm_error *err)
{
	struct hpctk_opened *db = hpctk_opened_of(p);
	const struct hpctk_documents *d;
	int r = pm_part_get(&db->documents, &type, db, &d, err);
	*ret = r < 0 ? NULL : d->docs;
	*ret_n = r < 0 ? 0 : d->n;
	return r;
}
