/*
 * Several runs in one measurement directory: hpcrun writes into it whatever it is told to, and two
 * runs have the same ranks and threads, which no sum over both means anything for.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_RUNS_H
#define PROFMOUNT_FORMATS_HPCRUN_RUNS_H

#include "formats/common/damage.h"
#include "formats/hpcrun/identity.h"
#include "formats/hpcrun/who.h"

/*
 * Finds the runs of the threads with these claims. If there are several, sets `*ret_n`, gives each
 * claim a first level `run=N`, by time, and adds a row to `damage` for each. Runs are told by
 * processes that claim the same identities: at other times or, where no trace says when they were,
 * as another program or on another host. Ranks on many hosts, one after the other or not, are one
 * run. 0 or -ENOMEM.
 */
int hpcrun_runs_find(struct hpcrun_folder *folder, const struct hpcrun_who *who,
	struct hpcrun_claim *claims, struct pm_damage_list *damage, uint32_t *ret_n);

#endif
