/*
 * ZTS0 trace stores: a directory with traces.dat, a directory of several such stores, or the path
 * of a traces.dat, which means its directory.
 */
#include <dirent.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/common/affix.h"
#include "formats/common/folder.h"
#include "formats/zts/zts.h"

enum {
	SURE = 100,
	LIKELY = 20,
	UNLISTED = PM_PROBE_IF_ASKED + 1,
	HEADER_SIZE = 16,
	STORES_ASKED = 4096
};

/* The confidence given by traces.dat below `folder`; 0 without one. */
static int ask_store(int folder, const char *path)
{
	uint8_t head[HEADER_SIZE] = {0};
	int fd = openat(folder, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (fd < 0)
		return 0;
	ssize_t n = pread(fd, head, sizeof(head), 0);
	bool broken = n < 0 && errno == EIO;
	close(fd);
	struct pm_bytes start = {head, n > 0 ? (size_t)n : 0};
	if (pm_begins_with(start, "ZTS0") || pm_begins_with(start, "ZCH0"))
		return SURE;
	return n >= 0 || broken ? LIKELY : 0; /* open() says why */
}

/* The sub-stores of a base are numbered; old ones may have been deleted. */
static int ask_base(int folder)
{
	char path[sizeof("000000/traces.dat")];
	int best = 0;
	unsigned asked = 0;
	DIR *dir = pm_folder_list(folder);
	if (!dir)
		return UNLISTED;
	for (struct dirent *e; best < SURE && asked < STORES_ASKED && (e = readdir(dir));) {
		if (!zts_store_is_number(e->d_name))
			continue;
		snprintf(path, sizeof(path), "%.6s/traces.dat", e->d_name);
		int sure = ask_store(folder, path);
		best = sure > best ? sure : best;
		asked++;
	}
	closedir(dir);
	return best;
}

static int probe(const struct pm_candidate *c)
{
	if (!c->folder)
		return pm_begins_with(c->head, "ZTS0") ? SURE : 0;
	int sure = ask_store(c->fd, "traces.dat");
	return sure ? sure : ask_base(c->fd);
}

static void close_zts(struct pm_profile *p)
{
	struct zts_opened *z = zts_opened_of(p);
	pm_part_done(&z->requests);
	zts_samples_done(&z->samples);
	zts_adders_free(z->sums);
	zts_aggregate_done(&z->aggregate);
	zts_survey_done(&z->survey);
	pm_damage_done(&z->found);
	zts_stores_close(&z->stores);
	free(z->documents);
	free(z->collections);
	pm_arena_done(&z->arena);
	free(z);
}

static const char *layout_of(const struct zts_opened *z)
{
	const char *layout = "no-index";
	for (uint32_t i = 0; i < z->stores.n; i++)
		for (size_t k = 0; k < z->stores.items[i].n_files; k++) {
			enum zts_file_kind kind = z->stores.items[i].files[k].kind;
			if (kind == ZTS_FILE_META)
				layout = "second-generation";
			else if (kind == ZTS_FILE_META_OLD)
				return "first-generation";
		}
	return layout;
}

/* The directory to open, and its name. */
static int open_folder(const struct pm_candidate *c, struct pm_arena *arena, int *ret_folder,
	const char **ret_name, struct pm_error *err)
{
	char *path = pm_arena_printf(arena, "%s", c->path);
	if (!path)
		return pm_error_set(err, -ENOMEM, c->path, PM_NO_OFFSET, "no memory");
	const char *folder = c->folder ? path : dirname(path);
	*ret_folder = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*ret_name = pm_path_name(folder);
	if (*ret_folder < 0)
		return pm_error_set(
			err, -EIO, c->path, PM_NO_OFFSET, "cannot be opened: %s", strerror(errno));
	return 0;
}

static const struct pm_note notes[] = {
	{"traces.csv", "every trace and span: start, duration, errors, attributes, method, path"},
	{"requests.csv", "traces by what was asked for: method and path, {n} for numbers and ids"},
	{"methods.csv", "every method over all traces"},
	{"attributes.csv", "every attribute value: traces and calls with it, errors, time"},
	{"statements.csv",
		"SQL by text, with ? for literals: calls, errors, time, the slowest trace"},
	{"exceptions.csv", "every exception: count, first and last time, first trace"},
	{"spans.csv", "attributes and exceptions of every call, with times; by name, not listed"},
	{"slow errors", "links to the longest traces; links to the traces with an error"},
	{"stores", "each store: its chunks, its texts, and a directory for each trace"},
	{NULL, NULL},
};

static int open_zts(const struct pm_candidate *c, const struct pm_open_options *options,
	struct pm_profile *ret, struct pm_error *err)
{
	int folder = -1;
	const char *name = "";
	struct zts_opened *z = calloc(1, sizeof(*z));
	if (!z)
		return pm_error_set(err, -ENOMEM, c->path, PM_NO_OFFSET, "no memory");
	z->stores.folder = -1;
	int r = open_folder(c, &z->arena, &folder, &name, err);
	if (r == 0) {
		r = zts_stores_open(&z->stores, folder, name, options->cache, err);
		close(folder);
	}
	if (r == 0 && zts_list_documents(z) < 0)
		r = pm_error_set(err, -ENOMEM, c->path, PM_NO_OFFSET, "no memory");
	zts_model_init(z, ret);
	if (r < 0) {
		close_zts(ret);
		return r;
	}
	ret->layout = layout_of(z);
	ret->title = pm_bytes_of(name);
	ret->mtime_ns = z->stores.mtime_ns;
	ret->input_bytes = z->stores.input_bytes;
	ret->kind_of_tree = "calls";
	ret->traces_are_calls = true;
	ret->times_since_epoch = true;
	ret->module_end = ".";
	ret->notes = notes;
	return 0;
}

const struct pm_format zts_format = {
	.name = "zts",
	.summary = "ZTS0 trace stores of Zorka and ZICO, both generations",
	.probe = probe,
	.open = open_zts,
	.close = close_zts,
};
