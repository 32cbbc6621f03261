/* Contents of trace.json other than slices: counters, instants, and fields of calls. */
#ifndef PROFMOUNT_FS_VIEWS_EXPORTS_CHROMESERIES_H
#define PROFMOUNT_FS_VIEWS_EXPORTS_CHROMESERIES_H

#include "fs/views/exports/chrome.h"
#include "fs/views/sums/slices.h"

/* Maximum number of counters and instants; if there are more, every `*ret_step`-th is written. */
enum { PMFS_MOST_SERIES_EVENTS = 100000 };
int pmfs_chrome_series_step(struct pmfs_model *m, uint64_t *ret_step, struct pm_error *err);

/* Appends counters and instants, every step-th. */
int pmfs_chrome_add_series(struct pmfs_model *m, struct pmfs_chrome *c, uint64_t pid, uint64_t step,
	struct pm_error *err);

/* The fields of calls, as JSON objects. Zeroed, or filled; free with pmfs_call_args_done. */
struct pmfs_call_args {
	struct pm_text texts;
	struct pmfs_call_arg *of; /* by slice; NULL: no call has any */
};

struct pmfs_call_arg {
	size_t at, len; /* in texts; len 0: none */
};

int pmfs_call_args_make(struct pmfs_model *m, const struct pmfs_slices *slices,
	struct pmfs_call_args *ret, struct pm_error *err);
void pmfs_call_args_done(struct pmfs_call_args *a);

/* Empty if the slice's call has none. */
static inline struct pm_bytes pmfs_call_args_of(const struct pmfs_call_args *a, size_t slice)
{
	if (!a->of || a->of[slice].len == 0)
		return (struct pm_bytes){NULL, 0};
	return (struct pm_bytes){(const uint8_t *)a->texts.p + a->of[slice].at, a->of[slice].len};
}

#endif
