/*
 * The documents below raw/: the database's own tables, uninterpreted, and the files of metrics/ as
 * they are.
 */
#include "formats/hpctoolkit/hpctoolkit.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "formats/common/affix.h"
#include "formats/common/arena.h"
#include "formats/common/beneath.h"
#include "formats/common/list.h"
#include "formats/common/sheet.h"
#include "formats/common/sort.h"

/*
 * ==== tables ====
 * The database's own tables, below raw/. A position is the index of a row in the table, the rank of
 * a context, or the index of a value in the summary profile, so every row is read in place.
 */

static struct hpctk_opened *db_of(const struct pm_rows *rows)
{
	return hpctk_opened_of(rows->table->self);
}

/* Of a module and of a source file by index, which may be HPCTK_NONE. */
static struct pm_cell module_cell(struct pm_rows *rows, const void *index)
{
	uint32_t i = *(const uint32_t *)index;
	return i == HPCTK_NONE
		? pm_cell_empty()
		: pm_cell_text(hpctk_path_get(db_of(rows), NULL, &db_of(rows)->modules, i).path);
}

static struct pm_cell source_cell(struct pm_rows *rows, const void *index)
{
	uint32_t i = *(const uint32_t *)index;
	return i == HPCTK_NONE
		? pm_cell_empty()
		: pm_cell_text(hpctk_path_get(db_of(rows), NULL, &db_of(rows)->sources, i).path);
}

/* ---- general, identifiers, metrics ---- */

struct general {
	const char *field;
	struct pm_bytes value;
};

static const struct pm_column general_columns[] = {
	PM_COLUMN(struct general, field, "field"), PM_COLUMN(struct general, value, "value")};

static int general_record(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)
{
	(void)err;
	struct pm_bytes title, description;
	hpctk_general_get(db_of(rows), &title, &description);
	*(struct general *)ret->room = rows->at == 0 ? (struct general){"title", title}
						     : (struct general){"description", description};
	return rows->at < 2;
}

static const struct pm_column kind_columns[] = {
	PM_COLUMN_ROW("kind"), PM_COLUMN(struct hpctk_path, path, "name")};

static int kind_record(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)
{
	(void)err;
	struct hpctk_path *kind = ret->room;
	if (rows->at >= db_of(rows)->kinds.n)
		return 0;
	kind->path = hpctk_kind_name(db_of(rows), (uint32_t)rows->at);
	return 1;
}

struct metric {
	struct hpctk_quantity quantity;
	struct hpctk_summary summary;
};

static const struct pm_column metric_columns[] = {
	PM_COLUMN(struct metric, quantity.metric, "metric_index"),
	PM_COLUMN_OR_NONE(struct metric, quantity.scope_type, "scope_type"),
	PM_COLUMN_OR_NONE(struct metric, quantity.propagation, "propagation_index"),
	PM_COLUMN_OR_NONE(struct metric, quantity.prop_id, "prop_metric_id"),
	PM_COLUMN_OR_NONE(struct metric, summary.combine, "combine"),
	PM_COLUMN_OR_NONE(struct metric, summary.stat_id, "stat_metric_id"),
	PM_COLUMN(struct metric, summary.formula, "formula"),
	PM_COLUMN(struct metric, quantity.scope, "scope"),
	PM_COLUMN(struct metric, quantity.name, "metric")};

static int metric_record(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)
{
	const struct hpctk_metrics *m;
	int r = hpctk_metrics_get(db_of(rows), &m, err);
	if (r < 0 || rows->at >= m->n_summaries)
		return r;
	const struct hpctk_summary *summary = &m->summaries[rows->at];
	*(struct metric *)ret->room = (struct metric){m->quantities[summary->quantity], *summary};
	return 1;
}

/* ---- modules, files, functions ---- */

static const struct pm_column module_columns[] = {
	PM_COLUMN_ROW("module_index"), PM_COLUMN(struct hpctk_path, path, "path")};

static int path_record(
	const struct pm_rows *rows, const struct hpctk_rows *of, struct pm_record *ret)
{
	if (rows->at < of->n)
		*(struct hpctk_path *)ret->room =
			hpctk_path_get(db_of(rows), NULL, of, (uint32_t)rows->at);
	return rows->at < of->n;
}

static int module_record(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)
{
	(void)err;
	return path_record(rows, &db_of(rows)->modules, ret);
}

static const struct pm_column source_columns[] = {PM_COLUMN_ROW("file_index"),
	PM_COLUMN(struct hpctk_path, flags, "flags"), PM_COLUMN(struct hpctk_path, path, "path")};

static int source_record(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)
{
	(void)err;
	return path_record(rows, &db_of(rows)->sources, ret);
}

static const struct pm_column function_columns[] = {PM_COLUMN_ROW("function_index"),
	PM_COLUMN(struct hpctk_function, offset, "offset"),
	PM_COLUMN(struct hpctk_function, line, "line"),
	PM_COLUMN_BY(struct hpctk_function, module, "module", module_cell),
	PM_COLUMN_BY(struct hpctk_function, file, "file", source_cell),
	PM_COLUMN(struct hpctk_function, name, "name")};

static int function_record(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)
{
	(void)err;
	if (rows->at >= db_of(rows)->functions.n)
		return 0;
	*(struct hpctk_function *)ret->room =
		hpctk_function_get(db_of(rows), NULL, (uint32_t)rows->at);
	return 1;
}

/* ---- contexts ---- */

struct context {
	struct hpctk_context_record stored;
	uint32_t parent;
	uint32_t function, module, file; /* indexes, or HPCTK_NONE */
	struct pm_bytes name;
};

static const struct pm_column context_columns[] = {
	PM_COLUMN(struct context, stored.id, "context_id"),
	PM_COLUMN(struct context, parent, "parent_id"),
	PM_COLUMN_OR_NONE(struct context, stored.lexical_type, "lexical_type"),
	PM_COLUMN(struct context, stored.relation, "relation"),
	PM_COLUMN_OR_NONE(struct context, function, "function_index"),
	PM_COLUMN_IF(struct context, stored.line, "line", stored.has_place),
	PM_COLUMN_IF(struct context, stored.offset, "offset", stored.has_point),
	PM_COLUMN_BY(struct context, module, "module", module_cell),
	PM_COLUMN_BY(struct context, file, "file", source_cell),
	PM_COLUMN(struct context, name, "function")};

static int context_record(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)
{
	struct hpctk_opened *db = db_of(rows);
	const struct hpctk_tree *t;
	struct context *c = ret->room;
	int r = hpctk_tree_get(db, &t, err);
	if (r < 0 || rows->at >= t->tree->n_contexts)
		return r;
	uint32_t rank = (uint32_t)rows->at, parent = t->tree->parent[t->of_rank[rank]];
	if (!hpctk_context_get(db, t, rank, &c->stored))
		return pm_error_set(err, -EIO, "meta.db", t->record_at[rank], "has changed");
	c->parent = parent == PM_NONE ? 0 : t->tree->number[parent];
	c->function = hpctk_row_get(&db->functions, c->stored.function_at);
	c->module = hpctk_row_get(&db->modules, c->stored.module_at);
	c->file = hpctk_row_get(&db->sources, c->stored.file_at);
	c->name = c->function == HPCTK_NONE ? hpctk_string_get(db, NULL, c->stored.name_at)
					    : hpctk_function_get(db, NULL, c->function).name;
	return 1;
}

/* ---- profiles, summary ---- */

struct profile {
	uint32_t i;
	struct hpctk_profile_record stored;
	struct hpctk_block block;
	bool sound; /* the block is */
};

/* KIND:logical:physical:flags of each id, separated by spaces. */
static void tuple_write(struct pm_rows *rows, const void *profile, struct pm_text *out)
{
	const struct hpctk_opened *db = db_of(rows);
	struct pm_bytes ids;
	uint32_t n;
	hpctk_tuple_find(db, *(const uint32_t *)profile, &ids, &n);
	for (uint32_t i = 0; i < n; i++) {
		struct hpctk_tuple_id id;
		hpctk_tuple_id_decode(&db->layout, pm_bytes_row(ids, i, HPCTK_TUPLE_ID), &id);
		struct pm_bytes kind = hpctk_kind_name(db, id.kind);
		if (i > 0)
			pm_text_char(out, ' ');
		if (kind.len > 0)
			pm_text_bytes(out, kind);
		else
			pm_text_u64(out, id.kind);
		pm_text_char(out, ':');
		pm_text_u64(out, id.logical);
		pm_text_char(out, ':');
		pm_text_u64(out, id.physical);
		pm_text_char(out, ':');
		pm_text_u64(out, id.flags);
	}
}

static const struct pm_column profile_columns[] = {PM_COLUMN(struct profile, i, "profile_index"),
	PM_COLUMN_OR_NONE(struct profile, stored.flags, "flags"),
	PM_COLUMN_IF(struct profile, block.n_values, "values", sound),
	PM_COLUMN_IF(struct profile, block.n_index, "contexts", sound),
	PM_COLUMN_WRITTEN(struct profile, i, "id_tuple", tuple_write)};

static int profile_record(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)
{
	const struct hpctk_opened *db = db_of(rows);
	struct profile *p = ret->room;
	if (rows->at >= db->profiles.n)
		return 0;
	int r = hpctk_blocks_ready(db, false, err);
	if (r < 0)
		return r;
	p->i = (uint32_t)rows->at;
	hpctk_profile_decode(&db->layout, hpctk_row(&db->profiles, p->i), &p->stored);
	p->sound = hpctk_profile_block(db, p->i, &p->block, NULL) == 0;
	return 1;
}

struct summary {
	uint32_t context, metric;
	double value;
};

static const struct pm_column summary_columns[] = {PM_COLUMN(struct summary, context, "context_id"),
	PM_COLUMN(struct summary, metric, "stat_metric_id"),
	PM_COLUMN(struct summary, value, "value")};

/* State of a cursor over the summary: the index entry of its position. */
struct summary_cursor {
	struct hpctk_block block;
	uint32_t entry;
};

static int summary_start(struct pm_rows *rows, struct pm_error *err)
{
	struct hpctk_opened *db = db_of(rows);
	const struct hpctk_threads *threads;
	struct summary_cursor *c = calloc(1, sizeof(*c));
	if (!c)
		return pm_error_plain(err, -ENOMEM);
	rows->own = c;
	int r = hpctk_threads_get(db, &threads, err);
	if (r == 0 && threads->summary != PM_NONE)
		r = hpctk_profile_block(db, threads->summary, &c->block, err);
	if (r == 0 && rows->at < c->block.n_values)
		c->entry = hpctk_block_entry_of(&c->block, rows->at);
	return r;
}

static int summary_record(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)
{
	struct summary_cursor *c = rows->own;
	struct hpctk_run run;
	if (rows->at >= c->block.n_values)
		return 0;
	for (;; c->entry++) {
		int r = hpctk_block_run(&c->block, c->entry, &run, err);
		if (r < 0)
			return r;
		if (rows->at < run.end)
			break;
	}
	struct hpctk_block_value value = hpctk_block_value(&c->block, rows->at);
	*(struct summary *)ret->room = (struct summary){run.key, value.sub, value.value};
	return 1;
}

/* ---- the tables ---- */

/* `n`: position in the database of the number of rows; 0: it is not known without reading. */
static const struct {
	struct pm_sheet sheet;
	size_t n;
} tables[] = {
	{PM_SHEET("raw/general.csv", general_columns, general_record), 0},
	{PM_SHEET("raw/identifiers.csv", kind_columns, kind_record), 0},
	{PM_SHEET("raw/metrics.csv", metric_columns, metric_record), 0},
	{PM_SHEET("raw/modules.csv", module_columns, module_record, .dense = true),
		offsetof(struct hpctk_opened, modules.n)},
	{PM_SHEET("raw/files.csv", source_columns, source_record, .dense = true),
		offsetof(struct hpctk_opened, sources.n)},
	{PM_SHEET("raw/functions.csv", function_columns, function_record, .dense = true),
		offsetof(struct hpctk_opened, functions.n)},
	{PM_SHEET("raw/contexts.csv", context_columns, context_record), 0},
	{PM_SHEET("raw/profiles.csv", profile_columns, profile_record, .dense = true),
		offsetof(struct hpctk_opened, profiles.n)},
	{PM_SHEET("raw/summary.csv", summary_columns, summary_record, .start = summary_start), 0},
};

/*
 * ==== the list ====
 * The list of documents below raw/: tables, and the files of the directory metrics/ as they are.
 */

struct hpctk_documents {
	struct pm_named_doc *docs;
	size_t n, room;
};

static void close_list(void *dir)
{
	if (*(DIR **)dir)
		closedir(*(DIR **)dir);
}

static int compare_paths(const void *a, const void *b)
{
	const struct pm_named_doc *x = a, *y = b;
	return strcmp(x->path, y->path);
}

/* metrics/ is optional, and so are its files. */
static void yaml_list(struct pm_arena *a, struct hpctk_documents *d, const struct hpctk_opened *db)
{
	struct pm_arena *scratch = pm_arena_scratch(a);
	DIR **dir = pm_arena_alloc(scratch, sizeof(*dir));
	struct dirent *entry;
	size_t first = d->n;
	pm_arena_owns(scratch, close_list, dir);
	int fd = pm_open_beneath(db->folder.fd, "metrics");
	*dir = fd < 0 ? NULL : fdopendir(fd);
	int r = fd < 0 ? fd : *dir ? 0 : -errno;
	if (fd >= 0 && !*dir)
		close(fd);
	if (pm_is_passing(r))
		pm_build_fail(a, r);
	while (*dir && (entry = readdir(*dir))) {
		struct stat st;
		if (!pm_has_ending(pm_bytes_of(entry->d_name), ".yaml") ||
			fstatat(dirfd(*dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
			!S_ISREG(st.st_mode))
			continue;
		const char *path = pm_arena_printf(a, "raw/metrics/%s", entry->d_name);
		pm_list_grow(a, &d->docs, d->n, &d->room, sizeof(*d->docs));
		d->docs[d->n++] = (struct pm_named_doc){
			.path = path,
			.doc = {.kind = PM_DOC_FILE,
				.file = {.folder = db->folder.fd, .path = path + strlen("raw/")}},
		};
	}
	pm_arena_done(scratch);
	pm_build_check(a, pm_sort(d->docs + first, d->n - first, sizeof(*d->docs), compare_paths));
}

static void documents_build(struct pm_arena *a, void *opened, void *part, struct pm_error *err)
{
	struct hpctk_opened *db = opened;
	struct hpctk_documents *d = part;
	(void)err;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		pm_list_grow(a, &d->docs, d->n, &d->room, sizeof(*d->docs));
		struct pm_named_doc *doc = &d->docs[d->n++];
		*doc = pm_sheet_document(&tables[i].sheet, db->profile, 0);
		const void *n = (const char *)db + tables[i].n;
		if (tables[i].n)
			doc->doc.table.end = *(const uint32_t *)n;
	}
	yaml_list(a, d, db);
	db->parts.documents.it = d->docs;
	db->parts.documents.n = d->n;
}

int hpctk_documents(void *opened, struct pm_error *err)
{
	static const struct pm_part_type type = {.size = sizeof(struct hpctk_documents),
		.build = documents_build,
		.what = "the list of documents"};
	struct hpctk_opened *db = opened;
	return pm_part_build(&db->documents, &type, db, err);
}
