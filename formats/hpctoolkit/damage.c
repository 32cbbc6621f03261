/*
 * Reads a whole database once and collects what is wrong with it. The readers themselves report
 * what they find while they open files and tables and read metrics, contexts, tuples and trace
 * headers. This file checks strings, value blocks and samples, which are otherwise read on request
 * only. No row is reported twice, and a fault that can repeat gives one row for its whole block or
 * line.
 */
#include "formats/hpctoolkit/hpctoolkit.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "formats/common/beneath.h"

struct scan {
	struct pm_arena *a;
	struct hpctk_opened *db;
	const struct hpctk_tree *tree;
	const struct hpctk_metrics *metrics;
	const struct hpctk_threads *threads;
	struct pm_damage_list *found;
	struct pm_map lengths;
	bool *is_stat; /* by id: does the summary contain a statistic with it? */
};

/* ---- meta.db ---- */

static void footer_scan(struct scan *s, enum hpctk_file file)
{
	static const char footers[HPCTK_N_FILES][9] = {
		[HPCTK_META] = "_meta.db",
		[HPCTK_PROFILE] = "_prof.db",
		[HPCTK_CCT] = "__ctx.db",
		[HPCTK_TRACE] = "trace.db",
	};
	struct pm_bytes bytes = hpctk_bytes(s->db, file), end;
	bool required = file != HPCTK_TRACE || s->db->layout.generation != HPCTK_FIRST;
	if (!s->db->folder.present[file] || !required)
		return;
	if (bytes.len < 8 || !pm_bytes_sub(bytes, bytes.len - 8, 8, &end) ||
		memcmp(end.p, footers[file], 8) != 0)
		pm_damage_add(s->found, hpctk_file_name(file), bytes.len, PM_NO_OFFSET,
			"does not end with %s: the file may be cut off", footers[file]);
}

/* Checks the string that the field at `at` refers to; `what` names it. */
static void string_scan(struct scan *s, uint64_t string_at, uint64_t at, const char *what)
{
	struct pm_bytes ignored;
	if (string_at != 0 && !hpctk_string_find(s->db, &s->lengths, string_at, &ignored))
		pm_damage_add(s->found, "meta.db", at, PM_NO_OFFSET,
			"%s: its string is the end of another one, or does not end in the file",
			what);
}

static void paths_scan(struct scan *s, const struct hpctk_rows *rows, const char *what)
{
	for (uint32_t i = 0; i < rows->n; i++) {
		struct hpctk_path_record record;
		hpctk_path_decode(&s->db->layout, hpctk_row(rows, i), &record);
		string_scan(s, record.path_at, hpctk_row_at(rows, i), what);
	}
}

static void functions_scan(struct scan *s)
{
	const struct hpctk_opened *db = s->db;
	for (uint32_t i = 0; i < db->functions.n; i++) {
		uint64_t at = hpctk_row_at(&db->functions, i);
		struct hpctk_function_record f;
		uint32_t ignored;
		hpctk_function_decode(&db->layout, hpctk_row(&db->functions, i), &f);
		string_scan(s, f.name_at, at, "function");
		if (f.module_at != 0 && !hpctk_row_find(&db->modules, f.module_at, &ignored))
			pm_damage_add(s->found, "meta.db", at, db->functions.stride,
				"function %u: its load module is not in the table", i);
		if (f.file_at != 0 && !hpctk_row_find(&db->sources, f.file_at, &ignored))
			pm_damage_add(s->found, "meta.db", at, db->functions.stride,
				"function %u: its source file is not in the table", i);
	}
}

static void meta_scan(struct scan *s)
{
	const struct hpctk_opened *db = s->db;
	uint64_t at = db->meta[HPCTK_GENERAL_SECTION].at;
	struct pm_bytes head;
	if (pm_bytes_sub(hpctk_bytes(db, HPCTK_META), at, HPCTK_GENERAL, &head)) {
		string_scan(s, hpctk_u64(&db->layout, head.p + 0x00), at, "title");
		string_scan(s, hpctk_u64(&db->layout, head.p + 0x08), at + 8, "description");
	}
	for (uint32_t i = 0; i < db->kinds.n; i++)
		string_scan(s, hpctk_u64(&db->layout, hpctk_row(&db->kinds, i)),
			hpctk_row_at(&db->kinds, i), "identifier name");
	paths_scan(s, &db->modules, "load module");
	paths_scan(s, &db->sources, "source file");
	functions_scan(s);
}

/* ---- profile.db and cct.db ---- */

/* Counts faults of one kind in a block or line, and notes the position of the first. */
struct tally {
	uint64_t n, first_at;
};

static void tally_add(struct tally *t, uint64_t at)
{
	if (t->n++ == 0)
		t->first_at = at;
}

static void error_add(struct scan *s, const struct pm_error *e, const char *what, uint32_t i)
{
	pm_damage_add(s->found, e->file, e->offset, PM_NO_OFFSET, "%s %u: %s", what, i, e->text);
}

static bool is_prop(const struct scan *s, uint32_t id)
{
	return id < HPCTK_N_IDS && hpctk_quantity_of_prop(s->metrics, id) != HPCTK_NONE;
}

static void profile_scan(struct scan *s, uint32_t i)
{
	struct pm_error e = {.offset = PM_NO_OFFSET};
	bool summary = hpctk_profile_is_summary(s->db, i);
	struct tally unknown = {0, 0};
	struct hpctk_block block;
	pm_build_proceed(s->a);
	if (hpctk_profile_block(s->db, i, &block, &e) < 0) {
		error_add(s, &e, "profile", i);
		return;
	}
	if (hpctk_block_check(&block, &e) < 0)
		error_add(s, &e, "profile", i);
	for (uint64_t v = 0; v < block.n_values; v++) {
		uint32_t id = hpctk_block_value(&block, v).sub;
		if (!(summary ? s->is_stat[id] : is_prop(s, id)))
			tally_add(&unknown, block.values_at + v * block.value_size);
	}
	if (unknown.n)
		pm_damage_add(s->found, "profile.db", unknown.first_at, PM_NO_OFFSET,
			"profile %u: %llu values of metrics that are not in meta.db", i,
			(unsigned long long)unknown.n);
}

static void context_scan(struct scan *s, uint32_t number)
{
	struct pm_error e = {.offset = PM_NO_OFFSET};
	struct tally metrics = {0, 0}, profiles = {0, 0};
	struct hpctk_block block;
	pm_build_proceed(s->a);
	if (hpctk_context_block(s->db, number, &block, &e) < 0) {
		error_add(s, &e, "context", number);
		return;
	}
	for (uint32_t i = 0; i < block.n_index; i++) {
		struct hpctk_run run;
		if (hpctk_block_run(&block, i, &run, NULL) == 0 && !is_prop(s, run.key))
			tally_add(&metrics, block.index_at + (uint64_t)i * block.index_size);
	}
	for (uint64_t v = 0; v < block.n_values; v++)
		if (hpctk_thread_of(s->db, s->threads, hpctk_block_value(&block, v).sub) == PM_NONE)
			tally_add(&profiles, block.values_at + v * block.value_size);
	if (metrics.n)
		pm_damage_add(s->found, "cct.db", metrics.first_at, PM_NO_OFFSET,
			"context %u: values of %llu metrics that are not in meta.db", number,
			(unsigned long long)metrics.n);
	if (profiles.n)
		pm_damage_add(s->found, "cct.db", profiles.first_at, PM_NO_OFFSET,
			"context %u: %llu values of profiles that are not threads", number,
			(unsigned long long)profiles.n);
}

/* ---- trace.db ---- */

static void line_scan(struct scan *s, uint32_t thread)
{
	const struct hpctk_line *line = &s->threads->lines[thread];
	uint32_t profile = s->threads->list.threads[thread].id;
	struct tally unknown = {0, 0}, early = {0, 0};
	uint64_t before = 0;
	pm_build_proceed(s->a);
	for (uint64_t i = 0; i < line->n; i++) {
		struct hpctk_sample_record sample = hpctk_sample_get(s->db, line, i);
		uint64_t at = line->at + i * HPCTK_SAMPLE;
		if (sample.time_ns < before)
			tally_add(&early, at);
		if (sample.context != 0 && pm_tree_find(s->tree->tree, sample.context) == PM_NONE)
			tally_add(&unknown, at);
		before = sample.time_ns;
	}
	if (unknown.n)
		pm_damage_add(s->found, "trace.db", unknown.first_at, PM_NO_OFFSET,
			"profile %u: %llu samples in contexts that are not in meta.db", profile,
			(unsigned long long)unknown.n);
	if (early.n)
		pm_damage_add(s->found, "trace.db", early.first_at, PM_NO_OFFSET,
			"profile %u: %llu samples that are earlier than the one before", profile,
			(unsigned long long)early.n);
}

/* ---- all together ---- */

static void scan_all(struct scan *s)
{
	const struct pm_tree *tree = s->tree->tree;
	for (size_t i = 0; i < s->metrics->n_summaries; i++)
		if (s->metrics->summaries[i].stat_id != HPCTK_NONE)
			s->is_stat[s->metrics->summaries[i].stat_id] = true;
	for (enum hpctk_file i = 0; i < HPCTK_N_FILES; i++)
		footer_scan(s, i);
	meta_scan(s);
	/* Contexts in database order, so that the second one with a number is reported. */
	for (uint32_t rank = 0; rank < tree->n_contexts; rank++) {
		uint32_t context = s->tree->of_rank[rank];
		if (pm_tree_find(tree, tree->number[context]) != context)
			pm_damage_add(s->found, "meta.db", s->tree->record_at[rank], PM_NO_OFFSET,
				"context tree: another context has the id %u",
				tree->number[context]);
	}
	for (uint32_t i = 0; i < s->db->profiles.n; i++)
		profile_scan(s, i);
	for (uint32_t i = 0; i < s->db->contexts.n; i++)
		context_scan(s, i);
	for (uint32_t i = 0; i < s->threads->list.n; i++)
		line_scan(s, i);
	/* Which metrics to show: without permission there is nothing to see of it. */
	int fd = pm_open_beneath(s->db->folder.fd, "metrics");
	if (fd >= 0)
		close(fd);
	else if (pm_is_passing(fd))
		pm_build_fail(s->a, fd);
	else if (fd != -ENOENT)
		pm_damage_add(s->found, "metrics", PM_NO_OFFSET, PM_NO_OFFSET,
			"cannot be opened: %s: its files are missing", strerror(-fd));
}

/* Found by all who read the database, and by the scan. */
struct hpctk_found {
	struct pm_damages damages;
	struct pm_damage_list list;
};

static void found_build(struct pm_arena *a, void *opened, void *part, struct pm_error *err)
{
	struct hpctk_opened *db = opened;
	struct hpctk_found *found = part;
	struct pm_arena *scratch = pm_arena_scratch(a);
	const struct hpctk_columns *columns = NULL;
	struct scan s = {.a = a,
		.db = db,
		.found = &found->list,
		.lengths.arena = scratch,
		.is_stat = pm_arena_array(scratch, HPCTK_N_IDS, sizeof(*s.is_stat))};
	pm_damage_list_in(&found->list, a);
	pm_build_check(a, hpctk_tree_get(db, &s.tree, err));
	pm_build_check(a, hpctk_metrics_get(db, &s.metrics, err));
	pm_build_check(a, hpctk_threads_get(db, &s.threads, err));
	pm_build_check(a, hpctk_blocks_ready(db, true, err));
	int r = hpctk_columns_get(db, &columns, NULL);
	if (pm_is_passing(r))
		pm_build_fail(a, r);
	pm_damage_add_all(s.found, &db->damage);
	pm_damage_add_all(s.found, &s.tree->damage);
	pm_damage_add_all(s.found, &s.metrics->damage);
	if (columns)
		pm_damage_add_all(s.found, &columns->damage);
	pm_damage_add_all(s.found, &s.threads->damage);
	scan_all(&s);
	pm_build_check(a, hpctk_sources_scan(db, s.found, err));
	/* The next request scans again: rows are neither lost nor counted without being seen. */
	pm_build_proceed(a);
	pm_build_check(a, s.found->no_memory ? -ENOMEM : 0);
	pm_arena_done(scratch);
	found->damages = pm_damage_rows(s.found);
	db->parts.damage.it = &found->damages;
}

int hpctk_damage(void *opened, struct pm_error *err)
{
	static const struct pm_part_type type = {.size = sizeof(struct hpctk_found),
		.build = found_build,
		.what = "the list of damage"};
	struct hpctk_opened *db = opened;
	return pm_part_build(&db->found, &type, db, err);
}
