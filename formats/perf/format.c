/*
 * perf: what `perf record` writes, and the text of `perf script`. docs/formats/perf-data.md and
 * perf.md describe them.
 */
#include <errno.h>
#include <stdlib.h>

#include "formats/perf/perf.h"
#include "formats/symbols/symbols.h"

/* The first line that is no comment is that of a sample. */
static bool is_script(const struct pm_candidate *c)
{
	/* A header that may be longer than what is seen here. */
	static const char header[] = "# ========\n# captured on";
	struct pm_bytes rest = c->text, line;
	struct perf_head h;
	if (rest.len > sizeof(header) && memcmp(rest.p, header, sizeof(header) - 1) == 0)
		return true;
	while (rest.len > 0) {
		const uint8_t *end = memchr(rest.p, '\n', rest.len);
		line = (struct pm_bytes){rest.p, end ? (size_t)(end - rest.p) : rest.len};
		rest.p += line.len + (end != NULL);
		rest.len -= line.len + (end != NULL);
		if (line.len > 0 && line.p[line.len - 1] == '\r')
			line.len--;
		if (line.len > 0 && line.p[0] != '#' &&
			!memmem(line.p, line.len, "PERF_RECORD_", 12))
			return perf_head_read(line, &h);
	}
	return false;
}

static int probe(const struct pm_candidate *c)
{
	if (!c->folder && perf_data_is(c))
		return PM_PROBE_CERTAIN;
	return !c->folder && is_script(c) ? PM_PROBE_BY_CONTENT + 10 : PM_PROBE_NO;
}

static const struct pm_reader script_reader = {
	.contexts_are = "samples", .layout = "perf script", .read = perf_script_read};

static const struct pm_reader data_reader = {
	.contexts_are = "samples", .layout = "file", .read = perf_data_read};

static void root_free(void *own)
{
	sym_root_done(own);
	free(own);
}

static int perf_open(const struct pm_candidate *c, const struct pm_open_options *options,
	struct pm_profile *ret, struct pm_error *err)
{
	if (!perf_data_is(c))
		return pm_rec_open(&script_reader, c, options, ret, err);
	struct sym_root *root = calloc(1, sizeof(*root));
	if (!root)
		return pm_error_plain(err, -ENOMEM);
	int r = options->no_symbols ? 0 : sym_root_open(root, options->sysroot, err);
	if (r < 0) {
		free(root);
		return r;
	}
	return pm_rec_open_with(&data_reader, c, options, &(struct pm_rec_with){.own = root, .done = root_free}, ret, err);
}

const struct pm_format perf_format = {
	.name = "perf",
	.summary =
		"perf.data of perf record, either byte order, compressed or not; perf script text",
	.probe = probe,
	.open = perf_open,
	.close = pm_rec_close,
};
