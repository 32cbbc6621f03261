/* The tables of a file as raw/…csv: arrays of struct nytp_file. A row's position is its index. */
#include "formats/nytprof/nytprof.h"

#include <errno.h>
#include <stddef.h>

#include "formats/common/sheet.h"
#include "formats/common/utf8.h"

struct raw {
	struct nytp *n;
	const struct nytp_file *f;
	const struct raw_kind *kind;
};

/* Whether a table exists, which is determined from the beginning of the file. */
enum presence { ALWAYS, IN_RECORDS, IN_CHUNKS, WITH_BLOCKS };

/* One kind of table: an array of struct nytp_file. */
struct raw_kind {
	struct pm_sheet sheet;
	size_t items, n; /* offsets in struct nytp_file of its pointer and its length */
	size_t size;     /* of an item */
	enum presence present;
};

static struct pm_cell name_cell(struct pm_rows *rows, const void *name)
{
	const struct raw *raw = rows->table->self;
	return pm_cell_lasting(nytp_name(raw->n, *(const uint32_t *)name));
}

static struct pm_cell file_cell(struct pm_rows *rows, const void *fid)
{
	const struct raw *raw = rows->table->self;
	return pm_cell_lasting(nytp_fid_name(raw->n, raw->f, *(const uint32_t *)fid));
}

/* ---- both dialects ---- */

static struct pm_cell option_cell(struct pm_rows *rows, const void *option)
{
	(void)rows;
	return pm_cell_str(*(const bool *)option ? "option" : "attribute");
}

#define A struct nytp_attribute
static const struct pm_column attribute_columns[] = {PM_COLUMN_BY(A, option, "kind", option_cell),
	PM_COLUMN_BY(A, name, "name", name_cell), PM_COLUMN_BY(A, value, "value", name_cell)};

#define P struct nytp_process
static const struct pm_column process_columns[] = {PM_COLUMN(P, pid, "pid"),
	PM_COLUMN(P, ppid, "ppid"), PM_COLUMN(P, start, "start"), PM_COLUMN(P, end, "end")};

#define F struct nytp_fid
static const struct pm_column file_columns[] = {PM_COLUMN(F, fid, "fid"),
	PM_COLUMN(F, flags, "flags"), PM_COLUMN(F, size, "size"), PM_COLUMN(F, mtime, "mtime"),
	PM_COLUMN(F, eval_fid, "eval_fid"), PM_COLUMN(F, eval_line, "eval_line"),
	PM_COLUMN_BY(F, name, "name", name_cell)};

/* ---- Devel::NYTProf ---- */

#define S struct nytp_sub
static const struct pm_column sub_columns[] = {PM_COLUMN(S, sums.count, "calls"),
	PM_COLUMN(S, sums.excl, "excl_s"), PM_COLUMN(S, sums.incl, "incl_s"),
	PM_COLUMN(S, sums.reci, "reci_s"), PM_COLUMN(S, sums.depth, "rec_depth"),
	PM_COLUMN_IF(S, fid, "fid", located), PM_COLUMN_IF(S, first, "first_line", located),
	PM_COLUMN_IF(S, last, "last_line", located),
	PM_COLUMN_BY_IF(S, fid, "file", located, file_cell),
	PM_COLUMN_BY(S, name, "name", name_cell)};

static void callers_write(struct pm_rows *rows, const void *site, struct pm_text *out)
{
	const struct raw *raw = rows->table->self;
	const struct nytp_site *s = site;
	for (uint32_t k = 0; k < s->n_edges; k++) {
		if (k)
			pm_text_char(out, ',');
		pm_text_bytes(out, nytp_name(raw->n, raw->f->edges[s->first_edge + k].caller));
	}
}

static struct pm_cell callee_cell(struct pm_rows *rows, const void *sub)
{
	const struct raw *raw = rows->table->self;
	return pm_cell_lasting(nytp_name(raw->n, raw->f->subs[*(const uint32_t *)sub].name));
}

#define C struct nytp_site
static const struct pm_column caller_columns[] = {PM_COLUMN(C, fid, "caller_fid"),
	PM_COLUMN(C, line, "caller_line"), PM_COLUMN(C, sums.count, "count"),
	PM_COLUMN(C, sums.incl, "incl_s"), PM_COLUMN(C, sums.excl, "excl_s"),
	PM_COLUMN(C, sums.reci, "reci_s"), PM_COLUMN(C, sums.depth, "rec_depth"),
	PM_RECORD_WRITTEN("callers", callers_write), PM_COLUMN_BY(C, sub, "callee", callee_cell)};

#define L struct nytp_line
static const struct pm_column line_columns[] = {PM_COLUMN(L, fid, "fid"),
	PM_COLUMN(L, line, "line"), PM_COLUMN(L, count, "count"), PM_COLUMN(L, ticks, "ticks"),
	PM_COLUMN_BY(L, fid, "file", file_cell)};

/* Without its line feed; text that is not UTF-8 is taken as Latin-1. */
static struct pm_cell text_cell(struct pm_rows *rows, const void *line)
{
	const struct raw *raw = rows->table->self;
	struct pm_bytes text = nytp_text_bytes(raw->f, line);
	if (text.len && text.p[text.len - 1] == '\n')
		text.len--;
	if (pm_utf8_valid(text))
		return pm_cell_text(text);
	nytp_latin1(rows->scratch, text);
	return pm_cell_text(pm_text_view(rows->scratch));
}

#define T struct nytp_text_line
static const struct pm_column text_columns[] = {
	PM_COLUMN(T, fid, "fid"), PM_COLUMN(T, line, "line"), PM_RECORD_BY("text", text_cell)};

/* ---- Pynytprof ---- */

#define B struct nytp_py_sub
static const struct pm_column py_sub_columns[] = {PM_COLUMN(B, sid, "sid"),
	PM_COLUMN(B, flags, "flags"), PM_COLUMN_BY(B, name, "name", name_cell)};

#define M struct nytp_py_sample
static const struct pm_column sample_columns[] = {PM_COLUMN(M, fid, "fid"),
	PM_COLUMN(M, line, "line"), PM_COLUMN(M, calls, "calls"), PM_COLUMN(M, incl, "inc_ticks"),
	PM_COLUMN(M, excl, "exc_ticks")};

#define V struct nytp_py_event
static const struct pm_column event_columns[] = {
	PM_COLUMN(V, fid, "fid"), PM_COLUMN(V, line, "line"), PM_COLUMN(V, ticks, "ticks")};

#define E struct nytp_py_edge
static const struct pm_column edge_columns[] = {PM_COLUMN(E, caller, "caller_sid"),
	PM_COLUMN(E, callee, "callee_sid"), PM_COLUMN(E, calls, "calls"),
	PM_COLUMN(E, ticks, "ticks"), PM_COLUMN(E, sub_ticks, "sub_ticks")};

#define K struct nytp_py_chunk
static const struct pm_column chunk_columns[] = {PM_COLUMN(K, offset, "offset"),
	PM_COLUMN(K, bytes, "bytes"), PM_COLUMN(K, tag, "tag"), PM_COLUMN(K, status, "status")};

/* ---- arrays ---- */

static size_t row_count(const struct raw *raw)
{
	size_t n;
	memcpy(&n, (const char *)raw->f + raw->kind->n, sizeof(n));
	return n;
}

static int raw_start(struct pm_rows *rows, struct pm_error *err)
{
	const struct raw *raw = rows->table->self;
	return nytp_ready(raw->n, err);
}

static int raw_end(const struct pm_table *table, uint64_t *ret, struct pm_error *err)
{
	const struct raw *raw = table->self;
	int r = nytp_ready(raw->n, err);
	*ret = r < 0 ? 0 : row_count(raw);
	return r;
}

static int raw_record(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)
{
	const struct raw *raw = rows->table->self;
	const char *items;
	(void)err;
	if (rows->at >= row_count(raw))
		return 0;
	memcpy(&items, (const char *)raw->f + raw->kind->items, sizeof(items));
	ret->p = items + rows->at * raw->kind->size;
	return 1;
}

#define KIND(file, list, member, count, presence)                                                  \
	{                                                                                          \
		PM_SHEET("raw/" file ".csv", list, raw_record, .start = raw_start, .end = raw_end, \
			.dense = true),                                                            \
			offsetof(struct nytp_file, member), offsetof(struct nytp_file, count),     \
			sizeof(*((struct nytp_file *)0)->member), presence                         \
	}
#define LEVEL(file, kind, presence)                                                                \
	KIND(file, line_columns, levels[kind].items, levels[kind].n, presence)

static const struct raw_kind kinds[] = {
	KIND("attributes", attribute_columns, attributes, n_attributes, ALWAYS),
	KIND("processes", process_columns, processes, n_processes, ALWAYS),
	KIND("files", file_columns, fids, n_fids, ALWAYS),
	KIND("subs", sub_columns, subs, n_subs, IN_RECORDS),
	KIND("callers", caller_columns, sites, n_sites, IN_RECORDS),
	LEVEL("lines", NYTP_LINES, IN_RECORDS),
	LEVEL("blocks", NYTP_BLOCKS, WITH_BLOCKS),
	LEVEL("subblocks", NYTP_SUBBLOCKS, WITH_BLOCKS),
	KIND("source", text_columns, texts, n_texts, IN_RECORDS),
	KIND("subs", py_sub_columns, py.subs, py.n_subs, IN_CHUNKS),
	KIND("samples", sample_columns, py.samples, py.n_samples, IN_CHUNKS),
	KIND("events", event_columns, py.events, py.n_events, IN_CHUNKS),
	KIND("edges", edge_columns, py.edges, py.n_edges, IN_CHUNKS),
	KIND("chunks", chunk_columns, py.chunks, py.n_chunks, IN_CHUNKS),
};

enum { KIND_PROCESSES = 1, N_KINDS = sizeof(kinds) / sizeof(*kinds) };

/* ---- the list ---- */

static bool is_present(const struct raw_kind *kind, const struct nytp_file *f, bool blocks)
{
	bool chunks = f->layout == NYTP_LAYOUT_CHUNKS;
	switch (kind->present) {
	case ALWAYS: return true;
	case IN_RECORDS: return !chunks;
	case IN_CHUNKS: return chunks;
	case WITH_BLOCKS: return blocks;
	}
	return false;
}

void nytp_tables_make(struct pm_arena *arena, struct nytp *n, const struct nytp_file *f,
	bool blocks, struct nytp_docs *ret)
{
	struct pm_named_doc *docs = pm_arena_array(arena, N_KINDS, sizeof(*docs));
	struct raw *raws = pm_arena_array(arena, N_KINDS, sizeof(*raws));
	size_t count = 0;
	for (size_t i = 0; i < N_KINDS; i++) {
		if (!is_present(&kinds[i], f, blocks))
			continue;
		raws[count] = (struct raw){n, f, &kinds[i]};
		docs[count] = pm_sheet_document(&kinds[i].sheet, &raws[count], 0);
		count++;
	}
	*ret = (struct nytp_docs){docs, count};
}

void nytp_processes_make(struct pm_arena *arena, struct nytp *n, const struct nytp_file *all,
	struct pm_named_doc *ret)
{
	struct raw *raw = pm_arena_alloc(arena, sizeof(*raw));
	*raw = (struct raw){n, all, &kinds[KIND_PROCESSES]};
	*ret = pm_sheet_document(&raw->kind->sheet, raw, 0);
}

void nytp_processes_fill(struct nytp *n, struct nytp_file *all)
{
	size_t count = 0;
	for (size_t i = 0; i < n->n_files; i++)
		count += n->files[i].n_processes;
	struct nytp_process *list = pm_arena_array(&n->arena, count, sizeof(*list));
	*all = (struct nytp_file){.processes = list};
	for (size_t i = 0; i < n->n_files; i++)
		for (size_t k = 0; k < n->files[i].n_processes; k++)
			list[all->n_processes++] = n->files[i].processes[k];
}
