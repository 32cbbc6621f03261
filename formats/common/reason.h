/* What "no memory" is said as in errors, when there is another reason for it. Thread-safe. */
#ifndef PROFMOUNT_REASON_H
#define PROFMOUNT_REASON_H

#include <stdint.h>

/* Descriptors have run out: said for a moment. They are passed on as -ENOMEM, because both may be
 * there next time. */
void pm_reason_files(void);

/* Memory has a limit of that many bytes (-o memory). */
void pm_reason_limit(uint64_t bytes);

#endif
