/*
 * perf: what `perf record` writes, and the text of `perf script`. docs/formats/perf-data.md and
 * perf.md describe them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/common/folder.h"
#include "formats/perf/perf.h"

/* The first line that is no comment is that of a sample: a short one, and no JSON or HTML. */
static bool is_script(const struct pm_candidate *c)
{
	enum { LONGEST = 4096 };
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
			return line.len <= LONGEST && line.p[0] != '{' && line.p[0] != '<' &&
				perf_head_read(line, &h);
	}
	return false;
}

/* The header of a folder that perf record --threads wrote is in `data`. */
static bool is_perf_folder(int folder)
{
	uint8_t head[16];
	int fd = openat(folder, "data", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n = fd < 0 ? -1 : pread(fd, head, sizeof(head), 0);
	if (fd >= 0)
		close(fd);
	return n > 0 && perf_data_is((struct pm_bytes){head, (size_t)n});
}

static int probe(const struct pm_candidate *c)
{
	if (c->folder)
		return is_perf_folder(c->fd) ? PM_PROBE_CERTAIN : PM_PROBE_NO;
	if (perf_data_is(c->inflated))
		return PM_PROBE_CERTAIN;
	return is_script(c) ? PM_PROBE_BY_CONTENT + 10 : PM_PROBE_NO;
}

static const struct pm_reader script_reader = {
	.contexts_are = "samples", .layout = "perf script", .read = perf_script_read};

static const struct pm_reader data_reader = {
	.contexts_are = "samples", .layout = "file", .read = perf_data_read};

/* `data`, and `data.N` with the records of one thread of perf each. */
static int is_of_perf(void *context, int folder, const char *name)
{
	(void)context;
	(void)folder;
	if (strcmp(name, "data") == 0)
		return 1;
	size_t digits = strncmp(name, "data.", 5) == 0 ? strspn(name + 5, "0123456789") : 0;
	return digits > 0 && digits < 6 && !name[5 + digits];
}

static int open_data(const struct pm_candidate *c, const struct pm_open_options *options,
	struct pm_profile *ret, struct pm_error *err)
{
	struct perf_own *own = calloc(1, sizeof(*own));
	int r = !own                  ? -ENOMEM
		: options->no_symbols ? 0
				      : sym_root_open(&own->root, options->sysroot, err);
	if (r < 0) {
		free(own);
		return pm_error_plain(err, r);
	}
	return pm_rec_open_with(&data_reader, c, options,
		&(struct pm_rec_with){.own = own, .done = perf_own_free}, ret, err);
}

static int perf_open(const struct pm_candidate *c, const struct pm_open_options *options,
	struct pm_profile *ret, struct pm_error *err)
{
	struct pm_names names = {.n = 0};
	struct pm_candidate with = *c;
	int r = 0;
	if (!c->folder && !perf_data_is(c->inflated))
		return pm_rec_open(&script_reader, c, options, ret, err);
	if (c->folder)
		r = pm_folder_names(c->fd, is_of_perf, NULL, PM_LIMIT_PERF_FILES, &names);
	if (r == 0 && names.others)
		r = pm_error_set(err, -EFBIG, c->path, PM_NO_OFFSET, "has more than %d files",
			PM_LIMIT_PERF_FILES);
	if (r == 0 && c->folder && !is_perf_folder(c->fd))
		r = pm_error_set(err, -EINVAL, c->path, PM_NO_OFFSET,
			"is no folder of perf record --threads, which has a file `data`");
	with.files = (const char *const *)names.items;
	with.n_files = names.n;
	r = r < 0 ? pm_error_plain(err, r) : open_data(&with, options, ret, err);
	pm_names_done(&names);
	return r;
}

const struct pm_format perf_format = {
	.name = "perf",
	.summary = "perf.data of perf record, a file, a pipe or a directory, either byte order, "
		   "compressed or not; perf script text",
	.probe = probe,
	.open = perf_open,
	.close = pm_rec_close,
};
