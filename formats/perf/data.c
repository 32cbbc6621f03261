/*
 * perf.data, as `perf record` writes it: a file, a pipe, or the streams of a directory, in either
 * byte order, compressed or not. docs/formats/perf.md has the records.
 *
 *	collect   attributes, features and places of records, stream by stream
 *	order     all of them by (time, place): processes fork, map and exec in time
 *	replay    samples become costs of call paths, with the maps of their time
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include "formats/builder/named.h"
#include "formats/common/cursor.h"
#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/paths.h"
#include "formats/common/sort.h"
#include "formats/common/unzstd.h"
#include "formats/perf/perf.h"
#include "formats/symbols/symbols.h"
#include "profmount/limits.h"

enum {
	MMAP = 1,
	LOST = 2,
	COMM = 3,
	THROTTLE = 5,
	FORK = 7,
	SAMPLE = 9,
	MMAP2 = 10,
	LOST_SAMPLES = 13,
	KSYMBOL = 17,
	HEADER_ATTR = 64,
	BUILD_ID_EVENT = 67,
	TRACING_DATA = 66,
	AUXTRACE = 71,
	EVENT_UPDATE = 78,
	HEADER_FEATURE = 80,
	COMPRESSED = 81,
	COMPRESSED2 = 83,
};

enum feature {
	BUILD_ID = 2,
	HOSTNAME,
	OSRELEASE,
	VERSION,
	ARCH,
	CMDLINE = 11,
	EVENT_DESC,
	N_FEATURES = 256,
};

/* Bits of sample_type, in the order of the fields but for IDENTIFIER, which is first. */
enum {
	IP = 1 << 0,
	TID = 1 << 1,
	TIME = 1 << 2,
	ADDR = 1 << 3,
	READ = 1 << 4,
	CALLCHAIN = 1 << 5,
	ID = 1 << 6,
	CPU = 1 << 7,
	PERIOD = 1 << 8,
	STREAM_ID = 1 << 9,
	RAW = 1 << 10,
	BRANCHES = 1 << 11,
	REGS_USER = 1 << 12,
	STACK_USER = 1 << 13,
	WEIGHT = 1 << 14,
	DATA_SRC = 1 << 15,
	IDENTIFIER = 1 << 16,
	TRANSACTION = 1 << 17,
	REGS_INTR = 1 << 18,
	PHYS_ADDR = 1 << 19,
	AUX = 1 << 20,
	CGROUP = 1 << 21,
	DATA_PAGE = 1 << 22,
	CODE_PAGE = 1 << 23,
	WEIGHT_STRUCT = 1 << 24,
};

enum { READ_ENABLED = 1, READ_RUNNING = 2, READ_ID = 4, READ_GROUP = 8, READ_LOST = 16 };
enum { BRANCH_HW_INDEX = 1 << 17, BRANCH_COUNTERS = 1 << 19 };

/* Processor modes, in the low bits of a record's misc and as markers in call chains. */
enum mode { UNKNOWN, KERNEL, USER, HYPERVISOR, GUEST_KERNEL, GUEST_USER };

#define NOBODY UINT64_C(0xffffffff)

/* ---- the file's own state ---- */

struct event {
	uint64_t type, config, sample_type, read_format, sample_period, regs_user, regs_intr;
	uint64_t branch_type;
	bool sample_id_all, no_user, no_kernel, no_hypervisor, no_host, dummy, has_samples;
	unsigned precise;
	struct pm_bytes name;
	uint32_t cost, samples; /* quantities */
	uint32_t handle;        /* of its samples in traces */
};

/* A record that matters, wherever it lies. */
struct place {
	uint64_t time;
	const uint8_t *p;
	uint32_t order;
};

struct map {
	uint64_t start, end; /* end is the last address */
	uint64_t offset;
	uint32_t name;
	enum { FILE_MAP, PLAIN_MAP, SYMBOL_MAP } kind; /* address in a file; as it is; a function */
};

/* Maps of a process, by address; shared until one of its users changes it. */
struct maps {
	unsigned users;
	struct map *items;
	size_t n, room;
};

struct thread {
	uint64_t pid, tid;
	uint32_t comm; /* name; 0: none */
	uint32_t handle;
};

struct frame {
	uint64_t ip;
	enum mode mode;
	bool first; /* of its mode: an address that ran, not one to which a call returns */
};

/* A module, by name: what its addresses are called, and the locations that are known in it. */
struct module {
	uint8_t n_build_id, build_id[20];
	uint32_t number;            /* for symbols; PM_NONE: not asked so far */
	struct pm_map locations[2]; /* offset → location; of frames that are first, and others */
};

/* A place in code, wherever it is called from. */
struct location {
	uint32_t module; /* name; of code made at run time, that of the process's map */
	uint64_t offset, ip;
	enum { NOWHERE, IN_FILE, IN_MEMORY, MADE } kind;
	bool first;
};

struct perf {
	struct pm_recording *r;
	struct pm_error *err;
	bool big;
	struct pm_bytes all;
	struct event *events;
	size_t n_events, events_room;
	struct pm_map ids;      /* → event */
	struct pm_bytes *blobs; /* decompressed streams */
	size_t n_blobs, blobs_room;
	struct place *places;
	size_t n_places, places_room;
	uint64_t latest; /* time of the records so far */
	bool unsorted;
	struct pm_strtab names;
	struct pm_map processes; /* pid → index in maps_of */
	struct maps **maps_of;
	size_t n_processes, processes_room;
	struct maps kernel, guest;
	struct pm_map thread_index; /* (pid, tid) */
	struct thread *threads;
	size_t n_threads, threads_room;
	struct pm_map last_values; /* of READ, by id */
	uint64_t *values;
	size_t n_values, values_room;
	struct frame *chain;
	size_t n_chain, chain_room;
	uint64_t copied;        /* maps, by forks */
	struct module *modules; /* by name */
	size_t n_modules, modules_room;
	struct location *locations;
	size_t n_locations, locations_room;
	struct pm_paths paths; /* of locations */
	uint32_t *contexts;    /* by path */
	size_t contexts_room;
	struct sym_names *symbols; /* NULL: addresses are shown */
	struct pm_damage_list symbol_damage;
	struct pm_bytes host, kernel_release, reference;
	uint64_t reference_address, first_ns, last_ns;
	uint64_t n_samples, bad_samples, lost, lost_samples, throttled, stacks;
	bool is_bare; /* pipe: attributes come as records */
};

static void no_memory(struct perf *f)
{
	pm_rec_fail(f->r, -ENOMEM, PM_NO_OFFSET, "no memory for the recording");
}

static bool has_room(struct perf *f, void *items, size_t n, size_t *room, size_t size)
{
	if (n < PM_LIMIT_ITEMS && pm_list_room(items, n, room, size) == 0)
		return true;
	no_memory(f);
	return false;
}

static struct pm_cur cursor(const struct perf *f, struct pm_bytes b)
{
	return pm_cur_of(b, f->big);
}

static uint32_t name_of(struct perf *f, struct pm_bytes b)
{
	uint32_t name = pm_strtab_add(&f->names, b);
	if (name != PM_NONE)
		return name;
	no_memory(f);
	return 0;
}

static struct pm_bytes text_of(const struct perf *f, uint32_t name)
{
	return f->names.items[name];
}

/* Up to the NUL, or all of it. */
static struct pm_bytes string(struct pm_bytes b)
{
	const uint8_t *end = b.len ? memchr(b.p, 0, b.len) : NULL;
	return (struct pm_bytes){b.p, end ? (size_t)(end - b.p) : b.len};
}

static bool starts(struct pm_bytes b, const char *with)
{
	size_t n = strlen(with);
	return b.len >= n && memcmp(b.p, with, n) == 0;
}

/* ---- attributes ---- */

/* A bit of the attribute's flags: bits of a byte are reversed in a file of the other byte order. */
static bool flag(const struct perf *f, const uint8_t *flags, unsigned bit)
{
	unsigned in = bit % 8;
	return flags[bit / 8] >> (f->big ? 7 - in : in) & 1;
}

/* perf_event_attr: `size` bytes, of which those that are missing are 0. */
static void read_attr(struct perf *f, struct pm_bytes b, struct event *e)
{
	uint8_t whole[136] = {0};
	if (b.len)
		memcpy(whole, b.p, b.len < sizeof(whole) ? b.len : sizeof(whole));
	struct pm_cur c = cursor(f, (struct pm_bytes){whole, sizeof(whole)});
	*e = (struct event){.type = pm_cur_u32(&c)};
	pm_cur_u32(&c); /* size */
	e->config = pm_cur_u64(&c);
	e->sample_period = pm_cur_u64(&c);
	e->sample_type = pm_cur_u64(&c);
	e->read_format = pm_cur_u64(&c);
	const uint8_t *flags = pm_cur_take(&c, 8);
	e->no_user = flag(f, flags, 4);
	e->no_kernel = flag(f, flags, 5);
	e->no_hypervisor = flag(f, flags, 6);
	e->precise = flag(f, flags, 15) | (unsigned)flag(f, flags, 16) << 1;
	e->sample_id_all = flag(f, flags, 18);
	e->no_host = flag(f, flags, 19);
	c.at = 72;
	e->branch_type = pm_cur_u64(&c);
	e->regs_user = pm_cur_u64(&c);
	c.at = 96;
	e->regs_intr = pm_cur_u64(&c);
	e->dummy = e->type == 1 && e->config == 9;
}

/* Adds an attribute, and the ids of its events. */
static void add_event(struct perf *f, struct pm_bytes attr, struct pm_bytes ids)
{
	bool fresh;
	if (f->n_events >= PM_LIMIT_COLUMNS / 6) {
		pm_rec_fail(f->r, -ENOTSUP, PM_NO_OFFSET, "has more than %d events",
			PM_LIMIT_COLUMNS / 6);
		return;
	}
	if (!has_room(f, &f->events, f->n_events, &f->events_room, sizeof(*f->events)))
		return;
	read_attr(f, attr, &f->events[f->n_events]);
	struct pm_cur c = cursor(f, ids);
	while (pm_cur_left(&c) >= 8)
		if (!pm_map_put(&f->ids, pm_cur_u64(&c), (uint32_t)f->n_events, &fresh))
			no_memory(f);
	f->n_events++;
}

/* The event of an id; the only one where there is one. */
static struct event *event_of(const struct perf *f, uint64_t id)
{
	const uint32_t *at = f->n_events > 1 ? pm_map_find(&f->ids, id) : NULL;
	return f->n_events == 1 ? f->events : at ? &f->events[*at] : NULL;
}

/* Where an id is in a sample or at its end: the same for all attributes, or none is needed. */
static bool id_of_sample(const struct perf *f, struct pm_bytes body, uint64_t *ret)
{
	uint64_t type = f->events[0].sample_type;
	size_t at = 0;
	*ret = 0;
	if (f->n_events == 1)
		return true;
	if (!(type & IDENTIFIER)) {
		if (!(type & ID))
			return false;
		at += 8 * (size_t)__builtin_popcountll(type & (IP | TID | TIME | ADDR));
	}
	struct pm_cur c = cursor(f, body);
	c.at = at <= body.len ? at : body.len;
	*ret = pm_cur_u64(&c);
	return !c.bad;
}

/* ---- names of events ---- */

static struct pm_bytes default_name(struct perf *f, const struct event *e)
{
	static const char *const hardware[] = {"cycles", "instructions", "cache-references",
		"cache-misses", "branches", "branch-misses", "bus-cycles",
		"stalled-cycles-frontend", "stalled-cycles-backend", "ref-cycles"};
	static const char *const software[] = {"cpu-clock", "task-clock", "page-faults",
		"context-switches", "cpu-migrations", "minor-faults", "major-faults",
		"alignment-faults", "emulation-faults", "dummy", "bpf-output", "cgroup-switches"};
	char name[96], modifiers[16];
	size_t n = 0;
	if (e->type == 0 && e->config < sizeof(hardware) / sizeof(hardware[0]))
		snprintf(name, sizeof(name) - 16, "%s", hardware[e->config]);
	else if (e->type == 1 && e->config < sizeof(software) / sizeof(software[0]))
		snprintf(name, sizeof(name) - 16, "%s", software[e->config]);
	else if (e->type == 2)
		snprintf(name, sizeof(name) - 16, "tracepoint %llu", (unsigned long long)e->config);
	else if (e->type == 4)
		snprintf(name, sizeof(name) - 16, "raw 0x%llx", (unsigned long long)e->config);
	else
		snprintf(name, sizeof(name) - 16, "type %llu config 0x%llx",
			(unsigned long long)e->type, (unsigned long long)e->config);
	if (e->no_user || e->no_kernel || e->no_hypervisor) {
		if (!e->no_kernel)
			modifiers[n++] = 'k';
		if (!e->no_user)
			modifiers[n++] = 'u';
		if (!e->no_hypervisor)
			modifiers[n++] = 'h';
	}
	for (unsigned i = 0; i < e->precise; i++)
		modifiers[n++] = 'p';
	if (e->no_host)
		modifiers[n++] = 'G';
	modifiers[n] = '\0';
	size_t len = strlen(name);
	snprintf(name + len, sizeof(name) - len, "%s%s", n ? ":" : "", modifiers);
	return pm_rec_copy(f->r, pm_bytes_of(name));
}

/* ---- features ---- */

static struct pm_bytes feature_string(const struct perf *f, struct pm_cur *c)
{
	(void)f;
	uint32_t n = pm_cur_u32(c);
	return string(pm_cur_bytes(c, n));
}

static void take_event_desc(struct perf *f, struct pm_cur *c)
{
	uint32_t n = pm_cur_u32(c), size = pm_cur_u32(c);
	for (uint32_t i = 0; i < n && !c->bad && pm_rec_goes_on(f->r); i++) {
		pm_cur_bytes(c, size);
		uint32_t n_ids = pm_cur_u32(c);
		struct pm_bytes name = feature_string(f, c);
		struct event *e = i < f->n_events ? &f->events[i] : NULL;
		if (pm_cur_left(c) / 8 < n_ids)
			c->bad = true;
		for (uint32_t k = 0; k < n_ids && !c->bad; k++) {
			uint64_t id = pm_cur_u64(c);
			bool fresh;
			if (e && !pm_map_find(&f->ids, id) && !pm_map_put(&f->ids, id, i, &fresh))
				no_memory(f);
		}
		if (e && !c->bad && name.len)
			e->name = pm_rec_copy(f->r, name);
	}
}

/* What is known of a name as a module; NULL after a failure. */
static struct module *module_of(struct perf *f, uint32_t name)
{
	while (f->n_modules <= name) {
		if (!has_room(f, &f->modules, f->n_modules, &f->modules_room, sizeof(*f->modules)))
			return NULL;
		f->modules[f->n_modules++] = (struct module){.number = PM_NONE};
	}
	return &f->modules[name];
}

static struct pm_bytes module_name(struct pm_bytes name)
{
	if (starts(name, "[kernel.kallsyms]"))
		name.len = 17;
	else if (starts(name, "[guest.kernel.kallsyms"))
		name.len = 22;
	return name;
}

static void set_build_id(struct perf *f, struct pm_bytes name, const uint8_t *id, size_t n)
{
	struct module *m = module_of(f, name_of(f, module_name(name)));
	if (!m || m->n_build_id || n > sizeof(m->build_id))
		return;
	memcpy(m->build_id, id, n);
	m->n_build_id = (uint8_t)n;
}

/* Records with a build id of a file each; `size` is in the id's 21st byte if a bit says so. */
static void take_build_id(struct perf *f, const uint8_t *p, size_t size)
{
	enum { HAS_SIZE = 1 << 15 };
	struct pm_cur c = cursor(f, (struct pm_bytes){p, size});
	pm_cur_u32(&c);
	unsigned misc = pm_cur_u16(&c);
	pm_cur_bytes(&c, 2 + 4);
	const uint8_t *id = pm_cur_take(&c, 24);
	if (id)
		set_build_id(f, string(pm_cur_bytes(&c, pm_cur_left(&c))), id,
			misc & HAS_SIZE ? id[20] : 20);
}

static void take_build_ids(struct perf *f, struct pm_bytes b)
{
	for (size_t at = 0; b.len - at >= 8;) {
		size_t size = f->big ? pm_be16(b.p + at + 6) : pm_le16(b.p + at + 6);
		if (size < 8 || size > b.len - at)
			return;
		take_build_id(f, b.p + at, size);
		at += size;
	}
}

static void take_feature(struct perf *f, uint64_t feature, struct pm_bytes b)
{
	static const struct {
		enum feature feature;
		const char *key;
	} facts[] = {{HOSTNAME, "host"}, {OSRELEASE, "kernel"}, {VERSION, "perf_version"},
		{ARCH, "architecture"}};
	struct pm_cur c = cursor(f, b);
	if (feature == BUILD_ID)
		take_build_ids(f, b);
	for (size_t i = 0; i < sizeof(facts) / sizeof(facts[0]); i++)
		if (facts[i].feature == feature) {
			struct pm_bytes text = feature_string(f, &c);
			if (text.len && !c.bad)
				pm_rec_fact(f->r, facts[i].key, pm_cell_text(text));
			if (feature == HOSTNAME)
				f->host = pm_rec_copy(f->r, text);
			else if (feature == OSRELEASE)
				f->kernel_release = pm_rec_copy(f->r, text);
		}
	if (feature == CMDLINE) {
		struct pm_text line = {.limit = PM_LIMIT_STRING};
		uint32_t n = pm_cur_u32(&c);
		for (uint32_t i = 0; i < n && pm_cur_left(&c) > 0; i++) {
			if (i)
				pm_text_char(&line, ' ');
			pm_text_bytes(&line, feature_string(f, &c));
		}
		if (!line.failed && line.len) {
			pm_rec_fact(f->r, "command", pm_cell_text(pm_text_view(&line)));
			pm_rec_title(f->r, pm_text_view(&line));
		}
		pm_text_done(&line);
	} else if (feature == EVENT_DESC) {
		take_event_desc(f, &c);
	}
	if (c.bad)
		pm_rec_damage(f->r, PM_NO_OFFSET, PM_NO_OFFSET,
			"feature %llu of the header is longer than its section",
			(unsigned long long)feature);
}

/* Behind the data, a place and a size for each bit that is set. */
static void read_features(struct perf *f, const uint8_t *bits, uint64_t at)
{
	for (unsigned feature = 0; feature < N_FEATURES; feature++) {
		struct pm_bytes entry, b;
		if (!(bits[(f->big ? feature / 64 * 8 + 7 - feature / 8 % 8 : feature / 8)] >>
				    feature % 8 &
			    1))
			continue;
		if (!pm_bytes_sub(f->all, at, 16, &entry)) {
			pm_rec_damage(f->r, at, PM_NO_OFFSET,
				"the table of features goes beyond the end of the file");
			return;
		}
		at += 16;
		struct pm_cur c = cursor(f, entry);
		uint64_t offset = pm_cur_u64(&c), size = pm_cur_u64(&c);
		if (pm_bytes_sub(f->all, offset, size, &b))
			take_feature(f, feature, b);
		else
			pm_rec_damage(f->r, at - 16, 16,
				"feature %u lies beyond the end of the file", feature);
	}
}

/* ---- samples ---- */

struct sample {
	const struct event *event;
	uint64_t ip, pid, tid, time, period;
	bool has_ip, has_tid, has_period;
	struct pm_bytes chain, read; /* as stored */
	bool has_stack;
};

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

static void skip_regs(struct pm_cur *c, uint64_t mask)
{
	if (pm_cur_u64(c) != 0)
		skip_sized(c, (uint64_t)__builtin_popcountll(mask), 8);
}

/* The fields of a sample; false if they run over the record, or its event is unknown. */
static bool read_sample(const struct perf *f, struct pm_bytes body, struct sample *s)
{
	uint64_t id, type;
	*s = (struct sample){.event = NULL};
	if (f->n_events == 0 || !id_of_sample(f, body, &id) || !(s->event = event_of(f, id)))
		return false;
	const struct event *e = s->event;
	struct pm_cur c = cursor(f, body);
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
		pm_cur_bytes(&c, n);
		if (!c.bad && (n + 4) % 8) /* both together are aligned */
			pm_cur_bytes(&c, 8 - (n + 4) % 8);
	}
	if (type & BRANCHES) {
		uint64_t n = pm_cur_u64(&c);
		if (e->branch_type & BRANCH_HW_INDEX)
			pm_cur_u64(&c);
		skip_sized(&c, n, 24);
		if (e->branch_type & BRANCH_COUNTERS)
			skip_sized(&c, n, 8);
	}
	if (type & REGS_USER)
		skip_regs(&c, e->regs_user);
	if (type & STACK_USER) {
		uint64_t n = pm_cur_u64(&c);
		skip_sized(&c, n, 1);
		if (n > 0)
			pm_cur_u64(&c);
		s->has_stack = n > 0;
	}
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

static uint32_t type_of(const struct perf *f, const uint8_t *p)
{
	return f->big ? pm_be32(p) : pm_le32(p);
}

static uint16_t half(const struct perf *f, const uint8_t *p)
{
	return f->big ? pm_be16(p) : pm_le16(p);
}

static struct pm_bytes body_of(const struct perf *f, const uint8_t *p)
{
	return (struct pm_bytes){p + 8, (size_t)half(f, p + 6) - 8};
}

/* The time at the end of a record of the kernel; `latest` where there is none. */
static uint64_t trailer_time(const struct perf *f, struct pm_bytes body)
{
	const struct event *e = f->n_events ? &f->events[0] : NULL;
	if (!e || !e->sample_id_all || !(e->sample_type & TIME))
		return f->latest;
	size_t behind = 8 *
		(size_t)__builtin_popcountll(e->sample_type & (ID | STREAM_ID | CPU | IDENTIFIER));
	if (body.len < behind + 8)
		return f->latest;
	struct pm_cur c = cursor(f, body);
	c.at = body.len - behind - 8;
	return pm_cur_u64(&c);
}

static void add_place(struct perf *f, const uint8_t *p, uint64_t time)
{
	if (!has_room(f, &f->places, f->n_places, &f->places_room, sizeof(*f->places)))
		return;
	f->unsorted |= time < f->latest;
	f->latest = time > f->latest ? time : f->latest;
	f->places[f->n_places] = (struct place){time, p, (uint32_t)f->n_places};
	f->n_places++;
}

static void take_attr_record(struct perf *f, struct pm_bytes body)
{
	struct pm_cur c = cursor(f, body);
	struct pm_bytes attr, ids = {NULL, 0};
	pm_cur_u32(&c);
	uint32_t size = pm_cur_u32(&c);
	size = size ? size : 64;
	if (!pm_bytes_sub(body, 0, size, &attr)) {
		f->bad_samples++;
		return;
	}
	pm_bytes_sub(body, size, body.len - size, &ids);
	add_event(f, attr, ids);
}

static void take_record(struct perf *f, const uint8_t *p)
{
	struct pm_bytes body = body_of(f, p);
	struct sample s;
	struct pm_cur c = cursor(f, body);
	switch (type_of(f, p)) {
	case SAMPLE:
		if (!read_sample(f, body, &s)) {
			f->bad_samples++;
			return;
		}
		if (!(s.event->sample_type & TIME))
			s.time = f->latest;
		add_place(f, p, s.time);
		f->first_ns =
			s.time && (s.time < f->first_ns || !f->first_ns) ? s.time : f->first_ns;
		f->last_ns = s.time > f->last_ns ? s.time : f->last_ns;
		return;
	case MMAP:
	case MMAP2:
	case COMM:
	case FORK:
	case KSYMBOL: add_place(f, p, trailer_time(f, body)); return;
	case LOST:
		pm_cur_u64(&c);
		f->lost += pm_cur_u64(&c);
		return;
	case LOST_SAMPLES: f->lost_samples += pm_cur_u64(&c); return;
	case THROTTLE: f->throttled++; return;
	case HEADER_ATTR:
		if (f->is_bare)
			take_attr_record(f, body);
		return;
	case HEADER_FEATURE: {
		uint64_t feature = pm_cur_u64(&c);
		struct pm_bytes rest = {body.p + c.at, body.len - c.at};
		if (!c.bad && f->is_bare)
			take_feature(f, feature, rest);
		return;
	}
	case BUILD_ID_EVENT: take_build_id(f, p, body.len + 8); return;
	case EVENT_UPDATE: {
		uint64_t what = pm_cur_u64(&c), id = pm_cur_u64(&c);
		struct event *e = what == 2 /* name */ ? event_of(f, id) : NULL;
		if (e && !c.bad && e->name.len == 0)
			e->name = pm_rec_copy(
				f->r, string((struct pm_bytes){body.p + c.at, body.len - c.at}));
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

/* Real records shrink to a twentieth; a few bytes must not become gigabytes. */
static size_t unpacked_limit(size_t packed)
{
	size_t most = ((size_t)64 << 20) + packed * 100;
	return most < PM_LIMIT_UNPACKED ? most : PM_LIMIT_UNPACKED;
}

/* One record after the other; the stream ends with one that cannot be. */
static void read_stream(struct perf *f, struct pm_bytes b, bool packed)
{
	struct pm_unzstd *zstd = NULL;
	struct pm_text out = {.limit = unpacked_limit(b.len)};
	const char *broken = NULL;
	size_t at = 0;
	while (b.len - at >= 8 && pm_rec_goes_on(f->r)) {
		const uint8_t *p = b.p + at;
		uint32_t type = type_of(f, p);
		uint64_t size = half(f, p + 6), follows = 0, data;
		if (type == COMPRESSED2 && b.len - at >= 16) {
			data = f->big ? pm_be64(p + 8) : pm_le64(p + 8);
			if (data < b.len && ((16 + data + 7) & ~UINT64_C(7)) > size)
				size = (16 + data + 7) & ~UINT64_C(7);
		}
		if (size < 8 || size > b.len - at) {
			pm_rec_damage(f->r, offset_of(f, p), b.len - at,
				size < 8
					? "a record of %llu bytes cannot be, so the stream ends here"
					: "a record of %llu bytes goes beyond the end",
				(unsigned long long)size);
			break;
		}
		if ((type == TRACING_DATA || type == AUXTRACE) && size >= 16) {
			follows = type == TRACING_DATA ? (f->big ? pm_be32(p + 8) : pm_le32(p + 8))
						       : (f->big ? pm_be64(p + 8) : pm_le64(p + 8));
			if (type == TRACING_DATA)
				follows = (follows + 7) & ~UINT64_C(7);
		}
		if ((type == COMPRESSED || type == COMPRESSED2) && !packed) {
			size_t head = type == COMPRESSED ? 8 : 16;
			struct pm_bytes piece = {p + head, (size_t)size - head};
			if (type == COMPRESSED2 &&
				(f->big ? pm_be64(p + 8) : pm_le64(p + 8)) <= piece.len)
				piece.len = (size_t)(f->big ? pm_be64(p + 8) : pm_le64(p + 8));
			zstd = zstd || broken ? zstd : pm_unzstd_new();
			broken = broken ? broken : pm_unzstd_add(zstd, piece, &out);
		} else {
			take_record(f, p);
		}
		if (follows > b.len - at - size) {
			pm_rec_damage(f->r, offset_of(f, p), b.len - at,
				"what follows a record goes beyond the end");
			break;
		}
		at += (size_t)(size + follows);
	}
	pm_unzstd_free(zstd);
	if (broken)
		pm_rec_damage(f->r, PM_NO_OFFSET, PM_NO_OFFSET, "compressed records: %s", broken);
	if (out.len && has_room(f, &f->blobs, f->n_blobs, &f->blobs_room, sizeof(*f->blobs))) {
		pm_text_shrink(&out);
		f->blobs[f->n_blobs++] = pm_text_view(&out);
		read_stream(f, pm_text_view(&out), true);
	} else {
		pm_text_done(&out);
	}
}

/* ---- order ---- */

static int by_time(const void *a, const void *b)
{
	const struct place *x = a, *y = b;
	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return (x->order > y->order) - (x->order < y->order);
}

/* ---- maps ---- */

static struct maps *new_maps(struct perf *f)
{
	struct maps *m = calloc(1, sizeof(*m));
	if (!m)
		no_memory(f);
	else
		m->users = 1;
	return m;
}

static void drop_maps(struct maps *m)
{
	if (!m || --m->users > 0)
		return;
	free(m->items);
	free(m);
}

/* The slot of a process's maps, NULL after a failure. */
static struct maps **maps_of(struct perf *f, uint64_t pid)
{
	bool fresh;
	uint32_t *at = pm_map_put(&f->processes, pid, (uint32_t)f->n_processes, &fresh);
	if (!at ||
		(fresh &&
			!has_room(f, &f->maps_of, f->n_processes, &f->processes_room,
				sizeof(*f->maps_of)))) {
		no_memory(f);
		return NULL;
	}
	if (fresh)
		f->maps_of[f->n_processes++] = NULL;
	return &f->maps_of[*at];
}

/* Maps that only this process has, to be changed. */
static struct maps *own_maps(struct perf *f, struct maps **slot)
{
	struct maps *m = *slot;
	if (m && m->users == 1)
		return m;
	struct maps *copy = new_maps(f);
	if (!copy)
		return NULL;
	if (m && m->n > 0) {
		f->copied += m->n;
		copy->items = f->copied > PM_LIMIT_MAPS ? NULL : malloc(m->n * sizeof(*m->items));
		if (!copy->items) {
			drop_maps(copy);
			no_memory(f);
			return NULL;
		}
		memcpy(copy->items, m->items, m->n * sizeof(*m->items));
		copy->n = copy->room = m->n;
	}
	drop_maps(m);
	return *slot = copy;
}

/* The first map that ends at or behind an address. */
static size_t first_behind(const struct maps *m, uint64_t address)
{
	size_t low = 0, high = m->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (m->items[middle].end < address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static const struct map *find_map(const struct maps *m, uint64_t address)
{
	size_t at = m ? first_behind(m, address) : 0;
	return m && at < m->n && m->items[at].start <= address ? &m->items[at] : NULL;
}

/* Makes `n` places at `at`. */
static bool make_places(struct perf *f, struct maps *m, size_t at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (!has_room(f, &m->items, m->n + i, &m->room, sizeof(*m->items)))
			return false;
	memmove(m->items + at + n, m->items + at, (m->n - at) * sizeof(*m->items));
	m->n += n;
	return true;
}

/* Takes the addresses of a map out of the others; what is left of them stays. */
static void clear_range(struct perf *f, struct maps *m, uint64_t start, uint64_t end)
{
	size_t at = first_behind(m, start);
	if (at < m->n && m->items[at].start < start) {
		struct map *before = &m->items[at];
		if (before->end > end) { /* in its middle: two are left */
			struct map behind = *before;
			behind.offset += end + 1 - behind.start;
			behind.start = end + 1;
			before->end = start - 1;
			if (make_places(f, m, at + 1, 1))
				m->items[at + 1] = behind;
			return;
		}
		before->end = start - 1;
		at++;
	}
	size_t gone = at;
	while (gone < m->n && m->items[gone].end <= end)
		gone++;
	if (gone < m->n && m->items[gone].start <= end) {
		m->items[gone].offset += end + 1 - m->items[gone].start;
		m->items[gone].start = end + 1;
	}
	if (gone > at)
		memmove(m->items + at, m->items + gone, (m->n - gone) * sizeof(*m->items));
	m->n -= gone - at;
}

static void add_map(struct perf *f, struct maps *m, const struct map *map)
{
	clear_range(f, m, map->start, map->end);
	size_t at = first_behind(m, map->start);
	if (make_places(f, m, at, 1))
		m->items[at] = *map;
}

/* Memory without a file: an offset in it says nothing. */
static bool is_memory(struct pm_bytes name)
{
	static const char *const names[] = {"//anon", "[heap]", "[stack", "/SYSV"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (starts(name, names[i]))
			return true;
	return false;
}

static void take_mmap(struct perf *f, const uint8_t *p)
{
	struct pm_cur c = cursor(f, body_of(f, p));
	enum mode mode = half(f, p + 4) & 7;
	uint64_t pid = pm_cur_u32(&c);
	pm_cur_u32(&c);
	struct map map = {.start = pm_cur_u64(&c)};
	uint64_t length = pm_cur_u64(&c);
	map.offset = pm_cur_u64(&c);
	enum { HAS_BUILD_ID = 0x4000 };
	const uint8_t *more = type_of(f, p) == MMAP2 ? pm_cur_take(&c, 32) : NULL;
	struct pm_bytes name = string(pm_cur_bytes(&c, pm_cur_left(&c)));
	if (c.bad || length == 0)
		return;
	map.end = map.start + length - 1 < map.start ? UINT64_MAX : map.start + length - 1;
	if (more && half(f, p + 4) & HAS_BUILD_ID)
		set_build_id(f, name, more + 4, more[0]);
	if (starts(name, "[kernel.kallsyms]") && name.len > 17 && f->reference.len == 0) {
		f->reference = pm_rec_copy(f->r, (struct pm_bytes){name.p + 17, name.len - 17});
		f->reference_address = map.offset;
	}
	if (starts(name, "/dev/zero") || starts(name, "/anon_hugepage"))
		name = pm_bytes_of("//anon"); /* memory, as perf has it */
	name = module_name(name);
	map.kind = is_memory(name) || starts(name, "[kernel.") || starts(name, "[guest.kernel.")
		? PLAIN_MAP
		: FILE_MAP;
	map.name = name_of(f, name);
	if (mode == KERNEL) {
		add_map(f, &f->kernel, &map);
	} else if (mode == GUEST_KERNEL) {
		add_map(f, &f->guest, &map);
	} else {
		struct maps **slot = maps_of(f, pid), *m = slot ? own_maps(f, slot) : NULL;
		if (m)
			add_map(f, m, &map);
	}
}

/* A function that the kernel made while it ran, as BPF programs are. */
static void take_ksymbol(struct perf *f, const uint8_t *p)
{
	struct pm_cur c = cursor(f, body_of(f, p));
	struct map map = {.kind = SYMBOL_MAP, .start = pm_cur_u64(&c)};
	uint32_t length = pm_cur_u32(&c);
	pm_cur_u16(&c);
	bool gone = pm_cur_u16(&c) & 1;
	struct pm_bytes name = string(pm_cur_bytes(&c, pm_cur_left(&c)));
	if (c.bad || length == 0 || map.start + length - 1 < map.start)
		return;
	map.end = map.start + length - 1;
	map.name = name_of(f, name);
	if (gone)
		clear_range(f, &f->kernel, map.start, map.end);
	else
		add_map(f, &f->kernel, &map);
}

/* ---- threads ---- */

static struct thread *thread_of(struct perf *f, uint64_t pid, uint64_t tid)
{
	bool fresh;
	uint32_t *at =
		pm_map_put(&f->thread_index, pid << 32 | tid, (uint32_t)f->n_threads, &fresh);
	if (!at ||
		(fresh &&
			!has_room(f, &f->threads, f->n_threads, &f->threads_room,
				sizeof(*f->threads)))) {
		no_memory(f);
		return NULL;
	}
	if (fresh)
		f->threads[f->n_threads++] = (struct thread){pid, tid, 0, PM_REC_NONE};
	return &f->threads[*at];
}

static void take_comm(struct perf *f, const uint8_t *p)
{
	enum { EXEC = 0x2000 };
	struct pm_cur c = cursor(f, body_of(f, p));
	uint64_t pid = pm_cur_u32(&c), tid = pm_cur_u32(&c);
	struct pm_bytes comm = string(pm_cur_bytes(&c, pm_cur_left(&c)));
	struct thread *t = c.bad ? NULL : thread_of(f, pid, tid);
	if (!t)
		return;
	t->comm = name_of(f, comm);
	if (half(f, p + 4) & EXEC) {
		struct maps **slot = maps_of(f, pid);
		if (slot) {
			drop_maps(*slot);
			*slot = NULL;
		}
	}
}

static void take_fork(struct perf *f, const uint8_t *p)
{
	struct pm_cur c = cursor(f, body_of(f, p));
	uint64_t pid = pm_cur_u32(&c), parent = pm_cur_u32(&c);
	uint64_t tid = pm_cur_u32(&c), parent_tid = pm_cur_u32(&c);
	if (c.bad)
		return;
	struct thread *from = thread_of(f, parent, parent_tid);
	uint32_t comm = from ? from->comm : 0;
	struct thread *to = thread_of(f, pid, tid);
	if (to)
		to->comm = comm;
	if (pid == parent)
		return;
	/* Both slots, before one of them moves the other. */
	maps_of(f, parent);
	struct maps **child = maps_of(f, pid), **old = maps_of(f, parent);
	if (!child || !old)
		return;
	drop_maps(*child);
	*child = *old;
	if (*child)
		(*child)->users++;
}

/* ---- places in code ---- */

/* Where an address lies, with the maps of its time; false after a failure. */
static bool locate(struct perf *f, uint64_t pid, const struct frame *at, struct location *ret)
{
	static const char *const outside[] = {[KERNEL] = "[kernel.kallsyms]",
		[HYPERVISOR] = "[hypervisor]",
		[GUEST_KERNEL] = "[guest.kernel.kallsyms]",
		[GUEST_USER] = "[guest]"};
	const struct map *map = NULL;
	if (at->mode == KERNEL) {
		map = find_map(&f->kernel, at->ip);
	} else if (at->mode == GUEST_KERNEL) {
		map = find_map(&f->guest, at->ip);
	} else if (at->mode == USER || at->mode == UNKNOWN) {
		const uint32_t *slot = pm_map_find(&f->processes, pid);
		map = slot ? find_map(f->maps_of[*slot], at->ip) : NULL;
	}
	*ret = (struct location){.offset = at->ip, .ip = at->ip, .first = at->first};
	if (!map) {
		const char *module = at->mode <= GUEST_USER ? outside[at->mode] : NULL;
		ret->kind = module ? IN_FILE : NOWHERE;
		ret->module = name_of(f, pm_bytes_of(module));
		return pm_rec_goes_on(f->r);
	}
	ret->module = map->name;
	ret->kind = map->kind == SYMBOL_MAP ? MADE : IN_FILE;
	if (map->kind == FILE_MAP)
		ret->offset = at->ip - map->start + map->offset;
	if (starts(text_of(f, map->name), "//anon")) {
		char path[40];
		ret->kind = IN_MEMORY;
		snprintf(path, sizeof(path), "/tmp/perf-%llu.map", (unsigned long long)pid);
		ret->module = name_of(f, pm_bytes_of(path));
	}
	return pm_rec_goes_on(f->r);
}

/* The number of a location, PM_NONE after a failure. */
static uint32_t location_of(struct perf *f, const struct location *l)
{
	struct module *m = module_of(f, l->module);
	bool fresh;
	uint32_t *at = m
		? pm_map_put(&m->locations[l->first], l->offset, (uint32_t)f->n_locations, &fresh)
		: NULL;
	if (!at ||
		(fresh &&
			!has_room(f, &f->locations, f->n_locations, &f->locations_room,
				sizeof(*f->locations)))) {
		no_memory(f);
		return PM_NONE;
	}
	if (fresh)
		f->locations[f->n_locations++] = *l;
	return *at;
}

/* ---- names ---- */

/* Names that symbols give; PM_REC_NONE if there are none. */
static uint32_t named(struct perf *f, uint32_t parent, struct location *l)
{
	struct module *m = module_of(f, l->module);
	struct pm_bytes name = text_of(f, l->module);
	if (!f->symbols || !m || l->kind == NOWHERE || l->kind == MADE)
		return PM_REC_NONE;
	bool kernel = starts(name, "[kernel.kallsyms]"), vdso = starts(name, "[vdso]");
	struct sym_module asked = {.path = name,
		.build_id = {m->build_id, m->n_build_id},
		.kind = l->kind == IN_MEMORY ? SYM_PERF_MAP
			: kernel             ? SYM_KERNEL
			: vdso               ? SYM_VDSO
					     : SYM_OFFSETS,
		.reference = kernel ? f->reference : (struct pm_bytes){NULL, 0},
		.reference_address = f->reference_address};
	if (name.len && name.p[0] == '[' && !kernel && !vdso)
		return PM_REC_NONE;
	if (m->number == PM_NONE && sym_names_module(f->symbols, &asked, &m->number) < 0) {
		no_memory(f);
		return PM_REC_BAD;
	}
	/* A call returns behind itself. */
	uint64_t offset = l->offset - (l->first || l->offset == 0 ? 0 : 1);
	struct pm_bytes shown = l->kind == IN_MEMORY ? pm_bytes_of("//anon") : name;
	uint32_t context = pm_rec_named(f->r, parent, f->symbols, m->number, shown, offset);
	uint64_t linked;
	if (context == PM_REC_NONE && asked.kind == SYM_OFFSETS &&
		sym_names_linked(f->symbols, m->number, l->offset, &linked))
		return pm_rec_address(f->r, parent, name, linked);
	return context;
}

/* The context of a location below `parent`. */
static uint32_t location_context(struct perf *f, uint32_t parent, struct location *l)
{
	struct pm_bytes module = text_of(f, l->module);
	struct pm_rec_function function = {.name = module, .module = pm_bytes_of("[bpf]")};
	char name[48];
	uint32_t context = named(f, parent, l);
	if (context != PM_REC_NONE)
		return context;
	if (l->kind == IN_MEMORY) { /* its base name would be another name */
		snprintf(name, sizeof(name), "//anon+0x%llx", (unsigned long long)l->ip);
		function.name = pm_bytes_of(name);
		function.module = pm_bytes_of("//anon");
	} else if (l->kind == NOWHERE && l->ip == 0) { /* an address like others */
		function.name = pm_bytes_of("0x0");
		function.module.len = 0;
	} else if (l->kind != MADE) {
		return pm_rec_address(f->r, parent, module, l->offset);
	}
	return pm_rec_call(f->r, parent, pm_rec_function(f->r, &function), 0);
}

static int open_symbols(struct perf *f)
{
	const struct pm_open_options *o = pm_rec_options(f->r);
	const struct sym_root *root = pm_rec_own(f->r);
	struct utsname here;
	if (o->no_symbols || !root || !root->is_open)
		return 0;
	uint64_t written = pm_rec_mtime(f->r), length = f->last_ns - f->first_ns;
	struct sym_place place = {.folder = -1,
		.root = root,
		.started_ns = written > length ? written - length : 0,
		.written_ns = written,
		.is_here = uname(&here) == 0 && f->host.len &&
			pm_bytes_equal(f->host, pm_bytes_of(here.nodename)) &&
			pm_bytes_equal(f->kernel_release, pm_bytes_of(here.release)),
		.sizeless = true};
	return sym_names_new(&f->symbols, &place, &f->symbol_damage);
}

/* ---- call paths ---- */

/* The frames of a sample, leaf first. */
static void list_frames(struct perf *f, const struct sample *s, enum mode mode)
{
	/* Markers in a chain say what the addresses behind them are. */
	static const struct {
		int64_t marker;
		enum mode mode;
	} markers[] = {{-32, HYPERVISOR}, {-128, KERNEL}, {-512, USER}, {-2048, GUEST_KERNEL},
		{-2176, GUEST_KERNEL}, {-2560, GUEST_USER}};
	enum { LAST_MARKER = -4095 };
	struct pm_cur c = cursor(f, s->chain);
	enum mode own = mode;
	bool first = true;
	f->n_chain = 0;
	while (pm_cur_left(&c) >= 8) {
		uint64_t ip = pm_cur_u64(&c);
		if ((int64_t)ip < 0 && (int64_t)ip >= LAST_MARKER) {
			for (size_t i = 0; i < sizeof(markers) / sizeof(markers[0]); i++)
				if (markers[i].marker == (int64_t)ip) {
					mode = markers[i].mode;
					first = true;
				}
			continue;
		}
		if (!has_room(f, &f->chain, f->n_chain, &f->chain_room, sizeof(*f->chain)))
			return;
		f->chain[f->n_chain++] = (struct frame){ip, mode, first};
		first = false;
	}
	if (f->n_chain == 0 && s->has_ip &&
		has_room(f, &f->chain, 0, &f->chain_room, sizeof(*f->chain)))
		f->chain[f->n_chain++] = (struct frame){s->ip, own, true};
}

static uint32_t context_of(struct perf *f, const struct sample *s, enum mode mode)
{
	uint32_t path = PM_NONE;
	list_frames(f, s, mode);
	if (f->n_chain == 0)
		return pm_rec_placeholder(f->r, PM_REC_NONE, "(no stack)");
	for (size_t i = f->n_chain; i-- > 0 && pm_rec_goes_on(f->r);) {
		struct location l;
		uint32_t known = f->paths.n, above = path;
		uint32_t location =
			locate(f, s->pid, &f->chain[i], &l) ? location_of(f, &l) : PM_NONE;
		if (location == PM_NONE)
			return PM_REC_BAD;
		path = pm_paths_child(&f->paths, above, location);
		if (path == PM_PATHS_FULL || path == PM_NONE ||
			!has_room(f, &f->contexts, path, &f->contexts_room, sizeof(*f->contexts))) {
			no_memory(f);
			return PM_REC_BAD;
		}
		if (path == known)
			f->contexts[path] = location_context(
				f, above == PM_NONE ? PM_REC_NONE : f->contexts[above], &l);
	}
	return path == PM_NONE ? PM_REC_BAD : f->contexts[path];
}

/* ---- costs ---- */

static uint32_t thread_handle(struct perf *f, const struct sample *s)
{
	struct thread *t = s->has_tid ? thread_of(f, s->pid, s->tid) : NULL;
	if (!t)
		return PM_REC_NONE;
	struct pm_rec_key keys[] = {
		{.key = "process", .number = s->pid}, {.key = "thread", .number = s->tid}};
	for (size_t i = 0; i < 2; i++)
		if (keys[i].number == NOBODY)
			keys[i].number = UINT64_MAX; /* -1 */
	struct pm_bytes name = text_of(f, t->comm);
	if (name.len == 0 && s->tid == 0 && s->pid == 0)
		name = pm_bytes_of("swapper");
	return pm_rec_thread(f->r, keys, 2, name);
}

/* What a value of READ has grown by since the last one of its id. */
static uint64_t growth(struct perf *f, uint64_t id, uint64_t value)
{
	bool fresh;
	uint32_t *at = pm_map_put(&f->last_values, id, (uint32_t)f->n_values, &fresh);
	if (!at ||
		(fresh &&
			!has_room(
				f, &f->values, f->n_values, &f->values_room, sizeof(*f->values)))) {
		no_memory(f);
		return 0;
	}
	if (fresh)
		f->values[f->n_values++] = 0;
	uint64_t by = value - f->values[*at];
	f->values[*at] = value;
	return by;
}

/* Runs `each` over what a sample says: its own period, or the growth of each event of its group. */
static void for_values(struct perf *f, const struct sample *s, void *context,
	void (*each)(struct perf *, struct event *, uint64_t period, void *context))
{
	uint64_t format = s->event->read_format;
	if (!(format & READ_ID) || s->read.len == 0) {
		each(f, &f->events[s->event - f->events], s->period, context);
		return;
	}
	bool group = format & READ_GROUP;
	struct pm_cur c = cursor(f, s->read);
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

static void note_event(struct perf *f, struct event *e, uint64_t period, void *context)
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

static void spend(struct perf *f, struct event *e, uint64_t period, void *context)
{
	const struct spent *at = context;
	if (period > INT64_MAX)
		pm_rec_cost_f64(f->r, at->thread, at->context, e->cost, (double)period);
	else
		pm_rec_cost(f->r, at->thread, at->context, e->cost, (int64_t)period);
	pm_rec_cost(f->r, at->thread, at->context, e->samples, 1);
	if (at->time)
		pm_rec_instant(f->r, at->thread, at->time, at->context, e->handle,
			period > INT64_MAX ? INT64_MAX : (int64_t)period);
}

static void take_sample(struct perf *f, const struct place *place)
{
	struct sample s;
	if (!read_sample(f, body_of(f, place->p), &s))
		return;
	struct spent at = {.thread = thread_handle(f, &s),
		.context = context_of(f, &s, half(f, place->p + 4) & 7),
		.time = s.time};
	for_values(f, &s, &at, spend);
	f->n_samples++;
	f->stacks += s.has_stack;
}

/* Which events have samples; those of groups only from what they grew by. */
static void note_events(struct perf *f)
{
	struct sample s;
	for (size_t i = 0; i < f->n_places && pm_rec_goes_on(f->r); i++)
		if (type_of(f, f->places[i].p) == SAMPLE &&
			read_sample(f, body_of(f, f->places[i].p), &s))
			for_values(f, &s, NULL, note_event);
	pm_map_done(&f->last_values);
	f->n_values = 0;
}

/* Events, then how many samples each has; the first leads unless a rule knows better. */
static void make_metrics(struct perf *f)
{
	unsigned real = 0;
	for (size_t i = 0; i < f->n_events; i++) {
		struct event *e = &f->events[i];
		real += !e->dummy;
		if (e->name.len == 0)
			e->name = default_name(f, e);
	}
	for (size_t i = 0; i < f->n_events; i++) {
		struct event *e = &f->events[i];
		bool clock = starts(e->name, "cpu-clock") || starts(e->name, "task-clock");
		if (e->has_samples)
			e->cost = pm_rec_metric(f->r, e->name, pm_bytes_of(clock ? "ns" : ""));
	}
	for (size_t i = 0; i < f->n_events; i++) {
		struct event *e = &f->events[i];
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

static void replay(struct perf *f)
{
	for (size_t i = 0; i < f->n_places && pm_rec_goes_on(f->r); i++) {
		const uint8_t *p = f->places[i].p;
		switch (type_of(f, p)) {
		case SAMPLE: take_sample(f, &f->places[i]); break;
		case COMM: take_comm(f, p); break;
		case FORK: take_fork(f, p); break;
		case KSYMBOL: take_ksymbol(f, p); break;
		default: take_mmap(f, p);
		}
	}
}

/* ---- the file ---- */

/* Attributes in their section, each with the place of its ids. */
static int read_attrs(struct perf *f, uint64_t offset, uint64_t size, uint64_t each)
{
	struct pm_bytes attrs, entry, ids;
	if (each < 16 + 64 || !pm_bytes_sub(f->all, offset, size, &attrs))
		return pm_error_set(f->err, -EINVAL, pm_rec_file(f->r), 0x10,
			"its attributes (%llu bytes of %llu each) are not in the file",
			(unsigned long long)size, (unsigned long long)each);
	for (uint64_t at = 0; pm_bytes_sub(attrs, at, each, &entry); at += each) {
		struct pm_cur c = cursor(f, entry);
		c.at = (size_t)each - 16;
		uint64_t from = pm_cur_u64(&c), bytes = pm_cur_u64(&c);
		if (!pm_bytes_sub(f->all, from, bytes, &ids))
			pm_rec_damage(f->r, offset + at, each,
				"the ids of an event lie beyond the end of the file");
		add_event(f, (struct pm_bytes){entry.p, entry.len - 16}, ids);
	}
	return 0;
}

static int read_file(struct perf *f)
{
	struct pm_cur c = cursor(f, f->all);
	struct pm_bytes data;
	c.at = 16;
	uint64_t each = pm_cur_u64(&c), attrs = pm_cur_u64(&c), attrs_size = pm_cur_u64(&c);
	uint64_t offset = pm_cur_u64(&c), size = pm_cur_u64(&c);
	pm_cur_bytes(&c, 16);
	const uint8_t *bits = pm_cur_take(&c, 32);
	if (!bits)
		return pm_error_set(f->err, -EINVAL, pm_rec_file(f->r), 0,
			"ends within the header of perf.data, which has 104 bytes");
	int r = read_attrs(f, attrs, attrs_size, each);
	if (r < 0)
		return r;
	if (size == 0) {
		pm_rec_damage(f->r, offset, PM_NO_OFFSET,
			"perf was killed: the header has no size, the data are read to their end");
		size = offset < f->all.len ? f->all.len - offset : 0;
	} else {
		read_features(f, bits, offset + size);
	}
	if (!pm_bytes_sub(f->all, offset, size, &data)) {
		pm_rec_damage(f->r, offset, size, "the data go beyond the end of the file");
		pm_bytes_sub(f->all, offset, offset < f->all.len ? f->all.len - offset : 0, &data);
	}
	read_stream(f, data, false);
	return 0;
}

/* The whole file in memory: as it is mapped, or inflated. */
static int read_bytes(struct perf *f, struct pm_text *inflated)
{
	struct pm_inflate *stream = pm_rec_stream(f->r);
	if (!stream)
		return -ENOMEM;
	f->all = pm_inflate_peek(stream, 1);
	if (pm_inflate_status(stream).state == PM_INFLATE_ENDED && f->all.len)
		return 0;
	/* Deflate has a limit of its own: 1032 times. */
	struct pm_bytes file = pm_rec_bytes(f->r);
	inflated->limit = pm_inflate_kind_of(file) == PM_INFLATE_ZSTD ? unpacked_limit(file.len)
								      : PM_LIMIT_UNPACKED;
	for (struct pm_bytes w; (w = pm_inflate_peek(stream, 1)).len && pm_rec_goes_on(f->r);) {
		pm_text_bytes(inflated, w);
		pm_inflate_consume(stream, w.len);
	}
	f->all = pm_text_view(inflated);
	return inflated->failed ? -ENOMEM : 0;
}

static void say_facts(struct perf *f)
{
	if (f->lost)
		pm_rec_remark(f->r, "The kernel lost %llu records: they are in no number.",
			(unsigned long long)f->lost);
	if (f->lost_samples)
		pm_rec_remark(f->r, "The kernel lost %llu samples: they are in no number.",
			(unsigned long long)f->lost_samples);
	if (f->throttled)
		pm_rec_remark(f->r, "The kernel throttled sampling %llu times.",
			(unsigned long long)f->throttled);
	if (f->stacks)
		pm_rec_remark(f->r,
			"%llu samples have a copy of the user stack, which is not unwound: their "
			"paths are the leaf, and the kernel's part.",
			(unsigned long long)f->stacks);
	if (f->bad_samples)
		pm_rec_damage(f->r, PM_NO_OFFSET, PM_NO_OFFSET,
			"%llu samples are of no event that the file describes, or longer than their "
			"record: they are left out",
			(unsigned long long)f->bad_samples);
}

static void perf_done(struct perf *f)
{
	for (size_t i = 0; i < f->n_blobs; i++)
		free((void *)(uintptr_t)f->blobs[i].p);
	for (size_t i = 0; i < f->n_processes; i++)
		drop_maps(f->maps_of[i]);
	free(f->blobs);
	free(f->events);
	free(f->places);
	free(f->maps_of);
	free(f->kernel.items);
	free(f->guest.items);
	free(f->threads);
	free(f->values);
	free(f->chain);
	for (size_t i = 0; i < f->n_modules; i++) {
		pm_map_done(&f->modules[i].locations[0]);
		pm_map_done(&f->modules[i].locations[1]);
	}
	free(f->modules);
	free(f->locations);
	free(f->contexts);
	pm_paths_done(&f->paths);
	sym_names_free(f->symbols);
	pm_damage_done(&f->symbol_damage);
	pm_map_done(&f->ids);
	pm_map_done(&f->processes);
	pm_map_done(&f->thread_index);
	pm_map_done(&f->last_values);
	pm_strtab_done(&f->names);
}

int perf_data_read(struct pm_recording *r, struct pm_error *err)
{
	enum { PIPE_HEADER = 16 };
	struct perf f = {.r = r, .err = err};
	struct pm_text inflated = {.p = NULL};
	struct pm_arena arena = {.block = NULL};
	f.names.arena = &arena;
	f.symbol_damage = (struct pm_damage_list)PM_DAMAGE_LIST_INIT;
	int e = pm_paths_init(&f.paths, PM_LIMIT_ITEMS);
	if (e == 0)
		e = read_bytes(&f, &inflated);
	f.big = f.all.len > 0 && f.all.p[0] == '2';
	name_of(&f, (struct pm_bytes){NULL, 0});
	if (e == 0 && f.all.len < 16)
		e = pm_error_set(err, -EINVAL, pm_rec_file(r), 0, "ends within its first 16 bytes");
	if (e == 0) {
		struct pm_cur c = cursor(&f, f.all);
		c.at = 8;
		f.is_bare = pm_cur_u64(&c) == PIPE_HEADER;
		pm_rec_layout(r, f.is_bare ? "pipe" : "file");
		if (f.is_bare)
			read_stream(&f, (struct pm_bytes){f.all.p + 16, f.all.len - 16}, false);
		else
			e = read_file(&f);
	}
	if (e == 0 && f.n_events == 0)
		e = pm_error_set(err, -EINVAL, pm_rec_file(r), 0,
			"describes no event: a recording has at least one");
	if (e == 0 && f.unsorted && pm_sort(f.places, f.n_places, sizeof(*f.places), by_time) < 0)
		e = -ENOMEM;
	if (e == 0) {
		note_events(&f);
		make_metrics(&f);
		e = open_symbols(&f);
	}
	if (e == 0) {
		replay(&f);
		say_facts(&f);
	}
	perf_done(&f);
	pm_arena_done(&arena);
	pm_text_done(&inflated);
	return e;
}

bool perf_data_is(const struct pm_candidate *c)
{
	return c->text.len >= 16 &&
		(memcmp(c->text.p, "PERFILE2", 8) == 0 || memcmp(c->text.p, "2ELIFREP", 8) == 0 ||
			memcmp(c->text.p, "PERFFILE", 8) == 0 ||
			memcmp(c->text.p, "ELIFFREP", 8) == 0);
}
