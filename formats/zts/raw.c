/* The stores as written: records of the metadata index, chunks, the text index. */
#include "formats/common/text.h"
#include "formats/zts/names.h"
#include "formats/zts/zts.h"

static const char *const span_columns[] = {"store", "timestamp_ns", "duration_ns", "data_offset",
	"start_offset", "calls", "errors", "records", "tstart", "tstop", "trace_id", "span_id",
	"parent_id"};
static const char *const chunk_columns[] = {
	"chunk", "offset", "compressed_bytes", "bytes", "checksum", "flags", "status"};
static const char *const string_columns[] = {"id", "kind", "text"};

/* ---- raw/spans.csv ---- */

static int spans_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct zts_opened *z = rows->table->self;
	const struct zts_survey *v;
	int r = zts_get_survey(z, &v, err);
	if (r < 0 || rows->at >= v->spans.n)
		return r;
	const struct zts_span *span = &v->spans.items[rows->at++];
	if (!span->by_scan)
		zts_add_trace_id(rows->scratch, span->trace_id);
	struct pm_cell row[] = {
		pm_cell_str(z->stores.items[span->store].number),
		pm_cell_u64(span->timestamp_ns),
		zts_known_u64(span->duration_ns),
		pm_cell_u64(span->data_offset),
		pm_cell_u64(span->start_offset),
		pm_cell_u64(span->calls),
		pm_cell_u64(span->errors),
		pm_cell_u64(span->records),
		zts_known_u64(span->tstart),
		zts_known_u64(span->tstop),
		zts_scratch_cell(rows, 0, rows->scratch->len),
		zts_known_id(span->span_id),
		zts_known_id(span->parent_id),
	};
	memcpy(cells, row, sizeof(row));
	return 1;
}

/* ---- of one store ---- */

static int chunks_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct zts_opened *z = rows->table->self;
	const struct zts_chunks *chunks = &z->stores.items[rows->table->a].chunks;
	const struct zts_survey *v;
	int r = zts_get_survey(z, &v, err);
	if (r < 0 || rows->at >= chunks->n)
		return r;
	uint64_t i = rows->at++;
	const struct zts_chunk *chunk = &chunks->chunks[i];
	cells[0] = pm_cell_u64(i);
	cells[1] = pm_cell_u64(chunk->offset);
	cells[2] = pm_cell_u64(chunk->compressed_bytes);
	cells[3] = pm_cell_u64(chunk->bytes);
	cells[4] = pm_cell_id(chunk->checksum, 8);
	cells[5] = pm_cell_id(chunks->flags, 8);
	cells[6] = pm_cell_str(zts_status_text(v->scans[rows->table->a].status[i]));
	return 1;
}

static int strings_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct zts_texts *texts;
	const struct zts_opened *z = rows->table->self;
	int r = zts_store_texts(&z->stores.items[rows->table->a], &texts, err);
	if (r < 0 || rows->at >= texts->n)
		return r;
	const struct zts_text *text = &texts->items[rows->at++];
	zts_text_resolve(texts, text->raw, rows->scratch);
	cells[0] = pm_cell_u64(text->id);
	cells[1] = pm_cell_str(zts_text_kind(text->raw));
	cells[2] = pm_cell_text(pm_text_view(rows->scratch));
	return 1;
}

static const struct pm_table_type spans_type = {.next = spans_next};
static const struct pm_table_type chunks_type = {.next = chunks_next};
static const struct pm_table_type strings_type = {.next = strings_next};

struct pm_table zts_raw_spans_table(const struct zts_opened *z)
{
	struct pm_table table = {
		&spans_type, span_columns, sizeof(span_columns) / sizeof(span_columns[0]), z};
	table.types = "????????????t";
	return table;
}

struct pm_table zts_chunks_table(const struct zts_opened *z, uint32_t store)
{
	struct pm_table table = {&chunks_type, chunk_columns, 7, z, store};
	table.types = "?i?????";
	return table;
}

struct pm_table zts_strings_table(const struct zts_opened *z, uint32_t store)
{
	return (struct pm_table){&strings_type, string_columns, 3, z, store};
}
