/* An opened source, and its operations. */
#ifndef PROFMOUNT_FORMATS_NYTPROF_OPENED_H
#define PROFMOUNT_FORMATS_NYTPROF_OPENED_H

#include "formats/common/lazy.h"
#include "formats/nytprof/facts.h"
#include "formats/nytprof/model.h"
#include "formats/nytprof/sources.h"

/* The documents of one file. */
struct nytp_docs {
	struct pm_named_doc *docs;
	size_t n;
};

/* All that an opened source holds. */
struct nytp_opened {
	struct pm_profile_ops ops; /* nytp_ops, without what this source has not */
	struct nytp native;
	struct nytp_threads threads;
	struct nytp_docs *docs;        /* by file */
	struct pm_named_doc processes; /* of all of several files */
	struct pm_lazy model_once, sources_once, damage_once;
	struct nytp_model model;
	struct nytp_sources sources;
	struct pm_damages damages;
	struct nytp_facts facts;
};

extern const struct pm_profile_ops nytp_ops;

/* Seconds since the epoch as ns; stored as doubles, they are good to a microsecond. */
uint64_t nytp_ns_of(double seconds);

#endif
