/*
 * Describes databases to the writer. The rich one is a table of contexts, values and samples that
 * tests compare against, and the calls that write the same.
 */
#include "tests/hpctoolkit/fixtures.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct fixture_style fixture_styles[] = {
	{"released", "4.0", {.generation = HPCTKW_RELEASED}},
	{"released, untidy", "4.0",
		{.generation = HPCTKW_RELEASED,
			.children_first = true,
			.odd_strings = true,
			.garbage = 0xa5,
			.wider = 8}},
	{"June 2022", "4.0-draft-2022-06", {.generation = HPCTKW_JUNE, .garbage = 0x55}},
	{"April 2022", "4.0-draft-2022-04",
		{.generation = HPCTKW_APRIL, .children_first = true, .garbage = 0x55}},
	{"first draft, big-endian", "4.0-first-draft", {.generation = HPCTKW_FIRST, .big = true}},
	{"first draft, big-endian, untidy", "4.0-first-draft",
		{.generation = HPCTKW_FIRST, .big = true, .children_first = true, .garbage = 0xff}},
	{"first draft, little-endian", "4.0-first-draft", {.generation = HPCTKW_FIRST}},
};
const size_t n_fixture_styles = sizeof(fixture_styles) / sizeof(fixture_styles[0]);

#define LONG_NAME_LENGTH 3000
static char long_name[LONG_NAME_LENGTH + 1];

enum { APP, LIBM };                               /* modules */
enum { APP_C, X_H, LIBC };                        /* source files */
enum { MAIN, WORK, GPU, LONG, NAMELESS, HELPER }; /* functions */

const struct fixture_context fixture_contexts[] = {
	{1, 0, PM_KIND_ENTRY, "main thread", "", "", 0, 0, false},
	{2, 1, PM_KIND_FUNCTION, "main", "src/app.c", "/bin/app", 9, 0x1000, true},
	{3, 2, PM_KIND_LINE, "", "src/app.c", "", 10, 0, false},
	{4, 3, PM_KIND_FUNCTION, "work", "/usr/include/x.h", "/lib/libm.so", 4, 0x20, true},
	{5, 4, PM_KIND_LOOP, "", "/usr/include/x.h", "/lib/libm.so", 5, 0x1234, true},
	{6, 5, PM_KIND_LINE, "", "/usr/include/x.h", "", 70000, 0, false},
	{7, 6, PM_KIND_INLINED, "helper", "/usr/include/x.h", "/bin/app", 1, 0x1100, true},
	{8, 3, PM_KIND_FUNCTION, "<gpu kernel>", "", "", 0, 0, false},
	{9, 3, PM_KIND_FUNCTION, "<gpu kernel>", "", "", 0, 0, false},
	{10, 2, PM_KIND_INSTRUCTION, "", "", "/bin/app", 0, 0x40, true},
	{14, 2, PM_KIND_OTHER, "", "[libc.so]", "", 0, 0, false},
	{11, 0, PM_KIND_ENTRY, "application thread", "", "", 0, 0, false},
	{12, 11, PM_KIND_FUNCTION, "", "", "", 0, 0, false},
	{13, 12, PM_KIND_FUNCTION, long_name, "", "/bin/app", 0, 0, true},
	{15, 12, PM_KIND_FUNCTION, "", "", "/lib/libm.so", 0, 0x99, true},
};
const size_t n_fixture_contexts = sizeof(fixture_contexts) / sizeof(fixture_contexts[0]);

const struct fixture_value fixture_values[] = {
	{0, HPCTKW_EXECUTION, {6, 4.5}, true},
	{1, HPCTKW_EXECUTION, {6, 4}, true},
	{2, HPCTKW_EXECUTION, {6, 4}, true},
	{3, HPCTKW_EXECUTION, {4.75, 4}, true},
	{4, HPCTKW_FUNCTION, {2, 0.125}, true},
	{4, HPCTKW_LEX_AWARE, {1, 0.25}, false},
	{4, HPCTKW_EXECUTION, {2, 1}, true},
	{5, HPCTKW_EXECUTION, {2, 0}, true},
	{6, HPCTKW_POINT, {0.5, 0}, false},
	{8, HPCTKW_EXECUTION, {1, 5}, true},
	{9, HPCTKW_EXECUTION, {0, 3}, false},
	{11, HPCTKW_EXECUTION, {0, 0.5}, true},
	{20, HPCTKW_EXECUTION, {0.25, 0}, true},
};
const size_t n_fixture_values = sizeof(fixture_values) / sizeof(fixture_values[0]);

#define START 1700000000000000000u

const struct fixture_sample fixture_samples[] = {
	{START, 0},
	{START + 10, 6},
	{START + 10, 10},
	{START + 250, 0},
};
const size_t n_fixture_samples = sizeof(fixture_samples) / sizeof(fixture_samples[0]);

/* ---- the rich database ---- */

static void add_tables(struct hpctkw_database *w)
{
	memset(long_name, 'n', LONG_NAME_LENGTH);
	hpctkw_metric(w, "CPUTIME (sec)");
	hpctkw_metric(w, "GPU OPS");
	hpctkw_module(w, "/bin/app");
	hpctkw_module(w, "/lib/libm.so");
	hpctkw_file(w, "src/app.c", 1);
	hpctkw_file(w, "/usr/include/x.h", 0);
	hpctkw_file(w, "[libc.so]", 0);
	hpctkw_file(w, "src/../../outside.c", 1);
	hpctkw_function(w, "main", APP, 0x1000, APP_C, 9);
	hpctkw_function(w, "work", LIBM, 0x20, X_H, 4);
	hpctkw_function(w, "<gpu kernel>", HPCTKW_NONE, 0, HPCTKW_NONE, 0);
	hpctkw_function(w, long_name, APP, 0, HPCTKW_NONE, 0);
	hpctkw_function(w, NULL, LIBM, 0x99, HPCTKW_NONE, 0);
	hpctkw_function(w, "helper", APP, 0x1100, X_H, 1);
}

static uint32_t add_function(struct hpctkw_database *w, uint32_t parent, uint32_t id,
	uint32_t function, uint8_t relation)
{
	return hpctkw_context(w,
		&(struct hpctkw_context){.parent = parent,
			.id = id,
			.relation = relation,
			.has_function = true,
			.function = function});
}

static uint32_t add_place(struct hpctkw_database *w, uint32_t parent, uint32_t id, uint8_t type,
	uint32_t file, uint32_t line)
{
	return hpctkw_context(w,
		&(struct hpctkw_context){.parent = parent,
			.id = id,
			.type = type,
			.has_place = true,
			.file = file,
			.line = line});
}

static void add_contexts(struct hpctkw_database *w)
{
	uint32_t top = hpctkw_context(w,
		&(struct hpctkw_context){
			.parent = HPCTKW_NONE, .id = 1, .entry = "main thread", .relation = 1});
	uint32_t caller = add_function(w, top, 2, MAIN, 1);
	uint32_t line = add_place(w, caller, 3, 2, APP_C, 10);
	uint32_t work = add_function(w, line, 4, WORK, 1);
	uint32_t loop = hpctkw_context(w,
		&(struct hpctkw_context){.parent = work,
			.id = 5,
			.type = 1,
			.has_place = true,
			.has_point = true,
			.file = X_H,
			.line = 5,
			.module = LIBM,
			.offset = 0x1234});
	uint32_t inner = add_place(w, loop, 6, 2, X_H, 70000);
	add_function(w, inner, 7, HELPER, 2);
	add_function(w, line, 8, GPU, 1);
	add_function(w, line, 9, GPU, 1);
	hpctkw_context(w,
		&(struct hpctkw_context){.parent = caller,
			.id = 10,
			.type = 3,
			.relation = 1,
			.has_point = true,
			.module = APP,
			.offset = 0x40});
	add_place(w, caller, 14, 9, LIBC, 0);
	top = hpctkw_context(w,
		&(struct hpctkw_context){.parent = HPCTKW_NONE,
			.id = 11,
			.entry = "application thread",
			.relation = 2});
	uint32_t unknown =
		hpctkw_context(w, &(struct hpctkw_context){.parent = top, .id = 12, .relation = 1});
	add_function(w, unknown, 13, LONG, 1);
	add_function(w, unknown, 15, NAMELESS, 1);
}

static void add_profiles(struct hpctkw_database *w)
{
	enum { NODE = 1, RANK = 2, THREAD = 3 };
	hpctkw_profile(w);
	for (size_t i = 0; i < n_fixture_values; i++) {
		const struct fixture_value *v = &fixture_values[i];
		if (v->summed)
			hpctkw_value(w, v->context, hpctkw_stat_id(0, v->scope),
				v->value[0] + v->value[1]);
	}
	for (uint32_t t = 0; t < 2; t++) {
		hpctkw_profile(w);
		hpctkw_identity(w, NODE, 0, 0x11ac0003, true);
		hpctkw_identity(w, RANK, 7 * t, 7 * t, false);
		hpctkw_identity(w, THREAD, t, t, false);
		for (size_t i = 0; i < n_fixture_values; i++) {
			const struct fixture_value *v = &fixture_values[i];
			if (v->value[t] != 0)
				hpctkw_value(
					w, v->context, hpctkw_prop_id(0, v->scope), v->value[t]);
		}
		for (size_t i = 0; t == 0 && i < n_fixture_samples; i++)
			hpctkw_sample(w, fixture_samples[i].time_ns, fixture_samples[i].context);
	}
	hpctkw_profile(w);
	hpctkw_identity(w, NODE, 1, 0x11ac0004, true);
	hpctkw_trace(w);
}

struct hpctkw_database *fixture_rich(const struct hpctkw_style *style)
{
	struct hpctkw_database *w = hpctkw_new(style);
	add_tables(w);
	add_contexts(w);
	add_profiles(w);
	return w;
}

/* ---- the others ---- */

struct hpctkw_database *fixture_wide(
	const struct hpctkw_style *style, uint32_t n, uint32_t n_threads)
{
	struct hpctkw_database *w = hpctkw_new(style);
	uint16_t id = hpctkw_prop_id(hpctkw_metric(w, "cycles"), HPCTKW_EXECUTION);
	uint32_t file = hpctkw_file(w, "wide.c", 0);
	uint32_t top = hpctkw_context(w,
		&(struct hpctkw_context){
			.parent = HPCTKW_NONE, .id = 1, .entry = "main thread", .relation = 1});
	for (uint32_t i = 0; i < n; i++)
		add_place(w, top, i + 2, 2, file, i + 1);
	for (uint32_t t = 0; t <= n_threads; t++) {
		hpctkw_profile(w);
		if (t > 0)
			hpctkw_identity(w, 3, t - 1, t - 1, false);
		for (uint32_t i = 0; i < n; i++)
			hpctkw_value(w, i + 2, t > 0 ? id : hpctkw_stat_id(0, HPCTKW_EXECUTION),
				t > 0 ? i : (double)i * n_threads);
	}
	return w;
}

struct hpctkw_database *fixture_deep(const struct hpctkw_style *style, uint32_t n)
{
	struct hpctkw_database *w = hpctkw_new(style);
	uint32_t function = hpctkw_function(w, "recurse", HPCTKW_NONE, 0, HPCTKW_NONE, 0);
	uint32_t at = hpctkw_context(w,
		&(struct hpctkw_context){
			.parent = HPCTKW_NONE, .id = 1, .entry = "main thread", .relation = 1});
	for (uint32_t i = 1; i < n; i++)
		at = add_function(w, at, i + 1, function, 1);
	hpctkw_profile(w);
	return w;
}

struct hpctkw_database *fixture_empty(const struct hpctkw_style *style)
{
	struct hpctkw_database *w = hpctkw_new(style);
	hpctkw_profile(w);
	return w;
}

/* ---- folders ---- */

static void require(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s: %s\n", what, strerror(errno));
	abort();
}

void fixture_folder_make(struct fixture_folder *f)
{
	snprintf(f->path, sizeof(f->path), "/tmp/profmount-test-hpctk-XXXXXX");
	require(mkdtemp(f->path) != NULL, f->path);
}

void fixture_folder_save(const struct fixture_folder *f, const struct hpctkw_files *files)
{
	require(hpctkw_save(files, f->path) == 0, f->path);
}

void fixture_folder_remove(const struct fixture_folder *f, const char *name)
{
	char path[512];
	snprintf(path, sizeof(path), "%s/%s", f->path, name);
	require(unlink(path) == 0 || errno == ENOENT, path);
}

void fixture_folder_done(const struct fixture_folder *f)
{
	static const char *const names[] = {"meta.db", "profile.db", "cct.db", "trace.db"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		fixture_folder_remove(f, names[i]);
	require(rmdir(f->path) == 0, f->path);
}

void fixture_folder_write(const struct fixture_folder *f, struct hpctkw_database *w)
{
	struct hpctkw_files files;
	hpctkw_write(w, &files);
	fixture_folder_save(f, &files);
	hpctkw_files_free(&files);
	hpctkw_free(w);
}

struct pm_profile *fixture_open(const struct fixture_folder *f)
{
	struct pm_profile *p = NULL;
	struct pm_error err = {.offset = PM_NO_OFFSET};
	char line[900];
	if (pm_profile_open(f->path, "hpctoolkit", NULL, &p, &err) < 0) {
		fprintf(stderr, "%s\n", pm_error_line(&err, line, sizeof(line)));
		abort();
	}
	return p;
}

struct pm_values_of fixture_costs_of(const struct pm_profile *p, uint64_t number)
{
	const struct pm_tree *tree;
	uint32_t context =
		pm_profile_tree(p, &tree, NULL) < 0 ? PM_NONE : pm_tree_find(tree, number);
	return (struct pm_values_of){PM_OF_CONTEXT, context, false};
}
