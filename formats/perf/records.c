/* Records of perf.data: samples with all their fields, and where the others are. */
#include "formats/common/unzstd.h"
#include "formats/perf/data.h"

/* ---- samples ---- */

static void skip_read(struct pm_cur *c, uint64_t format)
{
	uint64_t n = 1, each = 8 + (format & READ_ID ? 8 : 0) + (format & READ_LOST ? 8 : 0);
	uint64_t times = (format & READ_ENABLED ? 8 : 0) + (format & READ_RUNNING ? 8 : 0);
	if (format & READ_GROUP)
		n = pm_cur_u64(c);
	if (n > pm_cur_left(c) / 8)
		c->bad = true;
	else
		pm_cur_bytes(c, (size_t)(times + n * each));
}

static void skip_sized(struct pm_cur *c, uint64_t n, uint64_t each)
{
	if (n > pm_cur_left(c) / each)
		c->bad = true;
	else
		pm_cur_bytes(c, (size_t)(n * each));
}

static uint64_t skip_regs(struct pm_cur *c, uint64_t mask)
{
	uint64_t abi = pm_cur_u64(c);
	if (abi != 0)
		skip_sized(c, (uint64_t)__builtin_popcountll(mask), 8);
	return abi;
}

/* The copy of a user stack, and how much of it there was. */
static void read_stack(struct pm_cur *c, struct perf_sample *s)
{
	uint64_t n = pm_cur_u64(c), used;
	size_t from = c->at;
	skip_sized(c, n, 1);
	if (c->bad || n == 0)
		return;
	used = pm_cur_u64(c);
	s->stack = (struct pm_bytes){c->b.p + from, (size_t)(used < n ? used : n)};
}

/*
 * The same for samples that have no more than their usual fields, which are at fixed places: those
 * of perf record -g.
 */
static bool read_usual(struct pm_bytes body, struct perf_sample *s)
{
	const struct perf_event *e = s->event;
	const uint8_t *p = body.p, *end = p + body.len;
	uint64_t type = e->sample_type, n;
	if (body.len < e->fixed_size)
		return false;
	p += type & IDENTIFIER ? 8 : 0;
	if ((s->has_ip = type & IP)) {
		s->ip = pm_le64(p);
		p += 8;
	}
	if ((s->has_tid = type & TID)) {
		s->pid = pm_le32(p);
		s->tid = pm_le32(p + 4);
		p += 8;
	}
	if (type & TIME) {
		s->time = pm_le64(p);
		p += 8;
	}
	p += (type & ADDR ? 8 : 0) + (type & ID ? 8 : 0) + (type & STREAM_ID ? 8 : 0) +
		(type & CPU ? 8 : 0);
	s->period = type & PERIOD ? pm_le64(p) : e->sample_period;
	p += type & PERIOD ? 8 : 0;
	if (!(type & CALLCHAIN))
		return true;
	n = pm_le64(p);
	if (n > (size_t)(end - p - 8) / 8)
		return false;
	s->chain = (struct pm_bytes){p + 8, (size_t)n * 8};
	return true;
}

/* The fields of a sample; false if they run over the record, or its event is unknown. */
bool perf_read_sample(const struct perf *f, struct pm_bytes body, struct perf_sample *s)
{
	uint64_t id, type;
	*s = (struct perf_sample){.event = NULL};
	if (f->n_events == 0 || !perf_id_of_sample(f, body, &id) ||
		!(s->event = perf_event_of(f, id)))
		return false;
	const struct perf_event *e = s->event;
	if (e->fixed_size)
		return read_usual(body, s);
	struct pm_cur c = perf_cur(f, body);
	type = e->sample_type;
	if (type & IDENTIFIER)
		pm_cur_u64(&c);
	if (type & IP)
		s->ip = pm_cur_u64(&c);
	s->has_ip = type & IP;
	if (type & TID) {
		s->pid = pm_cur_u32(&c);
		s->tid = pm_cur_u32(&c);
	}
	s->has_tid = type & TID;
	if (type & TIME)
		s->time = pm_cur_u64(&c);
	skip_sized(&c, (uint64_t)__builtin_popcountll(type & (ADDR | ID | STREAM_ID | CPU)), 8);
	s->period = e->sample_period;
	if (type & PERIOD)
		s->period = pm_cur_u64(&c);
	if (type & READ) {
		size_t from = c.at;
		skip_read(&c, e->read_format);
		if (!c.bad)
			s->read = (struct pm_bytes){body.p + from, c.at - from};
	}
	if (type & CALLCHAIN) {
		uint64_t n = pm_cur_u64(&c);
		size_t from = c.at;
		skip_sized(&c, n, 8);
		if (!c.bad)
			s->chain = (struct pm_bytes){body.p + from, c.at - from};
	}
	if (type & RAW) {
		uint32_t n = pm_cur_u32(&c);
		s->raw = pm_cur_bytes(&c, n);
		if (!c.bad && (n + 4) % 8) /* both together are aligned */
			pm_cur_bytes(&c, 8 - (n + 4) % 8);
	}
	if (type & BRANCHES) {
		uint64_t n = pm_cur_u64(&c);
		if (e->branch_type & BRANCH_HW_INDEX)
			pm_cur_u64(&c);
		size_t from = c.at;
		skip_sized(&c, n, 24);
		if (!c.bad)
			s->branches = (struct pm_bytes){body.p + from, c.at - from};
		if (e->branch_type & BRANCH_COUNTERS)
			skip_sized(&c, n, 8);
	}
	if (type & REGS_USER) {
		size_t from = c.at + 8;
		s->abi = skip_regs(&c, e->regs_user);
		if (!c.bad && s->abi)
			s->registers = (struct pm_bytes){body.p + from, c.at - from};
	}
	if (type & STACK_USER)
		read_stack(&c, s);
	skip_sized(&c,
		(uint64_t)__builtin_popcountll(
			type & (WEIGHT | WEIGHT_STRUCT | DATA_SRC | TRANSACTION)),
		8);
	if (type & REGS_INTR)
		skip_regs(&c, e->regs_intr);
	skip_sized(&c,
		(uint64_t)__builtin_popcountll(type & (PHYS_ADDR | CGROUP | DATA_PAGE | CODE_PAGE)),
		8);
	if (type & AUX)
		skip_sized(&c, pm_cur_u64(&c), 1);
	return !c.bad;
}

/* ---- places of records ---- */

/* The time at the end of a record of the kernel; `latest` where there is none. */
static uint64_t trailer_time(const struct perf *f, struct pm_bytes body)
{
	const struct perf_event *e = f->n_events ? &f->events[0] : NULL;
	if (!e || !e->sample_id_all || !(e->sample_type & TIME))
		return f->latest;
	size_t behind = 8 *
		(size_t)__builtin_popcountll(e->sample_type & (ID | STREAM_ID | CPU | IDENTIFIER));
	if (body.len < behind + 8)
		return f->latest;
	struct pm_cur c = perf_cur(f, body);
	c.at = body.len - behind - 8;
	return pm_cur_u64(&c);
}

/* A record, with its time, behind those so far. */
static void add_place(struct perf *f, const struct perf_place *place, uint64_t time)
{
	f->run_is_open = false;
	pm_items_grow(&f->arena, &f->places, f->n_places, &f->places_room, sizeof(*f->places));
	f->latest = time > f->latest ? time : f->latest;
	f->places[f->n_places] = *place;
	f->places[f->n_places].time = time;
	f->places[f->n_places++].order = f->n_records++;
}

/* The same for a sample, which was read: of the last run, or the first of another. */
static void add_sample(struct perf *f, const struct perf_place *place, const struct perf_sample *s)
{
	bool timed = s->event->sample_type & TIME;
	uint64_t time = timed ? s->time : f->latest;
	struct perf_run *run = f->n_runs ? &f->runs[f->n_runs - 1] : NULL;
	if (!run || !f->run_is_open || time < f->run_ends || run->timed != timed ||
		(!timed && time != run->first.time) || run->n == UINT32_MAX) {
		pm_items_grow(&f->arena, &f->runs, f->n_runs, &f->runs_room, sizeof(*f->runs));
		run = &f->runs[f->n_runs++];
		*run = (struct perf_run){
			.first = *place, .stream = (uint32_t)f->n_streams - 1, .timed = timed};
		run->first.time = time;
		run->first.order = f->n_records;
	}
	run->n++;
	f->n_records++;
	f->run_is_open = true;
	f->run_ends = time;
	f->latest = time > f->latest ? time : f->latest;
}

static void take_attr_record(struct perf *f, struct pm_bytes body)
{
	struct pm_cur c = perf_cur(f, body);
	struct pm_bytes attr, ids = {NULL, 0};
	pm_cur_u32(&c);
	uint32_t size = pm_cur_u32(&c);
	size = size ? size : 64;
	if (!pm_bytes_sub(body, 0, size, &attr)) {
		f->bad_events++;
		return;
	}
	pm_bytes_sub(body, size, body.len - size, &ids);
	perf_add_event(f, attr, ids);
}

static void take_record(struct perf *f, const struct perf_place *place)
{
	struct pm_bytes body = perf_body(place);
	struct perf_sample s;
	struct pm_cur c = perf_cur(f, body);
	switch (place->type) {
	case SAMPLE:
		if (!perf_read_sample(f, body, &s)) {
			f->bad_samples++;
			return;
		}
		if (!(s.event->sample_type & TIME))
			s.time = f->latest;
		if (s.read.len && s.event->read_format & READ_ID)
			f->notes_again = true;
		f->events[s.event - f->events].has_samples = true;
		add_sample(f, place, &s);
		f->first_ns =
			s.time && (s.time < f->first_ns || !f->first_ns) ? s.time : f->first_ns;
		f->last_ns = s.time > f->last_ns ? s.time : f->last_ns;
		return;
	case MMAP:
	case MMAP2:
	case COMM:
	case FORK:
	case KSYMBOL: add_place(f, place, trailer_time(f, body)); return;
	case LOST:
		pm_cur_u64(&c);
		f->lost += pm_cur_u64(&c);
		add_place(f, place, trailer_time(f, body));
		return;
	case LOST_SAMPLES:
		f->lost_samples += pm_cur_u64(&c);
		add_place(f, place, trailer_time(f, body));
		return;
	case THROTTLE:
		f->throttled++;
		add_place(f, place, trailer_time(f, body));
		return;
	case HEADER_ATTR:
		if (f->is_bare)
			take_attr_record(f, body);
		return;
	case HEADER_FEATURE: {
		uint64_t feature = pm_cur_u64(&c);
		struct pm_bytes rest = {body.p + c.at, body.len - c.at};
		if (!c.bad && f->is_bare)
			perf_take_feature(f, feature, rest);
		return;
	}
	case BUILD_ID_EVENT: perf_take_build_id(f, place->p, place->size); return;
	case EVENT_UPDATE: {
		uint64_t what = pm_cur_u64(&c), id = pm_cur_u64(&c);
		struct perf_event *e = what == 2 /* name */ ? perf_event_of(f, id) : NULL;
		if (e && !c.bad && e->name.len == 0)
			e->name = pm_rec_copy(f->r,
				perf_string((struct pm_bytes){body.p + c.at, body.len - c.at}));
		return;
	}
	default: return; /* says nothing of costs */
	}
}

/* ---- streams ---- */

/* The place of a byte in the file; none for what was decompressed. */
static uint64_t offset_of(const struct perf *f, const uint8_t *p)
{
	return p >= f->all.p && p < f->all.p + f->all.len ? (uint64_t)(p - f->all.p) : PM_NO_OFFSET;
}

/* The first field of some records, of 64 bits: how much they hold, or what follows them. */
static uint64_t data_size(const struct perf *f, const uint8_t *record)
{
	return f->big ? pm_be64(record + 8) : pm_le64(record + 8);
}

/* Real records shrink to a twentieth; a few bytes must not become gigabytes. */
size_t perf_unpacked_limit(size_t packed)
{
	size_t most = ((size_t)64 << 20) + packed * 100;
	return most < PM_LIMIT_UNPACKED ? most : PM_LIMIT_UNPACKED;
}

/* What the compressed records of a stream hold: a stream. */
struct unpacking {
	struct pm_unzstd *zstd;
	struct pm_text out;
	const char *broken; /* why */
};

static void unpacking_done(void *unpacking)
{
	struct unpacking *u = unpacking;
	pm_unzstd_free(u->zstd);
}

static void unpack(
	struct perf *f, struct unpacking *u, const uint8_t *record, uint32_t type, uint64_t size)
{
	size_t head = type == COMPRESSED ? 8 : 16;
	struct pm_bytes piece = {record + head, (size_t)size - head};
	uint64_t said = type == COMPRESSED2 ? data_size(f, record) : piece.len;
	if (said <= piece.len)
		piece.len = (size_t)said;
	if (!u->broken && !u->zstd)
		u->zstd = pm_unzstd_new();
	if (!u->broken)
		u->broken = pm_unzstd_add(u->zstd, piece, &u->out);
}

/* One record after the other; the stream ends with one that cannot be. */
void perf_read_stream(struct perf *f, struct pm_bytes b, bool packed)
{
	/* All streams together are bounded, too. */
	size_t most = perf_unpacked_limit(b.len), left = PM_LIMIT_UNPACKED + 1 - f->unpacked;
	struct pm_arena *scratch = pm_arena_scratch(&f->arena);
	struct unpacking *u = pm_arena_alloc(scratch, sizeof(*u));
	size_t at = 0;
	pm_arena_owns(scratch, unpacking_done, u);
	u->out = (struct pm_text){.limit = most < left ? most : left, .arena = &f->arena};
	f->run_is_open = false;
	pm_items_grow(&f->arena, &f->streams, f->n_streams, &f->streams_room, sizeof(*f->streams));
	f->streams[f->n_streams++] = b;
	while (b.len - at >= 8 && pm_rec_goes_on(f->r)) {
		const uint8_t *p = b.p + at;
		pm_bytes_prefetch(b, at + 1024, 320);
		uint32_t type = perf_type(f, p);
		uint64_t size = perf_half(f, p + 6), least = type == COMPRESSED2 ? 16 : 8;
		uint64_t follows = 0, data;
		if (type == COMPRESSED2 && b.len - at >= least) {
			data = data_size(f, p);
			if (data < b.len && ((16 + data + 7) & ~UINT64_C(7)) > size)
				size = (16 + data + 7) & ~UINT64_C(7);
		}
		if (size < least || size > b.len - at) {
			pm_rec_damage(f->r, offset_of(f, p), b.len - at,
				size < least
					? "a record of %llu bytes cannot be, so the stream ends here"
					: "a record of %llu bytes goes beyond the end",
				(unsigned long long)size);
			break;
		}
		if ((type == TRACING_DATA || type == AUXTRACE) && size >= 16) {
			follows = data_size(f, p);
			if (type == TRACING_DATA)
				follows = (perf_type(f, p + 8) + UINT64_C(7)) & ~UINT64_C(7);
		}
		if ((type == COMPRESSED || type == COMPRESSED2) && !packed) {
			f->run_is_open = false;
			unpack(f, u, p, type, size);
		} else {
			take_record(f,
				&(struct perf_place){.p = p,
					.type = (uint16_t)(type <= UINT16_MAX ? type : 0),
					.size = (uint16_t)(size <= UINT16_MAX ? size : 8)});
		}
		f->run_is_open &= follows == 0 && size <= UINT16_MAX;
		if (follows > b.len - at - size) {
			pm_rec_damage(f->r, offset_of(f, p), b.len - at,
				"what follows a record goes beyond the end");
			break;
		}
		f->processor_traces += type == AUXTRACE ? follows : 0;
		if (type == TRACING_DATA && follows)
			perf_take_tracing(f, (struct pm_bytes){p + size, (size_t)follows});
		at += (size_t)(size + follows);
	}
	if (u->broken)
		pm_rec_damage(
			f->r, PM_NO_OFFSET, PM_NO_OFFSET, "compressed records: %s", u->broken);
	pm_text_shrink(&u->out);
	struct pm_bytes out = pm_text_view(&u->out);
	pm_arena_done(scratch);
	f->unpacked += out.len;
	if (out.len)
		perf_read_stream(f, out, true);
}
