/* Completes a file's tables after it has been read. */
#ifndef PROFMOUNT_FORMATS_NYTPROF_SETTLE_H
#define PROFMOUNT_FORMATS_NYTPROF_SETTLE_H

#include "formats/nytprof/native.h"

/* No row can be added afterwards. -ENOMEM. */
int nytp_file_settle(const struct nytp *n, struct nytp_file *f);

#endif
