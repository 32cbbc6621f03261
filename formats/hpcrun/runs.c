#include "formats/hpcrun/runs.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "formats/common/sort.h"
#include "formats/common/text.h"
#include "formats/common/work.h"
#include "formats/hpcrun/names.h"

struct process {
	struct pm_bytes program, host;
	uint64_t start, end;  /* of its traces; UINT64_MAX, 0: unknown */
	uint32_t first, run;  /* its first thread */
	uint32_t n_processes; /* of the run that it is the first of */
};

struct finding {
	struct hpcrun_folder *folder;
	const struct hpcrun_who *who;
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
			r = -ENOMEM;
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
		const struct hpcrun_trace *trace = &f->who->items[i].trace;
		struct process *p = &f->processes[f->of[i]];
		struct hpcrun_sample first, last;
		struct pm_input in;
		if (pm_work_cancelled())
			return -ENOMEM;
		int r = file->name && trace->n ? hpcrun_file_open(f->folder, file, &in, NULL) : 1;
		if (r == -ENOMEM)
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

static int find_runs(struct finding *f)
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

int hpcrun_runs_find(struct hpcrun_folder *folder, const struct hpcrun_who *who,
	struct hpcrun_claim *claims, struct pm_damage_list *damage, uint32_t *ret_n)
{
	size_t n = folder->n;
	struct finding f = {.folder = folder,
		.who = who,
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
			r = find_runs(&f);
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
