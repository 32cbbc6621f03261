/*
 * The body of a document as the cache keeps it: its exact size, and either all of its text (small
 * ones, and those that are rendered whole) or, for a table, marks from which any window of its
 * text can be rendered.
 */
#ifndef PROFMOUNT_FS_DOCUMENT_BODY_H
#define PROFMOUNT_FS_DOCUMENT_BODY_H

#include <pthread.h>

#include "formats/common/row.h"
#include "fs/document/cache.h"
#include "profmount/document.h"

/* Who waits for an answer; long work asks now and then whether they still do. */
struct pmfs_request {
	bool (*cancelled)(void *context); /* NULL: never */
	void *context;
};

/* The row at position `at` of the table begins at byte `offset` of its text. */
struct pmfs_mark {
	uint64_t offset;
	uint64_t at;
};

enum { PMFS_N_RESUME = 4 };

struct pmfs_body {
	struct pmfs_cached cached;
	uint64_t size;
	bool whole;
	struct pm_text text;     /* whole: everything; else the header row */
	struct pmfs_mark *marks; /* every PMFS_ROWS_PER_MARK rows, the first row first */
	size_t n_marks, room;
	/* Where earlier windows ended: sequential readers go on without rendering rows twice. */
	pthread_mutex_t lock;
	struct pmfs_mark resume[PMFS_N_RESUME];
	unsigned next_resume;
};

/* Renders or measures a document of kind TEXT, LINK, CSV or TSV. -EINTR where cancelled. */
int pmfs_body_build(const struct pm_doc *doc, const struct pmfs_request *request,
	struct pmfs_body **ret, struct pm_error *err);

/*
 * Appends the text [off, off + len), less at the end, of a body that is not whole. `doc` is the
 * document that it was built from. Costs the window and at most PMFS_ROWS_PER_MARK rows more.
 */
int pmfs_body_window(struct pmfs_body *body, const struct pm_doc *doc, uint64_t off, size_t len,
	const struct pmfs_request *request, struct pm_text *out, struct pm_error *err);

/* True, with -EINTR and a message in `err`, where nobody waits any more. */
bool pmfs_request_cancelled(const struct pmfs_request *request, struct pm_error *err);

#endif
