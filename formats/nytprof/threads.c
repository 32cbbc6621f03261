/*
 * Processes with the same pid are one thread: their directory is `process=PID`, or
 * `run=N/process=PID` if there are several runs.
 */
#include "formats/nytprof/threads.h"

#include <errno.h>
#include <stdlib.h>

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

static void add_file(struct nytp_threads *t, const struct nytp *n, const struct nytp_file *f)
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

int nytp_threads_build(struct nytp_threads *t, const struct nytp *n)
{
	bool fresh;
	uint32_t count = 0;
	for (size_t i = 0; i < n->n_files; i++)
		for (size_t k = 0; k < n->files[i].n_threads; k++) {
			if (!pm_map_put(&t->by_pid, n->files[i].threads[k].pid, count, &fresh))
				return -ENOMEM;
			count += fresh;
		}
	t->threads = calloc((size_t)count + 1, sizeof(*t->threads));
	t->identities = calloc((size_t)count + 1, KEYS_OF_RUNS * sizeof(*t->identities));
	t->statements = calloc((size_t)count + 1, sizeof(*t->statements));
	t->statements_ns = calloc((size_t)count + 1, sizeof(*t->statements_ns));
	t->files = calloc((size_t)count + 1, sizeof(*t->files));
	if (!t->threads || !t->identities || !t->statements || !t->statements_ns || !t->files)
		return -ENOMEM;
	for (size_t i = 0; i < n->n_files; i++)
		add_file(t, n, &n->files[i]);
	t->list = (struct pm_threads){.n = count,
		.threads = t->threads,
		.n_keys = n->n_runs > 1 ? KEYS_OF_RUNS : KEYS_ALONE,
		.keys = n->n_runs > 1 ? keys_of_runs : keys,
		.has_files = n->n_files > 1};
	return 0;
}

uint32_t nytp_thread_of(const struct nytp_threads *t, uint32_t pid)
{
	return *pm_map_find(&t->by_pid, pid);
}

void nytp_threads_done(struct nytp_threads *t)
{
	free(t->threads);
	free(t->identities);
	free(t->statements);
	free(t->statements_ns);
	free(t->files);
	pm_map_done(&t->by_pid);
}
