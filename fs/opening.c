#include "fs/opening.h"

#include <stdio.h>
#include <string.h>

#include "fs/log.h"

int pmfs_open_source(const struct pmfs_options *o, const char *source, struct pmfs_instance *ret)
{
	struct pm_open_options options = {
		.keep_evals = o->keep_evals, .no_symbols = o->no_symbols, .sysroot = o->sysroot};
	struct pm_error err = {.offset = PM_NO_OFFSET};
	int r = pmfs_instance_open(ret, source, o->format, o->cache_bytes, &options, &err);
	if (r == 0 && o->metric && (r = pmfs_model_lead_with(ret->model, o->metric, &err)) < 0)
		pmfs_instance_close(ret);
	if (r < 0) {
		const char *name = strrchr(source, '/');
		bool named = name && strcmp(name + 1, err.file) == 0;
		if (named)
			snprintf(err.file, sizeof(err.file), "%s", o->source);
		pmfs_log_error(named ? NULL : o->source, &err);
	}
	return r;
}
