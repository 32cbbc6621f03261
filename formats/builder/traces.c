/*
 * Traces: what ran when on a thread, in blocks of events whose numbers are differences, about 10
 * bytes an event. Any event is found in O(1), and read by decoding the block that has it.
 */
#include <errno.h>
#include <math.h>

#include "formats/builder/recording.h"
#include "formats/common/list.h"
#include "formats/common/percentiles.h"
#include "formats/common/sort.h"
#include "formats/common/work.h"

enum {
	BLOCK_EVENTS = 256,
	VARINT = 10,                             /* bytes at most */
	BLOCK_BYTES = BLOCK_EVENTS * 6 * VARINT, /* of six numbers */
};

/* An event as it was told; `context` is a path, or PM_REC_NONE. */
struct pm_rec_event {
	uint64_t time_ns, duration_ns, self_ns, seq;
	uint32_t context, event;
	int64_t weight;
	uint64_t amounts; /* of a call: the number of its first one, + 1; 0: it has none */
};

/* ---- blocks ---- */

static uint8_t *put(uint8_t *at, uint64_t u)
{
	for (; u >= 0x80; u >>= 7)
		*at++ = (uint8_t)(u | 0x80);
	*at++ = (uint8_t)u;
	return at;
}

static uint8_t *put_signed(uint8_t *at, uint64_t difference)
{
	return put(at, difference << 1 ^ (uint64_t)((int64_t)difference >> 63));
}

static inline uint64_t get(const uint8_t **at)
{
	uint64_t u = 0;
	for (unsigned shift = 0;; shift += 7) {
		uint8_t byte = *(*at)++;
		u |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80)
			return u;
	}
}

static inline uint64_t get_signed(const uint8_t **at)
{
	uint64_t u = get(at);
	return u >> 1 ^ (0 - (u & 1));
}

/* The events that wait become a block. */
static int make_block(struct pm_recording *r, struct pm_rec_trace *t)
{
	uint8_t bytes[BLOCK_BYTES], *at = bytes;
	uint64_t time = 0, seq = 0;
	if (t->n_waiting == 0)
		return 0;
	for (size_t i = 0; i < t->n_waiting; i++) {
		const struct pm_rec_event *e = &t->waiting[i];
		at = put_signed(at, e->time_ns - time);
		at = put(at, e->duration_ns + 1); /* none: 0 */
		at = put(at, (uint32_t)(e->context + 1));
		if (r->traces_are_calls) {
			at = put_signed(at, e->duration_ns - e->self_ns);
			at = put_signed(at, e->seq - seq);
			if (r->n_events)
				at = put(at, e->amounts);
		}
		if (r->traces_are_weighed) {
			at = put(at, e->event);
			at = put_signed(at, (uint64_t)e->weight);
		}
		time = e->time_ns;
		seq = e->seq;
	}
	struct pm_bytes block =
		pm_arena_copy(&r->arena, (struct pm_bytes){bytes, (size_t)(at - bytes)});
	if (!block.p ||
		pm_list_room_in(
			&r->arena, &t->blocks, t->n_blocks, &t->block_room, sizeof(*t->blocks)) < 0)
		return -ENOMEM;
	t->blocks[t->n_blocks++] = block.p;
	t->n_waiting = 0;
	return 0;
}

/* Reads events of a block, one after the other. */
struct decoder {
	const uint8_t *at;
	uint64_t time, seq;
	bool calls, weighed, counts;
};

static inline struct decoder decoder_at(
	const struct pm_recording *r, const struct pm_rec_trace *t, uint64_t block)
{
	return (struct decoder){.at = t->blocks[block],
		.calls = r->traces_are_calls,
		.weighed = r->traces_are_weighed,
		.counts = r->traces_are_calls && r->n_events > 0};
}

static inline struct pm_rec_event decode(struct decoder *d)
{
	struct pm_rec_event e;
	e.time_ns = d->time += get_signed(&d->at);
	e.duration_ns = get(&d->at) - 1;
	e.context = (uint32_t)get(&d->at) - 1;
	e.self_ns = e.seq = e.amounts = 0;
	if (d->calls) {
		e.self_ns = e.duration_ns - get_signed(&d->at);
		e.seq = d->seq += get_signed(&d->at);
		e.amounts = d->counts ? get(&d->at) : 0;
	}
	e.event = d->weighed ? (uint32_t)get(&d->at) : 0;
	e.weight = d->weighed ? (int64_t)get_signed(&d->at) : 0;
	return e;
}

/* ---- while reading ---- */

static struct pm_rec_trace *trace_of(struct pm_recording *r, uint32_t thread)
{
	if (r->failed || thread >= r->n_threads)
		return NULL;
	while (r->n_traces <= thread) {
		if (!pm_rec_has_room(
			    r, &r->traces, r->n_traces, &r->trace_room, sizeof(*r->traces)))
			return NULL;
		r->traces[r->n_traces++] = (struct pm_rec_trace){.blocks = NULL};
	}
	return &r->traces[thread];
}

static void add(struct pm_recording *r, uint32_t thread, const struct pm_rec_event *e)
{
	struct pm_rec_trace *t = trace_of(r, thread);
	if (!t || (e->context != PM_REC_NONE && e->context >= r->paths.n))
		return;
	uint64_t ns = e->duration_ns == PM_NO_TIME ? 0 : e->duration_ns;
	uint64_t end = e->time_ns + ns < e->time_ns ? UINT64_MAX - 1 : e->time_ns + ns;
	if (t->n_waiting == BLOCK_EVENTS && make_block(r, t) < 0)
		pm_rec_fail(r, -ENOMEM, PM_NO_OFFSET, "no memory for the trace");
	if (!pm_rec_has_room(r, &t->waiting, t->n_waiting, &t->waiting_room, sizeof(*t->waiting)))
		return;
	t->waiting[t->n_waiting++] = *e;
	t->unsorted |= t->n > 0 && e->time_ns < t->last_ns;
	t->last_ns = e->time_ns;
	t->end_ns = end > t->end_ns ? end : t->end_ns;
	t->n++;
	r->first_ns = e->time_ns < r->first_ns ? e->time_ns : r->first_ns;
	r->end_ns = end > r->end_ns ? end : r->end_ns;
}

void pm_rec_sample(struct pm_recording *r, uint32_t thread, uint64_t time_ns, uint64_t duration_ns,
	uint32_t context)
{
	add(r, thread,
		&(struct pm_rec_event){
			.time_ns = time_ns, .duration_ns = duration_ns, .context = context});
}

uint32_t pm_rec_event(
	struct pm_recording *r, struct pm_bytes name, uint32_t weights, uint32_t samples)
{
	struct pm_bytes copy = pm_rec_copy(r, name);
	if (!pm_rec_has_room(r, &r->events, r->n_events, &r->event_room, sizeof(*r->events)))
		return PM_REC_BAD;
	/* The group of a quantity's metrics is its number. */
	r->events[r->n_events] = (struct pm_event){copy, weights, samples, 0, false};
	return (uint32_t)r->n_events++;
}

void pm_rec_instant(struct pm_recording *r, uint32_t thread, uint64_t time_ns, uint32_t context,
	uint32_t event, int64_t weight)
{
	r->traces_are_weighed = true;
	if (event < r->n_events)
		add(r, thread,
			&(struct pm_rec_event){.time_ns = time_ns,
				.duration_ns = PM_NO_TIME,
				.context = context,
				.event = event,
				.weight = weight});
}

void pm_rec_called(struct pm_recording *r, uint32_t thread, const struct pm_rec_called *c)
{
	bool counts = r->n_amounts > r->n_amounts_told;
	r->traces_are_calls = true;
	add(r, thread,
		&(struct pm_rec_event){.time_ns = c->time_ns,
			.duration_ns = c->duration_ns,
			.self_ns = c->self_ns,
			.seq = c->seq,
			.context = c->context,
			.amounts = counts ? r->n_amounts_told + 1 : 0});
	if (counts)
		r->amounts[r->n_amounts - 1].is_last = true;
	r->n_amounts_told = r->n_amounts;
}

static void add_amount(struct pm_recording *r, struct pm_rec_amount_of amount)
{
	if (pm_rec_has_room(r, &r->amounts, r->n_amounts, &r->amount_room, sizeof(amount)))
		r->amounts[r->n_amounts++] = amount;
}

void pm_rec_number(struct pm_recording *r, uint32_t thread, uint32_t context, uint32_t event,
	int64_t digits, unsigned decimals)
{
	if (r->failed || event >= r->n_events)
		return;
	pm_rec_cost_decimal(r, thread, context, r->events[event].weights, digits, decimals);
	add_amount(r,
		(struct pm_rec_amount_of){
			.event = event & 0x7fff, .decimals = decimals & 0x7fff, .i = digits});
}

void pm_rec_number_f64(
	struct pm_recording *r, uint32_t thread, uint32_t context, uint32_t event, double number)
{
	if (r->failed || event >= r->n_events || !isfinite(number))
		return;
	pm_rec_cost_f64(r, thread, context, r->events[event].weights, number);
	add_amount(r,
		(struct pm_rec_amount_of){.event = event & 0x7fff, .is_real = true, .f = number});
}

void pm_rec_origin(struct pm_recording *r, uint64_t time_ns)
{
	r->first_ns = time_ns < r->first_ns ? time_ns : r->first_ns;
}

void pm_rec_since_epoch(struct pm_recording *r)
{
	r->since_epoch = true;
}

/* ---- once everything is read ---- */

static int by_time(const void *a, const void *b)
{
	const struct pm_rec_event *x = a, *y = b;
	return (x->time_ns > y->time_ns) - (x->time_ns < y->time_ns);
}

static void sort_trace(struct pm_recording *r, struct pm_rec_trace *t)
{
	size_t n = t->n;
	struct pm_rec_event *all = pm_arena_realloc(&r->arena, NULL, n * sizeof(*all));
	for (size_t i = 0; i < n;) {
		struct decoder d = decoder_at(r, t, i / BLOCK_EVENTS);
		do
			all[i++] = decode(&d);
		while (i < n && i % BLOCK_EVENTS != 0);
	}
	pm_build_check(&r->arena, pm_sort(all, n, sizeof(*all), by_time));
	t->n_blocks = 0;
	for (size_t i = 0; i < n; i++) {
		t->waiting[t->n_waiting++] = all[i];
		if (t->n_waiting == BLOCK_EVENTS || i + 1 == n)
			make_block(r, t);
	}
	t->last_ns = all[n - 1].time_ns;
	pm_arena_free(&r->arena, all);
}

void pm_rec_seal_traces(struct pm_recording *r)
{
	for (size_t i = 0; i < r->n_traces; i++) {
		struct pm_rec_trace *t = &r->traces[i];
		pm_build_proceed(&r->arena);
		make_block(r, t);
		if (t->unsorted)
			sort_trace(r, t);
		pm_arena_free(&r->arena, t->waiting);
		t->waiting = NULL;
	}
	for (size_t i = 0; i < r->n_events; i++) {
		uint32_t of = r->events[i].weights;
		if (of >= r->n_quantities)
			continue;
		r->events[i].decimals = r->quantities[of].decimals;
		r->events[i].no_zeros = r->quantities[of].no_zeros;
	}
}

/* ---- reading ---- */

/* Up to the next sample, which `d` comes to, or the next block; at most twice the mean distance. */
static uint64_t drawn_ns(const struct pm_recording *r, const struct pm_rec_trace *t,
	const struct decoder *d, uint64_t at, uint64_t time_ns)
{
	struct decoder next = *d;
	uint64_t first = t->n > 1
		? decode(&(struct decoder){.at = t->blocks[0], .weighed = true}).time_ns
		: time_ns;
	uint64_t most = t->n > 1 ? 2 * ((t->last_ns - first) / (t->n - 1)) : 0;
	if (at + 1 >= t->n)
		return 0;
	if ((at + 1) % BLOCK_EVENTS == 0)
		next = decoder_at(r, t, (at + 1) / BLOCK_EVENTS);
	uint64_t ns = decode(&next).time_ns - time_ns;
	return ns < most ? ns : most;
}

/* Those of a call, in the scale of the event. */
static void get_amounts(const struct pm_recording *r, uint64_t first, struct pm_amount *ret)
{
	for (size_t i = 0; i < r->n_events; i++)
		ret[i].known = false;
	for (uint64_t k = first; k > 0; k = r->amounts[k - 1].is_last ? 0 : k + 1) {
		const struct pm_rec_amount_of *a = &r->amounts[k - 1];
		const struct pm_event *e = &r->events[a->event];
		struct pm_amount *to = &ret[a->event];
		bool real = a->is_real || e->decimals < a->decimals;
		int64_t scale = 1;
		for (unsigned i = a->decimals; i < e->decimals; i++)
			scale *= 10;
		to->known = true;
		to->real = real || __builtin_mul_overflow(a->i, scale, &to->i);
		if (to->real)
			to->f = a->is_real ? a->f : (double)(a->i / powl(10, a->decimals));
	}
}

int64_t pm_rec_samples(const struct pm_recording *r, uint32_t thread, uint64_t first,
	struct pm_sample *ret, struct pm_amount *ret_amounts, size_t room)
{
	const struct pm_rec_trace *t = thread < r->n_traces ? &r->traces[thread] : NULL;
	size_t filled = 0;
	while (t && first < t->n && filled < room) {
		uint64_t at = first / BLOCK_EVENTS * BLOCK_EVENTS;
		uint64_t end = at + BLOCK_EVENTS < t->n ? at + BLOCK_EVENTS : t->n;
		struct decoder d = decoder_at(r, t, first / BLOCK_EVENTS);
		for (; at < end && filled < room; at++) {
			struct pm_rec_event e = decode(&d);
			if (at < first)
				continue;
			ret[filled++] = (struct pm_sample){.time_ns = e.time_ns,
				.duration_ns = e.duration_ns,
				.context = e.context == PM_REC_NONE
					? 0
					: r->path_contexts[e.context] + 1ull,
				.self_ns = e.self_ns,
				.seq = e.seq};
			if (ret_amounts)
				get_amounts(r, e.amounts, &ret_amounts[(filled - 1) * r->n_events]);
			if (r->traces_are_weighed) {
				ret[filled - 1].weight = e.weight;
				ret[filled - 1].event = e.event;
				ret[filled - 1].drawn_ns = drawn_ns(r, t, &d, at, e.time_ns);
			}
		}
		first = at;
	}
	return (int64_t)filled;
}

int pm_rec_trace_ends(const struct pm_recording *r, uint32_t thread, uint64_t *ret_first_ns,
	uint64_t *ret_last_ns)
{
	struct pm_sample first = {.time_ns = PM_NO_TIME};
	pm_rec_samples(r, thread, 0, &first, NULL, 1);
	*ret_first_ns = first.time_ns;
	/* A last sample that lasts ends later than it begins. */
	*ret_last_ns = first.time_ns == PM_NO_TIME ? PM_NO_TIME : r->traces[thread].end_ns;
	return 0;
}

/* ---- how long calls took ---- */

/* Adds the durations of all calls by function: a pm_pass. */
static int add_calls(void *context, struct pm_durations *ret)
{
	const struct pm_rec_opened *o = context;
	const struct pm_recording *r = &o->recording;
	const struct pm_tree *tree = o->whole.tree;
	struct pm_duration calls[BLOCK_EVENTS];
	int e = 0;
	for (size_t i = 0; i < r->n_traces; i++) {
		const struct pm_rec_trace *t = &r->traces[i];
		for (uint64_t k = 0; k < t->n && e == 0; k += BLOCK_EVENTS) {
			size_t n = t->n - k < BLOCK_EVENTS ? (size_t)(t->n - k) : BLOCK_EVENTS,
			       m = 0;
			struct decoder d = decoder_at(r, t, k / BLOCK_EVENTS);
			for (size_t j = 0; j < n; j++) {
				struct pm_rec_event event = decode(&d);
				uint32_t at = event.context == PM_REC_NONE
					? PM_NONE
					: r->path_contexts[event.context];
				uint32_t of =
					at == PM_NONE ? PM_NONE : pm_tree_frame(tree, at)->function;
				if (of != PM_NONE)
					calls[m++] = (struct pm_duration){event.duration_ns, of};
			}
			e = pm_work_cancelled() ? PM_CANCELLED
						: pm_durations_add_all(ret, calls, m);
		}
	}
	return e;
}

static void build_call_times(struct pm_arena *a, void *owner, void *part, struct pm_error *err)
{
	struct pm_rec_opened *o = owner;
	uint32_t n = o->whole.tree->n_functions;
	struct pm_call_times **ret = part;
	struct pm_durations durations = {.n = 0};
	(void)err;
	*ret = pm_arena_array(a, n, sizeof(**ret));
	int e = add_calls(o, &durations);
	if (e == 0)
		e = pm_percentiles(&durations, *ret, n, add_calls, o);
	pm_durations_done(&durations);
	pm_build_check(a, e);
	o->parts.call_times.it = *ret;
}

int pm_rec_call_times(void *opened, struct pm_error *err)
{
	static const struct pm_part_type type = {.size = sizeof(struct pm_call_times *),
		.build = build_call_times,
		.what = "how long calls took"};
	struct pm_rec_opened *o = opened;
	return pm_part_build(&o->call_times, &type, o, err);
}
