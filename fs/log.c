/*
 * The only mutable state at file level beside the SIGBUS guard's: set once, before any thread is
 * started.
 */
#include "fs/log.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <syslog.h>

static bool to_syslog;

void pmfs_log_to_syslog(void)
{
	openlog("profmount", LOG_PID, LOG_DAEMON);
	to_syslog = true;
}

void pmfs_log(const char *format, ...)
{
	char line[1024];
	va_list args;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	if (to_syslog)
		syslog(LOG_WARNING, "%s", line);
	else
		fprintf(stderr, "profmount: %s\n", line);
}

void pmfs_log_error(const char *before, const struct pm_error *err)
{
	char line[900];
	pm_error_line(err, line, sizeof(line));
	if (before)
		pmfs_log("%s: %s", before, line);
	else
		pmfs_log("%s", line);
}
