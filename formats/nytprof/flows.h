/* Call edges, and the tree made from them if there are no sub returns. */
#ifndef PROFMOUNT_FORMATS_NYTPROF_FLOWS_H
#define PROFMOUNT_FORMATS_NYTPROF_FLOWS_H

#include "formats/nytprof/building.h"

/* Collects b->flows. -ENOMEM. */
int nytp_collect_flows(struct nytp_building *b);

/* Makes the edges of the model of them. -ENOMEM. */
int nytp_build_edges(struct nytp_building *b);

/* Makes a tree of two levels of them. -ENOMEM. */
int nytp_build_edge_tree(struct nytp_building *b);

#endif
