/* Attributes, names of events, and features of perf.data. */
#include <stdio.h>

#include "formats/perf/data.h"

/* ---- attributes ---- */

/* A bit of the attribute's flags: bits of a byte are reversed in a file of the other byte order. */
static bool flag(const struct perf *f, const uint8_t *flags, unsigned bit)
{
	unsigned in = bit % 8;
	return flags[bit / 8] >> (f->big ? 7 - in : in) & 1;
}

/* perf_event_attr: `size` bytes, of which those that are missing are 0. */
static void read_attr(struct perf *f, struct pm_bytes b, struct perf_event *e)
{
	uint8_t whole[136] = {0};
	if (b.len)
		memcpy(whole, b.p, b.len < sizeof(whole) ? b.len : sizeof(whole));
	struct pm_cur c = perf_cur(f, (struct pm_bytes){whole, sizeof(whole)});
	*e = (struct perf_event){.type = pm_cur_u32(&c)};
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
	const uint64_t usual =
		IDENTIFIER | IP | TID | TIME | ADDR | ID | STREAM_ID | CPU | PERIOD | CALLCHAIN;
	if (!f->big && !(e->sample_type & ~usual))
		e->fixed_size = 8 * (unsigned)__builtin_popcountll(e->sample_type);
}

/* Adds an attribute, and the ids of its events. */
void perf_add_event(struct perf *f, struct pm_bytes attr, struct pm_bytes ids)
{
	bool fresh;
	if (f->n_events >= PM_LIMIT_COLUMNS / 6) {
		pm_rec_fail(f->r, -ENOTSUP, PM_NO_OFFSET, "has more than %d events",
			PM_LIMIT_COLUMNS / 6);
		return;
	}
	pm_items_grow(&f->arena, &f->events, f->n_events, &f->events_room, sizeof(*f->events));
	read_attr(f, attr, &f->events[f->n_events]);
	f->notes_again |= f->n_runs > 0;
	struct pm_cur c = perf_cur(f, ids);
	while (pm_cur_left(&c) >= 8)
		pm_map_put(&f->ids, pm_cur_u64(&c), (uint32_t)f->n_events, &fresh);
	f->n_events++;
}

/* The event of an id; the only one where there is one. */
struct perf_event *perf_event_of(const struct perf *f, uint64_t id)
{
	const uint32_t *at = f->n_events > 1 ? pm_map_find(&f->ids, id) : NULL;
	return f->n_events == 1 ? f->events : at ? &f->events[*at] : NULL;
}

/* Where an id is in a sample or at its end: the same for all attributes, or none is needed. */
bool perf_id_of_sample(const struct perf *f, struct pm_bytes body, uint64_t *ret)
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
	struct pm_cur c = perf_cur(f, body);
	c.at = at <= body.len ? at : body.len;
	*ret = pm_cur_u64(&c);
	return !c.bad;
}

/* ---- names of events ---- */

struct pm_bytes perf_default_name(struct perf *f, const struct perf_event *e)
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

static struct pm_bytes feature_string(struct pm_cur *c)
{
	uint32_t n = pm_cur_u32(c);
	return perf_string(pm_cur_bytes(c, n));
}

static void take_event_desc(struct perf *f, struct pm_cur *c)
{
	uint32_t n = pm_cur_u32(c), size = pm_cur_u32(c);
	for (uint32_t i = 0; i < n && !c->bad && pm_rec_goes_on(f->r); i++) {
		pm_cur_bytes(c, size);
		uint32_t n_ids = pm_cur_u32(c);
		struct pm_bytes name = feature_string(c);
		struct perf_event *e = i < f->n_events ? &f->events[i] : NULL;
		if (pm_cur_left(c) / 8 < n_ids)
			c->bad = true;
		for (uint32_t k = 0; k < n_ids && !c->bad; k++) {
			uint64_t id = pm_cur_u64(c);
			bool fresh;
			if (e && !pm_map_find(&f->ids, id))
				pm_map_put(&f->ids, id, i, &fresh);
		}
		if (e && !c->bad && name.len)
			e->name = pm_rec_copy(f->r, name);
	}
}

struct perf_module *perf_module_of(struct perf *f, uint32_t name)
{
	while (f->n_modules <= name) {
		pm_items_grow(&f->arena, &f->modules, f->n_modules, &f->modules_room,
			sizeof(*f->modules));
		struct perf_module *m = &f->modules[f->n_modules++];
		*m = (struct perf_module){.number = PM_NONE};
		for (size_t i = 0; i < 3; i++)
			m->locations[i].arena = &f->arena;
	}
	return &f->modules[name];
}

struct pm_bytes perf_module_name(struct pm_bytes name)
{
	if (perf_starts(name, "[kernel.kallsyms]"))
		name.len = 17;
	else if (perf_starts(name, "[guest.kernel.kallsyms"))
		name.len = 22;
	return name;
}

void perf_set_build_id(struct perf *f, struct pm_bytes name, const uint8_t *id, size_t n)
{
	struct perf_module *m = perf_module_of(f, pm_strtab_add(&f->names, perf_module_name(name)));
	if (m->n_build_id || n > sizeof(m->build_id))
		return;
	memcpy(m->build_id, id, n);
	m->n_build_id = (uint8_t)n;
}

/* Records with a build id of a file each; `size` is in the id's 21st byte if a bit says so. */
void perf_take_build_id(struct perf *f, const uint8_t *p, size_t size)
{
	enum { HAS_SIZE = 1 << 15 };
	struct pm_cur c = perf_cur(f, (struct pm_bytes){p, size});
	pm_cur_u32(&c);
	unsigned misc = pm_cur_u16(&c);
	pm_cur_bytes(&c, 2 + 4);
	const uint8_t *id = pm_cur_take(&c, 24);
	if (id)
		perf_set_build_id(f, perf_string(pm_cur_bytes(&c, pm_cur_left(&c))), id,
			misc & HAS_SIZE ? id[20] : 20);
}

static void take_build_ids(struct perf *f, struct pm_bytes b)
{
	for (size_t at = 0; b.len - at >= 8;) {
		size_t size = f->big ? pm_be16(b.p + at + 6) : pm_le16(b.p + at + 6);
		if (size < 8 || size > b.len - at)
			return;
		perf_take_build_id(f, b.p + at, size);
		at += size;
	}
}

/* What a feature says, as text; empty: it is for tools, or shown elsewhere. */
static struct pm_bytes feature_value(struct perf *f, uint64_t feature, struct pm_cur *c)
{
	struct pm_text text = {.limit = PM_LIMIT_STRING, .arena = &f->arena};
	uint64_t first, last;
	uint32_t n;
	switch (feature) {
	case HOSTNAME:
	case OSRELEASE:
	case VERSION:
	case ARCH:
	case CPUDESC:
	case CPUID: pm_text_bytes(&text, feature_string(c)); break;
	case NRCPUS:
		n = pm_cur_u32(c);
		pm_text_printf(&text, "%u online, %u available", pm_cur_u32(c), n);
		break;
	case TOTAL_MEM: pm_text_printf(&text, "%llu kB", (unsigned long long)pm_cur_u64(c)); break;
	case CMDLINE:
	case PMU_MAPPINGS:
		n = pm_cur_u32(c);
		for (uint32_t i = 0; i < n && pm_cur_left(c) > 0; i++) {
			if (i)
				pm_text_char(&text, ' ');
			if (feature == PMU_MAPPINGS)
				pm_text_printf(&text, "%u:", pm_cur_u32(c));
			pm_text_bytes(&text, feature_string(c));
		}
		break;
	case SAMPLE_TIME:
		first = pm_cur_u64(c);
		last = pm_cur_u64(c);
		pm_text_printf(&text, "%llu to %llu ns", (unsigned long long)first,
			(unsigned long long)last);
		break;
	default: break;
	}
	struct pm_bytes ret = {NULL, 0};
	if (!text.failed && !c->bad)
		ret = pm_rec_copy(f->r, pm_text_view(&text));
	pm_text_done(&text);
	return ret;
}

void perf_take_feature(struct perf *f, uint64_t feature, struct pm_bytes b)
{
	/* By number, as perf names them; with the key of those that are facts of info.json. */
	static const struct {
		const char *name, *fact;
	} known[] = {[TRACING] = {"tracing data", NULL},
		[BUILD_ID] = {"build ids", NULL},
		[HOSTNAME] = {"host name", "host"},
		[OSRELEASE] = {"kernel", "kernel"},
		[VERSION] = {"version of perf", "perf_version"},
		[ARCH] = {"architecture", "architecture"},
		[NRCPUS] = {"processors", "cpus"},
		[CPUDESC] = {"processor", "cpu"},
		[CPUID] = {"processor id", NULL},
		[TOTAL_MEM] = {"memory", NULL},
		[CMDLINE] = {"command", "command"},
		[EVENT_DESC] = {"events", NULL},
		{"processor topology", NULL},
		{"memory nodes", NULL},
		{"branch stacks", NULL},
		{"event sources", NULL},
		{"groups of events", NULL},
		{"AUX areas", NULL},
		{"perf stat", NULL},
		{"caches", NULL},
		{"time of samples", NULL},
		{"memory topology", NULL},
		{"clock", NULL},
		{"directory", NULL},
		{"BPF programs", NULL},
		{"BPF types", NULL},
		{"compression", NULL},
		{"capabilities of the processor", NULL},
		{"clock and time of day", NULL},
		{"hybrid processors", NULL},
		{"capabilities of event sources", NULL}};
	struct pm_cur c = perf_cur(f, b);
	bool is_known = feature < sizeof(known) / sizeof(known[0]) && known[feature].name;
	struct perf_feature_row row = {.feature = feature,
		.size = b.len,
		.name = is_known ? known[feature].name : "",
		.value = feature_value(f, feature, &c)};
	pm_items_grow(&f->arena, &f->features, f->n_features, &f->features_room, sizeof(row));
	f->features[f->n_features++] = row;
	if (is_known && known[feature].fact && row.value.len)
		pm_rec_fact(f->r, known[feature].fact, pm_cell_text(row.value));
	if (feature == TRACING)
		perf_take_tracing(f, b);
	else if (feature == BUILD_ID)
		take_build_ids(f, b);
	else if (feature == HOSTNAME)
		f->host = row.value;
	else if (feature == OSRELEASE)
		f->kernel_release = row.value;
	else if (feature == ARCH)
		f->architecture = row.value;
	else if (feature == CMDLINE && row.value.len)
		pm_rec_title(f->r, row.value);
	else if (feature == EVENT_DESC)
		take_event_desc(f, &c);
	if (c.bad)
		pm_rec_damage(f->r, PM_NO_OFFSET, PM_NO_OFFSET,
			"feature %llu of the header is longer than its section",
			(unsigned long long)feature);
}

/* Behind the data, a place and a size for each bit that is set. */
void perf_read_features(struct perf *f, const uint8_t *bits, uint64_t at)
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
		struct pm_cur c = perf_cur(f, entry);
		uint64_t offset = pm_cur_u64(&c), size = pm_cur_u64(&c);
		if (pm_bytes_sub(f->all, offset, size, &b))
			perf_take_feature(f, feature, b);
		else
			pm_rec_damage(f->r, at - 16, 16,
				"feature %u lies beyond the end of the file", feature);
	}
}
