/* methods.csv of a window. */
#ifndef PROFMOUNT_FORMATS_ZTS_WINDOW_METHODS_H
#define PROFMOUNT_FORMATS_ZTS_WINDOW_METHODS_H

#include "formats/zts/parts.h"

struct zts_window_methods {
	struct zts_method *items; /* those that run in it, by exclusive time, highest first */
	size_t n;
};

/*
 * Times are those of the parts inside; calls, errors, the shortest and the longest call and
 * percentiles are of the calls that begin inside, with their whole duration. Built once; owned by
 * the window.
 */
int zts_window_methods_get(const struct pm_window *window, const struct zts_window_methods **ret,
	struct pm_error *err);

#endif
