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
static struct split split_path(struct pm_arena *arena, const char *path)
{
	uint32_t n = 1;
	for (const char *p = path; *p; p++)
		n += *p == '/';
	struct pm_bytes *parts = pm_arena_array(arena, n, sizeof(*parts));
	struct split split = {.parts = parts};
	for (const char *p = path; *p; p += *p == '/') {
		size_t len = strcspn(p, "/");
		if (len > 0 && !(len == 1 && *p == '.'))
			parts[split.n++] = (struct pm_bytes){(const uint8_t *)p, len};
		p += len;
	}
	if (split.n == 0)
		parts[split.n++] = pm_bytes_of("/");
	return split;
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
static void name_by_stems(struct pm_arena *scratch, struct pmfs_runs *runs)
{
	struct pm_strtab names = pm_strtab_in(scratch);
	struct pm_bytes *stems = pm_arena_array(scratch, runs->n, sizeof(*stems));
	uint32_t *uses = pm_arena_array(scratch, runs->n, sizeof(*uses));
	for (uint32_t i = 0; i < runs->n; i++) {
		const struct pmfs_run *run = &runs->runs[i];
		const char *first = run->n_files ? run->files[0] : NULL;
		size_t len = first ? shared_stem(run) : 0;
		stems[i] = pm_bytes_of(run->name);
		if (len > 0 && strcmp(pm_path_name(run->name), first) == 0)
			stems[i].len -= strlen(first) - len;
		uses[pm_strtab_add(&names, stems[i])]++;
	}
	for (uint32_t i = 0; i < runs->n; i++) {
		struct pmfs_run *run = &runs->runs[i];
		if (stems[i].len < strlen(run->name) && uses[pm_strtab_find(&names, stems[i])] == 1)
			run->name =
				pm_arena_printf(&runs->arena, "%.*s", (int)stems[i].len, run->name);
	}
}

/*
 * Names each unnamed run by the components of its path that are not common to all runs at the start
 * or end; at least one component is left.
 */
static void shorten_names(struct pm_arena *scratch, struct pmfs_runs *runs)
{
	struct split *splits = pm_arena_array(scratch, runs->n, sizeof(*splits));
	uint32_t unnamed = 0;
	for (uint32_t i = 0; i < runs->n; i++) {
		unnamed += !runs->runs[i].name;
		splits[i] = split_path(scratch, runs->runs[i].path);
	}
	uint32_t front = unnamed ? shared(splits, runs->n, 0, false) : 0;
	uint32_t back = unnamed ? shared(splits, runs->n, front, true) : 0;
	for (uint32_t i = 0; i < runs->n; i++) {
		struct pmfs_run *run = &runs->runs[i];
		if (!run->name)
			run->name = join(&runs->arena, &splits[i], front, back);
	}
	if (unnamed == runs->n)
		name_by_stems(scratch, runs);
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
	struct pm_arena *a; /* of a build */
	const char *folder;
	struct places todo, found; /* directories; sources */
	struct pm_map seen;        /* identities of sources that are not links */
	uint64_t entries;
	struct pm_error *unread, *err;
};

static void add_place(struct walk *w, struct places *list, const struct place *place)
{
	pm_list_grow(w->a, &list->items, list->n, &list->room, sizeof(*list->items));
	list->items[list->n++] = *place;
}

/* Remembers the first entry that cannot be opened. */
static void note_unreadable(struct walk *w, const char *below, int code)
{
	pm_error_set(w->unread, -code, below, PM_NO_OFFSET, "cannot be opened: %s", strerror(code));
}

/* Adds an entry of a directory: a source, a directory to enter, or nothing. */
static void look(struct walk *w, int fd, const char *above, const char *name)
{
	struct stat st, target;
	bool fresh;
	if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return;
	bool link = S_ISLNK(st.st_mode);
	target = st;
	if (link && fstatat(fd, name, &target, 0) != 0)
		return;
	bool folder = S_ISDIR(target.st_mode);
	if (!folder && (!S_ISREG(target.st_mode) || target.st_size == 0))
		return;
	struct place place = {.link = link,
		.identity =
			pm_hash_u64(pm_hash_u64((uint64_t)target.st_dev) ^ (uint64_t)target.st_ino),
		.bytes = (uint64_t)target.st_size,
		.below = pm_arena_printf(w->a, "%s%s%s", above, *above ? "/" : "", name)};
	if (pm_profile_probe(pm_arena_printf(w->a, "%s/%s", w->folder, place.below), &place.part) >
		0) {
		place.part.run ^= pm_hash_bytes(pm_bytes_of(above));
		if (!link)
			pm_map_put(&w->seen, place.identity, 1, &fresh);
		add_place(w, &w->found, &place);
		return;
	}
	if (!folder && faccessat(fd, name, R_OK, AT_EACCESS) != 0)
		note_unreadable(w, place.below, errno);
	if (folder && !link)
		add_place(w, &w->todo, &place);
}

/* A directory that is read. */
struct open_folder {
	int fd; /* -1: none */
	DIR *list;
};

static void end_folder(void *context)
{
	struct open_folder *folder = context;
	if (folder->list)
		closedir(folder->list);
	if (folder->fd >= 0)
		close(folder->fd);
}

/* An unreadable directory is treated as empty. */
static void look_into(struct walk *w, const char *below)
{
	struct pm_arena *scratch = pm_arena_scratch(w->a);
	const char *path = pm_arena_printf(scratch, "%s/%s", w->folder, below);
	struct open_folder *folder = pm_arena_alloc(scratch, sizeof(*folder));
	const struct dirent *entry;
	folder->fd = -1;
	pm_arena_owns(scratch, end_folder, folder);
	folder->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (folder->fd < 0)
		note_unreadable(w, below, errno);
	else if (!(folder->list = pm_folder_list(folder->fd)) && errno == ENOMEM)
		pm_build_fail(w->a, PM_NO_MEMORY);
	while (folder->list && (entry = readdir(folder->list))) {
		if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
			continue;
		if (++w->entries > PM_LIMIT_FOLDER)
			pm_build_fail(w->a,
				pm_error_set(w->err, -EINVAL, w->folder, PM_NO_OFFSET,
					"has more than %d entries", PM_LIMIT_FOLDER));
		pm_build_proceed(w->a);
		look(w, folder->fd, below, entry->d_name);
	}
	pm_arena_done(scratch);
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

/* Where the run of a part begins. */
static struct place *first_part(struct walk *w, struct pm_map *runs, const struct place *place)
{
	bool fresh;
	return &w->found.items[*pm_map_put(
		runs, place->part.run, (uint32_t)(place - w->found.items), &fresh)];
}

/* Makes a list of the parts of each run, in the order of places. */
static void join_parts(struct walk *w)
{
	struct pm_map runs = {.arena = w->a}, members = {.arena = w->a};
	struct place *place = w->found.items, *end = place + w->found.n, *first;
	bool fresh;
	for (; place < end; place++) {
		if (!is_part(place))
			continue;
		first = first_part(w, &runs, place);
		pm_map_put(&members, pm_hash_u64(place->part.run) ^ place->part.member, 1, &fresh);
		first->is_alone |= !fresh;
	}
	for (place = w->found.items; place < end; place++) {
		first = is_part(place) ? first_part(w, &runs, place) : place;
		if (first == place || first->is_alone)
			continue;
		*(first->last ? &first->last->next : &first->next) = place;
		first->last = place;
		place->is_next = true;
	}
}

/*
 * Calls found(context, place) for each source in the directory, at any depth, in the natural order
 * of paths; files that are parts of one run are one source. What is below a source belongs to it.
 * Links to directories are not followed; links to sources are used if their target was not found
 * otherwise, or through another link. Reads directories and the beginning of each file. What cannot
 * be opened is left out; `unread`, empty before, becomes the first error of these. In a build of
 * the arena, which fails with -EINVAL if there are more than PM_LIMIT_FOLDER entries.
 */
static void folder_find(struct pm_arena *a, const char *folder,
	void (*found)(void *context, const struct place *), void *context, struct pm_error *unread,
	struct pm_error *err)
{
	struct walk w = {.a = a, .folder = folder, .unread = unread, .err = err, .seen.arena = a};
	add_place(&w, &w.todo, &(struct place){.below = ""});
	for (size_t i = 0; i < w.todo.n; i++)
		look_into(&w, w.todo.items[i].below);
	if (w.found.n > 0)
		pm_build_check(
			a, pm_sort(w.found.items, w.found.n, sizeof(*w.found.items), by_path));
	join_parts(&w);
	for (size_t i = 0; i < w.found.n; i++) {
		const struct place *place = &w.found.items[i];
		bool fresh = !place->is_next;
		if (place->link)
			pm_map_put(&w.seen, place->identity, 1, &fresh);
		if (fresh)
			found(context, place);
	}
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
	struct pm_arena *a; /* the list's, of a build */
	struct pmfs_runs *runs;
	const char *name;   /* or NULL */
	const char *source; /* as given, without NAME= */
	const char *path;
	struct pm_error *err;
};

static void add_run(
	const struct listing *l, const char *source, const char *path, const struct place *place)
{
	struct pmfs_runs *runs = l->runs;
	struct stat st;
	if (runs->n >= PM_LIMIT_RUNS)
		pm_build_fail(l->a,
			pm_error_set(l->err, -EINVAL, NULL, PM_NO_OFFSET, "more than %d sources",
				PM_LIMIT_RUNS));
	pm_list_grow(l->a, &runs->runs, runs->n, &runs->room, sizeof(*runs->runs));
	struct pmfs_run *run = &runs->runs[runs->n++];
	*run = (struct pmfs_run){.name = l->name, .source = source, .path = path};
	if (stat(path, &st) == 0) {
		run->mtime_ns = pm_time_ns(st.st_mtim);
		run->is_folder = S_ISDIR(st.st_mode);
		run->bytes = S_ISDIR(st.st_mode) ? folder_bytes(path) : (uint64_t)st.st_size;
	}
	if (!place || !place->next)
		return;
	/* The names of all its files, which are in one folder. */
	size_t n = 0;
	for (const struct place *p = place; p; p = p->next)
		n++;
	const char **files = pm_arena_array(l->a, n, sizeof(*files));
	run->format = place->part.format;
	run->bytes = 0;
	for (; place; place = place->next) {
		files[run->n_files++] = pm_arena_printf(l->a, "%s", pm_path_name(place->below));
		run->bytes += place->bytes;
	}
	run->files = files;
}

/* Adds a source found in a directory, by its path below it. */
static void add_found(void *context, const struct place *place)
{
	const struct listing *l = context;
	const char *below = place->below;
	size_t len = strlen(l->source);
	const char *slash = len && l->source[len - 1] == '/' ? "" : "/";
	add_run(l, pm_arena_printf(l->a, "%s%s%s", l->source, slash, below),
		pm_arena_printf(l->a, "%s/%s", l->path, below), place);
}

static void add_word(struct listing *l)
{
	struct stat st;
	if (stat(l->path, &st) != 0 || !S_ISDIR(st.st_mode) ||
		pm_profile_probe(l->path, NULL) > 0) {
		add_run(l, l->source, l->path, NULL);
		return;
	}
	uint32_t before = l->runs->n;
	struct pm_error unread = {.offset = PM_NO_OFFSET};
	struct pm_arena *scratch = pm_arena_scratch(l->a);
	folder_find(scratch, l->path, add_found, l, &unread, l->err);
	pm_arena_done(scratch);
	if (l->runs->n > before)
		return;
	int r;
	if (unread.code && !unread.file[0])
		r = pm_error_set(l->err, unread.code, l->source, PM_NO_OFFSET, "%s", unread.text);
	else if (unread.code)
		r = pm_error_set(l->err, -EINVAL, l->source, PM_NO_OFFSET,
			"contains no profile of a known format; %s %s", unread.file, unread.text);
	else
		r = pm_error_set(l->err, -EINVAL, l->source, PM_NO_OFFSET,
			"contains no profile of a known format (see --formats)");
	pm_build_fail(l->a, r);
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

struct pmfs_numbered *pmfs_runs_numbered(struct pm_arena *a, const struct pmfs_runs *runs)
{
	struct pm_strtab stems = pm_strtab_in(a);
	struct cut *cuts = pm_arena_array(a, runs->n, sizeof(*cuts));
	struct pmfs_numbered *ret = pm_arena_array(a, runs->n, sizeof(*ret));
	struct pm_text stem = {.arena = a};
	uint32_t n = 0;
	for (uint32_t i = 0; i < runs->n; i++) {
		const char *name = runs->runs[i].name;
		size_t at, len;
		if (!find_number(name, &at, &len))
			continue;
		pm_text_clear(&stem);
		pm_text_printf(&stem, "%.*s/%s", (int)at, name, name + at + len);
		uint32_t number = pm_strtab_add(&stems, pm_text_view(&stem));
		cuts[n++] = (struct cut){i, number, strtoull(name + at, NULL, 10)};
	}
	if (n > 0)
		pm_build_check(a, pm_sort(cuts, n, sizeof(*cuts), by_stem));
	for (uint32_t from = 0, to; from < n; from = to) {
		bool counts = cuts[from].number <= 1;
		for (to = from + 1; to < n && cuts[to].stem == cuts[from].stem; to++)
			counts &= cuts[to].number == cuts[to - 1].number + 1;
		if (!counts || to - from < 2)
			continue;
		const char *name = name_without(a, runs->runs[cuts[from].run].name);
		for (uint32_t i = from; i < to; i++)
			ret[cuts[i].run] = (struct pmfs_numbered){name, to - from};
	}
	return ret;
}

/* Puts runs with the same name together, in the order in which they were given. */
static void group_runs(struct pm_arena *scratch, struct pmfs_runs *runs)
{
	struct pm_strtab names = pm_strtab_in(scratch);
	struct pmfs_run *given = runs->runs;
	uint32_t first = 0;
	runs->groups = pm_arena_array(&runs->arena, runs->n, sizeof(*runs->groups));
	for (uint32_t i = 0; i < runs->n; i++) {
		given[i].group = pm_strtab_add(&names, pm_bytes_of(given[i].name));
		given[i].repetition = ++runs->groups[given[i].group].n;
	}
	runs->n_groups = names.n;
	for (uint32_t g = 0; g < runs->n_groups; g++) {
		runs->groups[g].first = first;
		first += runs->groups[g].n;
		runs->repeated |= runs->groups[g].n > 1;
	}
	runs->runs = pm_arena_array(&runs->arena, runs->n, sizeof(*runs->runs));
	for (uint32_t i = 0; i < runs->n; i++) {
		struct pmfs_group *group = &runs->groups[given[i].group];
		group->name = given[i].repetition == 1 ? given[i].name : group->name;
		runs->runs[group->first + given[i].repetition - 1] = given[i];
	}
	pm_arena_free(&runs->arena, given);
}

/* What is asked for: see pmfs_runs_list. */
struct asked {
	struct pmfs_runs *runs;
	const char *const *words, *const *paths;
	uint32_t n;
	bool join;
	struct pm_error *err;
};

static void list(void *context)
{
	const struct asked *asked = context;
	struct pmfs_runs *runs = asked->runs;
	struct pm_arena *a = &runs->arena, *scratch = pm_arena_scratch(a);
	for (uint32_t i = 0; i < asked->n; i++) {
		struct listing l = {.a = a, .runs = runs, .err = asked->err};
		const char *word = asked->words[i];
		size_t len = pmfs_word_name(word);
		l.source = pm_arena_printf(a, "%s", word + (len ? len + 1 : 0));
		l.path = asked->paths ? pm_arena_printf(a, "%s", asked->paths[i]) : l.source;
		if (len)
			l.name = pm_arena_printf(a, "%.*s", (int)len, word);
		add_word(&l);
		runs->of_folder = asked->n == 1 && runs->n > 1 && !len;
	}
	shorten_names(scratch, runs);
	if (asked->join) {
		const struct pmfs_numbered *numbered = pmfs_runs_numbered(a, runs);
		for (uint32_t i = 0; i < runs->n; i++)
			if (numbered[i].name)
				runs->runs[i].name = numbered[i].name;
	}
	group_runs(scratch, runs);
	pm_arena_done(scratch);
}

int pmfs_runs_list(struct pmfs_runs *ret, const char *const *words, const char *const *paths,
	uint32_t n, bool join, struct pm_error *err)
{
	struct asked asked = {ret, words, paths, n, join, err};
	*ret = (struct pmfs_runs){.n = 0};
	int r = pm_build(&ret->arena, list, &asked);
	return r < 0 ? pm_error_set(err, r, NULL, PM_NO_OFFSET, "no memory for the list of runs")
		     : 0;
}

void pmfs_runs_done(struct pmfs_runs *runs)
{
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
