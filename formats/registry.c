/*
 * The ordered list of formats, and the choice among them. What is listed first wins a tie.
 */
#include "profmount/format.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "formats/common/cache.h"
#include "formats/common/folder.h"
#include "formats/common/inflate.h"
#include "formats/common/map.h"
#include "formats/common/textlines.h"
#include "profmount/limits.h"

/*
 * Most files say in their first bytes what they are; what stands before the telling key of a JSON
 * object can be long. ZSTD_BLOCK: what the first 128 KiB of a zstd stream are compressed to at
 * most.
 */
enum { HEAD = 4096, FURTHER = 1 << 20, ZSTD_BLOCK = 132 * 1024 };

/* For callers that open a source without a cache. */
#define OWN_CACHE ((uint64_t)64 << 20)

extern const struct pm_format hpctk_format;
extern const struct pm_format hpcrun_format;
extern const struct pm_format nytp_format;
extern const struct pm_format zts_format;
extern const struct pm_format htd_format;
extern const struct pm_format callgrind_format;
extern const struct pm_format folded_format;
extern const struct pm_format perf_format;
extern const struct pm_format pprof_format;
extern const struct pm_format cpup_format;
extern const struct pm_format spsc_format;
extern const struct pm_format tev_format;

const struct pm_format *const pm_formats[] = {
	&hpctk_format,
	&hpcrun_format,
	&nytp_format,
	&zts_format,
	&htd_format,
	&callgrind_format,
	&perf_format,
	&folded_format,
	&pprof_format,
	&cpup_format,
	&spsc_format,
	&tev_format,
	NULL,
};

struct opened {
	struct pm_profile profile;
	const struct pm_format *format;
	char *source;
	struct pm_cache *own_cache; /* NULL: it was handed one */
};

static void opened_free(struct opened *o)
{
	pm_cache_free(o->own_cache);
	free(o->source);
	free(o);
}

/* The first bytes of a file as they are, inflated, and as text, which can be twice as long. */
enum { AS_MANY = 4 };

struct heads {
	uint8_t first[AS_MANY * HEAD];
	uint8_t *further; /* NULL, or the same for FURTHER */
	/* Of an empty file that stands for others: these, and their format. */
	struct pm_names files;
	const struct pm_format *format;
};

static void heads_done(struct heads *heads)
{
	free(heads->further);
	pm_names_done(&heads->files);
}

/*
 * From `c->head`, at most `size` bytes, as far as it can be inflated, without a byte order mark,
 * UTF-16 as UTF-8; in AS_MANY × size bytes.
 */
static int text_of_head(struct pm_candidate *c, uint8_t *memory, size_t size)
{
	struct pm_bytes w = c->head;
	struct pm_inflate *s = NULL;
	struct pm_text text = {.p = NULL};
	int r = 0;
	c->text_is_all = c->head.len == c->size;
	enum pm_inflate_kind kind = pm_inflate_kind_of(w);
	uint8_t *block = NULL;
	if (kind == PM_INFLATE_ZSTD && size < ZSTD_BLOCK) { /* nothing before a block is whole */
		block = malloc(ZSTD_BLOCK);
		ssize_t n = block ? pread(c->fd, block, ZSTD_BLOCK, 0) : 0;
		w = (struct pm_bytes){block, n > 0 ? (size_t)n : 0};
	}
	if (kind != PM_INFLATE_STORED) {
		s = pm_inflate_new(kind, w);
		w = s ? pm_inflate_peek(s, size) : (struct pm_bytes){NULL, 0};
		r = !s || pm_inflate_status(s).state == PM_INFLATE_FAILED ? -ENOMEM : 0;
		c->text_is_all = c->text_is_all && w.len < size;
		w.len = w.len < size ? w.len : size;
		if (w.len > 0)
			w.p = memcpy(memory + size, w.p, w.len);
	}
	c->inflated = w;
	pm_textlines_decode(w, &text);
	if (text.failed)
		r = -ENOMEM;
	else if (text.len > 0) /* UTF-8 is at most half as long again as UTF-16 */
		memcpy(memory + 2 * size, text.p, text.len);
	c->text = (struct pm_bytes){memory + 2 * size, text.len};
	pm_text_done(&text);
	pm_inflate_free(s);
	free(block);
	return r;
}

/* ---- runs of several files ---- */

enum { IGNORED_MAX = 512 /* files of a folder before the first part of a run */ };

/* While the files of a folder are listed, which are to be the parts of one run. */
struct listing {
	const struct pm_format *format;
	uint64_t run;
	struct pm_map members;
	unsigned ignored;
	char other[NAME_MAX + 1]; /* the file that is not of that run */
	const char *beside;       /* NULL, or what names begin with, and a hyphen */
};

static int is_part(void *context, int folder, const char *name)
{
	struct listing *l = context;
	struct pm_run_file part = {.run = 0};
	bool first = l->members.n == 0, fresh = true;
	size_t n = l->beside ? strlen(l->beside) : 0;
	if (l->beside && (strncmp(name, l->beside, n) != 0 || name[n] != '-'))
		return 0;
	int is = l->format->run_file(folder, name, &part);
	if (is > 0 && !pm_map_put(&l->members, part.member, 1, &fresh))
		is = -ENOMEM;
	else if ((is > 0 && (!fresh || (!first && part.run != l->run))) ||
		(is == 0 && first && ++l->ignored == IGNORED_MAX))
		is = -1;
	if (is > 0)
		l->run = part.run;
	if (is == -1)
		snprintf(l->other, sizeof(l->other), "%s", name);
	return is;
}

/*
 * The files of a folder, or of those that `beside` begins, if all are of one run of the format. 0,
 * -EINVAL with the reason if they are not, or the code of what failed.
 */
static int list_parts(const struct pm_candidate *c, const struct pm_format *format,
	const char *beside, struct pm_names *ret, struct pm_error *err)
{
	struct listing l = {.format = format, .beside = beside};
	int r = pm_folder_names(c->fd, is_part, &l, PM_LIMIT_RUNS, ret);
	pm_map_done(&l.members);
	if (r < 0)
		return pm_error_set(err, pm_is_passing(r) ? r : -EIO, c->path, PM_NO_OFFSET,
			"cannot be listed: %s", strerror(-r));
	if (ret->n > 0 && ret->others)
		return pm_error_set(err, -EINVAL, c->path, PM_NO_OFFSET,
			"is not one run: %s and %s are not parts of the same; give one of them, or "
			"several to compare them",
			ret->items[0], l.other);
	if (ret->n == 0)
		return pm_error_set(err, -EINVAL, c->path, PM_NO_OFFSET,
			"contains no profile of format %s", format->name);
	return 0;
}

/* Valgrind leaves an empty file beside those of threads, NAME-01 and so on: it stands for them. */
static int take_empty(struct pm_candidate *c, struct heads *heads, struct pm_error *err)
{
	struct pm_names *files = &heads->files;
	struct pm_candidate in = {.path = c->path, .fd = pm_folder_around(c->path), .folder = true};
	for (size_t i = 0; in.fd >= 0 && pm_formats[i]; i++) {
		if (!pm_formats[i]->run_file)
			continue;
		if (list_parts(&in, pm_formats[i], pm_path_name(c->path), files, NULL) == 0) {
			close(c->fd);
			*c = in;
			c->files = (const char *const *)files->items;
			c->n_files = files->n;
			heads->format = pm_formats[i];
			return 0;
		}
		pm_names_done(files);
	}
	if (in.fd >= 0)
		close(in.fd);
	return pm_error_set(err, -EINVAL, c->path, PM_NO_OFFSET,
		"is empty: the run ended before anything was written");
}

/* With errno; closes the descriptor, if there is one. */
static int refuse_unopened(const char *path, int fd, struct pm_error *err)
{
	int code = errno;
	if (fd >= 0)
		close(fd);
	return pm_error_set(err, code == ENOENT ? -ENOENT : -EIO, path, PM_NO_OFFSET,
		"cannot be opened: %s", strerror(code));
}

static int candidate_open(
	const char *path, struct pm_candidate *c, struct heads *heads, struct pm_error *err)
{
	struct stat st;
	/* O_NONBLOCK: a FIFO must be refused, not waited for. */
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &st) != 0)
		return refuse_unopened(path, fd, err);
	*c = (struct pm_candidate){.path = path,
		.fd = fd,
		.folder = S_ISDIR(st.st_mode),
		.size = S_ISREG(st.st_mode) ? (uint64_t)st.st_size : 0,
		.mtime_ns = pm_time_ns(st.st_mtim)};
	if (c->folder)
		return 0;
	if (!S_ISREG(st.st_mode)) {
		close(fd);
		return pm_error_set(err, -EINVAL, path, PM_NO_OFFSET,
			"is neither a regular file nor a directory");
	}
	ssize_t n = pread(fd, heads->first, HEAD, 0);
	if (n < 0) {
		int code = errno;
		close(fd);
		return pm_error_set(err, -EIO, path, 0, "cannot be read: %s", strerror(code));
	}
	if (n == 0) {
		int r = take_empty(c, heads, err);
		if (r < 0)
			close(fd);
		return r;
	}
	c->head = (struct pm_bytes){heads->first, (size_t)n};
	if (text_of_head(c, heads->first, HEAD) == 0)
		return 0;
	close(fd);
	return pm_error_set(err, -ENOMEM, path, PM_NO_OFFSET, "no memory");
}

/* Parts of a run: the folder of the first one is the candidate. */
static int files_open(const char *path, const struct pm_open_options *options,
	struct pm_candidate *c, struct pm_error *err)
{
	struct stat st;
	int fd = pm_folder_around(path);
	if (fd < 0 || fstatat(fd, options->files[0], &st, 0) < 0)
		return refuse_unopened(path, fd, err);
	*c = (struct pm_candidate){.path = path,
		.fd = fd,
		.folder = true,
		.mtime_ns = pm_time_ns(st.st_mtim),
		.files = options->files,
		.n_files = options->n_files};
	return 0;
}

static const struct pm_format *format_by_name(const char *name)
{
	for (size_t i = 0; pm_formats[i]; i++)
		if (strcmp(pm_formats[i]->name, name) == 0)
			return pm_formats[i];
	return NULL;
}

/* What a format says of the candidate; of a folder that cannot be listed, opening it says why. */
static int probe(const struct pm_candidate *c, const struct pm_format *format)
{
	if (!c->folder || !format->run_file)
		return format->probe(c);
	struct pm_names files = {.n = 0};
	struct pm_candidate with = *c;
	int r = list_parts(c, format, NULL, &files, NULL);
	with.files = (const char *const *)files.items;
	with.n_files = files.n;
	int sure = r == 0 ? format->probe(&with) : r == -EINVAL ? PM_PROBE_NO : PM_PROBE_UNNAMED;
	pm_names_done(&files);
	return sure;
}

/* The next of the formats that may be tried, best first, of those below `*below`; NULL: no more. */
static const struct pm_format *next_by_probe(
	const struct pm_candidate *c, int *below, size_t *after)
{
	const struct pm_format *best = NULL;
	int most = PM_PROBE_IF_ASKED;
	size_t place = 0;
	for (size_t i = 0; pm_formats[i]; i++) {
		int sure = probe(c, pm_formats[i]);
		bool tried = sure > *below || (sure == *below && i <= *after);
		if (sure > most && !tried) {
			most = sure;
			best = pm_formats[i];
			place = i;
		}
	}
	*below = most;
	*after = place;
	return best;
}

/* Reads more of JSON of which no format is sure. 0 or -ENOMEM. */
static int look_further(struct pm_candidate *c, struct heads *heads)
{
	int sure = PM_PROBE_CERTAIN + 1;
	size_t after = 0, i = 0;
	while (i < c->text.len && memchr(" \t\r\n", c->text.p[i], 4))
		i++;
	if (c->text_is_all || i == c->text.len || !memchr("{[", c->text.p[i], 2))
		return 0;
	next_by_probe(c, &sure, &after);
	if (sure > PM_PROBE_UNNAMED)
		return 0;
	heads->further = malloc((size_t)AS_MANY * FURTHER);
	ssize_t n = heads->further ? pread(c->fd, heads->further, FURTHER, 0) : 0;
	if (n > 0)
		c->head = (struct pm_bytes){heads->further, (size_t)n};
	return !heads->further ? -ENOMEM : n > 0 ? text_of_head(c, heads->further, FURTHER) : 0;
}

/*
 * Not the coarse clock: files may be stamped by a finer one, and what changed just before would
 * seem to have changed since.
 */
static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return pm_time_ns(now);
}

static int opened_new(const struct pm_candidate *c, const struct pm_format *format,
	const struct pm_open_options *options, struct pm_profile **ret, struct pm_error *err)
{
	struct pm_open_options with = options ? *options : (struct pm_open_options){.cache = NULL};
	struct opened *o = calloc(1, sizeof(*o));
	if (!o)
		return pm_error_set(err, -ENOMEM, c->path, PM_NO_OFFSET, "no memory");
	o->source = strdup(with.source ? with.source : c->path);
	if (!with.cache)
		with.cache = o->own_cache = pm_cache_new(OWN_CACHE);
	if (!o->source || !with.cache) {
		opened_free(o);
		return pm_error_set(err, -ENOMEM, c->path, PM_NO_OFFSET, "no memory");
	}
	uint64_t before = now_ns();
	struct pm_names files = {.n = 0};
	struct pm_candidate listed = *c;
	int r = 0;
	if (with.values && !format->takes_values)
		r = pm_error_set(err, -EINVAL, c->path, PM_NO_OFFSET,
			"is of format %s, whose calls have no fields for -o values", format->name);
	else if (c->folder && format->run_file && c->n_files == 0)
		r = list_parts(c, format, NULL, &files, err);
	if (files.n > 0) {
		listed.files = (const char *const *)files.items;
		listed.n_files = files.n;
	}
	if (r == 0)
		r = format->open(&listed, &with, &o->profile, err);
	pm_names_done(&files);
	if (r < 0) {
		opened_free(o);
		return r;
	}
	o->format = format;
	o->profile.format = format->name;
	o->profile.source = o->source;
	o->profile.opened_ns = before;
	*ret = &o->profile;
	return 0;
}

/*
 * Files that people take for profiles of these formats: what they are, and what to do. By their
 * first bytes, those of JSON without its white space, or by the end of their names.
 */
static const struct {
	const char *begins;
	size_t len;
	const char *ends, *what;
} lookalikes[] = {
	{"\0\0\0\0\0\0\0\0\3\0\0\0\0\0\0\0", 16, NULL,
		"is a CPU profile in the old format of gperftools; google-pprof --proto converts it"},
	{"heap profile:", 13, NULL,
		"is a legacy heap profile in text; go tool pprof -proto converts it"},
	{"goroutine profile:", 18, NULL,
		"is a legacy goroutine profile in text; fetch it without debug=1"},
	{"threadcreate profile:", 21, NULL,
		"is a legacy profile in text; go tool pprof -proto converts it"},
	{"--- ", 4, NULL, "is a legacy profile in text; go tool pprof -proto converts it"},
	{"PeriodType: ", 12, NULL,
		"is text of go tool pprof -raw; the profile itself, or what -proto writes, is read"},
	{"# To display the perf.data header", 33, NULL,
		"is a report of perf report; perf script writes what can be read"},
	{"# started on ", 13, NULL, "are counts of perf stat, without call paths"},
	{"{\n\t\"linux-perf-json-version\"", 29, NULL,
		"is a perf.data as JSON, which lacks the names; perf script writes what can be read"},
	{"\x17\x08\x44tracing", 10, NULL,
		"is a trace.dat of trace-cmd, which is not read; perf script writes what can be"},
	{"Attaching ", 10, NULL,
		"is output of bpftrace; stackcollapse-bpftrace.pl makes folded stacks of it"},
	{"MMPD", 4, NULL, "is a self-profile of rustc; crox makes trace events of it"},
	{"gmon", 4, NULL, "is a gmon.out of gprof, which is not read; measure with perf instead"},
	{"Flat profile:", 13, NULL,
		"is text of gprof, which is not read; measure with perf instead"},
	{"desc:", 5, NULL, "are snapshots of a heap by massif, which are not read"},
	{"{\"dhatFileVersion\"", 18, NULL, "is a heap profile of DHAT, which is not read"},
	{"{\"meta\":{", 9, NULL,
		"is a profile of the Firefox Profiler or samply, which is not read; measure with "
		"perf instead"},
	{"{\"version\":1,\"recording\":{", 26, NULL,
		"is a timeline of Safari's Web Inspector, which is not read"},
	{"{\"version\":1.2,\"mode\":", 22, NULL,
		"is a profile of stackprof; stackprof --stackcollapse makes folded stacks of it"},
	{"Weight\tSelf Weight\t", 19, NULL, "is text of Instruments, which is not read"},
	{"Analysis of sampling ", 21, NULL,
		"is text of macOS' sample; stackcollapse-sample.awk makes folded stacks of it"},
	{"CPU     ID                    FUNCTION:NAME", 43, NULL,
		"is output of DTrace; stackcollapse.pl makes folded stacks of it"},
	{"Function Stack,", 15, NULL,
		"is a table of VTune; inferno-collapse-vtune makes folded stacks of it"},
	{"SIMPLEPERF", 10, NULL,
		"is a report of simpleperf in protobuf; simpleperf's stackcollapse.py makes folded "
		"stacks of the perf.data"},
	{"*version\n", 9, NULL, "is a method trace of Android, which is not read"},
	{"SLOW\xf3\0", 6, NULL, "is a method trace of Android, which is not read"},
	{"# tracer:", 9, NULL,
		"is text of ftrace, which is not read; perf script writes what can be"},
	{"v8-version,", 11, NULL,
		"is a log of node --prof; node --cpu-prof writes what can be read"},
	{"go 1.", 5, NULL,
		"is an execution trace of Go; go tool trace -pprof=sched (or net, sync, syscall) "
		"writes what can be read"},
	{"JAVA PROFILE 1.0.1,", 19, NULL,
		"is text of Java's old hprof agent, which is not read; async-profiler writes what can "
		"be read"},
	{"JAVA PROFILE", 12, NULL, "is a heap dump of Java, without call paths"},
	{"SQLite format 3", 16, NULL, "is an SQLite database, which SQL reads as it is"},
	{"FLR", 4, NULL, "is a recording of Java Flight Recorder; jfrconv -o pprof converts it"},
	{"\xfb)", 2, NULL,
		"is a pstats file of Python's cProfile; pyprof2calltree -i FILE -o callgrind.out "
		"converts it"},
	{"{)", 2, NULL,
		"is a pstats file of Python's cProfile; pyprof2calltree -i FILE -o callgrind.out "
		"converts it"},
	{"", 0, ".pstats",
		"is no pstats file that could be converted; pyprof2calltree reads those of cProfile"},
	{"", 0, ".nsys-rep", "is a report of Nsight Systems, which only NVIDIA's tools read"},
	{"", 0, ".perfetto-trace",
		"is a trace of Perfetto in protobuf; traceconv json writes what can be read"},
	{"", 0, ".pftrace",
		"is a trace of Perfetto in protobuf; traceconv json writes what can be read"},
	{"", 0, ".tracy", "is a capture of Tracy, which only its own programs read"},
	{"", 0, ".etl", "is an event trace of Windows; xperf or PerfView export it"},
	{"", 0, ".trace", "is a recording of Instruments; xctrace export converts it"},
	{"<!DOCTYPE html", 14, NULL, "is a page, which may show a profile but is none"},
};

static bool begins_with(struct pm_bytes head, const char *begins, size_t n)
{
	size_t i = 0;
	for (size_t at = 0; at < head.len && i < n; at++)
		if (head.p[at] == (uint8_t)begins[i])
			i++;
		else if (*begins != '{' || !memchr(" \t\r\n", head.p[at], 4))
			break;
	return i == n;
}

static int refuse(const struct pm_candidate *c, struct pm_error *err)
{
	struct pm_bytes path = pm_bytes_of(c->path);
	for (size_t i = 0; i < sizeof(lookalikes) / sizeof(lookalikes[0]); i++) {
		const char *ends = lookalikes[i].ends;
		size_t n = ends ? strlen(ends) : lookalikes[i].len;
		bool is = ends ? path.len > n && memcmp(path.p + path.len - n, ends, n) == 0
			       : begins_with(c->inflated, lookalikes[i].begins, n);
		if (is)
			return pm_error_set(
				err, -EINVAL, c->path, PM_NO_OFFSET, "%s", lookalikes[i].what);
	}
	if (!c->folder && c->inflated.len == 0 && pm_inflate_kind_of(c->head) == PM_INFLATE_ZSTD)
		return pm_error_set(err, -EINVAL, c->path, PM_NO_OFFSET,
			"is compressed with zstd and cannot be decompressed: it is damaged, or this "
			"program was built without libzstd");
	return pm_error_set(err, -EINVAL, c->path, PM_NO_OFFSET,
		c->folder ? "contains no profile of a known format (see --formats)"
			  : "is not a profile of a known format (see --formats)");
}

/* With each format that it may be; the reason of the likeliest one is told. */
static int open_by_probe(const struct pm_candidate *c, const struct pm_open_options *options,
	struct pm_profile **ret, struct pm_error *err)
{
	const struct pm_format *format;
	int below = PM_PROBE_CERTAIN + 1, r = 0;
	size_t after = 0;
	for (bool first = true; (format = next_by_probe(c, &below, &after)); first = false) {
		struct pm_error why = {.offset = PM_NO_OFFSET};
		int e = opened_new(c, format, options, ret, &why);
		if (e == 0 || pm_is_passing(e) || first) {
			r = e;
			if (e < 0 && err)
				*err = why;
		}
		if (e == 0 || pm_is_passing(e))
			return e;
	}
	return r < 0 ? r : refuse(c, err);
}

int pm_profile_open(const char *path, const char *name, const struct pm_open_options *options,
	struct pm_profile **ret, struct pm_error *err)
{
	struct heads heads = {.files.n = 0};
	struct pm_candidate c = {.fd = -1};
	const struct pm_format *format = NULL;
	if (name && !(format = format_by_name(name)))
		return pm_error_set(err, -EINVAL, NULL, PM_NO_OFFSET,
			"no format is named %s (see --formats)", name);
	int r = options && options->n_files > 0 ? files_open(path, options, &c, err)
						: candidate_open(path, &c, &heads, err);
	if (r < 0)
		return r;
	if (!format)
		format = heads.format;
	if (!format)
		r = look_further(&c, &heads);
	r = r < 0        ? pm_error_set(err, r, path, PM_NO_OFFSET, "no memory")
		: format ? opened_new(&c, format, options, ret, err)
			 : open_by_probe(&c, options, ret, err);
	close(c.fd);
	heads_done(&heads);
	return r;
}

int pm_profile_probe(const char *path, struct pm_run_file *part)
{
	struct heads heads = {.files.n = 0};
	struct pm_candidate c = {.fd = -1};
	int sure = PM_PROBE_CERTAIN + 1;
	size_t after = 0;
	if (candidate_open(path, &c, &heads, NULL) < 0)
		return 0;
	const struct pm_format *format = heads.format;
	if (!format && look_further(&c, &heads) == 0)
		format = next_by_probe(&c, &sure, &after);
	close(c.fd);
	if (part && format && format->run_file && !c.folder) {
		int folder = pm_folder_around(path);
		bool is = folder >= 0 && format->run_file(folder, pm_path_name(path), part) > 0;
		part->format = is ? format->name : NULL;
		if (folder >= 0)
			close(folder);
	}
	heads_done(&heads);
	return format && sure > PM_PROBE_UNNAMED ? sure : 0;
}

struct pm_profile *pm_profile_close(struct pm_profile *p)
{
	if (!p)
		return NULL;
	struct opened *o = (struct opened *)p; /* profile is its first member */
	pm_cache_free(o->own_cache);
	o->own_cache = NULL;
	if (o->format->close)
		o->format->close(p);
	opened_free(o);
	return NULL;
}
