/* Facts about the run for info.json. */
#ifndef PROFMOUNT_FORMATS_NYTPROF_FACTS_H
#define PROFMOUNT_FORMATS_NYTPROF_FACTS_H

#include "formats/nytprof/native.h"

struct nytp_facts {
	struct pm_fact *list;
	size_t n;
	double start, end; /* of the measurement, epoch seconds; NaN = not known */
};

/* Made in n->arena. -ENOMEM. */
int nytp_facts_make(struct nytp_facts *facts, struct nytp *n);

#endif
