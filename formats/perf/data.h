/* Shared by the files that read perf.data: what is known of the file while it is read. */
#ifndef PROFMOUNT_PERF_DATA_H
#define PROFMOUNT_PERF_DATA_H

#include "formats/common/cursor.h"
#include "formats/common/list.h"
#include "formats/common/map.h"
#include "formats/common/paths.h"
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

enum perf_feature {
	TRACING = 1,
	BUILD_ID,
	HOSTNAME,
	OSRELEASE,
	VERSION,
	ARCH,
	NRCPUS,
	CPUDESC,
	CPUID,
	TOTAL_MEM,
	CMDLINE,
	EVENT_DESC,
	PMU_MAPPINGS = 16,
	SAMPLE_TIME = 21,
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
enum { BRANCH_CALL_STACK = 1 << 11, BRANCH_HW_INDEX = 1 << 17, BRANCH_COUNTERS = 1 << 19 };

/* Processor modes, in the low bits of a record's misc and as markers in call chains. */
enum perf_mode { UNKNOWN, KERNEL, USER, HYPERVISOR, GUEST_KERNEL, GUEST_USER };

/* What became of a copy of a user stack: the first two have all that was asked for. */
enum perf_stack_end {
	STACK_WHOLE,
	STACK_BEYOND, /* it is deeper than the copy */
	STACK_NO_FILE,
	STACK_BROKEN, /* what a file says of it cannot be */
	STACK_NOT_READ,
	PERF_STACK_ENDS,
};

#define NOBODY UINT64_C(0xffffffff)

/* ---- the file's own state ---- */

struct perf_event {
	uint64_t type, config, sample_type, read_format, sample_period, regs_user, regs_intr;
	uint64_t branch_type;
	bool sample_id_all, no_user, no_kernel, no_hypervisor, no_host, dummy, has_samples;
	unsigned precise;
	unsigned fixed_size; /* of a sample without its chain, if that is the last field; else 0 */
	struct pm_bytes name;
	uint32_t cost, samples; /* quantities */
	uint32_t handle;        /* of its samples in traces */
};

/*
 * A record that matters, wherever it lies. Its type and size are kept: a file that is rewritten
 * meanwhile could say others when they are read again.
 */
struct perf_place {
	uint64_t time;
	const uint8_t *p;
	uint32_t order;
	uint16_t type, size;
};

struct perf_map {
	uint64_t start, end; /* end is the last address */
	uint64_t offset;
	uint32_t name;
	enum { FILE_MAP, PLAIN_MAP, SYMBOL_MAP } kind; /* address in a file; as it is; a function */
};

/* Samples of a stream whose times only grow. */
struct perf_run {
	struct perf_place first;
	uint32_t n, stream;
	bool timed; /* else all have the time of the first */
};

/* Maps by address: one of them, and those below and above it; see maps.c. */
struct perf_maps {
	struct perf_map map;
	struct perf_maps *low, *high;
	uint32_t users; /* trees that it is part of */
	uint8_t height;
};

struct perf_thread {
	uint64_t pid, tid;
	uint32_t comm;      /* name; 0: none */
	uint32_t handle;    /* of the recording; PM_REC_NONE: not told */
	uint32_t told_comm; /* with it */
};

struct perf_frame {
	uint64_t ip;
	uint16_t slot;  /* where its location is kept, see perf.slots; PERF_NO_SLOT: nowhere */
	uint8_t mode;   /* enum perf_mode */
	bool first : 1; /* of its mode: an address that ran, not one to which a call returns */
	bool fresh : 1; /* the slot is another's so far */
};

/* A module, by name: what its addresses are called, and the locations that are known in it. */
struct perf_module {
	uint8_t n_build_id, build_id[20];
	uint32_t number;            /* for symbols; PM_NONE: not asked so far */
	struct pm_map locations[3]; /* offset → location; see enum perf_standing */
};

/* What an address is in the stack of a sample. */
enum perf_standing {
	PERF_RETURN, /* a call returns to it */
	PERF_FIRST,  /* it ran, or was about to */
	PERF_IDLE,   /* the same, and was doing nothing */
};

/* A place in code, wherever it is called from. */
struct perf_location {
	uint32_t module; /* name; of code made at run time, that of the process's map */
	uint64_t offset, ip;
	enum { NOWHERE, IN_FILE, IN_MEMORY, MADE } kind;
	enum perf_standing standing;
	uint32_t context; /* one that is this location alone; PM_REC_NONE: not known so far */
};

enum { PERF_SLOTS = 32768, PERF_NO_SLOT = UINT16_MAX, PERF_PRINT_BITS = 19 };

/* A feature of the header, as it is shown. */
struct perf_feature_row {
	uint64_t feature, size;
	const char *name;
	struct pm_bytes value; /* empty: it is for tools, or shown elsewhere */
};

/* A branch from one location to another, as often as it was taken. */
struct perf_branch {
	uint32_t from, to;
	uint64_t count, mispredicted, cycles;
};

struct perf {
	struct pm_recording *r;
	struct pm_error *err;
	bool big;
	struct pm_bytes all;
	struct perf_event *events;
	size_t n_events, events_room;
	struct pm_map ids; /* → event */
	struct perf_place *places;
	size_t n_places, places_room; /* of records other than samples */
	struct perf_run *runs;
	size_t n_runs, runs_room;
	struct pm_bytes *streams; /* of records: of the file, and decompressed ones */
	size_t n_streams, streams_room;
	uint32_t n_records;        /* that matter */
	uint64_t latest, run_ends; /* time of the records so far; of the last run's */
	bool run_is_open;          /* the next sample may be of it */
	bool notes_again; /* which events have samples is known only in the order of time */
	struct pm_strtab names;
	struct pm_map processes; /* pid → index in maps_of */
	struct perf_maps **maps_of;
	size_t n_processes, processes_room;
	struct perf_maps *kernel, *guest, *free_maps;
	struct pm_map thread_index; /* (pid, tid) */
	struct perf_thread *threads;
	size_t n_threads, threads_room;
	struct pm_map last_values; /* of READ, by id */
	uint64_t *values;
	size_t n_values, values_room;
	struct perf_frame *chain; /* of a sample whose stack is unwound */
	size_t n_chain, chain_room;
	uint64_t epoch;              /* counts changes of maps */
	uint32_t slots[PERF_SLOTS];  /* locations that were found lately */
	struct perf_module *modules; /* by name */
	size_t n_modules, modules_room;
	struct perf_location *locations;
	size_t n_locations, locations_room;
	struct pm_map branch_index; /* two locations → branch */
	struct perf_branch *branches;
	size_t n_branches, branches_room;
	struct pm_map trace_index;              /* number of a tracepoint → its description */
	struct perf_trace_event **trace_events; /* of the recording's memory */
	size_t n_trace_events, trace_events_room;
	struct perf_traced *traced; /* samples of tracepoints */
	size_t n_traced, traced_room;
	struct perf_feature_row *features;
	size_t n_features, features_room;
	struct pm_paths paths; /* of locations */
	struct perf_paths {    /* those of a thread's last sample, outermost first */
		uint32_t *items;
		size_t room;
		uint32_t thread;     /* in threads; PM_NONE: not looked up so far */
	} * last_paths, other_paths; /* of threads with numbers, of the others */
	size_t n_last_paths, last_paths_room;
	uint32_t *keys; /* locations of a sample, leaf first */
	size_t keys_room;
	uint32_t met[1 << PERF_PRINT_BITS]; /* by print of a chain: the path it had */
	uint32_t *contexts;                 /* by path */
	size_t contexts_room;
	struct sym_names *symbols; /* NULL: addresses are shown */
	struct pm_damage_list symbol_damage;
	struct pm_bytes host, kernel_release, architecture, reference;
	uint64_t reference_address, first_ns, last_ns;
	uint64_t bad_samples, bad_events, lost, lost_samples, throttled, open_calls;
	uint64_t processor_traces;        /* bytes of them */
	uint64_t stacks[PERF_STACK_ENDS]; /* samples with a copy of the stack */
	uint64_t idle_unknown;            /* samples of thread 0 of which no frame has a name */
	uint64_t unpacked;                /* bytes of records, out of compressed ones */
	bool is_bare;                     /* pipe: attributes come as records */
	bool is_folder;                   /* perf record --threads */
	unsigned long next_file;          /* of it, that is expected */
	struct pm_arena arena;            /* of all that is here; reading is a build in it */
};

struct perf_sample {
	const struct perf_event *event;
	uint64_t ip, pid, tid, time, period;
	bool has_ip, has_tid;
	struct pm_bytes chain, read, raw, branches; /* as stored */
	uint64_t abi;                               /* of the registers: 2 for 64 bits */
	struct pm_bytes registers, stack; /* of the thread outside of the kernel; as stored */
};

static inline struct pm_cur perf_cur(const struct perf *f, struct pm_bytes b)
{
	return pm_cur_of(b, f->big);
}

static inline struct pm_bytes perf_text(const struct perf *f, uint32_t name)
{
	return f->names.items[name];
}

/* Up to the NUL, or all of it. */
static inline struct pm_bytes perf_string(struct pm_bytes b)
{
	const uint8_t *end = b.len ? memchr(b.p, 0, b.len) : NULL;
	return (struct pm_bytes){b.p, end ? (size_t)(end - b.p) : b.len};
}

static inline bool perf_starts(struct pm_bytes b, const char *with)
{
	size_t n = strlen(with);
	return b.len >= n && memcmp(b.p, with, n) == 0;
}

static inline uint32_t perf_type(const struct perf *f, const uint8_t *p)
{
	return f->big ? pm_be32(p) : pm_le32(p);
}

static inline uint16_t perf_half(const struct perf *f, const uint8_t *p)
{
	return f->big ? pm_be16(p) : pm_le16(p);
}

static inline struct pm_bytes perf_body(const struct perf_place *place)
{
	return (struct pm_bytes){place->p + 8, (size_t)place->size - 8};
}

static inline unsigned perf_misc(const struct perf *f, const struct perf_place *place)
{
	return perf_half(f, place->p + 4);
}

/* ---- attrs.c ---- */

/* Adds an attribute, and the ids of its events. */
void perf_add_event(struct perf *f, struct pm_bytes attr, struct pm_bytes ids);
/* The event of an id; the only one where there is one. */
struct perf_event *perf_event_of(const struct perf *f, uint64_t id);
/* Where an id is in a sample or at its end: the same for all attributes, or none is needed. */
bool perf_id_of_sample(const struct perf *f, struct pm_bytes body, uint64_t *ret);
struct pm_bytes perf_default_name(struct perf *f, const struct perf_event *e);
/* What is known of a name as a module. */
struct perf_module *perf_module_of(struct perf *f, uint32_t name);
struct pm_bytes perf_module_name(struct pm_bytes name);
void perf_set_build_id(struct perf *f, struct pm_bytes name, const uint8_t *id, size_t n);
/* Records with a build id of a file each; `size` is in the id's 21st byte if a bit says so. */
void perf_take_build_id(struct perf *f, const uint8_t *p, size_t size);
void perf_take_feature(struct perf *f, uint64_t feature, struct pm_bytes b);
/* Behind the data, a place and a size for each bit that is set. */
void perf_read_features(struct perf *f, const uint8_t *bits, uint64_t at);

/* ---- records.c ---- */

/* The fields of a sample; false if they run over the record, or its event is unknown. */
bool perf_read_sample(const struct perf *f, struct pm_bytes body, struct perf_sample *s);
/* Real records shrink to a twentieth; a few bytes must not become gigabytes. */
size_t perf_unpacked_limit(size_t packed);
/* One record after the other; the stream ends with one that cannot be. */
void perf_read_stream(struct perf *f, struct pm_bytes b, bool packed);

/* ---- tracing.c ---- */

/* Descriptions of tracepoints, as the kernel has them. */
void perf_take_tracing(struct perf *f, struct pm_bytes b);
/* What a sample of a tracepoint recorded, if it is described. */
void perf_take_traced(struct perf *f, const struct perf_sample *s);
/* raw/events.csv. */
void perf_add_traced(struct perf *f);

/* ---- order.c ---- */

/* Puts places and runs in order. */
void perf_sort(struct perf *f);
/* All records and samples, in the order of their times, then of the file; zeroed = the first. */
struct perf_order {
	struct pm_arena *arena;   /* has them; NULL: free(heap) at the end */
	struct perf_cursor *heap; /* runs that have begun, the one with the next sample first */
	size_t n, room, run, place;
};

/* The next one: 1, 0 at the end, -ENOMEM. Only reads what is known of the file. */
int perf_order_next(const struct perf *f, struct perf_order *o, struct perf_place *ret);

/* ---- ahead.c ---- */

/* A record in its turn, and a sample's frames. It is small: another processor reads it. */
struct perf_told {
	struct perf_place place;
	const struct perf_event *event; /* NULL: no sample, or it cannot be read */
	uint64_t period;
	uint32_t pid, tid;
	uint32_t print; /* of the call chain: equal ones have the same, others seldom */
	/*
	 * The outermost frames are those of the thread's last sample, as many as `known`; the
	 * others, leaf first, are here.
	 */
	uint32_t known, n_frames;
	uint32_t thread; /* a number of the thread, if its frames are compared with the next ones */
	bool has_tid;
	bool unwinds; /* those outside of the kernel are in a copy of the stack */
	struct perf_frame frames[];
};

struct perf_ahead;

/* All records in order, read ahead by a thread if they are many. Ends with the scratch arena. */
struct perf_ahead *perf_ahead_new(struct pm_arena *scratch, const struct perf *f);
/* The next one, valid until the next call; NULL at the end. */
const struct perf_told *perf_ahead_next(struct perf *f, struct perf_ahead *a);

/* ---- maps.c ---- */

void perf_take_mmap(struct perf *f, const struct perf_place *place);
/* A function that the kernel made while it ran, as BPF programs are. */
void perf_take_ksymbol(struct perf *f, const struct perf_place *place);
struct perf_thread *perf_thread_of(struct perf *f, uint64_t pid, uint64_t tid);
void perf_take_comm(struct perf *f, const struct perf_place *place);
void perf_take_fork(struct perf *f, const struct perf_place *place);
/* Where an address lies, with the maps of its time. */
struct perf_location perf_locate(struct perf *f, uint64_t pid, const struct perf_frame *at);
/* The number of a location. */
uint32_t perf_location_of(struct perf *f, const struct perf_location *l);

/* ---- paths.c ---- */

void perf_open_symbols(struct perf *f);
/* Why modules have no names, once all samples are read. */
void perf_say_missing(struct perf *f);
/* What a location without a name is shown as: an address, in a module, or in none. */
uint64_t perf_shown(struct perf *f, const struct perf_location *l, struct pm_bytes *module);
/* `s` may be NULL if nothing is to be unwound. */
uint32_t perf_context_of(struct perf *f, const struct perf_told *told, const struct perf_sample *s);
/* The thread of a sample, which has one. */
struct perf_thread *perf_sample_thread(struct perf *f, const struct perf_told *told);

/* ---- raw.c ---- */

/* Adds the branches of a sample, with the maps of its time. */
void perf_take_branches(struct perf *f, const struct perf_sample *s, enum perf_mode mode);
/* The tables of raw/, once all samples are read. */
void perf_add_raw(struct perf *f);

#endif
