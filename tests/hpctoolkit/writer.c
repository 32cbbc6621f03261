/*
 * Keeps the description of a database. Turning it into bytes is in write_meta.c (meta.db) and
 * write_values.c (profile.db, cct.db, trace.db).
 */
#include "tests/hpctoolkit/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/hpctoolkit/writer_private.h"

void *hpctkw_grow(void *items, size_t n, size_t size)
{
	if (n & (n - 1))
		return items;
	items = realloc(items, (n ? 2 * n : 1) * size);
	if (!items)
		abort();
	return items;
}

#define ADD(list, item)                                                                            \
	((list).items = hpctkw_grow((list).items, (list).n, sizeof(*(list).items)),                \
		(list).items[(list).n] = (item), (uint32_t)(list).n++)

struct hpctkw_database *hpctkw_new(const struct hpctkw_style *style)
{
	struct hpctkw_database *w = calloc(1, sizeof(*w));
	if (!w)
		abort();
	w->style = *style;
	return w;
}

void hpctkw_title(struct hpctkw_database *w, const char *title)
{
	w->title = title;
}

void hpctkw_free(struct hpctkw_database *w)
{
	if (!w)
		return;
	for (size_t i = 0; i < w->profiles.n; i++) {
		free(w->profiles.items[i].ids.items);
		free(w->profiles.items[i].values.items);
		free(w->profiles.items[i].samples.items);
	}
	free(w->profiles.items);
	free(w->metrics.items);
	free(w->modules.items);
	free(w->files.items);
	free(w->functions.items);
	free(w->contexts.items);
	free(w);
}

uint32_t hpctkw_metric(struct hpctkw_database *w, const char *name)
{
	return ADD(w->metrics, name);
}

uint32_t hpctkw_module(struct hpctkw_database *w, const char *path)
{
	struct path item = {path, 0};
	return ADD(w->modules, item);
}

uint32_t hpctkw_file(struct hpctkw_database *w, const char *path, uint32_t flags)
{
	struct path item = {path, flags};
	return ADD(w->files, item);
}

uint32_t hpctkw_function(struct hpctkw_database *w, const char *name, uint32_t module,
	uint64_t offset, uint32_t file, uint32_t line)
{
	struct function item = {name, module, file, line, offset};
	return ADD(w->functions, item);
}

uint16_t hpctkw_prop_id(uint32_t metric, enum hpctkw_scope scope)
{
	return (uint16_t)(metric * N_SCOPES + scope);
}

uint16_t hpctkw_stat_id(uint32_t metric, enum hpctkw_scope scope)
{
	return (uint16_t)(metric * N_SCOPES + N_SCOPES - 1 - scope);
}

uint32_t hpctkw_context(struct hpctkw_database *w, const struct hpctkw_context *context)
{
	struct hpctkw_context item = *context;
	if (item.entry && w->style.generation < HPCTKW_JUNE) {
		item.has_function = true;
		item.function = hpctkw_function(w, item.entry, HPCTKW_NONE, 0, HPCTKW_NONE, 0);
		item.relation = 1;
		item.entry = NULL;
	}
	return ADD(w->contexts, item);
}

static struct profile *last_profile(struct hpctkw_database *w)
{
	return &w->profiles.items[w->profiles.n - 1];
}

uint32_t hpctkw_profile(struct hpctkw_database *w)
{
	struct profile item = {.has_trace = false};
	return ADD(w->profiles, item);
}

void hpctkw_identity(
	struct hpctkw_database *w, uint8_t kind, uint32_t logical, uint64_t physical, bool real)
{
	struct identity item = {kind, real, logical, physical};
	ADD(last_profile(w)->ids, item);
}

void hpctkw_value(struct hpctkw_database *w, uint32_t context_id, uint16_t id, double value)
{
	struct value item = {context_id, id, 0, value};
	ADD(last_profile(w)->values, item);
}

void hpctkw_trace(struct hpctkw_database *w)
{
	last_profile(w)->has_trace = true;
}

void hpctkw_sample(struct hpctkw_database *w, uint64_t time_ns, uint32_t context_id)
{
	struct sample item = {time_ns, context_id};
	hpctkw_trace(w);
	ADD(last_profile(w)->samples, item);
}

void hpctkw_write(const struct hpctkw_database *w, struct hpctkw_files *ret)
{
	static void (*const write[HPCTKW_N_FILES])(
		const struct hpctkw_database *w, struct out *o) = {
		[HPCTKW_META] = hpctkw_write_meta,
		[HPCTKW_PROFILE] = hpctkw_write_profile,
		[HPCTKW_CCT] = hpctkw_write_cct,
		[HPCTKW_TRACE] = hpctkw_write_trace,
	};
	for (unsigned i = 0; i < HPCTKW_N_FILES; i++) {
		struct out o = {.big = w->style.big, .garbage = w->style.garbage};
		write[i](w, &o);
		ret->file[i].p = o.p;
		ret->file[i].n = o.n;
	}
}

void hpctkw_files_free(struct hpctkw_files *files)
{
	for (unsigned i = 0; i < HPCTKW_N_FILES; i++)
		free(files->file[i].p);
	*files = (struct hpctkw_files){{{NULL, 0}}};
}

static int save(const char *folder, const char *name, const uint8_t *p, size_t n)
{
	char path[4096];
	snprintf(path, sizeof(path), "%s/%s", folder, name);
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	if (fd < 0)
		return -1;
	while (n > 0) {
		ssize_t written = write(fd, p, n);
		if (written < 0 && errno != EINTR) {
			close(fd);
			return -1;
		}
		p += written > 0 ? written : 0;
		n -= written > 0 ? (size_t)written : 0;
	}
	return close(fd);
}

int hpctkw_save(const struct hpctkw_files *files, const char *folder)
{
	static const char *const names[HPCTKW_N_FILES] = {
		"meta.db", "profile.db", "cct.db", "trace.db"};
	for (unsigned i = 0; i < HPCTKW_N_FILES; i++)
		if (files->file[i].n && save(folder, names[i], files->file[i].p, files->file[i].n))
			return -1;
	return 0;
}
