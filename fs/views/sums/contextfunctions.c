#include <stdlib.h>

#include "formats/common/list.h"
#include "formats/common/map.h"
#include "fs/views/model/parts.h"
#include "fs/views/sums/flatprofile.h"
#include "fs/views/sums/groups.h"

/* While the costs of a subtree are summed. */
struct subtree {
	struct pmfs_flat_profile *profile;
	uint32_t root;
	struct pmfs_sums sums;
	struct pm_map rows; /* row of functions.csv → row here */
	size_t room_whole, room_contexts;
};

static int add_row(struct subtree *s, uint32_t whole)
{
	struct pmfs_flat_profile *p = s->profile;
	uint32_t row = s->sums.n;
	if (pm_list_room(&p->whole, row, &s->room_whole, sizeof(*p->whole)) < 0 ||
		pm_list_room(&p->contexts, row, &s->room_contexts, sizeof(*p->contexts)) < 0)
		return -ENOMEM;
	p->whole[row] = whole;
	p->contexts[row] = 0;
	return pmfs_sums_row(&s->sums, &row);
}

/* The subtree of a line or an instruction begins inside a function, and represents it there. */
static int place(void *self, uint32_t context, struct pmfs_share *share)
{
	struct subtree *s = self;
	const struct pmfs_functions *f = s->profile->functions;
	uint32_t whole = f->row[pmfs_function_of(f->identity, context)];
	bool is_call = pmfs_is_call(f->identity, context), fresh;
	share->row = PM_NONE;
	if (whole == PM_NONE ||
		(!is_call && pm_tree_frame(f->tree, context)->kind == PM_KIND_ENTRY))
		return 0;
	uint32_t *row = pm_map_put(&s->rows, whole, s->sums.n, &fresh);
	if (!row)
		return -ENOMEM;
	share->row = *row;
	share->counts = is_call || context == s->root;
	if (fresh && add_row(s, whole) < 0)
		return -ENOMEM;
	s->profile->contexts[share->row] += share->counts;
	return 0;
}

static int sum_up(struct pmfs_model *m, struct subtree *s, struct pm_error *err)
{
	struct pmfs_flat_profile *p = s->profile;
	const struct pmfs_functions *f = p->functions;
	struct pmfs_grouping g = {.model = m,
		.tree = f->tree,
		.first = s->root,
		.end = f->tree->end[s->root],
		.place = place,
		.self = s};
	s->sums.columns = f->columns;
	int r = pmfs_group(&g, &s->sums, err);
	if (r < 0)
		return r;
	p->n = s->sums.n;
	p->cells = s->sums.cells;
	s->sums.cells = NULL;
	p->order = pmfs_order(p->cells, p->n, f->columns->n, pmfs_order_column(f->columns));
	return p->order ? 0 : pmfs_no_memory(err);
}

int pmfs_context_functions(struct pmfs_model *m, uint32_t context, struct pmfs_flat_profile **ret,
	struct pm_error *err)
{
	struct subtree s = {.profile = calloc(1, sizeof(*s.profile)), .root = context};
	if (!s.profile)
		return pmfs_no_memory(err);
	int r = pmfs_functions(m, &s.profile->functions, err);
	if (r == 0)
		r = sum_up(m, &s, err);
	pmfs_sums_done(&s.sums);
	pm_map_done(&s.rows);
	if (r < 0)
		pmfs_flat_profile_free(s.profile);
	else
		*ret = s.profile;
	return r;
}
