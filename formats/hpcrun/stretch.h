/*
 * Reads files in stretches: contiguous ones, of a few megabytes together. Where a stretch begins
 * depends on the files alone, and so does every sum, however many cores there are.
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_STRETCH_H
#define PROFMOUNT_FORMATS_HPCRUN_STRETCH_H

#include "formats/hpcrun/folder.h"
#include "formats/hpcrun/trie.h"
#include "profmount/profile.h"

/*
 * Merges the profiles of all sources of the folder into `ret`, which is zeroed. counts[i] becomes
 * what thread i has stored: values, and the nodes of the trie that have them. 0 or -ENOMEM.
 */
int hpcrun_stretches_read(struct hpcrun_trie *ret, struct hpcrun_folder *folder,
	struct pm_thread_counts *counts, struct pm_damage_list *damage);

#endif
