/*
 * Traces: samples are read in batches, and value_of() says what a column has of a sample. Rows,
 * their lengths, columns and bounds are made of that. A row's position is the sample's index.
 */
#include <stdlib.h>
#include <string.h>

#include "formats/common/number.h"
#include "formats/common/row.h"
#include "formats/common/search.h"
#include "formats/common/work.h"
#include "fs/views/model/catalog.h"
#include "fs/views/model/categories.h"
#include "fs/views/model/identity.h"
#include "fs/views/model/tables.h"
#include "fs/views/sums/threads.h"

enum { BATCH = 512, BETWEEN_QUESTIONS = 4096 /* contexts */ };

enum { TRACE_COLUMNS = 10 }; /* of a trace, at most */

enum column {
	TIME, /* these three come first in any trace without weights */
	DURATION,
	TIMESTAMP,
	PERIOD,
	SELF,
	SEQ,
	EVENT,
	/* Those that depend on the context alone. */
	CONTEXT,
	DEPTH,
	CATEGORY,
	FUNCTION,
	NAME,
};

/* The columns of a trace, in their order. */
struct shape {
	uint32_t n;
	enum column columns[TRACE_COLUMNS];
	const char *names[TRACE_COLUMNS + 1]; /* behind thread_id */
};

static const struct shape of_samples = {8,
	{TIME, DURATION, TIMESTAMP, CONTEXT, DEPTH, CATEGORY, FUNCTION, NAME},
	{"thread_id", "time_ns", "duration_ns", "timestamp_ns", "context_id", "depth", "category",
		"function", "name"}};
static const struct shape of_calls = {10,
	{TIME, DURATION, TIMESTAMP, CONTEXT, DEPTH, SELF, SEQ, CATEGORY, FUNCTION, NAME},
	{"thread_id", "time_ns", "duration_ns", "timestamp_ns", "context_id", "depth", "self_ns",
		"seq", "category", "function", "name"}};
static const struct shape of_weighed = {10,
	{TIME, DURATION, PERIOD, TIMESTAMP, CONTEXT, DEPTH, EVENT, CATEGORY, FUNCTION, NAME},
	{"thread_id", "time_ns", "duration_ns", "period", "timestamp_ns", "context_id", "depth",
		"event", "category", "function", "name"}};

static const struct shape *shape_of(struct pmfs_model *m)
{
	return pmfs_model_profile(m)->traces_are_calls ? &of_calls : &of_samples;
}

struct reading {
	const struct pm_profile *profile;
	const struct shape *shape;
	const struct pmfs_identity *identity;
	const struct pm_tree *tree;
	const uint8_t *categories;
	uint64_t origin;
	bool places_wanted;
	const struct pm_tap *tap; /* while it is measured, or NULL */
	void *piece;              /* of the tap */
	uint32_t n, i;            /* samples in the batch; of them done */
	uint32_t places[BATCH];   /* where the tree has their contexts, or PM_NONE */
	struct pm_sample batch[BATCH];
};

static int get_contexts(struct reading *b, struct pmfs_model *m, struct pm_error *err)
{
	int r = pmfs_identity(m, &b->identity, err);
	b->tree = r < 0 ? NULL : b->identity->tree;
	return r < 0 ? r : pmfs_categories(m, &b->categories, err);
}

/* What all traces need: 0, or a negative errno. */
static int trace_prepare(struct pmfs_model *m, struct pm_error *err)
{
	struct reading unused;
	uint64_t origin;
	int r = get_contexts(&unused, m, err);
	return r < 0 ? r : pmfs_time_origin(m, &origin, err);
}

/* The caller frees `*ret`, also after a failure. */
static int reading_new(struct pmfs_model *m, const struct shape *shape, bool places_wanted,
	struct reading **ret, struct pm_error *err)
{
	struct reading *b = *ret = malloc(sizeof(*b));
	if (!b)
		return pmfs_no_memory(err);
	b->profile = pmfs_model_profile(m);
	b->shape = shape;
	b->places_wanted = places_wanted;
	b->tap = NULL;
	b->n = b->i = 0;
	int r = get_contexts(b, m, err);
	return r < 0 ? r : pmfs_time_origin(m, &b->origin, err);
}

/* Reads the next batch, of `most` samples: 1, 0 at the end, or a negative errno. */
static int fetch(
	struct reading *b, uint32_t thread, uint64_t at, uint64_t most, struct pm_error *err)
{
	size_t room = most < BATCH ? (size_t)most : BATCH;
	int64_t n = pm_work_cancelled()
		? pmfs_no_memory(err)
		: b->profile->ops->samples(b->profile, thread, at, b->batch, room, err);
	b->i = 0;
	b->n = n > 0 ? (uint32_t)n : 0;
	if (b->tap && n > 0)
		b->tap->take(b->piece, b->batch, (size_t)n);
	/* Runs of the same context are common. */
	uint64_t number = 0;
	uint32_t place = PM_NONE;
	for (uint32_t i = 0; b->places_wanted && i < b->n; i++) {
		if (b->batch[i].context != number) {
			number = b->batch[i].context;
			place = pm_tree_find_sample(b->tree, number);
		}
		b->places[i] = place;
	}
	return n < 0 ? (int)n : n > 0;
}

/* ---- the cells ---- */

/* An integer, or the number of a text. */
struct value {
	enum { NOTHING, UNSIGNED, SIGNED } kind;
	uint64_t bits;
};

static inline struct value known(bool is_known, uint64_t bits)
{
	return (struct value){is_known ? UNSIGNED : NOTHING, bits};
}

static inline struct value of_context(const struct reading *b, const uint32_t *array, uint32_t i)
{
	uint32_t place = b->places[i];
	return place == PM_NONE ? known(false, 0) : known(true, array[place]);
}

/*
 * What a column has of a sample: context 0 has only an id and a category, an unknown context has
 * nothing.
 */
static inline __attribute__((always_inline)) struct value value_of(
	const struct reading *b, enum column column, uint32_t i)
{
	const struct pm_sample *s = &b->batch[i];
	struct value v;
	switch (column) {
	case TIME:
		v = known(pmfs_is_time(s->time_ns, b->origin), s->time_ns - b->origin);
		if (v.kind && s->time_ns < b->origin)
			v.kind = SIGNED;
		return v;
	case DURATION:
		return known(
			s->duration_ns != PM_NO_TIME && b->shape != &of_weighed, s->duration_ns);
	case TIMESTAMP: return known(true, s->time_ns);
	case PERIOD:
		return (struct value){
			s->weight == PM_NO_WEIGHT ? NOTHING : SIGNED, (uint64_t)s->weight};
	case SELF: return (struct value){s->self_ns == PM_NO_SELF ? NOTHING : SIGNED, s->self_ns};
	case SEQ: return known(true, s->seq);
	case EVENT: return known(true, s->event);
	case CONTEXT: return known(b->places[i] != PM_NONE || s->context == 0, s->context);
	case DEPTH: return of_context(b, b->tree->depth, i);
	case CATEGORY:
		return known(true, pmfs_category_of(b->categories, b->places[i], s->context));
	case FUNCTION:
		v = of_context(b, b->identity->of, i);
		v.bits &= ~(uint64_t)PMFS_OF_FLAGS;
		return v;
	case NAME: return of_context(b, b->tree->frame, i);
	}
	return known(false, 0);
}

/* The name of a function; empty if it stands for unknown code. */
static struct pm_bytes function_name(const struct reading *b, uint64_t number)
{
	const struct pmfs_function *function = &b->identity->functions[number];
	bool is_known = function->module != 0 || function->file != 0 ||
		!pm_bytes_equal(function->name, pm_bytes_of("(unknown)"));
	return is_known ? function->name : (struct pm_bytes){NULL, 0};
}

static inline __attribute__((always_inline)) void set_cell(const struct reading *b,
	enum column column, uint32_t i, struct pm_cell *cell, struct pm_text *scratch)
{
	struct value v = value_of(b, column, i);
	if (v.kind == NOTHING)
		pm_set_empty(cell);
	else if (column == CATEGORY)
		pm_set_text(cell, pmfs_category_name((enum pmfs_category)v.bits));
	else if (column == FUNCTION)
		pm_set_lasting(cell, function_name(b, v.bits));
	else if (column == NAME)
		pmfs_set_name(cell, b->tree, &b->tree->frames[v.bits], scratch);
	else if (column == EVENT)
		pm_set_lasting(cell, b->profile->events[v.bits].name);
	else if (v.kind == SIGNED)
		pm_set_i64(cell, (int64_t)v.bits);
	else
		pm_set_u64(cell, v.bits);
}

/* ---- rows ---- */

/* Of a constant shape, this is code without a loop: a tenth of the time of trace.csv. */
static inline void set_row(const struct reading *b, const struct shape *shape,
	struct pm_cell *cells, struct pm_text *scratch)
{
#pragma GCC unroll 10
	for (uint32_t c = 0; c < shape->n; c++)
		set_cell(b, shape->columns[c], b->i, &cells[c], scratch);
}

static int trace_start(struct pm_rows *rows, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(rows->table->self);
	const struct shape *shape = rows->table->b ? &of_weighed : shape_of(m);
	struct reading *b;
	int r = reading_new(m, shape, true, &b, err);
	rows->own = b;
	return r;
}

static int trace_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct reading *b = rows->own;
	if (b->i == b->n) {
		int r = fetch(b, (uint32_t)rows->table->a, rows->at, BATCH, err);
		if (r <= 0)
			return r;
	}
	if (b->shape == &of_samples)
		set_row(b, &of_samples, cells, rows->scratch);
	else
		set_row(b, b->shape, cells, rows->scratch);
	b->i++;
	rows->at++;
	return 1;
}

static void trace_done(struct pm_rows *rows)
{
	struct reading *b = rows->own;
	if (b->tap)
		b->tap->end(b->piece);
	free(b);
}

/* ---- the lengths of rows ---- */

/*
 * A trace has many millions of rows and few contexts: the part of a row's length that depends on
 * its context alone is kept, by form and context; 0: not computed yet. Written by several threads.
 */
struct lengths {
	uint32_t *bytes[PM_TSV + 1];
};

/* Zero pages cost nothing until a context occurs. */
static void lengths_build(struct pm_arena *a, void *owner, void *p, struct pm_error *err)
{
	struct lengths *part = p;
	const struct pm_tree *tree;
	pm_build_check(a, pmfs_model_tree(owner, &tree, err));
	for (unsigned form = 0; form <= PM_TSV; form++)
		part->bytes[form] =
			pm_arena_array(a, (size_t)tree->n_contexts + 1, sizeof(uint32_t));
}

/* With separators; 0 if out of memory. */
static uint64_t length_of_context(
	const struct reading *b, enum pm_form form, uint32_t *lengths, uint32_t i)
{
	uint32_t place = b->places[i];
	uint32_t bytes = place == PM_NONE ? 0 : __atomic_load_n(&lengths[place], __ATOMIC_RELAXED);
	if (bytes)
		return bytes;
	struct pm_text scratch = {.p = NULL};
	struct pm_cell cells[NAME - CONTEXT + 1];
	for (enum column c = CONTEXT; c <= NAME; c++)
		set_cell(b, c, i, &cells[c - CONTEXT], &scratch);
	if (!scratch.failed)
		bytes = (uint32_t)pm_row_length(form, cells, NAME - CONTEXT + 1);
	pm_text_done(&scratch);
	if (place != PM_NONE)
		__atomic_store_n(&lengths[place], bytes, __ATOMIC_RELAXED);
	return bytes;
}

static inline uint64_t length_of(struct value v)
{
	return v.kind == NOTHING   ? 0
		: v.kind == SIGNED ? pm_i64_length((int64_t)v.bits)
				   : pm_u64_length(v.bits);
}

/* Of the next `n` samples of the batch; 0 if out of memory. */
static uint64_t length_of_rows(struct reading *b, enum pm_form form, uint32_t *lengths, uint32_t n)
{
	uint64_t bytes = 0;
	for (uint32_t c = 0; c < b->shape->n; c++) {
		enum column column = b->shape->columns[c];
		for (uint32_t i = b->i; column < CONTEXT && i < b->i + n; i++)
			bytes += length_of(value_of(b, column, i)) + 1;
	}
	for (uint32_t i = b->i; i < b->i + n; i++) {
		uint64_t of = length_of_context(b, form, lengths, i);
		if (of == 0)
			return 0;
		bytes += of;
	}
	b->i += n;
	return bytes;
}

/* Measuring starts with an empty batch, and reads on without gaps. */
static void tap_begin(struct reading *b, const struct pm_rows *rows)
{
	const struct pm_tap *tap = pmfs_model_tap(pmfs_model_of(rows->table->self));
	if (b->tap || b->n > 0 || !tap)
		return;
	b->piece = tap->begin(tap->self, (uint32_t)rows->table->a, rows->at);
	b->tap = b->piece ? tap : NULL;
}

static int64_t trace_measure(struct pm_rows *rows, enum pm_form form, uint64_t to, uint64_t most,
	uint64_t *bytes, struct pm_error *err)
{
	static const struct pm_part_type type = {.size = sizeof(struct lengths),
		.build = lengths_build,
		.what = "the lengths of rows"};
	struct reading *b = rows->own;
	struct lengths *lengths;
	uint64_t n = 0;
	int r = pmfs_model_part(
		pmfs_model_of(rows->table->self), PMFS_PART_TRACE_LENGTHS, &type, &lengths, err);
	if (r < 0)
		return r;
	tap_begin(b, rows);
	while (n < most && rows->at < to) {
		if (b->i == b->n) {
			r = fetch(b, (uint32_t)rows->table->a, rows->at, BATCH, err);
			if (r <= 0)
				return r < 0 ? r : (int64_t)n;
		}
		uint64_t left = most - n < to - rows->at ? most - n : to - rows->at;
		uint32_t now = left < b->n - b->i ? (uint32_t)left : b->n - b->i;
		uint64_t length = length_of_rows(b, form, lengths->bytes[form], now);
		if (length == 0)
			return pmfs_no_memory(err);
		*bytes += length;
		n += now;
		rows->at += now;
	}
	return (int64_t)n;
}

/* ---- texts ---- */

/* Each text is told once: there are far fewer frames and functions than contexts. */
struct telling {
	struct reading of;
	uint32_t column; /* of the category */
	pm_text_fn *each;
	void *context;
	struct pm_text scratch;
	bool *functions, *frames; /* already told */
};

static int context_texts(struct telling *t, uint32_t i)
{
	const struct pm_tree *tree = t->of.tree;
	uint32_t function = pmfs_function_of(t->of.identity, i), frame = tree->frame[i];
	int r = 0;
	if (!t->functions[function])
		r = t->each(t->context, t->column + 1, function, function_name(&t->of, function));
	t->functions[function] = true;
	if (r < 0 || t->frames[frame])
		return r;
	t->frames[frame] = true;
	pm_text_clear(&t->scratch);
	struct pm_bytes name = pmfs_frame_name(tree, &tree->frames[frame], &t->scratch);
	return t->scratch.failed ? -ENOMEM : t->each(t->context, t->column + 2, frame, name);
}

/*
 * pm_table_type.texts: categories, functions and names of all contexts, each once. `before` columns
 * stand before the trace's.
 */
static int texts_of(struct pmfs_model *m, uint32_t before, pm_text_fn *each, void *context,
	struct pm_error *err)
{
	struct telling *t = calloc(1, sizeof(*t));
	int r = t ? get_contexts(&t->of, m, err) : pmfs_no_memory(err);
	if (r < 0) {
		free(t);
		return r;
	}
	const struct pm_tree *tree = t->of.tree;
	t->column = before + shape_of(m)->n - 3;
	t->each = each;
	t->context = context;
	t->functions = calloc(t->of.identity->n + (size_t)1, sizeof(*t->functions));
	t->frames = calloc(tree->n_frames + (size_t)1, sizeof(*t->frames));
	r = t->functions && t->frames ? 0 : -ENOMEM;
	for (uint32_t i = 0; r == 0 && i < PMFS_N_CATEGORIES; i++)
		r = each(context, t->column, i, pmfs_category_name((enum pmfs_category)i));
	for (uint32_t i = 0; r == 0 && i < tree->n_contexts; i++)
		r = i % BETWEEN_QUESTIONS == 0 && pm_work_cancelled() ? PM_CANCELLED
								      : context_texts(t, i);
	free(t->functions);
	free(t->frames);
	pm_text_done(&t->scratch);
	free(t);
	return r;
}

/* ---- by column ---- */

/* Advances strips past the first `n` rows. */
static void strips_advance(struct pm_strip *strips, uint32_t n_columns, uint64_t n)
{
	for (uint32_t c = 0; c < n_columns; c++)
		if (strips[c].values)
			strips[c] = (struct pm_strip){strips[c].values + n, strips[c].known + n};
}

/* Whether a strip has the value: as an int64. */
static inline bool fits(struct value v)
{
	return v.kind == SIGNED || (v.kind == UNSIGNED && v.bits <= INT64_MAX);
}

static void fill_strip(const struct reading *b, enum column column, struct pm_strip *s)
{
	for (uint32_t i = 0; i < b->n; i++) {
		struct value v = value_of(b, column, i);
		s->values[i] = (int64_t)v.bits;
		s->known[i] = fits(v);
	}
}

/* pm_table_type.strips of a thread's trace. After an error, the cells of some rows are filled. */
static int strips_of(struct pmfs_model *m, uint32_t thread, uint64_t from, uint64_t to,
	const struct pm_strip *strips, struct pm_error *err)
{
	const struct shape *shape = shape_of(m);
	struct pm_strip rest[TRACE_COLUMNS];
	bool places = false;
	struct reading *b;
	memcpy(rest, strips, shape->n * sizeof(*rest));
	for (uint32_t c = 0; c < shape->n; c++)
		places |= strips[c].values && shape->columns[c] >= CONTEXT;
	int r = reading_new(m, shape, places, &b, err);
	while (r == 0 && from < to) {
		r = fetch(b, thread, from, to - from, err);
		if (r == 0)
			r = pm_error_set(err, -EIO, NULL, PM_NO_OFFSET,
				"a trace ends before its last sample");
		if (r < 0)
			break;
		for (uint32_t c = 0; c < shape->n; c++)
			if (rest[c].values)
				fill_strip(b, shape->columns[c], &rest[c]);
		strips_advance(rest, shape->n, b->n);
		from += b->n;
		r = 0;
	}
	free(b);
	return r;
}

/* Widens bounds, which are empty before the first. */
static void widen(struct pm_cell *least, struct pm_cell *greatest, int64_t value)
{
	if (least->kind == PM_CELL_EMPTY || value < least->i)
		pm_set_i64(least, value);
	if (greatest->kind == PM_CELL_EMPTY || value > greatest->i)
		pm_set_i64(greatest, value);
}

/*
 * Widens the bounds of times by samples [from, to) of a thread's trace; of calls, which have to be
 * decoded, only by the first and the last, and only if they are in order.
 */
static int bounds_of(struct pmfs_model *m, uint32_t thread, uint64_t from, uint64_t to,
	struct pm_cell *least, struct pm_cell *greatest, struct pm_error *err)
{
	const struct pm_profile *p = pmfs_model_profile(m);
	bool calls = p->traces_are_calls;
	struct reading *b;
	if (from >= to || (calls && !p->calls_in_order))
		return 0;
	int r = reading_new(m, shape_of(m), false, &b, err);
	while (r == 0 && from < to &&
		(r = fetch(b, thread, from, calls ? 1 : to - from, err)) > 0) {
		for (enum column c = TIME; c <= TIMESTAMP; c++)
			for (uint32_t i = 0; !(calls && c == DURATION) && i < b->n; i++) {
				struct value v = value_of(b, c, i);
				if (fits(v))
					widen(&least[c], &greatest[c], (int64_t)v.bits);
			}
		from = calls && from < to - 1 ? to - 1 : from + b->n;
		r = 0;
	}
	free(b);
	return r;
}

/* ---- the tables ---- */

static int trace_texts(
	const struct pm_table *table, pm_text_fn *each, void *context, struct pm_error *err)
{
	return texts_of(pmfs_model_of(table->self), 0, each, context, err);
}

static int trace_strips(const struct pm_table *table, uint64_t from, uint64_t to,
	const struct pm_strip *strips, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(table->self);
	return strips_of(m, (uint32_t)table->a, from, to, strips, err);
}

static int trace_bounds(const struct pm_table *table, uint64_t from, uint64_t to,
	struct pm_cell *least, struct pm_cell *greatest, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(table->self);
	return bounds_of(m, (uint32_t)table->a, from, to, least, greatest, err);
}

/* Sets the columns: thread_id and those of traces. */
static void trace_set_columns(struct pmfs_model *m, struct pm_table *ret)
{
	ret->columns = shape_of(m)->names;
	ret->n_columns = shape_of(m)->n + 1;
	ret->decoded = pmfs_model_profile(m)->traces_are_calls;
}

/* The trace of a thread with these columns but the first: without the weights of samples. */
static int trace_table(
	struct pmfs_model *m, uint32_t thread, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.start = trace_start,
		.next = trace_next,
		.done = trace_done,
		.measure = trace_measure,
		.texts = trace_texts,
		.strips = trace_strips,
		.bounds = trace_bounds,
		.dense = true};
	const struct pm_threads *threads;
	int r = pmfs_model_threads(m, &threads, err);
	*ret = (struct pm_table){.type = &type, .self = m, .a = thread};
	if (r < 0)
		return r;
	trace_set_columns(m, ret);
	ret->columns++;
	ret->n_columns--;
	ret->end = threads->threads[thread].n_samples;
	return 0;
}

/* With weights: the names of events are texts that no context has. */
int pmfs_thread_trace_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type weighed = {
		.start = trace_start, .next = trace_next, .done = trace_done, .dense = true};
	int r = trace_table(m, item, ret, err);
	if (r < 0 || !pmfs_model_profile(m)->samples_are_weighed)
		return r;
	ret->type = &weighed;
	ret->b = true;
	ret->columns = of_weighed.names + 1;
	ret->n_columns = of_weighed.n;
	ret->types = "iiiiiitttt";
	return 0;
}

/*
 * ---- profiles.parquet and timeline.parquet ----
 *
 * The profiles and the traces of all threads, one thread after the other, each row with its thread.
 * Made of the tables of the threads. The rows of a thread end where it cannot be read (its own
 * files give errors, and damage.csv has the reason); the other threads follow. Where the size of
 * the file was laid out (fs/document/layout.h), the number of rows is fixed: rows that cannot be
 * read then contain only the thread. What all threads need, such as the tree, must be readable.
 */

/* A position is the place among all samples, or, of profiles, the thread and the place in it. */
enum { PLACE_BITS = 40 };

enum {
	PIECES = 16,   /* of profiles: what one processor takes at a time */
	FEW = 1 << 18, /* fewer rows are not divided */
};

struct all_rows {
	struct pmfs_model *model;
	const struct pm_threads *threads;
	uint64_t *first; /* of samples: before each thread; NULL: of profiles */
	pmfs_table_fn *table_of;
	uint32_t thread;
	bool is_open;
	struct pm_table table; /* of the thread, while it is open */
	struct pm_rows rows;
};

static void thread_close(struct all_rows *a)
{
	if (a->is_open)
		pm_rows_done(&a->rows);
	a->is_open = false;
}

static void all_done(struct pm_rows *rows)
{
	struct all_rows *a = rows->own;
	thread_close(a);
	free(a->first);
	free(a);
}

static int thread_open(struct all_rows *a, uint64_t at, struct pm_error *err)
{
	int r = a->table_of(a->model, a->thread, &a->table, err);
	if (r < 0)
		return r;
	a->is_open = true;
	return pm_rows_start(&a->rows, &a->table, at, err);
}

/* The same at the start; an unreadable thread is then handled by the first row. */
static int thread_try(struct all_rows *a, uint64_t at, struct pm_error *err)
{
	struct pm_error why = {.offset = PM_NO_OFFSET};
	int r = thread_open(a, at, &why);
	if (pmfs_is_unreadable(r)) {
		thread_close(a);
		a->thread++;
	}
	return pmfs_unless_unreadable(r, &why, err);
}

static int all_start(struct pm_rows *rows, pmfs_table_fn *table_of, struct pm_error *err)
{
	struct all_rows *a = calloc(1, sizeof(*a));
	if (!a)
		return pmfs_no_memory(err);
	rows->own = a;
	a->model = pmfs_model_of(rows->table->self);
	a->table_of = table_of;
	return pmfs_model_threads(a->model, &a->threads, err);
}

static int profiles_start(struct pm_rows *rows, struct pm_error *err)
{
	int r = all_start(rows, pmfs_thread_profile_table, err);
	if (r < 0)
		return r;
	struct all_rows *a = rows->own;
	const struct pm_tree *tree;
	const uint8_t *categories;
	if ((r = pmfs_model_tree(a->model, &tree, err)) < 0 ||
		(r = pmfs_categories(a->model, &categories, err)) < 0)
		return r;
	a->thread = (uint32_t)(rows->at >> PLACE_BITS);
	uint64_t at = rows->at & (((uint64_t)1 << PLACE_BITS) - 1);
	return a->thread < a->threads->n ? thread_try(a, at, err) : 0;
}

/* Positions are divided among processors if there may be many rows. */
static int profiles_end(const struct pm_table *table, uint64_t *ret, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(table->self);
	const struct pm_threads *threads;
	const struct pm_tree *tree;
	int r = pmfs_model_threads(m, &threads, err);
	if (r == 0)
		r = pmfs_model_tree(m, &tree, err);
	if (r < 0)
		return r;
	bool few = (uint64_t)threads->n * tree->n_contexts <= FEW;
	*ret = few ? 0 : (uint64_t)threads->n << PLACE_BITS;
	return 0;
}

static int timeline_start(struct pm_rows *rows, struct pm_error *err)
{
	int r = all_start(rows, trace_table, err);
	if (r < 0)
		return r;
	struct all_rows *a = rows->own;
	if ((r = trace_prepare(a->model, err)) < 0)
		return r;
	uint32_t n = a->threads->n;
	a->first = malloc(((size_t)n + 1) * sizeof(*a->first));
	if (!a->first)
		return pmfs_no_memory(err);
	a->first[0] = 0;
	for (uint32_t i = 0; i < n; i++)
		a->first[i + 1] = a->first[i] + a->threads->threads[i].n_samples;
	a->thread = PM_LOWER_BOUND(i, 0, n, a->first[i + 1] <= rows->at);
	return a->thread < n ? thread_try(a, rows->at - a->first[a->thread], err) : 0;
}

static uint64_t position(const struct all_rows *a, uint64_t place)
{
	return a->first ? a->first[a->thread] + place : (uint64_t)a->thread << PLACE_BITS | place;
}

/* The next row of the thread; 0 at its end, which is also where it cannot be read. */
static int thread_next(struct all_rows *a, struct pm_cell *cells, struct pm_error *err)
{
	struct pm_error why = {.offset = PM_NO_OFFSET};
	int r = a->is_open ? 0 : thread_open(a, 0, &why);
	if (r >= 0)
		r = pm_rows_next(&a->rows, cells, &why);
	return pmfs_unless_unreadable(r, &why, err);
}

static int all_next(struct pm_rows *rows, struct pm_cell *cells, struct pm_error *err)
{
	struct all_rows *a = rows->own;
	while (a->thread < a->threads->n) {
		int r = thread_next(a, cells + 1, err);
		if (r < 0)
			return r;
		if (r > 0) {
			pm_set_u64(cells, a->threads->threads[a->thread].id);
			rows->row = position(a, a->rows.row);
			rows->at = position(a, a->rows.at);
			return 1;
		}
		thread_close(a);
		a->thread++;
		rows->at = position(a, 0);
	}
	return 0;
}

int pmfs_profiles_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.start = profiles_start,
		.next = all_next,
		.done = all_done,
		.end = profiles_end,
		.dense = true};
	static const char *const before[] = {"thread_id", "context_id", NULL};
	static const char *const after[] = {"line", "kind", "category", "file", "name", NULL};
	const struct pm_threads *threads;
	(void)item;
	int r = pmfs_model_threads(m, &threads, err);
	if (r == 0)
		r = pmfs_table_with_self(m, &type, before, after, ret, err);
	if (r == 0)
		ret->piece = ((uint64_t)threads->n + PIECES - 1) / PIECES << PLACE_BITS;
	return r;
}

static int timeline_texts(
	const struct pm_table *table, pm_text_fn *each, void *context, struct pm_error *err)
{
	return texts_of(pmfs_model_of(table->self), 1, each, context, err);
}

/* The rows of a thread's trace among rows of all. */
struct part {
	uint64_t from, to;
	uint64_t end; /* of the thread, among those of all; 0 before the first */
};

/* The part of the next thread: false if there is none. */
static bool next_part(const struct pm_thread *thread, uint64_t from, uint64_t to, struct part *part)
{
	uint64_t first = part->end;
	part->end += thread->n_samples;
	part->from = from > first ? from - first : 0;
	part->to = (to < part->end ? to : part->end) - first;
	return part->from < part->to;
}

/* What cannot be read is empty, but for the thread. */
static int add_thread(struct pmfs_model *m, uint32_t thread, uint64_t id, const struct part *part,
	struct pm_strip *strips, uint32_t n_columns, struct pm_error *err)
{
	struct pm_error why = {.offset = PM_NO_OFFSET};
	uint64_t n = part->to - part->from;
	bool wanted = false;
	for (uint32_t c = 0; c < n_columns; c++) {
		if (!strips[c].values)
			continue;
		wanted |= c > 0;
		for (uint64_t i = 0; i < n; i++)
			strips[c].values[i] = c > 0 ? 0 : (int64_t)id;
		memset(strips[c].known, c == 0, n);
	}
	int r = wanted ? strips_of(m, thread, part->from, part->to, strips + 1, &why) : 0;
	strips_advance(strips, n_columns, n);
	return pmfs_unless_unreadable(r, &why, err);
}

static int timeline_strips(const struct pm_table *table, uint64_t from, uint64_t to,
	const struct pm_strip *strips, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(table->self);
	struct pm_strip rest[1 + TRACE_COLUMNS];
	const struct pm_threads *threads;
	struct part part = {.end = 0};
	int r = pmfs_model_threads(m, &threads, err);
	memcpy(rest, strips, table->n_columns * sizeof(*rest));
	for (uint32_t i = 0; r == 0 && i < threads->n && part.end < to; i++)
		if (next_part(&threads->threads[i], from, to, &part))
			r = add_thread(
				m, i, threads->threads[i].id, &part, rest, table->n_columns, err);
	return r;
}

static int timeline_bounds(const struct pm_table *table, uint64_t from, uint64_t to,
	struct pm_cell *least, struct pm_cell *greatest, struct pm_error *err)
{
	struct pmfs_model *m = pmfs_model_of(table->self);
	const struct pm_threads *threads;
	struct part part = {.end = 0};
	int r = pmfs_model_threads(m, &threads, err);
	for (uint32_t i = 0; r == 0 && i < threads->n && part.end < to; i++) {
		struct pm_error why = {.offset = PM_NO_OFFSET};
		if (!next_part(&threads->threads[i], from, to, &part))
			continue;
		widen(least, greatest, (int64_t)threads->threads[i].id);
		r = bounds_of(m, i, part.from, part.to, least + 1, greatest + 1, &why);
		r = pmfs_unless_unreadable(r, &why, err);
	}
	return r;
}

int pmfs_timeline_table(
	struct pmfs_model *m, uint32_t item, struct pm_table *ret, struct pm_error *err)
{
	static const struct pm_table_type type = {.start = timeline_start,
		.next = all_next,
		.done = all_done,
		.texts = timeline_texts,
		.strips = timeline_strips,
		.bounds = timeline_bounds,
		.dense = true};
	const struct pm_threads *threads;
	(void)item;
	int r = pmfs_model_threads(m, &threads, err);
	if (r < 0)
		return r;
	*ret = (struct pm_table){.type = &type, .self = m};
	trace_set_columns(m, ret);
	for (uint32_t i = 0; i < threads->n; i++)
		ret->end += threads->threads[i].n_samples;
	return 0;
}
