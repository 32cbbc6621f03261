/*
 * All that an opened measurement holds, and which part of it is built when. Mounting lists the
 * directory; identities need the beginnings of the files, times need the traces, everything else
 * needs the merged tree.
 *
 *	who ──→ merged ──→ costs
 *	  └──→ times  └──→ by_context
 */
#ifndef PROFMOUNT_FORMATS_HPCRUN_PARTS_H
#define PROFMOUNT_FORMATS_HPCRUN_PARTS_H

#include "formats/common/costs.h"
#include "formats/common/lazy.h"
#include "formats/hpcrun/contexts.h"
#include "formats/hpcrun/facts.h"
#include "formats/hpcrun/raw.h"
#include "formats/hpcrun/stored.h"
#include "formats/hpcrun/times.h"

struct hpcrun_model {
	struct hpcrun_folder folder;
	char layout[32];

	struct pm_lazy who_lazy, merged_lazy, costs_lazy, times_lazy, by_context_lazy;
	struct pm_lazy damage_lazy, facts_lazy;
	struct hpcrun_who who;
	struct hpcrun_merged merged;
	struct pm_costs costs;
	struct hpcrun_times times;
	struct hpcrun_facts facts;
	struct pm_damage_list damage_list;
	struct pm_damages damages;
	struct hpcrun_file_list files;
	struct pm_named_doc document; /* of the root */
	struct hpcrun_by_context by_context;
};

/*
 * Each makes its part, and those that it stands on, unless they are there: 0, -EIO or -ENOMEM.
 * Threads may call them at once. The part is const from then on.
 */
int hpcrun_get_who(struct hpcrun_model *m, struct pm_error *err);
int hpcrun_get_merged(struct hpcrun_model *m, struct pm_error *err);
int hpcrun_get_costs(struct hpcrun_model *m, struct pm_error *err);
int hpcrun_get_times(struct hpcrun_model *m, struct pm_error *err);
int hpcrun_get_by_context(struct hpcrun_model *m, struct pm_error *err);

#endif
