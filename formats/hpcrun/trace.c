/*
 * A .hpctrace file: samples of one thread, each a time and a node (docs/formats/hpcrun.md §5); and
 * all traces as the format interface wants them. They are read from their files each time, in
 * batches. A few words are kept per trace, and a permutation if the samples are not in time order.
 */
#include "formats/hpcrun/hpcrun.h"

#include <math.h>
#include <stdlib.h>

#include "formats/common/affix.h"
#include "formats/common/pipeline.h"
#include "formats/common/sort.h"

/* ==== a file ==== */

#define MAGIC "HPCRUN-trace______"

enum { MAGIC_SIZE = 24, FLAGS_SIZE = 8, RECORD_SIZE = 12, LONG_RECORD_SIZE = 16 };

/* All bits that were ever defined; a word with other bits is not a flags word. */
#define KNOWN_FLAGS UINT64_C(7)

/* Range of times in microseconds since 1970 in a file without a magic: 1973 to 2255. */
#define EARLIEST 1e14
#define LATEST   9e15

/* Traces without a valid header are empty: without it, records cannot be located. */
static int read_flags(
	struct hpcrun_trace *t, struct pm_bytes file, const char *name, struct pm_error *err)
{
	struct pm_bytes flags;
	if (!pm_bytes_sub(file, MAGIC_SIZE, FLAGS_SIZE, &flags))
		return pm_error_set(err, -EINVAL, name, MAGIC_SIZE,
			"the file ends within its header: 8 bytes of flags expected here");
	t->flags = pm_be64(flags.p);
	if ((t->flags & ~KNOWN_FLAGS) != 0)
		return pm_error_set(err, -EINVAL, name, MAGIC_SIZE,
			"flags 0x%llx, but only the lowest three bits are defined",
			(unsigned long long)t->flags);
	t->has_flags = true;
	t->start += FLAGS_SIZE;
	if (t->flags & 1)
		t->size = LONG_RECORD_SIZE;
	return 0;
}

static int read_header(
	struct hpcrun_trace *t, struct pm_bytes file, const char *name, struct pm_error *err)
{
	t->start = MAGIC_SIZE;
	t->size = RECORD_SIZE;
	if (!pm_bytes_sub(file, 0, MAGIC_SIZE, &t->magic))
		return pm_error_set(err, -EINVAL, name, 0, "the file ends within its magic number");
	const uint8_t *version = t->magic.p + strlen(MAGIC);
	if (memcmp(version, "01.00b", 6) == 0)
		return 0;
	if (memcmp(version, "01.01b", 6) == 0)
		return read_flags(t, file, name, err);
	return pm_error_set(err, -ENOTSUP, name, 0,
		"is a trace of an unknown version (supported: 01.00b, 01.01b)");
}

/* Records from the first byte on, as long as they have plausible times. */
static uint64_t count_headerless(struct pm_bytes file)
{
	uint64_t n = 0;
	for (; n < file.len / RECORD_SIZE; n++) {
		double us = pm_bef64(pm_bytes_row(file, n, RECORD_SIZE));
		if (!(us >= EARLIEST && us < LATEST))
			break;
	}
	return n;
}

static int read_any(
	struct hpcrun_trace *t, struct pm_bytes file, const char *name, struct pm_error *err)
{
	if (file.len == 0)
		return pm_error_set(err, -EINVAL, name, PM_NO_OFFSET,
			"is empty: the run ended before anything was written");
	if (pm_begins_with(file, MAGIC)) {
		int r = read_header(t, file, name, err);
		t->n = r == 0 ? (file.len - t->start) / t->size : 0;
		return r;
	}
	t->n = count_headerless(file);
	if (t->n == 0)
		return pm_error_set(err, -EINVAL, name, 0,
			"is not an hpcrun trace: begins with neither " MAGIC " nor a timestamp");
	t->is_real = true;
	t->size = RECORD_SIZE;
	return 0;
}

int hpcrun_trace_read(struct hpcrun_trace *ret, struct pm_bytes file,
	const struct hpcrun_report *report, struct pm_error *err)
{
	*ret = (struct hpcrun_trace){.size = 0};
	int r = read_any(ret, file, report->file, err);
	if (r < 0) {
		*ret = (struct hpcrun_trace){.size = 0};
		return r;
	}
	size_t end = ret->start + (size_t)ret->n * ret->size;
	ret->leftover = file.len - end;
	if (ret->leftover > 0)
		hpcrun_report_loss(report, end, ret->leftover, "%s",
			ret->leftover < ret->size ? "the last sample is cut"
						  : "these bytes are not samples of the trace");
	return 0;
}

struct pm_bytes hpcrun_trace_records(const struct hpcrun_trace *t, struct pm_bytes file)
{
	struct pm_bytes records;
	pm_bytes_table(file, t->start, t->n, t->size, t->size, &records);
	return records;
}

void hpcrun_trace_decode(const struct hpcrun_trace *t, struct pm_bytes records, uint64_t i,
	struct hpcrun_sample *ret)
{
	const uint8_t *p = pm_bytes_row(records, i, t->size);
	ret->time = pm_be64(p);
	ret->node = pm_be32(p + 8);
	ret->metric = t->size == LONG_RECORD_SIZE ? pm_be32(p + 12) : 0;
}

uint64_t hpcrun_trace_ns(const struct hpcrun_trace *t, uint64_t time, bool microseconds)
{
	if (!t->is_real)
		return microseconds ? time * 1000 : time;
	/* In two parts: nanoseconds since 1970 exceed the precision of a double. */
	double us = pm_f64_of_bits(time), whole = floor(us);
	return (uint64_t)whole * 1000 + (uint64_t)llround((us - whole) * 1000);
}

/* ==== units and time order ==== */

/*
 * A trace without a profile counts in ns if its times are at least this: microseconds of the year
 * 5138.
 */
#define LEAST_NS UINT64_C(100000000000000000)

/* ---- all traces at once ---- */

struct scanning {
	struct hpcrun_folder *folder;
	const struct hpcrun_thread_list *thread_list;
	struct hpcrun_times *times;
};

/*
 * Profiles older than 03.00 counted in microseconds; for a trace without a profile, its times
 * decide.
 */
static bool counts_microseconds(
	const struct hpcrun_thread *thread, uint64_t least, uint64_t greatest)
{
	if (greatest > UINT64_MAX / 1000)
		return false;
	if (thread->family == HPCRUN_FAMILY_NONE)
		return least < LEAST_NS;
	return thread->version < 0x0300;
}

static void scan(struct pm_arena *a, const struct hpcrun_thread *thread, struct pm_bytes records,
	struct hpcrun_time *ret)
{
	const struct hpcrun_trace *trace = &thread->trace;
	uint64_t least = UINT64_MAX, greatest = 0;
	ret->sorted = true;
	for (uint64_t i = 0; i < trace->n; i++) {
		struct hpcrun_sample sample;
		hpcrun_proceed(a, i);
		hpcrun_trace_decode(trace, records, i, &sample);
		/* Non-negative doubles sort like their bit patterns. */
		ret->sorted &= sample.time >= greatest;
		least = sample.time < least ? sample.time : least;
		greatest = sample.time > greatest ? sample.time : greatest;
	}
	ret->microseconds = counts_microseconds(thread, least, greatest);
	ret->first = hpcrun_trace_ns(trace, least, ret->microseconds);
	ret->last = hpcrun_trace_ns(trace, greatest, ret->microseconds);
}

static void make_time(struct pm_arena *a, void *context, uint32_t i, void *result)
{
	struct scanning *s = context;
	struct hpcrun_time *time = result;
	const struct hpcrun_thread *thread = &s->thread_list->items[i];
	const struct hpcrun_file *file = &s->folder->sources[i].trace;
	struct pm_input *in = NULL;
	time->first = PM_NO_TIME;
	if (thread->trace.n > 0)
		in = hpcrun_file_map(a, s->folder, file, NULL);
	struct pm_bytes records = {NULL, 0};
	if (in)
		records = hpcrun_trace_records(&thread->trace, in->bytes);
	if (records.len == 0)
		return;
	hpcrun_file_use(in, 0, in->bytes.len);
	scan(a, thread, records, time);
}

static int take_time(void *context, uint32_t i, void *result)
{
	struct scanning *s = context;
	const struct hpcrun_time *time = result;
	struct hpcrun_times *times = s->times;
	times->items[i] = *time;
	if (time->first == PM_NO_TIME)
		return 0;
	if (time->first < times->origin_ns)
		times->origin_ns = time->first;
	if (times->end_ns == PM_NO_TIME || time->last > times->end_ns)
		times->end_ns = time->last;
	return 0;
}

static void free_orders(void *times)
{
	struct hpcrun_times *t = times;
	for (uint32_t i = 0; i < t->n; i++)
		free(t->items[i].order);
}

void hpcrun_times_read(struct hpcrun_times *ret, struct pm_arena *a, struct hpcrun_folder *folder,
	const struct hpcrun_thread_list *thread_list)
{
	struct scanning s = {.folder = folder, .thread_list = thread_list, .times = ret};
	struct pm_pipeline pipeline = {.n = thread_list->threads.n,
		.size = sizeof(struct hpcrun_time),
		.build = make_time,
		.take = take_time,
		.context = &s};
	*ret = (struct hpcrun_times){
		.items = pm_arena_array(a, thread_list->threads.n, sizeof(*ret->items)),
		.n = thread_list->threads.n,
		.origin_ns = PM_NO_TIME,
		.end_ns = PM_NO_TIME};
	pm_arena_owns(a, free_orders, ret);
	pm_build_check(a, pm_pipeline_run(&pipeline));
}

/* ---- one trace ---- */

struct ordering {
	const struct hpcrun_trace *trace;
	struct pm_bytes records;
	struct hpcrun_time *time;
};

static int by_time(const void *a, const void *b, void *ordering)
{
	const struct ordering *o = ordering;
	const uint32_t *x = a, *y = b;
	struct hpcrun_sample first, second;
	hpcrun_trace_decode(o->trace, o->records, *x, &first);
	hpcrun_trace_decode(o->trace, o->records, *y, &second);
	if (first.time != second.time)
		return first.time < second.time ? -1 : 1;
	return (*x > *y) - (*x < *y);
}

static int make_order(void *context, struct pm_error *err)
{
	struct ordering *o = context;
	uint64_t n = o->trace->n;
	uint32_t *order = n < PM_NONE ? malloc((size_t)n * sizeof(*order)) : NULL;
	if (!order)
		return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET,
			"no memory to sort %llu samples", (unsigned long long)n);
	for (uint64_t i = 0; i < n; i++)
		order[i] = (uint32_t)i;
	if (pm_sort_with(order, (size_t)n, sizeof(*order), by_time, o) < 0) {
		free(order);
		return pm_error_plain(err, -ENOMEM);
	}
	o->time->order = order;
	return 0;
}

static void sample_at(
	const struct ordering *o, uint64_t i, struct hpcrun_sample *ret, uint64_t *ret_ns)
{
	hpcrun_trace_decode(o->trace, o->records, o->time->sorted ? i : o->time->order[i], ret);
	*ret_ns = hpcrun_trace_ns(o->trace, ret->time, o->time->microseconds);
}

static size_t fill(const struct hpcrun_trace_place *place, const struct ordering *o, uint64_t first,
	struct pm_sample *ret, size_t room)
{
	uint64_t left = o->trace->n - first, ns, next_ns;
	size_t n = left < room ? (size_t)left : room;
	struct hpcrun_sample sample, next;
	sample_at(o, first, &next, &next_ns);
	for (size_t i = 0; i < n; i++) {
		bool last = i + 1 == left;
		sample = next;
		ns = next_ns;
		if (!last)
			sample_at(o, first + i + 1, &next, &next_ns);
		ret[i] = (struct pm_sample){.time_ns = ns,
			.duration_ns = last ? PM_NO_TIME : next_ns - ns,
			.context = hpcrun_links_find(place->links, place->merged, sample.node)};
	}
	return n;
}

int64_t hpcrun_samples(const struct hpcrun_trace_place *place, uint64_t first,
	struct pm_sample *ret, size_t room, struct pm_error *err)
{
	const struct hpcrun_trace *trace = &place->thread->trace;
	struct ordering o = {.trace = trace, .time = place->time};
	const struct hpcrun_file *file = &place->folder->sources[place->index].trace;
	struct pm_input in;
	if (first >= trace->n || room == 0)
		return 0;
	int64_t r = hpcrun_file_open(place->folder, file, &in, NULL);
	if (pm_is_passing((int)r))
		return pm_error_plain(err, (int)r);
	if (r == 0)
		o.records = hpcrun_trace_records(trace, in.bytes);
	if (o.records.len == 0)
		r = pm_error_set(err, -EIO, file->name, PM_NO_OFFSET, "cannot be read any more");
	uint64_t n = trace->n - first <= room ? trace->n - first : room + 1;
	if (r == 0 && o.time->sorted)
		hpcrun_file_use(&in, trace->start + first * trace->size, n * trace->size);
	else if (r == 0)
		hpcrun_file_use(&in, 0, in.bytes.len);
	if (r == 0 && !o.time->sorted)
		r = pm_lazy_get(&o.time->lazy, make_order, &o, err);
	if (r == 0)
		r = (int64_t)fill(place, &o, first, ret, room);
	hpcrun_file_close(place->folder, &in);
	return r;
}

/* ---- damage ---- */

/* One row for each run of samples with unknown nodes. */
static void report_unknown(const struct hpcrun_trace_place *place, struct pm_bytes records,
	const struct hpcrun_report *report)
{
	const struct hpcrun_trace *trace = &place->thread->trace;
	uint64_t run = 0;
	for (uint64_t i = 0; i <= trace->n && records.len; i++) {
		struct hpcrun_sample sample;
		if (i < trace->n)
			hpcrun_trace_decode(trace, records, i, &sample);
		if (i < trace->n &&
			hpcrun_links_find(place->links, place->merged, sample.node) == UINT64_MAX) {
			run++;
			continue;
		}
		if (run)
			hpcrun_report_loss(report, trace->start + (i - run) * trace->size,
				run * trace->size, "%llu samples of contexts that %s",
				(unsigned long long)run,
				place->thread->family == HPCRUN_FAMILY_NONE
					? "are unknown, because there is no profile with this name"
					: "are not in the profile");
		run = 0;
	}
}

void hpcrun_trace_report(struct pm_arena *a, const struct hpcrun_trace_place *place,
	const struct hpcrun_report *report)
{
	const struct hpcrun_file *file = &place->folder->sources[place->index].trace;
	struct pm_error err = {.offset = PM_NO_OFFSET};
	struct hpcrun_trace trace;
	struct pm_input *in = hpcrun_file_map(a, place->folder, file, &err);
	if (in)
		hpcrun_file_use(in, 0, in->bytes.len);
	if (!in || hpcrun_trace_read(&trace, in->bytes, report, &err) < 0)
		hpcrun_report_file(report, file->size, &err);
	else if (place->thread->trace.n > 0)
		report_unknown(
			place, hpcrun_trace_records(&place->thread->trace, in->bytes), report);
}
