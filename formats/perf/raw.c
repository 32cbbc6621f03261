/*
 * raw/: what perf.data has and is shown nowhere else: attributes, maps, names of threads, what was
 * lost, and branches.
 */
#include "formats/common/sort.h"
#include "formats/perf/data.h"

/* Rows are an array of records. */
#define ROWS(name, type)                                                                           \
	static int name(struct pm_rows *rows, struct pm_record *ret, struct pm_error *err)         \
	{                                                                                          \
		(void)err;                                                                         \
		ret->p = (const type *)rows->table->self + rows->at;                               \
		return rows->at < rows->table->end;                                                \
	}

/* ---- attributes ---- */

struct attribute {
	uint64_t type, config, period, sample_type, read_format;
	struct pm_bytes event;
};

#define A struct attribute
static const struct pm_column attribute_columns[] = {PM_COLUMN(A, type, "type"),
	PM_COLUMN_HEX(A, config, "config"), PM_COLUMN(A, period, "period"),
	PM_COLUMN_HEX(A, sample_type, "sample_type"), PM_COLUMN_HEX(A, read_format, "read_format"),
	PM_COLUMN(A, event, "event")};
ROWS(attribute_record, A)
static const struct pm_sheet attributes =
	PM_SHEET("raw/attributes.csv", attribute_columns, attribute_record, .dense = true);

static void add_attributes(struct perf *f)
{
	struct attribute *all = pm_rec_alloc(f->r, f->n_events * sizeof(*all));
	for (size_t i = 0; all && i < f->n_events; i++) {
		const struct perf_event *e = &f->events[i];
		all[i] = (struct attribute){e->type, e->config, e->sample_period, e->sample_type,
			e->read_format, e->name};
	}
	pm_rec_sheet(f->r, &attributes, all, all ? f->n_events : 0);
}

/* ---- features ---- */

#define F struct perf_feature_row
static const struct pm_column feature_columns[] = {PM_COLUMN(F, feature, "feature"),
	PM_COLUMN(F, name, "name"), PM_COLUMN(F, size, "bytes"), PM_COLUMN(F, value, "value")};
ROWS(feature_record, F)
static const struct pm_sheet features =
	PM_SHEET("raw/features.csv", feature_columns, feature_record, .dense = true);

static void add_features(struct perf *f)
{
	F *all = f->n_features ? pm_rec_alloc(f->r, f->n_features * sizeof(*all)) : NULL;
	if (!all)
		return;
	memcpy(all, f->features, f->n_features * sizeof(*all));
	pm_rec_sheet(f->r, &features, all, f->n_features);
}

/* ---- records other than samples ---- */

struct record {
	uint64_t time, process, thread; /* PM_NO_OFFSET: none */
	uint64_t start, length, offset;
	const char *kind;
	struct pm_bytes text;
};

#define R struct record
static const struct pm_column map_columns[] = {PM_COLUMN(R, time, "timestamp_ns"),
	PM_COLUMN_OR_NONE(R, process, "process"), PM_COLUMN_HEX(R, start, "start"),
	PM_COLUMN_HEX(R, length, "length"), PM_COLUMN_HEX(R, offset, "offset"),
	PM_COLUMN(R, kind, "kind"), PM_COLUMN(R, text, "file")};
static const struct pm_column comm_columns[] = {PM_COLUMN(R, time, "timestamp_ns"),
	PM_COLUMN_OR_NONE(R, process, "process"), PM_COLUMN_OR_NONE(R, thread, "thread"),
	PM_COLUMN(R, kind, "kind"), PM_COLUMN(R, text, "name")};
static const struct pm_column lost_columns[] = {PM_COLUMN(R, time, "timestamp_ns"),
	PM_COLUMN(R, length, "count"), PM_COLUMN(R, kind, "kind")};
ROWS(record_record, R)
static const struct pm_sheet maps =
	PM_SHEET("raw/maps.csv", map_columns, record_record, .dense = true);
static const struct pm_sheet comms =
	PM_SHEET("raw/comms.csv", comm_columns, record_record, .dense = true);
static const struct pm_sheet losses =
	PM_SHEET("raw/lost.csv", lost_columns, record_record, .dense = true);

static bool is_map(uint32_t type)
{
	return type == MMAP || type == MMAP2;
}

static bool is_comm(uint32_t type)
{
	return type == COMM;
}

static bool is_loss(uint32_t type)
{
	return type == LOST || type == LOST_SAMPLES || type == THROTTLE;
}

static struct record record_of(struct perf *f, const struct perf_place *place)
{
	enum { EXEC = 0x2000 };
	struct pm_cur c = perf_cur(f, perf_body(place));
	uint32_t type = place->type;
	struct record r = {.time = place->time};
	if (is_loss(type)) {
		if (type == LOST)
			pm_cur_u64(&c);
		r.length = type == THROTTLE ? 1 : pm_cur_u64(&c);
		r.kind = type == LOST          ? "records lost"
			: type == LOST_SAMPLES ? "samples lost"
					       : "throttled";
		return r;
	}
	r.process = pm_cur_u32(&c);
	r.thread = pm_cur_u32(&c);
	r.process = r.process == NOBODY ? PM_NO_OFFSET : r.process;
	r.thread = r.thread == NOBODY ? PM_NO_OFFSET : r.thread;
	if (type == COMM) {
		r.kind = perf_misc(f, place) & EXEC ? "exec" : "name";
	} else {
		static const char *const modes[] = {
			"", "kernel", "user", "hypervisor", "guest kernel", "guest user", "", ""};
		r.start = pm_cur_u64(&c);
		r.length = pm_cur_u64(&c);
		r.offset = pm_cur_u64(&c);
		r.kind = modes[perf_misc(f, place) & 7];
		if (type == MMAP2)
			pm_cur_bytes(&c, 32);
	}
	r.text = pm_rec_copy(f->r, perf_string(pm_cur_bytes(&c, pm_cur_left(&c))));
	return r;
}

static void add_records(struct perf *f, bool (*is_one)(uint32_t type), const struct pm_sheet *sheet)
{
	size_t n = 0;
	for (size_t i = 0; i < f->n_places; i++)
		n += is_one(f->places[i].type);
	struct record *all = n ? pm_rec_alloc(f->r, n * sizeof(*all)) : NULL;
	if (!all)
		return;
	n = 0;
	for (size_t i = 0; i < f->n_places && pm_rec_goes_on(f->r); i++)
		if (is_one(f->places[i].type))
			all[n++] = record_of(f, &f->places[i]);
	pm_rec_sheet(f->r, sheet, all, n);
}

/* ---- branches ---- */

struct branch_row {
	struct pm_bytes from, to;
	uint64_t count, mispredicted, cycles;
};

#define B struct branch_row
static const struct pm_column branch_columns[] = {PM_COLUMN(B, from, "from"),
	PM_COLUMN(B, to, "to"), PM_COLUMN(B, count, "count"),
	PM_COLUMN(B, mispredicted, "mispredicted"), PM_COLUMN(B, cycles, "cycles")};
ROWS(branch_record, B)
static const struct pm_sheet branches =
	PM_SHEET("raw/branches.csv", branch_columns, branch_record, .dense = true);

/* The location of an end of a branch; addresses of the kernel are the upper half. */
static uint32_t branch_end(struct perf *f, uint64_t pid, uint64_t ip, bool guest)
{
	enum perf_mode mode =
		ip >> 63 ? (guest ? GUEST_KERNEL : KERNEL) : (guest ? GUEST_USER : USER);
	struct perf_frame at = {.ip = ip, .mode = mode, .first = true};
	struct perf_location l = perf_locate(f, pid, &at);
	return perf_location_of(f, &l);
}

void perf_take_branches(struct perf *f, const struct perf_sample *s, enum perf_mode mode)
{
	enum { MISPREDICTED = 1, CYCLES_AT = 4, CYCLES = 0xffff };
	bool guest = mode == GUEST_KERNEL || mode == GUEST_USER;
	if (s->event->branch_type &
		BRANCH_CALL_STACK) { /* calls that are open, in each sample anew */
		f->open_calls++;
		return;
	}
	struct pm_cur c = perf_cur(f, s->branches);
	while (pm_cur_left(&c) >= 24 && pm_rec_goes_on(f->r)) {
		uint64_t from = pm_cur_u64(&c), to = pm_cur_u64(&c), flags = pm_cur_u64(&c);
		if (f->big) /* fields begin at the other end */
			flags = flags >> 63 | (flags >> 44 & CYCLES) << CYCLES_AT;
		uint32_t a = branch_end(f, s->pid, from, guest);
		uint32_t b = branch_end(f, s->pid, to, guest);
		bool fresh;
		uint32_t at = *pm_map_put(
			&f->branch_index, (uint64_t)a << 32 | b, (uint32_t)f->n_branches, &fresh);
		if (fresh) {
			pm_items_grow(&f->arena, &f->branches, f->n_branches, &f->branches_room,
				sizeof(*f->branches));
			f->branches[f->n_branches++] = (struct perf_branch){.from = a, .to = b};
		}
		struct perf_branch *branch = &f->branches[at];
		branch->count++;
		branch->mispredicted += flags & MISPREDICTED;
		branch->cycles += flags >> CYCLES_AT & CYCLES;
	}
}

/* As the frame is called that has no name. */
static struct pm_bytes end_name(struct perf *f, uint32_t location)
{
	const struct perf_location *l = &f->locations[location];
	char name[PM_REC_ADDRESS_NAME];
	struct pm_bytes module;
	uint64_t address = perf_shown(f, l, &module);
	if (l->kind == MADE)
		return pm_rec_copy(f->r, module);
	if (module.len == 0 && address == 0)
		return pm_bytes_of("0x0");
	pm_rec_address_name(module, address, name);
	return pm_rec_copy(f->r, pm_bytes_of(name));
}

static int by_count(const void *a, const void *b)
{
	const struct perf_branch *x = a, *y = b;
	if (x->count != y->count)
		return x->count > y->count ? -1 : 1;
	if (x->from != y->from)
		return x->from < y->from ? -1 : 1;
	return (x->to > y->to) - (x->to < y->to);
}

static void add_branches(struct perf *f)
{
	if (f->n_branches == 0)
		return;
	struct branch_row *all = pm_rec_alloc(f->r, f->n_branches * sizeof(*all));
	pm_build_check(
		&f->arena, pm_sort(f->branches, f->n_branches, sizeof(*f->branches), by_count));
	for (size_t i = 0; all && i < f->n_branches && pm_rec_goes_on(f->r); i++) {
		const struct perf_branch *b = &f->branches[i];
		all[i] = (struct branch_row){end_name(f, b->from), end_name(f, b->to), b->count,
			b->mispredicted, b->cycles};
	}
	pm_rec_sheet(f->r, &branches, all, all ? f->n_branches : 0);
}

void perf_add_raw(struct perf *f)
{
	add_attributes(f);
	add_features(f);
	add_records(f, is_map, &maps);
	add_records(f, is_comm, &comms);
	add_records(f, is_loss, &losses);
	add_branches(f);
}
