/* raw/: the tables of one file, as stored. */
#ifndef PROFMOUNT_FORMATS_NYTPROF_TABLES_H
#define PROFMOUNT_FORMATS_NYTPROF_TABLES_H

#include "formats/nytprof/native.h"

/* Documents of a file, made in n->arena. -ENOMEM. */
int nytp_tables_make(
	struct nytp *n, const struct nytp_file *f, struct pm_named_doc **ret, size_t *ret_n);

/* The processes of all files in one table: what a source of several files has at its root. */
int nytp_processes_make(struct nytp *n, struct pm_named_doc *ret);

#endif
