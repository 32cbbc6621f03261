/*
 * perf.data, as `perf record` writes it: a file, a pipe, or the streams of a directory, in either
 * byte order, compressed or not. docs/formats/perf.md has the records.
 *
 *	collect   attributes, features and places of records, stream by stream
 *	order     all of them by (time, place): processes fork, map and exec in time
 *	replay    samples become costs of call paths, with the maps of their time
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/perf/data.h"

/* ---- costs ---- */

/* The recording's thread, with the name that it has now. */
static uint32_t thread_handle(struct perf *f, struct perf_thread *t)
{
	if (!t)
		return PM_REC_NONE;
	if (t->handle != PM_REC_NONE && t->told_comm == t->comm)
		return t->handle;
	struct pm_rec_key keys[] = {
		{.key = "process", .number = t->pid}, {.key = "thread", .number = t->tid}};
	for (size_t i = 0; i < 2; i++)
		if (keys[i].number == NOBODY)
			keys[i].number = UINT64_MAX; /* -1 */
	struct pm_bytes name = perf_text(f, t->comm);
	if (name.len == 0 && t->tid == 0 && t->pid == 0)
		name = pm_bytes_of("swapper");
	t->told_comm = t->comm;
	return t->handle = pm_rec_thread(f->r, keys, 2, name);
}

/* What a value of READ has grown by since the last one of its id. */
static uint64_t growth(struct perf *f, uint64_t id, uint64_t value)
{
	bool fresh;
	uint32_t at = *pm_map_put(&f->last_values, id, (uint32_t)f->n_values, &fresh);
	if (fresh) {
		pm_items_grow(
			&f->arena, &f->values, f->n_values, &f->values_room, sizeof(*f->values));
		f->values[f->n_values++] = 0;
	}
	uint64_t by = value - f->values[at];
	f->values[at] = value;
	return by;
}

/* Runs `each` over what a sample says: its own period, or the growth of each event of its group. */
static void for_values(struct perf *f, const struct perf_sample *s, void *context,
	void (*each)(struct perf *, struct perf_event *, uint64_t period, void *context))
{
	uint64_t format = s->event->read_format;
	if (!(format & READ_ID) || s->read.len == 0) {
		each(f, &f->events[s->event - f->events], s->period, context);
		return;
	}
	bool group = format & READ_GROUP;
	struct pm_cur c = perf_cur(f, s->read);
	uint64_t n = group ? pm_cur_u64(&c) : 1, value = group ? 0 : pm_cur_u64(&c);
	pm_cur_bytes(&c, (format & READ_ENABLED ? 8 : 0) + (format & READ_RUNNING ? 8 : 0));
	for (uint64_t i = 0; i < n && !c.bad; i++) {
		value = group ? pm_cur_u64(&c) : value;
		uint64_t id = pm_cur_u64(&c);
		if (format & READ_LOST)
			pm_cur_u64(&c);
		const uint32_t *at = c.bad ? NULL : pm_map_find(&f->ids, id);
		uint64_t by = at ? growth(f, id, value) : 0;
		if (by)
			each(f, &f->events[*at], by, context);
	}
}

static void note_event(struct perf *f, struct perf_event *e, uint64_t period, void *context)
{
	(void)f;
	(void)period;
	(void)context;
	e->has_samples = true;
}

struct spent {
	uint32_t thread, context;
	uint64_t time; /* 0 = unknown */
};

static void spend(struct perf *f, struct perf_event *e, uint64_t period, void *context)
{
	const struct spent *at = context;
	if (period > INT64_MAX) {
		pm_rec_cost_f64(f->r, at->thread, at->context, e->cost, (double)period);
		pm_rec_cost(f->r, at->thread, at->context, e->samples, 1);
	} else {
		pm_rec_sample_cost(f->r, at->thread, at->context, e->handle, (int64_t)period);
	}
	if (at->time)
		pm_rec_instant(f->r, at->thread, at->time, at->context, e->handle,
			period > INT64_MAX ? INT64_MAX : (int64_t)period);
}

static void take_sample(struct perf *f, const struct perf_told *told)
{
	const struct perf_event *e = told->event;
	bool is_usual = e && e->fixed_size;
	struct perf_sample s; /* with what is rare, and not told for all */
	if (!is_usual && (!e || !perf_read_sample(f, perf_body(&told->place), &s))) {
		f->bad_samples++;
		return;
	}
	struct perf_thread *t = told->has_tid ? perf_sample_thread(f, told) : NULL;
	struct spent at = {.thread = thread_handle(f, t),
		.context = perf_context_of(f, told, is_usual ? NULL : &s),
		.time = e->sample_type & TIME ? told->place.time : 0};
	if (is_usual) {
		spend(f, &f->events[e - f->events], told->period, &at);
		return;
	}
	for_values(f, &s, &at, spend);
	perf_take_traced(f, &s);
	if (s.branches.len)
		perf_take_branches(f, &s, perf_misc(f, &told->place) & 7);
}

/*
 * Which events have samples: known from reading them, but for groups, whose events have them only
 * from what they grew by, and if events were described between samples.
 */
static void note_events(struct perf *f)
{
	if (!f->notes_again)
		return;
	for (size_t i = 0; i < f->n_events; i++)
		f->events[i].has_samples = false;
	struct perf_order order = {.arena = pm_arena_scratch(&f->arena)};
	struct perf_place place;
	struct perf_sample s;
	while (perf_order_next(f, &order, &place) > 0 && pm_rec_goes_on(f->r))
		if (place.type == SAMPLE && perf_read_sample(f, perf_body(&place), &s))
			for_values(f, &s, NULL, note_event);
	pm_arena_done(order.arena);
	pm_map_done(&f->last_values);
	f->n_values = 0;
}

/* Events, then how many samples each has; the first leads unless a rule knows better. */
static void make_metrics(struct perf *f)
{
	unsigned real = 0;
	for (size_t i = 0; i < f->n_events; i++) {
		struct perf_event *e = &f->events[i];
		real += !e->dummy;
		if (e->name.len == 0)
			e->name = perf_default_name(f, e);
	}
	for (size_t i = 0; i < f->n_events; i++) {
		struct perf_event *e = &f->events[i];
		bool clock =
			perf_starts(e->name, "cpu-clock") || perf_starts(e->name, "task-clock");
		if (e->has_samples)
			e->cost = pm_rec_metric(f->r, e->name, pm_bytes_of(clock ? "ns" : ""));
	}
	for (size_t i = 0; i < f->n_events; i++) {
		struct perf_event *e = &f->events[i];
		char name[160];
		snprintf(name, sizeof(name), "samples%s%.*s", real > 1 ? "_" : "",
			real > 1 ? (int)(e->name.len < 140 ? e->name.len : 140) : 0,
			(const char *)e->name.p);
		if (!e->has_samples)
			continue;
		e->samples = pm_rec_metric(f->r, pm_bytes_of(name), pm_bytes_of(""));
		e->handle = pm_rec_event(f->r, e->name, e->cost, e->samples);
	}
}

static void take_record(struct perf *f, const struct perf_told *told)
{
	const struct perf_place *place = &told->place;
	f->epoch += place->type != SAMPLE;
	switch (place->type) {
	case SAMPLE: take_sample(f, told); break;
	case COMM: perf_take_comm(f, place); break;
	case FORK: perf_take_fork(f, place); break;
	case KSYMBOL: perf_take_ksymbol(f, place); break;
	case MMAP:
	case MMAP2: perf_take_mmap(f, place); break;
	default: break; /* only in raw/ */
	}
}

/* ---- the file ---- */

/* The source is none that can be read. */
static _Noreturn __attribute__((format(printf, 3, 4))) void refuse(
	struct perf *f, uint64_t offset, const char *format, ...)
{
	char why[sizeof(f->err->text)];
	va_list args;
	va_start(args, format);
	vsnprintf(why, sizeof(why), format, args);
	va_end(args);
	pm_build_fail(
		&f->arena, pm_error_set(f->err, -EINVAL, pm_rec_file(f->r), offset, "%s", why));
}

/* Attributes in their section, each with the place of its ids. */
static void read_attrs(struct perf *f, uint64_t offset, uint64_t size, uint64_t each)
{
	struct pm_bytes attrs, entry, ids;
	if (each < 16 + 64 || !pm_bytes_sub(f->all, offset, size, &attrs))
		refuse(f, 0x10, "its attributes (%llu bytes of %llu each) are not in the file",
			(unsigned long long)size, (unsigned long long)each);
	for (uint64_t at = 0; pm_bytes_sub(attrs, at, each, &entry); at += each) {
		struct pm_cur c = perf_cur(f, entry);
		c.at = (size_t)each - 16;
		uint64_t from = pm_cur_u64(&c), bytes = pm_cur_u64(&c);
		if (!pm_bytes_sub(f->all, from, bytes, &ids))
			pm_rec_damage(f->r, offset + at, each,
				"the ids of an event lie beyond the end of the file");
		perf_add_event(f, (struct pm_bytes){entry.p, entry.len - 16}, ids);
	}
}

static void read_file(struct perf *f)
{
	struct pm_cur c = perf_cur(f, f->all);
	struct pm_bytes data;
	c.at = 16;
	uint64_t each = pm_cur_u64(&c), attrs = pm_cur_u64(&c), attrs_size = pm_cur_u64(&c);
	uint64_t offset = pm_cur_u64(&c), size = pm_cur_u64(&c);
	pm_cur_bytes(&c, 16);
	const uint8_t *bits = pm_cur_take(&c, 32);
	if (!bits)
		refuse(f, 0, "ends within the header of perf.data, which has 104 bytes");
	read_attrs(f, attrs, attrs_size, each);
	if (size == 0) {
		pm_rec_damage(f->r, offset, PM_NO_OFFSET,
			"perf was killed: the header has no size, the data are read to their end");
		size = offset < f->all.len ? f->all.len - offset : 0;
	} else {
		perf_read_features(f, bits, offset + size);
	}
	if (!pm_bytes_sub(f->all, offset, size, &data)) {
		pm_rec_damage(f->r, offset, size, "the data go beyond the end of the file");
		pm_bytes_sub(f->all, offset, offset < f->all.len ? f->all.len - offset : 0, &data);
	}
	perf_read_stream(f, data, false);
}

/* The whole file in memory: as it is mapped, or inflated. */
static struct pm_bytes read_bytes(struct perf *f)
{
	struct pm_inflate *stream = pm_rec_stream(f->r);
	struct pm_bytes file = pm_rec_bytes(f->r);
	if (!stream)
		pm_build_fail(&f->arena, PM_NO_MEMORY);
	if (pm_inflate_kind_of(file) == PM_INFLATE_STORED)
		return file;
	/* Deflate has a limit of its own: 1032 times. */
	struct pm_text all = {.arena = &f->arena,
		.limit = pm_inflate_kind_of(file) == PM_INFLATE_ZSTD ? perf_unpacked_limit(file.len)
								     : PM_LIMIT_UNPACKED};
	for (struct pm_bytes w; (w = pm_inflate_peek(stream, 1)).len && pm_rec_goes_on(f->r);) {
		pm_text_bytes(&all, w);
		pm_inflate_consume(stream, w.len);
	}
	if (all.failed || pm_inflate_status(stream).state == PM_INFLATE_FAILED)
		pm_build_fail(&f->arena, PM_NO_MEMORY);
	return pm_text_view(&all);
}

static void say_facts(struct perf *f)
{
	static const char *const ends[PERF_STACK_ENDS] = {
		[STACK_BEYOND] = "stacks are deeper than the copy that was recorded: their "
				 "paths begin where it ends (record more with --call-graph "
				 "dwarf,65528)",
		[STACK_NO_FILE] = "stacks are unwound up to code of which no file is here: "
				  "their paths begin there; missing-symbols.csv says why",
		[STACK_BROKEN] = "stacks are unwound up to code whose file does not say how "
				 "it is called: their paths begin there",
		[STACK_NOT_READ] = "samples have a copy of the user stack, which is not "
				   "unwound: their paths are the leaf, and the kernel's part",
	};
	if (f->lost)
		pm_rec_remark(f->r, "The kernel lost %llu records: they are in no number.",
			(unsigned long long)f->lost);
	if (f->lost_samples)
		pm_rec_remark(f->r, "The kernel lost %llu samples: they are in no number.",
			(unsigned long long)f->lost_samples);
	if (f->throttled)
		pm_rec_remark(f->r, "The kernel throttled sampling %llu times.",
			(unsigned long long)f->throttled);
	for (size_t i = 0; i < PERF_STACK_ENDS; i++)
		if (f->stacks[i] && ends[i])
			pm_rec_remark(f->r, "%llu %s.", (unsigned long long)f->stacks[i], ends[i]);
	if (f->idle_unknown)
		pm_rec_remark(f->r,
			"%llu samples of swapper (thread 0) are taken as idle: without the names of the "
			"kernel, interrupts among them cannot be told.",
			(unsigned long long)f->idle_unknown);
	if (f->open_calls)
		pm_rec_remark(f->r,
			"%llu samples have the processor's record of open calls (--call-graph lbr): it "
			"is not read.",
			(unsigned long long)f->open_calls);
	if (f->processor_traces)
		pm_rec_remark(f->r,
			"%llu bytes are the processor's own trace (Intel PT, Arm SPE …): they are not "
			"decoded, and in no number.",
			(unsigned long long)f->processor_traces);
	if (f->bad_events)
		pm_rec_damage(f->r, PM_NO_OFFSET, PM_NO_OFFSET,
			"%llu records that describe events are longer than they say: they are left out",
			(unsigned long long)f->bad_events);
	if (f->bad_samples)
		pm_rec_damage(f->r, PM_NO_OFFSET, PM_NO_OFFSET,
			"%llu samples are of no event that the file describes, or longer than their "
			"record: they are left out",
			(unsigned long long)f->bad_samples);
}

static void perf_done(struct perf *f)
{
	pm_arena_done(&f->arena);
	sym_names_free(f->symbols);
	pm_damage_done(&f->symbol_damage);
	free(f);
}

/* Once all records are known: what they say, in the order of time. */
static void finish(struct perf *f)
{
	if (f->n_events == 0)
		refuse(f, 0, "describes no event: a recording has at least one");
	perf_sort(f);
	note_events(f);
	make_metrics(f);
	perf_open_symbols(f);
	struct pm_arena *scratch = pm_arena_scratch(&f->arena);
	struct perf_ahead *ahead = perf_ahead_new(scratch, f);
	const struct perf_told *told;
	while (pm_rec_goes_on(f->r) && (told = perf_ahead_next(f, ahead)))
		take_record(f, told);
	pm_arena_done(scratch);
	perf_say_missing(f);
	perf_add_raw(f);
	perf_add_traced(f);
	say_facts(f);
}

/* A file, or the first one of a directory, which has the header. */
static void read_first(struct perf *f)
{
	enum { PIPE_HEADER = 16 };
	f->all = read_bytes(f);
	f->big = f->all.len > 0 && f->all.p[0] == '2';
	if (f->all.len < 16)
		refuse(f, 0, "ends within its first 16 bytes");
	struct pm_cur c = perf_cur(f, f->all);
	c.at = 8;
	f->is_bare = pm_cur_u64(&c) == PIPE_HEADER;
	pm_rec_layout(f->r, f->is_bare ? "pipe" : f->is_folder ? "directory" : "file");
	if (f->is_bare)
		perf_read_stream(f, (struct pm_bytes){f->all.p + 16, f->all.len - 16}, false);
	else
		read_file(f);
}

/* Another file of a directory: the records of a thread of perf. */
static void read_next(struct perf *f)
{
	unsigned long number = strtoul(pm_rec_file(f->r) + sizeof("data.") - 1, NULL, 10);
	if (number > f->next_file)
		pm_rec_damage(f->r, PM_NO_OFFSET, PM_NO_OFFSET,
			"%lu files before this one are not there: the records in them are lost",
			number - f->next_file);
	f->next_file = number + 1;
	f->all = pm_rec_bytes(f->r);
	perf_read_stream(f, f->all, false);
}

void perf_own_free(void *own)
{
	struct perf_own *o = own;
	if (o->reading)
		perf_done(o->reading);
	sym_root_done(&o->root);
	free(o);
}

static void read_one(void *context)
{
	struct perf *f = context;
	if (pm_rec_file_number(f->r) == 0) {
		struct pm_map *maps[] = {&f->ids, &f->processes, &f->thread_index, &f->last_values,
			&f->branch_index, &f->trace_index};
		for (size_t i = 0; i < sizeof(maps) / sizeof(maps[0]); i++)
			maps[i]->arena = &f->arena;
		f->names = pm_strtab_in(&f->arena);
		pm_strtab_add(&f->names, (struct pm_bytes){NULL, 0});
		pm_paths_init_in(&f->arena, &f->paths, PM_LIMIT_ITEMS);
		f->epoch = 1; /* nothing was found in none */
		f->is_folder = !pm_rec_is_last_file(f->r);
		read_first(f);
	} else {
		read_next(f);
	}
	if (pm_rec_is_last_file(f->r))
		finish(f);
}

int perf_data_read(struct pm_recording *r, struct pm_error *err)
{
	struct perf_own *own = pm_rec_own(r);
	struct perf *f = own->reading;
	if (pm_rec_file_number(r) == 0) {
		if (f)
			perf_done(f);
		f = own->reading = calloc(1, sizeof(*f));
		if (f)
			f->symbol_damage = (struct pm_damage_list)PM_DAMAGE_LIST_INIT;
	}
	if (!f)
		return -ENOMEM;
	f->r = r;
	f->err = err;
	int e = pm_build(&f->arena, read_one, f);
	if (e < 0 || pm_rec_is_last_file(r)) {
		perf_done(f);
		own->reading = NULL;
	}
	return e;
}

bool perf_data_is(struct pm_bytes head)
{
	static const char *const magics[] = {"PERFILE2", "2ELIFREP", "PERFFILE", "ELIFFREP"};
	for (size_t i = 0; i < sizeof(magics) / sizeof(magics[0]); i++)
		if (head.len >= 16 && perf_starts(head, magics[i]))
			return true;
	return false;
}
