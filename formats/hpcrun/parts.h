/*
 * An opened measurement and its parts. Mounting lists the directory. Identities need the beginnings
 * of the files, times need the traces, and everything else needs the merged tree, which includes
 * the costs of the run. Costs of single threads and contexts are decoded from the files again and
 * cached.
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

struct hpcrun_opened {
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

static inline struct hpcrun_opened *hpcrun_opened_of(const struct pm_profile *p)
{
	return p->self;
}

/*
 * Opens a measurement; takes the folder over, on failure too. -EINVAL if there is nothing readable
 * in it, or -ENOMEM. Free with hpcrun_opened_free.
 */
int hpcrun_opened_new(struct hpcrun_folder *folder, const char *path, struct hpcrun_opened **ret,
	struct pm_error *err);
void hpcrun_opened_free(struct hpcrun_opened *o);

/*
 * Each builds its part, and the parts it depends on, if necessary: 0, -EIO or -ENOMEM. Thread-safe.
 * The part is const from then on.
 */
int hpcrun_get_who(struct hpcrun_opened *o, struct pm_error *err);
int hpcrun_get_merged(struct hpcrun_opened *o, struct pm_error *err);
int hpcrun_get_times(struct hpcrun_opened *o, struct pm_error *err);
int hpcrun_get_facts(struct hpcrun_opened *o, struct pm_error *err);
int hpcrun_get_damage(struct hpcrun_opened *o, struct pm_error *err);

/*
 * A cache of decoded data, limited to `limit` bytes; more while data are being read in many calls.
 * NULL if out of memory.
 */
struct pm_cache *hpcrun_decoded_new(uint64_t limit);

/* Decoded data: release with pm_cache_release(o->decoded, …). 0, -EIO or -ENOMEM. */
enum hpcrun_decoded {
	HPCRUN_THREAD_VALUES,  /* of a thread: struct hpcrun_values_of_thread */
	HPCRUN_THREAD_COSTS,   /* struct hpcrun_costs_of_thread */
	HPCRUN_THREAD_LINKS,   /* struct hpcrun_links_of_thread */
	HPCRUN_CONTEXT_VALUES, /* of a block of contexts: struct hpcrun_across */
	HPCRUN_CONTEXT_COSTS,
};
int hpcrun_get_decoded(struct hpcrun_opened *o, enum hpcrun_decoded what, uint32_t of,
	struct pm_cached **ret, struct pm_error *err);

/* A thread's trace, without its links; requires `merged` and `times`. */
struct hpcrun_trace_place hpcrun_trace_place_of(struct hpcrun_opened *o, uint32_t thread);

#endif
