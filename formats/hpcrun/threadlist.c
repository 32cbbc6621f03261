/*
 * Who the threads are, from the beginnings of the files, which are read in parallel: the writer and
 * metrics of a profile, the number of samples of a trace. Damage is reported by the code that reads
 * whole files.
 */
#include "formats/hpcrun/hpcrun.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/damage.h"
#include "formats/common/pipeline.h"
#include "formats/common/quantity.h"
#include "formats/common/search.h"
#include "formats/common/sort.h"
#include "formats/common/text.h"
#include "formats/common/work.h"
#include "formats/hpcrun/profile.h"

/*
 * ==== identities ====
 * Makes them unique. Claims of files are resolved in three rounds: claims as they are; then those
 * that clash, or are a prefix of another one, with their process added; then those that still
 * clash, with the thread's number, which is unique.
 */

struct settling {
	struct pm_arena *arena;
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

/* Sorts and removes duplicates; *n is the number of ids before and after. 0 or -ENOMEM. */
static int make_unique(struct physical *ids, size_t *n)
{
	size_t kept = 0;
	if (pm_sort(ids, *n, sizeof(*ids), by_id) < 0)
		return -ENOMEM;
	for (size_t i = 0; i < *n; i++)
		if (kept == 0 || by_id(&ids[kept - 1], &ids[i]) != 0)
			ids[kept++] = ids[i];
	*n = kept;
	return 0;
}

/* The position of an id among those of its key. */
static uint64_t place_of(const struct physical *ids, size_t n, struct physical id)
{
	struct physical first = {id.key, 0};
	return PM_LOWER_BOUND(i, 0, n, by_id(&ids[i], &id) < 0) -
		PM_LOWER_BOUND(i, 0, n, by_id(&ids[i], &first) < 0);
}

/* ---- paths ---- */

static int add_level(struct settling *s, struct path *path, const char *key, uint64_t value)
{
	uint32_t index = pm_strtab_add(&s->keys, pm_bytes_of(key));
	if (index == PM_NONE)
		return -ENOMEM;
	path->levels[path->n++] = (struct pm_identity){.key = index, .value = value};
	return 0;
}

static int copy_claim(struct settling *s, const struct hpcrun_claim *claim, struct path *path)
{
	path->levels = pm_arena_array(s->arena, claim->n + 2, sizeof(*path->levels));
	int r = path->levels ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < claim->n && r == 0; i++)
		r = add_level(s, path, claim->levels[i].key, claim->levels[i].logical);
	return r;
}

static int renumber(struct settling *s, const struct hpcrun_claim *claims)
{
	size_t n = 0;
	struct physical *ids = calloc((size_t)s->n * HPCRUN_MOST_LEVELS + 1, sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->n; i++)
		for (uint32_t k = 0; k < claims[i].n; k++)
			ids[n++] = (struct physical){
				s->paths[i].levels[k].key, claims[i].levels[k].physical};
	int r = make_unique(ids, &n);
	for (uint32_t i = 0; r == 0 && i < s->n; i++)
		for (uint32_t k = 0; k < claims[i].n; k++) {
			struct pm_identity *level = &s->paths[i].levels[k];
			struct physical id = {level->key, claims[i].levels[k].physical};
			if (claims[i].levels[k].renumber)
				level->value = place_of(ids, n, id);
		}
	free(ids);
	return r;
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

static int find_clashes(struct settling *s)
{
	for (uint32_t i = 0; i < s->n; i++) {
		s->order[i] = i;
		s->paths[i].clashes = s->paths[i].n == 0;
	}
	if (pm_sort_with(s->order, s->n, sizeof(*s->order), by_path, s->paths) < 0)
		return -ENOMEM;
	for (uint32_t i = 0; i + 1 < s->n; i++) {
		struct path *path = &s->paths[s->order[i]], *next = &s->paths[s->order[i + 1]];
		if (!holds(path, next))
			continue;
		path->clashes = true;
		next->clashes |= path->n == next->n;
	}
	return 0;
}

static int make_paths(struct settling *s, const struct hpcrun_claim *claims)
{
	int r = 0;
	for (uint32_t i = 0; i < s->n && r == 0; i++)
		r = copy_claim(s, &claims[i], &s->paths[i]);
	if (r == 0)
		r = renumber(s, claims);
	if (r == 0)
		r = find_clashes(s);
	for (uint32_t i = 0; i < s->n && r == 0; i++)
		if (s->paths[i].clashes && claims[i].has_process)
			r = add_level(s, &s->paths[i], "process", claims[i].process);
	if (r == 0)
		r = find_clashes(s);
	for (uint32_t i = 0; i < s->n && r == 0; i++)
		if (s->paths[i].clashes)
			r = add_level(s, &s->paths[i], "profile", (uint64_t)i + 1);
	return r;
}

static int hand_over(struct settling *s, struct pm_thread *threads, struct pm_threads *ret)
{
	const char **keys = pm_arena_array(s->arena, (size_t)s->keys.n + 1, sizeof(*keys));
	if (!keys)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->keys.n; i++) {
		keys[i] = pm_arena_printf(s->arena, "%.*s", (int)s->keys.items[i].len,
			(const char *)s->keys.items[i].p);
		if (!keys[i])
			return -ENOMEM;
	}
	ret->keys = keys;
	ret->n_keys = s->keys.n;
	for (uint32_t i = 0; i < s->n; i++) {
		threads[i].identity = s->paths[i].levels;
		threads[i].n_identity = s->paths[i].n;
	}
	return 0;
}

int hpcrun_identities_resolve(const struct hpcrun_claim *claims, uint32_t n,
	struct pm_thread *threads, struct pm_arena *arena, struct pm_threads *ret_keys)
{
	struct settling s = {.arena = arena, .keys = {.arena = arena}, .n = n};
	s.paths = calloc((size_t)n + 1, sizeof(*s.paths));
	s.order = calloc((size_t)n + 1, sizeof(*s.order));
	int r = s.paths && s.order ? make_paths(&s, claims) : -ENOMEM;
	if (r == 0)
		r = hand_over(&s, threads, ret_keys);
	pm_strtab_done(&s.keys);
	free(s.paths);
	free(s.order);
	return r;
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

static int number_text(struct pm_strtab *table, struct pm_text *text, uint32_t *ret)
{
	*ret = text->failed ? UINT32_MAX : pm_strtab_add(table, pm_text_view(text));
	return *ret == UINT32_MAX ? -ENOMEM : 0;
}

static void describe_claim(const struct hpcrun_claim *claim, struct pm_text *out)
{
	pm_text_clear(out);
	for (uint32_t i = 0; i < claim->n; i++) {
		const struct hpcrun_level *level = &claim->levels[i];
		pm_text_printf(out, "%s=%llu/", level->key,
			(unsigned long long)(level->renumber ? level->physical : level->logical));
	}
}

static int number_all(struct finding *f)
{
	struct pm_arena arena = {.block = NULL};
	struct pm_strtab processes = {.arena = &arena}, claims = {.arena = &arena};
	struct pm_text text = {.p = NULL};
	int r = 0;
	for (uint32_t i = 0; i < f->n && r == 0; i++) {
		struct hpcrun_file_name name = hpcrun_file_name_parse(
			hpcrun_file_stem(hpcrun_source_file(&f->folder->sources[i])));
		uint32_t known = processes.n;
		if (!name.has_parts) /* the name says nothing */
			name = (struct hpcrun_file_name){.has_parts = false};
		pm_text_clear(&text);
		pm_text_bytes(&text, name.program);
		pm_text_char(&text, '/');
		pm_text_bytes(&text, name.host);
		pm_text_printf(&text, "/%llu", (unsigned long long)f->claims[i].process);
		r = number_text(&processes, &text, &f->of[i]);
		if (r == 0 && f->of[i] == known)
			f->processes[known] = (struct process){.program = name.program,
				.host = name.host,
				.start = UINT64_MAX,
				.first = i};
		describe_claim(&f->claims[i], &text);
		if (r == 0)
			r = number_text(&claims, &text, &f->claim[i]);
		if (i % 1024 == 0 && pm_work_cancelled())
			r = PM_CANCELLED;
	}
	f->n_processes = processes.n;
	pm_text_done(&text);
	pm_strtab_done(&processes);
	pm_strtab_done(&claims);
	pm_arena_done(&arena);
	return r;
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

/* Whether the process claims what another one of the current run does: 1, 0 or -ENOMEM. With
 * `join` it is in the run from now on. */
static int meets(struct finding *f, uint32_t process, bool join)
{
	int ret = 0;
	for (uint32_t k = f->starts[process]; k < f->starts[process + 1]; k++) {
		uint32_t thread = f->threads[k], claim = f->claim[thread];
		if (f->claims[thread].n == 0)
			continue;
		const uint32_t *owner = pm_map_find(&f->owners, claim);
		bool fresh;
		ret |= owner && *owner != process;
		if (join && !pm_map_put(&f->owners, claim, process, &fresh))
			return -ENOMEM;
	}
	return ret;
}

/* Whether any two processes claim the same: nearly always not. */
static int any_meet(struct finding *f)
{
	int r = 0;
	for (uint32_t i = 0; i < f->n_processes && r == 0; i++)
		r = meets(f, i, true);
	pm_map_done(&f->owners);
	return r;
}

/* ---- times ---- */

static int read_times(struct finding *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		const struct hpcrun_file *file = &f->folder->sources[i].trace;
		const struct hpcrun_trace *trace = &f->thread_list->items[i].trace;
		struct process *p = &f->processes[f->of[i]];
		struct hpcrun_sample first, last;
		struct pm_input in;
		if (pm_work_cancelled())
			return PM_CANCELLED;
		int r = file->name && trace->n ? hpcrun_file_open(f->folder, file, &in, NULL) : 1;
		if (pm_is_passing(r))
			return r;
		if (r != 0)
			continue;
		struct pm_bytes records = hpcrun_trace_records(trace, in.bytes);
		if (records.len) {
			hpcrun_trace_decode(trace, records, 0, &first);
			hpcrun_trace_decode(trace, records, trace->n - 1, &last);
			uint64_t from = hpcrun_trace_ns(trace, first.time, false);
			uint64_t to = hpcrun_trace_ns(trace, last.time, false);
			p->start = from < p->start ? from : p->start;
			p->end = to > p->end ? to : p->end;
		}
		hpcrun_file_close(f->folder, &in);
	}
	return 0;
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
static int number_runs(struct finding *f, const uint32_t *order)
{
	uint64_t end = 0;
	int r = 0;
	for (uint32_t i = 0, next; i < f->n_processes && r >= 0; i = next) {
		bool meet = false;
		for (next = i; next < f->n_processes && r >= 0; next++) {
			const struct process *p = &f->processes[order[next]];
			if (next > i && is_apart(f, order, next, end))
				break;
			end = p->start != UINT64_MAX && p->end > end ? p->end : end;
			r = meets(f, order[next], false);
			meet |= r > 0;
		}
		if (i == 0 || meet) {
			pm_map_done(&f->owners);
			f->n_runs++;
		}
		for (uint32_t k = i; k < next && r >= 0; k++) {
			f->processes[order[k]].run = f->n_runs;
			r = meets(f, order[k], true);
		}
	}
	return r < 0 ? r : 0;
}

static int number_in_order(struct finding *f)
{
	uint32_t *order = malloc(((size_t)f->n_processes + 1) * sizeof(*order));
	if (!order)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->n_processes; i++)
		order[i] = i;
	int r = pm_sort_with(order, f->n_processes, sizeof(*order), in_order, f->processes);
	if (r == 0)
		r = number_runs(f, order);
	free(order);
	return r;
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

static int tell(struct finding *f, struct pm_damage_list *damage)
{
	uint32_t *firsts = malloc(((size_t)f->n_runs + 1) * sizeof(*firsts));
	if (!firsts)
		return -ENOMEM;
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
	free(firsts);
	return 0;
}

/*
 * Finds the runs of the threads with these claims. If there are several, sets `*ret_n`, gives each
 * claim a first level `run=N`, by time, and adds a row to `damage` for each. Runs are told by
 * processes that claim the same identities: at other times or, where no trace says when they were,
 * as another program or on another host. Ranks on many hosts, one after the other or not, are one
 * run. 0 or -ENOMEM.
 */
static int find_runs(struct hpcrun_folder *folder, const struct hpcrun_thread_list *thread_list,
	struct hpcrun_claim *claims, struct pm_damage_list *damage, uint32_t *ret_n)
{
	size_t n = folder->n;
	struct finding f = {.folder = folder,
		.thread_list = thread_list,
		.claims = claims,
		.n = folder->n,
		.of = calloc(n + 1, sizeof(*f.of)),
		.claim = calloc(n + 1, sizeof(*f.claim)),
		.threads = calloc(n + 1, sizeof(*f.threads)),
		.starts = calloc(n + 2, sizeof(*f.starts)),
		.processes = calloc(n + 1, sizeof(*f.processes))};
	*ret_n = 1;
	int r = f.of && f.claim && f.threads && f.starts && f.processes ? number_all(&f) : -ENOMEM;
	if (r == 0) {
		list_threads(&f);
		r = any_meet(&f);
	}
	if (r > 0) {
		r = read_times(&f);
		if (r == 0)
			r = number_in_order(&f);
		if (r == 0 && f.n_runs > 1)
			r = tell(&f, damage);
		*ret_n = f.n_runs > 1 ? f.n_runs : 1;
	}
	pm_map_done(&f.owners);
	free(f.of);
	free(f.claim);
	free(f.threads);
	free(f.starts);
	free(f.processes);
	return r;
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

/* For an unreadable profile, the file name is used. */
static int read_profile(
	struct hpcrun_folder *folder, const struct hpcrun_source *source, struct result *ret)
{
	struct hpcrun_report silent = {.file = NULL};
	struct hpcrun_profile p = {.family = HPCRUN_FAMILY_NONE};
	struct pm_input in = {.name = NULL};
	int r = -ENOENT;
	if (source->profile.name)
		r = hpcrun_file_open(folder, &source->profile, &in, NULL);
	if (r == 0) {
		r = hpcrun_profile_read(&p, in.bytes, HPCRUN_METRICS, &silent, NULL);
		if (r == 0) {
			ret->thread.family = p.family;
			ret->thread.version = p.version;
			claim_tuple(&p, &ret->claim);
			look_at_names(&p, ret);
		}
	}
	claim_names(&p, hpcrun_file_stem(hpcrun_source_file(source)), &ret->claim);
	hpcrun_profile_done(&p);
	hpcrun_file_close(folder, &in);
	return pm_is_passing(r) ? r : 0;
}

static int read_trace(
	struct hpcrun_folder *folder, const struct hpcrun_source *source, struct result *ret)
{
	struct hpcrun_report silent = {.file = NULL};
	struct pm_input in;
	ret->thread.has_trace = source->trace.name != NULL;
	if (!ret->thread.has_trace)
		return 0;
	int r = hpcrun_file_open(folder, &source->trace, &in, NULL);
	if (r < 0)
		return pm_is_passing(r) ? r : 0;
	hpcrun_trace_read(&ret->thread.trace, in.bytes, &silent, NULL);
	ret->thread.trace.magic = (struct pm_bytes){NULL, 0}; /* of the file */
	hpcrun_file_close(folder, &in);
	return 0;
}

static int make_result(void *context, uint32_t i, void *result)
{
	struct reading *reading = context;
	struct result *ret = result;
	const struct hpcrun_source *source = &reading->folder->sources[i];
	int r = read_trace(reading->folder, source, ret);
	return r < 0 ? r : read_profile(reading->folder, source, ret);
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

static int read_all(struct reading *reading, uint32_t n)
{
	struct pm_pipeline pipeline = {.n = n,
		.size = sizeof(struct result),
		.make = make_result,
		.take = take_result,
		.context = reading};
	struct hpcrun_thread_list *thread_list = reading->thread_list;
	if (!thread_list->items || !reading->threads || !reading->claims)
		return -ENOMEM;
	int r = pm_pipeline_run(&pipeline);
	thread_list->threads =
		(struct pm_threads){.n = n, .threads = reading->threads, .has_files = true};
	if (r == 0)
		r = find_runs(reading->folder, thread_list, reading->claims, &thread_list->damage,
			&thread_list->n_runs);
	if (r == 0)
		r = hpcrun_identities_resolve(reading->claims, n, reading->threads,
			&thread_list->arena, &thread_list->threads);
	return r;
}

int hpcrun_thread_list_read(
	struct hpcrun_thread_list *ret, struct hpcrun_folder *folder, struct pm_error *err)
{
	struct reading reading = {.folder = folder, .thread_list = ret};
	size_t n = folder->n;
	*ret = (struct hpcrun_thread_list){
		.items = calloc(n, sizeof(*ret->items)), .damage = PM_DAMAGE_LIST_INIT};
	reading.threads = pm_arena_array(&ret->arena, n, sizeof(*reading.threads));
	reading.claims = calloc(n, sizeof(*reading.claims));
	int r = read_all(&reading, folder->n);
	free(reading.claims);
	if (r == 0 && !ret->damage.no_memory)
		return 0;
	hpcrun_thread_list_done(ret);
	return pm_error_set(err, -ENOMEM, NULL, PM_NO_OFFSET, "no memory for %zu threads", n);
}

void hpcrun_thread_list_done(struct hpcrun_thread_list *w)
{
	if (w->items)
		pm_damage_done(&w->damage);
	free(w->items);
	pm_arena_done(&w->arena);
	*w = (struct hpcrun_thread_list){.items = NULL};
}
