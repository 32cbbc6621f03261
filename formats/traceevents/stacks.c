/*
 * Samples beside the events, as Hermes and old versions of Chrome write them: `samples` are times
 * with a stack each, which is a frame of `stackFrames`, and that one's parents. They may stand
 * before or behind the frames and the events.
 */
#include "formats/builder/v8.h"
#include "formats/common/sort.h"
#include "formats/traceevents/traceevents.h"

struct tev_frame {
	bool known;      /* else it was only referred to */
	uint32_t parent; /* a frame, or PM_NONE */
	uint32_t line, column;
	uint32_t in; /* the profile that it was last added to, + 1 */
	struct pm_bytes name;
};

struct tev_stack {
	int64_t ts;
	uint32_t thread, frame;
};

/* The frame with this id: a key, or a number or text that refers to one. PM_NONE: none. */
static uint32_t frame_of(struct tev_reading *t, struct pm_bytes id)
{
	if (id.len == 0)
		return PM_NONE;
	uint32_t i = pm_strtab_add(&t->frame_keys, id);
	if (i == t->n_frames) {
		pm_items_grow(&t->arena, &t->frames, i, &t->frame_room, sizeof(*t->frames));
		t->frames[t->n_frames++] = (struct tev_frame){.parent = PM_NONE};
	}
	return i;
}

static struct pm_bytes id_text(const struct pm_scan_value *v)
{
	bool good = v->kind == PM_SCAN_NUMBER || v->kind == PM_SCAN_TEXT;
	return good ? v->text : (struct pm_bytes){0};
}

static uint32_t number_of(const struct pm_scan_value *v)
{
	int64_t n;
	bool good = pm_scan_decimal(id_text(v), 0, &n) == PM_DECIMAL_EXACT;
	return good && n > 0 && n < (int64_t)PM_NONE ? (uint32_t)n : 0;
}

void tev_stack_frames(struct tev_reading *t)
{
	struct pm_bytes key;
	if (pm_scan_peek(&t->s) != PM_SCAN_OBJECT) {
		pm_scan_skip(&t->s);
		return;
	}
	pm_scan_enter(&t->s);
	while (pm_scan_key(&t->s, &key)) {
		pm_rec_proceed(t->r, &t->arena);
		uint32_t frame = frame_of(t, key), parent = PM_NONE;
		struct pm_scan_value v, member;
		if (pm_scan_value(&t->s, &v) != PM_SCAN_OBJECT || v.too_long || frame == PM_NONE)
			continue;
		member = tev_member(&v, "parent");
		parent = frame_of(t, id_text(&member));
		struct tev_frame *f = &t->frames[frame];
		member = tev_member(&v, "name");
		f->name = pm_rec_copy(t->r, pm_rec_json_text(&member, &t->scratch));
		member = tev_member(&v, "funcLine");
		f->line = number_of(&member);
		member = tev_member(&v, "funcColumn");
		f->column = number_of(&member);
		f->known = true;
		f->parent = parent;
	}
}

void tev_stack_samples(struct tev_reading *t)
{
	if (pm_scan_peek(&t->s) != PM_SCAN_ARRAY) {
		pm_scan_skip(&t->s);
		return;
	}
	pm_scan_enter(&t->s);
	while (pm_scan_item(&t->s)) {
		pm_rec_proceed(t->r, &t->arena);
		struct pm_scan_value v;
		struct tev_event e;
		if (pm_scan_value(&t->s, &v) != PM_SCAN_OBJECT || v.too_long)
			continue;
		struct pm_scan inside = pm_scan_of(v.text);
		struct pm_scan_value member = tev_member(&v, "sf");
		uint32_t frame = frame_of(t, id_text(&member));
		if (!tev_event_read(&inside, &e) || e.ts < 0) {
			tev_note(&t->no_ts, v.at);
			continue;
		}
		uint32_t thread = tev_thread_of(t, &e);
		pm_items_grow(
			&t->arena, &t->stacks, t->n_stacks, &t->stack_room, sizeof(*t->stacks));
		t->stacks[t->n_stacks++] =
			(struct tev_stack){.ts = e.ts, .thread = thread, .frame = frame};
		t->origin = t->origin == TEV_NO_NUMBER || e.ts < t->origin ? e.ts : t->origin;
		if (t->threads[thread].first_call == PM_NONE)
			t->threads[thread].first_call = t->n_events;
	}
}

/* A frame and those above it become nodes, each once a profile. */
static void add_frames(struct tev_reading *t, struct pm_v8 *v8, uint32_t frame, uint32_t profile)
{
	while (frame != PM_NONE && t->frames[frame].known && t->frames[frame].in != profile + 1) {
		struct tev_frame *f = &t->frames[frame];
		f->in = profile + 1;
		pm_v8_add_node(v8, frame, f->parent == PM_NONE ? -1 : (int64_t)f->parent,
			&(struct pm_rec_function){
				.name = f->name, .line = f->line, .column = f->column});
		frame = f->parent;
	}
}

static int by_thread(const void *a, const void *b)
{
	const struct tev_stack *x = a, *y = b;
	return (x->thread > y->thread) - (x->thread < y->thread);
}

void tev_stacks_end(struct tev_reading *t)
{
	struct pm_v8 *v8 = NULL;
	pm_build_check(&t->arena, pm_sort(t->stacks, t->n_stacks, sizeof(*t->stacks), by_thread));
	for (size_t i = 0; i < t->n_stacks; i++) {
		pm_rec_proceed(t->r, &t->arena);
		const struct tev_stack *s = &t->stacks[i];
		if (i == 0 || s->thread != s[-1].thread)
			v8 = tev_sampled_new(t, s->thread);
		if (s->frame != PM_NONE)
			add_frames(t, v8, s->frame, (uint32_t)t->n_sampled);
		pm_v8_add_sample(v8, s->frame == PM_NONE ? -1 : (int64_t)s->frame, s->ts);
	}
}
