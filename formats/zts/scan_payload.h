/* Reads one payload for scan.c, and adds its records to the results of a piece of chunks. */
#ifndef PROFMOUNT_FORMATS_ZTS_SCAN_PAYLOAD_H
#define PROFMOUNT_FORMATS_ZTS_SCAN_PAYLOAD_H

#include "formats/zts/early.h"
#include "formats/zts/scan.h"

/* The results of one piece of chunks. */
struct zts_scan_piece {
	struct zts_found *found;
	size_t n, room;
	struct zts_formless *formless;
	size_t n_formless, formless_room;
	struct zts_met *attrs; /* of `found`, each one's attributes adjacent */
	size_t n_attrs, attr_room;
	struct pm_arena texts;
};

struct zts_scan_source {
	const struct zts_store *store;
	const struct zts_early *early;
	struct zts_summing *summing; /* NULL: nothing is added up */
};

/*
 * Adds the records of a chunk's payload, and, if it is malformed, the reason. 0 or -ENOMEM. Only
 * uses the names of attributes, not the index.
 */
int zts_scan_payload(struct zts_scan_piece *piece, const struct zts_scan_source *from,
	uint32_t chunk, struct pm_bytes payload);

#endif
