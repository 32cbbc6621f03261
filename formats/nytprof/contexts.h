/* The tree of contexts, from sub returns. */
#ifndef PROFMOUNT_FORMATS_NYTPROF_CONTEXTS_H
#define PROFMOUNT_FORMATS_NYTPROF_CONTEXTS_H

#include "formats/nytprof/building.h"

/* The trees of all processes become b->tree and b->cells. -ENOMEM. */
int nytp_build_calls(struct nytp_building *b);

#endif
