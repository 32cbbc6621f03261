/* Parquet's metadata: https://github.com/apache/parquet-format, parquet.thrift. */
#include "fs/document/layout.h"

#include <string.h>

#include "fs/document/thrift.h"
#include "profmount/limits.h"
#include "profmount/profile.h"

/* ---- positions of the columns of row groups in a file that is laid out: see layout.h ---- */

/* The row groups of a block: full ones, and possibly the last one. */
struct block {
	uint64_t offset;
	size_t first, n_full;
	bool has_last;
};

static struct block block_at(const struct pmfs_parquet *p, size_t group)
{
	uint32_t per_block = p->layout->per_block;
	struct block b = {.first = group - group % per_block};
	bool is_end = p->n - b.first <= per_block;
	b.n_full = is_end ? p->n - b.first - 1 : per_block;
	b.has_last = is_end;
	b.offset = PMFS_PARQUET_BEGIN + b.first * p->groups[0].bytes;
	return b;
}

/* The size of a column in a block. */
static uint64_t run_bytes(const struct pmfs_layout *layout, const struct block *b, uint32_t column)
{
	return (uint64_t)b->n_full * layout->full[column].bytes +
		(b->has_last ? layout->last[column].bytes : 0);
}

uint64_t pmfs_layout_offset(const struct pmfs_parquet *p, size_t group, uint32_t column)
{
	struct block b = block_at(p, group);
	uint64_t offset = b.offset + (group - b.first) * (uint64_t)p->layout->full[column].bytes;
	for (uint32_t c = 0; c < column; c++)
		offset += run_bytes(p->layout, &b, c);
	return offset;
}

void pmfs_layout_find(
	const struct pmfs_parquet *p, uint64_t offset, size_t *ret_group, uint32_t *ret_column)
{
	uint64_t group = (offset - PMFS_PARQUET_BEGIN) / p->groups[0].bytes;
	struct block b = block_at(p, group < p->n ? (size_t)group : p->n - 1);
	uint64_t rest = offset - b.offset;
	uint32_t c = 0;
	for (; c + 1 < p->n_columns && rest >= run_bytes(p->layout, &b, c); c++)
		rest -= run_bytes(p->layout, &b, c);
	uint64_t in_block = rest / p->layout->full[c].bytes;
	*ret_group = b.first + (size_t)(in_block < b.n_full ? in_block : b.n_full - !b.has_last);
	*ret_column = c;
}

/* ---- metadata ---- */

enum { INT64 = 2, DOUBLE = 5, BYTE_ARRAY = 6 };
enum { OPTIONAL = 1 };
enum { UTF8 = 0, UINT_64 = 14 };
enum { PLAIN = 0, RLE = 3, RLE_DICTIONARY = 8 };
enum { UNCOMPRESSED = 0 };

static const char magic[] = "PAR1";

static int32_t type_of(enum pmfs_storage storage)
{
	return storage == PMFS_STORE_TEXT      ? BYTE_ARRAY
		: storage == PMFS_STORE_DOUBLE ? DOUBLE
					       : INT64;
}

/* ---- schema ---- */

/*
 * A time since the epoch in ns. Not "adjusted to UTC", although it is UTC: engines have nanoseconds
 * only for times without a zone.
 */
static void add_timestamp(struct pmfs_thrift *logical)
{
	struct pmfs_thrift timestamp = pmfs_thrift_struct(logical, 8);
	pmfs_thrift_bool(&timestamp, 1, false);
	struct pmfs_thrift unit = pmfs_thrift_struct(&timestamp, 2);
	pmfs_thrift_empty(&unit, 3); /* NANOS */
	pmfs_thrift_end(&unit);
	pmfs_thrift_end(&timestamp);
}

static void add_logical(struct pmfs_thrift *element, enum pmfs_storage storage)
{
	struct pmfs_thrift logical = pmfs_thrift_struct(element, 10);
	if (storage == PMFS_STORE_TEXT) {
		pmfs_thrift_empty(&logical, 1); /* STRING */
	} else if (storage == PMFS_STORE_I64) {
		add_timestamp(&logical);
	} else {
		struct pmfs_thrift integer = pmfs_thrift_struct(&logical, 10); /* INTEGER */
		pmfs_thrift_field(&integer, 1, PMFS_THRIFT_I8);
		pm_text_char(integer.out, 64);
		pmfs_thrift_bool(&integer, 2, false);
		pmfs_thrift_end(&integer);
	}
	pmfs_thrift_end(&logical);
}

static bool is_timestamp(const struct pm_doc *doc, uint32_t column)
{
	return doc->of && doc->of->times_since_epoch &&
		strcmp(pm_table_column(&doc->table, column), "timestamp_ns") == 0;
}

static void add_schema(
	struct pmfs_thrift *file, const struct pmfs_parquet *p, const struct pm_doc *doc)
{
	const struct pm_table *table = &doc->table;
	pmfs_thrift_list(file, 2, PMFS_THRIFT_STRUCT, p->n_columns + 1);
	struct pmfs_thrift root = {.out = file->out};
	pmfs_thrift_str(&root, 4, "schema");
	pmfs_thrift_i32(&root, 5, (int32_t)p->n_columns);
	pmfs_thrift_end(&root);
	for (uint32_t i = 0; i < p->n_columns; i++) {
		struct pmfs_thrift element = {.out = file->out};
		enum pmfs_storage storage = p->storage[i];
		pmfs_thrift_i32(&element, 1, type_of(storage));
		pmfs_thrift_i32(&element, 3, OPTIONAL);
		pmfs_thrift_str(&element, 4, pm_table_column(table, i));
		if (storage == PMFS_STORE_TEXT || storage == PMFS_STORE_U64) {
			pmfs_thrift_i32(&element, 6, storage == PMFS_STORE_TEXT ? UTF8 : UINT_64);
			add_logical(&element, storage);
		} else if (storage == PMFS_STORE_I64 && is_timestamp(doc, i)) {
			add_logical(&element, storage);
		}
		pmfs_thrift_end(&element);
	}
}

/* ---- row groups ---- */

static struct pm_bytes le64(uint64_t u, uint8_t *room)
{
	for (unsigned i = 0; i < 8; i++)
		room[i] = (uint8_t)(u >> 8 * i);
	return (struct pm_bytes){room, 8};
}

static void add_text_bounds(struct pmfs_thrift *statistics, const struct pmfs_bound *least,
	const struct pmfs_bound *greatest)
{
	struct pm_bytes max = {(const uint8_t *)greatest->p, greatest->n};
	struct pm_bytes min = {(const uint8_t *)least->p, least->n};
	if (min.len == 0 || max.len == 0)
		return;
	pmfs_thrift_binary(statistics, 5, max);
	pmfs_thrift_binary(statistics, 6, min);
	pmfs_thrift_bool(statistics, 7, greatest->is_exact);
	pmfs_thrift_bool(statistics, 8, least->is_exact);
}

static void add_statistics(
	struct pmfs_thrift *meta, const struct pmfs_chunk_facts *facts, enum pmfs_storage storage)
{
	uint8_t room[8];
	if (facts->n_nulls == PMFS_UNKNOWN && !facts->has_range)
		return;
	struct pmfs_thrift statistics = pmfs_thrift_struct(meta, 12);
	if (facts->n_nulls != PMFS_UNKNOWN)
		pmfs_thrift_i64(&statistics, 3, facts->n_nulls);
	if (storage == PMFS_STORE_TEXT) {
		add_text_bounds(&statistics, &facts->least, &facts->greatest);
	} else if (facts->has_range) {
		pmfs_thrift_binary(&statistics, 5, le64(facts->max, room));
		pmfs_thrift_binary(&statistics, 6, le64(facts->min, room));
	}
	pmfs_thrift_end(&statistics);
}

static void add_chunk(struct pm_text *out, const struct pmfs_chunk_facts *facts,
	enum pmfs_storage storage, const char *name, uint64_t offset)
{
	struct pmfs_thrift chunk = {.out = out};
	pmfs_thrift_i64(&chunk, 2, (int64_t)offset);
	struct pmfs_thrift meta = pmfs_thrift_struct(&chunk, 3);
	pmfs_thrift_i32(&meta, 1, type_of(storage));
	pmfs_thrift_list(&meta, 2, PMFS_THRIFT_I32, facts->dictionary ? 3 : 2);
	pmfs_thrift_item_i32(out, PLAIN);
	pmfs_thrift_item_i32(out, RLE);
	if (facts->dictionary)
		pmfs_thrift_item_i32(out, RLE_DICTIONARY);
	pmfs_thrift_list(&meta, 3, PMFS_THRIFT_BINARY, 1);
	pmfs_thrift_item_binary(out, pm_bytes_of(name));
	pmfs_thrift_i32(&meta, 4, UNCOMPRESSED);
	pmfs_thrift_i64(&meta, 5, facts->n);
	pmfs_thrift_i64(&meta, 6, facts->bytes);
	pmfs_thrift_i64(&meta, 7, facts->bytes);
	pmfs_thrift_i64(&meta, 9, (int64_t)(offset + facts->dictionary));
	if (facts->dictionary)
		pmfs_thrift_i64(&meta, 11, (int64_t)offset);
	add_statistics(&meta, facts, storage);
	pmfs_thrift_end(&meta);
	pmfs_thrift_end(&chunk);
}

static void add_group(struct pm_text *out, const struct pmfs_parquet *p, size_t group_index,
	const struct pm_table *table, const struct pmfs_range *ranges)
{
	const struct pmfs_rowgroup *group = &p->groups[group_index];
	struct pmfs_thrift g = {.out = out};
	uint64_t offset = group->offset;
	pmfs_thrift_list(&g, 1, PMFS_THRIFT_STRUCT, p->n_columns);
	for (uint32_t i = 0; i < p->n_columns; i++) {
		struct pmfs_chunk_facts facts = group->columns[i];
		if (ranges && ranges[i].is_known)
			pmfs_chunk_range(p->storage[i], ranges[i].min, ranges[i].max, &facts);
		if (p->layout)
			offset = pmfs_layout_offset(p, group_index, i);
		add_chunk(out, &facts, p->storage[i], pm_table_column(table, i), offset);
		offset += facts.bytes;
	}
	pmfs_thrift_i64(&g, 2, (int64_t)group->bytes);
	pmfs_thrift_i64(&g, 3, group->rows);
	pmfs_thrift_i64(&g, 5, (int64_t)group->offset);
	pmfs_thrift_i64(&g, 6, (int64_t)group->bytes);
	pmfs_thrift_end(&g);
}

/* ---- other metadata ---- */

/* A JSON object of the columns that have a unit. */
static void units_of(struct pm_text *out, const struct pm_table *table)
{
	const char *before = "{";
	for (uint32_t i = 0; i < table->n_columns; i++) {
		const char *name = pm_table_column(table, i);
		struct pm_bytes unit = pm_column_unit(name);
		if (unit.len == 0)
			continue;
		pm_text_str(out, before);
		pm_text_json(out, pm_bytes_of(name));
		pm_text_str(out, ": ");
		pm_text_json(out, unit);
		before = ", ";
	}
	pm_text_str(out, before[0] == '{' ? "{}" : "}");
}

static void add_pair(struct pm_text *out, const char *key, struct pm_bytes value)
{
	struct pmfs_thrift pair = {.out = out};
	pmfs_thrift_str(&pair, 1, key);
	pmfs_thrift_binary(&pair, 2, value);
	pmfs_thrift_end(&pair);
}

static void add_pairs(struct pmfs_thrift *file, const struct pm_doc *doc)
{
	struct pm_text units = {.arena = file->out->arena};
	units_of(&units, &doc->table);
	pmfs_thrift_list(file, 5, PMFS_THRIFT_STRUCT, doc->of ? 3 : 1);
	add_pair(file->out, "units", pm_text_view(&units));
	pm_text_end(&units, file->out);
	if (!doc->of)
		return;
	add_pair(file->out, "format", pm_bytes_of(doc->of->format ? doc->of->format : ""));
	add_pair(file->out, "source", pm_bytes_of(doc->of->source ? doc->of->source : ""));
}

/* Values are compared by type: readers ignore statistics without this. */
static void add_orders(struct pmfs_thrift *file, uint32_t n)
{
	pmfs_thrift_list(file, 7, PMFS_THRIFT_STRUCT, n);
	for (uint32_t i = 0; i < n; i++) {
		struct pmfs_thrift order = {.out = file->out};
		pmfs_thrift_empty(&order, 1);
		pmfs_thrift_end(&order);
	}
}

static void add_metadata(struct pm_text *out, const struct pmfs_parquet *p,
	const struct pm_doc *doc, const struct pmfs_range *ranges)
{
	struct pmfs_thrift file = {.out = out};
	pmfs_thrift_i32(&file, 1, 1);
	add_schema(&file, p, doc);
	pmfs_thrift_i64(&file, 3, (int64_t)p->n_rows);
	pmfs_thrift_list(&file, 4, PMFS_THRIFT_STRUCT, (uint32_t)p->n);
	for (size_t i = 0; i < p->n; i++)
		add_group(out, p, i, &doc->table, ranges ? ranges + i * p->n_columns : NULL);
	add_pairs(&file, doc);
	pmfs_thrift_str(&file, 6, "profmount");
	add_orders(&file, p->n_columns);
	pmfs_thrift_end(&file);
}

void pmfs_footer_add(const struct pmfs_parquet *p, const struct pm_doc *doc,
	const struct pmfs_range *ranges, struct pm_text *out)
{
	uint8_t length[8];
	size_t before = out->len;
	add_metadata(out, p, doc, ranges);
	pm_text_add(out, le64(out->len - before, length).p, 4);
	pm_text_str(out, magic);
}

void pmfs_parquet_end(
	struct pm_arena *a, struct pmfs_parquet *p, const struct pm_doc *doc, struct pm_error *err)
{
	uint64_t at = PMFS_PARQUET_BEGIN;
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct pmfs_range *widest = NULL; /* ranges with which a footer has its maximum size */
	if (p->layout) {
		widest = pm_arena_array(scratch, p->n * p->n_columns, sizeof(*widest));
		for (size_t i = 0; i < p->n * p->n_columns; i++)
			widest[i].is_known = p->storage[i % p->n_columns] != PMFS_STORE_TEXT;
	}
	for (size_t i = 0; i < p->n; i++) {
		p->groups[i].offset = p->layout ? pmfs_layout_offset(p, i, 0) : at;
		at += p->groups[i].bytes;
	}
	p->footer_at = at;
	struct pm_text footer = {.arena = p->layout ? scratch : a, .limit = PM_LIMIT_TEXT};
	pmfs_footer_add(p, doc, widest, &footer);
	if (footer.full)
		pm_build_fail(a,
			pm_error_set(err, -EFBIG, NULL, PM_NO_OFFSET, "has too many row groups"));
	p->size = at + footer.len;
	if (!p->layout)
		p->footer = pm_text_view(&footer);
	pm_arena_done(scratch);
}
