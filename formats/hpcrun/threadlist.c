/*
 * Who the threads are, from the beginnings of the files, which are read in parallel: the writer and
 * metrics of a profile, the number of samples of a trace. Damage is reported by the code that reads
 * whole files.
 */
#include "formats/hpcrun/hpcrun.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "formats/common/damage.h"
#include "formats/common/pipeline.h"
#include "formats/common/quantity.h"
#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "formats/common/text.h"
#include "formats/hpcrun/profile.h"

/*
 * ==== identities ====
 * Makes them unique. Claims of files are resolved in three rounds: claims as they are; then those
 * that clash, or are a prefix of another one, with their process added; then those that still
 * clash, with the thread's number, which is unique.
 */

struct settling {
	struct pm_arena *a; /* of the identities */
	struct pm_arena *scratch;
	struct pm_strtab keys;
	struct path {
		struct pm_identity *levels; /* room for two more levels than claimed */
		uint32_t n;
		bool clashes;
	} * paths;
	uint32_t *order; /* of paths, sorted */
	uint32_t n;
};

/* ---- keys ---- */

/* Columns of threads.csv, and keys with a meaning of their own. */
static const char *const taken[] = {"thread_id", "contexts", "values", "samples", "first_ns",
	"last_ns", "file", "path", "process", "profile", "run"};

static bool is_taken(const char *key)
{
	for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
		if (strcmp(taken[i], key) == 0)
			return true;
	return false;
}

/* Lower case: a letter, followed by letters, digits and underscores. */
static void make_key(struct pm_bytes name, char *key, size_t size)
{
	size_t n = 0;
	for (size_t i = 0; i < name.len && n + 1 < size; i++) {
		uint8_t c = name.p[i];
		bool upper = c >= 'A' && c <= 'Z', lower = c >= 'a' && c <= 'z';
		if (n == 0 && !upper && !lower)
			continue;
		bool digit = c >= '0' && c <= '9';
		key[n++] = upper ? (char)(c - 'A' + 'a') : lower || digit ? (char)c : '_';
	}
	key[n] = 0;
	if (n == 0 || is_taken(key))
		snprintf(key, size, "kind");
}

struct hpcrun_level *hpcrun_claim_add(struct hpcrun_claim *claim, struct pm_bytes name)
{
	struct hpcrun_level level = {.renumber = false};
	make_key(name, level.key, sizeof(level.key));
	for (uint32_t i = 0; i < claim->n; i++)
		if (strcmp(claim->levels[i].key, level.key) == 0)
			return NULL;
	if (claim->n == HPCRUN_MOST_LEVELS)
		return NULL;
	claim->levels[claim->n] = level;
	return &claim->levels[claim->n++];
}

/* ---- ids that files have made for themselves ---- */

struct physical {
	uint32_t key;
	uint64_t id;
};

static int by_id(const void *a, const void *b)
{
	const struct physical *x = a, *y = b;
	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

/* The position of an id among those of its key. */
static uint64_t place_of(const struct physical *ids, size_t n, struct physical id)
{
	struct physical first = {id.key, 0};
	return PM_LOWER_BOUND(i, 0, n, by_id(&ids[i], &id) < 0) -
		PM_LOWER_BOUND(i, 0, n, by_id(&ids[i], &first) < 0);
}

/* ---- paths ---- */

static void add_level(struct settling *s, struct path *path, const char *key, uint64_t value)
{
	uint32_t index = pm_strtab_add(&s->keys, pm_bytes_of(key));
	path->levels[path->n++] = (struct pm_identity){.key = index, .value = value};
}

static void renumber(struct settling *s, const struct hpcrun_claim *claims)
{
	size_t n = 0, n_unique = 0;
	struct physical *ids =
		pm_arena_array(s->scratch, (size_t)s->n * HPCRUN_MOST_LEVELS, sizeof(*ids));
	for (uint32_t i = 0; i < s->n; i++)
		for (uint32_t k = 0; k < claims[i].n; k++)
			ids[n++] = (struct physical){
				s->paths[i].levels[k].key, claims[i].levels[k].physical};
	pm_build_check(s->scratch, pm_sort(ids, n, sizeof(*ids), by_id));
	for (size_t i = 0; i < n; i++)
		if (n_unique == 0 || by_id(&ids[n_unique - 1], &ids[i]) != 0)
			ids[n_unique++] = ids[i];
	for (uint32_t i = 0; i < s->n; i++)
		for (uint32_t k = 0; k < claims[i].n; k++) {
			struct pm_identity *level = &s->paths[i].levels[k];
			struct physical id = {level->key, claims[i].levels[k].physical};
			if (claims[i].levels[k].renumber)
				level->value = place_of(ids, n_unique, id);
		}
}

/* ---- clashes ---- */

/* By levels; a path comes before those that begin with it. */
static int by_levels(const struct path *x, const struct path *y)
{
	for (uint32_t i = 0; i < x->n && i < y->n; i++) {
		if (x->levels[i].key != y->levels[i].key)
			return x->levels[i].key < y->levels[i].key ? -1 : 1;
		if (x->levels[i].value != y->levels[i].value)
			return x->levels[i].value < y->levels[i].value ? -1 : 1;
	}
	return (x->n > y->n) - (x->n < y->n);
}

static int by_path(const void *a, const void *b, void *paths)
{
	const uint32_t *x = a, *y = b;
	const struct path *all = paths;
	int order = by_levels(&all[*x], &all[*y]);
	return order ? order : (*x > *y) - (*x < *y);
}

/* Is `next` the same path, or below it? */
static bool holds(const struct path *path, const struct path *next)
{
	struct path begin = {.levels = next->levels, .n = path->n};
	return path->n <= next->n && by_levels(path, &begin) == 0;
}

static void find_clashes(struct settling *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		s->order[i] = i;
		s->paths[i].clashes = s->paths[i].n == 0;
	}
	pm_build_check(
		s->scratch, pm_sort_with(s->order, s->n, sizeof(*s->order), by_path, s->paths));
	for (uint32_t i = 0; i + 1 < s->n; i++) {
		struct path *path = &s->paths[s->order[i]], *next = &s->paths[s->order[i + 1]];
		if (!holds(path, next))
			continue;
		path->clashes = true;
		next->clashes |= path->n == next->n;
	}
}

static void make_paths(struct settling *s, const struct hpcrun_claim *claims)
{
	for (uint32_t i = 0; i < s->n; i++) {
		const struct hpcrun_claim *claim = &claims[i];
		struct path *path = &s->paths[i];
		path->levels = pm_arena_array(s->a, claim->n + 2, sizeof(*path->levels));
		for (uint32_t k = 0; k < claim->n; k++)
			add_level(s, path, claim->levels[k].key, claim->levels[k].logical);
	}
	renumber(s, claims);
	find_clashes(s);
	for (uint32_t i = 0; i < s->n; i++)
		if (s->paths[i].clashes && claims[i].has_process)
			add_level(s, &s->paths[i], "process", claims[i].process);
	find_clashes(s);
	for (uint32_t i = 0; i < s->n; i++)
		if (s->paths[i].clashes)
			add_level(s, &s->paths[i], "profile", (uint64_t)i + 1);
}

void hpcrun_identities_resolve(struct pm_arena *a, const struct hpcrun_claim *claims, uint32_t n,
	struct pm_thread *threads, struct pm_threads *ret_keys)
{
	struct pm_arena *scratch = pm_arena_scratch(a);
	struct settling s = {.a = a,
		.scratch = scratch,
		.keys = pm_strtab_in(scratch),
		.paths = pm_arena_array(scratch, n, sizeof(*s.paths)),
		.order = pm_arena_array(scratch, n, sizeof(*s.order)),
		.n = n};
	make_paths(&s, claims);
	const char **keys = pm_arena_array(a, s.keys.n, sizeof(*keys));
	for (uint32_t i = 0; i < s.keys.n; i++)
		keys[i] = pm_arena_printf(
			a, "%.*s", (int)s.keys.items[i].len, (const char *)s.keys.items[i].p);
	ret_keys->keys = keys;
	ret_keys->n_keys = s.keys.n;
	for (uint32_t i = 0; i < n; i++) {
		threads[i].identity = s.paths[i].levels;
		threads[i].n_identity = s.paths[i].n;
	}
	pm_arena_done(scratch);
}

/*
 * ==== several runs in one directory ====
 * hpcrun writes into it whatever it is told to, and two runs have the same ranks and threads, which
 * no sum over both means anything for.
 */

struct process {
	struct pm_bytes program, host;
	uint64_t start, end;  /* of its traces; UINT64_MAX, 0: unknown */
	uint32_t first, run;  /* its first thread */
	uint32_t n_processes; /* of the run that it is the first of */
};

struct finding {
	struct pm_arena *a; /* of all of it */
	struct hpcrun_folder *folder;
	const struct hpcrun_thread_list *thread_list;
	struct hpcrun_claim *claims;
	uint32_t n;
	uint32_t *of;      /* by thread: its process */
	uint32_t *claim;   /* by thread: the number of what it claims */
	uint32_t *threads; /* by process, then in order */
	uint32_t *starts;  /* by process: the first of its threads */
	struct process *processes;
	uint32_t n_processes, n_runs;
	struct pm_map owners; /* claim → process, of the current run */
};

/* ---- processes and claims ---- */

static void describe_claim(const struct hpcrun_claim *claim, struct pm_text *out)
{
	pm_text_clear(out);
	for (uint32_t i = 0; i < claim->n; i++) {
		const struct hpcrun_level *level = &claim->levels[i];
		pm_text_printf(out, "%s=%llu/", level->key,
			(unsigned long long)(level->renumber ? level->physical : level->logical));
	}
}

static void number_all(struct finding *f)
{
	struct pm_strtab processes = pm_strtab_in(f->a), claims = pm_strtab_in(f->a);
	struct pm_text text = {.arena = f->a};
	for (uint32_t i = 0; i < f->n; i++) {
		struct hpcrun_file_name name = hpcrun_file_name_parse(
			hpcrun_file_stem(hpcrun_source_file(&f->folder->sources[i])));
		uint32_t known = processes.n;
		hpcrun_proceed(f->a, i);
		if (!name.has_parts) /* the name says nothing */
			name = (struct hpcrun_file_name){.has_parts = false};
		pm_text_clear(&text);
		pm_text_bytes(&text, name.program);
		pm_text_char(&text, '/');
		pm_text_bytes(&text, name.host);
		pm_text_printf(&text, "/%llu", (unsigned long long)f->claims[i].process);
		f->of[i] = pm_strtab_add(&processes, pm_text_view(&text));
		if (f->of[i] == known)
			f->processes[known] = (struct process){.program = name.program,
				.host = name.host,
				.start = UINT64_MAX,
				.first = i};
		describe_claim(&f->claims[i], &text);
		f->claim[i] = pm_strtab_add(&claims, pm_text_view(&text));
	}
	f->n_processes = processes.n;
}

static void list_threads(struct finding *f)
{
	for (uint32_t i = 0; i < f->n; i++)
		f->starts[f->of[i] + 1]++;
	for (uint32_t i = 0; i < f->n_processes; i++)
		f->starts[i + 1] += f->starts[i];
	for (uint32_t i = f->n; i-- > 0;) /* each process's are filled from behind */
		f->threads[--f->starts[f->of[i] + 1]] = i;
	for (uint32_t i = 0; i < f->n_processes; i++)
		f->starts[i] = f->starts[i + 1];
	f->starts[f->n_processes] = f->n;
}

/* Whether the process claims what another one of the current run does. With `join` it is in the run
 * from now on. */
static bool meets(struct finding *f, uint32_t process, bool join)
{
	bool ret = false;
	for (uint32_t k = f->starts[process]; k < f->starts[process + 1]; k++) {
		uint32_t thread = f->threads[k], claim = f->claim[thread];
		if (f->claims[thread].n == 0)
			continue;
		const uint32_t *owner = pm_map_find(&f->owners, claim);
		bool fresh;
		ret |= owner && *owner != process;
		if (join)
			pm_map_put(&f->owners, claim, process, &fresh);
	}
	return ret;
}

/* ---- times ---- */

static void read_times(struct finding *f)
{
	struct pm_arena *scratch = pm_arena_scratch(f->a);
	for (uint32_t i = 0; i < f->n; i++, pm_arena_done(scratch)) {
		const struct hpcrun_file *file = &f->folder->sources[i].trace;
		const struct hpcrun_trace *trace = &f->thread_list->items[i].trace;
		struct process *p = &f->processes[f->of[i]];
		const struct pm_input *in = NULL;
		struct hpcrun_sample first, last;
		pm_build_proceed(f->a);
		if (file->name && trace->n)
			in = hpcrun_file_map(scratch, f->folder, file, NULL);
		if (!in)
			continue;
		struct pm_bytes records = hpcrun_trace_records(trace, in->bytes);
		if (records.len == 0)
			continue;
		hpcrun_trace_decode(trace, records, 0, &first);
		hpcrun_trace_decode(trace, records, trace->n - 1, &last);
		uint64_t from = hpcrun_trace_ns(trace, first.time, false);
		uint64_t to = hpcrun_trace_ns(trace, last.time, false);
		p->start = from < p->start ? from : p->start;
		p->end = to > p->end ? to : p->end;
	}
}

/* ---- runs ---- */

/* By time; those of which none is known follow, by program and host. */
static int in_order(const void *a, const void *b, void *processes)
{
	const struct process *x = &((struct process *)processes)[*(const uint32_t *)a],
			     *y = &((struct process *)processes)[*(const uint32_t *)b];
	if (x->start != y->start)
		return x->start < y->start ? -1 : 1;
	int r = x->start == UINT64_MAX ? pm_bytes_compare(x->program, y->program) : 0;
	if (r == 0 && x->start == UINT64_MAX)
		r = pm_bytes_compare(x->host, y->host);
	return r ? r : (x->first > y->first) - (x->first < y->first);
}

/* Are those from order[i] on other ones than those before: later, or of another program or host? */
static bool is_apart(const struct finding *f, const uint32_t *order, uint32_t i, uint64_t end)
{
	const struct process *p = &f->processes[order[i]], *before = &f->processes[order[i - 1]];
	if (p->start != UINT64_MAX)
		return p->start > end;
	return before->start != UINT64_MAX || !pm_bytes_equal(p->program, before->program) ||
		!pm_bytes_equal(p->host, before->host);
}

/*
 * Processes that overlap in time, or that nothing tells apart, are a group. A group is another run
 * if it has identities that the current run has already.
 */
static void number_runs(struct finding *f)
{
	uint32_t *order = pm_arena_array(f->a, f->n_processes, sizeof(*order));
	uint64_t end = 0;
	for (uint32_t i = 0; i < f->n_processes; i++)
		order[i] = i;
	pm_build_check(
		f->a, pm_sort_with(order, f->n_processes, sizeof(*order), in_order, f->processes));
	for (uint32_t i = 0, next; i < f->n_processes; i = next) {
		bool meet = false;
		for (next = i; next < f->n_processes; next++) {
			const struct process *p = &f->processes[order[next]];
			if (next > i && is_apart(f, order, next, end))
				break;
			end = p->start != UINT64_MAX && p->end > end ? p->end : end;
			meet |= meets(f, order[next], false);
		}
		if (i == 0 || meet) {
			pm_map_done(&f->owners);
			f->n_runs++;
		}
		for (uint32_t k = i; k < next; k++) {
			f->processes[order[k]].run = f->n_runs;
			meets(f, order[k], true);
		}
	}
}

/* ---- what is said of them ---- */

static void put_first(struct hpcrun_claim *claim, uint32_t run)
{
	if (claim->n == HPCRUN_MOST_LEVELS)
		claim->n--; /* the process tells it from others */
	memmove(&claim->levels[1], claim->levels, claim->n * sizeof(*claim->levels));
	claim->levels[0] = (struct hpcrun_level){.key = "run", .logical = run};
	claim->n++;
}

static void tell(struct finding *f, struct pm_damage_list *damage)
{
	uint32_t *firsts = pm_arena_array(f->a, (size_t)f->n_runs + 1, sizeof(*firsts));
	memset(firsts, 0xff, ((size_t)f->n_runs + 1) * sizeof(*firsts));
	for (uint32_t i = 0; i < f->n_processes; i++) {
		struct process *p = &f->processes[i];
		if (firsts[p->run] == UINT32_MAX)
			firsts[p->run] = i;
		f->processes[firsts[p->run]].n_processes++;
	}
	for (uint32_t i = 1; i <= f->n_runs; i++) {
		const struct process *p = &f->processes[firsts[i]];
		pm_damage_add(damage, hpcrun_source_file(&f->folder->sources[p->first])->name,
			PM_NO_OFFSET, PM_NO_OFFSET,
			"run %u of %u in this directory (%u %s): it has ranks and threads that "
			"others have, too, and sums are over all of them",
			i, f->n_runs, p->n_processes,
			p->n_processes == 1 ? "process" : "processes");
	}
	for (uint32_t i = 0; i < f->n; i++)
		put_first(&f->claims[i], f->processes[f->of[i]].run);
}

/*
 * Finds the runs of the threads with these claims. If there are several, sets `n_runs`, gives each
 * claim a first level `run=N`, by time, and adds a row to `damage` for each. Runs are told by
 * processes that claim the same identities: at other times or, where no trace says when they were,
 * as another program or on another host. Ranks on many hosts, one after the other or not, are one
 * run.
 */
static void find_runs(struct pm_arena *a, struct hpcrun_folder *folder,
	struct hpcrun_thread_list *thread_list, struct hpcrun_claim *claims)
{
	size_t n = folder->n;
	struct finding f = {.a = a,
		.folder = folder,
		.thread_list = thread_list,
		.claims = claims,
		.n = folder->n,
		.of = pm_arena_array(a, n, sizeof(*f.of)),
		.claim = pm_arena_array(a, n, sizeof(*f.claim)),
		.threads = pm_arena_array(a, n, sizeof(*f.threads)),
		.starts = pm_arena_array(a, n + 2, sizeof(*f.starts)),
		.processes = pm_arena_array(a, n, sizeof(*f.processes)),
		.owners = {.arena = a}};
	thread_list->n_runs = 1;
	bool any_meet = false; /* any two processes: nearly always not */
	number_all(&f);
	list_threads(&f);
	for (uint32_t i = 0; i < f.n_processes && !any_meet; i++)
		any_meet = meets(&f, i, true);
	if (!any_meet)
		return;
	pm_map_done(&f.owners);
	read_times(&f);
	number_runs(&f);
	if (f.n_runs > 1) {
		tell(&f, &thread_list->damage);
		thread_list->n_runs = f.n_runs;
	}
}

/* ==== the files of a thread ==== */

struct result {
	struct hpcrun_thread thread;
	struct hpcrun_claim claim;
	bool gpu, times;
};

struct reading {
	struct hpcrun_folder *folder;
	struct hpcrun_thread_list *thread_list;
	struct pm_thread *threads;
	struct hpcrun_claim *claims;
};

/* ---- one thread's files ---- */

/* hpcrun's names for the kinds, for dictionaries without them. */
static const char *const known_kinds[] = {
	"summary", "node", "rank", "thread", "gpudevice", "gpucontext", "gpustream", "core"};

static struct pm_bytes kind_name(const struct hpcrun_profile *p, uint16_t kind)
{
	for (size_t i = 0; i < p->n_kinds; i++)
		if (p->kinds[i].kind == kind)
			return p->kinds[i].name;
	if (kind < sizeof(known_kinds) / sizeof(known_kinds[0]))
		return pm_bytes_of(known_kinds[kind]);
	return (struct pm_bytes){NULL, 0};
}

static void claim_tuple(const struct hpcrun_profile *p, struct hpcrun_claim *claim)
{
	for (size_t i = 0; i < p->n_identity; i++) {
		const struct hpcrun_identity *from = &p->identity[i];
		struct hpcrun_level *level = hpcrun_claim_add(claim, kind_name(p, from->kind));
		if (!level)
			continue;
		level->renumber = from->interpret == 1;
		level->physical = from->physical;
		level->logical = from->logical;
	}
}

static void claim_number(struct hpcrun_claim *claim, const char *key, uint64_t value)
{
	struct hpcrun_level *level = hpcrun_claim_add(claim, pm_bytes_of(key));
	if (level)
		level->logical = value;
}

/* A number of the header under either of two keys. */
static bool header_number(
	const struct hpcrun_profile *p, const char *key, const char *other, uint64_t *ret)
{
	return hpcrun_number_parse(hpcrun_pairs_find(&p->header, key), ret) ||
		hpcrun_number_parse(hpcrun_pairs_find(&p->header, other), ret);
}

static void claim_names(
	const struct hpcrun_profile *p, struct pm_bytes stem, struct hpcrun_claim *claim)
{
	struct hpcrun_file_name name = hpcrun_file_name_parse(stem);
	uint64_t value;
	claim->has_process = header_number(p, "process-id", "process_id", &claim->process);
	if (!claim->has_process && name.has_parts) {
		claim->has_process = true;
		claim->process = name.pid;
	}
	if (claim->n > 0)
		return;
	if (header_number(p, "mpi-rank", "mpi-rank", &value))
		claim_number(claim, "rank", value);
	else if (name.has_parts)
		claim_number(claim, "rank", name.rank);
	if (header_number(p, "thread-id", "canonical-thread-id", &value))
		claim_number(claim, "thread", value);
	else if (name.has_parts)
		claim_number(claim, "thread", name.thread);
}

static void look_at_names(const struct hpcrun_profile *p, struct result *ret)
{
	for (size_t e = 0; e < p->n_epochs; e++)
		for (size_t i = 0; i < p->epochs[e].metrics.n; i++) {
			struct pm_bytes name = p->epochs[e].metrics.items[i].name;
			ret->gpu |= name.len > 0 && name.p[0] == 'G'; /* GKER, GXCOPY … */
			ret->times |=
				pm_quantity_of(name, hpcrun_metric_unit(name)) == PM_QUANTITY_TIME;
		}
}

static void make_result(struct pm_arena *a, void *context, uint32_t i, void *result)
{
	struct reading *reading = context;
	struct result *ret = result;
	const struct hpcrun_source *source = &reading->folder->sources[i];
	const struct hpcrun_profile none = {.family = HPCRUN_FAMILY_NONE}, *p = NULL;
	struct hpcrun_report silent = {.file = NULL};
	const struct pm_input *in = NULL;
	ret->thread.has_trace = source->trace.name != NULL;
	if (ret->thread.has_trace)
		in = hpcrun_file_map(a, reading->folder, &source->trace, NULL);
	if (in)
		hpcrun_trace_read(&ret->thread.trace, in->bytes, &silent, NULL);
	ret->thread.trace.magic = (struct pm_bytes){NULL, 0}; /* of the file */
	if (source->profile.name)
		p = hpcrun_profile_open(
			a, reading->folder, &source->profile, HPCRUN_METRICS, NULL, NULL);
	if (p) {
		ret->thread.family = p->family;
		ret->thread.version = p->version;
		claim_tuple(p, &ret->claim);
		look_at_names(p, ret);
	}
	/* Of an unreadable profile, the file name is used. */
	claim_names(p ? p : &none, hpcrun_file_stem(hpcrun_source_file(source)), &ret->claim);
}

/* ---- all of them ---- */

static int take_result(void *context, uint32_t i, void *result)
{
	struct reading *reading = context;
	const struct result *from = result;
	const struct hpcrun_source *source = &reading->folder->sources[i];
	reading->thread_list->items[i] = from->thread;
	reading->claims[i] = from->claim;
	reading->thread_list->may_have_gpu |= from->gpu;
	reading->thread_list->may_have_times |= from->times;
	reading->threads[i] = (struct pm_thread){.id = i + 1,
		.has_trace = from->thread.has_trace,
		.n_samples = from->thread.trace.n,
		.file = pm_bytes_of(hpcrun_source_file(source)->name)};
	return 0;
}

void hpcrun_thread_list_read(
	struct hpcrun_thread_list *ret, struct pm_arena *a, struct hpcrun_folder *folder)
{
	struct pm_arena *scratch = pm_arena_scratch(a);
	uint32_t n = folder->n;
	struct reading reading = {.folder = folder,
		.thread_list = ret,
		.threads = pm_arena_array(a, n, sizeof(*reading.threads)),
		.claims = pm_arena_array(scratch, n, sizeof(*reading.claims))};
	struct pm_pipeline pipeline = {.n = n,
		.size = sizeof(struct result),
		.build = make_result,
		.take = take_result,
		.context = &reading};
	*ret = (struct hpcrun_thread_list){
		.threads = {.n = n, .threads = reading.threads, .has_files = true},
		.items = pm_arena_array(a, n, sizeof(*ret->items))};
	pm_damage_list_in(&ret->damage, a);
	pm_build_check(a, pm_pipeline_run(&pipeline));
	find_runs(scratch, folder, ret, reading.claims);
	hpcrun_identities_resolve(a, reading.claims, n, reading.threads, &ret->threads);
	pm_build_check(a, ret->damage.no_memory ? -ENOMEM : 0);
	pm_arena_done(scratch);
}
