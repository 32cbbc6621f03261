/* The seccomp layer of fs/confine.c. */
#ifndef PROFMOUNT_FS_CONFINE_CALLS_H
#define PROFMOUNT_FS_CONFINE_CALLS_H

#include <stdbool.h>

#include "fs/confine.h"

/* From now on, system calls that the duty does not need fail as on a kernel without them. */
void pmfs_forbid_other_calls(enum pmfs_duty duty);

/* Whether this build has the layer. */
bool pmfs_can_forbid_calls(void);

#endif
