/*
 * The metadata index of a store: a record for each part of each trace or span, in either
 * generation of the store.
 */
#ifndef PROFMOUNT_FORMATS_ZTS_META_H
#define PROFMOUNT_FORMATS_ZTS_META_H

#include "formats/common/arena.h"

/* Negative, 0 or positive, for sorting. */
static inline int zts_order(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

enum zts_flag {
	ZTS_FLAG_ERROR = 0x08,
	ZTS_FLAG_FIRST = 0x20, /* of the parts of a chunked trace */
	ZTS_FLAG_LAST = 0x40,
};

/* Origin of a first-generation trace: numbers assigned by the collector. */
enum zts_origin {
	ZTS_APPLICATION,
	ZTS_ENVIRONMENT,
	ZTS_TRACE_TYPE,
	ZTS_HOST,
	ZTS_N_ORIGINS,
};

/* A record of the index, or of a scan of the chunks (by_scan). */
struct zts_span {
	uint64_t trace_id[2];
	uint64_t span_id, parent_id;        /* 0: none */
	uint64_t timestamp_ns, duration_ns; /* PM_NO_TIME: not known */
	uint64_t data_offset, start_offset;
	uint64_t calls, errors, records;
	uint64_t tstart, tstop;         /* ticks; PM_NO_TIME: not known */
	uint64_t method;                /* id of its description; 0: not known */
	uint16_t origin[ZTS_N_ORIGINS]; /* first generation */
	uint32_t store;
	uint32_t flags;
	bool old; /* first generation: times are whole seconds */
	bool by_scan;
	bool alone; /* no other record is of the same trace */
};

struct zts_spans {
	struct zts_span *items;
	size_t n, room;
	struct pm_arena *arena; /* has the items; NULL: the caller frees them */
};

/*
 * Carves the records out of a file of a MapDB store (meta.db.p, meta.db.t) without knowing how it
 * is organised. `method_key` is the id of the text `call.method` (0: there is none). Unused pages
 * produce duplicate records: see zts_spans_unite. O(file); *ret_whole is false if records with many
 * attributes share their bytes, so that not all were read.
 */
int zts_meta_carve(struct zts_spans *spans, struct pm_bytes file, uint32_t store,
	uint64_t method_key, bool *ret_whole);

/* Reads qmeta.idx. *ret_whole is false if the file is truncated or invalid. */
int zts_meta_read_old(
	struct zts_spans *spans, struct pm_bytes file, uint32_t store, bool *ret_whole);

/* Sorts by position and removes duplicates. 0 or -ENOMEM. */
int zts_spans_unite(struct zts_spans *spans);

#endif
