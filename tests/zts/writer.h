/* Writes trace stores for tests: payloads, chunk files, text indexes, metadata indexes. */
#ifndef PROFMOUNT_TESTS_ZTS_WRITER_H
#define PROFMOUNT_TESTS_ZTS_WRITER_H

#include "formats/common/text.h"
#include "profmount/bytes.h"

/* ---- CBOR ---- */

void zts_put_head(struct pm_text *out, unsigned major, uint64_t value);
void zts_put_break(struct pm_text *out);

/* A number of a call: tag 0x0e, a map of one pair. */
void zts_put_info(struct pm_text *out, uint64_t key, uint64_t value);
void zts_put_begin(struct pm_text *out, uint64_t tstart, uint64_t method);
void zts_put_end(struct pm_text *out, uint64_t tstop, uint64_t calls);
/* An attribute whose key and value are texts of the index. */
void zts_put_attr(struct pm_text *out, uint64_t key, uint64_t value);
void zts_put_exception(struct pm_text *out, uint64_t id);

/* ---- traces.dat; flags as stored: 0 none, 1 deflate, 2 LZ4, 0x10 checksums ---- */

void zts_put_file_header(struct pm_text *out, uint32_t flags);
/* Returns the chunk's offset. */
size_t zts_put_chunk(struct pm_text *out, uint32_t flags, struct pm_bytes payload);

/* ---- text index ---- */

struct zts_entry {
	uint64_t id;
	const char *text; /* as stored: with marks, ids inside as digits */
};

void zts_put_wal(struct pm_text *out, const struct zts_entry *entries, size_t n);
void zts_put_fm(struct pm_text *out, const struct zts_entry *entries, size_t n);

/* ---- metadata ---- */

struct zts_record {
	uint64_t trace_id[2], span_id, parent_id;
	uint64_t flags, timestamp_ns, duration_ns, data_offset, start_offset;
	uint64_t calls, errors, records, tstart, tstop;
	uint64_t method_key, method;
};

void zts_put_meta(struct pm_text *out, const struct zts_record *record);
void zts_put_qmeta(struct pm_text *out, const struct zts_record *records, size_t n);

/* ---- a whole store ---- */

enum zts_index { ZTS_INDEX_NONE, ZTS_INDEX_OLD, ZTS_INDEX_NEW };

struct zts_sample {
	struct pm_text traces, texts, meta;
	size_t offsets[5]; /* of its chunks, see zts_sample_make */
	bool fm;
	enum zts_index index;
};

/*
 * Five chunks: a trace with two calls, an attribute and an exception with a cause; two parts of one
 * chunked trace; an empty one; a trace in which a span stands.
 */
void zts_sample_make(struct zts_sample *s, uint32_t flags, bool fm, enum zts_index index);

/* Writes it into the folder `path`, which is made. False where that fails. */
bool zts_sample_write(const struct zts_sample *s, const char *path);
void zts_sample_done(struct zts_sample *s);

/* The names of a sample's files, NULL where there is none. */
const char *zts_sample_text_name(const struct zts_sample *s);
const char *zts_sample_meta_name(const struct zts_sample *s);

bool zts_write_file(const char *folder, const char *name, struct pm_bytes b);
void zts_remove_folder(const char *path);

#endif
