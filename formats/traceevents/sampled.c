/*
 * CPU profiles of V8 in a trace: `Profile` begins one, `ProfileChunk` goes on with it, from another
 * thread; `CpuProfile` is a whole one. They sample what ran on a thread, which has calls as well:
 * so their samples are on a lane of it, and their time is a quantity of its own.
 */
#include "formats/builder/v8.h"
#include "formats/traceevents/traceevents.h"

struct tev_sampled {
	struct pm_v8 *v8;
	uint32_t thread, seq; /* of the event that began it */
	bool has_clock;       /* its event says when it began */
};

enum { HAS_TIMES = 1, HAS_CLOCK = 2 };

static bool is(struct pm_bytes text, const char *name)
{
	return pm_bytes_equal(text, pm_bytes_of(name));
}

bool tev_is_sampled(const struct tev_event *e)
{
	if (e->phase != 'P' && e->phase != 'I' && e->phase != 'i')
		return false;
	return is(e->name.text, "Profile") || is(e->name.text, "ProfileChunk") ||
		is(e->name.text, "CpuProfile");
}

struct pm_v8 *tev_sampled_new(struct tev_reading *t, uint32_t thread)
{
	pm_items_grow(&t->arena, &t->sampled, t->n_sampled, &t->sampled_room, sizeof(*t->sampled));
	struct tev_sampled *p = &t->sampled[t->n_sampled++];
	*p = (struct tev_sampled){
		.v8 = pm_v8_new(&t->arena, t->r), .thread = thread, .seq = t->n_events};
	return p->v8;
}

/* The profile that an event is of: by process and id, but a whole one is its own. */
static struct tev_sampled *profile_of(
	struct tev_reading *t, const struct tev_event *e, uint32_t thread)
{
	bool whole = is(e->name.text, "CpuProfile"), local = e->local_id.kind != PM_SCAN_NOTHING;
	pm_text_clear(&t->key);
	pm_text_u64(&t->key, t->threads[thread].process);
	pm_text_char(&t->key, whole ? 'w' : local ? 'l' : 'g');
	if (whole)
		pm_text_u64(&t->key, t->n_events);
	else
		pm_text_bytes(&t->key, local ? e->local_id.text : e->id.text);
	uint32_t i = pm_strtab_add(&t->sampled_keys, pm_text_view(&t->key));
	if (i == t->n_sampled)
		tev_sampled_new(t, thread);
	return &t->sampled[i];
}

/* The members of an object that are parts of a profile, but those to skip; gives what it had. */
static unsigned read_members(struct pm_v8 *v8, const struct pm_scan_value *object, unsigned skip)
{
	struct pm_scan s = pm_scan_of(object->text);
	struct pm_bytes key;
	unsigned had = 0;
	if (object->kind != PM_SCAN_OBJECT || object->too_long || !pm_scan_enter(&s))
		return had;
	while (pm_scan_key(&s, &key)) {
		unsigned is_of = is(key, "timeDeltas")               ? HAS_TIMES
			: is(key, "startTime") || is(key, "endTime") ? HAS_CLOCK
								     : 0;
		if ((is_of & skip) || !pm_v8_read(v8, &s, key, true))
			pm_scan_skip(&s);
		had |= is_of;
	}
	return had;
}

void tev_sampled_take(struct tev_reading *t, const struct tev_event *e, uint32_t thread)
{
	struct pm_scan_value data = tev_member(&e->args, "data");
	if (e->args.too_long)
		tev_note(&t->too_long, e->at);
	if (data.kind != PM_SCAN_OBJECT)
		return;
	struct tev_sampled *p = profile_of(t, e, thread);
	/* Chunks come from the thread that samples. */
	if (!is(e->name.text, "ProfileChunk")) {
		p->thread = thread;
		p->seq = t->n_events;
	}
	struct pm_scan_value profile = tev_member(&data, "cpuProfile");
	unsigned had = read_members(p->v8, &data, 0);
	p->has_clock |= (had & HAS_CLOCK) != 0;
	/* rspack puts a .cpuprofile in as it is: its times again, and those of another clock. */
	read_members(p->v8, &profile, had | (p->has_clock ? HAS_CLOCK : 0));
	if (t->threads[p->thread].first_call == PM_NONE)
		t->threads[p->thread].first_call = t->n_events;
}

bool tev_sampled_has(const struct tev_reading *t)
{
	for (size_t i = 0; i < t->n_sampled; i++)
		if (pm_v8_has_samples(t->sampled[i].v8))
			return true;
	return false;
}

/* A lane of the thread that was sampled, or, if there are no calls, the thread. */
static uint32_t add_thread(struct tev_reading *t, uint32_t thread, bool is_lane)
{
	struct tev_thread *th = &t->threads[thread];
	const struct tev_process *p = &t->processes[th->process];
	struct pm_bytes process = p->name.len ? p->name : p->text;
	struct pm_rec_key keys[] = {{"process", (uint64_t)p->number, {0}},
		{"thread", (uint64_t)th->number, {0}}, {"sampled", ++th->n_sampled, {0}}};
	pm_text_clear(&t->scratch);
	pm_text_bytes(&t->scratch, th->name.len ? th->name : th->text);
	if (is_lane)
		pm_text_str(&t->scratch, t->scratch.len ? " (samples)" : "samples");
	uint32_t added = pm_rec_thread(t->r, keys, is_lane ? 3 : 2, pm_text_view(&t->scratch));
	if (process.len)
		pm_rec_process_name(t->r, added, process);
	if (is_lane)
		pm_rec_lane(t->r, added);
	return added;
}

void tev_sampled_place(struct tev_reading *t, bool only)
{
	for (size_t i = 0; i < t->n_sampled; i++) {
		struct tev_sampled *p = &t->sampled[i];
		if (!pm_v8_has_samples(p->v8) || !pm_v8_has_functions(p->v8))
			continue;
		uint32_t thread = add_thread(t, p->thread, !only);
		if (only)
			pm_v8_place(p->v8, thread);
		else
			pm_v8_place_calls(p->v8,
				&(struct pm_v8_calls){.thread = thread,
					.time = t->sampled_time,
					.calls = t->n_calls,
					.base = t->base == TEV_NO_NUMBER ? 0 : (uint64_t)t->base,
					.seq = p->seq});
	}
	if (only)
		pm_rec_contexts_are(t->r, "samples");
	else if (tev_sampled_has(t))
		pm_rec_remark(t->r,
			"sampled_ns is from samples of V8, on lanes of the threads that they are "
			"of (threads/process=P/thread=T/sampled=N): neighbouring ones in a "
			"function are shown as one call of it.");
}
