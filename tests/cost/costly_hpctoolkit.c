/* Expensive HPCToolkit databases. */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "formats/common/cursor.h"
#include "tests/cost/costly.h"
#include "tests/hpctoolkit/writer.h"

/* About what a context, a value and a sample take in all files. */
enum { CONTEXT_BYTES = 120, VALUE_BYTES = 60, SAMPLE_BYTES = 12 };

static void hpctk_save_files(struct hpctkw_files *files)
{
	if ((mkdir(costly_path, 0777) != 0 && errno != EEXIST) ||
		hpctkw_save(files, costly_path) != 0)
		costly_die(costly_path);
	hpctkw_files_free(files);
}

static void hpctk_save(struct hpctkw_database *w)
{
	struct hpctkw_files files;
	hpctkw_write(w, &files);
	hpctk_save_files(&files);
	hpctkw_free(w);
}

/* Contexts of one function, `chain` below each other or all below one, with a value each. */
static struct hpctkw_database *hpctk_tree(size_t n, bool chain)
{
	static const struct hpctkw_style style = {.generation = HPCTKW_RELEASED};
	struct hpctkw_database *w = hpctkw_new(&style);
	uint32_t metric = hpctkw_metric(w, "CPUTIME (sec)");
	uint32_t module = hpctkw_module(w, "/bin/app"), file = hpctkw_file(w, "a.c", 0);
	uint32_t function = hpctkw_function(w, "same", module, 0, file, 1);
	struct hpctkw_context c = {.parent = HPCTKW_NONE, .id = 1, .entry = "main thread"};
	uint32_t last = hpctkw_context(w, &c);
	for (size_t i = 1; i < n; i++) {
		c = (struct hpctkw_context){.parent = last,
			.id = (uint32_t)i + 1,
			.relation = 1,
			.has_function = true,
			.function = function};
		uint32_t made = hpctkw_context(w, &c);
		last = chain ? made : last;
	}
	for (unsigned profile = 0; profile < 2; profile++) {
		hpctkw_profile(w);
		if (profile > 0)
			hpctkw_identity(w, 1, 0, 0, true);
		for (size_t i = 0; i < n; i++)
			hpctkw_value(w, (uint32_t)i + 1,
				profile ? hpctkw_prop_id(metric, HPCTKW_EXECUTION)
					: hpctkw_stat_id(metric, HPCTKW_EXECUTION),
				1);
	}
	return w;
}

/* The rows of a table of meta.db say what the first one says at `at`, an offset of a string. */
static void hpctk_share_string(struct hpctkw_files *files, size_t section, size_t at)
{
	uint8_t *p = files->file[HPCTKW_META].p;
	const uint8_t *table = p + pm_le64(p + 0x18 + 16 * section);
	size_t n = pm_le32(table + 8), stride = pm_le16(table + 0x0c);
	uint8_t *row = p + pm_le64(table);
	for (size_t i = 1; i < n; i++)
		memcpy(row + i * stride + at, row + at, 8);
}

/* As hpctk_share_string, but each row begins a byte later: a name in a name. */
static void hpctk_overlap_strings(
	struct hpctkw_files *files, size_t section, size_t at, size_t longest)
{
	uint8_t *p = files->file[HPCTKW_META].p;
	const uint8_t *table = p + pm_le64(p + 0x18 + 16 * section);
	size_t n = pm_le32(table + 8), stride = pm_le16(table + 0x0c);
	uint8_t *row = p + pm_le64(table) + at;
	uint64_t first = pm_le64(row);
	for (size_t i = 1; i < n; i++)
		for (unsigned b = 0; b < 8; b++)
			row[i * stride + b] = (uint8_t)((first + i % longest) >> 8 * b);
}

/*
 * As many functions as contexts, and files: all of one long name, or each of another end of it.
 */
static void hpctk_long(bool ends)
{
	enum { FUNCTION_BYTES = 270, FILES = 6, FUNCTIONS = 7, LONGEST = 60000 };
	static const struct hpctkw_style style = {.generation = HPCTKW_RELEASED};
	static char name[LONGEST + 1];
	struct hpctkw_database *w = hpctkw_new(&style);
	struct hpctkw_files files;
	uint32_t n = (uint32_t)(costly_bytes / FUNCTION_BYTES);
	size_t longest = ends ? n : costly_bytes / 500;
	if (longest > LONGEST)
		longest = LONGEST;
	memset(name, 'n', longest);
	uint32_t metric = hpctkw_metric(w, "CPUTIME (sec)"),
		 module = hpctkw_module(w, ends ? "m" : name);
	struct hpctkw_context c = {.parent = HPCTKW_NONE, .id = 1, .entry = "main thread"};
	uint32_t root = hpctkw_context(w, &c);
	hpctkw_profile(w);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t file = hpctkw_file(w, i ? "f" : name, 0);
		c = (struct hpctkw_context){.parent = root,
			.id = i + 2,
			.relation = 1,
			.has_function = true,
			.function = hpctkw_function(w, i ? "f" : name, module, i, file, i)};
		hpctkw_context(w, &c);
		hpctkw_value(w, i + 2, hpctkw_stat_id(metric, HPCTKW_EXECUTION), 1);
	}
	hpctkw_write(w, &files);
	if (ends) {
		hpctk_overlap_strings(&files, FUNCTIONS, 0, longest);
	} else {
		hpctk_share_string(&files, FILES, 8);
		hpctk_share_string(&files, FUNCTIONS, 0);
	}
	hpctk_save_files(&files);
	hpctkw_free(w);
}

void costly_hpctk_long_names(void)
{
	hpctk_long(false);
}

void costly_hpctk_ends_of_names(void)
{
	hpctk_long(true);
}

/*
 * Functions and addresses without one in a module and a file, whose names are as long as a 500th
 * of everything.
 */
void costly_hpctk_long_module(void)
{
	enum { FUNCTION_BYTES = 350, LONGEST = 65000 };
	static const struct hpctkw_style style = {.generation = HPCTKW_RELEASED};
	static char module_name[LONGEST + 1], file_name[LONGEST + 1];
	struct hpctkw_database *w = hpctkw_new(&style);
	size_t length = costly_bytes / 500 < LONGEST ? costly_bytes / 500 : LONGEST;
	memset(module_name, 'm', length);
	memset(file_name, 'f', length);
	uint32_t metric = hpctkw_metric(w, "CPUTIME (sec)");
	uint32_t module = hpctkw_module(w, module_name), file = hpctkw_file(w, file_name, 0);
	struct hpctkw_context c = {.parent = HPCTKW_NONE, .id = 1, .entry = "main thread"};
	uint32_t root = hpctkw_context(w, &c);
	hpctkw_profile(w);
	for (uint32_t i = 1; i < costly_bytes / FUNCTION_BYTES; i++) {
		c = (struct hpctkw_context){.parent = root, .id = 2 * i, .relation = 1};
		c.has_function = true;
		c.function = hpctkw_function(w, "f", module, i, file, i);
		hpctkw_context(w, &c);
		c = (struct hpctkw_context){.parent = root, .id = 2 * i + 1, .type = 3};
		c.has_point = true;
		c.module = module;
		c.offset = i;
		hpctkw_context(w, &c);
		for (uint32_t k = 0; k < 2; k++)
			hpctkw_value(w, 2 * i + k, hpctkw_stat_id(metric, HPCTKW_EXECUTION), 1);
	}
	hpctk_save(w);
}

void costly_hpctk_deep(void)
{
	hpctk_save(hpctk_tree(costly_bytes / CONTEXT_BYTES, true));
}

void costly_hpctk_wide(void)
{
	hpctk_save(hpctk_tree(costly_bytes / CONTEXT_BYTES, false));
}

void costly_hpctk_samples(void)
{
	struct hpctkw_database *w = hpctk_tree(1000, true);
	hpctkw_trace(w);
	for (size_t i = 0; i < costly_bytes / SAMPLE_BYTES; i++)
		hpctkw_sample(w, 1000, i % 2 ? 1000 : 1);
	hpctk_save(w);
}

void costly_hpctk_threads(void)
{
	struct hpctkw_database *w = hpctk_tree(10, true);
	for (size_t i = 0; i < costly_bytes / 100; i++) {
		hpctkw_profile(w);
		hpctkw_identity(w, 1, 0, 0, true);
		hpctkw_value(w, 10, hpctkw_prop_id(0, HPCTKW_EXECUTION), 1);
	}
	hpctk_save(w);
}

/* All rows of a file's table behind row `from` say what that one says from `at` on. */
static void hpctk_share(struct hpctkw_files *files, enum hpctkw_file file, size_t from, size_t at)
{
	uint8_t *p = files->file[file].p;
	const uint8_t *table = p + pm_le64(p + 0x18);
	size_t n = pm_le32(table + 8), stride = table[0x0c];
	uint8_t *row = p + pm_le64(table) + from * stride;
	for (size_t i = 1; i < n - from; i++)
		memcpy(row + i * stride + at, row + at, stride - at);
}

static void hpctk_save_shared(
	struct hpctkw_database *w, enum hpctkw_file file, size_t row, size_t at)
{
	struct hpctkw_files files;
	hpctkw_write(w, &files);
	hpctk_share(&files, file, row, at);
	hpctk_save_files(&files);
	hpctkw_free(w);
}

/* A thread has half of it as samples, and all the others claim those. */
void costly_hpctk_shared_samples(void)
{
	struct hpctkw_database *w = hpctk_tree(10, true);
	for (size_t i = 0; i < costly_bytes / 300; i++) {
		hpctkw_profile(w);
		hpctkw_identity(w, 1, (uint32_t)i, 0, true);
		hpctkw_trace(w);
		for (size_t k = i == 0 ? costly_bytes / 2 / SAMPLE_BYTES : 0; k > 0; k--)
			hpctkw_sample(w, 1000, 1);
	}
	hpctk_save_shared(w, HPCTKW_TRACE, 0, 8);
}

/* A context has values of many threads, and all the others claim those. */
void costly_hpctk_shared_values(void)
{
	struct hpctkw_database *w = hpctk_tree(costly_bytes / 2 / CONTEXT_BYTES, false);
	for (size_t i = 0; i < costly_bytes / 400; i++) {
		hpctkw_profile(w);
		hpctkw_identity(w, 1, (uint32_t)i, 0, true);
		hpctkw_value(w, 1, hpctkw_prop_id(0, HPCTKW_EXECUTION), 1);
	}
	hpctk_save_shared(w, HPCTKW_CCT, 1, 0);
}
