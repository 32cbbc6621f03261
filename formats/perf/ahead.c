/*
 * Records in the order of their times, and the frames of samples that differ from those of the
 * thread's last one: all that follows from the file alone. A thread reads them ahead of the one
 * that has maps, names and costs, so that the work is shared between two processors.
 */
#include <stdlib.h>

#include "formats/common/ahead.h"
#include "formats/common/crew.h"
#include "formats/perf/data.h"

enum {
	MANY = 1 << 14,               /* records: for fewer, a thread does not pay */
	MOST_FRAMES = UINT16_MAX / 8, /* in a record, whose size has 16 bits */
	MOST_BYTES = sizeof(struct perf_told) + MOST_FRAMES * sizeof(struct perf_frame),
};
_Static_assert((size_t)MOST_BYTES < PM_AHEAD_BLOCK, "any record fits in a block");

/* The call chain of a thread's last sample, which has most frames in common with the next. */
struct seen {
	struct pm_bytes chain; /* empty: none to compare with */
	uint64_t epoch;        /* when it was */
	uint32_t n_frames;
	enum perf_mode mode; /* of the outermost frame */
};

/*
 * Where an address was met lately. Two of a cache line: an address is in one of them, the later one
 * first, or in none. Each has a slot in perf.slots, which it takes along.
 */
struct recent {
	uint64_t ip, epoch;
	uint32_t pid;
	uint8_t mode;
	bool first;
	bool is_second; /* of the later one: it has the second of their two slots */
};

enum { RECENT = PERF_SLOTS / 2 };

struct perf_ahead {
	const struct perf *f;
	/* Of the thread, while there is one. */
	struct perf_order order;
	uint64_t epoch;      /* counts changes of maps */
	struct pm_map index; /* (pid, tid) → seen */
	struct seen *seen;
	size_t n_seen, seen_room;
	struct recent recent[RECENT][2];
	/* Of its reader. */
	struct pm_ahead *thread; /* NULL: there is none */
	uint8_t *own;            /* a block without a thread */
	const uint8_t *block;
	struct pm_ahead_step step;
	size_t at;
};

/* ---- frames ---- */

static struct recent *recent_of(struct perf_ahead *a, uint64_t ip)
{
	return a->recent[pm_hash_u64(ip) % RECENT];
}

/* The slot of a frame: that of the same address in the same process and maps, or another's. */
static void give_slot(struct perf_ahead *a, uint32_t pid, struct perf_frame *frame)
{
	struct recent *r = recent_of(a, frame->ip);
	uint32_t slots = 2 * (uint32_t)((r - a->recent[0]) / 2);
	for (unsigned i = 0; i < 2; i++)
		if (r[i].ip == frame->ip && r[i].epoch == a->epoch && r[i].pid == pid &&
			r[i].mode == frame->mode && r[i].first == frame->first) {
			frame->slot = slots + (r[0].is_second ^ i);
			return;
		}
	r[1] = r[0];
	r[0] = (struct recent){
		frame->ip, a->epoch, pid, frame->mode, frame->first, !r[1].is_second};
	frame->slot = slots + r[0].is_second;
	frame->fresh = true;
}

static bool is_marker(uint64_t ip)
{
	enum { LAST_MARKER = -4095 };
	return (int64_t)ip < 0 && (int64_t)ip >= LAST_MARKER;
}

/*
 * The frames of a sample, leaf first, but for the last `known` words of its chain, of which none is
 * a marker. Returns the mode of the outermost frame.
 */
static enum perf_mode list_frames(
	struct perf_ahead *a, struct perf_told *t, enum perf_mode mode, size_t known)
{
	/* Markers in a chain say what the addresses behind them are. */
	static const struct {
		int64_t marker;
		enum perf_mode mode;
	} markers[] = {{-32, HYPERVISOR}, {-128, KERNEL}, {-512, USER}, {-2048, GUEST_KERNEL},
		{-2176, GUEST_KERNEL}, {-2560, GUEST_USER}};
	const struct perf_sample *s = &t->sample;
	struct pm_cur c = perf_cur(a->f, (struct pm_bytes){s->chain.p, s->chain.len - 8 * known});
	enum perf_mode own = mode;
	bool first = true, is_user = false;
	t->known = (uint32_t)known;
	t->n_frames = 0;
	while (pm_cur_left(&c) >= 8) {
		uint64_t ip = pm_cur_u64(&c);
		if (is_marker(ip)) {
			for (size_t i = 0; i < sizeof(markers) / sizeof(markers[0]); i++)
				if (markers[i].marker == (int64_t)ip) {
					mode = markers[i].mode;
					first = true;
				}
			continue;
		}
		__builtin_prefetch(recent_of(a, ip));
		t->frames[t->n_frames++] =
			(struct perf_frame){.ip = ip, .mode = (uint8_t)mode, .first = first};
		is_user |= mode == USER;
		first = false;
	}
	t->unwinds = s->stack.len && !is_user;
	if (t->n_frames == 0 && known == 0 && s->has_ip && !t->unwinds)
		t->frames[t->n_frames++] =
			(struct perf_frame){.ip = s->ip, .mode = (uint8_t)own, .first = true};
	return mode;
}

/*
 * How many of the outermost words two chains have in common, up to a marker. One less than that:
 * what stands before a frame says whether it is the first of its mode.
 */
static size_t common_words(const struct perf *f, struct pm_bytes a, struct pm_bytes b)
{
	size_t most = (a.len < b.len ? a.len : b.len) / 8, n = 0;
	for (; n < most; n++) {
		const uint8_t *p = a.p + a.len - 8 * (n + 1);
		if (memcmp(p, b.p + b.len - 8 * (n + 1), 8) != 0 ||
			is_marker(f->big ? pm_be64(p) : pm_le64(p)))
			break;
	}
	return n ? n - 1 : 0;
}

/* ---- records ---- */

/* What is known of a thread, which may be new; NULL if out of memory. */
static struct seen *seen_of(struct perf_ahead *a, const struct perf_sample *s)
{
	bool fresh;
	uint32_t *at = pm_map_put(&a->index, s->pid << 32 | s->tid, (uint32_t)a->n_seen, &fresh);
	if (!at ||
		(fresh && pm_list_room(&a->seen, a->n_seen, &a->seen_room, sizeof(*a->seen)) < 0))
		return NULL;
	if (fresh)
		a->seen[a->n_seen++] = (struct seen){.n_frames = 0};
	return &a->seen[*at];
}

/* A sample and its frames; false if out of memory. */
static bool tell_sample(struct perf_ahead *a, struct perf_told *t)
{
	const struct perf_sample *s = &t->sample;
	enum perf_mode mode = perf_misc(a->f, &t->place) & 7, outermost;
	/* Frames of idle threads, and those from a copy of the stack, are judged all together. */
	bool is_alike = s->has_tid && (s->pid != 0 || s->tid != 0) && s->stack.len == 0;
	struct seen *seen = is_alike ? seen_of(a, s) : NULL;
	if (is_alike && !seen)
		return false;
	t->thread = seen ? (uint32_t)(seen - a->seen) : PM_NONE;
	size_t known =
		seen && seen->epoch == a->epoch ? common_words(a->f, s->chain, seen->chain) : 0;
	known = known && known < seen->n_frames ? known : 0;
	outermost = list_frames(a, t, mode, known);
	if (known && outermost != seen->mode)
		outermost = list_frames(a, t, mode, 0);
	for (uint32_t i = t->n_frames; i-- > 0;) /* in the order in which they are used */
		give_slot(a, (uint32_t)s->pid, &t->frames[i]);
	if (seen && t->n_frames + t->known > 0)
		*seen = (struct seen){s->chain, a->epoch, t->n_frames + t->known, outermost};
	return true;
}

/* Fills a block with records; see pm_ahead_new. */
static struct pm_ahead_step tell(void *source, uint8_t *room, size_t n)
{
	struct perf_ahead *a = source;
	struct pm_ahead_step step = {.state = PM_INFLATE_MORE};
	while (n - step.n >= MOST_BYTES) {
		struct perf_told *t = (void *)(room + step.n);
		int r = perf_order_next(a->f, &a->order, &t->place);
		if (r <= 0) {
			step.state = r < 0 ? PM_INFLATE_FAILED : PM_INFLATE_ENDED;
			break;
		}
		t->n_frames = t->known = 0;
		t->sample.event = NULL;
		a->epoch += t->place.type != SAMPLE;
		/* It was read before, but an event that the file describes behind it makes ids
		 * necessary. */
		if (t->place.type != SAMPLE ||
			!perf_read_sample(a->f, perf_body(&t->place), &t->sample)) {
			t->sample.event = NULL;
		} else if (!tell_sample(a, t)) {
			step.state = PM_INFLATE_FAILED;
			break;
		}
		step.n += sizeof(*t) + t->n_frames * sizeof(*t->frames);
	}
	return step;
}

struct perf_ahead *perf_ahead_new(const struct perf *f)
{
	struct perf_ahead *a = calloc(1, sizeof(*a));
	if (!a)
		return NULL;
	a->f = f;
	a->epoch = 1; /* nothing was seen in none */
	a->step.state = PM_INFLATE_MORE;
	if (f->n_records >= MANY && pm_crew_width() > 1)
		a->thread = pm_ahead_new(tell, a);
	a->own = a->thread ? NULL : malloc(PM_AHEAD_BLOCK);
	a->block = a->own;
	if (a->thread || a->own)
		return a;
	free(a);
	return NULL;
}

const struct perf_told *perf_ahead_next(struct perf *f, struct perf_ahead *a)
{
	if (a->at == a->step.n && a->step.state == PM_INFLATE_MORE) {
		a->at = 0;
		if (a->thread)
			a->block = pm_ahead_block(a->thread, &a->step);
		else
			a->step = tell(a, a->own, PM_AHEAD_BLOCK);
	}
	if (a->at == a->step.n) {
		if (a->step.state == PM_INFLATE_FAILED)
			perf_no_memory(f);
		return NULL;
	}
	const struct perf_told *t = (const void *)(a->block + a->at);
	a->at += sizeof(*t) + t->n_frames * sizeof(*t->frames);
	if (a->at < a->step.n)
		perf_context_comes(f, (const void *)(a->block + a->at));
	return t;
}

void perf_ahead_free(struct perf_ahead *a)
{
	if (!a)
		return;
	pm_ahead_free(a->thread);
	perf_order_done(&a->order);
	pm_map_done(&a->index);
	free(a->seen);
	free(a->own);
	free(a);
}
