/*
 * Devel::NYTProf and Pynytprof write the same first line and use the letters P and S for different
 * things. Neither P nor a comment line distinguishes them: the same 16 bytes can be two numbers of
 * 4 bytes and a double in both. So each reading of P is tried, and what follows it decides: three
 * plausible records, or a chunk within the file.
 */
#include "formats/nytprof/dialect.h"

#include <errno.h>

#include "formats/common/cursor.h"
#include "formats/nytprof/stream.h"

/* P as Pynytprof wrote it: tag, pid, ppid, start; for some weeks also a length word. */
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
	return r == -ENOMEM ? r : 0;
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

int nytp_dialect_find(struct pm_bytes file, size_t at, struct nytp_dialect *ret)
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
