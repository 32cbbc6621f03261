/* Reads traces one after another, with the contexts of their calls. */
#ifndef PROFMOUNT_FORMATS_ZTS_READER_H
#define PROFMOUNT_FORMATS_ZTS_READER_H

#include "formats/zts/parts.h"

struct zts_reader {
	const struct zts_opened *z;
	struct zts_samples *s;
	struct zts_tree tree;      /* the current trace */
	struct zts_finding *found; /* of its calls: their contexts */
	size_t room;
	const struct zts_part *held; /* the part whose payload this is */
	const struct zts_payload *payload;
};

/* Reads nothing. Builds what samples need; zts_reader_done in any case. */
int zts_reader_init(struct zts_reader *r, const struct zts_opened *z, struct pm_error *err);
void zts_reader_done(struct zts_reader *r);

/* Reads the trace at that place of by_store: `tree` and `found` until the next one is read. */
int zts_reader_read(struct zts_reader *r, uint32_t place, struct pm_error *err);

/*
 * The trace with that number, without `found`: 1, 0 if no call of it counts, as in one that is lost
 * or part of another, or a negative errno.
 */
int zts_reader_trace(struct zts_reader *r, uint32_t trace, struct pm_error *err);

/* A call of the current trace as a sample, without context. */
struct pm_sample zts_reader_sample(
	const struct zts_trace *t, const struct zts_tree *tree, uint32_t call);

#endif
