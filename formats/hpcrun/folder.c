/*
 * A measurement directory contains thousands of files, one or two per thread, and possibly
 * unrelated ones. They are listed by name when mounting, opened when needed, and closed
 * immediately.
 */
#include "formats/hpcrun/hpcrun.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/common/affix.h"
#include "formats/common/folder.h"
#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "profmount/limits.h"

static const char profile_end[] = ".hpcrun", trace_end[] = ".hpctrace";

/* ---- names ---- */

struct pm_bytes hpcrun_file_stem(const struct hpcrun_file *file)
{
	struct pm_bytes name = pm_bytes_of(file->name);
	if (pm_has_ending(name, profile_end))
		name.len -= strlen(profile_end);
	else if (pm_has_ending(name, trace_end))
		name.len -= strlen(trace_end);
	return name;
}

const struct hpcrun_file *hpcrun_source_file(const struct hpcrun_source *s)
{
	return s->profile.name ? &s->profile : &s->trace;
}

/* ---- listing ---- */

static void file_done(struct hpcrun_file *file)
{
	if (file->watch)
		pm_watch_done(file->watch);
	free(file->watch);
	free(file->name);
	*file = (struct hpcrun_file){.name = NULL};
}

/* 1 and the file, 0 if it is not a regular file, or -ENOMEM. */
static int look_at(int folder, const char *name, struct hpcrun_file *ret)
{
	struct stat st;
	if (fstatat(folder, name, &st, 0) < 0 || !S_ISREG(st.st_mode))
		return 0;
	struct pm_stamp stamp = pm_stamp_of(&st);
	*ret = (struct hpcrun_file){.name = strdup(name),
		.size = stamp.size,
		.mtime_ns = stamp.mtime_ns,
		.watch = calloc(1, sizeof(*ret->watch))};
	if (ret->name && ret->watch && pm_watch_init(ret->watch, &stamp, true) == 0)
		return 1;
	file_done(ret);
	return -ENOMEM;
}

/* By name without the ending; a profile before its trace. */
static int by_name(const void *a, const void *b)
{
	const struct hpcrun_source *x = a, *y = b;
	int order = pm_bytes_compare(
		hpcrun_file_stem(hpcrun_source_file(x)), hpcrun_file_stem(hpcrun_source_file(y)));
	return order ? order : (x->profile.name == NULL) - (y->profile.name == NULL);
}

/* Adds each trace to the profile of the same name, which precedes it. */
static void join_traces(struct hpcrun_folder *f)
{
	uint32_t n = 0;
	for (uint32_t i = 0; i < f->n; i++) {
		struct hpcrun_source *last = n ? &f->sources[n - 1] : NULL;
		if (last && f->sources[i].trace.name && last->profile.name &&
			pm_bytes_equal(hpcrun_file_stem(&last->profile),
				hpcrun_file_stem(&f->sources[i].trace)))
			last->trace = f->sources[i].trace;
		else
			f->sources[n++] = f->sources[i];
	}
	f->n = n;
}

static int add_file(struct hpcrun_folder *f, size_t *room, const char *name)
{
	bool is_trace = pm_has_ending(pm_bytes_of(name), trace_end);
	struct hpcrun_source s = {.profile = {.name = NULL}};
	if (!is_trace && !pm_has_ending(pm_bytes_of(name), profile_end))
		return 0;
	int r = look_at(f->fd, name, is_trace ? &s.trace : &s.profile);
	if (r <= 0)
		return r;
	if (f->n >= PM_LIMIT_ITEMS ||
		pm_list_room(&f->sources, f->n, room, sizeof(*f->sources)) < 0) {
		file_done(is_trace ? &s.trace : &s.profile);
		return -ENOMEM;
	}
	f->sources[f->n++] = s;
	return 0;
}

int hpcrun_folder_probe(int fd)
{
	DIR *dir = pm_folder_list(fd);
	bool found = false;
	if (!dir)
		return -EIO;
	for (struct dirent *e; !found && (e = readdir(dir));) {
		struct pm_bytes name = pm_bytes_of(e->d_name);
		found = pm_has_ending(name, profile_end) || pm_has_ending(name, trace_end);
	}
	closedir(dir);
	return found;
}

static int list_files(struct hpcrun_folder *f)
{
	size_t room = 0;
	int r = 0;
	DIR *dir = pm_folder_list(f->fd);
	if (!dir)
		return errno == ENOMEM ? -ENOMEM : -EIO;
	for (struct dirent *e; r == 0 && (e = readdir(dir));)
		r = add_file(f, &room, e->d_name);
	closedir(dir);
	if (r == 0)
		r = pm_sort(f->sources, f->n, sizeof(*f->sources), by_name);
	join_traces(f);
	return r;
}

int hpcrun_folder_open(struct hpcrun_folder *ret, int fd, const char *path, struct pm_error *err)
{
	*ret = (struct hpcrun_folder){.fd = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
	int r = ret->fd < 0 ? -EIO : list_files(ret);
	if (r == 0 && ret->n == 0)
		r = -EINVAL;
	if (r < 0)
		hpcrun_folder_close(ret);
	switch (r) {
	case 0: return 0;
	case -EINVAL:
		return pm_error_set(err, r, path, PM_NO_OFFSET,
			"contains no measurement files (*.hpcrun, *.hpctrace)");
	case -ENOMEM: return pm_error_set(err, r, path, PM_NO_OFFSET, "no memory");
	default: return pm_error_set(err, r, path, PM_NO_OFFSET, "cannot be listed");
	}
}

/* The other file of the same thread, as far as names tell. */
static int look_beside(struct hpcrun_folder *f, struct hpcrun_source *s, bool is_trace)
{
	const struct hpcrun_file *file = is_trace ? &s->trace : &s->profile;
	if (!pm_has_ending(pm_bytes_of(file->name), is_trace ? trace_end : profile_end))
		return 0;
	struct pm_bytes stem = hpcrun_file_stem(file);
	char *name;
	if (asprintf(&name, "%.*s%s", (int)stem.len, (const char *)stem.p,
		    is_trace ? profile_end : trace_end) < 0)
		return -ENOMEM;
	int r = look_at(f->fd, name, is_trace ? &s->profile : &s->trace);
	free(name);
	return r < 0 ? r : 0;
}

int hpcrun_folder_open_file(
	struct hpcrun_folder *ret, const char *path, bool is_trace, struct pm_error *err)
{
	*ret = (struct hpcrun_folder){.fd = pm_folder_around(path), .n = 1};
	ret->sources = calloc(1, sizeof(*ret->sources));
	int r = 0;
	if (ret->fd < 0 || !ret->sources)
		r = errno == ENOMEM ? -ENOMEM : -EIO;
	if (r == 0) {
		struct hpcrun_source *s = &ret->sources[0];
		r = look_at(ret->fd, pm_path_name(path), is_trace ? &s->trace : &s->profile);
		r = r > 0 ? look_beside(ret, s, is_trace) : r < 0 ? r : -EIO;
	}
	if (r == 0)
		return 0;
	hpcrun_folder_close(ret);
	return pm_error_set(
		err, r, path, PM_NO_OFFSET, pm_is_passing(r) ? "no memory" : "cannot be examined");
}

void hpcrun_folder_close(struct hpcrun_folder *f)
{
	for (uint32_t i = 0; i < f->n && f->sources; i++) {
		file_done(&f->sources[i].profile);
		file_done(&f->sources[i].trace);
	}
	free(f->sources);
	if (f->fd >= 0)
		close(f->fd);
	sym_root_done(&f->root);
	*f = (struct hpcrun_folder){.fd = -1};
}

/* ---- program ---- */

/* Files of one program are adjacent, because their names begin with its name. */
struct pm_bytes hpcrun_program_find(const struct hpcrun_folder *folder)
{
	struct pm_bytes program = {NULL, 0}, best = program;
	uint64_t bytes = 0, most = 0;
	for (uint32_t i = 0; i < folder->n; i++) {
		const struct hpcrun_source *s = &folder->sources[i];
		struct pm_bytes stem = hpcrun_file_stem(hpcrun_source_file(s));
		struct pm_bytes next = hpcrun_file_name_parse(stem).program;
		if (!pm_bytes_equal(program, next))
			bytes = 0;
		program = next;
		bytes += s->profile.size + s->trace.size;
		if (i == 0 || bytes > most) {
			most = bytes;
			best = program;
		}
	}
	return best;
}

struct sym_place hpcrun_symbols_place(const struct hpcrun_folder *folder)
{
	struct sym_place place = {.folder = folder->fd,
		.root = &folder->root,
		.program = hpcrun_program_find(folder)};
	for (uint32_t i = 0; i < folder->n; i++)
		if (folder->sources[i].profile.mtime_ns > place.written_ns)
			place.written_ns = folder->sources[i].profile.mtime_ns;
	return place;
}

/* ---- files ---- */

int hpcrun_file_open(struct hpcrun_folder *f, const struct hpcrun_file *file, struct pm_input *ret,
	struct pm_error *err)
{
	struct pm_error why = {.offset = PM_NO_OFFSET};
	int r = pm_input_open_watched(ret, f->fd, file->name, file->watch, &why);
	if (r == 0 && !pm_watch_spoilt(file->watch))
		return 0;
	if (r < 0 && r != -ENOENT && !pm_watch_spoilt(file->watch))
		return pm_error_set(err, r, file->name, why.offset, "%s", why.text);
	pm_input_close(ret);
	__atomic_store_n(&f->changed, true, __ATOMIC_RELEASE);
	return pm_error_set(
		err, -EIO, file->name, PM_NO_OFFSET, "has changed since it was mounted");
}

void hpcrun_file_use(struct pm_input *in, uint64_t off, uint64_t len)
{
	pm_watch_use(in->watch, in->bytes, off, len);
}

void hpcrun_file_close(struct hpcrun_folder *f, struct pm_input *in)
{
	if (in->name && pm_input_changed(in))
		__atomic_store_n(&f->changed, true, __ATOMIC_RELEASE);
	pm_input_close(in);
}

struct mapped_file {
	struct hpcrun_folder *folder;
	struct pm_input in;
};

static void close_file(void *mapped)
{
	struct mapped_file *m = mapped;
	hpcrun_file_close(m->folder, &m->in);
}

struct pm_input *hpcrun_file_map(struct pm_arena *a, struct hpcrun_folder *f,
	const struct hpcrun_file *file, struct pm_error *err)
{
	struct mapped_file *m = pm_arena_alloc(a, sizeof(*m));
	m->folder = f;
	pm_arena_owns(a, close_file, m);
	int r = hpcrun_file_open(f, file, &m->in, err);
	if (pm_is_passing(r))
		pm_build_fail(a, r);
	return r < 0 ? NULL : &m->in;
}

const struct hpcrun_profile *hpcrun_profile_open(struct pm_arena *a, struct hpcrun_folder *folder,
	const struct hpcrun_file *file, enum hpcrun_extent extent, struct pm_damage_list *damage,
	struct pm_error *err)
{
	const struct hpcrun_report report = {.list = damage, .file = file->name};
	struct hpcrun_profile *ret = pm_arena_alloc(a, sizeof(*ret));
	struct pm_input *in = hpcrun_file_map(a, folder, file, err);
	if (in && extent == HPCRUN_ALL)
		hpcrun_file_use(in, 0, in->bytes.len);
	return in && hpcrun_profile_read(ret, a, in->bytes, extent, &report, err) == 0 ? ret : NULL;
}

bool hpcrun_folder_changed(const struct hpcrun_folder *f)
{
	return __atomic_load_n(&f->changed, __ATOMIC_ACQUIRE);
}
