/*
 * From the words of a command line to runs with names: what a directory stands for, names for
 * runs without one, and which runs are repetitions of each other.
 */
#include "fs/runs/words.h"

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
#include "formats/common/text.h"
#include "formats/common/work.h"
#include "profmount/error.h"
#include "profmount/format.h"
#include "profmount/limits.h"

/* ---- the order of names with numbers ---- */

static size_t count_digits(const char *s)
{
	return strspn(s, "0123456789");
}

int pmfs_natural_compare(const char *a, const char *b)
{
	const char *x = a, *y = b;
	while (*x && *y) {
		size_t n = count_digits(x), m = count_digits(y);
		if (n == 0 || m == 0) {
			if (*x != *y)
				return (unsigned char)*x < (unsigned char)*y ? -1 : 1;
			x++;
			y++;
			continue;
		}
		size_t zeros_x = strspn(x, "0"), zeros_y = strspn(y, "0");
		size_t len_x = n - zeros_x, len_y = m - zeros_y;
		int order = len_x != len_y ? (len_x < len_y ? -1 : 1)
					   : strncmp(x + zeros_x, y + zeros_y, len_x);
		if (order != 0)
			return order;
		x += n;
		y += m;
	}
	if (*x || *y)
		return *x ? 1 : -1;
	return strcmp(a, b);
}

/* ---- names for runs without one: the components of paths that differ ---- */

/* A path as its components. */
struct split {
	const struct pm_bytes *parts;
	uint32_t n;
};

/* Components of a path without empty ones and `.`; at least one. */
static int split_path(struct pm_arena *arena, const char *path, struct split *ret)
{
	uint32_t n = 1;
	for (const char *p = path; *p; p++)
		n += *p == '/';
	struct pm_bytes *parts = pm_arena_array(arena, n, sizeof(*parts));
	if (!parts)
		return -ENOMEM;
	*ret = (struct split){.parts = parts};
	for (const char *p = path; *p; p += *p == '/') {
		size_t len = strcspn(p, "/");
		if (len > 0 && !(len == 1 && *p == '.'))
			parts[ret->n++] = (struct pm_bytes){(const uint8_t *)p, len};
		p += len;
	}
	if (ret->n == 0)
		parts[ret->n++] = pm_bytes_of("/");
	return 0;
}

/*
 * The number of components that all paths begin with (or end with), leaving each at least one after
 * `kept`.
 */
static uint32_t shared(const struct split *splits, uint32_t n, uint32_t kept, bool behind)
{
	for (uint32_t k = 0;; k++) {
		for (uint32_t i = 0; i < n; i++) {
			const struct split *s = &splits[i];
			if (k + kept + 1 >= s->n)
				return k;
			const struct pm_bytes *first = splits[0].parts;
			struct pm_bytes a = behind ? first[splits[0].n - 1 - k] : first[k];
			if (!pm_bytes_equal(a, s->parts[behind ? s->n - 1 - k : k]))
				return k;
		}
	}
}

static const char *join(
	struct pm_arena *arena, const struct split *s, uint32_t front, uint32_t back)
{
	struct pm_bytes first = s->parts[front], last = s->parts[s->n - 1 - back];
	/* All results are slices of one path: from the first to the last remaining component. */
	size_t len = (size_t)(last.p + last.len - first.p);
	return pm_arena_printf(arena, "%.*s", (int)len, (const char *)first.p);
}

/*
 * What the names of a run's files have in common, without a number that differs and what separates
 * it: callgrind.out.1234 of callgrind.out.1234-01 and -02. 0: nothing.
 */
static size_t shared_stem(const struct pmfs_run *run)
{
	const char *first = run->files[0];
	size_t len = strlen(first);
	bool in_number = false;
	for (size_t i = 1; i < run->n_files; i++)
		for (size_t k = 0; k < len; k++)
			if (first[k] != run->files[i][k])
				len = k;
	for (size_t i = 0; i < run->n_files; i++)
		in_number |= count_digits(run->files[i] + len) > 0;
	while (in_number && len > 0 && count_digits(first + len - 1) > 0)
		len--;
	while (len > 0 && len < strlen(first) && strchr("-_.", first[len - 1]))
		len--;
	return len;
}

/* Of a run of several files, which has the name of the first: what they share, unless another has
 * it. */
static int name_by_stems(struct pmfs_runs *runs)
{
	struct pm_strtab names = {.arena = NULL};
	struct pm_bytes *stems = calloc(runs->n + (size_t)1, sizeof(*stems));
	uint32_t *uses = calloc(runs->n + (size_t)1, sizeof(*uses));
	int r = stems && uses ? 0 : -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < runs->n; i++) {
		const struct pmfs_run *run = &runs->runs[i];
		const char *first = run->n_files ? run->files[0] : NULL;
		size_t len = first ? shared_stem(run) : 0;
		stems[i] = pm_bytes_of(run->name);
		if (len > 0 && strcmp(pm_path_name(run->name), first) == 0)
			stems[i].len -= strlen(first) - len;
		uint32_t name = pm_strtab_add(&names, stems[i]);
		r = name == PM_NONE ? -ENOMEM : 0;
		if (r == 0)
			uses[name]++;
	}
	for (uint32_t i = 0; r == 0 && i < runs->n; i++) {
		struct pmfs_run *run = &runs->runs[i];
		if (stems[i].len < strlen(run->name) && uses[pm_strtab_find(&names, stems[i])] == 1)
			run->name =
				pm_arena_printf(&runs->arena, "%.*s", (int)stems[i].len, run->name);
		r = run->name ? 0 : -ENOMEM;
	}
	pm_strtab_done(&names);
	free(stems);
	free(uses);
	return r;
}

/*
 * Names each unnamed run by the components of its path that are not common to all runs at the start
 * or end; at least one component is left. 0 or -ENOMEM.
 */
static int shorten_names(struct pmfs_runs *runs)
{
	struct split *splits = calloc(runs->n + (size_t)1, sizeof(*splits));
	int r = splits ? 0 : -ENOMEM;
	uint32_t unnamed = 0;
	for (uint32_t i = 0; i < runs->n && r == 0; i++) {
		unnamed += !runs->runs[i].name;
		r = split_path(&runs->arena, runs->runs[i].path, &splits[i]);
	}
	uint32_t front = r == 0 && unnamed ? shared(splits, runs->n, 0, false) : 0;
	uint32_t back = r == 0 && unnamed ? shared(splits, runs->n, front, true) : 0;
	for (uint32_t i = 0; i < runs->n && r == 0; i++) {
		struct pmfs_run *run = &runs->runs[i];
		if (!run->name && !(run->name = join(&runs->arena, &splits[i], front, back)))
			r = -ENOMEM;
	}
	free(splits);
	return r < 0 || unnamed < runs->n ? r : name_by_stems(runs);
}

/* ---- sources in a directory: a list of pending entries instead of a stack ---- */

/* An entry, by its path below the directory. */
struct place {
	const char *below;
	bool link;
	uint64_t identity, bytes; /* of the target */
	struct pm_run_file part;
	struct place *next, *last; /* parts of the run that this one begins: the list after it */
	bool is_next;              /* of another one */
	bool is_alone;             /* two files say that they are the same part of its run */
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

static int walk_no_memory(struct walk *w)
{
	return pm_error_set(w->err, -ENOMEM, w->folder, PM_NO_OFFSET, "no memory for its list");
}

static int add_place(struct walk *w, struct places *list, const struct place *place)
{
	if (pm_list_room(&list->items, list->n, &list->room, sizeof(*list->items)) < 0)
		return walk_no_memory(w);
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
		return walk_no_memory(w);
	return add_place(w, &w->found, place);
}

/* Remembers the first entry that cannot be opened. */
static void note_unreadable(struct walk *w, const char *below, int code)
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
	struct place place = {
		.link = link, .identity = identity_of(&target), .bytes = (uint64_t)target.st_size};
	place.below = pm_arena_printf(&w->arena, "%s%s%s", above, *above ? "/" : "", name);
	char *path =
		place.below ? pm_arena_printf(&w->arena, "%s/%s", w->folder, place.below) : NULL;
	if (!path)
		return walk_no_memory(w);
	if (pm_profile_probe(path, &place.part) > 0) {
		place.part.run ^= pm_hash_bytes(pm_bytes_of(above));
		return take_source(w, &place);
	}
	if (!folder && faccessat(fd, name, R_OK, AT_EACCESS) != 0)
		note_unreadable(w, place.below, errno);
	return folder && !link ? add_place(w, &w->todo, &place) : 0;
}

/* An unreadable directory is treated as empty. */
static int look_into(struct walk *w, const char *below)
{
	char *path = pm_arena_printf(&w->arena, "%s/%s", w->folder, below);
	if (!path)
		return walk_no_memory(w);
	int r = 0, fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		note_unreadable(w, below, errno);
	DIR *list = fd < 0 ? NULL : pm_folder_list(fd);
	const struct dirent *entry;
	while (list && r == 0 && (entry = readdir(list))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (++w->entries > PM_LIMIT_FOLDER)
			r = pm_error_set(w->err, -EINVAL, w->folder, PM_NO_OFFSET,
				"has more than %d entries", PM_LIMIT_FOLDER);
		else if (pm_work_cancelled())
			r = walk_no_memory(w);
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

static bool is_part(const struct place *place)
{
	return place->part.format && !place->link;
}

/* Where the run of a part begins; NULL: no memory. */
static struct place *first_part(struct walk *w, struct pm_map *runs, const struct place *place)
{
	bool fresh;
	uint32_t *run =
		pm_map_put(runs, place->part.run, (uint32_t)(place - w->found.items), &fresh);
	return run ? &w->found.items[*run] : NULL;
}

/* Makes a list of the parts of each run, in the order of places. */
static int join_parts(struct walk *w)
{
	struct pm_map runs = {.n = 0}, members = {.n = 0};
	struct place *place = w->found.items, *end = place + w->found.n, *first;
	bool fresh, enough = true;
	for (; place < end && enough; place++) {
		if (!is_part(place))
			continue;
		first = first_part(w, &runs, place);
		enough = first &&
			pm_map_put(&members, pm_hash_u64(place->part.run) ^ place->part.member, 1,
				&fresh);
		if (enough && !fresh)
			first->is_alone = true;
	}
	for (place = w->found.items; place < end && enough; place++) {
		first = is_part(place) ? first_part(w, &runs, place) : place;
		if (!first || first == place || first->is_alone)
			continue;
		*(first->last ? &first->last->next : &first->next) = place;
		first->last = place;
		place->is_next = true;
	}
	pm_map_done(&runs);
	pm_map_done(&members);
	return enough ? 0 : walk_no_memory(w);
}

/* Leaves out links to sources that were found themselves, or through another link. */
static int name_sources(struct walk *w, int (*found)(void *, const struct place *), void *context)
{
	int r = 0;
	if (pm_sort(w->found.items, w->found.n, sizeof(*w->found.items), by_path) < 0)
		return walk_no_memory(w);
	r = join_parts(w);
	for (size_t i = 0; i < w->found.n && r == 0; i++) {
		const struct place *place = &w->found.items[i];
		bool fresh = !place->is_next;
		if (place->link && !pm_map_put(&w->seen, place->identity, 1, &fresh))
			return walk_no_memory(w);
		if (fresh)
			r = found(context, place);
	}
	return r;
}

/*
 * Calls found(context, place) for each source in the directory, at any depth, in the natural order
 * of paths; files that are parts of one run are one source. What is below a source belongs to it.
 * Links to directories are not followed; links to sources are used if their target was not found
 * otherwise. Reads directories and the beginning of each file. What cannot be opened is left out;
 * `unread`, empty before, becomes the first error of these. 0, -EINVAL with more than
 * PM_LIMIT_FOLDER entries, -ENOMEM, or what `found` returned.
 */
static int folder_find(const char *folder, int (*found)(void *context, const struct place *),
	void *context, struct pm_error *unread, struct pm_error *err)
{
	struct walk w = {.folder = folder, .unread = unread, .err = err};
	struct place start = {.below = ""};
	int r = add_place(&w, &w.todo, &start);
	for (size_t i = 0; i < w.todo.n && r == 0; i++)
		r = look_into(&w, w.todo.items[i].below);
	if (r == 0)
		r = name_sources(&w, found, context);
	free(w.todo.items);
	free(w.found.items);
	pm_map_done(&w.seen);
	pm_arena_done(&w.arena);
	return r;
}

/* Size of the files directly in a directory; 0 if it cannot be read. */
static uint64_t folder_bytes(const char *folder)
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

size_t pmfs_word_name(const char *word)
{
	const char *end = strpbrk(word, "=/");
	return end && *end == '=' && word[0] != '-' ? (size_t)(end - word) : 0;
}

/* ---- listing ---- */

/* A word while its sources are listed. */
struct listing {
	struct pmfs_runs *runs;
	const char *name;   /* or NULL */
	const char *source; /* as given, without NAME= */
	const char *path;
	struct pm_error *err;
};

static int no_memory(struct pm_error *err)
{
	return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for the list of runs");
}

/* The names of all its files, which are in one folder. */
static int add_parts(const struct listing *l, struct pmfs_run *run, const struct place *place)
{
	struct pm_arena *arena = &l->runs->arena;
	size_t n = 0;
	for (const struct place *p = place; p; p = p->next)
		n++;
	const char **files = pm_arena_array(arena, n, sizeof(*files));
	if (!files)
		return no_memory(l->err);
	run->format = place->part.format;
	run->bytes = 0;
	for (; place; place = place->next) {
		const char *name = pm_path_name(place->below);
		files[run->n_files] = pm_arena_printf(arena, "%s", name);
		if (!files[run->n_files++])
			return no_memory(l->err);
		run->bytes += place->bytes;
	}
	run->files = files;
	return 0;
}

static int add_run(
	const struct listing *l, const char *source, const char *path, const struct place *place)
{
	struct pmfs_runs *runs = l->runs;
	struct stat st;
	if (runs->n >= PM_LIMIT_RUNS)
		return pm_error_set(
			l->err, -EINVAL, NULL, PM_NO_OFFSET, "more than %d sources", PM_LIMIT_RUNS);
	if (!source || !path ||
		pm_list_room(&runs->runs, runs->n, &runs->room, sizeof(*runs->runs)) < 0)
		return no_memory(l->err);
	struct pmfs_run *run = &runs->runs[runs->n++];
	*run = (struct pmfs_run){.name = l->name, .source = source, .path = path};
	if (stat(path, &st) == 0) {
		run->mtime_ns = pm_time_ns(st.st_mtim);
		run->is_folder = S_ISDIR(st.st_mode);
		run->bytes = S_ISDIR(st.st_mode) ? folder_bytes(path) : (uint64_t)st.st_size;
	}
	return place && place->next ? add_parts(l, run, place) : 0;
}

/* Adds a source found in a directory, by its path below it. */
static int add_found(void *context, const struct place *place)
{
	const struct listing *l = context;
	const char *below = place->below;
	size_t len = strlen(l->source);
	const char *slash = len && l->source[len - 1] == '/' ? "" : "/";
	return add_run(l, pm_arena_printf(&l->runs->arena, "%s%s%s", l->source, slash, below),
		pm_arena_printf(&l->runs->arena, "%s/%s", l->path, below), place);
}

static int add_word(struct listing *l)
{
	struct stat st;
	if (stat(l->path, &st) != 0 || !S_ISDIR(st.st_mode) || pm_profile_probe(l->path, NULL) > 0)
		return add_run(l, l->source, l->path, NULL);
	uint32_t before = l->runs->n;
	struct pm_error unread = {.offset = PM_NO_OFFSET};
	int r = folder_find(l->path, add_found, l, &unread, l->err);
	if (r < 0 || l->runs->n > before)
		return r;
	if (unread.code && !unread.file[0])
		return pm_error_set(
			l->err, unread.code, l->source, PM_NO_OFFSET, "%s", unread.text);
	if (unread.code)
		return pm_error_set(l->err, -EINVAL, l->source, PM_NO_OFFSET,
			"contains no profile of a known format; %s %s", unread.file, unread.text);
	return pm_error_set(l->err, -EINVAL, l->source, PM_NO_OFFSET,
		"contains no profile of a known format (see --formats)");
}

static int add_words(struct pmfs_runs *runs, const char *const *words, const char *const *paths,
	uint32_t n, struct pm_error *err)
{
	int r = 0;
	for (uint32_t i = 0; i < n && r == 0; i++) {
		struct listing l = {.runs = runs, .err = err};
		size_t len = pmfs_word_name(words[i]);
		l.source = pm_arena_printf(&runs->arena, "%s", words[i] + (len ? len + 1 : 0));
		l.path = paths ? pm_arena_printf(&runs->arena, "%s", paths[i]) : l.source;
		if (len)
			l.name = pm_arena_printf(&runs->arena, "%.*s", (int)len, words[i]);
		r = l.source && l.path && (!len || l.name) ? add_word(&l) : no_memory(err);
		runs->of_folder = n == 1 && runs->n > 1 && !len;
	}
	return r;
}

/* ---- names ---- */

/* A name whose last number is cut out. */
struct cut {
	uint32_t run, stem; /* stem: number of the rest */
	uint64_t number;
};

/* The place and length of the last number before the extension; false if there is none. */
static bool find_number(const char *name, size_t *ret_at, size_t *ret_len)
{
	static const char digits[] = "0123456789";
	const char *dot = strrchr(name, '.');
	bool has_extension = dot && dot > name && strspn(dot + 1, digits) < strlen(dot + 1);
	size_t end = has_extension ? (size_t)(dot - name) : strlen(name);
	while (end > 0 && !strchr(digits, name[end - 1]))
		end--;
	size_t at = end;
	while (at > 0 && strchr(digits, name[at - 1]))
		at--;
	*ret_at = at;
	*ret_len = end - at;
	return end > at && end - at <= 9;
}

static int by_stem(const void *a, const void *b)
{
	const struct cut *x = a, *y = b;
	if (x->stem != y->stem)
		return x->stem < y->stem ? -1 : 1;
	return (x->number > y->number) - (x->number < y->number);
}

/* The name without the number, and without what separates it: solve of solve-1.perf. */
static const char *name_without(struct pm_arena *names, const char *name)
{
	size_t at, len;
	find_number(name, &at, &len);
	const char *rest = name + at + len;
	while (at > 0 && strchr("-_. #", name[at - 1]))
		at--;
	if (at > 0 && (*rest == '\0' || *rest == '.'))
		return pm_arena_printf(names, "%.*s", (int)at, name);
	return pm_arena_printf(names, "%.*s%s", (int)at, name, at ? rest : "runs");
}

int pmfs_runs_numbered(
	const struct pmfs_runs *runs, struct pm_arena *names, struct pmfs_numbered *ret)
{
	struct pm_strtab stems = {.arena = names};
	struct cut *cuts = calloc(runs->n + (size_t)1, sizeof(*cuts));
	struct pm_text stem = {.p = NULL};
	uint32_t n = 0;
	int r = cuts ? 0 : -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < runs->n; i++) {
		const char *name = runs->runs[i].name;
		size_t at, len;
		ret[i] = (struct pmfs_numbered){NULL, 0};
		if (!find_number(name, &at, &len))
			continue;
		pm_text_clear(&stem);
		pm_text_printf(&stem, "%.*s/%s", (int)at, name, name + at + len);
		cuts[n] = (struct cut){i, 0, strtoull(name + at, NULL, 10)};
		cuts[n].stem =
			stem.failed ? UINT32_MAX : pm_strtab_add(&stems, pm_text_view(&stem));
		r = cuts[n++].stem == UINT32_MAX ? -ENOMEM : 0;
	}
	if (r == 0 && n > 0)
		r = pm_sort(cuts, n, sizeof(*cuts), by_stem);
	for (uint32_t from = 0, to; r == 0 && from < n; from = to) {
		bool counts = cuts[from].number <= 1;
		for (to = from + 1; to < n && cuts[to].stem == cuts[from].stem; to++)
			counts &= cuts[to].number == cuts[to - 1].number + 1;
		const char *name = counts && to - from > 1
			? name_without(names, runs->runs[cuts[from].run].name)
			: NULL;
		if (counts && to - from > 1 && !name)
			r = -ENOMEM;
		for (uint32_t i = from; name && i < to; i++)
			ret[cuts[i].run] = (struct pmfs_numbered){name, to - from};
	}
	pm_text_done(&stem);
	pm_strtab_done(&stems);
	free(cuts);
	return r;
}

static int join_numbered(struct pmfs_runs *runs)
{
	struct pmfs_numbered *numbered = calloc(runs->n + (size_t)1, sizeof(*numbered));
	int r = numbered ? pmfs_runs_numbered(runs, &runs->arena, numbered) : -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < runs->n; i++)
		if (numbered[i].name)
			runs->runs[i].name = numbered[i].name;
	free(numbered);
	return r;
}

static int number_groups(struct pmfs_runs *runs)
{
	struct pm_strtab names = {.arena = NULL};
	runs->groups = pm_arena_array(&runs->arena, runs->n + (size_t)1, sizeof(*runs->groups));
	if (!runs->groups)
		return -ENOMEM;
	int r = 0;
	for (uint32_t i = 0; i < runs->n && r == 0; i++) {
		struct pmfs_run *run = &runs->runs[i];
		run->group = pm_strtab_add(&names, pm_bytes_of(run->name));
		if (run->group == UINT32_MAX)
			r = -ENOMEM;
		else
			run->repetition = ++runs->groups[run->group].n;
	}
	runs->n_groups = names.n;
	pm_strtab_done(&names);
	return r;
}

/* Sorts runs with the same name together, in the order in which they were given. */
static int put_together(struct pmfs_runs *runs)
{
	struct pmfs_run *ordered = calloc(runs->n + (size_t)1, sizeof(*ordered));
	if (!ordered)
		return -ENOMEM;
	uint32_t first = 0;
	for (uint32_t g = 0; g < runs->n_groups; g++) {
		runs->groups[g].first = first;
		first += runs->groups[g].n;
		runs->repeated |= runs->groups[g].n > 1;
	}
	for (uint32_t i = 0; i < runs->n; i++) {
		const struct pmfs_run *run = &runs->runs[i];
		struct pmfs_group *group = &runs->groups[run->group];
		group->name = run->repetition == 1 ? run->name : group->name;
		ordered[group->first + run->repetition - 1] = *run;
	}
	free(runs->runs);
	runs->runs = ordered;
	return 0;
}

int pmfs_runs_list(struct pmfs_runs *ret, const char *const *words, const char *const *paths,
	uint32_t n, bool join, struct pm_error *err)
{
	*ret = (struct pmfs_runs){.n = 0};
	int r = add_words(ret, words, paths, n, err);
	if (r < 0)
		return r;
	if ((r = shorten_names(ret)) < 0 || (join && (r = join_numbered(ret)) < 0) ||
		(r = number_groups(ret)) < 0 || (r = put_together(ret)) < 0)
		return no_memory(err);
	return 0;
}

void pmfs_runs_done(struct pmfs_runs *runs)
{
	free(runs->runs);
	pm_arena_done(&runs->arena);
	if (runs->is_covered)
		close(runs->covered);
	*runs = (struct pmfs_runs){.n = 0};
}

/* Without /proc they stay as they are: a mount that covers them has no runs then. */
int pmfs_runs_cover(struct pmfs_runs *runs, const char *mountpoint)
{
	size_t len = strlen(mountpoint);
	for (uint32_t i = 0; i < runs->n; i++) {
		struct pmfs_run *run = &runs->runs[i];
		if (strncmp(run->path, mountpoint, len) != 0 ||
			(run->path[len] && run->path[len] != '/'))
			continue;
		if (!runs->is_covered) {
			runs->covered = open(mountpoint, O_PATH | O_DIRECTORY | O_CLOEXEC);
			runs->is_covered = runs->covered >= 0;
		}
		if (!runs->is_covered || access("/proc/self/fd", X_OK) != 0)
			return 0;
		run->open = pm_arena_printf(
			&runs->arena, "/proc/self/fd/%d%s", runs->covered, run->path + len);
		if (!run->open)
			return -ENOMEM;
	}
	return 0;
}
