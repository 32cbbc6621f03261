/*
 * Events of a kind in time order, without keeping them (docs/decisions/0060): blocks of the stream
 * are sorted one by one as they are read, and only late events, i.e. those after a block with
 * younger events, are listed.
 */
#ifndef PROFMOUNT_HTDUMP_ORDER_H
#define PROFMOUNT_HTDUMP_ORDER_H

#include "formats/htdump/stream.h"

/* Events from one mark to the next. */
#define HTD_MARK 1024

/* State that a cursor needs to continue with an event. */
struct htd_mark {
	size_t run, late;
	htd_place newest; /* of the blocks before; 0 = none */
	uint32_t at;      /* in the block's own order */
};

struct htd_order {
	const struct htd_stream *s;
	struct htd_filter filter;
	bool by_id; /* order of equal times: by id, then by position; if false, by position only */
	htd_place *late;
	size_t n_late;
	bool borrowed;          /* `late` is borrowed */
	struct htd_mark *marks; /* of events 0, HTD_MARK …: made by htd_order_mark */
	size_t n_marks, mark_room;
};

/*
 * Finds the late events; `o` has stream, filter and by_id. One pass over its runs. 0, -EIO if the
 * file has changed, or -ENOMEM.
 */
int htd_order_build(struct htd_order *o);

/*
 * The same if the scan recorded them: sorts `late`, and borrows it. -EIO if the file has changed.
 */
int htd_order_borrow(struct htd_order *o, struct htd_late *late);

void htd_order_done(struct htd_order *o);

/* An event in time order. */
struct htd_sorted_event {
	struct htd_key key;
	uint64_t seq;
	struct htd_event event;
	uint32_t next; /* in its block */
};

struct htd_sorted {
	const struct htd_order *o;
	size_t run, late;               /* the next of each */
	struct htd_key newest;          /* of the blocks so far */
	size_t first;                   /* run of the current block */
	htd_place before;               /* newest before it */
	struct htd_sorted_event *items; /* the block: HTD_CHUNK of them, linked in order */
	uint32_t n, at; /* number of events in the block, and of those returned so far */
	uint32_t next;  /* in the block, or HTD_NONE */
	bool has_head;
	struct htd_sorted_event head, given; /* the next late event, and the last one returned */
};

/* Starts at the first event, or at a mark (NULL: the first). 0 or a negative errno. */
int htd_sorted_start(struct htd_sorted *c, const struct htd_order *o, const struct htd_mark *mark);

/*
 * The next event, valid until the next call: 1, 0 at the end, -EIO if the file has changed, -ENOMEM
 * if the work is cancelled.
 */
int htd_sorted_next(struct htd_sorted *c, const struct htd_sorted_event **ret);

void htd_sorted_done(struct htd_sorted *c);

/* Records the cursor's position; call it before every HTD_MARKth event. 0 or -ENOMEM. */
int htd_order_mark(struct htd_order *o, const struct htd_sorted *c);

#endif
