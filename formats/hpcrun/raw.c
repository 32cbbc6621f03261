/*
 * Raw tables of a profile. A cursor opens the file, and closes it when it is done: thousands of
 * files have no reader. Positions count rows through all epochs.
 */
#include "formats/hpcrun/raw.h"
#include "formats/hpcrun/dialect.h"
#include "formats/hpcrun/stream.h"

#include <stdlib.h>

#include "formats/common/text.h"

struct raw {
	struct hpcrun_folder *folder;
	struct pm_input in;
	struct hpcrun_profile profile;
	struct hpcrun_values values; /* of the table of values */
};

/* ---- cursors ---- */

static void raw_done(struct pm_rows *rows)
{
	struct raw *raw = rows->own;
	hpcrun_profile_done(&raw->profile);
	hpcrun_file_close(raw->folder, &raw->in);
	free(raw);
}

/* A file that is no profile has tables without rows; damage.csv says why. */
static int raw_start(struct pm_rows *rows, struct pm_error *err)
{
	struct hpcrun_report silent = {.file = NULL};
	struct raw *raw = calloc(1, sizeof(*raw));
	if (!raw)
		return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory");
	raw->folder = (struct hpcrun_folder *)(uintptr_t)rows->table->self;
	rows->own = raw;
	const struct hpcrun_file *file = &raw->folder->sources[rows->table->a].profile;
	int r = hpcrun_file_open(raw->folder, file, &raw->in, err);
	if (r < 0)
		return r;
	hpcrun_file_use(&raw->in, 0, raw->in.bytes.len);
	struct pm_error why = {.code = 0};
	r = hpcrun_profile_read(&raw->profile, raw->in.bytes, HPCRUN_ALL, &silent, &why);
	if (r == -ENOMEM)
		return pm_error_set(err, r, file->name, PM_NO_OFFSET, "no memory");
	raw->values = hpcrun_values_from(&raw->profile, rows->at);
	return 0;
}

/*
 * The epoch that the cursor's position lies in, its rows counted by `count`, and the row's place
 * there; NULL at the end. state: epoch, rows before it.
 */
static const struct hpcrun_epoch *epoch_at(
	struct pm_rows *rows, uint64_t (*count)(const struct hpcrun_epoch *), uint64_t *ret_place)
{
	const struct raw *raw = rows->own;
	uint64_t *epoch = &rows->state[0], *before = &rows->state[1];
	for (; *epoch < raw->profile.n_epochs; ++*epoch) {
		const struct hpcrun_epoch *e = &raw->profile.epochs[*epoch];
		if (rows->at - *before < count(e)) {
			*ret_place = rows->at++ - *before;
			return e;
		}
		*before += count(e);
	}
	return NULL;
}

static struct pm_cell if_known(bool known, uint64_t u)
{
	return known ? pm_cell_u64(u) : pm_cell_empty();
}

static struct pm_cell hex_if_known(bool known, uint64_t u)
{
	return known ? pm_cell_hex(u) : pm_cell_empty();
}

/* ---- header, epochs, sections ---- */

static int header_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	(void)err;
	const struct hpcrun_profile *p = &((const struct raw *)rows->own)->profile;
	uint64_t at = rows->at++;
	if (p->family == HPCRUN_FAMILY_NONE || at > p->header.n)
		return 0;
	cells[0] = at ? pm_cell_text(p->header.items[at - 1].key) : pm_cell_str("magic");
	cells[1] = pm_cell_text(at ? p->header.items[at - 1].value : p->magic);
	return 1;
}

static int epochs_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	(void)err;
	const struct hpcrun_profile *p = &((const struct raw *)rows->own)->profile;
	if (rows->at >= p->n_epochs)
		return 0;
	const struct hpcrun_epoch *e = &p->epochs[rows->at];
	for (size_t i = 0; i < e->pairs.n; i++) {
		if (i)
			pm_text_char(rows->scratch, ';');
		pm_text_bytes(rows->scratch, e->pairs.items[i].key);
		pm_text_char(rows->scratch, '=');
		pm_text_bytes(rows->scratch, e->pairs.items[i].value);
	}
	*cells++ = pm_cell_u64(rows->at++);
	*cells++ = pm_cell_u64(e->flags);
	*cells++ = pm_cell_u64(e->granularity);
	*cells++ = pm_cell_u64(e->ra_to_callsite);
	*cells++ = pm_cell_text(pm_text_view(rows->scratch));
	return 1;
}

static int sections_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	static const char *const names[HPCRUN_N_SECTIONS] = {"hdr", "loadmap", "cct", "metric-tbl",
		"id-tuple-dxnry", "sparse-metrics", "footer"};
	(void)err;
	const struct hpcrun_profile *p = &((const struct raw *)rows->own)->profile;
	uint64_t at = rows->at++;
	if (!p->has_footer || at >= HPCRUN_N_SECTIONS)
		return 0;
	cells[0] = pm_cell_str(names[at]);
	cells[1] = pm_cell_u64(p->sections[at].start);
	cells[2] = pm_cell_u64(p->sections[at].end);
	return 1;
}

/* ---- metrics, load map ---- */

static uint64_t count_metrics(const struct hpcrun_epoch *e)
{
	return e->metrics.n;
}

static int metrics_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	(void)err;
	uint64_t id;
	const struct hpcrun_epoch *e = epoch_at(rows, count_metrics, &id);
	if (!e)
		return 0;
	const struct hpcrun_metric *m = &e->metrics.items[id];
	*cells++ = pm_cell_u64(rows->state[0]);
	*cells++ = pm_cell_u64(id);
	*cells++ = if_known(m->has_flags, m->type);
	*cells++ = if_known(m->has_flags, m->value_type);
	*cells++ = if_known(m->has_flags, m->value_format);
	*cells++ = if_known(m->has_flags, m->move_to_proc);
	*cells++ = if_known(m->has_flags, m->partner);
	*cells++ = if_known(m->has_flags, m->show);
	*cells++ = if_known(m->has_flags, m->show_percent);
	*cells++ = pm_cell_u64(m->period);
	*cells++ = if_known(m->has_tail, m->is_frequency);
	*cells++ = if_known(m->has_tail, m->is_multiplexed);
	*cells++ = m->has_tail ? pm_cell_f64(m->threshold_mean) : pm_cell_empty();
	*cells++ = if_known(m->has_tail, m->n_samples);
	*cells++ = m->has_formula ? pm_cell_text(m->formula) : pm_cell_empty();
	*cells++ = m->has_formula ? pm_cell_text(m->format) : pm_cell_empty();
	*cells++ = pm_cell_text(m->name);
	*cells++ = pm_cell_text(m->description);
	return 1;
}

static uint64_t count_modules(const struct hpcrun_epoch *e)
{
	return e->modules.n;
}

static int modules_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	(void)err;
	uint64_t place;
	const struct hpcrun_epoch *e = epoch_at(rows, count_modules, &place);
	if (!e)
		return 0;
	const struct hpcrun_module *m = &e->modules.items[place];
	*cells++ = pm_cell_u64(rows->state[0]);
	*cells++ = pm_cell_u64(m->id);
	*cells++ = if_known(m->has_flags, m->flags);
	*cells++ = hex_if_known(m->has_addresses, m->vaddr);
	*cells++ = hex_if_known(m->has_addresses, m->mapaddr);
	*cells++ = pm_cell_text(m->name);
	return 1;
}

/* ---- nodes, values ---- */

static uint64_t count_nodes(const struct hpcrun_epoch *e)
{
	return e->nodes.n;
}

static int nodes_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	(void)err;
	uint64_t place;
	const struct hpcrun_epoch *e = epoch_at(rows, count_nodes, &place);
	if (!e)
		return 0;
	struct hpcrun_node node;
	hpcrun_node_decode(&e->nodes, place, &node);
	*cells++ = pm_cell_u64(rows->state[0]);
	*cells++ = pm_cell_i64(node.id);
	*cells++ = pm_cell_i64(node.parent);
	*cells++ = if_known(e->nodes.has_module, node.module);
	*cells++ = pm_cell_hex(node.ip);
	*cells++ = if_known(e->nodes.has_flags, node.flags);
	*cells++ = if_known(e->nodes.has_lush, node.as_info);
	*cells++ = hex_if_known(e->nodes.has_lush, node.lip[0]);
	*cells++ = hex_if_known(e->nodes.has_lush, node.lip[1]);
	return 1;
}

static int values_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	(void)err;
	struct raw *raw = rows->own;
	struct hpcrun_value v;
	if (!hpcrun_values_next(&raw->values, &v))
		return 0;
	rows->at = raw->values.at;
	const struct hpcrun_metric *metric = hpcrun_value_metric(&raw->profile, &v);
	*cells++ = pm_cell_u64(v.epoch);
	*cells++ = pm_cell_i64(v.node_id);
	*cells++ = pm_cell_u64(v.metric);
	*cells++ = pm_cell_hex(v.bits);
	if (!metric)
		*cells++ = pm_cell_empty();
	else if (hpcrun_value_is_real(metric))
		*cells++ = pm_cell_f64(pm_f64_of_bits(v.bits));
	else
		*cells++ = pm_cell_u64(v.bits);
	return 1;
}

/* ---- identity ---- */

static int identity_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	(void)err;
	const struct hpcrun_profile *p = &((const struct raw *)rows->own)->profile;
	if (rows->at >= p->n_identity)
		return 0;
	const struct hpcrun_identity *level = &p->identity[rows->at++];
	cells[0] = pm_cell_u64(level->kind);
	cells[1] = pm_cell_u64(level->interpret);
	cells[2] = pm_cell_u64(level->physical);
	cells[3] = pm_cell_u64(level->logical);
	return 1;
}

static int dictionary_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	(void)err;
	const struct hpcrun_profile *p = &((const struct raw *)rows->own)->profile;
	if (rows->at >= p->n_kinds)
		return 0;
	cells[0] = pm_cell_u64(p->kinds[rows->at].kind);
	cells[1] = pm_cell_text(p->kinds[rows->at].name);
	rows->at++;
	return 1;
}

/* ---- which tables ---- */

#define N_OF(array) (sizeof(array) / sizeof((array)[0]))

#define RAW_TABLE(table, next_row, ...)                                                            \
	static const char *const table##_columns[] = {__VA_ARGS__};                                \
	static const struct pm_table_type table##_type = {                                         \
		.start = raw_start, .next = next_row, .done = raw_done};

RAW_TABLE(header, header_next, "key", "value")
RAW_TABLE(epochs, epochs_next, "epoch", "flags", "granularity", "ra_to_callsite", "nvpairs")
RAW_TABLE(sections, sections_next, "section", "start", "end")
RAW_TABLE(metrics, metrics_next, "epoch", "id", "type", "val_type", "val_fmt", "move2proc",
	"partner", "show", "show_percent", "period", "is_frequency", "is_multiplexed",
	"threshold_mean", "num_samples", "formula", "format", "name", "description")
RAW_TABLE(modules, modules_next, "epoch", "lm_id", "flags", "vaddr", "mapaddr", "name")
RAW_TABLE(nodes, nodes_next, "epoch", "id", "parent_id", "lm_id", "lm_ip", "flags", "as_info",
	"lip0", "lip1")
RAW_TABLE(values, values_next, "epoch", "node_id", "metric_id", "raw_bits", "value")
RAW_TABLE(identity, identity_next, "kind", "interpret", "physical", "logical")
RAW_TABLE(dictionary, dictionary_next, "kind", "name")

enum { OF_ANY = 1, OF_EPOCHS = 2, OF_SECTIONS = 4 };

static const struct {
	unsigned families; /* which have it */
	const char *path;
	const struct pm_table_type *type;
	const char *const *columns;
	uint32_t n_columns;
} tables[] = {
#define RAW_ENTRY(families, name, table)                                                           \
	{                                                                                          \
		families, "raw/" name ".csv", &table##_type, table##_columns,                      \
			N_OF(table##_columns)                                                      \
	}
	RAW_ENTRY(OF_ANY, "header", header),
	RAW_ENTRY(OF_EPOCHS, "epochs", epochs),
	RAW_ENTRY(OF_SECTIONS, "sections", sections),
	RAW_ENTRY(OF_EPOCHS | OF_SECTIONS, "metrics", metrics),
	RAW_ENTRY(OF_EPOCHS | OF_SECTIONS, "loadmap", modules),
	RAW_ENTRY(OF_EPOCHS | OF_SECTIONS, "cct", nodes),
	RAW_ENTRY(OF_EPOCHS | OF_SECTIONS, "values", values),
	RAW_ENTRY(OF_SECTIONS, "idtuple", identity),
	RAW_ENTRY(OF_SECTIONS, "dictionary", dictionary),
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

static int trace_document(struct hpcrun_folder *folder, const struct hpcrun_thread *thread,
	uint32_t index, uint32_t k, struct pm_named_doc *ret)
{
	if (k > 1 || !thread->has_trace)
		return 0;
	ret->path = k == 0 ? "raw/traceheader.csv" : "raw/trace.csv";
	ret->doc = pm_doc_csv(k == 0 ? hpcrun_raw_trace_header(folder, index)
				     : hpcrun_raw_trace(folder, index, thread->trace.n));
	return 1;
}

int hpcrun_raw_document(struct hpcrun_folder *folder, const struct hpcrun_who *who, uint32_t thread,
	uint32_t k, struct pm_named_doc *ret)
{
	bool has_profile = folder->sources[thread].profile.name != NULL;
	unsigned families = has_profile ? families_of(&who->items[thread]) : 0;
	for (size_t i = 0; i < N_OF(tables); i++) {
		if (!(tables[i].families & families) || k-- > 0)
			continue;
		ret->path = tables[i].path;
		ret->doc = pm_doc_csv((struct pm_table){.type = tables[i].type,
			.columns = tables[i].columns,
			.n_columns = tables[i].n_columns,
			.self = folder,
			.a = thread});
		return 1;
	}
	return trace_document(folder, &who->items[thread], thread, k, ret);
}
