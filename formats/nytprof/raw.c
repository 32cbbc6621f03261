/*
 * The tables of a file as raw/…csv. A row's position is its index; one function a table fills the
 * cells of a row.
 */
#include "formats/nytprof/raw.h"

#include <errno.h>
#include <stddef.h>

#include "formats/common/utf8.h"

enum { MOST_COLUMNS = 10 };

struct raw {
	struct nytp *n;
	const struct nytp_file *f;
	const struct raw_kind *kind;
};

/* Where a table is there at all: the head of a file tells. */
enum presence { ALWAYS, IN_RECORDS, IN_CHUNKS, WITH_BLOCKS };

/* One kind of table. */
struct raw_kind {
	const char *path;
	const char *const columns[MOST_COLUMNS + 1]; /* ends with NULL */
	size_t count; /* where in struct nytp_file the number of rows stands */
	void (*row)(const struct raw *raw, struct pm_rows *rows, struct pm_cell *cells);
	enum presence present;
};

static struct pm_cell name_cell(const struct raw *raw, uint32_t name)
{
	return pm_cell_text(nytp_name(raw->n, name));
}

static struct pm_cell file_cell(const struct raw *raw, uint32_t fid)
{
	return pm_cell_text(nytp_fid_name(raw->n, raw->f, fid));
}

/* ---- both dialects ---- */

static void attributes_row(const struct raw *raw, struct pm_rows *rows, struct pm_cell *cells)
{
	const struct nytp_attribute *a = &raw->f->attributes[rows->at];
	cells[0] = pm_cell_str(a->option ? "option" : "attribute");
	cells[1] = name_cell(raw, a->name);
	cells[2] = name_cell(raw, a->value);
}

static void processes_row(const struct raw *raw, struct pm_rows *rows, struct pm_cell *cells)
{
	const struct nytp_process *p = &raw->f->processes[rows->at];
	cells[0] = pm_cell_u64(p->pid);
	cells[1] = pm_cell_u64(p->ppid);
	cells[2] = pm_cell_f64(p->start);
	cells[3] = pm_cell_f64(p->end);
}

static void files_row(const struct raw *raw, struct pm_rows *rows, struct pm_cell *cells)
{
	const struct nytp_fid *fid = &raw->f->fids[rows->at];
	cells[0] = pm_cell_u64(fid->fid);
	cells[1] = pm_cell_u64(fid->flags);
	cells[2] = pm_cell_u64(fid->size);
	cells[3] = pm_cell_u64(fid->mtime);
	cells[4] = pm_cell_u64(fid->eval_fid);
	cells[5] = pm_cell_u64(fid->eval_line);
	cells[6] = name_cell(raw, fid->name);
}

/* ---- Devel::NYTProf ---- */

static void subs_row(const struct raw *raw, struct pm_rows *rows, struct pm_cell *cells)
{
	const struct nytp_sub *s = &raw->f->subs[rows->at];
	cells[0] = pm_cell_u64(s->sums.count);
	cells[1] = pm_cell_f64(s->sums.excl);
	cells[2] = pm_cell_f64(s->sums.incl);
	cells[3] = pm_cell_f64(s->sums.reci);
	cells[4] = pm_cell_u64(s->sums.depth);
	cells[5] = s->located ? pm_cell_u64(s->fid) : pm_cell_empty();
	cells[6] = s->located ? pm_cell_u64(s->first) : pm_cell_empty();
	cells[7] = s->located ? pm_cell_u64(s->last) : pm_cell_empty();
	cells[8] = s->located ? file_cell(raw, s->fid) : pm_cell_empty();
	cells[9] = name_cell(raw, s->name);
}

static void callers_row(const struct raw *raw, struct pm_rows *rows, struct pm_cell *cells)
{
	const struct nytp_site *s = &raw->f->sites[rows->at];
	for (uint32_t k = 0; k < s->n_edges; k++) {
		const struct nytp_edge *edge = &raw->f->edges[s->first_edge + k];
		if (k)
			pm_text_char(rows->scratch, ',');
		pm_text_bytes(rows->scratch, nytp_name(raw->n, edge->caller));
	}
	cells[0] = pm_cell_u64(s->fid);
	cells[1] = pm_cell_u64(s->line);
	cells[2] = pm_cell_u64(s->sums.count);
	cells[3] = pm_cell_f64(s->sums.incl);
	cells[4] = pm_cell_f64(s->sums.excl);
	cells[5] = pm_cell_f64(s->sums.reci);
	cells[6] = pm_cell_u64(s->sums.depth);
	cells[7] = pm_cell_text(pm_text_view(rows->scratch));
	cells[8] = name_cell(raw, raw->f->subs[s->sub].name);
}

static void level_row(
	const struct raw *raw, enum nytp_level_kind level, uint64_t i, struct pm_cell *cells)
{
	const struct nytp_line *l = &raw->f->levels[level].items[i];
	cells[0] = pm_cell_u64(l->fid);
	cells[1] = pm_cell_u64(l->line);
	cells[2] = pm_cell_i64(l->count);
	cells[3] = pm_cell_i64(l->ticks);
	cells[4] = file_cell(raw, l->fid);
}

static void lines_row(const struct raw *raw, struct pm_rows *rows, struct pm_cell *cells)
{
	level_row(raw, NYTP_LINES, rows->at, cells);
}

static void blocks_row(const struct raw *raw, struct pm_rows *rows, struct pm_cell *cells)
{
	level_row(raw, NYTP_BLOCKS, rows->at, cells);
}

static void subblocks_row(const struct raw *raw, struct pm_rows *rows, struct pm_cell *cells)
{
	level_row(raw, NYTP_SUBBLOCKS, rows->at, cells);
}

static void source_row(const struct raw *raw, struct pm_rows *rows, struct pm_cell *cells)
{
	const struct nytp_text_line *l = &raw->f->texts[rows->at];
	struct pm_bytes text = nytp_text_bytes(raw->f, l);
	if (text.len && text.p[text.len - 1] == '\n')
		text.len--;
	cells[0] = pm_cell_u64(l->fid);
	cells[1] = pm_cell_u64(l->line);
	cells[2] = pm_cell_text(text);
	if (pm_utf8_valid(text))
		return;
	nytp_latin1(rows->scratch, text);
	cells[2] = pm_cell_text(pm_text_view(rows->scratch));
}

/* ---- Pynytprof ---- */

static void py_subs_row(const struct raw *raw, struct pm_rows *rows, struct pm_cell *cells)
{
	const struct nytp_py_sub *s = &raw->f->py.subs[rows->at];
	cells[0] = pm_cell_u64(s->sid);
	cells[1] = pm_cell_u64(s->flags);
	cells[2] = name_cell(raw, s->name);
}

static void samples_row(const struct raw *raw, struct pm_rows *rows, struct pm_cell *cells)
{
	const struct nytp_py_sample *s = &raw->f->py.samples[rows->at];
	cells[0] = pm_cell_u64(s->fid);
	cells[1] = pm_cell_u64(s->line);
	cells[2] = pm_cell_u64(s->calls);
	cells[3] = pm_cell_u64(s->incl);
	cells[4] = pm_cell_u64(s->excl);
}

static void events_row(const struct raw *raw, struct pm_rows *rows, struct pm_cell *cells)
{
	const struct nytp_py_event *e = &raw->f->py.events[rows->at];
	cells[0] = pm_cell_u64(e->fid);
	cells[1] = pm_cell_u64(e->line);
	cells[2] = pm_cell_u64(e->ticks);
}

static void edges_row(const struct raw *raw, struct pm_rows *rows, struct pm_cell *cells)
{
	const struct nytp_py_edge *e = &raw->f->py.edges[rows->at];
	cells[0] = pm_cell_u64(e->caller);
	cells[1] = pm_cell_u64(e->callee);
	cells[2] = pm_cell_u64(e->calls);
	cells[3] = pm_cell_u64(e->ticks);
	cells[4] = pm_cell_u64(e->sub_ticks);
}

static void chunks_row(const struct raw *raw, struct pm_rows *rows, struct pm_cell *cells)
{
	const struct nytp_py_chunk *c = &raw->f->py.chunks[rows->at];
	cells[0] = pm_cell_u64(c->offset);
	cells[1] = pm_cell_u64(c->bytes);
	cells[2] = pm_cell_str(c->tag);
	cells[3] = pm_cell_str(c->status);
}

/* ---- the list ---- */

#define COUNT(member) offsetof(struct nytp_file, member)

static const struct raw_kind kinds[] = {
	{"raw/attributes.csv", {"kind", "name", "value"}, COUNT(n_attributes), attributes_row,
		ALWAYS},
	{"raw/processes.csv", {"pid", "ppid", "start", "end"}, COUNT(n_processes), processes_row,
		ALWAYS},
	{"raw/files.csv", {"fid", "flags", "size", "mtime", "eval_fid", "eval_line", "name"},
		COUNT(n_fids), files_row, ALWAYS},
	{"raw/subs.csv",
		{"calls", "excl_s", "incl_s", "reci_s", "rec_depth", "fid", "first_line",
			"last_line", "file", "name"},
		COUNT(n_subs), subs_row, IN_RECORDS},
	{"raw/callers.csv",
		{"caller_fid", "caller_line", "count", "incl_s", "excl_s", "reci_s", "rec_depth",
			"callers", "callee"},
		COUNT(n_sites), callers_row, IN_RECORDS},
	{"raw/lines.csv", {"fid", "line", "count", "ticks", "file"}, COUNT(levels[NYTP_LINES].n),
		lines_row, IN_RECORDS},
	{"raw/blocks.csv", {"fid", "line", "count", "ticks", "file"}, COUNT(levels[NYTP_BLOCKS].n),
		blocks_row, WITH_BLOCKS},
	{"raw/subblocks.csv", {"fid", "line", "count", "ticks", "file"},
		COUNT(levels[NYTP_SUBBLOCKS].n), subblocks_row, WITH_BLOCKS},
	{"raw/source.csv", {"fid", "line", "text"}, COUNT(n_texts), source_row, IN_RECORDS},
	{"raw/subs.csv", {"sid", "flags", "name"}, COUNT(py.n_subs), py_subs_row, IN_CHUNKS},
	{"raw/samples.csv", {"fid", "line", "calls", "inc_ticks", "exc_ticks"}, COUNT(py.n_samples),
		samples_row, IN_CHUNKS},
	{"raw/events.csv", {"fid", "line", "ticks"}, COUNT(py.n_events), events_row, IN_CHUNKS},
	{"raw/edges.csv", {"caller_sid", "callee_sid", "calls", "ticks", "sub_ticks"},
		COUNT(py.n_edges), edges_row, IN_CHUNKS},
	{"raw/chunks.csv", {"offset", "bytes", "tag", "status"}, COUNT(py.n_chunks), chunks_row,
		IN_CHUNKS},
};

enum { KIND_PROCESSES = 1, N_KINDS = sizeof(kinds) / sizeof(*kinds) };

static size_t row_count(const struct raw *raw)
{
	size_t n;
	memcpy(&n, (const char *)raw->f + raw->kind->count, sizeof(n));
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

static int raw_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct raw *raw = rows->table->self;
	(void)err;
	if (rows->at >= row_count(raw))
		return 0;
	raw->kind->row(raw, rows, cells);
	rows->at++;
	return 1;
}

static const struct pm_table_type raw_type = {
	.next = raw_next, .start = raw_start, .end = raw_end, .dense = true};

static uint32_t count_columns(const struct raw_kind *kind)
{
	uint32_t n = 0;
	while (kind->columns[n])
		n++;
	return n;
}

static struct pm_named_doc doc_of(const struct raw *raw)
{
	struct pm_table table = {.type = &raw_type,
		.columns = raw->kind->columns,
		.n_columns = count_columns(raw->kind),
		.self = raw};
	return (struct pm_named_doc){raw->kind->path, pm_doc_csv(table)};
}

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

int nytp_tables_make(struct pm_arena *arena, struct nytp *n, const struct nytp_file *f, bool blocks,
	struct nytp_docs *ret)
{
	struct pm_named_doc *docs = pm_arena_array(arena, N_KINDS, sizeof(*docs));
	struct raw *raws = pm_arena_array(arena, N_KINDS, sizeof(*raws));
	size_t count = 0;
	if (!docs || !raws)
		return -ENOMEM;
	for (size_t i = 0; i < N_KINDS; i++) {
		if (!is_present(&kinds[i], f, blocks))
			continue;
		raws[count] = (struct raw){n, f, &kinds[i]};
		docs[count] = doc_of(&raws[count]);
		count++;
	}
	*ret = (struct nytp_docs){docs, count};
	return 0;
}

int nytp_processes_make(struct pm_arena *arena, struct nytp *n, const struct nytp_file *all,
	struct pm_named_doc *ret)
{
	struct raw *raw = pm_arena_alloc(arena, sizeof(*raw));
	if (!raw)
		return -ENOMEM;
	*raw = (struct raw){n, all, &kinds[KIND_PROCESSES]};
	*ret = doc_of(raw);
	return 0;
}

int nytp_processes_fill(struct nytp *n, struct nytp_file *all)
{
	size_t count = 0;
	for (size_t i = 0; i < n->n_files; i++)
		count += n->files[i].n_processes;
	struct nytp_process *list = pm_arena_array(&n->arena, count, sizeof(*list));
	if (!list)
		return -ENOMEM;
	*all = (struct nytp_file){.processes = list};
	for (size_t i = 0; i < n->n_files; i++)
		for (size_t k = 0; k < n->files[i].n_processes; k++)
			list[all->n_processes++] = n->files[i].processes[k];
	return 0;
}
