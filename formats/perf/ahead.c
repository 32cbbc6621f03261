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
	struct pm_bytes chain; /* from the last marker on; empty: none to compare with */
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

/*
 * The slot of a frame, one of the two that its address may have: that of the same address in the
 * same process and maps, or another's.
 */
static void give_slot(struct perf_ahead *a, uint32_t pid, struct perf_frame *frame)
{
	uint16_t slots = frame->slot;
	struct recent *r = a->recent[slots / 2];
	for (unsigned i = 0; i < 2; i++)
		if (r[i].ip == frame->ip && r[i].epoch == a->epoch && r[i].pid == pid &&
			r[i].mode == frame->mode && r[i].first == frame->first) {
			frame->slot = (uint16_t)(slots + (r[0].is_second ^ i));
			return;
		}
	r[1] = r[0];
	r[0] = (struct recent){
		frame->ip, a->epoch, pid, frame->mode, frame->first, !r[1].is_second};
	frame->slot = (uint16_t)(slots + r[0].is_second);
	frame->fresh = true;
}

static bool is_marker(uint64_t ip)
{
	enum { LAST_MARKER = -4095 };
	return (int64_t)ip < 0 && (int64_t)ip >= LAST_MARKER;
}

static void list_frame(
	struct perf_ahead *a, struct perf_told *t, uint64_t ip, enum perf_mode mode, bool first)
{
	uint64_t place = pm_hash_u64(ip) % RECENT;
	__builtin_prefetch(a->recent[place]);
	t->frames[t->n_frames++] = (struct perf_frame){
		.ip = ip, .slot = (uint16_t)(2 * place), .mode = (uint8_t)mode, .first = first};
}

/*
 * The frames of a sample, leaf first, but for the last `known` words of its chain, of which none is
 * a marker. Returns what the thread's next sample is compared with.
 */
static struct seen list_frames(struct perf_ahead *a, struct perf_told *t,
	const struct perf_sample *s, enum perf_mode mode, size_t known)
{
	/* Markers in a chain say what the addresses behind them are. */
	static const struct {
		int64_t marker;
		enum perf_mode mode;
	} markers[] = {{-32, HYPERVISOR}, {-128, KERNEL}, {-512, USER}, {-2048, GUEST_KERNEL},
		{-2176, GUEST_KERNEL}, {-2560, GUEST_USER}};
	struct pm_cur c = perf_cur(a->f, (struct pm_bytes){s->chain.p, s->chain.len - 8 * known});
	struct pm_bytes plain = s->chain;
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
			plain = (struct pm_bytes){s->chain.p + c.at, s->chain.len - c.at};
			continue;
		}
		list_frame(a, t, ip, mode, first);
		is_user |= mode == USER;
		first = false;
	}
	t->unwinds = s->stack.len && !is_user;
	if (t->n_frames == 0 && known == 0 && s->has_ip && !t->unwinds)
		list_frame(a, t, s->ip, own, true);
	return (struct seen){plain, a->epoch, t->n_frames + t->known, mode};
}

/*
 * How many of the outermost words two chains have in common. One less than that: what stands before
 * a frame says whether it is the first of its mode.
 */
static size_t common_words(struct pm_bytes a, struct pm_bytes b)
{
	enum { STEP = 4 };
	size_t most = (a.len < b.len ? a.len : b.len) / 8, n = 0;
	const uint8_t *p = a.p + a.len, *q = b.p + b.len;
	while (n + STEP <= most && memcmp(p - 8 * (n + STEP), q - 8 * (n + STEP), 8 * STEP) == 0)
		n += STEP;
	while (n < most && memcmp(p - 8 * (n + 1), q - 8 * (n + 1), 8) == 0)
		n++;
	return n ? n - 1 : 0;
}

/* Products do not wait for each other, unlike those of most hashes. */
static uint32_t print_of(struct pm_bytes chain)
{
	uint64_t factor = UINT64_C(0x9e3779b97f4a7c15), sum = 0;
	for (size_t at = 0; at + 8 <= chain.len; at += 8) {
		sum += pm_le64(chain.p + at) * factor;
		factor += 2 * UINT64_C(0xff51afd7ed558ccd);
	}
	return (uint32_t)(pm_hash_u64(sum) >> (64 - PERF_PRINT_BITS));
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
static bool tell_sample(struct perf_ahead *a, struct perf_told *t, const struct perf_sample *s)
{
	enum perf_mode mode = perf_misc(a->f, &t->place) & 7;
	/* Frames of idle threads, and those from a copy of the stack, are judged all together. */
	bool is_alike = s->has_tid && (s->pid != 0 || s->tid != 0) && s->stack.len == 0;
	struct seen *seen = is_alike ? seen_of(a, s) : NULL;
	if (is_alike && !seen)
		return false;
	t->thread = seen ? (uint32_t)(seen - a->seen) : PM_NONE;
	size_t known = seen && seen->epoch == a->epoch ? common_words(s->chain, seen->chain) : 0;
	known = known && known < seen->n_frames ? known : 0;
	struct seen now = list_frames(a, t, s, mode, known);
	if (known && now.mode != seen->mode)
		now = list_frames(a, t, s, mode, 0);
	for (uint32_t i = t->n_frames; i-- > 0;) /* in the order in which they are used */
		give_slot(a, (uint32_t)s->pid, &t->frames[i]);
	if (seen && now.n_frames > 0)
		*seen = now;
	t->event = s->event;
	t->period = s->period;
	t->pid = (uint32_t)s->pid;
	t->tid = (uint32_t)s->tid;
	t->has_tid = s->has_tid;
	t->print = print_of(s->chain);
	return true;
}

static size_t size_of(const struct perf_told *t)
{
	return sizeof(*t) + t->n_frames * sizeof(*t->frames);
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
		struct perf_sample s;
		t->n_frames = t->known = t->print = 0;
		t->event = NULL;
		a->epoch += t->place.type != SAMPLE;
		/* It was read before, but an event that the file describes behind it makes ids
		 * necessary. */
		if (t->place.type == SAMPLE && perf_read_sample(a->f, perf_body(&t->place), &s) &&
			!tell_sample(a, t, &s)) {
			step.state = PM_INFLATE_FAILED;
			break;
		}
		step.n += size_of(t);
	}
	return step;
}

static void ahead_done(void *ahead)
{
	struct perf_ahead *a = ahead;
	pm_ahead_free(a->thread);
	pm_map_done(&a->index);
	free(a->order.heap);
	free(a->seen);
}

struct perf_ahead *perf_ahead_new(struct pm_arena *scratch, const struct perf *f)
{
	struct perf_ahead *a = pm_arena_alloc(scratch, sizeof(*a));
	pm_arena_owns(scratch, ahead_done, a);
	a->f = f;
	a->epoch = 1; /* nothing was seen in none */
	a->step.state = PM_INFLATE_MORE;
	if (f->n_records >= MANY && pm_crew_width() > 1)
		a->thread = pm_ahead_new(tell, a);
	if (!a->thread)
		a->block = a->own = pm_arena_realloc(scratch, NULL, PM_AHEAD_BLOCK);
	return a;
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
			pm_build_fail(&f->arena, PM_NO_MEMORY);
		return NULL;
	}
	const struct perf_told *t = (const void *)(a->block + a->at);
	a->at += size_of(t);
	/* What the thread wrote is in the memory of another processor. */
	pm_bytes_prefetch((struct pm_bytes){a->block, a->step.n}, a->at + 640, 192);
	/* The next sample needs the memory of its path, and the one behind it where that is said.
	 */
	const struct perf_told *next = (const void *)(a->block + a->at);
	if (a->at < a->step.n && next->event) {
		uint32_t path = f->met[next->print];
		size_t then = a->at + size_of(next);
		if (path < f->paths.n) {
			__builtin_prefetch(&f->paths.items[path]);
			__builtin_prefetch(&f->contexts[path]);
		}
		next = (const void *)(a->block + then);
		if (then < a->step.n)
			__builtin_prefetch(&f->met[next->print]);
	}
	return t;
}
