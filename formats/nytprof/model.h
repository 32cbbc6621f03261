/*
 * Format interface: the operations of an opened source. `self` of the profile is a struct
 * nytp_opened.
 */
#ifndef PROFMOUNT_FORMATS_NYTPROF_MODEL_H
#define PROFMOUNT_FORMATS_NYTPROF_MODEL_H

#include "formats/nytprof/parts.h"

extern const struct pm_profile_ops nytp_ops;

#endif
