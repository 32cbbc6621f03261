/*
 * Tables of the files as they are, uninterpreted: raw/ of a thread, and raw/files.csv of the root
 * (docs/namespace.md §7). A file is open only while a cursor reads it, since there can be thousands
 * of files.
 */
#include "formats/hpcrun/hpcrun.h"

#include <stdlib.h>

#include "formats/common/sheet.h"
#include "formats/common/text.h"
#include "formats/hpcrun/profile.h"
#include "profmount/table.h"

/* ==== the file of a table ==== */

/* rows->own of a table whose `self` is the folder and `a` the thread. */
struct raw {
	struct hpcrun_folder *folder;
	struct pm_arena arena; /* of the profile */
	struct pm_input in;
	struct hpcrun_profile profile; /* of a profile's tables … */
	struct hpcrun_values values;   /* … from rows->at on, for the table of values */
	struct hpcrun_trace trace;     /* of a trace's */
	struct pm_bytes records;
};

/* 0 with the whole file in raw->in, or a negative errno. */
static int open_file(struct pm_rows *rows, bool is_trace, struct pm_error *err)
{
	struct raw *raw = calloc(1, sizeof(*raw));
	if (!raw)
		return pm_error_plain(err, -ENOMEM);
	raw->folder = (struct hpcrun_folder *)(uintptr_t)rows->table->self;
	rows->own = raw;
	const struct hpcrun_source *source = &raw->folder->sources[rows->table->a];
	int r = hpcrun_file_open(
		raw->folder, is_trace ? &source->trace : &source->profile, &raw->in, err);
	if (r == 0)
		hpcrun_file_use(&raw->in, 0, raw->in.bytes.len);
	return r;
}

static void read_profile(void *context)
{
	struct hpcrun_report silent = {.file = NULL};
	struct raw *raw = context;
	hpcrun_profile_read(&raw->profile, &raw->arena, raw->in.bytes, HPCRUN_ALL, &silent, NULL);
}

/* Like pm_table_type.start. An unreadable file has no rows; damage.csv has the reason. */
static int profile_start(struct pm_rows *rows, struct pm_error *err)
{
	int r = open_file(rows, false, err);
	if (r < 0)
		return r;
	struct raw *raw = rows->own;
	r = pm_build(&raw->arena, read_profile, raw);
	if (r < 0)
		return pm_error_set(err, r, raw->in.name, PM_NO_OFFSET, "no memory");
	raw->values = hpcrun_values_from(&raw->profile, rows->at);
	return 0;
}

static int trace_start(struct pm_rows *rows, struct pm_error *err)
{
	struct hpcrun_report silent = {.file = NULL};
	int r = open_file(rows, true, err);
	if (r < 0)
		return r;
	struct raw *raw = rows->own;
	if (hpcrun_trace_read(&raw->trace, raw->in.bytes, &silent, NULL) == 0)
		raw->records = hpcrun_trace_records(&raw->trace, raw->in.bytes);
	return 0;
}

/* Like pm_table_type.done. */
static void raw_done(struct pm_rows *rows)
{
	struct raw *raw = rows->own;
	pm_arena_done(&raw->arena);
	hpcrun_file_close(raw->folder, &raw->in);
	free(raw);
}

/*
 * ==== tables of a profile ====
 * Positions number the rows of all epochs.
 */

static const struct hpcrun_profile *profile_of(const struct pm_rows *rows)
{
	return &((const struct raw *)rows->own)->profile;
}

/* ---- epochs ---- */

/*
 * state: the epoch of the cursor's position, the number of rows before it, and the row's index in
 * it
 */
enum { EPOCH, BEFORE, PLACE };

/* The epoch that contains the position if rows are counted by `count`; NULL at the end. */
static const struct hpcrun_epoch *epoch_at(
	struct pm_rows *rows, uint64_t (*count)(const struct hpcrun_epoch *))
{
	const struct hpcrun_profile *p = profile_of(rows);
	uint64_t *state = rows->state;
	for (; state[EPOCH] < p->n_epochs; state[EPOCH]++) {
		const struct hpcrun_epoch *e = &p->epochs[state[EPOCH]];
		state[PLACE] = rows->at - state[BEFORE];
		if (state[PLACE] < count(e))
			return e;
		state[BEFORE] += count(e);
	}
	return NULL;
}

static struct pm_cell epoch_cell(struct pm_rows *rows, const void *record)
{
	(void)record;
	return pm_cell_u64(rows->state[EPOCH]);
}

static struct pm_cell place_cell(struct pm_rows *rows, const void *record)
{
	(void)record;
	return pm_cell_u64(rows->state[PLACE]);
}

static int epochs_record(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)
{
	(void)err;
	const struct hpcrun_profile *p = profile_of(rows);
	if (rows->at >= p->n_epochs)
		return 0;
	ret->p = &p->epochs[rows->at];
	return 1;
}

static void write_pairs(struct pm_rows *rows, const void *field, struct pm_text *out)
{
	const struct hpcrun_pairs *pairs = field;
	(void)rows;
	for (size_t i = 0; i < pairs->n; i++) {
		if (i)
			pm_text_char(out, ';');
		pm_text_bytes(out, pairs->items[i].key);
		pm_text_char(out, '=');
		pm_text_bytes(out, pairs->items[i].value);
	}
}

static const struct pm_column epochs_columns[] = {
	PM_COLUMN_ROW("epoch"),
	PM_COLUMN(struct hpcrun_epoch, flags, "flags"),
	PM_COLUMN(struct hpcrun_epoch, granularity, "granularity"),
	PM_COLUMN(struct hpcrun_epoch, ra_to_callsite, "ra_to_callsite"),
	PM_COLUMN_WRITTEN(struct hpcrun_epoch, pairs, "nvpairs", write_pairs),
};

/* ---- header, sections ---- */

static int header_record(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)
{
	(void)err;
	const struct hpcrun_profile *p = profile_of(rows);
	if (p->family == HPCRUN_FAMILY_NONE || rows->at > p->header.n)
		return 0;
	*(struct hpcrun_pair *)ret->room = rows->at
		? p->header.items[rows->at - 1]
		: (struct hpcrun_pair){pm_bytes_of("magic"), p->magic};
	return 1;
}

static const struct pm_column header_columns[] = {
	PM_COLUMN(struct hpcrun_pair, key, "key"),
	PM_COLUMN(struct hpcrun_pair, value, "value"),
};

static struct pm_cell section_name(struct pm_rows *rows, const void *record)
{
	static const char *const names[HPCRUN_N_SECTIONS] = {"hdr", "loadmap", "cct", "metric-tbl",
		"id-tuple-dxnry", "sparse-metrics", "footer"};
	const struct hpcrun_section *section = record;
	return pm_cell_str(names[section - profile_of(rows)->sections]);
}

static int sections_record(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)
{
	(void)err;
	const struct hpcrun_profile *p = profile_of(rows);
	if (!p->has_footer || rows->at >= HPCRUN_N_SECTIONS)
		return 0;
	ret->p = &p->sections[rows->at];
	return 1;
}

static const struct pm_column sections_columns[] = {
	PM_RECORD_BY("section", section_name),
	PM_COLUMN(struct hpcrun_section, start, "start"),
	PM_COLUMN(struct hpcrun_section, end, "end"),
};

/* ---- metrics, load map ---- */

static uint64_t count_metrics(const struct hpcrun_epoch *e)
{
	return e->metrics.n;
}

static int metrics_record(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)
{
	(void)err;
	const struct hpcrun_epoch *e = epoch_at(rows, count_metrics);
	ret->p = e ? &e->metrics.items[rows->state[PLACE]] : NULL;
	return e != NULL;
}

#define OF_METRIC(member, title, flag) PM_COLUMN_IF(struct hpcrun_metric, member, title, flag)

static const struct pm_column metrics_columns[] = {
	PM_RECORD_BY("epoch", epoch_cell),
	PM_RECORD_BY("id", place_cell),
	OF_METRIC(type, "type", has_flags),
	OF_METRIC(value_type, "val_type", has_flags),
	OF_METRIC(value_format, "val_fmt", has_flags),
	OF_METRIC(move_to_proc, "move2proc", has_flags),
	OF_METRIC(partner, "partner", has_flags),
	OF_METRIC(show, "show", has_flags),
	OF_METRIC(show_percent, "show_percent", has_flags),
	PM_COLUMN(struct hpcrun_metric, period, "period"),
	OF_METRIC(is_frequency, "is_frequency", has_tail),
	OF_METRIC(is_multiplexed, "is_multiplexed", has_tail),
	OF_METRIC(threshold_mean, "threshold_mean", has_tail),
	OF_METRIC(n_samples, "num_samples", has_tail),
	OF_METRIC(formula, "formula", has_formula),
	OF_METRIC(format, "format", has_formula),
	PM_COLUMN(struct hpcrun_metric, name, "name"),
	PM_COLUMN(struct hpcrun_metric, description, "description"),
};

static uint64_t count_modules(const struct hpcrun_epoch *e)
{
	return e->modules.n;
}

static int modules_record(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)
{
	(void)err;
	const struct hpcrun_epoch *e = epoch_at(rows, count_modules);
	ret->p = e ? &e->modules.items[rows->state[PLACE]] : NULL;
	return e != NULL;
}

static const struct pm_column modules_columns[] = {
	PM_RECORD_BY("epoch", epoch_cell),
	PM_COLUMN(struct hpcrun_module, id, "lm_id"),
	PM_COLUMN_IF(struct hpcrun_module, flags, "flags", has_flags),
	PM_COLUMN_HEX_IF(struct hpcrun_module, vaddr, "vaddr", has_addresses),
	PM_COLUMN_HEX_IF(struct hpcrun_module, mapaddr, "mapaddr", has_addresses),
	PM_COLUMN(struct hpcrun_module, name, "name"),
};

/* ---- nodes, values ---- */

struct node {
	struct hpcrun_node node;
	bool has_module, has_flags, has_lush;
};

static uint64_t count_nodes(const struct hpcrun_epoch *e)
{
	return e->nodes.n;
}

static int nodes_record(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)
{
	(void)err;
	const struct hpcrun_epoch *e = epoch_at(rows, count_nodes);
	struct node *node = ret->room;
	if (!e)
		return 0;
	*node = (struct node){.has_module = e->nodes.has_module,
		.has_flags = e->nodes.has_flags,
		.has_lush = e->nodes.has_lush};
	hpcrun_node_decode(&e->nodes, rows->state[PLACE], &node->node);
	return 1;
}

static const struct pm_column nodes_columns[] = {
	PM_RECORD_BY("epoch", epoch_cell),
	PM_COLUMN(struct node, node.id, "id"),
	PM_COLUMN(struct node, node.parent, "parent_id"),
	PM_COLUMN_IF(struct node, node.module, "lm_id", has_module),
	PM_COLUMN_HEX(struct node, node.ip, "lm_ip"),
	PM_COLUMN_IF(struct node, node.flags, "flags", has_flags),
	PM_COLUMN_IF(struct node, node.as_info, "as_info", has_lush),
	PM_COLUMN_HEX_IF(struct node, node.lip[0], "lip0", has_lush),
	PM_COLUMN_HEX_IF(struct node, node.lip[1], "lip1", has_lush),
};

static int values_record(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)
{
	(void)err;
	struct raw *raw = rows->own;
	if (!hpcrun_values_next(&raw->values, ret->room))
		return 0;
	rows->at = raw->values.at;
	return 1;
}

static struct pm_cell value_epoch(struct pm_rows *rows, const void *record)
{
	const struct hpcrun_value *v = record;
	(void)rows;
	return pm_cell_u64(v->epoch);
}

static struct pm_cell value_cell(struct pm_rows *rows, const void *record)
{
	const struct hpcrun_value *v = record;
	const struct hpcrun_metric *metric = hpcrun_value_metric(profile_of(rows), v);
	if (!metric)
		return pm_cell_empty();
	return hpcrun_value_is_real(metric) ? pm_cell_f64(pm_f64_of_bits(v->bits))
					    : pm_cell_u64(v->bits);
}

static const struct pm_column values_columns[] = {
	PM_RECORD_BY("epoch", value_epoch),
	PM_COLUMN(struct hpcrun_value, node_id, "node_id"),
	PM_COLUMN(struct hpcrun_value, metric, "metric_id"),
	PM_COLUMN_HEX(struct hpcrun_value, bits, "raw_bits"),
	{.name = "value", .cell = value_cell, .type = 'f'},
};

/* ---- identity ---- */

static int identity_record(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)
{
	(void)err;
	const struct hpcrun_profile *p = profile_of(rows);
	if (rows->at >= p->n_identity)
		return 0;
	ret->p = &p->identity[rows->at];
	return 1;
}

static const struct pm_column identity_columns[] = {
	PM_COLUMN(struct hpcrun_identity, kind, "kind"),
	PM_COLUMN(struct hpcrun_identity, interpret, "interpret"),
	PM_COLUMN(struct hpcrun_identity, physical, "physical"),
	PM_COLUMN(struct hpcrun_identity, logical, "logical"),
};

static int dictionary_record(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)
{
	(void)err;
	const struct hpcrun_profile *p = profile_of(rows);
	if (rows->at >= p->n_kinds)
		return 0;
	ret->p = &p->kinds[rows->at];
	return 1;
}

static const struct pm_column dictionary_columns[] = {
	PM_COLUMN(struct hpcrun_kind, kind, "kind"),
	PM_COLUMN(struct hpcrun_kind, name, "name"),
};

/* ==== tables of a trace ==== */

/* ---- header ---- */

struct field {
	const char *key;
	struct pm_cell value;
};

static int trace_header_record(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)
{
	(void)err;
	const struct hpcrun_trace *t = &((const struct raw *)rows->own)->trace;
	struct field *field = ret->room;
	if (rows->at > 3 || t->size == 0)
		return 0;
	switch (rows->at) {
	case 0: *field = (struct field){"magic", pm_cell_text(t->magic)}; break;
	case 1:
		*field = (struct field){
			"flags", t->has_flags ? pm_cell_hex(t->flags) : pm_cell_empty()};
		break;
	case 2: *field = (struct field){"records", pm_cell_u64(t->n)}; break;
	default: *field = (struct field){"leftover_bytes", pm_cell_u64(t->leftover)}; break;
	}
	return 1;
}

static const struct pm_column trace_header_columns[] = {
	PM_COLUMN(struct field, key, "key"),
	PM_COLUMN(struct field, value, "value"),
};

/* ---- samples ---- */

struct sample {
	uint32_t node, metric;
	bool has_metric;
	struct pm_cell time;
};

static int trace_record(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)
{
	(void)err;
	const struct raw *raw = rows->own;
	struct hpcrun_sample from;
	if (rows->at >= raw->trace.n || raw->records.len == 0)
		return 0;
	hpcrun_trace_decode(&raw->trace, raw->records, rows->at, &from);
	*(struct sample *)ret->room = (struct sample){.node = from.node,
		.metric = from.metric,
		.has_metric = raw->trace.flags & 1,
		.time = raw->trace.is_real ? pm_cell_f64(pm_f64_of_bits(from.time))
					   : pm_cell_u64(from.time)};
	return 1;
}

static const struct pm_column trace_columns[] = {
	PM_COLUMN(struct sample, time, "time"),
	PM_COLUMN(struct sample, node, "cct_id"),
	PM_COLUMN_IF(struct sample, metric, "metric_id", has_metric),
};

static const struct pm_sheet trace_sheets[] = {
	PM_SHEET("raw/traceheader.csv", trace_header_columns, trace_header_record,
		.start = trace_start, .done = raw_done),
	PM_SHEET("raw/trace.csv", trace_columns, trace_record, .start = trace_start,
		.done = raw_done, .dense = true),
};

/*
 * ==== files.csv ====
 * A row for every measurement file. It shows which threads lack a profile or a trace, and which
 * versions were used.
 */

/* Positions: 2 × thread, + 1 for its trace. state: the list of threads. */
static int files_start(struct pm_rows *rows, struct pm_error *err)
{
	const struct hpcrun_file_list *list = rows->table->self;
	const struct hpcrun_thread_list *thread_list;
	int r = list->thread_list(list->context, &thread_list, err);
	rows->state[0] = (uintptr_t)thread_list;
	return r;
}

static int files_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	(void)err;
	const struct hpcrun_file_list *list = rows->table->self;
	const struct hpcrun_thread_list *thread_list =
		(const struct hpcrun_thread_list *)(uintptr_t)rows->state[0];
	const struct hpcrun_file *file = NULL;
	char layout[32];
	uint64_t at = 0;
	while (rows->at < 2 * (uint64_t)list->folder->n && !(file && file->name)) {
		at = rows->at++;
		const struct hpcrun_source *source = &list->folder->sources[at / 2];
		file = at % 2 ? &source->trace : &source->profile;
	}
	if (!file || !file->name)
		return 0;
	const struct hpcrun_thread *thread = &thread_list->items[at / 2];
	if (at % 2)
		hpcrun_trace_layout(&thread->trace, layout, sizeof(layout));
	else
		hpcrun_profile_layout(thread->family, thread->version, layout, sizeof(layout));
	pm_text_str(rows->scratch, layout);
	cells[0] = pm_cell_u64(thread_list->threads.threads[at / 2].id);
	cells[1] = pm_cell_u64(file->size);
	cells[2] = pm_cell_text(pm_text_view(rows->scratch));
	cells[3] = pm_cell_str(file->name);
	return 1;
}

struct pm_named_doc hpcrun_raw_files(const struct hpcrun_file_list *list)
{
	static const char *const columns[] = {"thread_id", "bytes", "layout", "file"};
	static const struct pm_table_type type = {
		.start = files_start, .next = files_next, .dense = true};
	return (struct pm_named_doc){.path = "raw/files.csv",
		.doc = pm_doc_csv((struct pm_table){.type = &type,
			.columns = columns,
			.n_columns = 4,
			.self = list,
			.end = 2 * (uint64_t)list->folder->n})};
}

enum { OF_ANY = 1, OF_EPOCHS = 2, OF_SECTIONS = 4 };

#define RAW(which, file, name)                                                                     \
	{                                                                                          \
		which,                                                                             \
			PM_SHEET("raw/" file ".csv", name##_columns, name##_record,                \
				.start = profile_start, .done = raw_done)                          \
	}

static const struct {
	unsigned families; /* which have it */
	struct pm_sheet sheet;
} tables[] = {
	RAW(OF_ANY, "header", header),
	RAW(OF_EPOCHS, "epochs", epochs),
	RAW(OF_SECTIONS, "sections", sections),
	RAW(OF_EPOCHS | OF_SECTIONS, "metrics", metrics),
	RAW(OF_EPOCHS | OF_SECTIONS, "loadmap", modules),
	RAW(OF_EPOCHS | OF_SECTIONS, "cct", nodes),
	RAW(OF_EPOCHS | OF_SECTIONS, "values", values),
	RAW(OF_SECTIONS, "idtuple", identity),
	RAW(OF_SECTIONS, "dictionary", dictionary),
};

static unsigned families_of(const struct hpcrun_thread *thread)
{
	switch (thread->family) {
	case HPCRUN_FAMILY_NONE: return OF_ANY;
	case HPCRUN_FAMILY_EARLY:
	case HPCRUN_FAMILY_EPOCHS: return OF_ANY | OF_EPOCHS;
	case HPCRUN_FAMILY_SECTIONS: return OF_ANY | OF_SECTIONS;
	}
	return 0;
}

int hpcrun_raw_document(struct hpcrun_folder *folder, const struct hpcrun_thread_list *thread_list,
	uint32_t thread, uint32_t k, struct pm_named_doc *ret)
{
	bool has_profile = folder->sources[thread].profile.name != NULL;
	unsigned families = has_profile ? families_of(&thread_list->items[thread]) : 0;
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		if (!(tables[i].families & families) || k-- > 0)
			continue;
		*ret = pm_sheet_document(&tables[i].sheet, folder, thread);
		return 1;
	}
	if (k > 1 || !thread_list->items[thread].has_trace)
		return 0;
	*ret = pm_sheet_document(&trace_sheets[k], folder, thread);
	if (k == 1)
		ret->doc.table.end = thread_list->items[thread].trace.n;
	return 1;
}
