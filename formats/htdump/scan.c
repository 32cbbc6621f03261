/*
 * The pass over a stream when it is opened: collects classes, counts events, and notes positions.
 * An event is accepted when the one after it could be read, because a damaged event is detected by
 * what follows. Descriptions are applied immediately, because later events need them.
 */
#include "formats/htdump/scan.h"

#include <errno.h>

#include "formats/common/cursor.h"
#include "formats/common/list.h"
#include "formats/common/sort.h"
#include "formats/common/work.h"

/* Fits in a processor's cache until it is read. */
enum { USE_STEP = 128 << 10 };

/* ==== one event, while classes are still being collected ==== */

static bool unreadable(struct htd_scan *c, const char *why)
{
	c->why = why;
	c->why_end = false;
	return false;
}

static bool cut_off(struct htd_scan *c, const char *why)
{
	c->why = why;
	c->why_end = true;
	return false;
}

/* A hole of zeros looks like many byte order events: only one that begins a dump is accepted. */
static bool endianness_valid(struct htd_scan *c, const struct htd_event *e)
{
	const struct htd_stream *s = c->s;
	uint64_t order = htd_event_integer(e, 0), next = e->at + e->bytes.len;
	const char *alone = "is a byte order event without a class description after it";
	struct pm_bytes name;
	if (e->header.timestamp || e->header.id || order > 1)
		return unreadable(c, "is a byte order event with other values than 0 and 1");
	if (e->at == 0 || htd_dialect_klass_info(s->bytes, next, &s->dialect, order == 1))
		return true;
	bool ends = !pm_bytes_cstr(s->bytes, next + HTD_HEADER_SIZE + 4, &name);
	return ends ? cut_off(c, alone) : unreadable(c, alone);
}

/* Reads the event at `at`; false with `why` set if there is none. */
static bool read_event(struct htd_scan *c, uint64_t at, struct htd_event *ret)
{
	struct htd_stream *s = c->s;
	ret->at = at;
	ret->big = c->big;
	if (!htd_header_read(s->bytes, at, s->dialect.timestamp_first, c->big, &ret->header))
		return cut_off(c, "ends in its header");
	c->why_klass = ret->header.klass_id;
	struct htd_slot *slot = htd_table_slot(&s->table, ret->header.klass_id);
	if (!slot)
		return unreadable(c, "is of a class that is not described");
	ret->plan = htd_slot_plan(&s->table, slot);
	if (ret->plan->broken)
		return unreadable(c, ret->plan->broken);
	int r = htd_event_extent(s->bytes, at, ret->plan, &c->no_nul, &ret->bytes);
	if (r == -ENODATA)
		return cut_off(c, "is cut off, or a string in it does not end");
	if (r < 0)
		return unreadable(c, "has a string that does not end");
	return ret->plan->role != HTD_ROLE_ENDIANNESS || endianness_valid(c, ret);
}

/*
 * ==== the next event after damage ====
 * Headers have no marker, but they are unlikely to occur by chance: a known class, an id and a
 * timestamp close to those before the damage, for a call also a close end, and another such header
 * after the event. A new dump that was appended to a broken one is recognised by its byte order
 * event and the class description after it.
 *
 * If the program paused after the damage, nothing is close to the events before it. Then
 * consecutive events that are close to each other are accepted, unless there is a better candidate
 * shortly after.
 */

#define NEAR_ID 10000000u
#define NEAR_NS (3600u * UINT64_C(1000000000))

enum { CHAIN = 8, LAST_CHAIN = 3 /* of events at the end of the stream */, CLOSELY = 4096 };

static bool near(uint64_t a, uint64_t b, uint64_t distance)
{
	return (a < b ? b - a : a - b) <= distance;
}

static bool is_near(const struct htd_scan *c, const struct htd_header *h)
{
	unsigned n = c->n_trusted < HTD_TRUSTED ? c->n_trusted : HTD_TRUSTED;
	for (unsigned i = 0; i < n; i++)
		if (near(h->id, c->trusted[i].id, NEAR_ID) &&
			near(h->timestamp, c->trusted[i].timestamp, NEAR_NS))
			return true;
	return false;
}

/*
 * A call is written when it ends. Next to damage, a call with an end time far from that of other
 * events has a broken duration. True for events that are not calls.
 */
static bool ends_near(const struct htd_scan *c, const struct htd_event *e)
{
	uint64_t duration, thread, end;
	if (c->n_trusted == 0 || !htd_event_call(e, &duration, &thread))
		return true;
	if (__builtin_add_overflow(e->header.timestamp, duration, &end))
		return false;
	unsigned n = c->n_trusted < HTD_TRUSTED ? c->n_trusted : HTD_TRUSTED;
	for (unsigned i = 0; i < n; i++)
		if (near(end, c->trusted[i].timestamp, NEAR_NS))
			return true;
	return near(end, c->s->last, NEAR_NS);
}

/* What follows: the end, a truncated header, a close one, or a core event without a time. */
static bool goes_on(struct htd_scan *c, uint64_t at)
{
	const struct htd_stream *s = c->s;
	struct htd_header h;
	struct htd_event e;
	if (!htd_header_read(s->bytes, at, s->dialect.timestamp_first, c->big, &h))
		return true;
	if (h.timestamp || h.id)
		return is_near(c, &h);
	return read_event(c, at, &e) &&
		(e.plan->role == HTD_ROLE_ENDIANNESS || e.plan->role == HTD_ROLE_SYSTEM);
}

/* Cheap enough for every byte of a damaged range: most fail at the class. */
static bool is_sound(struct htd_scan *c, uint64_t at)
{
	const struct htd_stream *s = c->s;
	struct htd_header h;
	struct htd_event e;
	if (!htd_header_read(s->bytes, at, s->dialect.timestamp_first, c->big, &h) ||
		!htd_table_slot(&s->table, h.klass_id))
		return false;
	bool may_begin = h.klass_id == s->dialect.ids.endianness
		? h.timestamp == 0 && h.id == 0
		: (h.timestamp || h.id) && is_near(c, &h);
	if (!may_begin || !read_event(c, at, &e))
		return false;
	return e.plan->role == HTD_ROLE_ENDIANNESS ||
		(ends_near(c, &e) && goes_on(c, at + e.bytes.len));
}

/* The header of an event with a time and a known class. */
static bool dated_header(const struct htd_scan *c, uint64_t at, struct htd_header *ret)
{
	const struct htd_stream *s = c->s;
	return htd_header_read(s->bytes, at, s->dialect.timestamp_first, c->big, ret) &&
		ret->timestamp && ret->klass_id != s->dialect.ids.endianness &&
		htd_table_slot(&s->table, ret->klass_id);
}

/*
 * Whether events that are close to each other begin here. Their ids must differ: if fields of
 * similar events are mistaken for headers, the ids are equal.
 */
static bool is_chain(struct htd_scan *c, uint64_t at)
{
	struct htd_header h, next;
	struct htd_event e;
	if (!dated_header(c, at, &h))
		return false;
	for (int n = 1; n < CHAIN; n++) {
		if (!read_event(c, at, &e))
			return false;
		at += e.bytes.len;
		if (at == c->s->bytes.len)
			return n >= LAST_CHAIN;
		if (!dated_header(c, at, &next) || h.id == next.id ||
			!near(h.id, next.id, NEAR_ID) ||
			!near(h.timestamp, next.timestamp, NEAR_NS))
			return false;
		h = next;
	}
	return read_event(c, at, &e);
}

/*
 * The first position from `from` on where plausible events continue; the end if there is
 * none.
 */
static uint64_t resync(struct htd_scan *c, uint64_t from)
{
	uint64_t len = c->s->bytes.len, chain = len, until = len;
	for (uint64_t at = from; at < until; at++) {
		if (at % USE_STEP == 0)
			pm_build_proceed(&c->s->arena);
		if (is_sound(c, at))
			return at;
		if (chain == len && is_chain(c, at)) {
			chain = at;
			until = len - at > CLOSELY ? at + CLOSELY : len;
		}
	}
	return chain;
}

/* ==== the pass ==== */

/* Fields of the class descriptions, as klass.c defines them. */
enum { KLASS_INFO_ID = 0, KLASS_INFO_NAME, KLASS_INFO_COUNT };
enum { FIELD_INFO_ID = 0, FIELD_INFO_TYPE, FIELD_INFO_NAME, FIELD_INFO_SIZE, FIELD_INFO_DATA_TYPE };

/* ---- taking over an event ---- */

/* NULL: there are too many. */
static struct htd_thread *thread_find(struct htd_scan *c, uint64_t number)
{
	struct htd_stream *s = c->s;
	bool fresh;
	if (c->last_thread < s->n_threads && s->threads[c->last_thread].number == number)
		return &s->threads[c->last_thread];
	if (s->n_threads >= HTD_LIMIT_THREADS && !pm_map_find(&c->thread_of, number))
		return NULL;
	pm_list_grow(&s->arena, &s->threads, s->n_threads, &s->thread_room, sizeof(*s->threads));
	c->last_thread = *pm_map_put(&c->thread_of, number, (uint32_t)s->n_threads, &fresh);
	if (fresh)
		s->threads[s->n_threads++] = (struct htd_thread){.number = number};
	return &s->threads[c->last_thread];
}

static void call_take(
	struct htd_scan *c, const struct htd_event *e, uint64_t duration, uint64_t number)
{
	struct htd_stream *s = c->s;
	struct htd_thread *t = thread_find(c, number);
	if (!t) {
		pm_damage_add(c->damage, c->file, e->at, e->bytes.len,
			"call of a thread beyond the first %u: not included in the calls",
			HTD_LIMIT_THREADS);
		return;
	}
	uint64_t end = htd_call_end(e->header.timestamp, duration);
	s->last = end > s->last ? end : s->last;
	const struct htd_key key = {
		e->header.timestamp, e->header.id, htd_place_of(e->at, s->n_events)};
	size_t runs = t->calls.n;
	htd_runs_add(&s->arena, &t->calls, e->at, s->n_events);
	htd_late_note(&s->arena, &t->late, t->calls.n > runs, &key);
}

/* Copies a text so that it outlives the current contents of the file. */
static struct pm_bytes keep(struct htd_stream *s, struct pm_bytes text)
{
	return text.len ? pm_arena_copy(&s->arena, text) : text;
}

/* Every thread announces the labels that it uses, so most mappings are repeated. */
static void mapping_take(struct htd_scan *c, const struct htd_event *e)
{
	struct htd_stream *s = c->s;
	uint64_t number = htd_event_integer(e, e->plan->identifier);
	struct pm_bytes label = htd_event_text(e, e->plan->label);
	bool fresh;
	uint32_t *newest = pm_map_put(&c->mapped, number, HTD_NONE, &fresh);
	if (!fresh && pm_bytes_equal(s->mappings[*newest].label, label))
		return;
	pm_list_grow(
		&s->arena, &s->mappings, s->n_mappings, &s->mapping_room, sizeof(*s->mappings));
	*newest = (uint32_t)s->n_mappings;
	s->mappings[s->n_mappings++] = (struct htd_mapping){number, e->at, keep(s, label)};
}

static void version_take(struct htd_stream *s, const struct htd_event *e)
{
	if (e->plan->n != 3 || !htd_is_integer(&e->plan->fields[0]) ||
		!htd_is_integer(&e->plan->fields[1]) || !htd_is_integer(&e->plan->fields[2]))
		return;
	s->version = (htd_event_integer(e, 0) & 0xff) << 16 |
		(htd_event_integer(e, 1) & 0xff) << 8 | (htd_event_integer(e, 2) & 0xff);
}

static void event_take(struct htd_scan *c, const struct htd_event *e)
{
	struct htd_stream *s = c->s;
	uint64_t duration, thread;
	if (s->n_events % HTD_CHUNK == 0) {
		pm_list_grow(&s->arena, &s->index, s->n_index, &s->index_room, sizeof(*s->index));
		s->index[s->n_index++] = e->at;
	}
	htd_scan_trust(c, &e->header);
	if (!e->plan->describes)
		htd_scan_date(c, &e->header, e->header.timestamp);
	if (htd_event_call(e, &duration, &thread))
		call_take(c, e, duration, thread);
	else if (e->plan->role == HTD_ROLE_MAPPING)
		mapping_take(c, e);
	else if (e->plan->role == HTD_ROLE_SYSTEM)
		version_take(s, e);
	else if (e->plan->role == HTD_ROLE_CALL)
		s->n_negative++;
	htd_runs_add(&s->arena, &s->table.klasses[e->plan->klass].events, e->at, s->n_events);
	s->n_events++;
}

/* ---- events that describe the stream ---- */

static void turn(struct htd_scan *c, uint64_t from, bool big)
{
	struct htd_stream *s = c->s;
	if (s->n_turns && c->big == big)
		return;
	pm_list_grow(&s->arena, &s->turns, s->n_turns, &s->turn_room, sizeof(*s->turns));
	s->turns[s->n_turns++] = (struct htd_turn){from, big};
	c->big = big;
}

/* The design document numbers types from 0. */
static uint8_t data_type_of(const struct htd_dialect *d, uint64_t stored)
{
	if (!d->timestamp_first || stored > 6)
		return (uint8_t)stored;
	return stored == 6 ? HTD_UNSIGNED : (uint8_t)(stored + 1);
}

static int description_take(struct htd_scan *c, const struct htd_event *e)
{
	struct htd_stream *s = c->s;
	if (e->plan->role == HTD_ROLE_KLASS_INFO) {
		struct pm_bytes name = htd_event_text(e, KLASS_INFO_NAME);
		if (name.len > HTD_LIMIT_NAME)
			return -ENOTSUP;
		return htd_table_klass(&s->table, (uint32_t)htd_event_integer(e, KLASS_INFO_ID),
			keep(s, name), (uint8_t)htd_event_integer(e, KLASS_INFO_COUNT));
	}
	struct htd_field field = {
		.type = htd_event_text(e, FIELD_INFO_TYPE),
		.name = htd_event_text(e, FIELD_INFO_NAME),
		.size = htd_event_integer(e, FIELD_INFO_SIZE),
		.data_type = data_type_of(&s->dialect, htd_event_integer(e, FIELD_INFO_DATA_TYPE)),
	};
	if (field.type.len > HTD_LIMIT_NAME || field.name.len > HTD_LIMIT_NAME)
		return -ENOTSUP;
	if (!htd_type_is_known(field.data_type))
		pm_damage_add(c->damage, c->file, e->at, e->bytes.len,
			"describes a field of an unknown data type (%u): its bytes are shown",
			field.data_type);
	field.type = keep(s, field.type);
	field.name = keep(s, field.name);
	return htd_table_field(&s->table, (uint32_t)htd_event_integer(e, FIELD_INFO_ID), &field);
}

static void describing_take(struct htd_scan *c, const struct htd_event *e)
{
	event_take(c, e);
	c->s->table.since = e->at + e->bytes.len;
	if (e->plan->role == HTD_ROLE_ENDIANNESS) {
		c->s->table.dump++;
		c->n_trusted = 0;
		turn(c, e->at + e->bytes.len, htd_event_integer(e, 0) == 1);
		return;
	}
	int r = description_take(c, e);
	if (r < 0)
		pm_damage_add(c->damage, c->file, e->at, e->bytes.len,
			r == -ENOENT ? "describes a field of a class that is not described"
				     : "describes too many fields, or has names that are too long");
}

/* ---- the pass ---- */

/*
 * The event at `*at` cannot be read. If it is not just cut off by the end of the data, the event
 * before it (`waiting`) may be the damaged one: if valid events begin inside it, or if it does not
 * match the others. Moves `*at` to where reading resumes.
 */
static void resume(struct htd_scan *c, struct htd_event *waiting, uint64_t *at)
{
	struct htd_stream *s = c->s;
	const char *why = c->why;
	uint32_t klass = c->why_klass;
	uint64_t broken = *at;
	bool doubted = waiting->plan && !c->why_end;
	*at = resync(c, doubted ? waiting->at + 1 : broken + 1);
	if (doubted && (*at < broken || !ends_near(c, waiting))) {
		why = *at < broken ? "is shorter than its class" : "ends at an impossible time";
		broken = waiting->at;
		klass = waiting->header.klass_id;
	} else if (waiting->plan) {
		event_take(c, waiting);
	}
	waiting->plan = NULL;
	pm_list_grow(&s->arena, &s->gaps, s->n_gaps, &s->gap_room, sizeof(*s->gaps));
	s->gaps[s->n_gaps++] = (struct htd_gap){broken, *at};
	pm_damage_add(
		c->damage, c->file, broken, *at - broken, "event (class id %u) %s", klass, why);
}

/* Computes checksums of a growing file a little ahead of reading, and checks for cancellation. */
static bool use(struct htd_scan *c, uint64_t upto)
{
	const struct htd_stream *s = c->s;
	uint64_t from = c->used;
	if (upto <= from)
		return true;
	pm_work_progress(from, s->bytes.len);
	pm_build_proceed(&c->s->arena);
	if (upto - from < USE_STEP)
		upto = s->bytes.len - from < USE_STEP ? s->bytes.len : from + USE_STEP;
	c->used = upto;
	pm_fetcher_pass(&c->fetcher, upto);
	return !s->watch || pm_watch_use(s->watch, s->bytes, from, upto - from);
}

static void pass(struct htd_scan *c)
{
	const struct htd_stream *s = c->s;
	struct htd_event waiting = {.plan = NULL}, e;
	uint64_t at = 0;
	while (at < c->until && use(c, at + 1) && s->n_threads <= c->threads_most) {
		if (!read_event(c, at, &e)) {
			resume(c, &waiting, &at);
			continue;
		}
		at += e.bytes.len;
		use(c, at);
		if (waiting.plan)
			event_take(c, &waiting);
		waiting = e;
		if (e.plan->role >= HTD_ROLE_ENDIANNESS) {
			describing_take(c, &e);
			waiting.plan = NULL;
		} else {
			htd_scan_run(c, &waiting, &at);
		}
	}
	if (waiting.plan && c->until == s->bytes.len)
		event_take(c, &waiting);
}

/* Sorted by number, the order of directory listings. */
static int thread_order(const void *a, const void *b)
{
	const struct htd_thread *x = a, *y = b;
	return (x->number > y->number) - (x->number < y->number);
}

static void scan(void *context)
{
	struct htd_scan *c = context;
	struct htd_stream *s = c->s;
	struct pm_arena *scratch = pm_arena_scratch(&s->arena);
	c->thread_of.arena = c->mapped.arena = scratch;
	s->origin = UINT64_MAX;
	s->version = UINT64_MAX;
	htd_table_init(&s->table, &s->arena, &s->dialect.ids);
	turn(c, 0, s->dialect.big);
	pass(c);
	htd_table_finish(&s->table);
	pm_arena_done(scratch);
	pm_build_check(
		&s->arena, pm_sort(s->threads, s->n_threads, sizeof(*s->threads), thread_order));
}

int htd_stream_scan(
	struct htd_stream *s, const char *file, struct pm_damage_list *damage, struct pm_error *err)
{
	struct htd_scan c = {.s = s,
		.damage = damage,
		.file = file,
		.until = s->bytes.len,
		.threads_most = HTD_LIMIT_THREADS};
	if (s->bytes.len >= HTD_LIMIT_OFFSET)
		return pm_error_set(err, -ENOTSUP, file, PM_NO_OFFSET, "is larger than 16 TiB");
	pm_fetcher_start(&c.fetcher, s->watch, s->bytes);
	int r = pm_build(&s->arena, scan, &c);
	pm_fetcher_end(&c.fetcher);
	return r < 0 ? pm_error_set(err, r, file, PM_NO_OFFSET, "no memory for its index") : 0;
}

int htd_stream_has_threads(struct pm_bytes bytes, const struct htd_dialect *dialect, uint64_t most)
{
	struct htd_stream s = {.bytes = bytes, .dialect = *dialect};
	struct pm_damage_list damage = PM_DAMAGE_LIST_INIT;
	struct htd_scan c = {.s = &s, .damage = &damage, .file = "", .threads_most = 1};
	c.until = most < bytes.len ? most : bytes.len;
	int r = pm_build(&s.arena, scan, &c);
	if (r == 0)
		r = s.n_threads > 1 ? 1 : c.until < bytes.len ? -EAGAIN : 0;
	htd_stream_done(&s);
	pm_damage_done(&damage);
	return r;
}

void htd_stream_done(struct htd_stream *s)
{
	pm_arena_done(&s->arena);
	*s = (struct htd_stream){.bytes = s->bytes, .watch = s->watch, .dialect = s->dialect};
}
