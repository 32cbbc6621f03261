/* Reads traces. Independent of the unit of time, which depends on the profile. */
#include "formats/hpcrun/trace.h"

#include <math.h>

#define MAGIC "HPCRUN-trace______"

enum { MAGIC_SIZE = 24, FLAGS_SIZE = 8, RECORD_SIZE = 12, LONG_RECORD_SIZE = 16 };

/* All bits that were ever defined; a word with other bits is not a flags word. */
#define KNOWN_FLAGS UINT64_C(7)

/* Range of times in microseconds since 1970 in a file without a magic: 1973 to 2255. */
#define EARLIEST 1e14
#define LATEST   9e15

static bool has_magic(struct pm_bytes file)
{
	struct pm_bytes begin;
	return pm_bytes_sub(file, 0, strlen(MAGIC), &begin) &&
		pm_bytes_equal(begin, pm_bytes_of(MAGIC));
}

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
	if (has_magic(file)) {
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
