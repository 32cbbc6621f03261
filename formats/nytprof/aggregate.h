/* Adds records up to the tables of a file. */
#ifndef PROFMOUNT_FORMATS_NYTPROF_AGGREGATE_H
#define PROFMOUNT_FORMATS_NYTPROF_AGGREGATE_H

#include "formats/nytprof/native.h"
#include "formats/nytprof/records.h"

/* State between records. */
struct nytp_adding {
	struct nytp *n;
	struct nytp_file *f;
	uint32_t process; /* index in f->threads of the current process */
	int64_t discounts;
	uint64_t texts_dropped; /* number of source lines beyond NYTP_LIMIT_SOURCE */
};

/*
 * Adds one record. -ENOMEM: no memory, or a limit of this format; the record is not, or only
 * partly, in the tables.
 */
int nytp_add(struct nytp_adding *a, const struct nytp_record *r);

/* The parts of a process record, for streams that write it differently. */
int nytp_add_process(struct nytp_adding *a, uint32_t pid, uint32_t ppid, double start);

/* `name=value`, without the tag. A line without `=` is not an attribute. */
int nytp_add_attribute(struct nytp_adding *a, bool option, struct pm_bytes line);

/* Call after the last record. -ENOMEM. */
int nytp_add_end(struct nytp_adding *a);

#endif
