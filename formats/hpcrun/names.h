/* What hpcrun says in names: of files, of special nodes, of metrics' units. */
#ifndef PROFMOUNT_FORMATS_HPCRUN_NAMES_H
#define PROFMOUNT_FORMATS_HPCRUN_NAMES_H

#include "formats/common/text.h"

/* What a measurement file's name tells: EXE-RANK-THREAD-HOST-PID-GENERATION. */
struct hpcrun_file_name {
	struct pm_bytes program; /* the whole stem where it has no such parts */
	bool has_parts;          /* the numbers below are known */
	uint64_t rank, thread, pid;
};

/* `stem`: without its ending. */
struct hpcrun_file_name hpcrun_file_name_parse(struct pm_bytes stem);

/* A number in plain decimal that fits; false for anything else. */
bool hpcrun_number_parse(struct pm_bytes text, uint64_t *ret);

/* Load modules that are none. */
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

/* True for the roots that hpcrun makes of its own; any other root was a node once. */
bool hpcrun_is_root(uint32_t module, uint64_t ip);

/* True for the special nodes that stand for time in which nothing runs. */
bool hpcrun_is_idle(uint32_t module, uint64_t ip);

/* What stands in the last parentheses of a metric's name: CPUTIME (sec) → sec; or empty. */
struct pm_bytes hpcrun_metric_unit(struct pm_bytes name);

#endif
