/* perf: what `perf record` writes. docs/formats/perf.md describes it. */
#include <errno.h>
#include <stdlib.h>

#include "formats/perf/perf.h"
#include "formats/symbols/symbols.h"

static int probe(const struct pm_candidate *c)
{
	return !c->folder && perf_data_is(c) ? PM_PROBE_CERTAIN : PM_PROBE_NO;
}

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
	struct sym_root *root = calloc(1, sizeof(*root));
	if (!root)
		return pm_error_plain(err, -ENOMEM);
	int r = options->no_symbols ? 0 : sym_root_open(root, options->sysroot, err);
	if (r < 0) {
		free(root);
		return r;
	}
	return pm_rec_open_own(&data_reader, c, options, root, root_free, ret, err);
}

const struct pm_format perf_format = {
	.name = "perf",
	.summary =
		"perf.data of perf record: files and pipes, either byte order, compressed or not",
	.probe = probe,
	.open = perf_open,
	.close = pm_rec_close,
};
