/* Tables of one store: its chunks and its text index. */
#include "formats/common/text.h"
#include "formats/zts/names.h"
#include "formats/zts/zts.h"

static const char *const chunk_columns[] = {
	"chunk", "offset", "compressed_bytes", "bytes", "checksum", "flags", "status"};
static const char *const string_columns[] = {"id", "kind", "text"};

static int chunks_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	const struct zts *z = rows->table->self;
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
	const struct zts *z = rows->table->self;
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

static const struct pm_table_type chunks_type = {.next = chunks_next};
static const struct pm_table_type strings_type = {.next = strings_next};

struct pm_table zts_chunks_table(const struct zts *z, uint32_t store)
{
	return (struct pm_table){&chunks_type, chunk_columns, 7, z, store};
}

struct pm_table zts_strings_table(const struct zts *z, uint32_t store)
{
	return (struct pm_table){&strings_type, string_columns, 3, z, store};
}
