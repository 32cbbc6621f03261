/*
 * Reads files in groups of consecutive files with a total of a few megabytes. The groups depend
 * only on the files, so sums do not depend on the number of cores.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_STRETCH_H
#define PROFMOUNT_FORMATS_HPCRUN_STRETCH_H

#include "formats/hpcrun/folder.h"
#include "formats/hpcrun/trie.h"
#include "profmount/profile.h"

/*
 * Merges the profiles of all sources of the folder into `ret`, which is zeroed. counts[i] gets the
 * number of stored values of thread i, and of trie nodes with values. 0 or -ENOMEM.
 */
int hpcrun_stretches_read(struct hpcrun_trie *ret, struct hpcrun_folder *folder,
	struct pm_thread_counts *counts, struct pm_damage_list *damage);

#endif
