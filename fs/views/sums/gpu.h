/* GPU operations: kernels, copies and so on. */
#ifndef PROFMOUNT_FS_VIEWS_SUMS_GPU_H
#define PROFMOUNT_FS_VIEWS_SUMS_GPU_H

#include "fs/views/sums/functions.h"

struct pmfs_gpu_row {
	uint32_t row;                                /* of functions.csv */
	uint32_t place;                              /* in the order of functions.csv */
	const char *operation;                       /* `kernel`, `copy` … */
	pm_number launches, total_ns, max_ns, bytes; /* NaN: not known */
};

struct pmfs_gpu {
	const struct pmfs_functions *functions;
	uint32_t n;
	struct pmfs_gpu_row *rows; /* the longest first */
	double total_ns;
};

/* Computed on the first call, which reads the traces of GPU streams; owned by the model. */
int pmfs_gpu(struct pmfs_model *m, const struct pmfs_gpu **ret, struct pm_error *err);

/* In profiles whose frames say so (pm_profile.gpu_frames). */
static inline bool pmfs_is_gpu_work(const struct pm_frame *frame)
{
	return frame->on_gpu && !frame->is_annotation;
}

/* Whether there are times of GPU operations. Reads no values. 1, 0, or -ENOMEM. */
int pmfs_gpu_has(struct pmfs_model *m, struct pm_error *err);

#endif
