/* Information in names: of files, special nodes, and metrics (units). */
#ifndef PROFMOUNT_FORMATS_HPCRUN_NAMES_H
#define PROFMOUNT_FORMATS_HPCRUN_NAMES_H

#include "formats/common/text.h"

/* The parts of a measurement file's name: EXE-RANK-THREAD-HOST-PID-GENERATION. */
struct hpcrun_file_name {
	struct pm_bytes program; /* the whole stem if it does not have these parts */
	bool has_parts;          /* the numbers below are known */
	struct pm_bytes host;    /* its id, in hex */
	uint64_t rank, thread, pid;
};

/* `stem`: without its ending. */
struct hpcrun_file_name hpcrun_file_name_parse(struct pm_bytes stem);

/* A number in plain decimal that fits; false for anything else. */
bool hpcrun_number_parse(struct pm_bytes text, uint64_t *ret);

/* Special module ids. */
enum {
	HPCRUN_MODULE_NONE = 0,
	HPCRUN_MODULE_GPU_CONTEXT = 65531,
	HPCRUN_MODULE_GPU_RANGE = 65532,
	HPCRUN_MODULE_GPU_ROOT = 65533,
	HPCRUN_MODULE_DUMMY = 65534,
};

bool hpcrun_is_special_module(uint32_t id);

/* Appends the name of a special node: <program root>. */
void hpcrun_placeholder_name(struct pm_text *out, uint32_t module, uint64_t ip);

/* True for the roots that hpcrun creates itself; any other root was a normal node before. */
bool hpcrun_is_root(uint32_t module, uint64_t ip);

/* True for special nodes that represent idle time: <no activity>, <omp idle>; for the former. */
bool hpcrun_is_idle(uint32_t module, uint64_t ip);
bool hpcrun_is_nothing(uint32_t module, uint64_t ip);

/* The text in the last parentheses of a metric's name: CPUTIME (sec) → sec; or empty. */
struct pm_bytes hpcrun_metric_unit(struct pm_bytes name);

#endif
