/*
 * All that an opened measurement holds, and which part of it is built when. Mounting lists the
 * directory; identities need the beginnings of the files, times need the traces, everything else
 * needs the merged tree, and with it come the costs of the run. What single threads and contexts
 * cost is decoded from the files again and kept for a while.
 *
 *	who ──→ merged ──→ decoded
 *	  └──→ times
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_PARTS_H
#define PROFMOUNT_FORMATS_HPCRUN_PARTS_H

#include "formats/common/lazy.h"
#include "formats/hpcrun/across.h"
#include "formats/hpcrun/facts.h"
#include "formats/hpcrun/raw.h"
#include "formats/hpcrun/times.h"

struct hpcrun_model {
	struct hpcrun_folder folder;
	char layout[32];

	struct pm_lazy who_lazy, merged_lazy, times_lazy, damage_lazy, facts_lazy;
	struct hpcrun_who who;
	struct hpcrun_merged merged;
	struct pm_cache *decoded; /* threads and blocks of contexts, by use */
	uint64_t n_decoded;       /* atomic: how often one was decoded, for tests */
	struct hpcrun_times times;
	struct hpcrun_facts facts;
	struct pm_damage_list damage_list;
	struct pm_damages damages;
	struct hpcrun_file_list files;
	struct pm_named_doc document; /* of the root */
};

/*
 * Each makes its part, and those that it stands on, unless they are there: 0, -EIO or -ENOMEM.
 * Threads may call them at once. The part is const from then on.
 */
int hpcrun_get_who(struct hpcrun_model *m, struct pm_error *err);
int hpcrun_get_merged(struct hpcrun_model *m, struct pm_error *err);
int hpcrun_get_times(struct hpcrun_model *m, struct pm_error *err);

/*
 * What was decoded, `limit` bytes of it; more while it is read, which takes many calls. NULL
 * without memory.
 */
struct pm_cache *hpcrun_decoded_new(uint64_t limit);

/* Of what was decoded: give it back with pm_cache_release(m->decoded, …). 0, -EIO or -ENOMEM. */
enum hpcrun_decoded {
	HPCRUN_THREAD_VALUES,  /* of a thread: struct hpcrun_values_of_thread */
	HPCRUN_THREAD_COSTS,   /* struct hpcrun_costs_of_thread */
	HPCRUN_THREAD_LINKS,   /* struct hpcrun_links_of_thread */
	HPCRUN_CONTEXT_VALUES, /* of a block of contexts: struct hpcrun_across */
	HPCRUN_CONTEXT_COSTS,
};
int hpcrun_get_decoded(struct hpcrun_model *m, enum hpcrun_decoded what, uint32_t of,
	struct pm_cached **ret, struct pm_error *err);

/* For those who decode on their own; `merged` is there. */
struct hpcrun_run hpcrun_run_of(struct hpcrun_model *m);

#endif
