/* The part of a column's name that comes from a metric (docs/namespace.md §1). */
#ifndef PROFMOUNT_FORMATS_COMMON_SLUG_H
#define PROFMOUNT_FORMATS_COMMON_SLUG_H

#include "formats/common/text.h"
#include "profmount/profile.h"

/*
 * The slug of the metric's name, followed by that of its unit unless the name contains this word.
 * Written to `t`, which is cleared first, and valid until it changes; t->failed is set if out of
 * memory.
 */
struct pm_bytes pm_metric_slug(struct pm_text *t, const struct pm_metric *metric);

#endif
