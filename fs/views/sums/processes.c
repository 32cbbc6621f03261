/*
 * Numbers for processes and threads. Ranks and thread numbers are used unchanged, because people
 * look for them; others get the next free number.
 */
#include "fs/views/sums/processes.h"

#include <stdlib.h>

#include "fs/views/model/parts.h"

/* As a tid; viewers take numbers of 32 bits. */
#define NO_TID  UINT64_MAX
#define MAX_TID ((uint64_t)1 << 30)

struct pmfs_process {
	uint64_t value;    /* value of its last level: the rank */
	uint64_t next_tid; /* above all that are taken */
};

/* The number of levels of the identity that identify the process: up to the last of these. */
static uint32_t process_levels(const struct pm_threads *threads, const struct pm_thread *thread)
{
	static const char *const keys[] = {"node", "rank", "process"};
	uint32_t n = 0;
	for (uint32_t i = 0; i < thread->n_identity; i++)
		for (size_t k = 0; k < sizeof(keys) / sizeof(*keys); k++)
			if (strcmp(threads->keys[thread->identity[i].key], keys[k]) == 0)
				n = i + 1;
	return n;
}

/* `rank 3 thread 1`: levels from `first` up to `end`. */
static void add_levels(struct pm_text *out, const struct pm_threads *threads,
	const struct pm_thread *thread, uint32_t first, uint32_t end)
{
	for (uint32_t i = first; i < end; i++) {
		if (i > first)
			pm_text_char(out, ' ');
		pm_text_line(out, pm_bytes_of(threads->keys[thread->identity[i].key]));
		pm_text_char(out, ' ');
		pm_text_u64(out, thread->identity[i].value);
	}
}

static int find_process(struct pmfs_tracks *t, uint32_t i, struct pm_text *scratch)
{
	const struct pm_thread *thread = &t->threads->threads[i];
	uint32_t levels = process_levels(t->threads, thread);
	pm_text_clear(scratch);
	add_levels(scratch, t->threads, thread, 0, levels);
	uint32_t process =
		scratch->failed ? PM_NONE : pm_strtab_add(&t->processes, pm_text_view(scratch));
	if (process == PM_NONE)
		return -ENOMEM;
	t->process_of[process].value = levels ? thread->identity[levels - 1].value : 0;
	t->tracks[i] = (struct pmfs_track){.process = process, .n_lanes = 1};
	return 0;
}

/*
 * A thread identified by a single number has it as tid, unless another thread of its process has
 * the same.
 */
static int take_own_tid(struct pmfs_tracks *t, struct pm_map *taken, uint32_t i)
{
	const struct pm_thread *thread = &t->threads->threads[i];
	struct pmfs_track *track = &t->tracks[i];
	struct pmfs_process *process = &t->process_of[track->process];
	uint32_t levels = process_levels(t->threads, thread);
	bool is_new;
	track->tid = NO_TID;
	if (levels + 1 != thread->n_identity || thread->identity[levels].value >= MAX_TID)
		return 0;
	uint32_t tid = (uint32_t)thread->identity[levels].value;
	if (!pm_map_put(taken, (uint64_t)track->process << 32 | tid, i, &is_new))
		return -ENOMEM;
	if (is_new)
		track->tid = tid;
	if (tid >= process->next_tid)
		process->next_tid = tid + 1;
	return 0;
}

/* Ranks serve as pids if no two processes have the same. */
static int choose_pids(struct pmfs_tracks *t)
{
	struct pm_map seen = {.n = 0};
	bool is_new = true, known = true;
	t->ranks = true;
	for (uint32_t i = 0; known && t->ranks && i < t->processes.n; i++) {
		known = pm_map_put(&seen, t->process_of[i].value, i, &is_new);
		t->ranks = is_new && t->process_of[i].value <= INT32_MAX;
	}
	pm_map_done(&seen);
	return known ? 0 : -ENOMEM;
}

/* The other threads follow, then the lanes after the first one of each. */
static void place_rest(struct pmfs_tracks *t, const struct pmfs_slices *slices)
{
	for (uint32_t i = 0; i < t->threads->n; i++) {
		struct pmfs_track *track = &t->tracks[i];
		if (track->n_lanes > 0 && track->tid == NO_TID)
			track->tid = t->process_of[track->process].next_tid++;
	}
	for (size_t i = 0; i < slices->n; i++) {
		struct pmfs_track *track = &t->tracks[slices->slices[i].thread];
		if (track->n_lanes <= slices->slices[i].lane)
			track->n_lanes = slices->slices[i].lane + 1;
	}
	for (uint32_t i = 0; i < t->threads->n; i++) {
		struct pmfs_track *track = &t->tracks[i];
		if (track->n_lanes < 2)
			continue;
		track->more_tid = t->process_of[track->process].next_tid;
		t->process_of[track->process].next_tid += track->n_lanes - 1;
	}
}

static int place_all(struct pmfs_tracks *t, uint32_t thread, const struct pmfs_slices *slices)
{
	struct pm_map taken = {.n = 0};
	struct pm_text scratch = {.p = NULL};
	int r = 0;
	for (uint32_t i = 0; r == 0 && i < t->threads->n; i++) {
		if (!t->threads->threads[i].has_trace || (thread != PM_NONE && thread != i))
			continue;
		r = find_process(t, i, &scratch);
		if (r == 0)
			r = take_own_tid(t, &taken, i);
	}
	pm_map_done(&taken);
	pm_text_done(&scratch);
	if (r == 0)
		r = choose_pids(t);
	if (r == 0)
		place_rest(t, slices);
	return r;
}

int pmfs_tracks_make(const struct pm_threads *threads, uint32_t thread,
	const struct pmfs_slices *slices, struct pmfs_tracks *ret, struct pm_error *err)
{
	size_t n = (size_t)threads->n + 1;
	*ret = (struct pmfs_tracks){
		.threads = threads,
		.tracks = calloc(n, sizeof(*ret->tracks)),
		.process_of = calloc(n, sizeof(*ret->process_of)),
	};
	ret->processes.arena = &ret->arena;
	if (!ret->tracks || !ret->process_of || place_all(ret, thread, slices) < 0)
		return pmfs_no_memory(err);
	return 0;
}

void pmfs_tracks_done(struct pmfs_tracks *t)
{
	free(t->tracks);
	free(t->process_of);
	pm_strtab_done(&t->processes);
	pm_arena_done(&t->arena);
	*t = (struct pmfs_tracks){.threads = NULL};
}

uint64_t pmfs_tracks_pid(const struct pmfs_tracks *t, uint32_t process)
{
	return t->ranks ? t->process_of[process].value : process;
}

void pmfs_tracks_add_name(const struct pmfs_tracks *t, uint32_t thread, struct pm_text *out)
{
	const struct pm_thread *of = &t->threads->threads[thread];
	uint32_t levels = process_levels(t->threads, of);
	if (levels == of->n_identity)
		pm_text_str(out, "main");
	add_levels(out, t->threads, of, levels, of->n_identity);
}
