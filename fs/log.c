/*
 * Mutable state at file level, like only the SIGBUS guard's, the bar's, the lock of work.c and the
 * index of category rules: set once, before any thread is started.
 */
#include "fs/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "formats/common/utf8.h"
#include "fs/bar.h"
#include "fs/mount_keeper.h"

static int keeper = -1;

void pmfs_log_to_keeper(int line)
{
	keeper = line;
}

void pmfs_log(const char *format, ...)
{
	char line[1024], message[1024] = {PMFS_KEEPER_LOG};
	va_list args;
	va_start(args, format);
	vsnprintf(line, sizeof(line), format, args);
	va_end(args);
	pm_shown_copy(message + 1, sizeof(message) - 1, line);
	if (keeper >= 0 && write(keeper, message, 1 + strlen(message + 1)) >= 0)
		return;
	pmfs_bar_hide();
	fprintf(stderr, "profmount: %s\n", message + 1);
	pmfs_bar_go_on();
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
