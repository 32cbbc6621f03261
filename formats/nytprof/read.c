/*
 * Reads a file from its first to its last readable byte. Decides what is an error (nothing to
 * present) and what is damage (present the rest, report what is missing).
 *
 * Devel::NYTProf and Pynytprof write the same first line and use the letters P and S for different
 * things. Neither P nor a comment line distinguishes them: the same 16 bytes can be two numbers of
 * 4 bytes and a double in both. So each reading of P is tried, and what follows it decides: three
 * plausible records, or a chunk within the file.
 */
#include "formats/nytprof/nytprof.h"

#include <errno.h>
#include <math.h>

#include "formats/common/affix.h"
#include "formats/common/cursor.h"
#include "formats/nytprof/stream.h"

/* ==== which layout ==== */

/* P as Pynytprof wrote it: tag, pid, ppid, start; for some weeks also a length word. */
enum nytp_body {
	NYTP_BODY_RECORDS, /* Devel::NYTProf */
	NYTP_BODY_CHUNKS,  /* Pynytprof: chunks, after P or without it */
	NYTP_BODY_TOKENS,  /* Pynytprof: records after a P of fixed size */
	NYTP_BODY_UNKNOWN,
};

struct nytp_dialect {
	enum nytp_body body;
	size_t body_at;   /* behind the header lines */
	size_t rest_at;   /* the same; of chunks and tokens: behind P */
	bool has_process; /* P was read: */
	uint32_t pid, ppid;
	double start;
};

enum { RAW_P = 17, LONG_P = 21, P_PAYLOAD = 16 };

/*
 * The range in which three records are looked for, so that recognition does not read the whole
 * file.
 */
enum { NEAR = 16 << 10 };

/* Number and length of unknown header lines that are skipped. */
enum { MOST_LINES = 16, LONGEST_LINE = 4096 };

struct reading {
	bool sane;
	size_t end;
	uint32_t pid, ppid;
	double start;
};

static size_t skip_header(struct pm_bytes file, size_t at)
{
	while (at < file.len && memchr("#:!\n", file.p[at], 4)) {
		const uint8_t *feed = memchr(file.p + at, '\n', file.len - at);
		if (!feed)
			return file.len;
		at = (size_t)(feed - file.p) + 1;
	}
	return at;
}

static struct reading read_fixed(struct pm_bytes file, size_t at, size_t size)
{
	struct pm_bytes p;
	if (!pm_bytes_sub(file, at, size, &p))
		return (struct reading){.sane = false};
	struct pm_cur c = pm_cur_of(p, false);
	pm_cur_take(&c, 1);
	if (size == LONG_P && pm_cur_u32(&c) != P_PAYLOAD)
		return (struct reading){.sane = false};
	struct reading r = {.end = at + size};
	r.pid = pm_cur_u32(&c);
	r.ppid = pm_cur_u32(&c);
	r.start = pm_cur_f64(&c);
	r.sane = nytp_time_is_sane(r.start);
	return r;
}

/* As a record, in the byte order that gives a plausible time. */
static struct reading read_record(struct pm_bytes file, size_t at)
{
	uint8_t padded[NYTP_HEAD] = {0};
	struct nytp_record record;
	struct reading r = {.sane = false};
	size_t need, left = file.len - at;
	memcpy(padded, file.p + at, left < sizeof(padded) ? left : sizeof(padded));
	for (int swap = 0; swap < 2 && !r.sane; swap++) {
		struct pm_bytes w = {padded, sizeof(padded)};
		int64_t used = nytp_record_decode(w, swap, &record, &need);
		if (used <= 0 || (uint64_t)used > left)
			return r;
		r = (struct reading){.end = at + (size_t)used,
			.pid = record.u[0],
			.ppid = record.u[1],
			.start = record.f[0],
			.sane = nytp_time_is_sane(record.f[0])};
	}
	return r;
}

/* Whether three records follow, or fewer if the data ends. The result is in `*ret`. */
static int records_follow(struct pm_bytes file, size_t at, bool *ret)
{
	struct nytp_stream s;
	struct nytp_record record;
	struct nytp_break why = {.cut = true};
	struct pm_bytes near = file;
	if (at < file.len && file.len - at > NEAR)
		near.len = at + NEAR;
	int r = nytp_stream_open(&s, near, at);
	for (int i = 0; r >= 0 && i < 3; i++) {
		r = nytp_stream_next(&s, &record, &why);
		if (r == 0)
			break;
	}
	nytp_stream_close(&s);
	*ret = r != -EINVAL || why.cut;
	return pm_is_passing(r) ? r : 0;
}

static bool chunk_tag(struct pm_bytes file, size_t at)
{
	return at < file.len && memchr("SDCFEA", file.p[at], 6);
}

/* Whether a chunk begins at `at`, judging by tag and length. */
static bool chunk_begins(struct pm_bytes file, size_t at)
{
	struct pm_bytes length;
	if (!chunk_tag(file, at))
		return false;
	if (file.p[at] == 'E' && at + 1 == file.len)
		return true;
	return pm_bytes_sub(file, at + 1, 4, &length) && pm_le32(length.p) <= file.len - at - 5;
}

/* Two consecutive chunks, or a single one up to the end: required if there is no P. */
static bool chunks_chain(struct pm_bytes file, size_t at)
{
	if (!chunk_begins(file, at))
		return false;
	size_t next = at + 5 < file.len ? at + 5 + pm_le32(file.p + at + 1) : file.len;
	return next == file.len || chunk_begins(file, next);
}

static void settle(struct nytp_dialect *d, enum nytp_body body, const struct reading *p)
{
	d->body = body;
	if (body == NYTP_BODY_RECORDS || body == NYTP_BODY_UNKNOWN)
		return;
	d->rest_at = p->end;
	d->has_process = true;
	d->pid = p->pid;
	d->ppid = p->ppid;
	d->start = p->start;
}

static int find_behind_p(struct pm_bytes file, struct nytp_dialect *d)
{
	const struct reading readings[] = {read_fixed(file, d->body_at, LONG_P),
		read_fixed(file, d->body_at, RAW_P), read_record(file, d->body_at)};
	const struct reading *raw = &readings[1], *record = &readings[2];
	bool follow;
	int r = records_follow(file, d->body_at, &follow);
	if (r < 0)
		return r;
	if (follow && record->sane) {
		settle(d, NYTP_BODY_RECORDS, record);
		return 0;
	}
	for (size_t i = 0; i < 3; i++)
		if (readings[i].sane && chunk_begins(file, readings[i].end)) {
			settle(d, NYTP_BODY_CHUNKS, &readings[i]);
			return 0;
		}
	bool after_raw = false;
	if (raw->sane && (r = records_follow(file, raw->end, &after_raw)) < 0)
		return r;
	if (after_raw)
		settle(d, NYTP_BODY_TOKENS, raw);
	else if (follow || record->sane) /* a clock that was never set; damage at the beginning */
		settle(d, NYTP_BODY_RECORDS, record);
	else if (raw->sane && chunk_tag(file, raw->end)) /* truncated within the first chunk */
		settle(d, NYTP_BODY_CHUNKS, raw);
	else
		settle(d, NYTP_BODY_UNKNOWN, raw);
	return 0;
}

/*
 * After a line of text that is not part of the header: an attribute's value may have contained a
 * line feed. `at` if there is no such line, or nothing after it.
 */
static size_t skip_text(struct pm_bytes file, size_t at)
{
	size_t end = at;
	while (end < file.len && end - at < LONGEST_LINE && file.p[end] >= 0x20 &&
		file.p[end] != 0x7f)
		end++;
	return end > at && end + 1 < file.len && file.p[end] == '\n' ? end + 1 : at;
}

static int find(struct pm_bytes file, size_t at, struct nytp_dialect *ret)
{
	bool follow;
	*ret = (struct nytp_dialect){.body_at = skip_header(file, at)};
	ret->rest_at = ret->body_at;
	if (ret->body_at < file.len && file.p[ret->body_at] == NYTP_PID_START)
		return find_behind_p(file, ret);
	int r = records_follow(file, ret->body_at, &follow);
	if (r < 0)
		return r;
	if (!follow && chunks_chain(file, ret->body_at))
		ret->body = NYTP_BODY_CHUNKS;
	else
		ret->body = follow ? NYTP_BODY_RECORDS : NYTP_BODY_UNKNOWN;
	return 0;
}

static int dialect_find(struct pm_bytes file, size_t at, struct nytp_dialect *ret)
{
	int r = find(file, at, ret);
	struct nytp_dialect next = *ret;
	for (int i = 0; r == 0 && next.body == NYTP_BODY_UNKNOWN && i < MOST_LINES; i++) {
		size_t behind = skip_text(file, next.body_at);
		if (behind == next.body_at)
			break;
		r = find(file, behind, &next);
	}
	if (r == 0 && next.body != NYTP_BODY_UNKNOWN)
		*ret = next;
	return r;
}

/* ==== the file ==== */

#define DEFAULT_TICKS_PER_SEC 10000000.0
#define NS_PER_SEC            1e9

enum { PROGRESS_RECORDS = 256 /* at most some pages of the file */, NV_SIZE = 8 };

/* ---- versions ---- */

static bool is_pynytprof(struct pm_bytes head)
{
	return head.len >= 8 && memcmp(head.p, "NYTPROF\0", 8) == 0;
}

bool nytp_head_matches(struct pm_bytes head)
{
	return pm_begins_with(head, "NYTProf ") || pm_begins_with(head, "NYTPROF6") ||
		is_pynytprof(head);
}

static int check_version(
	struct nytp_file *f, struct pm_bytes bytes, size_t *ret_at, struct pm_error *err)
{
	unsigned major;
	if (pm_begins_with(bytes, "NYTPROF6"))
		return pm_error_set(err, -ENOTSUP, f->name, 0,
			"is a profile of version 6, a different format; versions 4 and 5 are supported");
	if (is_pynytprof(bytes))
		return pm_error_set(err, -ENOTSUP, f->name, 0,
			"has the binary header of an early Pynytprof; only text headers are supported");
	if (!nytp_first_line(bytes, &major, ret_at))
		return pm_error_set(err, -EINVAL, f->name, 0,
			"the first line is not a complete header: NYTProf MAJOR MINOR expected");
	if (major != 4 && major != 5)
		return pm_error_set(err, -ENOTSUP, f->name, 0,
			"is a profile of version %u; versions 4 and 5 are supported", major);
	f->layout = major == 4 ? NYTP_LAYOUT_4 : NYTP_LAYOUT_5;
	return 0;
}

static int check_nv_size(const struct nytp_adding *a, struct pm_error *err)
{
	double size = nytp_number(nytp_attribute(a->n, a->f, "nv_size"));
	if (isnan(size) || size == NV_SIZE)
		return 0;
	return pm_error_set(err, -ENOTSUP, a->f->name, PM_NO_OFFSET,
		"written by a perl with numbers of nv_size %g (long double or quadmath); only 8 is supported",
		size);
}

/* ---- records ---- */

/* The byte order of doubles is not stored; the first time of a process shows it. */
static void settle_order(struct nytp_stream *s, struct nytp_record *p)
{
	uint64_t bits;
	memcpy(&bits, &p->f[0], sizeof(bits));
	double swapped = pm_f64_of_bits(__builtin_bswap64(bits));
	if (nytp_time_is_sane(p->f[0]) || !nytp_time_is_sane(swapped))
		return;
	s->swap = !s->swap;
	p->f[0] = swapped;
}

/* A source beyond the limits is presented up to there; without memory it is refused. */
static void report_break(const struct nytp_adding *a, int r, const struct nytp_stream *s,
	const struct nytp_break *why)
{
	uint64_t done = s->in ? nytp_stream_done(s) : 0;
	if (r == -EINVAL)
		pm_damage_add(&a->n->damage, a->f->name, why->offset, why->bytes, "%s", why->what);
	if (r == NYTP_FULL)
		pm_damage_add(&a->n->damage, a->f->name, done, s->file.len - done,
			"the limit of rows has been reached: the rest is not presented");
}

struct reading_records {
	struct nytp_adding *a;
	struct nytp_stream s;
	struct nytp_break why;
	struct pm_error *err;
};

static void add_records(void *context)
{
	struct reading_records *x = context;
	struct nytp_adding *a = x->a;
	struct nytp_record record;
	uint64_t n = 0;
	int r;
	while ((r = nytp_stream_next(&x->s, &record, &x->why)) > 0) {
		if (record.tag == NYTP_PID_START && a->f->n_processes == 0)
			settle_order(&x->s, &record);
		nytp_add(a, &record);
		if (record.tag == NYTP_ATTRIBUTE)
			pm_build_check(a->f->arena, check_nv_size(a, x->err));
		if (++n % PROGRESS_RECORDS == 0)
			nytp_progress(a->n, nytp_stream_done(&x->s));
	}
	pm_build_check(a->f->arena, r);
}

/* The stream is open, so this is an attempt of its own. */
static void read_records(
	struct nytp_adding *a, struct pm_bytes bytes, size_t at, struct pm_error *err)
{
	struct reading_records x = {.a = a, .err = err};
	int r = nytp_stream_open(&x.s, bytes, at);
	if (r == 0)
		r = pm_build(a->f->arena, add_records, &x);
	bool refused = r == -ENOTSUP || pm_is_passing(r);
	if (!refused)
		report_break(a, r, &x.s, &x.why);
	nytp_stream_close(&x.s);
	pm_build_check(a->f->arena, refused ? r : 0);
}

/* ---- header lines ---- */

static void read_header(
	struct nytp_adding *a, struct pm_bytes bytes, size_t at, size_t end, struct pm_error *err)
{
	while (at < end) {
		uint8_t tag = bytes.p[at];
		const uint8_t *feed = memchr(bytes.p + at, '\n', end - at);
		size_t next = feed ? (size_t)(feed - bytes.p) + 1 : end;
		struct pm_bytes line = {bytes.p + at + 1, next - at - (feed ? 2 : 1)};
		if (!feed)
			pm_damage_add(&a->n->damage, a->f->name, at, next - at,
				"the stream ends within a record");
		else if (tag == NYTP_ATTRIBUTE || tag == NYTP_OPTION)
			nytp_add_attribute(a, tag == NYTP_OPTION, line);
		else if (tag != NYTP_COMMENT && tag != '\n')
			pm_damage_add(&a->n->damage, a->f->name, at, next - at,
				"an unknown line of the header; it may be part of the value before it");
		at = next;
	}
	pm_build_check(a->f->arena, check_nv_size(a, err));
}

/* ---- what is missing ---- */

static uint64_t count_returns(const struct nytp_file *f)
{
	uint64_t n = 0;
	for (size_t i = 0; i < f->n_threads; i++)
		n += f->threads[i].calls.returns;
	return n;
}

/* Subs, callers and source text are only written when a program ends. */
static void report_unfinished(const struct nytp_adding *a)
{
	const struct nytp_file *f = a->f;
	uint64_t returns = count_returns(f);
	bool chunks = f->layout == NYTP_LAYOUT_CHUNKS;
	size_t open = 0, first = 0;
	for (size_t i = f->n_processes; i-- > 0;)
		if (isnan(f->processes[i].end)) {
			open++;
			first = i;
		}
	if (f->n_processes == 0 && !chunks)
		pm_damage_add(&a->n->damage, f->name, PM_NO_OFFSET, PM_NO_OFFSET,
			"no process is recorded");
	if (open == 0 || chunks)
		return;
	const char *lost = "only the end of the stream is missing";
	if (f->n_sites == 0)
		lost = returns
			? "the tables of subs, callers and source text are missing; functions and "
			  "callers are rebuilt from the returns of subs"
			: "the tables of subs, callers and source text are missing, and there are "
			  "no returns of subs to rebuild them from";
	pm_damage_add(&a->n->damage, f->name, PM_NO_OFFSET, PM_NO_OFFSET,
		"%zu of %zu processes did not finish (%u): %s", open, f->n_processes,
		f->processes[first].pid, lost);
}

/*
 * Times that do not fit in ns are unknown. A clock that was never set is recognised by its times.
 */
static void report_times(const struct nytp_adding *a)
{
	for (size_t i = 0; i < a->f->n_processes; i++) {
		const struct nytp_process *p = &a->f->processes[i];
		double wrong = p->start < 0 || p->start >= NYTP_MOST_SECONDS ? p->start : p->end;
		if (wrong < 0 || wrong >= NYTP_MOST_SECONDS)
			pm_damage_add(&a->n->damage, a->f->name, PM_NO_OFFSET, PM_NO_OFFSET,
				"process %u: %g s is not a valid time", p->pid, wrong);
	}
}

static void settle_ticks(const struct nytp_adding *a)
{
	double rate = nytp_number(nytp_attribute(a->n, a->f, "ticks_per_sec"));
	if (!(rate > 0) || isinf(rate)) {
		rate = DEFAULT_TICKS_PER_SEC;
		pm_damage_add(&a->n->damage, a->f->name, PM_NO_OFFSET, PM_NO_OFFSET,
			"no usable ticks_per_sec: 10000000 is assumed, times of statements and contexts may be wrong");
	}
	a->f->ns_per_tick = NS_PER_SEC / rate;
}

static void report_limits(const struct nytp_adding *a)
{
	if (a->texts_dropped)
		pm_damage_add(&a->n->damage, a->f->name, PM_NO_OFFSET, PM_NO_OFFSET,
			"%llu lines of source text are beyond the limit and not kept",
			(unsigned long long)a->texts_dropped);
	for (size_t i = 0; i < a->f->n_threads; i++)
		if (a->f->threads[i].calls.too_deep)
			pm_damage_add(&a->n->damage, a->f->name, PM_NO_OFFSET, PM_NO_OFFSET,
				"process %u: calls beyond the maximum depth are attributed to the deepest level",
				a->f->threads[i].pid);
}

/* Determines the kind of file, and where its records or chunks begin. */
static int begin(struct nytp_file *f, struct pm_bytes bytes, size_t *ret_at,
	struct nytp_dialect *ret, struct pm_error *err)
{
	enum nytp_layout known = f->layout; /* of the time of opening, so that it does not change */
	int r = check_version(f, bytes, ret_at, err);
	if (r == 0)
		r = dialect_find(bytes, *ret_at, ret);
	if (r < 0)
		f->layout = known;
	if (r == 0 && ret->body == NYTP_BODY_UNKNOWN)
		return pm_error_set(err, -EINVAL, f->name, ret->body_at,
			"the data after the header is neither NYTProf records nor Pynytprof chunks");
	if (r == 0 && ret->body == NYTP_BODY_CHUNKS)
		f->layout = NYTP_LAYOUT_CHUNKS;
	if (r == 0 && ret->body == NYTP_BODY_TOKENS)
		f->layout = NYTP_LAYOUT_TOKENS;
	return r;
}

static bool has_blocks(const struct nytp_file *f, const struct nytp *n)
{
	for (size_t i = 0; i < f->n_attributes; i++) {
		const struct nytp_attribute *a = &f->attributes[i];
		if (a->option && pm_bytes_equal(nytp_name(n, a->name), pm_bytes_of("blocks")))
			return nytp_number(nytp_name(n, a->value)) != 0;
	}
	return f->layout == NYTP_LAYOUT_4 || f->layout == NYTP_LAYOUT_5;
}

/* A file that is read, or its head. */
struct reading_file {
	struct nytp_adding a;
	struct pm_bytes bytes;
	struct nytp_dialect dialect;
	size_t at; /* of the header, behind the first line */
	struct pm_error *err;
};

static int read_in_build(struct reading_file *x, void (*read)(void *reading))
{
	int r = begin(x->a.f, x->bytes, &x->at, &x->dialect, x->err);
	if (r == 0)
		r = pm_build(&x->a.n->arena, read, x);
	return r == NYTP_FULL ? PM_NO_MEMORY : r;
}

static void read_head(void *reading)
{
	struct reading_file *x = reading;
	nytp_file_begin(x->a.n, x->a.f);
	read_header(&x->a, x->bytes, x->at, x->dialect.body_at, x->err);
}

int nytp_head_read(
	struct pm_bytes bytes, const char *name, struct nytp_head *ret, struct pm_error *err)
{
	struct nytp n;
	struct nytp_file f = {.name = name};
	struct reading_file x = {.a = {.n = &n, .f = &f}, .bytes = bytes, .err = err};
	nytp_init(&n);
	int r = read_in_build(&x, read_head);
	if (r == 0)
		*ret = (struct nytp_head){.layout = f.layout,
			.start = nytp_number(nytp_attribute(&n, &f, "basetime")),
			.blocks = x.dialect.body_at < bytes.len && has_blocks(&f, &n)};
	nytp_done(&n);
	return r < 0 ? pm_error_set(err, r, name, PM_NO_OFFSET, "no memory for its header") : 0;
}

static void read_front(void *reading)
{
	struct reading_file *x = reading;
	const struct nytp_dialect *d = &x->dialect;
	read_head(x);
	if (d->has_process)
		nytp_add_process(&x->a, d->pid, d->ppid, d->start);
}

static void read_all(void *reading)
{
	struct reading_file *x = reading;
	const struct nytp_dialect *d = &x->dialect;
	struct pm_arena *a = &x->a.n->arena;
	int r = pm_build(a, read_front, x);
	pm_build_check(a, r == NYTP_FULL ? 0 : r);
	if (r == NYTP_FULL)
		pm_damage_add(&x->a.n->damage, x->a.f->name, x->at, x->bytes.len - x->at,
			"the limit of rows has been reached: the file is not presented");
	else if (d->body == NYTP_BODY_CHUNKS)
		nytp_chunks_read(&x->a, x->bytes, d->rest_at);
	else
		read_records(&x->a, x->bytes, d->rest_at, x->err);
	nytp_add_end(&x->a);
}

int nytp_file_read(struct nytp *n, struct nytp_file *f, struct pm_bytes bytes, struct pm_error *err)
{
	struct reading_file x = {.a = {.n = n, .f = f}, .bytes = bytes, .err = err};
	int r = read_in_build(&x, read_all);
	nytp_logs_end(n, f);
	if (r < 0)
		return pm_error_set(err, r, f->name, PM_NO_OFFSET, "no memory for its tables");
	n->returns += count_returns(f);
	settle_ticks(&x.a);
	report_times(&x.a);
	report_unfinished(&x.a);
	report_limits(&x.a);
	return 0;
}
