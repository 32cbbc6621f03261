/* Formats may know the times of a trace without reading its samples: both ways have to agree. */
#include "threadlaws.h"

#include <math.h>
#include <stdio.h>

#include "sheet.h"

enum { MOST_THREADS = 50, MOST_SAMPLES = 200000 };

/* The end of what trace.csv shows; samples last until the next one, the last one is a point. */
static double end_of(const struct sheet *trace)
{
	int time = sheet_column(trace, "time_ns"), duration = sheet_column(trace, "duration_ns");
	double end = -INFINITY;
	for (size_t i = 0; i < trace->n; i++)
		end = fmax(end,
			sheet_at(trace, i, time)->number + sheet_at(trace, i, duration)->number);
	return end;
}

/* What is wrong, or NULL. Calls may end after the last one that has been recorded ends. */
static const char *breach_of(
	const struct sheet *trace, double samples, double first_ns, double last_ns)
{
	int time = sheet_column(trace, "time_ns"), duration = sheet_column(trace, "duration_ns");
	if ((double)trace->n != samples)
		return "samples is not the number of rows of trace.csv";
	if (trace->n == 0)
		return NULL;
	if (sheet_at(trace, 0, time)->number != first_ns)
		return "first_ns is not the time of the first sample";
	bool is_point = sheet_at(trace, trace->n - 1, duration)->is_empty;
	double end = end_of(trace), rounding = end > 0x1p53 ? end / 0x1p50 : 0;
	if (end > last_ns + rounding || (is_point && end < last_ns - rounding))
		return "last_ns is not the end of the trace";
	return NULL;
}

static const char *thread_breach(
	struct pmfs_instance *in, const struct sheet *threads, size_t row, const char *path)
{
	const struct sheet_cell *first = sheet_at(threads, row, sheet_column(threads, "first_ns"));
	const struct sheet_cell *last = sheet_at(threads, row, sheet_column(threads, "last_ns"));
	double samples = sheet_at(threads, row, sheet_column(threads, "samples"))->number;
	struct sheet trace;
	char name[4096];
	if (samples == 0 || samples > MOST_SAMPLES)
		return NULL;
	snprintf(name, sizeof(name), "%s/trace.csv", path);
	if (!sheet_read(in, name, &trace))
		return NULL; /* damaged */
	const char *breach = "has samples, but no times";
	if (!first->is_empty && !last->is_empty)
		breach = breach_of(&trace, samples, first->number, last->number);
	sheet_done(&trace);
	return breach;
}

unsigned check_thread_laws(struct pmfs_instance *in, const char *source)
{
	struct sheet threads;
	unsigned n_failed = 0;
	if (!sheet_read(in, "threads.csv", &threads))
		return 0;
	int samples = sheet_column(&threads, "samples"), path = sheet_column(&threads, "path");
	for (size_t i = 0; samples != SHEET_NONE && i < threads.n && i < MOST_THREADS; i++) {
		struct pm_bytes b = sheet_at(&threads, i, path)->text;
		char name[2048];
		snprintf(name, sizeof(name), "%.*s", (int)b.len, (const char *)b.p);
		const char *breach = thread_breach(in, &threads, i, name);
		if (breach && n_failed++ < 20)
			fprintf(stderr, "%s: %s: %s\n", source, name, breach);
	}
	sheet_done(&threads);
	return n_failed;
}
