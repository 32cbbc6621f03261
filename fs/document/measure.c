/*
 * Measuring cuts the positions of a table into segments. Each segment is measured separately, with
 * marks relative to its first byte; finally the segments are concatenated. A table whose positions
 * are not dense is a single segment.
 */
#include "fs/document/measure.h"

#include <stdlib.h>

#include "formats/common/crew.h"
#include "formats/common/list.h"
#include "formats/common/work.h"
#include "fs/document/failure.h"

enum {
	SEGMENT = 1 << 16,            /* positions; takes much longer than starting a cursor */
	BYTES_PER_QUESTION = 1 << 20, /* rows may be long */
};

struct segment {
	uint64_t from, to; /* positions; to = UINT64_MAX for an open end */
	uint64_t bytes;
	struct pmfs_mark *marks;
	size_t n_marks, room;
	struct pmfs_failure failure;
};

struct job {
	const struct pm_table *table;
	enum pm_form form;
	struct segment *segments;
	size_t n;
	bool stop; /* atomic: one failed, so the others are not needed */
};

static int mark_add(struct segment *s, struct pmfs_mark mark)
{
	if (pm_list_room(&s->marks, s->n_marks, &s->room, sizeof(*s->marks)) < 0)
		return pm_error_plain(&s->failure.error, -ENOMEM);
	s->marks[s->n_marks++] = mark;
	return 0;
}

static int segment_rows(
	const struct job *job, struct segment *s, struct pm_rows *rows, struct pm_cell *cells)
{
	uint64_t asked = 0;
	for (uint64_t n = 0;; n++) {
		bool marks = n % PMFS_ROWS_PER_MARK == 0;
		if (marks || s->bytes - asked > BYTES_PER_QUESTION) {
			if (__atomic_load_n(&job->stop, __ATOMIC_RELAXED) || pm_work_cancelled())
				return -ENOMEM;
			asked = s->bytes;
		}
		int r = pm_rows_next(rows, cells, &s->failure.error);
		if (r <= 0 || rows->row >= s->to)
			return r < 0 ? r : 0;
		struct pmfs_mark mark = {.offset = s->bytes, .at = rows->row};
		if (marks && mark_add(s, mark) < 0)
			return -ENOMEM;
		s->bytes += pm_row_length(job->form, cells, job->table->n_columns);
	}
}

/* The same with the table's own measure function. */
static int segment_batches(const struct job *job, struct segment *s, struct pm_rows *rows)
{
	for (;;) {
		if (__atomic_load_n(&job->stop, __ATOMIC_RELAXED) || pm_work_cancelled())
			return -ENOMEM;
		struct pmfs_mark mark = {.offset = s->bytes, .at = rows->at};
		int64_t n = job->table->type->measure(
			rows, job->form, s->to, PMFS_ROWS_PER_MARK, &s->bytes, &s->failure.error);
		if (n <= 0)
			return (int)n;
		if (mark_add(s, mark) < 0)
			return -ENOMEM;
	}
}

static int segment_measure(void *context, size_t i)
{
	struct job *job = context;
	struct segment *s = &job->segments[i];
	struct pm_rows rows;
	struct pm_cell *cells = calloc(job->table->n_columns + 1, sizeof(*cells));
	s->failure.error.offset = PM_NO_OFFSET;
	s->failure.result = cells ? pm_rows_start(&rows, job->table, s->from, &s->failure.error)
				  : pm_error_plain(&s->failure.error, -ENOMEM);
	if (s->failure.result >= 0)
		s->failure.result = job->table->type->measure ? segment_batches(job, s, &rows)
							      : segment_rows(job, s, &rows, cells);
	if (cells)
		pm_rows_done(&rows);
	free(cells);
	if (s->failure.result < 0)
		__atomic_store_n(&job->stop, true, __ATOMIC_RELAXED);
	return s->failure.result;
}

static int put_in_a_row(struct pmfs_body *body, const struct job *job, struct pm_error *err)
{
	for (size_t i = 0; i < job->n; i++) {
		const struct segment *s = &job->segments[i];
		for (size_t k = 0; k < s->n_marks; k++) {
			if (pm_list_room(&body->marks, body->n_marks, &body->room,
				    sizeof(*body->marks)) < 0)
				return pm_error_plain(err, -ENOMEM);
			body->marks[body->n_marks++] = (struct pmfs_mark){
				.offset = body->size + s->marks[k].offset, .at = s->marks[k].at};
		}
		body->size += s->bytes;
	}
	return 0;
}

static int cut(struct job *job, uint64_t at, struct pm_error *err)
{
	const struct pm_table *table = job->table;
	uint64_t end = table->end;
	int r = table->type->end ? table->type->end(table, &end, err) : 0;
	if (r < 0)
		return r;
	bool whole = !table->type->dense || table->piece || end <= at || end - at < 2 * SEGMENT;
	job->n = whole ? 1 : (size_t)((end - at + SEGMENT - 1) / SEGMENT);
	job->segments = calloc(job->n, sizeof(*job->segments));
	if (!job->segments)
		return pm_error_plain(err, -ENOMEM);
	for (size_t i = 0; i < job->n; i++) {
		job->segments[i].from = at + i * SEGMENT;
		job->segments[i].to = i + 1 < job->n ? at + (i + 1) * SEGMENT : UINT64_MAX;
	}
	return 0;
}

int pmfs_measure(struct pmfs_body *body, const struct pm_table *table, enum pm_form form,
	uint64_t at, struct pm_error *err)
{
	struct job job = {.table = table, .form = form};
	int r = cut(&job, at, err);
	if (r < 0)
		return r;
	r = pmfs_failure_return(&job.segments->failure, job.n, sizeof(*job.segments),
		pm_crew_each(job.n, segment_measure, &job), err);
	if (r == 0)
		r = put_in_a_row(body, &job, err);
	for (size_t i = 0; i < job.n; i++)
		free(job.segments[i].marks);
	free(job.segments);
	return r;
}
