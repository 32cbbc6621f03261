/*
 * Readers over the builder: the first byte says which one, the rest is the file. It
 * is opened, and everything that the profile has is read once.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "profmount/format.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

extern const struct pm_format callgrind_format, cpup_format, folded_format, perf_format,
	pprof_format, spsc_format, tev_format;

static const struct pm_format *const formats[] = {&cpup_format, &spsc_format, &tev_format,
	&folded_format, &callgrind_format, &perf_format, &pprof_format};

enum {
	WITH_VALUES = 128,
	FORMATS = sizeof(formats) / sizeof(*formats),
	ROOM = 64,
	MOST_COLUMNS = 64
};

static void must(bool good, const char *what)
{
	if (good)
		return;
	fprintf(stderr, "%s\n", what);
	abort();
}

/* Traces are in the order of time, and as long as the list of threads says. */
static void read_traces(const struct pm_profile *p)
{
	const struct pm_threads *threads;
	struct pm_sample s[ROOM];
	if (!pm_profile_has(p, threads) || !p->ops->samples ||
		pm_profile_threads(p, &threads, NULL) < 0)
		return;
	for (uint32_t t = 0; t < threads->n; t++) {
		uint64_t at = 0, last = 0;
		for (int64_t n = ROOM; n == ROOM; at += (uint64_t)n) {
			n = p->ops->samples(p, t, at, s, ROOM, NULL);
			must(n >= 0, "a trace cannot be read");
			for (int64_t i = 0; i < n; last = s[i++].time_ns)
				must(s[i].time_ns >= last, "a trace is not in order");
		}
		must(at == threads->threads[t].n_samples, "a trace has another length");
	}
}

static void read_tables(const struct pm_profile *p)
{
	const struct pm_named_doc *docs;
	size_t n = 0;
	if (pm_profile_documents(p, &docs, &n, NULL) < 0)
		return;
	for (size_t i = 0; i < n; i++) {
		struct pm_cell cells[MOST_COLUMNS];
		struct pm_rows rows;
		const struct pm_table *table = &docs[i].doc.table;
		if (docs[i].doc.kind != PM_DOC_CSV || table->n_columns > MOST_COLUMNS)
			continue;
		if (pm_rows_start(&rows, table, 0, NULL) == 0)
			while (pm_rows_next(&rows, cells, NULL) > 0)
				;
		pm_rows_done(&rows);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pm_open_options options = {.no_symbols = true};
	struct pm_profile p = {.ops = NULL};
	struct pm_error err = {.offset = PM_NO_OFFSET};
	int fd = size > 0 ? memfd_create("fuzz", MFD_CLOEXEC) : -1;
	if (fd < 0)
		return 0;
	const struct pm_format *format = formats[data[0] % FORMATS];
	if (format->takes_values && data[0] >= WITH_VALUES)
		options.values = "a,b";
	struct pm_bytes file = {data + 1, size - 1};
	if (write(fd, file.p, file.len) == (ssize_t)file.len) {
		struct pm_candidate c = {.path = "/fuzz.json",
			.fd = fd,
			.size = file.len,
			.head = {file.p, file.len < 4096 ? file.len : 4096}};
		c.text = c.inflated = c.head;
		format->probe(&c);
		if (format->open(&c, &options, &p, &err) == 0) {
			const struct pm_damages *damages;
			if (pm_profile_ready(&p, &err) == 0) {
				pm_profile_damage(&p, &damages, NULL);
				read_traces(&p);
				read_tables(&p);
			}
			format->close(&p);
		}
	}
	close(fd);
	return 0;
}
