/*
 * Identities and sizes of threads and names of metrics, from the beginnings of the files. Reads no
 * trees.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_WHO_H
#define PROFMOUNT_FORMATS_HPCRUN_WHO_H

#include "formats/common/arena.h"
#include "formats/common/damage.h"
#include "formats/hpcrun/folder.h"
#include "formats/hpcrun/profile.h"
#include "formats/hpcrun/trace.h"
#include "profmount/profile.h"

struct hpcrun_thread {
	enum hpcrun_family family; /* NONE: no profile, or an unreadable one */
	unsigned version;
	bool has_trace; /* there is a profile, readable or not */
	struct hpcrun_trace trace;
};

struct hpcrun_who {
	struct pm_threads threads;
	struct hpcrun_thread *items;  /* threads.n */
	bool may_have_gpu;            /* metrics of GPUs, by names in the tables of files */
	bool may_have_times;          /* on processors, likewise */
	uint32_t n_runs;              /* in this directory: see runs.h */
	struct pm_damage_list damage; /* says so, if there are several */
	struct pm_arena arena;
};

/* 0, -EIO or -ENOMEM. */
int hpcrun_who_read(struct hpcrun_who *ret, struct hpcrun_folder *folder, struct pm_error *err);

/* Also for a zeroed one. */
void hpcrun_who_done(struct hpcrun_who *w);

#endif
