/* From the words of a command line to runs with names. */
#include "fs/runs/words.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/common/folder.h"
#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/sort.h"
#include "formats/common/text.h"
#include "fs/runs/folder.h"
#include "fs/runs/shorten.h"
#include "profmount/format.h"
#include "profmount/limits.h"

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

static int add_run(const struct listing *l, const char *source, const char *path)
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
		run->bytes = S_ISDIR(st.st_mode) ? pmfs_folder_bytes(path) : (uint64_t)st.st_size;
	}
	return 0;
}

/* Adds a source found in a directory, by its path below it. */
static int add_found(void *context, const char *below)
{
	const struct listing *l = context;
	size_t len = strlen(l->source);
	const char *slash = len && l->source[len - 1] == '/' ? "" : "/";
	return add_run(l, pm_arena_printf(&l->runs->arena, "%s%s%s", l->source, slash, below),
		pm_arena_printf(&l->runs->arena, "%s/%s", l->path, below));
}

static int add_word(struct listing *l)
{
	struct stat st;
	if (stat(l->path, &st) != 0 || !S_ISDIR(st.st_mode) || pm_profile_probe(l->path) > 0)
		return add_run(l, l->source, l->path);
	uint32_t before = l->runs->n;
	struct pm_error unread = {.offset = PM_NO_OFFSET};
	int r = pmfs_folder_find(l->path, add_found, l, &unread, l->err);
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
	if ((r = pmfs_shorten_names(ret)) < 0 || (join && (r = join_numbered(ret)) < 0) ||
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
