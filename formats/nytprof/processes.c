/*
 * The processes of a source: which of them ran together, and the threads of the model. Processes
 * with the same pid are one thread: their directory is `process=PID`, or `run=N/process=PID` if
 * there are several runs.
 */
#include "formats/nytprof/nytprof.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "formats/common/sort.h"

/* ==== runs ==== */

/* A process: the first record of its pid. */
struct member {
	const struct nytp_file *f;
	uint32_t pid, ppid;
	double start;
	uint32_t above; /* another process of the same run, or this one */
	uint32_t run;   /* of the process that is above itself */
	bool has_parent;
};

struct finding {
	struct nytp *n;
	struct pm_arena *scratch;
	struct member *members;
	uint32_t n_members;
	struct pm_map by_pid;
};

static uint32_t head_of(const struct finding *g, uint32_t i)
{
	while (g->members[i].above != i)
		i = g->members[i].above;
	return i;
}

/* The one that began first represents both. */
static void unite(struct finding *g, uint32_t a, uint32_t b)
{
	uint32_t x = head_of(g, a), y = head_of(g, b);
	bool first = !(g->members[y].start < g->members[x].start);
	g->members[first ? y : x].above = first ? x : y;
}

/* ---- processes ---- */

static void gather(struct finding *g)
{
	bool fresh;
	size_t n = 0;
	for (size_t i = 0; i < g->n->n_files; i++)
		n += g->n->files[i].n_processes;
	g->members = pm_arena_array(g->scratch, n, sizeof(*g->members));
	for (size_t i = 0; i < g->n->n_files; i++) {
		const struct nytp_file *f = &g->n->files[i];
		for (size_t k = 0; k < f->n_processes; k++) {
			const struct nytp_process *p = &f->processes[k];
			uint32_t member = g->n_members;
			pm_map_put(&g->by_pid, p->pid, member, &fresh);
			g->n_members += fresh;
			if (fresh)
				g->members[member] = (struct member){.f = f,
					.pid = p->pid,
					.ppid = p->ppid,
					.start = p->start,
					.above = member};
		}
	}
}

/* ---- related processes ---- */

/*
 * A parent began before its child. A process that began later has the number of one that left no
 * profile, as the last command of a shell has that of the shell.
 */
static void unite_families(struct finding *g)
{
	for (uint32_t i = 0; i < g->n_members; i++) {
		const uint32_t *parent = pm_map_find(&g->by_pid, g->members[i].ppid);
		if (!parent || *parent == i || head_of(g, *parent) == head_of(g, i) ||
			g->members[*parent].start > g->members[i].start)
			continue;
		struct nytp_file *f = &g->n->files[g->members[i].f - g->n->files];
		if (f->processes[0].pid == g->members[i].pid)
			f->parent = g->members[*parent].f;
		g->members[i].has_parent = true;
		unite(g, *parent, i);
	}
}

/* Same program, begun in the same second: forks of a parent that is missing. */
static bool same_start(const struct finding *g, const struct member *a, const struct member *b)
{
	static const char *const names[] = {"basetime", "application"};
	for (size_t i = 0; i < 2; i++) {
		struct pm_bytes x = nytp_attribute(g->n, a->f, names[i]);
		struct pm_bytes y = nytp_attribute(g->n, b->f, names[i]);
		if (x.len == 0 || !pm_bytes_equal(x, y))
			return false;
	}
	return a->ppid == b->ppid;
}

static int by_parent(const void *a, const void *b, void *members)
{
	const struct member *x = (const struct member *)members + *(const uint32_t *)a;
	const struct member *y = (const struct member *)members + *(const uint32_t *)b;
	if (x->ppid != y->ppid)
		return x->ppid < y->ppid ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

static void unite_siblings(struct finding *g)
{
	uint32_t n = 0, *roots = pm_arena_array(g->scratch, g->n_members, sizeof(*roots));
	for (uint32_t i = 0; i < g->n_members; i++)
		if (!g->members[i].has_parent)
			roots[n++] = i;
	pm_build_check(g->scratch, pm_sort_with(roots, n, sizeof(*roots), by_parent, g->members));
	for (uint32_t i = 1; i < n; i++)
		if (same_start(g, &g->members[roots[i - 1]], &g->members[roots[i]]) &&
			head_of(g, roots[i - 1]) != head_of(g, roots[i]))
			unite(g, roots[i - 1], roots[i]);
}

/* ---- the runs ---- */

static int by_start(const void *a, const void *b, void *members)
{
	const struct member *x = (const struct member *)members + *(const uint32_t *)a;
	const struct member *y = (const struct member *)members + *(const uint32_t *)b;
	if (x->start != y->start && !isnan(x->start) && !isnan(y->start))
		return x->start < y->start ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

static void number_runs(struct finding *g)
{
	uint32_t n = 0, *heads = pm_arena_array(g->scratch, g->n_members, sizeof(*heads));
	for (uint32_t i = 0; i < g->n_members; i++)
		if (g->members[i].above == i)
			heads[n++] = i;
	pm_build_check(g->scratch, pm_sort_with(heads, n, sizeof(*heads), by_start, g->members));
	for (uint32_t i = 0; i < n; i++)
		g->members[heads[i]].run = i + 1;
	g->n->n_runs = n ? n : 1;
	for (size_t i = 0; i < g->n->n_files; i++)
		for (size_t k = 0; k < g->n->files[i].n_threads; k++) {
			struct nytp_thread *t = &g->n->files[i].threads[k];
			const uint32_t *m = pm_map_find(&g->by_pid, t->pid);
			t->run = m ? g->members[head_of(g, *m)].run : 1;
		}
}

/* ---- damage ---- */

/* `nytprof.out.123` of process 123 beside a `nytprof.out`: a fork, so there was a parent. */
static bool is_fork(const struct finding *g, const struct member *m)
{
	const char *dot = strrchr(m->f->name, '.');
	size_t stem = dot ? (size_t)(dot - m->f->name) : 0;
	if (!dot || strtoul(dot + 1, NULL, 10) != m->pid)
		return false;
	for (size_t i = 0; i < g->n->n_files; i++)
		if (strlen(g->n->files[i].name) == stem &&
			memcmp(g->n->files[i].name, m->f->name, stem) == 0)
			return true;
	return false;
}

static void tell_run(const struct finding *g, uint32_t head)
{
	const struct member *h = &g->members[head];
	uint32_t processes = 0, roots = 0;
	char parent[80] = "";
	for (uint32_t i = 0; i < g->n_members; i++) {
		bool mine = head_of(g, i) == head;
		processes += mine;
		roots += mine && !g->members[i].has_parent;
	}
	if (roots > 1 || is_fork(g, h))
		snprintf(parent, sizeof(parent), "the parent %u of process %u left no profile here",
			h->ppid, h->pid);
	if (g->n->n_runs > 1)
		pm_damage_add(&g->n->damage, h->f->name, PM_NO_OFFSET, PM_NO_OFFSET,
			"run %u of %u in this directory: process %u and %u more have nothing to do "
			"with the others, and sums are over all of them%s%s",
			h->run, g->n->n_runs, h->pid, processes - 1, *parent ? "; " : "", parent);
	else if (*parent)
		pm_damage_add(&g->n->damage, h->f->name, PM_NO_OFFSET, PM_NO_OFFSET,
			"%s: its own calls are missing", parent);
}

void nytp_runs_find(struct nytp *n)
{
	struct pm_arena *scratch = pm_arena_scratch(&n->arena);
	struct finding g = {.n = n, .scratch = scratch, .by_pid.arena = scratch};
	n->n_runs = 1;
	if (n->n_files > 1) {
		gather(&g);
		unite_families(&g);
		unite_siblings(&g);
		number_runs(&g);
		for (uint32_t i = 0; i < g.n_members; i++)
			if (g.members[i].above == i)
				tell_run(&g, i);
	}
	pm_arena_done(scratch);
}

/* ==== threads ==== */

enum { KEYS_ALONE = 1, KEYS_OF_RUNS = 2 };

static const char *const keys[] = {"process"};
static const char *const keys_of_runs[] = {"run", "process"};

/* Pynytprof has lines or statements for a whole file, which is one process. */
static double py_ticks(const struct nytp_py *py)
{
	double ticks = 0;
	for (size_t i = 0; i < py->n_samples; i++)
		ticks += (double)py->samples[i].excl;
	for (size_t i = 0; py->n_samples == 0 && i < py->n_events; i++)
		ticks += (double)py->events[i].ticks;
	return ticks;
}

static void add_threads(struct nytp_threads *t, const struct nytp *n, const struct nytp_file *f)
{
	for (size_t k = 0; k < f->n_threads; k++) {
		uint32_t pid = f->threads[k].pid, i = *pm_map_find(&t->by_pid, pid);
		t->statements[i] += f->threads[k].statements;
		t->statements_ns[i] += f->ns_per_tick *
			((double)f->threads[k].ticks + (k == 0 ? py_ticks(&f->py) : 0));
		if (t->files[i])
			continue;
		t->files[i] = f;
		struct pm_identity *identity = &t->identities[(size_t)i * KEYS_OF_RUNS];
		uint32_t n_keys = n->n_runs > 1 ? KEYS_OF_RUNS : KEYS_ALONE;
		if (n_keys == KEYS_OF_RUNS)
			identity[0] = (struct pm_identity){.key = 0, .value = f->threads[k].run};
		identity[n_keys - 1] = (struct pm_identity){.key = n_keys - 1, .value = pid};
		t->threads[i] = (struct pm_thread){.id = pid,
			.n_identity = n_keys,
			.identity = identity,
			.file = pm_bytes_of(n->n_files > 1 ? f->name : NULL)};
	}
}

void nytp_threads_build(struct pm_arena *a, struct nytp_threads *t, const struct nytp *n)
{
	bool fresh;
	uint32_t count = 0;
	*t = (struct nytp_threads){.by_pid.arena = a};
	for (size_t i = 0; i < n->n_files; i++)
		for (size_t k = 0; k < n->files[i].n_threads; k++) {
			pm_map_put(&t->by_pid, n->files[i].threads[k].pid, count, &fresh);
			count += fresh;
		}
	t->threads = pm_arena_array(a, count, sizeof(*t->threads));
	t->identities = pm_arena_array(a, count, KEYS_OF_RUNS * sizeof(*t->identities));
	t->statements = pm_arena_array(a, count, sizeof(*t->statements));
	t->statements_ns = pm_arena_array(a, count, sizeof(*t->statements_ns));
	t->files = pm_arena_array(a, count, sizeof(*t->files));
	for (size_t i = 0; i < n->n_files; i++)
		add_threads(t, n, &n->files[i]);
	t->list = (struct pm_threads){.n = count,
		.threads = t->threads,
		.n_keys = n->n_runs > 1 ? KEYS_OF_RUNS : KEYS_ALONE,
		.keys = n->n_runs > 1 ? keys_of_runs : keys,
		.has_files = n->n_files > 1};
}

uint32_t nytp_thread_of(const struct nytp_threads *t, uint32_t pid)
{
	return *pm_map_find(&t->by_pid, pid);
}
