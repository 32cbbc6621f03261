/* Costs by source line. */
#ifndef PROFMOUNT_FORMATS_NYTPROF_LINES_H
#define PROFMOUNT_FORMATS_NYTPROF_LINES_H

#include "formats/nytprof/building.h"

/* Makes the lines of the model, and the totals of its statements. -ENOMEM. */
int nytp_build_lines(struct nytp_building *b);

#endif
