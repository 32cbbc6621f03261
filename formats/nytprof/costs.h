/*
 * Costs over the finished tree. They are summed in this order: contexts, functions, statements,
 * threads.
 */
#ifndef PROFMOUNT_FORMATS_NYTPROF_COSTS_H
#define PROFMOUNT_FORMATS_NYTPROF_COSTS_H

#include "formats/nytprof/building.h"

/* Cells by rank become costs of contexts; `index` is that of pm_tree_freeze. -ENOMEM. */
int nytp_costs_spread(struct nytp_building *b, const uint32_t *index);

/* `calls`: the tree is one of calls, not of edges. -ENOMEM. */
int nytp_costs_of_functions(struct nytp_building *b, bool calls);
void nytp_costs_of_statements(struct nytp_model *m);
int nytp_costs_of_threads(struct nytp_building *b, bool calls);

#endif
