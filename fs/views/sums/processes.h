/*
 * Process and thread numbers for viewers that have no other identity: a process is a rank (or
 * process, or node), and the other keys of a thread are its name.
 */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_PROCESSES_H
#define PROFMOUNT_FS_VIEWS_SUMS_PROCESSES_H

#include "formats/common/map.h"
#include "fs/views/sums/slices.h"

struct pmfs_track {
	uint32_t process;
	uint32_t n_lanes;  /* 0 for threads that are not shown */
	uint64_t tid;      /* of the first lane */
	uint64_t more_tid; /* number of lane 1; the other lanes follow */
};

struct pmfs_tracks {
	const struct pm_threads *threads;
	struct pmfs_track *tracks;  /* by thread */
	struct pm_strtab processes; /* their names: `rank 3`; empty where threads have no more */
	struct pmfs_process *process_of; /* by index in processes */
	struct pm_arena arena;           /* of the names */
	bool ranks;                      /* pids are ranks; otherwise indexes */
};

/*
 * Tracks of all threads with a trace (thread PM_NONE), or of one, with lanes for their slices. The
 * caller frees `ret`, even after a failure.
 */
int pmfs_tracks_make(const struct pm_threads *threads, uint32_t thread,
	const struct pmfs_slices *slices, struct pmfs_tracks *ret, struct pm_error *err);

/* Accepts a zeroed one. */
void pmfs_tracks_done(struct pmfs_tracks *t);

uint64_t pmfs_tracks_pid(const struct pmfs_tracks *t, uint32_t process);

static inline uint64_t pmfs_track_tid(const struct pmfs_track *track, uint32_t lane)
{
	return lane == 0 ? track->tid : track->more_tid + lane - 1;
}

/* `thread 1`, the name of a thread within its process; `main` if it has no name. */
void pmfs_tracks_add_name(const struct pmfs_tracks *t, uint32_t thread, struct pm_text *out);

#endif
